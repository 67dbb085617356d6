"""How the graph is drawn: colours, names, and where datasets stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.mechanism.accuracy.measures import steps_to_the_other_answer
from hetdp.mechanism.formatting import clip_uncertain
from hetdp.plots.colours import DARK, SHADES
from hetdp.plots.layout import Layout, layered
from hetdp.problem import answer_words as words
from hetdp.problem.labels import Labels
from hetdp.problem.problem import Problem
from hetdp.problem.space import Floats, Indices, Mask
from hetdp.problem.spelling import spell_label
from hetdp.studio.answers import Ends
from hetdp.studio.session import Session
from hetdp.theory.catalogue import PARAMETERS

MOST_DATASETS, MOST_EDGES = 1_200, 6_000  # that a browser still moves smoothly
AROUND = 60  # datasets of a neighbourhood
NARROWEST = 680.0  # points: a picture of few datasets
SHAPE = 1.4  # how much broader a picture is than high
LONGEST = 18
BROADEST = 13  # characters of one line below a dataset: columns are 88 points apart
NAMED = 260  # datasets, up to which each has its name beside it

NONE = -1.0  # for p of a dataset that has none
NOTHING = (0xFF, 0xFF, 0xFF)  # the colour of such a dataset

Places = tuple[Floats, Floats]


def is_drawable(session: Session) -> bool:
    """Whether the whole graph can be drawn."""
    graph = session.sheet.problem.graph
    return graph.size <= MOST_DATASETS and graph.arc_count <= 2 * MOST_EDGES


def colours(p: Floats) -> list[str]:
    """The colour of each p, between those of the two answers; that of nothing for NONE."""
    at = [place for place, _ in SHADES]
    parts = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for _, code in SHADES], dtype=float)
    mixed = np.stack([np.interp(p, at, parts[:, part]) for part in range(3)], axis=1).round().astype(int)
    mixed[p < 0.0] = NOTHING
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in mixed.tolist()]


def values_of(session: Session) -> Floats:
    """p everywhere; without a mechanism, the given values, and NONE where there is none."""
    problem, found = session.sheet.problem, session.answer.mechanism
    if found is not None:
        return clip_uncertain(found.probabilities, found.coordinates)
    values = np.full(problem.graph.size, NONE)
    given = {dataset: session.given(dataset) for dataset in session.sheet.pins}
    values[list(given)] = list(given.values())
    return values


def value_at(session: Session, dataset: int) -> float:
    """p at a dataset, if there is a mechanism; it is 0 or 1 only where it is certain."""
    found = session.answer.mechanism
    assert found is not None
    return float(clip_uncertain(found.probabilities[dataset], found.coordinates[dataset]))


def smallest_of(ends: Ends) -> Floats:
    """The ε of every edge; where its directions differ, the smaller one."""
    return np.asarray(np.minimum.reduce([values for name, values in ends.columns.items() if PARAMETERS[name].scales]))


def usual_of(values: Floats) -> float | None:
    """The number that more than half of them are; None if there is none.

    >>> usual_of(np.array([1.0, 0.5, 1.0])), usual_of(np.array([1.0, 0.5]))
    (1.0, None)
    """
    if not len(values):
        return None
    middle = float(np.partition(values, len(values) // 2)[len(values) // 2])
    return middle if 2 * np.count_nonzero(values == middle) > len(values) else None


def inks(codes: list[str]) -> list[str]:
    """What can be read on each colour."""
    found = []
    for code in codes:
        red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
        found.append("#ffffff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < DARK else "#1a1a1a")
    return found


def short(name: Any, labels: Labels | None = None, longest: int = LONGEST) -> str:
    r"""A label as it is spelled, cut in the middle if it is long.

    >>> short("a" * 30), short("a\nb")
    ('aaaaaaaaa…aaaaaaaa', '"a\\nb"')
    """
    text = spell_label(name, labels)
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[len(text) - longest + longest // 2 + 1 :]}"


def beside(name: Any, labels: Labels | None = None) -> str:
    """A label as it stands below a dataset: on two lines if it is long, so that it does not reach to the next column.

    >>> beside("a rather long name 10").splitlines(), beside("a" * 40).splitlines()
    (['a rather', 'long name 10'], ['aaaaaaaaaaaaa', '…aaaaaaaaaaaa'])
    """
    text = short(name, labels, 2 * BROADEST)
    if len(text) <= BROADEST:
        return text
    spaces = [at for at, letter in enumerate(text) if letter in " ,-_/" and max(at, len(text) - at - 1) <= BROADEST]
    at = min(spaces, key=lambda at: abs(2 * at - len(text)), default=None)
    if at is None:
        return f"{text[: len(text) // 2]}\n{text[len(text) // 2 :]}"
    return f"{text[: at + 1].rstrip()}\n{text[at + 1 :]}"


def answer_words(problem: Problem) -> tuple[str, str]:
    """What answers 1 and 2 are called."""
    one, two = (word[:40] for word in words.answer_words(problem.about))
    return one, two


def places_of(problem: Problem, ends: Ends) -> Places:
    """Where each dataset stands, in points: answer 2 on the left, answer 1 on the right, the boundary in the middle."""
    return stretched(layered(ends.source, ends.target, steps_to_the_other_answer(problem), problem.answers))


def stretched(spread: Layout) -> Places:
    """A layout in points, about as broad and as high as a screen."""
    columns = float(np.ptp(spread.across)) + 1.0 if len(spread.across) else 1.0
    wide = max(NARROWEST, columns * 88.0 * max(1.0, 0.5 * spread.lanes))
    down = max(0.6 * wide, 66.0 * spread.tallest) if spread.tallest > 1 else 1.0
    return spread.across * (max(wide, SHAPE * down) / columns), -spread.up * down


def around(session: Session, dataset: int) -> NDArray[np.int64]:
    """The datasets nearest to one, by steps, as many as can be drawn."""
    graph, seen, queue = session.sheet.problem.graph, {dataset}, [dataset]
    for here in queue:
        for there in sorted(graph.neighbours(here)[0].tolist()):
            if there not in seen and len(seen) < AROUND:
                seen.add(there)
                queue.append(there)
        if len(seen) >= AROUND:
            break
    return np.array(sorted(seen), dtype=np.int64)


def first_of(session: Session) -> int:
    """Where one begins to look: a dataset on the boundary."""
    boundary = session.sheet.problem.boundary_mask.nonzero()[0]
    return int(boundary[len(boundary) // 2]) if len(boundary) else 0


def bent(chosen: NDArray[np.int64], places: Places, source: Indices, target: Indices) -> Mask:
    """Which edges have to bend: those within a column, around the datasets between their ends."""
    across, down = (axis.round(6) for axis in places)
    order = np.lexsort((down, across))
    row = np.empty(len(chosen), dtype=np.int64)
    row[order] = np.arange(len(chosen))
    one, other = np.searchsorted(chosen, source), np.searchsorted(chosen, target)
    return np.asarray((across[one] == across[other]) & (np.abs(row[one] - row[other]) > 1))
