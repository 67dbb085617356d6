"""The rounds of a search over all partitions: they end when nobody has news. The driver sees counts only.

The fixed point is one (engines/contract.py), so its labels are those of every other engine, bit for bit, whatever the
partitions are and in whatever order their rounds come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hetdp.engines.dask.grow import Round, news_from, one_round
from hetdp.errors import counted
from hetdp.problem.partitioned import PartitionedProblem, Task
from hetdp.problem.parts import Part


@dataclass
class Growth:
    """A search that has ended.

    Attributes:
        search: its name: the labels and links of a partition are in a folder of that name.
        latest: for each partition, the round in which it was last at work.
        rounds: how many there were.
        told: how many labels went from one partition to another, in each round.
    """

    search: str
    latest: list[int]
    rounds: int = 0
    told: list[int] = field(default_factory=list)


def grow(problem: PartitionedProblem, search: str, start: Task, *arguments: Any, with_roles: bool = False) -> Growth:
    """Grows labels from a start to the fixed point.

    Args:
        problem: whose partitions take part.
        search: a name that no other search of this problem has.
        start: a task that writes the start labels of a partition, and its roles, under that name.
        arguments: what it is told besides the partition and the name.
        with_roles: whether it writes roles.
    """
    problem.run(start, search, *arguments, words="searching (start labels)")
    return grow_from(problem, search, with_roles=with_roles)


def grow_from(problem: PartitionedProblem, search: str, *, rows: str = "", with_roles: bool = False) -> Growth:
    """The same from start labels that are there already.

    Args:
        problem: whose partitions take part.
        search: the name under which they lie, and the roles.
        rows: the name of the arcs that take part; all arcs if it is empty.
        with_roles: whether roles say which edges take part.
    """
    parts = problem.parts
    growth = Growth(search, [0] * len(parts))
    news: dict[int, list[int]] = {part.number: [] for part in parts}
    fell = 0
    while news:
        growth.rounds += 1
        words = f"searching (round {growth.rounds}, {counted(fell, 'changed label')})"
        round_ = Round(search, problem.notion.name, growth.rounds, 0, (), with_roles, rows)
        tasks = [
            (parts[number], round_._replace(before=growth.latest[number], news=tuple(senders)))
            for number, senders in sorted(news.items())
        ]
        results = problem.workers.run(one_round, tasks, words)
        _forget(parts, growth, news)
        news, fell = {}, 0
        for (part, _), (changed, told) in zip(tasks, results, strict=True):
            growth.latest[part.number] = growth.rounds
            fell += changed
            for receiver in told:
                news.setdefault(receiver, []).append(part.number)
        growth.told.append(sum(sum(told.values()) for _, told in results))
    return growth


def _forget(parts: list[Part], growth: Growth, news: dict[int, list[int]]) -> None:
    """Removes what no task will read again: labels before this round, and the news that it took in."""
    for receiver, senders in news.items():
        before = growth.latest[receiver]
        for kind in ("labels", "links"):
            parts[receiver].path(f"{growth.search}/{kind}-{before}").unlink(missing_ok=True)
        for sender in senders:
            news_from(parts[receiver], growth.search, growth.rounds - 1, sender, receiver).unlink(missing_ok=True)
