"""The texts beside the picture: verdict, selection, binding path, accuracy and odds.

They are Dash components whose texts are shown as they are: nothing in a label is read as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from dash import html

from hetdp.certificate.losses import certain_answer
from hetdp.mechanism.accuracy.report import Accuracy
from hetdp.mechanism.coin import CoinComparison
from hetdp.mechanism.explanation import GIVEN as ORIGIN_GIVEN
from hetdp.mechanism.explanation import Across, BindingPath, edge_in_words
from hetdp.mechanism.formatting import (
    clip_uncertain,
    format_apart,
    format_compact,
    format_error,
    format_exact,
    format_percentage,
    format_probability,
)
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.odds import EdgeOdds
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.numbers import format_short
from hetdp.problem.answer_words import constant_words
from hetdp.problem.parameters import LETTERS, describe_parameters
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.spelling import spell_label
from hetdp.studio.answers import GIVEN, Pins
from hetdp.studio.binding import binding_path
from hetdp.studio.drawing import answer_names, probability_at, shorten_label
from hetdp.studio.glossary import OBJECTIVES, find_term
from hetdp.studio.session import BEFORE, MOST_CHANGES, MOST_MOVED, OPENED, Session
from hetdp.studio.views import counts_in_words
from hetdp.studio.what_if import ALL, LONGEST_CLASS, LOSSES, unprotected_classes
from hetdp.text import escape_unprintable, pluralize

LONGEST = 80  # characters of a label
NO_LONGER_PEOPLE = (
    "Some edges now have an ε that the privacy rules for people do not give. The problem is therefore treated as"
    " any other graph: its datasets and all other ε stay the same, but Vote is not available, and the exported code"
    " reads a file. Undo restores the problem of people."
)


def describe_selection(session: Session) -> str:
    """The selection in one sentence, for screen readers; empty if nothing is selected.

    >>> from hetdp.studio.gallery import GALLERY
    >>> session = Session(GALLERY["three-voters"].make())
    >>> session.select("dataset", 0)
    >>> describe_selection(session)
    'Dataset yes,yes,yes, Ann yes, Bob yes, Cyd yes, true answer: yes, p = 0.834. 3 edges.'
    >>> session.select("edge", 0)
    >>> describe_selection(session)
    'Edge between yes,yes,yes and yes,yes,no: ε = 1.'
    """
    kind, number = session.selection
    graph, found = session.document.problem.graph, session.answer.mechanism
    if kind == "dataset":
        truth = answer_names(session.document.problem)[session.document.problem.answers[number] - 1]
        value = "" if found is None else f", p = {format_compact(probability_at(session, number))}"
        edges = pluralize(len(graph.neighbours(number)[0]), "edge")
        name = shorten_label(graph.label(number), graph.labels, LONGEST)
        counts = counts_in_words(session, number)
        name += f", {escape_unprintable(counts)[:LONGEST]}" if counts else ""
        return f"Dataset {name}, true answer: {truth}{value}. {edges}."
    if kind == "edge" and session.edge_list is not None:
        both = (session.edge_list.source, session.edge_list.target)
        ends = (shorten_label(graph.label(int(end[number])), graph.labels, LONGEST) for end in both)
        values = session.editable_values()
        name, class_words = session.edge_list.classes[number], ""
        if session.edge_list.parallel()[number]:
            class_words = ", without a class" if name is None else f", class {shorten_label(name, longest=LONGEST)}"
        return f"Edge between {' and '.join(ends)}{class_words}: {describe_parameters(tuple(values), values.values())}."
    return ""


def remark(session: Session) -> str:
    """A side effect of the last change; empty if there is none."""
    before = session.past[-1] if session.past else session.document
    was, is_now = (isinstance(document.problem.graph, ProductSpace) for document in (before, session.document))
    if before.opening != session.document.opening or not was or is_now:
        return ""
    vote = " The objective is Fair instead of Vote, which counts people." if before.objective == WEIGHTED_VOTE else ""
    return f"{NO_LONGER_PEOPLE}{vote}"


BEST_AT = {
    "extension": "with the given values",
    "fair": "for the worst-off datasets",
    "balanced": "in the worst case",
    "average": "on average",
}
USEFUL_RUNS = 51  # of 100 runs: if no dataset is answered right as often, the mechanism is not presented as a success
USELESS_NOTE = f"no dataset is answered right in {USEFUL_RUNS} of 100 runs, and a coin is right in 50"
MOST_NEIGHBOURS = 40
MOST_STEPS = 60
LONGEST_LABEL = 120
LONGEST_QUESTION = 400


def full_label(session: Session, dataset: int) -> str:
    """A label as shown beside the picture."""
    problem = session.document.problem
    text = spell_label(problem.graph.label(dataset), problem.labels)
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def isolate(text: str, kind: str = "name") -> Any:
    """A label whose writing direction does not affect the text around it."""
    return html.Bdi(text, className=kind)


def title(session: Session) -> list[Any]:
    """The name of the problem, its question and its size."""
    problem = session.document.problem
    size = f"{pluralize(problem.graph.size, 'dataset')} · {pluralize(problem.graph.edge_count, 'edge')}"
    given = f" · {pluralize(len(session.document.pins), 'given value')}" if session.document.pins else ""
    given += f", {len(session.document.repaired):,} of them repaired" if session.document.repaired else ""
    about = problem.about.get("title", "")
    return [
        html.Strong(isolate(session.document.name)),
        html.Span(isolate(escape_unprintable(about)[:LONGEST_QUESTION]), className="question")
        if about != session.document.name
        else "",
        html.Span(f"{size} · {problem.notion} privacy{given}", className="quiet"),
    ]


def status(session: Session, page: str = "") -> tuple[str, list[Any]]:
    """The kind of the verdict, and its texts after a refusal of the last action of a page."""
    kind, words = verdict(session)
    refusal = escape_unprintable(session.notice_for(page))[:600]
    notice = [html.P(refusal, className="notice", role="alert")] if refusal else []
    return kind, [*notice, *words]


def verdict(session: Session) -> tuple[str, list[Any]]:
    """The kind of the verdict ("good", "caution" or "none"), and its texts."""
    found = session.answer
    if found.mechanism is not None:
        kind, words = _private_status(session, found.mechanism)
        repaired, stated = session.document.repaired, session.document.stated_repairs
        is_stated = any(stated.get(dataset) == pin for dataset, pin in repaired.items())
        return kind, [*words, *_moved_values(session, repaired, f"{REPAIRED}, {STATED}" if is_stated else REPAIRED)]
    if found.witness is not None:
        path = found.witness.path
        first, last = path.names[0][:60], path.names[-1][:60]
        words = [
            html.H2("No private mechanism has these values"),
            html.P(
                [
                    "p(",
                    isolate(first),
                    f") = {path.values[0]} allows at most p(",
                    isolate(last),
                    f") = {path.values[-1]}, ",
                    f"{pluralize(len(path.parameters), 'step')} away; but p(",
                    isolate(last),
                    f") is pinned at {format_probability(found.witness.value, found.witness.complement)}.",
                ]
            ),
            path_list(path, session),
            *_moved_values(session, session.repair_moves(), PREVIEW),
        ]
        return "none", words
    kind = "Some values are missing" if found.lacks_pins else "No answer"
    return "none", [html.H2(kind), html.P(escape_unprintable(found.reason)[:600])]


def _private_status(session: Session, mechanism: LocalMechanism) -> tuple[str, list[Any]]:
    """The kind of the verdict on a private mechanism, and its texts."""
    problem, proof = session.document.problem, mechanism.certificate
    proved = f"Verified exactly on {_all_edges(problem.graph.edge_count)}."
    best = BEST_AT.get(mechanism.objective) if proof is not None and proof.optimal else None
    if best and session.document.repaired and mechanism.objective == GIVEN:
        best = "with the repaired values"
    truth = _only_answer(problem)
    if truth:
        same = f"The true answer is the same for every dataset: {truth}."
        if certain_answer(mechanism.coordinates):
            same = constant_words(truth, "dataset")
        return "caution", [
            html.H2("Private, but the question has only one answer"),
            html.P(f"{same} Check the question.", className="notice", role="alert"),
            html.P(proved),
        ]
    free, classes = _free_edges(session), unprotected_classes(problem, session.edge_list)
    if free == problem.graph.edge_count and (free or classes):
        return "caution", [
            html.H2("Nothing is promised: every ε is infinite"),
            html.P("Any values would pass. Give a finite ε where privacy matters.", className="notice", role="alert"),
        ]
    if free:
        proved += f" {free:,} of them {'has' if free == 1 else 'have'} an infinite ε: nothing is promised there."
    elif classes:
        proved = f"{proved.removesuffix('.')} with a finite ε."
    kind, head, words = _worth(session, mechanism, proved, best)
    if classes:
        promised = html.P(f"Where ε is finite: {head[:1].lower()}{head[1:]}.")
        notice = html.P(NOTHING_PROMISED, className="notice", role="alert")
        return "caution", [html.H2(unprotected_words(classes)), notice, promised, *words]
    return kind, [html.H2(head), *words]


UNPROTECTED, PARTLY = "ε = ∞", "ε = ∞ on some edges"
NOTHING_PROMISED = "Nothing is promised there: the published answer may reveal these data. A finite ε protects them."
MOST_UNPROTECTED = 5  # classes that are named


def unprotected_words(classes: Mapping[Any, bool]) -> str:
    """The classes without protection, in one sentence.

    >>> unprotected_words({"Ann": True}), unprotected_words({"Ann": True, "Bob": True})
    ('Ann is not protected: ε = ∞', 'Ann and Bob are not protected: ε = ∞')
    >>> unprotected_words({"Ann": False})
    'Ann is not always protected: ε = ∞ on some edges'
    """
    names = [name for name, is_whole in classes.items() if is_whole] or list(classes)
    is_whole = classes[names[0]]
    named = [spell_label(name)[:LONGEST_CLASS] for name in names[:MOST_UNPROTECTED]]
    named += [f"{len(names) - MOST_UNPROTECTED:,} more"] * (len(names) > MOST_UNPROTECTED)
    words = " and ".join([*filter(None, [", ".join(named[:-1])]), named[-1]])
    verb = "is" if len(names) == 1 else "are"
    return f"{words} {verb} not {'' if is_whole else 'always '}protected: {UNPROTECTED if is_whole else PARTLY}"


def _worth(session: Session, mechanism: LocalMechanism, proved: str, best: str | None) -> tuple[str, str, list[Any]]:
    """The kind of the verdict on a private mechanism by its accuracy, its head, and its other texts."""
    coin = mechanism.against_coin
    if coin.is_better and not _is_hardly_better(mechanism):
        head = f"Private, and as accurate as possible {best}" if best else "Private"
        hardest = [" At the hardest dataset, ", *_worst_words(session, coin)] if coin.datasets else []
        return "good", head, [html.P([proved, *hardest])]
    if coin.worse:
        counted = escape_unprintable(coin.worse_words())
        if session.document.repaired:
            counted = counted.replace("a given value", "a given or repaired value")
        warning = [f"{counted}. The worst is ", *_worst_words(session, coin)]
    else:
        words = USELESS_NOTE if coin.is_better else str(coin)
        warning = [f"{words[:1].upper()}{words[1:]}. At the hardest dataset, ", *_worst_words(session, coin)]
    limit = f" No private mechanism is more accurate {best}." if best else ""
    rest = [html.P(warning, className="notice", role="alert"), html.P(f"{proved}{limit}")]
    return "caution", f"Private, but {coin.short() or 'hardly better than a coin'}", rest


def _free_edges(session: Session) -> int:
    """The number of edges with an infinite ε or μ, as far as edges are listed."""
    listed = session.edge_list
    losses = [] if listed is None else [x for name, x in listed.columns.items() if name.startswith(LOSSES)]
    return int(np.isinf(np.minimum.reduce(losses)).sum()) if losses else 0


def _only_answer(problem: Problem) -> str:
    """The true answer, if it is the same for every dataset; otherwise empty."""
    answers = problem.answers
    is_constant = len(answers) > 0 and bool((answers == answers[0]).all())
    return answer_names(problem)[int(answers[0]) - 1] if is_constant else ""


def _worst_words(session: Session, coin: CoinComparison) -> list[Any]:
    """The dataset with the least accurate answer, as a button that selects it, and how often the answer is right."""
    worst = session.document.problem.graph.index(coin.worst)
    right = format_percentage(coin.error, right=coin.right)
    where = html.Button(
        isolate(full_label(session, worst)),
        **action("dataset", worst),
        className="link",
        title="Select this dataset",
    )
    return [where, f": the answer is right in {right} of 100 runs."]


PREVIEW = "The repair would move {}"
REPAIRED = "The repair moved {}"
STATED = "as stated in the file that was opened"


def _moved_values(session: Session, before: Pins, words: str) -> list[Any]:
    """The given values that a repair moves, before and after."""
    if not before:
        return []
    after = session.repaired_pins()
    rows = []
    for dataset in list(before)[:MOST_MOVED]:
        was, now = format_apart(*(session.probability_of(dataset, pins[dataset]) for pins in (before, after)))
        name = html.Button(isolate(full_label(session, dataset)), **action("dataset", dataset), className="row")
        rows.append(html.Li(html.Div([name, html.Span(f"p = {was} → {now}", className="number")], className="pair")))
    more = [html.P(f"and {len(before) - MOST_MOVED:,} more", className="quiet")] * (len(before) > MOST_MOVED)
    many = f"{len(before):,} of the {pluralize(len(session.document.pins), 'given value')}"
    return [html.H3(words.format(many)), html.Ul(rows, className="steps"), *more]


def _is_hardly_better(mechanism: LocalMechanism) -> bool:
    """True if no dataset is answered right in USEFUL_RUNS of 100 runs, although no coin is better anywhere."""
    errors = mechanism.errors
    return bool(len(errors)) and float(errors.min()) > 1.0 - USEFUL_RUNS / 100


def objective_description(session: Session) -> str:
    """The quantity that the objective optimizes, in words."""
    return OBJECTIVES[session.document.objective][1]


def action(name: str, at: int) -> dict[str, Any]:
    """The attributes that make a click on an element an action; studio.js reads them."""
    return {"data-action": name, "data-at": at}


def path_beginning(path: BindingPath, session: Session) -> str:
    """The source of the first value of a path, and whether a repair has moved it."""
    first = session.document.problem.graph.index(path.datasets[0])
    moved = session.document.repaired.get(first) if path.origin == ORIGIN_GIVEN else None
    if moved is None:
        return replace(path, across=None).beginning
    return f"given as {format_probability(*session.probability_of(first, moved))}, and moved by the repair"


def path_list(path: BindingPath, session: Session) -> Any:
    """A path step by step, from across the boundary; a click on a step highlights the path up to it."""
    sign = "≤" if path.upper else "≥"
    values = path.values
    bounds = [f"p = {values[0]}", *(f"p {sign} {value}" for value in values[1:])]
    rows = list(zip(path.names, [path_beginning(path, session), *path.steps], bounds, strict=True))
    if path.ends_given:
        rows[-1] = (rows[-1][0], f"{rows[-1][1]}, as given", rows[-1][2])
    if path.across is not None:
        rows = [*_steps_across(path, path.across, rows[0][1], session), *rows[1:]]
    origin_at = 0 if path.across is None else 1
    items = [
        html.Li(
            html.Button(
                [
                    isolate(name[:60]),
                    html.Span(escape_unprintable(how)[:120], className="quiet"),
                    html.Span(bound, className="number"),
                ],
                **action("step", at),
                className="row origin" if at == origin_at else "row",
                title="Highlight the path up to here",
            )
        )
        for at, (name, how, bound) in enumerate(rows[:MOST_STEPS])
    ]
    return html.Ol(items, className="steps")


def _steps_across(path: BindingPath, across: Across, origin: str, session: Session) -> list[tuple[str, str, str]]:
    """The step across the boundary: its start, and the first value of the path."""
    problem = session.document.problem
    other = problem.graph.index(across.dataset)
    given = ", moved by the repair" if other in session.document.repaired else ", given" if across.given else ""
    start = f"true answer: {answer_names(problem)[problem.answers[other] - 1]}{given}"
    edge, sign = edge_in_words(across.parameters, across.edge_class), "≤" if path.upper else "≥"
    first = f"across {edge}; {origin}", f"p {sign} {path.values[0]}"
    if not across.tight:
        most = "at most" if path.upper else "at least"
        first = f"{origin}; across {edge}, {most} {format_probability(*across.bound)}", f"p = {path.values[0]}"
    return [(across.name, start, f"p = {format_probability(*across.p)}"), (path.names[0], *first)]


def dataset_summary(session: Session) -> list[Any]:
    """The selected dataset: its probability and its error."""
    at, problem, found = session.selection.number, session.document.problem, session.answer.mechanism
    one, two = answer_names(problem)
    truth = one if problem.answers[at] == 1 else two
    counts = counts_in_words(session, at)
    head = [
        html.H2(isolate(full_label(session, at))),
        *([html.P(isolate(escape_unprintable(counts)[:LONGEST_LABEL]), className="quiet")] if counts else []),
        html.P(["The true answer is ", isolate(truth, "truth"), "."]),
    ]
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
                        html.Span(format_exact(p, complement, z), id="selected-p", className="big"),
                        html.Span("p", className="unit"),
                    ]
                ),
                html.Div(
                    [
                        html.Span(format_error(error), id="selected-error", className="big"),
                        html.Span("error", className="unit"),
                    ]
                ),
            ],
            className="numbers",
        ),
        html.Div(html.Div(style={"width": f"{100 * p:.2f}%"}), className="bar"),
        html.P(["The answer is right in ", html.Span(format_percentage(error, right=right)), " of 100 runs."]),
        *coin,
    ]


def _is_worse(problem: Any, at: int, z: float) -> bool:
    return z < 0.0 if problem.answers[at] == 1 else z > 0.0


def dataset_details(session: Session) -> list[Any]:
    """The binding path of the selected dataset, and its neighbours."""
    at, problem = session.selection.number, session.document.problem
    parts: list[Any] = []
    path = binding_path(session)
    if path is not None and len(path.crossing) > 1:
        way = "higher" if path.upper else "lower"
        parts += [html.H3(f"Why p is not {way}"), path_list(path, session)]
    elif session.answer.mechanism is not None:
        if path is not None and path.origin:
            reason = f"This value is {path_beginning(path, session)}."
        else:
            reason = "This value comes from the weighted vote." if path is None else "No other value limits it."
        parts += [html.P(escape_unprintable(reason), className="quiet")]
    others = list(dict.fromkeys(problem.graph.neighbours(at)[0].tolist()))
    rows = [html.Li(_neighbour(session, at, other)) for other in others[:MOST_NEIGHBOURS]]
    more = [html.P(f"and {len(others) - MOST_NEIGHBOURS:,} more", className="quiet")] * (len(others) > MOST_NEIGHBOURS)
    return [*parts, html.H3("Neighbours"), html.Ul(rows, className="steps"), *more]


def _neighbour(session: Session, at: int, other: int) -> Any:
    """A neighbour, and a button for each edge to it."""
    graph = session.document.problem.graph
    letter = LETTERS[graph.parameter_names[0]]
    edges = graph.edges_between(at, other)
    chips = []
    for edge in edges:
        number = -1 if session.edge_list is None else session.edge_list.number(at, other, edge.edge_class)
        class_words = (
            f" ({escape_unprintable(str(edge.edge_class))[:30]})"
            if len(edges) > 1 and edge.edge_class is not None
            else ""
        )
        text = f"{letter} = {format_short(next(iter(edge.parameters.values())))}{class_words}"
        chips.append(html.Button(text, **action("edge", number), className="chip", title="Edit this edge"))
    name = html.Button(isolate(full_label(session, other)), **action("dataset", other), className="row")
    return html.Div([name, *chips], className="pair")


def edge_summary(session: Session) -> list[Any]:
    """The selected edge: its ends and its class."""
    if session.edge_list is None:
        return []
    at, found = session.selection.number, session.answer.mechanism
    one, other = int(session.edge_list.source[at]), int(session.edge_list.target[at])
    rows = []
    for end in (one, other):
        value = "" if found is None else f"p = {format_compact(probability_at(session, end), 6)}"
        name = html.Button(isolate(full_label(session, end)), **action("dataset", end), className="row")
        rows.append(html.Li(html.Div([name, html.Span(value, className="number")], className="pair")))
    edge_class = session.edge_list.classes[at]
    class_words = [] if edge_class is None else [html.P(["Class: ", isolate(escape_unprintable(str(edge_class))[:60])])]
    return [html.H2("Neighbours"), html.Ul(rows, className="steps"), *class_words]


def _all_edges(count: int) -> str:
    return "its edge" if count == 1 else f"all {count:,} edges"


def accuracy_table(found: Accuracy) -> list[Any]:
    """A table of mechanisms and baselines: how often they are right in the worst case and on average."""
    rows = [html.Tr([html.Th("method"), html.Th("worst case"), html.Th("mean")])]
    for method in found.methods:
        cells = [
            html.Td(term_button(method.name)),
            html.Td(_bar(method.worst_error)),
            html.Td(_bar(method.mean_error)),
        ]
        rows.append(html.Tr(cells, className="baseline" if method.baseline else "ours"))
    comparisons = [html.P(escape_unprintable(str(each))[:300], className="quiet") for each in found.comparisons[:4]]
    prior = {"uniform": "equal weights", "weight": "the weights of the problem"}.get(found.prior, "given weights")
    return [
        html.Table(rows, className="accuracy"),
        html.P(f"Means use {prior}. All numbers are computed, not simulated, and rounded down.", className="quiet"),
        *comparisons,
    ]


def term_button(name: str) -> Any:
    """The name of a method with its entry in the glossary, which guide.js shows; plain if it has none."""
    if find_term(name) is None:
        return name
    data: dict[str, Any] = {"data-term": name}
    return html.Button(name, className="term", **data)


def odds_list(given: list[EdgeOdds], unprotected: Mapping[Any, bool] | None = None) -> list[Any]:
    """One sentence for each person or kind of change, after those that have no odds because they have no protection."""
    known = {one.edge_class for one in given}
    free = {name: is_whole for name, is_whole in (unprotected or {}).items() if is_whole and name not in known}
    rows = [html.Li(html.P(f"{unprotected_words({name: True})}. {NOTHING_PROMISED}")) for name in [*free][:30]]
    for one in given[:30]:
        name = "Everyone" if one.edge_class is None else spell_label(one.edge_class)[:60]
        small = f"ε used: {one.loss:.4g} of {one.epsilon:g}" if np.isfinite(one.loss) else ""
        rows.append(
            html.Li([html.H3(isolate(name)), html.P(escape_unprintable(str(one))), html.P(small, className="quiet")])
        )
    more = [html.P(f"and {len(given) - 30:,} more", className="quiet")] * (len(given) > 30)
    return [html.Ul(rows, className="odds"), *more]


def _bar(error: float) -> Any:
    share = 1.0 - error
    width = {"width": f"{max(0.0, min(1.0, share)) * 100:.1f}%"}
    filled, label = html.Div(style=width, className="fill"), html.Span(f"{format_percentage(error)} %")
    return html.Div([filled, label], className="meter")


def change_list(session: Session) -> list[Any]:
    """The changes that were made since the problem was opened, oldest first; undo takes the last one away."""
    changes = session.document.changes
    if not changes:
        return [html.P("Nothing was changed since this problem was opened.", className="quiet")]
    rows = [html.Li(isolate(escape_unprintable(str(change)))) for change in changes]
    words = "Undo (Ctrl+Z) takes back the last change." if session.past else ""
    words += f" The first {stated:,} are {STATED}." if (stated := session.document.stated) else ""
    words += f" Only the last {MOST_CHANGES:,} changes are listed." if len(changes) == MOST_CHANGES else ""
    return [html.P(words.strip(), className="quiet"), html.Ol(rows, className="changes")]


def side_effect(session: Session) -> list[Any]:
    """A side effect of the last change, below what was changed, so that it moves nothing above."""
    words = remark(session)
    return [html.P(words, className="notice", role="note")] if words else []


COMPARISONS = {BEFORE: "Last change", OPENED: "As opened"}


def comparisons(session: Session) -> list[dict[str, str]]:
    """What the mechanism can be compared with."""
    objectives = {name: OBJECTIVES[name].name for name in session.objectives}
    return [{"label": words, "value": name} for name, words in (COMPARISONS | objectives).items()]


def compared_name(session: Session) -> str:
    """What the mechanism is called beside the one that it is compared with."""
    return OBJECTIVES[session.document.objective].name if session.comparison in OBJECTIVES else "now"


def comparison_table(session: Session) -> list[Any]:
    """Numbers before and after, or of two objectives, side by side. It always has the same number of rows."""
    reference = session.reference()
    found = [None if reference is None else reference.answer.mechanism, session.answer.mechanism]
    rows = [*_selected_rows(session, found), *_overall_rows(found)]
    names = "before" if reference is None else reference.name, compared_name(session)
    head = html.Tr([html.Td(""), *(html.Th(name, scope="col") for name in names)])
    body = [
        html.Tr([html.Td(name), *(html.Td(value, className="number") for value in values)], className=_trend(values))
        for name, values in rows
    ]
    return [html.Table([html.Thead(head), html.Tbody(body)], className="compared")]


def details_link(session: Session) -> list[Any]:
    """The way from the numbers of the selected dataset to what binds it."""
    if session.selection.kind != "dataset":
        return []
    data: dict[str, Any] = {"data-tab": "inspect"}
    return [html.Button("Why this value? See Details", className="link", **data)]


def _trend(values: list[str]) -> str:
    return "changed" if values[0] != values[1] and "–" not in values else ""


def _selected_rows(session: Session, found: list[LocalMechanism | None]) -> list[tuple[Any, list[str]]]:
    """p of the selected dataset and how often its answer is right, or p at both ends of the selected edge."""
    kind, number = session.selection

    def name(dataset: int) -> Any:
        return isolate(shorten_label(session.document.problem.graph.label(dataset), session.document.problem.labels))

    def p(dataset: int) -> list[str]:
        return ["–" if one is None else format_compact(_clipped(one, dataset), 6) for one in found]

    if kind == "edge" and session.edge_list is not None:
        ends = (int(end[number]) for end in (session.edge_list.source, session.edge_list.target))
        return [(["p of ", name(end)], p(end)) for end in ends]
    if kind != "dataset":
        return [("p of the selected dataset", ["–", "–"]), ("right there, of 100 runs", ["–", "–"])]
    right = ["–" if one is None else format_percentage(float(one.errors[number])) for one in found]
    return [(["p of ", name(number)], p(number)), ("right there, of 100 runs", right)]


def _clipped(mechanism: LocalMechanism, dataset: int) -> float:
    return float(clip_uncertain(mechanism.probabilities[dataset], mechanism.coordinates[dataset]))


def _overall_rows(found: list[LocalMechanism | None]) -> list[tuple[Any, list[str]]]:
    """How often the answer is right for the worst dataset, and on average."""

    def right(measure: Callable[[LocalMechanism], float]) -> list[str]:
        return ["–" if one is None or not len(one.errors) else format_percentage(measure(one)) for one in found]

    def mean(mechanism: LocalMechanism) -> float:
        weights = mechanism.problem.weights if isinstance(mechanism.problem, Problem) else None
        return float(np.average(mechanism.errors, weights=weights))

    worst = right(lambda mechanism: float(mechanism.errors.max()))
    return [("right in the worst case", worst), ("right on average", right(mean))]


def scope_rows(session: Session) -> dict[str, Any]:
    """The sliders for many edges at once, as data: studio.js draws them and leaves the one that is dragged alone."""
    listed, more = session.settings()
    rows = []
    for one in listed:
        same = one.low == one.high
        text = format_short(one.low) if same else f"{format_short(one.low)}–{format_short(one.high)}"
        factor = one.scope.kind == ALL
        finite = one.high if np.isfinite(one.high) else 0.0
        rows.append(
            {
                "kind": one.scope.kind,
                "at": one.scope.at,
                "words": escape_unprintable(one.words),
                "edges": one.edges,
                "value": one.low if np.isfinite(one.low) else max(3.0, 2.0 * finite),  # at the end of the slider
                "text": text,
                "most": 3.0 if factor else max(3.0, 2.0 * finite),
                "step": 0.05 if factor else 0.01,
                "factor": factor,
            }
        )
    words = f"{more:,} more without a slider; select an edge of a class to get its slider."
    return {"opening": session.document.opening, "rows": rows, "more": words if more else ""}
