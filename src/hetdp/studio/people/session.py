"""The session of the page for tables: the opened table, the draft of a plan, the saved plan, and what was released.

Several pages may show one session. Each form has the revision that it was made from; a form that would undo a change by
another page is refused. Nothing here depends on Flask.
"""

from __future__ import annotations

import copy
import os
import shlex
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from hetdp.errors import HetdpError, InputError, UsageError
from hetdp.mechanism.solve import SolvedEpsilon, solve_epsilon
from hetdp.problem.answer_words import TITLE
from hetdp.releases.release import Release
from hetdp.studio.people.draft import (
    ALL_TITLE,
    AREA_THRESHOLD,
    COLUMN,
    EPSILON,
    MISSING,
    ONE,
    PROTECTION_FIELDS,
    QUESTION_FIELDS,
    TABLE_FIELDS,
    THRESHOLD,
    WEIGHT,
    Draft,
    read_epsilon,
    read_share,
)
from hetdp.studio.people.folder import PLAN, OpenedFolder
from hetdp.studio.people.table import COUNTED, MOST_NAMES, PERSON, OpenedTable, open_table
from hetdp.studio.people.wording import refusal_words
from hetdp.tables.ask import AskResult, ask
from hetdp.tables.plan import PlanBundle, read_plan
from hetdp.tables.predicates import format_column
from hetdp.tables.request import ABOUT
from hetdp.text import escape_unprintable, format_value

STEPS = {
    "table": "Table",
    "question": "Question",
    "protection": "Protection",
    "promise": "Promise",
    "plan": "Plan",
    "release": "Release",
    "record": "Record",
}
NAMES = tuple(STEPS)
STALE = "Another page has changed this plan. Nothing was taken from this page; it now shows what holds."
FORM = ""  # the key of faults that belong to no field
MOST_REMEMBERED = 64  # results of `ask`


@dataclass(frozen=True)
class SavedPlan:
    """A plan in a file.

    Attributes:
        name: the name of the file.
        digest: SHA-256 of the plan.
        title: the title of the question, or of all questions together; empty if there is none.
        arguments: the arguments that it was made of; None if it was opened from its file.
    """

    name: str
    digest: str
    title: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True)
class Published:
    """A release and the files of its record.

    Attributes:
        release: the answers.
        plan: the plan that was carried out.
        ledger: the name of the ledger.
        record: the name of the record's file.
        page: the name of the page.
        unwritten: why the record could not be written; empty if it was.
    """

    release: Release
    plan: SavedPlan
    ledger: str
    record: str
    page: str
    unwritten: str = ""


@dataclass
class PeopleSession:
    """One table and its plan, as the pages show them.

    Attributes:
        folder: the opened folder.
        table: the opened table, if there is one.
        wanted: the path of the table that was requested last.
        refused: why it could not be opened; empty if it was opened.
        draft: what has been chosen.
        saved: the plan that was saved or opened.
        published: the last release.
        tried: the steps that somebody tried to complete; their empty fields are shown as missing.
        notices: sentences for the next page.
        faults_of_action: field → why the last action of a step was refused.
        revision: grows with every change.
        step: the step that was shown last.
        promised: the arguments of the promise that was shown last; None before.
    """

    folder: OpenedFolder
    table: OpenedTable | None = None
    wanted: Path | None = None
    refused: str = ""
    draft: Draft = field(default_factory=Draft)
    saved: SavedPlan | None = None
    published: Published | None = None
    tried: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)
    faults_of_action: dict[str, dict[str, str]] = field(default_factory=dict)
    revision: int = 1
    step: str = NAMES[0]
    promised: dict[str, Any] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    _results: dict[Any, Any] = field(default_factory=dict)

    def refusal_words(self, refusal: HetdpError) -> str:
        """A refusal as the page says it: files of the folder are named without it."""
        return refusal_words(refusal).replace(f"{self.folder.path}{os.sep}", "")

    # Table.

    def open(self, path: Path, **options: str) -> None:
        """Opens a table, and discards everything that was chosen for another one."""
        self.revision += 1
        self.draft, self.saved, self.table, self.wanted, self.refused = Draft(), None, None, path, ""
        self.tried, self.faults_of_action, self._results, self.promised = set(), {}, {}, None
        for name, value in options.items():
            self.draft.set(name, value)
        try:
            self.table = open_table(path, options)
        except HetdpError as refusal:
            self.refused = refusal_words(refusal)

    def require_table(self) -> OpenedTable:
        """The opened table.

        Raises:
            UsageError: there is none.
        """
        if self.table is None or self.table.description.rows is None:
            raise UsageError("no table is open", "the step Table opens one")
        return self.table

    # What is missing.

    @property
    def opened_plan(self) -> SavedPlan | None:
        """The plan that was opened from a file, whose first steps cannot be changed."""
        return self.saved if self.saved is not None and self.saved.arguments is None else None

    def faults(self, step: str) -> dict[str, str]:
        """Field → what is missing or wrong in a step; FORM for what concerns no field."""
        checks: dict[str, Callable[[], dict[str, str]]] = {
            "table": self._table_faults,
            "question": self._question_faults,
            "protection": self._protection_faults,
            "plan": self._plan_faults,
            "release": lambda: {} if self.is_released() else {FORM: "the answer has not been released yet"},
        }
        if self.opened_plan is not None and step in ("table", "question", "protection"):
            return {}
        return checks[step]() if step in checks else {}

    def shown_faults(self, step: str) -> dict[str, str]:
        """The faults that are shown: those of an action, and those of fields unless they are empty and untried."""
        found = self.faults(step) if step in ("table", "question", "protection") else {}
        if step not in self.tried:
            found = {name: words for name, words in found.items() if name and not words.startswith(MISSING)}
            found = {name: words for name, words in found.items() if self._is_typed(name)}
        refused = {"table": self.refused} if step == "table" and self.refused else {}
        return found | refused | self.faults_of_action.get(step, {})

    def _is_typed(self, name: str) -> bool:
        what, _, at = name.rpartition("-")
        if at.isdecimal() and self.table is not None and what in (EPSILON, AREA_THRESHOLD, THRESHOLD, WEIGHT):
            columns = {EPSILON: self.draft.level, AREA_THRESHOLD: self.draft.area}
            column = columns.get(what, self.draft.group)(self.table)
            return bool(self.draft.number(what, column, self._names(column)[int(at)]).strip())
        return bool(self.draft[name].strip()) and name not in ("group", "level")

    def first_gap(self, step: str) -> str:
        """The first earlier step that is not complete; empty if all are."""
        before = NAMES[: NAMES.index(step)]
        needed = [one for one in before if one in ("table", "question", "protection")]
        needed += ["plan"] if step in ("release", "record") else []
        return next((one for one in needed if self.faults(one)), "")

    def is_complete(self, step: str) -> bool:
        """True if nothing is missing in this step or an earlier one."""
        if step == "record":
            return self.is_released()
        if step == "promise":
            return not self.first_gap("promise") and self._is_promise_shown()
        return not self.faults(step) and not self.first_gap(step)

    def note_promise(self) -> None:
        """Notes that the promise is shown as it is now; only then is the step Promise complete."""
        if self.opened_plan is None:
            self.promised = self.draft.arguments(self.require_table())

    def _is_promise_shown(self) -> bool:
        return self.opened_plan is not None or self.promised == self.draft.arguments(self.require_table())

    def is_released(self) -> bool:
        """True if the answer of the saved plan was released, and nothing was changed since."""
        done, plan = self.published, self.saved
        return done is not None and plan is not None and done.plan.digest == plan.digest and not self._plan_faults()

    def _table_faults(self) -> dict[str, str]:
        if self.table is None:
            return {"table": self.refused or "choose a table"}
        if self.table.description.rows is None:
            return {"sheet": f"{MISSING}; the file has several sheets, and one of them is the table"}
        if not self.table.person:
            return {PERSON: f"{MISSING}; one column must identify each person"}
        if not self.table.with_role(COUNTED):
            return {COUNTED: f"{MISSING}; at least one column is private and counted"}
        counted = format_column(self.table.with_role(COUNTED)[0])
        return self._refusal(
            {"count": f"{counted} IS NULL", "at_least": 1, "epsilon": 1, "person": self.table.person}, PERSON
        )

    def _question_faults(self) -> dict[str, str]:
        if self.faults("table") or self.table is None:
            return {FORM: "the step Table is not complete"}
        found = self.draft.question_faults(self.table)
        if found:
            return found
        return self._refusal(self.draft.question_arguments(self.table) | {"epsilon": 1}, FORM)

    def _protection_faults(self) -> dict[str, str]:
        if self.faults("table") or self.table is None:
            return {FORM: "the step Table is not complete"}
        found = self.draft.protection_faults(self.table)
        if found or self.draft.question_faults(self.table):
            return found
        return self._refusal(self.draft.arguments(self.table), FORM)

    def _plan_faults(self) -> dict[str, str]:
        if self.saved is None:
            return {FORM: "the plan has not been saved yet"}
        if self.changed_since_saved():
            return {FORM: f"the plan in {self.saved.name} is another one: something was changed after it was saved"}
        return {}

    def _refusal(self, arguments: dict[str, Any], name: str) -> dict[str, str]:
        try:
            self._ask(arguments)
        except HetdpError as refusal:
            return {name: refusal_words(refusal)}
        return {}

    def _names(self, column: str) -> list[str]:
        try:
            return self.require_table().names(column)
        except HetdpError:
            return []

    # Several questions.

    def add_question(self) -> None:
        """Adds a question to the plan, once the current one is complete.

        Raises:
            UsageError: it is not, or there are too many.
        """
        if self.draft.own_faults(self.require_table()):
            rule = "another one is added when it is"
            raise UsageError(f"{self.draft.name()} is not complete", rule, "complete or remove it")
        self.draft.add_question()
        self.tried.discard("question")
        self.revision += 1

    def show_question(self, at: int) -> None:
        """Makes another question the current one; without such a question nothing changes."""
        if at in range(len(self.draft.asked)):
            self.draft.at = at
            self.revision += 1

    def remove_question(self, at: int) -> None:
        """Removes a question, unless it is the only one."""
        self.draft.remove_question(at)
        self.revision += 1

    def question_at(self, many: int) -> int:
        """The index of the question that the step Promise shows."""
        if self.opened_plan is None:
            return self.draft.at
        typed = self.draft["question-at"]
        return min(int(typed), many - 1) if typed.isdecimal() else 0

    def level_column(self) -> str:
        """The column whose values the promise calls groups: of levels, or of groups; empty without one."""
        if self.opened_plan is not None:
            columns = self.saved_plans()[0]["columns"]
            return str(columns["level"] or columns["group"] or "")
        table = self.require_table()
        return self.draft.level(table) or next((group for one in self.draft.each() if (group := one.group(table))), "")

    def area_column(self, at: int) -> str:
        """The column of areas of a question; empty without one."""
        if self.opened_plan is not None:
            return str(self.saved_plans()[at]["columns"]["area"] or "")
        return self.draft.each()[at].area(self.require_table())

    def _alone(self, protection: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `ask` for the current question by itself."""
        table, draft = self.require_table(), self.draft
        body = draft.question_body(table) | {"person": table.person} | protection
        return body | ({"group": draft.group(table)} if draft.group(table) else {})

    # Promise.

    def dry_run(self) -> AskResult:
        """Makes a dry run for the promise. The counted columns are not read.

        Raises:
            HetdpError: something is missing or wrong.
        """
        table = self.require_table()
        plan = self.opened_plan
        if plan is not None:
            return self._ask({"plan": self.folder.existing(plan.name, (PLAN,))})
        return self._ask(self.draft.arguments(table))

    def _ask(self, arguments: dict[str, Any]) -> AskResult:
        """Makes a dry run, or returns the stored result or refusal of an equal one if the table has not changed."""
        table = self.require_table()
        key = repr(sorted(arguments.items(), key=lambda one: one[0])), _stamp(table.path)
        if key not in self._results:
            if len(self._results) >= MOST_REMEMBERED:
                self._results.clear()
            try:
                self._results[key] = ask(table.path, **(table.options | arguments), dry_run=True)
            except HetdpError as refusal:
                self._results[key] = refusal
        found = self._results[key]
        if isinstance(found, HetdpError):
            raise found
        return found  # type: ignore[no-any-return]

    def solve_epsilon(self) -> SolvedEpsilon | None:
        """The smallest multiple of all ε with a wanted accuracy at a true share; None if either field is empty.

        Of several questions, it is about the current one.

        Raises:
            HetdpError: one of them is not a share, or no multiple is enough.
        """
        if not (self.draft["want"].strip() and self.draft["share-at"].strip()):
            return None
        wanted, at = read_share(self.draft["want"]), read_share(self.draft["share-at"])
        asked = self._ask(self._alone(self.draft.protection_arguments(self.require_table())))
        return solve_epsilon(asked, wanted, at=at)

    def use_solved_epsilon(self) -> None:
        """Replaces ε by those that the wanted accuracy needs.

        Raises:
            HetdpError: there are none, or everybody has an ε of their own.
        """
        table, found = self.require_table(), self.solve_epsilon()
        if found is None or self.draft["protection"] == COLUMN:
            raise UsageError("no ε to use", "each level has one ε, and the wanted accuracy and true share are typed")
        needed = {level.before: format(level.after, "f") for level in found.levels}
        for name, typed in self.draft.epsilons(table).items():
            number = needed.get(Decimal(typed))
            if number is not None and self.draft["protection"] == ONE:
                self.draft.set("epsilon", number)
            elif number is not None:
                self.draft.set_number(EPSILON, self.draft.level(table), name, number)
        if self.draft["decides"]:  # one that is above all others binds nobody, and must not bind anybody now
            deciding = Decimal(read_epsilon(self.draft["deciding"]))
            self.draft.set("deciding", needed.get(deciding, max(needed.values(), key=Decimal)))
        self.revision += 1

    # Plan.

    def identified_plan(self) -> AskResult:
        """The promise with the plan and its digest, as its file would contain it.

        Raises:
            HetdpError: something is missing or wrong.
        """
        table = self.require_table()
        if self.opened_plan is not None:
            return self.dry_run()
        with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as place:
            return ask(table.path, **self.draft.arguments(table), plan=Path(place, "plan.json"), dry_run=True)

    def changed_since_saved(self) -> bool:
        """True if the draft is no longer what was saved."""
        if self.saved is None or self.saved.arguments is None:
            return False
        try:
            return self.draft.arguments(self.require_table()) != self.saved.arguments
        except HetdpError:
            return True

    def plan_name(self) -> str:
        """The suggested name for the plan's file."""
        if self.saved is not None and not self.changed_since_saved():
            return self.saved.name
        typed = self.draft["plan-name"]
        return typed or self.folder.free_name(f"{self.stem()}-plan", PLAN)

    def stem(self) -> str:
        """The name of the table without its suffix, from which names of files are made."""
        return self.table.path.stem if self.table is not None else "people"

    def saved_plans(self) -> list[dict[str, Any]]:
        """The facts of the saved plan; of several questions, of each of them.

        Raises:
            HetdpError: no plan is saved, or its file cannot be read.
        """
        if self.saved is None:
            raise UsageError("no plan is saved", "a release carries out a plan that was saved and approved")
        plan = read_plan(self.folder.existing(self.saved.name, (PLAN,)))
        return [one.facts for one in (plan.plans if isinstance(plan, PlanBundle) else (plan,))]

    def save_plan(self, name: str) -> None:
        """Saves the plan for the second person. A file that has another plan is not replaced.

        Raises:
            HetdpError: the name is not accepted, the file has another plan, or something is missing.
        """
        table, place = self.require_table(), self.folder.place_to_save(name, PLAN)
        arguments = self.draft.arguments(table)
        if place.exists() and not self._is_saved_in(place):
            what = f"{place.name} exists, and is not this plan"
            free = self.folder.free_name(place.stem, PLAN)
            raise UsageError(what, "a file that has something else is never replaced", f"{free} is free")
        found = ask(table.path, **arguments, plan=place, dry_run=True)
        self.saved = SavedPlan(place.name, found.digest, self._typed_title(), arguments)
        self.revision += 1
        self.draft.set("plan-name", "")
        table.counted |= {one.counted_column(table) for one in self.draft.each()}
        self.notices.append(f"The plan was saved as {place.name}.")

    def _is_saved_in(self, place: Path) -> bool:
        """True if a file has exactly this plan."""
        try:
            return read_plan(place).digest == self.identified_plan().digest
        except InputError:
            return False

    def open_plan(self, name: str) -> None:
        """Opens a plan and the table that it names, to go on at the step Release.

        Raises:
            HetdpError: the file is not a plan, or its table is not in the folder, or is another one.
        """
        place = self.folder.existing(name, (PLAN,))
        plan = read_plan(place)
        facts = (plan.plans[0] if isinstance(plan, PlanBundle) else plan).facts["table"]
        table = self._table_of_plan(place.name, str(facts["file"]))
        found = ask(table, plan=place, dry_run=True)
        options = {one: str(facts[key]) for one, key in _TABLE_KEYS.items() if facts.get(key) is not None}
        self.open(table, **options)
        self.saved = SavedPlan(place.name, found.digest, str(plan.facts.get(ABOUT, {}).get(TITLE, "")), None)

    def _table_of_plan(self, plan: str, name: str) -> Path:
        """The path of the table that a plan is about.

        Raises:
            UsageError: it is not in the folder.
        """
        try:
            return self.table_path(name)
        except UsageError:
            rule = f"{format_value(name)} must be in the same folder"
            hint = f"hetdp record plan {shlex.quote(plan)} shows the plan in words without its table"
            raise UsageError(f"the table of {plan} is not there", rule, hint) from None

    def start_over(self) -> None:
        """Leaves the opened plan, and begins a new one with the same table."""
        if self.wanted is not None:
            self.open(self.wanted, **{name: self.draft[name] for name in TABLE_FIELDS if self.draft[name]})

    def table_path(self, name: str) -> Path:
        """The path of a table of the folder; the opened one may be a folder of files.

        Raises:
            UsageError: there is no such table.
        """
        if self.table is not None and self.table.path.name == name:
            return self.table.path
        folder = self.folder.path / name
        if name in self.folder.folders():
            return folder
        from hetdp.tables.formats import OPENERS

        return self.folder.existing(name, tuple(OPENERS))

    # Forms.

    def take(self, step: str, form: Mapping[str, str]) -> bool:
        """Takes the fields of a form. Returns False if that would undo what another page has changed.

        Args:
            step: the step that the form belongs to.
            form: field → text; a field that is missing stays as it is.
        """
        if self.opened_plan is not None and step in ("table", "question", "protection"):
            return True
        draft, table = copy.deepcopy(self.draft), copy.copy(self.table)
        if table is not None:
            table.roles = dict(table.roles)
        faults = self._take(step, form, draft, table)
        roles = {} if self.table is None else self.table.roles
        if draft == self.draft and (table is None or table.roles == roles) and not faults:
            self.faults_of_action.pop(step, None)
            return True
        if form.get("revision") != str(self.revision):
            self.notices.append(STALE)
            return False
        self.draft, self.table = draft, table
        self.faults_of_action.pop(step, None)
        if faults:
            self.faults_of_action[step] = faults
        self.revision += 1
        return True

    def _take(self, step: str, form: Mapping[str, str], draft: Draft, table: OpenedTable | None) -> dict[str, str]:
        """Takes the fields of a step into a draft and a table; returns what was refused."""
        faults: dict[str, str] = {}
        if step == "table" and table is not None:
            for at, column in enumerate(table.columns):
                role = form.get(f"role-{at}")
                if role is not None and role != table.roles.get(column.name, ""):
                    try:
                        table.set_role(column.name, role)
                    except HetdpError as refusal:
                        faults[f"role-{at}"] = refusal_words(refusal)
        is_fixed = self.opened_plan is not None
        if table is not None and not is_fixed and step in ("question", "protection", "promise"):
            self._take_numbers(form, draft, table)
        fields: dict[str, tuple[str, ...]] = {
            "question": (*QUESTION_FIELDS, ALL_TITLE),
            "protection": PROTECTION_FIELDS,
            "promise": (*(() if is_fixed else PROTECTION_FIELDS), "share-at", "want", "area-at", "question-at"),
        }
        fields |= {"plan": ("plan-name", "ledger", "source"), "release": ("ledger", "source", "version", "times")}
        fields["release"] += ("ledger-name", "ledger-source")
        for name in fields.get(step, ()):
            if name in form:
                draft.set(name, form[name])
        shown = form.get("question-at", "")
        if step == "promise" and not is_fixed and shown.isdecimal() and int(shown) < len(draft.asked):
            draft.at = int(shown)
        return faults

    def _take_numbers(self, form: Mapping[str, str], draft: Draft, table: OpenedTable) -> None:
        """Takes the numbers for each group or level, which are numbered in the order of their names."""
        columns = {EPSILON: draft.level(table), THRESHOLD: draft.group(table), WEIGHT: draft.group(table)}
        columns[AREA_THRESHOLD] = draft.area(table)
        for what, column in columns.items():
            if any(f"{what}-{at}" in form for at in range(MOST_NAMES)):
                for at, name in enumerate(self._names(column)):
                    if f"{what}-{at}" in form:
                        draft.set_number(what, column, name, form[f"{what}-{at}"][:100])

    def title(self) -> str:
        """The question in the steward's own words; empty if there is no title."""
        if self.opened_plan is not None:
            return escape_unprintable(self.opened_plan.title)
        return escape_unprintable(self._typed_title())

    def _typed_title(self) -> str:
        return self.draft[ALL_TITLE if self.draft.has_several else "title"].strip()


_TABLE_KEYS = {"sheet": "table", "encoding": "encoding", "delimiter": "delimiter"}


def _stamp(path: Path) -> Any:
    """The names, times and sizes of the files of a table, which show whether it has changed."""
    try:
        places = sorted(path.iterdir()) if path.is_dir() else [path]
        return tuple((place.name, place.stat().st_mtime_ns, place.stat().st_size) for place in places)
    except OSError:
        return None
