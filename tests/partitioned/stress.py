"""To run by hand: ``python -m tests.partitioned.stress 70`` makes hosts of a cluster fail 70 times at random moments.

Each time the result has the bits of one machine, or the command ends with exit code 8 and one line, or 130 after
Ctrl-C, and leaves nothing. See `tests.partitioned.hosts` for the hosts.
"""

from __future__ import annotations

import random
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import suppress

import psutil  # type: ignore[import-untyped]

from tests.partitioned.test_hosts import Cluster

KINDS = ("kill", "kill all", "cut a worker", "cut first", "cut me", "stop", "interrupt")


def run_with_failure(cluster: Cluster, kind: str, chance: random.Random) -> int:
    """Runs one command during which something fails; returns its exit code."""
    hosts, work = cluster.hosts, f"any-{chance.randrange(1 << 30)}"
    host, stopped = chance.choice(["second", "third"]), []
    with cluster.driver.run_held(
        *cluster.extend("out", work), patience=6.0, still=45.0, answer=2.0, slow=0.1
    ) as finished:
        time.sleep(chance.random() * 6)
        if kind.startswith("kill"):
            for name in [*cluster.workers] if kind == "kill all" else [host]:
                hosts.kill(cluster.workers[name])
        elif kind.startswith("cut"):
            host = kind.split()[1] if kind != "cut a worker" else host
            hosts.cut(host)
        elif kind == "stop":
            stopped = hosts.processes_of(cluster.workers[host])[-1:]
            for process in stopped:
                process.send_signal(signal.SIGSTOP)
        else:
            cluster.driver.interrupt()
        code, _, errors = finished()
    for process in stopped:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGCONT)
    if kind.startswith("cut"):
        hosts.join(host)
    cluster.restart(*cluster.workers)
    sys.stdout.write(f"{kind}: {code} {errors.strip()}\n")
    assert code in ((0, 130) if kind == "interrupt" else (0, 8)), errors
    assert "Traceback" not in errors
    assert errors.count("\n") == (code == 8)
    if code == 0:
        assert cluster.same_bits("out")
    assert cluster.leftovers(work) == []
    shutil.rmtree(cluster.shared / work, ignore_errors=True)
    return code


def main(count: int) -> None:
    """Runs so many commands with failures and prints how they ended."""
    cluster, result = Cluster(), Counter[tuple[str, int]]()
    try:
        where = "have a network of their own each" if cluster.hosts.has_namespaces else "are addresses of loopback"
        sys.stdout.write(f"hosts {where}\n")
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            result[kind, run_with_failure(cluster, kind, random.Random(number))] += 1
    finally:
        cluster.driver.close()
        cluster.hosts.close()
        for (kind, code), times in sorted(result.items()):
            sys.stdout.write(f"{kind}: exit code {code}, {times} times\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
