"""Threshold questions as scores, against all tables of a few people."""

from __future__ import annotations

from itertools import product

import numpy as np

from hetdp.problem.scores import Scores
from tests.loops import for_each

CASES = {  # the scores of each person's values, and the number of people of each group
    "a count": ([[0, 1]], [4]),
    "two weights": ([[0, 1], [0, 3]], [3, 2]),
    "three values": ([[0, 1, 2], [2, 0, 1]], [2, 2]),
    "some who do not count": ([[0, 0], [0, 2]], [2, 2]),
    "an empty group": ([[0, 1], [0, 5]], [3, 0]),
}


def tables(sizes, values):
    """The values of all people, and the number of people of each group who have each value."""
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    for chosen in product(range(values), repeat=len(groups)):
        counts = np.zeros((len(sizes), values), dtype=np.int64)
        for group, value in zip(groups, chosen, strict=True):
            counts[group, value] += 1
        yield groups, chosen, counts


@for_each(("listed", "sizes"), CASES.values())
def test_the_way_to_the_other_answer_is_that_of_the_fewest_people(listed, sizes):
    scores = np.array(listed)
    most = scores.max(axis=1)
    total = int((most * sizes).sum())
    for threshold in range(-1, total + 3):
        question = Scores(scores, most, np.array(sizes), threshold)
        assert question.total == total
        assert question.constant == (1 if threshold <= 0 else 2 if threshold > total else 0)
        margins = {1: [0], 2: [0]}
        for groups, chosen, counts in tables(sizes, scores.shape[1]):
            reached = sum(listed[group][value] for group, value in zip(groups, chosen, strict=True))
            way = question.way(counts)
            assert way.answer == (1 if reached >= threshold else 2)
            gains = [int(way.gains[group, value]) for group, value in zip(groups, chosen, strict=True)]
            ends = [0 if way.answer == 1 else int(most[group]) for group in groups]
            moved = [abs(end - listed[group][value]) for end, group, value in zip(ends, groups, chosen, strict=True)]
            assert gains == moved
            assert way.need == (reached - threshold + 1 if way.answer == 1 else threshold - reached)
            assert way.reserve == sum(gains) - way.need
            if not question.constant:
                largest = np.cumsum(sorted(gains, reverse=True))
                margins[way.answer].append(int(np.searchsorted(largest, way.need)) + 1)
        assert [question.farthest(answer) for answer in (1, 2)] == [max(margins[1]), max(margins[2])]


def test_a_sum_is_a_count_if_nobody_adds_more_than_one():
    assert Scores(np.array([[0, 1], [0, 0]]), np.array([1, 0]), np.array([2, 2]), 1).is_count
    assert not Scores(np.array([[0, 1], [0, 2]]), np.array([1, 2]), np.array([2, 2]), 1).is_count
