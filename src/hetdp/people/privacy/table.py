"""Every ε of a space made from people: by group, change of value, and the states of the two neighbouring tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, UsageError
from hetdp.people.names import require_known, require_names
from hetdp.people.privacy.epsilons import Units, as_floats, on_grid
from hetdp.people.privacy.situations import States
from hetdp.problem.faults import FaultCollector
from hetdp.text import format_value

if TYPE_CHECKING:
    from hetdp.people.privacy.rules import Rule

UNSAID = int(np.iinfo(np.int64).max)  # larger than any ε: no rule applies


class Table(NamedTuple):
    """Every ε of a space made from people, on the grid.

    Attributes:
        groups: the groups, or people, in order.
        values: the values, in order.
        states: the states of datasets.
        units: in units of 2⁻⁴⁰, [group, pair of values, state of u, state of v]; pairs as in `pairs`. Each matrix of
            states is symmetric, and a change has the same ε as the change back.
    """

    groups: tuple[str, ...]
    values: tuple[str, ...]
    states: States
    units: Units

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of values, in the order of `units`."""
        return list(combinations(self.values, 2))

    @property
    def epsilon(self) -> NDArray[np.float64]:
        """`units` as floats, exactly; infinity where no protection is promised."""
        return as_floats(self.units)

    def units_of(self, group: str, before: str, after: str) -> Units:
        """The ε of one group for one change, in units of 2⁻⁴⁰: [state before, state after].

        Raises:
            UsageError: there is no such group or value, or the value does not change.
        """
        require_known([group], self.groups, "group")
        require_known([before, after], self.values, "value")
        a, b = sorted(require_names([before, after], "the change"), key=self.values.index)
        found: Units = self.units[self.groups.index(group), self.pairs.index((a, b))]
        return found

    def of(self, group: str, before: str, after: str) -> NDArray[np.float64]:
        """The ε of one group for one change: [state before, state after].

        Raises:
            UsageError: there is no such group or value, or the value does not change.
        """
        return as_floats(self.units_of(group, before, after))


def table_of(rules: Sequence[Rule], states: States, groups: Sequence[str], values: Sequence[str]) -> Table:
    """The smallest ε that applies, everywhere.

    Raises:
        UsageError: a rule names a group or value that is not there.
        InputError: some change of some group has no ε.
    """
    places = {group: at for at, group in enumerate(require_names(groups, "the groups"))}
    pairs = list(combinations(require_names(values, "the values"), 2))
    if not pairs:
        raise UsageError(f"the values are {format_value(values)}", "everybody has one of two values or more")
    units = np.full((len(places), len(pairs), states.count, states.count), UNSAID, dtype=np.int64)
    for rule in rules:
        require_known(rule.groups or (), places, "group")
        require_known(rule.change or (), values, "value")
        promised = np.where(states.applies(rule.when), on_grid(rule.epsilon), UNSAID)
        whom = slice(None) if rule.groups is None else np.array([places[group] for group in rule.groups])
        for at, pair in enumerate(pairs):
            if set(rule.change or ()) <= set(pair):
                units[whom, at] = np.minimum(units[whom, at], promised)
    _require_all(units, list(places), pairs)
    units.flags.writeable = False
    return Table(tuple(places), tuple(values), states, units)


def _require_all(units: Units, groups: list[str], pairs: list[tuple[str, str]]) -> None:
    """Refuses rules that leave an ε open."""
    findings = FaultCollector("privacy")
    is_open = (units == UNSAID).any(axis=(2, 3))

    def fault_at(position: int) -> Fault:
        group, (a, b) = groups[position // len(pairs)], pairs[position % len(pairs)]
        where = f"group {group!r}, changes between {a!r} and {b!r}"
        rule = "every group has an ε for every change in every situation; none is assumed"
        return Fault("missing ε", where, "", rule, 'an ε without "when" holds in every situation')

    findings.add_where(is_open.ravel(), fault_at)
    findings.raise_if_any()
