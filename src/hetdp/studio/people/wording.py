"""The question as one sentence in plain words, from what has been typed so far; gaps are shown as an ellipsis."""

from __future__ import annotations

from hetdp.errors import HetdpError
from hetdp.people.questions.thresholds import RESPONDENTS
from hetdp.problem.answer_words import YES
from hetdp.studio.people.draft import (
    AREA_THRESHOLD,
    AT_LEAST,
    AT_MOST,
    COMPARE,
    COUNT,
    DIRECTIONS,
    EMPTY,
    GROUPS,
    IS,
    IS_NOT,
    LESS,
    MORE,
    ONE_OF,
    SHARE,
    THRESHOLD,
    WEIGHT,
    Draft,
)
from hetdp.studio.people.table import OpenedTable
from hetdp.text import escape_unprintable

GAP = "…"
ORDERS = {AT_LEAST: "at least", AT_MOST: "at most", MORE: "more than", LESS: "less than"}


def question_sentence(draft: Draft, table: OpenedTable) -> str:
    """The question in plain words, with what an exact tie and a missing answer mean."""
    does = says_words(draft, table)
    area = draft.area(table)
    people = "its people" if area else f"all {table.rows:,} people"
    strict = draft["direction"] == "more_than"
    compared, exact = DIRECTIONS[draft["direction"]], "no" if strict else "yes"
    kind = draft["kind"]
    blank = " People without an answer count as not doing so." if draft["operator"] != EMPTY else ""
    if kind == SHARE:
        share = _percent(draft["share"])
        if draft["of"] == RESPONDENTS:
            whom = (
                "its people who have an answer"
                if area
                else f"the people who have an answer, among {table.rows:,} in all"
            )
            words = f"Of {whom}, do {compared} {share} {does}?"
            words += f" Exactly {share} means {exact}. People without an answer do not count."
        else:
            words = f"Do {compared} {share} of {people} {does}? Exactly {share} means {exact}.{blank}"
    elif kind == COUNT:
        words = f"Do {compared} {escape_unprintable(draft['number'].strip()) or GAP} of {people} {does}?{blank}"
    elif kind == COMPARE:
        tie = "yes" if draft["ties"] == YES else "no"
        whom = "more of its people" if area else "more people"
        words = f"Do {whom} {does} than do not? A tie means {tie}. People without an answer do not count."
    elif kind == GROUPS:
        words = f"{_groups_sentence(draft, table, compared, does)}{blank}"
    else:
        words = f"{_weighted_sentence(draft, table, does)}{blank}"
    if not area:
        return words
    named = f"“{escape_unprintable(area)}”"
    if not draft.has_area_thresholds(table):
        return f"For each {named}, one answer: {words[:1].lower()}{words[1:]}"
    whom = "people who have an answer" if kind == SHARE and draft["of"] == RESPONDENTS else "people"
    ending = f" Exactly so many means {exact}.{'' if whom != 'people' else blank}"
    return f"For each {named}: do so many of its {whom} {does}? {_area_words(draft, table, compared)}.{ending}"


def _area_words(draft: Draft, table: OpenedTable, compared: str) -> str:
    """The threshold of each area."""
    try:
        names = table.names(draft.area(table))
    except HetdpError:
        return GAP
    typed = {name: draft.number(AREA_THRESHOLD, draft.area(table), name) for name in names}
    form = _percent if draft["kind"] == SHARE else (lambda text: escape_unprintable(text.strip()) or GAP)
    return "; ".join(f"{escape_unprintable(name)}: {compared} {form(text)}" for name, text in typed.items())


def says_words(draft: Draft, table: OpenedTable) -> str:
    """What the counted people do, such as: say “move” in the column “answer”."""
    column = draft.counted_column(table)
    where = f"in the column “{escape_unprintable(column)}”" if column else f"in the column {GAP}"
    typed, operator = draft["value"].strip(), draft["operator"]
    value = f"“{escape_unprintable(typed)}”" if typed else GAP
    if operator == IS:
        return f"say {value} {where}"
    if operator == IS_NOT:
        return f"say anything but {value} {where}"
    if operator == ONE_OF:
        parts = [f"“{escape_unprintable(part.strip())}”" for part in typed.split(",") if part.strip()]
        return f"say {' or '.join(parts) or GAP} {where}"
    if operator == EMPTY:
        return f"have no value {where}"
    return f"have {ORDERS[operator]} {escape_unprintable(typed) or GAP} {where}"


def _percent(typed: str) -> str:
    text = escape_unprintable(typed.strip())
    return f"{text}%" if text and text[-1].isdigit() and "/" not in text else text or GAP


def _groups_sentence(draft: Draft, table: OpenedTable, compared: str, does: str) -> str:
    counts = _counts(draft, table)
    try:
        typed = draft.numbers_of(table, THRESHOLD)
    except HetdpError:
        typed = []
    parts = []
    for name, number in typed:
        many = number if draft["each"] == COUNT else _percent(number)
        of = "its people" if draft.area(table) else f"the {counts.get(name, 0):,} people"
        parts.append(f"{compared} {many} of {of} of {escape_unprintable(name)}")
    joint = draft["joint"]
    whom = f" {joint} ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} {joint} {parts[-1]}"
    return f"Do {whom or f'{compared} {GAP} of the people of each group'} {does}?"


def _weighted_sentence(draft: Draft, table: OpenedTable, does: str) -> str:
    try:
        typed = draft.numbers_of(table, WEIGHT)
        total = "" if draft.area(table) else f" of {float(draft.total_weight(table)):,.10g}"
    except HetdpError:
        typed, total = [], ""
    weights = "; ".join(f"{escape_unprintable(name)} {number}" for name, number in typed) or GAP
    wanted = escape_unprintable(draft["sum"].strip()) or GAP
    return f"Do the people who {does} have a weight of at least {wanted}{total} together? Weights: {weights}."


def _counts(draft: Draft, table: OpenedTable) -> dict[str, int]:
    try:
        return table.values(draft.group(table)).counts
    except HetdpError:
        return {}
