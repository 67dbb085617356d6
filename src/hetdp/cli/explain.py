"""`hetdp explain`: why a dataset is not answered more accurately."""

from __future__ import annotations

import click

from hetdp.cli.options import ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PINS, PROBLEM, Verb
from hetdp.cli.partitioned import CLUSTER, explain_parts, is_parted, parted

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.mechanism.mechanism import LocalMechanism
    from hetdp.problem.problem import Problem

EXAMPLES = """
hetdp explain poll.json 111                               the path that binds dataset 111
hetdp explain poll.json 111 112                           several at once
hetdp explain poll.json 111 --mechanism mechanism.csv     from a saved mechanism
hetdp explain grid.json [0,1]                             a label that is a list in JSON
"""
ABOUT = """
Shows the path from a given or chosen value to each DATASET, with the bound that privacy puts on p at every step.
Without --mechanism, the mechanism is computed first, as hetdp extend does.
"""
DATASETS = click.Argument(["datasets"], nargs=-1, required=True, metavar="DATASET...")
MECHANISM = click.Option(["--mechanism"], type=PATH, metavar="FILE", help="Explain this saved mechanism.")


def explain(
    out: Output,
    problem: str,
    datasets: tuple[str, ...],
    mechanism: str | None,
    pins: str | None,
    engine: EngineName,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Explains the value of some datasets."""
    if is_parted(engine, where):
        _explain_parts(out, problem, datasets, mechanism, pins, duplicates, positive, as_json, where)
        return
    from hetdp.cli import shapes
    from hetdp.cli.reading import find_labels, read_with_pins, read_without_pins, require_input
    from hetdp.cli.writing import say_accuracy
    from hetdp.mechanism.extension import extend

    if mechanism is None:
        asked, given = read_with_pins(out, problem, pins, duplicates, positive)
    else:
        _refuse_pins(pins)
        require_input(problem, mechanism)
        asked, given = read_without_pins(out, problem, duplicates, positive), None
    labels = find_labels(asked.labels, datasets)
    explained = extend(asked, given, engine) if mechanism is None else _proved(asked, mechanism)
    if as_json:
        explanations = [shapes.explanation(explained, label) for label in labels]
        out.emit_document(shapes.document("explain", explanations=explanations))
    else:
        out.emit(["\n\n".join(str(explained.explain(label)) for label in labels)])
    say_accuracy(out, explained.against_coin)


def _explain_parts(
    out: Output,
    path: str,
    datasets: tuple[str, ...],
    mechanism: str | None,
    pins: str | None,
    duplicates: str,
    positive: str | None,
    as_json: bool,
    where: dict[str, Any],
) -> None:
    from hetdp.cli.reading import find_labels
    from hetdp.partitioned.extension import extend_parts
    from hetdp.partitioned.mechanism_files import load_own_parts, open_parts

    if mechanism is not None:
        _refuse_pins(pins)
        open_parts(mechanism)  # or a refusal, before anything takes long
    with parted(out, path, pins, duplicates, positive, where) as (problem, given):
        labels = find_labels(problem.labels, datasets)
        found = extend_parts(problem, given) if mechanism is None else load_own_parts(mechanism, problem)
        explain_parts(out, found, labels, as_json)


def _proved(asked: Problem, path: str) -> LocalMechanism:
    """A saved mechanism, proved once for all datasets that are asked about."""
    from hetdp import progress
    from hetdp.files.mechanisms import read_mechanism

    claimed = read_mechanism(path, asked)
    progress.report_stage("proving every edge")
    return claimed.proved_best()


def _refuse_pins(pins: str | None) -> None:
    from hetdp.errors import UsageError

    if pins is not None:
        raise UsageError("--pins beside --mechanism", "a saved mechanism has its own pins", "leave one of them out")


command = Verb(
    "explain",
    explain,
    EXAMPLES,
    ABOUT,
    [PROBLEM, DATASETS, MECHANISM, PINS, ENGINE, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving"),
)
