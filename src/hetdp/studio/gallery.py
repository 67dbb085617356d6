"""Problems to begin with; each says something."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.studio.forms import TALLIES, VOTES, made
from hetdp.studio.sheets import Sheet, sheet_of


class Entry(NamedTuple):
    """One problem of the gallery: its title, what it shows, and how it is made."""

    title: str
    about: str
    make: Callable[[], Sheet]


def _three_voters() -> Sheet:
    return made(VOTES, "Ann, Bob, Cyd", "", "1", "Ann=0.2", name="Three voters")


def _five_voters() -> Sheet:
    return made(VOTES, "5", "", "1", "1=0.2", name="Five voters")


def _a_wish() -> Sheet:
    """A path of five datasets, and values that no private mechanism has."""
    datasets = ["none ill", "one ill", "two ill", "three ill", "four ill"]
    graph = DatasetGraph.from_edges(datasets[:-1], datasets[1:], [1.0, 0.5, 1.0, 1.0], datasets=datasets)
    words = {"title": "Are there at least two?", "answer_1": "yes", "answer_2": "no", "change": "somebody falls ill"}
    wish = PartialMechanism(p={"one ill": 0.2, "two ill": 0.8})
    return sheet_of("A wish that cannot be granted", Problem(graph, [2, 2, 1, 1, 1], about=words), wish)


def _school() -> Sheet:
    return made(
        TALLIES, "pupils=23, staff=2", "3", "pupils=0.5, staff=1", "pupils=0.2, staff=1", "ill, well", "School outbreak"
    )


def _council() -> Sheet:
    """The Security Council as if its votes were secret: 9 of 15, and all five permanent members."""

    def passes(permanent: int, elected: int) -> bool:
        return permanent == 5 and permanent + elected >= 9

    edges = []
    for permanent in range(6):
        for elected in range(11):
            here = f"{permanent},{elected}"
            if permanent < 5:
                decides = passes(permanent, elected) != passes(permanent + 1, elected)
                edges.append((here, f"{permanent + 1},{elected}", 0.3 if decides else 1.0, "permanent"))
            if elected < 10:
                edges.append((here, f"{permanent},{elected + 1}", 1.0, "elected"))
    datasets = [f"{permanent},{elected}" for permanent in range(6) for elected in range(11)]
    source, target, epsilon, classes = map(list, zip(*edges, strict=True))
    graph = DatasetGraph.from_edges(source, target, epsilon, datasets=datasets, classes=classes)
    words = {
        "title": "Is the draft adopted?",
        "answer_1": "adopted",
        "answer_2": "not adopted",
        "change": "a member ({class}) votes differently",
    }
    answers = [passes(*map(int, name.split(","))) for name in datasets]
    return sheet_of("Security Council", Problem(graph, answers, about=words))


def _survey() -> Sheet:
    return made(TALLIES, "old=60, young=40", "50%", "old=0.2, young=0.5", name="A survey of 100")


GALLERY = {
    "three-voters": Entry("Three voters", "Ann is protected more, but only where her vote decides.", _three_voters),
    "five-voters": Entry(
        "Five voters", "The same with 32 datasets: privacy where it matters costs little.", _five_voters
    ),
    "a-wish": Entry(
        "A wish that cannot be granted", "Two values contradict each other; see why, and repair it.", _a_wish
    ),
    "school": Entry("School outbreak", "At least three of 25 ill? Pupils are protected more than staff.", _school),
    "council": Entry(
        "Security Council", "Nine of fifteen and no veto; a veto that decides is protected more.", _council
    ),
    "survey": Entry("A survey of 100", "2,501 tallies of two age groups: too many for a network, so a map.", _survey),
}
