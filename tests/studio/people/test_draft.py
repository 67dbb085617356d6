"""What was typed becomes the arguments of `ask`, or a message beside the field."""

from __future__ import annotations

import pandas
import pytest

import hetdp
from hetdp.errors import UsageError
from hetdp.studio.people.draft import Draft, read_epsilon, read_share
from hetdp.studio.people.table import open_table
from hetdp.studio.people.wording import question_sentence
from tests.loops import for_each
from tests.studio.people.conftest import SECRET


@pytest.fixture
def opened(table):
    found = open_table(table, {})
    for column, role in {"id": "person", "site": "public", "level": "public", "answer": "counted"}.items():
        found.set_role(column, role)
    return found


def draft_of(**fields) -> Draft:
    found = Draft()
    for name, value in ({"value": "move", "share": "50", "epsilon": "0.5"} | fields).items():
        found.set(name, value)
    return found


@pytest.mark.parametrize(
    ("operator", "value", "condition"),
    [
        ("is", "move", "answer = 'move'"),
        ("is", "it's", "answer = 'it''s'"),
        ("is-not", " move ", "answer != 'move'"),
        ("one-of", "move, stay,", "answer IN ('move', 'stay')"),
        ("at-least", "18", "answer >= 18"),
        ("less", "2024-01-31", "answer < '2024-01-31'"),
        ("empty", "", "answer IS NULL"),
    ],
)
def test_the_condition_is_written_as_ask_reads_it(opened, operator, value, condition):
    assert draft_of(operator=operator, value=value).condition(opened) == condition


def test_numbers_truth_and_names_with_spaces_are_written_by_the_type_of_the_column(tmp_path):
    place = tmp_path / "people.parquet"
    pandas.DataFrame({"id": [1, 2], "my age": [17, 18], "ill": [True, False]}).to_parquet(place)
    opened = open_table(place, {})
    opened.set_role("my age", "counted")
    assert draft_of(value="18").condition(opened) == '"my age" = 18'
    with pytest.raises(UsageError, match="the column holds numbers"):
        draft_of(value="old").condition(opened)
    opened.set_role("ill", "counted")
    assert draft_of(column="ill", value="True").condition(opened) == "ill = TRUE"


@for_each("share", ["0.5", "101", "-1", "half", "1e1", "1/0", "5 0"])
def test_a_share_that_could_be_misread_is_refused(share):
    with pytest.raises(UsageError):
        read_share(share)


@for_each("epsilon", ["", "much", "-1", "1,000", "nan", "-0.0"])
def test_an_epsilon_that_could_be_misread_is_refused(epsilon):
    with pytest.raises(UsageError):
        read_epsilon(epsilon)


def numbers(draft: Draft, what: str, column: str, **typed: str) -> Draft:
    for name, text in typed.items():
        draft.set_number(what, column, name, text)
    return draft


CASES = {
    "share": (draft_of(), "Do at least 50% of all 100 people have “move” in the column “answer”?"),
    "respondents": (
        draft_of(of="respondents", direction="more_than"),
        "Of the people who have an answer, among 100 in all, do more than 50% have “move”",
    ),
    "respondents of areas": (
        draft_of(of="respondents", area="site"),
        "one answer: of its people who have an answer, do at least 50% have “move” in the column “answer”? Exactly",
    ),
    "count": (draft_of(kind="count", number="40"), "Do at least 40 of all 100 people have"),
    "compare": (draft_of(kind="compare"), "than do not? A tie means no."),
    "both sites": (
        numbers(draft_of(kind="groups", group="site"), "threshold", "site", Town="50", Harbour="40"),
        "Do at least 40% of the 20 people of Harbour and at least 50% of the 80 people of Town have",
    ),
    "any site": (
        numbers(
            draft_of(kind="groups", group="site", joint="or", each="count"), "threshold", "site", Town="50", Harbour="4"
        ),
        "Do at least 4 of the 20 people of Harbour or at least 50 of the 80 people of Town have",
    ),
    "weighted": (
        numbers(draft_of(kind="weighted", group="site", sum="50%"), "weight", "site", Town="1", Harbour="2,5"),
        "a weight of at least 50% of 130 together? Weights: Harbour 2,5; Town 1.",
    ),
    "own areas": (
        numbers(draft_of(area="site", thresholds="own"), "area-threshold", "site", Town="50", Harbour="40"),
        "Harbour: at least 40%; Town: at least 50%. Exactly so many means yes.",
    ),
    "areas": (
        draft_of(area="site"),
        "For each “site”, one answer: do at least 50% of its people have “move” in the column “answer”?",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_question_is_asked_and_said_in_plain_words(opened, name):
    draft, words = CASES[name]
    assert words in question_sentence(draft, opened)
    assert draft.question_faults(opened) == {}
    asked = hetdp.ask(opened.path, **draft.arguments(opened), dry_run=True)
    assert asked.promises[0].people in (100, 20)
    assert SECRET not in asked.promise


@pytest.mark.parametrize(
    ("fields", "fault", "words"),
    [
        ({"value": ""}, "value", "you type the value"),
        ({"value": "18", "operator": "at-least"}, None, ""),
        ({"value": "old", "operator": "at-least"}, "value", "compare numbers, ISO dates"),
        ({"share": "0.5"}, "share", "such as 2/3. Hint: write 50% or 0.5%"),
        ({"share": "0,6"}, "share", "write 60% or 0.6%"),
        ({"share": "1"}, "share", "write 100% or 1%"),
        ({"share": "0.6%"}, None, ""),
        ({"share": "0"}, None, ""),
        ({"share": "400"}, "share", "the share is '400'; a share is a percentage"),
        ({"kind": "count", "number": "many"}, "number", "many"),
        ({"kind": "groups"}, "group", "no column of groups"),
        ({"kind": "groups", "group": "site"}, "group", "fewer than two groups"),
        ({"kind": "weighted", "group": "site"}, "sum", "no group has a weight"),
        ({"yes": "no"}, "yes", "must not be confused"),
        ({"yes": "They may", "no": "they may"}, "no", "must not be confused"),
        ({"title": "x" * 201}, "title", "at most 200 characters"),
    ],
)
def test_a_mistake_is_said_beside_its_field(opened, fields, fault, words):
    found = draft_of(**fields).question_faults(opened)
    assert set(found) == ({fault} if fault else set())
    assert not fault or words in found[fault]


def test_a_wrong_number_of_a_group_is_said_beside_it(opened):
    for kind, what, typed, wrong in (
        ("groups", "threshold", "0,5", "write 50% or 0.5%"),
        ("weighted", "weight", "much", "is not a number"),
    ):
        draft = numbers(draft_of(kind=kind, group="site", sum="3"), what, "site", Town=typed, Harbour="40")
        ((field, words),) = draft.question_faults(opened).items()
        assert field == f"{what}-1", "Harbour is the first in alphabetical order"
        assert wrong in words
        numbers(draft, what, "site", Town="50")
        assert draft.question_faults(opened) == {}


def test_each_area_needs_its_own_threshold(opened):
    draft = draft_of(area="site", thresholds="own", kind="count")
    assert set(draft.question_faults(opened)) == {"area-threshold-0", "area-threshold-1"}
    numbers(draft, "area-threshold", "site", Town="30", Harbour="4")
    assert draft.arguments(opened)["at_least_by"] == {"Harbour": "4", "Town": "30"}


def test_groups_of_the_question_and_levels_of_protection_are_columns_of_their_own(opened):
    draft = numbers(draft_of(kind="groups", group="site"), "threshold", "site", Town="50", Harbour="40")
    draft.set("protection", "levels")
    draft.set("level", "level")
    found = numbers(draft, "epsilon", "level", open="1", strict="0.1").arguments(opened)
    assert (found["group"], found["level"]) == ("site", "level")
    assert hetdp.ask(opened.path, **found, dry_run=True).promises[0].people == 100


def test_a_choice_that_is_not_offered_changes_nothing(opened):
    draft = draft_of(kind="poem", direction="below", of="nobody")
    assert (draft["kind"], draft["direction"], draft["of"]) == ("share", "at_least", "all")
    assert draft_of(area="answer").arguments(opened).get("by") is None
    assert draft_of(kind="groups", group="answer").group(opened) == ""


def test_each_level_needs_an_epsilon_and_there_is_no_default(opened):
    draft = draft_of(protection="levels", level="level")
    assert set(draft.protection_faults(opened)) == {"epsilon-0", "epsilon-1"}
    numbers(draft, "epsilon", "level", open="1", strict="0.1")
    assert draft.protection_faults(opened) == {}
    assert draft.protection_arguments(opened) == {"level": "level", "epsilon_by": {"open": "1", "strict": "0.1"}}
    assert set(draft_of(epsilon="").protection_faults(opened)) == {"epsilon"}


def test_the_values_of_a_counted_column_are_never_read(opened):
    with pytest.raises(UsageError, match="only the values of public columns"):
        opened.values("answer")
    with pytest.raises(UsageError, match="only the values of public columns"):
        opened.values("id")


def test_a_column_whose_values_were_shown_cannot_be_counted(opened):
    assert opened.values("site").counts == {"Town": 80, "Harbour": 20}
    with pytest.raises(UsageError, match="was called public"):
        opened.set_role("site", "counted")
    opened.set_role("level", "counted")  # its values were not shown
    assert opened.with_role("counted") == ["level", "answer"]
