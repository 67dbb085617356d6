"""Broken records and plans, by the thousand; half of them with a digest that fits, so that it does not stop them.

By hand, for longer: ``python -m tests.releases.fuzz 100000``.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import hetdp
from hetdp.errors import InputError, LedgerError, UsageError
from hetdp.releases.record.document import DIGEST, digest_of
from hetdp.releases.record.page import page_of
from hetdp.tables.plan import _digest, read_plan
from tests.cli.fuzz import mutated, replaced
from tests.releases.worlds import SOURCE, ledger, poll

SURVEY = "id,county,eps,vote\n1,N,0.5,yes\n2,S,1,no\n3,S,1,\n"
PLAN_DIGEST = "plan_sha256"
RARELY = 0.02  # how often what takes long is looked at as well


class World:
    """Records and plans that are whole, and what they are checked against."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "survey.csv").write_text(SURVEY)
        self.ledger = ledger(folder, "inf")
        self.ledger.declare("survey", cap="inf")  # its accounts are people
        self.mechanism = poll()
        asked: dict[str, Any] = {
            "count": "vote = 'yes'",
            "at_least": "50%",
            "person": "id",
            "epsilon": "eps",
            "by": "county",
        }
        hetdp.ask(folder / "survey.csv", plan=folder / "plan.json", dry_run=True, **asked)
        table = hetdp.ask(
            folder / "survey.csv",
            plan=folder / "plan.json",
            payment=hetdp.Payment(self.ledger, source="survey"),
            **asked,
        )
        assert table.release is not None
        self.records = [
            hetdp.release(self.mechanism, "two", ledger=self.ledger, source=SOURCE).record,
            table.release.record,
        ]
        self.plan = table.plan


def broken(document: dict[str, Any], key: str, digest: Any, rng: random.Random) -> tuple[bytes, bool]:
    """The document with something changed, as bytes; and whether it was given a digest that fits."""
    if rng.random() < 0.3:
        return mutated(json.dumps(document).encode(), rng), False
    changed = replaced(document, rng)
    if isinstance(changed, dict) and rng.random() < 0.6:
        try:
            rest = {name: value for name, value in changed.items() if name != key}
            return json.dumps(rest | {key: digest(rest)}).encode(), True
        except ValueError:  # an infinity, which no digest is made of
            pass
    return json.dumps(changed).encode(), False


def check_record(world: World, rng: random.Random) -> str:
    record = rng.choice(world.records)
    data, sealed = broken(record, DIGEST, digest_of, rng)
    place = world.folder / "broken.json"
    place.unlink(missing_ok=True)  # a file that is written over is written to the disk at once, which takes long
    place.write_bytes(data)
    slow = rng.random() < RARELY
    given: dict[str, Any] = {"ledger": world.ledger} if slow else {}
    if slow and rng.random() < 0.5:
        given |= {"problem": world.mechanism.problem, "mechanism": world.mechanism, "plan": world.folder / "plan.json"}
    try:
        document = hetdp.read_record(place)
        verdict = hetdp.verify_record(place, **given)
    except (InputError, UsageError, LedgerError) as refusal:
        return type(refusal).__name__ if str(refusal) else "silence"
    page = page_of(document)
    assert "<script" not in page.lower()
    assert sealed or not verdict.valid or document == record, data
    return "valid" if verdict.valid else "not valid"


def check_plan(world: World, rng: random.Random) -> str:
    data, sealed = broken(world.plan, PLAN_DIGEST, _digest, rng)
    place = world.folder / "broken-plan.json"
    place.unlink(missing_ok=True)  # a file that is written over is written to the disk at once, which takes long
    place.write_bytes(data)
    try:
        found = read_plan(place)
    except (InputError, UsageError) as refusal:
        return type(refusal).__name__ if str(refusal) else "silence"
    assert sealed or found.facts == world.plan, data
    return "valid"


def fuzz(count: int, seed: int) -> Counter[str]:
    """How often each end came; stops at the first thing that must not be."""
    rng, ends = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place))
        for number in range(count):
            check = check_plan if number % 3 == 2 else check_record
            try:
                ends[f"{check.__name__}: {check(world, rng)}"] += 1
            except Exception as error:
                raise AssertionError(f"seed {seed}, number {number}: {error!r}") from error
    return ends


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    sys.stdout.write(f"{dict(fuzz(int(sys.argv[1]), chosen))}\n")
