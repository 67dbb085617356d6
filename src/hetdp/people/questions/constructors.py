"""What people type to ask a question. The arguments are also the keys of a written question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from hetdp.documents import DEEPEST, build_from, open_envelope, parse_json, parse_toml, refuse, require_keys
from hetdp.errors import Fault, UsageError
from hetdp.numbers import Number, parse_exact, parse_whole
from hetdp.people.names import name, names, names_or_all
from hetdp.people.questions.logic import And, Function, Joined, Not, Or, joined
from hetdp.people.questions.question import Question, Tables
from hetdp.people.questions.thresholds import (
    ALL,
    BLANK,
    RESPONDENTS,
    AllOf,
    Count,
    RatioOfShares,
    Share,
    Versus,
    WeightedSum,
)
from hetdp.text import format_value, suggest_name

Names = str | Sequence[str]


def count(value: str, at_least: int, group: Names | None = None) -> Question:
    """At least so many people have a value.

    Args:
        value: the value that is counted.
        at_least: how many it takes.
        group: whom to count: a group or several; everybody, if not given.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.count("ill", at_least=3, group="Pupils"))
    at least 3 rows of Pupils say ill
    """
    return Count(names_or_all(group, "the group"), name(value, "the value"), parse_whole(at_least, "at_least", 0))


def share(
    value: str,
    at_least: Number,
    of: str = ALL,
    strict: bool = False,
    group: Names | None = None,
    blank: Names | None = None,
) -> Question:
    """At least such a share of people have a value.

    Args:
        value: the value that is counted.
        at_least: the share: ``"50%"``, ``0.5``, ``"1/3"``, a Fraction or a Decimal; always exactly as written.
        of: a share of whom: ``"all"`` rows, or ``"respondents"``, which leaves out the blank ones.
        strict: whether it takes more than the share, so that exactly the share counts as no.
        group: whom to ask: a group or several; everybody, if not given.
        blank: the value, or values, that are no response; ``"blank"``, if not given. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.share("yes", at_least="50%"))
    at least half of all rows say yes; exactly half counts as yes; blank rows count as not yes
    >>> print(hetdp.questions.share("yes", "2/3", of="respondents", blank="abstain"))
    at least 2/3 of all rows that are not abstain say yes; exactly 2/3 counts as yes; if all are abstain, that counts \
as yes
    """
    part = parse_exact(at_least, "at_least")
    if not 0 <= part <= 1:
        raise UsageError(f"at_least is {format_value(at_least)}", 'a share is a number from 0 to 1, or "0%" to "100%"')
    found = names_or_all(group, "the group")
    return Share(found, name(value, "the value"), part, *_denominator(value, of, strict, blank))


def majority(value: str = "yes", of: str = ALL, group: Names | None = None, blank: Names | None = None) -> Question:
    """More than half of the people have a value; exactly half counts as no.

    Args:
        value: the value that is counted.
        of: the half of whom: ``"all"`` rows, or ``"respondents"``, which leaves out the blank ones.
        group: whom to ask: a group or several; everybody, if not given.
        blank: the value, or values, that are no response; ``"blank"``, if not given. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.majority())
    more than half of all rows say yes; exactly half counts as no; blank rows count as not yes
    """
    return share(value, Fraction(1, 2), of, True, group, blank)


def versus(a: str, b: str, ties: str = "no", group: Names | None = None) -> Question:
    """A against B: more people have the value A than B; other values do not count.

    Args:
        a: the value that wins.
        b: the value it must beat.
        ties: what a tie counts as: ``"no"`` or ``"yes"``.
        group: whom to ask: a group or several; everybody, if not given.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.versus("Simonds", "Yancey"))
    more rows say Simonds than Yancey; a tie counts as no; rows with any other value do not count
    """
    if ties not in ("no", "yes"):
        raise UsageError(f"ties is {format_value(ties)}", "a tie counts as 'no' or 'yes'")
    if a == b:
        raise UsageError(f"{format_value(a)} stands against itself", "a and b are different values")
    return Versus(names_or_all(group, "the group"), name(a, "a"), name(b, "b"), ties)


def weighted_sum(
    weights: Mapping[str, Number], at_least: Number, scores: Mapping[str, Number] | None = None
) -> Question:
    """A sum over people, each counting the weight of the group times the score of the value, reaches a threshold.

    Groups and values that are not named count 0.

    Args:
        weights: group → weight; exactly as written.
        at_least: what the sum must reach; exactly that counts as yes.
        scores: value → score; ``{"yes": 1}``, if not given.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.weighted_sum({"Council": 2, "Public": 0.5}, at_least=10))
    the sum of weight × score is at least 10; weights: Council 2, Public 0.5; scores: yes 1; other groups and values \
count 0; exactly 10 counts as yes
    """
    found = _numbers(weights, "weight"), _numbers({"yes": 1} if scores is None else scores, "score")
    return WeightedSum(*found, parse_exact(at_least, "at_least"))


def all_of(group: Names, value: str = "yes") -> Question:
    """Everybody in a group, or in several, has a value: each of them has a veto.

    Args:
        group: a group or several.
        value: the value that all must have.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> print(hetdp.questions.all_of(["Permanent", "Chair"]))
    all rows of Permanent and Chair say yes; any other value, blank included, makes it no
    """
    return AllOf(names(group, "the group"), name(value, "the value"))


def ratio_of_shares(
    value: str,
    group_a: str,
    group_b: str,
    at_least: Number = Fraction(4, 5),
    of: str = ALL,
    strict: bool = False,
    blank: Names | None = None,
) -> Question:
    """The share of one group is at least such a part of the share of another: the four-fifths rule.

    Where the share of group B is zero, any share of group A is at least that part of it; so the answer is yes.

    Args:
        value: the value whose shares are compared.
        group_a: the group whose share must be large enough.
        group_b: the group it is compared with.
        at_least: the part, as in `share`.
        of: shares of whom: ``"all"`` rows, or ``"respondents"``, which leaves out the blank ones.
        strict: whether it takes more than that, so that exactly that counts as no.
        blank: the value, or values, that are no response; ``"blank"``, if not given. Only with ``of="respondents"``.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> rule = hetdp.questions.ratio_of_shares("admitted", "F", "M")
    >>> counts = {"F": {"admitted": 557, "rejected": 1278}, "M": {"admitted": 1198, "rejected": 1493}}
    >>> bool(rule.holds(counts, {"F": 1835, "M": 2691}))
    False
    """
    part = parse_exact(at_least, "at_least")
    if part < 0:
        raise UsageError(f"at_least is {format_value(at_least)}", "it is a number ≥ 0")
    if group_a == group_b:
        raise UsageError(f"{format_value(group_a)} is compared with itself", "group_a and group_b are different groups")
    whom = name(value, "the value"), name(group_a, "group_a"), name(group_b, "group_b")
    return RatioOfShares(*whom, part, *_denominator(value, of, strict, blank))


def function(f: Callable[[Tables], Any], words: str) -> Question:
    """A Python function as a question, for spaces only: it cannot be written down, so nothing is released for it.

    Args:
        f: gets the counts, group → value → array, and returns booleans.
        words: what it asks, in words.

    Raises:
        UsageError: an argument is not what it must be.

    >>> import hetdp
    >>> odd = hetdp.questions.function(lambda counts: counts["Class"]["ill"] % 2 == 1, words="an odd number are ill")
    >>> import numpy as np
    >>> odd.holds({"Class": {"ill": np.arange(3), "well": 2 - np.arange(3)}}, {"Class": 2})
    array([False,  True, False])
    """
    if not callable(f):
        raise UsageError(f"f is {format_value(f)}", "it is a function that gets the counts and returns booleans")
    return Function(f, name(words, "words"))


def _denominator(value: str, of: str, strict: bool, blank: Names | None) -> tuple[str, bool, tuple[str, ...]]:
    """The tie rule, and what a share is divided by."""
    if of not in (ALL, RESPONDENTS):
        raise UsageError(f"of is {format_value(of)}", f"a share is of {ALL!r} rows or of {RESPONDENTS!r}")
    if not isinstance(strict, bool):
        raise UsageError(f"strict is {format_value(strict)}", "it is true or false")
    if of == ALL and blank is not None:
        raise UsageError(
            f"blank is {format_value(blank)}", f"it is for shares of {RESPONDENTS!r}; {ALL!r} leaves nobody out"
        )
    blanks = names(BLANK if blank is None else blank, "blank") if of == RESPONDENTS else ()
    if value in blanks:
        raise UsageError(f"the value {format_value(value)} is called blank", "who gives it is a respondent")
    return of, strict, blanks


def _numbers(given: Any, what: str) -> tuple[tuple[str, Fraction], ...]:
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"the {what}s are {format_value(given)}", f"there is one {what} or more, by name")
    return tuple(
        (name(one, f"the name of a {what}"), parse_exact(of, f"the {what} of {one!r}")) for one, of in given.items()
    )


# Written questions, read back: strictly, so that no word of who wrote them is lost.


KIND, PLACE = "question", "question"
MADE_BY: dict[str, Callable[..., Question]] = {
    "count": count,
    "share": share,
    "majority": majority,
    "versus": versus,
    "weighted_sum": weighted_sum,
    "all_of": all_of,
    "ratio_of_shares": ratio_of_shares,
}
JOINED_BY: dict[str, type[Joined]] = {"and": And, "or": Or}
KINDS = (*MADE_BY, *JOINED_BY, "not")


def from_document(document: Mapping[str, Any]) -> Question:
    """A question from a document, as `Question.document` gives it; its keys are the arguments of the functions here.

    Args:
        document: the document, as `json` or `tomllib` reads it.

    Raises:
        InputError: a key is unknown or missing, or a value is refused; with a hint.

    >>> import hetdp
    >>> question = ~hetdp.questions.count("yes", at_least=3)
    >>> hetdp.questions.from_document(question.document()) == question
    True
    """
    return part_of(open_envelope(document, KIND, PLACE), PLACE)


def from_json(text: str) -> Question:
    """A question from a JSON text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no JSON, or no question.

    >>> import hetdp
    >>> print(hetdp.questions.from_json('''
    ... {"schema_version": 1, "kind": "question", "question": {"asks": "share", "value": "yes", "at_least": 0.6}}'''))
    at least 60% of all rows say yes; exactly 60% counts as yes; blank rows count as not yes
    """
    return from_document(parse_json(text, KIND))


def from_toml(text: str) -> Question:
    """A question from a TOML text; decimals are taken as they are written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no TOML, or no question.

    >>> import hetdp
    >>> print(hetdp.questions.from_toml('''
    ... schema_version = 1
    ... kind = "question"
    ... [question]
    ... asks = "and"
    ... parts = [{asks = "count", value = "yes", at_least = 9}, {asks = "all_of", group = "Permanent"}]
    ... '''))
    (at least 9 rows say yes) and (all rows of Permanent say yes; any other value, blank included, makes it no)
    """
    return from_document(parse_toml(text, KIND))


def part_of(body: Any, where: str, depth: int = 0) -> Question:
    """A question, or a part of one, from its object in a document.

    Raises:
        InputError: it is none.
    """
    if depth > DEEPEST:
        refuse(where, Fault("questions within questions", where, "", f"they stand at most {DEEPEST} deep"))
    asks = body.get("asks") if isinstance(body, Mapping) else None
    if not isinstance(asks, str) or asks not in KINDS:
        rule = f"it has the key asks, which is one of {', '.join(KINDS)}"
        refuse(where, Fault("no question:", where, format_value(asks or body), rule, suggest_name(asks or "", KINDS)))
    keys = {key: value for key, value in body.items() if key != "asks"}
    if asks in MADE_BY:
        return build_from(MADE_BY[asks], keys, where, ("asks",))  # type: ignore[no-any-return]
    key = "part" if asks == "not" else "parts"
    require_keys(body, ("asks", key), ("asks", key), where)
    if asks == "not":
        return Not(part_of(keys[key], f"{where}.part", depth + 1))
    parts = keys[key]
    if not isinstance(parts, list) or len(parts) < 2:
        refuse(where, Fault("parts", where, format_value(parts), f"{asks} joins a list of two questions or more"))
    return joined(JOINED_BY[asks], *(part_of(one, f"{where}.parts[{at}]", depth + 1) for at, one in enumerate(parts)))
