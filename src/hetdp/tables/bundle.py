"""Several questions about one table, which are planned, approved, charged and released together.

`build_requests` reads them from a list or a file, `joint_promises` adds up what all answers together can reveal about
everybody, and `bundle_lines` puts the promise into words. The plan is a `hetdp.tables.plan.PlanBundle`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.documents import open_envelope, parse_json, parse_toml, read_document
from hetdp.errors import UsageError
from hetdp.people.names import quote_if_needed
from hetdp.people.privacy.epsilons import epsilon_in_words
from hetdp.people.privacy.meaning import strength
from hetdp.people.questions.question import Question
from hetdp.people.questions.reading import read_part
from hetdp.problem.answer_words import TITLE
from hetdp.releases.charges import EPSILON, EVERYBODY
from hetdp.releases.ledger.amounts import add_units, currency_of, format_units, units_spent_each
from hetdp.tables.preparation import Preparation
from hetdp.tables.promise import people_line, people_of, promise_lines
from hetdp.tables.request import (
    AskRequest,
    Epsilon,
    build_request,
    epsilon_of,
    name_question,
    question_name,
    resembles_number,
)
from hetdp.text import did_you_mean, format_value, pluralize

KIND, CONTENT = "questions", "questions"
ARGUMENTS = {  # the key of a question, which is an argument of `ask` → the argument of `build_request`
    "count": "counted",
    "at_least": "at_least",
    "more_than": "more_than",
    "at_least_by": "at_least_by",
    "more_than_by": "more_than_by",
    "of": "of",
    "question": "question",
    "exact_text": "exact_text",
    "title": "title",
    "yes": "yes",
    "no": "no",
    "by": "area",
    "design": "objective",
    "epsilon": "epsilon",
    "epsilon_by": "by_group",
    "deciding_epsilon": "deciding",
    "deciding_epsilon_by": "deciding_by_group",
}
FAMILIES = (  # a question that has one of these keys inherits none of the others of its line
    ("at_least", "more_than", "at_least_by", "more_than_by", "of", "question"),
    ("epsilon", "epsilon_by"),
    ("deciding_epsilon", "deciding_epsilon_by"),
)
TEXT_KEYS = ("count", "of", "by", "design", "title", "yes", "no")
FOR_EVERYBODY = ("person", "group", "level")  # the same for all questions, since they say who pays
LARGEST_FACTOR = 1e6  # in words

Body = Mapping[str, Any]


def build_requests(questions: Any, shared: Mapping[str, Any]) -> list[AskRequest]:
    """Makes a request of each question.

    Args:
        questions: a list of mappings whose keys are arguments of `ask`; or a ``.toml`` or ``.json`` file of them.
        shared: the arguments of `build_request` that hold for every question that does not say otherwise.

    Raises:
        UsageError: a question is missing something, or contradicts itself; its number and title are named.
        InputError: the file does not contain questions.
    """
    requests = []
    for number, body in enumerate(_read_bodies(questions), 1):
        with name_question(number, body.get(TITLE)):
            requests.append(_build(body, shared))
    return requests


def _read_bodies(questions: Any) -> list[Body]:
    """Reads the questions and refuses unknown keys."""
    if isinstance(questions, str | Path):
        found = read_document(questions, {".json": _from_json, ".toml": _from_toml})
    else:
        found = questions
    rule = "a list with one mapping for each question, or the name of a .toml or .json file"
    if not isinstance(found, list | tuple) or not found:
        raise UsageError(f"questions={format_value(found)}", f"it is {rule}")
    for number, body in enumerate(found, 1):
        if not isinstance(body, Mapping):
            raise UsageError(f"{question_name(number)} is {format_value(body)}", f"questions= is {rule}")
        unknown = next((key for key in body if key not in ARGUMENTS), None)
        if unknown is not None:
            name = question_name(number, body.get(TITLE))
            if unknown in FOR_EVERYBODY:
                why = f"{unknown}= is the same for all questions, since it says who pays"
                raise UsageError(f"{name} has the key {unknown!r}", why, f"give {unknown}= once, beside questions=")
            known, meant = f"the keys are {', '.join(ARGUMENTS)}", did_you_mean(str(unknown), ARGUMENTS)
            raise UsageError(f"{name} has the key {format_value(unknown)}", known, meant)
    return list(found)


def _from_json(text: str) -> Any:
    return open_envelope(parse_json(text, KIND), KIND, CONTENT)


def _from_toml(text: str) -> Any:
    return open_envelope(parse_toml(text, KIND), KIND, CONTENT)


def _build(body: Body, shared: Mapping[str, Any]) -> AskRequest:
    given = {key: value for key, value in body.items() if value is not None}
    for key in TEXT_KEYS:
        if not isinstance(given.get(key, ""), str):
            raise UsageError(f"{key}={format_value(given[key])}", "it must be a text")
    taken = {key for family in FAMILIES if given.keys() & set(family) for key in family}
    replaced = {ARGUMENTS[key] for key in taken}
    arguments = {name: value for name, value in shared.items() if value is not None and name not in replaced}
    arguments |= {ARGUMENTS[key]: value for key, value in given.items() if key != "question"}
    if "question" in given:
        arguments["question"] = _question(given["question"])
    if "counted" not in arguments:
        raise UsageError("count= is missing", "it says which rows are yes", "count=\"vote = 'yes'\"")
    found = build_request(**arguments)
    for key, epsilon in (("epsilon", found.epsilon), ("deciding_epsilon", found.deciding)):
        if key in given and epsilon is not None:
            _require_as_strict(key, epsilon, shared.get(ARGUMENTS[f"{key}_by"]))
    column = shared.get("epsilon")
    is_column = isinstance(column, str) and not resembles_number(column)
    if "epsilon" in given and found.epsilon.constant is not None and is_column:
        one = epsilon_in_words(found.epsilon.constant)
        note = f"here ε = {one} replaces the column {quote_if_needed(str(column))}; whoever has a smaller ε there is"
        return replace(found, note=f"{note} protected less in this question")
    return found


def _require_as_strict(key: str, epsilon: Epsilon, by_group: Mapping[str, Any] | None) -> None:
    """Refuses one ε of a question that would protect a level less than the ε by level for all questions.

    Args:
        key: the key of the question.
        epsilon: what it says.
        by_group: the ε of each level for all questions, if there is one.
    """
    if epsilon.constant is None or by_group is None:
        return
    shared = epsilon_of(None, by_group, "level", argument=key).by_group
    less = [
        f"{format_value(name)} ({epsilon_in_words(strict)})" for name, strict in shared if strict < epsilon.constant
    ]
    if less:
        rule = f"{key}_by= protects {', '.join(less)} more, and one number for a question is at least as strict"
        hint = f"give the question {key}_by, with a number for each level, or leave {key} out"
        raise UsageError(f"{key}={epsilon_in_words(epsilon.constant)} for everybody", rule, hint)


def _question(given: Any) -> Any:
    """Reads a question that is not a threshold: an object of `hetdp.questions`, or a mapping that describes one."""
    if isinstance(given, Mapping):
        return read_part(given, "question")
    if not isinstance(given, Question):
        rule = "among several questions it is written out: a mapping with the key asks, or an object of hetdp.questions"
        raise UsageError(f"question={format_value(given)}", rule)
    return given


def require_different(prepared: Sequence[Preparation]) -> None:
    """Refuses a question that is asked twice, even in other words.

    Raises:
        UsageError: two questions are the same.
    """
    seen: dict[str, int] = {}
    for number, one in enumerate(prepared, 1):
        before = seen.setdefault(one.identity.request_sha256, number)
        if before != number:
            first, second = (question_name(at, prepared[at - 1].request.about.get(TITLE)) for at in (before, number))
            rule = "questions that are asked together are different ones"
            raise UsageError(f"{first} and {second} are the same", rule, "leave one out")


# What all answers together can reveal ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointPromise:
    """What the answers to several questions together can reveal about the people of a group.

    Attributes:
        group: the name of the group, or of the level of protection; None if there are neither.
        people: the number of people in the group.
        used: the largest sum, over the questions, of what one of these people is charged: ε as decimal text. The joint
            probability of all published answers changes at most by the factor e to this power if that person answers
            differently, to as many of the questions as they like (docs/theory/composition.md).
    """

    group: str | None
    people: int
    used: str

    @property
    def odds(self) -> str:
        """The sum in words: what one person's answers change, and what somebody can learn about them."""
        strong = strength(self.used)
        if strong.epsilon == 0.0:
            return "Whatever you answer, every combination of the published answers is just as likely."
        belief = strong.belief_from("all published answers together")
        if math.isinf(strong.epsilon):
            return f"No promise is made: all published answers together may reveal your answer. {belief}"
        if strong.epsilon > math.log(LARGEST_FACTOR):
            return belief
        factor = _round_up(math.exp(strong.epsilon))
        how = f"every combination of the published answers becomes at most {factor} times more or less likely"
        return f"If you answer differently, {how}. {belief}"

    @property
    def warning(self) -> str:
        """The warning about a sum that protects practically nobody; empty for any other, and where `odds` says it."""
        return "" if self.used == "inf" else strength(self.used).warning

    def body(self) -> dict[str, Any]:
        """The entry of a plan and of a record."""
        whom = EVERYBODY if self.group is None else self.group
        return {"whom": whom, "people": self.people, "used": self.used, "odds": self.odds}


def joint_promises(prepared: Sequence[Preparation]) -> tuple[JointPromise, ...]:
    """Adds up what each person is charged for all questions; with areas, only for the answer of their own area."""
    scale = currency_of(EPSILON).scale
    shared = prepared[0].source.shared_entries([one.request for one in prepared])
    total: Any = None
    for number, one in enumerate(prepared):
        units = units_spent_each(np.minimum(one.losses(), one.policy.epsilon), scale)
        units = units if shared.entries is None else units[shared.entries[number]]
        total = units if total is None else add_units(total, units)
    groups = prepared[0].policy.classes
    if groups is None:
        return (JointPromise(None, prepared[0].policy.size, format_units(int(total.max()), scale)),)
    codes = groups.codes if shared.entries is None else groups.codes[shared.entries[0]]
    sizes = np.bincount(codes, shared.weights, len(groups.names)).astype(np.int64)
    largest = np.zeros(len(groups.names), dtype=np.int64)
    np.maximum.at(largest, codes, total)
    rows = zip(groups.names, sizes.tolist(), largest.tolist(), strict=True)
    return tuple(JointPromise(name, size, format_units(most, scale)) for name, size, most in rows if size)


def _round_up(factor: float) -> str:
    """A number above 1, rounded up to three digits.

    >>> _round_up(1.0), _round_up(1.6487213), _round_up(22026.4657)
    ('1.01', '1.65', '22,100')
    """
    size = 10 ** (2 - math.floor(math.log10(factor)))
    scaled = math.ceil(factor * (1 + 1e-12) * size)
    return f"{scaled / size:,.{max(0, round(math.log10(size)))}f}" if size > 1 else f"{scaled / size:,.0f}"


# The promise in words -------------------------------------------------------------------------------------------------

MOST_GROUPS = 20  # in words


def bundle_lines(title: str | None, prepared: Sequence[Preparation], joint: Sequence[JointPromise]) -> Iterator[str]:
    """The promise of several questions, line by line.

    Args:
        title: the title of all questions, if they have one.
        prepared: the questions, with their promises.
        joint: what all answers together can reveal.
    """
    if title is not None:
        yield f"title: {title}"
    people = people_line(prepared[0].request, prepared[0].policy)
    yield "1 question" if len(prepared) == 1 else f"{len(prepared):,} questions: all of them are answered, or none"
    yield people
    for number, one in enumerate(prepared, 1):
        yield f"question {number}:"
        lines = promise_lines(one.request, one.policy, one.promises)
        yield from (f"  {line}" for line in lines if line != people)
    yield "all answers together: each person is charged the sum of what the questions use"
    for given in joint[:MOST_GROUPS]:
        whom = people_of(given.people, given.group)
        yield f"  {whom}: {'all privacy' if given.used == 'inf' else f'at most {given.used}'} charged"
        yield f"    {given.odds}"
        if given.warning:
            yield f"    caution: {given.warning}"
    if len(joint) > MOST_GROUPS:
        yield f"  and {pluralize(len(joint) - MOST_GROUPS, 'group')} more, in the plan"
