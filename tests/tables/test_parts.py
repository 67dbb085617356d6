"""Parts of a question to a table one by one: requests, plans, promises in words, policies and checks of records."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.errors import InputError, UsageError
from hetdp.people.privacy.epsilons import parse_epsilon
from hetdp.tables import formats, people_table, plan, policy, promise, record, sources
from hetdp.tables.comparison import group_similar_names, instant, moment_of, spelling_pattern
from hetdp.tables.people_table import PARTS, combine_digests, part_digests
from hetdp.tables.policy import Names, Policy, epsilon_at_most, read_epsilons
from hetdp.tables.promise import Promise, Protection
from hetdp.tables.request import AskRequest, Epsilon, build_request, epsilon_from, epsilon_of, request_from_document
from tests.tables.tables import PEOPLE, as_csv

ASKED: dict[str, Any] = {"counted": "vote = 'yes'", "person": "id", "epsilon": "eps"}


def request_of(**more: Any) -> AskRequest:
    return build_request(**({"at_least": 3} | ASKED | more))


# Requests -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("threshold", [-1, "-1", 1.5, "101%", "-1%", "2.0", "many", True, None, "3 people"])
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


def test_columns_are_public_or_private_and_never_both():
    found = request_of(counted="b = 1 OR a = 2 OR b = 3", deciding="eps", group="role", area="role")
    assert found.public == ["id", "eps", "role"]
    assert sorted(found.private) == ["a", "b"]
    with pytest.raises(UsageError, match="the column 'eps' is used for both"):
        request_of(counted="eps > 1")
    with pytest.raises(UsageError, match="no column identifies people"):
        request_of(person=None)
    with pytest.raises(UsageError, match="it must be true or false"):
        request_of(exact_text=1)


# Plans ----------------------------------------------------------------------------------------------------------------


def test_differences_of_plans_are_named_by_their_places():
    before = {"a": {"x": 1, "y": [1, 2]}, "b": [1], "c_sha256": "0" * 64, "d": "z" * 300, "e": True}
    now = {"a": {"x": 1, "y": [1, 3], "z": 0}, "b": [1, 2], "c_sha256": "1" * 64, "d": "", "e": 1}
    assert list(plan._differences("plan", before, now)) == [
        ("plan.a.y[1]", "2", "3"),
        ("plan.a.z", "null", "0"),
        ("plan.b", "[1]", "[1, 2]"),
        ("plan.c_sha256", f'"{"0" * 16}…"', f'"{"1" * 16}…"'),
        ("plan.d", f'"{"z" * 199}…', '""'),
        ("plan.e", "true", "1"),
    ]
    assert len(plan._brief(list(range(500)), 16)) == 201
    assert plan._brief("x" * 198, 200) == '"' + "x" * 198 + '"'


def test_a_plan_is_a_json_file_beside_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plan.read_approved_plan(None, "t.csv") is None
    assert plan.read_approved_plan("new.JSON", "t.csv") is None
    for path, words in (
        (7, "it is the name of a .json file"),
        ("-", "saved in a file"),
        ("plan.txt", "ends in .json"),
        ("t.json", "would replace the table"),
        (tmp_path / "t.json", "would replace the table"),
        ("nowhere/plan.json", "is not a folder"),
    ):
        with pytest.raises(UsageError, match=words):
            plan.read_approved_plan(path, "t.json")
    with pytest.raises(UsageError, match=r"there is no plan 'new\.json'"):
        plan.read_approved_plan("new.json", "t.csv", releases=True)


def test_nothing_is_written_into_a_folder_that_is_a_table(tmp_path):
    inside, beside = tmp_path / "table" / "deep" / "plan.json", tmp_path / "plan.json"
    inside.parent.mkdir(parents=True)
    table = tmp_path / "table"
    plan.require_outside_table(table, [beside, None, 7])
    plan.require_outside_table(tmp_path / "t.csv", [inside])
    for places in ([inside], [beside, str(inside)]):
        with pytest.raises(UsageError, match="lies in the folder"):
            plan.require_outside_table(str(table), places)


def test_how_cells_are_compared_is_declared_only_where_it_matters():
    def meaning(counted: str, **more: Any) -> str:
        return plan.meaning_of_missing(request_of(counted=counted, **more))

    assert plan.FOLDED_COMPARISON in meaning("vote = 'yes'")
    assert plan.EXACT_COMPARISON in meaning("vote = 'yes'", exact_text=True)
    for counted in ("age > 3", "ok = TRUE", "day < '2024-01-31'"):
        assert plan.FOLDED_COMPARISON not in meaning(counted)
        assert ("must be finite numbers" in meaning(counted)) is (counted == "age > 3")
        assert ("compared with a date" in meaning(counted)) is (counted.startswith("day"))
    assert "compared with a date" not in meaning("day = '2024-01-31'")


# Promises in words ----------------------------------------------------------------------------------------------------


def words_of(**more: Any) -> str:
    given: dict[str, Any] = {"group": None, "people": 5, "least": 0.5, "largest": 0.5, "used": 0.25}
    given |= {"unprotected": 0, "only_deciding": 0, "odds": "odds"}
    return promise._protection_words(Protection(**(given | more)))


def test_a_promise_says_who_is_protected_how():
    assert words_of() == "5 rows: up to ε = 0.5 allowed, 0.25 used"
    assert words_of(group="pupil", people=1) == "1 row of 'pupil': up to ε = 0.5 allowed, 0.25 used"
    assert words_of(least=0.1) == "5 rows: ε from 0.1 to 0.5 allowed, at most 0.25 used"
    assert words_of(unprotected=5).startswith("5 rows: no protection promised (ε = inf)")
    assert words_of(only_deciding=5).startswith("5 rows: protected only where the answer depends on one of them")
    assert words_of(only_deciding=4).endswith("; 4 of them are protected only where the answer depends on one of them")
    assert words_of(unprotected=4).endswith("; 4 of them are promised no protection")


class Made:
    """The mechanism of a promise, as far as its words need it."""

    constant, objective = 0, "balanced"
    certificate = type("Certificate", (), {"method": "theorem", "optimal": True})

    def facts(self) -> None:
        return None


def promise_with(groups: int, area: str | None = None, accuracy: Any = ((1, 0.9, 0.1),)) -> Promise:
    one = Protection(None, 5, 0.5, 0.5, 0.25, 0, 0, "odds")
    return Promise(area, 5, (one,) * groups, Made(), accuracy)


def test_twenty_groups_of_an_area_are_described_and_the_others_counted():
    for groups, more in ((20, 0), (21, 1), (22, 2)):
        lines = list(promise._area_lines(promise_with(groups)))
        assert sum(line.startswith("protected: ") for line in lines) == 20
        found = [line for line in lines if line.endswith("more, in the plan")]
        assert found == ([] if not more else [f"and {more} group{'s' * (more > 1)} more, in the plan"])
    assert list(promise._area_lines(promise_with(1, "North")))[:2] == [
        "area 'North': 5 rows",
        "  protected: 5 rows: up to ε = 0.5 allowed, 0.25 used",
    ]


def test_twenty_areas_are_described_and_the_others_counted():
    request, people = request_of(area="county"), Policy(5, np.full(5, 0.5), None, None)
    for areas in (20, 21):
        lines = promise.promise_lines(request, people, [promise_with(1, "North")] * areas)
        assert sum(line.startswith("area ") for line in lines) == 20
        assert (lines[-1] == "and 1 area more, in the plan") is (areas == 21)
        assert promise.PARALLEL in lines
    assert promise.PARALLEL not in promise.promise_lines(request_of(), people, [promise_with(1)])


def test_groups_without_people_and_names_that_look_alike_are_announced():
    groups = Names(("Staff", "staff "), np.array([0, 1], dtype=np.int32))
    request = request_of(epsilon=None, by_group={"Staff": 1, "staff ": 1, "guest": 2}, group="role", deciding=0.5)
    lines = promise.promise_lines(request, Policy(2, np.ones(2), groups, None), [])
    assert "groups that are promised an ε but have no people: 'guest'" in lines
    assert any(
        line.startswith("groups that differ only in case") and line.endswith("'Staff', 'staff '") for line in lines
    )
    assert "where the answer depends on one person, ε is at most 0.5 for everybody" in lines


def test_the_largest_margin_without_an_advantage_over_a_coin():
    assert promise_with(1, accuracy=((1, 0.4, 0.6), (2, 0.5, 0.5), (3, 0.6, 0.4))).even_up_to == 2
    assert promise_with(1, accuracy=((1, 0.6, 0.4),)).even_up_to == promise_with(1).worse_up_to == 0


# Policies -------------------------------------------------------------------------------------------------------------


def test_a_numeral_with_many_digits_is_lowered():
    assert epsilon_at_most("0.1") == 0.1
    assert epsilon_at_most("1.2345678901234") == 1.2345678901234  # 15 characters
    assert epsilon_at_most("1.23456789012345") == np.nextafter(1.23456789012345, 0)
    assert epsilon_at_most("Infinity".rjust(20)) == np.inf
    rows = {"epsilon": np.array([0.5, 0.5, np.inf, -1.0]), "epsilon long": np.array([False, True, True, False])}
    assert read_epsilons(rows, "epsilon").tolist() == [0.5, np.nextafter(0.5, 0), np.inf, -1.0]
    assert read_epsilons({"epsilon": [0.5]}, "epsilon").tolist() == [0.5]


def policy_of(epsilon: Any, groups: Any = None, areas: Any = None, deciding: Any = None, weights: Any = None) -> Policy:
    group_names, area_names = (
        None if codes is None else Names(("a", "b"), np.array(codes, np.int32)) for codes in (groups, areas)
    )
    size = len(epsilon) if weights is None else sum(weights)
    return Policy(
        size,
        np.array(epsilon, float),
        group_names,
        area_names,
        None if deciding is None else np.array(deciding, float),
        None if weights is None else np.array(weights, np.int64),
    )


def test_the_digest_of_a_policy_depends_on_people_and_not_on_their_order():
    base = policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1]).digest()
    assert policy_of([2, 1, 2], [1, 0, 1], [0, 0, 1], [0.5, 0.5, 0.1]).digest() == base
    assert policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1], [1, 1, 1]).digest() == base
    others = [
        policy_of([1, 2, 3], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 0, 1], [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 1, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.1, 0.5]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1]),
        policy_of([1, 2, 2], None, [0, 0, 1], [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], None, [0.5, 0.5, 0.1]),
        policy_of([1, 2, 2], [0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.1], [1, 1, 2]),
    ]
    assert len({base, *(other.digest() for other in others)}) == 9


def test_people_of_an_area_are_listed_by_group():
    found = policy_of([1, 2, 3, 4], [0, 1, 0, 0], [1, 1, 0, 1])
    assert {area: rows.tolist() for area, rows in found.parts()} == {"a": [2], "b": [0, 1, 3]}
    assert [(name, part.values.tolist()) for name, part in found.by_group("b")] == [("a", [1, 4]), ("b", [2])]
    assert [(name, part.people) for name, part in found.by_group("a")] == [("a", 1), ("b", 0)]
    assert [(name, part.people) for name, part in found.without_groups().by_group("b")] == [(None, 3)]


@pytest.mark.parametrize("epsilon", [[-1.0], [np.nan], [1.0, -0.5]])
def test_an_invalid_epsilon_is_refused_by_its_column(epsilon):
    faults = policy.Faults("t.csv", request_of())
    faults.require_all_epsilons(np.array([0.0, np.inf]), None, None)
    with pytest.raises(InputError, match=r"t\.csv, eps: missing or invalid ε"):
        faults.require_all_epsilons(np.array(epsilon), None, None)
    with pytest.raises(InputError, match=r"t\.csv, dec: missing or invalid ε"):
        policy.Faults("t.csv", request_of(deciding="dec")).require_all_epsilons(np.ones(1), np.array(epsilon), None)
    by_group = request_of(epsilon=None, by_group={"a": 1, "bb": 1}, group="role")
    roles = policy.Names(("a", "b"), np.array([0, 1]))
    with pytest.raises(InputError, match=r"a group without an ε \(and nobody is in 'bb'\);"):
        policy.Faults("t.csv", by_group).require_all_epsilons(np.array(epsilon), None, roles)
    with pytest.raises(InputError, match="a table without rows"):
        faults.require_rows(0)


def test_the_digest_of_people_is_the_same_however_they_are_divided():
    rows = np.sort(np.random.default_rng(1).integers(0, 2**64, (4, 600), dtype=np.uint64), axis=1)
    whole = combine_digests(part_digests([rows], range(PARTS)))
    parts = [rows[:, :250], rows[:, 250:]]
    assert combine_digests(part_digests(parts, range(PARTS))) == whole
    assert combine_digests(part_digests([rows[:, :-1]], range(PARTS))) != whole
    edges = np.array([[0, (1 << 56) - 1, 1 << 56, 2**64 - 1]] * 4, dtype=np.uint64)
    found = part_digests([edges], range(PARTS))
    assert len(set(found)) == 4
    assert found[2] == found[254]


# Texts and moments ----------------------------------------------------------------------------------------------------


def test_moments_are_iso_dates_and_times():
    assert str(moment_of(" 2024-02-29 ")) == "2024-02-29"
    assert moment_of("2023-02-29") is moment_of("0000-01-01") is moment_of("2024-01-31T24:00") is None
    assert moment_of("9999-12-31").next_day == "10000-01-01"
    assert moment_of("2023-12-31").next_day == "2024-01-01"
    assert moment_of("2024-01-31T12:00").begin.hour == 12
    assert moment_of("2024-01-31").begin.hour == 0
    assert instant("1970-01-01T00:00:01Z") == 10**6
    assert instant("1970-01-01T00:00:01") is instant("1970-01-01") is instant(None) is instant("x") is None


def test_runs_of_letters_with_many_spellings_have_no_pattern():
    assert spelling_pattern("s" * 8) is not None
    assert spelling_pattern("s" * 9) is None
    assert spelling_pattern("a") == "[aA]"
    assert group_similar_names(["a", "b"]) == []


# Records --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document_and_plan(tmp_path_factory) -> tuple[dict[str, Any], Any]:
    folder = tmp_path_factory.mktemp("records")
    ledger = hetdp.Ledger.create(folder / "a.ledger", source="survey", cap="inf")
    people = PEOPLE | {"eps": [0.3, 0.3, 1.0, 1.0, 0.3, 1.0, float("inf")]}
    question: dict[str, Any] = {
        "count": "vote = 'yes'",
        "at_least": "50%",
        "person": "id",
        "epsilon": "eps",
        "group": "role",
    }
    table = as_csv(people, folder)
    hetdp.ask(table, **question, plan=folder / "plan.json", dry_run=True)
    found = hetdp.ask(table, **question, plan=folder / "plan.json", payment=hetdp.Payment(ledger))
    assert found.release is not None
    return found.release.record, plan.read_plan(Path(folder / "plan.json"))


def test_a_record_agrees_with_its_plan(document_and_plan):
    document, approved = document_and_plan
    assert record._contradictions(document, approved) == []


@pytest.mark.parametrize(
    ("key", "path", "value"),
    [
        ("software", ("software",), "hetdp 0"),
        ("certificates", ("certificates",), []),
        ("certificates", ("certificates", 0, "private"), False),
        ("privacy.promises", ("privacy", "promises", 0, "used"), "0"),
        ("privacy.promises", ("privacy", "promises", 0, "whom"), "everybody"),
        ("privacy.promises", ("privacy", "promises", 0, "odds"), ""),
        ("privacy.promises", ("privacy", "promises", 0, "delta"), "0.1"),
        ("privacy.promises", ("privacy", "promises", 0, "changes"), 1),
        ("privacy.promises", ("privacy", "promises", 0, "least_epsilon"), None),
        ("not_protected", ("not_protected",), []),
        ("not_protected", ("not_protected", 2), "Nobody."),
        ("composition", ("composition", "accounts"), 6),
        ("composition", ("composition", "kind"), "class"),
        ("composition", ("composition", "charged"), [{}]),
        ("composition", ("composition", "currency"), "gaussian"),
    ],
)
def test_what_cannot_belong_to_the_plan_is_found(document_and_plan, key, path, value):
    changed, approved = copy.deepcopy(document_and_plan[0]), document_and_plan[1]
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert key in record._contradictions(changed, approved)


def test_the_number_of_unprotected_people_is_possible_and_repeated_in_words(document_and_plan):
    changed, approved = copy.deepcopy(document_and_plan[0]), document_and_plan[1]
    for number in (-1, 99):
        changed["privacy"]["promises"][1]["unprotected"] = number
        assert "privacy.promises" in record._contradictions(changed, approved)
    changed["privacy"]["promises"][1]["unprotected"] = 1
    assert record._contradictions(changed, approved) == ["not_protected"]


def test_a_promise_with_one_epsilon_for_all_says_this_one(document_and_plan):
    one = document_and_plan[0]["privacy"]["promises"][0] | {"least_epsilon": "0.3", "epsilon": "0.3"}
    constant = replace(document_and_plan[1].request, epsilon=epsilon_of("0.3", None, None))
    assert record._is_promised(one, constant)
    assert not record._is_promised(one | {"least_epsilon": "0.2"}, constant)
    assert not record._is_promised(one | {"epsilon": "0.4"}, constant)
    by_group = replace(constant, epsilon=epsilon_of(None, {one["whom"]: "0.3"}, "role"))
    assert record._is_promised(one, by_group)
    assert not record._is_promised(one | {"whom": "nobody"}, by_group)
    assert not record._is_promised(one, replace(constant, group=None))
    assert record._is_promised(one | {"whom": "everybody"}, replace(constant, group=None))


def test_what_is_not_checked_without_the_ledger_is_said():
    assert list(record._unchecked_words(object(), None, None)) == []
    last = [list(record._unchecked_words(None, *given))[-1] for given in ((1, None), (None, 1), (None, None))]
    assert [words.partition(",")[0][:11] for words in last] == ["the version", "the odds", "everything "]


# Curators -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        hetdp.ask,
        policy.read_policy,
        sources.open_source,
        sources.QueriedSource.__init__,
        formats.open_folder,
        people_table.LocalTable.__init__,
    ],
)
def test_nobody_is_a_curator_by_default(function):
    assert inspect.signature(function).parameters["curator"].default is False


def test_only_a_curator_sees_who_appears_twice(tmp_path):
    table = as_csv(PEOPLE | {"id": [1, 2, 3, 4, 5, 6, 6]}, tmp_path)
    for curator, is_shown in ((False, False), (True, True)):
        with sources.open_source(table, curator=curator) as source, pytest.raises(InputError) as refusal:
            policy.read_policy(source, request_of(), curator)
        assert ("row 7" in str(refusal.value)) is is_shown
        assert ("'6'" in str(refusal.value)) is is_shown
