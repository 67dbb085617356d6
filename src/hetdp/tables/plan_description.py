"""A plan in plain words, for the second person, who has the plan but not the table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hetdp.documents import COUNT, MAYBE_TEXT, TEXT, OptionalKey, refuse, require_path, require_shape
from hetdp.errors import Fault, UsageError
from hetdp.mechanism.formatting import promise_in_runs
from hetdp.people.populations.mechanism import coin_caution
from hetdp.people.privacy.epsilons import parse_epsilon
from hetdp.people.privacy.meaning import strength
from hetdp.problem.answer_words import (
    TITLE,
    YES_AND_NO,
    answer_name,
    constant_odds,
    constant_words,
    margin_words,
    quote_answer,
)
from hetdp.tables.plan import (
    NEIGHBOURS,
    Plan,
    PlanBundle,
    meaning_of_missing,
    read_plan,
)
from hetdp.tables.promise import PARALLEL, RIGHT, RIGHT_BY_SHARE, people_of
from hetdp.text import count_people, escape_unprintable, format_value

MARGIN = re.compile(r"[1-9][0-9]{0,17}")
ACCURACY_KEYS = ("accuracy_by_margin", "accuracy_by_share")
AREA_SHAPE = {
    "area": MAYBE_TEXT,
    "people": COUNT,
    "constant": MAYBE_TEXT,
    "charges": [{"group": MAYBE_TEXT, "people": COUNT, "allowed": TEXT, "used": TEXT}],
    "accuracy_by_margin": (dict,),
    "accuracy_by_share": (dict,),
    "worse_than_coin_up_to": COUNT,
    "as_a_coin_up_to": COUNT,
    "mechanism": OptionalKey((dict,)),
}
SHAPE = {
    "software": TEXT,
    "table": (dict,),
    "counts": {"people": COUNT, "areas": COUNT, "groups": COUNT},
    "areas": [AREA_SHAPE],
}
COMPARE = (
    "Compare this digest with the one that the person who made the plan sees. It is of the plan's content, not of the"
    " file's bytes. The numbers come from the plan; a release computes them again from the table, and refuses a plan"
    " that differs."
)


def describe_plan(path: str | Path) -> str:
    """Describes a plan in plain words, without its table: the question, the promise, the price and the digest.

    The digest is computed from the content of the plan. The sentence about each group follows from what it is charged
    and is that of the promise; only the plan's table says which people are promised nothing.

    Args:
        path: the file of the plan.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is not a plan, or its content does not match its digest.

    >>> import hetdp, pandas, pathlib, tempfile
    >>> people = pandas.DataFrame({"id": range(30), "vote": ["yes", "no"] * 15})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = pathlib.Path(folder, "plan.json")
    ...     terms = {"at_least": "50%", "epsilon": 0.5, "person": "id", "dry_run": True}
    ...     asked = hetdp.ask(people, "vote = 'yes'", plan=plan, **terms)
    ...     words = hetdp.describe_plan(plan)
    >>> asked.digest in words
    True
    >>> print(next(line for line in words.splitlines() if line.startswith("protected")))
    protected: 30 people: up to ε = 0.5 allowed, at most 0.5 charged
    """
    place = require_path(path)
    plan = read_plan(place)
    return "\n".join(map(escape_unprintable, _lines(plan, place.name)))


def _lines(plan: Plan | PlanBundle, name: str) -> Iterator[str]:
    if isinstance(plan, Plan):
        yield from _question_lines(plan, name)
    else:
        yield f"plan of {len(plan.plans):,} questions: all of them are answered, or none"
        yield from [f"title: {plan.about[TITLE]}"] if TITLE in plan.about else []
        for number, one in enumerate(plan.plans, 1):
            yield f"question {number}"
            yield from (f"  {line}" for line in _question_lines(one, name))
        yield "all answers together, each person is charged"
        for part in plan.facts["together"]:
            yield f"  {part['whom']}: {count_people(part['people'])}, at most {part['used']} charged. {part['odds']}"
    yield f"sha256 {plan.digest}"
    yield COMPARE


def _question_lines(plan: Plan, name: str) -> Iterator[str]:
    facts, request = plan.facts, plan.request
    require_shape({key: facts[key] for key in SHAPE}, SHAPE, "plan", name)
    table = facts["table"]
    sheet = "" if table.get("table") is None else f", sheet or table {format_value(table['table'])}"
    yield f"table: {format_value(table.get('file'))}{sheet}; {facts['software']}"
    named = [answer_name(words, at + 1) for at, words in enumerate(request.answers)]
    yield from [f"title: {request.about[TITLE]}"] if TITLE in request.about else []
    yield from [f"answers: {', '.join(named)}"] if request.answers != YES_AND_NO else []
    yield f"question: {request.question_words}"
    yield f"yes means: {request.counted}. {meaning_of_missing(request)}"
    yield f"people: {facts['counts']['people']:,}, identified by {request.person}. {NEIGHBOURS}"
    yield f"design: {request.objective}"
    if request.deciding is not None:
        yield f"where the answer depends on one person, ε is at most {request.deciding.words()}"
    yield from [PARALLEL] if request.area is not None else []
    for area in facts["areas"]:
        indent = "" if area["area"] is None else "  "
        yield from [f"area {area['area']!r}: {count_people(area['people'])}"] if indent else []
        yield from (indent + line for line in _area_lines(area, name, request.answers))


def _area_lines(area: dict[str, Any], name: str, answers: tuple[str, str]) -> Iterator[str]:
    constant = area["constant"] in YES_AND_NO
    same = constant_odds(quote_answer(answers[YES_AND_NO.index(area["constant"])]), "you answer") if constant else ""
    for one in area["charges"]:
        whom, allowed, used = people_of(one["people"], one["group"]), one["allowed"], one["used"]
        found = strength(_epsilon(used, name))
        yield f"protected: {whom}: up to ε = {allowed} allowed, at most {used} charged"
        yield f"  {same or found.questionnaire_about(quote_answer(answers[0]))}"
        yield from [f"  caution: {found.warning}"] if found.warning and _epsilon(used, name).is_finite() else []
        _epsilon(allowed, name)
    if area["constant"] is not None:
        yield constant_words(area["constant"])
        return
    for key in ACCURACY_KEYS:
        for where, promise in area[key].items():
            if not isinstance(promise, str) or (key == ACCURACY_KEYS[0] and not MARGIN.fullmatch(where)):
                refuse(name, Fault(key, name, format_value(where), "it must be a margin or a share, with a promise"))
    yield RIGHT
    for margin, promise in area["accuracy_by_margin"].items():
        yield f"  {promise_in_runs(promise)} runs {margin_words(int(margin))}"
    yield from [RIGHT_BY_SHARE] if area["accuracy_by_share"] else []
    yield from (f"  {promise_in_runs(promise)} runs {where}" for where, promise in area["accuracy_by_share"].items())
    caution = coin_caution(area["worse_than_coin_up_to"], area["as_a_coin_up_to"])
    yield from [f"caution: {caution}"] if caution else []


def _epsilon(text: str, name: str) -> Any:
    """An ε of a plan as a number."""
    try:
        return parse_epsilon(text)
    except UsageError as refusal:
        refuse(name, Fault(refusal.what, name, "", refusal.rule, refusal.hint))
