"""Where ε comes from: one number for everybody, one for each group, or a column of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.spaces.documents import require_keys
from hetdp.spaces.names import name, spoken
from hetdp.spaces.privacy.grid import as_written, for_document, in_words

WAYS = ("constant", "by_group", "column")
ALWAYS, DECIDING = "ε", "the deciding ε"


@dataclass(frozen=True)
class Epsilon:
    """Where ε comes from; exactly one of the three is given.

    Attributes:
        constant: one for everybody.
        by_group: one for each group, by name.
        column: the column that says everybody's.
    """

    constant: Decimal | None = None
    by_group: tuple[tuple[str, Decimal], ...] = ()
    column: str | None = None

    def document(self) -> dict[str, Any]:
        """As it stands in a plan."""
        if self.constant is not None:
            return {"constant": for_document(self.constant)}
        if self.by_group:
            return {"by_group": {group: for_document(epsilon) for group, epsilon in self.by_group}}
        return {"column": self.column}

    def words(self) -> str:
        """Whom it is promised to, in words.

        >>> Epsilon(by_group=(("pupil", Decimal("0.10")), ("staff", Decimal(1)))).words()
        '0.10 for pupil, 1 for staff, and for all others their own'
        """
        if self.constant is not None:
            return f"{in_words(self.constant)} for everybody"
        if self.by_group:
            told = ", ".join(f"{in_words(epsilon)} for {spoken(group)}" for group, epsilon in self.by_group)
            return f"{told}, and for all others their own"
        return f"what the column {spoken(str(self.column))} says"


def epsilon_of(given: Any, by_group: Any, group: str | None, what: str = ALWAYS, option: str = "--epsilon") -> Epsilon:
    """Where ε comes from, from words as they are typed.

    Args:
        given: a number for everybody, or the name of a column.
        by_group: group → number, instead.
        group: the column of groups, if there is one.
        what: which ε it is, for messages.
        option: by which it is given.

    Raises:
        UsageError: there is none, or more than one; or it is no ε.
    """
    if (given is None) == (by_group is None):
        missing = f"no {what}" if given is None else f"{what} twice"
        raise UsageError(missing, f"{what} is one number, one column, or one number for each group", f"{option} eps")
    if by_group is not None:
        if group is None:
            missing = f"{what} by group, but no column of groups"
            raise UsageError(missing, "a column says who is in which", "--group names it")
        if not isinstance(by_group, Mapping) or not by_group:
            raise UsageError(f"{what} by group is {shown(by_group)}", "it says a number for each group")
        return Epsilon(by_group=tuple(sorted((name(one, "a group"), as_written(of)) for one, of in by_group.items())))
    try:
        return Epsilon(constant=as_written(given))
    except UsageError:
        if not isinstance(given, str) or _looks_like_a_number(given):
            raise
    return Epsilon(column=name(given, f"the column of {option}"))


def epsilon_from(where: Any, column: Any, group: str | None, what: str, place: str) -> Epsilon:
    """Where ε comes from, from a plan.

    Args:
        where: as `Epsilon.document` gives it.
        column: the column of it that the plan names among its columns.
        group: the column of groups.
        what: which ε it is, for messages.
        place: where that stands in the plan.

    Raises:
        InputError: the keys are others.
        UsageError: it has no source, or several.
    """
    require_keys(where, (), WAYS, place)
    if not isinstance(where, Mapping) or len(where) != 1 or where.get("column") != column:
        raise UsageError(f"{what} of the plan is {shown(where)}", "it has one source, and columns name the same")
    constant = where.get("constant")
    return epsilon_of(constant if constant is not None else where.get("column"), where.get("by_group"), group, what)


def _looks_like_a_number(text: str) -> bool:
    """Whether this was hardly meant as the name of a column: -1, 1,5, 50% or nan."""
    return (
        re.fullmatch(r"[-+.,\s]*[0-9][-+.,0-9e%/\s]*|[-+]?(nan|inf(inity)?)", text.strip(), re.IGNORECASE) is not None
    )
