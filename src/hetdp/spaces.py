"""Problems made from people instead of edges: the question, the privacy rules, and the people.

`votes` and `tallies` are problems like any other, with datasets made from people: all that they may answer together, or
how many of each group have each value. Their edges are computed, never stored.

A `population` is any number of people with one ε each and a question that is a threshold of a sum over people. Its
mechanisms are closed formulas: nothing is searched, and no graph is made.

The names are listed twice and loaded when they are first used, as in `hetdp` itself.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    # isort: off
    from hetdp.partitioned.tallies import partitioned_tallies as partitioned_tallies
    from hetdp.people.populations.mechanism import (
        PopulationMechanism as PopulationMechanism,
    )
    from hetdp.people.populations.mechanism import (
        Theorem as Theorem,
    )
    from hetdp.people.populations.odds import PopulationOdds as PopulationOdds
    from hetdp.people.populations.population import (
        Population as Population,
    )
    from hetdp.people.populations.population import (
        population as population,
    )
    from hetdp.people.products.problems import (
        tallies as tallies,
    )
    from hetdp.people.products.problems import (
        votes as votes,
    )
    # isort: on

if not TYPE_CHECKING:  # hidden from type checkers: a module with __getattr__ has every name, for them
    _NAMES = {
        "hetdp.partitioned.tallies": ("partitioned_tallies",),
        "hetdp.people.populations.mechanism": ("PopulationMechanism", "Theorem"),
        "hetdp.people.populations.odds": ("PopulationOdds",),
        "hetdp.people.populations.population": ("Population", "population"),
        "hetdp.people.products.problems": ("tallies", "votes"),
    }
    _HOME = {name: module for module, names in _NAMES.items() for name in names}

    __all__ = sorted(_HOME)

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value

    def __dir__():
        return __all__
