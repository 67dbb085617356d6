"""The shapes of JSON documents about releases; the others are in `shapes`."""

from __future__ import annotations

from hetdp.cli import shapes

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.asking.asked import Asked
    from hetdp.release.price import Price
    from hetdp.release.record.verification import RecordVerdict
    from hetdp.release.release import Release


def published(given: Release, output: str | None, html: str | None, unwritten: str | None) -> shapes.Shape:
    """What was released, with its whole record; and which files it was written to, or why not."""
    written = {"output": output, "html": html}
    found: shapes.Shape = {name: path for name, path in written.items() if path is not None}
    if unwritten is not None:
        found = {"unwritten": unwritten}
    return {"released": True, "repeated": given.repeated, **found, "record": given.record}


def released(given: Release, output: str | None, html: str | None, unwritten: str | None) -> shapes.Shape:
    """What `release` hands over."""
    return shapes.document("release", **published(given, output, html, unwritten))


def priced(given: Price) -> shapes.Shape:
    """What `release --dry-run` hands over."""
    return shapes.document("release", released=False, price=shapes.price(given))


def asked(
    promised: Asked, plan: str | None, given: Release, output: str | None, html: str | None, unwritten: str | None
) -> shapes.Shape:
    """What `ask` hands over when it releases."""
    return shapes.ask(promised, plan) | published(given, output, html, unwritten)


def record(path: str, given: RecordVerdict) -> shapes.Shape:
    """What `record verify` found."""
    checks = [check._asdict() for check in given.checks]
    return shapes.document(
        "record", record_file=path, valid=given.valid, checks=checks, unchecked=list(given.unchecked)
    )
