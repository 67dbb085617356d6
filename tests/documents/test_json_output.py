"""Every key of every --json document is described, and nothing is described that does not exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hetdp
from hetdp.cli.group import VERBS
from hetdp.cli.main import describe_error, main
from hetdp.files.problems import read_problem
from tests.documents.keys import DescribedKeys, keys_of
from tests.documents.pages import DOCS

PAGE = DOCS / "reference" / "json-output.md"
EVERY, ERRORS, CERTIFICATE = "Every document", "Errors", "A certificate"
GOOD = """{"schema_version": 1, "datasets": [{"dataset": 0, "query": 1}, {"dataset": 1, "query": 1, "p": 0.6},
  {"dataset": 2, "query": 2, "p": 0.4}, {"dataset": 3, "query": 2}],
 "edges": [{"source": 0, "target": 1, "epsilon": 1}, {"source": 1, "target": 2, "epsilon": 1},
  {"source": 2, "target": 3, "epsilon": "inf"}]}"""
FILES = {
    "good.json": GOOD,
    "bad.json": GOOD.replace("0.6", "0.9").replace("0.4", "0.1"),
    "faulty.json": GOOD.replace("0.6", "1.6"),
    "worse.json": GOOD.replace("0.6", "0.3"),
    "alone.json": '{"schema_version": 1, "datasets": [{"dataset": "a", "query": 1}], "edges": []}',
}
FILES |= {
    "approximate.json": GOOD.replace('n": 1}', 'n": 1, "delta": 0.001}').replace('inf"}', 'inf", "delta": 1}'),
    "gaussian.json": GOOD.replace('"epsilon"', '"mu"'),
}
FILES |= {"survey.csv": "id,county,eps,vote\n1,N,0.5,yes\n2,S,1,no\n3,S,inf,\n"}
FILES["survey.csv"] += "".join(f"{at},N,1,yes\n" for at in range(4, 25))  # enough for accuracy by share
FILES["questions.json"] = """{"schema_version": 1, "kind": "questions", "questions": [
  {"title": "Many?", "count": "vote = 'yes'", "at_least": 2},
  {"count": "vote = 'no'", "at_least": 1, "by": "county"}]}"""
QUESTION = "--count vote='yes' --at-least 50% --person id"
HEADINGS = {
    "extend": "extend and design",
    "design": "extend and design",
}  # for verbs whose heading is not the verb itself
COMMANDS = [  # each with its exit code; for every verb one that works and one that does not
    (0, "demo"),
    (0, "boundary good.json"),
    (3, "boundary faulty.json"),
    (0, "check good.json"),
    (4, "check bad.json"),
    (3, "check nowhere.json"),
    (0, "extend good.json"),
    (0, "extend good.json --no-verify"),
    (0, "extend good.json -o mechanism.json"),
    (0, "extend alone.json"),
    (0, "extend worse.json"),
    (4, "extend bad.json"),
    (3, "extend faulty.json"),
    (2, "extend good.json -o mechanism.txt"),
    (2, "extend good.json --unheard-of"),
    (0, "design good.json"),
    (0, "design good.json --free -o designed.json"),
    (0, "design good.json --free --objective average"),
    (0, "design good.json --free --objective average -o average.json"),
    (3, "design good.json --free --max-error 0.01"),
    (4, "design bad.json"),
    (0, "accuracy good.json"),
    (0, "accuracy good.json mechanism.json -o accuracy.csv"),
    (0, "accuracy good.json --odds"),
    (2, "accuracy good.json --prior weight"),
    (0, "make votes --people 3 --majority --epsilon 1 -o voters.json"),
    (0, "accuracy voters.json"),
    (2, "make votes --people 3 --majority --epsilon 1"),
    (3, "make votes --people a,b --majority --epsilon a=1 -o voters.json"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon 1 --by county --simulate --plan plan.json"),
    (0, f"ask survey.csv {QUESTION} --group county --epsilon-by N=1,S=2 --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --deciding-epsilon eps --design fair --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --deciding-epsilon 0.1 --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --group county --deciding-epsilon-by S=0.1 --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --deciding-epsilon 0.1 --by county --want 60% --at-share 100%"),
    (0, f"ask survey.csv {QUESTION} --epsilon 1 --by county --at-share 60%"),
    (0, "ask survey.csv --questions questions.json --epsilon 1 --person id --at-share 60%"),
    (2, f"ask survey.csv {QUESTION} --epsilon eps"),
    (3, f"ask survey.csv {QUESTION} --epsilon county --dry-run"),
    (0, "release good.json mechanism.json --ledger class.ledger --dry-run"),
    (6, "release good.json mechanism.json --ledger small.ledger --dry-run"),
    (0, f"ask survey.csv {QUESTION} --epsilon 1 --dry-run --ledger people.ledger"),
    (0, "release good.json mechanism.json --dataset 2 --ledger class.ledger"),
    (0, "release good.json mechanism.json --dataset 2 --ledger class.ledger -o record.json --html page.html"),
    (5, "release good.json tampered.json --dataset 2 --ledger class.ledger"),
    (6, "release good.json mechanism.json --dataset 2 --ledger small.ledger"),
    (7, "release good.json mechanism.json --dataset 2 --ledger nowhere.ledger"),
    (
        0,
        f"ask survey.csv {QUESTION} --epsilon 1 --by county --ledger people.ledger -o answers.json --html answers.html",
    ),
    (
        0,
        f"ask survey.csv {QUESTION} --epsilon 1 --group county --design fair --title Dogs? --yes May --no Not"
        " --ledger people.ledger",
    ),
    (0, f"ask survey.csv {QUESTION.replace('50%', '500')} --epsilon 1 --ledger people.ledger"),
    (0, "ask survey.csv --questions questions.json --title 2 --epsilon 1 --person id --simulate"),
    (
        0,
        "ask survey.csv --questions questions.json --title 2 --epsilon 1 --person id --dry-run --ledger people.ledger",
    ),
    (0, "ask survey.csv --questions questions.json --title 2 --epsilon 1 --person id --ledger people.ledger"),
    (0, "record verify record.json --ledger class.ledger --problem good.json --mechanism mechanism.json"),
    (3, "record verify good.json"),
    (0, "record statement record.json"),
    (0, f"ask survey.csv {QUESTION} --epsilon eps --dry-run --plan described.json"),
    (0, "record plan described.json"),
    (0, "ledger init school.ledger --source survey --cap 1 --class-cap pupils=0.6"),
    (2, "ledger init school.ledger --source survey --cap 1"),
    (0, "ledger declare school.ledger --source other --currency epsilon-delta --cap 1:1e-6"),
    (0, "ledger record school.ledger --source survey --charge pupils=0.1 --note elsewhere"),
    (0, "ledger declare school.ledger --source other --unit person --relation replace-one"),
    (0, "ledger status school.ledger"),
    (0, "ledger status people.ledger"),
    (0, "ledger history school.ledger"),
    (0, "ledger person people.ledger --id 2"),
    (0, "ledger verify school.ledger"),
    (0, "ledger export school.ledger"),
    (0, "ledger export school.ledger -o ledger.jsonl"),
    (7, "ledger status nowhere.ledger"),
    (0, "verify good.json mechanism.json"),
    (5, "verify good.json tampered.json"),
    (3, "verify good.json bad.json"),
    (0, "audit good.json mechanism.json --draws 1000"),
    (5, "audit good.json tampered.json --draws 1000"),
    (2, "audit good.json mechanism.json --draws 0"),
    (2, "audit good.json mechanism.json --confidence 1.5"),
    (0, "odds good.json"),
    (0, "odds good.json mechanism.json"),
    (3, "odds good.json tampered.json"),
    (0, "solve good.json 0.9 -o scaled.json"),
    (0, "solve good.json 90% --at 0 --at 1"),
    (3, "solve good.json 1.9"),
    (0, "explain good.json 0 1 3"),
    (0, "explain approximate.json 0"),
    (0, "explain gaussian.json 0"),
    (0, "check approximate.json"),
    (0, "extend approximate.json -o approximate-mechanism.json"),
    (0, "extend gaussian.json -o gaussian-mechanism.json"),
    (0, "plot good.json mechanism.json -o mechanism.svg"),
    (2, "plot good.json mechanism.json -o mechanism.txt"),
    (4, "explain bad.json 0"),
    (3, "explain good.json 7"),
    (2, "unheard-of"),
]


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs all commands and returns the documents that they print."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    problem, partial = hetdp.read_problem("good.json")
    hetdp.save(hetdp.extend(problem, partial), "tampered.json")
    text = re.sub(r'"p": .*, "pinned"', '"z": 9.0, "pinned"', Path("tampered.json").read_text(), count=1)
    Path("tampered.json").write_text(text)
    for name, cap in (("class.ledger", "inf"), ("people.ledger", "inf"), ("small.ledger", 0.1)):
        hetdp.Ledger.create(name, source="class", cap=cap, caps={"visitors": "inf"})
    capsys.readouterr()

    def run(command: str) -> tuple[int, Any]:
        code = main([*command.split(), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return {command: (expected, *run(command)) for expected, command in COMMANDS}


def test_the_commands_cover_every_verb():
    verbs = {command.split()[0] for _, command in COMMANDS}
    assert {*VERBS} - verbs == {"completion", "studio"}  # which print a script, and an address


def test_every_key_is_described_and_every_description_has_a_key(documents, monkeypatch, capsys):
    page, withheld = DescribedKeys(PAGE), documents["verify good.json tampered.json"][2]["certificate"]
    for command, (expected, code, document) in documents.items():
        assert code == expected, command
        for key in keys_of(document):
            heading = ERRORS if "error" in document else HEADINGS.get(document["verb"], document["verb"])
            assert page.has(EVERY, key) or page.has(heading, key), f"{command}: {key} is not described"
    for command in (
        "release good.json mechanism.json --dataset 2 --ledger class.ledger",
        f"ask survey.csv {QUESTION} --epsilon 1 --ledger people.ledger",
    ):
        with monkeypatch.context() as full:
            full.setattr("hetdp.releases.release.write_json", raise_disk_full)
            code = main([*command.split(), "-o", "unwritten.json", "--json"])
        document = json.loads(capsys.readouterr().out)
        assert (code, all(page.has(EVERY, key) or page.has(document["verb"], key) for key in keys_of(document))) == (
            9,
            True,
        )
    monkeypatch.setattr("hetdp.files.problems.read_problem", raise_verification_error)
    assert main(["extend", "good.json", "--json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert all(page.has(EVERY, key) or page.has(ERRORS, key) for key in keys_of(document))
    assert document["error"]["certificate"].keys() == withheld.keys()
    kinds = {row for heading, row in page.unused() if heading == ERRORS}
    assert page.unused() == {(ERRORS, kind) for kind in kinds}
    assert kinds == set(error_kinds(documents)), "the table of kinds"


def raise_disk_full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def raise_verification_error(*_: object, **__: object) -> None:
    problem, partial = read_problem("good.json")
    raise hetdp.VerificationError(hetdp.extend(problem, partial).certificate)


def error_kinds(documents: dict[str, Any]) -> list[str]:
    """All kinds of errors: those that occurred here, and those that cannot be provoked here."""
    seen = [document["error"]["kind"] for *_, document in documents.values() if "error" in document]
    rare = [
        hetdp.VerificationError(None),
        hetdp.BudgetError("survey", 1, 1),
        hetdp.ClusterError("a", "b"),
        MemoryError(),
        OSError("full"),
        RuntimeError("a bug"),
    ]
    return seen + [describe_error(error).kind for error in rare]
