"""`PartitionedProblem`: a problem that no process ever holds whole.

Its arrays are in a folder that all workers can access, and its verbs run as tasks on the partitions.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hetdp.certificate.rule import Chains, Survey
from hetdp.engines.registry import EngineName
from hetdp.errors import UnknownDatasetError, UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.mechanism import LoadedClaim
from hetdp.mechanism.steps import RemoteProblem
from hetdp.partitioned.partition import RUN, Partition
from hetdp.partitioned.shared_files import make_folder
from hetdp.problem.labels import similar_labels
from hetdp.text import format_value, pluralize
from hetdp.theory.notion import Notion

if TYPE_CHECKING:
    from hetdp.partitioned.mechanism import PartitionedMechanism
    from hetdp.partitioned.steps import PartitionedSteps

DASK = "dask"  # the engine of partitioned problems
Task = Callable[..., Any]


class TaskRunner(Protocol):
    """Runs tasks: stateless functions of file names, so that each may run twice, or on another worker."""

    def run(self, task: Task, items: Iterable[tuple[Any, ...]], words: str = "") -> list[Any]:
        """Runs a task on each item and returns the results in order; raises ClusterError if no worker is left."""

    def close(self) -> None:
        """Ends the processes that were started for this problem."""


class PartitionedGraph(NamedTuple):
    """Totals over all datasets and edges.

    Attributes:
        size: number of datasets.
        arc_count: twice the number of edges with a constraint.
        edge_count: number of edges, including those without a constraint.
        parameter_names: names of the privacy parameters of an edge.
        ghosts: number of ghosts, summed over all partitions.
    """

    size: int
    arc_count: int
    edge_count: int
    parameter_names: tuple[str, ...]
    ghosts: int = 0


OWN_PINS = "pins"  # name of the arrays with the values in the problem's own tables


@dataclass(frozen=True)
class PartitionedPins:
    """Given values on some datasets of a partitioned problem, stored in arrays of its partitions.

    Attributes:
        count: number of datasets with a given value.
        work: the work folder, which identifies the problem.
        name: name of the arrays; by default the values in the problem's own tables.
    """

    count: int
    work: str
    name: str = OWN_PINS


class PartitionedProblem(RemoteProblem):
    """A problem read by `read_partitioned`, in which each partition owns a range of the datasets.

    It can be used like a `Problem`: `check`, `extend`, `design` (fair and balanced) and `verify` take it, and run on
    its workers.

    Attributes:
        work: the folder with the arrays of the partitions.
        offsets: the number of the first dataset of each partition, followed by the number of datasets.
        graph: totals over datasets and edges.
        notion: the notion of privacy.
        about: free text for readers.
        workers: runs the tasks.
        names: translates between labels and numbers.
        gridded: True if every ε, and every start value of the balanced objective, is a multiple of 2^-40.
    """

    graph: PartitionedGraph
    notion: Notion

    def __init__(
        self,
        work: str,
        offsets: tuple[int, ...],
        graph: PartitionedGraph,
        notion: Notion,
        about: Mapping[str, str],
        identity: Callable[[], str],
        workers: TaskRunner,
        names: LabelFinder,
        end: Callable[[], None],
        gridded: bool = False,
    ) -> None:
        self.work, self.offsets, self.graph, self.notion = work, offsets, graph, notion
        self.about, self.workers, self.names, self.gridded = about, workers, names, gridded
        self._identity, self._end = identity, end
        self._run = Path(make_folder(work, RUN.rstrip("-")))

    @cached_property
    def identity(self) -> str:
        """The digest by which mechanism files identify it, the same as on one machine; computed on first access."""
        return self._identity()

    @property
    def partition_count(self) -> int:
        """Number of partitions."""
        return len(self.offsets) - 1

    @property
    def partitions(self) -> list[Partition]:
        """All partitions.

        Raises:
            UsageError: the problem was closed.
        """
        if not self._run.is_dir():
            raise UsageError("a partitioned problem that was closed", "its folder was removed", "read it again")
        return [Partition(self.work, number, self.offsets) for number in range(len(self.offsets) - 1)]

    def run(self, task: Task, *arguments: Any, words: str = "") -> list[Any]:
        """Runs a task on every partition and returns the results."""
        return self.workers.run(task, [(partition, *arguments) for partition in self.partitions], words)

    def new_name(self, verb: str) -> str:
        """A new array name for one call; its files are removed at the end of the run."""
        return f"{self._run.name}/{verb}-{os.urandom(6).hex()}"

    @property
    def labels(self) -> PartitionedLabels:
        """The labels of the datasets."""
        return PartitionedLabels(self)

    def label(self, number: int) -> Hashable:
        """The label of a dataset."""
        found: Hashable = self.names.labels([number])[0]
        return found

    def index(self, label: Hashable) -> int:
        """The number of a dataset; raises UnknownDatasetError."""
        return self.labels.index(label)

    def steps(self, engine: EngineName) -> PartitionedSteps:
        """The steps of `check`, `extend` and `design`, which run as tasks on every partition."""
        if engine not in ("auto", DASK):
            rule = f"partitions are for the engine {DASK!r}"
            raise UsageError(f"engine={engine!r} on a partitioned problem", rule, "leave it out")
        with delay_interrupts():
            from hetdp.partitioned.steps import PartitionedSteps
        return PartitionedSteps(self)

    def survey(self, mechanism: Any, with_links: bool = True) -> tuple[Survey, Callable[[], Chains]]:
        """The workers' survey of all edges, and a function that has them follow all chains of links."""
        with delay_interrupts():
            from hetdp.partitioned.mechanism import PartitionedMechanism
            from hetdp.partitioned.verification import survey_partitions
        if not isinstance(mechanism, PartitionedMechanism) or mechanism.problem is not self:
            rule = "its mechanisms are made of it, or loaded with it"
            raise UsageError(f"{format_value(mechanism)} on a partitioned problem", rule)
        return survey_partitions(self, mechanism.name, with_links)

    def read_claim(self, path: str | Path) -> LoadedClaim[PartitionedMechanism]:
        """Reads a mechanism to be verified on this problem, even if it was made for another one."""
        with delay_interrupts():
            from hetdp.partitioned.mechanism_files import read_claim
        return read_claim(path, self)

    def read_mechanism(self, path: str | Path) -> PartitionedMechanism:
        """Reads a mechanism that was made for this problem; refuses others."""
        with delay_interrupts():
            from hetdp.partitioned.mechanism_files import read_mechanism
        return read_mechanism(path, self)

    def close(self) -> None:
        """Ends the workers that were started for it, and removes this run's temporary files from the work folder."""
        self._end()
        shutil.rmtree(self._run, ignore_errors=True)

    def __repr__(self) -> str:
        graph, partitions = self.graph, pluralize(len(self.offsets) - 1, "partition")
        return f"PartitionedProblem({graph.size} datasets, {graph.edge_count} edges, {partitions})"


class LabelFinder(Protocol):
    """Translates between labels and numbers."""

    @property
    def writer(self) -> Any:
        """The object with which tasks write labels; it has `own(partition)` and `at(numbers)`."""

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets."""

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets; −1 for an unknown label."""


class PartitionedLabels:
    """The labels of a partitioned problem, with the interface of `Labels`."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._names = problem.names
        self.names: Any = _LabelsByNumber(problem)

    def index(self, label: Any) -> int:
        """The number of a dataset; raises UnknownDatasetError."""
        number = int(self.indices([label])[0])
        if number < 0:
            raise UnknownDatasetError(label, similar_labels(label, self))
        return number

    def indices(self, labels: Any) -> Any:
        """The numbers of some datasets; −1 for an unknown label."""
        return self._names.indices(list(labels))


class _LabelsByNumber:
    """A sequence of labels by number; callers iterate over the first few only."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._problem = problem

    def __len__(self) -> int:
        return self._problem.graph.size

    def __getitem__(self, at: Any) -> Any:
        return self._problem.label(int(at))

    def __iter__(self) -> Any:
        return iter(self._problem.names.labels(list(range(min(len(self), 1000)))))


def remove_arrays(problem: PartitionedProblem, name: str) -> None:
    """Removes the arrays with a name."""
    for partition in problem.partitions:
        shutil.rmtree(partition.path(name).with_suffix(""), ignore_errors=True)
