"""The input of the command line: problems, pins, and labels as people type them.

A verb opens its problem with a source, and then calls the same Python functions, whichever source it is. No other
module of the command line asks for the engine.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Literal, NamedTuple

from hetdp.cli.options import DASK
from hetdp.errors import InputError, UsageError
from hetdp.text import pluralize

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.partitioned.problem import PartitionedPins, PartitionedProblem
    from hetdp.problem.labels import Labels
    from hetdp.problem.partial import PartialMechanism, Pins
    from hetdp.problem.problem import Problem


def find_labels(labels: Labels, texts: Iterable[str]) -> list[Any]:
    """Finds the labels that words on the command line mean.

    Raises:
        InputError: naming every text that means no dataset.
    """
    from hetdp.errors import Fault
    from hetdp.problem.spelling import find_label
    from hetdp.text import format_value

    found = {text: find_label(text, labels) for text in texts}
    rule = "the label must be that of a dataset of the problem"
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
        examples = (f"a label is, for example, {spell_label(label, labels)}" for label in unknown.examples)
        return ask_if_meant(spell_label(label, labels) for label in unknown.close) or next(examples, "")
    return ""


def find_labels_together(problem: PartitionedProblem, labels: Iterable[Any]) -> dict[Any, Any]:
    """Finds labels of a partitioned problem, all at once; a text that names no dataset stays as it is."""
    from hetdp.problem.spelling import possible_labels

    given = list(labels)
    choices = {label: list(possible_labels(label)) if isinstance(label, str) else [label] for label in given}
    flat = [choice for each in choices.values() for choice in each]
    known = iter(problem.names.indices(flat).tolist())
    there = {label: [choice for choice in each if next(known) >= 0] for label, each in choices.items()}
    return {label: next(iter(there[label]), label) for label in given}


STANDARD = "-"  # as a path: standard input, or standard output


def read_without_pins(out: Output, path: str, duplicates: Literal["error", "min"], positive: str | None) -> Problem:
    """Reads a problem whose pins do not matter."""
    from hetdp.files.problems import read_problem

    require_input(path)
    problem, _ = read_problem(path, duplicates=duplicates, positive=positive)
    out.say(f"read {name_of_path(path)}: {_size(problem)}")
    warn_without_edges(out, problem)
    warn_if_constant(out, problem)
    return problem


def read_with_pins(
    out: Output, path: str, pins: str | None, duplicates: Literal["error", "min"], positive: str | None
) -> tuple[Problem, Pins]:
    """A problem and its pins, from the file that `pins` names or else from the problem's own."""
    from hetdp.files.problems import read_pins, read_problem
    from hetdp.problem.partial import convert_pins

    require_input(path, pins)
    problem, partial = read_problem(path, duplicates=duplicates, positive=positive)
    given = convert_pins(problem, partial if pins is None else read_pins(pins, problem))
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
        out.say(f"the answer is the same for every dataset: {answer}. It uses no randomness and costs no privacy")


def require_input(*paths: str | None) -> None:
    """Refuses to read standard input twice, or if it is closed."""
    if paths.count(STANDARD) > 1:
        raise UsageError(
            "- is used for two inputs", "standard input can be read only once", "name a file for one of them"
        )
    if STANDARD in paths and sys.stdin is None:
        raise UsageError("standard input is closed", "- reads from there", "name a file")


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


def _size(problem: Problem | PartitionedProblem) -> str:
    return f"{pluralize(problem.graph.size, 'dataset')}, {pluralize(problem.graph.edge_count, 'edge')}"


# Sources: a file that this process reads, or with --engine dask a folder for workers ----------------------------------


MANY_DATASETS = 10_000  # datasets; partitions of fewer need no long rounds, in whatever order the datasets are


def source_of(engine: str, cluster: dict[str, Any]) -> Source:
    """The source that an engine needs; options that are for workers alone are refused elsewhere."""
    return PartitionedSource(cluster) if needs_workers(engine, cluster) else Source()


def needs_workers(engine: str, cluster: dict[str, Any]) -> bool:
    """True if an engine works by workers; refuses their options otherwise."""
    if engine == DASK:
        return True
    for name, value in cluster.items():
        if value is not None:
            rule = "it is an option of --engine dask"
            raise UsageError(f"--{name} without --engine dask", rule, "add --engine dask, or omit it")
    return False


class ProblemInput(NamedTuple):
    """The problem as given on the command line: its path and the options that belong to it.

    Attributes:
        path: a file, a folder, or standard input.
        duplicates: what becomes of an edge that is listed twice.
        positive: the answer that p is the probability of.
        pins: the file of the pins, if it is another.
        with_pins: whether pins matter.
    """

    path: str
    duplicates: Literal["error", "min"]
    positive: str | None
    pins: str | None
    with_pins: bool


class Source:
    """Opens the problem of a verb, and says where its mechanism may be written: in this process.

    Attributes:
        limit: what can be done where an objective answers datasets worse than a coin.
    """

    limit = "--max-error 0.5 would not allow it"

    def open(
        self,
        out: Output,
        path: str,
        duplicates: Literal["error", "min"],
        positive: str | None,
        pins: str | None = None,
        with_pins: bool = True,
    ) -> AbstractContextManager[tuple[Any, Any]]:
        """The problem, and its pins: from the file that `pins` names, or else the problem's own."""
        return self._open(out, ProblemInput(path, duplicates, positive, pins, with_pins))

    @contextmanager
    def _open(self, out: Output, given: ProblemInput) -> Iterator[tuple[Any, Any]]:
        if given.with_pins:
            yield read_with_pins(out, given.path, given.pins, given.duplicates, given.positive)
        else:
            yield read_without_pins(out, given.path, given.duplicates, given.positive), None

    def require_output(self, output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
        """Refuses a place for the mechanism that cannot be written to, or a name of unknown format."""
        from hetdp.cli.writing import require_place
        from hetdp.files.formats.registry import SUFFIXES

        require_place("-o", output, as_json, suffixes=SUFFIXES, inputs=inputs)

    def require_mechanism(self, path: str) -> None:
        """Refuses what has not the form of a mechanism, before workers are started; here the reader does."""

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses what workers cannot do, before these are started; here `design` refuses what it cannot do."""

    def refuse_option(self, option: str, rule: str) -> None:
        """Refuses an option that partitions do not have; here there are all."""


class PartitionedSource(Source):
    """A folder of Parquet files that workers read.

    Args:
        cluster: the options of workers, None where one is not given.
    """

    limit = "--max-error 0.5, which is for one machine, would not allow it"

    def __init__(self, cluster: dict[str, Any]) -> None:
        self._options = {name: value for name, value in cluster.items() if value is not None}

    @contextmanager
    def _open(self, out: Output, given: ProblemInput) -> Iterator[tuple[PartitionedProblem, PartitionedPins]]:
        """The problem, and its pins; at the end, the workers that were started for it end, too."""
        from hetdp.files.problems import read_pins
        from hetdp.partitioned.reading import PartitionedFile, read_partitioned

        path, duplicates, positive, pins, _ = given
        require_input(path, pins)
        values = None if pins is None else read_pins(pins)  # before anything takes long
        options = dict(self._options)
        if str(options.get("partitions", "")).isdecimal():  # the reader refuses other texts
            options["partitions"] = int(options["partitions"])
        read: PartitionedFile = read_partitioned(path, duplicates=duplicates, positive=positive, **options)
        with read as (problem, known):
            if values is not None:
                try:
                    known = problem.steps("auto").read_pins(_relabel(problem, values))
                except InputError:
                    if pins != STANDARD:
                        read_pins(str(pins), problem)  # raises with the rows of the file
                    raise
            what = f"{_size(problem)}, {pinned_words(known.count, pins)}"
            out.say(f"read {name_of_path(path)}: {what}, in {pluralize(problem.partition_count, 'partition')}")
            warn_without_edges(out, problem)
            if problem.graph.ghosts > problem.graph.size >= MANY_DATASETS:
                rule = "fewer partitions, or an order in which neighbours are near (--by), need fewer rounds"
                out.say(f"partitions have {pluralize(problem.graph.ghosts, 'neighbour')} in others; {rule}")
            yield problem, known

    def require_output(self, output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
        """Refuses everything but a folder that is new, or holds a mechanism."""
        from pathlib import Path

        from hetdp.cli.writing import require_place
        from hetdp.files.formats.writing import require_folder
        from hetdp.partitioned.mechanism_files import FOLDER_FILES

        rule = "with --engine dask, workers write the mechanism to a folder"
        if output is None or output == "-":
            raise UsageError("-o FOLDER is missing", rule, "add -o FOLDER")
        if Path(output).suffix:
            raise UsageError(f"-o {output}", f"{rule}, whose name has no ending")
        require_place("-o", output, as_json, suffixes=("",), inputs=(*inputs, self._options.get("work")))
        require_folder(Path(output), FOLDER_FILES)

    def require_mechanism(self, path: str) -> None:
        """Refuses what has not the form of a mechanism, before workers are started."""
        from hetdp.partitioned.mechanism_files import open_mechanism

        open_mechanism(path)

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses what workers cannot do, before these are started."""
        from hetdp.partitioned.steps import require_offered

        require_offered(objective, prior, max_error)

    def refuse_option(self, option: str, rule: str) -> None:
        """Refuses an option that partitions do not have."""
        raise UsageError(f"{option} together with --engine dask", rule, "leave it out")


def _relabel(problem: PartitionedProblem, values: PartialMechanism) -> PartialMechanism:
    """Values from a file by the labels that were meant, all looked up together."""
    columns: Any = (values.p, values.z, values.error)
    labels = {label for column in columns if column is not None for label in column}
    return relabel_pins(values, find_labels_together(problem, labels).get)


LARGEST_LINE = 1 << 20  # bytes of a label, or of an id


def read_private_line(path: str, option: str, what: str) -> str:
    """The text of a file, or of standard input, without the end of its line; none of it is ever shown.

    Args:
        path: the file; ``-`` is standard input.
        option: the option that names it, for messages.
        what: what it holds: a label, or an id.

    Raises:
        UsageError: it cannot be read.
    """
    import sys
    from pathlib import Path

    from hetdp.documents import reason_of
    from hetdp.errors import UsageError

    text: str | None = None
    try:
        if path == STANDARD:
            data = sys.stdin.buffer.read(LARGEST_LINE + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(LARGEST_LINE + 1)
        if len(data) <= LARGEST_LINE:
            text = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as refusal:
        reason = reason_of(refusal)
        article = "an" if what[0] in "aeiou" else "a"
        raise UsageError(
            f"{path!r} cannot be read: {reason}", f"{option} names a file that holds {article} {what}"
        ) from None
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise UsageError(f"no {what} can be read there", f"{option} names a file with one {what}, in UTF-8")
    return text
