"""What is asked of a table: thresholds, sources of ε, columns."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from hetdp.errors import UsageError
from hetdp.people.privacy.epsilons import parse_epsilon
from hetdp.tables.request import Epsilon, build_request, epsilon_from, epsilon_of, request_from_document
from tests.loops import for_each
from tests.tables.tables import ASKED, request_of


@for_each(
    ("threshold", "question"),
    [
        ({"at_least": 3}, "at least 3"),
        ({"more_than": 3}, "at least 4"),
        ({"at_least": "3"}, "at least 3"),
        ({"at_least": 0}, "at least 0"),
        ({"at_least": "0%"}, "at least 0%"),
        ({"at_least": "100%"}, "at least 100%"),
        ({"more_than": "1/2"}, "more than half"),
        ({"at_least": 0.25}, "at least 25%"),
    ],
)
def test_a_threshold_is_a_number_of_rows_or_a_share_of_them(threshold, question):
    found = build_request(**ASKED, **threshold).question
    assert question in str(found)


@for_each("threshold", [-1, "-1", 1.5, "101%", "-1%", "2.0", "many", True, None, "3 people"])
def test_other_thresholds_are_refused(threshold):
    with pytest.raises(UsageError):
        build_request(**ASKED, at_least=threshold)
    with pytest.raises(UsageError, match="two thresholds"):
        build_request(**ASKED, at_least=1, more_than=1)


def test_a_share_of_respondents_distinguishes_blank_rows_and_a_number_does_not():
    assert request_of(at_least="50%", of="respondents").places == (0, 1, 2)
    assert request_of(at_least="50%", of="all").places == (0, 1, 1)
    assert request_of(of="all").values == ("yes", "not yes")
    with pytest.raises(UsageError, match="only a share can be of respondents"):
        request_of(of="respondents")


def test_epsilon_has_exactly_one_source():
    assert epsilon_of(0.5, None, None).constant == parse_epsilon("0.5")
    assert epsilon_of("eps", None, None).column == "eps"
    by_group = epsilon_of(None, {"b": 1, "a": "inf"}, "role").by_group
    assert [group for group, _ in by_group] == ["a", "b"]
    for given, by, group, words in (
        (None, None, None, "no ε"),
        (1, {"a": 1}, "role", "ε twice"),
        (None, {"a": 1}, None, "but no column of groups"),
        (None, {}, "role", "it must be a mapping"),
        (None, ["a"], "role", "it must be a mapping"),
        (-1, None, None, "-1"),
        ("1,5", None, None, "1,5"),
        ("50%", None, None, "50%"),
        ("nan", None, None, "nan"),
        (" - 1", None, None, "- 1"),
    ):
        with pytest.raises(UsageError, match=words):
            epsilon_of(given, by, group)
    assert epsilon_of("1st", None, None).column == "1st"


def test_the_source_of_epsilon_in_a_plan_agrees_with_its_columns():
    assert epsilon_from({"column": "eps"}, "eps", None, "ε", "here") == Epsilon(column="eps")
    assert epsilon_from({"constant": "0.5"}, None, None, "ε", "here").constant == parse_epsilon("0.5")
    for where, column in (
        ({"column": "eps"}, "other"),
        ({"column": "eps"}, None),
        ({"constant": "1"}, "eps"),
        ({}, None),
    ):
        with pytest.raises(UsageError, match="exactly one source"):
            epsilon_from(where, column, None, "ε", "here")
    with pytest.raises(UsageError, match="exactly one source"):
        epsilon_from({"constant": "1", "column": None}, None, None, "ε", "here")


def test_a_request_comes_back_from_its_plan():
    for more in (
        {},
        {"deciding": "dec", "group": "role", "area": "county"},
        {"epsilon": None, "by_group": {"a": 1}, "group": "role", "deciding_by_group": {"a": "0.5"}},
        {"exact_text": True, "objective": "fair"},
    ):
        found = request_of(**more)
        assert request_from_document(found.document()) == found
    assert request_of(counted="age > 3", exact_text=True).exact_text is False, "no text is compared"
    assert request_of(counted="vote IS NULL", exact_text=True).exact_text is True


def test_a_threshold_is_read_in_one_way_and_what_could_be_read_in_two_is_refused():
    for given, words in (
        (1, "at least 1 row"), ("1", "at least 1 row"), (0.6, "at least 60%"), ("0.6", "at least 60%"),
        ("0.6%", "at least 0.6%"), ("100%", "at least 100%"), ("3/3", "at least 100%"), (60, "at least 60 rows"),
    ):  # fmt: skip
        assert str(request_of(at_least=given).question).startswith(words), given
    for given in (1.0, "1.0", Decimal("1.0"), Fraction(1)):
        with pytest.raises(UsageError, match=r"as one person, or as everyone\. Hint: write 1 or 100%"):
            request_of(at_least=given)
    with pytest.raises(UsageError, match=r"Hint: a percentage has a percent sign: 50\.5%"):
        request_of(at_least=50.5)


def test_columns_are_public_or_private_and_never_both():
    found = request_of(counted="b = 1 OR a = 2 OR b = 3", deciding="eps", group="role", area="role")
    assert found.public == ["id", "eps", "role"]
    assert sorted(found.private) == ["a", "b"]
    with pytest.raises(UsageError, match="the column 'eps' is counted and used as a public column"):
        request_of(counted="eps > 1")
    with pytest.raises(UsageError, match="no column identifies people"):
        request_of(person=None)
    with pytest.raises(UsageError, match="it must be true or false"):
        request_of(exact_text=1)
