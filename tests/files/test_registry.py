"""The registry of formats determines what readers and writers accept."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.files.formats import registry

PROBLEM = hetdp.Problem(hetdp.DatasetGraph.from_edges([("a", "b", 0.5)]), {"a": 1, "b": 2})


@pytest.mark.parametrize("suffix", registry.FORMATS)
def test_a_new_format_is_one_line(suffix, tmp_path, monkeypatch):
    monkeypatch.setitem(registry.FORMATS, ".new", registry.FORMATS[suffix])
    monkeypatch.setattr(registry, "SUFFIXES", (*registry.SUFFIXES, ".new"))
    mechanism = hetdp.design(PROBLEM)
    if suffix == ".parquet":
        hetdp.save(PROBLEM, tmp_path / "problem", tables="new")
        assert hetdp.read_problem(tmp_path / "problem").problem.identity == PROBLEM.identity
    hetdp.save(mechanism, tmp_path / "m.new")
    assert dict(hetdp.read_mechanism(tmp_path / "m.new", PROBLEM)) == dict(mechanism)
