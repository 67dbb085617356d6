"""The file of a ledger: it has one name and one journal.

SQLite stores what an unfinished write has replaced in a journal, and finds the journal by the name of the file. So a
ledger under a second name, or away from its journal, could lose spends that were shown, or keep half of one. Such files
are refused, and a journal that a killed process left is examined before SQLite may use it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hetdp.errors import HetdpError
from hetdp.releases.ledger.database import NOTHING_SPENT

if sys.platform == "linux":  # elsewhere, SQLite alone looks at journals
    import fcntl
    import struct

MOUNTS = Path("/proc/self/mountinfo")
PENDING, RESERVED, LOCKS = 0x40000000, 0x40000001, 512  # the bytes of a file by which SQLite locks it
LOCK = "hhqqi4x"  # kind, whence, first byte, number of bytes, process: as Linux wants it
COUNTER = slice(24, 28)  # of a file: how often it was written to
RETRY_SECONDS = 0.01  # seconds between two looks
PLACE = re.compile(r"\d+ /.*|\d+ [A-Za-z]:.*|\d+ \\\\.*", re.DOTALL)  # as a ledger keeps it: the inode and the path
SEVERAL_NAMES = (
    f"a crash under one name would lose what was spent under another; {NOTHING_SPENT}. Hint: keep one name and remove"
    " the others, which `find FOLDER -samefile FILE` lists; a backup is a copy, not a link"
)
MOUNTED = (
    f"a crash would leave its journal where nobody else finds it; {NOTHING_SPENT}. Hint: mount the folder that holds"
    " the ledger, not the file alone"
)
LEFT_JOURNAL = "a process was stopped while it wrote to it, and left a journal"
WAL_SUFFIX = "-wal"  # after a file's name: the journal of another kind, which SQLite obeys wherever it finds one
IN_USE = "somebody else is using it, and did not finish in time"


class File(NamedTuple):
    """The file of a ledger at one moment.

    Attributes:
        path: the path without symbolic links.
        state: the result of `os.stat`.
    """

    path: Path
    state: os.stat_result

    @property
    def place(self) -> str:
        """The inode and the path, by which a moved or copied ledger is recognized."""
        return f"{self.state.st_ino} {self.path}"

    @property
    def journal(self) -> Path:
        """The path of the rollback journal."""
        return self.path.with_name(f"{self.path.name}-journal")

    def now(self) -> File | None:
        """The present state of the same file; None if it is no longer there."""
        with suppress(OSError):
            state = self.path.stat()
            return File(self.path, state) if os.path.samestat(state, self.state) else None
        return None


def find_file(path: Path) -> File:
    """The file at a path; OSError if there is none."""
    real = Path(os.path.realpath(path))
    return File(real, real.stat())


def name_fault(file: File) -> tuple[str, str] | None:
    """The fault in the names of a file, and what to do; None if it has one name."""
    if has_several_names(file):
        return f"it has {file.state.st_nlink} names (hard links)", SEVERAL_NAMES
    if _is_mounted(file.path):
        return "it is mounted as a single file (bind mount)", MOUNTED
    return None


def journal_fault(file: File) -> tuple[str, str] | None:
    """The fault in the files beside the ledger, and what to do; None if there is none.

    SQLite would wait forever for a pipe, and would copy a write-ahead log into the file, whoever wrote it.
    """
    for path in (file.journal, file.path.with_name(file.path.name + WAL_SUFFIX)):
        try:
            found = path.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            what, hint = f"beside it is {path.name}, which is not a plain file", f"move {path.name} elsewhere"
            return what, f"{NOTHING_SPENT}. Hint: {hint}"
        if path != file.journal and found.st_size > 0:
            what = f"beside it is {path.name}, a kind of journal that hetdp never uses"
            hint = f"close other programs that use the ledger, then move {path.name} elsewhere"
            return what, f"{NOTHING_SPENT}. Hint: {hint}"
    return None


def has_several_names(file: File) -> bool:
    """True if the file has more names than one."""
    return file.state.st_nlink != 1


def _is_mounted(path: Path) -> bool:
    """True if the file itself is a mount point, and so has a second name."""
    try:
        listed = MOUNTS.read_bytes()
    except OSError:
        return False
    written = re.sub(rb"[ \t\n\\]", lambda one: b"\\%03o" % ord(one[0]), os.fsencode(path))
    if b" %b " % written not in listed:
        return False
    return any(line.split(b" ", 5)[4:5] == [written] for line in listed.splitlines())


def has_journal(journal: Path) -> bool:
    """True if there is a journal that is not empty; an empty one has no effect."""
    with suppress(OSError, ValueError):  # a damaged ledger may name a place that is not a path
        return journal.stat().st_size > 0
    return False


def has_abandoned_journal(file: File) -> bool:
    """True if a journal is left that no process uses; the outcome of its transaction is decided later."""
    if not has_journal(file.journal):
        return False
    if sys.platform != "linux":
        return True
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        return not _is_locked(descriptor, RESERVED)
    except OSError:
        return True
    finally:
        _close(descriptor)


def draft_of(path: Path, token: str) -> Path:
    """The name under which a ledger is created, before it gets its own."""
    return path.with_name(f".{path.name}.{token}")


def finish_creation(file: File) -> None:
    """Removes the draft name of a ledger whose creator was killed before it could."""
    pattern = re.compile(re.escape(draft_of(file.path, "").name) + "[0-9a-f]{16}")
    with suppress(OSError):
        for other in file.path.parent.iterdir():
            if pattern.fullmatch(other.name) and os.path.samestat(other.lstat(), file.state):
                other.unlink()


def sync_folder(folder: Path) -> None:
    """Makes the creation and removal of files in a folder durable; OSError if that fails."""
    if sys.platform == "win32":
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system whose folders cannot be made durable by themselves
            raise
    finally:
        _close(place)


def journal_left_behind(file: File, place: str) -> Path | None:
    """The journal at the place where the ledger was last written to; None if there is none."""
    before = Path(place.partition(" ")[2] or os.sep)
    if not before.name:
        return None
    journal = before.with_name(f"{before.name}-journal")
    return journal if before != file.path and has_journal(journal) and not before.exists() else None


def resolve_journal(file: File, timeout: float, check: Callable[[Path, bool], None]) -> str | None:
    """Removes or keeps a journal that a killed process left beside a ledger.

    A process that is killed while it commits leaves the ledger as it was before, as it is afterwards, or half-written.
    If the ledger is whole as it stands, the journal is removed: so nothing that was ever shown is undone, even if the
    journal is not the ledger's own. If it is half-written, SQLite is left to undo the rest, provided that a copy shows
    that this gives a whole ledger.

    Args:
        file: the ledger.
        timeout: how many seconds to wait for others.
        check: raises HetdpError unless the ledger at this path is whole; with True it must leave a journal alone.

    Returns:
        what is wrong, if the journal can neither be removed nor used
    """
    if sys.platform != "linux":
        return None
    deadline = time.monotonic() + timeout
    while has_journal(file.journal):
        if (words := _try_to_resolve(file, check)) is not None:
            return words or None
        if time.monotonic() > deadline:
            return IN_USE
        time.sleep(RETRY_SECONDS)
    return None


def _try_to_resolve(file: File, check: Callable[[Path, bool], None]) -> str | None:
    """One attempt; empty if nothing is to be done, None if others use the ledger."""
    try:
        before = file.journal.stat()
        descriptor = _open(file.path)
    except OSError:
        return "" if not has_journal(file.journal) else f"{LEFT_JOURNAL}, which this user cannot look at"
    try:
        if _is_locked(descriptor, PENDING):
            return None  # somebody ends a transaction, or examines the journal as we do
        if _is_locked(descriptor, RESERVED):
            return ""  # the journal is in use; SQLite leaves it alone
        try:  # a lock of this open file, which survives when SQLite closes the file
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack(LOCK, fcntl.F_WRLCK, os.SEEK_SET, PENDING, LOCKS, 0))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return None
            return _unremovable_message(file, before)
        if not has_journal(file.journal):
            return ""
        return _examine(file, descriptor, check)
    except OSError as error:
        return f"{LEFT_JOURNAL}, which cannot be looked at: {error.strerror or 'the system refused'}"
    finally:
        _close(descriptor)


def _open(path: Path) -> int:
    """The descriptor of a file, for reading and, if that is allowed, for writing."""
    with suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _unremovable_message(file: File, before: os.stat_result) -> str | None:
    """The message for a journal that this user cannot remove; None if it has been replaced in the meantime."""
    with suppress(OSError):
        after = file.journal.stat()
        if (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns):
            return f"{LEFT_JOURNAL}, which only a user with write access can remove"
    return None


def _is_locked(descriptor: int, byte: int) -> bool:
    """True if another process has locked one of SQLite's bytes: RESERVED while it writes, PENDING while it commits."""
    asked = struct.pack(LOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
    kind, *_ = struct.unpack(LOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    return bool(kind != fcntl.F_UNLCK)


def _examine(file: File, descriptor: int, check: Callable[[Path, bool], None]) -> str:
    """Decides about a journal, while nobody else can use the ledger."""
    try:
        try:
            check(file.path, True)
        except HetdpError:
            return _try_journal(file, check)
        os.fsync(descriptor)
        file.journal.unlink()
        sync_folder(file.path.parent)
    except OSError as error:
        return f"{LEFT_JOURNAL}, which cannot be removed: {error.strerror or 'the system refused'}"
    return ""


def _try_journal(file: File, check: Callable[[Path, bool], None]) -> str:
    """Tries on a copy whether rolling back gives a whole ledger; OSError if no copy can be made."""
    with tempfile.TemporaryDirectory(prefix=f".{file.path.name}.", dir=file.path.parent) as folder:
        copy = Path(folder) / "copy"
        shutil.copyfile(file.path, copy)
        shutil.copyfile(file.journal, copy.with_name("copy-journal"))
        now = int.from_bytes(_head(copy)[COUNTER], "big")
        try:
            check(copy, False)
        except HetdpError:
            return f"{LEFT_JOURNAL}, which does not give a whole ledger; it is damaged, or the journal is another's"
        if now - int.from_bytes(_head(copy)[COUNTER], "big") not in (0, 1):
            return f"{LEFT_JOURNAL}, which is older than the ledger"
    return ""


def _close(descriptor: int) -> None:
    """Closes a file. What must be durable was synced before, so that an error means nothing."""
    with suppress(OSError):
        os.close(descriptor)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)
