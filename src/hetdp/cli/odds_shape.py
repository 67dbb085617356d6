"""The shape of odds in a JSON document."""

from __future__ import annotations

from hetdp.cli.shapes import number

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.mechanism.odds import Change, Odds

    Shape = dict[str, Any]


def odds(given: Odds) -> Shape:
    """What a change of one class does to the published answer."""
    return {
        "class": given.edge_class,
        "message": str(given),
        "source": given.source,
        "target": given.target,
        "answer": given.answer,
        "low": number(given.low),
        "high": number(given.high),
        "loss": number(given.loss),
        "strongest": None if given.strongest is None else change(given.strongest),
        "epsilon": number(given.epsilon),
        "edges": given.edges,
        "unprotected": given.unprotected,
    }


def change(given: Change) -> Shape:
    """One edge, from the end where an answer is less probable to the one where it is more so."""
    return {
        "source": given.source,
        "target": given.target,
        "answer": given.answer,
        "low": number(given.low),
        "high": number(given.high),
    }


def all_odds(given: Odds | dict[Any, Odds]) -> list[Shape]:
    """Whatever `hetdp.odds` returned, as a list: one entry for each class."""
    return [odds(each) for each in given.values()] if isinstance(given, dict) else [odds(given)]
