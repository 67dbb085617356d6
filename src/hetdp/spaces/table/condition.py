"""A predicate as a condition of DuckDB: names are quoted, values are parameters, and no cell can make it fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetdp.errors import UsageError, instead_of, shown
from hetdp.spaces.table import kinds
from hetdp.spaces.table.database import identifier
from hetdp.spaces.table.predicate import Among, Comparison, Joined, Literal, Missing, Negation, Predicate, written_name

SQL = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def condition(predicate: Predicate, columns: Mapping[str, str]) -> tuple[str, list[Any]]:
    """The condition and its parameters: true, false, or null where it cannot be said.

    Args:
        predicate: what is counted.
        columns: name → type of every column of the table.

    Raises:
        UsageError: a column is not there, or holds what cannot be compared with the value; told by its type alone.
    """
    if isinstance(predicate, Comparison):
        require_columns([predicate.column], columns)
        side, parameter = _comparable(predicate.column, columns[predicate.column], predicate.value, predicate.operator)
        return f"({side} {SQL[predicate.operator]} {parameter})", [predicate.value]
    if isinstance(predicate, Among):
        parts = tuple(Comparison(predicate.column, "=", value) for value in predicate.values)
        return condition(Joined("OR", parts), columns)
    if isinstance(predicate, Missing):
        require_columns([predicate.column], columns)
        if kinds.kind_of(columns[predicate.column]) == kinds.OTHER:  # to read some of these fails at some cells
            rule = "its type is one of which every cell can be read"
            raise UsageError(f"the column {shown(predicate.column)} holds {kinds.OTHER}", rule)
        return f"({_present(predicate.column, columns[predicate.column])} IS NULL)", []
    if isinstance(predicate, Negation):
        inner, parameters = condition(predicate.part, columns)
        return f"(NOT {inner})", parameters
    if isinstance(predicate, Joined):
        found = [condition(part, columns) for part in predicate.parts]
        joint = f" {predicate.word} "
        return f"({joint.join(words for words, _ in found)})", [value for _, values in found for value in values]
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


def _present(column: str, declared: str) -> str:
    """A cell that is null where nothing stands; so is a number that is none."""
    return kinds.number(column, declared) if declared in ("DOUBLE", "FLOAT") else identifier(column)


def _comparable(column: str, declared: str, value: Literal, operator: str) -> tuple[str, str]:
    """Both sides of a comparison, brought to one type."""
    kind = kinds.kind_of(declared)
    if isinstance(value, bool):
        if kind == kinds.TRUTH and operator in ("=", "!="):
            return identifier(column), "CAST(? AS BOOLEAN)"
    elif isinstance(value, str):
        if kind in (kinds.TEXT, kinds.MOMENT):
            return kinds.text(column), "CAST(? AS VARCHAR)"
    elif kind == kinds.WHOLE and isinstance(value, int):
        return identifier(column), "CAST(? AS BIGINT)"
    elif kind in (kinds.WHOLE, kinds.NUMBER, kinds.TEXT):
        return kinds.number(column, declared), "CAST(? AS DOUBLE)"
    what = f"the column {shown(column)} against {shown(value)}"
    hint = f"{written_name(column)} = TRUE, or = FALSE" if kind == kinds.TRUTH else ""
    raise UsageError(what, f"it holds {kind}, which cannot be compared with that ({operator})", hint)
