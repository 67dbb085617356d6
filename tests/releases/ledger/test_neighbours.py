"""A source has one unit and one relation, however they are worded, and wherever they were first stated."""

from __future__ import annotations

from itertools import product

import pytest

from hetdp.errors import LedgerError, UsageError
from hetdp.people.products import problems as building
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.neighbours import RELATIONS, UNITS, UNSTATED, Neighbours, is_same, parse_neighbours
from hetdp.releases.record import facts
from hetdp.tables import plan
from tests.releases.ledger.test_damage import unchecked_connection

TENTH = Charge.to_classes("epsilon", {"pupils": "0.01"})
REPLACE = {"unit": "person", "relation": "replace-one"}
JOIN = {"unit": "person", "relation": "add-remove"}


def spend(ledger, request, **about):
    return ledger.spend("survey", TENTH, request, "1", lambda: [True], **about)


def stated_neighbours(ledger):
    (status,) = ledger.status("survey")
    return status.privacy_unit, status.relation


def test_all_wordings_of_a_relation_are_equal_and_the_two_are_never_confused():
    for name, others in (RELATIONS | UNITS).items():
        for text in (name, *others):
            for form in (text, text.upper(), f"  {text.replace(' ', '  ')}.", text.replace(" ", "-")):
                found = parse_neighbours(form, None).unit if name in UNITS else parse_neighbours(None, form).relation
                assert found == name, form
    assert not is_same(*RELATIONS)
    assert parse_neighbours("one person", "One person JOINS or leaves") == Neighbours("person", "add-remove")


def test_the_wording_of_hetdp_means_that_one_person_changes_their_answer():
    for unit, relation in ((building.UNIT, building.NEIGHBOURS), (plan.UNIT, plan.NEIGHBOURS)):
        assert parse_neighbours(unit, relation) == Neighbours("person", "replace-one")
    assert parse_neighbours(facts.UNIT, facts.NEIGHBOURS) == parse_neighbours("", "  ") == Neighbours(None, None)
    assert (facts.UNIT, facts.NEIGHBOURS) == UNSTATED


def test_other_wordings_are_compared_without_case_and_blanks():
    assert is_same("one visit  is added", "One visit is added.")
    assert not is_same("one visit is added", "one visit is removed")
    assert parse_neighbours("every household", "a visit") == Neighbours("household", "a visit")
    for wrong in (3, ["person"], b"person"):
        with pytest.raises(UsageError, match="text on one line"):
            parse_neighbours(wrong, None)


def test_a_declared_relation_holds_from_the_start(address):
    ledger = Ledger.create(address, source="survey", cap=1, **REPLACE)
    assert stated_neighbours(ledger) == ("person", "replace-one")
    for about in (JOIN, {}, {"unit": "person"}, {"relation": "bounded"}, {"unit": "household", "relation": "bounded"}):
        with pytest.raises(UsageError, match="unit 'person', relation 'replace-one'"):
            spend(ledger, "q", **about)
    assert spend(ledger, "q", unit="One Person", relation="one person's answer changes").number == 3
    ledger.verify()


@pytest.mark.parametrize("first", ["spend", "record"])
def test_the_first_charge_fixes_an_undeclared_relation(first, address):
    ledger = Ledger.create(address, source="survey", cap=1)
    if first == "spend":
        spend(ledger, "q", **JOIN)
    else:
        ledger.record("survey", TENTH, "told the press", **JOIN)
    before = list(ledger.export())
    for about in (REPLACE, {}, {"unit": "household", "relation": "add-remove"}):
        with pytest.raises(UsageError, match="'add-remove'"):
            spend(ledger, "r", **about)
        if about:
            with pytest.raises(UsageError, match="'add-remove'"):
                ledger.record("survey", TENTH, "told the press", **about)
    assert list(ledger.export()) == before
    again = Ledger(address)
    assert stated_neighbours(again) == ("person", "add-remove")
    assert spend(again, "r", **JOIN).facts["neighbours"] == JOIN
    assert again.record("survey", TENTH, "it inherits").facts["neighbours"] == JOIN
    again.verify()


def test_an_unstated_relation_stays_unstated_until_it_is_stated_once(ledger):
    spend(ledger, "q")
    assert stated_neighbours(ledger) == (None, None)
    with pytest.raises(UsageError, match=r"hetdp\.Ledger\.declare with unit='person' relation='replace-one'"):
        spend(ledger, "r", **REPLACE)
    assert "neighbours" not in spend(ledger, "r").facts
    entry = ledger.declare("survey", unit="person")
    assert (entry.kind, entry.facts) == ("state", {"neighbours": {"unit": "person"}})
    with pytest.raises(UsageError, match=r"hetdp\.Ledger\.declare with relation='replace-one'"):
        spend(ledger, "s", **REPLACE)
    ledger.declare("survey", relation="bounded")
    assert ledger.declare("survey", **REPLACE).kind == ledger.declare("survey", cap=0.3).kind == "declare"
    spend(ledger, "s", **REPLACE)
    for other in (JOIN, {"unit": "household"}):
        with pytest.raises(UsageError, match="stated once, and not changed"):
            ledger.declare("survey", **other)
    with pytest.raises(UsageError, match="no cap"):
        ledger.declare("other", **REPLACE)
    ledger.verify()


def test_a_partial_declaration_is_completed_by_the_first_charge(address):
    ledger = Ledger.create(address, source="survey", cap=1, unit="household")
    with pytest.raises(UsageError):
        spend(ledger, "q", **REPLACE)
    spend(ledger, "q", unit="household", relation="one household moves")
    assert stated_neighbours(ledger) == ("household", "one household moves")
    ledger.verify()


def test_the_rule_does_not_depend_on_the_order_of_statements(address):
    """Every pair of charges: the second is allowed exactly if both are about the same."""
    ledger, choices = Ledger.create(address), [{}, {"unit": "person"}, REPLACE, JOIN, {"relation": "add-remove"}]
    for at, (one, other) in enumerate(product(choices, choices)):
        name = f"data {at}"
        ledger.declare(name, cap=1)
        ledger.spend(name, TENTH, "q", "1", lambda: [True], **one)
        if one == other:
            assert ledger.spend(name, TENTH, "r", "1", lambda: [True], **other).kind == "spend"
        else:
            with pytest.raises(UsageError):
                ledger.spend(name, TENTH, "r", "1", lambda: [True], **other)
    ledger.verify()


def test_an_answer_that_is_given_again_needs_no_statement(ledger):
    first = spend(ledger, "q", **REPLACE)
    assert spend(ledger, "q") == first


def test_a_removed_pointer_is_noticed_and_allows_nothing(address):
    ledger = Ledger.create(address, source="survey", cap=1)
    spend(ledger, "q", **REPLACE)
    with unchecked_connection(address) as connection:
        connection.exec_driver_sql("DELETE FROM hetdp_sources")
    with pytest.raises(UsageError):
        spend(ledger, "r", **JOIN)
    with pytest.raises(LedgerError):
        ledger.verify()
