"""What is chosen, and what a change has led to, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from hetdp.certificate.losses import certain_answer
from hetdp.mechanism.accuracy.report import Accuracy
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.formatting import format_compact, format_error, format_exact, format_percentage, format_probability
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.numbers import format_short
from hetdp.plots.colours import ONE, TWO
from hetdp.problem.answer_words import constant_words
from hetdp.problem.parameters import LETTERS, describe_parameters
from hetdp.problem.product import ProductSpace
from hetdp.problem.spelling import spell_label
from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import answer_words, short, value_at
from hetdp.studio.picture import explained
from hetdp.studio.session import Session
from hetdp.text import escape_unprintable, pluralize

LONGEST = 80  # characters of a label
NO_LONGER_PEOPLE = (
    "One edge has an ε of its own now, which no rule about people gives. So this is a problem like any other: its"
    " datasets and all other ε are the same, but Vote is not offered, and the lines to export read a file. Undo takes"
    " it back."
)


def spoken(session: Session) -> str:
    """What is chosen, in one sentence; empty if nothing is.

    >>> from hetdp.studio.gallery import GALLERY
    >>> session = Session(GALLERY["three-voters"].make())
    >>> session.select("dataset", 0)
    >>> spoken(session)
    'Dataset yes,yes,yes: truly yes, p = 0.834. 3 edges.'
    >>> session.select("edge", 0)
    >>> spoken(session)
    'Edge between yes,yes,yes and yes,yes,no: ε = 1.'
    """
    kind, number = session.selection
    graph, found = session.sheet.problem.graph, session.answer.mechanism
    if kind == "dataset":
        truth = answer_words(session.sheet.problem)[session.sheet.problem.answers[number] - 1]
        value = "" if found is None else f", p = {format_compact(value_at(session, number))}"
        edges = len(graph.neighbours(number)[0])
        counted = "1 edge" if edges == 1 else f"{edges:,} edges"
        return f"Dataset {short(graph.label(number), graph.labels, LONGEST)}: truly {truth}{value}. {counted}."
    if kind == "edge" and session.ends is not None:
        both = (session.ends.source, session.ends.target)
        ends = (short(graph.label(int(end[number])), graph.labels, LONGEST) for end in both)
        values = session.moved()
        name, whose = session.ends.classes[number], ""
        if session.ends.parallel()[number]:
            whose = ", without a class" if name is None else f", class {short(name, longest=LONGEST)}"
        return f"Edge between {' and '.join(ends)}{whose}: {describe_parameters(tuple(values), values.values())}."
    return ""


def remark(session: Session) -> str:
    """What the last change has led to besides; empty if nothing."""
    before = session.past[-1] if session.past else session.sheet
    was, is_now = (isinstance(sheet.problem.graph, ProductSpace) for sheet in (before, session.sheet))
    if before.drawn != session.sheet.drawn or not was or is_now:
        return ""
    vote = " Fair chooses instead of Vote, which counts people." if before.objective == WEIGHTED_VOTE else ""
    return f"{NO_LONGER_PEOPLE}{vote}"


# What the page says beside the picture, as components whose words are words: nothing in them is read as markup.


BEST = {
    "extension": "with the given values",
    "fair": "for the worst-off datasets",
    "balanced": "at worst",
    "average": "in the mean",
}
MOST_NEIGHBOURS = 40
MOST_STEPS = 60
LONGEST_LABEL = 120
OBJECTIVES = {
    "fair": ("Fair", "The worst-off dataset is answered as well as privacy allows, then the next worst, and so on."),
    "balanced": ("Balanced", "The smallest possible worst error, in closed form; nowhere better than fair."),
    "average": ("Average", "The largest mean accuracy; single datasets may be answered worse than by a coin."),
    "weighted-vote": ("Vote", "Everybody counts as much as their ε, and noise is added; the best at nothing."),
    GIVEN: ("Only given", "Nothing is chosen: the given values are extended as accurately as privacy allows."),
}


def name_of(session: Session, dataset: int) -> str:
    """A label as it is shown beside the picture."""
    problem = session.sheet.problem
    text = spell_label(problem.graph.label(dataset), problem.labels)
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def word(text: str, kind: str = "name") -> Any:
    """A label, kept apart from the words around it, whichever way it is written."""
    return html.Bdi(text, className=kind)


def title(session: Session) -> list[Any]:
    """What is on the table."""
    problem = session.sheet.problem
    size = f"{pluralize(problem.graph.size, 'dataset')} · {pluralize(problem.graph.edge_count, 'edge')}"
    given = f" · {pluralize(len(session.sheet.pins), 'given value')}" if session.sheet.pins else ""
    about = problem.about.get("title", "")
    return [
        html.Strong(word(session.sheet.name)),
        html.Span(word(escape_unprintable(about)[:LONGEST_LABEL]), className="question")
        if about != session.sheet.name
        else "",
        html.Span(f"{size} · {problem.notion} privacy{given}", className="quiet"),
    ]


def status(session: Session) -> tuple[str, list[Any]]:
    """The kind of the verdict, and its words."""
    found = session.answer
    said = (("alert", session.notice), ("note", remark(session)))
    notice = [html.P(escape_unprintable(words)[:600], className="notice", role=role) for role, words in said if words]
    if found.mechanism is not None:
        proof = found.mechanism.certificate
        best = BEST.get(found.mechanism.objective) if proof is not None and proof.optimal else None
        coin = found.mechanism.against_coin
        told = f"Proved on {_all_edges(session.sheet.problem.graph.edge_count)}, exactly."
        head = f"Private, and as accurate as can be {best}" if best else "Private"
        right = format_percentage(coin.error, right=coin.right)
        hardest = f"Where it is hardest, the answer is right in {right} of 100 runs."
        certain = certain_answer(found.mechanism.coordinates)
        if certain:
            hardest = constant_words(answer_words(session.sheet.problem)[certain - 1], "dataset")
        if coin.is_better:
            return "good", [*notice, html.H2(head), html.P(f"{told} {hardest if coin.datasets else ''}".rstrip())]
        more = "" if coin.worse and not certain else hardest  # the warning names the worst dataset
        told_of_coin = escape_unprintable(str(coin))
        warning = html.P(f"{told_of_coin[:1].upper()}{told_of_coin[1:]}.", className="notice", role="alert")
        return "caution", [
            *notice,
            html.H2(f"Private, but {coin.short()}"),
            warning,
            html.P(f"{told} {more}".rstrip()),
        ]
    if found.witness is not None:
        path = found.witness.path
        first, last = path.names[0][:60], path.names[-1][:60]
        words = [
            html.H2("No private mechanism has these values"),
            html.P(
                [
                    "p(",
                    word(first),
                    f") = {path.values[0]} allows at most p(",
                    word(last),
                    f") = {path.values[-1]}, ",
                    f"{pluralize(len(path.parameters), 'step')} away; but p(",
                    word(last),
                    f") is pinned at {format_probability(found.witness.value, found.witness.complement)}.",
                ]
            ),
            steps(path, True),
        ]
        return "none", [*notice, *words]
    kind = "Some values are missing" if found.unpinned else "No answer"
    return "none", [*notice, html.H2(kind), html.P(escape_unprintable(found.why_not)[:600])]


def objective_words(session: Session) -> str:
    """What the objective promises."""
    return OBJECTIVES[session.sheet.objective][1]


def action(name: str, at: int) -> dict[str, Any]:
    """What makes a click on an element an action: studio.js reads it."""
    return {"data-action": name, "data-at": at}


def steps(path: BindingPath, upper: bool) -> Any:
    """A path step by step; each step can be chosen, to light the path so far."""
    relation = "≤" if upper else "≥"
    rows = []
    values = path.values
    edges = [escape_unprintable(words)[:120] for words in path.steps]
    for at, (name, value) in enumerate(zip(path.names[:MOST_STEPS], values, strict=False)):
        how = escape_unprintable(path.beginning) if at == 0 else edges[at - 1]
        bound = f"p = {value}" if at == 0 else f"p {relation} {value}"
        text = name[:60]
        rows.append(
            html.Li(
                html.Button(
                    [word(text), html.Span(how, className="quiet"), html.Span(bound, className="number")],
                    **action("step", at),
                    className="row",
                    title="Light the path up to here",
                )
            )
        )
    return html.Ol(rows, className="steps")


def dataset_words(session: Session) -> list[Any]:
    """The chosen dataset: its probability and its error."""
    at, problem, found = session.selection.number, session.sheet.problem, session.answer.mechanism
    one, two = answer_words(problem)
    truth = one if problem.answers[at] == 1 else two
    head = [html.H2(word(name_of(session, at))), html.P(["The true answer is ", word(truth, "truth"), "."])]
    if found is None:
        return head
    p, error, z = float(found.probabilities[at]), float(found.errors[at]), float(found.coordinates[at])
    complement = float(problem.notion.coordinate.probability(-z))
    right = p if problem.answers[at] == 1 else complement
    coin = [html.P("A coin would be right more often.", className="notice")] if _is_worse(problem, at, z) else []
    return [
        *head,
        html.Div(
            [
                html.Div(
                    [
                        html.Span(format_exact(p, complement, z), id="chosen-p", className="big"),
                        html.Span("p", className="unit"),
                    ]
                ),
                html.Div(
                    [
                        html.Span(format_error(error), id="chosen-error", className="big"),
                        html.Span("error", className="unit"),
                    ]
                ),
            ],
            className="numbers",
        ),
        html.Div(
            html.Div(style={"width": f"{100 * p:.2f}%", "background": ONE}), className="bar", style={"background": TWO}
        ),
        html.P(["The answer is right in ", html.Span(format_percentage(error, right=right)), " of 100 runs."]),
        *coin,
    ]


def _is_worse(problem: Any, at: int, z: float) -> bool:
    return z < 0.0 if problem.answers[at] == 1 else z > 0.0


def dataset_more(session: Session) -> list[Any]:
    """What binds the chosen dataset, and its neighbours."""
    at, problem = session.selection.number, session.sheet.problem
    parts: list[Any] = []
    path = explained(session)
    if path is not None and len(path.datasets) > 1:
        word_of = "at most" if path.upper else "at least"
        parts += [html.H3(f"Why p is {word_of} that"), steps(path, path.upper)]
    elif session.answer.mechanism is not None:
        if path is not None and path.origin:
            told = f"This value is {path.beginning}."
        else:
            told = "This value is chosen by the vote." if path is None else "Nothing binds it."
        parts += [html.P(escape_unprintable(told), className="quiet")]
    others = list(dict.fromkeys(problem.graph.neighbours(at)[0].tolist()))
    rows = [html.Li(_neighbour(session, at, other)) for other in others[:MOST_NEIGHBOURS]]
    more = [html.P(f"and {len(others) - MOST_NEIGHBOURS:,} more", className="quiet")] * (len(others) > MOST_NEIGHBOURS)
    return [*parts, html.H3("Neighbours"), html.Ul(rows, className="steps"), *more]


def _neighbour(session: Session, at: int, other: int) -> Any:
    """A neighbour, and the edges to it: one for each class."""
    graph = session.sheet.problem.graph
    letter = LETTERS[graph.parameter_names[0]]
    edges = graph.edges_between(at, other)
    chips = []
    for edge in edges:
        number = -1 if session.ends is None else session.ends.number(at, other, edge.edge_class)
        whose = (
            f" ({escape_unprintable(str(edge.edge_class))[:30]})"
            if len(edges) > 1 and edge.edge_class is not None
            else ""
        )
        text = f"{letter} = {format_short(next(iter(edge.parameters.values())))}{whose}"
        chips.append(html.Button(text, **action("edge", number), className="chip", title="Move it"))
    name = html.Button(word(name_of(session, other)), **action("dataset", other), className="row")
    return html.Div([name, *chips], className="pair")


def edge_words(session: Session) -> list[Any]:
    """The chosen edge: its ends, and whose it is."""
    if session.ends is None:
        return []
    at, found = session.selection.number, session.answer.mechanism
    one, other = int(session.ends.source[at]), int(session.ends.target[at])
    rows = []
    for end in (one, other):
        value = "" if found is None else f"p = {format_compact(value_at(session, end), 6)}"
        name = html.Button(word(name_of(session, end)), **action("dataset", end), className="row")
        rows.append(html.Li(html.Div([name, html.Span(value, className="number")], className="pair")))
    edge_class = session.ends.classes[at]
    whose = [] if edge_class is None else [html.P(["Class: ", word(escape_unprintable(str(edge_class))[:60])])]
    return [html.H2("Neighbours"), html.Ul(rows, className="steps"), *whose]


def _all_edges(count: int) -> str:
    return "its edge" if count == 1 else f"all {count:,} edges"


# How accurate it is beside what else could be done, and what people are told.


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
    told = [html.P(escape_unprintable(str(each))[:300], className="quiet") for each in found.comparisons[:4]]
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
        who = "Everybody" if one.edge_class is None else spell_label(one.edge_class)[:60]
        small = f"ε used: {one.loss:.4g} of {one.epsilon:g}" if np.isfinite(one.loss) else ""
        rows.append(
            html.Li([html.H3(word(who)), html.P(escape_unprintable(str(one))), html.P(small, className="quiet")])
        )
    more = [html.P(f"and {len(given) - 30:,} more", className="quiet")] * (len(given) > 30)
    return [html.Ul(rows, className="odds"), *more]


def _bar(error: float) -> Any:
    share = 1.0 - error
    width = {"width": f"{max(0.0, min(1.0, share)) * 100:.1f}%"}
    filled, label = html.Div(style=width, className="fill"), html.Span(f"{format_percentage(error)} %")
    return html.Div([filled, label], className="meter")
