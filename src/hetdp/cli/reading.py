"""What the command line reads: problems, pins, and labels as people type them."""

from __future__ import annotations

import sys

from hetdp.errors import UsageError
from hetdp.text import pluralize

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.partitioned.problem import PartitionedProblem
    from hetdp.problem.labels import Labels
    from hetdp.problem.partial import PartialMechanism, Pins
    from hetdp.problem.problem import Problem


def find_labels(labels: Labels, texts: Iterable[str]) -> list[Any]:
    """Finds the labels that words on the command line mean.

    Raises:
        InputError: naming every text that means no dataset.
    """
    from hetdp.errors import Fault, InputError
    from hetdp.problem.spelling import find_label
    from hetdp.text import format_value

    found = {text: find_label(text, labels) for text in texts}
    rule = "only datasets of the problem can be asked about"
    faults = [
        Fault("there is no such dataset", f"dataset {format_value(text)}", "", rule, _hint(labels, text))
        for text, label in found.items()
        if label is None
    ]
    if faults:
        raise InputError("command line", faults)
    return list(found.values())


def _hint(labels: Labels, text: str) -> str:
    """The labels that look most like a text, as they are typed."""
    from hetdp.errors import UnknownDatasetError
    from hetdp.problem.spelling import spell_label
    from hetdp.text import ask_if_meant

    try:
        labels.index(text)
    except UnknownDatasetError as unknown:
        return ask_if_meant(spell_label(label, labels) for label in unknown.close)
    return ""


def find_labels_together(problem: PartitionedProblem, labels: Iterable[Any]) -> dict[Any, Any]:
    """What labels of a partitioned problem mean, all at once; what names no dataset stays as it is."""
    from hetdp.problem.spelling import possible_labels

    given = list(labels)
    choices = {label: list(possible_labels(label)) if isinstance(label, str) else [label] for label in given}
    flat = [choice for each in choices.values() for choice in each]
    known = iter(problem.names.indices(flat).tolist())
    there = {label: [choice for choice in each if next(known) >= 0] for label, each in choices.items()}
    return {label: next(iter(there[label]), label) for label in given}


STANDARD = "-"  # as a path: standard input, or standard output


def read_without_pins(out: Output, path: str, duplicates: str, positive: str | None) -> Problem:
    """Reads a problem whose pins do not matter."""
    from hetdp.files.problems import read_problem

    require_input(path)
    problem, _ = read_problem(path, duplicates=duplicates, positive=positive)
    out.say(f"read {name_of_path(path)}: {_size(problem)}")
    warn_without_edges(out, problem)
    warn_if_constant(out, problem)
    return problem


def read_with_pins(
    out: Output, path: str, pins: str | None, duplicates: str, positive: str | None
) -> tuple[Problem, Pins]:
    """A problem and its pins, from the file that `pins` names or else from the problem's own."""
    from hetdp.files.problems import read_problem
    from hetdp.problem.partial import convert_pins

    require_input(path, pins)
    problem, partial = read_problem(path, duplicates=duplicates, positive=positive)
    given = convert_pins(problem, partial if pins is None else _read_pins(pins, problem.labels))
    out.say(f"read {name_of_path(path)}: {_size(problem)}, {pinned_words(given.count, pins)}")
    warn_without_edges(out, problem)
    warn_if_constant(out, problem)
    return problem, given


def pinned_words(count: int, pins: str | None) -> str:
    """The number of given values, and the file they come from, if it is not the problem itself."""
    return f"{count:,} pinned" + ("" if pins is None else f" by {name_of_path(pins)}")


def warn_without_edges(out: Output, problem: Problem | PartitionedProblem) -> None:
    """Warns if there are no edges: then every mechanism is private, which is hardly what was meant."""
    if problem.graph.size > 1 and not problem.graph.edge_count:
        out.say("warning: there are no edges, so nobody is protected")


def warn_if_constant(out: Output, problem: Problem) -> None:
    """Says so if the query has the same answer for every dataset."""
    answers = problem.answers
    if len(answers) > 1 and answers.min() == answers.max():
        answer = problem.about.get(f"answer_{int(answers[0])}", int(answers[0]))
        out.say(f"the answer is the same for every dataset: {answer}. It needs no randomness and costs nobody anything")


def require_input(*paths: str | None) -> None:
    """Refuses to read standard input twice, or if it is closed."""
    if paths.count(STANDARD) > 1:
        raise UsageError("two inputs are -", "standard input can be read only once", "name a file for one of them")
    if STANDARD in paths and sys.stdin is None:
        raise UsageError("standard input is closed", "- reads from there", "name a file")


def _read_pins(path: str, labels: Labels) -> PartialMechanism:
    """Pins in a file of their own; labels that are text in a CSV file are found as those on the command line are."""
    from hetdp.files.problems import read_pins
    from hetdp.problem.spelling import find_label

    partial = read_pins(path)

    def known(label: Any) -> Any:
        return label if (found := find_label(label, labels)) is None else found

    return relabel_pins(partial, known)


def relabel_pins(partial: PartialMechanism, known: Callable[[Any], Any]) -> PartialMechanism:
    """Replaces the labels of pins by the labels that they mean."""
    from hetdp.problem.partial import PartialMechanism

    return PartialMechanism(*(_by_label(pins, known) for pins in (partial.p, partial.z, partial.error)))


def _by_label(pins: dict[Any, float] | None, known: Callable[[Any], Any]) -> dict[Any, float] | None:
    if pins is None:
        return None
    found = {known(label): value for label, value in pins.items()}
    return found if len(found) == len(pins) else pins  # '3' and 3 in one file do not mean the same


def name_of_path(path: str) -> str:
    """A path as messages name it."""
    return "standard input" if path == STANDARD else path


def _size(problem: Problem) -> str:
    return f"{pluralize(problem.graph.size, 'dataset')}, {pluralize(problem.graph.edge_count, 'edge')}"
