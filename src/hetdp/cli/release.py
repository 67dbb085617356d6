"""`hetdp release`: the one exact draw, paid for in a ledger."""

from __future__ import annotations

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb
from hetdp.cli.releasing import LEDGER, PAYING, price_code, publish_release, require_places

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.problem.labels import Labels
    from hetdp.releases.release import Release

EXAMPLES = """
hetdp release poll.json mechanism.csv --ledger school.ledger --dry-run                        what it would cost
hetdp release poll.json mechanism.csv --dataset 111 --ledger school.ledger -o record.json --html answer.html
echo 111 | hetdp release poll.json mechanism.csv --dataset-from - --ledger school.ledger     where nobody else sees it
"""
ABOUT = """
Proves every edge of MECHANISM again, charges each account of the ledger the largest loss that MECHANISM can cause it,
draws one answer with exactly its probability at the true dataset, and shows it once the spend is durable. Asked again
for the same mechanism and the same version of the data, it gives the same answer and spends nothing. Nothing that is
written or said contains the dataset, or depends on it but for the answer. Exit code 2 if the ledger's source has
another unit or neighbour relation, 5 if the mechanism is not private, 6 if a budget does not suffice, 7 if the ledger
cannot be used; then nothing is spent. Where a commit fails in its last moment (exit code 7), the message says that it
was spent, or that nobody knows: ask again, which is paid for once. --dry-run shows the price first, with the same exit
codes.
"""
LARGEST = 1 << 20  # bytes of a label
DRY_RUN = click.Option(
    ["--dry-run"], is_flag=True, help="Say what it would cost; no dataset is looked at, and nothing is written."
)
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="MECHANISM")
DATASET = [
    click.Option(["--dataset"], metavar="LABEL", help="The true dataset; others on this machine may see it there."),
    click.Option(["--dataset-from"], type=PATH, metavar="FILE", help="The same, from a file; - is standard input."),
]


def release(
    out: Output,
    problem: str,
    mechanism: str,
    dataset: str | None,
    dataset_from: str | None,
    ledger: str | None,
    source: str | None,
    version: str | None,
    after: tuple[str, ...],
    output: str | None,
    html: str | None,
    dry_run: bool,
    duplicates: str,
    positive: str | None,
    as_json: bool,
) -> int:
    """Releases an answer."""
    from hetdp.cli import shapes as release_shapes
    from hetdp.cli.reading import read_without_pins, require_input
    from hetdp.errors import UsageError
    from hetdp.files.mechanisms import read_mechanism
    from hetdp.releases.release import release as publish

    if ledger is None:
        raise UsageError("no ledger", "what is released is paid for in a ledger", "hetdp ledger init makes one")
    if dry_run:
        require_input(problem, mechanism)
        return _priced(
            out,
            read_mechanism(mechanism, read_without_pins(out, problem, duplicates, positive)),
            ledger,
            source,
            version,
            as_json,
        )
    if (dataset is None) == (dataset_from is None):
        what = "no dataset" if dataset is None else "two datasets"
        raise UsageError(what, "--dataset or --dataset-from says which is the true one")
    require_input(problem, mechanism, dataset_from)
    require_places(output, html, as_json, (problem, mechanism, dataset_from, ledger, *after))
    asked = read_without_pins(out, problem, duplicates, positive)
    known = read_mechanism(mechanism, asked)
    true = _label(asked.labels, dataset, dataset_from)

    def announce(similar: tuple[str, ...]) -> None:
        out.say("\n".join(similar))

    def make_release() -> Release:
        paid: dict[str, Any] = {"ledger": ledger, "source": source, "version": "1" if version is None else version}
        return publish(known, true, **paid, record=output, html=html, after=after, announce=announce)

    return publish_release(out, release_shapes.release, make_release, output, html, as_json)


def _priced(out: Output, known: Any, ledger: str, source: str | None, version: str | None, as_json: bool) -> int:
    """Shows what the release would cost; the true dataset is not read."""
    from hetdp.cli import shapes as release_shapes
    from hetdp.cli.writing import say_accuracy
    from hetdp.releases.price import price

    say_accuracy(out, known.against_coin)
    found = price(known, ledger=ledger, source=source, version="1" if version is None else version)
    if as_json:
        out.emit_document(release_shapes.dry_run(found))
    else:
        out.emit(found.lines())
    return price_code(found)


def _label(labels: Labels, given: str | None, path: str | None) -> Any:
    """The label that is meant; an unknown one is left to the release, whose message does not contain it."""
    from hetdp.problem.spelling import find_label

    text = _content(path) if given is None and path is not None else given
    try:
        found = find_label(text, labels)
    except Exception:  # whatever a label raises when it is looked up may contain it
        found = None
    return text if found is None else found


def _content(path: str) -> str:
    """The text of a file, or of standard input, without the end of its line; none of it is ever shown."""
    import sys
    from pathlib import Path

    from hetdp.cli.reading import STANDARD
    from hetdp.errors import UsageError

    text: str | None = None
    try:
        if path == STANDARD:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(LARGEST + 1)
        if len(data) <= LARGEST:
            text = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as refusal:
        reason = refusal.strerror or "the system refused it"
        raise UsageError(
            f"{path!r} cannot be read: {reason}", "--dataset-from names a file that holds a label"
        ) from None
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise UsageError("no label can be read there", "--dataset-from names a file with one label, in UTF-8")
    return text


command = Verb(
    "release",
    release,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, *DATASET, LEDGER, *PAYING, DRY_RUN, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "reading", "drawing"),
)
