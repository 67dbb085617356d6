"""Labels of datasets by their numbers, and the other way round, from the files of the problem."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UnknownDatasetError
from hetdp.files.formats.database import connection
from hetdp.files.formats.duck import cell_of, exactly
from hetdp.files.formats.ranges import ROWS, Files, as_values, read_range
from hetdp.files.partitions.numbering import ENCODED, RANGE, kind_of
from hetdp.files.schema import JSON
from hetdp.problem.labels import RangeLabels
from hetdp.problem.partitioned import Workers
from hetdp.problem.parts import Part
from hetdp.problem.spelling import in_json, of_json


def labels_at(datasets: Files, numbers: list[int], labels: str) -> list[Any]:
    """The labels of some datasets, in ascending order of their numbers."""
    if labels == RANGE:
        return numbers
    found: list[Any] = []
    cell = cell_of("dataset", datasets.kinds["dataset"], datasets.name)
    wanted = np.asarray(numbers, dtype=np.int64)
    with connection() as database:
        for path, first, count in zip(datasets.paths, datasets.starts, datasets.counts, strict=False):
            rows = wanted[(wanted >= first) & (wanted < first + count)] - first
            if not len(rows):
                continue
            datasets.pieces(first + int(rows[0]), first + int(rows[0]) + 1)  # or a refusal
            database.register("chosen", {"number": rows})
            query = (
                f"SELECT {cell} AS label FROM {ROWS} JOIN chosen ON file_row_number = number"
                f" WHERE file_row_number >= ? AND file_row_number <= ? ORDER BY number"
            )
            cells = database.execute(query, [exactly(Path(path)), int(rows[0]), int(rows[-1])]).fetchnumpy()["label"]
            database.unregister("chosen")
            found += as_values(cells)
    return found


def own_labels(part: Part, datasets: Files, labels: str) -> Any:
    """The labels of a partition's datasets, as an array."""
    if labels == RANGE:
        return np.arange(part.first, part.first + part.size)
    return read_range(datasets, part.first, part.first + part.size, ("dataset",)).columns["dataset"]


def find_labels(part: Part, datasets: Files, labels: list[Any]) -> dict[int, int]:
    """For each place in a list of labels the number of the dataset, if it is one of this partition's."""
    places = {label: at for at, label in enumerate(labels)}
    names = as_values(own_labels(part, datasets, ""))
    return {places[name]: part.first + at for at, name in enumerate(names) if name in places}


def _json_or_none(label: Any) -> str | None:
    try:
        return in_json(label)
    except (TypeError, ValueError, RecursionError):
        return None


class Labelled(NamedTuple):
    """What a task that writes labels is told."""

    files: Files
    kind: str

    @property
    def words(self) -> dict[str, str]:
        """What a mechanism says of its labels beside its table."""
        return {"labels": JSON} if self.kind == ENCODED else {}

    def own(self, part: Part) -> Any:
        """The labels of a partition's datasets, as an array."""
        return own_labels(part, self.files, self.kind)

    def at(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets, in ascending order of their numbers."""
        return labels_at(self.files, numbers, self.kind)


class FileNames:
    """Labels both ways: of numbers from a file, of labels by asking the workers."""

    def __init__(self, parts: list[Part], datasets: Files, kind: str, workers: Workers) -> None:
        self.files, self.kind = datasets, kind
        self._parts, self._workers = parts, workers

    @property
    def written(self) -> Labelled:
        """How tasks write labels."""
        return Labelled(self.files, self.kind)

    def labels(self, numbers: list[int]) -> list[Any]:
        """The labels of some datasets, in the order given."""
        different, back = np.unique(np.asarray(numbers, dtype=np.int64), return_inverse=True)
        known = labels_at(self.files, different.tolist(), self.kind)
        if self.kind == ENCODED:
            known = list(map(of_json, known))
        return [known[at] for at in back.ravel().tolist()]

    def index(self, label: Hashable) -> int:
        """The number of a dataset."""
        number = int(self.indices([label])[0])
        if number < 0:
            raise UnknownDatasetError(label)
        return number

    def indices(self, labels: list[Any]) -> Any:
        """The numbers of some datasets, −1 where a label names none."""
        if self.kind == RANGE:
            return RangeLabels(self.files.length).indices(labels)
        labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
        return self.cells([_json_or_none(label) for label in labels] if self.kind == ENCODED else labels)

    def cells(self, labels: list[Any]) -> Any:
        """The numbers of some datasets, by what stands in the files, −1 where that names none."""
        if self.kind == RANGE:
            return RangeLabels(self.files.length).indices(labels)
        wanted = int if kind_of(self.files, "dataset") == "integer" else str
        numbers = np.full(len(labels), -1, dtype=np.int64)
        places = [at for at, label in enumerate(labels) if type(label) is wanted]
        chosen = [labels[at] for at in places]
        if chosen:
            for found in self._workers.run(find_labels, [(part, self.files, chosen) for part in self._parts]):
                for at, number in found.items():
                    numbers[places[at]] = number
        return numbers
