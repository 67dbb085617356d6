"""From a table and a wish to a promise, and only then to the answers: the order is the point.

1. the public policy is read; 2. the mechanism is fixed; 3. what it promises is known, and made a plan; 4. the answers
are read, once, in a pass whose reads do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.errors import Fault, InputError, UsageError
from hetdp.people.names import require_known
from hetdp.problem.space import Floats
from hetdp.tables.conditions import condition
from hetdp.tables.identity import Identity, identity_of
from hetdp.tables.plan import Plan, plan_of
from hetdp.tables.policy import Policy
from hetdp.tables.promise import Promise, promise_of
from hetdp.tables.request import FAIR, Wish
from hetdp.tables.respondents import Respondents
from hetdp.text import format_value

MOST_KEPT = 1 << 27  # tallies of all areas together: 1 GB


@dataclass(frozen=True)
class Prepared:
    """All that is fixed before the answers are read.

    Attributes:
        source: the table.
        wish: what is asked for.
        policy: what is public in it.
        promises: one for each area, in the order of their names; one in all if there are none.
        plan: the same, as a document.
        identity: by which a ledger knows what is asked.
        same_people: a digest of who is there, by what the identity depends on; None where the plan has none.
        approved: whether the plan is kept in a file, so that it holds for the table that it names, and no copy.
    """

    source: Respondents
    wish: Wish
    policy: Policy
    promises: tuple[Promise, ...]
    plan: Plan
    identity: Identity
    same_people: str | None
    _stamp: Any
    approved: bool = False

    def losses(self) -> Floats:
        """For each entry of the policy the largest loss that the mechanism of its area can cause, over all tables."""
        found = np.empty(len(self.policy.epsilon))
        for promise, (_, rows) in zip(self.promises, self.policy.parts(), strict=True):
            found[rows] = promise.mechanism.loss_of_each()
        return found

    def coordinates(self) -> list[float]:
        """The coordinate of each area's answer, from the private columns: one pass over all rows.

        Raises:
            InputError: the table was changed meanwhile, or cannot be read; which does not depend on the answers.
        """
        progress.report_stage("reading the answers")
        codes = self.source.said(self.wish)
        if len(codes) != len(self.policy.epsilon) or self.source.unchanged != self._stamp:
            name, rule = self.source.name, "a table stays as it is between the policy and the answers"
            raise InputError(name, [Fault("changed while it was read", name, "", rule)])
        parts = [rows for _, rows in self.policy.parts()]
        return [
            float(promise.mechanism.coordinate(codes[rows])) for promise, rows in zip(self.promises, parts, strict=True)
        ]


def prepare(
    source: Respondents,
    wish: Wish,
    population: Callable[..., Any] | None = None,
    identified: bool = False,
) -> Prepared:
    """Reads what is public and fixes the mechanism; the private columns are not touched, beyond their names and types.

    Args:
        source: the table, open.
        wish: what is asked for.
        population: what makes a mechanism of a policy; for tests.
        identified: whether the plan is about exactly these people; to tell takes about a second for each million.

    Raises:
        UsageError: a column is not there, or cannot be compared.
        InputError: the policy is not complete, or somebody is there twice.
    """
    stamp = source.unchanged
    policy = source.policy(wish)
    condition(wish.counted, source.columns, wish.exact_text)  # refuses what cannot be compared, by its type
    _require_groups(wish, policy)
    progress.report_stage("designing")
    make = population or _maker(wish)
    promises, kept = [], 0
    for area, rows in policy.parts():
        promises.append(promise_of(wish, policy, area, rows, make))
        kept += (promises[-1].tallies or {"tallies": 0})["tallies"]
        if kept > MOST_KEPT:
            rule = f"the mechanisms of all areas are kept together, in at most {MOST_KEPT:,} tallies"
            raise UsageError(f"more than {MOST_KEPT:,} tallies in all areas", rule)
    identity = identity_of(wish, policy, promises)
    people = source.people(wish) if identified else None
    same = people if not identified or identity.wish.public == wish.public else source.people(identity.wish)
    areas = [promise.body() for promise in promises]
    plan = plan_of(wish, policy, Path(source.name).name, source.sheet, areas, people, identity.request)
    return Prepared(source, wish, policy, tuple(promises), plan, identity, same, stamp)


def _maker(wish: Wish) -> Callable[..., Any] | None:
    """What makes a mechanism: tallies where no formula is known; None for a formula."""
    if wish.objective != FAIR and wish.question.linear() is not None:
        return None
    from hetdp.people.products.tallied import folded

    return folded


def _require_groups(wish: Wish, policy: Policy) -> None:
    """Refuses a question about a group that is not there; who is there, and in which group, is public."""
    used = sorted(wish.question.groups_used())
    if not used or policy.groups is None:
        return
    names = np.array(policy.groups.names)
    require_known(used, policy.groups.names, "group")
    for area, rows in policy.parts():
        missing = set(used) - set(names[np.unique(policy.groups.codes[rows])].tolist())
        if missing:
            where, rule = (
                f"the area {format_value(area)}",
                "every group that the question names has people in every area",
            )
            raise UsageError(f"{where} has nobody of {format_value(min(missing))}", rule)
