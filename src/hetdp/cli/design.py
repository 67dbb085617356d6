"""`hetdp design`: the best private mechanism for an objective, if no values or only some are given."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import CLUSTER, ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PINS, PRIOR, PROBLEM, Verb
from hetdp.cli.writing import OUTPUT, deliver
from hetdp.errors import UsageError
from hetdp.text import round_up

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.design import ObjectiveName

EXAMPLES = """
hetdp design poll.json                            print a table
hetdp design poll.json -o mechanism.csv           write a file
hetdp design poll.json --free                     ignore the values that the problem gives
hetdp design poll.json --free --objective balanced
hetdp design poll.json --free --objective average --max-error 0.5
"""
ABOUT = """
Chooses values for the boundary and extends them. fair: the worst-off dataset is answered as well as privacy allows,
then the next worst, and so on; this does not maximise the average. balanced: the smallest possible worst error; no
dataset is answered better than by fair. average: the largest mean accuracy, up to a proved and reported gap; some
datasets may be answered worse than by a coin, unless --max-error forbids it. Values given in PROBLEM are kept, and the
objective chooses the rest. If no private mechanism has the given values, the message says why (exit code 4).
"""
OBJECTIVES = ("fair", "balanced", "average")  # a test compares them with the library, which takes long to load


class Objective(click.Choice):  # type: ignore[type-arg]
    """An objective that any problem file has; the error for weighted-vote says where that one is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The objective by its name.

        Raises:
            UsageError: it is one that a problem file cannot have.
        """
        if value == "weighted-vote":
            rule = "this vote counts people, and a problem file has only datasets and edges"
            hint = "hetdp ask TABLE --design weighted-vote; or, in Python, design on hetdp.spaces.votes or tallies"
            raise UsageError("the objective weighted-vote on a problem file", rule, hint)
        return super().convert(value, param, ctx)


OBJECTIVE = click.Option(
    ["--objective"],
    type=Objective(OBJECTIVES),
    default="fair",
    show_default=True,
    help="The objective.",
)
MAX_ERROR = click.Option(
    ["--max-error"],
    type=float,
    metavar="X",
    help="The largest allowed probability of a wrong answer, from 0 to 1, where no value is given; 0.5 is that of a"
    " coin.",
)
FREE = click.Option(["--free"], is_flag=True, help="Ignore the values that PROBLEM gives.")


def design(
    out: Output,
    problem: str,
    objective: ObjectiveName,
    prior: str | None,
    max_error: float | None,
    free: bool,
    pins: str | None,
    output: str | None,
    engine: EngineName,
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
    **cluster: Any,
) -> None:
    """Designs a mechanism for a problem."""
    if free and pins is not None:
        raise UsageError("--free together with --pins", "values are ignored, or given", "leave one of them out")
    from hetdp.cli.reading import source_of
    from hetdp.mechanism.design import design as best_for

    source = source_of(engine, cluster)
    source.require_objective(objective, prior, max_error)
    source.require_output(output, as_json, (problem, pins))
    with source.open(out, problem, duplicates, positive, pins) as (asked, given):
        mechanism = best_for(asked, objective, None if free else given, prior, max_error, engine)
        if mechanism.objective_gap is not None:
            gap = round_up(mechanism.objective_gap, 2)
            out.say(f"no private mechanism has a mean accuracy larger by more than {gap:.1e}")
        deliver(out, "design", asked, 0 if free else given.count, mechanism, output, as_json, source.limit)


command = Verb(
    "design",
    design,
    EXAMPLES,
    ABOUT,
    [PROBLEM, OBJECTIVE, PRIOR, MAX_ERROR, FREE, PINS, OUTPUT, ENGINE, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving", "writing"),
)
