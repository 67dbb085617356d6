"""`hetdp explain`: why a dataset is not answered more accurately."""

from __future__ import annotations

from typing import Literal

import click

from hetdp.cli.options import CLUSTER, ENGINE, INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PINS, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName

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
    duplicates: Literal["error", "min"],
    positive: str | None,
    as_json: bool,
    **cluster: Any,
) -> None:
    """Explains the value of some datasets."""
    from hetdp import progress
    from hetdp.cli import shapes
    from hetdp.cli.reading import find_labels, require_input, source_of
    from hetdp.cli.writing import say_accuracy
    from hetdp.files.mechanisms import read_mechanism
    from hetdp.mechanism.extension import extend

    source = source_of(engine, cluster)
    if mechanism is not None:
        _refuse_pins(pins)
        require_input(problem, mechanism)
        source.require_mechanism(mechanism)
    with source.open(out, problem, duplicates, positive, pins, with_pins=mechanism is None) as (asked, given):
        labels = find_labels(asked.labels, datasets)
        if mechanism is None:
            found = extend(asked, given, engine)
        else:
            claimed = read_mechanism(mechanism, asked)
            progress.report_stage("proving every edge")
            found = claimed.prove_best()
        if as_json:
            explanations = [shapes.explanation(found, label) for label in labels]
            out.emit_document(shapes.document("explain", explanations=explanations))
        else:
            out.emit(["\n\n".join(str(found.explain(label)) for label in labels)])
        say_accuracy(out, found.against_coin)


def _refuse_pins(pins: str | None) -> None:
    from hetdp.errors import UsageError

    if pins is not None:
        raise UsageError(
            "--pins together with --mechanism", "a saved mechanism has its own pins", "leave one of them out"
        )


command = Verb(
    "explain",
    explain,
    EXAMPLES,
    ABOUT,
    [PROBLEM, DATASETS, MECHANISM, PINS, ENGINE, *CLUSTER, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "loading", "searching", "proving"),
)
