"""Documents from the form for people, and the gallery of examples.

A document from the form knows the lines of Python and of a shell that build the same problem.
"""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Any, NamedTuple

from hetdp import privacy, questions
from hetdp.errors import UsageError
from hetdp.numbers import parse_whole
from hetdp.people.names import parse_pairs, require_values
from hetdp.people.products.problems import require_few, tallies, votes
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.studio.session import Document, Origin, new_document
from hetdp.text import format_value

VOTES, TALLIES = "votes", "tallies"
MOST, MOST_RULE, HINT = 1_000_000, "the studio shows at most 1,000,000 datasets", "tallies have fewer than votes"


def document_from_form(
    space: str, people: str, at_least: str, epsilon: str, deciding: str = "", values: str = "yes, no", name: str = ""
) -> Document:
    """The document that a form describes.

    Args:
        space: VOTES or TALLIES.
        people: for votes, names separated by commas, or a number; for tallies, sizes such as ``pupils=20, staff=5``.
        at_least: how many people need to have the first value: ``3``, ``50%`` or ``2/3``; empty for more than half.
        epsilon: one ε for everyone, or ``pupils=0.3, staff=1``.
        deciding: the same for edges where one person decides the answer; empty if they are not different.
        values: the possible values of a person.
        name: the name of the document; by default the question.

    Raises:
        UsageError: an entry that cannot be read, or too many datasets.
        InputError: a person or group has no ε.
    """
    form = (space, people, at_least, epsilon, deciding, values)
    known = require_values([value.strip() for value in values.split(",")])
    counted, threshold = known[0], at_least.strip()
    asked, asked_python, asked_shell = _question(counted, threshold)
    first, second = _epsilons("ε", epsilon), _epsilons("ε when deciding", deciding)
    if first is None:
        raise UsageError("no ε", "every person has one", "1, or Ann=0.2, Bob=1")
    rules = privacy.rules(first, deciding=second)
    rules_python = f"hetdp.privacy.rules({first!r}" + (")" if second is None else f", deciding={second!r})")
    shell = [asked_shell, f"--epsilon {_option_value(first)}"]
    shell += [] if second is None else [f"--deciding-epsilon {_option_value(second)}"]
    shell += [] if known == ("yes", "no") else [f"--values {quote(','.join(known))}"]
    problem, who_python, who_shell = _people(space, people, known, asked, rules)
    tail = "" if known == ("yes", "no") else f", {list(known)!r}"
    python = f"problem = hetdp.spaces.{space}({who_python}, {asked_python}, {rules_python}{tail})"
    line = " ".join(["hetdp make", space, who_shell, *shell, "-o problem.json"])
    return new_document(name or problem.about["title"], problem, None, Origin((python,), line, form))


def _people(space: str, people: str, known: tuple[str, ...], asked: Any, rules: Any) -> tuple[Problem, str, str]:
    if not people.strip():
        raise UsageError("no people", "votes need people, tallies need groups", "Ann, Bob, Cyd; or pupils=20, staff=5")
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
    return tallies(sizes, asked, rules, known), repr(sizes), f"--group {_option_value(sizes)}"


def _question(counted: str, threshold: str) -> tuple[Any, str, str]:
    """The question, and its code in Python and in a shell."""
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


def _option_value(given: Any) -> str:
    return quote(",".join(f"{name}={value}" for name, value in given.items()) if isinstance(given, dict) else given)


class Entry(NamedTuple):
    """An example in the gallery: its title, what it shows, and a function that makes it."""

    title: str
    about: str
    make: Callable[[], Document]


def _three_voters() -> Document:
    return document_from_form(VOTES, "Ann, Bob, Cyd", "", "1", "Ann=0.2", name="Three voters")


def _five_voters() -> Document:
    return document_from_form(VOTES, "5", "", "1", "1=0.2", name="Five voters")


def _contradiction() -> Document:
    """A path of five datasets with given values that no private mechanism has."""
    datasets = ["none ill", "one ill", "two ill", "three ill", "four ill"]
    graph = DatasetGraph.from_edges(datasets[:-1], datasets[1:], [1.0, 0.5, 1.0, 1.0], datasets=datasets)
    words = {"title": "Are there at least two?", "answer_1": "yes", "answer_2": "no", "change": "one person falls ill"}
    given = PartialMechanism(p={"one ill": 0.2, "two ill": 0.8})
    return new_document("Contradictory values", Problem(graph, [2, 2, 1, 1, 1], about=words), given)


def _school() -> Document:
    return document_from_form(
        TALLIES, "pupils=23, staff=2", "3", "pupils=0.5, staff=1", "pupils=0.2, staff=1", "ill, well", "School outbreak"
    )


def _council() -> Document:
    """The Security Council with secret votes: 9 of 15, including all five permanent members."""

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
    return new_document("Security Council", Problem(graph, answers, about=words))


def _survey() -> Document:
    return document_from_form(TALLIES, "old=60, young=40", "50%", "old=0.2, young=0.5", name="A survey of 100")


GALLERY = {
    "three-voters": Entry("Three voters", "Ann is protected more, but only where her vote decides.", _three_voters),
    "five-voters": Entry(
        "Five voters", "The same with 32 datasets: more privacy for decisive votes costs little.", _five_voters
    ),
    "contradiction": Entry(
        "Contradictory values", "Two given values contradict each other. See why, and repair them.", _contradiction
    ),
    "school": Entry("School outbreak", "Are at least three of 25 ill? Pupils are protected more than staff.", _school),
    "council": Entry(
        "Security Council", "Nine of fifteen votes and no veto. A decisive veto is protected more.", _council
    ),
    "survey": Entry(
        "A survey of 100", "2,501 tallies of two age groups: too many for a network, so they are a map.", _survey
    ),
}
