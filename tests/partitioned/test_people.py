"""Problems of people in Parquet files, on partitions: the same labels, ε, identity, values and explanations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.partitioned import workspace
from tests.partitioned.inline import Inline, coordinates, read_inline
from tests.stress import mostly_long

MAJORITY = hetdp.questions.majority()
PEOPLE = {
    "votes": lambda: hetdp.spaces.votes(["Ann", "Bob", "Cyd"], MAJORITY, {"Ann": 0.1, "Bob": 0.3, "Cyd": 0.7}),
    "counts": lambda: hetdp.spaces.tallies({"a": 2}, MAJORITY, 0.7, ["yes", "no", "a,b"]),
    "mixed": lambda: hetdp.Problem(
        hetdp.DatasetGraph.from_edges(["3", 3, ("a", 1)], [3, ("a", 1), "["], [0.1, 0.3, math.inf]), [1, 2, 2, 1]
    ),
    "tallies": lambda: hetdp.spaces.tallies({"a": 4, "b": 2}, MAJORITY, {"a": 0.1, "b": 0.3}),
}


@pytest.mark.parametrize(
    ("partitions", "name"), mostly_long([(partitions, name) for partitions in (3, 1) for name in PEOPLE], 3)
)
def test_partitions_and_one_machine_agree(name, partitions, tmp_path):
    people = PEOPLE[name]()
    hetdp.save(people, tmp_path / "p", tables="parquet")
    whole, _ = hetdp.read_problem(tmp_path / "p")
    with read_inline(tmp_path / "p", tmp_path / "work", partitions, twice=name == "mixed") as (problem, _):
        assert problem.identity == whole.identity == people.identity
        names = list(people.labels.names)
        assert [problem.index(label) for label in names] == list(range(len(names)))
        given = {whole.boundary[0]: 0.5}
        for objective, pins in (("fair", None), ("balanced", None), ("fair", given)):
            here, there = hetdp.design(whole, objective, pins), hetdp.design(problem, objective, pins)
            assert np.array_equal(coordinates(there), here.coordinates)
            hetdp.save(there, tmp_path / "m")
            hetdp.save(here, tmp_path / "m.parquet")
            for loaded in (
                hetdp.read_mechanism(tmp_path / "m", people),
                hetdp.read_mechanism(tmp_path / "m.parquet", people),
            ):
                assert np.array_equal(loaded.coordinates, here.coordinates)
                assert np.array_equal(loaded.was_given, here.was_given)
                assert hetdp.verify(people, loaded).optimal
            both = hetdp.read_mechanism(tmp_path / "m", problem), hetdp.read_mechanism(tmp_path / "m.parquet", problem)
            middle = names[len(names) // 2]
            for mechanism, label in ((there, names[0]), (there, middle), *((loaded, middle) for loaded in both)):
                one, other = mechanism.explain(label), here.explain(label)
                assert str(one) == str(other)
                assert (one.origin, one.across) == (other.origin, other.across)


def test_the_command_line_finds_people_on_partitions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "start_runner", lambda *_: Inline(twice=False))
    hetdp.save(PEOPLE["tallies"](), "p")
    dask = ["--engine", "dask", "--partitions", "2"]
    assert main(["design", "p", "-o", "m", *dask]) == 0
    (tmp_path / "pins.csv").write_text('dataset,p\n"3,1",0.5\n')
    assert main(["design", "p", "-o", "given", "--pins", "pins.csv", *dask]) == 0
    capsys.readouterr()
    for mechanism in ("m", "given"):
        messages = []
        for engine in ([], dask):
            assert main(["explain", "p", "3,1", "4,2", "[0, 0]", "--mechanism", mechanism, "-q", *engine]) == 0
            messages.append(capsys.readouterr().out)
        assert messages[0] == messages[1]
        assert messages[0].startswith("p(3,1) = 0.5 is given" if mechanism == "given" else "p(3,1) = ")


def test_json_in_another_form_is_refused_on_partitions(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    hetdp.save(PEOPLE["tallies"](), tmp_path / "p")
    path = tmp_path / "p" / "datasets.parquet"
    table = pyarrow.parquet.read_table(path)
    cells = [cell.replace(", ", ",") for cell in table["dataset"].to_pylist()]
    pyarrow.parquet.write_table(table.set_column(0, "dataset", pa.array(cells)), path)
    assert hetdp.read_problem(tmp_path / "p").problem.identity == PEOPLE["tallies"]().identity
    with pytest.raises(hetdp.InputError, match="other JSON than, 15 times; on partitions, a label's JSON"):
        read_inline(tmp_path / "p", tmp_path / "work")
