"""The bounds that one dataset imposes on all others.

Paper: Algorithm 1 and Theorem 4.
"""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real

import numpy as np

from hetdp.engines.registry import engine_for
from hetdp.errors import Fault, InputError, UsageError, shown
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import notion_for
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.problem.validation import PROBABILITY_RULE


def induced_bounds(
    graph: DatasetGraph | ProductSpace, dataset: Hashable, alpha: float, notion: str | None = None, engine: str = "auto"
) -> Floats:
    """The strongest upper bound on p at every dataset that follows from p = alpha at one.

    Args:
        graph: datasets and ε.
        dataset: where p is known.
        alpha: p there.
        notion: the notion of privacy by name; default: what the parameters of the edges say.
        engine: which engine searches.

    Returns:
        The bounds, in graph order; 1.0 where no path leads.

    Paper: Algorithm 1, A_{u,α}(v) = min over all paths of U(v).

    >>> graph = DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
    >>> induced_bounds(graph, "a", 0.1).round(4)
    array([0.1   , 0.2718, 0.7321])
    """
    if not isinstance(graph, DatasetGraph | ProductSpace):
        raise UsageError(f"{shown(graph)} is no graph", "the first argument is a DatasetGraph")
    if not isinstance(alpha, Real) or not 0.0 <= float(alpha) <= 1.0:
        fault = Fault("alpha out of range:", "alpha", shown(alpha), PROBABILITY_RULE)
        raise InputError("induced bounds", [fault])
    start = np.full(graph.size, np.inf)
    rule = notion_for(graph, notion)
    start[graph.index(dataset)] = rule.coordinate.from_probability(alpha)
    return rule.coordinate.probability(engine_for(engine, graph, rule, "grow").grow(graph, rule, start).labels)
