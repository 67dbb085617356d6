"""Who pays for an answer from a table: for a release, and for a spend that was made outside hetdp."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from hetdp.problem.space import Floats
from hetdp.releases.charges import CLASS, EPSILON, EVERYBODY, PERSON, Costs, largest_by_account
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.record.facts import charge_of
from hetdp.tables.people_table import LocalTable, Payers
from hetdp.tables.policy import Policy
from hetdp.tables.request import build_request
from hetdp.tables.sources import open_source


def costs_of_people(
    policy: Policy, payers: Payers | None, named: str | None = None, losses: Floats | None = None
) -> Costs:
    """What an answer from a table costs everybody. One answer for each area costs the same: each is in one area.

    Args:
        policy: the ε and group of each entry: a person, or a kind of people.
        payers: everybody's id, and their entry of the policy; None if accounts are kept by group.
        named: the column of these ids; accounts are known by it, too.
        losses: for each entry the largest loss that the mechanism can cause; without them all that is allowed is used.
    """
    allowed = policy.epsilon
    used = allowed if losses is None else np.minimum(losses, allowed)
    codes = np.zeros(len(allowed), dtype=np.int32) if policy.groups is None else policy.groups.codes
    names = (EVERYBODY,) if policy.groups is None else policy.groups.names
    if payers is None:
        there = np.unique(codes)
        largest, most = (largest_by_account(codes, column, len(names))[there] for column in (allowed, used))
        accounts = tuple(names[at] for at in there.tolist())
        return Costs(CLASS, accounts, EPSILON, {"epsilon": largest}, {"epsilon": most})
    if payers.entries is not None:
        allowed, used, codes = allowed[payers.entries], used[payers.entries], codes[payers.entries]
    groups = None if policy.groups is None else np.array(names, dtype=object)[codes].tolist()
    return Costs(PERSON, payers.ids, EPSILON, {"epsilon": allowed}, {"epsilon": used}, groups, named)


class _Nothing:
    """What is counted where no question is asked."""

    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()


def read_charge(table: Any, currency: str, *, person: Any, epsilon: Any, group: Any = None) -> Charge:
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
    unlike = "x" * (1 + len(f"{person}{epsilon}{group}"))  # counted, but never read
    wanted = build_request(f"{unlike} = 1", at_least=1, person=person, epsilon=epsilon, group=group)
    wanted = replace(wanted, counted=cast("Any", _Nothing()))
    with open_source(table) as rows:
        people = LocalTable(rows)
        policy = people.policy(wanted)  # it refuses what is wrong with the columns
        return charge_of(costs_of_people(policy, people.read_payers(wanted), wanted.person), currency)
