"""Yes/no releases by OpenDP and diffprivlib against hetdp's population: accuracy at a few margins, and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import hetdp
from benchmarks.bar import BAR
from benchmarks.claims import Benchmark, Chart, Part, Table
from benchmarks.graphs import SEED
from benchmarks.libraries import loaded
from benchmarks.measure import best_of, in_turn
from hetdp.releases.draw import draw
from hetdp.theory.coordinate import LAPLACE

LEVELS = (0.1, 0.5, 1.0)
LEAST = LEVELS[0]
SHARES = {"1 %, 9 %, 90 %": (0.01, 0.09, 0.9), "a third each": (1 / 3, 1 / 3, 1 / 3), "all the least": (1.0, 0.0, 0.0)}
MARGINS = (1, 5, 10, 20, 50)
TABLES = 25  # random tables of each margin
BALANCED, VOTE = "balanced", "weighted-vote"
PLANNED = "hetdp, planning"

Release = Callable[[np.ndarray], bool]  # from everybody's answer, 1 for yes, to the published one


def needed(people: int) -> int:
    """How many must say yes: at least half."""
    return -(-people // 2)


def epsilons(people: int, shares: tuple[float, ...]) -> np.ndarray:
    """Everybody's ε: the shares of people with each level, in no order."""
    ends = np.rint(np.cumsum(shares) * people).astype(np.int64)
    return np.random.default_rng(SEED).permutation(np.repeat(LEVELS, np.diff(ends, prepend=0)))


def planned(epsilon: np.ndarray, objective: str = BALANCED) -> Any:
    """hetdp's mechanism."""
    return hetdp.spaces.population(hetdp.questions.share("yes", at_least="50%"), epsilon).design(objective)


def hetdp_release(epsilon: np.ndarray) -> Release:
    """Everybody's own ε. The answer's chance is computed as for a release, and drawn exactly; no ledger pays."""
    mechanism = planned(epsilon)
    return lambda answers: draw(LAPLACE.name, mechanism.coordinate(1 - answers))


def opendp(library: Any, people: int) -> Release:
    """A noisy count with the least ε for all; a changed answer is one person less and one more, a distance of 2."""
    library.enable_features("contrib")
    answers = library.vector_domain(library.atom_domain(T="i32", bounds=(0, 1)), size=people)
    summed = (answers, library.symmetric_distance()) >> library.t.then_sum()
    measurement = summed >> library.m.then_geometric(scale=1 / LEAST)
    assert math.isclose(measurement.map(2), LEAST)
    return lambda answers: measurement(answers) >= needed(people)


def diffprivlib(library: Any, people: int) -> Release:
    """A noisy count with the least ε for all."""
    return lambda answers: library.count_nonzero(answers, epsilon=LEAST) >= needed(people)


OTHERS: dict[str, tuple[str, Callable[[Any, int], Release]]] = {
    "OpenDP": ("opendp.prelude", opendp),
    "diffprivlib": ("diffprivlib.tools", diffprivlib),
}


def table(people: int, margin: int, rng: np.random.Generator) -> np.ndarray:
    """A random table where the answer is yes and so many people must change before it is no."""
    answers = np.zeros(people, dtype=np.int32)
    answers[rng.permutation(people)[: needed(people) + margin - 1]] = 1
    return answers


def drawn_accuracy(release: Release, people: int, margin: int, draws: int) -> float:
    """The part of some releases that is right."""
    answers = table(people, margin, np.random.default_rng(SEED))
    return sum(release(answers) for _ in range(draws)) / draws


def usual_accuracy(mechanism: Any, people: int, margin: int) -> float:
    """The mean accuracy over random tables, exactly for each."""
    rng = np.random.default_rng(SEED)
    found = [mechanism.coordinate(1 - table(people, margin, rng)) for _ in range(TABLES)]
    return float(np.mean(LAPLACE.probability(np.array(found))))


def one_epsilon(margin: int) -> float:
    """What geometric noise on the count, then the threshold, reaches exactly at any table of a margin."""
    return 1.0 - math.exp(-LEAST * (margin - 1)) / (1.0 + math.exp(LEAST))


def accuracies(people: int, draws: int, libraries: dict[str, Any]) -> Iterator[Part]:
    """Accuracy by margin: the others', which know the least ε only, then hetdp's for each profile."""
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
            mechanism = planned(epsilon, objective)
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
        answers = table(people, 1, np.random.default_rng(SEED))
        releases = {"hetdp": hetdp_release(epsilon)}
        releases |= {name: OTHERS[name][1](library, people) for name, library in libraries.items()}
        took = in_turn({name: partial(release, answers) for name, release in releases.items()}, rounds)
        took[PLANNED] = best_of(partial(planned, epsilon), 3)
        rows += [(f"{people:,}", name, f"{1000 * seconds:.2f}") for name, seconds in took.items()]
    yield "Time, from an array of everybody's answers to one published answer; planning happens once:"
    yield Table(("people", "release", "ms"), rows)


def sections(people: int, draws: int, sizes: tuple[int, ...], rounds: int) -> Iterator[Part]:
    """Accuracy, then time."""
    every = {name: loaded(module) for name, (module, _) in OTHERS.items()}
    libraries = {name: library for name, library in every.items() if not isinstance(library, str)}
    yield from accuracies(people, draws, libraries)
    yield from times(sizes, rounds, libraries)
    yield from (f"Not measured: {reason}." for reason in every.values() if isinstance(reason, str))


BENCHMARKS = (
    Benchmark(
        "releases",
        "Yes/no releases by other libraries",
        """
Did at least half say yes? Everybody has an ε of their own; neighbouring tables differ in one person's answer. OpenDP
and diffprivlib have no yes/no release with an ε for each person, so they do what one does with them: a noisy count
(geometric noise) with the least ε for all, compared with the threshold. That count may itself be published at the
same ε, which hetdp does not offer: it gives the yes or no only. Where all have the least ε, a noisy count is already
the best, and hetdp can only tie. The *margin* is how many people must change before the answer does.

hetdp's accuracy is exact: over the *worst table* of each margin, and as the mean over random tables of it, where the
answer is yes. In the worst table those with the least ε decide: only where they are fewer than the margin can
*balanced* be better than the noisy count there. *weighted-vote* counts everybody by their ε: often better, but wrong
where many with a small ε stand against few with a large one. OpenDP and diffprivlib are drawn; what they reach does
not depend on the table, and should be near the exact line.

What the times hold: OpenDP draws its noise exactly, and its own maps account for ε; diffprivlib draws by a formula in
floats. hetdp computes the chance as for a release, by a formula fixed beforehand, and draws exactly; no ledger is
kept here.
""",
        sections,
        full=(1001, 4000, (1001, 10**6), 9),
        quick=(101, 20, (101,), 1),
    ),
)
