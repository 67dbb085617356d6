"""One form for conditions that mean the same, so that a question is known again however it was typed.

Every step keeps what is said of each row, in the logic of three values: true, false and unknown.
"""

from __future__ import annotations

from itertools import groupby

from hetdp.errors import UsageError, shown
from hetdp.spaces.table.moments import RULE, moment_of, required_moment
from hetdp.spaces.table.predicate import (
    EQUALITIES,
    OPPOSITES,
    Among,
    Comparison,
    Joined,
    Literal,
    Negation,
    Predicate,
    written_name,
)
from hetdp.spaces.table.texts import folded

AND, OR = "AND", "OR"
OTHER = {AND: OR, OR: AND}


def canonical(predicate: Predicate, exact_text: bool = False) -> Predicate:
    """The one form of a condition.

    NOT is pushed in to the comparisons, nested AND and OR are flattened, parts are sorted and stand once, equalities
    with several values become IN, and values are spelt in one way.

    Args:
        predicate: the condition.
        exact_text: whether texts are compared letter by letter; else they are casefolded, without outer spaces.

    Raises:
        UsageError: a comparison by order has a value that is no number, ISO date or ISO timestamp; or a text of spaces
            alone is compared.

    >>> from hetdp.spaces.table.parsing import parsed
    >>> print(canonical(parsed("NOT (vote != 'Yes ' AND NOT vote IN ('aye')) AND age >= 18.0")))
    age >= 18 AND vote IN ('aye', 'yes')
    """
    return _merged(_pushed(predicate, False, exact_text))


def _pushed(predicate: Predicate, negated: bool, exact: bool) -> Predicate:
    """The condition, or its opposite, as ANDs and ORs of comparisons with one value each."""
    if isinstance(predicate, Negation):
        return _pushed(predicate.part, not negated, exact)
    if isinstance(predicate, Joined):
        word = OTHER[predicate.word] if negated else predicate.word
        return _flat(word, [_pushed(part, negated, exact) for part in predicate.parts])
    if isinstance(predicate, Among):
        parts = [Comparison(predicate.column, "=", value) for value in predicate.values]
        return _flat(AND if negated else OR, [_pushed(part, negated, exact) for part in parts])
    if isinstance(predicate, Comparison):
        return _compared(predicate, negated, exact)
    return Negation(predicate) if negated else predicate


def _flat(word: str, parts: list[Predicate]) -> Predicate:
    found: dict[str, Predicate] = {}
    for part in parts:
        inner = part.parts if isinstance(part, Joined) and part.word == word else (part,)
        found |= {str(_merged(one)): one for one in inner}
    return Joined(word, tuple(found.values())) if len(found) > 1 else next(iter(found.values()))


def _compared(given: Comparison, negated: bool, exact: bool) -> Comparison:
    operator = OPPOSITES[given.operator] if negated else given.operator
    value: Literal = given.value
    if isinstance(value, bool):
        if operator not in EQUALITIES:
            hint = f"{written_name(given.column)} = TRUE, or = FALSE"
            raise UsageError(
                f"the column {shown(given.column)} is compared by {operator} with {str(value).upper()}", RULE, hint
            )
        value, operator = value == (operator == "="), "="  # what is not true is false, unless it is unknown
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else value
    elif isinstance(value, str) and operator not in EQUALITIES:
        value = str(required_moment(given.column, given.operator, value))
    elif isinstance(value, str) and not exact:
        value = _spelt(given.column, folded(value))
    return Comparison(given.column, operator, value)


def _spelt(column: str, text: str) -> str:
    """A casefolded text, as it is written: T and Z of a timestamp stay capitals."""
    if not text:
        rule = "a cell with nothing but spaces is a missing value"
        raise UsageError(
            f"the column {shown(column)} is compared with an empty text", rule, f"{written_name(column)} IS NULL"
        )
    return text.upper() if moment_of(text) is not None else text


def _merged(predicate: Predicate) -> Predicate:
    """The same in order, where equalities of one column with several values are one IN."""
    if not isinstance(predicate, Joined):
        return predicate
    sign = "=" if predicate.word == OR else "!="
    found: list[Predicate] = []
    equal, others = [], []
    for part in predicate.parts:
        if isinstance(part, Comparison) and part.operator == sign:
            equal.append(part)
        else:
            others.append(part)
    for column, parts in groupby(sorted(equal, key=_place), key=lambda part: part.column):
        several = list(parts)
        among = Among(column, tuple(part.value for part in several))
        one: Predicate = among if sign == "=" else Negation(among)
        found.append(several[0] if len(several) == 1 else one)
    found += map(_merged, others)
    return found[0] if len(found) == 1 else Joined(predicate.word, tuple(sorted(found, key=str)))


def _place(part: Comparison) -> tuple[str, str]:
    return part.column, str(part)
