"""The UN Security Council, as if its votes were secret: 9 of 15, and all five permanent members. This is not a count.

An abstention is not told from a no here; in the real Council a permanent member who abstains vetoes nothing.
"""

from __future__ import annotations

import hetdp
from examples import percent

PERMANENT, ELECTED, NEEDED = 5, 10, 9
USUAL, PROTECTED = 1.0, 0.3  # a veto is protected more
WAYS = ("only when a veto decides", "permanent members, always", "everyone, always")  # where the smaller ε holds
SHOWN = {(5, 10): "all for", (5, 4): "just enough", (4, 10): "one veto", (3, 10): "two vetoes", (0, 0): "all against"}

Tally = tuple[int, int]


def passes(tally: Tally) -> bool:
    """Whether a draft with so many permanent and elected members for it is adopted."""
    return tally[0] == PERMANENT and sum(tally) >= NEEDED


def problem(way: str) -> hetdp.Problem:
    """All 6 × 11 tallies; two are neighbours if one member votes differently."""
    tallies = [(permanent, elected) for permanent in range(PERMANENT + 1) for elected in range(ELECTED + 1)]
    edges = []
    for permanent, elected in tallies:
        if permanent < PERMANENT:
            decides = passes((permanent, elected)) != passes((permanent + 1, elected))
            epsilon = PROTECTED if decides or way != WAYS[0] else USUAL
            edges.append(((permanent, elected), (permanent + 1, elected), epsilon, "permanent"))
        if elected < ELECTED:
            epsilon = PROTECTED if way == WAYS[2] else USUAL
            edges.append(((permanent, elected), (permanent, elected + 1), epsilon, "elected"))
    source, target, epsilons, classes = map(list, zip(*edges, strict=True))
    graph = hetdp.DatasetGraph.from_edges(source, target, epsilons, datasets=tallies, classes=classes)
    words = {"answer_1": "adopted", "answer_2": "not adopted", "change": "a member ({class}) votes differently"}
    return hetdp.Problem(graph, [passes(tally) for tally in tallies], about=words)


def main() -> None:
    """Prints how often the published outcome is right, for each way to protect vetoes."""
    print(f"Security Council: ε = {PROTECTED} or {USUAL}. How often the published outcome is right:")
    print("the smaller ε is for".ljust(26), *(words.rjust(12) for words in SHOWN.values()))
    for way in WAYS:
        mechanism = hetdp.design(problem(way))
        right = (mechanism[tally] if passes(tally) else 1 - mechanism[tally] for tally in SHOWN)
        print(way.ljust(26), *(percent(probability).rjust(12) for probability in right))
    asked = problem(WAYS[0])
    for kind in ("permanent", "elected"):
        print(hetdp.odds(hetdp.design(asked)).by_class[kind])


if __name__ == "__main__":
    main()
