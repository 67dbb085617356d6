"""Given values on partitions: those of the problem's own tables, or others by label, brought to their owners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import is_private_in_parts, verify
from hetdp.engines.contract import Role
from hetdp.errors import Fault, NoExtensionError, UnknownDatasetError, UsageError, VerificationError
from hetdp.mechanism.balanced import meets
from hetdp.mechanism.compatibility import NEAR_MISS, Limits, Verdict, Witness, drops, witness_of
from hetdp.partitioned.mechanism import PartitionedMechanism, path_of, trace
from hetdp.partitioned.partition import LocalGraph, Part
from hetdp.partitioned.problem import PartitionedPins, PartitionedProblem, Task, forget, require_dask
from hetdp.partitioned.rounds import Growth, grow
from hetdp.problem.columns import as_mapping
from hetdp.problem.faults import LISTED, FaultCollector
from hetdp.problem.grid import round_labels_down
from hetdp.problem.labels import Labels, similar_labels
from hetdp.problem.partial import PartialMechanism, pins_on
from hetdp.problem.problem import EdgelessProblem
from hetdp.problem.space import Floats
from hetdp.problem.spelling import shorten_label
from hetdp.problem.values import PIN, order_values
from hetdp.text import format_value
from hetdp.theory.catalogue import notion_of_key

OWN = "pins"  # the array of a problem's own values
KEYS = ("p", "z", "error")


class Listed:
    """Labels that values are given for, by their place in the list; what names no dataset is not among them."""

    def __init__(self, labels: list[Any], numbers: Any, known: Labels) -> None:
        self.names: Any = labels
        self._known = known
        self._places = {label: at for at, label in enumerate(labels) if numbers[at] >= 0}

    def index(self, label: Any) -> int:
        """The place of one label."""
        if label not in self._places:
            raise UnknownDatasetError(label, similar_labels(label, self._known))
        return self._places[label]

    def indices(self, labels: Any) -> Any:
        """The places of some."""
        return np.array([self._places.get(label, -1) for label in labels], dtype=np.int64)


def pins_named(problem: PartitionedProblem, partial: Any, name: str) -> str:
    """The name of the pins that are meant; values by label are written under a name of their own."""
    if isinstance(partial, PartitionedPins):
        if partial.work != problem.work:
            rule = "values from the tables of a partitioned problem are for that problem"
            raise UsageError("the values of another problem", rule, "give values by label, or those that came with it")
        return OWN
    if not isinstance(partial, PartialMechanism):
        partial = PartialMechanism(p=partial)
    given = {key: getattr(partial, key) for key in KEYS if getattr(partial, key) is not None}
    columns: dict[str, Any] = {key: as_mapping(values) for key, values in given.items()}
    for key, values in columns.items():
        if values is None:
            rule = "values for a partitioned problem are in its own tables, or a mapping from labels"
            raise UsageError(f"{key}={format_value(given[key])}", rule)
    labels = list(dict.fromkeys(label for values in columns.values() for label in values))
    numbers = np.asarray(problem.names.indices(labels), dtype=np.int64)
    listed = Listed(labels, numbers, problem.labels)
    pins_on(EdgelessProblem(listed, np.ones(len(labels), dtype=np.int8), problem.notion, ""), partial)  # or a refusal
    findings = FaultCollector("partial mechanism")
    order = np.argsort(numbers, kind="stable")
    numbered = {key: order_values(key, values, listed, PIN, findings)[order] for key, values in columns.items()}
    problem.run(write_pins, numbers[order], numbered, name, problem.notion.key)
    return name


def write_pins(part: Part, numbers: Any, numbered: dict[str, Any], name: str, notion: str) -> None:
    """Writes the values that are given on a partition's own datasets."""
    low, high = np.searchsorted(numbers, [part.first, part.first + part.size])
    own = numbers[low:high] - part.first
    coordinate, answers, pins = notion_of_key(notion).coordinate, part.load("answers")[own], np.full(part.size, np.nan)
    for key, values in numbered.items():
        column = values[low:high]
        given = ~np.isnan(column)
        z = column if key == "z" else coordinate.from_probability(column)
        z = coordinate.from_error(column, answers) if key == "error" else z
        pins[own[given]] = z[given] + 0.0
    part.save(name, pins)


def boundary_counts(part: Part, name: str) -> tuple[int, int]:
    """How many datasets of a partition's boundary have no value, and how many datasets the boundary has."""
    boundary = part.load("boundary")
    return int(np.count_nonzero(boundary & np.isnan(part.load(name)))), int(np.count_nonzero(boundary))


# Where searches over partitions begin: start labels and roles, written by each partition for its own datasets.


def start_extension(part: Part, search: str, pins: str) -> None:
    """One search over both answers, from all pins, as `extension.search_from` has it."""
    z, answers = part.load(pins), part.load("answers")
    ones, pinned = answers == 1, ~np.isnan(z)
    part.save(f"{search}/start", np.where(pinned, np.where(ones, z, -z), np.inf))
    roles = np.where(pinned, Role.PINNED, np.where(ones, Role.FREE_1, Role.FREE_2))
    part.save(f"{search}/roles", roles.astype(np.uint8))


def start_closing(part: Part, search: str, pins: str, sign: float) -> None:
    """Over all edges from all pins: what the greatest compatible values below (or, with −1, above) come from."""
    z = part.load(pins)
    part.save(f"{search}/start", np.where(np.isnan(z), np.inf, sign * z))


def start_balanced(part: Part, search: str, notion: str, gridded: bool) -> None:
    """Over all edges from where two meet, at both ends of every edge between the answers."""
    graph = LocalGraph(part)
    answers = graph.gather("answers")
    start = np.full(graph.size, np.inf)
    meets(graph.edge_blocks(), answers, notion_of_key(notion), start)
    part.save(f"{search}/start", round_labels_down(start[graph.own]) if gridded else start[graph.own])


# What a search over partitions leaves: values and links of a mechanism, and how far pins were moved.


FALLEN = 100  # pins that a partition tells of at a time
Searches = dict[str, tuple[int, ...]]  # by name; for each partition, the round in which it was last at work


def labels_of(part: Part, search: str, latest: int) -> Floats:
    """The labels that a search found at a partition's own datasets."""
    found: Floats = part.load(f"{search}/labels-{latest}")[LocalGraph(part).own]
    return found


def links_of(part: Part, search: str, latest: int) -> Any:
    """The links, as numbers of datasets."""
    graph = LocalGraph(part)
    return graph.numbers(part.load(f"{search}/links-{latest}")[graph.own])


def finish_extension(part: Part, search: str, latest: int, pins: str, name: str) -> float:
    """Writes the mechanism that one search found; returns how far a pin was contradicted, at most."""
    z, answers, labels = part.load(pins), part.load("answers"), labels_of(part, search, latest)
    ones, pinned = answers == 1, ~np.isnan(z)
    part.save(f"{name}/z", np.where(pinned, z, np.where(ones, labels, -labels)) + 0.0)
    part.save(f"{name}/pinned", pinned)
    part.save(f"{name}/links", np.where(pinned, -1, links_of(part, search, latest)))
    return float(np.max(drops(part.load(f"{search}/start"), labels)[pinned], initial=0.0))


def finish_closing(part: Part, search: str, latest: int, pins: str, sign: float, name: str) -> None:
    """Writes pins closed by a search."""
    closed = sign * labels_of(part, search, latest)
    part.save(name, np.where(np.isnan(part.load(pins)), np.nan, closed))


def worst_drop(part: Part, search: str, latest: int, given: str) -> float:
    """How far a search from all pins lowered a given one, at most."""
    return float(np.max(drops(part.load(given), labels_of(part, search, latest)), initial=0.0))


def fallen_pins(
    part: Part, search: str, latest: int, given: str, least: float, skipped: int
) -> list[tuple[float, int]]:
    """The next pins that a search lowered by more than that, and how far: those that fell furthest come first."""
    moves = drops(part.load(given), labels_of(part, search, latest))
    fallen = np.flatnonzero(moves > least)
    next_ones = fallen[np.argsort(-moves[fallen], kind="stable")][skipped : skipped + FALLEN]
    return list(zip(moves[next_ones].tolist(), (part.first + next_ones).tolist(), strict=True))


def moved_from(part: Part, given: str, pins: str) -> float:
    """How far pins were moved from the given ones, at most."""
    one, other = part.load(given), part.load(pins)
    return float(np.max(np.maximum(drops(one, other), drops(-one, -other)), initial=0.0))


def finish_balanced(part: Part, search: str, latest: int, name: str, given: str | None, limits: Searches) -> None:
    """Writes the boundary values of the balanced mechanism, moved to where given values allow it."""
    labels = labels_of(part, search, latest)
    z = np.where(part.load("answers") == 1, labels, -labels) + 0.0
    part.save(name, chosen(part, Limits.of(*found_by(part, limits)).between(z) if limits else z, given))


def found_by(part: Part, searches: Searches) -> list[Floats]:
    """The labels that several searches found at a partition's own datasets."""
    return [labels_of(part, search, latest[part.number]) for search, latest in searches.items()]


def chosen(part: Part, z: Floats, given: str | None) -> Floats:
    """Values for the boundary, beside those that are given."""
    found = np.where(part.load("boundary"), z, np.nan)
    return found if given is None else np.where(np.isnan(part.load(given)), found, part.load(given))


def finish_witness(part: Part, search: str, latest: int, name: str) -> None:
    """Writes labels and links of a search as a path through them needs them."""
    part.save(f"{name}/z", labels_of(part, search, latest))
    part.save(f"{name}/links", links_of(part, search, latest))


def free_boundary(part: Part, pins: str) -> tuple[list[int], int]:
    """The first datasets of the boundary without a value, and how many there are."""
    free = np.flatnonzero(part.load("boundary") & np.isnan(part.load(pins)))
    return (free[:LISTED] + part.first).tolist(), len(free)


def boundary_fault(label: str) -> Fault:
    """A boundary dataset without a value."""
    rule = "every dataset with a neighbour of the other answer has a value"
    return Fault(
        "boundary dataset without p", f"dataset {label}", "", rule, "hetdp.design chooses values where there are none"
    )


# extend and check on partitions: the steps of `extension` and `compatibility`, each a task for every partition.


TURNS = 4  # of closing downward and upward, as on one machine


def extend_parts(
    problem: PartitionedProblem, partial: Any, engine: str = "dask", attach: bool = True
) -> PartitionedMechanism:
    """Extends p from the pinned datasets to all; see `extend`."""
    require_dask(engine)
    name = problem.new_name("extend")
    return extend_named(problem, pins_named(problem, partial, f"{name}-given"), name, attach)


def extend_named(problem: PartitionedProblem, given: str, name: str, attach: bool = True) -> PartitionedMechanism:
    """The same for pins that lie in the work folder."""
    _refuse_free_boundary(problem, given)
    pins = given
    for turn, upward in enumerate((False, True) * TURNS):
        mechanism, fits = _from_pins(problem, pins, f"{name}-{turn}", attach)
        if fits:
            return replace(mechanism, moved=max(problem.run(moved_from, given, pins)))
        progress.report_stage("searching again, from closed pins")
        pins = _close(problem, given, pins, f"{name}-closed-{turn}", upward)
    mechanism, _ = _from_pins(problem, pins, f"{name}-last", attach)
    raise VerificationError(verify(problem, mechanism))


def _from_pins(problem: PartitionedProblem, pins: str, name: str, attach: bool) -> tuple[PartitionedMechanism, bool]:
    """The extension by one search over both answers, and whether the pins bear it."""
    growth = grow(problem, f"{name}-search", start_extension, pins, with_roles=True)
    fell = max(after(problem, growth, finish_extension, pins, name))
    forget(problem, growth.search)
    mechanism = PartitionedMechanism(problem, name, rounds=growth.rounds, told=tuple(growth.told))
    if fell > NEAR_MISS:
        return mechanism, False
    progress.report_stage("proving every edge")
    if attach or fell > 0.0:
        proof = verify(problem, mechanism)
        return replace(mechanism, certificate=proof), proof.private and (proof.optimal or fell == 0.0)
    return mechanism, is_private_in_parts(problem, name)


def _close(problem: PartitionedProblem, given: str, pins: str, name: str, upward: bool) -> str:
    """Pins that miss by a rounding, moved to where they fit."""
    sign = -1.0 if upward else 1.0
    growth = grow(problem, f"{name}-search", start_closing, pins, sign)
    if not upward and max(after(problem, growth, worst_drop, given)) > NEAR_MISS:
        verdict = judge_parts(problem, given, f"{name}-verdict")
        if not verdict.compatible:
            raise NoExtensionError(verdict.witness, verdict.repair)
    after(problem, growth, finish_closing, pins, sign, name)
    forget(problem, growth.search)
    return name


def check_parts(problem: PartitionedProblem, partial: Any, engine: str = "dask") -> Verdict:
    """Decides whether a private mechanism with these values exists; see `check`."""
    require_dask(engine)
    name = problem.new_name("check")
    return judge_parts(problem, pins_named(problem, partial, f"{name}-given"), name)


def judge_parts(problem: PartitionedProblem, given: str, name: str) -> Verdict:
    """The verdict on pins: one growth from all of them over all edges. There is a witness, but no repair."""
    growth = grow(problem, f"{name}-search", start_closing, given, 1.0)
    moved = max(after(problem, growth, worst_drop, given))
    witness = None
    if moved > NEAR_MISS:
        after(problem, growth, finish_witness, name)
        witness = _first_witness(problem, growth, given, name)
    forget(problem, growth.search)
    return Verdict(witness is None, moved, witness)


def _first_witness(problem: PartitionedProblem, growth: Growth, given: str, name: str) -> Witness | None:
    """The first witness that is exactly right, from the pin that fell furthest on; None if there is none."""
    seen = 0
    while found := [one for some in after(problem, growth, fallen_pins, given, NEAR_MISS, seen) for one in some]:
        for _, number in sorted(found, key=lambda one: (-one[0], one[1])):
            witness = _witness(problem, given, name, number)
            if witness is not None:
                return witness
        seen += FALLEN
    return None


def _witness(problem: PartitionedProblem, given: str, name: str, number: int) -> Witness | None:
    """The chain to a pin that fell, cut at the first pin on it that the chain's start contradicts; None if none is."""
    steps = trace(problem, name, given, number)
    for end in [at for at, step in enumerate(steps) if step.pin - step.z > NEAR_MISS]:
        path = path_of(problem, steps[: end + 1], [step.z for step in steps[: end + 1]], upper=True)
        found = witness_of(path, steps[end].pin, problem.notion)
        if found is not None:
            return found
    return None


def after(problem: PartitionedProblem, growth: Growth, task: Task, *arguments: Any) -> list[Any]:
    """The results of a task on what a search left in every partition."""
    items = [(part, growth.search, growth.latest[part.number], *arguments) for part in problem.parts]
    return problem.workers.run(task, items)


def _refuse_free_boundary(problem: PartitionedProblem, pins: str) -> None:
    findings = FaultCollector("partial mechanism")
    found = problem.run(free_boundary, pins)
    numbers = [number for some, _ in found for number in some][:1000]
    for label in problem.names.labels(numbers):
        findings.add(boundary_fault(shorten_label(label, problem.labels)))
    findings.total += sum(total for _, total in found) - len(numbers)
    findings.raise_if_any()
