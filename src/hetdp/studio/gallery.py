"""Votes and tallies from words that people type, with the lines of Python and of a shell that make the same."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Any, NamedTuple

from hetdp import privacy, questions
from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.people.names import parse_pairs
from hetdp.people.products.problems import require_few, tallies, values_of, votes
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.studio.session import Origin, Sheet, sheet_of
from hetdp.text import format_value

VOTES, TALLIES = "votes", "tallies"
MOST, MOST_RULE, HINT = 1_000_000, "the studio shows at most 1,000,000 datasets", "tallies have fewer than votes"


def made(
    space: str, people: str, at_least: str, epsilon: str, deciding: str = "", values: str = "yes, no", name: str = ""
) -> Sheet:
    """A sheet from a form.

    Args:
        space: VOTES or TALLIES.
        people: for votes names with commas between, or how many; for tallies such as ``pupils=20, staff=5``.
        at_least: how many have to have the first value: ``3``, ``50%`` or ``2/3``; empty for more than half.
        epsilon: one ε for everybody, or ``pupils=0.3, staff=1``.
        deciding: the same where one person decides; empty if that makes no difference.
        values: what a person may have.
        name: what it is called; by default its question.

    Raises:
        UsageError: words that mean nothing, or too many datasets.
        InputError: somebody has no ε.
    """
    known = values_of([value.strip() for value in values.split(",")])
    counted, threshold = known[0], at_least.strip()
    asked, asked_python, asked_shell = _question(counted, threshold)
    first, second = _epsilons("ε", epsilon), _epsilons("ε when deciding", deciding)
    if first is None:
        raise UsageError("no ε", "everybody has one", "1, or Ann=0.2, Bob=1")
    rules = privacy.rules(first, deciding=second)
    rules_python = f"hetdp.privacy.rules({first!r}" + (")" if second is None else f", deciding={second!r})")
    shell = [asked_shell, f"--epsilon {_typed(first)}"]
    shell += [] if second is None else [f"--deciding-epsilon {_typed(second)}"]
    shell += [] if known == ("yes", "no") else [f"--values {quote(','.join(known))}"]
    problem, who_python, who_shell = _people(space, people, known, asked, rules)
    tail = "" if known == ("yes", "no") else f", {list(known)!r}"
    python = f"problem = hetdp.spaces.{space}({who_python}, {asked_python}, {rules_python}{tail})"
    line = " ".join(["hetdp make", space, who_shell, *shell, "-o problem.json"])
    return sheet_of(name or problem.about["title"], problem, None, Origin((python,), line))


def _people(space: str, people: str, known: tuple[str, ...], asked: Any, rules: Any) -> tuple[Problem, str, str]:
    if not people.strip():
        raise UsageError("nobody", "votes are of people, tallies of groups", "Ann, Bob, Cyd; or pupils=20, staff=5")
    if space == VOTES:
        listed: Any = [one.strip() for one in people.split(",")]
        if people.strip().isdecimal():
            listed = parse_whole(people, "the number of people", 1)
        require_few([listed if isinstance(listed, int) else len(listed)], len(known), False, MOST, MOST_RULE, HINT)
        typed = str(listed) if isinstance(listed, int) else ",".join(listed)
        return votes(listed, asked, rules, known), repr(listed), f"--people {quote(typed)}"
    if space != TALLIES:
        raise UsageError(f"a space of {format_value(space)}", "there are votes and tallies")
    given = parse_pairs("groups:", [people], "NAME=SIZE", "each group has one size")
    sizes = {name: parse_whole(size, f"the size of {name!r}", 0) for name, size in given.items()}
    require_few(list(sizes.values()), len(known), True, MOST, MOST_RULE, "smaller groups have fewer tallies")
    return tallies(sizes, asked, rules, known), repr(sizes), f"--group {_typed(sizes)}"


def _question(counted: str, threshold: str) -> tuple[Any, str, str]:
    """The question, and how it is written in Python and in a shell."""
    if not threshold:
        return (
            questions.majority(counted),
            f"hetdp.questions.majority({counted!r})",
            f"--majority --count {quote(counted)}",
        )
    kind = "share" if set("%/.") & set(threshold) else "count"
    at_least: Any = threshold if kind == "share" else parse_whole(threshold, "how many it takes", 0)
    asked = questions.share(counted, threshold) if kind == "share" else questions.count(counted, at_least)
    python = f"hetdp.questions.{kind}({counted!r}, {at_least!r})"
    return asked, python, f"--count {quote(counted)} --at-least {quote(threshold)}"


def _epsilons(name: str, words: str) -> Any:
    words = words.strip()
    if not words or "=" not in words:
        return words or None
    return parse_pairs(f"{name}:", [words], "NAME=ε", "each name has one ε")


def _typed(given: Any) -> str:
    return quote(",".join(f"{name}={value}" for name, value in given.items()) if isinstance(given, dict) else given)


# Problems to begin with; each says something.


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
