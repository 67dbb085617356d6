"""Parallel edges on partitions: the same problem, values, proofs and paths as on one machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetdp
from tests.partitioned.inline import coordinates, read_inline
from tests.partitioned.problems import random_offsets
from tests.partitioned.test_conformance import assert_is_a_path
from tests.problem.multigraphs import Multigraph, Row, multigraphs
from tests.stress import stress, times


def save_problem(problem: hetdp.Problem, folder, pins=None):
    """The folder of a problem, in Parquet."""
    hetdp.save(problem, folder, partial=pins)
    return folder


@stress
@settings(max_examples=times(8))
@given(drawn=multigraphs(max_size=8), seed=st.integers(0, 999))
def test_partitions_agree_with_one_machine(drawn, seed, tmp_path_factory):
    drawn = _with_texts(drawn)
    rng, place = np.random.default_rng(seed), tmp_path_factory.mktemp("parts")
    problem = drawn.problem()
    pins = hetdp.PartialMechanism(z=drawn.values(rng))
    save_problem(problem, place / "problem", pins)
    with read_inline(place / "problem", place / "work", offsets=random_offsets(rng, drawn.size, 3), twice=False) as (
        parts,
        given_,
    ):
        assert parts.identity == problem.identity
        assert (parts.graph.arc_count, parts.graph.edge_count) == (problem.graph.arc_count, problem.graph.edge_count)
        here, there = hetdp.extend(problem, pins), hetdp.extend(parts, given_)
        assert coordinates(there).tobytes() == here.coordinates.tobytes()
        one, other = hetdp.verify(problem, here), hetdp.verify(parts, there)
        assert (
            (one.private, one.optimal, one.edges)
            == (other.private, other.optimal, other.edges)
            == (
                *(True, True),
                problem.graph.arc_count // 2,
            )
        )
        for label in range(drawn.size):
            assert_is_a_path(problem, there.explain(label))
        fair = hetdp.design(parts, "fair")
        assert coordinates(fair).tobytes() == hetdp.design(problem, "fair").coordinates.tobytes()


def _with_texts(drawn: Multigraph) -> Multigraph:
    """A column of a table has classes of one kind."""
    rows = [row if row.edge_class is None else row._replace(edge_class=str(row.edge_class)) for row in drawn.rows]
    return drawn._replace(rows=rows)


@pytest.mark.parametrize("classes", [["Ann", "Bob", None], [3, 4, None]])
def test_a_contradiction_within_one_class_is_reported_as_on_one_machine(tmp_path, classes):
    first, second, none = classes
    ends = [(0, 1), (1, 0), (1, 2), (1, 0)]
    drawn = Multigraph("pure", 3, [Row(*pair, None, (1.0,)) for pair in ends], [1, 1, 2])
    rows = zip(drawn.rows, (first, second, none, first), (1.0, 0.5, 1.0, 0.25), strict=True)
    listed = [row._replace(edge_class=name, parameters=(epsilon,)) for row, name, epsilon in rows]
    folder = save_problem(drawn.problem(listed[:3]), tmp_path / "problem")
    with read_inline(folder, tmp_path / "first", offsets=(0, 1, 3)) as (parts, _):
        assert parts.graph.edge_count == 3
    _write_edges(folder, listed)
    with pytest.raises(hetdp.InputError) as whole:
        hetdp.read_problem(folder)
    with pytest.raises(hetdp.InputError) as partitioned:
        read_inline(folder, tmp_path / "second", offsets=(0, 1, 3))
    assert str(partitioned.value) == str(whole.value)
    assert "edges.parquet row 4" in str(whole.value)
    problem, _ = hetdp.read_problem(folder, duplicates="min")
    with read_inline(folder, tmp_path / "third", duplicates="min", offsets=(0, 1, 3)) as (parts, _):
        assert parts.identity == problem.identity
        assert parts.graph.edge_count == problem.graph.edge_count == 3


def _write_edges(folder, rows: list[Row]) -> None:
    import duckdb

    table = ", ".join(
        f"({row.source}, {row.target}, {row.parameters[0]}::DOUBLE, {_literal(row.edge_class)})" for row in rows
    )
    query = f"SELECT * FROM (VALUES {table}) AS edges(source, target, epsilon, class)"
    duckdb.execute(f"COPY ({query}) TO '{folder / 'edges.parquet'}' (FORMAT parquet)")


def _literal(value) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
