"""read_mechanism: a mechanism from a file, with or without its problem. A file is a claim; its proof is not read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from hetdp import progress
from hetdp.documents import require_keys, require_kind, require_path, require_version
from hetdp.errors import Fault, FaultCollector, InputError, UsageError
from hetdp.files.formats.json_files import read_json, table_of
from hetdp.files.formats.parquet import read_parquet
from hetdp.files.formats.registry import DOCUMENT, FORMATS, suffix_of
from hetdp.files.formats.table import Table
from hetdp.files.formats.writing import call_reader
from hetdp.files.problems import STANDARD, answer_column, kind_of_document, open_document, parts_of, require_existing
from hetdp.files.schema import (
    INTEGER,
    JSON,
    MECHANISM_COLUMNS,
    MECHANISM_KEYS,
    TEXT,
    VALUES,
    require_columns,
    require_notion,
    stated_notion,
)
from hetdp.mechanism.mechanism import BINDING, LoadedClaim, LocalMechanism, Mechanism
from hetdp.mechanism.steps import NEAR_MISS, RemoteProblem
from hetdp.problem.columns import as_floats
from hetdp.problem.labels import Labels, labels_of
from hetdp.problem.partial import PartialMechanism, Pins, pins_on
from hetdp.problem.problem import EdgelessProblem, Problem
from hetdp.problem.query import answers_of
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_type, format_value
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE


class Sheet(NamedTuple):
    """A mechanism as its file holds it: metadata and one table."""

    name: str
    meta: dict[str, Any]
    table: Table


def open_sheet(path: str | Path) -> Sheet:
    """Opens a mechanism file and checks its form; its numbers are checked later."""
    if path != STANDARD and require_path(path).is_dir():
        name, place = str(path), Path(path)
        table, meta = _open_folder(place, name)
    elif path == STANDARD or suffix_of(path) == DOCUMENT:
        name, meta = open_document(path)
        require_kind(meta, "mechanism", name, kind_of_document(meta, "mechanism"))
        table = table_of(meta, "datasets", name, MECHANISM_COLUMNS)
    else:
        place, name = require_existing(path), str(path)
        form = FORMATS[suffix_of(path)]
        table = call_reader(place, form.read, name, MECHANISM_COLUMNS, False, None)
        meta = form.read_metadata(place, name)
    findings = FaultCollector(name)
    require_form(meta, list(table.columns), name, table.name, findings)
    findings.raise_if_any()
    return Sheet(name, meta, table)


def require_form(meta: dict[str, Any], columns: list[str], name: str, table: str, findings: FaultCollector) -> None:
    """Refuses metadata and columns that no mechanism has.

    Args:
        meta: what it says beside its table; nothing, if it was made elsewhere.
        columns: those of the table.
        name: how messages name the whole.
        table: how they name the table.
        findings: where faults are added; what is not a mechanism of this version at all is refused at once.
    """
    if meta:
        require_kind(meta, "mechanism", name, kind_of_document(meta, "mechanism"))
        require_version(meta, name)
        with findings.collect():
            require_keys(meta, (), MECHANISM_KEYS, name)
        require_notion(meta, name, findings)
        if meta.get("labels", TEXT) not in (TEXT, INTEGER, JSON):
            rule = f"labels in tables are {TEXT!r}, {INTEGER!r} or {JSON!r}"
            findings.add(Fault("unknown kind of labels", f"{name}, labels", format_value(meta["labels"]), rule))
    for key in ("moved", "objective_gap"):
        small = meta.get(key, 0.0)
        if isinstance(small, bool) or not isinstance(small, (int, float)) or not 0.0 <= small <= 1.0:
            findings.add(
                Fault("not a distance:", f"{name}, {key}", format_value(small), "it must be a small number ≥ 0")
            )
    require_columns(columns, ("dataset",), MECHANISM_COLUMNS, table, findings)
    if not {*VALUES} & set(columns):
        findings.add(Fault("no values", table, "", "a mechanism has a column z, p or error"))


def _open_folder(place: Path, name: str) -> tuple[Table, dict[str, Any]]:
    """Opens a mechanism that workers wrote, one part each."""
    parts = parts_of(place / "mechanism") if (place / "mechanism").is_dir() else []
    if not parts and (place / "problem.json").exists():
        require_kind({"kind": "problem"}, "mechanism", name)
    if not parts:
        rule = "the folder of a mechanism holds mechanism.json and mechanism/part-*.parquet"
        raise InputError(name, [Fault("not a mechanism", name, "", rule)])
    words = place / "mechanism.json"
    table = call_reader(parts[0], lambda _: read_parquet(parts, "mechanism/part-*.parquet", MECHANISM_COLUMNS))
    return table, call_reader(words, read_json, words.name) if words.exists() else {}


# Mechanisms, with or without their problem.


AGREEMENT = 1e-5  # columns for reading may have been rounded
SAME_RULE = "it has one row for each dataset of the problem"


@overload
def read_mechanism(path: str | Path, problem: Problem | None = None) -> LocalMechanism: ...
@overload
def read_mechanism(path: str | Path, problem: RemoteProblem) -> Mechanism: ...
def read_mechanism(path: str | Path, problem: Problem | RemoteProblem | None = None) -> Mechanism:
    """Reads a mechanism.

    What the file says was proved is not taken on trust: the mechanism comes without a certificate, and `verify` proves
    it again. Without its problem it can be read and looked up, but not proved, explained or saved.

    Args:
        path: a ``.json``, ``.csv`` or ``.parquet`` file, ``-`` for JSON on standard input, or the folder that a
            mechanism of a partitioned problem was saved to.
        problem: the problem it was made for.

    Raises:
        InputError: listing every fault of the file, or if it was made for another problem.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 0.5)
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mechanism.csv")
    ...     hetdp.save(hetdp.extend(problem, {"a": 0.6, "b": 0.4}), path)
    ...     mechanism = hetdp.read_mechanism(path, problem)
    >>> hetdp.verify(problem, mechanism).private
    True
    """
    if isinstance(problem, RemoteProblem):
        return problem.read_mechanism(path)
    if problem is not None and not isinstance(problem, Problem):
        rule, hint = (
            "problem= is the problem that the mechanism was made for",
            "hetdp.read_problem reads one from a file",
        )
        raise UsageError(f"expected a Problem, got {format_type(problem)}", rule, hint)
    progress.report_stage("reading the mechanism")
    sheet = open_sheet(path)
    if problem is None:
        return _build_alone(sheet)
    require_own(sheet.meta, sheet.name, problem.identity)
    return _build_on_problem(sheet, problem)


def require_own(meta: dict[str, Any], name: str, identity: str) -> None:
    """Refuses a mechanism whose file says that it was made for another problem."""
    made_for = meta.get("problem")
    if made_for is not None and made_for != identity:
        rule = "a mechanism is loaded with the problem it was made for"
        hint = "hetdp.verify judges a mechanism on any problem with the same datasets"
        raise InputError(name, [Fault("made for another problem,", name, format_value(made_for), rule, hint)])


@overload
def read_claim(path: str | Path, problem: Problem, pins: Pins | None = None) -> LoadedClaim[LocalMechanism]: ...
@overload
def read_claim(path: str | Path, problem: RemoteProblem, pins: Any = None) -> LoadedClaim[Any]: ...
def read_claim(path: str | Path, problem: Problem | RemoteProblem, pins: Any = None) -> LoadedClaim[Any]:
    """Reads a mechanism to be judged on a problem, whichever it was made for.

    Args:
        path: where it is.
        problem: the problem.
        pins: the values that the problem itself gives; a RemoteProblem knows its own.
    """
    if isinstance(problem, RemoteProblem):
        return problem.read_claim(path)
    progress.report_stage("reading the mechanism")
    sheet = open_sheet(path)
    another = sheet.meta.get("problem", problem.identity) != problem.identity
    column = next(name for name in VALUES if name in sheet.table.columns)
    mechanism = _build_on_problem(sheet, problem)
    return LoadedClaim(mechanism, another, column, 0 if pins is None else _count_differing(mechanism, pins))


def _count_differing(mechanism: LocalMechanism, pins: Pins) -> int:
    """The number of datasets that a problem pins at another value than the mechanism's, apart from rounding."""
    same = np.isnan(pins.z) | np.isclose(pins.z, mechanism.coordinates, rtol=0.0, atol=NEAR_MISS)
    return int(np.count_nonzero(~same))


def _build_alone(sheet: Sheet, problem: Problem | None = None) -> LocalMechanism:
    """Builds the mechanism in the order of its file."""
    table, findings = sheet.table, FaultCollector(sheet.name)
    kind = sheet.meta.get("labels", TEXT)
    names = table.label_column("dataset", findings, kind)
    findings.raise_if_any()
    labels = labels_of(names, findings, table.row)
    answers = _answers(table, labels, problem, findings)
    findings.raise_if_any()
    notion = notion_of(sheet.meta, sheet.name, "z" in table.columns, None if problem is None else problem.notion)
    outline = EdgelessProblem(labels, answers, notion, str(sheet.meta.get("problem", "")))
    z = np.empty(0)
    with findings.collect():
        z = coordinates_of(table, outline)
    links = _links(table, labels, kind, findings)
    pinned = table.flags("pinned", findings)
    given = table.flags("given", findings) if "given" in table.columns else None
    findings.raise_if_any()
    gap = sheet.meta.get("objective_gap")
    return LocalMechanism(
        outline,
        z,
        pinned,
        np.where(pinned, -1, links),
        float(sheet.meta.get("moved", 0.0)),
        objective=str(sheet.meta.get("objective", "extension")),
        objective_gap=None if gap is None else float(gap),
        given=given,
    )


def notion_of(meta: dict[str, Any], name: str, has_z: bool, asked: Notion | None) -> Notion:
    """The notion by which values are read: the problem's, unless its z differs in meaning from the file's."""
    stated = stated_notion(meta) if "notion" in meta else asked or PURE
    notion = asked or stated
    coordinate = meta.get("coordinate", stated.coordinate.name)
    if coordinate != notion.coordinate.name and has_z:
        rule = f"the notion {notion.name!r} has the coordinate {notion.coordinate.name!r}"
        hint = "without the column z, the values are read from error or p"
        raise InputError(name, [Fault("z is another coordinate:", name, format_value(coordinate), rule, hint)])
    return notion


def _answers(table: Table, labels: Labels, problem: Problem | None, findings: FaultCollector) -> Any:
    if "query" in table.columns:
        with findings.collect():
            return answers_of(answer_column(table.columns["query"]), labels)
    elif problem is not None:
        where = problem.labels.indices(_labels_as_in(problem, labels.names))
        return problem.answers[where]  # unknown labels are reported later
    else:
        rule = "without its problem a mechanism must have the answers itself"
        findings.add(Fault("missing column", table.name, "query", rule))
    return None


def coordinates_of(table: Table, outline: EdgelessProblem) -> Floats:
    """z, from the most precise column: p is rounded where z and error are not."""
    best = next(name for name in VALUES if name in table.columns)
    z = pins_on(outline, PartialMechanism(**{best: table.number_column(best)}))
    findings = FaultCollector(table.name)
    for other in VALUES[VALUES.index(best) + 1 :]:
        if other in table.columns:
            _require_agreement(z, best, other, table, outline, findings)
    rule = "every dataset has a value"
    findings.add_where(np.isnan(z), lambda at: Fault("no value", f"{table.row(at)}, {best}", "", rule))
    findings.raise_if_any()
    return z


def _require_agreement(
    z: Floats, best: str, other: str, table: Table, outline: EdgelessProblem, findings: FaultCollector
) -> None:
    """Checks that columns of values agree: what people read must be what is proved."""
    stated = as_floats(table.number_column(other), table.row, f"non-numeric {other}", "it must be a number", findings)
    coordinate = outline.notion.coordinate
    meant = coordinate.probability(z) if other == "p" else coordinate.error(z, outline.answers)
    wrong = np.abs(stated - meant) > AGREEMENT * (1.0 if other == "p" else meant)
    rule = f"{other} says the same as {best}"

    def fault_at(at: int) -> Fault:
        value = f"{float(stated[at])!r} where {best} means {float(meant[at]):.6g}"
        return Fault(f"{other} contradicts {best}:", table.row(at), value, rule)

    findings.add_where(wrong, fault_at)


def _links(table: Table, labels: Labels, kind: str, findings: FaultCollector) -> Any:
    column = table.columns.get(BINDING)
    if column is None:
        return np.full(table.length, -1, dtype=np.int64)
    listed = column.tolist() if isinstance(column, np.ndarray) else column
    bound = [at for at, label in enumerate(listed) if label is not None]
    some = table._replace(columns={BINDING: [listed[at] for at in bound]}, row=lambda at: table.row(bound[at]))
    found = labels.indices(some.label_column(BINDING, findings, kind) if bound else [])
    rule = "it is the label of a neighbour, or empty"
    findings.add_where(found < 0, lambda at: Fault("unknown dataset", f"{some.row(at)}, {BINDING}", "", rule))
    links = np.full(table.length, -1, dtype=np.int64)
    links[bound] = found
    return links


def _build_on_problem(sheet: Sheet, problem: Problem) -> LocalMechanism:
    """Builds the mechanism in the order of its problem."""
    alone, findings = _build_alone(sheet, problem), FaultCollector(sheet.name)
    row, names = sheet.table.row, problem.labels.names
    where = problem.labels.indices(_labels_as_in(problem, alone.problem.labels.names))
    found = alone.problem.labels.names
    what = "not a dataset of the problem:"
    findings.add_where(where < 0, lambda at: Fault(what, row(at), format_value(found[at]), SAME_RULE))
    absent = np.ones(len(names), dtype=np.bool_)
    absent[where[where >= 0]] = False
    findings.add_where(absent, lambda at: Fault("no row", f"dataset {shorten_label(names[at])}", "", SAME_RULE))
    findings.raise_if_any()
    other = alone.problem.answers != problem.answers[where]
    rule = "its query must agree with the problem's"
    findings.add_where(other, lambda at: Fault("not the problem's answer", row(at), "", rule))
    findings.raise_if_any()
    order = np.argsort(where)
    links = np.where(alone.links < 0, -1, where[alone.links])[order]
    z, pinned, given = alone.coordinates[order], alone.pinned[order], alone.was_given[order]
    return replace(alone, problem=problem, coordinates=z, pinned=pinned, links=links, given=given)


def _labels_as_in(problem: Problem, labels: Any) -> Any:
    """Converts text labels, as in any CSV file, to integers if those of the problem are integers."""
    integers = set(map(type, problem.labels.names)) == {int} and set(map(type, labels)) == {str}
    return parse_integer_labels(labels) if integers else labels


def parse_integer_labels(labels: Iterable[Any]) -> list[Any]:
    """Converts texts to the integers that are printed as them; other texts stay as they are.

    >>> parse_integer_labels(["-7", "07", None])
    [-7, '07', None]
    """
    return [
        int(text) if isinstance(text, str) and re.fullmatch("0|-?[1-9][0-9]{0,40}", text) else text for text in labels
    ]
