"""What a ledger grants and refuses, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from itertools import count

import numpy as np
import pytest

from hetdp.errors import BudgetError, LedgerError, UsageError
from hetdp.releases.ledger import accounts
from hetdp.releases.ledger.accounts import MOST
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger

TENTH = Charge.to_classes("epsilon", {"pupils": 0.1})


QUESTIONS = count()


def fail_if_drawn() -> list[bool]:
    raise AssertionError("no answer was to be drawn")


def spend(ledger: Ledger, charge: Charge, times: int, source: str = "survey") -> int:
    """The number of spends that are granted before the first refusal."""
    for number in range(times):
        try:
            ledger.spend(source, charge, f"question {next(QUESTIONS)}", "1", lambda: [True])
        except BudgetError:
            return number
    return times


def test_a_tenth_fits_three_times_into_three_tenths(ledger):
    assert spend(ledger, TENTH, 5) == 3
    balance = ledger.status()[0].classes[0]
    assert (balance.name, balance.spent, balance.cap) == ("pupils", "0.3", "0.3")


def test_a_refusal_draws_and_writes_nothing_and_says_whose_budget_it_is(ledger):
    spend(ledger, TENTH, 3)
    before = list(ledger.export())
    with pytest.raises(BudgetError) as refusal:
        ledger.spend("survey", Charge.to_classes("epsilon", {"pupils": 1e-12, "staff": 0.1}), "new", "1", fail_if_drawn)
    assert str(refusal.value) == (
        "the budget of 'survey' does not allow this: 1 of 2 accounts ('pupils') would exceed the cap;"
        " nothing was spent, and no answer was drawn. The most that every account can still pay is ε = 0."
    )
    assert (refusal.value.exceeded, refusal.value.accounts, refusal.value.classes) == (1, 2, ("pupils",))
    assert list(ledger.export()) == before
    assert [balance.name for balance in ledger.status()[0].classes] == ["pupils"], "all together, or nobody"
    ledger.verify()


@pytest.mark.parametrize(
    ("currency", "cap", "paid", "asked", "largest"),
    [
        ("epsilon", "1", "0.3", "0.8", "ε = 0.7"),
        ("epsilon", "1", "0", "2", "ε = 1"),
        ("gaussian", "1", "0.6", "0.9", "μ = 0.8"),
        ("epsilon-delta", ("1", "1e-6"), ("0.3", "4e-7"), ("0.1", "9e-7"), "ε = 0.7 and δ = 0.0000006"),
    ],
)
@pytest.mark.parametrize("kind", ["class", "person"])
def test_a_refusal_says_what_every_account_can_still_pay(ledger, kind, currency, cap, paid, asked, largest):
    def charge(amount):
        first, second = (amount, None) if isinstance(amount, str) else amount
        if kind == "person":
            return Charge.to_people(currency, ["Ann", "Bob"], first, second)
        return Charge.to_classes(currency, {"a": first, "b": first}, second and {"a": second, "b": second})

    ledger.declare("other", cap=cap, currency=currency)
    ledger.record("other", charge(paid), "elsewhere")
    with pytest.raises(BudgetError) as refusal:
        ledger.spend("other", charge(asked), "q", "1", fail_if_drawn)
    assert refusal.value.largest == largest
    assert str(refusal.value).endswith(f" The most that every account can still pay is {largest}.")
    words = largest.replace("δ", "ε").replace("μ", "ε").split("ε = ")[1:]
    fitting = tuple(word.removesuffix(" and ") for word in words)
    assert ledger.spend("other", charge(fitting[0] if len(fitting) == 1 else fitting), "q", "1", lambda: [True]).answers


def test_a_refusal_stays_one_if_the_ledger_is_lost_meanwhile(ledger, monkeypatch):
    spend(ledger, TENTH, 3)
    monkeypatch.setattr("hetdp.releases.ledger.ledger_core.LedgerCore.quote", raise_ledger_error)
    with pytest.raises(BudgetError) as refusal:
        ledger.spend("survey", TENTH, "new", "1", fail_if_drawn)
    assert (refusal.value.largest, str(refusal.value).endswith("no answer was drawn.")) == ("", True)


def raise_ledger_error(*_):
    raise LedgerError("a.ledger", "it is gone", "it must be there")


def test_the_same_question_about_the_same_version_has_the_same_answers_and_costs_nothing(ledger):
    first = ledger.spend("survey", TENTH, "question", "1", lambda: [True, False], {"words": "more than half?"})
    again = Ledger(ledger_address(ledger)).spend("survey", TENTH, "question", "1", fail_if_drawn)
    assert again == first
    assert (again.answers, again.facts) == ((True, False), {"words": "more than half?"})
    assert ledger.spend("survey", TENTH, "question", "2", lambda: [False]).number == first.number + 1
    assert ledger.status()[0].classes[0].spent == "0.2"


def ledger_address(ledger: Ledger) -> str:
    return getattr(ledger, "address")  # noqa: B009


@pytest.fixture
def ledger(address, ledger):
    ledger.address = address
    return ledger


def test_an_earlier_answer_is_not_given_to_other_people(ledger):
    ledger.spend("survey", TENTH, "q", "1", lambda: [True])
    ledger.declare("people", cap=1)
    ledger.spend("people", Charge.to_people("epsilon", ["p1", "p2"], 0.1), "q", "1", lambda: [True])
    others = [
        ("survey", Charge.to_classes("epsilon", {"somebody else": 0.1})),
        ("survey", Charge.to_classes("epsilon", {"pupils": 0.2})),
        ("people", Charge.to_people("epsilon", ["p1", "p3"], 0.1)),
    ]
    before = len(ledger.history())
    for source, charge in others:
        with pytest.raises(UsageError, match="but other accounts paid"):
            ledger.spend(source, charge, "q", "1", fail_if_drawn)
    assert len(ledger.history()) == before


def test_a_spend_of_nearly_nothing_costs_one_unit_and_is_not_lost(address):
    ledger = Ledger.create(address, source="survey", cap="0.000000005")
    assert spend(ledger, Charge.to_classes("epsilon", {"a": 1e-12}), 9) == 5
    assert ledger.status()[0].classes[0].spent == "0.000000005"


def test_an_infinite_spend_needs_an_account_without_a_limit(ledger):
    ledger.declare("open", cap="inf", caps={"shy": 1})
    everything = Charge.to_classes("epsilon", {"a": "inf"})
    assert spend(ledger, everything, 1) == 0
    assert spend(ledger, everything, 2, "open") == 2, "infinity and infinity is infinity"
    assert spend(ledger, Charge.to_classes("epsilon", {"a": "inf", "b": 1}), 1, "open") == 1
    assert spend(ledger, Charge.to_classes("epsilon", {"shy": "inf"}), 1, "open") == 0
    assert spend(ledger, Charge.to_classes("epsilon", {"shy": 1}), 1, "open") == 1
    balances = {balance.name: (balance.spent, balance.cap) for balance in ledger.status("open")[0].classes}
    assert balances == {"a": ("inf", "inf"), "b": ("1", "inf"), "shy": ("1", "1")}
    ledger.verify()


def test_a_spend_larger_than_any_sum_counts_as_infinite(ledger):
    ledger.declare("large", cap="4e9")
    assert spend(ledger, Charge.to_classes("epsilon", {"a": "3e9"}), 2, "large") == 1


def test_epsilon_and_delta_both_add(ledger):
    for source in ("both", "people"):
        ledger.declare(source, cap=("1", "1e-6"), currency="epsilon-delta")
    by_delta = Charge.to_classes("epsilon-delta", {"a": "0.1"}, {"a": "4e-7"})
    by_epsilon = Charge.to_classes("epsilon-delta", {"b": "0.4"}, {"b": 0})
    assert (spend(ledger, by_delta, 5, "both"), spend(ledger, by_epsilon, 5, "both")) == (2, 2)
    people = Charge.to_people("epsilon-delta", ["x", "y"], np.array([0.25, 0.125]), np.array([2.0**-30, 2.0**-21]))
    assert spend(ledger, people, 5, "people") == 2, "y has no δ left"
    ledger.verify()


def test_the_squares_of_mu_add(ledger):
    for source in ("normal", "people"):
        ledger.declare(source, cap="1", currency="gaussian")
    assert spend(ledger, Charge.to_classes("gaussian", {"a": "0.5"}), 9, "normal") == 4
    assert spend(ledger, Charge.to_people("gaussian", ["x"], np.array([0.5])), 9, "people") == 4
    ledger.verify()


def test_people_are_charged_one_by_one_with_the_caps_of_their_classes(ledger):
    people = ["Ann Ade", "Bob Bix", "Cyd Coe"]  # with blanks, which no pseudonym can have by chance
    ledger.declare("people", cap="0.2", caps={"staff": "0.4"})
    charge = Charge.to_people("epsilon", people, "0.1", classes=["staff", "pupils", "staff"])
    assert spend(ledger, charge, 9, "people") == 2
    with pytest.raises(BudgetError) as refusal:
        ledger.spend("people", charge, "new", "1", fail_if_drawn)
    assert (refusal.value.exceeded, refusal.value.accounts, refusal.value.classes) == (1, 3, ())
    assert not any(name in str(refusal.value) for name in people)
    assert spend(ledger, Charge.to_people("epsilon", people[::2], "0.1"), 9, "people") == 2, "caps stay"
    found = ledger.status("people")[0]
    assert (found.people, found.most_spent, found.exhausted) == (3, "0.4", 3)
    ledger.verify()
    assert not any(name in line for line in ledger.export() for name in people)


def charge_person(*classes: str) -> Charge:
    """A tenth of one person, under a class or none."""
    return Charge.to_people("epsilon", ["Ann"], "0.1", classes=classes or None)


@pytest.mark.parametrize(
    ("charges", "granted"),
    {
        "no class, then one": ([(), ("pupils",)], 1),
        "one class, then none": ([("pupils",), ()], 1),
        "a larger one, then a smaller": ([("staff",), ("pupils",)], 1),
        "a smaller one, then a larger": ([("pupils",), ("staff",)], 1),
        "no class at all": ([(), ()], 1),
        "none, after a larger one": ([("staff",), ()], 2),
        "one of no cap of its own": ([("guests",), ("guests",)], 2),
    }.values(),
)
def test_the_lowest_cap_of_a_person_holds_whatever_class_is_given_later(ledger, charges, granted):
    ledger.declare("people", cap="0.2", caps={"pupils": "0.1", "staff": "0.3"})
    assert [spend(ledger, charge_person(*each), 1, "people") for each in charges] == [1, granted - 1]
    ledger.verify()


def test_spends_above_a_cap_that_is_lowered_later_are_kept_and_nothing_more_is_granted(ledger):
    ledger.declare("people", cap="0.9", caps={"pupils": "0.1"})
    assert spend(ledger, charge_person("staff"), 2, "people") == 2
    ledger.record("people", charge_person("pupils"), "elsewhere")
    assert spend(ledger, charge_person("staff"), 1, "people") == 0, "the cap of pupils, for ever"
    assert ledger.status("people")[0].exhausted == 1
    ledger.verify()


@pytest.mark.parametrize("sizes", [(5, MOST, 3 * MOST, 100), (3 * MOST, 100, MOST, 5), (MOST, MOST + 1, 3 * MOST, 5)])
def test_many_people_are_kept_in_many_rows_and_none_is_lost(ledger, sizes):
    ledger.declare("people", cap="1")
    ids = np.random.default_rng(5).permutation(3 * MOST)
    for at, size in enumerate(sizes):
        charge = Charge.to_people("epsilon", ids[:size], "0.1")
        ledger.spend("people", charge, str(at), "1", lambda: [True])
        ledger.verify()
    found = ledger.status("people")[0]
    assert (found.people, found.most_spent) == (3 * MOST, "0.4")
    last = Charge.to_people("epsilon", ids[:5], "0.7")
    with pytest.raises(BudgetError, match="5 of 5 accounts would exceed"):
        ledger.spend("people", last, "last", "1", fail_if_drawn)


def test_many_classes_are_read_in_parts_and_none_is_lost(ledger, monkeypatch):
    monkeypatch.setattr(accounts, "MOST_NAMES", 3)
    names = [f"class {number}" for number in range(8)]
    assert spend(ledger, Charge.to_classes("epsilon", dict.fromkeys(names, 0.1)), 5) == 3
    assert [(each.name, each.spent) for each in ledger.status()[0].classes] == [(name, "0.3") for name in names]
    ledger.verify()


def test_people_who_pay_nothing_are_not_counted(ledger):
    entry = ledger.spend("survey", Charge.to_classes("epsilon", {"a": 0, "b": 0.1}), "q", "1", lambda: [True])
    nobody = ledger.spend("survey", Charge.to_people("epsilon", [], 0.1), "r", "1", lambda: [True])
    assert (entry.accounts, nobody.accounts) == (1, 0)
    ledger.verify()


PERSON = Charge.to_people("epsilon", ["Ann"], 0.1)
KINDS = {"people": (TENTH, PERSON, "classes"), "classes": (PERSON, TENTH, "people")}


@pytest.mark.parametrize("refused", KINDS)
def test_the_accounts_of_a_source_are_classes_or_people_as_in_its_first_charge(ledger, refused):
    first, other, had = KINDS[refused]
    ledger.spend("survey", Charge.to_people("epsilon", [], 0.1), "nobody", "1", lambda: [True])
    ledger.spend("survey", first, "q", "1", lambda: [True])
    before = list(ledger.export())
    words = f"a charge to {refused}; the accounts of the source 'survey' are {had}; the same people would have two"
    with pytest.raises(UsageError, match=words):
        ledger.spend("survey", other, "r", "1", fail_if_drawn)
    with pytest.raises(UsageError, match=words):
        ledger.record("survey", other, "elsewhere")
    assert list(ledger.export()) == before
    ledger.declare("another", cap=1)
    ledger.spend("another", other, "r", "1", lambda: [True])
    ledger.verify()


def test_a_ledger_with_both_kinds_is_invalid(ledger, monkeypatch):
    monkeypatch.setattr("hetdp.releases.ledger.accounts.require_account_kind", lambda *_: None)
    for name, charge in (("q", TENTH), ("r", PERSON)):
        ledger.spend("survey", charge, name, "1", lambda: [True])
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.verify()


def test_a_ledger_with_a_charge_of_another_currency_is_invalid(ledger, monkeypatch):
    monkeypatch.setattr("hetdp.releases.ledger.charging.require_currency", lambda *_: None)
    ledger.spend("survey", Charge.to_classes("renyi-2", {"pupils": 0.1}), "q", "1", lambda: [True])
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.verify()


@pytest.mark.parametrize("amounts", [[0.1], 0.1, np.array([0.1]), ["0.1"]])
def test_a_float_costs_people_the_decimal_that_was_written(ledger, amounts):
    assert spend(ledger, Charge.to_people("epsilon", ["Ann"], amounts), 9) == 3, "0.1 fits three times into 0.3"
    assert (ledger.status()[0].most_spent, ledger.status()[0].exhausted) == ("0.3", 1)


@pytest.mark.parametrize("name", ["Survey", "sur vey", "SURVEY", "ｓurvey"])
def test_a_source_that_resembles_another_is_refused(ledger, name):
    with pytest.raises(UsageError, match=f"the source {name!r} looks like 'survey'; .* Hint: it is 'survey', if"):
        ledger.declare(name, cap=1)
    assert len(ledger.history()) == 2
    ledger.declare("surveys", cap=1)
    ledger.declare("survey", cap=0.3)


def test_blanks_at_the_ends_of_names_are_refused(ledger):
    for name in (" ", "new ", " new"):
        with pytest.raises(UsageError, match="it has no blanks at its ends"):
            ledger.declare(name, cap=1)
        with pytest.raises(UsageError, match="it has no blanks at its ends"):
            ledger.spend("survey", TENTH, "q", name, fail_if_drawn)
    assert len(ledger.history()) == 2


def charge_named(named, *ids):
    return Charge.to_people("epsilon", ids or ["Ann"], "0.1", named=named)


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        ("id", "email", "a charge to people by 'email'; the people of the source 'survey' are named by 'id'; the same"),
        ("id", "Id", "Hint: give named='id', as before"),
        (
            "id",
            None,
            "a charge to people by ids that have no name; the people of the source 'survey' are named by 'id'",
        ),
        (None, "id", "a charge to people by 'id'; the people of the source 'survey' were charged by ids that have no"),
    ],
)
def test_the_first_charge_to_people_fixes_what_names_them(ledger, first, other, words):
    ledger.spend("survey", Charge.to_people("epsilon", [], 0.1, named=other), "nobody", "1", list)
    ledger.spend("survey", charge_named(first), "q", "1", lambda: [True])
    before = list(ledger.export())
    with pytest.raises(UsageError) as refused:
        ledger.spend("survey", charge_named(other, "ann@example.org"), "r", "1", fail_if_drawn)
    assert words in str(refused.value)
    with pytest.raises(UsageError) as refused:
        ledger.record("survey", charge_named(other, "ann@example.org"), "elsewhere")
    assert words in str(refused.value)
    assert list(ledger.export()) == before
    ledger.spend("survey", charge_named(first), "r", "1", lambda: [True])
    assert (ledger.status()[0].named, ledger.status()[0].most_spent) == (first, "0.2")
    ledger.verify()


def test_all_people_of_a_source_are_named_by_the_same_column(ledger):
    ledger.spend("survey", charge_named("id", *range(20_000)), "q", "1", lambda: [True])
    ledger.spend("survey", charge_named("id", *range(30_000)), "r", "1", lambda: [True])
    assert (ledger.status()[0].named, ledger.verify().people) == ("id", 30_000)


def test_a_ledger_whose_people_are_named_in_two_ways_is_invalid(ledger, monkeypatch):
    ledger.spend("survey", charge_named("id"), "q", "1", lambda: [True])
    monkeypatch.setattr("hetdp.releases.ledger.accounts._id_name_in", lambda _: "email")
    ledger.spend("survey", charge_named("email"), "r", "1", lambda: [True])
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.verify()


def test_external_spends_are_recorded_even_beyond_the_cap(ledger):
    entry = ledger.record("survey", Charge.to_classes("epsilon", {"pupils": "0.5"}), "the press release of May")
    assert (entry.kind, entry.facts, entry.answers) == ("record", {"note": "the press release of May"}, ())
    assert spend(ledger, TENTH, 1) == 0
    assert spend(ledger, Charge.to_classes("epsilon", {"staff": 0.1}), 1) == 1
    assert ledger.status()[0].classes[0].spent == "0.5"
    ledger.verify()


def test_a_draw_that_fails_spends_nothing(ledger):
    before = list(ledger.export())
    with pytest.raises(ZeroDivisionError):
        ledger.spend("survey", TENTH, "q", "1", lambda: [1 / 0 > 0])
    assert list(ledger.export()) == before
    ledger.verify()


def test_the_size_of_an_entry_does_not_depend_on_the_answer(ledger):
    yes, no = (ledger.spend("survey", TENTH, name, "1", lambda is_yes=is_yes: [is_yes]) for name, is_yes in WAYS)
    assert len(yes.body) == len(no.body)


WAYS = (("a", True), ("b", False))


def test_a_source_is_declared_once(ledger):
    entry = ledger.declare("survey", cap="0.3")
    assert (entry.number, len(ledger.history())) == (2, 2)
    with pytest.raises(UsageError, match="declared with other caps or another currency; a source is declared once"):
        ledger.declare("survey", cap="0.4")


def test_unknown_sources_and_classes_are_refused(ledger):
    for ask in (lambda: ledger.spend("x", TENTH, "q", "1", fail_if_drawn), lambda: ledger.record("x", TENTH, "n")):
        with pytest.raises(UsageError, match="the ledger has no source 'x'; data is declared before it is asked about"):
            ask()
    with pytest.raises(UsageError, match="no source 'x'"):
        ledger.status("x")
    with pytest.raises(UsageError, match=r"no source 'survy'; .* did you mean 'survey'"):
        ledger.status("survy")
    with pytest.raises(UsageError, match=r"no source 'survy'; .* did you mean 'survey'"):
        ledger.record("survy", TENTH, "n")
    with pytest.raises(UsageError, match="a charge of gaussian; the source 'survey' counts epsilon"):
        ledger.spend("survey", Charge.to_classes("gaussian", {"a": 1}), "q", "1", fail_if_drawn)
    with pytest.raises(UsageError, match="the facts of an entry are not JSON"):
        ledger.spend("survey", TENTH, "q", "1", fail_if_drawn, {"x": float("nan")})
    with pytest.raises(UsageError, match="7 is not a version; it must be text"):
        ledger.spend("survey", TENTH, "q", 7, fail_if_drawn)


@pytest.mark.parametrize("name", ["", "a\x1b[2J", "a\nb", "a\0b", "a\u202eb", 7])
def test_the_name_of_a_source_must_be_printable(ledger, name):
    before = list(ledger.export())
    for ask in (lambda: ledger.declare(name, cap=1), lambda: ledger.spend(name, TENTH, "q", "1", fail_if_drawn)):
        with pytest.raises(UsageError, match="is not a source; it must be text") as refusal:
            ask()
        assert str(refusal.value).isprintable()
    assert list(ledger.export()) == before


@pytest.mark.parametrize(
    "wrong", [{"cap": -1}, {"cap": (1, 1)}, {"cap": 1, "currency": "epsilon-delta"}, {"caps": {1: 1}}]
)
def test_an_invalid_cap_is_refused(ledger, wrong):
    with pytest.raises(UsageError, match=r"is not (an?|the) |no cap is given"):
        ledger.declare("other", **wrong)


def test_a_ledger_is_made_once_and_never_replaced(ledger):
    with pytest.raises(UsageError, match="something already exists there; a ledger is made once and never replaced"):
        Ledger.create(ledger.address)
    ledger.verify()


def test_threads_and_several_objects_never_grant_too_much(ledger):
    ledger.declare("busy", cap="0.02")
    granted, failed = [], []

    def work(name: int) -> None:
        own = Ledger(ledger.address) if name % 2 else ledger
        for number in range(8):
            try:
                entry = own.spend(
                    "busy", Charge.to_classes("epsilon", {"a": "0.001"}), f"{name} {number}", "1", lambda: [True]
                )
                granted.append(entry.number)
            except BudgetError:
                pass
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert (failed, len(granted), len(set(granted))) == ([], 20, 20)
    ledger.verify()


def test_receipts_that_the_ledger_does_not_hold_stop_a_spend(ledger):
    receipt = ledger.spend("survey", TENTH, "q", "1", lambda: [True]).receipt()
    assert ledger.spend("survey", TENTH, "r", "1", lambda: [True], receipts=[receipt]).number == receipt["entry"] + 1
    older, forked = (
        r"it is older than its records: .*; a restored copy would spend again",
        "it has diverged from its",
    )
    for wrong, words in (({"entry": 9}, older), ({"hash": "0" * 64}, forked), ({"entry": 0}, forked)):
        with pytest.raises(LedgerError, match=words):
            ledger.spend("survey", TENTH, "s", "1", fail_if_drawn, receipts=[receipt | wrong])
    for wrong in ({}, receipt | {"entry": "1"}, receipt | {"ledger": "another"}):
        with pytest.raises(UsageError, match="receipt 2 is"):
            ledger.spend("survey", TENTH, "s", "1", fail_if_drawn, receipts=[receipt, wrong])


# One way of grouping --------------------------------------------------------------------------------------------------


BY_CLASS, ALL = Charge.to_classes("epsilon", {"a": 0.3, "b": 0.3}), Charge.to_classes("epsilon", {"everybody": 0.3})
MIXED = Charge.to_classes("epsilon", {"a": 0.3, "everybody": 0.1})


@pytest.mark.parametrize("first", [BY_CLASS, MIXED], ids=["by class", "mixed"])
def test_a_source_charged_by_class_is_not_charged_as_everybody(ledger, first):
    ledger.spend("survey", first, "first", "1", lambda: [True])
    with pytest.raises(
        UsageError, match="a charge to everybody, without classes; the source 'survey' is charged by class"
    ):
        ledger.spend("survey", ALL, "second", "1", fail_if_drawn)
    with pytest.raises(UsageError, match="would have a second budget"):
        ledger.record("survey", ALL, "elsewhere")
    assert {one.name: one.spent for one in ledger.status()[0].classes}["a"] == "0.3"
    ledger.verify()


@pytest.mark.parametrize("second", [BY_CLASS, MIXED], ids=["by class", "mixed"])
def test_a_source_charged_as_everybody_is_not_charged_by_class(ledger, second):
    ledger.spend("survey", ALL, "first", "1", lambda: [True])
    with pytest.raises(UsageError, match="a charge by class; so far, the source 'survey' charged everybody without"):
        ledger.spend("survey", second, "second", "1", fail_if_drawn)
    assert [(one.name, one.spent) for one in ledger.status()[0].classes] == [("everybody", "0.3")]
    ledger.verify()


def test_classes_may_be_charged_one_by_one_and_with_what_is_in_none(ledger):
    for request, classes in enumerate([{"a": 0.1}, {"b": 0.1}, {"c": 0.1, "everybody": 0.1}, {"a": 0.1}]):
        ledger.spend("survey", Charge.to_classes("epsilon", classes), str(request), "1", lambda: [True])
    found = {one.name: one.spent for one in ledger.status()[0].classes}
    assert found == {"a": "0.2", "b": "0.1", "c": "0.1", "everybody": "0.1"}


def test_everybody_without_a_class_may_spend_no_more_than_any_class(address):
    ledger = Ledger.create(address, source="survey", cap=1, caps={"a": 0.5})
    ledger.spend("survey", ALL, "first", "1", lambda: [True])
    with pytest.raises(BudgetError, match="'everybody'"):
        ledger.spend("survey", ALL, "second", "1", fail_if_drawn)
    ledger.verify()


def test_everybody_may_be_declared_as_a_class_of_its_own(address):
    ledger = Ledger.create(address, source="survey", cap=1, caps={"everybody": 0.5})
    ledger.spend("survey", BY_CLASS, "first", "1", lambda: [True])
    ledger.spend("survey", ALL, "second", "1", lambda: [True])
    ledger.spend("survey", BY_CLASS, "third", "1", lambda: [True])
    assert [entry.kind for entry in ledger.history()].count("spend") == 3


def test_people_without_a_group_do_not_get_a_second_budget(address):
    ledger = Ledger.create(address, source="survey", cap=1, caps={"a": 0.5})
    people = [Charge.to_people("epsilon", ["ann", "bob"], "0.5", classes=groups) for groups in (["a", "b"], None)]
    ledger.spend("survey", people[0], "by group", "1", lambda: [True])
    with pytest.raises(BudgetError, match="1 of 2 accounts"):
        ledger.spend("survey", people[1], "without", "1", fail_if_drawn)
