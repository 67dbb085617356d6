"""What `hetdp release` and `hetdp ask` share: the options of a payment, and how a release is shown."""

from __future__ import annotations

import click

from hetdp.cli.options import PATH

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.releases.price import Price
    from hetdp.releases.release import Release

LOST = (
    "the answer was released and is in the ledger, but it could not be shown: {}. Hint: ask again; the answer will be"
    " the same, and nothing is spent."
)
LEDGER = click.Option(
    ["--ledger"], metavar="LEDGER", help="The ledger that pays: a file, or postgresql://USER@HOST/DATABASE."
)
PAYING = [
    click.Option(["--source"], metavar="NAME", help="The data as the ledger knows it; needed if it knows several."),
    click.Option(["--version"], metavar="V", help="Which state of the data this is. Default: 1."),
    click.Option(
        ["--after"],
        type=PATH,
        metavar="RECORD",
        multiple=True,
        help="The record of an earlier release, which the ledger must still know; may be given several times.",
    ),
    click.Option(["-o", "--output"], type=PATH, metavar="FILE", help="Write the record to this .json file."),
    click.Option(["--html"], type=PATH, metavar="FILE", help="Write it as a page for everybody to this .html file."),
]


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
    try:
        if as_json:
            out.emit_document(shape(found, output, html, unwritten))
        else:
            out.emit(answer_lines(found))
    except KeyboardInterrupt:
        raise InterruptedSpend(LOST.format("it was interrupted").rstrip(".")) from None
    except (BrokenPipeError, UsageError) as refusal:
        abandon_output()
        why = "nobody reads it" if isinstance(refusal, BrokenPipeError) else refusal.what
        write_message(f"hetdp: {LOST.format(why)}")
        return UnwrittenRecordError.exit_code
    say_paid(out, found)
    if unwritten is not None:
        write_message(f"hetdp: {unwritten}")
    else:
        for path in filter(None, (output, html)):
            out.say(f"wrote {path}")
    return code


def answer_lines(found: Release) -> Iterator[str]:
    """The answers, one to a line; a repeated one always says that it is repeated."""
    entry = found.record
    again = f" (as released on {entry['released'][:10]}, of version {entry['composition']['version']!r} of the data)"
    for one in found.answers:
        area = "" if one.area is None else f" in {one.area!r}"
        yield f"released answer{area}: {one.words}{again if found.repeated else ''}"


def say_paid(out: Output, found: Release) -> None:
    """Where the release stands in the ledger; and where a coin would do as well, whatever the data."""
    for words in found.record["cautions"]:
        out.say(f"caution: {words}")
    receipt = found.receipt
    nobody_pays = len(found.record["constant"]) == len(found.answers)
    paid = "the answer is the same whatever the data is, so nobody paid" if nobody_pays else "paid"
    spent = "it was released before, so nothing was spent" if found.repeated else paid
    out.say(f"{spent}; entry {receipt['entry']:,} of the ledger, {receipt['hash'][:16]}…")
