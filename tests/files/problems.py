"""Problems to write and read back: every notion, label, ε, pin, class, weight and text that files can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hetdp
from hetdp.theory.catalogue import NOTIONS

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
EPSILONS = st.one_of(
    st.sampled_from([0.0, 0.1, 0.5, 1.0, math.inf, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]),
    st.floats(0.0, 40.0),
    st.floats(0.0, allow_infinity=True),
)
ALL_NOTIONS = tuple(NOTIONS)
DELTAS = st.sampled_from([0.0, 0.1, 1e-10, 1.0, 5e-324, 0.1 + 0.2]) | st.floats(0.0, 1.0)


@st.composite
def labels(draw: st.DrawFn, anything: bool) -> list[Any]:
    """Distinct labels, all of one kind unless anything goes."""
    kinds = [TEXTS, INTEGERS]
    if anything:
        kinds.append(st.one_of(TEXTS, INTEGERS, FINITE, st.tuples(INTEGERS, TEXTS), st.tuples(st.tuples(TEXTS))))
    kind = draw(st.sampled_from(kinds))
    if draw(st.booleans()) and not anything:
        return list(range(draw(st.integers(1, 6))))
    return draw(st.lists(kind, min_size=1, max_size=6, unique=True))


@st.composite
def problems_with_pins(
    draw: st.DrawFn, anything: bool = False, notions: tuple[Any, ...] = ("pure",)
) -> tuple[hetdp.Problem, hetdp.PartialMechanism]:
    """A problem with everything that files can hold, and some pins, compatible or not."""
    notion = draw(st.sampled_from(notions))
    names = draw(labels(anything))
    size = len(names)
    pairs = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=8))
    parameters = {
        name: [draw(DELTAS if "delta" in name else EPSILONS) for _ in pairs] for name in NOTIONS[notion].parameters
    }
    classes = [draw(st.sampled_from(["ann", "bob", None])) for _ in pairs] if draw(st.booleans()) else None
    source, target = ([names[pair[side]] for pair in pairs] for side in (0, 1))
    graph = hetdp.DatasetGraph.from_edges(
        source, target, datasets=names, duplicates="min", classes=classes, **parameters
    )
    answers = [draw(st.sampled_from([1, 2])) for _ in names]
    weights = [draw(st.floats(0.0, 1e300)) for _ in names] if draw(st.booleans()) else None
    about = {"title": draw(TEXTS)} if draw(st.booleans()) else None
    return hetdp.Problem(graph, answers, notion, weights=weights, about=about), draw(pins(size))


@st.composite
def pins(draw: st.DrawFn, size: int) -> hetdp.PartialMechanism:
    """Each dataset free, or pinned in one of the three ways."""
    columns = {name: np.full(size, np.nan) for name in ("p", "z", "error")}
    kinds = {"p": st.floats(0.0, 1.0), "z": st.floats(allow_nan=False), "error": st.floats(0.0, 1.0)}
    for at in range(size):
        name = draw(st.sampled_from(["free", "p", "z", "error"]))
        if name != "free":
            columns[name][at] = draw(kinds[name])
    return hetdp.PartialMechanism(**columns)


def problem_facts(problem: hetdp.Problem, partial: hetdp.PartialMechanism) -> dict[str, Any]:
    """The content of a problem and its pins, to the last bit, in a form that can be compared."""
    graph = problem.graph
    columns = {name: getattr(partial, name) for name in ("p", "z", "error")}
    given = {name: None if x is None else np.array(x, dtype=np.float64) for name, x in columns.items()}
    return {
        "labels": [(type(name), name) for name in graph.datasets],
        "answers": problem.answers.tolist(),
        "notion": problem.notion.name,
        "edges": list(zip(*(column.tolist() for column in graph.edges()), strict=True)),
        "classes": graph.edge_classes() if any(name is not None for name in graph.edge_classes() or []) else None,
        "weights": None if problem.weights is None else problem.weights.tolist(),
        "about": dict(problem.about),
        "identity": problem.identity,
        "pins": {name: x.tobytes() for name, x in given.items() if x is not None and not np.isnan(x).all()},
    }


def mechanism_facts(mechanism: hetdp.Mechanism) -> dict[str, Any]:
    """The content of a mechanism, to the last bit."""
    return {
        "labels": list(mechanism),
        "z": mechanism.coordinates.tobytes(),
        "pinned": mechanism.pinned.tolist(),
        "links": mechanism.links.tolist(),
        "moved": mechanism.moved,
        "identity": mechanism.problem.identity,
    }
