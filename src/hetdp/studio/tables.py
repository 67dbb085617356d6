"""How accurate it is beside what else could be done, and what people are told."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from hetdp.errors import printable
from hetdp.mechanism.accuracy.report import Accuracy
from hetdp.mechanism.digits import percentage
from hetdp.problem.spelling import spelled
from hetdp.studio.panels import word


def accuracy_table(found: Accuracy) -> list[Any]:
    """Mechanisms and baselines, one below the other: right at worst, and right in the mean."""
    rows = [html.Tr([html.Th("method"), html.Th("at worst"), html.Th("in the mean")])]
    for method in found.methods:
        cells = [
            html.Td(method.name),
            html.Td(_bar(method.worst_error)),
            html.Td(_bar(method.mean_error)),
        ]
        rows.append(html.Tr(cells, className="baseline" if method.baseline else "ours"))
    told = [html.P(printable(str(each))[:300], className="quiet") for each in found.comparisons[:4]]
    prior = {"uniform": "every dataset alike", "weight": "the problem's weights"}.get(found.prior, "given weights")
    return [
        html.Table(rows, className="accuracy"),
        html.P(f"Means: {prior}. All are computed, not simulated, and rounded down.", className="quiet"),
        *told,
    ]


def odds_list(found: Any) -> list[Any]:
    """One sentence for each person, or kind of change."""
    given = list(found.values()) if isinstance(found, dict) else [found]
    rows = []
    for one in given[:30]:
        who = "Everybody" if one.edge_class is None else spelled(one.edge_class)[:60]
        small = f"ε used: {one.loss:.4g} of {one.epsilon:g}" if np.isfinite(one.loss) else ""
        rows.append(html.Li([html.H3(word(who)), html.P(printable(str(one))), html.P(small, className="quiet")]))
    more = [html.P(f"and {len(given) - 30:,} more", className="quiet")] * (len(given) > 30)
    return [html.Ul(rows, className="odds"), *more]


def _bar(error: float) -> Any:
    share = 1.0 - error
    width = {"width": f"{max(0.0, min(1.0, share)) * 100:.1f}%"}
    return html.Div([html.Div(style=width, className="fill"), html.Span(f"{percentage(error)} %")], className="meter")
