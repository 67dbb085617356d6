"""Lays a problem out in the work folder, by workers: datasets, numbers of labels, edges, and graphs.

Each step needs the one before it as a whole; within a step, tasks know nothing of each other.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.engines.dask.starting import LAID, NOTE, TALLIES, leave_note, note_in, refused
from hetdp.errors import Fault, UsageError, shown
from hetdp.files.partitions.building import build
from hetdp.files.partitions.datasets import first_answers, scan_datasets, settle_datasets
from hetdp.files.partitions.edges import Chunk, chunks_of, deal_edges
from hetdp.files.partitions.naming import labels_at
from hetdp.files.partitions.numbering import (
    ENCODED,
    NAMED,
    RANGE,
    STRANGE,
    join_bucket,
    kind_of,
    write_names,
    write_wanted,
)
from hetdp.files.partitions.tables import Tables
from hetdp.files.schema import JSON, TEXT
from hetdp.problem.findings import Findings
from hetdp.problem.partitioned import Workers
from hetdp.problem.parts import Part
from hetdp.problem.shared import fresh_folder
from hetdp.theory.catalogue import NOTIONS
from hetdp.version import VERSION


class Laid(NamedTuple):
    """A problem that lies in a work folder.

    Attributes:
        folder: its name there.
        offsets: where partitions begin.
        notion: the notion of privacy, by name.
        labels: how labels become numbers.
        arcs: how many arcs begin in each partition.
        edges: how many edges there are.
        pinned: how many datasets have a value.
        ghosts: how many neighbours partitions have in others.
        fingerprint: what all this was made of.
    """

    folder: str
    offsets: tuple[int, ...]
    notion: str
    labels: str
    arcs: tuple[int, ...]
    edges: int
    pinned: int
    ghosts: int
    fingerprint: str


def lay_out(
    work: str, tables: Tables, offsets: tuple[int, ...], duplicates: str, positive: Any, workers: Workers
) -> Laid:
    """Runs all steps in a new folder, and leaves a note of what was laid out.

    So a task of an earlier command, on a worker that was cut off from it, has no part in this one.
    """
    _clear(work)
    folder = fresh_folder(work, LAID)
    try:
        return _lay_out(work, folder, tables, offsets, duplicates, positive, workers)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _lay_out(
    work: str,
    folder: str,
    tables: Tables,
    offsets: tuple[int, ...],
    duplicates: str,
    positive: Any,
    workers: Workers,
) -> Laid:
    fingerprint = _fingerprint(tables, duplicates, positive)
    parts = [Part(folder, number, offsets) for number in range(len(offsets) - 1)]
    findings = Findings(tables.name)
    kind = tables.words.get("labels", TEXT)
    scanned = workers.run(scan_datasets, [(part, tables.datasets, kind) for part in parts], "reading datasets")
    for one in scanned:
        _take(findings, one.faults, one.total)
    findings.raise_if_any()
    chosen = tables.words.get("positive") if positive is None else positive
    ones = first_answers(scanned, chosen, findings)
    settled = workers.run(settle_datasets, [(part, tables.datasets, ones, tables.notion) for part in parts])
    in_order = all(one.in_order for one in scanned)
    chunks = chunks_of(tables.edges, len(parts))
    labels = _number(parts, chunks, tables, in_order, findings, workers)
    for faults, total, _ in settled:
        _take(findings, faults, total)
    classes = tables.words.get("classes", TEXT)
    items = [(parts[0], chunk, tables.edges, tables.notion, labels, classes) for chunk in chunks]
    for faults, total in workers.run(deal_edges, items, "reading edges"):
        _take(findings, faults, total)
    names = NOTIONS[tables.notion].parameters
    told = names, duplicates, tables.edges, tables.datasets, labels, "grid" in tables.words
    graphs = [(part, chunks, *told) for part in parts]
    built = workers.run(build, graphs, "building the graphs")
    for one in built:
        _take(findings, one.faults, one.total)
    findings.raise_if_any()
    arcs, pinned = tuple(one.arcs for one in built), sum(pinned for _, _, pinned in settled)
    edges = (sum(arcs) + sum(one.free for one in built)) // 2
    ghosts = sum(one.ghosts for one in built)
    laid = Laid(Path(folder).name, offsets, tables.notion, labels, arcs, edges, pinned, ghosts, fingerprint)
    leave_note(work, json.dumps(laid._asdict()))
    return laid


def _clear(work: str) -> None:
    """Removes what an earlier run left without a note, since it did not come to its end."""
    Path(work, NOTE).unlink(missing_ok=True)
    for entry in Path(work).glob(f"{LAID}-*"):
        shutil.rmtree(entry, ignore_errors=True)


def _number(
    parts: list[Part], chunks: list[Chunk], tables: Tables, in_order: bool, findings: Findings, workers: Workers
) -> str:
    """How labels become numbers; where they are looked up, the work for that, and labels that are there twice.

    Raises:
        UsageError: workers cannot compare them.
    """
    datasets, edges = tables.datasets, tables.edges
    same = not edges.length or {kind_of(edges, end) for end in ("source", "target")} == {kind_of(datasets, "dataset")}
    if in_order and (same or kind_of(datasets, "dataset") == "integer"):
        return RANGE if same else STRANGE
    buckets = len(parts)
    makers = workers.run(write_names, [(part, datasets, buckets) for part in parts], "reading labels")
    if same:
        wanted = [(parts[0], chunk.number, edges, (chunk.start, chunk.stop), buckets) for chunk in chunks]
        makers += workers.run(write_wanted, wanted, "reading labels of edges")
    if len({*makers}) > 1:
        rule = "all workers have the same version of DuckDB, so that they compare labels alike"
        raise UsageError(f"workers have {' and '.join(sorted({*makers}))}", rule)
    joins = [(parts[0], bucket, len(chunks) if same else 0) for bucket in range(buckets)]
    found = workers.run(join_bucket, joins, "reading numbers of labels")
    repeated = sorted(number for numbers, _ in found for number in numbers)[:1000]
    rule = "each dataset is listed once"
    for number, label in zip(repeated, labels_at(datasets, repeated, NAMED), strict=True):
        findings.add(Fault("duplicate dataset", datasets.row(number), shown(label), rule))
    findings.total += sum(total for _, total in found) - len(repeated)
    return STRANGE if not same else ENCODED if tables.words.get("labels") == JSON else NAMED


def _take(findings: Findings, faults: list[Fault], total: int) -> None:
    for fault in faults:
        findings.add(fault)
    findings.total += total - len(faults)


def laid_before(work: str, tables: Tables, duplicates: str, positive: Any) -> Laid | None:
    """What an earlier run laid out in this folder, if one did.

    Raises:
        UsageError: it is another problem, or comes from other files or options.
    """
    note = None
    try:
        note = json.loads(note_in(work) or "null")
        found = Laid(**note | {name: tuple(note[name]) for name in ("offsets", "arcs")})
    except (ValueError, KeyError, TypeError):
        if isinstance(note, dict) and TALLIES in note:
            raise refused(work, "tallies") from None
        return None
    if found.fingerprint != _fingerprint(tables, duplicates, positive):
        raise refused(work, "another problem, or this one from other files or options")
    return (
        found if re.fullmatch(rf"{LAID}-[0-9a-f]{{16}}", found.folder) and Path(work, found.folder).is_dir() else None
    )


def _fingerprint(tables: Tables, duplicates: str, positive: Any) -> str:
    """What the layout depends on: the files as the system knows them, and the options."""
    datasets = tables.datasets.origin or tables.datasets
    paths, ordered = [*datasets.paths, *tables.edges.paths], Path(tables.datasets.paths[0]).name
    states = [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in paths]
    facts = [VERSION, states, ordered, duplicates, repr(positive), tables.words]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
