"""Every kind of question, every rule and every key is described with an example, and nothing else is described."""

from __future__ import annotations

import inspect
import re
import tomllib
from typing import Any

from hetdp.people.privacy import situations
from hetdp.people.privacy.rule import Rule
from hetdp.people.questions.question import QUESTION_KINDS
from hetdp.people.questions.reading import COMBINATIONS, kind_names
from tests.documents.pages import DOCS
from tests.loops import for_each

PAGE = DOCS / "reference" / "questions.md"
TEXT = PAGE.read_text(encoding="utf-8")
REQUIRED = "**required**"
KINDS = kind_names()
SECTIONS = {part.splitlines()[0]: part for part in re.split(r"^#+ ", TEXT, flags=re.MULTILINE)[1:]}
DOCUMENT = ["schema_version", "kind"]


def described_keys(heading: str) -> dict[str, bool]:
    """The keys below a heading, and whether they are required."""
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", SECTIONS[heading], re.MULTILINE)
    return {key: REQUIRED in meaning for key, meaning in rows}


def examples(heading: str) -> list[dict[str, Any]]:
    """The TOML documents below a heading, as they are read."""
    found = re.findall(r"from_toml\('''\n(.*?)'''", SECTIONS[heading], re.DOTALL)
    return [tomllib.loads("\n".join(line[4:] for line in text.splitlines())) for text in found]


def keys_of(kind: str) -> dict[str, bool]:
    """The keys that a question of some kind may have, and whether they are required."""
    if kind in QUESTION_KINDS:
        parameters = inspect.signature(QUESTION_KINDS[kind]).parameters.values()
        return {one.name: one.default is one.empty for one in parameters}
    return {"parts" if kind in COMBINATIONS else "part": True}


def test_every_kind_of_question_has_a_section():
    first, last = (list(SECTIONS).index(heading) for heading in ("A question", "Privacy rules"))
    assert sorted(list(SECTIONS)[first + 1 : last]) == sorted(KINDS)


@for_each("kind", KINDS)
def test_every_key_of_a_question_is_described_and_there_is_an_example(kind):
    assert described_keys(kind) == keys_of(kind)
    (document,) = examples(kind)
    assert document["question"]["asks"] == kind


def test_every_key_is_in_some_example():
    used = {key for kind in KINDS for document in examples(kind) for key in document["question"]}
    assert used == {"asks", *(key for kind in KINDS for key in keys_of(kind))}


def test_every_key_of_a_rule_is_described_and_in_an_example():
    parameters = inspect.signature(Rule).parameters.values()
    assert described_keys("A rule") == {one.name: one.default is one.empty for one in parameters}
    (document,) = examples("A rule")
    assert {key for rule in document["rules"] for key in rule} == set(described_keys("A rule"))


def test_every_situation_is_described_and_in_an_example():
    kinds = {situations.DECIDING, situations.WITHIN, situations.ANSWER}
    assert kinds == {value for name, value in vars(situations).items() if name.isupper() and value in situation_names()}
    assert {re.findall(r"\w+", when)[0] for when in described_keys("When")} == kinds
    (document,) = examples("When")
    used = [rule["when"] for rule in document["rules"] if "when" in rule]
    assert {one if isinstance(one, str) else next(iter(one)) for one in used} == kinds


def situation_names() -> set[str]:
    """The names of situations, taken from the rule in the error message."""
    return set(re.findall(r"[a-z]+", situations.WHEN_RULE)) - {"it", "is", "d", "or", "not", "given"}


def test_the_keys_of_both_documents_are_described():
    assert list(described_keys("A question")) == [*DOCUMENT, "question"]
    assert list(described_keys("Privacy rules")) == [*DOCUMENT, "rules"]
