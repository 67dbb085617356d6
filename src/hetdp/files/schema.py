"""The keys and columns of problem, pin and mechanism files, their schema version, and checks of columns and notions."""

from __future__ import annotations

from typing import Any

from hetdp.errors import SHOWN_LINES, Fault, FaultCollector
from hetdp.mechanism.mechanism import BINDING
from hetdp.problem.parameters import COLUMNS
from hetdp.text import closest, did_you_mean, format_value
from hetdp.theory.catalogue import NAMES, NAMES_RULE, SETTINGS, fault_of_settings, notion_with
from hetdp.theory.notion import Notion
from hetdp.theory.pure import PURE

VERSION = 1
ENDS = ("source", "target")
EDGE_COLUMNS = (*ENDS, *COLUMNS, "class")
DATASET_COLUMNS = ("dataset", "query", "p", "z", "error", "weight")
MECHANISM_COLUMNS = ("dataset", "query", "p", "z", "error", "pinned", BINDING, "given")
VALUES = ("z", "error", "p")  # from the one that keeps most to the one that keeps least
PIN_COLUMNS = ("dataset", "p", "z", "error")
STUDIO = "studio"  # what was chosen on the page of the studio, which reads it; other doors ignore it
PROBLEM_KEYS = (
    *("schema_version", "kind", "notion", *SETTINGS, "grid", "positive", "about", "labels", "classes"),
    *(STUDIO, "datasets", "edges"),
)
MECHANISM_KEYS = (
    *("schema_version", "verb", "kind", "notion", *SETTINGS, "coordinate", "objective", "objective_gap", "moved"),
    "worse_than_coin",
    *("counts", "problem", "certificate", "software", "labels", "table_sha256", "datasets"),
)
NUMBERS = frozenset({*COLUMNS, "p", "z", "error", "weight"})
LABELS = frozenset({"dataset", *ENDS, BINDING})
TEXT, INTEGER, JSON = "text", "integer", "json"  # what the labels in a column are; JSON holds any, as its text
PANDAS_PREFIXES = ("__index_level_", "Unnamed: ")
PANDAS_HINT = "pandas writes its index as a column; index=False leaves it out"
LABEL_RULE = "a label is text, a finite number, or a list or tuple of these"
CLASS_RULE = "a class is text, a finite number, or a tuple of these"


def require_columns(
    found: list[str],
    needed: tuple[str, ...],
    known: tuple[str, ...],
    place: str,
    findings: FaultCollector,
    notion: str = "",
) -> None:
    """Refuses a table that lacks a column, or has a column that would be ignored, such as one of another notion."""
    meant = set()
    for name in needed:
        if name not in found:
            others = [other for other in found if other not in known]
            close = closest(name, others)
            meant |= {*close}
            rule = f"{', '.join(needed)} {'is' if len(needed) == 1 else 'are'} required"
            hint = f"rename {format_value(close[0])} to {name}" if close else ""
            findings.add(Fault("missing column", place, name, rule, hint))
    for name in [name for name in found if name not in meant][:SHOWN_LINES]:
        if notion and name in COLUMNS and name not in known:
            rule = f"the notion {notion!r} has no such parameter; the columns are {', '.join(known)}"
            findings.add(Fault("a column that would be ignored:", place, name, rule))
        elif name not in known:
            rule = f"the columns are {', '.join(known)}"
            hint = PANDAS_HINT if name.startswith(PANDAS_PREFIXES) or not name else did_you_mean(name, list(known))
            findings.add(Fault("unknown column", place, format_value(name), rule, hint))


def require_notion(meta: dict[str, Any], place: str, findings: FaultCollector) -> None:
    """Refuses an unknown notion, missing and unknown settings, and a coordinate that does not belong to the notion."""
    if "notion" in meta and meta["notion"] not in list(NAMES):
        hint = did_you_mean(meta["notion"], NAMES) if isinstance(meta["notion"], str) else ""
        findings.add(Fault("unknown notion", f"{place}, notion", format_value(meta["notion"]), NAMES_RULE, hint))
        return
    wrong = fault_of_settings(meta.get("notion", PURE.name), settings_in(meta))
    if wrong is not None:
        what, rule = wrong
        findings.add(Fault(what, f"{place}, notion", "", rule))
    elif "notion" in meta and "coordinate" in meta:
        name = stated_notion(meta).coordinate.name
        if meta["coordinate"] != name:
            rule = f"the notion {meta['notion']!r} has the coordinate {name!r}"
            findings.add(Fault("another coordinate", f"{place}, coordinate", format_value(meta["coordinate"]), rule))


def settings_in(meta: dict[str, Any]) -> dict[str, Any]:
    """The settings of the whole problem that a file states."""
    return {name: meta[name] for name in SETTINGS if name in meta}


def stated_notion(meta: dict[str, Any]) -> Notion:
    """The notion that a file names, after `require_notion`."""
    return notion_with(meta["notion"], settings_in(meta))


def notion_words(notion: Notion) -> dict[str, Any]:
    """The notion of a file as metadata: its name and its settings."""
    return {"notion": notion.name, **dict(notion.settings)}
