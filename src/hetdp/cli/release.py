"""`hetdp release`: the one exact draw, paid for in a ledger, and what `hetdp ask` shares with it."""

from __future__ import annotations

import shlex
from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, OUTPUT_OPTIONS, PATH, PROBLEM, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.problem.labels import Labels
    from hetdp.releases.price import Price
    from hetdp.releases.release import Release

EXAMPLES = """
hetdp release poll.json mechanism.csv --ledger school.ledger --dry-run                       what it would cost
hetdp release poll.json mechanism.csv --dataset 111 --ledger school.ledger -o record.json --html answer.html
echo 111 | hetdp release poll.json mechanism.csv --dataset-from - --ledger school.ledger     where nobody sees it
"""
ABOUT = """
Proves every edge of MECHANISM again, charges each account of the ledger the largest loss that MECHANISM can cause,
draws one answer at the true dataset with exactly its probability, and shows it as soon as the charge is durable. The
same mechanism and version of the data give the same answer again and cost nothing. The dataset appears in no message
and no file, and nothing but the answer depends on it. Exit code 2 if the ledger's source has another unit or neighbour
relation, 5 if the mechanism is not private, 6 if a budget does not suffice, 7 if the ledger cannot be used. In all
these cases nothing is spent, with one exception: if a commit fails at the last moment (exit code 7), the message says
that the charge was made, or that this is unknown. Run the command again then; it is paid for only once. --dry-run
shows the price first, with the same exit codes.
"""
DRY_RUN = click.Option(
    ["--dry-run"], is_flag=True, help="Show the price only; no dataset is read, and nothing is written."
)
LOST_ANSWER = (
    "the answer was released and is in the ledger, but it could not be shown: {}. Hint: ask again; the answer will be"
    " the same, and nothing is spent."
)
LEDGER = click.Option(
    ["--ledger"], metavar="LEDGER", help="The ledger that pays: a file, or postgresql://USER@HOST/DATABASE."
)
PAYMENT_OPTIONS = [
    click.Option(["--source"], metavar="NAME", help="The name of the data in the ledger; needed if it has several."),
    click.Option(["--version"], metavar="V", help="The version of the data. Default: 1."),
    click.Option(
        ["--after"],
        type=PATH,
        metavar="RECORD",
        multiple=True,
        help="The record of an earlier release, which the ledger must still have; can be repeated.",
    ),
    click.Option(["-o", "--output"], type=PATH, metavar="FILE", help="Write the record to this .json file."),
    click.Option(["--html"], type=PATH, metavar="FILE", help="Write a page for the public to this .html file."),
]
MECHANISM = click.Argument(["mechanism"], type=PATH, metavar="MECHANISM")
DATASET = [
    click.Option(["--dataset"], metavar="LABEL", help="The true dataset; other users of this machine may see it here."),
    click.Option(
        ["--dataset-from"], type=PATH, metavar="FILE", help="A file with the true dataset; - is standard input."
    ),
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
    duplicates: Literal["error", "min"],
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
        raise UsageError(
            "--ledger is missing", "what is released is paid for in a ledger", "hetdp ledger init makes one"
        )
    if dry_run:
        require_input(problem, mechanism)
        return _show_price(
            out,
            read_mechanism(mechanism, read_without_pins(out, problem, duplicates, positive)),
            ledger,
            source,
            version,
            as_json,
        )
    if (dataset is None) == (dataset_from is None):
        what = "no dataset" if dataset is None else "two datasets"
        raise UsageError(what, "--dataset or --dataset-from names it")
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


def _show_price(out: Output, known: Any, ledger: str, source: str | None, version: str | None, as_json: bool) -> int:
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
    from hetdp.cli.reading import read_private_line
    from hetdp.problem.spelling import find_label

    text = read_private_line(path, "--dataset-from", "label") if given is None and path is not None else given
    try:
        found = find_label(text, labels)
    except Exception:  # whatever a label raises when it is looked up may contain it
        found = None
    return text if found is None else found


# What `hetdp ask` does as well ----------------------------------------------------------------------------------------


def price_code(found: Price) -> int:
    """The exit code of a dry run: that of the refusal if the release would be refused."""
    from hetdp.errors import BudgetError

    return 0 if found.fits else BudgetError.exit_code


def require_places(output: str | None, html: str | None, as_json: bool, inputs: tuple[str | None, ...]) -> None:
    """Refuses files for a record that cannot be used, and a closed standard output, before anything is spent."""
    import sys

    from hetdp.cli.reading import STANDARD
    from hetdp.cli.writing import require_place
    from hetdp.errors import UsageError

    if sys.stdout is None:
        raise UsageError("standard output is closed", "the answer goes there")
    for option, path, suffix in (("-o", output, ".json"), ("--html", html, ".html")):
        if path == STANDARD:
            raise UsageError(f"{option} -", "a record is kept in a file; --json shows it as well", "name a file")
        require_place(option, path, as_json, (suffix,), inputs, to_standard=False)


def publish_release(
    out: Output,
    shape: Callable[..., Any],
    release: Callable[[], Release],
    output: str | None,
    html: str | None,
    as_json: bool,
) -> int:
    """Releases an answer and shows it, even if its record could not be written; returns the exit code.

    Args:
        out: the output of the verb.
        shape: makes the JSON document of a release.
        release: makes the release.
        output: the file of the record.
        html: the page.
        as_json: whether the result is a document.
    """
    from hetdp.cli.output import abandon_output, write_message
    from hetdp.errors import InterruptedSpend, UnwrittenRecordError, UsageError

    unwritten, code = None, 0
    try:
        found = release()
    except UnwrittenRecordError as refusal:
        found, unwritten, code = refusal.release, str(refusal), refusal.exit_code
    out.must_arrive = True
    try:
        if as_json:
            out.emit_document(shape(found, output, html, unwritten))
        else:
            out.emit(answer_lines(found))
    except KeyboardInterrupt:
        raise InterruptedSpend(LOST_ANSWER.format("it was interrupted").rstrip(".")) from None
    except (BrokenPipeError, UsageError) as refusal:
        abandon_output()
        reason = "nobody reads it" if isinstance(refusal, BrokenPipeError) else refusal.what
        write_message(f"hetdp: {LOST_ANSWER.format(reason)}")
        return UnwrittenRecordError.exit_code
    say_payment(out, found)
    if unwritten is not None:
        write_message(f"hetdp: {unwritten}")
    else:
        if output is not None:
            out.say(f"wrote {output}")
        if html is not None:
            out.say(f"wrote {html}; until you let others read it, only you can open it: chmod a+r {shlex.quote(html)}")
    return code


def answer_lines(found: Release) -> Iterator[str]:
    """The answers, one to a line; a repeated one always says that it is repeated."""
    from hetdp.problem.answer_words import answer_name

    for part in found.releases:
        entry = part.record
        when = f"as released on {entry['released'][:10]}, of version {entry['composition']['version']!r} of the data"
        which = "" if found.releases == (found,) else f" to {part.question!r}"
        for one in part.answers:
            area = "" if one.area is None else f" in {one.area!r}"
            words = one.words if entry["plan"] is None else answer_name(one.words, one.answer)
            yield f"released answer{which}{area}: {words}" + (f" ({when})" if part.repeated else "")


def say_payment(out: Output, found: Release) -> None:
    """Says which entry of the ledger the release has, and where a coin would do as well."""
    for part in found.releases:
        for words in part.record["cautions"]:
            out.say(f"caution: {words}")
        receipt = part.receipt
        nobody_pays = len(part.record["constant"]) == len(part.answers)
        paid = "the answer does not depend on the data, so nobody paid" if nobody_pays else "paid"
        spent = "it was released before, so nothing was spent" if part.repeated else paid
        out.say(f"{spent}; entry {receipt['entry']:,} of the ledger, {receipt['hash'][:16]}…")


command = Verb(
    "release",
    release,
    EXAMPLES,
    ABOUT,
    [PROBLEM, MECHANISM, *DATASET, LEDGER, *PAYMENT_OPTIONS, DRY_RUN, *INPUT_OPTIONS, *OUTPUT_OPTIONS],
    stages=("reading", "building", "reading", "drawing"),
)
