"""The payers of an answer from a table: of a release, and of a spend that was made outside hetdp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hetdp.errors import UsageError, VerificationError
from hetdp.problem.answer_words import TITLE
from hetdp.problem.space import Floats
from hetdp.releases.charges import CLASS, EPSILON, EVERYBODY, PERSON, Costs, charge_of, largest_by_account
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.neighbours import parse_neighbours
from hetdp.releases.request import PEOPLE, PLAN, Document, DrawRequest, RequestBundle, draw_answer
from hetdp.tables.people_table import LocalTable, Payers
from hetdp.tables.plan import PlanBundle
from hetdp.tables.policy import Policy
from hetdp.tables.preparation import Preparation, prepare, read_coordinates
from hetdp.tables.record import digest_of_question, facts_of_bundle, facts_of_table
from hetdp.tables.request import ABOUT, REQUEST_KEYS, build_request, request_from_document, request_part
from hetdp.tables.sources import open_source
from hetdp.text import format_value


def costs_of_people(
    policy: Policy, payers: Payers | None, named: str | None = None, losses: Floats | None = None
) -> Costs:
    """The cost of an answer for everybody. One answer for each area costs the same: each person is in one area.

    Args:
        policy: the ε, level and group of each entry: a person, or a kind of people.
        payers: everybody's id, and their entry of the policy; None if accounts are kept by group.
        named: the column of these ids; the ledger stores it with each account.
        losses: for each entry the largest loss that the mechanism can cause; by default, the allowed ε.
    """
    allowed = policy.epsilon
    used = allowed if losses is None else np.minimum(losses, allowed)
    codes = np.zeros(len(allowed), dtype=np.int32) if policy.classes is None else policy.classes.codes
    names = (EVERYBODY,) if policy.classes is None else policy.classes.names
    if payers is None:
        there = np.unique(codes)
        largest, most = (largest_by_account(codes, column, len(names))[there] for column in (allowed, used))
        accounts = tuple(names[at] for at in there.tolist())
        return Costs(CLASS, accounts, EPSILON, {"epsilon": largest}, {"epsilon": most})
    if payers.entries is not None:
        allowed, used, codes = allowed[payers.entries], used[payers.entries], codes[payers.entries]
    groups = None if policy.classes is None else np.array(names, dtype=object)[codes].tolist()
    return Costs(PERSON, payers.ids, EPSILON, {"epsilon": allowed}, {"epsilon": used}, groups, named)


class _NoPredicate:
    """A count of nothing, used where no question is asked."""

    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()


def read_charge(table: Any, currency: str, *, person: Any, epsilon: Any, group: Any = None) -> Charge:
    """A charge to everybody in a table, read and refused as `hetdp.ask` reads it; no other column is looked at.

    Args:
        table: one row for each person, as `hetdp.ask` takes it.
        currency: how the source counts; where that is by ε and δ, δ is 0.
        person: the column that identifies people.
        epsilon: everybody's ε: a column, or one number.
        group: the column of their classes, which have caps.

    Raises:
        UsageError: a column is missing.
        InputError: the table cannot be read, somebody appears twice, or has no ε.
    """
    unused_name = "x" * (1 + len(f"{person}{epsilon}{group}"))  # counted, but never read
    wanted = build_request(f"{unused_name} = 1", at_least=1, person=person, epsilon=epsilon, group=group)
    wanted = replace(wanted, counted=cast("Any", _NoPredicate()))
    with open_source(table) as rows:
        people = LocalTable(rows)
        policy = people.policy(wanted)  # it refuses what is wrong with the columns
        return charge_of(costs_of_people(policy, people.read_payers(wanted), wanted.person), currency)


# A release from a table: the request that `release` and `price` take, and the rules for asking it again.


LAPLACE = "Laplace"  # the coordinate of every population
SPELLING_KEYS = (
    "software",
    "table",
    *REQUEST_KEYS,
    "people_sha256",
    "plan_sha256",
)  # may differ where the same is asked


class TableRequest(DrawRequest):
    """The request for one answer for each area of a table.

    Args:
        prepared: what is fixed before the answers are read.
        payers: who pays, if that was read before.

    Raises:
        VerificationError: the mechanism of an area is not private.
    """

    def __init__(self, prepared: Preparation, payers: Payers | None = None) -> None:
        for promise in prepared.promises:
            certificate = promise.mechanism.certificate
            if not certificate.private:
                raise VerificationError(certificate, f"nothing is released, since the mechanism is {certificate}")
        payers, person = payers or prepared.source.read_payers(prepared.request), prepared.request.person
        self.prepared = prepared
        super().__init__(
            digest_of_question(prepared.plan),
            costs_of_people(prepared.policy, payers, person, prepared.losses()),
            tuple(promise.area for promise in prepared.promises),
            prepared.request.answers,
            parse_neighbours(prepared.plan.facts["unit"], prepared.plan.facts["neighbours"]),
            prepared.folders,
        )

    def facts(self) -> Document:
        """The record's facts about the plan and its promises."""
        return facts_of_table(self.prepared)

    def theme(self) -> str:
        """A digest of what is asked about whom, without thresholds and ε."""
        return str(self.prepared.identity.theme)

    def prepare_draw(self) -> Callable[[], list[bool]]:
        """Reads the answers, once; see `Preparation.coordinates`."""
        return _draw_of(self.prepared, self.prepared.coordinates())

    def entry_facts(self) -> Document:
        """The wording of the plan and a digest of the people."""
        plan = self.prepared.plan.facts
        spelling = {key: plan[key] for key in (*SPELLING_KEYS, ABOUT) if key != ABOUT or key in plan}
        title = self.prepared.request.about.get(TITLE)
        named = {} if title is None else {TITLE: title}
        return {PLAN: spelling, PEOPLE: self.prepared.same_people} | named

    def facts_of_entry(self, facts: Document, entry: Entry, is_new: bool) -> Document:
        """The facts in the wording of the first release."""
        if not is_new:
            facts = self._facts_as_first_worded(facts, entry)
        facts = super().facts_of_entry(facts, entry, is_new)
        return facts | {PLAN: facts[PLAN] | (entry.facts.get(PLAN) or {})}

    def differences(self, entry: Entry) -> list[str]:
        """The keys of the plan that differ."""
        before, plan = entry.facts.get(PLAN), self.prepared.plan.facts
        return [key for key in REQUEST_KEYS if before.get(key) != plan[key]] if isinstance(before, dict) else []

    def require_repeatable(self, entry: Entry) -> None:
        """Refuses to repeat the answer of another table: another one within a database, or about other people.

        Copies of the same data under another name, or in another format, have the same answer. But an approved plan
        is about the file that it names.
        """
        plan, people = entry.facts.get(PLAN), self.prepared.same_people
        if not isinstance(plan, dict):
            return
        before, now = plan["table"], self.prepared.plan.facts["table"]
        others = None not in (before["table"], now["table"]) and before["table"] != now["table"]
        exchanged = None not in (entry.facts.get(PEOPLE), people) and entry.facts[PEOPLE] != people
        if others or exchanged or (self.prepared.approved and before != now):
            within = "" if before["table"] is None else f", table {format_value(before['table'])}"
            when = f"on {entry.time[:10]}, of version {format_value(entry.version)} of the data"
            raise UsageError(
                f"this was asked before, {when}, which was {format_value(before['file'])}{within}",
                "a version of the data is one table of the same people, and a plan is about the table that it names",
                "a new version=, if the data is new; a copy of the same data is asked without plan=",
            )

    def is_about(self, plan: Any, people: Any) -> bool:
        """True if the people are the same; of a release that has no digest of them, if its table has the same name."""
        if not isinstance(plan, dict):
            return False
        own, same = self.prepared.plan.facts, self.prepared.same_people
        for before, now in ((people, same), (plan["people_sha256"], own["people_sha256"])):
            if None not in (before, now):
                return bool(before == now)
        return bool(plan["table"] == own["table"])

    def _facts_as_first_worded(self, facts: Document, entry: Entry) -> Document:
        """The facts of the same question in the words in which it was asked first."""
        plan, prepared = entry.facts.get(PLAN), self.prepared
        if not isinstance(plan, dict):
            return facts
        words = request_part(plan)
        if words == prepared.request.document():
            return facts
        identified = plan["people_sha256"] is not None
        first = prepare(prepared.source, request_from_document(words), identified=identified)
        return {key: value for key, value in facts.items() if key != TITLE} | facts_of_table(first)


class TableRequestBundle(RequestBundle):
    """The request for the answers to several questions about a table, which is read once for all of them.

    Args:
        prepared: what is fixed for each question before the answers are read.
        plan: the plan of all questions.
    """

    def __init__(self, prepared: Sequence[Preparation], plan: PlanBundle) -> None:
        known: dict[str, Payers] = {}
        for one in prepared:
            if one.request.policy_key not in known:
                known[one.request.policy_key] = one.source.read_payers(one.request)
        requests = [TableRequest(one, known[one.request.policy_key]) for one in prepared]
        super().__init__(requests, facts_of_bundle(plan))
        self._prepared = prepared

    def prepare_draws(self) -> list[Callable[[], list[bool]]]:
        """Reads the answers to all questions in one pass."""
        pairs = zip(self._prepared, read_coordinates(self._prepared), strict=True)
        return [_draw_of(*pair) for pair in pairs]


def _draw_of(prepared: Preparation, coordinates: Sequence[float]) -> Callable[[], list[bool]]:
    """Draws one answer for each area."""
    certain = [promise.mechanism.constant for promise in prepared.promises]
    return lambda: [draw_answer(LAPLACE, z, answer) for z, answer in zip(coordinates, certain, strict=True)]
