"""What is on the table: a problem, the values that are given, and what chooses the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import HetdpError, UsageError
from hetdp.problem.edges import PROBABILITY_RULE
from hetdp.problem.faults import FaultCollector
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.spelling import find_label
from hetdp.problem.values import PIN, order_values
from hetdp.studio.answers import (
    GIVEN,
    Answer,
    Ends,
    Pins,
    answer,
    ends_of,
    first_objective,
    objectives_for,
)
from hetdp.text import format_value


class Origin(NamedTuple):
    """How a problem can be had again, as lines of Python and of a shell; empty if only from its file."""

    python: tuple[str, ...] = ()
    shell: str = ""


NOWHERE = Origin()


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is on the table; a change makes a new one.

    Attributes:
        name: what the problem is called.
        problem: the problem.
        pins: the given values.
        objective: what chooses the others, or GIVEN.
        origin: how the problem was made, as long as it is still that problem.
        drawn: the number of the opening; pictures of one opening have the same layout.
    """

    name: str
    problem: Problem
    pins: Pins = field(default_factory=dict)
    objective: str = "fair"
    origin: Origin = NOWHERE
    drawn: int = 0


def sheet_of(name: str, problem: Problem, partial: PartialMechanism | None = None, origin: Origin = NOWHERE) -> Sheet:
    """A sheet for a problem just opened."""
    pins = pins_given(problem, partial)
    return Sheet(name, problem, pins, first_objective(problem, pins), origin)


def pins_given(problem: Problem, partial: PartialMechanism | None) -> Pins:
    """The given values by the number of their dataset."""
    found: dict[int, tuple[str, float]] = {}
    findings = FaultCollector("partial mechanism")
    for kind in ("p", "z", "error"):
        values = None if partial is None else getattr(partial, kind)
        if values is not None:
            column = order_values(kind, values, problem.labels, PIN, findings)
            given = np.flatnonzero(~np.isnan(column)).tolist()
            found |= {index: (kind, float(column[index])) for index in given}
    findings.raise_if_any()
    return found


# Several pages on one session: whether one of them has not seen yet what another has done.


STALE = (
    "Nothing was done: another page of this studio has changed what is on the table. This page shows it now; please"
    " look, and do it again."
)


MOST_PAGES = 1_000  # whose last action is remembered


class Visit(NamedTuple):
    """A page that asks for something, and how much it has seen.

    Attributes:
        page: its name; pages that were loaded twice have two.
        told: the last revision that it was shown.
        drawn: the opening that it shows.
    """

    page: str
    told: int
    drawn: int


class Visitors:
    """Which pages have acted last, and when."""

    def __init__(self) -> None:
        self._acts: dict[str, int] = {}
        self._actions: dict[str, int] = {}

    def last_action(self, page: str) -> int:
        """The number of the last action that was taken from a page."""
        return self._actions.get(page, 0)

    def is_new(self, page: str, number: int) -> bool:
        """True if an action was not taken before; it counts as taken from now on.

        >>> visitors = Visitors()
        >>> visitors.is_new("one", 1), visitors.is_new("one", 1), visitors.is_new("one", 2)
        (True, False, True)
        """
        if number <= self.last_action(page):
            return False
        self._actions.pop(page, None)
        self._actions[page] = number
        for older in list(self._actions)[:-MOST_PAGES]:
            del self._actions[older]
        return True

    def acted(self, page: str, revision: int) -> None:
        """Remembers that a page has done something; only the last two pages matter."""
        self._acts.pop(page, None)
        self._acts[page] = revision
        for older in list(self._acts)[:-2]:
            del self._acts[older]

    def is_stale(self, visit: Visit) -> bool:
        """Whether another page has done something that this one has not seen.

        >>> visitors = Visitors()
        >>> visitors.acted("one", 3)
        >>> visitors.is_stale(Visit("one", 2, 0)), visitors.is_stale(Visit("other", 2, 0))
        (False, True)
        """
        return any(page != visit.page and revision > visit.told for page, revision in self._acts.items())


# A session: what is on the table, what came of it, and the way back. It knows nothing of pages.


MOST_UNDO = 200
MOST_EDGES = 2_000_000  # that are listed, to be chosen and drawn


class Selection(NamedTuple):
    """What is looked at: a dataset or an edge, by number; or nothing."""

    kind: str = ""
    number: int = -1


class Session:
    """One person's work. Every action returns nothing, never raises, and leaves words in `notice` if it was refused."""

    def __init__(self, sheet: Sheet) -> None:
        self.lock = threading.RLock()
        self.past: list[Sheet] = []
        self.future: list[Sheet] = []
        self.notice = ""
        self.revision = 0
        self.last = ""  # which control made the last change, so that it is not moved under the hand
        self.memo: dict[str, Any] = {}  # what is the same for all sheets of one opening
        self._visitors, self._visit = Visitors(), Visit("", 0, 0)
        self._opened = 0
        self._merge: Any = None
        self._put(replace(sheet, drawn=0))

    # What is on the table ---------------------------------------------------------------------------------------------

    def _put(self, sheet: Sheet) -> None:
        fresh = self.revision == 0 or sheet.drawn != self.sheet.drawn
        if fresh or sheet.problem is not self.sheet.problem:
            few = sheet.problem.graph.arc_count <= 2 * MOST_EDGES
            self.ends: Ends | None = ends_of(sheet.problem) if few else None
            self.objectives: list[str] = objectives_for(sheet.problem)
        self.sheet: Sheet = sheet
        if sheet.objective not in self.objectives:
            self.sheet = replace(sheet, objective="fair")
        self.answer: Answer = answer(self.sheet.problem, self.sheet.pins, self.sheet.objective)
        if fresh:
            self.selection = Selection()
        self._act()

    def _act(self) -> None:
        """Another revision, which other pages have not seen."""
        self.revision += 1
        self._visitors.acted(self._visit.page, self.revision)

    @contextmanager
    def visited(self, visit: Visit) -> Iterator[None]:
        """What a page asks for: it is refused where the page has not seen what another one has done."""
        with self.lock:
            before, self._visit = self._visit, visit
            try:
                yield
            finally:
                self._visit = before

    def last_action(self, page: str) -> int:
        """The number of the last action that was taken from a page."""
        return self._visitors.last_action(page)

    def is_new(self, page: str, number: int) -> bool:
        """True if an action of a page was not taken before; it counts as taken from now on."""
        return self._visitors.is_new(page, number)

    def is_seen(self, visit: Visit) -> bool:
        """Whether a page shows what is on the table, as far as others have changed it."""
        return not self._visitors.is_stale(visit)

    def _is_stale(self) -> bool:
        """Refuses what comes from a page that shows something else than what is on the table."""
        stale = bool(self._visit.page) and self._visitors.is_stale(self._visit)
        if stale:
            self.refuse(STALE)
        return stale

    def _change(self, sheet: Sheet, merge: Any = None) -> None:
        """Puts another sheet on the table; several changes of one thing in a row are undone together."""
        if self._is_stale():
            return
        if merge is None or merge != self._merge:
            self.past = [*self.past, self.sheet][-MOST_UNDO:]
        self.future, self._merge, self.notice = [], merge, ""
        self._put(sheet)

    def open(self, sheet: Sheet) -> None:
        """Another problem; the one before can be had back."""
        with self.lock:
            self._opened, self.last = self._opened + 1, ""
            self._change(replace(sheet, drawn=self._opened))

    def undo(self) -> None:
        """Takes the last change back."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Makes it again."""
        self._step(self.future, self.past)

    def _step(self, here: list[Sheet], there: list[Sheet]) -> None:
        with self.lock:
            if here and not self._is_stale():
                there.append(self.sheet)
                self._merge, self.notice, self.last = None, "", ""
                self._put(here.pop())

    # Changes ----------------------------------------------------------------------------------------------------------

    def set_parameter(self, edge: int, name: str, value: float, by: str = "") -> None:
        """Moves the ε, δ or μ of an edge."""
        with self.lock:
            try:
                changed = self.sheet.problem.with_parameter(self._place_of(edge), name, value)
            except HetdpError as refusal:
                self.refuse(str(refusal))
                return
            if changed is not self.sheet.problem:
                self.last = by
                self._change(replace(self.sheet, problem=changed, origin=NOWHERE), ("edge", edge, name))

    def _place_of(self, edge: int) -> int:
        if self.ends is None or not 0 <= edge < len(self.ends.source):
            raise UsageError(f"no edge {edge}", "edges are those that are listed")
        return int(self.ends.places[edge])

    def set_pin(self, dataset: int, p: float, by: str = "") -> None:
        """Gives a dataset a value, or another one."""
        with self.lock:
            if not 0.0 <= p <= 1.0:
                self.refuse(str(UsageError(f"p = {format_value(p)}", PROBABILITY_RULE)))
                return
            self.last = by
            self._change(replace(self.sheet, pins={**self.sheet.pins, dataset: ("p", p)}), ("pin", dataset))

    def clear_pin(self, dataset: int) -> None:
        """Takes a given value away."""
        with self.lock:
            if dataset in self.sheet.pins:
                kept = {index: pin for index, pin in self.sheet.pins.items() if index != dataset}
                self.last = ""
                self._change(replace(self.sheet, pins=kept))

    def clear_pins(self) -> None:
        """Takes all given values away; what is then chosen is chosen by fairness, if nothing else was said."""
        with self.lock:
            objective = "fair" if self.sheet.objective == GIVEN else self.sheet.objective
            self.last = ""
            self._change(replace(self.sheet, pins={}, objective=objective))

    def keep_values(self) -> None:
        """Makes the values that an objective chose given ones, to be moved by hand; if none were, the fair ones."""
        with self.lock:
            source = self.answer.mechanism
            if source is None:
                source = answer(self.sheet.problem, self.sheet.pins, "fair").mechanism
            if source is None:
                self.refuse("There are no values to keep.")
                return
            numbers = source.pinned.nonzero()[0].tolist()
            chosen = {index: ("z", float(source.coordinates[index])) for index in numbers}
            self.last = ""
            self._change(replace(self.sheet, pins=chosen | dict(self.sheet.pins), objective=GIVEN))

    def set_objective(self, objective: str) -> None:
        """Chooses what chooses."""
        with self.lock:
            if objective in self.objectives and objective != self.sheet.objective:
                self.last = ""
                self._change(replace(self.sheet, objective=objective))

    def apply_repair(self) -> None:
        """Takes the compromise that does extend instead of values that do not."""
        with self.lock:
            if self.answer.repair is not None:
                self.last = ""
                self._change(replace(self.sheet, pins=pins_given(self.sheet.problem, self.answer.repair.pins)))

    def refuse(self, words: str) -> None:
        """Says why nothing was done."""
        with self.lock:
            self.notice = words
            self.revision += 1

    # Looking ----------------------------------------------------------------------------------------------------------

    def select(self, kind: str = "", number: int = -1) -> None:
        """Looks at a dataset or an edge."""
        with self.lock:
            if self._visit.page and self._visit.drawn != self.sheet.drawn and self._is_stale():
                return
            many = {"dataset": self.sheet.problem.graph.size, "edge": 0 if self.ends is None else len(self.ends.source)}
            inside = 0 <= number < many.get(kind, 0)
            self.selection = Selection(kind, number) if inside else Selection()
            self._merge, self.notice, self.last = None, "", ""
            self._act()

    def moved(self) -> dict[str, float]:
        """The numbers of what is chosen that can be moved: p of a dataset, or what an edge carries."""
        kind, number = self.selection
        if kind == "edge" and self.ends is not None:
            return {name: float(values[number]) for name, values in self.ends.columns.items()}
        if kind != "dataset":
            return {}
        found = self.answer.mechanism
        if number in self.sheet.pins:
            return {"p": self.given(number)}
        return {"p": 0.5 if found is None else float(found.probabilities[number])}

    def given(self, dataset: int) -> float:
        """The p that a dataset was given, however it was written."""
        kind, value = self.sheet.pins[dataset]
        if kind == "z":
            return float(self.sheet.problem.notion.coordinate.probability(np.array(value)))
        return 1.0 - value if kind == "error" and self.sheet.problem.answers[dataset] == 1 else value

    def typed(self, name: str) -> str:
        """What stands in the field beside a number that can be moved; empty if nobody has given it."""
        value = self.moved().get(name)
        if value is None or (name == "p" and self.selection.number not in self.sheet.pins):
            return ""
        as_given = name != "p" or self.sheet.pins[self.selection.number][0] == "p"
        return f"{value:.6g}" if not as_given else repr(value).removesuffix(".0").replace("inf", "∞")

    def find(self, text: str) -> int | None:
        """The dataset that a text means, as everywhere else; blanks around its entries do not matter."""
        labels = self.sheet.problem.labels
        tidy = ",".join(part.strip() for part in text.split(","))
        found = next((found for each in (text, tidy) if (found := find_label(each, labels)) is not None), None)
        return None if found is None else int(labels.index(found))
