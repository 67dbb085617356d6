"""Atomic writes of files (under a temporary name, then renamed), and errors of the system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetdp.errors import Fault, InputError, UsageError

OUTPUT_RULE = "the output is a file or folder that can be written"
PRIVATE = 0o600  # for the owner alone


@contextmanager
def whole_file(path: Path, private: bool = False) -> Iterator[Path]:
    """A temporary name to write to; the file appears under its own name only when everything has been written.

    What is there already and is not a plain file (a pipe, a terminal) is written to as it is. A public file that takes
    the place of another keeps its permissions.

    Args:
        path: the name.
        private: whether the file is for its owner alone from its first byte on, whatever the system's default is, and
            whoever may read the one that it takes the place of.
    """
    with _translate_errors(path):
        place = _resolve(path)
        if place.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        if place.exists() and not place.is_file():
            yield place
            return
        draft = _draft(place)
        if private:
            _create_private(draft)
        try:
            yield draft
            if place.exists() and not private:
                shutil.copymode(place, draft)
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)


def require_writable(path: Path) -> None:
    """Refuses a path where no file could be written, by writing one beside it for a moment.

    Raises:
        UsageError: it cannot be written.
    """
    with _translate_errors(path):
        place = _resolve(path)
        if place.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        if place.exists() and not place.is_file():
            raise OSError(22, "it is not a plain file")
        trial = _draft(place, "trial")
        try:
            _create_private(trial)
        finally:
            trial.unlink(missing_ok=True)


def _create_private(place: Path) -> None:
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))


@contextmanager
def whole_folder(path: Path, ours: frozenset[str]) -> Iterator[Path]:
    """A folder to write to, which replaces an older one only when everything has been written.

    An older one is replaced only if it holds nothing but files of these names.
    """
    with _translate_errors(path):
        place = require_folder(path, ours)
        draft = _draft(place)
        draft.mkdir()
        try:
            yield draft
            _move_into_place(draft, place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def require_folder(path: Path, ours: frozenset[str]) -> Path:
    """The path of a folder to write; refuses a file, and a folder that holds anything but files with these names.

    Whether a folder can be put there is tried for a moment.

    Raises:
        UsageError: it cannot be written there.
    """
    with _translate_errors(path):
        place = _resolve(path)
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(20, "it is a file, not a folder")
        strangers = _foreign_files(place, ours) if place.exists() else []
        if strangers:
            raise FileExistsError(17, f"it holds other files, such as {strangers[0]!r}")
        trial = _draft(place, "trial")
        trial.mkdir()
        trial.rmdir()
        return place


def _move_into_place(draft: Path, place: Path) -> None:
    if not place.exists():
        draft.rename(place)
        return
    before = _draft(place, "before")
    place.rename(before)
    try:
        draft.rename(place)
    except BaseException:
        if not place.exists():
            before.rename(place)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:
        raise OSError(40, "its symbolic links form a loop") from None


def _foreign_files(place: Path, ours: frozenset[str]) -> list[str]:
    """The files in a folder that hetdp did not write; subfolders may hold the parts of a table."""
    found = [entry.name for entry in place.iterdir() if entry.name not in ours]
    for folder in (entry for entry in place.iterdir() if entry.name in ours and entry.is_dir()):
        found += [f"{folder.name}/{entry.name}" for entry in folder.iterdir() if not entry.name.startswith("part-")]
    return sorted(found)


def _draft(place: Path, word: str = "draft") -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}-{os.urandom(4).hex()}.{word}")


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Turns errors of the system into messages of hetdp."""
    try:
        yield
    except BrokenPipeError:
        raise
    except UnicodeEncodeError:
        raise UsageError(
            f"cannot write {str(path)!r}: a label has a lone surrogate", "text must be valid Unicode"
        ) from None
    except OSError as refusal:
        reason = refusal.strerror or str(refusal)
        raise UsageError(f"cannot write {str(path)!r}: {reason}", OUTPUT_RULE) from refusal


def call_reader(place: Path, read: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a reader; an error of the system becomes an InputError."""
    try:
        return read(place, *arguments)
    except OSError as refusal:
        reason = refusal.strerror or str(refusal)
        rule = "the input is a file that can be read"
        raise InputError(str(place), [Fault("cannot be read:", str(place), reason, rule)]) from None
