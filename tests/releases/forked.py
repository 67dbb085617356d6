"""Releases at every dataset of some small spaces, each in a process of its own, so that strace can tell them apart.

    strace -ff -o PREFIX python -m tests.releases.forked FOLDER

loads everything once, then forks for each release, and prints which process was whose, as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import hetdp
from hetdp.cli.main import main as hetdp_main
from hetdp.releases import proof
from tests.releases.worlds import certain, ledger, poll

WORLDS = {"certain": certain, "poll": poll, "gaussian": lambda: poll("gaussian")}


def released(name: str, label: str) -> int:
    """The exit code of a release on a fresh copy of the ledger."""
    options = ["--dataset", label, "--ledger", "used.ledger", "-o", "record.json", "--html", "page.html"]
    return hetdp_main(["release", f"{name}.json", f"{name}-mechanism.json", *options])


def fresh(name: str) -> None:
    """A ledger in which nothing is spent, and no record; nothing is proof."""
    shutil.copyfile(f"{name}.ledger", "used.ledger")
    for file in ("record.json", "page.html"):
        Path(file).unlink(missing_ok=True)
    proof.clear_cache()


def forked(name: str, label: str) -> int:
    """The process that made the release."""
    fresh(name)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = released(name, label)
            sys.stdout.flush()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return child


def each(folder: Path) -> Iterator[tuple[str, str, float, int]]:
    """World, dataset, z and process of each release."""
    for name, make in WORLDS.items():
        mechanism = make()
        assert isinstance(mechanism.problem, hetdp.Problem)
        hetdp.save(mechanism.problem, f"{name}.json")
        hetdp.save(mechanism, f"{name}-mechanism.json")
        ledger(folder, "inf", "gaussian" if name == "gaussian" else "epsilon", f"{name}.ledger")
        fresh(name)
        assert released(name, next(iter(mechanism))) == 0  # loads what is loaded once
        for label, z in zip(mechanism, mechanism.coordinates.tolist(), strict=True):
            yield name, label, z, forked(name, label)


def main() -> None:
    """Prints all of them, after what the releases print themselves."""
    os.chdir(sys.argv[1])
    found = list(each(Path(sys.argv[1])))
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
