"""Privacy rules in words, one line for all who are promised the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hetdp.spaces.names import listed, spoken
from hetdp.spaces.privacy.grid import in_words

if TYPE_CHECKING:
    from hetdp.spaces.privacy.rules import Rule

SMALLEST = "where several apply, the smallest ε counts"
OPEN = "all else has no ε, and is refused"


def words_of(rules: Sequence[Rule]) -> str:
    """All promises; groups that are promised the same stand in one line."""
    for_all = [rule for rule in rules if rule.groups is None]
    by_group: dict[str, list[Rule]] = {group: [] for rule in rules for group in rule.groups or ()}
    for rule in rules:
        for group in by_group if rule.groups is None else rule.groups:
            by_group[group].append(rule)
    lines: dict[str, list[str]] = {}
    for group, found in by_group.items():
        lines.setdefault(_promise(found), []).append(spoken(group))
    told = [f"{', '.join(groups)}: {words}" for words, groups in lines.items()]
    if for_all:
        told.append(f"{'everybody else' if by_group else 'everybody'}: {_promise(for_all)}")
    return "\n".join(told)


def _promise(rules: Sequence[Rule]) -> str:
    """What one group is promised."""
    always = min((rule.epsilon for rule in rules if rule.when is rule.change is None), default=None)
    special = sorted((rule for rule in rules if _is_special(rule)), key=lambda rule: rule.epsilon)
    heard = [rule for rule in special if always is None or rule.epsilon < always]
    parts = [f"{in_words(rule.epsilon)} {_case(rule)}" for rule in _without_repeats(heard)]
    if always is not None:
        parts.append(f"else {in_words(always)}" if parts else in_words(always))
    words = ", ".join(parts) + (f"; {SMALLEST}" if len(heard) > 1 else "")
    return words if always is not None or _both_sides(rules) else f"{words}; {OPEN}"


def _both_sides(rules: Sequence[Rule]) -> bool:
    """Whether there is an ε on the side of each answer, and so everywhere."""
    return {1, 2} <= {rule.when.number for rule in rules if rule.change is None and rule.when.kind == "answer"}


def _is_special(rule: Rule) -> bool:
    return rule.when is not None or rule.change is not None


def _without_repeats(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Rules in increasing order of ε, without those whose case has a smaller one."""
    told = set()
    for rule in rules:
        case = _case(rule)
        if case not in told:
            told.add(case)
            yield rule


def _case(rule: Rule) -> str:
    """What a rule is for, in words."""
    if rule.change is None:
        return str(rule.when)
    kind = f"between {listed(rule.change)}" if len(rule.change) == 2 else f"from or to {spoken(rule.change[0])}"
    return f"for changes {kind}" + ("" if rule.when is None else f" {rule.when}")
