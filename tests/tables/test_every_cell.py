"""Every value of every type has a meaning: whether a question is answered depends on types, and never on cells."""

from __future__ import annotations

import os
from typing import Any

import pytest

import hetdp
from hetdp.tables.conditions import NO, UNKNOWN, YES, condition
from hetdp.tables.predicates import parse_predicate
from hetdp.tables.sources import Source, open_source
from tests.oracle import asking as oracle
from tests.stress import STRESS, stress
from tests.tables.extremes import LENGTH, MAKERS, OPAQUE

WHOLE = bool(os.environ.get("HETDP_WHOLE_ORACLE")) or STRESS > 1
REFUSED = "refused"
PLACES = {YES: 0, NO: 1, UNKNOWN: 2}  # as the oracle has them
Shape = tuple[Any, ...]
CONDITIONS: list[Shape] = [
    ("null",),
    ("not null",),
    *((sign, value) for sign in ("=", "!=", "<", ">=") for value in (1, 1.5, -7)),
    ("in", [1, 18, 0]),
    ("=", True),
    ("!=", True),
    ("=", "yes"),
    ("!=", "yes"),
    ("in", ["yes", "", 5]),
    ("not in", ["yes", "true"]),
    *((sign, when) for sign in ("=", "!=", "<", ">") for when in ("2024-01-31", "2024-01-31T12:00")),
    (">=", "2024-01-31T12:00Z"),
    ("in", ["2024-01-31", "1970-01-01T00:00"]),
    ("<", "0001-01-02"),
    (">", "9999-12-30"),
    *(("<", f"1677-09-21T00:12:{second}") for second in ("43", "43.145225", "43.5")),  # the ends of nanoseconds
    *((">", f"2262-04-11T23:47:{second}") for second in ("16.5", "17")),
]


def condition_about(column: str, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A condition about a column."""
    return (shape[0], column, *shape[1:])


def outcomes(source: Source, column: str, exact: bool = False, shapes: list[Shape] = CONDITIONS) -> list[Any]:
    """The result of each condition for each row, or the note that it is refused."""
    found: list[Any] = [REFUSED] * len(shapes)
    questions, parameters = {}, []
    for at, shape in enumerate(shapes):
        try:
            words, values = condition(
                parse_predicate(oracle.condition_text(condition_about(column, shape))), source.columns, exact
            )
        except hetdp.UsageError:
            continue
        questions[str(at)] = words
        parameters += values
    if questions:
        for place, cells in source.read(questions, parameters, [column]).items():
            found[int(place)] = [PLACES[code] for code in cells.tolist()]
    return found


@stress
@pytest.mark.parametrize("form", MAKERS)
def test_whether_a_question_is_answered_depends_on_the_type_and_what_it_says_on_the_cell(form, tmp_path):
    codes = {True: 0, False: 1, None: 2}
    share = list(MAKERS).index(form)  # of the conditions, unless all are asked for
    shapes = CONDITIONS if WHOLE else [CONDITIONS[0], *CONDITIONS[1 + share :: len(MAKERS)]]
    harmless, meaning = MAKERS[form](tmp_path, True)
    with open_source(harmless) as source:
        usual = {column: outcomes(source, column, False, shapes) for column in meaning}
    extreme, _ = MAKERS[form](tmp_path, False)
    answered = 0
    with open_source(extreme) as source:
        assert {*meaning} < {*source.columns}
        for column, before in usual.items():
            if meaning[column][0] is OPAQUE:
                assert before == outcomes(source, column, False, shapes) == [REFUSED] * len(shapes), column
                continue
            rows = [{column: cell} for cell in meaning[column]]
            for exact in (False, True) if "VARCHAR" in source.columns[column] else (False,):
                found = outcomes(source, column, exact, shapes)
                assert found[0] is not REFUSED, column
                assert [one is REFUSED for one in found] == [one is REFUSED for one in before], column
                for shape, output in zip(shapes, found, strict=True):
                    if output is not REFUSED:
                        expected = [codes[oracle.truth(condition_about(column, shape), row, exact)] for row in rows]
                        assert output == expected, (column, shape, exact)
                        answered += LENGTH
    assert answered > 100
