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

    from hetdp.partitioned.tallies import partitioned_tallies
    from hetdp.people.populations.mechanism import PopulationMechanism, Theorem
    from hetdp.people.populations.odds import PopulationOdds
    from hetdp.people.populations.population import Population, population
    from hetdp.people.products.problems import tallies, votes

_HOME = {
    "Population": "hetdp.people.populations.population",
    "PopulationMechanism": "hetdp.people.populations.mechanism",
    "PopulationOdds": "hetdp.people.populations.odds",
    "Theorem": "hetdp.people.populations.mechanism",
    "partitioned_tallies": "hetdp.partitioned.tallies",
    "population": "hetdp.people.populations.population",
    "tallies": "hetdp.people.products.problems",
    "votes": "hetdp.people.products.problems",
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
