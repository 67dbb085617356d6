"""PartitionedProblem: a problem that no process ever holds whole. Its arrays lie in a folder that all workers reach."""

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
from hetdp.interrupts import uninterrupted
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
    """Who runs tasks: functions of file names that keep nothing, so that each may run twice, or elsewhere."""

    def run(self, task: Task, items: Iterable[tuple[Any, ...]], words: str = "") -> list[Any]:
        """The results of a task for each item, in their order; raises ClusterError when there is nobody left."""

    def close(self) -> None:
        """Ends what was started for this problem alone."""


class PartitionedGraph(NamedTuple):
    """What is known of all datasets and edges together.

    Attributes:
        size: how many datasets there are.
        arc_count: twice the number of edges that constrain.
        edge_count: how many edges there are, those without a constraint included.
        parameter_names: what an edge promises.
        ghosts: how many neighbours partitions have in others, all partitions together.
    """

    size: int
    arc_count: int
    edge_count: int
    parameter_names: tuple[str, ...]
    ghosts: int = 0


OWN = "pins"  # the arrays of the values that a problem gives itself


@dataclass(frozen=True)
class PartitionedPins:
    """Values that are given on some datasets of a partitioned problem, in the arrays of its partitions.

    Attributes:
        count: how many datasets have one.
        work: the work folder of the problem, by which it is known.
        name: the name of the arrays; by default, of those that the problem's own tables give.
    """

    count: int
    work: str
    name: str = OWN


class PartitionedProblem(RemoteProblem):
    """A problem read by `read_partitioned`, in which each partition owns a range of the datasets.

    It stands where a Problem does: `check`, `extend`, `design` (fair and balanced) and `verify` take it, and run on its
    workers.

    Attributes:
        work: the folder with the arrays of the partitions.
        offsets: the number of the first dataset of each partition, and at the end how many datasets there are.
        graph: how many datasets and edges there are.
        notion: the notion of privacy.
        about: words for people.
        pinned: how many datasets have a value in its own tables.
        workers: who runs the tasks.
        names: what finds labels of numbers, and numbers of labels.
        gridded: whether every ε is a multiple of 2^-40, and so is where balanced values start.
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
        pinned: int,
        workers: TaskRunner,
        names: LabelFinder,
        end: Callable[[], None],
        gridded: bool = False,
    ) -> None:
        self.work, self.offsets, self.graph, self.notion = work, offsets, graph, notion
        self.about, self.pinned, self.workers, self.names, self.gridded = about, pinned, workers, names, gridded
        self._identity, self._end = identity, end
        self._run = Path(make_folder(work, RUN.rstrip("-")))

    @cached_property
    def identity(self) -> str:
        """By which mechanism files know it: what the problem has on one machine, found when it is asked for."""
        return self._identity()

    @property
    def partition_count(self) -> int:
        """How many partitions there are."""
        return len(self.offsets) - 1

    @property
    def partitions(self) -> list[Partition]:
        """All partitions.

        Raises:
            UsageError: the problem was closed, and its folder with it.
        """
        if not self._run.is_dir():
            raise UsageError("a partitioned problem that was closed", "its folder was removed", "read it again")
        return [Partition(self.work, number, self.offsets) for number in range(len(self.offsets) - 1)]

    def run(self, task: Task, *arguments: Any, words: str = "") -> list[Any]:
        """The results of a task on every partition."""
        return self.workers.run(task, [(partition, *arguments) for partition in self.partitions], words)

    def new_name(self, verb: str) -> str:
        """A name that no array has, for what one call needs; its files are removed with those of this run."""
        return f"{self._run.name}/{verb}-{os.urandom(6).hex()}"

    @property
    def labels(self) -> PartitionedLabels:
        """The names of the datasets, both ways."""
        return PartitionedLabels(self)

    def label(self, number: int) -> Hashable:
        """The label of a dataset."""
        found: Hashable = self.names.labels([number])[0]
        return found

    def index(self, label: Hashable) -> int:
        """The number of a dataset; raises UnknownDatasetError."""
        return self.names.index(label)

    def steps(self, engine: EngineName) -> PartitionedSteps:
        """The steps of `check`, `extend` and `design`, each a task for every partition."""
        if engine not in ("auto", DASK):
            rule = f"partitions are for the engine {DASK!r}"
            raise UsageError(f"engine {engine!r} on a partitioned problem", rule, "leave it out")
        with uninterrupted():
            from hetdp.partitioned.steps import PartitionedSteps
        return PartitionedSteps(self)

    def survey(self, mechanism: Any, with_links: bool = True) -> tuple[Survey, Callable[[], Chains]]:
        """What workers see on all edges, and a function that lets them follow all chains of links."""
        with uninterrupted():
            from hetdp.partitioned.mechanism import PartitionedMechanism
            from hetdp.partitioned.verification import survey_partitions
        if not isinstance(mechanism, PartitionedMechanism) or mechanism.problem is not self:
            rule = "its mechanisms are made of it, or loaded with it"
            raise UsageError(f"{format_value(mechanism)} on a partitioned problem", rule)
        return survey_partitions(self, mechanism.name, with_links)

    def read_claim(self, path: str | Path) -> LoadedClaim[PartitionedMechanism]:
        """Reads a mechanism that is to be judged on this problem, whichever it was made for."""
        with uninterrupted():
            from hetdp.partitioned.mechanism_files import read_claim
        return read_claim(path, self)

    def read_mechanism(self, path: str | Path) -> PartitionedMechanism:
        """Reads a mechanism that was made for this problem; refuses others."""
        with uninterrupted():
            from hetdp.partitioned.mechanism_files import read_mechanism
        return read_mechanism(path, self)

    def close(self) -> None:
        """Ends the workers that were started for it, and removes what lies in the work folder for this run alone."""
        self._end()
        shutil.rmtree(self._run, ignore_errors=True)

    def __repr__(self) -> str:
        graph, partitions = self.graph, pluralize(len(self.offsets) - 1, "partition")
        return f"PartitionedProblem({graph.size} datasets, {graph.edge_count} edges, {partitions})"


class LabelFinder(Protocol):
    """Labels both ways, by asking the files."""

    @property
    def written(self) -> Any:
        """How tasks write labels: `own(part)` and `at(numbers)`."""

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets."""

    def index(self, label: Hashable) -> int:
        """The number of a dataset; raises UnknownDatasetError."""

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets, −1 where a label names none."""


class PartitionedLabels:
    """Labels of a partitioned problem, as those of another are asked for."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._names = problem.names
        self.names: Any = _Some(problem)

    def index(self, label: Any) -> int:
        """The number of a dataset; raises UnknownDatasetError."""
        number = int(self.indices([label])[0])
        if number < 0:
            raise UnknownDatasetError(label, similar_labels(label, self))
        return number

    def indices(self, labels: Any) -> Any:
        """The numbers of some, −1 where a label names none."""
        return self._names.indices(list(labels))


class _Some:
    """Labels by number; only the first few are ever looked at one after the other."""

    def __init__(self, problem: PartitionedProblem) -> None:
        self._problem = problem

    def __len__(self) -> int:
        return self._problem.graph.size

    def __getitem__(self, at: Any) -> Any:
        return self._problem.label(int(at))

    def __iter__(self) -> Any:
        return iter(self._problem.names.labels(list(range(min(len(self), 1000)))))


def remove_arrays(problem: PartitionedProblem, name: str) -> None:
    """Removes the arrays of that name, which nobody needs any more."""
    for partition in problem.partitions:
        shutil.rmtree(partition.path(name).with_suffix(""), ignore_errors=True)
