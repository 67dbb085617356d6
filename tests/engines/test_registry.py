"""The choice of an engine, and the message if no engine supports a search."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.engines import registry
from hetdp.engines.registry import ENGINES, engine_for
from hetdp.problem.space import EdgeBlock
from hetdp.theory.approximate import DELTA
from hetdp.theory.pure import EPSILON, PURE
from tests.engines.growths import GRAPH_ENGINES

GRAPH = hetdp.DatasetGraph.from_edges([0], [1], 1.0)


class ComputedSpace:
    """A space of two neighbours that computes its edges and stores nothing."""

    size, arc_count = 2, 2

    def label(self, index):
        return index

    def index(self, label):
        return label

    def neighbours(self, index):
        return np.array([1 - index]), (np.array([0.5]),)

    def edge_blocks(self):
        yield EdgeBlock(np.array([0, 1]), np.array([1, 0]), (np.array([0.5, 0.5]),))


def test_engines_are_found_by_name():
    assert list(ENGINES) == ["cpu", "gpu", "product", "reference"]
    for name in GRAPH_ENGINES:
        assert engine_for(name, GRAPH, PURE, "grow").name == name
        assert engine_for(name, GRAPH, PURE, "settle").name == name


def test_an_engine_without_an_import_is_refused():
    with pytest.raises(hetdp.UsageError) as refused:
        registry._load("spark")
    assert str(refused.value) == "engine 'spark' has no import; every engine in ENGINES has one in `_load`."


def test_small_problems_do_not_wait_for_the_compiler():
    assert engine_for("auto", GRAPH, PURE, "grow").name == "reference"


def test_large_problems_are_compiled():
    size = registry.SMALL_SPACE // 2 + 2
    large = hetdp.DatasetGraph.from_edges(np.arange(size), np.arange(size) + 1, 1.0)
    assert large.arc_count > registry.SMALL_SPACE
    assert engine_for("auto", large, PURE, "grow").name == "cpu"


def test_the_next_engine_is_used_where_the_best_one_cannot_be(monkeypatch):
    monkeypatch.setattr(registry, "SMALL_SPACE", 0)
    assert engine_for("auto", ComputedSpace(), PURE, "grow").name == "reference"
    labels = (
        engine_for("auto", ComputedSpace(), PURE, "grow").grow(ComputedSpace(), PURE, np.array([0.0, np.inf])).labels
    )
    assert labels.tolist() == [0.0, 0.5]
    labels = engine_for("auto", ComputedSpace(), PURE, "settle").settle(ComputedSpace(), PURE, np.array([1, 2])).labels
    assert labels.tolist() == [PURE.meet(0.5)] * 2


def test_an_unknown_engine_is_refused():
    with pytest.raises(hetdp.UsageError) as refused:
        engine_for("spark", GRAPH, PURE, "grow")
    assert str(refused.value) == "unknown engine 'spark'; an engine is one of auto, cpu, gpu, product, reference, dask."


def test_the_engine_of_partitions_is_refused_in_memory():
    with pytest.raises(hetdp.UsageError) as refused:
        engine_for("dask", GRAPH, PURE, "grow")
    assert str(refused.value) == (
        "engine 'dask' on a DatasetGraph; it searches problems in partitions."
        " Hint: hetdp.read_partitioned reads one from a folder of Parquet files"
    )


UNSUPPORTED = {
    "a space that is not stored": (
        ("cpu", ComputedSpace(), PURE, "grow"),
        "engine 'cpu' cannot grow on a ComputedSpace under the notion 'pure'; ",
    ),
    "a notion with more parameters": (
        ("cpu", GRAPH, replace(PURE, name="other", columns=(EPSILON, DELTA)), "grow"),
        "engine 'cpu' cannot grow on a DatasetGraph under the notion 'other'; ",
    ),
    "the fair search on a space that is not stored": (
        ("cpu", ComputedSpace(), PURE, "settle"),
        "engine 'cpu' cannot settle on a ComputedSpace under the notion 'pure'; ",
    ),
}


@pytest.mark.parametrize(("asked", "message"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_unsupported_searches_are_refused(asked, message):
    with pytest.raises(hetdp.UsageError) as refused:
        engine_for(*asked)
    assert str(refused.value) == message + (
        "an engine must support the space, the notion and the operation. Hint: engine='auto' chooses one that does"
    )


@pytest.mark.jit_only
def test_the_reference_engine_loads_no_compiler():
    code = (
        "import sys, hetdp;"
        "g = hetdp.DatasetGraph.from_edges(['a'], ['b'], 1.0);"
        "hetdp.extend(hetdp.Problem(g, [1, 1]), {'a': 0.5});"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_device_is_tried_for_large_spaces_of_people_only(monkeypatch):
    monkeypatch.setattr(registry, "is_installed", lambda: True)
    monkeypatch.setattr(registry, "FEWEST_FOR_GPU", 4)
    people = [hetdp.spaces.votes(count, hetdp.questions.majority(), 1.0).graph for count in (1, 2, 3)]
    assert [registry._is_worth_a_gpu(space) for space in people] == [False, True, True]
    assert not registry._is_worth_a_gpu(hetdp.DatasetGraph.from_edges(range(5), range(1, 6), 1.0))
    monkeypatch.setattr(registry, "is_installed", lambda: False)
    assert not registry._is_worth_a_gpu(people[2])


def test_a_problem_of_the_limit_is_still_small(monkeypatch):
    monkeypatch.setattr(registry, "SMALL_SPACE", 2)
    monkeypatch.setattr(registry, "_takes_plain_path", lambda *_: False)
    assert engine_for("auto", GRAPH, PURE, "grow").name == "reference"
    monkeypatch.setattr(registry, "SMALL_SPACE", 1)
    assert engine_for("auto", GRAPH, PURE, "grow").name == "cpu"
