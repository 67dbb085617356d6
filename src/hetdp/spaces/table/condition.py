"""A predicate as a condition of DuckDB: names are quoted, values are parameters, and no cell can make it fail.

What can be compared is decided by the predicate and the declared types of the columns alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetdp.errors import UsageError, instead_of, shown
from hetdp.spaces.table import kinds
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.moments import (
    FIRST,
    INSTANT,
    LAST,
    Moment,
    day_sql,
    instant,
    moment_of,
    required_moment,
    time_sql,
)
from hetdp.spaces.table.predicate import (
    EQUALITIES,
    Among,
    Comparison,
    Joined,
    Literal,
    Missing,
    Negation,
    Predicate,
    written_name,
)
from hetdp.spaces.table.texts import folded, folded_sql

SQL = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
Condition = tuple[str, list[Any]]  # the words, and the values of the question marks in them


def condition(predicate: Predicate, columns: Mapping[str, str], exact_text: bool = False) -> Condition:
    """The condition and its parameters: true, false, or null where it cannot be said.

    Args:
        predicate: what is counted.
        columns: name → type of every column of the table.
        exact_text: whether texts are compared letter by letter.

    Raises:
        UsageError: a column is not there, or holds what cannot be compared with the value; told by its type alone.
    """
    if isinstance(predicate, Comparison):
        return _compared(predicate, columns, exact_text)
    if isinstance(predicate, Among):
        return _among(predicate, columns, exact_text)
    if isinstance(predicate, Missing):
        require_columns([predicate.column], columns)
        if kinds.kind_of(columns[predicate.column]) == kinds.OTHER:  # to read some of these fails at some cells
            rule = "its type is one of which every cell can be read"
            raise UsageError(f"the column {shown(predicate.column)} holds {kinds.OTHER}", rule)
        return kinds.missing(predicate.column, columns[predicate.column], exact_text), []
    if isinstance(predicate, Negation):
        inner, parameters = condition(predicate.part, columns, exact_text)
        return f"(NOT {inner})", parameters
    if isinstance(predicate, Joined):
        found = [condition(part, columns, exact_text) for part in predicate.parts]
        return _joined(f" {predicate.word} ", found)
    raise UsageError(f"what is counted is {shown(predicate)}", "it is a predicate")


def require_columns(names: list[str], columns: Mapping[str, str]) -> None:
    """Refuses the name of a column that is not there; names are compared exactly.

    Raises:
        UsageError: there is none of that name.
    """
    for name in names:
        if name not in columns:
            rule = "columns are called by their exact names"
            raise UsageError(f"the table has no column {shown(name)}", rule, instead_of(name, columns))


def _joined(joint: str, found: list[Condition]) -> Condition:
    return f"({joint.join(words for words, _ in found)})", [value for _, values in found for value in values]


def _among(given: Among, columns: Mapping[str, str], exact: bool) -> Condition:
    """A column against several values; texts and numbers of one kind are looked up together."""
    together: dict[str, list[Any]] = {}
    others: list[Condition] = []
    for value in given.values:
        words, parameters = _compared(Comparison(given.column, "=", value), columns, exact)
        if words.endswith(" = ?)"):
            together.setdefault(words.removesuffix(" = ?)") + " IN (", []).extend(parameters)
        else:
            others.append((words, parameters))
    listed = [(f"{words}{', '.join('?' * len(values))}))", values) for words, values in together.items()]
    return _joined(" OR ", [*listed, *others])


def _compared(given: Comparison, columns: Mapping[str, str], exact: bool) -> Condition:
    """A column against one value, both brought to one type."""
    require_columns([given.column], columns)
    column, operator, value, declared = given.column, given.operator, given.value, columns[given.column]
    kind, by_order = kinds.kind_of(declared), given.operator not in EQUALITIES
    if isinstance(value, bool):
        if kind == kinds.TRUTH and not by_order:
            return f"({identifier(column)} {SQL[operator]} CAST(? AS BOOLEAN))", [value]
        if kind == kinds.TEXT and not by_order:  # pandas makes texts of a column of truth in which one cell is missing
            said = folded_sql(kinds.text(column))
            return (
                f"(CASE {said} WHEN 'true' THEN true WHEN 'false' THEN false END {SQL[operator]} CAST(? AS BOOLEAN))",
                [value],
            )
    elif isinstance(value, str):
        moment = required_moment(column, operator, value) if by_order else moment_of(value)
        if moment is not None and (kind == kinds.MOMENT or (kind == kinds.TEXT and by_order)):
            return _moment(given, declared, moment)
        if kind == kinds.TEXT:
            side = kinds.text(column) if exact else folded_sql(kinds.text(column))
            return f"({side} {SQL[operator]} ?)", [value if exact else folded(value)]
    elif kind == kinds.WHOLE and isinstance(value, int):
        return f"({identifier(column)} {SQL[operator]} CAST(? AS BIGINT))", [value]
    elif kind in (kinds.WHOLE, kinds.NUMBER, kinds.TEXT):
        return f"({kinds.number(column, declared)} {SQL[operator]} CAST(? AS DOUBLE))", [float(value)]
    raise _refusal(given, kind, value)


def _refusal(given: Comparison, kind: str, value: Literal) -> UsageError:
    """Says that a column of some kind cannot be compared with a value; the hint says with what it can."""
    column = written_name(given.column)
    hint = ""
    if kind == kinds.TRUTH:
        hint = f"{column} = TRUE, or = FALSE"
    elif kind == kinds.MOMENT:
        hint = f"{column} {given.operator} '2024-01-31'"
    elif kind in (kinds.WHOLE, kinds.NUMBER) and isinstance(value, str):
        hint = "write numbers without quotation marks"
    elif kind == kinds.TEXT and isinstance(value, bool):
        hint = f"{column} = '{str(value).lower()}'"
    what = f"the column {shown(given.column)} is compared with {shown(value)}"
    return UsageError(what, f"it holds {kind}, which cannot be compared with that ({given.operator})", hint)


def _moment(given: Comparison, declared: str, moment: Moment) -> Condition:
    """A column of dates, of times, or of texts against a date or a time."""
    cell, is_text, sign = identifier(given.column), kinds.kind_of(declared) == kinds.TEXT, SQL[given.operator]
    if moment.time is None:
        if is_text or declared == "DATE":
            side = day_sql(kinds.text(given.column)) if is_text else cell
            return f"({side} {sign} CAST(? AS DATE))", [str(moment)]
        return _on_day(given, declared, moment)
    if declared == "DATE":
        hint = f"{written_name(given.column)} {given.operator} '{moment.day}'"
        raise UsageError(
            f"the column {shown(given.column)} is compared with a time of day", "it holds dates without one", hint
        )
    if is_text and moment.zoned:
        return f"({INSTANT}({kinds.text(given.column)}) {sign} CAST(? AS BIGINT))", [instant(str(moment))]
    if moment.zoned:
        hint = f"{written_name(given.column)} {given.operator} '{str(moment)[:-1]}'"
        raise UsageError(f"the column {shown(given.column)} is compared with a time zone", "its times have none", hint)
    side = time_sql(kinds.text(given.column)) if is_text else cell
    return _against(side, sign, declared, str(moment))


def _on_day(given: Comparison, declared: str, moment: Moment) -> Condition:
    """A column of times against a date, which is all of a day."""
    cell, begin, end = identifier(given.column), str(moment), moment.next_day
    if given.operator in EQUALITIES:
        words, values = _joined(" AND ", [_against(cell, ">=", declared, begin), _against(cell, "<", declared, end)])
        return (words if given.operator == "=" else f"(NOT {words})"), values
    sign, bound = {"<": ("<", begin), "<=": ("<", end), ">": (">=", end), ">=": (">=", begin)}[given.operator]
    return _against(cell, sign, declared, bound)


def _against(cell: str, sign: str, declared: str, written: str) -> Condition:
    """A time against one that is written; a column of nanoseconds holds only times between `FIRST` and `LAST`."""
    if declared != "TIMESTAMP_NS":
        return f"({cell} {sign} CAST(? AS TIMESTAMP))", [written]
    found = moment_of(written)
    if found is not None and FIRST <= found.begin <= LAST:
        return f"({cell} {sign} CAST(? AS TIMESTAMP_NS))", [written]
    always = sign in (("<>", ">", ">=") if found is not None and found.begin < FIRST else ("<>", "<", "<="))
    return f"({'' if always else 'NOT '}nullif({cell} IS NOT NULL, false))", []  # null where nothing stands
