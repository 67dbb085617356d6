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
from numpy.typing import NDArray

from hetdp import progress
from hetdp.errors import Fault, InputError
from hetdp.spaces.table.condition import condition
from hetdp.spaces.table.plan import Plan, plan_of
from hetdp.spaces.table.policy import Policy, read_policy
from hetdp.spaces.table.promise import Promise, promise_of
from hetdp.spaces.table.sources import Source
from hetdp.spaces.table.wish import Wish

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Prepared:
    """All that is fixed before the answers are read.

    Attributes:
        source: the table.
        wish: what is asked for.
        policy: what is public in it.
        promises: one for each area, in the order of their names; one in all if there are none.
        plan: the same, as a document.
    """

    source: Source
    wish: Wish
    policy: Policy
    promises: tuple[Promise, ...]
    plan: Plan
    _stamp: Any

    def coordinates(self) -> list[float]:
        """The coordinate of each area's answer, from the private columns: one pass over all rows.

        Raises:
            InputError: the table was changed meanwhile, or cannot be read; which does not depend on the answers.
        """
        progress.stage("reading the answers")
        codes = answers(self.source, self.wish)
        if len(codes) != self.policy.size or self.source.unchanged != self._stamp:
            name, rule = self.source.name, "a table stays as it is between the policy and the answers"
            raise InputError(name, [Fault("changed while it was read", name, "", rule)])
        parts = [rows for _, rows in self.policy.parts()]
        return [
            float(promise.mechanism.coordinate(codes[rows])) for promise, rows in zip(self.promises, parts, strict=True)
        ]


def prepare(
    source: Source,
    wish: Wish,
    sheet: str | None = None,
    curator: bool = False,
    population: Callable[..., Any] | None = None,
) -> Prepared:
    """Reads what is public and fixes the mechanism; the private columns are not touched, beyond their names and types.

    Args:
        source: the table, open.
        wish: what is asked for.
        sheet: the table within the file, if it was named.
        curator: whether messages may name rows and values.
        population: what makes a mechanism of a policy; for tests.

    Raises:
        UsageError: a column is not there, or cannot be compared.
        InputError: the policy is not complete, or somebody is there twice.
    """
    stamp = source.unchanged
    policy = read_policy(source, wish, curator)
    condition(wish.counted, source.columns)  # refuses what cannot be compared, by its type
    progress.stage("designing")
    promises = tuple(promise_of(wish, policy, area, rows, population) for area, rows in policy.parts())
    plan = plan_of(wish, policy, Path(source.name).name, sheet, [promise.body() for promise in promises])
    return Prepared(source, wish, policy, promises, plan, stamp)


def answers(source: Source, wish: Wish) -> Codes:
    """Everybody's value, as its number in ``wish.values``, in the order of the rows; every row has one."""
    said, parameters = condition(wish.counted, source.columns)
    if len(wish.values) > 2:
        code, parameters = f"CASE WHEN {said} THEN 0 WHEN NOT {said} THEN 1 ELSE 2 END", [*parameters, *parameters]
    else:
        code = f"CASE WHEN {said} THEN 0 ELSE 1 END"
    found = source.read({"code": f"CAST({code} AS UTINYINT)"}, parameters, wish.private)["code"]
    return np.asarray(found, dtype=np.uint8)
