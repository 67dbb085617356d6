"""What the page says beside the picture, as components whose words are words: nothing in them is read as markup."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from hetdp.certificate.losses import certain_answer
from hetdp.errors import counted, printable
from hetdp.mechanism.explanation import BindingPath, in_digits
from hetdp.plots.colours import ONE, TWO
from hetdp.problem.notebook import label
from hetdp.problem.parameters import in_words
from hetdp.release.record.words import constant_words
from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import answer_words
from hetdp.studio.lit import explained
from hetdp.studio.numbers import in_short
from hetdp.studio.speaking import remark
from hetdp.studio.state import Session

MOST_NEIGHBOURS = 40
MOST_STEPS = 60
LONGEST = 120
OBJECTIVES = {
    "fair": ("Fair", "The worst-off dataset is answered as well as privacy allows, then the next worst, and so on."),
    "balanced": ("Balanced", "The smallest possible worst error, in closed form; nowhere better than fair."),
    "average": ("Average", "The largest mean accuracy; single datasets may be answered worse than by a coin."),
    "weighted-vote": ("Vote", "Everybody counts as much as their ε, and noise is added; the best at nothing."),
    GIVEN: ("Only given", "Nothing is chosen: the given values are extended as accurately as privacy allows."),
}


def name_of(session: Session, dataset: int) -> str:
    """A label as it is shown beside the picture."""
    text = printable(label(session.sheet.problem.graph.label(dataset)))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def word(text: str, kind: str = "name") -> Any:
    """A label, kept apart from the words around it, whichever way it is written."""
    return html.Bdi(text, className=kind)


def title(session: Session) -> list[Any]:
    """What is on the table."""
    problem = session.sheet.problem
    size = f"{counted(problem.graph.size, 'dataset')} · {counted(problem.graph.edge_count, 'edge')}"
    given = f" · {counted(len(session.sheet.pins), 'given value')}" if session.sheet.pins else ""
    about = problem.about.get("title", "")
    return [
        html.Strong(word(session.sheet.name)),
        html.Span(word(printable(about)[:LONGEST]), className="question") if about != session.sheet.name else "",
        html.Span(f"{size} · {problem.notion.name} privacy{given}", className="quiet"),
    ]


def status(session: Session) -> tuple[str, list[Any]]:
    """The kind of the verdict, and its words."""
    found = session.answer
    said = (("alert", session.notice), ("note", remark(session)))
    notice = [html.P(printable(words)[:600], className="notice", role=role) for role, words in said if words]
    if found.mechanism is not None:
        proof = found.mechanism.certificate
        best = proof is not None and proof.optimal and found.mechanism.objective != "weighted-vote"
        worst = float(np.max(found.mechanism.errors, initial=0.0))
        told = f"Proved on {_all_edges(session.sheet.problem.graph.edge_count)}, exactly."
        hardest = f"Where it is hardest, the answer is right in {_runs(worst)} of 100 runs."
        certain = certain_answer(found.mechanism.coordinates)
        if certain:
            hardest = constant_words(answer_words(session.sheet.problem)[certain - 1], "dataset")
        words = [html.H2("Private, and as accurate as can be" if best else "Private"), html.P(f"{told} {hardest}")]
        return "good", [*notice, *words]
    if found.witness is not None:
        path = found.witness.path
        first, last = printable(label(path.datasets[0]))[:60], printable(label(path.datasets[-1]))[:60]
        words = [
            html.H2("No private mechanism has these values"),
            html.P(
                [
                    "p(",
                    word(first),
                    f") = {in_digits(path.bounds[0], path.complements[0])} allows at most p(",
                    word(last),
                    f") = {in_digits(path.bounds[-1], path.complements[-1])}, ",
                    f"{counted(len(path.parameters), 'step')} away; but p(",
                    word(last),
                    f") is pinned at {in_digits(found.witness.value, found.witness.complement)}.",
                ]
            ),
            steps(path, True),
        ]
        return "none", [*notice, *words]
    kind = "Some values are missing" if found.unpinned else "No answer"
    return "none", [*notice, html.H2(kind), html.P(printable(found.why_not)[:600])]


def objective_words(session: Session) -> str:
    """What the objective promises."""
    return OBJECTIVES[session.sheet.objective][1]


def steps(path: BindingPath, upper: bool, first: str = "given") -> Any:
    """A path step by step; each step can be chosen, to light the path so far."""
    relation = "≤" if upper else "≥"
    rows = []
    values = [in_digits(*tails) for tails in zip(path.bounds, path.complements, strict=True)]
    for at, (name, value) in enumerate(zip(path.datasets[:MOST_STEPS], values, strict=False)):
        how = first if at == 0 else in_words(tuple(path.parameters[at - 1]), path.parameters[at - 1].values())
        bound = f"p = {value}" if at == 0 else f"p {relation} {value}"
        text = printable(label(name))[:60]
        rows.append(
            html.Li(
                html.Button(
                    [word(text), html.Span(how, className="quiet"), html.Span(bound, className="number")],
                    id={"type": "step", "at": at},
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
    p, error = float(found.probabilities[at]), float(found.errors[at])
    complement = error if problem.answers[at] == 1 else 1.0 - error
    return [
        *head,
        html.Div(
            [
                html.Div(
                    [
                        html.Span(in_digits(p, complement), id="chosen-p", className="big"),
                        html.Span("p", className="unit"),
                    ]
                ),
                html.Div(
                    [
                        html.Span(f"{error:.6g}", id="chosen-error", className="big"),
                        html.Span("error", className="unit"),
                    ]
                ),
            ],
            className="numbers",
        ),
        html.Div(
            html.Div(style={"width": f"{100 * p:.2f}%", "background": ONE}), className="bar", style={"background": TWO}
        ),
        html.P(
            [word(one, "truth"), f" is published in {100 * p:.1f} of 100 runs, ", word(two, "truth"), " in the others."]
        ),
    ]


def dataset_more(session: Session) -> list[Any]:
    """What binds the chosen dataset, and its neighbours."""
    at, problem = session.selection.number, session.sheet.problem
    parts: list[Any] = []
    path = explained(session)
    if path is not None and len(path.datasets) > 1:
        word_of = "at most" if path.upper else "at least"
        parts += [html.H3(f"Why p is {word_of} that"), steps(path, path.upper, _first_word(session, path))]
    elif session.answer.mechanism is not None:
        given = at in session.sheet.pins
        chosen = bool(session.answer.mechanism.pinned[at])
        told = "This value is given." if given else "This value was chosen by the objective." if chosen else ""
        parts += [html.P(told or "Nothing binds it.", className="quiet")]
    targets, columns = problem.graph.neighbours(at)
    rows = [
        html.Li(_neighbour(session, at, int(other), float(columns[0][row])))
        for row, other in enumerate(targets[:MOST_NEIGHBOURS].tolist())
    ]
    more = [html.P(f"and {len(targets) - MOST_NEIGHBOURS:,} more", className="quiet")] * (
        len(targets) > MOST_NEIGHBOURS
    )
    return [*parts, html.H3("Neighbours"), html.Ul(rows, className="steps"), *more]


def _first_word(session: Session, path: BindingPath) -> str:
    """Whether the value at which a path begins was given, or chosen by the objective."""
    return "given" if session.sheet.problem.graph.index(path.datasets[0]) in session.sheet.pins else "chosen"


def _neighbour(session: Session, at: int, other: int, epsilon: float) -> Any:
    letter = "μ" if "mu" in session.sheet.problem.graph.parameter_names else "ε"
    edge = None if session.ends is None else session.ends.between(at, other)
    to_edge = html.Button(
        f"{letter} = {in_short(epsilon)}",
        id={"type": "edge", "at": -1 if edge is None else edge},
        className="chip",
        title="Move it",
    )
    name = html.Button(word(name_of(session, other)), id={"type": "dataset", "at": other}, className="row")
    return html.Div([name, to_edge], className="pair")


def edge_words(session: Session) -> list[Any]:
    """The chosen edge: its ends, and whose it is."""
    if session.ends is None:
        return []
    at, found = session.selection.number, session.answer.mechanism
    one, other = int(session.ends.source[at]), int(session.ends.target[at])
    classes = session.sheet.problem.graph.edge_classes()
    rows = []
    for end in (one, other):
        value = "" if found is None else f"p = {float(found.probabilities[end]):.6g}"
        name = html.Button(word(name_of(session, end)), id={"type": "dataset", "at": end}, className="row")
        rows.append(html.Li(html.Div([name, html.Span(value, className="number")], className="pair")))
    edge_class = None if not classes else classes[int(session.ends.places[at])]
    whose = [] if edge_class is None else [html.P(["Class: ", word(printable(str(edge_class))[:60])])]
    return [html.H2("Neighbours"), html.Ul(rows, className="steps"), *whose]


def _all_edges(count: int) -> str:
    return "its edge" if count == 1 else f"all {count:,} edges"


def _runs(error: float) -> str:
    right = 100.0 * (1.0 - error)
    return f"{right:.1f}" if right < 99.95 else "more than 99.9"
