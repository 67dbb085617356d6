"""Names with numbers, as people type them: pupil=0.3,staff=1."""

from __future__ import annotations

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def pairs(option: str, given: Iterable[str], form: str, rule: str) -> dict[str, Any]:
    """Name → number: from NAME=NUMBER, several of them with commas between, or from a JSON object.

    Args:
        option: by which they were given.
        given: what stood behind it, each time.
        form: what one of them looks like.
        rule: that each name has one number.

    Raises:
        UsageError: a number has no name, or a name two numbers.
    """
    from hetdp.errors import UsageError, shown
    from hetdp.spaces.documents import parsed_json

    found: list[tuple[str, Any]] = []
    for words in given:
        if words.lstrip().startswith("{"):
            found += parsed_json(words, option).items()
            continue
        for part in words.split(","):
            name, equals, number = part.rpartition("=")
            if not equals:
                raise UsageError(f"{option} {shown(part)}", f"it is {form}, with commas between several")
            found.append((name.strip(), number.strip()))
    if len(dict(found)) < len(found):
        raise UsageError(f"{option} has a name twice", rule)
    return dict(found)
