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
from tests.tables.tables import PEOPLE, as_csv, as_parquet, as_sqlite
from tests.tables.test_loading import broken_parquet

VOTE = ("--count", "vote = 'yes'", "--at-least", "50%", "--person", "id")
ASKED = (*VOTE, "--epsilon", "eps")
DRY, SIMULATE = "--dry-run", "--simulate"


@pytest.fixture
def people(folder: Path) -> str:
    return as_csv(PEOPLE, folder).name


def test_a_dry_run_promises_and_reads_no_answers(hetdp, folder):
    said = hetdp("ask", as_parquet(PEOPLE, folder).name, *ASKED, DRY, "--group", "role")
    assert (said.code, said.err) == (0, "")
    for words in (
        "at least half of all rows say yes; exactly half counts as yes",
        "A row for which it does not hold is no; if that is unknown, for want of a value, it is blank.",
        "Text is compared without regard to case and outer spaces; a cell of spaces has no value.",
        "people: 7, identified by id.",
        "Neighbouring tables differ in one person's answer",
        "are public",
        "3 rows of 'pupil': up to ε = 0.3 allowed, 0.3 used",
        "where 1 person decides",
        "If you answer differently",
    ):
        assert words in said.out
    assert hetdp("ask", broken_parquet(folder).name, *ASKED, DRY, "--group", "role") == said
    failed = hetdp("ask", "people.parquet", *ASKED, SIMULATE, "-q")
    assert (failed.code, failed.out) == (3, "")
    assert failed.err.startswith("hetdp: people.parquet: cannot be read; ")


def test_a_simulation_says_so_everywhere(hetdp, people):
    said = hetdp("ask", people, *ASKED, SIMULATE, "--seed", "4", "--by", "county")
    assert said.code == 0
    assert "everybody belongs to one area" in said.err
    lines = said.out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["SIMULATED answer in 'North'", "SIMULATED answer in 'South'"]
    assert all("seed 4; not a release" in line for line in lines)
    document = hetdp("ask", people, *ASKED, SIMULATE, "--seed", "4", "--by", "county", "--json").document
    assert document["released"] is False
    assert document["simulated"]["seed"] == 4
    assert [answer["answer"] in ("yes", "no") for answer in document["simulated"]["answers"]] == [True, True]
    assert "simulated" not in hetdp("ask", people, *ASKED, DRY, "--json").document


def test_a_simulation_repeats_itself_and_follows_the_answers(hetdp, folder, people):
    def answers(columns: dict[str, list[Any]]) -> list[str]:
        as_csv(columns, folder)
        runs = [hetdp("ask", people, *ASKED[:-1], "100", SIMULATE, "-q", "--seed", str(seed)).out for seed in range(3)]
        return [run.split()[2] for run in runs]

    assert answers(PEOPLE) == answers(PEOPLE) == ["yes"] * 3
    assert answers(PEOPLE | {"vote": ["no"] * 7}) == ["no"] * 3


def test_nothing_is_released_without_a_ledger(hetdp, people):
    said = hetdp("ask", people, *ASKED, "--plan", "plan.json")
    assert (said.code, said.out) == (2, "")
    assert "an answer is released only if a ledger pays for it" in said.err
    assert not Path("plan.json").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*ASKED, DRY, SIMULATE), "--dry-run beside --simulate"),
        ((*ASKED, DRY, "--seed", "1"), "--seed without --simulate"),
        ((*ASKED, DRY, "--design", "fair", "--question", "q.txt"), "no format is known"),
        ((*ASKED, DRY, "--more-than", "3"), "two thresholds"),
        ((*VOTE, DRY), "no ε"),
        ((*ASKED, DRY, "--epsilon-by", "a=1", "--group", "role"), "ε twice"),
        ((*VOTE, DRY, "--epsilon-by", "a=1"), "no column of groups"),
        ((*VOTE, DRY, "--epsilon-by", "a", "--group", "role"), "GROUP=ε"),
        ((*VOTE, DRY, "--epsilon-by", "a=1,a=2", "--group", "role"), "twice"),
        ((*VOTE, DRY, "--epsilon-by", "a=-1", "--group", "role"), "ε is '-1'"),
        ((*VOTE, DRY, "--epsilon", "-1"), "ε is '-1'"),
        ((*VOTE, DRY, "--epsilon", "nan"), "ε is 'nan'"),
        ((*VOTE, DRY, "--epsilon", "missing"), "no column 'missing'"),
        ((*VOTE, DRY, "--epsilon", "vote"), "used for both"),
        ((*ASKED[2:], DRY), "nothing is counted"),
        ((*ASKED[:4], DRY, "--epsilon", "1"), "--person names it"),
        (("--count", "vote = yes", *ASKED[2:], DRY), "expected a value ('text', a number, TRUE or FALSE)"),
        (
            ("--count", "vote = 'yes'", "--at-least", "120%", *ASKED[4:], DRY),
            "the threshold is '120%'; it is a whole number of people, or a share from 0% to 100%",
        ),
        (("--count", "vote = 'yes'", "--at-least", "1.5", *ASKED[4:], DRY), "the threshold is '1.5'; it is a whole"),
        (("--count", "vote = 'yes'", "--at-least", "many", *ASKED[4:], DRY), "or a share from 0% to 100%, such as"),
        (("--count", "vote = 'yes'", "--at-least", "3", *ASKED[4:], DRY, "--of", "respondents"), "3 of respondents"),
        ((*ASKED, DRY, "--plan", "plan.txt"), "--plan ends in .json"),
        ((*ASKED, DRY, "--plan", "-"), "saved in a file"),
        ((*ASKED, DRY, "--plan", "nowhere/plan.json"), "is no folder"),
        ((*ASKED, DRY, "--table", "people"), "only SQLite files"),
    ],
)
def test_wrong_usage_is_refused(hetdp, people, options, words):
    said = hetdp("ask", people, *options)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--at-least", "3"), "at least 3 rows say yes"),
        (("--more-than", "3"), "at least 4 rows say yes"),
        (("--more-than", "1/3"), "more than 1/3 of all rows say yes; exactly 1/3 counts as no"),
        (("--at-least", "0.25"), "at least 25% of all rows"),
        (("--at-least", "50%", "--of", "respondents"), "of all rows that are not blank say yes"),
    ],
)
def test_the_question_is_said_with_its_tie_rule(hetdp, people, options, words):
    said = hetdp("ask", people, "--count", "vote = 'yes'", "--person", "id", "--epsilon", "0.5", *options, DRY)
    assert said.code == 0
    assert words in said.out


def test_epsilon_by_group_and_for_the_deciding_step(hetdp, people):
    both = ("--group", "role", "--deciding-epsilon", "0.1", DRY)
    said = hetdp("ask", people, *VOTE, "--epsilon-by", "pupil=0.3,staff=1", "--epsilon-by", "guest=2", *both)
    assert said.code == 0
    assert "where the answer depends on one person, ε is at most 0.1 for everybody" in said.out
    assert said == hetdp("ask", people, *VOTE, "--epsilon-by", '{"pupil": 0.3, "staff": 1, "guest": "2"}', *both)
    assert "1 row of 'guest': up to ε = 2 allowed, " in said.out


def test_a_plan_is_carried_out_exactly_or_not_at_all(hetdp, folder, people):
    made = hetdp("ask", people, *ASKED, DRY, "--plan", "plan.json")
    before = Path("plan.json").read_bytes()
    digest = json.loads(before)["plan_sha256"]
    assert (made.code, made.err) == (0, f"wrote plan.json, sha256 {digest}\n")
    again = hetdp("ask", people, DRY, "--plan", "plan.json")
    assert (again.code, again.out, again.err) == (
        0,
        made.out,
        f"this is exactly the plan in plan.json, sha256 {digest}\n",
    )
    assert hetdp("ask", people, *ASKED, DRY, "--plan", "plan.json") == again
    assert hetdp("ask", people, SIMULATE, "--plan", "plan.json").code == 0
    other = hetdp("ask", people, *ASKED[:3], "60%", *ASKED[4:], SIMULATE, "--plan", "plan.json")
    assert (other.code, other.out) == (3, "")
    differs = 'plan.json, question: differs: approved "at least half of all rows say yes; '
    assert differs in other.err
    assert ', now "at least 60% of all rows say yes; ' in other.err
    as_csv(PEOPLE | {"vote": ["no"] * 7}, folder)  # answers are no part of a plan
    assert hetdp("ask", people, DRY, "--plan", "plan.json") == again
    as_csv({name: cells[::-1] for name, cells in PEOPLE.items()}, folder)  # nor is the order of the rows
    assert hetdp("ask", people, DRY, "--plan", "plan.json") == again
    as_csv(PEOPLE | {"eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, 2.1]}, folder)
    refused = hetdp("ask", people, SIMULATE, "--plan", "plan.json")
    assert (refused.code, refused.out) == (3, "")
    assert "plan.json, policy_sha256" in refused.err
    assert Path("plan.json").read_bytes() == before


def test_with_a_ledger_a_mistyped_plan_is_no_approval(hetdp, folder, people):
    library.Ledger.create("a.ledger", source="survey", cap=3)
    assert hetdp("ask", people, *ASKED, DRY, "--plan", "plan.json", "-q").code == 0
    before = Path("a.ledger").read_bytes()
    for words in (ASKED, ()):
        refused = hetdp("ask", people, *words, "--ledger", "a.ledger", "--plan", "plam.json")
        assert (refused.code, refused.out) == (2, "")
        assert "there is no plan 'plam.json'; with a ledger, a plan is carried out that was written" in refused.err
    with pytest.raises(library.UsageError, match="there is no plan"):
        library.ask(people, plan="plam.json", payment=library.Payment("a.ledger"))
    assert Path("a.ledger").read_bytes() == before
    assert not Path("plam.json").exists()
    said = hetdp("ask", people, "--plan", "plan.json", "--ledger", "a.ledger")
    assert (said.code, "this is exactly the plan in plan.json" in said.err) == (0, True)


def test_what_was_approved_is_shown_beside_what_is_asked_for_now_and_names_nobody(hetdp, folder, people):
    assert hetdp("ask", people, *ASKED, DRY, "--plan", "plan.json", "-q").code == 0
    as_csv(PEOPLE | {"id": [f"s3cret{at}" for at in range(7)], "vote": ["s3cret"] * 7}, folder)
    options = (*ASKED[:3], "60%", *ASKED[4:], "--design", "weighted-vote", "--deciding-epsilon", "0.1")
    refused = hetdp("ask", people, *options, DRY, "--plan", "plan.json")
    assert refused.code == 3
    for words in (
        'question: differs: approved "at least half of all rows say yes; ',
        'objective: differs: approved "balanced", now "weighted-vote"',
        "privacy.deciding_epsilon: differs: approved null, now ",
    ):
        assert words in refused.err
    assert "s3cret" not in refused.err
    refused = hetdp("ask", people, *ASKED, DRY, "--plan", "plan.json")
    assert (refused.code, "people_sha256: differs: approved " in refused.err) == (3, True)
    assert "s3cret" not in refused.err


def test_a_plan_that_is_not_there_is_told_from_a_question_that_was_forgotten(hetdp, folder, people):
    refused = hetdp("ask", people, SIMULATE, "--plan", "plam.json")
    assert (refused.code, refused.out) == (2, "")
    assert "there is no plan 'plam.json'" in refused.err


def test_every_tampered_plan_is_refused(hetdp, people):
    assert hetdp("ask", people, *ASKED, "--group", "role", DRY, "--plan", "plan.json").code == 0
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
            said = hetdp("ask", people, SIMULATE, "--plan", "tampered.json")
            assert (said.code, said.out) == (3, ""), key
            if key in tampered and key not in ("plan_sha256", "counted", "question", "privacy", "columns", "objective"):
                Path("tampered.json").write_text(json.dumps(resealed(tampered)))  # who edits it may know the digest
                assert hetdp("ask", people, SIMULATE, "--plan", "tampered.json").code == 3, key
    for text in ("", "[]", "7", '{"kind": "plan"}', json.dumps(plan | {"more": 1}), '{"kind": 1, "kind": 2}'):
        Path("tampered.json").write_text(text)
        assert hetdp("ask", people, DRY, "--plan", "tampered.json").code == 3, text
    for where in ({"constant": "9"}, {}, {"column": "eps", "constant": "9"}, {"column": None}, "eps", None):
        Path("tampered.json").write_text(json.dumps(resealed(plan | {"privacy": plan["privacy"] | {"epsilon": where}})))
        assert hetdp("ask", people, DRY, "--plan", "tampered.json").code == 3, where


def resealed(plan: dict[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in plan.items() if key != "plan_sha256"}
    return facts | {"plan_sha256": hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()}


def test_a_plan_with_areas_and_groups_and_an_sqlite_table(hetdp, folder):
    table = as_sqlite(PEOPLE, folder).name
    asked = (
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
    made = hetdp("ask", table, *asked, "--table", "people", DRY, "--plan", "plan.json")
    assert made.code == 0, made.err
    assert hetdp("ask", table, "--table", "people", DRY, "--plan", "plan.json").out == made.out
    assert hetdp("ask", table, DRY, "--plan", "plan.json").out == made.out  # the plan names the table


def test_no_word_and_no_code_depends_on_the_answers(hetdp, folder, people):
    seen = set()
    for votes in (["yes"] * 7, ["no"] * 7, [None] * 7, ["nan", "inf", "'", '"', "\n", "é", "0"], PEOPLE["vote"]):
        as_csv(PEOPLE | {"vote": votes}, folder)
        for counted in ("vote = 'yes'", "vote > 1"):
            said = hetdp("ask", people, "--count", counted, *ASKED[2:], SIMULATE)
            seen.add((counted, said.code, said.err, said.out.replace(": yes ", ": no ")))
    assert len(seen) == 2


def test_faults_name_nobody_unless_the_curator_asks(hetdp, folder, people):
    as_csv(PEOPLE | {"id": [1, 2, 3, 4, 5, 6, 1]}, folder)
    said = hetdp("ask", people, *ASKED, SIMULATE)
    assert (said.code, said.out) == (3, "")
    assert "row 1" not in said.err
    assert "row 7, id: a duplicate id: '1'" in hetdp("ask", people, *ASKED, SIMULATE, "--curator").err
    document = hetdp("ask", people, *ASKED, SIMULATE, "--json").document
    assert [fault["value"] for fault in document["error"]["faults"]] == [""]


def test_a_pipe_that_is_closed_early_is_no_error(people):
    command = [sys.executable, "-m", "hetdp", "ask", people, *ASKED, DRY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_with_sources()) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        errors = running.stderr.read()
    assert (running.returncode, errors) == (0, b"")


@pytest.mark.parametrize(("when", "planned"), [("reading the policy", False), ("reading the answers", True)])
def test_ctrl_c_is_quiet_and_the_plan_is_there_before_the_answers_are_read(hetdp, people, when, planned, monkeypatch):
    def interrupt(words: str) -> None:
        if words == when:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("hetdp.progress.report_stage", interrupt)
    said = hetdp("ask", people, *ASKED, SIMULATE, "-q", "--plan", "plan.json")
    assert said == (130, "", "")
    assert Path("plan.json").exists() == planned
    assert not [path for path in Path().iterdir() if path.suffix == ".draft"]


def test_what_duckdb_makes_of_ctrl_c_is_told_apart_from_what_it_quotes():
    duckdb = pytest.importorskip("duckdb")
    for interrupt in (RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error: Interrupted!")):
        with pytest.raises(KeyboardInterrupt), hide_details("people.csv", False):
            raise interrupt
    with pytest.raises(library.InputError), hide_details("people.csv", False):
        raise duckdb.ConversionException("Could not convert string 'Interrupted!' to INT32")


def _with_sources() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}


def test_a_promise_to_a_group_of_nobody_is_said(hetdp, people):
    options = ("--group", "role", "--epsilon-by", "pupil=1,staff=1,guest=1,gest=3", "--person", "id", DRY)
    said = hetdp("ask", people, "--count", "vote = 'yes'", "--at-least", "1", *options)
    assert "groups that are promised an ε but have no people: 'gest'\n" in said.out


def test_a_question_that_is_refused_names_its_file_and_what_stands_there(hetdp, people):
    for value, words in (("null", "null"), ("true", "true"), ("1e400", "1E+400")):
        asks = f'{{"asks": "share", "value": "yes", "at_least": {value}}}'
        Path("q.json").write_text(f'{{"schema_version": 1, "kind": "question", "question": {asks}}}')
        options = ("--question", "q.json", "--epsilon", "1", "--person", "id", DRY)
        said = hetdp("ask", people, "--count", "vote = 'yes'", *options)
        assert (said.code, said.out) == (3, "")
        assert f"hetdp: q.json, question: at_least is {words}; " in said.err


def test_a_record_is_not_offered_where_it_is_refused_next(hetdp, people):
    for option, name in (("-o", "rec"), ("--html", "a.json")):
        said = hetdp("ask", people, *ASKED, "--ledger", "a.ledger", option, name)
        assert said.code == 2
        assert f"no format is known for {name!r}" in said.err
        assert "standard output" not in said.err
