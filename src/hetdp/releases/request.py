"""The parts of a release, from a mechanism or from a table: who pays, what the record says, and what is drawn.

A `DrawRequest` is fixed before a random bit is asked for. `MechanismRequest` is one answer of a mechanism; a
question about a table of people has its own (`hetdp.tables.release`). Several requests about the same data that are
released together, all or none, are a `RequestBundle`. What can make a request is `Releasable`.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from hetdp.errors import Fault, InputError, UsageError
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.answer_words import BARE_NUMBERS, TITLE, answer_words
from hetdp.problem.problem import Problem
from hetdp.releases.charges import Costs
from hetdp.releases.draw import draw
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.neighbours import Neighbours, parse_neighbours
from hetdp.releases.proof import find_proof, fingerprint_of, parse_facts, prove
from hetdp.releases.record.facts import facts_of_problem
from hetdp.text import escape_unprintable, format_value

MOST_LABELS = 1 << 12  # labels in the theme of a problem; larger problems are compared by their answers only
LONGEST = 200  # characters of a declared version
PLAN, PEOPLE, THEME = "plan", "people", "theme"  # keys among the facts of a ledger entry

Document = dict[str, Any]


class Releasable(ABC):
    """An argument of `release` and `price` besides a mechanism: anything that can make a request."""

    @abstractmethod
    def open_request(self) -> AbstractContextManager[AnyRequest]:
        """The request; the data stays open as long as the context lasts."""


class AnyRequest(Releasable):
    """One question, or several that are released together: what `release` and `price` work with."""

    @property
    @abstractmethod
    def requests(self) -> tuple[DrawRequest, ...]:
        """The questions."""

    @abstractmethod
    def prepare_draws(self) -> list[Callable[[], list[bool]]]:
        """Looks up the true data once; returns for each question the function that draws its answers."""

    def head(self) -> Document | None:
        """What the record of several questions says about all of them together; None for one question."""
        return None


class DrawRequest(AnyRequest):
    """One question about data, ready to be priced, charged and drawn. It does not look at the data until the draw.

    Args:
        digest: SHA-256 of what is asked and of exactly what is drawn from; the ledger finds the question by it.
        costs: what it costs each account.
        areas: the area of each answer; None for the one answer about everybody.
        answers: the names of answer 1 and answer 2.
        neighbours: the privacy unit and the neighbour relation of the promises.
        folders: where the files of its data lie; None if it cannot be recognised in another ledger.
    """

    def __init__(
        self,
        digest: str,
        costs: Costs,
        areas: tuple[str | None, ...],
        answers: tuple[str, str],
        neighbours: Neighbours,
        folders: tuple[Path, ...] | None = None,
    ) -> None:
        self.digest = digest
        self.costs = costs
        self.areas = areas
        self.answers = answers
        self.neighbours = neighbours
        self.folders = folders

    def open_request(self) -> AbstractContextManager[DrawRequest]:
        """Returns itself."""
        return nullcontext(self)

    @property
    def requests(self) -> tuple[DrawRequest, ...]:
        """Itself alone."""
        return (self,)

    def prepare_draws(self) -> list[Callable[[], list[bool]]]:
        """The one draw; see `prepare_draw`."""
        return [self.prepare_draw()]

    @abstractmethod
    def facts(self) -> Document:
        """The part of the record that does not depend on the data."""

    @abstractmethod
    def theme(self) -> str:
        """A digest that similar questions share."""

    @abstractmethod
    def prepare_draw(self) -> Callable[[], list[bool]]:
        """Looks up the true data; returns a function that draws one answer for each area, each exactly."""

    def entry_facts(self) -> Document:
        """The facts that the ledger entry keeps, so that the record of a repeated release stays the same."""
        return {PLAN: None, PEOPLE: None}

    def facts_of_entry(self, facts: Document, entry: Entry, is_new: bool) -> Document:
        """The facts as the entry keeps them, so that its record is the same, byte for byte, whenever it is made.

        Args:
            facts: the facts of the present request.
            entry: the entry of the release.
            is_new: whether it was released now, and not earlier.
        """
        software = entry.facts.get("software", facts["software"])
        return facts | {"software": software, "composition": facts["composition"] | {"version": entry.version}}

    def require_repeatable(self, entry: Entry) -> None:
        """Refuses an earlier answer to this question that must not be given again, such as that of another table.

        Raises:
            UsageError: it must not.
        """

    def is_about(self, plan: Any, people: Any) -> bool:
        """True if a release of this question was about the same people.

        Args:
            plan: the plan of that release, as its entry or its record has it.
            people: SHA-256 of its people; None if that is not known.
        """
        return False

    def differences(self, entry: Entry) -> list[str]:
        """The parts of this question that differ from a similar one in the ledger, by name."""
        return []


class RequestBundle(AnyRequest):
    """Several questions about the same data that are charged and drawn together: all of them, or none.

    Args:
        requests: the questions, which are all different.
        head: what the record says about all of them together.
    """

    def __init__(self, requests: Sequence[DrawRequest], head: Document) -> None:
        self._requests, self._head = tuple(requests), head

    def open_request(self) -> AbstractContextManager[RequestBundle]:
        """Returns itself."""
        return nullcontext(self)

    @property
    def requests(self) -> tuple[DrawRequest, ...]:
        """The questions."""
        return self._requests

    def prepare_draws(self) -> list[Callable[[], list[bool]]]:
        """The draw of each question."""
        return [request.prepare_draw() for request in self._requests]

    def head(self) -> Document:
        """What the record says about all questions together."""
        return self._head


def words_of_entry(entry: Entry, answers: tuple[str, str]) -> tuple[str, str]:
    """The words for the answers of an earlier release, which may have been asked for with other words."""
    found = entry.facts.get("words")
    if isinstance(found, list) and len(found) == 2 and all(isinstance(one, str) for one in found):
        return found[0], found[1]
    return answers


def classes_of(requests: Sequence[DrawRequest]) -> set[str]:
    """The classes of all people who pay; empty if their classes are not stated, or classes pay."""
    return {name for request in requests for name in request.costs.groups or ()}


def check_version(version: Any) -> str:
    """The version of the data, if it is one.

    Raises:
        UsageError: it is not a text of a reasonable length.
    """
    if not isinstance(version, str) or not 0 < len(version) <= LONGEST or not version.isprintable():
        raise UsageError(
            f"the version {format_value(version)}",
            f"a version of the data is a text of 1 to {LONGEST} printable characters",
        )
    return version


def open_request(what: Any, dataset: Any = None) -> AbstractContextManager[AnyRequest]:
    """The request for a mechanism at the true dataset, or for questions about a table.

    Raises:
        UsageError: it is neither, or a dataset is given beside a question about a table.
        VerificationError: the mechanism is not private.
    """
    if not isinstance(what, Releasable):
        return nullcontext(MechanismRequest(what, dataset))
    if dataset is not None:
        rule = "the true dataset follows from the table"
        raise UsageError("a dataset together with a question about a table", rule, "leave the dataset out")
    return what.open_request()


def draw_answer(coordinate: str, z: float, certain: int) -> bool:
    """One exact draw; no random bit is drawn if the answer is the same for any data.

    Args:
        coordinate: the name of the coordinate.
        z: the coordinate at the true data.
        certain: 1 or 2 if every dataset has this answer, else 0.
    """
    return certain == 1 if certain else draw(coordinate, z)


class MechanismRequest(DrawRequest):
    """The request for one answer of a mechanism at the true dataset.

    Args:
        mechanism: the mechanism; it is copied and proved.
        dataset: the true dataset; it is looked up when the answer is drawn.

    Raises:
        UsageError: it is not a Mechanism, or has no problem.
        VerificationError: the mechanism is not private.
    """

    def __init__(self, mechanism: Any, dataset: Any = None) -> None:
        self._proof, self._dataset = prove(mechanism), dataset
        about = self._proof.problem.about
        neighbours = parse_neighbours(about.get("privacy_unit"), about.get("neighbour_relation"))
        super().__init__(self._proof.digest, self._proof.costs, (None,), answer_words(about, BARE_NUMBERS), neighbours)

    def facts(self) -> Document:
        """The record's facts about the mechanism; the same bytes give the same facts."""
        proof = self._proof
        found = find_proof(proof.fingerprint)
        if found is not None and found.facts is not None:
            return parse_facts(found.facts)
        facts = facts_of_problem(proof, proof.costs)
        copy = proof.mechanism
        if isinstance(copy, LocalMechanism) and found and proof.fingerprint == fingerprint_of(proof.problem, copy):
            found.facts = json.dumps(facts)
        return facts

    def entry_facts(self) -> Document:
        """The title of the problem, if it has one."""
        title = self._proof.problem.about.get(TITLE)
        return super().entry_facts() | ({TITLE: escape_unprintable(title)} if title else {})

    def theme(self) -> str:
        """A digest of the datasets and their answers: problems that share it ask about the same data."""
        problem, graph = self._proof.problem, self._proof.problem.graph
        labels = [repr(graph.label(at)) for at in range(graph.size)] if graph.size <= MOST_LABELS else []
        found = hashlib.sha256(f"hetdp problem theme 1 {graph.size}\n{json.dumps(labels)}\n".encode())
        found.update(np.ascontiguousarray(problem.answers, dtype="<i1").data)
        return found.hexdigest()

    def prepare_draw(self) -> Callable[[], list[bool]]:
        """Looks up the coordinate of the true dataset.

        Raises:
            UsageError: no dataset is given.
            InputError: the problem has no such dataset.
        """
        if self._dataset is None:
            raise UsageError("no dataset is given", "a mechanism is released at the true dataset")
        proof, problem = self._proof, self._proof.problem
        name, z = problem.notion.coordinate.name, proof.mechanism.coordinate(_index_of(problem, self._dataset))
        return lambda: [draw_answer(name, z, proof.certain)]


def _index_of(problem: Problem, dataset: Any) -> int:
    """The index of the true dataset. The error does not say which dataset was meant."""
    try:
        found = problem.labels.index(dataset)
    except Exception:  # whatever a label raises when it is looked up may contain it
        found = None
    if found is None:  # raised here, so that no traceback leads back to the label
        rule = "it must be one of the problem's; labels are compared exactly, so '1' and 1 are different"
        raise InputError("the true dataset", [Fault("no such dataset", "the true dataset", "", rule)])
    return found
