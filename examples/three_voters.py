"""Three people vote; the first is protected more, but only where that vote decides (the paper's Figure 1)."""

from __future__ import annotations

from itertools import product

import hetdp
from examples import percent

USUAL, PROTECTED = 1.0, 0.2
WAYS = ("only when it decides", "always", "always, for everyone")


def problem(way: str) -> hetdp.Problem:
    """All eight outcomes, which of them differ in one vote, and the majority."""
    datasets = ["".join(votes) for votes in product("12", repeat=3)]
    answers = {votes: 1 if votes.count("1") >= 2 else 2 for votes in datasets}
    edges = []
    for votes in datasets:
        for voter in range(3):
            other = votes[:voter] + "2" + votes[voter + 1 :]
            if other != votes:
                decides = answers[votes] != answers[other]
                protected = {WAYS[0]: voter == 0 and decides, WAYS[1]: voter == 0, WAYS[2]: True}[way]
                edges.append((votes, other, PROTECTED if protected else USUAL))
    source, target, epsilon = map(list, zip(*edges, strict=True))
    return hetdp.Problem(hetdp.DatasetGraph.from_edges(source, target, epsilon, datasets=datasets), answers)


def main() -> None:
    """Prints how often the published majority is right, for each way to protect the first voter, by both designs."""
    shown = ("111", "112", "211")
    print(f"Majority of three votes. The first voter has ε = {PROTECTED}, the others {USUAL}. How often it is right:")
    print("the smaller ε holds".ljust(34), *(votes.rjust(6) for votes in shown))
    for objective in ("balanced", "fair"):
        for way in WAYS:
            mechanism = hetdp.design(problem(way), objective)
            print(f"{objective}: {way}".ljust(34), *(percent(mechanism[votes]).rjust(6) for votes in shown))
    path = hetdp.design(problem(WAYS[0])).explain("111")
    print(f"What keeps 111 from being better: {' – '.join(path.datasets)}")


if __name__ == "__main__":
    main()
