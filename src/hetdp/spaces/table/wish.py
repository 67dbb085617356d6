"""What a steward asks for, before any table is opened: what is counted, what is promised, which columns say so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.spaces.documents import require_keys
from hetdp.spaces.exact import exact, whole
from hetdp.spaces.names import name
from hetdp.spaces.privacy.grid import as_written, for_document
from hetdp.spaces.questions.constructors import count, share
from hetdp.spaces.questions.question import Question
from hetdp.spaces.questions.reading import from_document as question_from
from hetdp.spaces.questions.thresholds import ALL, BLANK, RESPONDENTS
from hetdp.spaces.table.parsing import parsed
from hetdp.spaces.table.predicate import Predicate

YES, NO = "yes", "no"
DESIGNS = ("balanced", "weighted-vote", "fair")
KEYS = ("counted", "question", "privacy", "columns", "objective")
ROLES = ("person", "epsilon", "group", "area")


@dataclass(frozen=True)
class Epsilon:
    """Where ε comes from: one number for everybody, one for each group, or a column of the table.

    Exactly one of the three is given.
    """

    constant: Decimal | None = None
    by_group: tuple[tuple[str, Decimal], ...] = ()
    column: str | None = None

    def document(self) -> dict[str, Any]:
        """As it stands in a plan."""
        if self.constant is not None:
            return {"constant": for_document(self.constant)}
        if self.by_group:
            return {"by_group": {group: for_document(epsilon) for group, epsilon in self.by_group}}
        return {"column": self.column}


@dataclass(frozen=True)
class Wish:
    """All that a plan fixes, but for the table.

    Attributes:
        counted: which rows say yes.
        question: what is asked about how many do.
        epsilon: what people are promised.
        deciding: what they are promised where the answer depends on one of them; None for the same.
        person: the column that tells people apart.
        group: the column of groups, if any.
        area: the column of areas, each of which gets an answer; None for one answer.
        objective: how the mechanism is chosen.
    """

    counted: Predicate
    question: Question
    epsilon: Epsilon
    deciding: Decimal | None
    person: str
    group: str | None
    area: str | None
    objective: str

    @property
    def values(self) -> tuple[str, ...]:
        """What a row may say: blank is one of them only if respondents alone are asked about."""
        return (YES, NO, BLANK) if BLANK in self.question.values_used() else (YES, NO)

    @property
    def public(self) -> list[str]:
        """The columns that are read before the mechanism is fixed."""
        named = (self.person, self.epsilon.column, self.group, self.area)
        return list(dict.fromkeys(column for column in named if column is not None))

    @property
    def private(self) -> list[str]:
        """The columns that hold the answers."""
        return list(dict.fromkeys(self.counted.columns()))

    def document(self) -> dict[str, Any]:
        """As it stands in a plan; `from_document` reads it."""
        return {
            "counted": str(self.counted),
            "question": self.question.document(),
            "privacy": {
                "epsilon": self.epsilon.document(),
                "deciding_epsilon": None if self.deciding is None else for_document(self.deciding),
            },
            "columns": {
                "person": self.person,
                "epsilon": self.epsilon.column,
                "group": self.group,
                "area": self.area,
            },
            "objective": self.objective,
        }


def wish(
    counted: str,
    at_least: Any = None,
    more_than: Any = None,
    of: str = ALL,
    epsilon: Any = None,
    by_group: Mapping[str, Any] | None = None,
    deciding: Any = None,
    person: str | None = None,
    group: str | None = None,
    area: str | None = None,
    objective: str = "balanced",
) -> Wish:
    """What is asked for, from words as they are typed.

    Args:
        counted: which rows say yes, such as ``vote = 'yes'``.
        at_least: how many must: a whole number, or a share such as ``50%``.
        more_than: the same, where exactly that counts as no.
        of: a share of ``all`` rows, or of ``respondents``, for whom it can be said whether they are counted.
        epsilon: a number for everybody, or the name of a column.
        by_group: group → number, instead.
        deciding: an ε for the step at which one person decides.
        person: the column that tells people apart.
        group: the column of groups.
        area: the column of areas, for one answer each.
        objective: ``balanced`` or ``weighted-vote``.

    Raises:
        UsageError: something is missing, contradicts itself, or is not what it must be.
    """
    if person is None:
        rule = "the unit of privacy is the person, so one column must tell people apart"
        raise UsageError("no column says who is who", rule, "--person names it")
    _require_offered(objective)
    found = Wish(
        parsed(counted),
        _question(at_least, more_than, of),
        _epsilon(epsilon, by_group, group),
        None if deciding is None else as_written(deciding),
        name(person, "the column of --person"),
        None if group is None else name(group, "the column of --group"),
        None if area is None else name(area, "the column of --by"),
        objective,
    )
    _require_apart(found)
    return found


def from_document(document: Any) -> Wish:
    """The wish in a plan.

    Raises:
        InputError: a key is missing, unknown, or its value is none that we write.
        UsageError: it contradicts itself.
    """
    require_keys(document, KEYS, KEYS, "plan")
    privacy, columns = document["privacy"], document["columns"]
    require_keys(privacy, ("epsilon", "deciding_epsilon"), ("epsilon", "deciding_epsilon"), "plan.privacy")
    require_keys(columns, ROLES, ROLES, "plan.columns")
    where = privacy["epsilon"]
    require_keys(where, (), ("constant", "by_group", "column"), "plan.privacy.epsilon")
    if not isinstance(where, Mapping) or len(where) != 1 or where.get("column") != columns["epsilon"]:
        raise UsageError(f"the plan's ε is {shown(where)}", "it has one source, and columns name the same")
    constant = where.get("constant")
    _require_offered(document["objective"])
    found = Wish(
        parsed(document["counted"]),
        question_from(document["question"]),
        _epsilon(constant if constant is not None else where.get("column"), where.get("by_group"), columns["group"]),
        None if privacy["deciding_epsilon"] is None else as_written(privacy["deciding_epsilon"]),
        name(columns["person"], "the column of people"),
        None if columns["group"] is None else name(columns["group"], "the column of groups"),
        None if columns["area"] is None else name(columns["area"], "the column of areas"),
        document["objective"],
    )
    if not found.question.values_used() <= set(found.values) or found.question.linear() is None:
        raise UsageError(
            f"the question is {shown(str(found.question))}", "a plan asks about yes and no, by a threshold"
        )
    _require_apart(found)
    return found


def _question(at_least: Any, more_than: Any, of: str) -> Question:
    if (at_least is None) == (more_than is None):
        what = "no threshold" if at_least is None else "two thresholds"
        raise UsageError(what, "the answer is yes if at least, or more than, so many are counted", "--at-least 50%")
    strict, given = at_least is None, more_than if at_least is None else at_least
    if isinstance(given, str) and not set("%/.") & set(given):
        number = whole(given, "the threshold", 0)
        if of == RESPONDENTS:
            raise UsageError(
                f"{number} of {of}", "a number of people is one of all rows; a share can be of respondents"
            )
        return count(YES, number + strict)
    part = exact(given, "the threshold")
    return share(YES, part, of, strict, blank=BLANK if of == RESPONDENTS else None)


def _epsilon(given: Any, by_group: Any, group: str | None) -> Epsilon:
    if (given is None) == (by_group is None):
        what = "no ε" if given is None else "ε twice"
        raise UsageError(what, "ε is one number, one column, or one number for each group", "--epsilon eps")
    if by_group is not None:
        if group is None:
            raise UsageError("ε by group, but no column of groups", "a column says who is in which", "--group names it")
        if not isinstance(by_group, Mapping) or not by_group:
            raise UsageError(f"ε by group is {shown(by_group)}", "it says a number for each group")
        return Epsilon(by_group=tuple(sorted((name(one, "a group"), as_written(of)) for one, of in by_group.items())))
    try:
        return Epsilon(constant=as_written(given))
    except UsageError:
        if not isinstance(given, str) or _looks_like_a_number(given):
            raise
    return Epsilon(column=name(given, "the column of --epsilon"))


def _looks_like_a_number(text: str) -> bool:
    """Whether this was hardly meant as the name of a column: -1, 1,5, 50% or nan."""
    return re.fullmatch(r"[-+.,0-9eE%/\s]*|[-+]?(nan|inf(inity)?)", text.strip(), re.IGNORECASE) is not None


def _require_offered(objective: Any) -> None:
    if objective == "fair":
        rule = "for now, people's tables are answered by balanced or weighted-vote"
        raise UsageError("the design fair", rule, "hetdp design makes fair mechanisms of problem files")
    if objective not in DESIGNS:
        raise UsageError(f"the design {shown(objective)}", f"the designs are {', '.join(DESIGNS)}")


def _require_apart(found: Wish) -> None:
    """What is public cannot be the secret: a column is one or the other."""
    both = [column for column in found.private if column in found.public]
    if both:
        rule = "a column that people's privacy rests on is public, one that is counted is private"
        raise UsageError(f"the column {shown(both[0])} is used for both", rule)
