"""A request: what is counted, asked and promised, and which columns say so, before any table is opened.

`build_request` makes an `AskRequest` from arguments, `request_from_document` from a plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Integral
from operator import itemgetter
from typing import Any, Literal, NoReturn, get_args

from hetdp.documents import require_keys
from hetdp.errors import InputError, UsageError
from hetdp.numbers import comma_hint, parse_exact, parse_whole, percentage_hint
from hetdp.people.names import quote_if_needed, require_name
from hetdp.people.privacy.epsilons import epsilon_for_document, epsilon_in_words, parse_argument
from hetdp.people.questions.question import Question, require_question
from hetdp.people.questions.reading import from_document as question_from
from hetdp.people.questions.thresholds import ALL, BLANK, RESPONDENTS, count, share
from hetdp.problem.answer_words import NO, WORDING_KEYS, YES, YES_AND_NO, answer_words, require_wording
from hetdp.tables.predicates import EQUALITIES, Missing, Predicate, canonical_predicate, parse_predicate
from hetdp.text import did_you_mean, format_value

EPSILON_SOURCES = ("constant", "by_group", "column")
ALWAYS, DECIDING = "ε", "the deciding ε"


@dataclass(frozen=True)
class Epsilon:
    """The source of everybody's ε. Exactly one of the three attributes is given.

    Attributes:
        constant: one ε for everybody.
        by_group: one ε for each group, by name.
        column: the column that holds everybody's ε.
    """

    constant: Decimal | None = None
    by_group: tuple[tuple[str, Decimal], ...] = ()
    column: str | None = None

    def document(self) -> dict[str, Any]:
        """The entry of a plan."""
        if self.constant is not None:
            return {"constant": epsilon_for_document(self.constant)}
        if self.by_group:
            return {"by_group": {group: epsilon_for_document(epsilon) for group, epsilon in self.by_group}}
        return {"column": self.column}

    def words(self) -> str:
        """The ε in words, with the people it is promised to.

        >>> Epsilon(by_group=(("pupil", Decimal("0.10")), ("staff", Decimal(1)))).words()
        '0.10 for pupil, 1 for staff, and for all others their own'
        """
        if self.constant is not None:
            return f"{epsilon_in_words(self.constant)} for everybody"
        if self.by_group:
            by_group = ", ".join(
                f"{epsilon_in_words(epsilon)} for {quote_if_needed(group)}" for group, epsilon in self.by_group
            )
            return f"{by_group}, and for all others their own"
        return f"what the column {quote_if_needed(str(self.column))} says"


def epsilon_of(given: Any, by_group: Any, group: str | None, what: str = ALWAYS, argument: str = "epsilon") -> Epsilon:
    """The source of ε, from the arguments of `ask`.

    Args:
        given: a number for everybody, or the name of a column.
        by_group: group → number, instead.
        group: the column that `by_group` refers to: of levels or of groups, if there is one.
        what: which ε it is, for messages.
        argument: the argument that gives it.

    Raises:
        UsageError: there is none, or more than one; or it is not an ε.
    """
    if (given is None) == (by_group is None):
        missing = f"no {what}" if given is None else f"{what} twice"
        raise UsageError(
            missing, f"{what} is one number, one column, or one number for each group", f"{argument}='eps'"
        )
    if by_group is not None:
        if group is None:
            missing = f"{what} by group, but no column of groups"
            raise UsageError(missing, "a column must say who is in which group", "level= or group= names it")
        if not isinstance(by_group, Mapping) or not by_group:
            raise UsageError(
                f"{what} by group is {format_value(by_group)}", "it must be a mapping from each group to a number"
            )
        name = f"{argument}_by"
        pairs = sorted((require_name(one, "a group"), parse_argument(name, of, one)) for one, of in by_group.items())
        return Epsilon(by_group=tuple(pairs))
    if isinstance(given, Mapping):
        rule = f"{what} is one number for everybody, or the name of a column"
        raise UsageError(f"{argument}={format_value(given)}", rule, f"{argument}_by= gives each group a number")
    try:
        return Epsilon(constant=parse_argument(argument, given))
    except UsageError:
        if not isinstance(given, str) or resembles_number(given):
            raise
    return Epsilon(column=require_name(given, f"the column of {argument}="))


def epsilon_from(where: Any, column: Any, group: str | None, what: str, place: str) -> Epsilon:
    """The source of ε, from a plan.

    Args:
        where: the entry of the plan, as `Epsilon.document` writes it.
        column: the column of ε in the plan's list of columns.
        group: the column that ε by group refers to.
        what: which ε it is, for messages.
        place: the place of the entry in the plan, for messages.

    Raises:
        InputError: the keys are others.
        UsageError: it has no source, or several.
    """
    require_keys(where, (), EPSILON_SOURCES, place)
    if not isinstance(where, Mapping) or len(where) != 1 or where.get("column") != column:
        raise UsageError(
            f"{what} of the plan is {format_value(where)}",
            "it has exactly one source, and agrees with the plan's columns",
        )
    constant = where.get("constant")
    return epsilon_of(constant if constant is not None else where.get("column"), where.get("by_group"), group, what)


def resembles_number(text: str) -> bool:
    """True if a text is more likely a mistyped number than a column name: -1, 1,5, 50% or nan."""
    return (
        re.fullmatch(r"[-+.,\s]*[0-9][-+.,0-9e%/\s]*|[-+]?(nan|inf(inity)?)", text.strip(), re.IGNORECASE) is not None
    )


# One question for each area -------------------------------------------------------------------------------------------

BY_AREA, AREAS = "by_area", "areas"


@dataclass(frozen=True)
class AreaQuestions(Question):
    """A question of its own for each area, such as another threshold.

    Attributes:
        by_area: each area with its question, sorted by name.
    """

    by_area: tuple[tuple[str, Question], ...]

    def evaluate(self, people: Any) -> NoReturn:
        """Always refused: each area has a question of its own.

        Raises:
            UsageError: always.
        """
        raise UsageError("a question for each area", "the people of an area are asked the question of this area")

    def groups_used(self) -> frozenset[str]:
        """The groups that any of the questions names."""
        return frozenset().union(*(question.groups_used() for _, question in self.by_area))

    def values_used(self) -> frozenset[str]:
        """The values that any of the questions names."""
        return frozenset().union(*(question.values_used() for _, question in self.by_area))

    def body(self) -> dict[str, Any]:
        """The questions by area, as an object of a plan."""
        return {"asks": BY_AREA, AREAS: {area: question.body() for area, question in self.by_area}}

    def __str__(self) -> str:
        return "; ".join(f"in {quote_if_needed(area)}, {question}" for area, question in self.by_area)


def _question_from(document: Any) -> Question:
    """The question of a plan, or one for each area."""
    body = document.get("question") if isinstance(document, Mapping) else None
    if not isinstance(body, Mapping) or body.get("asks") != BY_AREA:
        return question_from(document)
    require_keys(body, ("asks", AREAS), ("asks", AREAS), "plan.question.question")
    if not isinstance(body[AREAS], Mapping) or not body[AREAS]:
        raise UsageError("the plan has no question for an area", "it has one for each area")
    found = ((area, question_from({**document, "question": part})) for area, part in body[AREAS].items())
    return AreaQuestions(tuple(sorted(found, key=itemgetter(0))))


# The request ----------------------------------------------------------------------------------------------------------


VALUES = (YES, NO, BLANK)  # of a row: it is counted, it is not, or that is unknown
DesignName = Literal["balanced", "weighted-vote", "fair"]
BALANCED, WEIGHTED_VOTE, FAIR = DESIGNS = get_args(DesignName)
ABOUT = "about"  # a plan without words does not have this key
REQUEST_KEYS = ("counted", "exact_text", "question", "privacy", "columns", "objective")
PLAIN_WORDS = {  # of what questions and promises say, the longer ones first
    "rows that are not blank": "people who have an answer",
    "blank rows": "people without an answer",
    "respondents": "those who answered",
    "rows": "people",
    "row": "person",
}
ROLES = ("person", "epsilon", "deciding_epsilon", "group", "level", "area")
NAMED_ROLES = ("group", "level", "area")
THRESHOLD_RULE = "it must be a whole number of people, or a share from 0% to 100%, such as 50%, 2/3 or 0.5"
AMBIGUOUS_RULE = "it can be read as one person, or as everyone"
PROMISES = ("epsilon", "deciding_epsilon")


@dataclass(frozen=True)
class AskRequest:
    """Everything that a plan fixes, except the table.

    Attributes:
        counted: the condition under which a row is yes, in canonical form. A row for which it is unknown is blank.
        exact_text: whether text is compared exactly, rather than without regard to case and surrounding spaces.
        question: the question about the rows that are yes, no and blank.
        epsilon: the ε that people are promised.
        deciding: the ε where the answer depends on one person; None for the same ε.
        person: the column that identifies people.
        group: the column of groups, if any: the question may name them.
        area: the column of areas, each of which gets an answer; None for one answer.
        objective: how the mechanism is chosen.
        level: the column of levels of protection, if any: ε by group is ε by level then.
        about: the words of those who ask, for the page and the record, by the keys of a problem's `about`. The identity
            of the question does not depend on them.
        note: what the promise says about these arguments beside the request, which a plan does not repeat.
    """

    counted: Predicate
    exact_text: bool
    question: Question
    epsilon: Epsilon
    deciding: Epsilon | None
    person: str
    group: str | None
    area: str | None
    objective: str
    level: str | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    note: str = field(default="", compare=False)

    @property
    def answers(self) -> tuple[str, str]:
        """The words for the answers yes and no."""
        return answer_words(self.about, YES_AND_NO)

    def question_in(self, area: str | None) -> Question:
        """The question that the people of an area are asked."""
        if not isinstance(self.question, AreaQuestions):
            return self.question
        return next(question for name, question in self.question.by_area if name == area)

    @property
    def question_words(self) -> str:
        """The question as a sentence about people; with areas, it is about the people of each area alone."""
        asked, names = self.question, self.question.groups_used() | self.question.values_used()
        names |= {name for name, _ in asked.by_area} if isinstance(asked, AreaQuestions) else set()
        is_safe = all(plain_words(name) == name for name in names)
        words = plain_words(str(asked)) if is_safe else str(asked)  # a name stays as it is
        return words if self.area is None else f"for each {quote_if_needed(self.area)}, about its own people: {words}"

    @property
    def is_sum(self) -> bool:
        """True if the question, or that of each area, is a sum over people that reaches a threshold."""
        asked = self.question
        each = [part for _, part in asked.by_area] if isinstance(asked, AreaQuestions) else [asked]
        return all(one.linear() is not None for one in each)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the question distinguishes: yes, no and blank; or one and the rest."""
        used = self.question.values_used()
        return VALUES if len(used) > 1 else (*used, f"not {min(used)}")

    @property
    def places(self) -> tuple[int, ...]:
        """The indices in `values` of rows that are yes, no and blank."""
        return tuple(self.values.index(value) if value in self.values else 1 for value in VALUES)

    @property
    def named(self) -> dict[str, str]:
        """The columns whose cells are names, by role: groups, levels and areas."""
        columns = {role: getattr(self, role) for role in NAMED_ROLES}
        return {role: column for role, column in columns.items() if column is not None}

    @property
    def by_column(self) -> str | None:
        """The column that ε by group refers to."""
        return self.group if self.level is None else self.level

    @property
    def public(self) -> list[str]:
        """The columns that are read before the mechanism is fixed."""
        deciding = None if self.deciding is None else self.deciding.column
        named = (self.person, self.epsilon.column, deciding, *self.named.values())
        return list(dict.fromkeys(column for column in named if column is not None))

    @property
    def private(self) -> list[str]:
        """The columns that hold the answers."""
        return list(dict.fromkeys(self.counted.columns()))

    @property
    def policy_key(self) -> str:
        """Everything that the public policy depends on: requests to one table with equal keys have the same policy."""
        found = self.document()
        return json.dumps([found["privacy"], found["columns"]], sort_keys=True)

    def document(self) -> dict[str, Any]:
        """The entries of a plan; `request_from_document` reads them."""
        return {
            "counted": str(self.counted),
            "exact_text": self.exact_text,
            "question": self.question.document(),
            "privacy": {
                "epsilon": self.epsilon.document(),
                "deciding_epsilon": None if self.deciding is None else self.deciding.document(),
            },
            "columns": {
                "person": self.person,
                "epsilon": self.epsilon.column,
                "deciding_epsilon": None if self.deciding is None else self.deciding.column,
                "group": self.group,
                "level": self.level,
                "area": self.area,
            },
            "objective": self.objective,
            **({ABOUT: dict(self.about)} if self.about else {}),
        }


_technical = re.compile(rf"\b({'|'.join(PLAIN_WORDS)})\b")


def plain_words(words: str) -> str:
    """Replaces rows by people in the words of a question or a promise.

    >>> plain_words("at least half of all rows count as yes; blank rows do not count as yes")
    'at least half of all people count as yes; people without an answer do not count as yes'
    """
    return _technical.sub(lambda found: PLAIN_WORDS[found[0]], words)


@contextmanager
def name_question(number: int, title: Any = None) -> Iterator[None]:
    """Begins the message of an error with the number of one of several questions, and its title."""
    name = question_name(number, title)
    try:
        yield
    except UsageError as refusal:
        raise UsageError(f"{name}: {refusal.what}", refusal.rule, refusal.hint) from None
    except InputError as refusal:
        faults = [replace(fault, where=f"{name}: {fault.where}") for fault in refusal.faults]
        raise InputError(f"{name}: {refusal.subject}", faults, refusal.total, refusal.more) from None


def question_name(number: int, title: Any = None) -> str:
    """The name of one of several questions in messages, such as ``question 2 ('May dogs run free?')``."""
    return f"question {number}" + (f" ({format_value(title)})" if isinstance(title, str) else "")


def build_request(
    counted: str,
    at_least: Any = None,
    more_than: Any = None,
    at_least_by: Mapping[str, Any] | None = None,
    more_than_by: Mapping[str, Any] | None = None,
    of: str | None = None,
    epsilon: Any = None,
    by_group: Mapping[str, Any] | None = None,
    deciding: Any = None,
    deciding_by_group: Mapping[str, Any] | None = None,
    person: str | None = None,
    group: str | None = None,
    area: str | None = None,
    objective: str = BALANCED,
    question: Question | None = None,
    exact_text: bool = False,
    title: str | None = None,
    yes: str | None = None,
    no: str | None = None,
    level: str | None = None,
) -> AskRequest:
    """Makes a request from the arguments of `ask`.

    Args:
        counted: the condition under which a row is yes, such as ``vote = 'yes'``.
        at_least: how many yes rows the answer yes needs: a whole number, or a share such as ``50%``.
        more_than: the same, where exactly that many give the answer no.
        at_least_by: area → such a threshold, instead.
        more_than_by: the same, where exactly that many give the answer no.
        of: a share of ``all`` rows, or of ``respondents``, the rows that are not blank.
        epsilon: a number for everybody, or the name of a column.
        by_group: group → number, instead.
        deciding: the ε where the answer depends on one person: a number, or the name of a column.
        deciding_by_group: group → number, instead; other groups keep their ε.
        person: the column that identifies people.
        group: the column of groups.
        area: the column of areas, for one answer each.
        objective: ``balanced``, ``weighted-vote`` or ``fair``.
        question: the question, instead of a threshold: about the values yes, no and blank, and the
            groups of the table.
        exact_text: whether text is compared exactly.
        title: the question in the words of those who ask.
        yes: what the answer yes means.
        no: what the answer no means.
        level: the column of levels of protection, which `by_group` and `deciding_by_group` then refer to.

    Raises:
        UsageError: an argument is missing, invalid or contradicts another.
    """
    if person is None:
        rule = "the unit of privacy is the person, so one column must identify people"
        raise UsageError("no column identifies people", rule, "person= names it")
    steps = deciding is not None or deciding_by_group is not None
    by_column = group if level is None else level
    found = AskRequest(
        *_condition(parse_predicate(counted), exact_text),
        _question(
            {"at_least": at_least, "more_than": more_than, "at_least_by": at_least_by, "more_than_by": more_than_by},
            of,
            question,
        ),
        epsilon_of(epsilon, by_group, by_column),
        epsilon_of(deciding, deciding_by_group, by_column, DECIDING, "deciding_epsilon") if steps else None,
        require_name(person, "the column of person="),
        None if group is None else require_name(group, "the column of group="),
        None if area is None else require_name(area, "the column of by="),
        objective,
        None if level in (None, group) else require_name(level, "the column of level="),
        require_wording(title, yes, no),
    )
    _require_possible(found)
    return found


def request_from_document(document: Any) -> AskRequest:
    """Reads the request of a plan.

    Raises:
        InputError: a key is missing or unknown, or has a value that hetdp never writes.
        UsageError: it contradicts itself.
    """
    require_keys(document, REQUEST_KEYS, (*REQUEST_KEYS, ABOUT), "plan")
    privacy, columns = document["privacy"], document["columns"]
    require_keys(privacy, PROMISES, PROMISES, "plan.privacy")
    require_keys(columns, ROLES, ROLES, "plan.columns")
    by_column = columns["group"] if columns["level"] is None else columns["level"]
    always, deciding = (
        None
        if privacy[key] is None and key != PROMISES[0]
        else epsilon_from(privacy[key], columns[key], by_column, what, f"plan.privacy.{key}")
        for key, what in zip(PROMISES, (ALWAYS, DECIDING), strict=True)
    )
    assert always is not None
    found = AskRequest(
        *_condition(parse_predicate(document["counted"], typed=False), document["exact_text"]),
        _question_from(document["question"]),
        always,
        deciding,
        require_name(columns["person"], "the column of people"),
        None if columns["group"] is None else require_name(columns["group"], "the column of groups"),
        None if columns["area"] is None else require_name(columns["area"], "the column of areas"),
        document["objective"],
        None if columns["level"] is None else require_name(columns["level"], "the column of levels"),
        _wording_from(document.get(ABOUT, {})),
    )
    _require_possible(found)
    return found


def request_part(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a plan that `request_from_document` reads."""
    return {key: facts[key] for key in (*REQUEST_KEYS, ABOUT) if key in REQUEST_KEYS or key in facts}


def _wording_from(about: Any) -> dict[str, str]:
    """The words of a plan."""
    require_keys(about, (), WORDING_KEYS, "plan.about")
    return require_wording(*map(about.get, WORDING_KEYS))


def _condition(counted: Predicate, exact_text: Any) -> tuple[Predicate, bool]:
    """The canonical condition, and whether texts are compared exactly: False if no text is compared."""
    if not isinstance(exact_text, bool):
        raise UsageError(f"exact_text is {format_value(exact_text)}", "it must be true or false")
    return canonical_predicate(counted, exact_text), exact_text and looks_at_text(counted)


def looks_at_text(counted: Predicate) -> bool:
    """True if the result depends on how texts are compared: a column is compared with a text, or tested for NULL."""
    return any(
        isinstance(leaf, Missing) or (isinstance(leaf.value, str) and leaf.operator in EQUALITIES)
        for leaf in counted.leaves()
    )


def _question(thresholds: Mapping[str, Any], of: str | None, question: Any) -> Question:
    """The question: that of the one given threshold, or another one.

    Args:
        thresholds: the arguments of `build_request` that give a threshold, or one for each area.
        of: the rows of a share.
        question: a question instead.
    """
    given = {name: threshold for name, threshold in thresholds.items() if threshold is not None}
    if question is not None:
        found = require_question(question)
        if given or of is not None:
            rule = "a question already states its threshold and its rows"
            names = [*given, *(() if of is None else ("of",))]
            hint = f"leave {' and '.join(f'{name}=' for name in names)} out"
            raise UsageError("a threshold together with a question", rule, hint)
        return found
    if len(given) != 1:
        what, hint = ("two thresholds", "leave one of them out") if given else ("no threshold", "at_least='50%'")
        raise UsageError(what, "a threshold says how many rows must be yes", hint)
    ((name, threshold),) = given.items()
    strict, by_area = name.startswith("more_than"), name.endswith("_by")
    if not by_area:
        if isinstance(threshold, Mapping):
            rule = "it must be one threshold"
            raise UsageError(f"{name}={format_value(threshold)}", rule, f"{name}_by= gives each area a threshold")
        return _threshold(threshold, name, strict, of)
    if not isinstance(threshold, Mapping) or not threshold:
        rule = "it must be a mapping from each area to its threshold"
        raise UsageError(f"{name}={format_value(threshold)}", rule)
    parts = (
        (require_name(area, "an area"), _threshold(one, name, strict, of, area)) for area, one in threshold.items()
    )
    return AreaQuestions(tuple(sorted(parts, key=itemgetter(0))))


def _threshold(given: Any, name: str, strict: bool, of: str | None, area: str | None = None) -> Question:
    """The question whether the number or share of yes rows reaches a threshold."""
    where = "" if area is None else f" in {format_value(area)}"
    what = f"{name}={format_value(given)}{where}"
    if isinstance(given, Integral) or (isinstance(given, str) and not set("%/.") & set(given)):
        try:
            number = parse_whole(given, "the threshold", 0)
        except UsageError:
            raise UsageError(what, THRESHOLD_RULE, comma_hint(given)) from None
        if of not in (None, ALL):
            rule = "a number of people is always counted among all rows; only a share can be of respondents"
            raise UsageError(f"{number} of {of}", rule)
        return count(YES, number + strict)
    try:
        part = parse_exact(given, "the threshold")
    except UsageError:
        raise UsageError(what, THRESHOLD_RULE, comma_hint(given)) from None
    if not 0 <= part <= 1:
        raise UsageError(what, THRESHOLD_RULE, percentage_hint(given))
    if part == 1 and not (isinstance(given, str) and set("%/") & set(given)):
        raise UsageError(what, AMBIGUOUS_RULE, "write 1 or 100%")
    return share(YES, part, ALL if of is None else of, strict, blank=BLANK if of == RESPONDENTS else None)


def _require_possible(found: AskRequest) -> None:
    """Refuses a request that contradicts itself."""
    if found.objective not in DESIGNS:
        rule = f"the designs are {', '.join(DESIGNS)}"
        raise UsageError(
            f"unknown design {format_value(found.objective)}", rule, did_you_mean(found.objective, DESIGNS)
        )
    found.question.body()  # refuses a Python function, which nobody could approve
    words = format_value(str(found.question))
    others = found.question.values_used() - set(VALUES)
    if others:
        rule = f"a table's rows are {YES}, {NO} or {BLANK}: count= says which are {YES}"
        raise UsageError(f"the question {words} is about {format_value(min(others))}", rule)
    if found.question.groups_used() and found.group is None:
        raise UsageError(
            f"the question {words} names groups", "a column must say who is in which group", "group= names it"
        )
    if isinstance(found.question, AreaQuestions) and found.area is None:
        rule = "a column must say who is in which area"
        raise UsageError("a threshold for each area, but no column of areas", rule, "by= names it")
    if found.objective == WEIGHTED_VOTE and not found.is_sum:
        rule = "a weighted vote is about a sum over people that reaches a threshold"
        hint = "design='balanced' answers it: counts of disjoint groups for any number of people, others for a few"
        raise UsageError(f"the question is {words}", rule, hint)
    both = [column for column in found.private if column in found.public]
    if both:
        rule = "the columns of person, ε, group, level and area are public, the counted ones are private"
        raise UsageError(f"the column {format_value(both[0])} is counted and used as a public column, too", rule)
