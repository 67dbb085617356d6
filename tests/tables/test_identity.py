"""The canonical form of a question: questions have equal forms if and, in most cases, only if their answers agree.

Every question is evaluated on all tables by a few lines of code that follow its documented meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hetdp import questions, spaces
from hetdp.people.questions.logic import And, Not, Or
from hetdp.tables import identity
from hetdp.tables.identity import EVERYBODY, canonical_question
from hetdp.tables.request import build_request

VALUES = ("yes", "no", "blank")
SIZES = {"a": 2, "b": 2}
Table = dict[str, tuple[int, int, int]]


def tables(sizes: dict[str, int]) -> Iterator[Table]:
    """All tables: the numbers of people of each group with each value."""
    ways = {
        group: [(yes, no, size - yes - no) for yes in range(size + 1) for no in range(size + 1 - yes)]
        for group, size in sizes.items()
    }
    for rows in product(*ways.values()):
        yield dict(zip(sizes, rows, strict=True))


def number(table: Table, value: str, groups: Any = None) -> int:
    """The number of people with a value."""
    return sum(row[VALUES.index(value)] for group, row in table.items() if groups is None or group in groups)


def people(table: Table, groups: Any = None) -> int:
    return sum(number(table, value, groups) for value in VALUES)


QuestionWithMeaning = tuple[Any, Any]  # a question and its meaning as a function


def thresholds() -> Iterator[QuestionWithMeaning]:
    """Every simple question with several thresholds."""
    for k, groups in product(range(6), (None, ["a"], ["a", "b"])):
        yield (
            questions.count("yes", at_least=k, group=groups),
            lambda t, k=k, groups=groups: number(t, "yes", groups) >= k,
        )
    for part, strict, groups in product(("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1"), (False, True), (None, ["b"])):
        for of in ("all", "respondents"):

            def share(t, part=Fraction(part), strict=strict, groups=groups, of=of):
                base = people(t, groups) - (number(t, "blank", groups) if of == "respondents" else 0)
                left, right = number(t, "yes", groups), part * base
                return left > right if strict else left >= right

            blank = {"blank": "blank"} if of == "respondents" else {}
            yield questions.share("yes", at_least=part, strict=strict, group=groups, of=of, **blank), share
    for ties in ("yes", "no"):
        yield (
            questions.versus("yes", "no", ties=ties),
            lambda t, ties=ties: number(t, "yes") - number(t, "no") >= (0 if ties == "yes" else 1),
        )
    yield questions.majority("yes"), lambda t: 2 * number(t, "yes") > people(t)
    for group in (["a", "b"], ["a"]):
        yield (
            questions.all_of(group, value="yes"),
            lambda t, group=group: number(t, "yes", group) == people(t, group),
        )
    for scale, least in product((1, 2, 5), (1, 2, 3)):
        yield (
            questions.weighted_sum({"a": scale, "b": 2 * scale}, scores={"yes": 1, "no": -1}, at_least=least * scale),
            lambda t, least=least: (
                sum(
                    weight * (number(t, "yes", group) - number(t, "no", group))
                    for group, weight in (("a", 1), ("b", 2))
                )
                >= least
            ),
        )
    for r, strict in product(("1/2", "4/5", "1"), (False, True)):

        def ratio(t, r=Fraction(r), strict=strict):
            left, right = number(t, "yes", ["a"]) * people(t, ["b"]), r * number(t, "yes", ["b"]) * people(t, ["a"])
            return left > right if strict else left >= right

        yield questions.ratio_of_shares("yes", "a", "b", at_least=r, strict=strict), ratio


def compound_questions() -> Iterator[QuestionWithMeaning]:
    """Questions made of questions: in both orders, with parts twice, nested, and negated."""
    some = list(thresholds())[::7]
    for (one, means), (other, says) in combinations(some, 2):
        both, either = (lambda t, m=means, s=says: m(t) and s(t)), (lambda t, m=means, s=says: m(t) or s(t))
        yield And((one, other)), both
        yield And((other, one, other)), both
        yield Or((one, other)), either
        yield Or((Or((other, one)), one)), either
        yield Not(Or((Not(one), Not(other)))), both
        yield Not(And((one, other))), lambda t, m=both: not m(t)
    for one, means in some:
        yield Not(Not(one)), means
        yield Not(one), lambda t, m=means: not m(t)


def canonical_forms(sizes: dict[str, int]) -> list[tuple[Any, str, tuple[bool, ...]]]:
    """Every question with its canonical form and its answers for all tables."""
    found = []
    every = list(tables(sizes))
    for asked, means in (*thresholds(), *compound_questions()):
        form = canonical_question(asked, sizes)
        found.append((asked, json.dumps(form, sort_keys=True), tuple(bool(means(one)) for one in every)))
    return found


@pytest.fixture(scope="module", params=[SIZES, {"a": 3, "b": 1}])
def formed_questions(request):
    return canonical_forms(request.param)


def test_questions_with_the_same_form_have_the_same_answers(formed_questions):
    by_form: dict[str, tuple[bool, ...]] = {}
    for asked, form, answers in formed_questions:
        assert by_form.setdefault(form, answers) == answers, str(asked)
    assert len(by_form) < len(formed_questions), "some are the same"


def test_sums_of_the_same_scores_with_the_same_answers_have_the_same_form(formed_questions):
    """Other scores are another mechanism, even where all answers agree; so are a sum and what joins several."""
    forms: dict[tuple[str, tuple[bool, ...]], set[str]] = {}
    for _, form, answers in formed_questions:
        found = json.loads(form)
        if isinstance(found, bool) or found[0] == "sum":
            scores = "" if isinstance(found, bool) else json.dumps(found[1])
            forms.setdefault((scores, answers), set()).add(form)
    assert len(forms) > 20
    assert all(len(group) == 1 for group in forms.values())


def test_most_questions_with_the_same_answers_have_the_same_form(formed_questions):
    """Questions with other forms are announced, drawn and charged again; in small tables many thresholds coincide."""
    forms: dict[tuple[bool, ...], set[str]] = {}
    for _, form, answers in formed_questions:
        forms.setdefault(answers, set()).add(form)
    apart = [group for group in forms.values() if len(group) > 1]
    assert len(apart) < len(forms) / 2, (
        f"{len(formed_questions)} questions, {len(forms)} meanings, {len(apart)} in several forms"
    )


def test_a_count_a_share_and_a_majority_of_so_many_people_are_one_question():
    for size in range(1, 40):
        sizes = {EVERYBODY: size}
        for k in range(size + 2):
            form = canonical_question(questions.count("yes", at_least=k), sizes)
            for strict in (False, True):
                for parts in range(1, 9):
                    share = Fraction(min(k, parts), parts)
                    needs = share * size
                    least = int(needs) + 1 if strict else -(-needs.numerator // needs.denominator)
                    question = questions.share("yes", at_least=str(share), strict=strict)
                    same = canonical_question(questions.count("yes", at_least=least), sizes)
                    assert canonical_question(question, sizes) == same
            if k == size // 2 + 1:
                assert canonical_question(questions.majority("yes"), sizes) == form


def test_common_factors_and_the_spelling_of_numbers_do_not_matter():
    sizes = {"a": 5, "b": 7}
    first = canonical_question(questions.weighted_sum({"a": 1, "b": 3}, at_least=4), sizes)
    for factor, form in product((2, 3, 10), (str, int, float)):
        weights = {"a": form(factor), "b": form(3 * factor)}
        assert canonical_question(questions.weighted_sum(weights, at_least=4 * factor), sizes) == first
        scored = questions.weighted_sum({"a": 1, "b": "3.0"}, scores={"yes": factor}, at_least=4 * factor)
        assert canonical_question(scored, sizes) == first
    assert canonical_question(questions.weighted_sum({"a": 1, "b": 3}, at_least=5), sizes) != first


def test_the_opposite_question_has_another_form():
    for asked, _ in thresholds():
        form = canonical_question(asked, SIZES)
        assert canonical_question(Not(asked), SIZES) != form


def test_questions_of_one_form_have_the_same_mechanism_with_and_without_groups():
    """The formulas look at the scores alone: the same coordinate, bit by bit, at every table tried."""
    rng, tried = np.random.default_rng(1), 0
    for size in (1, 2, 5, 12, 40):
        epsilon = rng.choice([0.0, 0.1, 0.5, 2.0, np.inf], size)
        for k in {1, size // 2 + 1, size}:
            pairs = [
                (questions.count("yes", at_least=k), questions.share("yes", at_least=f"{k}/{size}")),
                (
                    questions.count("yes", at_least=k),
                    questions.weighted_sum({"everybody": 3}, scores={"yes": 2}, at_least=6 * k),
                ),
            ]
            for (one, other), design in product(pairs, ("balanced", "weighted-vote")):
                mechanisms = [
                    spaces.population(one, epsilon).design(design),
                    spaces.population(other, epsilon).design(design),
                    spaces.population(one, epsilon, groups=rng.integers(0, 3, size)).design(design),
                ]
                for _ in range(5):
                    answers = rng.integers(0, 2, size)
                    assert len({one.coordinate(answers) for one in mechanisms}) == 1
                    tried += 1
    assert tried > 200


def test_groups_that_only_report_are_left_out_even_if_the_question_is_not_a_sum():
    request = build_request("vote = 'yes'", at_least="50%", epsilon="eps", person="id", group="site")
    levels = SimpleNamespace(levels=np.array([0.1, 0.5]))
    policy = SimpleNamespace(parts=lambda: [(None, None)], levels_of=lambda area: levels)
    assert identity._reduce_request(request, policy, [["as written", {}]]).group is None
    epsilon = {"Town": "0.1", "Harbour": "0.5"}
    by_group = build_request("vote = 'yes'", at_least="50%", by_group=epsilon, person="id", group="site")
    reduced = identity._reduce_request(by_group, policy, [["as written", {}]])
    assert (reduced.group, reduced.level) == (None, "site")  # ε depends on it, and the answer does not
