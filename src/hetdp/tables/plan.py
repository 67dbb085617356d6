"""Plans: everything that is fixed before any answer is read, as a JSON file that a second person can approve.

The sentences in a plan are part of its digest, so they must not change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetdp.documents import (
    COUNT,
    TEXT,
    parse_json,
    read_text,
    refuse,
    require_keys,
    require_kind,
    require_shape,
    require_version,
)
from hetdp.errors import Fault, InputError, UsageError
from hetdp.files.formats.json_files import write_json
from hetdp.files.formats.writing import whole_file
from hetdp.people.questions.thresholds import BLANK
from hetdp.problem.answer_words import NO, TITLE, require_wording
from hetdp.tables.comparison import describe_moments as moments_meaning
from hetdp.tables.comparison import moment_of
from hetdp.tables.dialect import FileOptions
from hetdp.tables.policy import Policy
from hetdp.tables.predicates import EQUALITIES, Comparison
from hetdp.tables.request import (
    ABOUT,
    REQUEST_KEYS,
    AskRequest,
    looks_at_text,
    name_question,
    request_from_document,
    request_part,
)
from hetdp.tables.sources import Columns
from hetdp.text import format_value
from hetdp.version import VERSION as SOFTWARE

VERSION = 2
KIND = "plan"
MOST_FAULTS = 1000  # in one message
LONGEST_VALUE = 200  # characters of a value in a message
FOLDED_COMPARISON = (
    "Text is compared without regard to case and surrounding spaces; a cell of spaces counts as missing."
)
EXACT_COMPARISON = "Text is compared exactly, character by character."
DIGITS = 16  # of a digest in a message
UNIT = "person"
NEIGHBOURS = (
    "The promise compares tables that differ in one person's answer;"
    " the number of people, and everybody's ε, group and area, are public."
)
KEYS = (
    "schema_version",
    "kind",
    "software",
    "table",
    *REQUEST_KEYS,
    "missing",
    "unit",
    "neighbours",
    "counts",
    "areas",
    "policy_sha256",
    "people_sha256",
    "request_sha256",
    "plan_sha256",
)
QUESTION = "question"
STATED_KEYS = ("software", "table", *REQUEST_KEYS, ABOUT, "counts")  # the other keys follow from these and the table

SAME_PEOPLE = {  # digests of people → what has changed if they differ, where the number of people is the same
    "policy_sha256": "the ε, groups or areas of the people are not the approved ones",
    "people_sha256": (
        "the people are not the approved ones: somebody joined as somebody left, or an id, ε, level, group or area was"
        " changed"
    ),
}


@dataclass(frozen=True)
class Plan:
    """A plan. Equal plans have the same mechanism and make the same promises.

    Attributes:
        request: the request of the plan.
        facts: the whole document, which includes the request.
    """

    request: AskRequest
    facts: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """The plan for a JSON file; `read_plan` reads it."""
        return self.facts

    @property
    def digest(self) -> str:
        """SHA-256 of the plan, stored as its last key; it identifies an approved plan."""
        return str(self.facts["plan_sha256"])

    def differences(self, approved: AnyPlan) -> Iterator[tuple[str, str]]:
        """The places at which the approved plan differs; derived facts are compared only if nothing else differs."""
        if isinstance(approved, PlanBundle):
            yield "number of questions", f"approved {len(approved.plans):,}, now 1"
            return
        yield from list(self._differences(approved, STATED_KEYS)) or self._differences(approved, KEYS[:-1])

    def _differences(self, approved: Plan, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The places at which the approved plan differs, with both values; a question is shown in words."""
        for key in keys:
            before, now = approved.facts.get(key), self.facts.get(key)
            if key == QUESTION and _text(before) != _text(now):
                words = approved.request.question_words, self.request.question_words
                before, now = words if words[0] != words[1] else (before, now)
            if key in SAME_PEOPLE and None not in (before, now) and before != now:
                yield key, SAME_PEOPLE[key]
                continue
            for where, old, new in _differences(key, before, now):
                yield where, f"approved {old}, now {new}"


def _differences(where: str, approved: Any, present: Any) -> Iterator[tuple[str, str, str]]:
    """The places at which two parts of a plan differ, with both values; objects are compared key by key."""
    if _text(approved) == _text(present):
        return
    if isinstance(approved, dict) and isinstance(present, dict):
        for key in dict.fromkeys((*approved, *present)):
            yield from _differences(f"{where}.{key}", approved.get(key), present.get(key))
    elif isinstance(approved, list) and isinstance(present, list) and len(approved) == len(present):
        for at, pair in enumerate(zip(approved, present, strict=True)):
            yield from _differences(f"{where}[{at}]", *pair)
    else:
        longest = DIGITS if where.endswith("_sha256") else LONGEST_VALUE
        yield where, _shorten_part(approved, longest), _shorten_part(present, longest)


def _shorten_part(part: Any, longest: int) -> str:
    """A part of a plan as JSON, shortened for a message."""
    if isinstance(part, str) and len(part) > longest:
        part = f"{part[:longest]}…"
    text = json.dumps(part, sort_keys=True, ensure_ascii=False, default=repr)
    return text if len(text) <= max(longest, LONGEST_VALUE) else f"{text[:LONGEST_VALUE]}…"


def _text(part: Any) -> str:
    """Canonical JSON of a part of a document; 1, true and 1.0 differ."""
    return json.dumps(part, sort_keys=True, default=repr)


def _digest(facts: dict[str, Any]) -> str:
    """SHA-256 of all keys of a plan but the last, which stores it."""
    return hashlib.sha256(_text(facts).encode()).hexdigest()


def plan_of(
    request: AskRequest,
    policy: Policy,
    table: dict[str, Any],
    areas: list[dict[str, Any]],
    people: str | None = None,
    request_sha256: str = "",
) -> Plan:
    """Makes the plan for a table.

    Args:
        request: the request.
        policy: the public facts of the table.
        table: the entry about the table; see `table_facts`.
        areas: the promise in each area.
        people: SHA-256 of all people with their ε, group and area; None if nothing depends on it.
        request_sha256: SHA-256 of what is asked, in its canonical form; see `identity_of`.
    """
    counts = {
        "people": policy.size,
        "areas": 1 if policy.areas is None else len(policy.areas.names),
        "groups": 1 if policy.groups is None else len(policy.groups.names),
    }
    facts = {
        "schema_version": VERSION,
        "kind": KIND,
        "software": f"hetdp {SOFTWARE}",
        "table": table,
        **request.document(),
        "missing": meaning_of_missing(request),
        "unit": UNIT,
        "neighbours": NEIGHBOURS,
        "counts": counts,
        "areas": areas,
        "policy_sha256": policy.digest(),
        "people_sha256": people,
        "request_sha256": request_sha256,
    }
    return Plan(request, facts | {"plan_sha256": _digest(facts)})


NUMBERS_COMPARED = (
    "Cells that are compared with a number must be finite numbers with a decimal point, such as 2.5; any other cell,"
    " such as 2,5, counts as missing."
)


def meaning_of_missing(request: AskRequest) -> str:
    """Describes how rows are counted and cells compared; declared before any is read."""
    words = [f"Whoever does not count as yes counts as {NO}, or as {BLANK} if a missing value leaves it unknown."]
    if looks_at_text(request.counted):
        words.append(EXACT_COMPARISON if request.exact_text else FOLDED_COMPARISON)
    read = [
        leaf for leaf in request.counted.leaves() if isinstance(leaf, Comparison) and not isinstance(leaf.value, bool)
    ]
    if any(not isinstance(leaf.value, str) for leaf in read):
        words.append(NUMBERS_COMPARED)
    by_order = [str(leaf.value) for leaf in read if isinstance(leaf.value, str) and leaf.operator not in EQUALITIES]
    return " ".join([*words, *moments_meaning(found for found in map(moment_of, by_order) if found is not None)])


# Plans of several questions -------------------------------------------------------------------------------------------


BUNDLE_VERSION = 1
BUNDLE_KIND = "plan bundle"
TOGETHER_SHAPE = {"whom": TEXT, "people": COUNT, "used": TEXT, "odds": TEXT}
BUNDLE_KEYS = ("schema_version", "kind", "software", "questions", "together", "plan_sha256")


@dataclass(frozen=True)
class PlanBundle:
    """The plans of several questions that are approved and released together.

    Attributes:
        plans: the plan of each question.
        facts: the whole document, which includes these plans.
    """

    plans: tuple[Plan, ...]
    facts: dict[str, Any]

    @property
    def about(self) -> Mapping[str, str]:
        """The title of all questions together, if they have one."""
        found: Mapping[str, str] = self.facts.get(ABOUT, {})
        return found

    def document(self) -> dict[str, Any]:
        """The plan for a JSON file; `read_plan` reads it."""
        return self.facts

    @property
    def digest(self) -> str:
        """SHA-256 of all plans together, stored as the last key."""
        return str(self.facts["plan_sha256"])

    def differences(self, approved: AnyPlan) -> Iterator[tuple[str, str]]:
        """The places at which the approved plans differ, with both values; see `Plan.differences`."""
        plans = approved.plans if isinstance(approved, PlanBundle) else (approved,)
        if len(self.plans) != len(plans):
            yield "number of questions", f"approved {len(plans):,}, now {len(self.plans):,}"
            return
        found = []
        for at, (now, before) in enumerate(zip(self.plans, plans, strict=True), 1):
            found += [(f"question {at}, {where}", values) for where, values in now.differences(before)]
        for key in (ABOUT, *(() if found else BUNDLE_KEYS[:-1])):
            for where, old, new in _differences(key, approved.facts.get(key), self.facts.get(key)):
                found.append((where, f"approved {old}, now {new}"))
        yield from found


AnyPlan = Plan | PlanBundle


def plan_bundle_of(plans: Sequence[Plan], together: Sequence[dict[str, Any]], title: str | None = None) -> PlanBundle:
    """Makes the plan of several questions.

    Args:
        plans: the plan of each question.
        together: what all answers together cost the people of each group.
        title: the title of all questions, if they have one.
    """
    facts: dict[str, Any] = {"schema_version": BUNDLE_VERSION, "kind": BUNDLE_KIND, "software": f"hetdp {SOFTWARE}"}
    facts |= {} if title is None else {ABOUT: require_wording(title)}
    facts |= {"questions": [plan.document() for plan in plans], "together": list(together)}
    return PlanBundle(tuple(plans), facts | {"plan_sha256": _digest(facts)})


# Reading --------------------------------------------------------------------------------------------------------------


def read_plan(path: Path) -> AnyPlan:
    """Reads a plan from its file; anything that hetdp would not write is refused.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is not a plan, is a newer one, or contains what hetdp does not write.
    """
    name = path.name
    document = parse_json(read_text(path, f"the plan {str(path)!r}", "a plan is a JSON file"), KIND)
    if not (isinstance(document, dict) and document.get("kind") == BUNDLE_KIND):
        return _plan_from(document, name)
    require_version(document, name, BUNDLE_VERSION, BUNDLE_VERSION)
    require_keys(document, BUNDLE_KEYS, (*BUNDLE_KEYS, ABOUT), name)
    _require_digest(document, name)
    parts, shape = document["questions"], {"together": [TOGETHER_SHAPE]}
    require_shape({"together": document["together"]}, shape, "plan", name)
    if not isinstance(parts, list) or not parts:
        refuse(name, Fault("questions", name, format_value(parts), "it must be a list of plans"))
    with _report_contradictions(name):
        require_keys(document.get(ABOUT, {}), (), (TITLE,), "plan.about")
        require_wording(document.get(ABOUT, {}).get(TITLE))
    plans = []
    for number, part in enumerate(parts, 1):
        with name_question(number):
            plans.append(_plan_from(part, name))
    return PlanBundle(tuple(plans), document)


def _plan_from(document: Any, name: str) -> Plan:
    """The plan of one question, from its document."""
    require_kind(document, KIND, name)
    require_version(document, name, VERSION, VERSION)
    require_keys(document, KEYS, (*KEYS, ABOUT), name)
    _require_digest(document, name)
    with _report_contradictions(name):
        request = request_from_document(request_part(document))
    return Plan(request, document)


def _require_digest(document: dict[str, Any], name: str) -> None:
    if document["plan_sha256"] != _digest({key: document[key] for key in document if key != KEYS[-1]}):
        rule = "its last key is a digest of all other keys"
        refuse(name, Fault("edited by hand", name, "", rule, "make a new plan: leave plan= out, or name a new file"))


@contextmanager
def _report_contradictions(name: str) -> Iterator[None]:
    """Reports contradictions as faults of the file."""
    try:
        yield
    except UsageError as refusal:
        refuse(name, Fault(refusal.what, name, "", refusal.rule, refusal.hint))


# The file of a plan ---------------------------------------------------------------------------------------------------


SUFFIX = ".json"


def read_approved_plan(path: str | Path | None, table: Any, releases: bool = False) -> AnyPlan | None:
    """Reads the plan if its file exists; otherwise checks that it can be written there.

    Args:
        path: the file of the plan.
        table: the table, which must not be overwritten.
        releases: whether an answer will be released. Then the plan must exist: nobody could have approved it
            otherwise.

    Raises:
        UsageError: there is no such plan, or it cannot be written there.
        InputError: the file exists and is not a plan.
    """
    if path is None:
        return None
    if not isinstance(path, str | Path):
        raise UsageError(f"the plan is {format_value(path)}", f"it is the name of a {SUFFIX} file")
    place = Path(path)
    if str(path) == "-":
        raise UsageError("plan='-'", "a plan must be saved in a file, so that it can be approved", "name a .json file")
    if place.suffix.lower() != SUFFIX:
        raise UsageError(f"no format is known for {str(path)!r}", f"the name of plan= ends in {SUFFIX}")
    if isinstance(table, str | Path) and place.absolute() == Path(table).absolute():
        rule = "an input is never overwritten"
        raise UsageError(f"plan={str(path)!r} would replace the table", rule, "choose another name")
    if releases and not place.exists():
        rule = "with a ledger, the plan must have been written and approved before"
        hint = "check the name; dry_run=True writes a new plan, which someone can approve"
        raise UsageError(f"there is no plan {str(path)!r}", rule, hint)
    if not place.absolute().parent.is_dir():
        raise UsageError(f"cannot write {str(path)!r}", f"{str(place.parent)!r} is not a folder")
    return read_plan(place) if place.exists() else None


def table_facts(table: Columns) -> dict[str, Any]:
    """The entry of a plan about the table: its file without the folder, the sheet or table, and how a CSV file is read.

    Nothing is said about a CSV file that is UTF-8 with commas.
    """
    return {"file": Path(table.name).name, "table": table.sheet, **table.facts}


def options_of(plan: AnyPlan | None, given: FileOptions) -> FileOptions:
    """The options for reading a table: those of the caller, otherwise those of the plan."""
    first = plan.plans[0] if isinstance(plan, PlanBundle) else plan
    named = None if first is None else first.facts["table"]
    if not isinstance(named, dict):
        return given
    found = given.sheet or named.get("table"), *(named.get(name) for name in ("encoding", "delimiter"))
    sheet, encoding, delimiter = (one if isinstance(one, str) else None for one in found)
    return FileOptions(sheet, given.encoding or encoding, given.delimiter or delimiter)


def require_outside_table(table: Any, places: Iterable[Any]) -> None:
    """Refuses to write into a folder that is a table, where the next reader would find an unexpected file.

    Args:
        table: the table.
        places: the files that may be written; other values are ignored.

    Raises:
        UsageError: one of them lies in the folder.
    """
    if not isinstance(table, str | Path) or not Path(table).is_dir():
        return
    folder = Path(table).resolve()
    for place in places:
        if isinstance(place, str | Path) and folder in Path(place).resolve().parents:
            rule = "a folder that is a table may contain only the files of the table"
            raise UsageError(f"{str(place)!r} lies in the folder {str(table)!r}", rule, "choose another folder")


def require_same_plan(plan: AnyPlan, approved: AnyPlan, name: str) -> None:
    """Refuses a plan that differs from the approved one in any fact.

    Args:
        plan: the plan.
        approved: the plan that was approved.
        name: its file, for the message.

    Raises:
        InputError: with a fault for each fact that differs, as it was approved and as it is now. A plan holds public
            facts only: no id, and no cell of a counted column.
    """
    differences = list(plan.differences(approved))
    if not differences:
        return
    where, values = ([part[at] for part in differences[:MOST_FAULTS]] for at in (0, 1))
    rules = [""] * (len(where) - 1) + ["a plan must be carried out exactly as it was approved"]
    hints = [""] * (len(where) - 1) + ["write a new plan under another name and have it approved"]
    rows = zip(where, values, rules, hints, strict=True)
    faults = [Fault("differs:", f"{name}, {place}", value, rule, hint) for place, value, rule, hint in rows]
    raise InputError(faults[0].where if len(differences) == 1 else name, faults, len(differences))


def save_plan(plan: AnyPlan, approved: AnyPlan | None, path: str | Path | None) -> str:
    """Writes the plan, unless the approved one exists; returns a sentence about the file.

    Raises:
        InputError: the file has another plan.
    """
    if path is None:
        return ""
    if approved is not None:
        require_same_plan(plan, approved, str(path))
        return f"this is exactly the plan in {path}, sha256 {approved.digest}"
    with whole_file(Path(path), private=True) as draft, draft.open("w", encoding="utf-8") as file:
        write_json(file, plan.document())
    return f"wrote {path}, sha256 {plan.digest}"
