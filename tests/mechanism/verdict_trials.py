"""Random problems with given values for check and extend; `python -m tests.mechanism.verdict_trials N` tries N.

Values are given at random, or taken from designs and extensions so that they are exactly as good as privacy allows, in
z or rounded to p; with δ next to 1, ε of 0 and ∞, and p of exactly 0 and 1.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb, ctx

import hetdp
from hetdp.precision import restore_precision
from tests.mechanism.average_trials import NOTIONS

BITS = 4000


def trials(seed: int, count: int, notion: Any) -> Iterator[tuple[hetdp.Problem, Any]]:
    """Random problems, each with values for its boundary."""
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        problem = random_problem(rng, notion)
        given = random_values(rng, problem)
        if given is not None:
            yield problem, given


def random_problem(rng: np.random.Generator, notion: Any) -> hetdp.Problem:
    """A connected graph of 2 to 7 datasets."""
    size = int(rng.integers(2, 8))
    pairs = {(int(rng.integers(0, v)), v) for v in range(1, size)}
    pairs |= {(min(pair), max(pair)) for pair in rng.integers(0, size, (int(rng.integers(0, size)), 2)).tolist()}
    source, target = zip(*sorted((u, v) for u, v in pairs if u != v), strict=True)
    count = len(source)

    def epsilons() -> Any:
        some = rng.exponential(1.0, count)
        return np.where(rng.random(count) < 0.5, some, rng.choice([0.0, math.inf, 0.1, 1.0, 20.0], count))

    def deltas() -> Any:
        near_1 = 1.0 - 10.0 ** -rng.uniform(0, 16, count)
        return np.where(rng.random(count) < 0.7, near_1, rng.choice([0.0, 1e-6, 0.1, 0.5, 1.0], count))

    parameters = {"mu" if notion == "gaussian" else "epsilon": epsilons()}
    if notion in ("directed", "approximate"):
        parameters["epsilon_back"] = epsilons()
    if notion == "approximate":
        parameters |= {"delta": deltas(), "delta_back": deltas()}
    graph = hetdp.DatasetGraph.from_edges(source, target, datasets=range(size), **parameters)
    return hetdp.Problem(graph, rng.integers(1, 3, size).tolist(), notion)


def random_values(rng: np.random.Generator, problem: hetdp.Problem) -> Any:
    """Values for the boundary and some others; None if there is no boundary."""
    boundary, size = problem.boundary_mask, problem.graph.size
    chosen = [v for v in range(size) if boundary[v] or rng.random() < 0.4]
    if not boundary.any():
        return None

    def any_p() -> float:
        tail = 10.0 ** -rng.uniform(0, 17)
        return float(rng.choice([0.0, 1.0, rng.random(), tail, 1.0 - tail]))

    way = int(rng.integers(0, 4))
    if way == 0:
        return {v: any_p() for v in chosen}
    objective: Any = ("fair", "balanced")[int(rng.integers(0, 2))]
    found = hetdp.design(problem, objective, engine="reference")
    if way == 1:
        return {v: found[v] for v in chosen}
    if way == 2:
        try:
            given = {v: any_p() for v in np.flatnonzero(boundary).tolist()}
            found = hetdp.extend(problem, given, engine="reference")
        except hetdp.NoExtensionError:
            pass
    return hetdp.PartialMechanism(z={v: float(found.coordinates[v]) for v in chosen})


def run_trial(problem: hetdp.Problem, given: Any) -> tuple[bool, bool, bool]:
    """Whether check says compatible, whether extend succeeds with a proof, and whether a witness is right."""
    verdict = hetdp.check(problem, given, engine="reference")
    try:
        found = hetdp.extend(problem, given, engine="reference")
        extends = found.certificate is not None and found.certificate.private
    except hetdp.NoExtensionError as refusal:
        if str(refusal.witness) != str(verdict.witness):
            raise
        extends = False
    right = verdict.witness is None or is_witness_right(problem, given, verdict.witness)
    return verdict.compatible, extends, right


def is_witness_right(problem: hetdp.Problem, given: Any, witness: Any) -> bool:
    """Whether the bound along the witness's path, computed anew from the definitions, is below the given value."""
    path, notion = witness.path, problem.notion.name
    partial = given if isinstance(given, hetdp.PartialMechanism) else hetdp.PartialMechanism(p=given)
    if partial.z is None:
        values = problem.notion.coordinate.from_probability([partial.p[path.datasets[at]] for at in (0, -1)])
    else:
        values = np.array([partial.z[path.datasets[at]] for at in (0, -1)])
    first, last = values.tolist()
    assert first == path.coordinates[0]
    if notion in ("gaussian", "bounded-range"):
        return bool(math.fsum([first, *path.epsilons, -last]) < 0.0)
    with restore_precision(ctx):
        ctx.prec = BITS
        top, asked = _p(first), _p(last)
        for step in path.parameters:
            forth = step["epsilon"]
            back, delta = step.get("epsilon_back", forth), step.get("delta", 0.0)
            terms = [arb(1)]
            if back < math.inf:
                terms.append(arb(back).exp() * top + step.get("delta_back", delta))
            if forth < math.inf:
                terms.append(1 - (-arb(forth)).exp() * (1 - top - delta))
            top = terms[0]
            for term in terms[1:]:
                top = top.min(term)
        return bool(top < asked)


def _p(z: float) -> arb:
    if math.isinf(z):
        return arb(1 if z > 0.0 else 0)
    return arb(z).exp() / 2 if z <= 0.0 else 1 - arb(-z).exp() / 2


def main(count: int) -> None:
    """Prints a line for each notion."""
    for notion in NOTIONS:
        found = Counter(run_trial(*trial) for trial in trials(16, count, notion))
        differ = sum(many for (checked, extends, _), many in found.items() if checked != extends)
        wrong = sum(many for (_, _, right), many in found.items() if not right)
        yes = sum(many for (checked, _, _), many in found.items() if checked)
        sys.stdout.write(
            f"{notion}: {found.total()} cases, {yes} compatible; check and extend differ: {differ};"
            f" witnesses that are wrong: {wrong}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
