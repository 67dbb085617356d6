"""The notions by name."""

from __future__ import annotations

from hetdp.errors import UsageError
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE

NOTIONS = {notion.name: notion for notion in (PURE,)}


def notion_named(name: str) -> Notion:
    """The notion a user means."""
    if name not in NOTIONS:
        raise UsageError(f"unknown notion {name!r}", f"a notion is one of {', '.join(sorted(NOTIONS))}")
    return NOTIONS[name]
