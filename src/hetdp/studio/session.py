"""The session of the studio: the open document, the mechanism that follows from it, undo and redo.

A `Document` is a problem with its given values and an objective. Every change makes a new one, so that it can be
undone. A `Session` holds the current document and its answer, and what is selected; several pages may show it, and
`PageViews` knows which of them has not yet seen a change. Nothing here knows of Dash.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import FaultCollector, HetdpError, UsageError
from hetdp.mechanism.formatting import LEAST, MOST, format_apart, format_compact, format_probability
from hetdp.problem.edges import PROBABILITY_RULE
from hetdp.problem.parameters import LETTERS
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem
from hetdp.problem.spelling import find_label, spell_label
from hetdp.problem.values import PIN, order_values
from hetdp.studio.answers import GIVEN, Answer, EdgeList, Pins, first_objective, list_edges, list_objectives, solve
from hetdp.studio.glossary import objective_name
from hetdp.studio.what_if import (
    ALL,
    CLASS,
    PAIR,
    RULE,
    Scope,
    Setting,
    apply_scope,
    class_names,
    code_of_scope,
    list_scopes,
    scope_in_words,
)
from hetdp.text import format_value, pluralize


class Origin(NamedTuple):
    """Lines of Python and of a shell that build a problem; empty if it can only be read from its file.

    `form` has the arguments of `gallery.document_from_form`, if it was made by that form. `edits` are the scopes whose
    ε were set since, with the numbers.
    """

    python: tuple[str, ...] = ()
    shell: str = ""
    form: tuple[str, ...] = ()
    edits: tuple[tuple[Scope, float], ...] = ()

    def followed_by(self, problem: Problem, edge_list: EdgeList | None, scope: Scope, value: float) -> Origin:
        """The same with another ε on some edges of the problem that it builds, which no shell can set."""
        if not self.python:
            return self
        line = code_of_scope(problem, edge_list, scope, value)
        return Origin((*self.python, line), "", self.form, (*self.edits, (scope, value)))


NO_ORIGIN = Origin()


class Change(NamedTuple):
    """A change that a person made, in words.

    Attributes:
        what: what was changed, or the whole change if it has no single value.
        before: the value before; empty if there is none.
        after: the value after.

    >>> str(Change("p of a,b", "not given", "0.9")), str(Change("All 3 given values were removed"))
    ('p of a,b: not given → 0.9', 'All 3 given values were removed')
    """

    what: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.before} → {self.after}" if self.before else self.what


class Selection(NamedTuple):
    """The selected dataset or edge, by index; or nothing."""

    kind: str = ""
    number: int = -1


NOTHING = Selection()


@dataclass(frozen=True, eq=False)
class Document:
    """A problem with its given values and an objective. It is never changed in place.

    Attributes:
        name: the name of the problem, as shown at the top of the page.
        problem: the problem.
        pins: the given values.
        objective: the objective that chooses the other values, or GIVEN.
        origin: lines that build the problem, as long as it has not been edited.
        opening: counts the problems opened so far; all documents of one opening are drawn with the same layout.
        repaired: the given values that a repair has moved, as they were before; without those set again since.
        changes: the changes made since it was opened, oldest first; those that were undone are not among them.
        selected: what is selected when it is opened.
        stated: how many of the changes, from the first, are only known from a file.
        stated_repairs: the values of `repaired` that are only known from a file.
    """

    name: str
    problem: Problem
    pins: Pins = field(default_factory=dict)
    objective: str = "fair"
    origin: Origin = NO_ORIGIN
    opening: int = 0
    repaired: Pins = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    selected: Selection = NOTHING
    stated: int = 0
    stated_repairs: Pins = field(default_factory=dict)

    def with_pins(self, pins: Pins, changed: Collection[int]) -> Document:
        """Another document with other given values; those in `changed` are no longer called repaired."""
        repaired = {index: pin for index, pin in self.repaired.items() if index not in changed}
        return replace(self, pins=pins, repaired=repaired)


def new_document(
    name: str, problem: Problem, partial: PartialMechanism | None = None, origin: Origin = NO_ORIGIN
) -> Document:
    """The document of a problem that was just opened, with a suitable objective."""
    pins = pins_of(problem, partial)
    return Document(name, problem, pins, first_objective(problem, pins), origin)


def _number_words(value: float) -> str:
    """A number in the list of changes, as precise as it was typed.

    >>> _number_words(0.1234567), _number_words(2.0), _number_words(float("inf"))
    ('0.1234567', '2', '∞')
    """
    return repr(float(value)).removesuffix(".0").replace("inf", "∞")


def pins_of(problem: Problem, partial: PartialMechanism | None) -> Pins:
    """The given values, by the index of their dataset."""
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


STALE = (
    "Nothing was changed, because another page of this studio has changed the problem meanwhile. This page now shows"
    " that change. Check it, then try again."
)


MOST_PAGES = 1_000  # for which the last action is stored


class PageView(NamedTuple):
    """The state of a page when it sends a request.

    Attributes:
        page: the name of the page; it gets a new one each time it is loaded.
        revision: the revision that it shows.
        opening: the opening that it shows.
    """

    page: str
    revision: int
    opening: int


NO_PAGE = PageView("", 0, 0)


class PageViews:
    """The pages that acted last, their revisions, and which of their actions were taken."""

    def __init__(self) -> None:
        self._acts: dict[str, int] = {}
        self._actions: dict[str, int] = {}

    def last_action(self, page: str) -> int:
        """The number of the last action taken from a page."""
        return self._actions.get(page, 0)

    def is_new(self, page: str, number: int) -> bool:
        """True if an action has not been taken yet. From now on, it counts as taken.

        >>> page_views = PageViews()
        >>> page_views.is_new("one", 1), page_views.is_new("one", 1), page_views.is_new("one", 2)
        (True, False, True)
        """
        if number <= self.last_action(page):
            return False
        self._actions.pop(page, None)
        self._actions[page] = number
        for older in list(self._actions)[:-MOST_PAGES]:
            del self._actions[older]
        return True

    def record(self, page: str, revision: int) -> None:
        """Records that a page changed something. Only the last two pages matter."""
        self._acts.pop(page, None)
        self._acts[page] = revision
        for older in list(self._acts)[:-2]:
            del self._acts[older]

    def is_stale(self, page_view: PageView) -> bool:
        """True if another page has changed something since the revision that this one shows.

        >>> page_views = PageViews()
        >>> page_views.record("one", 3)
        >>> page_views.is_stale(PageView("one", 2, 0)), page_views.is_stale(PageView("other", 2, 0))
        (False, True)
        """
        return any(page != page_view.page and revision > page_view.revision for page, revision in self._acts.items())


PRESENTING = "Nothing was changed, because the story is shown. Escape returns to the work."
MOST_UNDO = 200
MOST_CHANGES = 1_000  # that are listed, the last ones
MOST_BOOKMARKS = 100  # states that are stored for links
NO_BOOKMARK = (
    "The state of this link is no longer stored. A link works as long as the studio runs. A state that was saved as a"
    " file can be opened at any time."
)
MOST_MOVED = 12  # values moved by a repair that are listed
LONGEST_NAME = 60  # characters of a label in the list of changes
NOT_GIVEN, OBJECTIVE = "not given", "Objective"  # in the list of changes
MOST_LISTED_EDGES = 2_000_000  # up to which edges are listed, selected and drawn


BEFORE, OPENED = "before", "opened"  # the last change; the problem as it was opened
MOST_ANSWERS = 8  # for comparisons, kept so that they are not computed again
MOST_SOLVED = 20_000  # datasets up to which the mechanism before the last change is computed if it is not known


class Reference(NamedTuple):
    """What the mechanism is compared with: an earlier document, or the same one with another objective."""

    name: str
    document: Document
    answer: Answer


class Session:
    """The work of one person. Actions return nothing and never raise; if one is refused, `notice` says why."""

    def __init__(self, document: Document) -> None:
        self.lock = threading.RLock()
        self.past: list[Document] = []
        self.future: list[Document] = []
        self.notice = ""
        self._refused_page = ""  # the page that the notice is for; empty if it is for all
        self.revision = 0
        self.milliseconds = 0  # that the current document took; the page sends fewer requests if this is much
        self.last_control = ""  # the control that made the last change; its slider is not moved while it is dragged
        self.cache: dict[str, Any] = {}  # what all documents of one opening share
        self._page_views, self._page_view = PageViews(), NO_PAGE
        self._opened = 0
        self._merge_key: Any = None
        self._is_begun = False
        self.begins_with_example = False  # behind the dialog that opens a problem; nobody has asked for it
        self.step: int | None = None  # of the story that is shown instead of the work
        self._work, self._scene = document, ""
        self._bookmarks: dict[int, Document] = {}
        self._bookmark_count = 0
        self._before = ""  # the value before the changes that are merged
        self.edge_list: EdgeList | None = None
        self.relisted = 0  # how often other edges were listed; a space of people has none where ε = ∞
        self._relisted_at = 0  # the revision since which its edges have these numbers
        self._dragged_to = 1.0  # the number that the last change has set for a scope
        self.comparison = BEFORE  # or OPENED, or an objective
        self._answers: list[tuple[Document, Answer]] = []  # newest first
        self._replace(replace(document, opening=0))

    # The open document ------------------------------------------------------------------------------------------------

    def _replace(self, document: Document) -> None:
        begun = time.perf_counter()
        fresh = self.revision == 0 or document.opening != self.document.opening
        if fresh or document.problem is not self.document.problem:
            few = document.problem.graph.arc_count <= 2 * MOST_LISTED_EDGES
            self._list_edges(list_edges(document.problem) if few else None, fresh)
            self.objectives: list[str] = list_objectives(document.problem)
        self.document: Document = document
        if document.objective not in self.objectives:
            self.document = replace(document, objective="fair")
        self.answer: Answer = solve(self.document.problem, self.document.pins, self.document.objective)
        if fresh or self.comparison not in (BEFORE, OPENED, *self.objectives):
            self.comparison = BEFORE
        if fresh:
            self.selection = self._existing(document.selected)
        self.milliseconds = round(1000 * (time.perf_counter() - begun))
        self._advance()

    def _list_edges(self, found: EdgeList | None, fresh: bool) -> None:
        """Replaces the list of edges. The selected edge stays selected, as long as there is one."""
        before, self.edge_list = self.edge_list, found
        if fresh or before is None or found is None or found.has_same_edges(before):
            return
        self.relisted, self._relisted_at = self.relisted + 1, self.revision + 1
        kind, at = self.selection
        if kind == "edge":
            ends = int(before.source[at]), int(before.target[at])
            self.selection = self._existing(Selection("edge", found.number(*ends, before.classes[at])))

    def _advance(self) -> None:
        """Starts another revision, which other pages have not seen."""
        self.revision += 1
        self._page_views.record(self._page_view.page, self.revision)

    @contextmanager
    def acting_for(self, page_view: PageView) -> Iterator[None]:
        """Runs actions for a page: they are refused if another page has made a change that this one does not show."""
        with self.lock:
            before, self._page_view = self._page_view, page_view
            try:
                yield
            finally:
                self._page_view = before

    def last_action(self, page: str) -> int:
        """The number of the last action taken from a page."""
        return self._page_views.last_action(page)

    def is_new(self, page: str, number: int) -> bool:
        """True if an action of a page has not been taken yet. From now on, it counts as taken."""
        return self._page_views.is_new(page, number)

    def is_seen(self, page_view: PageView) -> bool:
        """True if a page shows all changes that other pages have made."""
        return not self._page_views.is_stale(page_view)

    def _is_stale(self) -> bool:
        """Refuses an action of a page that does not show the current document, and changes during a story."""
        if self.step is not None:
            self.refuse(PRESENTING)
            return True
        stale = bool(self._page_view.page) and self._page_views.is_stale(self._page_view)
        if stale:
            self.refuse(STALE)
        return stale

    def _change(self, document: Document, change: Change | None = None, merge: Any = None) -> None:
        """Replaces the document.

        Args:
            document: the new document.
            change: the change, for the list of changes; None if another problem was opened.
            merge: consecutive changes with the same key are one change, and are undone together.
        """
        if self._is_stale():
            return
        if merge is None or merge != self._merge_key:
            self.past = [*self.past, self.document][-MOST_UNDO:]
            self._remember(self.document, self.answer)
            self._before = "" if change is None else change.before
        self.future, self._merge_key, self.notice = [], merge, ""
        self._replace(document)
        if change is not None:
            changes = self._changes_with(change)
            older = max(0, len(changes) - MOST_CHANGES)
            stated = max(0, self.past[-1].stated - older)
            self.document = replace(self.document, changes=changes[older:], stated=stated)

    def _changes_with(self, change: Change) -> tuple[Change, ...]:
        """The changes up to the last document, with another one, which may also have changed the objective."""
        before, added = self.past[-1], []
        if change.what != OBJECTIVE:
            change = change._replace(before=self._before)
            added += [] if change.before and change.before == change.after else [change]  # a slider was moved back
        if before.objective != self.document.objective:
            names = objective_name(before.objective), objective_name(self.document.objective)
            added.append(Change(OBJECTIVE, *names))
        return (*before.changes, *added)

    def open(self, document: Document) -> None:
        """Opens another problem. Undo returns to the one before, unless nobody has asked for that one."""
        with self.lock:
            is_first = self.begins_with_example and self.is_untouched
            self._opened, self.last_control = self._opened + 1, ""
            self._change(replace(document, opening=self._opened))
            if is_first:
                self.past = []

    def show_step(self, number: int, scene: str, make: Callable[[], Document]) -> None:
        """Shows a step of a story instead of the work, which returns with `end_story`.

        Args:
            number: the number of the step.
            scene: its scene; the steps of one scene have the same datasets and edges, and the same layout.
            make: a function that makes its document.
        """
        with self.lock:
            if self.step is None:
                self._work, self._scene = replace(self.document, selected=self.selection), ""
            if scene != self._scene:
                self._opened += 1
            self.step, self._scene, self.notice = number, scene, ""
            document = replace(make(), opening=self._opened)
            self._replace(document)
            self.selection = self._existing(document.selected)

    def end_story(self) -> None:
        """Returns from a story to the work."""
        with self.lock:
            if self.step is not None:
                self.step, self.notice = None, ""
                self._replace(self._work)
                self.selection = self._existing(self._work.selected)

    @property
    def is_untouched(self) -> bool:
        """True until something was changed, selected or opened; from then on, a page that is loaded shows the work."""
        return self.revision == 1 and not self._is_begun

    def begin(self) -> None:
        """Records that the dialog was closed to work with the problem that is shown."""
        self._is_begun = True

    def bookmark(self) -> int:
        """Stores the current state for a link, and returns its number."""
        with self.lock:
            state = replace(self.document, selected=self.selection)
            self._bookmarks[self._bookmark_count + 1] = state
            self._bookmark_count += 1
            for older in list(self._bookmarks)[:-MOST_BOOKMARKS]:
                del self._bookmarks[older]
            return self._bookmark_count

    def reopen(self, number: int) -> None:
        """Returns to a state that was stored for a link, whatever the page shows. Undo returns to the one before."""
        with self.acting_for(NO_PAGE):
            found = self._bookmarks.get(number)
            if found is None:
                self.refuse(NO_BOOKMARK)
                return
            self.end_story()
            now, self.last_control = self.document, ""
            if (found.problem, found.pins, found.objective) != (now.problem, now.pins, now.objective):
                self._opened += 1
                self._change(replace(found, opening=self._opened))
            self.select(*found.selected)

    def undo(self) -> None:
        """Undoes the last change."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Redoes the change that was undone last."""
        self._step(self.future, self.past)

    def _step(self, here: list[Document], there: list[Document]) -> None:
        with self.lock:
            if here and not self._is_stale():
                there.append(self.document)
                self._merge_key, self.notice, self.last_control = None, "", ""
                self._replace(here.pop())

    # Changes ----------------------------------------------------------------------------------------------------------

    def set_parameter(self, edge: int, name: str, value: float, by: str = "", drag: bool = False) -> None:
        """Sets the ε, δ or μ of an edge. Consecutive values of one drag are one change."""
        with self.lock:
            try:
                changed = self.document.problem.with_parameter(self._place_of(edge), name, value)
            except HetdpError as refusal:
                self.refuse(str(refusal))
                return
            if changed is not self.document.problem:
                self.last_control = by
                change = self._parameter_change(edge, name, value)
                merge = ("edge", edge, name) if drag else None
                base = self.past[-1] if merge is not None and merge == self._merge_key else self.document
                origin = self._origin_with_edge(base.origin, edge, name, value)
                self._change(replace(self.document, problem=changed, origin=origin), change, merge)

    def _origin_with_edge(self, origin: Origin, edge: int, name: str, value: float) -> Origin:
        """The lines that build the problem and then change an edge; none if a pair of datasets does not name it."""
        listed = self.edge_list
        assert listed is not None
        if list(listed.columns) != ["epsilon"] or listed.parallel()[edge]:
            return NO_ORIGIN
        pair = Scope(PAIR, (int(listed.source[edge]), int(listed.target[edge])))
        return origin.followed_by(self.document.problem, listed, pair, value)

    def _parameter_change(self, edge: int, name: str, value: float) -> Change:
        listed = self.edge_list
        assert listed is not None
        one, other = self.dataset_name(int(listed.source[edge])), self.dataset_name(int(listed.target[edge]))
        edge_class = listed.classes[edge]
        named = "" if edge_class is None else f", {spell_label(edge_class)[:LONGEST_NAME]}"
        was = float(listed.columns[name][edge])
        return Change(f"{LETTERS[name]} between {one} and {other}{named}", _number_words(was), _number_words(value))

    def dataset_name(self, dataset: int) -> str:
        """The label of a dataset in the list of changes, cut if it is long."""
        labels = self.document.problem.labels
        text = spell_label(labels.names[dataset], labels)
        return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"

    def given_words(self, dataset: int) -> str:
        """The given value of a dataset in words."""
        pin = self.document.pins.get(dataset)
        return NOT_GIVEN if pin is None else self.pin_words(dataset, pin)

    def pin_words(self, dataset: int, pin: tuple[str, float]) -> str:
        """A given value as p, in words."""
        return _number_words(pin[1]) if pin[0] == "p" else format_probability(*self.probability_of(dataset, pin))

    def set_scope(self, scope: Scope, value: float, drag: bool = False) -> None:
        """Sets the ε of all edges of a scope, or multiplies every ε. All values of one drag start from the same ε."""
        with self.lock:
            merge = ("scope", scope) if drag else None
            again = merge is not None and merge == self._merge_key
            base = self.past[-1] if again else self.document
            try:
                changed = apply_scope(base.problem, self.edge_list, scope, value)
                origin = base.origin.followed_by(base.problem, self.edge_list, scope, value)
            except HetdpError as refusal:
                self.refuse(str(refusal))
                return
            was = "" if again else self._scope_words(scope)
            after = f"× {_number_words(value)}" if scope.kind == ALL else _number_words(value)
            change = Change(scope_in_words(base.problem, self.edge_list, scope), was, after)
            self.last_control, self._dragged_to = "", value
            self._change(replace(self.document, problem=changed, origin=origin), change, merge)

    def _scope_words(self, scope: Scope) -> str:
        """The present ε of a scope in words; empty if it is not known."""
        names = class_names(self.document.problem, self.edge_list)
        near = names[int(scope.at)] if scope.kind == CLASS else None
        listed = list_scopes(self.document.problem, self.edge_list, near)[0]
        found = next((setting for setting in listed if setting.scope == scope), None)
        if found is None:
            return "its ε"
        ends = " … ".join(dict.fromkeys(map(_number_words, (found.low, found.high))))
        return f"× {ends}" if scope.kind == ALL else ends

    def settings(self) -> tuple[list[Setting], int]:
        """What can be set by one slider, and how many classes have none.

        After a drag, the factor of all ε and the ε of a rule are those before the drag and after it, until something
        else is done.
        """
        with self.lock:
            kind, number = self.selection
            near = self.edge_list.classes[number] if kind == "edge" and self.edge_list is not None else None
            found, more = list_scopes(self.document.problem, self.edge_list, near)
            scope = self.dragged_scope
            if scope is None:
                return found, more
            if scope.kind == RULE:
                before = self.past[-1].problem
                rules = [one for one in list_scopes(before, list_edges(before))[0] if one.scope.kind == RULE]
                found = [*(one for one in found if one.scope.kind != RULE), *rules]
            value = self._dragged_to
            moved = [one._replace(low=value, high=value) if one.scope == scope else one for one in found]
            return moved, more

    @property
    def dragged_scope(self) -> Scope | None:
        """The scope that the last change has set by its slider, as long as nothing else was done."""
        key = self._merge_key
        return key[1] if isinstance(key, tuple) and key[0] == "scope" else None

    # Comparison -------------------------------------------------------------------------------------------------------

    def set_comparison(self, name: str) -> None:
        """Chooses what the mechanism is compared with: BEFORE, OPENED or an objective."""
        with self.lock:
            if name in (BEFORE, OPENED, *self.objectives) and name != self.comparison:
                self.comparison, self.notice = name, ""
                self._advance()

    def reference(self) -> Reference | None:
        """What the mechanism is compared with; None if nothing was changed, or if it would take long to compute."""
        with self.lock:
            opening = [document for document in self.past if document.opening == self.document.opening]
            if self.comparison == BEFORE:
                found = opening[-1] if opening else None
                name = "before"
            elif self.comparison == OPENED:
                found, name = opening[0] if opening else self.document, "as opened"
            else:
                found, name = replace(self.document, objective=self.comparison), objective_name(self.comparison)
            if found is None:
                return None
            answer = self._answer_to(found)
            return None if answer is None else Reference(name, found, answer)

    def _answer_to(self, document: Document) -> Answer | None:
        """The answer to a document, computed once."""
        for known, answer in [(self.document, self.answer), *self._answers]:
            same = known.problem is document.problem and known.pins is document.pins
            if same and known.objective == document.objective:
                return answer
        if self.comparison == BEFORE and document.problem.graph.size > MOST_SOLVED:
            return None
        answer = solve(document.problem, document.pins, document.objective)
        self._remember(document, answer)
        return answer

    def _remember(self, document: Document, answer: Answer) -> None:
        self._answers = [(document, answer), *self._answers][:MOST_ANSWERS]

    def _place_of(self, edge: int) -> int:
        if self.edge_list is None or not 0 <= edge < len(self.edge_list.source):
            raise UsageError(f"no edge {edge}", "edges are those that are listed")
        return int(self.edge_list.places[edge])

    def set_pin(self, dataset: int, p: float, by: str = "", drag: bool = False) -> None:
        """Sets the given value of a dataset. Consecutive values of one drag are one change."""
        with self.lock:
            if not 0.0 <= p <= 1.0:
                self.refuse(str(UsageError(f"p = {format_value(p)}", PROBABILITY_RULE)))
                return
            self.last_control = by
            pins = {**self.document.pins, dataset: ("p", p)}
            change = Change(f"p of {self.dataset_name(dataset)}", self.given_words(dataset), _number_words(p))
            self._change(self.document.with_pins(pins, (dataset,)), change, ("pin", dataset) if drag else None)

    def clear_pin(self, dataset: int) -> None:
        """Removes the given value of a dataset."""
        with self.lock:
            if dataset in self.document.pins:
                pins = {index: pin for index, pin in self.document.pins.items() if index != dataset}
                self.last_control = ""
                change = Change(f"p of {self.dataset_name(dataset)}", self.given_words(dataset), NOT_GIVEN)
                self._change(self.document.with_pins(pins, (dataset,)), change)

    def clear_pins(self) -> None:
        """Removes all given values. If only given values were used, the objective becomes fair."""
        with self.lock:
            objective = "fair" if self.document.objective == GIVEN else self.document.objective
            self.last_control = ""
            many = len(self.document.pins)
            words = "The given value was removed" if many == 1 else f"All {many:,} given values were removed"
            self._change(replace(self.document, pins={}, repaired={}, objective=objective), Change(words))

    def keep_values(self) -> None:
        """Turns the chosen values into given ones, to be edited; without a mechanism, those of the fair one."""
        with self.lock:
            source = self.answer.mechanism
            if source is None:
                source = solve(self.document.problem, self.document.pins, "fair").mechanism
            if source is None:
                self.refuse("There is no mechanism, so there are no values to keep.")
                return
            numbers = source.pinned.nonzero()[0].tolist()
            chosen = {index: ("z", float(source.coordinates[index])) for index in numbers}
            self.last_control = ""
            words = f"{pluralize(len(chosen), 'value')} of {objective_name(source.objective)} became given ones"
            kept = replace(self.document, pins=chosen | dict(self.document.pins), objective=GIVEN)
            self._change(kept, Change(words))

    def set_objective(self, objective: str) -> None:
        """Sets the objective."""
        with self.lock:
            if objective in self.objectives and objective != self.document.objective:
                self.last_control = ""
                self._change(replace(self.document, objective=objective), Change(OBJECTIVE))

    def apply_repair(self) -> None:
        """Replaces contradictory given values by the repair, and records what those were that it moves."""
        with self.lock:
            if self.answer.repair is not None:
                self.last_control = ""
                pins = pins_of(self.document.problem, self.answer.repair.pins)
                moves = self.repair_moves()
                change = Change(f"The repair moved {self._moves_words(moves, pins)}")
                repaired = {**moves, **self.document.repaired}
                self._change(replace(self.document, pins=pins, repaired=repaired), change)

    def _moves_words(self, moves: Pins, after: Pins) -> str:
        """The given values that a repair moves, with their values before and after."""
        listed = []
        for dataset in list(moves)[:MOST_MOVED]:
            was, now = format_apart(*(self.probability_of(dataset, pins[dataset]) for pins in (moves, after)))
            listed.append(f"p of {self.dataset_name(dataset)} {was} → {now}")
        more = f" and {len(moves) - MOST_MOVED:,} more" if len(moves) > MOST_MOVED else ""
        return f"{pluralize(len(moves), 'given value')}: {', '.join(listed)}{more}"

    def repair_moves(self) -> Pins:
        """The given values that the repair would move, as they are now. It keeps those that have no leeway."""
        repair = self.answer.repair
        if repair is None:
            return {}
        below, above, index = repair.below, repair.above, self.document.problem.graph.index
        moved = [index(label) for label in below if below[label] < above[label]]
        return {dataset: self.document.pins[dataset] for dataset in moved}

    def repaired_pins(self) -> Pins:
        """The given values; while they contradict each other, as the repair would have them."""
        repair = self.answer.repair
        return self.document.pins if repair is None else pins_of(self.document.problem, repair.pins)

    def refuse(self, words: str) -> None:
        """Shows why nothing was done."""
        with self.lock:
            self.notice, self._refused_page = words, self._page_view.page
            self.revision += 1

    def notice_for(self, page: str) -> str:
        """Why nothing was done, for the page that asked for it; without a page, in any case."""
        return self.notice if not page or self._refused_page in ("", page) else ""

    # Selection --------------------------------------------------------------------------------------------------------

    def select(self, kind: str = "", number: int = -1) -> None:
        """Selects a dataset or an edge; nothing, if there is no such one."""
        with self.lock:
            page = self._page_view
            other = page.opening != self.document.opening or (kind == "edge" and page.revision < self._relisted_at)
            if page.page and other and self._is_stale():
                return
            self.selection = self._existing(Selection(kind, number))
            self._merge_key, self.notice, self.last_control = None, "", ""
            self._advance()

    def _existing(self, selection: Selection) -> Selection:
        """The selection, if there is such a dataset or edge; otherwise nothing."""
        many = {
            "dataset": self.document.problem.graph.size,
            "edge": 0 if self.edge_list is None else len(self.edge_list.source),
        }
        return selection if 0 <= selection.number < many.get(selection.kind, 0) else Selection()

    def editable_values(self) -> dict[str, float]:
        """The numbers of the selection that can be edited: p of a dataset, or the parameters of an edge."""
        kind, number = self.selection
        if kind == "edge" and self.edge_list is not None:
            return {name: float(values[number]) for name, values in self.edge_list.columns.items()}
        if kind != "dataset":
            return {}
        found = self.answer.mechanism
        if number in self.document.pins:
            return {"p": self.given_probability(number)}
        return {"p": 0.5 if found is None else float(found.probabilities[number])}

    def given_probability(self, dataset: int) -> float:
        """The given value of a dataset as p, whether it was given as p, z or error."""
        return self.probability_of(dataset, self.document.pins[dataset])[0]

    def probability_of(self, dataset: int, pin: tuple[str, float]) -> tuple[float, float]:
        """A given value as p, and 1 − p; each is 0 only if the other one is certain."""
        kind, value = pin
        if kind == "z":
            both = [float(self.document.problem.notion.coordinate.probability(np.array(z))) for z in (value, -value)]
            p, complement = both if np.isinf(value) else (max(each, LEAST) for each in both)
            return p, complement
        p, complement = value, 1.0 - value
        return (complement, p) if kind == "error" and self.document.problem.answers[dataset] == 1 else (p, complement)

    def field_text(self, name: str) -> str:
        """The text in the field of a number that can be edited; empty for p if no value is given."""
        value = self.editable_values().get(name)
        if value is None or (name == "p" and self.selection.number not in self.document.pins):
            return ""
        pin = ("p", value) if name != "p" else self.document.pins[self.selection.number]
        if pin[0] == "p":
            return repr(value).removesuffix(".0").replace("inf", "∞")
        p, complement = self.probability_of(self.selection.number, pin)
        return format_compact(min(p, MOST) if complement else p, 6)

    def find_dataset(self, text: str) -> int | None:
        """The index of the dataset with a label; blanks around its entries are ignored."""
        labels = self.document.problem.labels
        tidy = ",".join(part.strip() for part in text.split(","))
        found = next((found for each in (text, tidy) if (found := find_label(each, labels)) is not None), None)
        return None if found is None else int(labels.index(found))
