"""Files shared by several machines: creating them safely, and detecting that a worker sees different ones.

Folders have random names, and no link is followed: a planted link is refused or replaced, and its target stays
unchanged. A task that outlives its command finds no folder to write to.
"""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hetdp.errors import ClusterError

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
READ_FLAGS = (
    os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)  # a pipe must not block
OWNER_ONLY = 0o700  # access for the owner only
PLAIN_RULE = "hetdp uses only plain files that it wrote itself there, no links"
SEEN_RULE = "all workers must find the same files under the same paths as this machine"


def make_folder(parent: str | Path, word: str) -> str:
    """Makes a folder that only its owner can access, with a random name."""
    place = Path(parent, f"{word}-{os.urandom(8).hex()}")
    place.mkdir(mode=OWNER_ONLY)
    return str(place)


def require_real(root: str | Path, folder: Path, make: bool = False) -> None:
    """Checks that a folder below a root, and every folder in between, is a real folder and not a link.

    Args:
        root: a folder that must exist: a late task must not make a removed root again.
        folder: the folder.
        make: whether to make missing folders.

    Raises:
        ClusterError: one of them is a link or a file.
        OSError: the root does not exist.
    """
    place = os.fspath(root)
    for name in ("", *folder.relative_to(place).parts):
        place = f"{place}{os.sep}{name}" if name else place
        if make and name and not os.path.lexists(place):
            with suppress(FileExistsError):  # another task was faster
                Path(place).mkdir(mode=OWNER_ONLY)
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise ClusterError(f"in the work folder, {place!r} is a link or not a folder", PLAIN_RULE)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yields a new file that only its owner can access, and renames it to `path` once it is complete.

    A file of that name is replaced and never written to, so the target of a planted link stays unchanged.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(8).hex()}")
    os.close(os.open(draft, NEW_FILE_FLAGS, 0o600))
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def open_plain(path: Path) -> BinaryIO:
    """Opens a file of the work folder for reading.

    Raises:
        ClusterError: it is a link, a pipe or a device, or has several hard links.
        OSError: it does not exist or cannot be read.
    """
    if NO_FOLLOW == 0 and path.is_symlink():  # pragma: no cover (a system that cannot refuse links itself)
        raise ClusterError(f"in the work folder, {str(path)!r} is a link", PLAIN_RULE)
    try:
        number = os.open(path, READ_FLAGS)
    except OSError as refusal:
        if path.is_symlink():
            raise ClusterError(f"in the work folder, {str(path)!r} is a link", PLAIN_RULE) from None
        raise refusal
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(number)
        what = "has a second name" if stat.S_ISREG(found.st_mode) else "is not a plain file"
        raise ClusterError(f"in the work folder, {str(path)!r} {what}", PLAIN_RULE)
    return os.fdopen(number, "rb")


class FileState(NamedTuple):
    """A file as the driver sees it.

    Attributes:
        path: its path.
        size: size in bytes.
        seconds: modification time in whole seconds, since machines may store finer times differently.
    """

    path: str
    size: int
    seconds: int

    def require(self) -> None:
        """Checks that this machine sees the same file, and not one of an unshared folder or an older copy.

        Raises:
            ClusterError: the file does not exist, or differs.
        """
        try:
            same = file_state(self.path) == self
        except OSError:
            same = False
        if not same:
            what = f"the machine {platform.node()} sees no file {self.path!r}, or another one than at the beginning"
            raise ClusterError(what, SEEN_RULE)


def file_state(path: str | Path) -> FileState:
    """The state of a file on this machine."""
    found = Path(path).stat()
    return FileState(str(path), found.st_size, int(found.st_mtime))
