"""The key below a picture: what its colours, shapes and lines mean."""

from __future__ import annotations

from typing import Any

from dash import html

from hetdp.errors import printable
from hetdp.plots.colours import SHADES
from hetdp.studio.drawing import answer_words, smallest_of, usual_of
from hetdp.studio.numbers import in_short
from hetdp.studio.state import Session
from hetdp.studio.views import MAP, SUMMARY, cells_of


def key_of(session: Session, view: str) -> list[Any]:
    """The key of one of the pictures."""
    one, two = answer_words(session.sheet.problem)
    shades = ", ".join(f"{code} {100 * at:g}%" for at, code in SHADES)
    colours = html.I(className="scale", style={"background": f"linear-gradient(90deg, {shades})"})
    scale = [html.Span([html.Bdi(two), colours, html.Bdi(one)], className="ends")]
    if view == MAP:
        cells = cells_of(session)
        fixed = {} if cells is None else cells.fixed
        said = ", ".join(f"{printable(name)[:30]} = {count:,}" for name, count in fixed.items())
        where = [html.Strong(html.Bdi(f"where {said}"))] if said else []
        bare = [_entry("circle bare", "white: no value")] if session.answer.mechanism is None else []
        return [*where, *scale, *bare, _entry("line", "where the true answer changes"), _entry("ring", "chosen")]
    if view == SUMMARY and session.answer.mechanism is None:
        return []
    if view == SUMMARY:
        return [
            *scale,
            _entry("dot", "the middle dataset at each distance"),
            _entry("band half", "half of them"),
            _entry("band", "all of them"),
        ]
    return [
        html.Span([html.I(className="square"), "truly ", html.Bdi(two)]),
        *scale,
        html.Span([html.I(className="circle"), "truly ", html.Bdi(one)]),
        _entry("ring", "given"),
        *([] if session.answer.mechanism is not None else [_entry("circle bare", "white: no value")]),
        _entry("thick", f"smaller ε{_usual(session)}"),
        _entry("litline", "what binds"),
        *([_entry("chosenline", "chosen")] if session.selection.kind == "edge" else []),
    ]


def _entry(kind: str, words: str) -> Any:
    return html.Span([html.I(className=kind), words])


def _usual(session: Session) -> str:
    """The ε that more than half of the edges have, which is not written on them."""
    if session.ends is None or "epsilon" not in session.ends.columns:
        return ""
    usual = usual_of(smallest_of(session.ends))
    return "" if usual is None else f" (most: {in_short(usual)})"
