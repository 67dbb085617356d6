"""The arithmetic of accounts, and the refusal of stored bytes and lines that no ledger writes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hetdp.errors import LedgerError, UsageError
from hetdp.releases.ledger import accounts, charging, neighbours, status, verification
from hetdp.releases.ledger.accounts import NOBODY, Share, Terms
from hetdp.releases.ledger.amounts import INFINITE, currency_of
from hetdp.releases.ledger.chain import Entry, normalize_version, parse_entry, previous_of, require_text
from hetdp.releases.ledger.charge import KEY, Charge, canonical_json, decode_charge
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.ledger_core import KnownSources
from hetdp.releases.ledger.neighbours import Neighbours, combine_neighbours, parse_neighbours, read_neighbours
from tests.loops import for_each

BOTH, PLAIN = currency_of("epsilon-delta"), currency_of("epsilon")
TERMS = Terms(2, "survey", BOTH, (30, 5), {"pupils": (20, 7), "staff": (40, 3)})


def keys_of(*names: bytes) -> Any:
    return np.array([name.rjust(16, b"\x01") for name in names], KEY)


def declaration(**facts: Any) -> Entry:
    return Entry("l", 2, "", "", "declare", "survey", facts={"currency": "epsilon", "cap": [3, 0], "caps": {}} | facts)


# Caps -----------------------------------------------------------------------------------------------------------------


def test_a_class_has_its_own_cap_or_that_of_all_and_everybody_the_least_of_both_amounts():
    assert TERMS.cap_of("pupils") == (20, 7)
    assert TERMS.cap_of("guests") == (30, 5)
    assert TERMS.cap_of("everybody") == TERMS.least() == (20, 3)
    assert TERMS._replace(caps={"everybody": (50, 50)}).cap_of("everybody") == (50, 50)


@for_each(
    "facts",
    [
        {"cap": [-1, 0]},
        {"cap": [0, -1]},
        {"cap": [INFINITE + 1, 0]},
        {"cap": [0, INFINITE + 1]},
        {"cap": [True, 0]},
        {"cap": [1.0, 0]},
        {"cap": [1, None]},
        {"cap": [1]},
        {"caps": {"pupils": [-1, 0]}},
        {"currency": "rho"},
        {"more": 1},
        {"neighbours": {}},
    ],
)
def test_a_declaration_that_nobody_writes_is_none(facts):
    assert accounts.terms_of(declaration()).cap == (3, 0)
    assert accounts.terms_of(declaration(cap=[INFINITE, 0])).cap == (INFINITE, 0)
    with pytest.raises(ValueError, match=r"no |not enough|expected"):
        accounts.terms_of(declaration(**facts))


def test_infinity_is_no_limit_on_either_amount():
    assert accounts.check_declaration("epsilon-delta", "inf", None)["cap"] == [INFINITE, INFINITE]
    assert accounts.check_declaration("epsilon-delta", ["0.5", "1e-6"], {"a": (1, "inf")}) == {
        "currency": "epsilon-delta",
        "cap": [5 * 10**8, 10**12],
        "caps": {"a": [10**9, INFINITE]},
    }
    for wrong in (1, (1,), (1, 0, 0), "0.5"):
        with pytest.raises(UsageError, match="it must be a pair: ε and δ"):
            accounts.check_declaration("epsilon-delta", wrong, None)
    with pytest.raises(UsageError, match="class accounts have names of text"):
        accounts.check_declaration("epsilon", 1, {"a\n": 1})


def test_an_account_exceeds_its_cap_by_either_amount_and_never_without_a_limit():
    caps = [3, 3, 3, INFINITE, 3, 3], [5, 5, 5, 5, INFINITE, 5]
    spent = [3, 4, 0, INFINITE, 0, 0], [5, 0, 6, 0, INFINITE, 0]
    balances = np.array([caps[0], spent[0], caps[1], spent[1]])
    assert accounts.exceeds_cap(balances).tolist() == [False, True, True, False, False, False]


# People ---------------------------------------------------------------------------------------------------------------


def test_people_are_charged_in_order_whether_or_not_they_are_known():
    before = Share(keys_of(b"b", b"d"), np.array([[9, 9], [1, 2], [5, 5], [0, 3]]))
    paying = keys_of(b"a", b"d", b"e")
    caps = np.array([[7, 7, 7], [4, 4, 4]])
    after, where = accounts.charge_share(before, paying, np.array([1, 2, 3]), np.array([0, 1, 0]), caps, False)
    assert after.keys.tolist() == keys_of(b"a", b"b", b"d", b"e").tolist()
    assert after.balances.tolist() == [[7, 9, 9, 7], [1, 1, 4, 3], [4, 5, 5, 4], [0, 0, 4, 0]]
    assert where.tolist() == [0, 2, 3]
    by_class, _ = accounts.charge_share(before, paying, np.array([1, 2, 3]), np.array([0, 1, 0]), caps, True)
    assert by_class.balances.tolist() == [[7, 9, 7, 7], [1, 1, 4, 3], [4, 5, 4, 4], [0, 0, 4, 0]]
    again, where = accounts.charge_share(before, before.keys, np.array([1, 1]), np.array([0, 0]), caps[:, :2], True)
    assert again.balances.tolist() == [[7, 7], [2, 3], [4, 4], [0, 3]]
    assert where.tolist() == [0, 1]
    assert before.balances.tolist() == [[9, 9], [1, 2], [5, 5], [0, 3]], "nothing is charged in place"


def row(*values: int) -> bytes:
    return np.array(values, "<i8").tobytes()


@for_each(
    ("keys", "balances"),
    [
        (keys_of(b"a").tobytes() + b"x", row(1, 2)),
        (keys_of(b"b", b"a").tobytes(), row(1, 2, 3, 4)),
        (keys_of(b"a", b"a").tobytes(), row(1, 2, 3, 4)),
        (keys_of(b"a").tobytes(), row(-1, 2)),
        (keys_of(b"a").tobytes(), row(1, -1)),
        (keys_of(b"a").tobytes(), row(1, 2, 3, 4)),
        (keys_of(b"a").tobytes(), "text"),
        ("text", row(1, 2)),
    ],
)
def test_a_row_of_people_that_nobody_writes_is_none(keys, balances):
    terms = TERMS._replace(currency=PLAIN)
    assert accounts.parse_share(terms, keys_of(b"a").tobytes(), row(1, 2)).balances.tolist() == [[1], [2], [0], [0]]
    with pytest.raises(ValueError, match=r"share|reshape|multiple"):
        accounts.parse_share(terms, keys, balances)


def test_people_must_be_in_the_range_of_their_row():
    share = Share(keys_of(b"b", b"c"), np.zeros((4, 2), np.int64))
    accounts.require_inside(share, keys_of(b"b"))
    accounts.require_inside(share, keys_of(b"a", b"d"))
    accounts.require_inside(NOBODY, keys_of(b"a", b"d"))
    for ends in (keys_of(b"c"), keys_of(b"a", b"c"), keys_of(b"a", b"b")):
        with pytest.raises(ValueError, match="another row"):
            accounts.require_inside(share, ends)


def test_rows_begin_with_the_lowest_pseudonym():
    with pytest.raises(ValueError, match="no shares"):
        accounts._in_order([keys_of(b"a").tobytes()])
    for wrong in (b"short", "text", None):
        with pytest.raises(ValueError, match="no shares"):
            accounts._in_order([bytes(16), wrong])
    assert len(accounts._in_order([bytes(16), keys_of(b"a").tobytes()])) == 2


def test_more_people_than_fit_into_one_row_begin_in_rows_that_are_half_full(monkeypatch):
    monkeypatch.setattr(accounts, "MOST", 4)
    keys = keys_of(*(b"%d" % at for at in range(9)))
    assert accounts._new_rows(keys[:4]) == [bytes(16)]
    assert accounts._new_rows(keys) == [bytes(16), *(keys[at : at + 1].tobytes() for at in (2, 4, 6, 8))]


# Status and prices ----------------------------------------------------------------------------------------------------


def test_an_account_that_cannot_spend_one_more_unit_has_nothing_left():
    balances = np.array([[3, 3, 3, INFINITE], [3, 2, 2, INFINITE], [5, 5, 5, INFINITE], [0, 0, 5, 0]])
    assert status._spending(TERMS, balances, 9) == ("inf", "0", 2)
    assert status._spending(TERMS._replace(currency=PLAIN), balances[:, 1:3], 9) == ("0.000000002", "0.000000001", 0)
    assert status._spending(TERMS, NOBODY.balances, 9) == ("0", "0.000000009", 0)


def test_people_are_grouped_by_both_caps():
    balances = np.array([[20, 20, 30, 20], [1, 2, 3, 4], [7, 7, 5, 3], [0, 0, 0, 0]])
    found = [(one.cap, one.cap_delta, one.classes, one.people) for one in status._by_cap(TERMS, balances)]
    tiny = "0.0000000"
    assert found == [
        (f"{tiny}2", "0.000000000000000003", (), 1),
        (f"{tiny}2", "0.000000000000000007", ("pupils",), 2),
        (f"{tiny}3", "0.000000000000000005", (), 1),
        (f"{tiny}4", "0.000000000000000003", ("staff",), 0),
    ]


def test_the_remaining_amount_is_never_negative():
    balances = np.array([[3, 3, INFINITE], [1, 9, INFINITE], [5, 5, INFINITE], [5, 0, 3]])
    assert charging.remaining_amounts(balances).tolist() == [[2, 0, INFINITE], [0, 5, INFINITE]]
    assert charging._largest(INFINITE, 10**12, True) == "inf"
    assert charging._largest(2 * 10**12, 10**12, True) == "1.414213"
    assert charging._largest(2 * 10**9, 10**9, False) == "2"


def test_a_charge_that_is_repeated_stops_at_infinity():
    assert verification._times(np.array([1, INFINITE // 3, INFINITE // 3 + 1]), 3).tolist() == [
        3,
        INFINITE // 3 * 3,
        INFINITE,
    ]


# Lines and bytes ------------------------------------------------------------------------------------------------------

ENTRY = Entry("l", 3, "h", "t", "spend", "survey", "q", "1", "c", 2, (True, False), {"a": 1})


@for_each(
    "change",
    [
        {"schema_version": 2},
        {"schema_version": True},
        {"kind": "refund"},
        {"number": 3.0},
        {"number": True},
        {"accounts": "2"},
        {"answers": [2]},
        {"answers": [True]},
        {"answers": [-1]},
        {"facts": []},
        {"more": 1},
        {"source": None},
    ],
)
def test_a_line_that_nobody_writes_is_no_entry(change):
    assert parse_entry(ENTRY.body) == ENTRY
    with pytest.raises(ValueError, match="not "):
        parse_entry(canonical_json(json.loads(ENTRY.body) | change))


@for_each("line", [ENTRY.body + " ", b"{}", "[]", "[" * 100_000, None, ENTRY.body.replace('"l"', '"\\u006c"')])
def test_another_spelling_of_a_line_is_no_entry(line):
    with pytest.raises(ValueError, match=r".+"):
        parse_entry(line)


def test_the_hash_of_the_entry_before_is_read_from_a_line():
    assert previous_of(ENTRY.body) == "h"
    for wrong in (None, "{}", "[]", "[" * 100_000, "7"):
        with pytest.raises(ValueError, match="not an entry"):
            previous_of(wrong)


@for_each(
    ("version", "normal"), [(" V2 ", "v2"), ("002.000", "2"), ("0", "0"), ("1.10", "1.10"), ("２", "2"), ("2.", "2")]
)
def test_versions_are_compared_without_case_blanks_and_zeros(version, normal):
    assert normalize_version(version) == normal


def test_a_source_is_printable_text_without_blanks_at_its_ends():
    require_text(source="a b", version="", request="\n")
    for given in (
        {"source": ""},
        {"source": " a"},
        {"source": "a\n"},
        {"version": "1 "},
        {"note": 3},
        {"source": None},
    ):
        with pytest.raises(UsageError, match="is not a"):
            require_text(**given)


CLASSES = Charge.to_classes("epsilon-delta", {"a": 1, "b": 2}, {"a": 0, "b": 0.5}).seal(b"")
PEOPLE = Charge.to_people("epsilon", ["x", "y"], [1.0, 2.0], classes=["a", "b"], named="id").seal(b"s")


@for_each(
    "change",
    [
        {"schema_version": 2},
        {"currency": "rho"},
        {"kind": "group"},
        {"accounts": 3},
        {"accounts": True},
        {"names": ["b", "a"]},
        {"names": ["a", "a"]},
        {"names": ["a", 1]},
        {"amounts": [-1, 2]},
        {"deltas": [0, -1]},
        {"amounts": [1.0, 2]},
        {"amounts": [2**80, 2]},
        {"amounts": None},
    ],
)
def test_a_charge_to_classes_that_nobody_writes_is_none(change):
    assert decode_charge(CLASSES.content).digest == CLASSES.digest
    with pytest.raises(ValueError, match=r".+"):
        decode_charge(canonical_json(json.loads(CLASSES.content) | change).encode())


def test_a_charge_to_people_that_nobody_writes_is_none():
    head, _, rest = PEOPLE.content.partition(b"\n")
    assert decode_charge(PEOPLE.content).digest == PEOPLE.digest
    swapped = rest[16:32] + rest[:16] + rest[32:]
    negative = rest[:32] + row(-1) + rest[40:]
    unknown = rest[:-4] + b"\x02\0\0\0"
    for wrong in (rest[:-1], rest + b"\0", swapped, rest[:16] + rest[:16] + rest[32:], negative, unknown):
        with pytest.raises(ValueError, match=r".+"):
            decode_charge(head + b"\n" + wrong)
    for old, new in ((b'"id"', b"7"), (b'["a","b"]', b'["b","a"]'), (b'"accounts":2', b'"accounts":1')):
        with pytest.raises(ValueError, match=r".+"):
            decode_charge(head.replace(old, new) + b"\n" + rest)


# Units and relations --------------------------------------------------------------------------------------------------


@for_each("document", [{}, [], "person", {"unit": 1}, {"unit": None}, {"more": "x"}, {"unit": "a person"}])
def test_a_unit_and_relation_that_nobody_writes_are_none(document):
    assert read_neighbours(None) == Neighbours()
    assert read_neighbours({"unit": "person"}) == Neighbours("person")
    with pytest.raises(ValueError, match="no unit and relation"):
        read_neighbours(document)


def test_the_words_for_an_unstated_relation_are_read_as_unstated():
    assert parse_neighbours(*neighbours.UNSTATED) == parse_neighbours("  ", "") == Neighbours()
    for wrong in (7, b"person"):
        with pytest.raises(UsageError, match="text on one line"):
            parse_neighbours(None, wrong)


@pytest.mark.parametrize(
    ("known", "given", "hint"),
    [
        (Neighbours("person"), Neighbours("household"), "another source, with its own cap"),
        (Neighbours("person", "add-remove"), Neighbours("person"), "if it is the same, say so"),
        (
            Neighbours(),
            Neighbours("pupil", "a b"),
            "state it once: hetdp.Ledger.declare with unit='pupil' relation='a b'",
        ),
        (Neighbours("pupil"), Neighbours("pupil", "a b"), "state it once: hetdp.Ledger.declare with relation='a b'"),
    ],
)
def test_a_charge_about_something_else_is_refused_with_what_to_do(known, given, hint):
    with pytest.raises(UsageError) as refusal:
        combine_neighbours(known, given, True, "survey")
    assert refusal.value.hint.endswith(hint) or refusal.value.hint.startswith(hint)


def test_before_the_first_charge_what_is_unstated_is_completed():
    assert combine_neighbours(Neighbours("Pupil"), Neighbours("pupil ", "x"), False, "survey") == Neighbours(
        "Pupil", "x"
    )
    with pytest.raises(UsageError):
        combine_neighbours(Neighbours("pupil"), Neighbours(None, "x"), False, "survey")


# The chain, entry by entry --------------------------------------------------------------------------------------------

CREATED, DECLARED = Entry("l", 1, "", "", "create"), declaration()
PAID = Entry("l", 3, "", "", "spend", "survey", charge="c", accounts=2)


def replay(*entries: Entry) -> verification.Replay:
    database: Any = SimpleNamespace(ledger_error=lambda what: LedgerError("here", what, ""))
    found = verification.Replay(database)
    for entry in entries:
        found.take(entry)
    return found


def about(**neighbours: Any) -> dict[str, Any]:
    return {"neighbours": neighbours}


def test_a_replay_counts_charges_and_follows_units():
    free = replace(PAID, number=5, charge="d", accounts=0, facts=about(unit="person"))
    stated = replace(PAID, number=6, kind="state", charge="", accounts=0, facts=about(unit="person", relation="x"))
    found = replay(CREATED, DECLARED, replace(PAID, facts={}), replace(PAID, number=4))
    assert found.times == {(2, "c"): 2}
    assert (found.charged, found.stated) == ({"survey"}, {})
    found = replay(CREATED, DECLARED, free, stated)
    assert (found.charged, found.stated) == (set(), {2: 6})
    assert found.neighbours == {"survey": Neighbours("person", "x")}


@for_each(
    "entries",
    [
        (replace(DECLARED, number=1),),
        (CREATED, replace(CREATED, number=2)),
        (CREATED, replace(DECLARED, number=1)),
        (CREATED, PAID),
        (CREATED, DECLARED, PAID, replace(PAID, number=4, accounts=3)),
        (CREATED, DECLARED, replace(PAID, kind="state", facts={})),
        (CREATED, replace(PAID, kind="state", facts=about(unit="person"))),
        (CREATED, DECLARED, replace(PAID, facts=about(unit=7))),
        (CREATED, DECLARED, PAID, replace(PAID, number=4, facts=about(unit="person"))),
        (CREATED, declaration(**about(unit="person")), PAID),
        (CREATED, declaration(**about(unit="person")), replace(PAID, facts=about(unit="household"))),
        (CREATED, declaration(**about(unit="person")), replace(PAID, kind="state", facts=about(unit="person"))),
        (CREATED, declaration(**about(unit="person")), replace(PAID, kind="state", facts=about(relation="x"))),
        (CREATED, declaration(cap=[-1, 0]), PAID),
    ],
)
def test_entries_that_do_not_follow_from_each_other_are_found(entries):
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        replay(*entries)


# Stored balances ------------------------------------------------------------------------------------------------------


def rewrite(path: Path, command: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(command, values).fetchall()


def test_a_negative_balance_grants_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", source="survey", cap=1)
    ledger.spend("survey", Charge.to_classes("epsilon", {"pupils": 1}), "q", "1", lambda: [True])
    rewrite(tmp_path / "a.ledger", "UPDATE hetdp_classes SET spent = -1000000000")
    for names in (["pupils"], ["pupils", "b", "c", "d", "e"]):  # one by one, and all at once
        charge = Charge.to_classes("epsilon", dict.fromkeys(names, 1))
        with pytest.raises(LedgerError, match="it was changed, or is damaged"):
            ledger.spend("survey", charge, "other", "1", lambda: [True])
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.status()


def test_rows_of_people_stay_small_and_people_in_another_row_grant_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(accounts, "MOST", 4)
    path = tmp_path / "a.ledger"
    ledger = Ledger.create(path, source="survey", cap=1)
    for request, count in (("a", 4), ("b", 20)):
        ledger.spend("survey", Charge.to_people("epsilon", range(count), 0.5), request, "1", lambda: [True])
    sizes = [len(keys) // 16 for (keys,) in rewrite(path, "SELECT pseudonyms FROM hetdp_people ORDER BY first")]
    assert (sum(sizes), max(sizes) <= 4, len(sizes) <= 10) == (20, True, True)
    assert (ledger.status()[0].people, ledger.status()[0].exhausted) == (20, 4)
    (one, keys), (other, _) = rewrite(path, "SELECT first, pseudonyms FROM hetdp_people ORDER BY first LIMIT 2")
    (balances,) = rewrite(path, "SELECT balances FROM hetdp_people WHERE first = ?", one)
    change = "UPDATE hetdp_people SET pseudonyms = ?, balances = ? WHERE first = ?"
    rewrite(path, change, keys, balances[0], other)
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.spend("survey", Charge.to_people("epsilon", range(20), 0.1), "c", "1", lambda: [True])
    with pytest.raises(LedgerError, match="it was changed, or is damaged"):
        ledger.status()


def test_names_are_checked_before_anything_is_written(tmp_path):
    path = tmp_path / "a.ledger"
    unnamed: list[dict[str, Any]] = [{"cap": 1}, {"caps": {"a": 1}}, {"unit": "person"}, {"relation": "add-remove"}]
    misnamed: list[dict[str, Any]] = [{"source": "a ", "cap": 1}, {"source": 7, "cap": 1}]
    for wrong in (*unnamed, *misnamed, {"source": "a", "cap": "x"}, {"source": "a"}):
        with pytest.raises(UsageError):
            Ledger.create(path, **wrong)
    assert not path.exists()
    ledger, charge = Ledger.create(path, source="survey", cap=1), Charge.to_classes("epsilon", {"a": "0.1"})
    calls: list[Any] = [
        lambda: ledger.record("survey", charge, 7),
        lambda: ledger.record(" survey", charge, "n"),
        lambda: ledger.declare("more ", cap=1),
        lambda: ledger.spend("survey", charge, "q", "1 ", lambda: [True]),
        lambda: ledger.spend("survey", charge, 7, "1", lambda: [True]),
        lambda: ledger.spend("survey", charge, "q", "1", lambda: [True], {"a": object()}),
        lambda: ledger._core.quote("survey", " 1", [(charge, "q")], Neighbours()),
        lambda: ledger._core.quote("survey ", "1", [(charge, "q")], Neighbours()),
        lambda: ledger._core.find_source(7),
    ]
    for call in calls:
        with pytest.raises(UsageError):
            call()
    assert len(ledger.history()) == 2


# Which ledger ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, 11])
def test_ten_sources_are_named_where_one_has_to_be_chosen(count):
    known = KnownSources(declared=[TERMS._replace(source=f"s{at}") for at in range(count)])
    with pytest.raises(UsageError) as refusal:
        known.only()
    assert refusal.value.rule.endswith("'s9'" if count == 10 else "'s9', …")
    assert KnownSources(declared=[TERMS]).only() is TERMS
