"""Tables with named columns, of any library: data frames, Arrow tables, DuckDB relations, mappings, record arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from difflib import get_close_matches
from typing import Any, Literal

from hetdp.errors import Fault, UsageError
from hetdp.frames import column_names, fetch_relation, is_relation, plain_column
from hetdp.problem.columns import as_column
from hetdp.problem.faults import FaultCollector
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.parameters import COLUMNS
from hetdp.text import format_value

TABLE_RULE = "a table has named columns: a data frame, an Arrow table, a mapping of columns, a structured array"


def from_table(
    edges: Any,
    source: Hashable = "source",
    target: Hashable = "target",
    epsilon: Hashable = "epsilon",
    datasets: Any = None,
    duplicates: Literal["error", "min"] = "error",
    epsilon_back: Hashable | None = "epsilon_back",
    delta: Hashable | None = "delta",
    delta_back: Hashable | None = "delta_back",
    mu: Hashable | None = "mu",
    classes: Hashable | None = "class",
) -> DatasetGraph:
    """A graph from a table of edges, one row for each pair of neighbours and class.

    Args:
        edges: a pandas or Polars data frame, an Arrow table or record batch, a DuckDB relation, a mapping of columns, a
            structured array, or anything else with named columns that lies in memory.
        source: the name of the column with the label of one end.
        target: the name of the column with the label of the other end. Which is which matters where the two directions
            differ: Pr at source ≤ e^ε · Pr at target + δ.
        epsilon: the name of the column with ε. A missing value is a fault, and is never filled.
        datasets: all labels in the order wanted, as a column, or as a table whose column "dataset" has them; needed if
            some dataset has no edge. Default: integers in their order, other labels as they first appear.
        duplicates: what happens to an edge of one class listed twice with different ε: "error", or "min", the more
            private one. Edges of different classes are all kept: the tightest binds, and every class pays.
        epsilon_back: the name of the column with ε from target to source, which is read if it is there (the notion
            directed); where a value is missing, it is that of epsilon. None leaves the column out.
        delta: likewise, with δ from source to target (the notion approximate). A missing value is a fault.
        delta_back: likewise, with δ from target to source; where a value is missing, it is that of delta.
        mu: likewise, with μ, in place of ε (the notion gaussian). A missing value is a fault.
        classes: likewise, with the class of each edge: whose data it is about. Where a value is missing, an edge has
            none.

    Raises:
        UsageError: if this is not a table, or one that has to be fetched first, or has columns that do not go together.
        InputError: listing every fault.

    >>> from_table({"source": ["a", "b"], "target": ["b", "c"], "epsilon": [0.5, 1.0]})
    DatasetGraph(3 datasets, 2 edges)
    """
    findings = FaultCollector("table")
    roles = dict(zip(COLUMNS, (epsilon, epsilon_back, delta, delta_back, mu), strict=True))
    wanted = {"source": source, "target": target, **_present(roles, edges), **_class_column(classes, edges)}
    columns = read_columns(edges, wanted, findings)
    listed = None if datasets is None else _labels(datasets, findings)
    findings.raise_if_any()
    return DatasetGraph.from_edges(**columns, datasets=listed, duplicates=duplicates)


def _present(roles: Mapping[str, Hashable], table: Any) -> dict[str, Hashable]:
    """The columns to read: those that exist, those named by the caller, which must exist, and ε, unless there is μ."""
    names = column_names(table) or []

    def is_wanted(role: str, name: Any) -> bool:
        return not isinstance(name, Hashable) or name in names or name not in (None, role)

    wanted = {role: name for role, name in roles.items() if is_wanted(role, name)}
    return wanted if "epsilon" in wanted or "mu" in wanted else {"epsilon": roles["epsilon"], **wanted}


def _class_column(name: Any, table: Any) -> dict[str, Hashable]:
    """The column of classes, if it exists; it must exist if the caller named it."""
    if name is None or (name == "class" and name not in (column_names(table) or [])):
        return {}
    return {"classes": name}


def read_columns(table: Any, wanted: Mapping[str, Hashable], findings: FaultCollector) -> dict[str, Any]:
    """The requested columns by role, as plain columns; a name that the table lacks, or has twice, is a fault."""
    names = column_names(table)
    if names is None:
        raise UsageError(f"{type(table).__name__} is not a table", TABLE_RULE)
    for role, name in wanted.items():
        if not isinstance(name, Hashable):
            raise UsageError(f"{role} is {type(name).__name__}", f"{role} names a column of the table")
        if names.count(name) != 1:
            findings.add(_no_such(role, name, table, names) if name not in names else _several(role, name))
    if findings.total:
        return {}
    if is_relation(table):
        table = fetch_relation(table, list(dict.fromkeys(map(str, wanted.values()))))
    return {role: plain_column(table[name]) for role, name in wanted.items()}


def _labels(datasets: Any, findings: FaultCollector) -> Any:
    if isinstance(datasets, str):
        rule = "datasets is a column of labels, or a table whose column 'dataset' has them"
        raise UsageError(f"datasets={format_value(datasets)} is text", rule)
    if column_names(datasets) is not None:
        return read_columns(datasets, {"datasets": "dataset"}, findings).get("datasets")
    return as_column("datasets", plain_column(datasets), findings)


def _no_such(role: str, name: Hashable, table: Any, names: list[Any]) -> Fault:
    return Fault(
        "no column", role, format_value(name), f"the columns are {format_value(names)}", _hint(role, name, table, names)
    )


def _several(role: str, name: Hashable) -> Fault:
    return Fault(
        "more than one column", role, format_value(name), "the columns that are read must have different names"
    )


def _hint(role: str, name: Hashable, table: Any, names: list[Any]) -> str:
    if name in list(getattr(getattr(table, "index", None), "names", ())):
        return "reset_index() makes columns of the index"
    by_text = {str(other).lower(): other for other in names}
    close = [other for other in names if isinstance(other, tuple) and name in other]  # names of several levels
    close += [by_text[text] for text in get_close_matches(str(name).lower(), by_text, n=1)]
    if not close:
        return ""
    chosen = f"datasets=table[{close[0]!r}]" if role == "datasets" else f"{role}={close[0]!r}"
    return f"{chosen} reads that one"
