"""People's ε from a table, for a spend that was made elsewhere: who paid, and nothing of what they said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from hetdp.releases.charges import costs_of_people
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.record.facts import charge_of
from hetdp.tables.request import wish
from hetdp.tables.respondents import Whole
from hetdp.tables.sources import opened


class _Nothing:
    """What is counted where no question is asked."""

    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()


def charge_from(table: Any, currency: str, *, person: Any, epsilon: Any, group: Any = None) -> Charge:
    """A charge to everybody in a table, read and refused as `hetdp.ask` reads it; no other column is looked at.

    Args:
        table: one row for each person, as `hetdp.ask` takes it.
        currency: how the source counts; where that is by ε and δ, δ is 0.
        person: the column that tells people apart.
        epsilon: everybody's ε: a column, or one number.
        group: the column of their classes, by which caps are found.

    Raises:
        UsageError: a column is missing.
        InputError: the table cannot be read, somebody is there twice, or has no ε.
    """
    unlike = "x" * (1 + len(f"{person}{epsilon}{group}"))  # a wish counts a column that is not public; nobody reads it
    wanted = wish(f"{unlike} = 1", at_least=1, person=person, epsilon=epsilon, group=group)
    wanted = replace(wanted, counted=cast("Any", _Nothing()))
    with opened(table) as rows:
        people = Whole(rows)
        policy = people.policy(wanted)  # it refuses what is wrong with the columns
        return charge_of(costs_of_people(policy, people.payers(wanted), wanted.person), currency)
