"""The identity of a question to a table: one canonical form for all its wordings.

Two requests have one identity only if they have exactly the same mechanism: the same probability at every table, and
the same meaning of yes. A threshold is reduced to the smallest whole scores, from zero in each group, which is all that
the formulas use; if the mechanism is made of tallies, the digest of its values is part of the identity as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.numbers import EXACT
from hetdp.people.populations.scores import JoinedCounts, formula_scores, scores_of
from hetdp.people.questions.logic import And, Combination, Not, Or
from hetdp.people.questions.question import Question
from hetdp.problem.scores import Scores
from hetdp.tables.policy import Policy
from hetdp.tables.promise import Promise
from hetdp.tables.request import VALUES, AskRequest, Epsilon

TITLE = b"hetdp question 2\n"
THEME = b"hetdp theme 1\n"
EVERYBODY = ""  # the one group of a form that distinguishes none

Form = Any  # a JSON value


class Identity(NamedTuple):
    """Identifies a question to a table in a ledger.

    Attributes:
        request_sha256: SHA-256 of what is asked, in its canonical form, and of who is promised what.
        theme: SHA-256 of what is counted, and for whom. Questions with the same theme are similar.
        reduced_request: the request without columns that change neither the mechanism nor the charge.
    """

    request_sha256: str
    theme: str
    reduced_request: AskRequest


def canonical_question(question: Question, sizes: Mapping[str, int]) -> Form:
    """The canonical form of a question about groups of given sizes.

    Args:
        question: the question.
        sizes: how many people each group has; one group of everybody if the question names none.

    Returns:
        true or false if every table has this answer; a sum of scores with its threshold; a ratio; or such forms,
        joined by and, or, not

    >>> from hetdp import questions
    >>> canonical_question(questions.share("yes", at_least="50%"), {"": 400})
    ['sum', {'': [1, 0, 0]}, 200]
    >>> canonical_question(questions.count("yes", at_least=200), {"": 400})
    ['sum', {'': [1, 0, 0]}, 200]
    """
    if question.linear() is not None:
        try:
            return _sum(question, sizes)
        except UsageError:  # its scores are too large for a formula, so it stays as written
            return ["as written", question.body()]
    found = formula_scores(question, list(sizes), np.array(list(sizes.values()), dtype=np.int64), VALUES)
    if isinstance(found, JoinedCounts):  # parts that have the same formula together are one
        word = "and" if found.asks_all else "or"
        parts = [_sum_form(part, sizes) for part in found.parts]
        return [word, sorted(parts, key=partial(json.dumps, sort_keys=True))]
    if found is not None:
        return _sum_form(found, sizes)
    if isinstance(question, Combination):
        return _join_forms(type(question), [canonical_question(part, sizes) for part in question.parts])
    if isinstance(question, Not):
        return _negate(question.part, sizes)
    return question.canonical_form()


def _sum(question: Question, sizes: Mapping[str, int]) -> Form:
    return _sum_form(scores_of(question, list(sizes), np.array(list(sizes.values()), dtype=np.int64), VALUES), sizes)


def _sum_form(found: Scores, sizes: Mapping[str, int]) -> Form:
    if found.constant:
        return found.constant == 1
    rows = {group: row for group, row in zip(sizes, found.scores.tolist(), strict=True) if sizes[group]}
    first = next(iter(rows.values()))
    if all(row == first for row in rows.values()):
        rows = {EVERYBODY: first}
    return ["sum", rows, found.threshold]


def _join_forms(how: type[Question], forms: list[Form]) -> Form:
    """Joins forms: sorted, without duplicates, nested joins of the same kind and constants."""
    word, neutral = ("and", True) if how is And else ("or", False)
    parts: dict[str, Form] = {}
    for form in forms:
        for part in form[1] if isinstance(form, list) and form[0] == word else [form]:
            if part is (not neutral):
                return not neutral
            if part is not neutral:
                parts[json.dumps(part, sort_keys=True)] = part
    if not parts:
        return neutral
    return next(iter(parts.values())) if len(parts) == 1 else [word, [parts[key] for key in sorted(parts)]]


def _negate(part: Question, sizes: Mapping[str, int]) -> Form:
    """The form of the opposite of a question that is not a sum."""
    if isinstance(part, Not):
        return canonical_question(part.part, sizes)
    if isinstance(part, Combination):
        other = Or if isinstance(part, And) else And
        return _join_forms(other, [canonical_question(Not(one), sizes) for one in part.parts])
    return ["not", canonical_question(part, sizes)]


def identity_of(request: AskRequest, policy: Policy, promises: Sequence[Promise]) -> Identity:
    """The identity of a request.

    It does not depend on the wording of numbers and questions, the name of the file, the version of the software, or a
    group column that is used for reporting only.

    Args:
        request: the request.
        policy: the public policy of the table.
        promises: one for each area, with its mechanism.
    """
    asked = [request.question_in(area) for area, _ in policy.parts()]
    forms = [canonical_question(*pair) for pair in zip(asked, _sizes(request, policy), strict=True)]
    plain = _reduce_request(request, policy, forms)
    deciding = None if request.deciding is None else request.deciding.constant
    facts = {
        "counted": str(request.counted),
        "exact_text": request.exact_text,
        "areas": [
            [promise.area, form, (promise.tallies or {}).get("sha256")]
            for promise, form in zip(promises, forms, strict=True)
        ],
        "policy": policy.digest_without_groups() if plain.group is None else policy.digest(),
        "deciding": None if deciding is None else str(deciding.normalize(EXACT)),  # a column is part of the policy
        "columns": {"person": request.person, "group": plain.group, "level": plain.level, "area": request.area},
        "objective": request.objective,
    }
    theme = {"counted": str(request.counted), "person": request.person}
    return Identity(_digest(TITLE, facts), _digest(THEME, theme), plain)


def _digest(title: bytes, facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(title + json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _sizes(request: AskRequest, policy: Policy) -> list[dict[str, int]]:
    """The sizes of the groups in each area; one group of all people if the question names none."""
    names = [area for area, _ in policy.parts()]
    if policy.groups is None or not request.question.groups_used():
        return [{EVERYBODY: policy.levels_of(area).people} for area in names]
    return [{str(name): part.people for name, part in policy.by_group(area)} for area in names]


def _reduce_request(request: AskRequest, policy: Policy, forms: Sequence[Form]) -> AskRequest:
    """The request without a constant column of ε, and without groups and levels that are used for reporting only.

    A column of groups that ε depends on is a column of levels.
    """
    levels = {float(level) for area, _ in policy.parts() for level in policy.levels_of(area).levels[:2]}
    epsilon = Epsilon(constant=Decimal(repr(levels.pop()))) if len(levels) == 1 else request.epsilon
    by_group = bool(epsilon.by_group) or (request.deciding is not None and bool(request.deciding.by_group))
    is_used = bool(request.question.groups_used()) and any(map(_names_groups, forms))
    level = request.by_column if by_group else None
    return replace(request, epsilon=epsilon, group=request.group if is_used else None, level=level)


def _names_groups(form: Form) -> bool:
    """True if the answer depends on the groups of people."""
    if isinstance(form, bool):
        return False
    kind, *rest = form
    if kind == "sum":
        return set(rest[0]) != {EVERYBODY}
    if kind in ("and", "or"):
        return any(map(_names_groups, rest[0]))
    return True
