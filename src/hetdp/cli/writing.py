"""What the command line writes to files; what cannot be written is refused before anything takes long."""

from __future__ import annotations

from pathlib import Path

from hetdp.cli.reading import STANDARD
from hetdp.errors import UsageError

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.voice import Voice
    from hetdp.mechanism.mechanism import Mechanism
    from hetdp.problem.problem import Problem


def require_place(
    option: str,
    path: str | None,
    as_json: bool,
    suffixes: tuple[str, ...],
    inputs: tuple[str | None, ...],
    to_standard: bool = True,
) -> None:
    """Refuses a name of unknown format, a folder that is not there, an input, and two documents on standard output.

    Args:
        option: by which the name was given.
        path: the name, if any.
        as_json: whether standard output is taken already.
        suffixes: what the name may end in; an empty one stands for a folder.
        inputs: what is read, which must not be lost.
        to_standard: whether it may go to standard output.
    """
    if path is None:
        return
    if path == STANDARD:
        if as_json:
            rule = "standard output holds one document"
            raise UsageError(f"{option} - beside --json", rule, f"name a file after {option}")
        return
    place = Path(path)
    if place.suffix.lower() not in suffixes:
        known = ", ".join(filter(None, suffixes)) + (", or is that of a folder" if "" in suffixes else "")
        rule = f"the name after {option} ends in {known}"
        raise UsageError(
            f"no format is known for {path!r}",
            rule,
            f"{option} - writes JSON to standard output" if to_standard else "",
        )
    _refuse_inputs(option, place, inputs)
    if not place.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path!r}", f"{str(place.parent)!r} is no folder")


def _refuse_inputs(option: str, place: Path, inputs: tuple[str | None, ...]) -> None:
    output = _resolved(place)
    for given in inputs:
        if given is None or given == STANDARD:
            continue
        source = _resolved(Path(given))
        if source in (output, *output.parents[:1]) or output in source.parents:
            rule = "an input is never overwritten"
            raise UsageError(f"{option} {place} would replace what is read from {given}", rule, "choose another name")


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle; reading or writing will say so
        return path.absolute()


def write(voice: Voice, result: Problem | Mechanism, path: str, **options: Any) -> None:
    """A file, in the format of its suffix; ``-`` is JSON on standard output."""
    from hetdp.cli.voice import standard_output
    from hetdp.files.saving import save, sidecar_of

    if path == STANDARD:
        voice.make_way()
        with standard_output():
            save(result, path, **options)
    else:
        save(result, path, **options)
        beside = f" and {sidecar_of(Path(path))}" if path.lower().endswith(".csv") else ""
        voice.say(f"wrote {path}{beside}")
