"""The notions by name."""

from __future__ import annotations

from hetdp.errors import UsageError
from hetdp.theory.approximate import APPROXIMATE
from hetdp.theory.bounded_range import BOUNDED_RANGE
from hetdp.theory.directed import DIRECTED
from hetdp.theory.gaussian import GAUSSIAN
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE

NOTIONS = {notion.name: notion for notion in (PURE, DIRECTED, APPROXIMATE, GAUSSIAN, BOUNDED_RANGE)}


def notion_named(name: str) -> Notion:
    """The notion a user means."""
    if name not in NOTIONS:
        raise UsageError(f"unknown notion {name!r}", f"a notion is one of {', '.join(sorted(NOTIONS))}")
    return NOTIONS[name]


def notion_of(parameters: tuple[str, ...]) -> Notion:
    """The first notion whose edges have just these parameters.

    >>> notion_of(("epsilon",)).name
    'pure'
    """
    return next(notion for notion in NOTIONS.values() if notion.parameters == parameters)
