"""The partial mechanism: p given on some datasets, the pins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.errors import Fault, shown
from hetdp.problem.columns import by_label, column, numbers
from hetdp.problem.findings import Findings
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats
from hetdp.problem.validation import PROBABILITY_RULE


@dataclass(frozen=True)
class PartialMechanism:
    """Pins, each given as p, as z or as error; a mapping label → number, or an array with NaN where not given.

    Attributes:
        p: Pr[answer 1].
        z: the Laplace coordinate of p, which loses nothing.
        error: the probability of the wrong answer, for pins so good that p would round to 1.

    Paper: the partial function p: S → [0, 1] of Section IV.

    >>> PartialMechanism(p={"a": 0.5}, error={"b": 1e-30})
    PartialMechanism(p={'a': 0.5}, z=None, error={'b': 1e-30})
    """

    p: Any = None
    z: Any = None
    error: Any = None


def pins_of(partial: Any, problem: Problem) -> Floats:
    """The pins as coordinates in graph order, NaN where a dataset is free."""
    require_problem(problem)
    if not isinstance(partial, PartialMechanism):
        partial = PartialMechanism(p=partial)
    findings = Findings("partial mechanism")
    pins = np.full(problem.graph.size, np.nan)
    for name in ("p", "z", "error"):
        given = getattr(partial, name)
        if given is not None:
            _enter(name, _in_order(name, given, problem, findings), pins, problem, findings)
    findings.raise_if_any()
    return pins


def _in_order(name: str, given: Any, problem: Problem, findings: Findings) -> Floats:
    """One column in graph order, NaN where not given."""
    graph = problem.graph
    labelled = by_label(given)
    if labelled is None:
        values = column(name, given, findings)
        if len(values) != graph.size:
            value = f"{len(values)} for {graph.size} datasets"
            rule = "an array has one entry for each dataset, in graph order, NaN where not given"
            findings.add(Fault("wrong number of pins", name, value, rule))
            findings.raise_if_any()
        return _numbers(name, values, graph.datasets, findings)
    labels = list(labelled)
    where = graph.indices(labels)
    rule = "only datasets of the graph can be pinned"
    findings.add_where(where < 0, lambda at: Fault("unknown dataset", f"{name}[{shown(labels[at])}]", "", rule))
    values = _numbers(name, list(labelled.values()), labels, findings)
    rule = "a pin is a number; leave free datasets out of the mapping"
    findings.add_where(np.isnan(values), lambda at: Fault("missing value", f"{name}[{shown(labels[at])}]", "nan", rule))
    in_order = np.full(graph.size, np.nan)
    in_order[where[where >= 0]] = values[where >= 0]
    return in_order


def _numbers(name: str, values: Any, labels: Any, findings: Findings) -> Floats:
    return numbers(values, lambda at: f"{name}[{shown(labels[at])}]", "non-numeric pin", "a pin is a number", findings)


def _enter(name: str, values: Floats, pins: Floats, problem: Problem, findings: Findings) -> None:
    given = ~np.isnan(values)
    label = problem.graph.label
    rule = "a dataset is pinned once, as p, as z or as error"
    findings.add_where(
        given & ~np.isnan(pins), lambda at: Fault("pinned twice", f"dataset {shown(label(at))}", "", rule)
    )
    if name == "z":
        pins[given] = values[given] + 0.0
        return
    outside = given & ~((values >= 0.0) & (values <= 1.0))
    rule = PROBABILITY_RULE
    findings.add_where(
        outside, lambda at: Fault(f"{name} out of range:", f"dataset {shown(label(at))}", repr(float(values[at])), rule)
    )
    given &= ~outside
    if name == "p":
        pins[given] = problem.notion.coordinate.from_probability(values[given])
    else:
        pins[given] = problem.notion.coordinate.from_error(values[given], problem.answers[given])
