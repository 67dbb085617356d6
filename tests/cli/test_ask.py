"""`hetdp ask`: the policy first, then the promise, then the plan, and only then the answers."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hetdp as library
from hetdp.duck import hide_details
from tests.stress import long
from tests.tables.tables import PEOPLE, as_csv, as_parquet, as_sqlite
from tests.tables.test_loading import broken_parquet

VOTE = ("--count", "vote = 'yes'", "--at-least", "50%", "--person", "id")
ASK_OPTIONS = (*VOTE, "--epsilon", "eps")
DRY, SIMULATE = "--dry-run", "--simulate"


@pytest.fixture
def people(folder: Path) -> str:
    return as_csv(PEOPLE, folder).name


def test_a_dry_run_promises_and_reads_no_answers(hetdp, folder):
    result = hetdp("ask", as_parquet(PEOPLE, folder).name, *ASK_OPTIONS, DRY, "--group", "role")
    assert (result.code, result.err) == (0, "")
    for words in (
        "at least half of all people count as yes; exactly half is enough",
        "Whoever does not count as yes counts as no, or as blank if a missing value leaves it unknown.",
        "Text is compared without regard to case and surrounding spaces; a cell of spaces counts as missing.",
        "people: 7, identified by id.",
        "The promise compares tables that differ in one person's answer",
        "are public",
        "3 people of 'pupil': up to ε = 0.3 allowed, 0.3 charged",
        "where 1 person decides",
        "If you answer differently",
    ):
        assert words in result.out
    assert hetdp("ask", broken_parquet(folder).name, *ASK_OPTIONS, DRY, "--group", "role") == result
    failed = hetdp("ask", "people.parquet", *ASK_OPTIONS, SIMULATE, "-q")
    assert (failed.code, failed.out) == (3, "")
    assert failed.err.startswith("hetdp: people.parquet: cannot be read; ")


def test_every_output_of_a_simulation_says_that_it_is_one(hetdp, people):
    result = hetdp("ask", people, *ASK_OPTIONS, SIMULATE, "--seed", "4", "--by", "county")
    assert result.code == 0
    assert "Each person belongs to one area" in result.err
    lines = result.out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["SIMULATED answer in 'North'", "SIMULATED answer in 'South'"]
    assert all("seed 4; not a release" in line for line in lines)
    document = hetdp("ask", people, *ASK_OPTIONS, SIMULATE, "--seed", "4", "--by", "county", "--json").document
    assert document["released"] is False
    assert document["simulated"]["seed"] == 4
    assert [answer["answer"] in ("yes", "no") for answer in document["simulated"]["answers"]] == [True, True]
    assert "simulated" not in hetdp("ask", people, *ASK_OPTIONS, DRY, "--json").document


def test_a_simulation_repeats_itself_and_follows_the_answers(hetdp, folder, people):
    def answers(columns: dict[str, list[Any]]) -> list[str]:
        as_csv(columns, folder)
        runs = [
            hetdp("ask", people, *ASK_OPTIONS[:-1], "100", SIMULATE, "-q", "--seed", str(seed)).out for seed in range(3)
        ]
        return [run.split()[2] for run in runs]

    assert answers(PEOPLE) == answers(PEOPLE) == ["yes"] * 3
    assert answers(PEOPLE | {"vote": ["no"] * 7}) == ["no"] * 3


def test_nothing_is_released_without_a_ledger(hetdp, people):
    result = hetdp("ask", people, *ASK_OPTIONS, "--plan", "plan.json")
    assert (result.code, result.out) == (2, "")
    assert "an answer is released only if a ledger pays for it" in result.err
    assert not Path("plan.json").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*ASK_OPTIONS, DRY, SIMULATE), "--dry-run together with --simulate"),
        ((*ASK_OPTIONS, DRY, "--seed", "1"), "--seed without --simulate"),
        ((*ASK_OPTIONS, DRY, "--design", "fair", "--question", "q.txt"), "no format is known"),
        ((*ASK_OPTIONS, DRY, "--more-than", "3"), "two thresholds"),
        ((*VOTE, DRY), "no ε"),
        ((*ASK_OPTIONS, DRY, "--epsilon-by", "a=1", "--group", "role"), "ε twice"),
        ((*VOTE, DRY, "--epsilon-by", "a=1"), "no column of groups"),
        ((*VOTE, DRY, "--epsilon-by", "a", "--group", "role"), "GROUP=ε"),
        ((*VOTE, DRY, "--epsilon-by", "a=1,a=2", "--group", "role"), "twice"),
        ((*VOTE, DRY, "--epsilon-by", "a=-1", "--group", "role"), "--epsilon-by -1 for 'a'; ε is"),
        ((*VOTE, DRY, "--epsilon", "-1"), "--epsilon -1; ε is"),
        ((*VOTE, DRY, "--epsilon", "nan"), "--epsilon nan; ε is"),
        ((*VOTE, DRY, "--epsilon", "missing"), "no column 'missing'"),
        ((*VOTE, DRY, "--epsilon", "vote"), "the column 'vote' is counted and used as a public column"),
        ((*ASK_OPTIONS[2:], DRY), "--count is missing"),
        ((*ASK_OPTIONS[:4], DRY, "--epsilon", "1"), "--person names it"),
        (("--count", "vote = yes", *ASK_OPTIONS[2:], DRY), "expected a value ('text', a number, TRUE or FALSE)"),
        (
            ("--count", "vote = 'yes'", "--at-least", "120%", *ASK_OPTIONS[4:], DRY),
            "--at-least 120%; it must be a whole number of people, or a share from 0% to 100%",
        ),
        (
            ("--count", "vote = 'yes'", "--at-least", "1.5", *ASK_OPTIONS[4:], DRY),
            "--at-least 1.5; it must be a whole",
        ),
        (
            ("--count", "vote = 'yes'", "--at-least", "many", *ASK_OPTIONS[4:], DRY),
            "or a share from 0% to 100%, such as",
        ),
        (
            ("--count", "vote = 'yes'", "--at-least", "3", *ASK_OPTIONS[4:], DRY, "--of", "respondents"),
            "3 of respondents",
        ),
        ((*ASK_OPTIONS, DRY, "--plan", "plan.txt"), "--plan ends in .json"),
        ((*ASK_OPTIONS, DRY, "--plan", "-"), "saved in a file"),
        ((*ASK_OPTIONS, DRY, "--plan", "nowhere/plan.json"), "is not a folder"),
        ((*ASK_OPTIONS, DRY, "--table", "people"), "only Excel and SQLite files"),
    ],
)
def test_wrong_usage_is_refused(hetdp, people, options, words):
    result = hetdp("ask", people, *options)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--at-least", "3"), "at least 3 people count as yes"),
        (("--more-than", "3"), "at least 4 people count as yes"),
        (("--more-than", "1/3"), "more than 1/3 of all people count as yes; exactly 1/3 is not enough"),
        (("--at-least", "0.25"), "at least 25% of all people"),
        (("--at-least", "50%", "--of", "respondents"), "of all people who have an answer count as yes"),
    ],
)
def test_the_question_is_printed_with_its_tie_rule(hetdp, people, options, words):
    result = hetdp("ask", people, "--count", "vote = 'yes'", "--person", "id", "--epsilon", "0.5", *options, DRY)
    assert result.code == 0
    assert words in result.out


def test_epsilon_may_differ_by_group_and_for_the_deciding_step(hetdp, people):
    both = ("--group", "role", "--deciding-epsilon", "0.1", DRY)
    result = hetdp("ask", people, *VOTE, "--epsilon-by", "pupil=0.3,staff=1", "--epsilon-by", "guest=2", *both)
    assert result.code == 0
    assert "where the answer depends on one person, ε is at most 0.1 for everybody" in result.out
    assert result == hetdp("ask", people, *VOTE, "--epsilon-by", '{"pupil": 0.3, "staff": 1, "guest": "2"}', *both)
    assert "1 person of 'guest': up to ε = 2 allowed, " in result.out


def test_a_plan_is_carried_out_exactly_or_not_at_all(hetdp, folder, people):
    made = hetdp("ask", people, *ASK_OPTIONS, DRY, "--plan", "plan.json")
    before = Path("plan.json").read_bytes()
    digest = json.loads(before)["plan_sha256"]
    assert (made.code, made.err) == (0, f"wrote plan.json, sha256 {digest}\n")
    again = hetdp("ask", people, DRY, "--plan", "plan.json")
    assert (again.code, again.out, again.err) == (
        0,
        made.out,
        f"this is exactly the plan in plan.json, sha256 {digest}\n",
    )
    assert hetdp("ask", people, *ASK_OPTIONS, DRY, "--plan", "plan.json") == again
    assert hetdp("ask", people, SIMULATE, "--plan", "plan.json").code == 0
    other = hetdp("ask", people, *ASK_OPTIONS[:3], "60%", *ASK_OPTIONS[4:], SIMULATE, "--plan", "plan.json")
    assert (other.code, other.out) == (3, "")
    differs = 'plan.json, question: differs: approved "at least half of all people count as yes; '
    assert differs in other.err
    assert ', now "at least 60% of all people count as yes; ' in other.err
    as_csv(PEOPLE | {"vote": ["no"] * 7}, folder)  # answers are no part of a plan
    assert hetdp("ask", people, DRY, "--plan", "plan.json") == again
    as_csv({name: cells[::-1] for name, cells in PEOPLE.items()}, folder)  # nor is the order of the rows
    assert hetdp("ask", people, DRY, "--plan", "plan.json") == again
    as_csv(PEOPLE | {"eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 2.1]}, folder)
    refused = hetdp("ask", people, SIMULATE, "--plan", "plan.json")
    assert (refused.code, refused.out) == (3, "")
    assert "plan.json, policy_sha256" in refused.err
    assert Path("plan.json").read_bytes() == before


def test_with_a_ledger_a_mistyped_plan_does_not_count_as_approval(hetdp, folder, people):
    library.Ledger.create("a.ledger", source="survey", cap=3)
    assert hetdp("ask", people, *ASK_OPTIONS, DRY, "--plan", "plan.json", "-q").code == 0
    before = Path("a.ledger").read_bytes()
    for words in (ASK_OPTIONS, ()):
        refused = hetdp("ask", people, *words, "--ledger", "a.ledger", "--plan", "plam.json")
        assert (refused.code, refused.out) == (2, "")
        assert "there is no plan 'plam.json'; with a ledger, the plan must have been written" in refused.err
    with pytest.raises(library.UsageError, match="there is no plan"):
        library.ask(people, plan="plam.json", payment=library.Payment("a.ledger"))
    assert Path("a.ledger").read_bytes() == before
    assert not Path("plam.json").exists()
    result = hetdp("ask", people, "--plan", "plan.json", "--ledger", "a.ledger")
    assert (result.code, "this is exactly the plan in plan.json" in result.err) == (0, True)


def test_a_changed_plan_is_compared_with_the_approved_one_and_names_nobody(hetdp, folder, people):
    assert hetdp("ask", people, *ASK_OPTIONS, DRY, "--plan", "plan.json", "-q").code == 0
    as_csv(PEOPLE | {"id": [f"s3cret{at}" for at in range(7)], "vote": ["s3cret"] * 7}, folder)
    options = (*ASK_OPTIONS[:3], "60%", *ASK_OPTIONS[4:], "--design", "weighted-vote", "--deciding-epsilon", "0.1")
    refused = hetdp("ask", people, *options, DRY, "--plan", "plan.json")
    assert refused.code == 3
    for words in (
        'question: differs: approved "at least half of all people count as yes; ',
        'objective: differs: approved "balanced", now "weighted-vote"',
        "privacy.deciding_epsilon: differs: approved null, now ",
    ):
        assert words in refused.err
    assert "s3cret" not in refused.err
    refused = hetdp("ask", people, *ASK_OPTIONS, DRY, "--plan", "plan.json")
    assert (refused.code, "people_sha256: differs: the people are not the approved ones" in refused.err) == (3, True)
    assert "s3cret" not in refused.err


def test_a_missing_plan_is_distinguished_from_a_missing_question(hetdp, folder, people):
    refused = hetdp("ask", people, SIMULATE, "--plan", "plam.json")
    assert (refused.code, refused.out) == (2, "")
    assert "there is no plan 'plam.json'" in refused.err


def test_every_tampered_plan_is_refused(hetdp, people):
    assert hetdp("ask", people, *ASK_OPTIONS, "--group", "role", DRY, "--plan", "plan.json").code == 0
    plan = json.loads(Path("plan.json").read_text())
    assert plan["kind"] == "plan"
    changes: dict[str, Any] = {
        "schema_version": 3,
        "kind": "question",
        "software": "hetdp 9.9.9",
        "table": {"file": "other.csv", "table": None},
        "counted": "vote = 'no'",
        "exact_text": True,
        "question": plan["question"] | {"question": {"asks": "count", "value": "yes", "at_least": 1}},
        "privacy": plan["privacy"] | {"deciding_epsilon": "9"},
        "columns": plan["columns"] | {"group": "county"},
        "objective": "weighted-vote",
        "missing": "counts as yes",
        "unit": "household",
        "neighbours": "differ in nothing",
        "counts": plan["counts"] | {"people": 8},
        "areas": [],
        "policy_sha256": "0" * 64,
        "people_sha256": "0" * 64,
        "request_sha256": "0" * 64,
        "plan_sha256": "0" * 64,
    }
    assert changes.keys() == plan.keys()
    for key, value in changes.items():
        for tampered in (plan | {key: value}, {name: plan[name] for name in plan if name != key}):
            Path("tampered.json").write_text(json.dumps(tampered))
            result = hetdp("ask", people, SIMULATE, "--plan", "tampered.json")
            assert (result.code, result.out) == (3, ""), key
            if key in tampered and key not in ("plan_sha256", "counted", "question", "privacy", "columns", "objective"):
                Path("tampered.json").write_text(json.dumps(reseal(tampered)))  # who edits it may know the digest
                assert hetdp("ask", people, SIMULATE, "--plan", "tampered.json").code == 3, key
    for text in ("", "[]", "7", '{"kind": "plan"}', json.dumps(plan | {"more": 1}), '{"kind": 1, "kind": 2}'):
        Path("tampered.json").write_text(text)
        assert hetdp("ask", people, DRY, "--plan", "tampered.json").code == 3, text
    for where in ({"constant": "9"}, {}, {"column": "eps", "constant": "9"}, {"column": None}, "eps", None):
        Path("tampered.json").write_text(json.dumps(reseal(plan | {"privacy": plan["privacy"] | {"epsilon": where}})))
        assert hetdp("ask", people, DRY, "--plan", "tampered.json").code == 3, where


def reseal(plan: dict[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in plan.items() if key != "plan_sha256"}
    return facts | {"plan_sha256": hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()}


def test_a_plan_may_have_areas_groups_and_an_sqlite_table(hetdp, folder):
    table = as_sqlite(PEOPLE, folder).name
    arguments = (
        *VOTE,
        "--epsilon-by",
        "pupil=0.3,staff=1,guest=2",
        "--group",
        "role",
        "--by",
        "county",
        "--of",
        "respondents",
    )
    made = hetdp("ask", table, *arguments, "--table", "people", DRY, "--plan", "plan.json")
    assert made.code == 0, made.err
    assert hetdp("ask", table, "--table", "people", DRY, "--plan", "plan.json").out == made.out
    assert hetdp("ask", table, DRY, "--plan", "plan.json").out == made.out  # the plan names the table


def test_neither_messages_nor_the_exit_code_depend_on_the_answers(hetdp, folder, people):
    seen = set()
    for votes in (["yes"] * 7, ["no"] * 7, [None] * 7, ["nan", "inf", "'", '"', "\n", "é", "0"], PEOPLE["vote"]):
        as_csv(PEOPLE | {"vote": votes}, folder)
        for counted in ("vote = 'yes'", "vote > 1"):
            result = hetdp("ask", people, "--count", counted, *ASK_OPTIONS[2:], SIMULATE)
            seen.add((counted, result.code, result.err, result.out.replace(": yes ", ": no ")))
    assert len(seen) == 2


def test_faults_name_nobody_unless_the_curator_asks(hetdp, folder, people):
    as_csv(PEOPLE | {"id": [1, 2, 3, 4, 5, 6, 1]}, folder)
    result = hetdp("ask", people, *ASK_OPTIONS, SIMULATE)
    assert (result.code, result.out) == (3, "")
    assert "row 1" not in result.err
    assert "row 7, id: a duplicate id: '1'" in hetdp("ask", people, *ASK_OPTIONS, SIMULATE, "--curator").err
    document = hetdp("ask", people, *ASK_OPTIONS, SIMULATE, "--json").document
    assert [fault["value"] for fault in document["error"]["faults"]] == [""]


@long  # test_main closes the pipe of another verb
def test_a_pipe_that_is_closed_early_is_not_an_error(people):
    command = [sys.executable, "-m", "hetdp", "ask", people, *ASK_OPTIONS, DRY]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment_with_sources()
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        errors = running.stderr.read()
    assert (running.returncode, errors) == (0, b"")


@pytest.mark.parametrize(("when", "planned"), [("reading the policy", False), ("reading the answers", True)])
def test_ctrl_c_is_one_line_and_the_plan_is_there_before_answers_are_read(hetdp, people, when, planned, monkeypatch):
    def interrupt(words: str) -> None:
        if words == when:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("hetdp.progress.report_stage", interrupt)
    result = hetdp("ask", people, *ASK_OPTIONS, SIMULATE, "-q", "--plan", "plan.json")
    assert result == (130, "", "hetdp: interrupted\n")
    assert Path("plan.json").exists() == planned
    assert not [path for path in Path().iterdir() if path.suffix == ".draft"]


def test_ctrl_c_in_duckdb_is_distinguished_from_text_that_it_quotes():
    duckdb = pytest.importorskip("duckdb")
    for interrupt in (RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error: Interrupted!")):
        with pytest.raises(KeyboardInterrupt), hide_details("people.csv", False):
            raise interrupt
    with pytest.raises(library.InputError), hide_details("people.csv", False):
        raise duckdb.ConversionException("Could not convert string 'Interrupted!' to INT32")


def _environment_with_sources() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}


def test_an_epsilon_for_a_group_without_people_is_reported(hetdp, people):
    options = ("--group", "role", "--epsilon-by", "pupil=1,staff=1,guest=1,gest=3", "--person", "id", DRY)
    result = hetdp("ask", people, "--count", "vote = 'yes'", "--at-least", "1", *options)
    assert "groups that are promised an ε but have no people: 'gest'\n" in result.out


def test_a_refused_question_names_its_file_and_the_wrong_value(hetdp, people):
    for value, words in (("null", "null"), ("true", "true"), ("1e400", "1E+400")):
        asks = f'{{"asks": "share", "value": "yes", "at_least": {value}}}'
        Path("q.json").write_text(f'{{"schema_version": 1, "kind": "question", "question": {asks}}}')
        options = ("--question", "q.json", "--epsilon", "1", "--person", "id", DRY)
        result = hetdp("ask", people, "--count", "vote = 'yes'", *options)
        assert (result.code, result.out) == (3, "")
        assert f"hetdp: q.json, question: at_least is {words}; " in result.err


def test_a_message_never_suggests_a_record_that_would_be_refused(hetdp, people):
    for option, name in (("-o", "rec"), ("--html", "a.json")):
        result = hetdp("ask", people, *ASK_OPTIONS, "--ledger", "a.ledger", option, name)
        assert result.code == 2
        assert f"no format is known for {name!r}" in result.err
        assert "standard output" not in result.err


SEVERAL = """
schema_version = 1
kind = "questions"
[[questions]]
title = "Shall we move?"
count = "vote = 'yes'"
at_least = "50%"
yes = "We move"
[[questions]]
title = "Anybody?"
count = "vote IS NULL"
at_least = 1
by = "county"
epsilon = 0.2
"""


@pytest.fixture
def several(folder: Path) -> tuple[str, ...]:
    (folder / "questions.toml").write_text(SEVERAL)
    return ("--questions", "questions.toml", "--person", "id", "--epsilon", "eps", "--title", "Survey")


def test_several_questions_are_approved_priced_and_released_together(hetdp, folder, people, several):
    dry = hetdp("ask", people, *several, DRY, "--plan", "plan.json")
    assert dry.code == 0
    lines = dry.out.splitlines()
    assert lines[1:3] == ["title: Survey", "2 questions: all of them are answered, or none"]
    assert [line for line in lines if line.startswith(("question", "all"))] == [
        "question 1:",
        "question 2:",
        "all answers together: each person is charged the sum of what the questions use",
    ]
    assert lines[-2] == "  7 people: at most 0.958906444 charged"
    for name, cap in (("small.ledger", "0.9"), ("large.ledger", "1")):
        assert hetdp("ledger", "init", name, "--source", "survey", "--cap", cap).code == 0
    price = hetdp("ask", people, "--plan", "plan.json", DRY, "--ledger", "small.ledger")
    most = "the most that fits everybody is ε = 0.9, for all questions together"
    assert (price.code, price.out.splitlines()[-1]) == (6, f"this does not fit, and would be refused; {most}")
    refused = hetdp("ask", people, "--plan", "plan.json", "--ledger", "small.ledger", "-q")
    assert (refused.code, refused.out) == (6, "")
    assert (
        "no answer was drawn. The most that every account can still pay is ε = 0.9, for all questions together."
        in refused.err
    )
    paid = hetdp("ask", people, "--plan", "plan.json", "--ledger", "large.ledger", "-o", "r.json", "--html", "r.html")
    assert paid.code == 0
    answers = paid.out.splitlines()
    assert [line.rsplit(": ", 1)[0] for line in answers] == [
        "released answer to 'Shall we move?'",
        "released answer to 'Anybody?' in 'North'",
        "released answer to 'Anybody?' in 'South'",
    ]
    assert [line for line in paid.err.splitlines() if line.startswith("paid; entry")][1].startswith("paid; entry 4 of")
    again = hetdp("ask", people, *several, "--ledger", "large.ledger", "-q")
    assert all("(as released on" in line for line in again.out.splitlines())
    history = hetdp("ledger", "history", "large.ledger").out
    assert "question 'Shall we move?'" in history
    assert "question 'Anybody?'" in history
    checked = hetdp("record", "verify", "r.json", "--ledger", "large.ledger", "--plan", "plan.json")
    assert (checked.code, checked.out.count("holds: "), checked.out.count("FAILS")) == (0, 14, 0)
    assert hetdp("ledger", "verify", "large.ledger", "r.json").code == 0
    stated = hetdp("record", "statement", "r.json").out
    assert stated.count("To the question “") == 2
    assert "every combination" not in stated
    assert "can become at most" in stated
    assert hetdp("ask", people, *several, "--version", "2", "--ledger", "large.ledger", "--after", "r.json").code == 6


def test_several_questions_as_json_are_numbered(hetdp, people, several):
    found = hetdp("ask", people, *several, SIMULATE, "--json").document
    assert [one["question"] for one in found["promises"]] == [1, 2, 2]
    assert [(one["question"], one["area"]) for one in found["simulated"]["answers"]] == [
        (1, None),
        (2, "North"),
        (2, "South"),
    ]
    assert [one["title"] for one in found["questions"]] == ["Shall we move?", "Anybody?"]
    assert found["together"][0]["used"] == found["plan"]["together"][0]["used"] == "0.958906444"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (SEVERAL.replace('at_least = "50%"', ""), 2, "question 1 ('Shall we move?'): no threshold; "),
        (
            SEVERAL.replace("by =", "per ="),
            2,
            "question 2 ('Anybody?') has the key 'per'; the keys are count,",
        ),
        (SEVERAL.replace("county", "town"), 2, "question 2 ('Anybody?'): the table has no column 'town'"),
        (
            SEVERAL.replace('"questions"', '"question"'),
            3,
            "'question'; expected the kind 'questions'",
        ),
        (SEVERAL + "schema = 3", 2, "question 2 ('Anybody?') has the key 'schema'"),
        ("[[", 3, "questions"),
    ],
)
def test_a_file_of_questions_that_cannot_be_asked_is_refused(hetdp, folder, people, several, text, code, words):
    (folder / "questions.toml").write_text(text)
    refused = hetdp("ask", people, *several, DRY)
    assert (refused.code, refused.out) == (code, "")
    assert words in refused.err


def test_want_is_accepted_for_one_question_only(hetdp, people, several):
    refused = hetdp("ask", people, *several, "--want", "95%", "--at-share", "55%")
    assert refused.code == 2
    assert "an accuracy is wanted for several questions at once" in refused.err


def test_a_plan_is_shown_without_its_table(hetdp):
    Path("alone.csv").write_text("id,vote\n1,yes\n2,no\n")
    terms = ["--count", "vote = 'yes'", "--at-least", "1", "--epsilon", "1", "--person", "id"]
    made = hetdp("ask", "alone.csv", *terms, "--dry-run", "--plan", "alone.json", "--json").document
    Path("alone.csv").unlink()
    shown = hetdp("record", "plan", "alone.json")
    assert (shown.code, shown.out.rstrip("\n")) == (0, library.describe_plan("alone.json"))
    document = hetdp("record", "plan", "alone.json", "--json").document
    assert document["description"] == shown.out.splitlines()
    assert f"sha256 {json.loads(Path('alone.json').read_text())['plan_sha256']}" in document["description"]
    assert made["plan_file"] == document["plan_file"] == "alone.json"
    refused = hetdp("record", "plan", "alone.json", "--ledger", "a.ledger")
    assert (refused.code, refused.out) == (2, "")
    Path("alone.json").write_text(Path("alone.json").read_text().replace('"people": 2', '"people": 3'))
    changed = hetdp("record", "plan", "alone.json")
    assert (changed.code, changed.out) == (3, "")
