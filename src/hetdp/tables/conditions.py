"""Predicates as expressions of DuckDB: names are quoted, values are parameters, and no cell can make one fail.

The predicate and the declared types of the columns alone decide what can be compared.

Each row becomes one of three small numbers, by the same arithmetic for all rows: `NO` is 0b00, `UNKNOWN` is 0b01 and
`YES` is 0b11, so that AND is ``&`` and OR is ``|``. Nothing in the expression is null, and it has no CASE, AND, OR or
WHERE: if DuckDB computed something for some rows only, the time would tell how many they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hetdp.duck import quote_name, quote_text
from hetdp.errors import UsageError
from hetdp.tables import kinds
from hetdp.tables.comparison import (
    BLANKS,
    FIRST_MOMENT,
    INSTANT_FUNCTION,
    LAST_MOMENT,
    Moment,
    day_sql,
    fold_text,
    fold_text_sql,
    instant,
    moment_of,
    require_moment,
    spelling_pattern,
    time_sql,
)
from hetdp.tables.predicates import (
    EQUALITIES,
    Combination,
    Comparison,
    Literal,
    Membership,
    Missing,
    Negation,
    Predicate,
    format_column,
)
from hetdp.text import did_you_mean, format_value

NO, UNKNOWN, YES = 0b00, 0b01, 0b11  # the value of a row
TO_THE_END = r"(?s:.*)\zx"  # matches nothing, but makes DuckDB read a text to its end, not to the first difference
MOST_LISTED = 20  # columns in a message
JOINTS = {"AND": " & ", "OR": " | "}
# every operator is one of =, < and >, or the opposite of one
BASES = {"=": "=", "!=": "=", "<": "<", ">=": "<", ">": ">", "<=": ">"}
Condition = tuple[str, list[Any]]  # the SQL, and the values of its question marks


class CellTest(NamedTuple):
    """One comparison, or test for NULL, of every row.

    Attributes:
        holds: whether it is true; false if that is unknown.
        unknown: whether the cell has no comparable value.
        parameters: the values of the question marks in `holds`.
        is_opposite: whether rows match where `holds` is false.
        spelling: the regular expression of the texts, if one is used.
        text: the expression that is compared with the parameter, if both are texts.
    """

    holds: str
    unknown: str
    parameters: list[Any]
    is_opposite: bool = False
    spelling: str = ""
    text: str = ""

    def code(self, opposite: bool, only_yes: bool = False) -> Condition:
        """NO, UNKNOWN or YES for every row. With `only_yes`, NO and UNKNOWN need not be told apart."""
        holds = f"(CAST({self.holds} AS UTINYINT) * {_byte(YES)})"
        if opposite == self.is_opposite and only_yes:
            return holds, self.parameters
        if opposite == self.is_opposite:
            return f"(CAST({self.unknown} AS UTINYINT) | {holds})", self.parameters
        return (
            f"xor({_byte(YES)}, (CAST({self.unknown} AS UTINYINT) * {_byte(YES ^ UNKNOWN)}) | {holds})",
            self.parameters,
        )


def condition(
    predicate: Predicate,
    columns: Mapping[str, str],
    exact_text: bool = False,
    opposite: bool = False,
    only_yes: bool = False,
) -> Condition:
    """The expression of a predicate and its parameters: `YES`, `NO` or `UNKNOWN` for every row.

    Args:
        predicate: the condition.
        columns: name → type of every column of the table.
        exact_text: whether text is compared exactly.
        opposite: whether to negate it.
        only_yes: whether `NO` and `UNKNOWN` need not be told apart, which is faster.

    Raises:
        UsageError: a column does not exist, or its type cannot be compared with the value.
    """
    if isinstance(predicate, Comparison):
        return _comparison_test(predicate, columns, exact_text).code(opposite, only_yes)
    if isinstance(predicate, Membership):
        tests = _among_test(predicate, columns, exact_text)
        return _join("AND" if opposite else "OR", [test.code(opposite, only_yes) for test in tests])
    if isinstance(predicate, Missing):
        require_columns([predicate.column], columns)
        if kinds.kind_of(columns[predicate.column]) == kinds.OTHER:  # some of their cells cannot be read
            rule = "the column must have a type whose cells can all be read"
            raise UsageError(f"the column {format_value(predicate.column)} holds {kinds.OTHER}", rule)
        missing = kinds.is_missing_sql(predicate.column, columns[predicate.column], exact_text)
        return CellTest(missing, "false", []).code(opposite, only_yes)
    if isinstance(predicate, Negation):
        return condition(predicate.part, columns, exact_text, not opposite, only_yes)
    if isinstance(predicate, Combination):
        found = [condition(part, columns, exact_text, opposite, only_yes) for part in predicate.parts]
        return _join("OR" if (predicate.word == "OR") != opposite else "AND", found)
    raise UsageError(f"what is counted is {format_value(predicate)}", "it must be a predicate")


def _byte(number: int) -> str:
    return f"CAST({number} AS UTINYINT)"


def require_columns(names: list[str], columns: Mapping[str, str]) -> None:
    """Refuses columns that do not exist; names are compared exactly.

    Raises:
        UsageError: a column does not exist.
    """
    for name in names:
        if name not in columns:
            rule = "column names must match exactly"
            listed = ", ".join(format_value(column) for column in list(columns)[:MOST_LISTED])
            more = ", …" if len(columns) > MOST_LISTED else ""
            hint = did_you_mean(name, columns) or f"the columns are {listed}{more}"
            raise UsageError(f"the table has no column {format_value(name)}", rule, hint)


def _join(word: str, found: list[Condition]) -> Condition:
    return f"({JOINTS[word].join(words for words, _ in found)})", [value for _, values in found for value in values]


def _among_test(given: Membership, columns: Mapping[str, str], exact: bool) -> list[CellTest]:
    """A column against several values; values of one kind are tested together."""
    tests = [_comparison_test(Comparison(given.column, "=", value), columns, exact) for value in given.values]
    together: dict[tuple[str, str], list[Any]] = {}
    for test in tests:
        if test.text:
            together.setdefault((test.text, test.unknown), []).append(test.parameters[0])
    listed = [
        CellTest(f"coalesce({text} IN ({', '.join('?' * len(values))}), false)", unknown, values)
        for (text, unknown), values in together.items()
    ]
    patterns = [test.spelling for test in tests if test.spelling]
    listed += [_spelling_test(given.column, "|".join(patterns))] if patterns else []
    return listed + [test for test in tests if not test.spelling and not test.text]


def _spelling_test(column: str, pattern: str) -> CellTest:
    """The SQL test that the text of a column matches a spelling; see `spelling_pattern`."""
    wanted, unknown = (
        quote_text(f"{BLANKS}(?:{pattern}){BLANKS}|{TO_THE_END}"),
        kinds.is_missing_sql(column, "VARCHAR", False),
    )
    return CellTest(f"regexp_full_match({kinds.text_or_empty(column)}, {wanted})", unknown, [], spelling=pattern)


def _comparison_test(given: Comparison, columns: Mapping[str, str], exact: bool) -> CellTest:
    """A column against one value, both converted to one type."""
    require_columns([given.column], columns)
    column, value, declared = given.column, given.value, columns[given.column]
    kind, by_order = kinds.kind_of(declared), given.operator not in EQUALITIES
    if isinstance(value, bool):
        if kind == kinds.TRUTH and not by_order:
            return _test(given, quote_name(column), "CAST(? AS BOOLEAN)", value)
        if kind == kinds.TEXT and not by_order:  # pandas makes texts of booleans if one cell is missing
            return _truth_in_text(given, value)
    elif isinstance(value, str):
        moment = require_moment(column, given.operator, value) if by_order else moment_of(value)
        if moment is not None and (kind == kinds.MOMENT or (kind == kinds.TEXT and by_order)):
            return _moment(given, declared, moment)
        if kind == kinds.TEXT:
            pattern = None if exact else spelling_pattern(fold_text(value))
            if pattern is not None:
                return _spelling_test(column, pattern)._replace(is_opposite=given.operator == "!=")
            side = kinds.text(column) if exact else fold_text_sql(kinds.text_or_empty(column))
            return _text(given, side, value if exact else fold_text(value))
    elif kind == kinds.WHOLE and isinstance(value, int):
        return _test(given, quote_name(column), "CAST(? AS BIGINT)", value)
    elif kind in (kinds.WHOLE, kinds.NUMBER, kinds.TEXT):
        return _number(given, f"coalesce({kinds.number(column, declared)}, CAST('nan' AS DOUBLE))", float(value))
    raise _refusal(given, kind, value)


def _truth_in_text(given: Comparison, value: bool) -> CellTest:
    """The SQL test that a text means true, or false; any other text is unknown."""
    ways = {truth: str(spelling_pattern(str(truth).lower())) for truth in (True, False)}
    either = quote_text(f"{BLANKS}(?:{ways[True]}|{ways[False]}){BLANKS}|{TO_THE_END}")
    unknown = f"(NOT regexp_full_match({kinds.text_or_empty(given.column)}, {either}))"
    return CellTest(_spelling_test(given.column, ways[value]).holds, unknown, [], given.operator == "!=")


def _test(given: Comparison, side: str, parameter: str, value: Any) -> CellTest:
    """A comparison with a parameter; a missing value is replaced by the parameter itself, which compares false."""
    base, unknown = BASES[given.operator], f"({side}) IS NULL"
    if base == "=":
        return CellTest(f"({side}) IS NOT DISTINCT FROM {parameter}", unknown, [value], given.operator != base)
    return CellTest(
        f"(coalesce({side}, {parameter}) {base} {parameter})", unknown, [value, value], given.operator != base
    )


def _text(given: Comparison, side: str, value: str) -> CellTest:
    """A text that is, or is not, another. ``<>`` is used because its time varies less than that of ``=``."""
    return CellTest(
        f"(coalesce({side}, ?) <> ?)", f"({side}) IS NULL", [value, value], given.operator == "=", text=side
    )


def _number(given: Comparison, side: str, value: float) -> CellTest:
    """A comparison of floats; those that are not finite are missing."""
    base = BASES[given.operator]
    holds = f"CAST({side} {base} CAST(? AS DOUBLE) AS UTINYINT) * CAST(isfinite({side}) AS UTINYINT)"
    return CellTest(holds, f"(NOT isfinite({side}))", [value], given.operator != base)


def _refusal(given: Comparison, kind: str, value: Literal) -> UsageError:
    """The error for a column that cannot be compared with a value; the hint says what it can be compared with."""
    column = format_column(given.column)
    hint = ""
    if kind == kinds.TRUTH:
        hint = f"{column} = TRUE, or = FALSE"
    elif kind == kinds.MOMENT:
        hint = f"{column} {given.operator} '2024-01-31'"
    elif kind in (kinds.WHOLE, kinds.NUMBER) and isinstance(value, str):
        hint = "write numbers without quotation marks"
    elif kind == kinds.TEXT and isinstance(value, bool):
        hint = f"{column} = '{str(value).lower()}'"
    what = f"the column {format_value(given.column)} is compared with {format_value(value)}"
    return UsageError(what, f"it holds {kind}, which cannot be compared with that ({given.operator})", hint)


def _moment(given: Comparison, declared: str, moment: Moment) -> CellTest:
    """A column of dates, timestamps or texts against a moment."""
    cell, is_text = quote_name(given.column), kinds.kind_of(declared) == kinds.TEXT
    if moment.time is None:
        if is_text or declared == "DATE":
            side = day_sql(kinds.text_or_empty(given.column)) if is_text else cell
            return _test(given, side, "CAST(? AS DATE)", str(moment))
        return _on_day(given, declared, moment)
    if declared == "DATE":
        hint = f"{format_column(given.column)} {given.operator} '{moment.day}'"
        raise UsageError(
            f"the column {format_value(given.column)} is compared with a time of day",
            "it holds dates without one",
            hint,
        )
    if is_text and moment.zoned:
        return _test(
            given, f"{INSTANT_FUNCTION}({kinds.text_or_empty(given.column)})", "CAST(? AS BIGINT)", instant(str(moment))
        )
    if moment.zoned:
        hint = f"{format_column(given.column)} {given.operator} '{str(moment)[:-1]}'"
        raise UsageError(
            f"the column {format_value(given.column)} is compared with a time zone", "its times have none", hint
        )
    side = time_sql(kinds.text_or_empty(given.column)) if is_text else cell
    base = BASES[given.operator]
    holds, parameters = _moment_test(side, base, declared, str(moment))
    return CellTest(holds, f"({side}) IS NULL", parameters, given.operator != base)


def _on_day(given: Comparison, declared: str, moment: Moment) -> CellTest:
    """A column of timestamps against a date, which stands for the whole day."""
    cell = quote_name(given.column)
    before_it, before_its_end = (_moment_test(cell, "<", declared, day) for day in (str(moment), moment.next_day))
    if given.operator not in EQUALITIES:  # each operator is "before" one of the two, or its opposite
        holds, parameters = before_it if given.operator in ("<", ">=") else before_its_end
        return CellTest(holds, f"{cell} IS NULL", parameters, given.operator in (">", ">="))
    holds = f"CAST(NOT {before_it[0]} AS UTINYINT) * CAST({before_its_end[0]} AS UTINYINT)"
    return CellTest(holds, f"{cell} IS NULL", before_it[1] + before_its_end[1], given.operator == "!=")


def _moment_test(cell: str, base: str, declared: str, written: str) -> Condition:
    """The SQL test that a timestamp is before (<), after (>) or equal (=) to another; false if it is missing.

    A column of nanoseconds holds times between `FIRST_MOMENT` and `LAST_MOMENT` only; others would become infinite.
    """
    found = moment_of(written)  # None for the day after 9999-12-31
    if declared == "TIMESTAMP_NS" and (found is None or not FIRST_MOMENT <= found.begin <= LAST_MOMENT):
        always = base == (">" if found is not None and found.begin < FIRST_MOMENT else "<")
        return (f"({cell} IS NOT NULL)" if always else "false"), []
    parameter = f"CAST(? AS {'TIMESTAMP_NS' if declared == 'TIMESTAMP_NS' else 'TIMESTAMP'})"
    if base == "=":
        return f"(({cell}) IS NOT DISTINCT FROM {parameter})", [written]
    return f"(coalesce({cell}, {parameter}) {base} {parameter})", [written, written]
