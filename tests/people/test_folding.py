"""Computations in a few passes over many rows agree with plain loops."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

import hetdp
from hetdp.people.populations import balanced, folding
from hetdp.people.populations.balanced import SPAN, Level, PublicLevel, least_meeting
from hetdp.people.populations.folding import FEW_CLASSES, EpsilonLevels, Fold, sort_rows, sorted_rows, to_units
from hetdp.people.privacy.epsilons import UNBOUNDED, epsilon_to_units
from hetdp.tables.policy import Names, Policy
from hetdp.threads import sort_in_threads
from tests.loops import for_each

Q = hetdp.questions
UNIT = 2.0**40


@pytest.fixture(autouse=True)
def treat_few_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses the code for large populations on small ones."""
    monkeypatch.setattr("hetdp.people.populations.classes.MANY_PEOPLE", 0)


def epsilons(seed: int, size: int):
    """Few levels, many, all different; with zeros, infinities, and ε that are equal on the grid."""
    rng = np.random.default_rng(seed)
    kinds = [
        lambda: rng.choice([0.1, 0.5, 1.0], size),
        lambda: rng.random(size),
        lambda: rng.exponential(2.0, size) ** 4,
        lambda: rng.choice([0.0, -0.0, 0.3, 2.0**-41, 5000.0, np.inf], size),
        lambda: np.round(rng.random(size), 2),
        lambda: np.where(rng.random(size) < 0.1, np.inf, rng.random(size) * 1e-10),
    ]
    return kinds[seed % len(kinds)](), rng


@pytest.mark.parametrize("seed", range(12))
def test_levels_are_the_different_epsilons(seed):
    epsilon, _ = epsilons(seed, 1 + 37 * seed)
    ordered = EpsilonLevels(epsilon.copy())
    levels, sizes = np.unique(epsilon + 0.0, return_counts=True)
    assert ordered.levels.tolist() == levels.tolist()
    assert ordered.sizes.tolist() == sizes.tolist()
    assert not np.signbit(ordered.levels).any()
    assert np.asarray(ordered).tolist() == epsilon.tolist()


@pytest.mark.parametrize(
    ("seed", "size"), [(seed, 1200) for seed in range(12)] + [(seed, 600_000) for seed in range(7)]
)
def test_epsilons_and_their_rows_are_sorted_alike(seed, size):
    epsilon, rng = epsilons(seed, size)
    epsilon[rng.integers(0, size, 5)] = rng.choice([0.0, 7.25, np.inf], 5)
    epsilon = np.abs(np.where(rng.random(size) < 0.01, np.nextafter(epsilon[0], 0.0), epsilon))
    found, units = EpsilonLevels(epsilon.copy()), to_units(epsilon)
    levels, sizes = np.unique(epsilon, return_counts=True)
    assert np.array_equal(found.levels, levels)
    assert np.array_equal(found.sizes, sizes)
    assert np.array_equal(found.sorted, np.sort(epsilon))
    assert np.array_equal(found.sorted_units, np.sort(units))
    assert np.array_equal(found.order, np.argsort(units, kind="stable"))


@pytest.mark.parametrize("kind", ["spread", "equal", "mostly NaN", "some NaN", "32 bits"])
def test_an_array_is_sorted_in_threads_as_by_numpy(kind):
    numbers = np.random.default_rng(0).random(600_001)
    if kind == "equal":
        numbers[:] = 0.5
    elif kind.endswith("NaN"):
        numbers[:: 1 if kind == "mostly NaN" else 7] = np.nan
    elif kind == "32 bits":
        numbers = (numbers * 2**32).astype(np.uint32)
    before = numbers.copy()
    assert np.array_equal(sort_in_threads(numbers), np.sort(before), equal_nan=True)
    assert np.array_equal(numbers, before, equal_nan=True)


def test_a_rare_epsilon_is_not_missed():
    epsilon = np.full(100_000, 0.5)
    for rare, levels in ((0.25, [0.25, 0.5]), (-0.0, [0.0, 0.5])):
        epsilon[12_345] = rare  # not among those that are looked at first
        found = EpsilonLevels(epsilon.copy())
        assert (found.levels.tolist(), found.sizes.tolist()) == (levels, [1, 99_999])
    with pytest.raises(hetdp.InputError, match="1 of 100,000 people"):
        hetdp.spaces.population(hetdp.questions.majority(), np.where(epsilon == 0.0, np.nan, epsilon))


@pytest.mark.parametrize("seed", range(12))
def test_units_are_those_of_each_epsilon_as_written(seed):
    epsilon, rng = epsilons(seed, 200)
    short = np.array([float(f"{one:.6g}") for one in epsilon if one >= 1e-8 or one == 0.0] + [0.5, 0.25, 3.0, 4096.0])
    assert to_units(short).tolist() == [epsilon_to_units(one) for one in (short + 0.0).tolist()]
    found = to_units(epsilon).tolist()
    assert all(
        epsilon_to_units(one) - 1 <= unit <= epsilon_to_units(one)
        for one, unit in zip(np.abs(epsilon), found, strict=True)
    )
    dyadic = rng.integers(0, 1 << 40, 100) / (1 << 40)  # whole units, of which the floats may be above their decimals
    assert all(
        epsilon_to_units(one) - 1 <= unit <= epsilon_to_units(one)
        for one, unit in zip(dyadic, to_units(dyadic), strict=True)
    )


@pytest.mark.parametrize("largest", [1, 5, 1 << 30, (1 << 53) + 5, (1 << 62) + 1])
@pytest.mark.parametrize("size", [1, 2, 900, 5000])
def test_rows_are_sorted_stably_by_their_keys(largest, size):
    rng = np.random.default_rng(size)
    spread = rng.integers(0, largest, size)
    near = largest - 1 - rng.integers(0, min(largest, 60), size)  # differ only in their lowest parts
    for keys in (spread, near, np.where(rng.random(size) < 0.5, spread, near)):
        rows, ordered = sort_rows(keys)
        assert rows.tolist() == np.argsort(keys, kind="stable").tolist()
        assert ordered.tolist() == sorted(keys.tolist())
        assert sorted_rows(keys.copy()).tolist() == rows.tolist()


@pytest.mark.parametrize("values", [("yes", "no"), ("yes", "no", "blank")])
@pytest.mark.parametrize("seed", range(12))
def test_counts_are_those_of_a_loop(seed, values):
    epsilon, rng = epsilons(seed, 3 * FEW_CLASSES + 50 * seed)
    groups = rng.choice(["a", "b"], len(epsilon)) if seed % 4 > 1 else None
    people = hetdp.spaces.population(Q.count("yes", 1), epsilon, values, groups=groups)
    answers = rng.integers(0, len(values), len(epsilon))
    counts = np.zeros((len(people.classes.sizes), len(values)), dtype=np.int64)
    for who, answer in enumerate(answers.tolist()):
        counts[people.classes.member[who], answer] += 1
    assert people.counts(answers).tolist() == counts.tolist()
    assert people.counts(answers.astype(np.uint64)).tolist() == counts.tolist()
    assert people.units.tolist() == to_units(epsilon + 0.0).tolist()
    assert (np.diff(people.classes.units) >= 0).all()


def test_a_fold_lists_its_members_in_order():
    fold = Fold(np.array([2, 1]), lambda: np.array([2, 0, 1]))
    assert fold.member.tolist() == [0, 1, 0]
    assert fold.counts(np.array([1, 1, 0]), 2).tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("bits", [True, False])
@pytest.mark.parametrize("people", [1, 63, 64, 65, 1001])
def test_few_classes_are_counted_by_bits(people, bits, monkeypatch):
    monkeypatch.setattr(folding, "NUMPY_COUNTS_BITS", bits)
    rng = np.random.default_rng(people)
    epsilon, groups = rng.choice([0.0, 0.5, 1.0, np.inf], people), rng.choice(["a", "b"], people)
    for columns in ({}, {"groups": groups}, {"deciding": rng.choice([0.1, 0.2], people)}):
        population = hetdp.spaces.population(Q.count("yes", 1), epsilon, ("yes", "no", "maybe"), **columns)
        assert len(population.classes.sizes) <= folding.FEW_CLASSES
        answers = rng.integers(0, 3, people)
        expected = np.zeros((len(population.classes.sizes), 3), dtype=np.int64)
        np.add.at(expected, (population.classes.member, answers), 1)
        for dtype in (np.int8, ">i4", np.int64, ">u2", np.uint64):
            assert population.counts(answers.astype(dtype)).tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.int8, ">i4", np.int64, np.uint8, ">u2"])
@pytest.mark.parametrize("wrong", [2, 127, -1, -128])
def test_an_answer_that_is_not_a_value_is_refused_whatever_its_type(dtype, wrong):
    answers = np.array([0, 1, wrong]).astype(dtype)
    with pytest.raises(hetdp.UsageError, match="some answers are not values"):
        hetdp.spaces.population(Q.majority(), 0.5, size=3).counts(answers)


@pytest.mark.parametrize("kind", [Level, PublicLevel])
@pytest.mark.parametrize("people", [6, 30, 3 * SPAN + 100])
@pytest.mark.parametrize("seed", range(8))
def test_sums_by_spans_are_plain_sums(seed, people, kind):
    epsilon, rng = epsilons(seed, people)
    deciding = None if seed % 2 else rng.choice([0.0, 0.2, 5.0], len(epsilon))
    classes = hetdp.spaces.population(Q.majority(), epsilon, deciding=deciding).classes
    people = rng.integers(0, 2, len(classes.units)) * classes.sizes
    people[len(people) // 2] = 1  # somebody is there
    level = kind(classes, 3, people)
    units, meeting, there = (one.tolist() for one in (classes.units, classes.meeting, people))
    decides = classes.deciding.tolist()
    saves = [
        u - m if p and d < UNBOUNDED else -UNBOUNDED for u, m, p, d in zip(units, meeting, there, decides, strict=True)
    ]
    least = [m if p and d < UNBOUNDED else UNBOUNDED for m, p, d in zip(meeting, there, decides, strict=True)]
    assert level.size == sum(there)
    assert least_meeting(classes, people) == min(m if p else UNBOUNDED for m, p in zip(meeting, there, strict=True))
    for end in {0, 1, len(units), *rng.integers(0, len(units), 20).tolist(), *range(0, len(units), SPAN)}:
        found = level.up_to(end)
        assert (found.people, found.epsilon) == (
            sum(there[:end]),
            sum(u * p for u, p in zip(units[:end], there[:end], strict=True)),
        )
        assert found.saved == max([-UNBOUNDED, *saves[:end]])
        assert level.least_from(end) == min([UNBOUNDED, *least[end:]])
    for price in (0, 1, *rng.choice(units, 10).tolist()):
        asked = min(3 * price, UNBOUNDED)
        pays = sum(p * min(u, asked) for u, p in zip(units, there, strict=True))
        saved = [s if u <= asked else asked - m for u, s, m in zip(units, saves, least, strict=True)]
        assert level.payment_at(price) == (pays, max(asked - UNBOUNDED, *saved))
    everybody = [at for at, number in enumerate(there) for _ in range(number)]
    for rank in rng.integers(0, len(everybody), 20).tolist():
        assert level.class_of(rank) == everybody[rank]


def cheapest_change(units, meeting, need):
    """The least sum of ε to the other answer: everybody pays ε but the last, who pays the label of meeting."""
    ordered = np.sort(units)
    first = int(ordered[: need - 1].sum())
    last = int(ordered[need - 1])
    ways = []
    for own, label in zip(units.tolist(), meeting.tolist(), strict=True):
        others = first if need == 1 or own > ordered[need - 2] else first - own + last
        ways.append(others + label)
    return min(ways)


@pytest.mark.parametrize("seed", range(12))
def test_labels_and_worst_labels_of_many_classes_are_cheapest_ways(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(SPAN, 3 * SPAN))
    epsilon = rng.random(size) * rng.choice([0.01, 1.0, 20.0]) if seed % 2 else np.round(rng.random(size), 2) + 0.01
    threshold = int(rng.integers(1, size))
    people = hetdp.spaces.population(Q.count("yes", threshold), epsilon, deciding=0.3 if seed % 3 == 0 else None)
    formula, classes = people.design().formula, people.classes
    units, meeting = classes.units[classes.member], classes.meeting[classes.member]
    for margin in {1, 2, 17, people.farthest()}:
        assert formula.worst(margin) == cheapest_change(units, meeting, margin)
    for share in (0.1, 0.5, 0.9):
        answers = (rng.random(size) < share).astype(np.int64)
        yes = int((answers == 0).sum())
        able, need = (answers == 0, yes - threshold + 1) if yes >= threshold else (answers == 1, threshold - yes)
        label = cheapest_change(units[able], meeting[able], need)
        assert formula.label(people.counts(answers)) == (label if yes >= threshold else -label)


@pytest.mark.parametrize("seed", range(20))
def test_labels_of_a_handful_of_classes_are_those_of_many(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    epsilon = rng.choice([0.0, 0.1, 0.7, 3.0, np.inf], size)
    columns = [{}, {"deciding": 0.3}, {"deciding": rng.choice([0.0, 0.2, np.inf], size)}][seed % 3]
    question = Q.versus("yes", "no") if seed % 2 else Q.count("yes", int(rng.integers(1, size + 1)))
    people = hetdp.spaces.population(question, epsilon, ("yes", "no", "maybe"), **columns)
    tables = [people.counts(rng.integers(0, 3, size)) for _ in range(20)]
    plain = [people.design().formula.label(counts) for counts in tables]
    assert len(people.classes.units) <= balanced.FEW_CLASSES or seed % 3 == 2
    monkeypatch.setattr(balanced, "FEW_CLASSES", 0)
    assert [people.design().formula.label(counts) for counts in tables] == plain


def every_change(own, others, threshold):
    """All changes that one person can make to a count, by the theory's formulas: differences and losses."""

    def tail(x):
        return 1.0 / (1.0 + math.exp(x))

    def meeting(x):
        return math.log((1.0 + math.exp(x)) / 2.0)

    count = len(others) + 1
    for yes, no in ((threshold - 1, count - threshold), (count - threshold, threshold - 1)):
        rich = min(own, others[no]) if yes else own
        poor = min(own, others[0]) if no else own
        yield 1.0 - tail(rich) - tail(poor), math.log((1.0 - tail(rich)) / tail(poor))
        yield 1.0 - tail(rich) - tail(poor), math.log((1.0 - tail(poor)) / tail(rich))
    for needed in (threshold, count - threshold + 1):
        most = count - needed
        limit = min(own, others[most]) if 1 < needed < count else own
        for x in others[: most if needed < count else 0]:
            after = own + meeting(x) if own <= x else x + meeting(limit)
            yield tail(x) - 0.5 * math.exp(-after), after - meeting(x)


@for_each("seed", range(40))
def test_the_largest_epsilon_of_a_group_has_its_largest_odds(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    epsilon = rng.random(size) * rng.choice([0.01, 1.0, 20.0]) if seed % 3 else rng.choice([0.1, 0.5, 2.0], size)
    groups, threshold = rng.choice(["a", "b", "c"], size), int(rng.integers(1, size + 1))
    people = hetdp.spaces.population(Q.count("yes", threshold), epsilon, groups=groups)
    for group, found in people.design().odds().by_class.items():
        changes = []
        for who in np.flatnonzero(groups == group):
            changes += every_change(float(epsilon[who]), np.sort(np.delete(epsilon, who)).tolist(), threshold)
        assert found.high - found.low == pytest.approx(max(one for one, _ in changes), abs=1e-10)
        assert found.loss == pytest.approx(max(one for _, one in changes), abs=1e-9)


@pytest.mark.parametrize("objective", ["balanced", "weighted-vote"])
def test_odds_too_small_for_a_float_are_not_called_zero(objective):
    people = hetdp.spaces.population(Q.majority(), [3000.0, 4000.0, 4000.0], deciding=2000.0)
    odds = people.design(objective).odds().by_class["everybody"]
    assert odds.low > 0.0
    assert str(odds).endswith("instead of less than 1.")
    alone = hetdp.spaces.population(Q.count("yes", 1), [2000.0]).design().odds().by_class["everybody"]
    assert alone.loss == pytest.approx(2000.0)


def policy_digest(policy):
    """The digest of a policy, by plain sorting."""
    found = hashlib.sha256(f"hetdp policy 1 {policy.size}\n".encode())
    areas = [None] if policy.areas is None else policy.areas.names
    for at, area in enumerate(areas):
        here = np.full(policy.size, True) if policy.areas is None else policy.areas.codes == at
        found.update(f"{area!r} {here.sum()}\n".encode())
        for number, group in enumerate([None] if policy.groups is None else policy.groups.names):
            mine = here if policy.groups is None else here & (policy.groups.codes == number)
            levels, sizes = np.unique(policy.epsilon[mine] + 0.0, return_counts=True)
            if group is not None:
                found.update(f"{group!r} {mine.sum()}\n".encode())
            found.update(levels.astype("<f8").tobytes() + sizes.astype("<i8").tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("seed", range(12))
def test_the_digest_of_a_policy_is_the_same_for_any_order_of_rows(seed):
    epsilon, rng = epsilons(seed, 40 + seed)
    groups, areas = (
        Names(names, rng.integers(0, len(names) - 1, len(epsilon)).astype(np.int32))  # nobody is in the last
        for names in (("a", "b", "c"), ("north", "south", "west", "none"))
    )
    order = rng.permutation(len(epsilon))
    for with_groups in (None, groups):
        for with_areas in (None, areas):
            policy = Policy(len(epsilon), epsilon, with_groups, with_areas)
            mixed = (None if one is None else Names(one.names, one.codes[order]) for one in (with_groups, with_areas))
            again = Policy(len(epsilon), epsilon[order], *mixed)
            assert policy.digest() == again.digest() == policy_digest(policy)
