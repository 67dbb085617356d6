"""What comes of asking a table: the plan, the promise in words, and simulated answers that say so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hetdp.asking.words import answer_line
from hetdp.release.price import Price
from hetdp.release.release import Release
from hetdp.spaces.table.plan import Plan
from hetdp.spaces.table.promise import Promise


@dataclass(frozen=True)
class SimulatedAnswer:
    """An answer to try things out; as text, it says that it is no release.

    Attributes:
        area: the area it is for; None if there are no areas.
        answer: ``"yes"`` or ``"no"``, drawn at random from a known seed: as private as the table itself.
        seed: the seed.
    """

    area: str | None
    answer: str
    seed: int

    def __str__(self) -> str:
        return answer_line(self.area, self.answer, self.seed)


@dataclass(frozen=True)
class Asked:
    """What a table's people are promised, and what came of it; as text, the promise in words. `ask` makes it.

    Attributes:
        plan: all that was fixed before any answer was read, as a document for JSON.
        digest: of the plan, by which an approved one is known.
        promise: what is promised, in words.
        promises: the same in numbers, one for each area.
        simulated: one simulated answer for each area; empty after a dry run, and after a release.
        released: whether the answers were released.
        release: the Release, if they were.
        plan_file: what became of the plan's file, in words; empty without one.
        price: after a dry run with a ledger, what the release would cost; else None.
        similar: with a ledger, what was asked before that is similar, in words; empty if nothing was.
    """

    plan: dict[str, Any] = field(repr=False)
    digest: str
    promise: str = field(repr=False)
    promises: tuple[Promise, ...] = field(repr=False)
    simulated: tuple[SimulatedAnswer, ...] = ()
    released: bool = False
    release: Release | None = None
    plan_file: str = field(default="", repr=False)
    price: Price | None = field(default=None, repr=False)
    similar: tuple[str, ...] = field(default=(), repr=False)
    _again: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        ended = [one for one in (self.price, self.release) if one is not None]
        return "\n".join([self.promise, *map(str, self.simulated), *map(str, ended)])


def asked_of(plan: Plan, promise: str, promises: tuple[Promise, ...], plan_file: str, **more: Any) -> Asked:
    """What is known before any answer is read; `_again` opens the table once more, for a release."""
    return Asked(plan.document(), plan.digest, promise, promises, plan_file=plan_file, **more)
