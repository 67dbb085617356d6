"""Several questions in one spend: all are charged and drawn, or none, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from hetdp.errors import BudgetError, UsageError
from hetdp.releases.ledger.amounts import INFINITE
from hetdp.releases.ledger.charge import Charge, SealedCharge, combine_charges
from hetdp.releases.ledger.ledger import Ledger, core_of
from hetdp.releases.ledger.ledger_core import Question, SpendRequest, SpendResult
from hetdp.releases.ledger.neighbours import NOTHING
from tests.releases.ledger.stress import fork_worker, new_address

SECRET = b"secret"


def fail_if_drawn() -> list[bool]:
    raise AssertionError("no answer was to be drawn")


def people(amounts: dict[str, Any], classes: Sequence[str] | None = None) -> Charge:
    return Charge.to_people("epsilon", list(amounts), list(amounts.values()), classes=classes, named="id")


def spend(ledger: Ledger, *questions: Question, source: str = "survey") -> list[SpendResult]:
    return core_of(ledger).spend(SpendRequest(source, "1", questions))


def ask(name: str, charge: Charge, draw: Callable[[], Sequence[bool]] = lambda: [True]) -> Question:
    return Question(charge, name, draw)


def test_every_question_has_an_entry_and_everybody_pays_the_sum(ledger: Ledger) -> None:
    first, second = spend(ledger, ask("a", people({"1": 0.1, "2": 0.2})), ask("b", people({"2": 0.1, "3": 0.05})))
    assert (first.entry.number + 1, first.is_new, second.is_new) == (second.entry.number, True, True)
    status = ledger.status()[0]
    assert (status.people, status.most_spent, status.exhausted) == (3, "0.3", 1)
    ledger.verify()


def test_a_sum_that_does_not_fit_spends_nothing_and_draws_nothing(ledger: Ledger) -> None:
    before = list(ledger.export())
    with pytest.raises(BudgetError) as refusal:
        spend(
            ledger, ask("a", people({"1": 0.2, "2": 0.1}), fail_if_drawn), ask("b", people({"1": 0.2}), fail_if_drawn)
        )
    assert (refusal.value.exceeded, refusal.value.accounts) == (1, 2)
    assert list(ledger.export()) == before


def test_a_question_asked_before_is_free_and_keeps_its_answer(ledger: Ledger) -> None:
    charge = people({"1": 0.2})
    (alone,) = spend(ledger, ask("a", charge))
    found = spend(ledger, ask("b", people({"1": 0.1}), lambda: [False]), ask("a", charge, fail_if_drawn))
    assert ([one.is_new for one in found], found[1].entry, found[0].entry.answers) == (
        [True, False],
        alone.entry,
        (False,),
    )
    assert ledger.status()[0].most_spent == "0.3"
    again = spend(ledger, ask("a", charge, fail_if_drawn), ask("b", people({"1": 0.1}), fail_if_drawn))
    assert [one.is_new for one in again] == [False, False]
    ledger.verify()


def test_all_charges_are_checked_before_the_first_draw(ledger: Ledger) -> None:
    drawn: list[str] = []

    def draw() -> list[bool]:
        drawn.append("a")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        spend(ledger, ask("a", people({"1": 0.1}), draw), ask("b", people({"1": 0.1}), fail_if_drawn))
    assert (drawn, ledger.status()[0].people) == (["a"], 0)


def test_the_same_question_twice_is_refused(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="the same question twice"):
        spend(ledger, ask("a", people({"1": 0.1}), fail_if_drawn), ask("a", people({"1": 0.1}), fail_if_drawn))


def test_the_price_is_that_of_the_sum(ledger: Ledger) -> None:
    spend(ledger, ask("a", people({"1": 0.1})))
    asked = [(people({"1": 0.1}), "a"), (people({"1": 0.1, "2": 0.2}), "b"), (people({"2": 0.05, "3": 0.3}), "c")]
    quote = core_of(ledger).quote("survey", "1", asked, NOTHING)
    assert [one is not None for one in quote.earlier] == [True, False, False]
    (row,) = quote.classes
    assert (row.accounts, row.charged, row.left, row.left_after, row.exceeded) == (3, "0.3", "0.2", "0", 0)
    (row,) = core_of(ledger).quote("survey", "1", [*asked, (people({"3": 0.1}), "d")], NOTHING).classes
    assert (row.left_after, row.exceeded, row.largest) == (None, 1, "0.2")


def test_charges_add_up_for_everybody_by_brute_force() -> None:
    generator = random.Random(5)
    for _ in range(50):
        each: Counter[str] = Counter()
        charges, everybody = [], {str(name): generator.choice("xyz") for name in range(9)}
        for _ in range(generator.randrange(1, 5)):
            amounts = {name: generator.choice([0, 1e-9, 0.25, 3]) for name in everybody if generator.random() < 0.6}
            charges.append(people(amounts, [everybody[name] for name in amounts]).seal(SECRET))
            each.update({name: round(amount * 10**9) for name, amount in amounts.items()})
        paid = {name: units for name, units in each.items() if units}
        units = np.array(list(paid.values()), np.int64)
        whole = Charge("epsilon", "person", list(paid), units, None, [everybody[name] for name in paid], "id")
        found, expected = combine_charges(charges), whole.seal(SECRET)
        assert (found.keys.tolist(), found.amounts.tolist()) == (expected.keys.tolist(), expected.amounts.tolist())
        assert classes_of(found) == classes_of(expected)


def classes_of(sealed: SealedCharge) -> list[str]:
    return [sealed.class_names[number] for number in sealed.class_numbers]


def test_charges_to_classes_add_up_and_saturate() -> None:
    first = Charge.to_classes("epsilon-delta", {"a": 1, "b": "inf"}, {"a": "1e-9", "b": 0}).seal(SECRET)
    second = Charge.to_classes("epsilon-delta", {"b": 1, "c": 2}, {"b": "1e-9", "c": 0}).seal(SECRET)
    found = combine_charges([first, second])
    assert (found.names, found.amounts.tolist()) == (("a", "b", "c"), [10**9, INFINITE, 2 * 10**9])
    assert found.deltas.tolist() == [10**9, 10**9, 0]


@pytest.mark.parametrize(
    "other",
    [
        Charge.to_classes("epsilon", {"1": 0.1}),
        Charge.to_people("epsilon", ["1"], 0.1, named="name"),
        Charge.to_people("epsilon", ["1"], 0.1, classes=["x"], named="id"),
    ],
)
def test_charges_to_other_kinds_of_accounts_are_not_added(other: Charge) -> None:
    with pytest.raises(UsageError, match="different kinds of accounts"):
        combine_charges([people({"1": 0.1}).seal(SECRET), other.seal(SECRET)])


def test_a_person_in_two_classes_is_refused() -> None:
    with pytest.raises(UsageError, match="a person is in two classes"):
        combine_charges([people({"1": 0.1}, [name]).seal(SECRET) for name in ("x", "y")])


def test_threads_that_ask_some_of_the_same_questions_never_pay_twice(address: str) -> None:
    ledger = Ledger.create(address, source="survey", cap=1)
    failed: list[BaseException] = []

    def work(first: int) -> None:
        own = Ledger(address)
        try:
            for number in range(first, first + 4):
                spend(own, *(ask(f"q{at}", people({"1": 0.1})) for at in (number, number + 1)))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (failed, ledger.status()[0].most_spent) == ([], "0.7"), "questions q0 to q6"
    ledger.verify()


def test_a_killed_process_leaves_all_entries_of_a_spend_or_none(tmp_path: Any) -> None:
    address = new_address(str(tmp_path))
    ledger = Ledger.create(address, source="survey", cap="inf")
    charge = people({str(number): 0.1 for number in range(50)})

    def work(sink: int) -> None:
        for number in range(10**6):
            spend(ledger, *(ask(f"{os.getpid()} {number} {part}", charge) for part in "abc"))
            os.write(sink, b".")

    for _ in range(4):
        process, source = fork_worker(work)
        os.read(source, 1)
        time.sleep(random.Random(process).random() / 20)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(source)
        parts = Counter(entry.request[:-2] for entry in Ledger(address).history() if entry.kind == "spend")
        assert set(parts.values()) == {3}
    Ledger(address).verify()
