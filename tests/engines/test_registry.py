"""Which engine does the work, and what is said when none can."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.engines import registry
from hetdp.engines.registry import ENGINES, engine_for
from hetdp.theory.approximate import DELTA
from hetdp.theory.pure import EPSILON, PURE
from tests.engines.growths import GRAPH_ENGINES

GRAPH = hetdp.DatasetGraph.from_edges([0], [1], 1.0)


class Elsewhere:
    """A space that stores nothing: two neighbours, computed."""

    size, arc_count = 2, 2

    def label(self, index):
        return index

    def index(self, label):
        return label

    def neighbours(self, index):
        return np.array([1 - index]), (np.array([0.5]),)

    def edge_blocks(self):
        return iter(())


def test_engines_are_known_by_name():
    assert list(ENGINES) == ["cpu", "product", "reference"]
    for name in GRAPH_ENGINES:
        assert engine_for(name, GRAPH, PURE, "grow").name == name
        assert engine_for(name, GRAPH, PURE, "settle").name == name


def test_small_problems_do_not_wait_for_the_compiler():
    assert engine_for("auto", GRAPH, PURE, "grow").name == "reference"


def test_large_problems_are_compiled():
    size = registry.SMALL // 2 + 2
    large = hetdp.DatasetGraph.from_edges(np.arange(size), np.arange(size) + 1, 1.0)
    assert large.arc_count > registry.SMALL
    assert engine_for("auto", large, PURE, "grow").name == "cpu"


def test_where_the_best_engine_cannot_the_next_one_does(monkeypatch):
    monkeypatch.setattr(registry, "SMALL", 0)
    assert engine_for("auto", Elsewhere(), PURE, "grow").name == "reference"
    labels = engine_for("auto", Elsewhere(), PURE, "grow").grow(Elsewhere(), PURE, np.array([0.0, np.inf])).labels
    assert labels.tolist() == [0.0, 0.5]
    labels = engine_for("auto", Elsewhere(), PURE, "settle").settle(Elsewhere(), PURE, np.array([1, 2])).labels
    assert labels.tolist() == [PURE.meet(0.5)] * 2


def test_an_unknown_engine_is_refused():
    with pytest.raises(hetdp.UsageError) as refused:
        engine_for("spark", GRAPH, PURE, "grow")
    assert str(refused.value) == "unknown engine 'spark'; an engine is one of auto, cpu, product, reference, dask."


UNSUPPORTED = {
    "a space that is not stored": (
        ("cpu", Elsewhere(), PURE, "grow"),
        "engine 'cpu' cannot grow on a Elsewhere under the notion 'pure'; ",
    ),
    "a notion with more parameters": (
        ("cpu", GRAPH, replace(PURE, name="other", columns=(EPSILON, DELTA)), "grow"),
        "engine 'cpu' cannot grow on a DatasetGraph under the notion 'other'; ",
    ),
    "the fair search on a space that is not stored": (
        ("cpu", Elsewhere(), PURE, "settle"),
        "engine 'cpu' cannot settle on a Elsewhere under the notion 'pure'; ",
    ),
}


@pytest.mark.parametrize(("asked", "message"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_an_engine_cannot_do_is_refused(asked, message):
    with pytest.raises(hetdp.UsageError) as refused:
        engine_for(*asked)
    assert str(refused.value) == message + (
        "an engine must support the space, the notion and the operation. Hint: engine='auto' chooses one that does"
    )


def test_the_reference_engine_loads_no_compiler():
    code = (
        "import sys, hetdp;"
        "g = hetdp.DatasetGraph.from_edges(['a'], ['b'], 1.0);"
        "hetdp.extend(hetdp.Problem(g, [1, 1]), {'a': 0.5});"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
