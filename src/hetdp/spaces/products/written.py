"""Votes and tallies with all their edges, for files: labels are texts, and each edge says whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import UsageError, shown
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace

MOST_WRITTEN = 1 << 16
WRITTEN_RULE = f"at most {MOST_WRITTEN:,} datasets are written to a file"
INSTEAD = (
    "hetdp.spaces in Python stores no edges, so balanced, check, extend and verify work there; tallies have fewer"
    " datasets than votes; hetdp ask needs none"
)


def with_edges(problem: Problem) -> Problem:
    """The same problem on a graph that stores its edges, with ε as written; made by `votes` or `tallies`, and small.

    Args:
        problem: the problem.

    Raises:
        UsageError: a value could not be told apart in a text.

    >>> import hetdp
    >>> problem = hetdp.spaces.tallies({"Pupils": 1, "Staff": 1}, hetdp.questions.count("yes", 1), 0.3)
    >>> graph = with_edges(problem).graph
    >>> graph.datasets, graph.edge_classes()
    (('0,0', '0,1', '1,0', '1,1'), ['Staff', 'Pupils', 'Pupils', 'Staff'])
    """
    space = problem.graph
    assert isinstance(space, ProductSpace)
    names = as_texts(space.datasets)
    source, target, epsilon = space.edges()
    classes = space.edge_classes() or None
    graph = DatasetGraph.from_edges(names[source], names[target], epsilon, datasets=names.tolist(), classes=classes)
    return Problem(graph, problem.answers, weights=problem.weights, about=problem.about)


def as_texts(labels: Iterable[tuple[Any, ...]]) -> NDArray[np.object_]:
    """The labels of people's datasets as texts: everybody's value, or every count, with commas between.

    Raises:
        UsageError: a value could not be told apart in a text.

    >>> as_texts([("yes", "no"), (3, (1, 2))]).tolist()
    ['yes,no', '3,1/2']
    """
    known = [[_text(entry) for entry in label] for label in labels]
    torn = next((entry for label in known for entry in label if "," in entry), None)
    if torn is not None:
        rule = "a label is everybody's value, with commas between"
        raise UsageError(f"a comma in the value {shown(torn)}", rule)
    return np.array([",".join(label) for label in known], dtype=object)


def _text(entry: Any) -> str:
    """A value, a count, or the counts of all values."""
    return "/".join(map(str, entry)) if isinstance(entry, tuple) else str(entry)
