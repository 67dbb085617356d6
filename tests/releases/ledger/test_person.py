"""The account of one person says what was spent on that person, by which questions, and nothing about anybody else."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import numpy as np
import pytest
from sqlalchemy import text

from hetdp.errors import InputError, LedgerError, UsageError
from hetdp.releases.ledger.accounts import MOST
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger

TIME = re.compile(r"20\d\d-\d\d-\d\d[T ][0-9:.]+")  # whose digits may be anybody's id
PEOPLE = ["Ann", "Bob", "Cid", "07", "7"]


@pytest.fixture
def people(ledger) -> Ledger:
    """A ledger whose people paid for two answers, and once elsewhere."""
    ledger.declare("people", cap=1, caps={"strict": "0.5"})
    classes = ["strict", "usual", "usual", "usual", "usual"]
    charge = Charge.to_people("epsilon", PEOPLE, ["0.1", "0.4", "0", "0.2", "0.3"], classes=classes, named="id")
    facts = {"words": ["aye", "nay"], "areas": ["North", "South"], "question": "Shall we move?"}
    ledger.spend("people", charge, "sha256:move", "2024", lambda: [True, False], facts)
    ledger.spend("survey", Charge.to_classes("epsilon", {"pupils": "0.1"}), "other", "1", lambda: [True])
    ledger.spend("people", charge, "sha256:stay", "2025", lambda: [False])
    ledger.record("people", Charge.to_people("epsilon", ["Bob"], "0.25", named="id"), "told the press")
    return ledger


def test_an_account_has_every_charge_and_they_add_up(people):
    bob = people.person("Bob", "people")
    assert (bob.source, bob.currency, bob.unit, bob.named) == ("people", "epsilon", "ε", "id")
    assert (bob.cap, bob.spent, bob.left) == ("1", "1.05", "0"), "a spend elsewhere may exceed the cap"
    assert [(one.entry, one.kind, one.version, one.question, one.note, one.spent) for one in bob.charges] == [
        (4, "spend", "2024", "Shall we move?", "", "0.4"),
        (6, "spend", "2025", "sha256:stay", "", "0.4"),
        (7, "record", "", "", "told the press", "0.25"),
    ]
    assert [one.published for one in bob.charges] == [("North: aye", "South: nay"), ("2",), ()]
    ann = people.person("Ann", "people")
    assert (ann.cap, ann.spent, ann.left, [one.entry for one in ann.charges]) == ("0.5", "0.2", "0.3", [4, 6])


@pytest.mark.parametrize(
    ("currency", "amount", "relation", "meaning"),
    [
        ("epsilon", "0.5", "replace-one", "can become at most 63% sure of it from all of this together."),
        (
            "epsilon",
            "5",
            "replace-one",
            "practically nobody: somebody who was 50% sure of an answer can become 99.4% sure of it.",
        ),
        ("epsilon", "inf", "replace-one", "can become certain of it from all of this together."),
        ("epsilon", "0.5", "add-remove", ""),
        ("epsilon", "0.5", None, ""),
        ("gaussian", "0.5", "replace-one", ""),
    ],
)
def test_the_meaning_is_said_only_where_one_persons_answers_are_replaced(ledger, currency, amount, relation, meaning):
    ledger.declare("people", cap="inf", currency=currency, unit=relation and "person", relation=relation)
    ledger.record("people", Charge.to_people(currency, ["Ann", "Bob"], [amount, "0.1"]), "elsewhere")
    assert ledger.person("Ann", "people").meaning.endswith(meaning)
    assert bool(ledger.person("Ann", "people").meaning) == bool(meaning)


def test_the_id_is_exact_and_a_number_is_its_digits(people):
    assert people.person("07", "people").spent == "0.4"
    assert people.person("7", "people") == people.person(7, "people")
    assert people.person(7, "people").spent == "0.6"


@pytest.mark.parametrize("unknown", ["bob", "Bob ", "Cid", "Dan", "", "' or 1=1 --", 8])
def test_an_unknown_person_is_refused_without_naming_anybody(people, unknown):
    with pytest.raises(InputError) as refusal:
        people.person(unknown, "people")
    assert str(refusal.value) == (
        "the source 'people': nobody with this id was charged; ids are compared exactly, as in the column 'id'; a"
        " person who was never charged has no account. Hint: 7 and 07 are different ids, and so are Ann and ann"
    )


@pytest.mark.parametrize("unfit", [True, 1.5, None, ["Ann"], b"Ann", "x" * 100_000])
def test_cells_that_are_not_ids_are_refused(people, unfit):
    with pytest.raises(UsageError):
        people.person(unfit, "people")


def test_the_account_names_nobody_and_has_no_pseudonym(people):
    shown = json.dumps(asdict(people.person("Bob", "people")), ensure_ascii=False)
    assert not any(name in TIME.sub("", shown) for name in ("Ann", "Bob", "Cid", "07"))
    assert len(TIME.findall(shown)) >= 3
    assert people.id not in shown


def test_a_source_must_be_named_if_there_are_several_and_must_charge_people(people, ledger):
    with pytest.raises(UsageError, match="the ledger has several"):
        people.person("Bob")
    with pytest.raises(UsageError, match="the accounts of the source 'survey' are classes, and it knows no people"):
        people.person("Bob", "survey")
    with pytest.raises(UsageError, match="the ledger has no source 'other'"):
        people.person("Bob", "other")
    ledger.declare("empty", cap=1)
    with pytest.raises(InputError, match="nobody with this id was charged"):
        people.person("Bob", "empty")


def test_delta_and_gaussian_amounts_are_reported(ledger):
    ledger.declare("both", cap=("1", "1e-6"), currency="epsilon-delta")
    ledger.record("both", Charge.to_people("epsilon-delta", ["Ann"], "0.25", "1e-7"), "n")
    ann = ledger.person("Ann", "both")
    assert (ann.spent, ann.left, ann.spent_delta, ann.left_delta) == ("0.25", "0.75", "0.0000001", "0.0000009")
    assert (ann.charges[0].spent, ann.charges[0].spent_delta) == ("0.25", "0.0000001")
    ledger.declare("waves", cap="1", currency="gaussian")
    ledger.record("waves", Charge.to_people("gaussian", ["Ann"], "0.6"), "n")
    ann = ledger.person("Ann", "waves")
    assert (ann.unit, ann.spent, ann.left, ann.left_delta) == ("μ²", "0.36", "0.64", None)
    ledger.declare("free", cap="inf")
    ledger.record("free", Charge.to_people("epsilon", ["Ann"], "inf"), "n")
    assert (ledger.person("Ann", "free").spent, ledger.person("Ann", "free").left) == ("inf", "inf")


def test_everybody_of_many_rows_is_found_and_nobody_else(ledger):
    ledger.declare("many", cap="9")
    ids = np.arange(2 * MOST + 5)
    amounts = (1 + ids % 7) / 10
    ledger.record("many", Charge.to_people("epsilon", ids, amounts), "n")
    for person in (0, 1, MOST - 1, MOST, 2 * MOST + 4):
        assert float(ledger.person(person, "many").spent) == amounts[person]
    with pytest.raises(InputError):
        ledger.person(len(ids), "many")


def test_a_balance_that_the_charges_do_not_explain_is_damage(people):
    with people._core.database.read_transaction() as connection:
        terms = people._core.find_terms(connection, people._core.read_head(connection), "people")
    database = people._core.database

    def forge(connection):
        row = connection.execute(text(f"select balances from hetdp_people where source = {terms.number}")).one()
        forged = bytes(row.balances)[:-8] + (1).to_bytes(8, "little")
        connection.execute(
            text(f"update hetdp_people set balances = :forged where source = {terms.number}"), {"forged": forged}
        )

    database.write(forge, lambda *_: True)
    refused = []
    for person in ("Ann", "Bob", "07", "7"):
        try:
            people.person(person, "people")
        except LedgerError as refusal:
            refused.append(str(refusal))
    assert len(refused) == 1, "the last one in the order of pseudonyms"
    assert "it was changed, or is damaged" in refused[0]
