"""Yes/no releases by OpenDP and diffprivlib, compared with hetdp's population: accuracy at a few margins, and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import AT_MOST, Benchmark, Chart, Measured, Part, Table, Target
from benchmarks.graphs import SEED
from benchmarks.libraries import load_library
from benchmarks.measure import best_of, in_turn
from hetdp.releases.draw import draw
from hetdp.theory.coordinate import LAPLACE

LEVELS = (0.1, 0.5, 1.0)
LEAST = LEVELS[0]
SHARES = {"1 %, 9 %, 90 %": (0.01, 0.09, 0.9), "a third each": (1 / 3, 1 / 3, 1 / 3), "all the least": (1.0, 0.0, 0.0)}
MARGINS = (1, 5, 10, 20, 50)
TABLES = 25  # random tables of each margin
VALUES = ("no", "yes")  # so that 1 is yes in an array of answers
BALANCED, VOTE = "balanced", "weighted-vote"
PLANNED = "hetdp, planning"
RATIO = "time of one answer, OpenDP = 1"

Release = Callable[[np.ndarray], bool]  # from everyone's answers (1 for yes) to the published answer


def needed_yes(people: int) -> int:
    """The number of people who must say yes: at least half."""
    return -(-people // 2)


def epsilons(people: int, shares: tuple[float, ...]) -> np.ndarray:
    """Everyone's ε, in random order, with this share of people at each level."""
    ends = np.rint(np.cumsum(shares) * people).astype(np.int64)
    return np.random.default_rng(SEED).permutation(np.repeat(LEVELS, np.diff(ends, prepend=0)))


def make_mechanism(epsilon: np.ndarray, objective: Any = BALANCED) -> Any:
    """hetdp's mechanism."""
    return hetdp.spaces.population(hetdp.questions.share("yes", at_least="50%"), epsilon, VALUES).design(objective)


def hetdp_release(epsilon: np.ndarray) -> Release:
    """A release with each person's own ε. The probability is computed and drawn as in a release, without a ledger."""
    mechanism = make_mechanism(epsilon)
    return lambda answers: draw(LAPLACE.name, mechanism.coordinate(answers))


def opendp(library: Any, people: int) -> Release:
    """A noisy count with the smallest ε for all. A changed answer removes one person and adds one, a distance of 2."""
    library.enable_features("contrib")
    answers = library.vector_domain(library.atom_domain(T="i32", bounds=(0, 1)), size=people)
    summed = (answers, library.symmetric_distance()) >> library.t.then_sum()
    measurement = summed >> library.m.then_geometric(scale=1 / LEAST)
    assert math.isclose(measurement.map(2), LEAST)
    return lambda answers: measurement(answers) >= needed_yes(people)


def diffprivlib(library: Any, people: int) -> Release:
    """A noisy count with the smallest ε for all."""
    return lambda answers: library.count_nonzero(answers, epsilon=LEAST) >= needed_yes(people)


OTHERS: dict[str, tuple[str, Callable[[Any, int], Release]]] = {
    "OpenDP": ("opendp.prelude", opendp),
    "diffprivlib": ("diffprivlib.tools", diffprivlib),
}


def random_table(people: int, margin: int, rng: np.random.Generator) -> np.ndarray:
    """A random table where the answer is yes and this many people must change before it is no."""
    answers = np.zeros(people, dtype=np.int32)
    answers[rng.permutation(people)[: needed_yes(people) + margin - 1]] = 1
    return answers


def drawn_accuracy(release: Release, people: int, margin: int, draws: int) -> float:
    """The share of several releases that are right."""
    answers = random_table(people, margin, np.random.default_rng(SEED))
    return sum(release(answers) for _ in range(draws)) / draws


def usual_accuracy(mechanism: Any, people: int, margin: int) -> float:
    """The mean over random tables of their exact accuracies."""
    rng = np.random.default_rng(SEED)
    found = [mechanism.coordinate(random_table(people, margin, rng)) for _ in range(TABLES)]
    return float(np.mean(LAPLACE.probability(np.array(found))))


def one_epsilon(margin: int) -> float:
    """The exact accuracy of geometric noise on the count, then the threshold, at any table with this margin."""
    return 1.0 - math.exp(-LEAST * (margin - 1)) / (1.0 + math.exp(LEAST))


def accuracies(people: int, draws: int, libraries: dict[str, Any]) -> Iterator[Part]:
    """Accuracy by margin: of the others, which use only the smallest ε, then of hetdp for each profile."""
    margins = [margin for margin in MARGINS if 2 * margin < people]
    series = {"noisy count, least ε, exactly": [one_epsilon(margin) for margin in margins]}
    for name, library in libraries.items():
        BAR.tell(f"accuracy of {name}")
        release = OTHERS[name][1](library, people)
        series[f"{name}, {draws:,} draws"] = [drawn_accuracy(release, people, margin, draws) for margin in margins]
    for profile, shares in SHARES.items():
        BAR.tell(f"accuracy of hetdp, {profile}")
        epsilon = epsilons(people, shares)
        for objective in (BALANCED, VOTE):
            mechanism = make_mechanism(epsilon, objective)
            series[f"hetdp {objective}, {profile}: worst table"] = [mechanism.accuracy(margin) for margin in margins]
            usual = [usual_accuracy(mechanism, people, margin) for margin in margins]
            series[f"hetdp {objective}, {profile}: random tables"] = usual
    rows = [(name, *(f"{value:.3f}" for value in values)) for name, values in series.items()]
    levels = ", ".join(map(str, LEVELS))
    yield f"{people:,} people, of whom these shares have an ε of {levels}; {TABLES} random tables; accuracy by margin:"
    yield Table(("release", *(f"margin {margin}" for margin in margins)), rows)
    shown = {name: values for name, values in series.items() if "all the least" not in name and VOTE not in name}
    yield Chart("releases", "Accuracy of a yes/no release", "Pr[right answer]", margins, shown, "lines", "margin")


def times(sizes: tuple[int, ...], rounds: int, libraries: dict[str, Any]) -> Iterator[Part]:
    """Time of one release, from an array of answers to the published one; and of planning, which happens once."""
    rows = []
    for people in sizes:
        epsilon = epsilons(people, SHARES["1 %, 9 %, 90 %"])
        answers = random_table(people, 1, np.random.default_rng(SEED))
        releases = {"hetdp": hetdp_release(epsilon)}
        releases |= {name: OTHERS[name][1](library, people) for name, library in libraries.items()}
        took = in_turn({name: partial(release, answers) for name, release in releases.items()}, rounds)
        if "OpenDP" in took:
            yield Measured(RATIO, f"{people:,} people", took["hetdp"] / took["OpenDP"])
        took[PLANNED] = best_of(partial(make_mechanism, epsilon), 3)
        rows += [(f"{people:,}", name, f"{1000 * seconds:.2f}") for name, seconds in took.items()]
    yield "Time from an array of everyone's answers to one published answer. Planning happens once:"
    yield Table(("people", "release", "ms"), rows)


def sections(people: int, draws: int, sizes: tuple[int, ...], rounds: int) -> Iterator[Part]:
    """Accuracy, then time."""
    every = {name: load_library(module) for name, (module, _) in OTHERS.items()}
    libraries = {name: library for name, library in every.items() if not isinstance(library, str)}
    yield from accuracies(people, draws, libraries)
    yield from times(sizes, rounds, libraries)
    yield from (f"Not measured: {reason}." for reason in every.values() if isinstance(reason, str))


BENCHMARKS = (
    Benchmark(
        "releases",
        "Yes/no releases by other libraries",
        """
The question is whether at least half said yes. Each person has their own ε, and neighbouring tables differ in one
person's answer. OpenDP and diffprivlib have no yes/no release with an ε for each person, so they are used in the usual
way: a noisy count (geometric noise) with the smallest ε for all is compared with the threshold. That count may itself
be published at the same ε. hetdp does not offer this; it publishes only yes or no. If everyone has the smallest ε, a
noisy count is already the best mechanism, and hetdp can only tie. The *margin* is the number of people who must change
before the answer does.

hetdp's accuracies are exact. They are given for the *worst table* with each margin, and as the mean over random tables
with that margin where the answer is yes. In the worst table the people with the smallest ε decide, so *balanced* can be
better than the noisy count there only if they are fewer than the margin. *weighted-vote* weights each person by their
ε. It is often better, but it is wrong where many people with a small ε disagree with few people with a large ε. The
accuracies of OpenDP and diffprivlib are estimated from draws. They do not depend on the table and should be close to
the exact line.

The times include the following. OpenDP draws its noise exactly, and its own maps account for ε. diffprivlib draws by a
formula in floats. hetdp computes the probability as for a release, by a formula fixed beforehand, and draws exactly,
without a ledger.
""",
        sections,
        full=(1001, 4000, (1001, 10**6), 60),
        quick=(101, 20, (101,), 1),
        targets=(Target(RATIO, AT_MOST, 1),),
    ),
)
