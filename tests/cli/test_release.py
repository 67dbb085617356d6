"""hetdp release, hetdp record verify, and hetdp ask with a ledger."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hetdp
import hetdp as package
from hetdp.cli import (
    output,
)
from hetdp.cli import (
    release as release_verb,
)
from hetdp.cli.main import main
from hetdp.errors import UsageError
from hetdp.releases.record.document import DIGEST, digest_of
from tests.cli.heard import Heard
from tests.releases.worlds import LABELS, make_ledger, poll_mechanism

PLACES = ("poll.json", "m.json")
ASK = ("ask", "survey.csv", "--count", "vote = 'yes'", "--at-least", "50%", "--person", "id", "--epsilon", "eps")
SURVEY = "id,county,eps,vote\n1,N,0.5,yes\n2,S,1,no\n3,S,1,\n"
SECRETS = [
    "s3cret",
    "-s3cret",
    "--s3cret",
    "s3cret\nx",
    '{"s3cret": 1}',
    '[1, [2, "s3cret"]]',
    "s3cret\u202e",
    "'s3cret'",
]


def release_with_plan(hetdp, *words):
    """The release of a plan that a dry run of the same words has written."""
    paying = {"--ledger", "-o", "--html", "--version"}
    dry = [word for before, word in zip(("", *words), words, strict=False) if not {before, word} & paying]
    assert hetdp(*dry, "--dry-run", "-q").code == 0
    return hetdp(*words)


@pytest.fixture
def release(hetdp, folder):
    """Runs `hetdp release` on a small poll, with a ledger."""
    mechanism = poll_mechanism()
    package.save(mechanism.problem, PLACES[0])
    package.save(mechanism, PLACES[1])
    make_ledger(folder)
    return lambda *options, **given: hetdp("release", *PLACES, "--ledger", "a.ledger", *options, **given)


def test_an_answer_is_released_recorded_and_verified(hetdp, release):
    result = release("--dataset", "two", "-o", "record.json", "--html", "page.html")
    assert result.code == 0
    assert result.out in ("released answer: aye\n", "released answer: nay\n")
    assert result.err.splitlines()[1:] == [
        f"paid; entry 3 of the ledger, {json.loads(Path('record.json').read_text())['ledger']['hash'][:16]}…",
        "wrote record.json",
        "wrote page.html; until you let others read it, only you can open it: chmod a+r page.html",
    ]
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("record.json", "page.html")] == [0o600, 0o600]
    assert result.out.split()[-1] in Path("page.html").read_text(encoding="utf-8")
    again = release("--dataset-from", "-", stdin="two\n")
    assert [line.split(" (as")[0] for line in again.out.splitlines()] == result.out.splitlines()
    assert "it was released before, so nothing was spent; entry 3" in again.err
    Path("label.txt").write_text("two\r\n")
    assert release("--dataset-from", "label.txt", "-q").out == again.out
    given = ("--ledger", "a.ledger", "--problem", "poll.json", "--mechanism", "m.json")
    verified = hetdp("record", "verify", "record.json", *given, "-q")
    assert (verified.code, verified.err) == (0, "")
    assert [line.split(":")[0] for line in verified.out.splitlines()] == ["holds"] * 6


def test_documents_hold_the_whole_record(hetdp, release):
    found = release("--dataset", "two", "-o", "record.json", "--json", "-q").document
    assert (found["verb"], found["released"], found["repeated"], found["output"]) == (
        "release",
        True,
        False,
        "record.json",
    )
    assert found["record"] == json.loads(Path("record.json").read_text())
    verdict = hetdp("record", "verify", "record.json", "--json").document
    assert (verdict["valid"], [check["name"] for check in verdict["checks"]]) == (True, ["record"])


def test_a_statement_is_two_sentences_of_a_record_that_was_not_changed(hetdp, release):
    import hetdp as library

    record = release("--dataset", "two", "-o", "record.json", "--json", "-q").document["record"]
    result = hetdp("record", "statement", "record.json")
    assert (result.code, result.out.rstrip("\n")) == (0, library.statement(record))
    document = hetdp("record", "statement", "record.json", "--json").document
    assert (document["statement"], document["record_file"]) == (library.statement(record), "record.json")
    refused = hetdp("record", "statement", "record.json", "--plan", "plan.json")
    assert (refused.code, refused.out) == (2, "")
    assert "--plan for statement; it takes the record alone. Hint: hetdp record verify" in refused.err
    Path("record.json").write_text(Path("record.json").read_text().replace("at least two", "at least six"))
    changed = hetdp("record", "statement", "record.json")
    assert (changed.code, changed.out) == (3, "")
    assert "record.json: the record was changed; its digest must match its content" in changed.err


def test_a_changed_record_ends_with_5(hetdp, release):
    release("--dataset", "two", "-o", "record.json")
    text = Path("record.json").read_text(encoding="utf-8")
    Path("record.json").write_text(text.replace("at least two", "at least six"), encoding="utf-8")
    result = hetdp("record", "verify", "record.json")
    assert result.code == 5
    assert result.out.startswith("FAILS: the record was changed")
    Path("broken.json").write_text("{")
    assert hetdp("record", "verify", "broken.json").code == 3
    assert hetdp("record", "verify", "record.json", "--problem", "poll.json").code == 2
    assert hetdp("record", "verify", "record.json", "--ledger", "nowhere.ledger").code == 7


@pytest.mark.parametrize("secret", SECRETS)
def test_no_message_contains_what_was_given_as_the_dataset(secret, release):
    for options, given in ((("--dataset", secret), {}), (("--dataset-from", "-"), {"stdin": secret})):
        for more in ((), ("--json",)):
            result = release(*options, *more, **given)
            assert result.code == 3
            assert "s3cret" not in result.out + result.err
            assert "no such dataset" in result.err
    assert len(package.Ledger("a.ledger").history()) == 2


@pytest.mark.parametrize("words", [("two", "s3cret"), ("two", "-s3cret"), ("two", "--s3cret"), ("two", "--s3cret=1")])
def test_a_name_without_quotation_marks_is_not_printed_either(words, release):
    result = release("--dataset", *words)
    assert result.code == 2
    assert "s3cret" not in result.out + result.err


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (1 << 20) + b"s3cret", b""])
def test_a_value_that_is_not_a_label_is_refused_without_being_shown(data, hetdp, release):
    Path("label.txt").write_bytes(data)
    result = release("--dataset-from", "label.txt")
    assert result.code in (2, 3)
    assert "s3cret" not in result.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "no dataset; --dataset or --dataset-from"),
        (("--dataset", "two", "--dataset-from", "-"), 2, "two datasets"),
        (("--dataset-from", "nowhere.txt"), 2, "cannot be read"),
        (("--dataset", "two", "-o", "-"), 2, "a record is kept in a file"),
        (("--dataset", "two", "-o", "record.txt"), 2, "ends in .json"),
        (("--dataset", "two", "--html", "page.json"), 2, "ends in .html"),
        (("--dataset", "two", "-o", "m.json"), 2, "an input is never overwritten"),
        (("--dataset", "two", "-o", "nowhere/record.json"), 2, "is not a folder"),
        (("--dataset", "two", "--source", "other"), 2, "has no source 'other'"),
        (("--dataset", "two", "--version", ""), 2, "a version of the data"),
        (("--dataset", "two", "--after", "poll.json"), 3, "expected the kind 'release'"),
        (("--dataset", "two", "--ledger", "nowhere.ledger"), 7, "there is no ledger here"),
        (("--dataset", "two", "--ledger", "poll.json"), 7, "poll.json"),
    ],
)
def test_a_refused_release_spends_nothing(options, code, words, release):
    result = release(*options)
    assert (result.code, result.out) == (code, "")
    assert words in result.err
    assert len(package.Ledger("a.ledger").history()) == 2


def test_a_ledger_is_needed(hetdp, release):
    result = hetdp("release", *PLACES, "--dataset", "two")
    assert (result.code, result.out) == (2, "")
    assert "what is released is paid for in a ledger" in result.err


def test_a_mechanism_of_another_problem_or_a_changed_one_is_refused(hetdp, release):
    text = Path("poll.json").read_text(encoding="utf-8").replace('"epsilon": 1.0', '"epsilon": 0.9')
    Path("other.json").write_text(text, encoding="utf-8")
    result = hetdp("release", "other.json", "m.json", "--dataset", "two", "--ledger", "a.ledger")
    assert (result.code, result.out) == (3, "")
    assert "made for another problem" in result.err
    document = json.loads(Path("m.json").read_text(encoding="utf-8"))
    row = document["datasets"][3]
    row["z"] = row["z"] * (1 + 2**-52)
    Path("m.json").write_text(json.dumps(document), encoding="utf-8")
    result = release("--dataset", "two", "--json")
    assert result.code == 5
    assert result.document["error"]["kind"] == "verification"
    assert "nothing is released, since the mechanism is NOT PRIVATE" in result.err
    assert len(package.Ledger("a.ledger").history()) == 2


def test_a_budget_that_does_not_suffice_ends_with_6(hetdp, release):
    codes = [release("--dataset", "two", "--version", str(at), "-q").code for at in range(4)]
    assert codes == [0, 0, 0, 6]
    result = release("--dataset", "two", "--version", "9", "-o", "record.json", "--json")
    assert (result.code, result.document["error"]["kind"]) == (6, "budget")
    assert not Path("record.json").exists()


def test_an_answer_is_shown_even_if_its_record_cannot_be_written(release, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hetdp.releases.release.write_json", full)
    result = release("--dataset", "two", "-o", "record.json")
    assert result.code == 9
    assert result.out.startswith("released answer: ")
    assert "hetdp: the answer was released and is in the ledger, but its record was not written" in result.err
    assert "entry 3 of the ledger" in result.err
    document = release("--dataset", "two", "-o", "record.json", "--json").document
    assert document["repeated"]
    assert "was not written" in document["unwritten"]
    assert "output" not in document
    monkeypatch.undo()


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("refusal", [OSError(28, "No space left on device"), BrokenPipeError()])
def test_an_answer_that_cannot_be_shown_was_paid_for_and_can_be_asked_for_again(
    options, refusal, release, monkeypatch, capsys
):
    command = ["release", *PLACES, "--ledger", "a.ledger", "--dataset", "two", "-q", *options]
    write = sys.stdout.writelines

    def full(_: object) -> None:
        monkeypatch.setattr(sys.stdout, "writelines", write)
        raise refusal

    monkeypatch.setattr(sys.stdout, "writelines", full)
    monkeypatch.setattr("hetdp.cli.output.abandon_output", lambda: None)
    assert main(command) == 9
    result = capsys.readouterr()
    assert result.out == ""
    assert result.err.startswith("hetdp: the answer was released and is in the ledger, but it could not be shown: ")
    assert "ask again; the answer will be the same, and nothing is spent" in result.err
    assert len(package.Ledger("a.ledger").history()) == 3
    assert release("--dataset", "two").code == 0
    assert len(package.Ledger("a.ledger").history()) == 3


def test_asking_a_table_charges_everybody(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    ledger = make_ledger(folder, 1.2)
    options = ("--by", "county", "--ledger", "a.ledger", "--plan", "plan.json", "-o", "r.json", "--html", "r.html")
    result = release_with_plan(hetdp, *ASK, *options)
    assert result.code == 0
    assert [line.split(": ")[0] for line in result.out.splitlines()] == [
        "released answer in 'N'",
        "released answer in 'S'",
    ]
    (status,) = ledger.status()
    assert (status.people, status.most_spent) == (3, "1")
    assert stat.S_IMODE(Path("plan.json").stat().st_mode) == 0o600
    again = hetdp("ask", "survey.csv", "--plan", "plan.json", "--ledger", "a.ledger", "-q")
    assert [line.split(" (as")[0] for line in again.out.splitlines()] == result.out.splitlines()
    verified = hetdp("record", "verify", "r.json", "--ledger", "a.ledger", "--plan", "plan.json")
    assert verified.code == 0, verified.out
    refused = hetdp(*ASK, "--ledger", "a.ledger", "--json")
    assert (refused.code, refused.document["error"]["kind"]) == (6, "budget")
    document = hetdp("ask", "survey.csv", "--plan", "plan.json", "--ledger", "a.ledger", "-q", "--json").document
    assert document["released"]
    assert document["record"] == json.loads(Path("r.json").read_text(encoding="utf-8"))
    other = release_with_plan(
        hetdp, *ASK, "--ledger", "a.ledger", "--version", "2", "--epsilon", "0.1", "--plan", "other.json", "-q"
    )
    assert other.code == 0
    verdict = hetdp("record", "verify", "r.json", "--plan", "other.json")
    assert (verdict.code, verdict.out.splitlines()[1]) == (5, "FAILS: another plan was carried out")


def test_the_same_question_in_another_spelling_has_the_same_answer_and_record(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    Path("copy.csv").write_text(SURVEY)
    ledger = make_ledger(folder)
    arguments = ("--count", "vote = 'yes'", "--person", "id", "--ledger", "a.ledger", "-q", "--json")
    deciding = ("--deciding-epsilon", "0.1")
    first = hetdp("ask", "survey.csv", *arguments, "--at-least", "50%", "--epsilon", "0.5", *deciding).document
    assert not first["repeated"]
    again = hetdp(
        *("ask", "copy.csv", *arguments[2:], "--count", "(vote='yes')", "--at-least", "1/2", "--epsilon", "0.50"),
        *("--deciding-epsilon", "0.10"),
    ).document
    assert again["repeated"]
    assert again["record"] == first["record"]
    assert package.verify_record(again["record"], ledger=ledger).valid
    for other in (("--at-least", "70%", *deciding), ("--at-least", "50%"), ("--at-least", "50%", "--by", "county")):
        assert not hetdp("ask", "survey.csv", *arguments, "--epsilon", "0.5", *other).document["repeated"]


FORGERIES: list[tuple[Any, ...]] = [
    ("privacy", "promises", 0, "epsilon", "0.01"),
    ("privacy", "promises", 0, "least_epsilon", None),
    ("privacy", "promises", 0, "people", 7),
    ("privacy", "promises", 0, "whom", "nobody"),
    ("privacy", "promises", 0, "unprotected", 9),
    ("privacy", "promises", 0, "odds", None),
    ("privacy", "promises", 0, "delta", "0"),
    ("privacy", "promises", []),
    ("certificates", 0, "private", False),
    ("certificates", []),
    ("not_protected", []),
    ("not_protected", 0, "Nothing."),
    ("composition", "accounts", 2),
    ("composition", "kind", "class"),
    ("composition", "rule", "It is free."),
    ("software", "hetdp 99"),
]


@pytest.mark.parametrize("given", [("--epsilon", "0.5"), ("--group", "county", "--epsilon-by", "N=0.5,S=1")])
def test_a_plan_shows_forged_promises_proofs_and_accounts(given, hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder)
    assert (
        release_with_plan(
            hetdp, *ASK[:-2], *given, "--ledger", "a.ledger", "--plan", "p.json", "-o", "r.json", "-q"
        ).code
        == 0
    )
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    verdict = package.verify_record(record, plan="p.json")
    assert verdict.valid
    assert [line.split(":")[0] for line in str(verdict).splitlines()] == ["holds"] * 4 + ["not checked"] * 3
    assert package.verify_record(record, plan="p.json", ledger="a.ledger").unchecked == ()
    for *path, last, value in FORGERIES:
        forged = json.loads(json.dumps(record))
        at = forged
        for key in path:
            at = at[key]
        at[last] = value
        forged[DIGEST] = digest_of(forged)
        found = package.verify_record(forged, plan="p.json")
        assert [check.name for check in found.checks if not check.passed] == ["promises"], (path, last)


def test_without_the_ledger_a_flipped_answer_is_not_checked_and_the_output_says_so(hetdp, release):
    Path("survey.csv").write_text(SURVEY)
    package.Ledger.create("people.ledger", source="survey", cap=1)
    assert (
        release_with_plan(hetdp, *ASK, "--ledger", "people.ledger", "--plan", "p.json", "-o", "asked.json", "-q").code
        == 0
    )
    assert release("--dataset", "two", "-o", "released.json", "-q").code == 0
    for name, words, ledger, given in (
        ("asked.json", ("yes", "no"), "people.ledger", ("--plan", "p.json")),
        ("released.json", ("aye", "nay"), "a.ledger", ("--problem", PLACES[0], "--mechanism", PLACES[1])),
        ("released.json", ("aye", "nay"), "a.ledger", ()),
    ):
        record = json.loads(Path(name).read_text(encoding="utf-8"))
        other = 3 - record["answers"][0]["answer"]
        forged = record | {"answers": [record["answers"][0] | {"answer": other, "words": words[other - 1]}]}
        Path("forged.json").write_text(json.dumps(forged | {DIGEST: digest_of(forged)}), encoding="utf-8")
        found = hetdp("record", "verify", "forged.json", *given, "-q")
        assert found.code == 0
        assert "not checked: the answer itself, which only the ledger can confirm" in found.out.splitlines()
        found = hetdp("record", "verify", "forged.json", *given, "--ledger", ledger, "-q")
        assert (found.code, "not checked" in found.out) == (5, False)
        found = hetdp("ledger", "verify", ledger, "forged.json")
        assert (found.code, found.out.splitlines()[-1].split(";")[0]) == (0, "not checked: the rest of the records")


def test_a_group_that_is_left_out_of_the_promises_or_has_another_size_is_noticed(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder, "3")
    given = ("--group", "county", "--epsilon-by", "N=0.1,S=3", "--ledger", "a.ledger", "--plan", "p.json")
    assert release_with_plan(hetdp, *ASK[:-2], *given, "-o", "r.json", "-q").code == 0
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    strict, open_ = record["privacy"]["promises"]
    for promises in (
        [strict | {"people": 3}],
        [strict | {"people": 2}, open_ | {"people": 1}],
        [strict | {"used": "0.05"}, open_],
    ):
        forged = record | {"privacy": record["privacy"] | {"promises": promises}}
        found = package.verify_record(forged | {DIGEST: digest_of(forged)}, plan="p.json")
        assert [check.name for check in found.checks if not check.passed] == ["promises"]
        assert "the smallest ε of each group" in str(found)


def test_a_plan_allows_unprotected_people_and_people_protected_only_where_they_decide(hetdp, folder):
    Path("survey.csv").write_text("id,eps,dec,vote\n1,inf,0.5,yes\n2,inf,inf,no\n3,1,1,\n")
    make_ledger(folder, "inf")
    options = ("--deciding-epsilon", "dec", "--ledger", "a.ledger", "--plan", "p.json", "-o", "r.json", "-q")
    assert release_with_plan(hetdp, *ASK, *options).code == 0
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert len(record["not_protected"]) == 4
    assert package.verify_record(record, plan="p.json").valid
    forged = record | {"not_protected": [*record["not_protected"][:3], "Nobody."]}
    assert not package.verify_record(forged | {DIGEST: digest_of(forged)}, plan="p.json").valid


def test_the_page_shows_the_digest_that_was_approved_and_fits_every_width(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder)
    assert (
        release_with_plan(hetdp, *ASK, "--ledger", "a.ledger", "--plan", "p.json", "--html", "r.html", "-q").code == 0
    )
    page, plan = Path("r.html").read_text(encoding="utf-8"), json.loads(Path("p.json").read_text(encoding="utf-8"))
    assert f"<dt>the plan</dt><dd>{plan['plan_sha256']}</dd>" in page
    assert "dd { overflow-wrap: anywhere; }" in page


def save_sheets(name: str, *sheets: str) -> None:
    """The survey as several tables of an SQLite file."""
    header, *rows = [line.split(",") for line in SURVEY.split()]
    with closing(sqlite3.connect(name)) as file, file:
        for sheet in sheets:
            file.execute(f"CREATE TABLE IF NOT EXISTS {sheet} ({', '.join(header)})")
            file.executemany(f"INSERT INTO {sheet} VALUES ({', '.join('?' * len(header))})", rows)


def test_another_table_of_a_database_does_not_get_the_answer_of_this_one(hetdp, folder):
    save_sheets("hh.sqlite", "y2023")
    make_ledger(folder)
    arguments, paid = ("ask", "hh.sqlite", *ASK[2:]), ("--ledger", "a.ledger", "-q")
    assert hetdp(*arguments, *paid).code == 0
    save_sheets("hh.sqlite", "y2024")
    assert hetdp(*arguments, "--table", "y2024", "--plan", "plan.json", "--dry-run", "-q").code == 0
    for sheet in (("--table", "y2024"), ("--plan", "plan.json")):
        result = hetdp(*arguments, *sheet, *paid) if sheet[0] == "--table" else hetdp("ask", "hh.sqlite", *sheet, *paid)
        assert (result.code, result.out) == (2, "")
        assert "this was asked before, on " in result.err
        assert "of version '1' of the data, which was 'hh.sqlite', table 'y2023'" in result.err
    assert hetdp("ask", "hh.sqlite", "--plan", "plan.json", "--version", "2024", *paid).code == 0  # it names the table
    Path("survey.csv").write_text(SURVEY)
    result = hetdp(*ASK, *paid)  # a copy in another format
    assert (result.code, "of version '1' of the data)" in result.out) == (0, True)


def test_an_approved_plan_is_about_the_file_that_it_names(hetdp, folder):
    for year in ("2023", "2024"):
        Path(f"y{year}.csv").write_text(SURVEY)
    make_ledger(folder)
    paid = ("--ledger", "a.ledger", "-q")
    first = release_with_plan(hetdp, "ask", "y2023.csv", *ASK[2:], "--plan", "a.json", *paid)
    assert " (as released" not in first.out
    again = hetdp("ask", "y2023.csv", "--plan", "a.json", *paid)
    assert re.fullmatch(
        r"released answer: (yes|no) \(as released on \d{4}-\d\d-\d\d, of version '1' of .*\)\n", again.out
    )
    result = release_with_plan(hetdp, "ask", "y2024.csv", *ASK[2:], "--plan", "b.json", *paid)
    assert (result.code, result.out) == (2, "")
    assert "which was 'y2023.csv'; " in result.err
    assert hetdp("ask", "y2024.csv", *ASK[2:], *paid).out == again.out


def test_people_who_exchanged_their_areas_do_not_get_the_earlier_answers(hetdp, folder):
    Path("survey.csv").write_text("id,county,eps,vote\n1,N,1,yes\n2,S,1,no\n3,S,1,no\n")
    make_ledger(folder)
    paid = ("--by", "county", "--ledger", "a.ledger", "-q")
    assert hetdp(*ASK, *paid).code == 0
    Path("survey.csv").write_text("id,county,eps,vote\n1,S,1,yes\n2,N,1,no\n3,S,1,no\n")
    assert hetdp(*ASK, *paid).code == 2


def test_other_people_do_not_get_the_earlier_answer(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder)
    assert hetdp(*ASK, "--ledger", "a.ledger", "-q").code == 0
    Path("survey.csv").write_text(SURVEY.replace("\n1,", "\n9,"))
    result = hetdp(*ASK, "--ledger", "a.ledger", "-q")
    assert (result.code, result.out) == (2, "")
    assert "but other accounts paid" in result.err


@pytest.mark.parametrize("key", ["question", "accuracy", "security", "domain", "answers", "privacy"])
def test_a_forged_record_does_not_follow_from_the_plan(key, hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder)
    release_with_plan(hetdp, *ASK, "--by", "county", "--ledger", "a.ledger", "--plan", "plan.json", "-o", "r.json")
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert package.verify_record(record, plan="plan.json").valid
    record["accuracy"][0]["probability"] = "1.000000" if key == "accuracy" else record["accuracy"][0]["probability"]
    changed = {
        "question": "Is it so?",
        "security": [],
        "domain": record["domain"] | {"people": 4},
        "answers": record["answers"][::-1],
        "privacy": record["privacy"] | {"unit": "one cell"},
        "accuracy": record["accuracy"],
    }
    forged = record | {key: changed[key]}
    verdict = package.verify_record(forged | {DIGEST: digest_of(forged)}, plan="plan.json")
    assert [check.passed for check in verdict.checks] == [True, True, False, True]
    assert key in verdict.checks[2].message


def test_a_dry_run_can_be_released_from_python(folder):
    Path("survey.csv").write_text(SURVEY)
    ledger = make_ledger(folder)
    result = package.ask("survey.csv", "vote = 'yes'", at_least="50%", person="id", epsilon="eps", dry_run=True)
    found = package.release(result, ledger=ledger)
    assert str(found) in ("yes", "no")
    direct = package.ask(
        "survey.csv", "vote = 'yes'", at_least="50%", person="id", epsilon="eps", payment=package.Payment(ledger)
    )
    assert direct.release.repeated
    assert direct.released
    assert str(direct).endswith(str(found))
    with pytest.raises(package.UsageError, match="together with a question about a table"):
        package.release(result, "two", ledger=ledger)
    Path("survey.csv").write_text(SURVEY.replace("0.5", "0.6"))
    with pytest.raises(package.InputError, match="what was promised"):
        package.release(result, ledger=ledger)


def test_a_simulation_has_no_ledger_and_a_dry_run_no_record(hetdp, folder):
    Path("survey.csv").write_text(SURVEY)
    make_ledger(folder)
    result = hetdp(*ASK, "--simulate", "--ledger", "a.ledger")
    assert result.code == 2
    assert "only a release is paid for" in result.err
    for options, rule in (((), "only a release has"), (("--ledger", "a.ledger"), "a dry run writes no record")):
        result = hetdp(*ASK, "--dry-run", "-o", "r.json", *options)
        assert result.code == 2
        assert rule in result.err
    result = hetdp(*ASK, "--simulate", "-o", "r.json")
    assert "only a release has a source" in result.err


def test_a_closed_output_is_noticed_before_anything_is_spent(release, monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert main(["release", *PLACES, "--ledger", "a.ledger", "--dataset", LABELS[0]]) == 2
    assert len(package.Ledger("a.ledger").history()) == 2


def test_an_unknown_label_is_left_to_the_release():
    labels = hetdp.DatasetGraph.from_edges([1], [2], 1.0).labels
    assert (release_verb._label(labels, "1", None), release_verb._label(labels, "x", None)) == (1, "x")
    broken: Any = SimpleNamespace()  # looking it up raises
    assert release_verb._label(broken, "x", None) == "x"


def test_a_dry_run_ends_like_the_release():
    fits, refused = (SimpleNamespace(fits=fits) for fits in (True, False))
    assert (release_verb.price_code(fits), release_verb.price_code(refused)) == (0, 6)


def make_release(repeated: bool, constant: int = 0, areas: tuple[Any, ...] = (None,)) -> Any:
    record: dict[str, Any] = {
        "released": "2026-01-02T03",
        "composition": {"version": "7"},
        "cautions": ["c"],
        "constant": [0] * constant,
        "plan": None,
    }
    answers = [SimpleNamespace(area=area, words="aye", answer=1) for area in areas]
    receipt = {"entry": 3, "hash": "0" * 64}
    made = SimpleNamespace(record=record, answers=answers, repeated=repeated, receipt=receipt)
    made.releases = (made,)
    return made


def test_a_repeated_answer_says_when_it_was_given_first():
    assert list(release_verb.answer_lines(make_release(False))) == ["released answer: aye"]
    assert list(release_verb.answer_lines(make_release(True, areas=("N",)))) == [
        "released answer in 'N': aye (as released on 2026-01-02, of version '7' of the data)"
    ]


@pytest.mark.parametrize(
    ("repeated", "constant", "words"),
    [
        (False, 0, "paid;"),
        (True, 0, "it was released before"),
        (False, 1, "so nobody paid"),
        (True, 1, "released before"),
    ],
)
def test_the_output_says_who_paid(repeated, constant, words):
    heard: Any = Heard()
    release_verb.say_payment(heard, make_release(repeated, constant))
    assert heard.words[0] == "caution: c"
    assert words in heard.words[1]
    assert heard.words[1].endswith("entry 3 of the ledger, 0000000000000000…")


def test_a_released_answer_is_shown_or_said_to_be_lost(monkeypatch, capsys):
    written: list[Any] = []
    monkeypatch.setattr(output, "abandon_output", lambda: written.append("abandoned"))
    heard: Any = Heard()
    heard.emit = lambda lines: written.extend(lines)
    heard.emit_document = written.append

    def publish(fault: Any = None, as_json: bool = False, html: str | None = None) -> int:
        def make_it() -> Any:
            if fault is not None:
                raise fault
            return make_release(False)

        return release_verb.publish_release(heard, lambda *given: given[1:], make_it, "r.json", html, as_json)

    assert publish(html="r.html") == 0
    assert written == ["released answer: aye"]
    assert heard.words[-2:] == [
        "wrote r.json",
        "wrote r.html; until you let others read it, only you can open it: chmod a+r r.html",
    ]
    assert publish(as_json=True) == 0
    assert written[-1] == ("r.json", None, None)
    heard.words.clear()
    assert publish(hetdp.UnwrittenRecordError(make_release(False), "full")) == 9
    assert not any(words.startswith("wrote") for words in heard.words)
    assert "its record was not written: full" in capsys.readouterr().err

    def fail(fault: BaseException) -> Any:
        def emit(_: Any) -> None:
            raise fault

        return emit

    for fault, words in ((BrokenPipeError(), "nobody reads it"), (UsageError("it is closed", "x"), "it is closed")):
        heard.emit = fail(fault)
        assert publish() == 9
        assert f"could not be shown: {words}." in capsys.readouterr().err
        assert written[-1] == "abandoned"
    heard.emit = fail(KeyboardInterrupt())
    with pytest.raises(hetdp.errors.InterruptedSpend, match="could not be shown: it was interrupted"):
        publish()
