"""The price of a release is what the release then charges; to show it, nothing is written and no answer is read."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

import hetdp
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.conftest import address  # noqa: F401
from tests.releases.worlds import CURRENCY, SOURCE, ledger, poll
from tests.tables.tables import PEOPLE, as_csv

ASKED = {"count": "vote = 'yes'", "at_least": "50%", "person": "id", "epsilon": "eps", "group": "role"}


@pytest.mark.parametrize("notion", ["pure", "directed", "approximate", "gaussian", "bounded-range"])
def test_the_price_is_what_the_release_then_charges(notion, tmp_path):
    currency = CURRENCY.get(notion, "epsilon")
    kept, mechanism = ledger(tmp_path, (9, 1) if currency == "epsilon-delta" else 3, currency), poll(notion)
    before = (tmp_path / "a.ledger").read_bytes()
    price = hetdp.price(mechanism, ledger=kept)
    assert (tmp_path / "a.ledger").read_bytes() == before
    assert price.fits
    hetdp.release(mechanism, "one", ledger=kept)
    after = {one.name: one for one in kept.status()[0].classes}
    assert {one.name for one in price.classes} == set(after)
    for one in price.classes:
        found = after[one.name]
        assert (one.charged, one.charged_delta, one.cap) == (found.spent, found.spent_delta, found.cap)
        assert Decimal(one.left_after) == Decimal(found.cap) - Decimal(found.spent)
        assert one.left == found.cap
    again = hetdp.price(mechanism, ledger=kept)
    assert again.before.endswith("of version '1'")
    assert str(again).splitlines()[1].startswith("  nothing: it was released before, on 20")
    assert "aye" not in str(again)
    assert "nay" not in str(again)


@pytest.mark.parametrize("notion", ["pure", "gaussian"])
def test_the_largest_that_fits_does_fit_and_the_next_larger_does_not(notion, tmp_path):
    kept = ledger(tmp_path, "0.7", CURRENCY.get(notion, "epsilon"))
    paid = Charge.to_classes(CURRENCY.get(notion, "epsilon"), {"pupils": "0.3"})
    kept.record(SOURCE, paid, "elsewhere", unit="one pupil")
    price = hetdp.price(poll(notion), ledger=kept)
    assert (price.fits, [one.name for one in price.classes if one.exceeded]) == (False, ["pupils"])
    assert all(one.left_after is None for one in price.classes if one.exceeded)
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(poll(notion), "one", ledger=kept)
    step, largest = Decimal("1e-6") if notion == "gaussian" else Decimal("1e-9"), Decimal(price.largest)
    for amount, fits in ((largest + step, False), (largest, True)):
        charge = Charge.to_classes(paid.currency, {"pupils": str(amount)})
        if fits:
            kept.spend(SOURCE, charge, "q", "1", lambda: [True], unit="pupil")
        else:
            with pytest.raises(hetdp.BudgetError):
                kept.spend(SOURCE, charge, "q", "1", lambda: [True], unit="pupil")


def test_people_are_priced_by_class_on_both_databases_and_nobody_is_named(address, tmp_path):  # noqa: F811
    kept = Ledger.create(address, source="survey", cap=1, caps={"pupil": "0.5", "guest": "inf"})
    table = as_csv(PEOPLE, tmp_path)
    lines = list(kept.export())
    asked = hetdp.ask(table, **ASKED, payment=hetdp.Payment(kept), dry_run=True)
    rows = {one.name: one for one in asked.price.classes}
    assert (asked.release, asked.released) == (None, False)
    used = {one.group: one.body()["used"] for one in asked.promises[0].protections}
    assert used["pupil"] == "0.3"
    assert 0.3 < float(used["staff"]) < 1, "staff reveal less than they allow"
    assert {name: (one.accounts, one.cap, one.charged, one.left_after) for name, one in rows.items()} == {
        "guest": (1, "inf", used["guest"], "inf"),
        "pupil": (3, "0.5", "0.3", "0.2"),
        "staff": (3, "1", used["staff"], str(1 - Decimal(used["staff"]))),
    }
    assert list(kept.export()) == lines
    hetdp.ask(table, **ASKED, payment=hetdp.Payment(kept))
    second = hetdp.ask(table, **(ASKED | {"at_least": "60%"}), payment=hetdp.Payment(kept), dry_run=True)
    assert {one.name: (one.exceeded, one.largest) for one in second.price.classes} == {
        "guest": (0, "inf"),
        "pupil": (3, "0.2"),
        "staff": (3, rows["staff"].left_after),
    }
    assert (second.price.fits, second.price.largest) == (False, "0.2")
    assert "the largest ε that fits everybody is 0.2" in str(second)
    with pytest.raises(hetdp.BudgetError):
        hetdp.release(second, ledger=kept)
    kept.verify()


def test_caps_that_differ_within_a_class_are_shown_and_nothing_is_said_twice(tmp_path):
    kept = Ledger.create(tmp_path / "a.ledger", source="survey", cap=1, caps={"pupil": "0.5"})
    table, everybody = as_csv(PEOPLE, tmp_path), {key: ASKED[key] for key in ("count", "person")} | {"epsilon": 0.3}
    hetdp.ask(table, **ASKED | {"epsilon": 0.3}, payment=hetdp.Payment(kept))
    fitting = hetdp.ask(
        table, **everybody | {"epsilon": 0.1}, at_least=5, payment=hetdp.Payment(kept), dry_run=True
    ).price
    assert (fitting.classes[0].cap, fitting.classes[0].highest_cap) == ("0.5", "1")
    assert "at least ε 0.1 of 0.5 to 1 would be left" in str(fitting)
    too_much = str(hetdp.ask(table, **everybody, at_least=5, payment=hetdp.Payment(kept), dry_run=True).price)
    assert "3 of them would exceed the cap of 0.5 to 1; the largest ε that fits all of them is 0.2" in too_much
    assert "this does not fit, and would be refused\n" in too_much
    constant = hetdp.ask(table, **everybody, at_least=50, payment=hetdp.Payment(kept), dry_run=True).price
    assert constant.similar
    assert "drawn" not in str(constant), "a constant answer is not drawn"


def test_a_dry_run_reads_no_counted_column(tmp_path, monkeypatch):
    from hetdp.tables.people_table import LocalTable

    kept, table = ledger(tmp_path), as_csv(PEOPLE, tmp_path)
    monkeypatch.setattr(LocalTable, "read_answers", lambda *_: pytest.fail("the answers were read"))
    asked = hetdp.ask(table, **ASKED, payment=hetdp.Payment(kept), dry_run=True)
    assert hetdp.price(asked, ledger=kept) == asked.price


def test_what_the_release_would_refuse_anyway_the_price_refuses_as_well(tmp_path):
    kept = hetdp.Ledger.create(tmp_path / "a.ledger", source="survey", cap=9, unit="household")
    with pytest.raises(hetdp.UsageError, match="unit 'household', relation not stated"):
        hetdp.ask(
            as_csv(PEOPLE, tmp_path), **ASKED, payment=hetdp.Payment(kept), dry_run=True, plan=tmp_path / "plan.json"
        )
    assert not (tmp_path / "plan.json").exists()
    other = hetdp.Ledger.create(tmp_path / "b.ledger", source="survey", cap=9)
    other.record("survey", Charge.to_classes("epsilon", {"pupils": 1}), "elsewhere", unit="one pupil")
    with pytest.raises(hetdp.UsageError, match="unit 'pupil'"):
        hetdp.ask(as_csv(PEOPLE, tmp_path), **ASKED, payment=hetdp.Payment(other), dry_run=True)
    with pytest.raises(hetdp.UsageError, match="counts epsilon"):
        hetdp.price(poll("gaussian"), ledger=other)
    for more in ({"record": "r.json"}, {"html": "r.html"}, {"after": "r.json"}):
        with pytest.raises(hetdp.UsageError, match="a dry run writes no record"):
            hetdp.ask(as_csv(PEOPLE, tmp_path), **ASKED, payment=hetdp.Payment(other, **more), dry_run=True)


def test_the_shell_shows_the_price_and_ends_as_the_release_would(tmp_path, capsys, monkeypatch):
    from hetdp.cli.main import main

    monkeypatch.chdir(tmp_path)
    as_csv(PEOPLE, tmp_path)
    hetdp.save(poll().problem, "poll.json")
    hetdp.save(poll(), "m.json")
    for cap, code in (("5", 0), ("0.2", 6)):
        hetdp.Ledger.create(f"{cap}.ledger", source="survey", cap=cap)
        hetdp.Ledger.create(f"poll-{cap}.ledger", source="survey", cap=cap)
        before = Path(f"{cap}.ledger").read_bytes(), Path(f"poll-{cap}.ledger").read_bytes()
        words = ["ask", "people.csv", "--count", "vote = 'yes'", "--at-least", "50%", "--person", "id"]
        words += ["--epsilon", "eps", "--dry-run", "--ledger", f"{cap}.ledger"]
        assert main(words) == code
        said = capsys.readouterr().out
        assert "price, for the source 'survey', version '1':\n  'everybody', 7 accounts: at most ε 0.7589" in said
        assert ("this does not fit, and would be refused" in said) is bool(code)
        assert main([*words, "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        assert (document["price"]["fits"], document["released"]) == (not code, False)
        release = ["release", "poll.json", "m.json", "--ledger", f"poll-{cap}.ledger", "--dry-run"]
        assert main(release) == code
        assert "'pupils', 1 account: at most ε 1 each" in capsys.readouterr().out
        assert main([*release, "--json"]) == code
        assert json.loads(capsys.readouterr().out)["price"]["largest"] == cap
        assert before == (Path(f"{cap}.ledger").read_bytes(), Path(f"poll-{cap}.ledger").read_bytes())
