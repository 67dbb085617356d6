"""A ledger on mounts of all kinds, in a mount namespace of its own.

    unshare -m python -m tests.releases.ledger.mounts FOLDER

prints what each command came to, as JSON: its exit code and its words.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.releases.ledger.faults import make_files, release, run
from tests.releases.worlds import make_ledger

READERS = {
    "status": ["ledger", "status", "a.ledger"],
    "history": ["ledger", "history", "a.ledger"],
    "verify": ["ledger", "verify", "a.ledger"],
    "export": ["ledger", "export", "a.ledger"],
    "price": [*release()[:3], "--ledger", "a.ledger", "--dry-run"],
}
Results = dict[str, tuple[int, str]]


def mount(*words: str | Path) -> None:
    """Mounts something until this process ends."""
    subprocess.run(["mount", *map(str, words)], check=True)


def make_folder(folder: Path, name: str, source: Path) -> Path:
    """A new folder with a problem, its mechanism and a ledger."""
    place = folder / name
    place.mkdir()
    for file in ("poll.json", "mechanism.json"):
        shutil.copy(source / file, place)
    make_ledger(place)
    return place


def run_readers(place: Path, name: str) -> Results:
    """Runs all commands that only read."""
    return {f"{name}: {verb}": run(place, words) for verb, words in READERS.items()}


def bind(folder: Path, source: Path) -> Results:
    """The file and its folder under a second name."""
    place = make_folder(folder, "bind", source)
    (place / "b c.ledger").touch()
    mount("--bind", place / "a.ledger", place / "b c.ledger")
    (folder / "again").mkdir()
    mount("--bind", place, folder / "again")
    return {
        "bind: file": run(place, release("b c.ledger", "1")),
        "bind: itself": run(place, release("a.ledger", "2")),
        "bind: folder": run(folder / "again", release("a.ledger", "3")),
        "bind: verify": run(place, READERS["verify"]),
    }


def overlay(folder: Path, source: Path) -> Results:
    """A ledger below an overlay, which copies it up when it is written to."""
    place = make_folder(folder, "lower", source)
    for name in ("tmpfs", "merged"):
        (folder / name).mkdir()
    mount("-t", "tmpfs", "tmpfs", folder / "tmpfs")
    for name in ("upper", "work"):
        (folder / "tmpfs" / name).mkdir()
    options = f"lowerdir={place},upperdir={folder / 'tmpfs' / 'upper'},workdir={folder / 'tmpfs' / 'work'}"
    mount("-t", "overlay", "overlay", "-o", options, folder / "merged")
    again = run(folder / "merged", release("a.ledger", "1")), run(folder / "merged", release("a.ledger", "1"))
    return {"overlay: first": again[0], "overlay: again": again[1]} | run_readers(folder / "merged", "overlay")


def read_only(folder: Path, source: Path) -> Results:
    """A file system that cannot be written to, without and with a journal that a killed process left."""
    place, killed = make_folder(folder, "readable", source), make_folder(folder, "killed", source)
    inject = ("-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=KILL:when=3")
    assert run(killed, release(), *inject, files=["a.ledger"])[0] == -9
    assert (killed / "a.ledger-journal").stat().st_size > 0
    for each in (place, killed):
        mount("--bind", each, each)
        mount("-o", "remount,ro,bind", each)
    found = run_readers(place, "read-only") | {"read-only: release": run(place, release())}
    found |= run_readers(killed, "killed") | {"killed: release": run(killed, release())}
    for each in (place, killed):
        mount("-o", "remount,rw,bind", each)
    return found | {
        "read-only: written again": run(place, release()),
        "killed: written again": run(killed, release()),
        "killed: verify again": run(killed, READERS["verify"]),
    }


def full_disk(folder: Path, source: Path) -> Results:
    """A full disk, and then the same disk with free space."""
    (folder / "disk").mkdir()
    mount("-t", "tmpfs", "-o", "size=256k", "tmpfs", folder / "disk")
    place = make_folder(folder / "disk", "full", source)
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    found = {"full: release": run(place, release())} | run_readers(place, "full")
    filler.unlink()
    return found | {"full: with room": run(place, release()), "full: verify": run(place, READERS["verify"])}


def main(folder: Path) -> None:
    """Runs all cases and prints the results as JSON."""
    source = folder / "source"
    source.mkdir()
    make_files(source)
    found = bind(folder, source) | overlay(folder, source) | read_only(folder, source) | full_disk(folder, source)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
