"""Tables with named columns: `from_table` reads those of any library, and `to_pandas` and its siblings make them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.files.saving import label_array, require_readable
from hetdp.frames import column_names, fetch_relation, is_relation, plain_column
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.accuracy.report import Accuracy
from hetdp.mechanism.accuracy.sweep import Sweep
from hetdp.mechanism.mechanism import Mechanism, RemoteMechanism
from hetdp.mechanism.odds import Odds
from hetdp.mechanism.steps import RemoteProblem
from hetdp.problem.columns import as_column, as_list
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.parameters import COLUMNS
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace, require_few_edges
from hetdp.text import did_you_mean, format_type, format_value

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
        raise UsageError(f"expected a table, got {format_type(table)}", TABLE_RULE)
    for role, name in wanted.items():
        if not isinstance(name, Hashable):
            raise UsageError(f"{role} is {type(name).__name__}", f"{role} names a column of the table")
        if names.count(name) != 1:
            findings.add(_no_such(role, name, table, names) if name not in names else _repeated_column(role, name))
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


def _repeated_column(role: str, name: Hashable) -> Fault:
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


# From hetdp to other libraries ----------------------------------------------------------------------------------------


Tabular = Problem | Mechanism | Accuracy | Sweep | Odds
TableName = Literal["edges", "datasets"]
TABLES: tuple[TableName, ...] = ("edges", "datasets")
MOST_ROWS = 1 << 24  # of spaces of people, whose labels are made one by one
LABEL_COLUMNS = frozenset({"dataset", "source", "target", "class", "binding", "worst_at"})


def to_pandas(what: Tabular, table: TableName | None = None) -> Any:
    """A problem, or what was computed on it, as a pandas data frame. pandas is imported only here.

    A problem has two tables: `edges` (source, target, parameters as written, class) and `datasets` (dataset, query,
    boundary, weight), which `from_table` and `Problem` read. A mechanism has one row for each dataset, an Accuracy one
    for each method and distance, a Sweep one for each scale and method, and Odds one for each class. Labels stay as
    they are.

    Args:
        what: a Problem, a Mechanism, an Accuracy, a Sweep or Odds.
        table: of a problem only: "edges" (the default) or "datasets".

    Raises:
        UsageError: pandas is not installed, or the rows are too many or not in this process.

    >>> import hetdp
    >>> problem = hetdp.Problem(hetdp.spaces.path(3, [0.5, 1.0]), [1, 1, 2])
    >>> hetdp.to_pandas(problem)
       source  target  epsilon
    0       0       1      0.5
    1       1       2      1.0
    >>> hetdp.to_pandas(problem, "datasets")
       dataset  query  boundary
    0        0      1     False
    1        1      1      True
    2        2      2      True
    """
    columns = _table_of(what, table, "to_pandas")
    with _library("pandas", "pandas", "to_pandas"):
        import pandas
    return pandas.DataFrame({name: _object_column(values) for name, values in columns.items()})


def to_polars(what: Tabular, table: TableName | None = None) -> Any:
    """The same as a Polars data frame. Polars is imported only here.

    Its columns have one type each: labels and classes that are neither all text nor all numbers of one kind become
    JSON, as in files of tables.

    Args:
        what: a Problem, a Mechanism, an Accuracy, a Sweep or Odds.
        table: of a problem only: "edges" (the default) or "datasets".

    Raises:
        UsageError: Polars is not installed, the rows are too many or not in this process, or a label is not text, a
            number or a tuple of these.

    >>> import hetdp
    >>> problem = hetdp.Problem(hetdp.spaces.path(3, [0.5, 1.0]), [1, 1, 2])
    >>> hetdp.to_polars(hetdp.design(problem)).columns
    ['dataset', 'query', 'p', 'z', 'error', 'pinned', 'binding']
    """
    columns = _table_of(what, table, "to_polars")
    with _library("polars", "Polars", "to_polars"):
        import polars
    return polars.DataFrame({name: _plain_cells(name, values) for name, values in columns.items()}, strict=False)


def to_arrow(what: Tabular, table: TableName | None = None) -> Any:
    """The same as an Arrow table, with labels as in `to_polars`. PyArrow is imported only here.

    Args:
        what: a Problem, a Mechanism, an Accuracy, a Sweep or Odds.
        table: of a problem only: "edges" (the default) or "datasets".

    Raises:
        UsageError: PyArrow is not installed, the rows are too many or not in this process, or a label is not text, a
            number or a tuple of these.

    >>> import hetdp
    >>> problem = hetdp.Problem(hetdp.spaces.path(3, [0.5, 1.0]), [1, 1, 2])
    >>> hetdp.to_arrow(hetdp.sweep(problem, [1, 2], "fair", baselines=False)).num_rows
    2
    """
    columns = _table_of(what, table, "to_arrow")
    with _library("pyarrow", "PyArrow", "to_arrow"):
        import pyarrow
    return pyarrow.table({name: _plain_cells(name, values) for name, values in columns.items()})


@contextmanager
def _library(module: str, name: str, function: str) -> Iterator[None]:
    """The block imports a library.

    Raises:
        UsageError: it is not installed.
    """
    try:
        with delay_interrupts():
            yield
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed", f"{function} needs it", f"pip install {module}") from None


def _table_of(what: Any, table: Any, function: str) -> dict[str, Any]:
    """The columns of a result."""
    require_in_process(what, "a data frame")
    if table is not None and not isinstance(what, Problem):
        raise UsageError(f"table={format_value(table)} for {format_type(what)}", "only a Problem has several tables")
    if table not in (None, *TABLES):
        rule = f"the tables of a problem are {' and '.join(map(repr, TABLES))}"
        raise UsageError(f"table={format_value(table)}", rule, did_you_mean(table, TABLES))
    if isinstance(what, Problem):
        return _datasets_of(what) if table == "datasets" else _edges_of(what)
    if isinstance(what, Odds):
        names = ("answer", "high", "low", "loss", "epsilon", "unprotected")
        rows = {name: [getattr(one, name) for one in what.by_class.values()] for name in names}
        return {"class": list(what.by_class), **rows}
    if isinstance(what, Mechanism):
        _require_few_rows(len(what), "m.blocks() gives its values in blocks")
        return what.columns()
    if not isinstance(what, Accuracy | Sweep):
        rule = f"{function} takes a Problem, a Mechanism, an Accuracy, a Sweep or Odds"
        raise UsageError(f"expected a Problem, got {format_type(what)}", rule)
    return what.columns()


def require_in_process(what: Any, wanted: str) -> None:
    """Refuses a problem or a mechanism whose rows are not in this process.

    Args:
        what: the problem, the mechanism, or anything else.
        wanted: what it should become, for the message.

    Raises:
        UsageError: they are not.
    """
    if isinstance(what, RemoteMechanism):
        hint = "blocks() reads its values a block at a time"
        raise UsageError(f"{what.noun} as {wanted}", "all values must be in this process", hint)
    if isinstance(what, RemoteProblem):
        hint = "its edges are in the files it was read from, and blocks() of its mechanisms reads values"
        raise UsageError(f"a partitioned problem as {wanted}", "all edges must be in this process", hint)


def _require_few_rows(rows: int, hint: str) -> None:
    if rows > MOST_ROWS:
        raise UsageError(f"a data frame with {rows:,} labels", f"it has at most {MOST_ROWS:,}", hint)


def _datasets_of(problem: Problem) -> dict[str, Any]:
    _require_few_rows(problem.graph.size, "problem.answers and problem.weights are arrays, and graph.label(i) is lazy")
    columns = {"dataset": list(problem.labels.names), "query": problem.answers, "boundary": problem.boundary_mask}
    return columns if problem.weights is None else columns | {"weight": problem.weights}


def _edges_of(problem: Problem) -> dict[str, Any]:
    graph = problem.graph
    if isinstance(graph, ProductSpace):
        require_few_edges(graph)
    _require_few_rows(graph.edge_count, "graph.edge_blocks() gives the edges in blocks of arrays")
    source, target, *parameters = graph.edges()
    columns = {"source": _labels_at(graph, source), "target": _labels_at(graph, target)}
    columns |= dict(zip(graph.parameter_names, parameters, strict=True))
    classes = graph.edge_classes()
    return columns if classes is None else columns | {"class": classes}


def _labels_at(graph: Any, numbers: Any) -> list[Any]:
    names = graph.labels.names
    return [names[number] for number in numbers.tolist()]


def _object_column(values: Any) -> Any:
    """A column that pandas takes as it is: with gaps, or of several types, as an array of objects."""
    if not isinstance(values, list) or set(map(type, values)) in ({int}, {float}, {str}, {bool}):
        return values
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _plain_cells(name: str, values: Any) -> Any:
    """A column of one type with None where a value is missing; labels of several types as JSON."""
    if name not in LABEL_COLUMNS or set(map(type, values)) - {type(None)} <= {float}:
        return values
    require_readable([value for value in values if value is not None])
    return as_list(label_array(values))
