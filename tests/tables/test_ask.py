"""hetdp.ask: the same steps, refusals and promises as the command line, for files and data frames alike."""

from __future__ import annotations

import inspect
import json
import re
import struct
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import hetdp
from hetdp.cli.ask import OPTIONS, TABLE
from hetdp.cli.main import main
from hetdp.tables.bundle import ARGUMENTS
from hetdp.tables.request import build_request
from hetdp.tables.sources import QueriedSource
from tests.tables.tables import FORMATS, PEOPLE, as_csv, as_parquet

VOTE: dict[str, Any] = {"count": "vote = 'yes'", "person": "id"}
QUESTION = VOTE | {"at_least": "50%", "epsilon": "eps"}
MORE: dict[str, list[Any]] = PEOPLE | {"dec": [0.1, 0.2, 0.5, 0.5, 0.1, 1.0, 0.3]}


@pytest.mark.parametrize("form", FORMATS)
def test_every_kind_of_table_gets_the_same_promise(form, tmp_path):
    asked, plain = (
        hetdp.ask(table, **QUESTION, group="role", by="county", simulate=True, seed=2, plan=tmp_path / f"{at}.json")
        for at, table in enumerate((FORMATS[form](PEOPLE, tmp_path), as_csv(PEOPLE, tmp_path)))
    )
    assert asked.plan["people_sha256"] == plain.plan["people_sha256"]
    assert asked.promise == plain.promise
    assert asked.simulated == plain.simulated
    assert asked.plan["policy_sha256"] == plain.plan["policy_sha256"]
    assert [str(answer)[:25] for answer in asked.simulated] == [
        "SIMULATED answer in 'Nort",
        "SIMULATED answer in 'Sout",
    ]


@pytest.mark.parametrize("design", ["balanced", "weighted-vote", "fair"])
def test_the_command_line_prints_the_same(design, tmp_path, capsys):
    table = str(as_csv(PEOPLE, tmp_path))
    by = {"pupil": 0.3, "staff": 1, "guest": 2}
    result = hetdp.ask(table, **VOTE, more_than=3, group="role", epsilon_by=by, design=design, simulate=True, seed=5)
    words = ["ask", table, "--count", "vote = 'yes'", "--person", "id", "--more-than", "3", "--group", "role"]
    words += ["--epsilon-by", "pupil=0.3,staff=1,guest=2", "--design", design, "--simulate", "--seed", "5"]
    assert main(words) == 0
    output = capsys.readouterr()
    assert (output.out.rstrip(), output.err.rstrip()) == (str(result.simulated[0]), f"{result.read}\n{result.promise}")
    assert str(result) == f"{result.read}\n{result.promise}\n{result.simulated[0]}"
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["plan"] == result.plan
    assert document["released"] is result.released is False


def test_one_of_several_questions_has_every_argument_that_describes_a_question():
    for_all = {"person", "group", "level"}  # who pays
    for_all |= {"table", "sheet", "encoding", "delimiter", "questions", "plan", "dry_run", "simulate", "seed"}
    for_all |= {"payment", "workers", "curator", "announce"}
    assert ARGUMENTS.keys() == inspect.signature(hetdp.ask).parameters.keys() - for_all
    assert {*ARGUMENTS.values()} <= {*inspect.signature(build_request).parameters}


def test_the_names_are_those_of_the_options():
    options = {option.name for option in [TABLE, *OPTIONS]}
    payment = {*inspect.signature(hetdp.Payment).parameters}
    workers = {*inspect.signature(hetdp.Workers).parameters}
    called = {"output": "record", "workers": "number"}  # on the command line -o, and --workers N
    grouped = {*inspect.signature(hetdp.ask).parameters} - {"announce", "payment", "workers"}
    needed = {"target", "at"}  # of solve_epsilon
    assert needed < {*inspect.signature(hetdp.solve_epsilon).parameters}
    assert grouped | payment | workers | needed == {called.get(name, name) for name in options} - {"engine"}


def test_the_promise_is_announced_and_the_plan_saved_before_any_answer_is_read(tmp_path, monkeypatch):
    seen = []
    read = QueriedSource.read

    def record_columns(self: Any, keys: Any, parameters: Any = (), uses: Any = ()) -> Any:
        seen.append(tuple(uses))
        return read(self, keys, parameters, uses)

    monkeypatch.setattr(QueriedSource, "read", record_columns)
    plan = tmp_path / "plan.json"

    def announce(result: hetdp.AskResult) -> None:
        assert not result.simulated
        assert json.loads(plan.read_text()) == result.plan
        seen.append("announced")

    table = as_parquet(PEOPLE, tmp_path)
    hetdp.ask(table, **QUESTION, plan=plan, simulate=True, announce=announce)
    assert seen == [("id", "eps"), ("id", "eps"), "announced", ("vote",)]  # the second time for who is there
    seen.clear()
    hetdp.ask(table, plan=plan, dry_run=True)
    assert seen == [("id", "eps")] * 2
    seen.clear()
    assert hetdp.ask(table, **QUESTION, simulate=True).plan["people_sha256"] is None
    assert seen == [("id", "eps"), ("vote",)]


@pytest.mark.parametrize("design", ["balanced", "fair"])
def test_a_plan_is_carried_out_exactly_or_not_at_all(design, tmp_path):
    plan = tmp_path / "plan.json"
    made = hetdp.ask(as_csv(MORE, tmp_path), **QUESTION, deciding_epsilon="dec", design=design, plan=plan, dry_run=True)
    table = as_csv({name: cells[::-1] for name, cells in MORE.items()}, tmp_path)
    again = hetdp.ask(table, plan=plan, simulate=True)
    assert (again.plan, again.digest, again.promise) == (made.plan, made.digest, made.promise)
    as_csv(MORE | {"dec": [0.2, 0.1, 0.5, 0.5, 0.1, 1.0, 0.3]}, tmp_path)  # both have ε = 0.3, but others decide
    with pytest.raises(hetdp.InputError, match=r"^[^ ]*plan\.json, people_sha256: differs"):
        hetdp.ask(table, plan=plan, dry_run=True)
    for changed in ({"dec": [0.1, 0.2, 0.5, 0.5, 0.1, 1.0, 0.4]}, {"dec": [0.1, 0.2, 0.5, 0.1, 0.5, 1.0, 0.3]}):
        as_csv(MORE | changed, tmp_path)
        with pytest.raises(hetdp.InputError, match="policy_sha256"):
            hetdp.ask(table, plan=plan, simulate=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": [2, 1, 3, 4, 5, 6, 7]},  # whose ε is whose
        {"id": [1, 2, 3, 4, 5, 6, 8]},  # another person
        {"role": ["staff", "pupil", "pupil", "staff", "pupil", "staff", "guest"]},
        {"county": ["South", "North", "North", "North", "South", "South", "South"]},
        {"dec": [0.2, 0.1, 0.5, 0.5, 0.1, 1.0, 0.3]},
    ],
)
def test_a_plan_is_about_these_people_with_their_epsilon_group_and_area(changed, tmp_path):
    people = MORE | {
        "id": [1, 2, 3, 4, 5, 6, 7],
        "eps": [0.3, 1, 0.3, 1, 0.3, 1, 2],
        "role": ["pupil", "staff", "pupil", "staff", "pupil", "staff", "guest"],
        "county": ["North", "South", "North", "North", "South", "South", "South"],
        "dec": [0.1, 0.2, 0.5, 0.5, 0.1, 1.0, 0.3],
    }
    options = QUESTION | {"deciding_epsilon": "dec", "group": "role", "by": "county"}
    plan = tmp_path / "plan.json"
    made = hetdp.ask(as_csv(people, tmp_path), **options, plan=plan, dry_run=True)
    as_csv({name: cells[::-1] for name, cells in people.items()}, tmp_path)
    assert hetdp.ask(tmp_path / "people.csv", plan=plan, dry_run=True).plan == made.plan
    as_csv(people | changed, tmp_path)
    words = "people_sha256: differs: the people are not the approved ones: somebody joined as somebody left, or an id,"
    with pytest.raises(hetdp.InputError, match=words):
        hetdp.ask(tmp_path / "people.csv", plan=plan, dry_run=True)
    with pytest.raises(hetdp.InputError, match="people_sha256: differs"):
        hetdp.ask(as_csv(people | changed, tmp_path), plan=plan, simulate=True)


def test_the_digest_of_people_can_be_made_by_hand(tmp_path):
    table = pandas.DataFrame({"id": ["é", "b"], "eps": [0.5, -0.0], "vote": ["yes", "no"]})
    result = hetdp.ask(table, **QUESTION, plan=tmp_path / "plan.json", dry_run=True)
    rows = sorted(
        (sha256(f"{len(who.encode())}:{who}".encode()).digest(), epsilon) for who, epsilon in (("é", 0.5), ("b", 0.0))
    )
    parts = []
    for part in range(256):
        here = [(digest, epsilon) for digest, epsilon in rows if digest[0] == part]
        words = [digest[at : at + 8][::-1] for at in range(0, 32, 8) for digest, _ in here]
        parts.append(sha256(b"".join(words) + b"".join(struct.pack("<d", epsilon) for _, epsilon in here)).digest())
    assert result.plan["people_sha256"] == sha256(b"hetdp people 1\n" + b"".join(parts)).hexdigest()


def test_a_fair_plan_names_its_mechanism_and_refuses_another(tmp_path, monkeypatch):
    plan, table = tmp_path / "plan.json", as_csv(PEOPLE, tmp_path)
    made = hetdp.ask(table, **QUESTION, design="fair", plan=plan, dry_run=True)
    (area,) = made.plan["areas"]
    assert area["mechanism"] == made.promises[0].mechanism.facts()
    assert "people who are alike make 32 tallies with 64 edges" in made.promise
    designed = hetdp.design

    def worse(problem: hetdp.Problem, _: str) -> hetdp.Mechanism:
        return designed(problem, "balanced")

    monkeypatch.setattr("hetdp.people.products.tallied.design_local", worse)
    with pytest.raises(hetdp.InputError, match=r"areas\[0\].mechanism.sha256: differs: approved"):
        hetdp.ask(table, plan=plan, simulate=True)


def test_fair_is_nowhere_worse_than_balanced(tmp_path):
    designs = ("fair", "balanced")
    table = as_csv(PEOPLE, tmp_path)
    answer = {one: hetdp.ask(table, **QUESTION, design=one, dry_run=True).promises[0].mechanism for one in designs}
    gain = 0.0
    for codes in product((0, 1), repeat=7):
        z = [answer[design].coordinate(list(codes)) for design in designs]
        assert abs(z[0]) >= abs(z[1]) - 1e-9
        assert (z[0] > 0) == (z[1] > 0) == (sum(codes) <= 3)
        gain = max(gain, abs(z[0]) - abs(z[1]))
    assert gain > 0.1


def test_the_deciding_epsilon_may_differ_by_group_or_person(tmp_path):
    table = as_csv(MORE, tmp_path)
    by = hetdp.ask(table, **QUESTION, group="role", deciding_epsilon_by={"pupil": "0.10", "staff": 0.5}, dry_run=True)
    assert "ε is at most 0.10 for pupil, 0.5 for staff, and for all others their own" in by.promise
    column = hetdp.ask(table, **QUESTION, deciding_epsilon="dec", dry_run=True)
    assert "where the answer depends on one person, ε is at most what the column dec says" in column.promise
    assert column.plan["privacy"]["deciding_epsilon"] == {"column": "dec"}
    epsilon = {"pupil": 0.1, "staff": 0.5, "guest": 2.0}
    people = hetdp.spaces.population(
        hetdp.questions.share("yes", "50%"), PEOPLE["eps"], deciding=[epsilon[role] for role in PEOPLE["role"]]
    )
    for row, expected in zip(by.promises[0].accuracy, people.design().accuracy_by_margin(), strict=True):
        assert row == (expected.margin, expected.accuracy, expected.error)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"deciding_epsilon": 0.1, "deciding_epsilon_by": {"pupil": 0.1}, "group": "role"}, "the deciding ε twice"),
        ({"deciding_epsilon_by": {"pupil": 0.1}}, "the deciding ε by group, but no column of groups"),
        ({"deciding_epsilon_by": {"pupils": 0.1}, "group": "role"}, "did you mean 'pupil'"),
        ({"deciding_epsilon": "nothing"}, "no column 'nothing'"),
        ({"deciding_epsilon": "-1"}, "deciding_epsilon='-1'; ε is"),
        ({"deciding_epsilon": "county"}, "missing or invalid ε"),
        ({"question": hetdp.questions.majority()}, "a threshold together with a question"),
        ({"at_least": None, "question": "majority"}, "no format is known for 'majority'"),
        ({"at_least": None, "question": 7}, "expected a question, got 7"),
        ({"at_least": None, "question": hetdp.questions.majority("maybe")}, "is about 'maybe'"),
        ({"at_least": None, "question": hetdp.questions.all_of("pupil")}, "names groups"),
        ({"at_least": None, "question": hetdp.questions.all_of("pupils"), "group": "role"}, "did you mean 'pupil'"),
        (
            {"at_least": None, "question": hetdp.questions.all_of("guest"), "group": "role", "by": "county"},
            "the area 'North' has nobody of 'guest'",
        ),
        (
            {"at_least": None, "question": hetdp.questions.function(lambda counts: counts["1"]["yes"] > 1, "odd")},
            "is a Python function",
        ),
        (
            {
                "at_least": None,
                "question": hetdp.questions.count("yes", 1) & hetdp.questions.count("no", 1),
                "design": "weighted-vote",
            },
            "a weighted vote is about a sum over people",
        ),
        ({"at_least": 3, "of": "nobody"}, "3 of nobody"),
        ({"at_least": "3%", "of": "nobody"}, "a share is of 'all' rows or of 'respondents'"),
        ({"design": "average"}, "the designs are balanced, weighted-vote, fair"),
        ({"design": "blanced"}, "fair. Hint: did you mean 'balanced'?"),
        ({"dry_run": False}, "only if a ledger pays for it"),
        ({"simulate": True}, "dry_run=True together with simulate=True"),
        ({"dry_run": False, "simulate": True, "seed": -1}, "the seed is -1"),
        ({"plan": "plan.txt"}, "the name of plan= ends in .json"),
        ({"count": None}, "count= is missing"),
    ],
)
def test_impossible_requests_are_refused(more, words, tmp_path):
    with pytest.raises(hetdp.HetdpError) as refusal:
        hetdp.ask(as_csv(PEOPLE, tmp_path), **(QUESTION | {"dry_run": True} | more))
    assert words in str(refusal.value)


def test_any_question_about_yes_and_no_can_be_asked(tmp_path):
    q = hetdp.questions
    table = as_csv(PEOPLE, tmp_path)
    asked: dict[str, Any] = VOTE | {"epsilon": 50, "group": "role", "simulate": True}
    yes = {"pupil": 2, "staff": 1, "guest": 1}  # of 3, 3 and 1
    for question, answer in {
        q.count("yes", 2, group="pupil"): "yes",
        q.count("yes", 3, group="pupil"): "no",
        q.all_of(["guest"]): "yes",
        q.all_of(["guest", "staff"]): "no",
        q.versus("yes", "no"): "yes",
        q.versus("yes", "no", group="staff"): "no",
        q.weighted_sum({"guest": 3, "staff": 1}, 4): "yes",
        q.ratio_of_shares("yes", "staff", "pupil", "1/2"): "yes",
        q.ratio_of_shares("yes", "staff", "pupil"): "no",
        q.count("yes", 4) & q.all_of("guest"): "yes",
        q.count("yes", 5) | ~q.all_of("guest"): "no",
    }.items():
        sizes = {"pupil": 3, "staff": 3, "guest": 1}
        counts = {group: {"yes": number, "no": sizes[group] - number} for group, number in yes.items()}
        assert bool(question.holds(counts, sizes)) == (answer == "yes")
        for design in ("balanced", "fair"):
            assert hetdp.ask(table, question=question, design=design, **asked).simulated[0].answer == answer


def test_a_question_can_come_from_a_file_and_go_into_a_plan(tmp_path):
    table, plan = as_csv(PEOPLE, tmp_path), tmp_path / "plan.json"
    question = hetdp.questions.count("yes", 3) & hetdp.questions.all_of("staff")
    written = tmp_path / "veto.json"
    written.write_text(json.dumps(question.document()))
    asked = VOTE | {"epsilon": "eps", "group": "role", "dry_run": True}
    made = hetdp.ask(table, question=str(written), plan=plan, **asked)
    assert made.plan == hetdp.ask(table, question=question, plan=tmp_path / "other.json", **asked).plan
    assert hetdp.ask(table, question=question, **asked).plan["people_sha256"] is None  # nothing rests on it
    assert hetdp.ask(table, plan=plan, dry_run=True).digest == made.digest
    assert (
        "question: (at least 3 people count as yes) and (all people of staff count as yes; any other value"
        in made.promise
    )


def test_the_plan_never_replaces_the_table(tmp_path):
    table = Path(as_csv(PEOPLE, tmp_path))
    odd = table.rename(table.with_suffix(".json"))
    with pytest.raises(hetdp.UsageError, match="an input is never overwritten"):
        hetdp.ask(odd, **QUESTION, plan=odd, dry_run=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sheet": "nonsense"}, "a table 'nonsense' in a data frame"),
        ({"design": []}, "the design"),
        ({"design": ""}, "the design"),
        ({"plan": 5}, "the plan is 5"),
        ({"announce": 5}, "announce= is 5"),
        ({"workers": 2}, "workers= is 2; it must be a hetdp.Workers"),
        ({"payment": "a.ledger"}, "payment= is 'a.ledger'; it must be a hetdp.Payment"),
        ({"count": "vote = '\udcff'"}, "what is counted is not UTF-8 text"),
    ],
)
def test_misused_arguments_are_refused_before_anything_is_read(given, words, tmp_path):
    table = FORMATS["pandas"](PEOPLE, tmp_path)
    for way in ({"dry_run": True}, {"payment": hetdp.Payment(str(tmp_path / "some.ledger"))}):
        with pytest.raises(hetdp.UsageError, match=words):
            hetdp.ask(table, **(QUESTION | way | given))


def test_a_lazy_frame_is_a_table(tmp_path):
    lazy = FORMATS["polars"](PEOPLE, tmp_path).lazy()
    assert (
        hetdp.ask(lazy, **QUESTION, dry_run=True).promise
        == hetdp.ask(as_csv(PEOPLE, tmp_path), **QUESTION, dry_run=True).promise
    )


def test_a_lazy_frame_is_computed_once_so_that_everybody_keeps_their_own_epsilon():
    votes = [["yes", "no"][at % 2] for at in range(60)]
    people = polars.DataFrame({"id": range(60), "area": [f"{at:02}" for at in range(60)], "vote": votes})
    lazy = people.lazy().map_batches(lambda rows: rows.sample(fraction=1.0, shuffle=True))  # another order each time
    result = hetdp.ask(lazy, "vote = 'yes'", at_least=1, epsilon=200, person="id", by="area", simulate=True)
    assert [one.answer for one in result.simulated] == votes


def test_the_error_of_a_lazy_frame_contains_no_cell():
    people = polars.DataFrame({"id": [1, 2], "vote": ["secret", "7"]}).lazy().with_columns(polars.col("vote").cast(int))
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.ask(people, "vote = 7", at_least=1, epsilon=1, person="id", dry_run=True)
    assert "cannot be computed" in str(refusal.value)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("design", ["balanced", "weighted-vote", "fair"])
def test_the_odds_name_people_who_are_protected_only_where_they_decide(design, tmp_path):
    columns = PEOPLE | {
        "eps": [0.3, 0.3, "inf", "inf", 0.3, "inf", "inf"],
        "dec": [0.3, 0.3, 0.2, 0.1, 0.3, 0.2, "inf"],
    }
    result = hetdp.ask(
        as_csv(columns, tmp_path), **QUESTION, deciding_epsilon="dec", group="role", design=design, dry_run=True
    )
    found = {one.group: (one.people, one.unprotected, one.only_deciding) for one in result.promises[0].protections}
    assert found == {"guest": (1, 1, 0), "pupil": (3, 0, 0), "staff": (3, 0, 3)}
    lines = result.promise.splitlines()
    where = "protected only where the answer depends on one of them (elsewhere ε = inf)"
    report = result.promises[0].protections
    used = {one.group: "all privacy" if one.used == float("inf") else f"{one.used:g}" for one in report}
    at = lines.index(f"protected: 3 people of 'staff': {where}, {used['staff']} charged")
    assert re.fullmatch(
        r"  A promise is made to these people only where the answer depends on one of them \(elsewhere ε = ∞\):"
        r" there, if they answer differently, the published answer is (yes|no) in at most 5\d of 100 runs instead of"
        r" 4\d;"
        r" elsewhere the published answer may reveal their answers with certainty\.",
        lines[at + 1],
    )
    assert f"protected: 1 person of 'guest': no protection promised (ε = inf), {used['guest']} charged" in lines
    everybody = hetdp.ask(as_csv(columns, tmp_path), **QUESTION, deciding_epsilon="dec", design=design, dry_run=True)
    (all_,) = everybody.promises[0].protections
    most = "all privacy" if all_.used == float("inf") else f"{all_.used:g}"
    words = f"protected: 7 people: ε from 0.3 to inf allowed, at most {most} charged"
    words += "; 3 of them are protected only where the answer depends on one of them"
    assert f"{words}; 1 of them are promised no protection" in everybody.promise.splitlines()
    assert "A promise is made to 3 of 7 people only where" in all_.odds
    assert "No promise is made to 1 of 7 people" in all_.odds


def test_thousands_of_groups_are_not_all_listed(tmp_path):
    columns = (
        PEOPLE | {key: PEOPLE[key] * 5 for key in PEOPLE} | {"id": [*range(35)], "role": [f"r{n}" for n in range(35)]}
    )
    result = hetdp.ask(as_csv(columns, tmp_path), **QUESTION, group="role", dry_run=True)
    assert "and 15 groups more, in the plan" in result.promise.splitlines()
    assert result.promise.count("protected: 1 person of") == 20
    assert len(result.promises[0].protections) == 35
