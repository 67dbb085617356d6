"""Problems and other objects that these tests draw."""

from __future__ import annotations

import math
from typing import Any

import hetdp
from examples import security_council, three_voters
from hetdp.releases.ledger.status import Balance, Group, Status

HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{",
    "x" * 400,
    "\u202eevil",
    "👩‍👩‍👧",
    "שלום עולם",
    "a\nb",
    "",
    "_hidden",
    "日本",
]


def voters() -> hetdp.Problem:
    return three_voters.problem(three_voters.WAYS[0])


def council() -> hetdp.Problem:
    return security_council.problem(security_council.WAYS[0])


def line(size: int, epsilon: Any = 0.5, **more: Any) -> hetdp.Problem:
    """Datasets 0, 1, 2, … in a line, the second half with answer 1."""
    graph = hetdp.DatasetGraph.from_edges(list(range(size - 1)), list(range(1, size)), epsilon, datasets=range(size))
    return hetdp.Problem(graph, [1 if at >= size // 2 else 2 for at in range(size)], **more)


def majority() -> hetdp.Problem:
    """The number of 21 people who said yes; a deciding vote is protected more."""
    answers = [1 if ones > 10 else 2 for ones in range(22)]
    epsilon = [0.3 if answers[ones] != answers[ones + 1] else 1.0 for ones in range(21)]
    graph = hetdp.DatasetGraph.from_edges(list(range(21)), list(range(1, 22)), epsilon)
    return hetdp.Problem(graph, answers, weights=[math.comb(21, ones) for ones in range(22)])


def hostile() -> hetdp.Problem:
    """Labels and texts that look like markup, formulas or control characters."""
    graph = hetdp.DatasetGraph.from_edges(HOSTILE[:-1], HOSTILE[1:], 0.5)
    return hetdp.Problem(graph, [1] * 5 + [2] * 5, about={"answer_1": "$x^$ </svg>", "answer_2": "_no"})


def senate(epsilon: float = 0.5) -> Any:
    return hetdp.spaces.population(hetdp.questions.count("yes", at_least=50), epsilon, size=100)


def status(source: str = "school") -> Status:
    classes = (
        Balance("pupils", "1", "0.5", "0.5"),
        Balance("$\\staff{", "2", "1.2", "0.8"),
        Balance("_guests", "inf", "0.3", "inf"),
    )
    people = (Group("2", None, (), 12, "0.75", "1.25", 0),)
    return Status(source, "epsilon", "ε", "2", None, classes, 12, "id", "0.75", "1.25", 0, people)


def words(axes: Any) -> str:
    """All visible text of a picture."""
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in axes.get_figure().findobj(Text) if text.get_visible())


def unwrapped(axes: Any) -> str:
    """The same on one line."""
    return " ".join(words(axes).split("\n"))
