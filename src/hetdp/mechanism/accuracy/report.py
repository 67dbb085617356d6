"""accuracy: how accurate mechanisms and baselines are, computed exactly before any budget is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.certificate.certificate import Claim, verify
from hetdp.engines.registry import EngineName
from hetdp.errors import Fault, InputError, NoExtensionError, UsageError
from hetdp.mechanism import design as designing
from hetdp.mechanism.accuracy.baselines import BaselineSetting, baselines_on
from hetdp.mechanism.accuracy.measures import (
    AtSteps,
    Levels,
    Method,
    WhereDeciding,
    deciders_of,
    measure,
    steps_to_the_other_answer,
)
from hetdp.mechanism.accuracy.tables import (
    Comparison,
    compare,
    csv_text,
    latex_lines,
    long_columns,
    table_rows,
    text_lines,
)
from hetdp.mechanism.design import ObjectiveName, prior_of
from hetdp.mechanism.extension import extend
from hetdp.mechanism.formatting import accuracy_of
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism, seal
from hetdp.mechanism.resident import ResidentMechanism
from hetdp.mechanism.verification import problem_and_values
from hetdp.problem.partial import PartialMechanism, values_on
from hetdp.problem.problem import Problem, require_problem
from hetdp.problem.space import Floats
from hetdp.text import did_you_mean, format_value, html_table, pluralize

AVERAGE = "average"  # the one objective that needs the prior
DEFAULT_NAME = "mechanism"
FEW, MANY = 1_000, 30_000  # most datasets for an average within seconds, by tangents and by rows


def objectives_of(wanted: Any, problem: Problem) -> tuple[ObjectiveName, ...]:
    """The objectives to compare: one, several, or all except an average that would take minutes."""
    if wanted is None:
        most = MANY if problem.notion.curve is None else FEW
        return tuple(name for name in designing.OBJECTIVES if name != AVERAGE or problem.graph.size <= most)
    names = (wanted,) if isinstance(wanted, str) or not isinstance(wanted, Iterable) else tuple(wanted)
    if not names:
        raise UsageError("no objective", designing.OBJECTIVE_RULE)
    return tuple(dict.fromkeys(map(designing.require_objective, names)))


def design_for(problem: Problem, objective: ObjectiveName, weights: Floats, engine: EngineName) -> LocalMechanism:
    """The mechanism that an objective designs."""
    options: dict[str, Any] = {"prior": weights} if objective == AVERAGE else {}
    return designing.design_local(problem, objective, engine=engine, **options)


def by_name(given: Any) -> list[tuple[str, Any]]:
    """The given mechanisms with their names, from one mechanism or a mapping of several."""
    if isinstance(given, Mechanism):
        return [(given.objective, given)]
    if isinstance(given, str) or (isinstance(given, list | tuple) and given and isinstance(given[0], str)):
        rule = "values are a mechanism, one value for each dataset, or several of these by name"
        raise UsageError(f"values={format_value(given)}", rule, "objectives= names what is designed")
    if isinstance(given, Mapping) and any(map(_holds_values, given.values())):
        return [(str(name), each) for name, each in given.items()]
    return [(DEFAULT_NAME, given)]


def _holds_values(value: Any) -> bool:
    return isinstance(value, (Mechanism, PartialMechanism)) or (
        hasattr(value, "__len__") and not isinstance(value, str)
    )


def prove_private(problem: Problem, name: str, given: Any, engine: EngineName) -> LocalMechanism:
    """A given mechanism, proved private on this problem; values that miss by rounding are closed.

    Raises:
        InputError: it is not private.
    """
    if isinstance(given, LocalMechanism) and given.problem is problem and given.is_as_proved:
        return given
    certificate = verify(problem, given)
    z = np.array(given.coordinates, dtype=np.float64) if isinstance(given, Claim) else values_on(problem, given)
    if certificate.private:
        if isinstance(given, LocalMechanism):
            return replace(given, problem=problem, certificate=certificate)
        size = problem.graph.size
        pinned, links = np.zeros(size, dtype=np.bool_), np.full(size, -1)
        return LocalMechanism(problem, z, pinned, links, certificate=certificate, objective=name)
    try:
        return seal(replace(extend(problem, PartialMechanism(z=z), engine), objective=name))
    except NoExtensionError:
        rule = "only a private mechanism has an accuracy worth comparing"
        fault = Fault("not private:", f"mechanism {name!r}", certificate.violated, rule)
        raise InputError("accuracy", [fault]) from None


@dataclass(frozen=True, eq=False)
class Accuracy:
    """The accuracy of mechanisms and baselines; ``str`` of it is the table.

    Attributes:
        methods: one entry per mechanism, then one per baseline. Each has `name`, `baseline` (true or false),
            `mechanism`, `worst_accuracy`, `worst_error`, `worst_at`, `mean_accuracy`, `mean_error`, and `by_steps`:
            a list with `steps` (None where no path leads to the other answer), `datasets`, `worst_error` and
            `mean_error` (None where the prior gives no weight); and `by_class`, with `edge_class` in place of
            `steps`: where one change of the class decides.
        comparisons: baselines that tie with a mechanism or beat it; each has `baseline`, `outcome`, `method`,
            `measures` and `steps`, and is a sentence as text.
        prior: the prior of the means: "uniform", "weight" (the problem's own weights) or "given".
        threshold: True if the query is a threshold along the graph: every edge changes the signed number of steps to
            the other answer by exactly one.

    ``result["fair"]`` is one method.
    """

    methods: tuple[Method, ...]
    comparisons: tuple[Comparison, ...]
    prior: str
    threshold: bool

    def __getitem__(self, name: str) -> Method:
        """The method with a name."""
        for method in self.methods:
            if method.name == name:
                return method
        known = [method.name for method in self.methods]
        rule = f"the methods are {', '.join(map(repr, known))}"
        raise UsageError(f"there is no method {format_value(name)}", rule, did_you_mean(name, known))

    def __str__(self) -> str:
        return "\n".join(text_lines(self.methods, self.comparisons, self.prior))

    def __repr__(self) -> str:
        ours = [method.name for method in self.methods if not method.baseline]
        others = len(self.methods) - len(ours)
        beside = f" beside {pluralize(others, 'baseline')}" if others else ""
        return f"Accuracy({', '.join(ours)}{beside})"

    def _repr_html_(self) -> str:
        """For notebooks: the table, with at most one remark below it."""
        (header, *rows), remark = table_rows(self.methods, self.comparisons, self.prior)
        return html_table("Accuracy", ["method", *header[1:]], rows, most=len(rows), note=remark)

    def columns(self) -> dict[str, list[Any]]:
        """The whole table in columns ready for any data frame: each method over all datasets, and by steps.

        The columns are `method`, `baseline`, `steps` ("all", a number as text, or "none" if there is no path to the
        other answer), `datasets`, `worst_accuracy`, `worst_error`, `worst_at`, `mean_accuracy` and `mean_error`.

        >>> import hetdp
        >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
        >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
        >>> hetdp.accuracy(problem, baselines=False, objectives="fair").columns()["steps"]
        ['all', '1', '2']
        """
        return long_columns(self.methods)

    def csv(self) -> str:
        """The columns as CSV."""
        return csv_text(self.methods)

    def latex(self) -> str:
        r"""The table as a LaTeX tabular that needs no package, for ``\input``."""
        return "".join(f"{line}\n" for line in latex_lines(self.methods, self.comparisons, self.prior))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists and numbers, ready for JSON if the labels are JSON values."""
        return {
            "prior": self.prior,
            "threshold": self.threshold,
            "methods": [_method(method) for method in self.methods],
            "comparisons": [_comparison(each) for each in self.comparisons],
        }


def accuracy(
    mechanism: Problem | Mechanism,
    values: Any = None,
    prior: Any = None,
    baselines: bool = True,
    objectives: ObjectiveName | Iterable[ObjectiveName] | None = None,
    engine: EngineName = "auto",
) -> Accuracy:
    """The exact accuracy of mechanisms. It costs no privacy budget, since no data is read.

    The result has the worst accuracy, the mean under a prior, and both by the number of steps to the other answer. If
    edges have classes (people, or groups), it has both for the datasets where one change of a class decides. For a
    mechanism that stays on a GPU, it has the worst accuracy and the mean, without baselines.

    Args:
        mechanism: a mechanism with its problem; or a problem, on which mechanisms are compared.
        values: with a problem only: a Mechanism; or one value for each dataset, as in `verify`; or a mapping from
            names to several of these. By default the mechanisms that `design` finds.
        prior: the weight of each dataset in a mean: "uniform", "weight" (the problem's own weights), a mapping
            label → number ≥ 0, or a sequence. By default the problem's weights if it has any, otherwise uniform.
        baselines: whether to measure baselines on the same problem, too; for votes and tallies these include the
            ε-weighted vote, dropping people below the mean ε, and sampling.
        objectives: without a mechanism: the objectives to compare, one name or several. By default all, except an
            average of more than 30,000 datasets (1,000 if the notion's bounds are not linear in p), which may take
            minutes.
        engine: "auto", "cpu" or "reference"; all give the same bits.

    Raises:
        InputError: a mechanism is not private; values that miss by rounding are accepted.
        VerificationError: a baseline could not be proved private, which would be a bug; nothing is returned.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [2.0, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> result = hetdp.accuracy(problem)
    >>> [round(result[name].mean_accuracy, 3) for name in ("fair", "one ε", "randomised response")]
    [0.809, 0.788, 0.731]
    """
    if not isinstance(baselines, bool):
        raise UsageError(
            f"baselines={format_value(baselines)}", "it is True or False: whether to measure baselines, too"
        )
    if isinstance(mechanism, ResidentMechanism):
        problem_and_values(mechanism, values, "")
        return _accuracy_on_device(mechanism, prior)
    problem, given = mechanism, values
    if isinstance(mechanism, Mechanism):
        problem, given = problem_and_values(mechanism, values, "datasets are compared by their steps along edges")
    require_problem(problem)
    assert isinstance(problem, Problem)
    called, weights = prior_of(problem, prior)
    if given is None:
        wanted = objectives_of(objectives, problem)
        found: list[tuple[str, LocalMechanism]] = [
            (name, design_for(problem, name, weights, engine)) for name in wanted
        ]
    elif objectives is None:
        wanted = ()
        found = [(name, prove_private(problem, name, each, engine)) for name, each in by_name(given)]
    else:
        rule = "objectives are for when no mechanism is given"
        raise UsageError("an objective together with a mechanism", rule, "leave one of them out")
    progress.report_stage("measuring")
    steps = steps_to_the_other_answer(problem, engine)
    setting, levels = BaselineSetting(problem, steps, engine), Levels.of(steps, weights, deciders_of(problem))
    rows = [(False, name, each) for name, each in found]
    if baselines:
        others = baselines_on(setting, AVERAGE in wanted, weights)
        rows += [(True, name, each) for name, each in others if name not in dict(found)]
    methods = [measure(problem, name, baseline, each, levels) for baseline, name, each in rows]
    return Accuracy(tuple(methods), tuple(compare(methods)), called, setting.threshold)


def _accuracy_on_device(mechanism: ResidentMechanism, prior: Any) -> Accuracy:
    """Worst and mean accuracy of a mechanism on a GPU; steps and baselines would need arrays in this process."""
    weights = mechanism.problem.factors
    name = prior if prior is not None else "uniform" if weights is None else "weight"
    if name not in ("uniform", "weight") or (name == "weight" and weights is None):
        rule = "the mean on a GPU takes 'uniform', or 'weight' if the problem has weights"
        raise UsageError(f"the prior {format_value(prior)}", rule)
    size, nothing, worst = len(mechanism), np.empty(0, dtype=np.int64), mechanism.against_coin
    levels = Levels(np.broadcast_to(np.int64(0), size), nothing, nothing, nothing, np.broadcast_to(1.0, size))
    method = Method(
        name=mechanism.objective,
        baseline=False,
        mechanism=mechanism,
        worst_error=worst.error,
        worst_at=worst.worst,
        mean_error=mechanism.mean_error(weights if name == "weight" else None),
        worst_errors=np.empty(0),
        mean_errors=np.empty(0),
        levels=levels,
    )
    return Accuracy((method,), (), name, threshold=False)


def _method(method: Method) -> dict[str, Any]:
    return {
        "name": method.name,
        "baseline": method.baseline,
        "worst_accuracy": method.worst_accuracy,
        "worst_error": method.worst_error,
        "worst_at": method.worst_at,
        "mean_accuracy": method.mean_accuracy,
        "mean_error": method.mean_error,
        "worse_than_coin": method.mechanism.against_coin.document(),
        "objective_gap": method.mechanism.objective_gap,
        "by_steps": [
            {
                "steps": level.steps,
                "datasets": level.datasets,
                **_worst_and_mean(level),
            }
            for level in method.by_steps
        ],
        "by_class": [
            {
                "class": one.edge_class,
                "datasets": one.datasets,
                **_worst_and_mean(one),
            }
            for one in method.by_class
        ],
    }


def _worst_and_mean(part: AtSteps | WhereDeciding) -> dict[str, float | None]:
    """Worst and mean of some of the datasets, as accuracy and as error."""
    worst, mean = part.worst_error, part.mean_error
    return {
        "worst_accuracy": None if worst is None else accuracy_of(worst),
        "worst_error": worst,
        "mean_accuracy": None if mean is None else accuracy_of(mean),
        "mean_error": mean,
    }


def _comparison(given: Comparison) -> dict[str, Any]:
    return {
        "message": str(given),
        "baseline": given.baseline,
        "outcome": given.outcome,
        "method": given.method,
        "measures": list(given.measures),
        "steps": list(given.steps),
    }
