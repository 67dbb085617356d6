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
from hetdp.releases.record.document import DIGEST, digest_of, is_bundle
from hetdp.releases.record.page import bundle_page_of, page_of
from hetdp.tables.plan import _digest, read_plan
from tests.cli.fuzz import mutate_bytes, replace_value
from tests.releases.worlds import SOURCE, make_ledger, poll_mechanism

SURVEY = "id,county,eps,vote\n1,N,0.5,yes\n2,S,1,no\n3,S,1,\n"
PLAN_DIGEST = "plan_sha256"
SLOW_CHECKS = 0.02  # share of the records on which slow checks run as well


class World:
    """Valid records and plans, and the ledger and mechanism they are checked against."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "survey.csv").write_text(SURVEY)
        self.ledger = make_ledger(folder, "inf")
        self.ledger.declare("survey", cap="inf")  # its accounts are people
        self.mechanism = poll_mechanism()
        question: dict[str, Any] = {
            "count": "vote = 'yes'",
            "at_least": "50%",
            "person": "id",
            "epsilon": "eps",
            "by": "county",
        }
        hetdp.ask(folder / "survey.csv", plan=folder / "plan.json", dry_run=True, **question)
        table = hetdp.ask(
            folder / "survey.csv",
            plan=folder / "plan.json",
            payment=hetdp.Payment(self.ledger, source="survey"),
            **question,
        )
        assert table.release is not None
        several = hetdp.ask(
            folder / "survey.csv",
            questions=[{}, {"count": "vote = 'no'", "at_least": 1, "title": "Anybody?"}],
            title="Two questions",
            payment=hetdp.Payment(self.ledger, source="survey"),
            **question,
        )
        assert several.release is not None
        self.records = [
            hetdp.release(self.mechanism, "two", ledger=self.ledger, source=SOURCE).record,
            table.release.record,
            several.release.record,
        ]
        self.plans = [table.plan, several.plan]


def break_document(document: dict[str, Any], key: str, digest: Any, rng: random.Random) -> tuple[bytes, bool]:
    """Changes a document; returns its bytes and whether it has a valid digest."""
    if rng.random() < 0.3:
        return mutate_bytes(json.dumps(document).encode(), rng), False
    changed = replace_value(document, rng)
    if isinstance(changed, dict) and rng.random() < 0.6:
        try:
            rest = {name: value for name, value in changed.items() if name != key}
            return json.dumps(rest | {key: digest(rest)}).encode(), True
        except ValueError:  # an infinity, which no digest is made of
            pass
    return json.dumps(changed).encode(), False


def check_record(world: World, rng: random.Random) -> str:
    record = rng.choice(world.records)
    data, has_valid_digest = break_document(record, DIGEST, digest_of, rng)
    place = world.folder / "broken.json"
    place.unlink(missing_ok=True)  # overwriting a file would wait for the disk
    place.write_bytes(data)
    slow = rng.random() < SLOW_CHECKS and not is_bundle(record)
    options: dict[str, Any] = {"ledger": world.ledger} if slow else {}
    if slow and rng.random() < 0.5:
        options |= {
            "problem": world.mechanism.problem,
            "mechanism": world.mechanism,
            "plan": world.folder / "plan.json",
        }
    try:
        document = hetdp.read_record(place)
        verdict = hetdp.verify_record(place, **options)
    except (InputError, UsageError, LedgerError) as refusal:
        return type(refusal).__name__ if str(refusal) else "silence"
    page = (bundle_page_of if is_bundle(document) else page_of)(document)
    assert "<script" not in page.lower()
    assert has_valid_digest or not verdict.valid or document == record, data
    try:
        assert hetdp.statement(document), data
    except InputError:
        assert not (verdict.checks[0].passed and document.get("answers", True)), data
    return "valid" if verdict.valid else "not valid"


def check_plan(world: World, rng: random.Random) -> str:
    plan = rng.choice(world.plans)
    data, has_valid_digest = break_document(plan, PLAN_DIGEST, _digest, rng)
    place = world.folder / "broken-plan.json"
    place.unlink(missing_ok=True)  # overwriting a file would wait for the disk
    place.write_bytes(data)
    try:
        found = read_plan(place)
    except (InputError, UsageError) as refusal:
        return type(refusal).__name__ if str(refusal) else "silence"
    assert has_valid_digest or found.facts == plan, data
    return "valid"


def fuzz(count: int, seed: int) -> Counter[str]:
    """Returns how often each result occurred; stops at the first that is not allowed."""
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
