"""Where the problem of a verb comes from: a file that this process reads, or, with --engine dask, a folder for workers.

This is the only module of the command line that asks for the engine. A verb opens its problem with a source, and then
calls the same Python functions, whichever source it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager

from hetdp.cli.options import DASK
from hetdp.cli.reading import (
    find_labels_together,
    name_of_path,
    pinned_words,
    read_with_pins,
    read_without_pins,
    relabel_pins,
    require_input,
    warn_without_edges,
)
from hetdp.cli.writing import SUFFIXES, require_place
from hetdp.errors import UsageError
from hetdp.text import pluralize

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.partitioned.problem import PartitionedPins, PartitionedProblem
    from hetdp.problem.partial import PartialMechanism, Pins
    from hetdp.problem.problem import Problem

MANY = 10_000  # datasets; partitions of fewer need no long rounds, in whatever order the datasets are


def source_of(engine: str, cluster: dict[str, Any]) -> Source:
    """The source that an engine needs; options that are for workers alone are refused elsewhere."""
    return PartitionedSource(cluster) if needs_workers(engine, cluster) else LocalSource()


def needs_workers(engine: str, cluster: dict[str, Any]) -> bool:
    """True if an engine works by workers; refuses their options otherwise."""
    if engine == DASK:
        return True
    for name, value in cluster.items():
        if value is not None:
            rule = "it says how --engine dask works"
            raise UsageError(f"--{name} without --engine dask", rule, "add --engine dask, or leave it out")
    return False


class Source(ABC):
    """How a verb opens its problem, and where its mechanism may go.

    Attributes:
        limit: what can be done where an objective answers datasets worse than a coin.
    """

    limit: str

    @abstractmethod
    def open(
        self,
        out: Output,
        path: str,
        duplicates: str,
        positive: str | None,
        pins: str | None = None,
        with_pins: bool = True,
    ) -> AbstractContextManager[tuple[Any, Any]]:
        """The problem, and its pins: from the file that `pins` names, or else the problem's own."""

    @abstractmethod
    def require_output(self, output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
        """Refuses a place for the mechanism that cannot be written to."""

    @abstractmethod
    def require_mechanism(self, path: str) -> None:
        """Refuses what has not the form of a mechanism, before workers are started."""

    @abstractmethod
    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """Refuses what workers cannot do, before these are started."""

    @abstractmethod
    def refuse_option(self, option: str, rule: str) -> None:
        """Refuses an option that partitions do not have."""


class LocalSource(Source):
    """A file or a folder that this process reads."""

    limit = "--max-error 0.5 would not allow it"

    @contextmanager
    def open(
        self,
        out: Output,
        path: str,
        duplicates: str,
        positive: str | None,
        pins: str | None = None,
        with_pins: bool = True,
    ) -> Iterator[tuple[Problem, Pins | None]]:
        """The problem, and its pins."""
        if with_pins:
            yield read_with_pins(out, path, pins, duplicates, positive)
        else:
            yield read_without_pins(out, path, duplicates, positive), None

    def require_output(self, output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
        """Refuses a name of unknown format, and a place that cannot be written to."""
        require_place("-o", output, as_json, suffixes=SUFFIXES, inputs=inputs)

    def require_mechanism(self, path: str) -> None:
        """The reader refuses it soon enough."""

    def require_objective(self, objective: str, prior: Any, max_error: Any) -> None:
        """`design` refuses it soon enough."""

    def refuse_option(self, option: str, rule: str) -> None:
        """All options are for problems that are read here."""


class PartitionedSource(Source):
    """A folder of Parquet files that workers read.

    Args:
        cluster: the options of workers, None where one is not given.
    """

    limit = "--max-error 0.5, which is for one machine, would not allow it"

    def __init__(self, cluster: dict[str, Any]) -> None:
        self._options = {name: value for name, value in cluster.items() if value is not None}

    @contextmanager
    def open(
        self,
        out: Output,
        path: str,
        duplicates: str,
        positive: str | None,
        pins: str | None = None,
        with_pins: bool = True,
    ) -> Iterator[tuple[PartitionedProblem, PartitionedPins]]:
        """The problem, and its pins; at the end, the workers that were started for it end, too."""
        from hetdp.files.problems import read_pins
        from hetdp.partitioned.reading import PartitionedFile, read_partitioned

        require_input(path, pins)
        values = None if pins is None else read_pins(pins)  # before anything takes long
        options = dict(self._options)
        if str(options.get("partitions", "")).isdecimal():  # the reader refuses other texts
            options["partitions"] = int(options["partitions"])
        read: PartitionedFile = read_partitioned(path, duplicates=duplicates, positive=positive, **options)
        with read as (problem, given):
            if values is not None:
                given = problem.steps("auto").read_pins(_relabelled(problem, values))
            size = f"{pluralize(problem.graph.size, 'dataset')}, {pluralize(problem.graph.edge_count, 'edge')}"
            by = pinned_words(given.count, pins)
            out.say(f"read {name_of_path(path)}: {size}, {by}, in {pluralize(problem.partition_count, 'partition')}")
            warn_without_edges(out, problem)
            if problem.graph.ghosts > problem.graph.size >= MANY:
                rule = "fewer partitions, or an order in which neighbours are near (--by), need fewer rounds"
                out.say(f"partitions have {pluralize(problem.graph.ghosts, 'neighbour')} in others; {rule}")
            yield problem, given

    def require_output(self, output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
        """Refuses everything but a folder that is new, or holds a mechanism."""
        from pathlib import Path

        from hetdp.files.formats.writing import require_folder
        from hetdp.partitioned.mechanism_files import OURS

        rule = "with --engine dask, workers write the mechanism to a folder"
        if output is None or output == "-":
            raise UsageError("no -o FOLDER", rule, "add -o FOLDER")
        if Path(output).suffix:
            raise UsageError(f"-o {output}", f"{rule}, whose name has no ending")
        require_place("-o", output, as_json, suffixes=("",), inputs=(*inputs, self._options.get("work")))
        require_folder(Path(output), OURS)

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
        raise UsageError(f"{option} beside --engine dask", rule, "leave it out")


def _relabelled(problem: PartitionedProblem, values: PartialMechanism) -> PartialMechanism:
    """Values from a file by the labels that were meant, all looked up together."""
    columns: Any = (values.p, values.z, values.error)
    labels = {label for column in columns if column is not None for label in column}
    return relabel_pins(values, find_labels_together(problem, labels).get)
