"""From a request and a table to a promise, in the order that privacy needs.

1. The public policy is read. 2. The mechanism is fixed. 3. Its promise becomes a plan. 4. The answers are read, in one
pass whose work does not depend on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hetdp import progress
from hetdp.errors import Fault, InputError, UsageError
from hetdp.people.names import quote_if_needed, require_known
from hetdp.problem.answer_words import TITLE
from hetdp.problem.space import Floats
from hetdp.tables.conditions import condition
from hetdp.tables.identity import Identity, identity_of
from hetdp.tables.people_table import PeopleTable
from hetdp.tables.plan import Plan, plan_of, table_facts
from hetdp.tables.policy import Policy, require_known_columns
from hetdp.tables.promise import Promise, promise_of
from hetdp.tables.request import FAIR, AreaQuestions, AskRequest, name_question
from hetdp.text import format_value

MOST_KEPT = 1 << 27  # tallies of all areas together, 1 GB


@dataclass(frozen=True)
class Preparation:
    """Everything that is fixed before the answers are read.

    Attributes:
        source: the table.
        request: the request.
        policy: the public policy of the table.
        promises: one for each area, sorted by name; one if there are no areas.
        plan: the plan.
        identity: identifies the question in a ledger.
        same_people: SHA-256 of the people, as far as the identity depends on them; None if the plan has none.
        approved: True if the plan is saved in a file. It then holds for the table that it names, not for copies.
        folders: where the table and the plan lie, as far as they are files.
    """

    source: PeopleTable
    request: AskRequest
    policy: Policy
    promises: tuple[Promise, ...]
    plan: Plan
    identity: Identity
    same_people: str | None
    _stamp: Any
    approved: bool = False
    folders: tuple[Path, ...] = ()

    def losses(self) -> Floats:
        """The largest privacy loss of each entry of the policy, over all tables."""
        found = np.empty(len(self.policy.epsilon))
        for promise, (_, rows) in zip(self.promises, self.policy.parts(), strict=True):
            found[rows] = promise.mechanism.loss_of_each()
        return found

    def coordinates(self) -> list[float]:
        """Reads the answers, once, and returns the coordinate of each area; see `read_coordinates`."""
        (found,) = read_coordinates([self])
        return found


def read_coordinates(prepared: Sequence[Preparation]) -> list[list[float]]:
    """Reads the answers to all questions in one pass; returns the coordinate of each area of each question.

    Args:
        prepared: the questions about one table, with all that is fixed before.

    Raises:
        InputError: the table was changed or cannot be read; this does not depend on the answers.
    """
    progress.report_stage("reading the answers")
    source = prepared[0].source
    answers = source.read_all_answers([one.request for one in prepared])
    found = []
    for one, codes in zip(prepared, answers, strict=True):
        if len(codes) != len(one.policy.epsilon) or source.stamp != one._stamp:
            name, rule = source.name, "a table stays as it is between the policy and the answers"
            raise InputError(name, [Fault("changed while it was read", name, "", rule)])
        parts = [rows for _, rows in one.policy.parts()]
        pairs = zip(one.promises, parts, strict=True)
        found.append([float(promise.mechanism.coordinate(codes[rows])) for promise, rows in pairs])
    return found


def prepare(
    source: PeopleTable,
    request: AskRequest,
    population: Callable[..., Any] | None = None,
    identified: bool = False,
) -> Preparation:
    """Reads the policy and fixes the mechanism; of private columns, only names and types are read.

    Args:
        source: the table, open.
        request: the request.
        population: the function that makes a population; for tests.
        identified: whether the plan identifies the people; this takes about a second for each million.

    Raises:
        UsageError: a column does not exist, or cannot be compared.
        InputError: the policy is incomplete, or an id is duplicate.
    """
    return prepare_all(source, [request], population, identified)[0]


def prepare_all(
    source: PeopleTable,
    requests: Sequence[AskRequest],
    population: Callable[..., Any] | None = None,
    identified: bool = False,
) -> list[Preparation]:
    """Prepares several requests to one table, whose policies are read together; see `prepare`."""
    stamp, people = source.stamp, _PeopleDigests(source)
    names = [_name_of(number, request, len(requests)) for number, request in enumerate(requests, 1)]
    if len(requests) > 1:  # so that a fault is reported with its question
        for name, request in zip(names, requests, strict=True):
            with name():
                require_known_columns(source, request)
    policies = source.policies(requests)
    for name, request, policy in zip(names, requests, policies, strict=True):
        with name():  # refuses what cannot be compared, by its type
            condition(request.counted, source.columns, request.exact_text)
            _require_groups(request, policy)
    progress.report_stage("designing")
    found, kept = list[Preparation](), 0
    for name, request, policy in zip(names, requests, policies, strict=True):
        make = population or _maker(request)
        promises = []
        with name():
            for area, rows in policy.parts():
                promises.append(promise_of(request, policy, area, rows, make))
                kept += (promises[-1].tallies or {"tallies": 0})["tallies"]
                if kept > MOST_KEPT:
                    rule = f"the mechanisms of all areas are kept together, in at most {MOST_KEPT:,} tallies"
                    raise UsageError(f"more than {MOST_KEPT:,} tallies in all areas", rule)
        identity = identity_of(request, policy, promises)
        everybody = people.of(request) if identified else None
        same = people.of(identity.reduced_request) if identified else None
        areas = [promise.body() for promise in promises]
        plan = plan_of(request, policy, table_facts(source), areas, everybody, identity.request_sha256)
        found.append(Preparation(source, request, policy, tuple(promises), plan, identity, same, stamp))
    return found


def _name_of(number: int, request: AskRequest, of: int) -> Callable[[], AbstractContextManager[None]]:
    """Names one of several questions in errors; does nothing for the only one."""
    return partial(name_question, number, request.about.get(TITLE)) if of > 1 else nullcontext


class _PeopleDigests:
    """The digests of the people of a table, each computed once."""

    def __init__(self, source: PeopleTable) -> None:
        self._source, self._found = source, dict[str, str]()

    def of(self, request: AskRequest) -> str:
        """The digest as far as this request promises something; it depends on the public columns alone."""
        key = json.dumps(request.document()["columns"], sort_keys=True)
        if key not in self._found:
            self._found[key] = self._source.people(request)
        return self._found[key]


def _maker(request: AskRequest) -> Callable[..., Any] | None:
    """The function that makes a population: on tallies where no formula is known; None for a formula."""
    if request.objective != FAIR and request.is_sum:
        return None
    from hetdp.people.products.tallied import people_of, tally_people

    return tally_people if request.objective == FAIR else people_of


MOST_NAMED = 8  # areas in a hint


def _require_groups(request: AskRequest, policy: Policy) -> None:
    """Refuses a question about a group or area without people, and an area without a question; both are public."""
    if isinstance(request.question, AreaQuestions) and policy.areas is not None:
        given = [area for area, _ in request.question.by_area]
        require_known(given, policy.areas.names, "area")
        left = [area for area in policy.areas.names if area not in given]
        if left:
            rule = "if one area has a threshold of its own, each of them has"
            named = ",".join(f"{quote_if_needed(area)}=…" for area in policy.areas.names[:MOST_NAMED])
            more = ",…" if len(policy.areas.names) > MOST_NAMED else ""
            hint = f"at_least_by= or more_than_by= names every area: {named}{more}"
            raise UsageError(f"no threshold for the area {format_value(left[0])}", rule, hint)
    used = sorted(request.question.groups_used())
    if not used or policy.groups is None:
        return
    names = np.array(policy.groups.names)
    require_known(used, policy.groups.names, "group")
    for area, rows in policy.parts():
        missing = set(used) - set(names[np.unique(policy.groups.codes[rows])].tolist())
        if missing:
            where, rule = (
                f"the area {format_value(area)}",
                "every group that the question names has people in every area",
            )
            raise UsageError(f"{where} has nobody of {format_value(min(missing))}", rule)
