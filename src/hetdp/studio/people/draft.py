"""What the steward has chosen so far, as it was typed, and the arguments of `hetdp.ask` that follow from it.

Nothing is refused while it is typed: `faults` says for each field of a step what is missing or wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from hetdp.errors import HetdpError, UsageError
from hetdp.numbers import COMPARED, format_exact, parse_exact, parse_typed, parse_whole
from hetdp.people.privacy.epsilons import parse_epsilon
from hetdp.people.questions.logic import And, Or, combine
from hetdp.people.questions.question import Question
from hetdp.people.questions.thresholds import ALL, RESPONDENTS, count, share, versus, weighted_sum
from hetdp.problem.answer_words import NO, YES, require_wording
from hetdp.studio.people.table import COUNTED, PUBLIC, OpenedTable
from hetdp.tables import kinds
from hetdp.tables.bundle import ARGUMENTS
from hetdp.tables.predicates import canonical_predicate, format_column, format_literal, parse_predicate
from hetdp.tables.request import name_question, question_name
from hetdp.text import format_value

SHARE, COUNT, COMPARE, GROUPS, WEIGHTED = "share", "count", "compare", "groups", "weighted"
KINDS = {
    SHARE: "What share of the people count as yes?",
    COUNT: "How many people count as yes?",
    COMPARE: "Do more people count as yes than as no?",
    GROUPS: "Is it so in every group, such as at both sites? (one answer for all of them)",
    WEIGHTED: "Do the people who count as yes have enough weight?",
}
IS, IS_NOT, ONE_OF, AT_LEAST, AT_MOST, MORE, LESS, EMPTY = (
    "is",
    "is-not",
    "one-of",
    "at-least",
    "at-most",
    "more",
    "less",
    "empty",
)
OPERATORS = {
    IS: "is",
    IS_NOT: "is not",
    ONE_OF: "is one of (separated by commas)",
    AT_LEAST: "is at least",
    AT_MOST: "is at most",
    MORE: "is more than",
    LESS: "is less than",
    EMPTY: "is empty",
}
SIGNS = {IS: "=", IS_NOT: "!=", AT_LEAST: ">=", AT_MOST: "<=", MORE: ">", LESS: "<"}
ONE, LEVELS, COLUMN = "one", "levels", "column"
PROTECTIONS = {
    ONE: "The same for everybody",
    LEVELS: "Levels of protection, by a public column",
    COLUMN: "Everybody's own ε, in a public column",
}
DIRECTIONS = {"at_least": "at least", "more_than": "more than"}
MISSING = "This field is empty"
PERCENT = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s*%?|[0-9]+\s*/\s*[1-9][0-9]*")
PERCENT_RULE = "a share is a percentage from 0 to 100, such as 50, or a fraction such as 2/3"
EPSILON, THRESHOLD, WEIGHT, AREA_THRESHOLD = (
    "epsilon",
    "threshold",
    "weight",
    "area-threshold",
)  # what a number for each value of a column is
TABLE_FIELDS = ("sheet", "encoding", "delimiter")
QUESTION_FIELDS = (
    *("column", "operator", "value", "kind", "direction", "share", "of", "number", "ties"),
    *("group", "joint", "each", "sum", "area", "thresholds", "title", "yes", "no"),
)
PROTECTION_FIELDS = ("protection", "epsilon", "level", "epsilon_column", "decides", "deciding")
QUESTION_DEFAULTS = {
    "operator": IS,
    "kind": SHARE,
    "direction": "at_least",
    "of": ALL,
    "ties": NO,
    "joint": "and",
    "each": SHARE,
    "thresholds": "same",
}
DEFAULTS = {"protection": ONE}
MOST_QUESTIONS = 20
ALL_TITLE = "all-title"  # the field for the title of all questions together
CHOICES: dict[str, Iterable[str]] = {
    "operator": OPERATORS,
    "kind": KINDS,
    "direction": DIRECTIONS,
    "of": (ALL, RESPONDENTS),
    "ties": (NO, YES),
    "joint": ("and", "or"),
    "each": (SHARE, COUNT),
    "thresholds": ("same", "own"),
    "protection": PROTECTIONS,
    "decides": ("", "yes"),
}
LONGEST_TEXT = 2000  # characters of one field


@dataclass
class QuestionFields:
    """The fields of one question.

    Attributes:
        fields: field → what was typed or chosen.
        numbers: (what, column, value) → the threshold or weight that was typed for this value.
    """

    fields: dict[str, str] = field(default_factory=lambda: dict(QUESTION_DEFAULTS))
    numbers: dict[tuple[str, str, str], str] = field(default_factory=dict)


@dataclass
class Draft:
    """The fields of the steps Question and Protection. A plan has one question or several, one of which is current.

    Attributes:
        fields: field → what was typed or chosen, for all questions.
        epsilon_numbers: (column, level) → the ε that was typed for this level.
        asked: the fields of each question.
        at: the index of the current question, which the step Question shows.
    """

    fields: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    epsilon_numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    asked: list[QuestionFields] = field(default_factory=lambda: [QuestionFields()])
    at: int = 0

    def __getitem__(self, name: str) -> str:
        return self._fields_with(name).get(name, "")

    def set(self, name: str, value: str) -> None:
        """Sets a field; a choice that is not offered is ignored."""
        if name in CHOICES and value not in CHOICES[name]:
            return
        self._fields_with(name)[name] = value[:LONGEST_TEXT]

    def _fields_with(self, name: str) -> dict[str, str]:
        return self.asked[self.at].fields if name in QUESTION_FIELDS else self.fields

    def number(self, what: str, column: str, value: str) -> str:
        """The text that was typed for a value of a column: an ε, or a threshold or a weight of the current question."""
        if what == EPSILON:
            return self.epsilon_numbers.get((column, value), "")
        return self.asked[self.at].numbers.get((what, column, value), "")

    def set_number(self, what: str, column: str, value: str, typed: str) -> None:
        """Sets such a number."""
        if what == EPSILON:
            self.epsilon_numbers[column, value] = typed
        else:
            self.asked[self.at].numbers[what, column, value] = typed

    # Several questions.

    @property
    def has_several(self) -> bool:
        """True if the plan has more than one question."""
        return len(self.asked) > 1

    def each(self) -> list[Draft]:
        """Copies of this draft, one for each question, which is the current one of its copy."""
        return [replace(self, at=at) for at in range(len(self.asked))]

    def add_question(self) -> None:
        """Adds a question and makes it the current one.

        Raises:
            UsageError: there are too many.
        """
        if len(self.asked) >= MOST_QUESTIONS:
            rule = f"a plan that is made here has at most {MOST_QUESTIONS}"
            raise UsageError(f"{len(self.asked)} questions", rule)
        self.asked.append(QuestionFields())
        self.at = len(self.asked) - 1

    def remove_question(self, at: int) -> None:
        """Removes a question, unless it is the only one."""
        if self.has_several and 0 <= at < len(self.asked):
            del self.asked[at]
            self.at = min(self.at - (at < self.at), len(self.asked) - 1)

    def name(self) -> str:
        """The name of the current question in messages."""
        return question_name(self.at + 1, self["title"].strip() or None)

    def column(self, name: str, offered: list[str]) -> str:
        """The column that a field names, or the only one that is offered; empty if it is not offered."""
        chosen = self[name]
        if not chosen and len(offered) == 1:
            return offered[0]
        return chosen if chosen in offered else ""

    # What is counted.

    def counted_column(self, table: OpenedTable) -> str:
        """The column whose rows are counted."""
        return self.column("column", table.with_role(COUNTED))

    def condition(self, table: OpenedTable) -> str:
        """The condition `count` of `ask`.

        Raises:
            UsageError: a part of it is missing, or it does not fit the column.
        """
        column = self.counted_column(table)
        if not column:
            raise UsageError("no column is counted", "the step Table says which columns are private")
        operator, typed, name = self["operator"], self["value"].strip(), format_column(column)
        if operator == EMPTY:
            return f"{name} IS NULL"
        if not typed:
            raise UsageError(MISSING, "you type the value that counts as yes; it is never taken from the table")
        kind = table.kind(column)
        if operator == ONE_OF:
            parts = [part.strip() for part in typed.split(",") if part.strip()]
            text = f"{name} IN ({', '.join(_literal(kind, part, False) for part in parts)})"
        else:
            text = f"{name} {SIGNS[operator]} {_literal(kind, typed, operator not in (IS, IS_NOT))}"
        canonical_predicate(parse_predicate(text), exact_text=False)  # refuses what cannot be compared
        return text

    # The question.

    def group(self, table: OpenedTable) -> str:
        """The column of groups that the question names; empty if it names none."""
        if self["kind"] not in (GROUPS, WEIGHTED):
            return ""
        return self.column("group", table.with_role(PUBLIC, "group"))

    def area(self, table: OpenedTable) -> str:
        """The column of areas; empty for one answer."""
        chosen = self["area"]
        return chosen if chosen in table.with_role(PUBLIC, "area") else ""

    def has_area_thresholds(self, table: OpenedTable) -> bool:
        """True if each area has a threshold of its own."""
        return self["kind"] in (SHARE, COUNT) and bool(self.area(table)) and self["thresholds"] == "own"

    def threshold(self, table: OpenedTable) -> str | dict[str, str]:
        """The threshold of a share or a number, as text; or that of each area.

        Raises:
            UsageError: it is missing, or not a share or a number.
            InputError: the areas cannot be read.
        """
        if not self.has_area_thresholds(table):
            return self._threshold(self["number"] if self["kind"] == COUNT else self["share"])
        area = self.area(table)
        return {name: self._threshold(self.number(AREA_THRESHOLD, area, name)) for name in table.names(area)}

    def _threshold(self, typed: str) -> str:
        return str(_whole(typed)) if self["kind"] == COUNT else read_share(typed)

    def question(self, table: OpenedTable) -> Question | None:
        """The question, if it is more than a threshold; else None.

        Raises:
            UsageError: a part of it is missing or wrong.
            InputError: the groups cannot be read.
        """
        kind = self["kind"]
        if kind == COMPARE:
            return versus(YES, NO, self["ties"])
        if kind == GROUPS:
            return self._question_of_groups(table)
        return self._weighted_question(table) if kind == WEIGHTED else None

    def _question_of_groups(self, table: OpenedTable) -> Question:
        parts = []
        for name, typed in self.numbers_of(table, THRESHOLD):
            strict, threshold = self["direction"] == "more_than", self._read_group_threshold(typed)
            if isinstance(threshold, int):
                parts.append(count(YES, threshold + strict, name))
            else:
                parts.append(share(YES, threshold, ALL, strict, name))
        if len(parts) < 2:
            raise UsageError("fewer than two groups have a threshold", "the question is about two groups or more")
        return combine(And if self["joint"] == "and" else Or, *parts)

    def _read_group_threshold(self, typed: str) -> int | str:
        """The threshold of a group: a number of people, or a share as text."""
        return _whole(typed) if self["each"] == COUNT else read_share(typed)

    def _weighted_question(self, table: OpenedTable) -> Question:
        weights = {name: _weight(typed) for name, typed in self.numbers_of(table, WEIGHT)}
        if not any(parse_exact(weight, "the weight") for weight in weights.values()):
            raise UsageError("no group has a weight", "at least one group has a weight that is not 0")
        wanted = self["sum"].strip()
        if not wanted:
            raise UsageError(MISSING, "it is the weight that the answer yes needs, such as 50% or 300")
        if "%" not in wanted and "/" not in wanted:
            return weighted_sum(weights, _weight(wanted))
        part = parse_exact(read_share(wanted), "the share")
        return weighted_sum(weights, format_exact(part * self.total_weight(table)))

    def total_weight(self, table: OpenedTable) -> Fraction:
        """The weight of all people together.

        Raises:
            UsageError: a weight is not a number.
            InputError: the groups cannot be read.
        """
        counts = table.values(self.group(table)).counts
        weights = self.numbers_of(table, WEIGHT)
        return sum((parse_exact(_weight(typed), "") * counts[name] for name, typed in weights), Fraction())

    def numbers_of(self, table: OpenedTable, what: str) -> list[tuple[str, str]]:
        """The groups for which a threshold or a weight was typed, and what was typed.

        Raises:
            UsageError: there are no groups.
            InputError: they cannot be read.
        """
        group = self.group(table)
        if not group:
            raise UsageError("no column of groups", "a public column must say who is in which group")
        typed = ((name, self.number(what, group, name).strip()) for name in table.names(group))
        return [(name, number) for name, number in typed if number]

    # The protection.

    def level(self, table: OpenedTable) -> str:
        """The column of levels; empty if protection does not depend on one."""
        if self["protection"] != LEVELS:
            return ""
        return self.column("level", table.with_role(PUBLIC, "level"))

    def epsilon_column(self, table: OpenedTable) -> str:
        """The column of everybody's ε."""
        if self["protection"] != COLUMN:
            return ""
        return self.column("epsilon_column", table.with_role(PUBLIC, "epsilon"))

    def epsilons(self, table: OpenedTable) -> dict[str, str]:
        """Level → ε, as text; everybody's ε under the empty name.

        Raises:
            UsageError: one is missing, or is not an ε.
            InputError: the levels cannot be read.
        """
        if self["protection"] == ONE:
            return {"": read_epsilon(self["epsilon"])}
        column = self.level(table)
        return {name: read_epsilon(self.number(EPSILON, column, name)) for name in table.names(column)}

    # Arguments of `ask`.

    def question_arguments(self, table: OpenedTable) -> dict[str, Any]:
        """The arguments of `ask` that state the question.

        Raises:
            UsageError: something is missing or wrong.
            InputError: the groups cannot be read.
        """
        if not self.has_several:
            body = self.question_body(table)
            found = body | {"person": table.person, "group": self.group(table)}
        else:
            bodies = []
            for one in self.each():
                with name_question(one.at + 1, one["title"].strip() or None):
                    bodies.append(one.question_body(table))
            require_wording(self[ALL_TITLE].strip() or None)
            found = {"questions": bodies, "person": table.person, "group": self._group_of_all(table)}
            found["title"] = self[ALL_TITLE].strip()
        return {name: value for name, value in (found | table.options).items() if value != ""}

    def question_body(self, table: OpenedTable) -> dict[str, Any]:
        """What the current question is, as one of `questions=`.

        Raises:
            UsageError: something is missing or wrong.
            InputError: the groups cannot be read.
        """
        found: dict[str, Any] = {"count": self.condition(table)}
        question = self.question(table)
        if question is None:
            ending = "_by" if self.has_area_thresholds(table) else ""
            found[f"{self['direction']}{ending}"] = self.threshold(table)
            if self["kind"] == SHARE and self["of"] == RESPONDENTS:
                found["of"] = RESPONDENTS
        else:
            found["question"] = question
        found["by"] = self.area(table)
        found |= {name: self[name].strip() for name in ("title", "yes", "no")}
        require_wording(*(found[name] or None for name in ("title", "yes", "no")))
        return {name: found[name] for name in ARGUMENTS if found.get(name, "") != ""}

    def _group_of_all(self, table: OpenedTable) -> str:
        """The column of groups that the questions name; empty if none does.

        Raises:
            UsageError: they name two.
        """
        named = list(dict.fromkeys(group for one in self.each() if (group := one.group(table))))
        if len(named) > 1:
            columns = " and ".join(map(format_value, named))
            raise UsageError(f"the questions use the groups of {columns}", "a plan has one column of groups")
        return named[0] if named else ""

    def arguments(self, table: OpenedTable) -> dict[str, Any]:
        """All arguments of `ask` but the table, the plan and the payment.

        Raises:
            UsageError: something is missing or wrong.
            InputError: groups or levels cannot be read.
        """
        return self.question_arguments(table) | self.protection_arguments(table)

    def protection_arguments(self, table: OpenedTable) -> dict[str, Any]:
        """The arguments of `ask` that state the protection.

        Raises:
            UsageError: something is missing or wrong.
            InputError: the levels cannot be read.
        """
        return self._epsilon_arguments(table) | self._deciding_arguments()

    def _epsilon_arguments(self, table: OpenedTable) -> dict[str, Any]:
        if self["protection"] == ONE:
            return {"epsilon": self.epsilons(table)[""]}
        if self["protection"] == COLUMN:
            column = self.epsilon_column(table)
            if not column:
                raise UsageError("no column holds everybody's ε", "a public column must hold a number for each person")
            return {"epsilon": column}
        column = self.level(table)
        if not column:
            raise UsageError("no column of levels", "a public column must say who has which level")
        return {"level": column, "epsilon_by": self.epsilons(table)}

    def _deciding_arguments(self) -> dict[str, Any]:
        """The argument for more privacy where the answer depends on one person, if that is chosen."""
        return {"deciding_epsilon": read_epsilon(self["deciding"])} if self["decides"] else {}

    # What is missing or wrong.

    def question_faults(self, table: OpenedTable) -> dict[str, str]:
        """Field → what is wrong with it, in the step Question; ``other-2`` is the third question."""
        found = self.own_faults(table)
        for one in self.each() if self.has_several else ():
            wrong = {} if one.at == self.at else one.own_faults(table)
            found |= {f"other-{one.at}": words for words in [*wrong.values()][:1]}
        if self.has_several and not found:
            found |= _refusals({ALL_TITLE: lambda: require_wording(self[ALL_TITLE].strip() or None)})
            found |= _refusals({"group": lambda: self._group_of_all(table)})
        return found

    def own_faults(self, table: OpenedTable) -> dict[str, str]:
        """Field → what is wrong with it in the current question."""
        kind = self["kind"]
        checks: dict[str, Callable[[], Any]] = {"value": lambda: self.condition(table)}
        if kind in (SHARE, COUNT):
            checks |= self._threshold_checks(table)
        elif kind in (GROUPS, WEIGHTED):
            numbers = self._group_checks(table)
            wrong = bool(_refusals(numbers))
            checks |= numbers if wrong else {"group" if kind == GROUPS else "sum": lambda: self.question(table)}
        for name in ("title", "yes", "no"):
            checks[name] = partial(require_wording, **{name: self[name].strip() or None})
        found = _refusals(checks)
        if not {"title", "yes", "no"} & set(found):
            words = [self[name].strip() or None for name in ("title", "yes", "no")]
            found |= _refusals({"no": lambda: require_wording(*words)})
        return found

    def _group_checks(self, table: OpenedTable) -> dict[str, Callable[[], Any]]:
        """The checks of the typed thresholds or weights of groups, by field; ``threshold-2`` is that of the third."""
        what = THRESHOLD if self["kind"] == GROUPS else WEIGHT
        read: Callable[[str], Any] = self._read_group_threshold if what == THRESHOLD else _weight
        group = self.group(table)
        try:
            names = table.names(group) if group else []
        except HetdpError:
            return {}  # refused with the question
        typed = ((f"{what}-{at}", self.number(what, group, name).strip()) for at, name in enumerate(names))
        return {field: partial(read, number) for field, number in typed if number}

    def _threshold_checks(self, table: OpenedTable) -> dict[str, Callable[[], Any]]:
        """The checks of the threshold, or of that of each area, by field."""
        if not self.has_area_thresholds(table):
            return {"share" if self["kind"] == SHARE else "number": partial(self.threshold, table)}
        area = self.area(table)
        try:
            names = table.names(area)
        except HetdpError:
            return {"area": partial(table.names, area)}
        typed = enumerate(self.number(AREA_THRESHOLD, area, name) for name in names)
        return {f"{AREA_THRESHOLD}-{at}": partial(self._threshold, number) for at, number in typed}

    def protection_faults(self, table: OpenedTable) -> dict[str, str]:
        """Field → what is wrong with it, in the step Protection; ``epsilon-2`` is the ε of the third level."""
        return self._epsilon_faults(table) | _refusals({"deciding": self._deciding_arguments})

    def _epsilon_faults(self, table: OpenedTable) -> dict[str, str]:
        if self["protection"] == ONE:
            return _refusals({"epsilon": lambda: self.epsilons(table)})
        if self["protection"] == COLUMN:
            return _refusals({"epsilon_column": lambda: self._epsilon_arguments(table)})
        column = self.level(table)
        try:
            names = table.names(column) if column else []
        except HetdpError as refusal:
            return {"level": str(refusal)}
        typed = enumerate(self.number(EPSILON, column, name) for name in names)
        checks: dict[str, Callable[[], Any]] = {f"epsilon-{at}": partial(read_epsilon, number) for at, number in typed}
        found = _refusals(checks)
        return found or _refusals({"level": lambda: self._epsilon_arguments(table)})


def _refusals(checks: dict[str, Callable[[], Any]]) -> dict[str, str]:
    """The messages of the checks that refuse, by field."""
    found = {}
    for name, check in checks.items():
        try:
            check()
        except HetdpError as refusal:
            found[name] = str(refusal)
    return found


def read_epsilon(typed: str) -> str:
    """An ε as it was typed, with a point for a decimal comma.

    Raises:
        UsageError: it is missing, or is not an ε.

    >>> read_epsilon("0,5"), read_epsilon("∞")
    ('0.5', 'inf')
    """
    if not typed.strip():
        raise UsageError(MISSING, "each person must have an ε; there is no default")
    parse_typed(typed)
    text = typed.strip().replace("∞", "inf").replace(",", ".")
    parse_epsilon(text)
    return text


def _whole(typed: str) -> int:
    if not typed.strip():
        raise UsageError(MISSING, "it is a number of people, such as 300")
    return parse_whole(typed.strip(), "the number of people", 0)


def read_share(typed: str) -> str:
    """A share as `ask` reads it.

    >>> read_share("50"), read_share("66,7 %"), read_share("2/3")
    ('50%', '66.7%', '2/3')
    """
    text = typed.strip()
    if not text:
        raise UsageError(MISSING, PERCENT_RULE)
    if not PERCENT.fullmatch(text):
        raise UsageError(f"the share is {text[:40]!r}", PERCENT_RULE)
    tidy = text.replace(" ", "").replace(",", ".")
    if "/" not in tidy and "%" not in tidy:
        part = parse_exact(tidy, "the share")
        if 0 < part <= 1:  # half of them, or half a per cent of them
            hint = f"write {format_exact(part * 100)}% or {tidy}%"
            raise UsageError(f"{text[:40]!r} can be read as two shares", PERCENT_RULE, hint)
        tidy += "%"
    if not 0 <= parse_exact(tidy, "the share") <= 1:
        raise UsageError(f"the share is {text[:40]!r}", PERCENT_RULE)
    return tidy


def _weight(typed: str) -> str:
    parse_typed(typed)
    text = typed.strip().replace(",", ".")
    parse_exact(text, "the weight")
    return text


def _literal(kind: str, typed: str, ordered: bool) -> str:
    """A value as a condition writes it: numbers are bare for columns of numbers, and where they are ordered."""
    number = re.fullmatch(rf"-?{COMPARED}", typed)
    if kind == kinds.TRUTH:
        if typed.lower() not in ("true", "false"):
            raise UsageError(f"the value is {typed[:40]!r}", "the column holds true or false")
        return typed.upper()
    if kind in (kinds.WHOLE, kinds.NUMBER) or (ordered and number and kind == kinds.TEXT):
        if not number:
            raise UsageError(f"the value is {typed[:40]!r}", "the column holds numbers")
        return typed
    return format_literal(typed)
