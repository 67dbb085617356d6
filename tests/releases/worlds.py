"""Small mechanisms of every notion to release from, with values p = 0 and p = 1, and a ledger for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hetdp
from hetdp.mechanism.mechanism import LocalMechanism

SOURCE = "class 4b"
WORDS = {
    "title": "Do at least two say yes?",
    "answer_1": "aye",
    "answer_2": "nay",
    "change": "you vote differently",
    "privacy_unit": "one pupil",
}
LABELS = ["none", "one", "two", "all"]
CURRENCY = {"approximate": "epsilon-delta", "gaussian": "gaussian"}
PROMISES: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": [1.0, 0.5, 0.1]},
    "bounded-range": {"epsilon": [1.0, 0.5, 0.1]},
    "directed": {"epsilon": [1.0, 0.5, 0.1], "epsilon_back": [0.5, 0.5, 0.2]},
    "approximate": {"epsilon": [1.0, 0.5, 0.1], "delta": [0.01, 0.02, 0.0]},
    "gaussian": {"mu": [1.0, 0.5, 0.1]},
}


def poll_mechanism(notion: Any = "pure") -> LocalMechanism:
    """Four datasets on a path; the last edge has no class."""
    graph = hetdp.DatasetGraph.from_edges(
        LABELS[:-1], LABELS[1:], classes=["pupils", "pupils", None], **PROMISES[notion]
    )
    problem = hetdp.Problem(graph, [2, 2, 1, 1], notion, about=WORDS)
    return hetdp.extend(problem, {"one": 0.45, "two": 0.55})


def certain_mechanism() -> LocalMechanism:
    """A mechanism with p = 1, p = 0, p = ½ and a value in between.

    Nothing is promised on three edges.
    """
    graph = hetdp.DatasetGraph.from_edges(
        ["a", "b", "c", "d", "e", "f", "g"],
        ["b", "c", "d", "e", "f", "g", "h"],
        [0.5, float("inf"), 0.5, float("inf"), 1.0, float("inf"), 0.5],
    )
    problem = hetdp.Problem(graph, [1, 1, 2, 2, 1, 2, 2, 2], about=WORDS)
    found = hetdp.extend(problem, {"c": 0.3, "e": 0.5, "f": 0.5})
    assert {float("inf"), float("-inf"), 0.0} <= set(found.coordinates.tolist())
    return found


def make_ledger(
    folder: Path, cap: Any = 3, currency: str = "epsilon", name: str = "a.ledger", **caps: Any
) -> hetdp.Ledger:
    """Creates a ledger with one source."""
    return hetdp.Ledger.create(folder / name, source=SOURCE, cap=cap, caps=caps or None, currency=currency)


def spent_by_class(ledger: hetdp.Ledger) -> dict[str, str]:
    """The amount spent by each class."""
    return {one.name: one.spent for one in ledger.status()[0].classes}
