"""Tables of other libraries are read unchanged: nothing is filled, rounded up or renamed."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.files.frames import from_table
from hetdp.text import format_type
from tests.loops import for_each

EPSILON = st.one_of(st.sampled_from([0.0, math.inf, 0.1, 0.3, 1e-12, 1e3]), st.floats(0.0, 1e6))
PAIRS = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p))), EPSILON)
WORDS = {"source": ["a", "b"], "target": ["b", "c"], "epsilon": [0.5, 0.0]}
TABLE = "a table has named columns: a data frame, an Arrow table, a mapping of columns, a structured array."


def records(columns: dict) -> np.ndarray:
    rows = list(zip(*columns.values(), strict=True))
    kinds = [np.asarray(values).dtype if len(values) else np.dtype(np.float64) for values in columns.values()]
    return np.array(rows, dtype=list(zip(columns, kinds, strict=True)))


def relation(columns: dict) -> duckdb.DuckDBPyRelation:
    table = pyarrow.table(columns)
    return duckdb.from_arrow(table)


MAKERS = {
    "mapping": dict,
    "pandas": pandas.DataFrame,
    "pandas backed by Arrow": lambda columns: pyarrow.table(columns).to_pandas(types_mapper=pandas.ArrowDtype),
    "pandas nullable": lambda columns: pandas.DataFrame(columns).convert_dtypes(),
    "polars": polars.DataFrame,
    "arrow": pyarrow.table,
    "arrow in chunks": lambda columns: pyarrow.concat_tables([pyarrow.table(columns)[:1], pyarrow.table(columns)[1:]]),
    "arrow record batch": lambda columns: pyarrow.RecordBatch.from_pydict(columns),
    "structured array": records,
    "record array": lambda columns: records(columns).view(np.recarray),
    "duckdb": relation,
}
ALL = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def kind_of(column) -> str:
    return f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', getattr(column, 'type', ''))}"


def edges_of(graph: hetdp.DatasetGraph) -> list[list]:
    return [column.tolist() for column in graph.edges()]


def with_epsilon(epsilon, **options) -> hetdp.DatasetGraph:
    return from_table({"source": ["a", "b"], "target": ["b", "c"], "epsilon": epsilon}, **options)


def error_message(call, *arguments, error: type[Exception] = hetdp.InputError, **options) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)


@ALL
@given(PAIRS)
def test_a_table_of_numbers_is_read_unchanged(make, pairs):
    columns = {
        "source": np.array([u for u, _ in pairs], dtype=np.int64),
        "target": np.array([v for _, v in pairs], dtype=np.int64),
        "epsilon": np.array(list(pairs.values()), dtype=np.float64),
    }
    used = from_table(make(columns), datasets=range(10))
    assert edges_of(used) == edges_of(hetdp.DatasetGraph.from_edges(**columns, datasets=range(10)))


@ALL
def test_a_table_with_text_labels_is_read_unchanged(make):
    used = from_table(make(WORDS))
    assert list(used.datasets) == ["a", "b", "c"]
    assert [type(label) for label in used.datasets] == [str] * 3
    assert edges_of(used) == [[0, 1], [1, 2], [0.5, 0.0]]


@ALL
def test_integer_labels_are_integers_in_their_order(make):
    used = from_table(make({"source": [30, 10], "target": [10, 20], "epsilon": [1.0, 2.0]}))
    assert list(used.datasets) == [10, 20, 30]
    assert [type(label) for label in used.datasets] == [int] * 3


@ALL
def test_the_columns_may_have_other_names_and_other_columns_do_not_matter(make):
    table = make({"from": ["a"], "to": ["b"], "eps": [0.5], "epsilon": [9.0], "note": ["x"]})
    assert edges_of(from_table(table, "from", "to", "eps")) == [[0], [1], [0.5]]


def test_columns_may_be_named_by_numbers():
    assert edges_of(from_table(pandas.DataFrame([["a", "b", 0.5]]), 0, 1, 2)) == [[0], [1], [0.5]]


def test_a_mapping_may_hold_columns_of_any_library():
    columns = {"source": polars.Series(["a"]), "target": pyarrow.array(["b"]), "epsilon": pandas.Series([0.5])}
    assert edges_of(from_table(columns)) == [[0], [1], [0.5]]


def test_a_mapping_may_give_one_epsilon_for_all_edges():
    assert edges_of(with_epsilon(0.5))[2] == [0.5, 0.5]


def test_columns_that_share_a_name_with_a_method_are_columns():
    frame = pandas.DataFrame({**WORDS, "collect": [1, 2], "column_names": [1, 2], "fetchnumpy": [1, 2]})
    assert from_table(frame).edge_count == 2


def test_the_index_of_a_data_frame_does_not_matter():
    frame = pandas.DataFrame(WORDS, index=pandas.MultiIndex.from_tuples([(7, 1), (7, 0)]))
    assert edges_of(from_table(frame.iloc[::-1])) == edges_of(from_table(frame, datasets=["b", "c", "a"]))


# Labels


@for_each(
    "labels",
    [
        pandas.Series(["b", "c"], dtype="category"),
        pandas.Series(["b", "c"], dtype="string"),
        pandas.Series(["b", "c"], dtype=object),
        pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.array(["b", "c"]).dictionary_encode())),
        polars.Series(["b", "c"], dtype=polars.Categorical),
        polars.Series(["b", "c"], dtype=polars.Enum(["a", "b", "c"])),
        pyarrow.array(["b", "c"]).dictionary_encode(),
        pyarrow.chunked_array([["b"], ["c"]]).dictionary_encode(),
        pyarrow.array(["b", "c"], type=pyarrow.large_string()),
        np.array(["b", "c"]),
    ],
)
def test_categories_dictionaries_and_every_kind_of_text_are_text(labels):
    used = from_table({**WORDS, "target": labels})
    assert list(used.datasets) == ["a", "b", "c"]
    assert [type(label) for label in used.datasets] == [str] * 3


@for_each(
    "labels",
    [
        pandas.Series([5, 7], dtype="Int64"),
        pandas.Series([5, 7], dtype="int64[pyarrow]"),
        pandas.Series([5, 7], dtype="uint8"),
        pandas.Series([5, 7], dtype="category"),
        pandas.Series([5, 7], dtype=object),
        polars.Series([5, 7], dtype=polars.UInt16),
        polars.Series([5, 7], dtype=polars.Int128),
        pyarrow.array([5, 7], type=pyarrow.int8()),
        pyarrow.array([5, 7]).dictionary_encode(),
    ],
)
def test_every_kind_of_integer_is_an_integer(labels):
    used = from_table({"source": [6, 6], "target": labels, "epsilon": [1.0, 1.0]})
    assert list(used.datasets) == [5, 6, 7]
    assert [type(label) for label in used.datasets] == [int] * 3


def test_timestamps_are_labels():
    times = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[ns]")
    for column in (pandas.Series(times), polars.Series(times), pyarrow.array(times)):
        used = from_table({**WORDS, "target": column})
        assert [label.year for label in used.datasets if not isinstance(label, str)] == [2024, 2024]


MISSING_LABELS = {
    "None": ["b", None],
    "a pandas NA": pandas.Series(["b", pandas.NA], dtype=object),
    "a pandas string": pandas.Series(["b", None], dtype="string"),
    "a pandas category": pandas.Series(["b", None], dtype="category"),
    "a pandas integer": pandas.Series([5, None], dtype="Int64"),
    "an integer that pandas made a float": pandas.Series([5, None]),
    "a pandas time": pandas.Series(["2024-01-01", None], dtype="datetime64[ns]"),
    "a Polars null": polars.Series(["b", None]),
    "a Polars category": polars.Series(["b", None], dtype=polars.Categorical),
    "a Polars integer": polars.Series([5, None]),
    "an Arrow null": pyarrow.array(["b", None]),
    "an Arrow integer": pyarrow.array([5, None]),
    "an Arrow chunk": pyarrow.chunked_array([[5], [None]]),
    "an Arrow dictionary": pyarrow.array(["b", None]).dictionary_encode(),
    "a null in the dictionary itself": pyarrow.DictionaryArray.from_arrays([0, 1], pyarrow.array(["b", None])),
    "a masked array": np.ma.array(["b", "c"], mask=[False, True]),
}


@for_each("labels", MISSING_LABELS.values())
def test_a_missing_label_is_a_fault(labels):
    for role in ("source", "target"):
        text = error_message(from_table, {**WORDS, role: labels})
        assert text == f"edges: {role}[1]: missing label None; a label is never missing."


def test_a_missing_label_among_the_datasets_is_a_fault():
    text = error_message(from_table, WORDS, datasets=pandas.Series(["a", "b", "c", pandas.NA]))
    assert text == "edges: datasets[3]: missing label None; a label is never missing."


def test_a_float_that_is_not_a_number_is_not_a_label():
    assert "missing label nan" in error_message(from_table, {**WORDS, "target": polars.Series([1.0, math.nan])})


# ε


MISSING_EPSILONS = {
    "None": [0.5, None],
    "NaN": np.array([0.5, math.nan]),
    "a pandas NaN": pandas.Series([0.5, None]),
    "a pandas NA": pandas.Series([0.5, pandas.NA], dtype="Float64"),
    "a pandas object": pandas.Series([0.5, pandas.NA], dtype=object),
    "pandas backed by Arrow": pandas.Series([0.5, None], dtype="double[pyarrow]"),
    "a Polars null": polars.Series([0.5, None]),
    "a Polars NaN": polars.Series([0.5, math.nan]),
    "an Arrow null": pyarrow.array([0.5, None]),
    "an Arrow NaN": pyarrow.array([0.5, math.nan]),
    "an Arrow chunk": pyarrow.chunked_array([[0.5], [None]]),
    "an Arrow integer": pyarrow.array([1, None]),
    "a missing decimal": pyarrow.array([Decimal("0.5"), None]),
    "a masked array": np.ma.array([0.5, 9.0], mask=[False, True]),
}


@for_each("epsilon", MISSING_EPSILONS.values())
def test_a_missing_epsilon_is_a_fault_and_never_filled(epsilon):
    assert error_message(with_epsilon, epsilon) == "edges: edge 1 ('b', 'c'): missing ε; ε is a number ≥ 0."


@pytest.mark.parametrize("sql", ["NULL::DOUBLE", "'nan'::FLOAT"])
def test_a_null_of_a_relation_is_a_fault(sql):
    rows = duckdb.sql(f"SELECT 'a' AS source, 'b' AS target, {sql} AS epsilon")
    assert "missing ε" in error_message(from_table, rows)
    rows = duckdb.sql("SELECT 'a' AS source, NULL::VARCHAR AS target, 1.0::DOUBLE AS epsilon")
    assert "target[0]: missing label None" in error_message(from_table, rows)


@pytest.mark.parametrize("make", [pandas.Series, polars.Series, pyarrow.array, list])
def test_text_booleans_and_negative_numbers_are_refused_as_epsilon(make):
    assert "non-numeric ε '0.5'" in error_message(with_epsilon, make(["0.5", "1"]))
    assert "non-numeric ε True" in error_message(with_epsilon, make([True, False]))
    assert "negative ε -0.5" in error_message(with_epsilon, make([0.5, -0.5]))


DECIMALS = [Decimal("0.1"), Decimal("0.7")]
DECIMAL_COLUMNS = {
    "pandas": pandas.Series(DECIMALS),
    "pandas backed by Arrow": pandas.Series(DECIMALS, dtype=pandas.ArrowDtype(pyarrow.decimal128(5, 2))),
    "polars": polars.Series(DECIMALS, dtype=polars.Decimal(5, 2)),
    "arrow": pyarrow.array(DECIMALS),
    "arrow in chunks": pyarrow.chunked_array([pyarrow.array(DECIMALS)]),
    "arrow dictionary": pyarrow.array(DECIMALS).dictionary_encode(),
    "wide arrow": pyarrow.array(DECIMALS, type=pyarrow.decimal256(50, 5)),
}


@for_each("epsilon", DECIMAL_COLUMNS.values())
def test_decimals_are_rounded_down(epsilon):
    used = with_epsilon(epsilon).epsilon
    assert edges_of(with_epsilon(epsilon)) == edges_of(with_epsilon(DECIMALS))
    assert Fraction(float(used[0])) <= Fraction(1, 10)
    assert used[0] == pytest.approx(0.1)


SHORT = np.array([0.1, 0.7], dtype=np.float32)
SHORT_COLUMNS = {
    "numpy": SHORT,
    "pandas": pandas.Series(SHORT),
    "pandas nullable": pandas.Series(SHORT, dtype="Float32"),
    "pandas category": pandas.Series(SHORT).astype("category"),
    "polars": polars.Series(SHORT),
    "arrow": pyarrow.array(SHORT),
    "arrow dictionary": pyarrow.array(SHORT).dictionary_encode(),
}


@for_each("epsilon", SHORT_COLUMNS.values())
def test_a_short_float_is_the_decimal_it_prints_as(epsilon):
    assert edges_of(with_epsilon(epsilon))[2] == [0.1, 0.7]


def test_a_short_float_of_a_relation_is_the_decimal_it_prints_as():
    rows = duckdb.sql("SELECT 'a' AS source, 'b' AS target, 0.1::FLOAT AS epsilon")
    assert edges_of(from_table(rows))[2] == [0.1]


def test_infinite_and_integer_epsilons_are_epsilons():
    assert edges_of(with_epsilon(pandas.Series([math.inf, 2.0])))[2] == [2.0, math.inf]
    assert edges_of(with_epsilon(polars.Series([0, 3])))[2] == [0.0, 3.0]


def test_duplicates_are_refused_or_the_most_private_one_is_kept():
    frame = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "a"], "epsilon": [0.5, 0.2]})
    assert "contradictory duplicate edge, ε 0.2 here, 0.5 at edge 0" in error_message(from_table, frame)
    assert edges_of(from_table(frame, duplicates="min"))[2] == [0.2]
    assert "unknown duplicates='first'" in error_message(from_table, frame, duplicates="first", error=hetdp.UsageError)


# Datasets


ORDER = ["d", "c", "b", "a"]


@for_each(
    "datasets",
    [
        ORDER,
        tuple(ORDER),
        np.array(ORDER),
        pandas.Series(ORDER, index=[3, 2, 1, 0]),
        pandas.Index(ORDER),
        polars.Series(ORDER),
        pyarrow.array(ORDER),
        {"dataset": ORDER},
        pandas.DataFrame({"query": [1, 2, 2, 1], "dataset": ORDER}),
        polars.DataFrame({"dataset": ORDER}),
        pyarrow.table({"dataset": ORDER}),
        records({"dataset": ORDER, "query": [1, 2, 2, 1]}),
    ],
)
def test_datasets_is_a_column_of_labels_or_a_table_with_the_column_dataset(datasets):
    used = from_table(pandas.DataFrame(WORDS), datasets=datasets)
    assert list(used.datasets) == ORDER
    assert edges_of(used) == [[1, 2], [2, 3], [0.0, 0.5]]


def test_a_label_that_is_not_among_the_datasets_is_a_fault():
    assert "unknown dataset 'c'" in error_message(from_table, WORDS, datasets=["a", "b"])


def test_the_name_of_a_column_is_not_a_column_of_datasets():
    assert error_message(from_table, WORDS, datasets="dataset", error=hetdp.UsageError) == (
        "datasets='dataset' is text; datasets is a column of labels, or a table whose column 'dataset' has them."
    )


def test_a_table_of_datasets_without_the_column_dataset_is_refused():
    assert error_message(from_table, WORDS, datasets={"query": [1], "datasets": ["a"]}) == (
        "table: datasets: no column 'dataset'; the columns are ['query', 'datasets']."
        " Hint: datasets=table['datasets'] reads that one"
    )


# Arguments that are not such tables


@ALL
def test_a_missing_column_names_those_that_are_there_and_a_close_match(make):
    table = make({"source": ["a"], "target": ["b"], "Epsilon": [0.5]})
    assert error_message(from_table, table) == (
        "table: epsilon: no column 'epsilon'; the columns are ['source', 'target', 'Epsilon']."
        " Hint: epsilon='Epsilon' reads that one"
    )


def test_all_missing_columns_are_listed_together():
    text = error_message(from_table, {"u": [0], "v": [1]}, datasets={"label": [0, 1]})
    assert text.splitlines() == [
        "table: 4 faults",
        "  source: no column 'source'; the columns are ['u', 'v'].",
        "  target: no column 'target'; the columns are ['u', 'v'].",
        "  epsilon: no column 'epsilon'; the columns are ['u', 'v'].",
        "  datasets: no column 'dataset'; the columns are ['label'].",
    ]


def test_columns_in_the_index_can_be_restored():
    frame = pandas.DataFrame(WORDS).set_index(["source", "target"])
    with pytest.raises(hetdp.InputError) as caught:
        from_table(frame)
    assert [str(fault) for fault in caught.value.faults] == [
        "source: no column 'source'; the columns are ['epsilon']. Hint: reset_index() makes columns of the index",
        "target: no column 'target'; the columns are ['epsilon']. Hint: reset_index() makes columns of the index",
    ]
    assert from_table(frame.reset_index()).edge_count == 2


def test_columns_of_several_levels_are_named_by_tuples():
    frame = pandas.DataFrame([["a", "b", 0.5]])
    frame.columns = pandas.MultiIndex.from_tuples([("edge", "source"), ("edge", "target"), ("privacy", "epsilon")])
    text = error_message(from_table, frame)
    assert "epsilon: no column 'epsilon'; the columns are [('edge', 'source'), " in text
    assert "Hint: epsilon=('privacy', 'epsilon') reads that one" in text
    used = from_table(frame, ("edge", "source"), ("edge", "target"), ("privacy", "epsilon"))
    assert edges_of(used) == [[0], [1], [0.5]]


def test_a_column_name_that_appears_twice_is_refused():
    names = ["source", "target", "epsilon", "epsilon"]
    for table in (
        pandas.DataFrame([["a", "b", 0.5, 0.7]], columns=names),
        pyarrow.Table.from_arrays([["a"], ["b"], [0.5], [0.7]], names=names),
        duckdb.sql("SELECT 'a' AS source, 'b' AS target, 0.5::DOUBLE AS epsilon, 0.7::DOUBLE AS epsilon"),
    ):
        text = error_message(from_table, table)
        assert (
            text
            == "table: epsilon: more than one column 'epsilon'; the columns that are read must have different names."
        )


def test_another_column_that_appears_twice_does_not_matter():
    frame = pandas.DataFrame([["a", "b", 0.5, 1, 2]], columns=["source", "target", "epsilon", "note", "note"])
    assert from_table(frame).edge_count == 1


@for_each(
    "wrong", [None, "edges.csv", 3, [{"source": "a", "target": "b", "epsilon": 1.0}], np.eye(3), pandas.Series([1.0])]
)
def test_arguments_that_are_not_tables_are_refused(wrong):
    assert (
        error_message(from_table, wrong, error=hetdp.UsageError)
        == f"expected a table, got {format_type(wrong)}; {TABLE}"
    )


def test_a_plan_for_a_table_is_refused():
    assert error_message(from_table, polars.LazyFrame(WORDS), error=hetdp.UsageError) == (
        "LazyFrame is a plan for a table; a table must be in memory. Hint: collect(), compute() or toPandas() fetches"
        " it"
    )


def test_a_column_in_place_of_its_name_is_refused():
    frame = pandas.DataFrame(WORDS)
    text = error_message(from_table, frame, epsilon=frame["epsilon"], error=hetdp.UsageError)
    assert text == "epsilon is Series; epsilon names a column of the table."


@pytest.mark.parametrize("kind", ["DECIMAL(4,2)", "HUGEINT", "BOOLEAN"])
def test_relation_columns_that_would_be_rounded_are_refused(kind):
    rows = duckdb.sql(f"SELECT 'a' AS source, 'b' AS target, 1::{kind} AS epsilon")
    assert error_message(from_table, rows, error=hetdp.UsageError) == (
        f"column 'epsilon' is {kind};"
        " a DuckDB relation hands over integers, floats and text as they are, other types not."
        " Hint: relation.to_arrow_table() keeps every value"
    )


def test_the_suggested_cast_for_decimals_of_a_relation_works():
    rows = duckdb.sql("SELECT 'a' AS source, 'b' AS target, 0.1::DECIMAL(4,2) AS epsilon")
    assert edges_of(from_table(rows.to_arrow_table())) == edges_of(
        from_table({"source": ["a"], "target": ["b"], "epsilon": [Decimal("0.1")]})
    )


def test_columns_of_a_relation_may_have_odd_names():
    rows = duckdb.sql('SELECT \'a\' AS "from ""here""", \'b\' AS "to; there", 0.5::DOUBLE AS ε')
    assert edges_of(from_table(rows, 'from "here"', "to; there", "ε")) == [[0], [1], [0.5]]


ENDS = {"source": ["a", "b"], "target": ["b", "c"]}
WAYS = {"epsilon": [0.1, 0.5], "epsilon_back": [0.2, math.inf], "delta": [1e-10, 0.5], "delta_back": [1.0, 0.25]}


@ALL
@pytest.mark.parametrize(
    "chosen", [("epsilon", "epsilon_back"), ("epsilon", "epsilon_back", "delta", "delta_back"), ("mu",)], ids="-".join
)
def test_the_columns_of_other_notions_are_read_if_they_are_there(make, chosen):
    columns = {name: (WAYS | {"mu": [0.1, math.inf]})[name] for name in chosen}
    used = from_table(make(ENDS | columns))
    assert used.parameter_names == chosen
    assert edges_of(used)[2:] == list(columns.values())


@ALL
def test_the_columns_of_other_notions_may_have_other_names_and_must_then_be_there(make):
    table = make(ENDS | {"e": [1.0, 2.0], "b": [0.5, 0.25], "d": [0.1, 0.1]})
    used = from_table(table, epsilon="e", epsilon_back="b", delta="d")
    assert edges_of(used)[2:] == [[1.0, 2.0], [0.5, 0.25], [0.1, 0.1], [0.1, 0.1]]
    for role in ("epsilon_back", "delta", "delta_back", "mu"):
        text = error_message(from_table, table, epsilon="e", **{role: "away"})
        assert text.startswith(f"table: {role}: no column 'away'; the columns are ['source', 'target', 'e', 'b', 'd'].")


def test_a_column_can_be_left_out():
    table = ENDS | WAYS | {"mu": [1.0, 2.0]}
    assert "edges with delta and delta_back and epsilon and" in error_message(from_table, table, error=hetdp.UsageError)
    assert from_table(table, mu=None).parameter_names == ("epsilon", "epsilon_back", "delta", "delta_back")
    assert from_table(table, mu=None, delta=None, delta_back=None).parameter_names == ("epsilon", "epsilon_back")
    nothing = dict.fromkeys(WAYS)
    assert from_table(table, **nothing).parameter_names == ("mu",)


GAPS = {
    "pandas": pandas.Series([0.25, None]),
    "pandas nullable": pandas.array([0.25, None], dtype="Float64"),
    "polars": polars.Series([0.25, None]),
    "arrow": pyarrow.array([0.25, None]),
    "list": [0.25, None],
    "masked": np.ma.MaskedArray([0.25, 9.0], [False, True]),
}


@for_each("gap", GAPS.values())
def test_a_missing_value_back_means_the_value_forth_and_a_missing_value_forth_is_a_fault(gap):
    whole = ENDS | {"epsilon": [0.1, 0.5], "delta": [0.1, 0.5]}
    assert edges_of(from_table(whole | {"epsilon_back": gap}))[3] == [0.25, 0.5]
    assert edges_of(from_table(whole | {"delta_back": gap}))[5] == [0.25, 0.5]
    assert error_message(from_table, whole | {"delta": gap}) == (
        "edges: edge 1 ('b', 'c'): missing δ; δ is a number from 0 to 1."
    )
    assert error_message(from_table, ENDS | {"mu": gap}) == "edges: edge 1 ('b', 'c'): missing μ; μ is a number ≥ 0."


def test_a_table_without_rows_is_a_graph_without_edges():
    names = list(WORDS)
    for table in (pandas.DataFrame(columns=names), polars.DataFrame(schema=names), {name: [] for name in names}):
        assert repr(from_table(table, datasets=["a"])) == "DatasetGraph(1 dataset, 0 edges)"
    assert from_table(pyarrow.table({name: pyarrow.array([]) for name in WORDS})).size == 0
