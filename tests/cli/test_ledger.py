"""`hetdp ledger`: every action, as text and as JSON, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hetdp.cli import (
    ledger as ledger_verb,
)
from hetdp.cli import (
    ledger_reports,
)
from hetdp.cli.ledger import ACTIONS
from hetdp.errors import UsageError
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.status import Balance, Group, Status


@pytest.fixture
def ledger(hetdp):
    assert (
        hetdp("ledger", "init", "school.ledger", "--source", "survey", "--cap", "1", "--class-cap", "pupils=0.6").code
        == 0
    )
    return Ledger("school.ledger")


def test_a_ledger_is_created_and_shows_its_status(hetdp, ledger):
    ledger.spend("survey", Charge.to_classes("epsilon", {"staff": "0.25"}), "q", "1", lambda: [True])
    ledger.declare("people", cap="1")
    ledger.spend("people", Charge.to_people("epsilon", ["Ann", "Bob"], ["1", "0.5"]), "r", "1", lambda: [True])
    assert hetdp("ledger", "status", "school.ledger").out.splitlines() == [
        f"ledger {ledger.id}",
        "'survey': epsilon, every account may spend ε 1; unit and relation not stated",
        "  'pupils': spent ε 0 of 0.6; 0.6 left",
        "  'staff': spent ε 0.25 of 1; 0.75 left",
        "'people': epsilon, every account may spend ε 1; unit and relation not stated",
        "  2 people: spent at most ε 1 each, at least 0 left; 1 have nothing left",
    ]
    found = hetdp("ledger", "status", "school.ledger", "--source", "people", "--json").document
    assert (found["action"], found["ledger"], found["sources"][0]["people"]) == ("status", ledger.id, 2)


def test_a_name_forced_into_a_ledger_is_escaped_on_the_terminal(hetdp, ledger, monkeypatch):
    monkeypatch.setattr("hetdp.releases.ledger.chain.is_name", lambda _: True)
    ledger.declare("a\x1b[2Jb", cap=1)
    for action in ("status", "history"):
        found = hetdp("ledger", action, "school.ledger").out
        assert r"a\x1b[2Jb" in found
        assert "\x1b" not in found


def test_a_ledger_may_have_sources_with_different_currencies(hetdp, ledger):
    declared = ("ledger", "declare", "school.ledger", "--source", "both", "--currency", "epsilon-delta")
    assert hetdp(*declared, "--cap", "1:1e-6", "--class-cap", "pupils=0.5:1e-7").code == 0
    assert (
        hetdp("ledger", "record", "school.ledger", "--source", "both", "--charge", "a=0.1:2e-7", "--note", "n").code
        == 0
    )
    assert hetdp("ledger", "status", "school.ledger", "--source", "both").out.splitlines()[1:] == [
        "'both': epsilon-delta, every account may spend ε 1, δ 0.000001; unit and relation not stated",
        "  'a': spent ε 0.1 of 1, δ 0.0000002 of 0.000001; 0.9, δ 0.0000008 left",
        "  'pupils': spent ε 0 of 0.5, δ 0 of 0.0000001; 0.5, δ 0.0000001 left",
    ]
    lacking = hetdp("ledger", "record", "school.ledger", "--source", "both", "--charge", "a=0.1", "--note", "n")
    assert (lacking.code, lacking.err) == (
        2,
        "hetdp: --charge without δ: '0.1'; in epsilon-delta, an amount is ε:δ. Hint: --charge a=0.1:1e-7\n",
    )
    lacking = hetdp(*declared[:4], "third", *declared[5:], "--cap", "1")
    assert (lacking.code, lacking.err) == (
        2,
        "hetdp: --cap without δ: '1'; in epsilon-delta, an amount is ε:δ. Hint: --cap 1:1e-6\n",
    )
    for options, what in (
        (("--cap", "much:1e-6"), "--cap much:1e-6"),
        (("--cap", "1:little"), "--cap 1:little"),
        (("--cap", "1:1e-6", "--class-cap", "pupils=0.5:-1"), "--class-cap pupils=0.5:-1"),
    ):
        refused = hetdp(*declared[:4], "third", *declared[5:], *options)
        assert refused.code == 2
        assert refused.err.startswith(f"hetdp: {what}; ")
    assert hetdp(*declared[:4], "third", *declared[5:], "--cap", "inf").code == 0
    assert (ledger.status("third")[0].cap, ledger.status("third")[0].cap_delta) == ("inf", "inf")


RECORD_COMMAND = ("ledger", "record", "school.ledger", "--source", "survey", "--note", "n")


def test_the_first_record_says_that_it_fixes_who_pays(hetdp, ledger):
    Path("survey.csv").write_text(SURVEY)
    charge, people = ("--charge", "pupils=0.1"), ("--people", "survey.csv", "--person", "id", "--epsilon", "eps")
    unstated, stated = "unit and relation not stated", "unit 'person', relation 'replace-one'"
    for source, words, about, result in (
        ("survey", charge, unstated, "its classes pay, and people cannot be charged one by one"),
        ("people", people, stated, "its people pay one by one, identified by 'id', and classes cannot be charged"),
    ):
        if source == "people":
            ledger.declare(source, cap=1)
        record = ("ledger", "record", "school.ledger", "--source", source, "--note", "n", *words)
        record += ("--unit", "one person", "--relation", "bounded") if about == stated else ()
        first, second = hetdp(*record).out.splitlines(), hetdp(*record).out.splitlines()
        fixed = f"this was the first charge of {source!r}: from now on {result}; its losses are about {about}"
        assert first[1:] == [fixed]
        assert len(second) == 1
    refused = hetdp(*record[:-1], "add-remove")
    assert refused.code == 2
    assert "a charge about unit 'person', relation 'add-remove'; the source 'people' has" in refused.err
    assert "unit 'person', relation 'replace-one'" in hetdp("ledger", "status", "school.ledger").out
    refused = hetdp(*RECORD_COMMAND, *people)
    assert refused.code == 2
    assert refused.err.endswith("Hint: charge its classes, as before: leave people's ids out\n")


PERSON = ("ledger", "person", "school.ledger", "--source", "people")


@pytest.fixture
def people(ledger):
    ledger.declare("people", cap=1, unit="person", relation="replace-one")
    paid = Charge.to_people("epsilon", ["Ann", "Bob"], ["0.25", "0.5"], named="id")
    facts = {"words": ["aye", "nay"], "question": "Shall we\x1b[2J move?"}
    about = {"unit": "person", "relation": "replace-one"}
    ledger.spend("people", paid, "sha256:0123456789abcdef", "May", lambda: [True, False], facts, **about)
    ledger.record("people", Charge.to_people("epsilon", ["Bob"], "0.125", named="id"), "the press")
    return ledger


def test_a_person_is_told_what_was_spent_and_nobody_is_named(hetdp, people):
    day = people.history()[-1].time[:10]
    found = hetdp(*PERSON, "--id", "Bob")
    assert found.out.splitlines() == [
        "'people', identified by 'id': ε 0.625 of ε 1 spent, ε 0.375 left",
        "  Somebody who knows everybody else's answer and was 50% sure of yours can become at most 66% sure of it from"
        " all of this together.",
        f"  entry 4, {day}: ε 0.5 for 'Shall we\\x1b[2J move?', version 'May'",
        "    published about everybody, one answer for each area: aye, nay",
        f"  entry 5, {day}: ε 0.125, spent elsewhere: 'the press'",
        "A ledger holds nobody's own answer, only what was published and what each account paid.",
    ]
    assert found.err == ""
    document = hetdp(*PERSON, "--id", "Bob", "--json").document
    assert (document["action"], document["person"]["left"]) == ("person", "0.375")
    assert [one["entry"] for one in document["person"]["charges"]] == [4, 5]
    assert "Bob" not in json.dumps(document)
    Path("id.txt").write_text("Bob\r\n")
    assert hetdp(*PERSON, "--id-from", "id.txt").out == found.out
    assert hetdp(*PERSON, "--id-from", "-", stdin="Bob\n").out == found.out


def test_a_person_needs_one_id_that_was_charged(hetdp, people):
    Path("id.txt").write_bytes(b"\xff")
    unknown = (
        "the source 'people': nobody with this id was charged; ids are compared exactly, as in the column 'id'; a"
        " person who was never charged has no account. Hint: 7 and 07 are different ids, and so are Ann and ann"
    )
    for given, code, message in (
        ((), 2, "no id; --id or --id-from names the person who asks."),
        (("--id", "a", "--id-from", "id.txt"), 2, "two ids; --id or --id-from names the person who asks."),
        (("--id-from", "id.txt"), 2, "no id can be read there; --id-from names a file with one id, in UTF-8."),
        (
            ("--id-from", "none"),
            2,
            "'none' cannot be read: there is no such file; --id-from names a file that holds an id.",
        ),
        (
            ("--id", "bob"),
            3,
            unknown,
        ),
    ):
        found = hetdp(*PERSON, *given)
        assert (found.code, found.out, found.err) == (code, "", f"hetdp: {message}\n")
    people.spend("survey", Charge.to_classes("epsilon", {"staff": 1}), "what?", "1", lambda: [False])
    found = hetdp(*PERSON[:3], "--source", "survey", "--id", "Bob")
    assert (found.code, found.err.startswith("hetdp: an account of one person; the accounts of")) == (2, True)


def test_history_names_a_question_by_its_words(hetdp, people):
    line = hetdp("ledger", "history", "school.ledger").out.splitlines()[3]
    assert (
        "  question 'Shall we\\x1b[2J move?' (0123456789ab)  2 accounts, at most ε 0.5 each  answers aye, nay" in line
    )
    people.spend(
        "people",
        Charge.to_people("epsilon", ["Ann"], "0.1", named="id"),
        "sha256:1",
        "1",
        lambda: [True],
        {"question": "x" * 500},
        unit="person",
        relation="replace-one",
    )
    line = hetdp("ledger", "history", "school.ledger").out.splitlines()[5]
    assert f"question '{'x' * 99}…' (1)" in line


def test_history_lists_every_entry(hetdp, ledger):
    hetdp("ledger", "record", "school.ledger", "--source", "survey", "--charge", "pupils=0.1", "--note", "the press")
    ledger.declare("both", cap=("1", "1e-6"), currency="epsilon-delta")
    charge = Charge.to_people("epsilon-delta", ["Ann", "Bob"], ["0.25", "0.5"], "1e-7")
    ledger.spend("both", charge, "sha256:0123456789abcdef", "May", lambda: [True, False], {"words": ["aye", "no"]})
    ledger.spend("survey", Charge.to_classes("epsilon", {"staff": 1}), "what?", "1", lambda: [False])
    report = [line.split("  ")[2:] for line in hetdp("ledger", "history", "school.ledger").out.splitlines()]
    assert report == [
        ["create"],
        ["declare", "'survey'"],
        ["record", "'survey'", "1 account, at most ε 0.1 each", "'the press'"],
        ["declare", "'both'"],
        [
            "spend",
            "'both'",
            "version 'May'",
            "question 0123456789ab",
            "2 accounts, at most ε 0.5, δ 0.0000001 each",
            "answers aye, no",
        ],
        ["spend", "'survey'", "version '1'", "question what?", "1 account, at most ε 1 each", "answer 2"],
    ]
    last = hetdp("ledger", "history", "school.ledger", "--json").document["entries"][2]
    assert (last["number"], last["facts"]) == (3, {"note": "the press"})


def test_verify_recomputes_everything_and_compares_records(hetdp, ledger):
    entry = ledger.spend("survey", Charge.to_classes("epsilon", {"staff": "0.25"}), "q", "1", lambda: [True])
    Path("record.json").write_text(json.dumps({"kind": "release", "ledger": entry.receipt()}))
    Path("receipt.json").write_text(json.dumps(entry.receipt()))
    done = hetdp("ledger", "verify", "school.ledger", "record.json", "receipt.json")
    assert done.out.splitlines() == [
        "entries 1 … 3 are chained and add up to the balances of 1 class account and 0 of people",
        f"entry 3, {entry.hash}",
        "2 records looked up; every entry that they name was found",
        "not checked: the rest of the records; `hetdp record verify RECORD --ledger LEDGER` compares it",
    ]
    Path("record.json").write_text(json.dumps({"ledger": entry.receipt() | {"entry": 7}}))
    older = hetdp("ledger", "verify", "school.ledger", "record.json")
    assert (older.code, older.out) == (7, "")
    assert "it is older than its records" in older.err
    for text in ("{", "[]", "{}"):
        Path("record.json").write_text(text)
        assert hetdp("ledger", "verify", "school.ledger", "record.json").code in (2, 3)
    assert hetdp("ledger", "verify", "school.ledger", "nowhere.json").code == 2


def test_verify_says_which_file_is_not_a_record_of_this_ledger_and_what_it_is(hetdp, ledger):
    other = {"ledger": {"ledger": "0" * 32, "entry": 1, "hash": "x"}, "kind": "release"}
    rule = "with a ledger, the entries of its records are looked up"
    for document, words in (
        (
            {"kind": "plan", "question": {}},
            f"'a.json' is not a record: it is a plan; {rule}. Hint: hetdp record verify",
        ),
        ({"entry": "1"}, f"'a.json' is not a record: it is something else; {rule}."),
        ([], f"'a.json' is not a record: it holds no JSON object; {rule}."),
        (other, f"'a.json' is a record of another ledger; {rule}; this is {ledger.id}, that '{'0' * 32}'."),
    ):
        Path("a.json").write_text(json.dumps(document))
        result = hetdp("ledger", "verify", "school.ledger", "a.json")
        assert (result.code, result.out) == (2, "")
        assert words in result.err


def test_an_export_can_be_checked_with_a_hash_function_alone(hetdp, ledger):
    hetdp("ledger", "record", "school.ledger", "--source", "survey", "--charge", "pupils=0.1", "--note", "the press")
    done = hetdp("ledger", "export", "school.ledger", "-o", "ledger.jsonl")
    assert done.out == "wrote ledger.jsonl: 4 lines\n"
    lines = Path("ledger.jsonl").read_text().splitlines()
    assert hetdp("ledger", "export", "school.ledger").out.splitlines() == lines
    previous = ""
    for line in lines[:3]:
        assert json.loads(line)["previous"] == previous
        previous = hashlib.sha256(line.encode()).hexdigest()
    assert hetdp("ledger", "verify", "school.ledger").out.split()[-1] == previous
    charge = json.loads(lines[3])
    assert hashlib.sha256(charge["text"].encode()).hexdigest() == charge["charge"] == json.loads(lines[2])["charge"]


@pytest.mark.parametrize("action", ACTIONS)
def test_the_help_of_an_action_shows_only_its_own_options(hetdp, action):
    result = hetdp("ledger", action, "--help").out
    assert result.startswith(f"Usage: hetdp ledger {action} [OPTIONS] LEDGER{' [RECORD]...' * (action == 'verify')}\n")
    assert f"hetdp ledger {action} " in result.partition("A ledger is")[0].partition("\n")[2]
    assert set(re.findall(r"^  (?:-., )?--([a-z-]+) ", result, re.MULTILINE)) == {
        *(name.replace("_", "-") for name in ACTIONS[action] if name != "records"),
        *("quiet", "json", "help"),
    }


def test_the_help_of_the_verb_shows_all_actions(hetdp):
    result = hetdp("ledger", "--help").out
    assert all(f"hetdp ledger {action} " in result for action in ACTIONS)
    assert "ACTION LEDGER [RECORD]..." in result
    assert hetdp("ledger", "nothing", "--help").out == result


REFUSED = {
    ("status", "school.ledger", "--cap", "3"): (
        2,
        "--cap is not for hetdp ledger status; it takes --source and nothing else.",
    ),
    ("verify", "school.ledger", "--cap", "3"): (
        2,
        "--cap is not for hetdp ledger verify; it takes RECORDs and nothing else.",
    ),
    ("history", "school.ledger", "record.json"): (
        2,
        "RECORD is not for hetdp ledger history; it takes nothing but the ledger.",
    ),
    ("init", "new.ledger", "--source", "s"): (
        2,
        "no cap is given; a source is declared with what each account may spend. Hint: such as --cap 1",
    ),
    ("init", "new.ledger"): (2, "--source is missing; it names the data that will be asked about."),
    ("init", "school.ledger", "--source", "s", "--cap", "1"): (
        2,
        "school.ledger: something already exists there; a ledger is made once and never replaced.",
    ),
    ("record", "school.ledger", "--note", "n"): (
        2,
        "the options do not describe one spend; record takes --source, --note, and who paid: --charge, or --people with"
        " --person and --epsilon.",
    ),
    ("status", "nowhere"): (
        7,
        "nowhere: there is no ledger here; hetdp ledger init makes one.",
    ),
    ("export", "school.ledger", "-o", "school.ledger"): (2, None),
    ("init", "new.ledger", "--source", "s", "--cap", "much"): (2, None),
    ("status", "school.ledger", "--source", "x"): (
        2,
        "the ledger has no source 'x'; data is declared before it is asked about.",
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_impossible_actions_are_reported_in_one_line(hetdp, ledger, words):
    result = hetdp("ledger", *words)
    code, message = REFUSED[words]
    assert (result.code, result.out) == (code, "")
    assert result.err.count("\n") == 1
    assert message is None or result.err == f"hetdp: {message}\n"
    assert not Path("new.ledger").exists()
    ledger.verify()


SURVEY = "id,eps,role,vote\n1,0.5,staff,yes\n2,0.25,pupil,no\n"


def test_external_spends_of_people_are_recorded_from_a_table(hetdp):
    Path("survey.csv").write_text(SURVEY)
    assert hetdp("ledger", "init", "people.ledger", "--source", "s", "--cap", "1", "--class-cap", "staff=0.6").code == 0
    words = ["people.ledger", "--source", "s", "--people", "survey.csv", "--person", "id", "--note", "told the press"]
    for more in (["--epsilon", "eps", "--group", "role"], ["--epsilon", "0.25"]):
        result = hetdp("ledger", "record", *words, *more)
        assert (result.code, result.err) == (0, "")
    (found,) = hetdp("ledger", "status", "people.ledger", "--json").document["sources"]
    assert (found["people"], found["most_spent"], found["exhausted"]) == (2, "0.75", 1)  # a fact may exceed a cap
    assert hetdp("ledger", "verify", "people.ledger").code == 0


def test_people_are_shown_by_what_they_may_spend(hetdp):
    caps = {"worker": "0.2", "guest": "0.2", "boss": "3"}
    made = Ledger.create("people.ledger", source="hh", cap="1", caps=caps)
    classes = ["worker"] * 4 + ["clerk"] * 2
    made.spend(
        "hh", Charge.to_people("epsilon", range(6), "0.2", classes=classes, named="pid"), "q", "1", lambda: [True]
    )
    made.record("hh", Charge.to_people("epsilon", [5], "0.1", named="pid"), "elsewhere")
    assert hetdp("ledger", "status", "people.ledger").out.splitlines()[1:] == [
        "'hh': epsilon, every account may spend ε 1; unit and relation not stated",
        "  6 people, identified by 'pid': spent at most ε 0.3 each, at least 0 left; 4 have nothing left",
        "    4 of them may spend ε 0.2, as in 'guest', 'worker': spent at most ε 0.2 each, at least 0 left;"
        " 4 have nothing left",
        "    2 of them may spend ε 1: spent at most ε 0.3 each, at least 0.7 left; 0 have nothing left",
        "    0 of them may spend ε 3, as in 'boss': spent at most ε 0 each, at least 3 left; 0 have nothing left",
    ]
    (found,) = hetdp("ledger", "status", "people.ledger", "--json").document["sources"]
    assert found["classes"] == []
    assert found["by_cap"][0] | {"classes": None} == {
        "cap": "0.2",
        "cap_delta": None,
        "classes": None,
        "people": 4,
        "most_spent": "0.2",
        "least_left": "0",
        "exhausted": 4,
    }


def test_people_with_two_caps_and_delta_are_shown_with_both(ledger):
    ledger.declare("both", cap=("1", "1e-6"), caps={"shy": ("1", "1e-7")}, currency="epsilon-delta")
    charge = Charge.to_people("epsilon-delta", ["a", "b", "c"], "0.5", "1e-7", classes=["shy", "x", "shy"])
    ledger.record("both", charge, "elsewhere")
    found = ledger.status("both")[0].by_cap
    assert [(one.cap, one.cap_delta, one.classes, one.people, one.exhausted) for one in found] == [
        ("1", "0.0000001", ("shy",), 2, 2),
        ("1", "0.000001", (), 1, 0),
    ]


def test_nobody_has_a_second_budget_under_another_column(hetdp):
    rows = [f"{at},p{at}@example.org,{'yes' if at < 20 else 'no'}\n" for at in range(30)]
    Path("people.csv").write_text("".join(["id,email,vote\n", *rows]))
    hetdp("ledger", "init", "people.ledger", "--source", "s", "--cap", "1")
    arguments = ("ask", "people.csv", "--count", "vote = 'yes'", "--at-least", "50%", "--epsilon", "1")
    assert hetdp(*arguments, "--person", "id", "--ledger", "people.ledger", "-o", "record.json").code == 0
    again = hetdp(*arguments, "--person", "email", "--ledger", "people.ledger", "-o", "another.json")
    report = ("record", "people.ledger", "--source", "s", "--note", "n", "--people", "people.csv", "--epsilon", "1")
    for result in (again, hetdp("ledger", *report, "--person", "email")):
        assert (result.code, result.out) == (2, "")
        assert "a charge to people by 'email'; the people of the source 's' are named by 'id'; the same" in result.err
    assert hetdp("ledger", "status", "people.ledger").out.splitlines()[2:] == [
        "  30 people, identified by 'id': spent at most ε 1 each, at least 0 left; 30 have nothing left"
    ]
    assert hetdp("ledger", "verify", "people.ledger").code == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--people", "survey.csv", "--epsilon", "1"], 2, "no column identifies people"),
        (["--people", "survey.csv", "--person", "id"], 2, "ε"),
        (["--people", "survey.csv", "--person", "nobody", "--epsilon", "1"], 2, "nobody"),
        (["--people", "twice.csv", "--person", "id", "--epsilon", "1"], 3, "twice"),
        (["--people", "nowhere.csv", "--person", "id", "--epsilon", "1"], 3, "nowhere.csv"),
        (["--charge", "a=1", "--people", "survey.csv"], 2, "the options do not describe one spend"),
        (["--charge", "a=1", "--person", "id"], 2, "--person together with --charge; it belongs to --people"),
        (["--person", "id", "--epsilon", "1"], 2, "the options do not describe one spend"),
    ],
)
def test_people_who_cannot_be_charged_are_refused_with_a_message(hetdp, ledger, words, code, message):
    Path("survey.csv").write_text(SURVEY)
    Path("twice.csv").write_text(SURVEY + "2,0.25,pupil,no\n")
    before = len(ledger.history())
    result = hetdp("ledger", "record", "school.ledger", "--source", "survey", "--note", "n", *words)
    assert result.code == code, result.err
    assert message in result.err
    assert len(ledger.history()) == before


def test_an_interrupt_after_a_charge_was_recorded_says_so(hetdp, monkeypatch):
    hetdp("ledger", "init", "school.ledger", "--source", "survey", "--cap", "1")
    status, asked = Ledger.status, []

    def interrupt_second_call(self, source=None):
        asked.append(source)
        if len(asked) == 2:  # it is recorded by then
            raise KeyboardInterrupt
        return status(self, source)

    monkeypatch.setattr(Ledger, "status", interrupt_second_call)
    found = hetdp(*RECORD_COMMAND, "--charge", "all=0.1")
    assert found.code == 130
    assert (
        "interrupted; this was recorded. Hint: look at hetdp ledger history, and do not record it again." in found.err
    )


def status_of(**more: Any) -> Status:
    given: dict[str, Any] = {"source": "s", "currency": "epsilon", "unit": "ε", "cap": "1", "cap_delta": None}
    given |= {"classes": (), "people": 0, "named": None, "most_spent": "0", "least_left": "1"}
    given |= {"exhausted": 0, "by_cap": ()}
    return Status(**(given | more))


def test_balances_are_listed_by_class_or_by_cap():
    one = Balance("a", "1", "0.5", "0.5", "0.1", "0.01", "0.09")
    lines = list(ledger_reports.status_lines(status_of(classes=(one,), cap_delta="0.1", privacy_unit="person")))
    assert lines == [
        "'s': epsilon, every account may spend ε 1, δ 0.1; unit 'person', relation not stated",
        "  'a': spent ε 0.5 of 1, δ 0.01 of 0.1; 0.5, δ 0.09 left",
    ]
    low, high = Group("0.5", None, ("x", "y"), 2, "0.5", "0", 1), Group("1", None, (), 3, "0.2", "0.8", 0)
    people = status_of(people=5, named="id", most_spent="0.5", least_left="0", exhausted=1, by_cap=(low, high))
    assert list(ledger_reports.status_lines(people))[1:] == [
        "  5 people, identified by 'id': spent at most ε 0.5 each, at least 0 left; 1 have nothing left",
        "    2 of them may spend ε 0.5, as in 'x', 'y': spent at most ε 0.5 each, at least 0 left; 1 have nothing left",
        "    3 of them may spend ε 1: spent at most ε 0.2 each, at least 0.8 left; 0 have nothing left",
    ]
    assert len(list(ledger_reports.status_lines(status_of(people=5, by_cap=(low,))))) == 2
    assert ledger_reports.about(status_of()) == "unit and relation not stated"


def test_the_first_charge_says_what_it_fixes():
    nobody, unpaid = status_of(), status_of(classes=(Balance("a", "1", "0", "1"),))
    paid, by_delta = (
        status_of(classes=(Balance("a", "1", *spent),)) for spent in (("0.5", "0.5"), ("0", "1", "1", "0.1", "0.9"))
    )
    people = status_of(people=2, named="id")
    for before in (nobody, unpaid):
        assert ledger_reports._first_charge_lines(before, unpaid) == []
        for after, words in ((paid, "its classes pay"), (by_delta, "its classes pay"), (people, "its people pay")):
            assert words in ledger_reports._first_charge_lines(before, after)[0]
    assert ledger_reports._first_charge_lines(paid, paid) == ledger_reports._first_charge_lines(people, people) == []


def test_an_entry_is_one_line():
    spend = Entry(
        "l", 3, "h", "2026", "spend", "s", "sha256:0123456789abcdef", "1", "c", 2, (True, False), {"words": ["a", "b"]}
    )
    assert ledger_reports.entry_line(spend, {"c": "ε 1"}) == (
        "3  2026  spend  's'  version '1'  question 0123456789ab  2 accounts, at most ε 1 each  answers a, b"
    )
    many = Entry("l", 3, "h", "2026", "spend", answers=(True,) * 12)
    assert "…" in ledger_reports.entry_line(many, {})
    ten = ledger_reports.entry_line(Entry("l", 3, "h", "2026", "spend", answers=(True,) * 10), {})
    assert "…" not in ten
    stated = Entry("l", 2, "h", "2026", "state", "s", facts={"neighbours": {"unit": "a", "relation": "b"}})
    assert ledger_reports.entry_line(stated, {}).endswith("'s'  unit 'a'  relation 'b'")
    recorded = Entry("l", 2, "h", "2026", "record", "s", facts={"note": "x", "neighbours": {"unit": "a"}})
    assert ledger_reports.entry_line(recorded, {}).endswith("'s'  'x'")


def test_an_amount_of_epsilon_and_delta_is_a_pair():
    assert ledger_reports.parse_amount("--cap", "1:1e-6", "epsilon-delta") == ("1", "1e-6")
    for same in (None, "inf"):
        assert ledger_reports.parse_amount("--cap", same, "epsilon-delta") is same
    assert ledger_reports.parse_amount("--cap", "1", "epsilon") == "1"
    with pytest.raises(UsageError, match="--cap 1:1e-6; an amount of privacy is a number"):
        ledger_reports.parse_amount("--cap", "1:1e-6", "epsilon")
    for wrong in ("1", "1:2:3"):
        with pytest.raises(UsageError, match=r"--cap without δ: .*Hint: --cap 1:1e-6"):
            ledger_reports.parse_amount("--cap", wrong, "epsilon-delta")
    with pytest.raises(UsageError, match=r"Hint: --charge a=0.1:1e-7"):
        ledger_reports.parse_amount("--charge", "1", "epsilon-delta", "a")
    charge = ledger_reports._class_charge(("a=1:0.1", "b=inf"), "epsilon-delta")
    assert charge.names == ("a", "b")
    assert charge.amounts[0] == 10**9
    assert charge.deltas[0] == 10**17


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"source": "s", "note": "n"}, "the options do not describe one spend"),
        ({"source": "s", "charge": ("a=1",)}, "the options do not describe one spend"),
        ({"note": "n", "charge": ("a=1",)}, "the options do not describe one spend"),
        ({"source": "s", "note": "n", "charge": ("a=1",), "people": "t"}, "the options do not describe one spend"),
        ({"source": "s", "note": "n", "charge": ("a=1",), "person": "id"}, "--person together with --charge"),
    ],
)
def test_a_spend_made_elsewhere_needs_all_its_parts(given, words):
    with pytest.raises(UsageError, match=words):
        ledger_reports.record_external_spend(lambda: pytest.fail("it was opened"), None, **given)


def test_the_options_of_an_action_are_listed():
    assert ledger_verb._options_of("history") == "nothing but the ledger"
    assert ledger_verb._options_of("verify") == "RECORDs and nothing else"
    assert ledger_verb._options_of("status") == "--source and nothing else"
    with pytest.raises(UsageError, match="--source is missing; it names the data"):
        ledger_verb._terms()
