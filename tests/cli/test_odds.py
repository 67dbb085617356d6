"""hetdp odds: what a change in the data does to the published answer."""

from __future__ import annotations

import hetdp as library


def sentences():
    problem, partial = library.read_problem("poll.json")
    return f"{library.odds(library.extend(problem, partial))}\n"


def test_the_sentences_are_those_of_python(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    expected = (0, sentences(), "read poll.json: 5 datasets, 4 edges, 2 pinned\n")
    assert hetdp("odds", "poll.json", "mechanism.json") == expected
    assert hetdp("odds", "poll.json") == expected  # the given values decide everything else


def test_without_given_values_a_mechanism_is_designed(hetdp):
    problem = library.read_problem("poll.json").problem
    library.save(problem, "free.json")
    assert hetdp("odds", "free.json", "-q").out == f"{library.odds(library.design(problem))}\n"


def test_a_mechanism_that_is_not_private_is_refused(hetdp):
    hetdp("extend", "poll.json", "-o", "mechanism.csv")
    result = hetdp("verify", "too-much.json", "mechanism.csv")
    assert result.code == 0
    library.save(library.read_problem("poll.json").problem.with_epsilon(0.01), "tight.json")
    result = hetdp("odds", "tight.json", "mechanism.csv")
    assert (result.code, result.out) == (3, "")
    assert "odds are stated for private mechanisms only" in result.err


def test_problem_and_mechanism_are_not_both_read_from_standard_input(hetdp):
    assert hetdp("odds", "-", "-").code == 2
