"""The price of a release is what the release then charges; to show it, nothing is written and no answer is read."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

import hetdp
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.charging import ClassPrice
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.price import Price
from tests.loops import for_each
from tests.releases.ledger.conftest import address, database  # noqa: F401
from tests.releases.worlds import CURRENCY, SOURCE, make_ledger, poll_mechanism
from tests.tables.tables import PEOPLE, as_csv

QUESTION = {"count": "vote = 'yes'", "at_least": "50%", "person": "id", "epsilon": "eps", "group": "role"}


@pytest.mark.parametrize("notion", ["pure", "directed", "approximate", "gaussian", "bounded-range"])
def test_the_price_is_what_the_release_then_charges(notion, tmp_path):
    currency = CURRENCY.get(notion, "epsilon")
    ledger, mechanism = (
        make_ledger(tmp_path, (9, 1) if currency == "epsilon-delta" else 3, currency),
        poll_mechanism(notion),
    )
    before = (tmp_path / "a.ledger").read_bytes()
    price = hetdp.price(mechanism, ledger=ledger)
    assert (tmp_path / "a.ledger").read_bytes() == before
    assert price.fits
    hetdp.release(mechanism, "one", ledger=ledger)
    after = {one.name: one for one in ledger.status()[0].classes}
    assert {one.name for one in price.classes} == set(after)
    for one in price.classes:
        found = after[one.name]
        assert (one.charged, one.charged_delta, one.cap) == (found.spent, found.spent_delta, found.cap)
        assert Decimal(one.left_after) == Decimal(found.cap) - Decimal(found.spent)
        assert one.left == found.cap
    again = hetdp.price(mechanism, ledger=ledger)
    assert again.before.endswith("of version '1'")
    assert str(again).splitlines()[1].startswith("  nothing: it was released before, on 20")
    assert "aye" not in str(again)
    assert "nay" not in str(again)


@pytest.mark.parametrize("notion", ["pure", "gaussian"])
def test_the_largest_release_that_fits_is_exact(notion, tmp_path):
    ledger = make_ledger(tmp_path, "0.7", CURRENCY.get(notion, "epsilon"))
    paid = Charge.to_classes(CURRENCY.get(notion, "epsilon"), {"pupils": "0.3"})
    ledger.record(SOURCE, paid, "elsewhere", unit="one pupil")
    price = hetdp.price(poll_mechanism(notion), ledger=ledger)
    assert (price.fits, [one.name for one in price.classes if one.exceeded]) == (False, ["pupils"])
    assert all(one.left_after is None for one in price.classes if one.exceeded)
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(poll_mechanism(notion), "one", ledger=ledger)
    step, largest = Decimal("1e-6") if notion == "gaussian" else Decimal("1e-9"), Decimal(price.largest)
    for amount, fits in ((largest + step, False), (largest, True)):
        charge = Charge.to_classes(paid.currency, {"pupils": str(amount)})
        if fits:
            ledger.spend(SOURCE, charge, "q", "1", lambda: [True], unit="pupil")
        else:
            with pytest.raises(hetdp.BudgetError):
                ledger.spend(SOURCE, charge, "q", "1", lambda: [True], unit="pupil")


def test_people_are_priced_by_class_on_both_databases_and_nobody_is_named(address, tmp_path):  # noqa: F811
    ledger = Ledger.create(address, source="survey", cap=1, caps={"pupil": "0.5", "guest": "inf"})
    table = as_csv(PEOPLE, tmp_path)
    lines = list(ledger.export())
    result = hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger), dry_run=True)
    rows = {one.name: one for one in result.price.classes}
    assert (result.release, result.released) == (None, False)
    used = {one.group: one.body()["used"] for one in result.promises[0].protections}
    assert used["pupil"] == "0.3"
    assert 0.3 < float(used["staff"]) < 1, "staff reveal less than they allow"
    assert {name: (one.accounts, one.cap, one.charged, one.left_after) for name, one in rows.items()} == {
        "guest": (1, "inf", used["guest"], "inf"),
        "pupil": (3, "0.5", "0.3", "0.2"),
        "staff": (3, "1", used["staff"], str(1 - Decimal(used["staff"]))),
    }
    assert list(ledger.export()) == lines
    hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger))
    second = hetdp.ask(table, **(QUESTION | {"at_least": "60%"}), payment=hetdp.Payment(ledger), dry_run=True)
    assert {one.name: (one.exceeded, one.largest) for one in second.price.classes} == {
        "guest": (0, "inf"),
        "pupil": (3, "0.2"),
        "staff": (3, rows["staff"].left_after),
    }
    assert (second.price.fits, second.price.largest) == (False, "0.2")
    assert "the most that fits everybody is ε = 0.2" in str(second)
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(second, ledger=ledger)
    ledger.verify()


def test_caps_that_differ_within_a_class_are_shown_once(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", source="survey", cap=1, caps={"pupil": "0.5"})
    table, everybody = as_csv(PEOPLE, tmp_path), {key: QUESTION[key] for key in ("count", "person")} | {"epsilon": 0.3}
    hetdp.ask(table, **QUESTION | {"epsilon": 0.3}, payment=hetdp.Payment(ledger))
    fitting = hetdp.ask(
        table, **everybody | {"epsilon": 0.1}, at_least=5, payment=hetdp.Payment(ledger), dry_run=True
    ).price
    assert (fitting.classes[0].cap, fitting.classes[0].highest_cap) == ("0.5", "1")
    assert "at least ε 0.1 of 0.5 to 1 would be left" in str(fitting)
    too_much = str(hetdp.ask(table, **everybody, at_least=5, payment=hetdp.Payment(ledger), dry_run=True).price)
    assert "3 of them would exceed the cap of 0.5 to 1; the most that fits all of them is ε = 0.2" in too_much
    assert "this does not fit, and would be refused\n" in too_much
    constant = hetdp.ask(table, **everybody, at_least=50, payment=hetdp.Payment(ledger), dry_run=True).price
    assert constant.similar
    assert "drawn" not in str(constant), "a constant answer is not drawn"


def test_a_dry_run_reads_no_counted_column(tmp_path, monkeypatch):
    from hetdp.tables.people_table import LocalTable

    ledger, table = make_ledger(tmp_path), as_csv(PEOPLE, tmp_path)
    monkeypatch.setattr(LocalTable, "read_answers", lambda *_: pytest.fail("the answers were read"))
    result = hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger), dry_run=True)
    assert hetdp.price(result, ledger=ledger) == result.price


def test_the_price_refuses_what_the_release_would_refuse(tmp_path):
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="survey", cap=9, unit="household")
    with pytest.raises(hetdp.UsageError, match="unit 'household', relation not stated"):
        hetdp.ask(
            as_csv(PEOPLE, tmp_path),
            **QUESTION,
            payment=hetdp.Payment(ledger),
            dry_run=True,
            plan=tmp_path / "plan.json",
        )
    assert not (tmp_path / "plan.json").exists()
    other = hetdp.Ledger.create(tmp_path / "b.ledger", source="survey", cap=9)
    other.record("survey", Charge.to_classes("epsilon", {"pupils": 1}), "elsewhere", unit="one pupil")
    with pytest.raises(hetdp.UsageError, match="unit 'pupil'"):
        hetdp.ask(as_csv(PEOPLE, tmp_path), **QUESTION, payment=hetdp.Payment(other), dry_run=True)
    with pytest.raises(hetdp.UsageError, match="counts epsilon"):
        hetdp.price(poll_mechanism("gaussian"), ledger=other)
    for more in ({"record": "r.json"}, {"html": "r.html"}, {"after": "r.json"}):
        with pytest.raises(hetdp.UsageError, match="a dry run writes no record"):
            hetdp.ask(as_csv(PEOPLE, tmp_path), **QUESTION, payment=hetdp.Payment(other, **more), dry_run=True)


def test_an_answer_that_others_paid_for_has_no_price(tmp_path):
    ledger, table = Ledger.create(tmp_path / "a.ledger", source="survey", cap=9), as_csv(PEOPLE, tmp_path)
    hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger))
    assert "released before" in str(hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger), dry_run=True).price)
    as_csv(PEOPLE | {"id": [1, 2, 3, 4, 5, 6, 8]}, tmp_path)
    with pytest.raises(hetdp.UsageError, match="but other accounts paid"):
        hetdp.ask(table, **QUESTION, payment=hetdp.Payment(ledger), dry_run=True)


def price_of(count: int, largest: str = "0.4", exceeded: int = 1) -> Price:
    one = ClassPrice("pupils", 1, "0.4", "0.4", "0.5", "0.4", None, None, None, exceeded, largest)
    return Price("survey", "1", "epsilon", "ε", (one,) * count, None, (), not exceeded, largest)


@for_each(("count", "lines"), [(0, 1), (1, 1), (20, 20), (21, 21), (1022, 21)])
def test_twenty_classes_are_priced_in_words_and_the_others_counted(count, lines):
    words = str(price_of(count, exceeded=0)).splitlines()[1:]
    assert len(words) == lines
    assert (words[-1] == f"  and {count - 20:,} more classes") is (count > 20)
    assert (words[0] == "  nothing: nobody is charged") is (count == 0)


def test_the_largest_amount_for_everybody_is_said_where_classes_differ():
    everybody = "this does not fit, and would be refused; the most that fits everybody is ε = 0.4"
    assert str(price_of(2)).splitlines()[-1] == everybody
    assert str(price_of(1)).splitlines()[-1] == "this does not fit, and would be refused"
    assert str(replace(price_of(1), questions=2)).splitlines()[-1] == f"{everybody}, for all questions together"


def test_the_largest_amount_that_fits_is_the_least_number_and_not_the_first_text(tmp_path):
    ledger = make_ledger(tmp_path, 9, pupils=10)
    assert hetdp.price(poll_mechanism(), ledger=ledger).largest == "9"


def test_a_question_that_was_released_before_is_not_listed_as_similar(tmp_path):
    ledger = make_ledger(tmp_path, 10)
    hetdp.release(poll_mechanism(), "one", ledger=ledger)
    hetdp.release(poll_mechanism(), "one", ledger=ledger, version="2")
    assert hetdp.price(poll_mechanism(), ledger=ledger).similar == ()
    similar = hetdp.price(poll_mechanism(), ledger=ledger, version="3").similar
    assert [one.partition(" before: ")[2][15:] for one in similar[:-1]] == [
        f"of version '{version}' (entry {entry}), which differs in version" for version, entry in (("2", 4), ("1", 3))
    ]


def test_the_three_latest_similar_questions_are_named_and_others_mentioned(tmp_path):
    ledger, mechanism = make_ledger(tmp_path, 10), poll_mechanism()
    for count in range(6):
        similar = hetdp.price(mechanism, ledger=ledger, version=str(count)).similar
        named = [one.partition("(entry ")[2][:1] for one in similar if "(entry " in one]
        assert named == [str(2 + number) for number in range(count, max(count - 3, 0), -1)]
        assert ("and before that; hetdp ledger history lists everything" in similar) is (count > 3)
        hetdp.release(mechanism, "one", ledger=ledger, version=str(count), announce=lambda _: None)


@pytest.mark.parametrize("version", ["", "x" * 201, "a\nb", None, 1])
def test_a_version_is_a_short_printable_text(version, tmp_path):
    ledger = make_ledger(tmp_path)
    for call in (hetdp.price, lambda what, **given: hetdp.release(what, "one", **given)):
        with pytest.raises(hetdp.UsageError, match="a version of the data is a text of 1 to 200 printable"):
            call(poll_mechanism(), ledger=ledger, version=version)
    assert hetdp.price(poll_mechanism(), ledger=ledger, version="x" * 200).version == "x" * 200


def test_the_command_line_shows_the_price_and_ends_like_the_release(tmp_path, capsys, monkeypatch):
    from hetdp.cli.main import main

    monkeypatch.chdir(tmp_path)
    as_csv(PEOPLE, tmp_path)
    hetdp.save(poll_mechanism().problem, "poll.json")
    hetdp.save(poll_mechanism(), "m.json")
    for cap, code in (("5", 0), ("0.2", 6)):
        hetdp.Ledger.create(f"{cap}.ledger", source="survey", cap=cap)
        hetdp.Ledger.create(f"poll-{cap}.ledger", source="survey", cap=cap)
        before = Path(f"{cap}.ledger").read_bytes(), Path(f"poll-{cap}.ledger").read_bytes()
        words = ["ask", "people.csv", "--count", "vote = 'yes'", "--at-least", "50%", "--person", "id"]
        words += ["--epsilon", "eps", "--dry-run", "--ledger", f"{cap}.ledger"]
        assert main(words) == code
        output = capsys.readouterr().out
        assert "price, for the source 'survey', version '1':\n  'everybody', 7 accounts: at most ε 0.7589" in output
        assert ("this does not fit, and would be refused" in output) is bool(code)
        assert main([*words, "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        assert (document["price"]["fits"], document["released"]) == (not code, False)
        release = ["release", "poll.json", "m.json", "--ledger", f"poll-{cap}.ledger", "--dry-run"]
        assert main(release) == code
        assert "'pupils', 1 account: at most ε 1 each" in capsys.readouterr().out
        assert main([*release, "--json"]) == code
        assert json.loads(capsys.readouterr().out)["price"]["largest"] == cap
        assert before == (Path(f"{cap}.ledger").read_bytes(), Path(f"poll-{cap}.ledger").read_bytes())
