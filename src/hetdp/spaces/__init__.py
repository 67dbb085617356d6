"""Problems made from people instead of edges: what is asked (questions), what is promised (privacy), and of whom.

`votes` and `tallies` are problems like any other, with datasets made from people: all that they may answer together, or
how many of each group have each value. Their edges are computed, never stored.

A `population` is any number of people with one ε each and a question that is a threshold of a sum over people. Its
mechanisms are closed formulas: nothing is searched, and no graph is made.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from hetdp.spaces.populations.mechanism import PopulationMechanism
    from hetdp.spaces.populations.odds import PopulationOdds
    from hetdp.spaces.populations.population import Population, population
    from hetdp.spaces.populations.theorem import Theorem
    from hetdp.spaces.products.partitioned import partitioned_tallies
    from hetdp.spaces.products.tallies import tallies
    from hetdp.spaces.products.votes import votes

_HOME = {
    "Population": "hetdp.spaces.populations.population",
    "PopulationMechanism": "hetdp.spaces.populations.mechanism",
    "PopulationOdds": "hetdp.spaces.populations.odds",
    "Theorem": "hetdp.spaces.populations.theorem",
    "partitioned_tallies": "hetdp.spaces.products.partitioned",
    "population": "hetdp.spaces.populations.population",
    "tallies": "hetdp.spaces.products.tallies",
    "votes": "hetdp.spaces.products.votes",
}

__all__ = [
    "Population",
    "PopulationMechanism",
    "PopulationOdds",
    "Theorem",
    "partitioned_tallies",
    "population",
    "tallies",
    "votes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hetdp.spaces' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
