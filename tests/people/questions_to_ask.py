"""Small groups, all their tables, and questions of every kind, nested at random."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hetdp

questions: Any = hetdp.questions  # typed as Any, since arguments of every type are tried

SIZES = {"A": 3, "B": 2}
VALUES = ("yes", "no", "blank")

NUMBERS = st.one_of(
    st.integers(-9, 9),
    st.fractions(-9, 9, max_denominator=9),
    st.decimals(-9, 9, places=2, allow_nan=False),
    st.floats(-9, 9, allow_nan=False).map(lambda number: round(number, 3)),
)
SHARES = st.one_of(st.fractions(0, 1, max_denominator=7), st.integers(0, 100).map(lambda share: f"{share}%"))
SOME_GROUPS = st.sampled_from([None, "A", "B", ["A", "B"], ["B"]])
A_VALUE = st.sampled_from(VALUES)
TIES = st.sampled_from(["no", "yes"])
RESPONDENT_OPTIONS: Any = st.one_of(
    st.just({}), st.sampled_from([{"of": "all"}, {"of": "respondents"}, {"of": "respondents", "blank": "blank"}])
)
TWO_VALUES = st.permutations(VALUES).map(lambda several: several[:2])
COUNTED_VALUE = st.sampled_from(["yes", "no"])  # people without an answer are not respondents

LINEAR = st.one_of(
    st.builds(questions.count, A_VALUE, st.integers(0, 6), SOME_GROUPS),
    st.builds(lambda whom, *rest: questions.share(*rest, **whom), RESPONDENT_OPTIONS, COUNTED_VALUE, SHARES).flatmap(
        lambda question: st.sampled_from([question, ~question])
    ),
    st.builds(
        lambda value, at_least, strict, group: questions.share(value, at_least, strict=strict, group=group),
        *(A_VALUE, SHARES, st.booleans(), SOME_GROUPS),
    ),
    st.builds(
        lambda whom, value, group: questions.majority(value, group=group, **whom),
        RESPONDENT_OPTIONS,
        COUNTED_VALUE,
        SOME_GROUPS,
    ),
    st.builds(lambda two, ties, group: questions.versus(*two, ties, group), TWO_VALUES, TIES, SOME_GROUPS),
    st.builds(
        questions.weighted_sum,
        st.dictionaries(st.sampled_from(list(SIZES)), NUMBERS, min_size=1),
        NUMBERS,
        st.one_of(st.none(), st.dictionaries(A_VALUE, NUMBERS, min_size=1)),
    ),
    st.builds(questions.all_of, SOME_GROUPS.filter(bool), A_VALUE),
)
RATIOS = st.builds(
    lambda whom, value, two, at_least, strict: questions.ratio_of_shares(
        value, *two, at_least=at_least, strict=strict, **whom
    ),
    *(
        RESPONDENT_OPTIONS,
        COUNTED_VALUE,
        st.permutations(list(SIZES)),
        st.fractions(0, 2, max_denominator=7),
        st.booleans(),
    ),
)
NESTED = st.recursive(
    st.one_of(LINEAR, RATIOS),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda question: ~question),
    ),
    max_leaves=5,
)


WHENS = st.one_of(
    st.sampled_from([None, "deciding", hetdp.privacy.answer(1), hetdp.privacy.answer(2)]),
    st.integers(1, 4).map(hetdp.privacy.within),
)
A_RULE = st.builds(
    hetdp.privacy.Rule,
    st.sampled_from(["0", "0.1", "0.3", "0.7", "1.5", "inf"]),
    st.sampled_from([None, "A", "B", ["A", "B"]]),
    st.sampled_from([None, "yes", "blank", ["yes", "no"], ["no", "blank"]]),
    WHENS,
)


def tallies(size: int, values: int) -> list[tuple[int, ...]]:
    """All tallies of a number of people with a number of values."""
    return [tally for tally in product(range(size + 1), repeat=values) if sum(tally) == size]


def tables(sizes: dict[str, int] = SIZES, values: tuple[str, ...] = VALUES) -> list[dict[str, dict[str, int]]]:
    """All tables of some groups."""
    each = [[dict(zip(values, tally, strict=True)) for tally in tallies(size, len(values))] for size in sizes.values()]
    return [dict(zip(sizes, found, strict=True)) for found in product(*each)]


def as_arrays(found: list[dict[str, dict[str, int]]]) -> dict[str, dict[str, np.ndarray]]:
    """Tables as arrays of counts."""
    first = found[0]
    return {
        group: {value: np.array([table[group][value] for table in found]) for value in first[group]} for group in first
    }
