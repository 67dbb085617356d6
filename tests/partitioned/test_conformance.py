"""Partitions change nothing: every value, proof and path is that of the CPU engine, for any partitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hetdp
from hetdp.partitioned.datasets import open_tables
from hetdp.partitioned.edges import chunks_of
from hetdp.partitioned.mechanism import PartitionedMechanism
from hetdp.releases.proof import prove
from tests.mechanism.verdict_trials import trials
from tests.partitioned.inline import coordinates, read_inline
from tests.partitioned.problems import LABELS, SHAPES, random_offsets, random_problem, rounded_pins
from tests.stress import mostly_long, stress, times


def has_same_bits(mechanism: PartitionedMechanism, other: hetdp.Mechanism) -> bool:
    return bool(np.array_equal(coordinates(mechanism).view(np.int64), other.coordinates.view(np.int64)))


def is_same_proof(certificate: hetdp.Certificate, other: hetdp.Certificate) -> bool:
    """True if two proofs agree; the gap may differ, since equally tight links may be chosen differently."""
    return replace(certificate, gap=0.0) == replace(other, gap=0.0) and certificate.gap < 2.0 * other.gap + 1e-15


@pytest.mark.parametrize(
    ("shape", "partitions"),
    mostly_long([(SHAPES[(count + more) % 4], count) for more in (0, 1) for count in (1, 2, 3, 8, 4, 5, 6, 7)], 4),
)
def test_extend_agrees_with_the_cpu_engine_for_any_partitions(tmp_path, shape, partitions):
    seed = 10 * partitions + SHAPES.index(shape)
    problem, pins = random_problem(seed, shape, LABELS[seed % 3])
    hetdp.save(problem, tmp_path / "problem", pins)
    whole = hetdp.extend(problem, pins, engine="cpu")
    offsets = random_offsets(np.random.default_rng(seed), problem.graph.size, partitions)
    twice = partitions % 2 == 0
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", offsets=offsets, twice=twice)
    mechanism = hetdp.extend(partitioned, given, engine="dask")
    assert has_same_bits(mechanism, whole)
    assert is_same_proof(mechanism.certificate, whole.certificate)
    assert mechanism.moved == whole.moved
    assert partitioned.identity == problem.identity
    assert (partitioned.graph.edge_count, partitioned.graph.arc_count) == (
        problem.graph.edge_count,
        problem.graph.arc_count,
    )
    for label in list(problem.labels.names)[::7]:
        path, other = mechanism.explain(label), whole.explain(label)
        assert mechanism[label] == whole[label]
        assert (path.bounds[-1], path.upper) == (other.bounds[-1], other.upper)
        assert_is_a_path(problem, path)


def assert_is_a_path(problem: hetdp.Problem, path: hetdp.BindingPath) -> None:
    """Each step follows an edge, with what it promises, to exactly the bound that it allows."""
    step = problem.notion.step
    for at, edge in enumerate(path.parameters):
        ends = [problem.graph.index(label) for label in path.datasets[at : at + 2]]
        between = problem.graph.edges_between(*ends)
        floored = problem.graph.neighbours(ends[0])
        used = list(zip(*(column[floored[0] == ends[1]].tolist() for column in floored[1]), strict=True))
        sign = 1.0 if path.upper else -1.0
        bounds = [step(sign * path.coordinates[at], *one) for one in used]
        assert min(bounds) == sign * path.coordinates[at + 1]
        assert (edge, path.classes[at]) == between[bounds.index(min(bounds))]


@pytest.mark.parametrize("notion", ["gaussian", "bounded-range", "directed", "approximate"])
def test_every_notion_is_extended_and_proved_on_partitions(tmp_path, notion):
    problem, pins = random_problem(5, "sparse", "text", notion=notion)
    hetdp.save(problem, tmp_path / "problem", pins)
    whole = hetdp.extend(problem, pins, engine="cpu")
    twice = notion == "approximate"
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", 5, twice=twice)
    mechanism = hetdp.extend(partitioned, given)
    assert has_same_bits(mechanism, whole)
    assert mechanism.certificate.optimal
    assert mechanism.certificate.worst_edge == whole.certificate.worst_edge
    assert mechanism.certificate.gap == pytest.approx(whole.certificate.gap, rel=1e-6)
    assert partitioned.identity == problem.identity


@pytest.mark.parametrize(
    ("partitions", "with_pins"), mostly_long([(6, True), (3, False), (1, False), (1, True), (3, True), (6, False)], 2)
)
def test_balanced_agrees_with_one_machine(tmp_path, partitions, with_pins):
    problem, pins = random_problem(partitions, "sparse", "text")
    kept = {label: z for label, z in zip(problem.labels.names, pins.z, strict=True) if z == z}
    some = hetdp.PartialMechanism(z=dict(list(kept.items())[:4])) if with_pins else None
    hetdp.save(problem, tmp_path / "problem")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", partitions, twice=not with_pins)
    whole = hetdp.design(problem, "balanced", some, engine="cpu")
    mechanism = hetdp.design(partitioned, "balanced", some)
    assert has_same_bits(mechanism, whole)
    assert is_same_proof(mechanism.certificate, whole.certificate)
    assert mechanism.objective == "balanced"


@pytest.mark.parametrize("seed", mostly_long(range(16), 5))
def test_fair_agrees_with_one_machine(tmp_path, seed):
    notion = ("pure", "directed", "approximate", "gaussian", "bounded-range")[seed % 5]
    problem, _ = random_problem(seed, SHAPES[seed % 4], LABELS[seed % 3], notion=notion)
    rng = np.random.default_rng(seed)
    if seed % 2:  # answers that touch nearly everywhere need the most turns
        problem = hetdp.Problem(problem.graph, rng.integers(1, 3, problem.graph.size), notion)
    some = None
    if seed % 3 == 0:
        chosen, names = hetdp.design(problem, "balanced"), problem.labels.names
        places = rng.choice(len(names), 4, replace=False).tolist()
        some = hetdp.PartialMechanism(z={names[at]: float(chosen.coordinates[at]) for at in places})
    hetdp.save(problem, tmp_path / "problem")
    offsets = random_offsets(rng, problem.graph.size, 1 + seed % 8)
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", offsets=offsets, twice=seed % 5 < 2)
    whole, mechanism = hetdp.design(problem, "fair", some, engine="cpu"), hetdp.design(partitioned, "fair", some)
    assert has_same_bits(mechanism, whole)
    assert is_same_proof(mechanism.certificate, whole.certificate)
    assert mechanism.objective == "fair"
    assert not list((tmp_path / "work").rglob("*fair*"))


def test_the_fair_search_takes_turns_as_long_as_answers_depend_on_each_other(tmp_path):
    """A ladder whose every label waits for the one before, on the other side: each turn settles one more pair."""
    size = 12
    graph = hetdp.DatasetGraph.from_edges(range(size - 1), range(1, size), [0.1 * 1.2**at for at in range(size - 1)])
    problem = hetdp.Problem(graph, [1, 2] * (size // 2))
    hetdp.save(problem, tmp_path / "problem")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", 4, twice=False)
    assert has_same_bits(hetdp.design(partitioned), hetdp.design(problem, engine="cpu"))
    assert (
        5 < partitioned.workers.ran["write_offers"] / len(partitioned.partitions) <= (size - 1) + 2
    )  # meetings, and a last look


def test_an_interrupt_leaves_no_second_copy_of_the_arcs(tmp_path, monkeypatch):
    problem, _ = random_problem(7, "sparse")
    hetdp.save(problem, tmp_path / "problem")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", 3)
    run = partitioned.workers.run

    def interrupt_task(task, *told):
        if task.__name__ == "keep_labels":
            raise KeyboardInterrupt
        return run(task, *told)

    monkeypatch.setattr(partitioned.workers, "run", interrupt_task)
    with pytest.raises(KeyboardInterrupt):
        hetdp.design(partitioned)
    assert partitioned.workers.ran["write_offers"]
    assert not list((tmp_path / "work").rglob("*fair*"))


def test_a_round_may_settle_no_further_value(tmp_path):
    """The example of docs/theory/partitions.md: two values, three turns, and a last look at the offers."""
    graph = hetdp.DatasetGraph.from_edges(range(3), range(1, 4), [0.2, 1.0, 1.1])
    problem = hetdp.Problem(graph, [2, 1, 2, 1])
    hetdp.save(problem, tmp_path / "problem")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", 1)
    whole = hetdp.design(problem, engine="cpu")
    assert has_same_bits(hetdp.design(partitioned), whole)
    assert len(set(np.abs(whole.coordinates))) == 2
    assert partitioned.workers.ran["write_offers"] == 4


@pytest.mark.parametrize("workers", [1, 3, 16, 1000])
def test_edges_are_distributed_in_few_tasks_for_any_number_of_partitions(tmp_path, workers):
    problem, _ = random_problem(2, "sparse", size=90)
    hetdp.save(problem, tmp_path / "problem")
    edges = open_tables(tmp_path / "problem").edges
    chunks = chunks_of(edges, workers)
    assert len(chunks) == min(workers, 16)
    assert [row for chunk in chunks for row in range(chunk.start, chunk.stop)] == list(range(edges.length))


@pytest.mark.parametrize("partitions", mostly_long([5, 1, 2], 1))
def test_pins_that_contradict_each_other_have_the_same_witness(tmp_path, partitions):
    size = 40
    graph = hetdp.DatasetGraph.from_edges(range(size - 1), range(1, size), 0.1)
    problem = hetdp.Problem(graph, [1] * 20 + [2] * 20)
    pins = {0: 0.999, 19: 0.6, 20: 0.58, 39: 1e-6}
    hetdp.save(problem, tmp_path / "problem", pins)
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", partitions)
    verdict, whole = hetdp.check(partitioned, given), hetdp.check(problem, pins)
    assert not verdict.compatible
    assert (verdict.moved, verdict.witness) == (whole.moved, whole.witness)
    assert verdict.repair is None
    with pytest.raises(hetdp.NoExtensionError) as refused:
        hetdp.extend(partitioned, given)
    assert refused.value.witness == whole.witness
    assert ".repair" not in str(refused.value)


@stress
@pytest.mark.parametrize("notion", mostly_long(["approximate", "directed", "pure"], 2))
def test_verdicts_are_those_of_one_machine_with_delta_next_to_1_too(tmp_path, notion):
    seen = set()
    for at, (problem, given) in enumerate(trials(17, times(6), notion)):
        hetdp.save(problem, tmp_path / f"problem-{at}")
        partitioned, _ = read_inline(tmp_path / f"problem-{at}", tmp_path / f"work-{at}", 2, twice=False)
        verdict, whole = hetdp.check(partitioned, given), hetdp.check(problem, given)
        assert (verdict.compatible, verdict.moved, verdict.witness) == (whole.compatible, whole.moved, whole.witness)
        if whole.compatible:
            found = hetdp.extend(partitioned, given)
            assert found.certificate.private
            assert found.certificate.optimal == hetdp.extend(problem, given, engine="cpu").certificate.optimal
        else:
            with pytest.raises(hetdp.NoExtensionError):
                hetdp.extend(partitioned, given)
        seen.add(whole.compatible)
    assert seen == {True, False} if notion == "approximate" else True in seen


def test_pins_that_miss_by_a_rounding_are_closed_as_on_one_machine(tmp_path):
    graph = hetdp.DatasetGraph.from_edges(range(9), range(1, 10), 0.1)
    problem = hetdp.Problem(graph, [1] * 5 + [2] * 5)
    pins = {4: 0.52, 5: 0.48, 0: 1.0 - 0.48 * np.exp(-0.4) + 1e-12}
    hetdp.save(problem, tmp_path / "problem", pins)
    whole = hetdp.extend(problem, pins, engine="cpu")
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", 4)
    mechanism = hetdp.extend(partitioned, given)
    assert has_same_bits(mechanism, whole)
    assert mechanism.moved == whole.moved


@pytest.mark.parametrize("notion", mostly_long(["pure", "directed", "approximate", "gaussian", "bounded-range"], 3))
def test_rounded_values_are_closed_as_on_one_machine(tmp_path, notion):
    moved = 0
    for seed in range(3):
        problem, pins = random_problem(seed, SHAPES[seed % 4], LABELS[seed % 3], notion=notion)
        given = rounded_pins(problem, pins)
        hetdp.save(problem, tmp_path / f"problem-{seed}")
        whole = hetdp.extend(problem, given, engine="cpu")
        partitioned, _ = read_inline(tmp_path / f"problem-{seed}", tmp_path / f"work-{seed}", 3, twice=seed == 0)
        mechanism = hetdp.extend(partitioned, given)
        assert has_same_bits(mechanism, whole)
        assert mechanism.moved == whole.moved
        assert is_same_proof(mechanism.certificate, whole.certificate)
        moved += whole.moved > 0.0
    assert moved


def test_values_may_be_given_by_label(tmp_path):
    problem, pins = random_problem(3, "grid", "text")
    hetdp.save(problem, tmp_path / "problem")
    given = {label: z for label, z in zip(problem.labels.names, pins.z, strict=True) if z == z}
    partitioned, none = read_inline(tmp_path / "problem", tmp_path / "work", 3)
    assert none.count == 0
    partial = hetdp.PartialMechanism(z=given)
    assert has_same_bits(hetdp.extend(partitioned, partial), hetdp.extend(problem, partial, engine="cpu"))
    with pytest.raises(hetdp.InputError, match="boundary dataset without p"):
        hetdp.extend(partitioned, none)
    with pytest.raises(hetdp.InputError, match=r"p\['nobody'\]: unknown dataset"):
        hetdp.extend(partitioned, {"nobody": 0.5})
    first = next(iter(given))
    with pytest.raises(hetdp.InputError, match=r"p out of range: 1\.5"):
        hetdp.extend(partitioned, {first: 1.5})
    with pytest.raises(hetdp.UsageError, match="a mapping from labels"):
        hetdp.extend(partitioned, [0.5])


def test_a_mechanism_that_is_not_private_is_refuted_with_the_same_worst_edge(tmp_path):
    problem, pins = random_problem(8, "sparse", "range")
    hetdp.save(problem, tmp_path / "problem", pins)
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", 4)
    mechanism = hetdp.extend(partitioned, given)
    for part in partitioned.partitions:
        z = part.copy(f"{mechanism.name}/z")
        z[::3] += 2.0
        part.save(f"{mechanism.name}/z", z)
    whole = hetdp.extend(problem, pins, engine="cpu")
    moved = np.concatenate([part.load(f"{mechanism.name}/z") for part in partitioned.partitions])
    other = hetdp.verify(problem, hetdp.PartialMechanism(z=moved))
    refuted = hetdp.verify(partitioned, mechanism)
    assert not refuted.private
    assert (refuted.worst_edge, refuted.violations) == (other.worst_edge, other.violations)
    assert whole.certificate.private


def test_links_that_hold_each_other_up_across_partitions_prove_nothing(tmp_path):
    graph = hetdp.DatasetGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], 0.0, datasets=range(6))
    problem = hetdp.Problem(graph, [1] * 6)
    hetdp.save(problem, tmp_path / "problem", {5: 0.5, 0: 0.5})
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", 3)
    mechanism = hetdp.extend(partitioned, given)
    assert mechanism.certificate.optimal
    for part, pinned, links in zip(
        partitioned.partitions, [[0, 0], [0, 0], [1, 1]], [[3, 0], [1, 2], [-1, -1]], strict=True
    ):
        part.save(f"{mechanism.name}/pinned", np.array(pinned, dtype=np.bool_))
        part.save(f"{mechanism.name}/links", np.array(links))
    assert hetdp.verify(partitioned, mechanism).shortfall == "links form a cycle (dataset 0)"


@pytest.mark.parametrize("labels", LABELS)
def test_a_mechanism_is_written_by_parts_and_read_by_anyone(tmp_path, labels):
    problem, pins = random_problem(4, "sparse", labels)
    hetdp.save(problem, tmp_path / "problem", pins)
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work", 4, twice=labels == "text")
    mechanism = hetdp.extend(partitioned, given)
    hetdp.save(mechanism, tmp_path / "saved")
    whole = hetdp.extend(problem, pins, engine="cpu")
    loaded = hetdp.read_mechanism(tmp_path / "saved", problem)
    assert has_same_bits(mechanism, whole)
    assert np.array_equal(loaded.coordinates, whole.coordinates)
    assert is_same_proof(hetdp.verify(problem, loaded), whole.certificate)
    again = hetdp.read_mechanism(tmp_path / "saved", partitioned)
    assert has_same_bits(again, whole)
    assert is_same_proof(hetdp.verify(partitioned, again), whole.certificate)
    hetdp.save(whole, tmp_path / "whole.parquet")
    assert hetdp.verify(partitioned, hetdp.read_mechanism(tmp_path / "whole.parquet", partitioned)).optimal
    label = problem.labels.names[3]
    assert again.explain(label).bounds[-1] == whole.explain(label).bounds[-1]


def test_other_objectives_engines_and_mechanisms_are_refused(tmp_path):
    problem, pins = random_problem(4, "path")
    hetdp.save(problem, tmp_path / "problem", pins)
    partitioned, given = read_inline(tmp_path / "problem", tmp_path / "work")
    with pytest.raises(hetdp.UsageError, match="a partitioned problem has the objectives fair and balanced"):
        hetdp.design(partitioned, "average")
    with pytest.raises(hetdp.UsageError, match="a prior or a largest error"):
        hetdp.design(partitioned, max_error=0.5)
    with pytest.raises(hetdp.UsageError, match="partitions are for the engine 'dask'"):
        hetdp.extend(partitioned, given, engine="cpu")
    with pytest.raises(hetdp.UsageError, match="read_partitioned"):
        hetdp.extend(problem, pins, engine="dask")
    with pytest.raises(hetdp.UsageError, match="made of it, or loaded with it"):
        hetdp.verify(partitioned, {0: 0.5})
    with pytest.raises(hetdp.UsageError, match="it is saved to a folder"):
        hetdp.save(hetdp.extend(partitioned, given), tmp_path / "m.parquet")


def test_a_partitioned_mechanism_is_a_mechanism(tmp_path, monkeypatch):
    graph = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], 1.0)
    problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2, "d": 2})
    pins = {"b": 0.7, "c": 0.3}
    hetdp.save(problem, tmp_path / "problem")
    partitioned, _ = read_inline(tmp_path / "problem", tmp_path / "work", 3)
    whole, mechanism = hetdp.extend(problem, pins), hetdp.extend(partitioned, pins)
    assert isinstance(whole, hetdp.Mechanism)
    assert isinstance(mechanism, hetdp.Mechanism)
    assert dict(mechanism) == dict(whole)
    assert mechanism == whole == mechanism == hetdp.extend(partitioned, pins)
    assert hash(mechanism) == hash(whole)
    assert mechanism != hetdp.extend(partitioned, pins | {"d": 0.2})
    assert "a" in mechanism
    assert "x" not in mechanism
    with pytest.raises(hetdp.UnknownDatasetError, match="did you mean 'a'"):
        mechanism["A"]
    assert hetdp.simulate(mechanism, "a", seed=1, runs=9).ones == hetdp.simulate(whole, "a", seed=1, runs=9).ones
    for verb, done in ((hetdp.plot, "drawn"), (prove, "released")):
        with pytest.raises(hetdp.UsageError, match=f"partitioned mechanism cannot be {done}; .* hetdp.read_mechanism"):
            verb(mechanism)
    assert mechanism.row("a") == whole.row("a")
    for name in ("coordinates", "pinned", "links", "probabilities", "errors"):
        assert getattr(mechanism, name).tolist() == getattr(whole, name).tolist()
    table, expected = mechanism.columns(), whole.columns()
    assert {name: list(column) for name, column in table.items()} == {n: list(c) for n, c in expected.items()}
    assert mechanism.node_attributes() == whole.node_attributes()
    assert np.concatenate(list(whole.blocks())).tolist() == coordinates(mechanism).tolist()
    monkeypatch.setattr("hetdp.partitioned.mechanism.MOST_VALUES", 3)
    with pytest.raises(hetdp.UsageError, match=r"all 4 values at once; at most 3 .* blocks\(\) reads them"):
        _ = hetdp.extend(partitioned, pins).coordinates
