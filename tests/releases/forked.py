"""Releases at every dataset of some small spaces, each in a process of its own with its own strace file.

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
from tests.releases.worlds import certain_mechanism, make_ledger, poll_mechanism

WORLDS = {"certain": certain_mechanism, "poll": poll_mechanism, "gaussian": lambda: poll_mechanism("gaussian")}


def run_release(name: str, label: str) -> int:
    """Runs a release on the copy of the ledger; returns its exit code."""
    options = ["--dataset", label, "--ledger", "used.ledger", "-o", "record.json", "--html", "page.html"]
    return hetdp_main(["release", f"{name}.json", f"{name}-mechanism.json", *options])


def reset_ledger(name: str) -> None:
    """Restores the ledger without spends, removes the record and clears the cache of proofs."""
    shutil.copyfile(f"{name}.ledger", "used.ledger")
    for file in ("record.json", "page.html"):
        Path(file).unlink(missing_ok=True)
    proof.clear_cache()


def release_in_fork(name: str, label: str) -> int:
    """Makes a release in a forked process; returns its id."""
    reset_ledger(name)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = run_release(name, label)
            sys.stdout.flush()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return child


def release_everywhere(folder: Path) -> Iterator[tuple[str, str, float, int]]:
    """Yields the name of the mechanism, dataset, z and process id of each release."""
    for name, make in WORLDS.items():
        mechanism = make()
        assert isinstance(mechanism.problem, hetdp.Problem)
        hetdp.save(mechanism.problem, f"{name}.json")
        hetdp.save(mechanism, f"{name}-mechanism.json")
        make_ledger(folder, "inf", "gaussian" if name == "gaussian" else "epsilon", f"{name}.ledger")
        reset_ledger(name)
        assert run_release(name, next(iter(mechanism))) == 0  # loads modules that are loaded only once
        for label, z in zip(mechanism, mechanism.coordinates.tolist(), strict=True):
            yield name, label, z, release_in_fork(name, label)


def main() -> None:
    """Prints all releases as JSON, after their own output."""
    os.chdir(sys.argv[1])
    found = list(release_everywhere(Path(sys.argv[1])))
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
