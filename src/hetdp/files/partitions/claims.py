"""The rows of a mechanism that is read for a partitioned problem: each worker reads those of its own datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, shown
from hetdp.files.answers import answer_column
from hetdp.files.formats.ranges import Files, as_values, read_range
from hetdp.files.formats.tables import Table
from hetdp.files.mechanisms import coordinates_of, whole_numbers
from hetdp.files.partitions.datasets import Known
from hetdp.files.partitions.naming import labels_at, own_labels
from hetdp.files.partitions.numbering import RANGE
from hetdp.files.schema import MECHANISM_COLUMNS
from hetdp.problem.findings import KEPT, Findings
from hetdp.problem.local import LocalGraph
from hetdp.problem.outline import Outline
from hetdp.problem.parts import Part
from hetdp.problem.query import answers_of
from hetdp.theory.catalogue import NOTIONS

ORDER_RULE = "its rows are those of the problem's datasets, in the same order"


class Read(NamedTuple):
    """What became of the rows of a partition.

    Attributes:
        faults: what is wrong with them.
        total: how much.
        differing: how many of the partition's pins differ.
        others: labels that bind and are no neighbours', the first of them, and where each stands.
    """

    faults: list[Fault]
    total: int
    differing: int = 0
    others: Sequence[tuple[Any, str]] = ()


def read_part(part: Part, name: str, notion: str, files: Files, datasets: Files, labels: str) -> Read:
    """Reads the rows of a partition's own datasets."""
    table = read_range(files, part.first, part.first + part.size, MECHANISM_COLUMNS)
    findings, answers = Findings(""), part.copy("answers")
    own = own_labels(part, datasets, labels)
    said = table.label_column("dataset", findings) if part.size else []
    if findings.total:
        return Read(findings.faults, findings.total)
    if own.dtype.kind in "iu" and {*map(type, said)} == {str}:  # then what binds is text, too
        said, bound = whole_numbers(said), as_values(table.columns.get("binding", ()))
        table = table._replace(columns=table.columns | ({"binding": whole_numbers(bound)} if bound else {}))
    others = _as_written(said) != _as_written(own) if part.size else np.zeros(0, dtype=np.bool_)
    what = "a dataset that is not the problem's in this place:"
    findings.add_where(np.asarray(others), lambda at: Fault(what, table.row(at), shown(said[at]), ORDER_RULE))
    if "query" in table.columns and part.size:
        with findings.collecting():
            other = answers_of(answer_column(table.columns["query"]), Known(said)) != answers
            rule = "its query answers as the problem does"
            findings.add_where(other, lambda at: Fault("another answer than the problem's", table.row(at), "", rule))
    z = np.empty(0)
    with findings.collecting():
        z = coordinates_of(table, Outline(Known(said), answers, NOTIONS[notion], ""))
    pinned = table.flags("pinned", findings)
    links, strangers = _links(part, table, own, datasets, labels)
    if findings.total:
        return Read(findings.faults, findings.total, others=strangers)
    part.save(f"{name}/z", z + 0.0)
    part.save(f"{name}/pinned", np.asarray(pinned, dtype=np.bool_))
    part.save(f"{name}/links", np.where(pinned, -1, links))
    if "given" in table.columns:
        part.save(f"{name}/given", np.asarray(table.flags("given", findings), dtype=np.bool_))
    given = part.load("pins")
    same = np.isnan(given) | np.isclose(given, z, rtol=0.0, atol=1e-9)
    return Read([], 0, int(np.count_nonzero(~same)), strangers)


def _as_written(labels: Any) -> Any:
    """Labels to be compared: NumPy's own texts would lose a NUL at the end."""
    return labels if isinstance(labels, np.ndarray) else np.array(labels, dtype=object)


def _links(part: Part, table: Table, own: Any, datasets: Files, labels: str) -> tuple[Any, list[tuple[Any, str]]]:
    """The numbers of what binds, −1 where nothing does or what does is no neighbour; and the labels of those."""
    binding = table.columns.get("binding")
    if binding is None or not part.size:
        return np.full(part.size, -1, dtype=np.int64), []
    if labels == RANGE and isinstance(binding, np.ndarray) and binding.dtype.kind in "iu":
        free, numbers = np.ma.getmaskarray(binding), np.ma.getdata(binding).astype(np.int64)
        unknown = ~free & ((numbers < 0) | (numbers >= part.offsets[-1]))
        links, others = np.where(free | unknown, -1, numbers), np.flatnonzero(unknown)
    else:
        ghosts, listed = LocalGraph(part).ghosts, as_values(binding)
        known = dict(zip(labels_at(datasets, ghosts.tolist(), labels), ghosts.tolist(), strict=True))
        known |= dict(zip(own.tolist(), range(part.first, part.first + part.size), strict=True))
        links = np.array([known.get(label, -1) for label in listed], dtype=np.int64)
        others = np.array([at for at in np.flatnonzero(links < 0) if listed[at] is not None], dtype=np.int64)
    return links, [(as_values(binding[at : at + 1])[0], table.row(int(at))) for at in others[:KEPT]]
