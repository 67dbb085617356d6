"""What each class has spent: bars as long as the ledger says."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import hetdp
from hetdp.plots.ledger import MOST_ROWS, PEOPLE, accounts_of, size_of_ledger
from hetdp.releases.ledger.status import Balance, Group
from tests.plots.shown import status, words


def test_accounts_are_the_rows_of_the_status():
    assert accounts_of([status()]) == [
        ("pupils", 0.5, 1.0, "0.5 of 1 ε"),
        ("$\\staff{", 1.2, 2.0, "1.2 of 2 ε"),
        ("_guests", 0.3, math.inf, "0.3 ε"),
        (PEOPLE, 0.75, 2.0, "0.75 of 2 ε"),
    ]


def test_people_are_shown_by_what_they_may_spend():
    groups = (Group("1", None, ("pupils", "guests"), 2, "0.5", "0.5", 0), Group("2", None, (), 3, "0.75", "1.25", 0))
    assert accounts_of([replace(status(), classes=(), by_cap=groups)]) == [
        (f"pupils, guests: {PEOPLE}", 0.5, 1.0, "0.5 of 1 ε"),
        (PEOPLE, 0.75, 2.0, "0.75 of 2 ε"),
    ]


def test_several_sources_are_named():
    names = [account.name for account in accounts_of([status("a"), status("b")])]
    assert names[0] == "a: pupils"
    assert names[4] == "b: pupils"


def test_bars_are_as_long_as_what_was_spent():
    axes = hetdp.plot([status()])
    widths = sorted(bar.get_width() for bar in axes.patches)
    assert widths == [0.3, 0.5, 0.75, 1.0, 1.2, 2.0, 2.0]
    assert "$\\staff{" in words(axes)
    assert "_guests" in words(axes)
    axes.get_figure().canvas.draw()


def test_a_ledger_is_drawn_by_its_status(tmp_path):
    ledger = hetdp.Ledger.create(tmp_path / "a.ledger", source="school", cap=1, caps={"staff": 2})
    assert [bar.get_width() for bar in hetdp.plot(ledger).patches] == [2.0, 0.0]


def test_a_legend_explains_the_bars_unless_it_is_turned_off():
    keys = [hetdp.plot([status()], key=key).get_legend() for key in (True, False)]
    assert [text.get_text() for text in keys[0].get_texts()] == ["spent", "left"]
    assert keys[1] is None


def test_a_ledger_without_accounts_says_so_and_has_no_axes():
    axes = hetdp.plot([replace(status(), classes=(), people=0)])
    assert "nothing has been spent in this ledger yet" in words(axes)
    assert not axes.axison
    assert "left" not in words(axes)


def test_an_unlimited_account_without_spends_has_a_plain_scale():
    for spent in ("0", "inf"):
        axes = hetdp.plot([replace(status(), classes=(Balance("a", "inf", spent, "inf"),), people=0)])
        assert axes.get_xlim() == (0.0, 1.3)


def test_many_classes_are_truncated_with_a_note():
    many = replace(status(), classes=tuple(Balance(f"class {at}", "2", "1", "1") for at in range(100)), people=0)
    axes = hetdp.plot([many])
    assert len(axes.get_yticks()) == MOST_ROWS
    assert f"{100 - MOST_ROWS} more classes" in words(axes)


def test_accounts_have_their_source_where_there_are_several():
    one = SimpleNamespace(name="a", spent="0.5", cap="1")
    free = SimpleNamespace(name="b", spent="2", cap="inf")
    people = SimpleNamespace(classes=("x", "y"), most_spent="0.1", cap="1")
    row = SimpleNamespace(source="s", unit="ε", classes=[one, free], people=0, by_cap=[people])
    assert [(account.name, account.words) for account in accounts_of([row])] == [("a", "0.5 of 1 ε"), ("b", "2 ε")]
    other = SimpleNamespace(source="t", unit="ε", classes=[], people=3, by_cap=[people])
    assert [account.name for account in accounts_of([row, other])] == [
        "s: a",
        "s: b",
        "t: x, y: people (largest amount)",
    ]
    assert size_of_ledger([]) == size_of_ledger(accounts_of([row])) == (5.6, 1.6)
    assert size_of_ledger(accounts_of([row]) * 30) == (5.6, 13.0)
