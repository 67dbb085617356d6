"""A folder of files as one table of people: each worker task counts one file, so that no process holds all rows.

The driver merges the counts. For a release it reads the ids itself, file by file; workers never see the ledger.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hetdp import progress
from hetdp.duck import quote_name
from hetdp.errors import ClusterError, Fault, InputError, UsageError
from hetdp.partitioned import table_tasks as tasks
from hetdp.partitioned.problem import Task, TaskRunner
from hetdp.partitioned.shared_files import file_state, make_folder
from hetdp.partitioned.table_tasks import MergedTallies, Tally, columns_of, merge_tallies
from hetdp.partitioned.workspace import MEMORY, Workspace
from hetdp.tables import kinds
from hetdp.tables.dialect import AS_FOUND, FileOptions
from hetdp.tables.formats import form_of_files, label_of_file, list_files, require_alike, settle_options
from hetdp.tables.people_table import PARTS, Payers, PeopleTable, SharedEntries, combine_digests
from hetdp.tables.plan import require_outside_table
from hetdp.tables.policy import (
    HINT,
    MOST_SHOWN,
    NOBODY_RULE,
    PERSON_RULE,
    Faults,
    Names,
    Policy,
    epsilon_cells,
    policy_of,
    read_policy,
    require_known_columns,
)
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import file_stamp, open_source, require_exists, require_file
from hetdp.text import format_value


class IdSequence(Sequence[str]):
    """A sequence of texts in little memory: UTF-8 bytes, one after the other.

    >>> ids = IdSequence()
    >>> ids.add(["7", "ä"])
    >>> ids.add(["8"])
    >>> len(ids), ids[1], ids[1:], list(ids)
    (3, 'ä', ['ä', '8'], ['7', 'ä', '8'])
    """

    def __init__(self) -> None:
        self._parts: list[tuple[bytes, NDArray[np.int64]]] = []
        self._ends = [0]  # the number of texts up to the end of each part

    def add(self, texts: Sequence[str]) -> None:
        """Appends texts."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        self._parts.append((b"".join(encoded), ends))
        self._ends.append(self._ends[-1] + len(encoded))

    def __len__(self) -> int:
        return self._ends[-1]

    def __iter__(self) -> Iterator[str]:
        for texts, ends in self._parts:
            begin = 0
            for end in ends[1:].tolist():
                yield texts[begin:end].decode()
                begin = end

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        part = int(np.searchsorted(self._ends, at, side="right")) - 1
        (texts, ends), place = self._parts[part], at - self._ends[part]
        return texts[ends[place] : ends[place + 1]].decode()


# Payers ---------------------------------------------------------------------------------------------------------------


def read_payers(
    files: Sequence[Path], request: AskRequest, policy: Policy, curator: bool, options: FileOptions = AS_FOUND
) -> Payers | None:
    """Reads all ids and kinds, file by file; returns None if a kind is not in the policy. No answer is read.

    Args:
        files: the files.
        request: names the public columns.
        policy: the kinds of people that workers counted.
        curator: whether messages may name rows and values.
        options: how the files are read.

    Raises:
        InputError: a file cannot be read.
    """
    progress.report_stage("reading the people to charge")
    ids, entries, place = IdSequence(), [np.empty(0, np.int64)], _KindIndex(policy)
    for file in files:
        wanted, uses = {"person": kinds.text(request.person)}, [request.person]
        with open_source(file, options, curator, label_of_file(file)) as source:
            for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
                if where is not None and where.column is not None:
                    wanted, uses = wanted | epsilon_cells(source, where.column, role), [*uses, where.column]
            for role, column in request.named.items():
                source.define(role, policy.named[role].names)
                wanted[role] = f"enum_code(CAST({kinds.text(column)} AS {quote_name(role)}))::INTEGER"
                uses.append(column)
            rows = source.read(wanted, uses=uses)
        ids.add(rows["person"].tolist())
        named = {role: Names(policy.named[role].names, rows[role]) for role in request.named}
        size = len(rows["person"])
        entries.append(place.of(columns_of(policy_of(request, size, rows, named, np.ones(size, dtype=np.int64)))))
    every = np.concatenate(entries)
    return None if bool((every < 0).any()) else Payers(ids, every)


class _KindIndex:
    """The index of a kind of people, by several columns."""

    def __init__(self, policy: Policy) -> None:
        self._steps: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        code = np.zeros(len(policy.epsilon), dtype=np.int64)
        for column in columns_of(policy):
            levels, at = np.unique(column, return_inverse=True)
            pairs, code = np.unique(code * len(levels) + at, return_inverse=True)  # fewer than kinds: no overflow
            self._steps.append((levels, pairs))
        self._entry = np.empty(len(code), dtype=np.int64)
        self._entry[code] = np.arange(len(code))

    def of(self, columns: list[NDArray[Any]]) -> NDArray[np.int64]:
        """The entry of each person; −1 if the kind is unknown."""
        code = np.zeros(len(columns[0]), dtype=np.int64)
        known = np.ones(len(code), dtype=np.bool_)
        for column, (levels, pairs) in zip(columns, self._steps, strict=True):
            at = np.minimum(np.searchsorted(levels, column), len(levels) - 1)
            pair = code * len(levels) + at
            code = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
            known &= (levels[at] == column) & (pairs[code] == pair)
        return np.where(known, self._entry[code], -1)


# The table ------------------------------------------------------------------------------------------------------------


IDS = 1 << 22  # ids that one task searches for duplicates
DIGESTS = 1 << 64
TRIES = 50  # attempts to remove the files of workers
TASKS = 64  # tasks that share the digest of people


class PartitionedTable(PeopleTable):
    """A table that workers read; an entry of its policy is a kind of people.

    Args:
        folder: the folder with its files.
        workers: runs the tasks.
        work: a folder that all workers can access, for hashes of ids, which are removed after the comparison.
        curator: whether messages may name rows and values.
        options: how the files are read.
    """

    def __init__(
        self, folder: Path, workers: TaskRunner, work: str, curator: bool, options: FileOptions = AS_FOUND
    ) -> None:
        place = folder.absolute()
        self.name, self._folder, self._workers, self._work, self._curator = place.name, place, workers, work, curator
        self._files = list_files(place)
        for file in self._files:
            require_file(file)
        self._seen: dict[str, MergedTallies] = {}  # by the policy key of a request
        self._stamps: list[Any] = []
        self._weights: NDArray[np.int64] | None = None
        self.form, self.facts = form_of_files(self._files, options)
        self._options = settle_options(self._files[0], options)
        self._shared = [file_state(file) for file in self._files]
        self._stamp = self.stamp
        columns = self._run(tasks.describe, self._opening, words="reading the files")
        for file, found in zip(self._files, columns, strict=True):
            require_alike(columns[0], found, self._files[0].name, label_of_file(file))
        self.columns = columns[0]

    def policy(self, request: AskRequest) -> Policy:
        """The policy by kind of people; refuses what `read_policy` refuses, in the same words.

        Raises:
            UsageError: a column does not exist, or there are too many kinds of people.
            InputError: an ε is missing or invalid, an id is duplicate, or a group or area is missing.
        """
        (found,) = self.policies([request])
        return found

    def policies(self, requests: Sequence[AskRequest]) -> list[Policy]:
        """The policy of each request, from one pass; see `policy`."""
        for request in requests:
            require_known_columns(self, request)
            for role, where in (("epsilon", request.epsilon), ("deciding", request.deciding)):
                if where is not None and where.column is not None:
                    epsilon_cells(self, where.column, role)  # refuses a column whose type cannot hold ε
        different = {request.policy_key: request for request in requests}
        tallies = self._tally(list(different.values()), False, "reading the policy")
        self._seen, self._stamps = {}, [one.stamp for one in tallies[0]]
        self._weights = np.concatenate([one.people for one in tallies[0]])
        for request, own in zip(different.values(), tallies, strict=True):
            self._seen[request.policy_key] = self._merge(request, own)
        return [self._seen[request.policy_key].policy for request in requests]

    def _tally(self, requests: Sequence[AskRequest], with_answers: bool, words: str) -> list[list[Tally]]:
        """For each request the tally of each file, from one pass."""
        found = self._run(tasks.tally_all, requests, self._opening, with_answers, words=words)
        return [list(own) for own in zip(*found, strict=True)]

    def _merge(self, request: AskRequest, tallies: list[Tally]) -> MergedTallies:
        """The people of all files; refuses what a policy must not have."""
        faults = Faults(self.name, request)
        faults.require_rows(sum(int(one.people.sum()) for one in tallies))
        try:
            found = merge_tallies(self.name, request, tallies)
        except InputError:
            self._tell_curator(request, tallies)
            raise
        if any(one.missing["no person"] for one in tallies):
            self._tell_curator(request, tallies)
            raise self._fault("a missing id", request.person, NOBODY_RULE)
        if not self._seen:  # all requests identify people by one column
            self._require_different(request.person, found.policy.size)
        try:
            faults.require_all_epsilons(found.policy.epsilon, found.policy.deciding, found.policy.classes)
        except InputError:
            self._tell_curator(request, tallies)
            raise
        return found

    def shared_entries(self, requests: Sequence[AskRequest]) -> SharedEntries:
        """The kinds of people that the workers counted, before those that are alike in a request were merged."""
        return SharedEntries([self._seen[request.policy_key].entries for request in requests], self._weights)

    def people(self, request: AskRequest) -> str:
        """SHA-256 of the people; see `people_digest`."""
        with self._places("people") as places:
            items = [(file, request, to, self._opening) for file, to in zip(self._shared, places, strict=True)]
            self._by_workers(tasks.write_people, items, "reading the people")
            parts = [(places, range(at, at + PARTS // TASKS)) for at in range(0, PARTS, PARTS // TASKS)]
            return combine_digests(part for found in self._by_workers(tasks.people_digests, parts) for part in found)

    def read_all_answers(self, requests: Sequence[AskRequest]) -> list[NDArray[np.int64]]:
        """For each request the number of people of each kind with each value, from one pass for all of them.

        Raises:
            InputError: the table was changed, or cannot be read.
        """
        self._require_unchanged()
        tallies = self._tally(requests, True, "reading the answers")
        if any([one.stamp for one in own] != self._stamps for own in tallies):
            raise self._change_error()
        found = []
        for request, own in zip(requests, tallies, strict=True):
            merged = merge_tallies(self.name, request, own)
            if not self._seen[request.policy_key].is_same(merged) or merged.answers is None:
                raise self._change_error()
            found.append(merged.answers)
        return found

    def read_payers(self, request: AskRequest) -> Payers:
        """The ids and kinds of all people, from the public columns. This process reads them, file by file.

        Raises:
            InputError: the table was changed, or cannot be read.
        """
        self._require_unchanged()
        policy = self._seen[request.policy_key].policy
        found = read_payers(self._files, request, policy, self._curator, self._options)
        if found is None or len(found.ids) != policy.size:
            raise self._change_error()
        return found

    @property
    def stamp(self) -> Any:
        """The files by name, and the stamp of each."""
        return tuple((file.name, *file_stamp(file)) for file in list_files(self._folder))

    @property
    def _opening(self) -> tasks.Opening:
        return tasks.Opening(self._options, self._curator)

    def _run(self, task: Task, *arguments: Any, words: str = "") -> list[Any]:
        return self._by_workers(task, [(file, *arguments) for file in self._shared], words)

    def _by_workers(self, task: Task, items: list[tuple[Any, ...]], words: str = "") -> list[Any]:
        try:
            return self._workers.run(task, items, words)
        except (ClusterError, OSError, KeyError):  # a file or a column is gone
            self._require_unchanged()
            raise

    @contextmanager
    def _places(self, what: str) -> Iterator[list[str]]:
        """Paths for the results of workers, one for each file, in a folder that is removed."""
        place = make_folder(self._work, what)
        try:
            yield [str(Path(place, f"{number}.npy")) for number in range(len(self._files))]
        finally:
            for _ in range(TRIES):  # an abandoned worker may still write there
                shutil.rmtree(place, ignore_errors=True)
                if not Path(place).exists():
                    break
                time.sleep(0.1)

    def _require_different(self, person: str, size: int) -> None:
        """Refuses duplicate ids; each task compares the ids whose hashes are in one range.

        Raises:
            InputError: there are duplicate ids.
            UsageError: workers cannot compare them.
        """
        with self._places("ids") as places:
            items = [(file, person, to, self._opening) for file, to in zip(self._shared, places, strict=True)]
            makers = set(self._by_workers(tasks.write_digests, items, "reading (comparing ids)"))
            if len(makers) > 1:
                rule = "all workers must have the same version of DuckDB, so that they compare ids alike"
                raise UsageError(f"workers have {' and '.join(sorted(makers))}", rule)
            count = -(-size // IDS)
            ends = [DIGESTS * at // count for at in range(count + 1)]
            ranges = [(places, low, high - 1) for low, high in pairwise(ends)]
            again = [digest for found in self._by_workers(tasks.find_repeated, ranges) for digest in found]
        for begin in range(0, len(again), tasks.DUPLICATES_AT_ONCE):
            self._require_only_digests(person, again[begin : begin + tasks.DUPLICATES_AT_ONCE])

    def _require_only_digests(self, person: str, digests: list[int]) -> None:
        """Refuses ids that are really equal; different ids with equal hashes are fine."""
        having = self._run(tasks.find_ids, person, digests, self._opening)
        counts = Counter(text for found in having for _, text in found)
        twice = [
            (label_of_file(file), row, text)
            for file, found in zip(self._files, having, strict=True)
            for row, text in found
            if counts[text] > 1
        ]
        if twice and not self._curator:
            raise self._fault("a duplicate id", person)
        if twice:
            faults = [
                Fault("a duplicate id:", f"{name} row {row + 1}, {person}", format_value(text), PERSON_RULE)
                for name, row, text in twice[:MOST_SHOWN]
            ]
            raise InputError(self.name, faults, len(twice))

    def _require_unchanged(self) -> None:
        """Refuses files that changed since they were opened, as far as this process can see."""
        try:
            same = self.stamp == self._stamp
        except (OSError, InputError):  # a file is gone, or there is an unexpected one
            same = False
        if not same:
            raise self._change_error()

    def _change_error(self) -> InputError:
        rule = "a table stays as it is between the policy and the answers"
        return InputError(self.name, [Fault("changed while it was read", self.name, "", rule)])

    def _fault(self, what: str, column: str, rule: str = PERSON_RULE) -> InputError:
        where = f"{self.name}, {column}"
        return InputError(where, [Fault(what, where, "", rule, HINT)])

    def _tell_curator(self, request: AskRequest, tallies: list[Tally]) -> None:
        """Raises the faults of the first faulty file with its rows, if messages may name them."""
        for file, one in zip(self._files, tallies, strict=True):
            if self._curator and len(one.people):
                try:
                    with open_source(file, self._options, True, label_of_file(file)) as source:
                        read_policy(source, request, True)
                except UsageError:  # such as a group that occurs in other files only
                    continue


@dataclass(frozen=True)
class Workers:
    """Dask workers, each of which reads one file of a folder at a time: the argument `workers` of `hetdp.ask`.

    They need ``hetdp[distributed]``. Plan, promise, charge and answer are the same as in one process.

    Attributes:
        cluster: address of a scheduler, such as ``tls://node:8786``. By default workers are started here.
        number: number of workers to start here; by default one per core. At most one is started per file.
        memory: memory limit of each started worker; by default ``"2GB"``.
        work: a folder that this process and all workers can access; required with `cluster`.
    """

    cluster: str | None = None
    number: int | None = None
    memory: str | None = None
    work: str | Path | None = None

    def require_table(self, table: Any, options: FileOptions) -> None:
        """Refuses a table that is not a folder, before anything is read.

        Raises:
            UsageError: the table is not a folder, or the work folder lies in it.
            InputError: the folder does not exist.
        """
        if isinstance(table, str | Path):
            require_exists(Path(table))
        if options.sheet is not None or not isinstance(table, str | Path) or not Path(table).is_dir():
            rule = "workers read a folder of .parquet or .csv files, each file by one worker"
            raise UsageError("workers= for a table that is not a folder", rule, "leave workers= out")
        require_outside_table(table, [self.work])

    @contextmanager
    def open_table(self, table: Any, options: FileOptions, curator: bool) -> Iterator[PeopleTable]:
        """Starts or reaches the workers and opens a folder; the workers end with it.

        Raises:
            UsageError: an attribute is not valid.
            InputError: the table cannot be read.
            ClusterError: no worker could be reached.
        """
        files, memory = list_files(Path(table).absolute()), MEMORY if self.memory is None else self.memory
        space = Workspace(self.cluster, self.number, memory, self.work, None)
        place = space.make_folder()
        try:
            yield PartitionedTable(Path(table), space.start(place, len(files)), place, curator, options)
        finally:
            space.end()
