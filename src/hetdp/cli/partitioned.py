"""The verbs on partitions (`--engine dask`): the same words and documents, from a problem that nobody holds whole."""

from __future__ import annotations

from contextlib import contextmanager

import click

from hetdp.cli.options import PATH
from hetdp.errors import UsageError
from hetdp.text import pluralize, round_up

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.engines.registry import EngineName
    from hetdp.partitioned.mechanism import PartitionedMechanism
    from hetdp.partitioned.problem import PartitionedPins, PartitionedProblem
    from hetdp.partitioned.reading import PartitionedFile
    from hetdp.problem.partial import PartialMechanism

DASK = "dask"
LIMIT = "--max-error 0.5, which is for one machine, would not allow it"
MANY = 10_000  # datasets, in whatever order these are dealt; fewer make no long rounds
CLUSTER = [
    click.Option(
        ["--cluster"],
        metavar="ADDRESS",
        help="With --engine dask: the address of a Dask scheduler, such as tls://node:8786. Default: workers here.",
    ),
    click.Option(["--workers"], type=click.IntRange(1), metavar="N", help="How many workers to start here."),
    click.Option(["--memory"], metavar="SIZE", help="What each of these may take, such as 2GB, the default."),
    click.Option(
        ["--work"],
        type=PATH,
        metavar="FOLDER",
        help="A folder that all workers reach, kept for a later run. Default, without --cluster: a temporary one.",
    ),
    click.Option(["--partitions"], metavar="N", help="How many partitions; or files, one for each file of datasets."),
    click.Option(["--by"], metavar="COLUMN", help="Datasets with the same entry in this column are in one partition."),
]
HOW = click.Option(
    ["--engine"],
    type=click.Choice(["auto", DASK]),
    default="auto",
    show_default=True,
    help="dask: on partitions, by workers.",
)


def is_parted(engine: EngineName, where: dict[str, Any]) -> bool:
    """Whether a verb is to work on partitions; options that are for these alone are refused elsewhere."""
    if engine == DASK:
        return True
    for name, value in where.items():
        if value is not None:
            rule = "it says how --engine dask works"
            raise UsageError(f"--{name} without --engine dask", rule, "add --engine dask, or leave it out")
    return False


@contextmanager
def parted(
    out: Output, path: str, pins: str | None, duplicates: str, positive: str | None, where: dict[str, Any]
) -> Iterator[tuple[PartitionedProblem, Any]]:
    """A problem on partitions, and its pins, from the file that `pins` names or else from its own tables."""
    from hetdp.cli.reading import (
        find_labels_together,
        name_of_path,
        pinned_words,
        relabel_pins,
        require_input,
        warn_without_edges,
    )
    from hetdp.files.problems import read_pins
    from hetdp.partitioned.reading import read_partitioned

    require_input(path, pins)
    values = None if pins is None else read_pins(pins)  # before anything takes long
    options = {name: value for name, value in where.items() if value is not None}
    if "partitions" in options:
        options["partitions"] = _partitions(options["partitions"])
    read: PartitionedFile = read_partitioned(path, duplicates=duplicates, positive=positive, **options)
    with read as (problem, partial):
        given: Any = partial
        if values is not None:
            given = relabel_pins(values, find_labels_together(problem, _labels(values)).get)
        size = f"{pluralize(problem.graph.size, 'dataset')}, {pluralize(problem.graph.edge_count, 'edge')}"
        by = pinned_words(pinned_count(given), pins)
        out.say(f"read {name_of_path(path)}: {size}, {by}, in {pluralize(len(problem.parts), 'partition')}")
        warn_without_edges(out, problem)
        if problem.graph.ghosts > problem.graph.size >= MANY:
            rule = "fewer partitions, or an order in which neighbours are near (--by), need fewer rounds"
            out.say(f"partitions have {pluralize(problem.graph.ghosts, 'neighbour')} in others; {rule}")
        yield problem, given


def _labels(values: PartialMechanism) -> set[Any]:
    columns: Any = (values.p, values.z, values.error)
    return {label for column in columns if column is not None for label in column}


def pinned_count(given: PartitionedPins | PartialMechanism) -> int:
    """How many datasets have a given value."""
    from hetdp.partitioned.problem import PartitionedPins

    return given.count if isinstance(given, PartitionedPins) else len(_labels(given))


def _partitions(text: str) -> int | str:
    if text == "files" or not text.isdecimal():
        return text  # what is no number, the reader refuses
    return int(text)


def require_folder(output: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> str:
    """The folder that workers write a mechanism to."""
    from pathlib import Path

    from hetdp.cli.writing import require_place
    from hetdp.files.formats.writing import require_folder as require_ours
    from hetdp.partitioned.mechanism_files import OURS

    if output is None or output == "-":
        raise UsageError("no -o FOLDER", "with --engine dask, workers write the mechanism to a folder", "add -o FOLDER")
    if Path(output).suffix:
        rule = "with --engine dask, workers write the mechanism to a folder, whose name has no ending"
        raise UsageError(f"-o {output}", rule)
    require_place("-o", output, as_json, suffixes=("",), inputs=inputs)
    require_ours(Path(output), OURS)
    return output


def deliver_parts(
    out: Output, verb: str, mechanism: PartitionedMechanism, pinned: int, output: str, as_json: bool
) -> None:
    """Says what was proved, and lets the workers write the mechanism, for which so many values were given."""
    from hetdp.cli import shapes
    from hetdp.cli.writing import say_accuracy
    from hetdp.partitioned.mechanism_files import save_parts

    coin = mechanism.against_coin
    say_accuracy(out, coin, LIMIT if verb == "design" else "")
    if mechanism.moved > 0.0:
        whose = "given" if mechanism.objective == "extension" else "chosen"
        moved = round_up(mechanism.moved, 2)
        out.say(f"the {whose} values missed by a rounding, and were moved by at most {moved:.1e} in z")
    told = pluralize(sum(mechanism.told), "label")
    out.say(f"{pluralize(mechanism.rounds, 'round')}, {told} between partitions")
    out.say(str(mechanism.certificate or "every edge was checked; without a certificate, as asked"))
    save_parts(mechanism, output)
    out.say(f"wrote {output}")
    if as_json:
        out.emit_document(
            shapes.document(
                verb,
                output=output,
                objective=mechanism.objective,
                counts=counts(mechanism.problem) | {"pinned": pinned},
                moved=shapes.number(mechanism.moved),
                worse_than_coin=coin.document(),
                certificate=shapes.certificate(mechanism.certificate),
            )
        )


def counts(problem: PartitionedProblem) -> dict[str, int]:
    """How large a problem is."""
    return {"datasets": problem.graph.size, "edges": problem.graph.edge_count}


def check_parts(out: Output, problem: PartitionedProblem, given: Any, as_json: bool) -> int:
    """Decides whether the pins of a partitioned problem can be extended."""
    from hetdp.cli import shapes
    from hetdp.cli.writing import refusal_lines, say_pin_notes
    from hetdp.errors import NoExtensionError
    from hetdp.partitioned.extension import boundary_counts, judge_parts, pins_named

    name = problem.new_name("check")
    pins = pins_named(problem, given, f"{name}-given")
    verdict = judge_parts(problem, pins, name)
    free, boundary = map(sum, zip(*problem.run(boundary_counts, pins), strict=True))
    say_pin_notes(out, free, boundary, verdict)
    if as_json:
        pinned = {"pinned": pinned_count(given)}
        out.emit_document(shapes.document("check", counts=counts(problem) | pinned, **shapes.verdict(verdict)))
    elif verdict.witness is None:
        out.emit([str(verdict)])
    else:
        out.emit(refusal_lines(verdict.witness, None))
    return 0 if verdict.compatible else NoExtensionError.exit_code


def verify_parts(out: Output, problem: PartitionedProblem, path: str, as_json: bool) -> int:
    """Proves a mechanism private on partitions, or refutes it."""
    from dataclasses import replace

    from hetdp.certificate.certificate import ROUNDED, verify
    from hetdp.cli import shapes
    from hetdp.cli.verify import say_claim_notes
    from hetdp.cli.writing import say_accuracy
    from hetdp.errors import VerificationError
    from hetdp.partitioned.mechanism_files import load_parts

    claim = load_parts(path, problem)
    say_claim_notes(out, path, claim, claim.differing)
    certificate = verify(problem, claim.mechanism)
    if claim.column != "z":
        certificate = replace(certificate, method=ROUNDED)
    if as_json:
        out.emit_document(
            shapes.document(
                "verify",
                counts=counts(problem),
                made_for_another=claim.made_for_another,
                differing_pins=claim.differing,
                worse_than_coin=claim.mechanism.against_coin.document(),
                certificate=shapes.certificate(certificate),
            )
        )
    else:
        out.emit([str(certificate)])
    say_accuracy(out, claim.mechanism.against_coin)
    return 0 if certificate.private else VerificationError.exit_code


def explain_parts(out: Output, mechanism: PartitionedMechanism, labels: list[Any], as_json: bool) -> None:
    """Explains the value of some datasets."""
    from hetdp.cli import shapes
    from hetdp.cli.writing import say_accuracy
    from hetdp.partitioned.mechanism import explained

    problem, known = mechanism.problem, mechanism.proved_best()
    say_accuracy(out, known.against_coin)
    numbers = [problem.index(label) for label in labels]
    paths = [explained(known, number) for number in numbers]
    if not as_json:
        out.emit(["\n\n".join(map(str, paths))])
        return
    rows = [known.row(label) for label in labels]
    explanations = [
        {"dataset": label, **row, "z": shapes.number(row["z"]), "message": str(path), "path": shapes.path(path)}
        for label, row, path in zip(labels, rows, paths, strict=True)
    ]
    out.emit_document(shapes.document("explain", explanations=explanations))
