"""The drawing of the network: colours, names and positions of datasets, and the stylesheet of the graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.mechanism.formatting import clip_uncertain
from hetdp.plots.layout import Layout, layered_layout
from hetdp.problem import answer_words as words
from hetdp.problem.labels import Labels
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.spelling import spell_label
from hetdp.studio.answers import EdgeList
from hetdp.studio.session import BEFORE, Session
from hetdp.theory.catalogue import PARAMETERS

MOST_DATASETS, MOST_EDGES = 1_200, 6_000  # up to which a browser draws a network smoothly
NEIGHBOURHOOD_SIZE = 60  # datasets in a neighbourhood
SMALLEST_WIDTH = 680.0  # points: the width of a picture of few datasets
ASPECT_RATIO = 1.4  # the width of a picture, divided by its height
LONGEST_NAME = 18
LINE_LENGTH = 13  # characters in a line below a dataset: columns are 88 points apart
MOST_NAMED = 260  # datasets up to which each has its name below it

NO_VALUE = -1.0  # instead of p where a dataset has no value
THEMES = "light", "dark"
TOKENS = Path(__file__).parent / "assets" / "tokens.css"


def _read_colours(theme: str) -> dict[str, str]:
    """The colours of a theme by name, as in tokens.css."""
    start = ":root {" if theme == "light" else ":root[data-theme=dark] {"
    rules = TOKENS.read_text(encoding="utf-8").partition(start)[2].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", rules))


INKS = {theme: _read_colours(theme) for theme in THEMES}
SHADES = {  # the colours of p; values between are mixed
    theme: [(per_cent / 100, colours[f"p{per_cent}"]) for per_cent in (0, 20, 50, 80, 100)]
    for theme, colours in INKS.items()
}

Places = tuple[Floats, Floats]


def is_drawable(session: Session) -> bool:
    """True if the graph is small enough to be drawn legibly."""
    graph = session.document.problem.graph
    return graph.size <= MOST_DATASETS and graph.arc_count <= 2 * MOST_EDGES


def colours_of(p: Floats, theme: str) -> list[str]:
    """The colour of each p, between those of the two answers."""
    at = [place for place, _ in SHADES[theme]]
    parts = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for _, code in SHADES[theme]], dtype=float)
    mixed = np.stack([np.interp(p, at, parts[:, part]) for part in range(3)], axis=1).round().astype(int)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in mixed.tolist()]


def probabilities_of(session: Session) -> Floats:
    """p of every dataset; without a mechanism, the given values, and NO_VALUE where there is none."""
    problem, found = session.document.problem, session.answer.mechanism
    if found is not None:
        return clip_uncertain(found.probabilities, found.coordinates)
    values = np.full(problem.graph.size, NO_VALUE)
    given = {dataset: session.given_probability(dataset) for dataset in session.document.pins}
    values[list(given)] = list(given.values())
    return values


def compared_probabilities(session: Session) -> Floats | None:
    """p of what the mechanism is compared with; None if the picture does not show it: before the last change."""
    if session.comparison == BEFORE or session.answer.mechanism is None:
        return None
    reference = session.reference()
    found = None if reference is None else reference.answer.mechanism
    return None if found is None else clip_uncertain(found.probabilities, found.coordinates)


def probability_at(session: Session, dataset: int) -> float:
    """p of a dataset; the session must have a mechanism. It is 0 or 1 only if the answer is certain."""
    found = session.answer.mechanism
    assert found is not None
    return float(clip_uncertain(found.probabilities[dataset], found.coordinates[dataset]))


def smallest_epsilons(edge_list: EdgeList) -> Floats:
    """The ε or μ of every edge; the smaller one if its directions differ."""
    return np.asarray(
        np.minimum.reduce([values for name, values in edge_list.columns.items() if PARAMETERS[name].scales])
    )


def find_majority(values: Floats) -> float | None:
    """The value of more than half of the entries; None if there is none.

    >>> find_majority(np.array([1.0, 0.5, 1.0])), find_majority(np.array([1.0, 0.5]))
    (1.0, None)
    """
    if not len(values):
        return None
    middle = float(np.partition(values, len(values) // 2)[len(values) // 2])
    return middle if 2 * np.count_nonzero(values == middle) > len(values) else None


def shorten_label(name: Any, labels: Labels | None = None, longest: int = LONGEST_NAME) -> str:
    r"""The spelling of a label, cut in the middle if it is long.

    >>> shorten_label("a" * 30), shorten_label("a\nb")
    ('aaaaaaaaa…aaaaaaaa', '"a\\nb"')
    """
    text = spell_label(name, labels)
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[len(text) - longest + longest // 2 + 1 :]}"


def wrap_label(name: Any, labels: Labels | None = None) -> str:
    """The label below a dataset, on two lines if it is long, so that it does not reach into the next column.

    >>> wrap_label("a rather long name 10").splitlines(), wrap_label("a" * 40).splitlines()
    (['a rather', 'long name 10'], ['aaaaaaaaaaaaa', '…aaaaaaaaaaaa'])
    """
    text = shorten_label(name, labels, 2 * LINE_LENGTH)
    if len(text) <= LINE_LENGTH:
        return text
    spaces = [at for at, letter in enumerate(text) if letter in " ,-_/" and max(at, len(text) - at - 1) <= LINE_LENGTH]
    at = min(spaces, key=lambda at: abs(2 * at - len(text)), default=None)
    if at is None:
        return f"{text[: len(text) // 2]}\n{text[len(text) // 2 :]}"
    return f"{text[: at + 1].rstrip()}\n{text[at + 1 :]}"


def answer_names(problem: Problem) -> tuple[str, str]:
    """The names of answers 1 and 2."""
    one, two = (name[:40] for name in words.answer_words(problem.about))
    return one, two


def positions_of(problem: Problem, edge_list: EdgeList) -> Places:
    """The position of each dataset, in points: answer 2 on the left, answer 1 on the right, the boundary between."""
    return scale_to_points(
        layered_layout(edge_list.source, edge_list.target, steps_to_the_other_answer(problem), problem.answers)
    )


def scale_to_points(spread: Layout) -> Places:
    """Scales a layout to points, to about the proportions of a screen."""
    columns = float(np.ptp(spread.across)) + 1.0 if len(spread.across) else 1.0
    wide = max(SMALLEST_WIDTH, columns * 88.0 * max(1.0, 0.5 * spread.lanes))
    down = max(0.6 * wide, 66.0 * spread.tallest) if spread.tallest > 1 else 1.0
    return spread.across * (max(wide, ASPECT_RATIO * down) / columns), -spread.up * down


def find_neighbourhood(session: Session, dataset: int) -> NDArray[np.int64]:
    """The datasets nearest to one, by steps, at most NEIGHBOURHOOD_SIZE."""
    graph, seen, queue = session.document.problem.graph, {dataset}, [dataset]
    for here in queue:
        for there in sorted(graph.neighbours(here)[0].tolist()):
            if there not in seen and len(seen) < NEIGHBOURHOOD_SIZE:
                seen.add(there)
                queue.append(there)
        if len(seen) >= NEIGHBOURHOOD_SIZE:
            break
    return np.array(sorted(seen), dtype=np.int64)


def first_dataset(session: Session) -> int:
    """The dataset to begin with: one on the boundary."""
    boundary = session.document.problem.boundary_mask.nonzero()[0]
    return int(boundary[len(boundary) // 2]) if len(boundary) else 0


def find_bent_edges(chosen: NDArray[np.int64], places: Places, source: Indices, target: Indices) -> Mask:
    """True for edges that must bend around datasets between their ends, because both are in one column."""
    across, down = (axis.round(6) for axis in places)
    order = np.lexsort((down, across))
    row = np.empty(len(chosen), dtype=np.int64)
    row[order] = np.arange(len(chosen))
    one, other = np.searchsorted(chosen, source), np.searchsorted(chosen, target)
    return np.asarray((across[one] == across[other]) & (np.abs(row[one] - row[other]) > 1))


SIZES = (
    (40, 36),
    (120, 28),
    (260, 24),
    (10**9, 36),
)  # the diameter of a dataset, by the number drawn; beyond 260, they have no names
HIGHLIGHT_STEPS = 12  # of a path, highlighted one after the other
STEP_PAUSE = 140  # milliseconds between them


def stylesheet(theme: str, datasets: int, still: bool = False) -> list[dict[str, Any]]:
    """The cytoscape stylesheet of the network.

    Args:
        theme: "light" or "dark".
        datasets: the number of datasets drawn; the more there are, the smaller each is.
        still: True if nothing moves: a path appears at once, and not step by step.
    """
    colour = INKS[theme]
    size = next(size for most, size in SIZES if datasets <= most)
    rules: list[tuple[str, dict[str, Any]]] = [
        (
            "node",
            {
                "background-color": f"data({theme})",
                "width": size,
                "height": size,
                "border-width": 1,
                "border-color": colour["edge"],
                "label": "data(label)",
                "text-wrap": "wrap",
                "font-size": 11,
                "font-family": "system-ui, sans-serif",
                "color": colour["ink"],
                "text-valign": "bottom",
                "text-margin-y": 4,
                "text-background-color": colour["paper"],
                "text-background-opacity": 0.75,
                "text-background-padding": 1,
                "min-zoomed-font-size": 6.5,
                "overlay-opacity": 0,
                "transition-property": "border-color, border-width",
                "transition-duration": 120,
            },
        ),
        ("node.two", {"shape": "round-rectangle"}),
        ("node.bare", {"background-color": colour["paper"], "border-style": "dashed", "border-width": 2}),
        ("node.pinned", {"border-width": 3, "border-color": colour["ring"], "border-style": "solid"}),
        ("node.moved", {"border-width": 6, "border-style": "double"}),
        (
            "edge",
            {
                "width": "data(width)",
                "line-color": colour["edge"],
                "curve-style": "straight",
                "label": "data(label)",
                "font-size": 9,
                "font-family": "system-ui, sans-serif",
                "color": colour["ink"],
                "text-background-color": colour["paper"],
                "text-background-opacity": 0.85,
                "text-background-padding": 1,
                "min-zoomed-font-size": 8,
                "overlay-opacity": 0,
                "transition-property": "line-color",
                "transition-duration": 120,
            },
        ),
        (
            "edge.within",
            {"curve-style": "unbundled-bezier", "control-point-distances": 46, "control-point-weights": 0.5},
        ),
        ("edge.parallel", {"curve-style": "bezier", "control-point-step-size": 28}),
        ("edge.free", {"line-style": "dotted", "width": 1}),
        (
            "node.highlighted",
            {"border-color": colour["accent"], "border-width": 4, "z-index": 10, "font-weight": "bold"},
        ),
        (
            "edge.highlighted",
            {"width": "data(highlighted)", "line-color": colour["accent"], "z-index": 9, "font-weight": "bold"},
        ),
        ("edge.loose", {"line-style": "dashed"}),
        (
            "node.selected",
            {"border-color": colour["accent"], "border-width": 5, "width": size + 8, "height": size + 8},
        ),
        (  # a given value keeps its ring: what else is to be seen lies around it
            "node.pinned.highlighted, node.pinned.selected",
            {
                "border-color": colour["ring"],
                "border-width": 3,
                "outline-color": colour["accent"],
                "outline-width": 4,
                "outline-offset": 0,
            },
        ),
        ("node.moved.highlighted, node.moved.selected", {"border-width": 6}),
        (
            "edge.selected",
            {"width": "data(highlighted)", "line-color": colour["ink"], "line-style": "solid", "z-index": 9},
        ),
    ]
    steps = [(f".step{step}", {"transition-delay": step * STEP_PAUSE}) for step in range(HIGHLIGHT_STEPS + 1)]
    rules += [("node, edge", {"transition-duration": 0})] if still else steps
    return [{"selector": selector, "style": style} for selector, style in rules]
