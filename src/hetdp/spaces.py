"""Problems made from people instead of edges, and graphs that papers use.

`votes` and `tallies` are problems like any other, with datasets made from people: all that they may answer together, or
how many of each group have each value. Their edges are computed, never stored.

A `population` is any number of people with one ε each and a question that is a threshold of a sum over people. Its
mechanisms are closed formulas: nothing is searched, and no graph is made.

`hypercube`, `path`, `grid` and `metric` are graphs with stored edges and any labels; with a query they are a problem.

The names are loaded when they are first used, as in `hetdp` itself.
"""

from __future__ import annotations

import sys

__all__ = [
    "Population",
    "PopulationMechanism",
    "PopulationOdds",
    "Theorem",
    "grid",
    "hypercube",
    "metric",
    "partitioned_tallies",
    "path",
    "population",
    "tallies",
    "votes",
]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from hetdp.partitioned.tallies import partitioned_tallies
    from hetdp.people.populations.mechanism import PopulationMechanism, Theorem
    from hetdp.people.populations.odds import PopulationOdds
    from hetdp.people.populations.population import Population, population
    from hetdp.people.products.problems import tallies, votes
    from hetdp.problem.constructors import grid, hypercube, metric, path

if not TYPE_CHECKING:  # hidden from type checkers: a module with __getattr__ has every name, for them

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        from hetdp.interrupts import delay_interrupts

        with delay_interrupts():
            match name:
                case "partitioned_tallies":
                    from hetdp.partitioned import tallies as home
                case "PopulationMechanism" | "Theorem":
                    from hetdp.people.populations import mechanism as home
                case "PopulationOdds":
                    from hetdp.people.populations import odds as home
                case "Population" | "population":
                    from hetdp.people.populations import population as home
                case "tallies" | "votes":
                    from hetdp.people.products import problems as home
                case "grid" | "hypercube" | "metric" | "path":
                    from hetdp.problem import constructors as home
        value = globals()[name] = getattr(home, name)
        return value

    def __dir__():
        return __all__
