"""The page's plain words: the question as one sentence, names of levels, what levels of protection gain.

The sentence is made from what has been typed so far; gaps are shown as an ellipsis.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hetdp.errors import HetdpError, UsageError
from hetdp.mechanism.accuracy.baselines import GEOMETRIC, ONE_EPSILON
from hetdp.mechanism.formatting import SMALL_ERROR, format_runs
from hetdp.people.names import join_names
from hetdp.people.populations.baselines import least_units
from hetdp.people.populations.mechanism import PopulationMechanism
from hetdp.people.populations.shares import AccuracyPoint
from hetdp.people.privacy.epsilons import UNBOUNDED, format_epsilon, shortest_decimal
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
    read_share,
)
from hetdp.studio.people.table import OpenedTable
from hetdp.tables.comparison import group_similar_names
from hetdp.tables.promise import Promise, Protection
from hetdp.tables.request import plain_words
from hetdp.text import escape_unprintable

GAP = "…"
ORDERS = {AT_LEAST: "at least", AT_MOST: "at most", MORE: "more than", LESS: "less than"}


def question_sentence(draft: Draft, table: OpenedTable) -> str:
    """The question in plain words, with what an exact tie and a missing answer mean."""
    does = counted_words(draft, table)
    area = draft.area(table)
    people = "its people" if area else f"all {table.rows:,} people"
    strict = draft["direction"] == "more_than"
    compared, exact = DIRECTIONS[draft["direction"]], "no" if strict else "yes"
    kind = draft["kind"]
    blank = " People without an answer do not count as yes." if draft["operator"] != EMPTY else ""
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


def counted_words(draft: Draft, table: OpenedTable) -> str:
    """What the counted people have in common, such as: have “fail” in the column “grade”."""
    column = draft.counted_column(table)
    where = f"in the column “{escape_unprintable(column)}”" if column else f"in the column {GAP}"
    typed, operator = draft["value"].strip(), draft["operator"]
    value = f"“{escape_unprintable(typed)}”" if typed else GAP
    if operator == IS:
        return f"have {value} {where}"
    if operator == IS_NOT:
        return f"have anything but {value} {where}"
    if operator == ONE_OF:
        parts = [f"“{escape_unprintable(part.strip())}”" for part in typed.split(",") if part.strip()]
        return f"have {' or '.join(parts) or GAP} {where}"
    if operator == EMPTY:
        return f"have no value {where}"
    return f"have {ORDERS[operator]} {escape_unprintable(typed) or GAP} {where}"


def _percent(typed: str) -> str:
    """A share as the page understands it; a gap if it does not."""
    try:
        return read_share(typed)
    except UsageError:
        return GAP


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


# Names and plain words ------------------------------------------------------------------------------------------------


def level_name(column: str, name: str) -> str:
    """The name of a level, group or area; a bare number gets the name of its column.

    >>> level_name("protection", "1"), level_name("level", "strict")
    ('protection 1', 'strict')
    """
    shown = escape_unprintable(name)
    return shown if not column or any(map(str.isalpha, shown)) else f"{escape_unprintable(column)} {shown}"


def similar_words(names: Iterable[str]) -> list[str]:
    """One sentence for each set of values of a public column that differ, but look the same to a reader.

    >>> similar_words(["Surgery", "surgery ", "ENT"])[0].partition(". ")[0]
    "Surgery and 'surgery ' differ only in upper and lower case or in spaces, and count as different"
    """
    return [
        f"{join_names(map(escape_unprintable, several))} differ only in upper and lower case or in spaces, and count as"
        " different. If they mean the same, correct the file and open it again."
        for several in group_similar_names(names)
    ]


FOR_PAGE = {  # hints that name arguments of Python → what to do on the page
    "curator=True shows the first rows": "look through this column in the file",
    "encoding= names": "the field Encoding names",
    "sheet= names one": "choose one",
}
_names_argument = re.compile(r" Hint: [^:]*\b[a-z_]+=.*")


def refusal_words(refusal: HetdpError) -> str:
    """A refusal as the page says it: without arguments of Python.

    >>> refusal_words(UsageError("the file holds several sheets", "one is the table", "sheet= names one"))
    'the file holds several sheets; one is the table. Hint: choose one'
    >>> refusal_words(UsageError("no question", "it is needed", "at_least= or question="))
    'no question; it is needed.'
    """
    words = str(refusal)
    for argument, on_page in FOR_PAGE.items():
        words = words.replace(argument, on_page)
    return _names_argument.sub("", words)


def runs_words(error: float) -> str:
    """How often an answer is right at least; very small errors are not spelt out.

    >>> runs_words(0.025), runs_words(1e-9), runs_words(0.0)
    ('97 of 100', 'more than 9,999 of 10,000', 'all')
    """
    if error == 0.0:
        return "all"
    return format_runs(error) if error >= SMALL_ERROR else "more than 9,999 of 10,000"


def right_in_words(error: float) -> str:
    """How often an answer is right at least, as the end of a sentence.

    >>> right_in_words(0.025), right_in_words(1e-9), right_in_words(0.0)
    ('right in at least 97 of 100 runs', 'right in more than 9,999 of 10,000 runs', 'right in all runs')
    """
    return f"right in {'at least ' if error >= SMALL_ERROR else ''}{runs_words(error)} runs"


# What levels gain -----------------------------------------------------------------------------------------------------


def gain_sentence(promise: Promise, column: str, share: str | None = None) -> str:
    """What different ε gain or cost, compared with the strongest protection for all and with geometric noise.

    They are compared at the given true share or, without one or if they do not differ there, where they differ most.
    Empty if the accuracy by true share is not known, or if nothing is drawn at random.

    Args:
        promise: the promise.
        column: the column of levels, for their names; empty without one.
        share: the true share, as `at_share` takes it.
    """
    mechanism = promise.mechanism
    if promise.constant or not isinstance(mechanism, PopulationMechanism):
        return ""
    try:
        points = [one for one in mechanism.curves().by_share if ONE_EPSILON in one.baselines]
        given = [] if share is None else [promise.at_share(share).number or 0]
        chosen = mechanism.curves(numbers=given).by_share
    except UsageError:
        return ""
    if not points:
        return ""
    units = least_units(mechanism.population)
    least = math.inf if units >= UNBOUNDED else float(shortest_decimal(units))
    differ = any(one.largest > least for one in promise.protections)
    best = max(points, key=lambda one: one.baselines[ONE_EPSILON if differ else GEOMETRIC] - one.error)
    if chosen and runs_words(chosen[0].error) != runs_words(chosen[0].baselines[ONE_EPSILON]):
        best = chosen[0]
    same, noisy = (runs_words(best.baselines[name]) for name in (ONE_EPSILON, GEOMETRIC))
    ours, where = runs_words(best.error), _where_words(mechanism.share_scale, best)
    right = f"the published answer is {right_in_words(best.error)}"
    if not differ:
        beside = "as often as with geometric noise" if noisy == ours else f"with geometric noise in {noisy}"
        return f"Everybody has the same ε, so there are no levels to gain from: if {where}, {right}, {beside}."
    what, verb = ("The levels", "") if column else ("Having different ε", "s")
    if len({epsilon for one in promise.protections for epsilon in (one.least, one.largest)}) == 1:
        what, verb, column = "A smaller ε only where one person decides", "s", ""
    strongest = f"the strongest protection for all (ε = {format_epsilon(least)})"
    where += "," if chosen and best is chosen[0] else ", where they differ most,"
    if ours == same:
        found = f"{what} gain{verb} nothing that is seen here: at no true share is the published answer visibly more"
        found += f" often right than with {strongest}."
    else:
        gain = "gain" if best.error < best.baselines[ONE_EPSILON] else "cost"
        found = f"{what} {gain}{verb} accuracy: if {where} {right}; with {strongest} in {same}, and with geometric"
        found += f" noise of that ε in {noisy}."
    return f"{found} {_price_words(promise.protections, column, least, 'Yet' if ours == same else 'In return')}"


def _where_words(scale: Any, point: AccuracyPoint) -> str:
    share = f"{(point.share or 0.0) * 100:.3g}%"
    if scale.weighted:
        words = f"people with {share} of the weight truly count as yes"
    else:
        words = f"{share} truly count as yes ({point.number:,} of {scale.of:,} people)"
    return words + (f" and {plain_words(scale.assumption)}" if scale.assumption else "")


def _price_words(protections: Sequence[Protection], column: str, least: float, first: str) -> str:
    """Who is charged more than with one ε for all; the sentence begins with the first word."""
    less = [one for one in protections if one.used > least]
    if not less:
        return "Nobody is charged more than with one ε for all."
    most = format_epsilon(max(one.used for one in less))
    names = [level_name(column, one.group) for one in less if one.group is not None]
    if len(less) == len(protections) and all(one.least == one.largest for one in less):
        who = "everybody is"
    elif names:
        listed = join_names(names) if len(names) < 4 else f"{', '.join(names[:3])} and others"
        who = f"people of {listed} are"
    else:
        who = "some people are"
    return f"{first}, {who} charged more: up to ε = {most}, which they allow."
