"""The file of a plan: read if it is there; where nothing is released, written if it is not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hetdp.errors import UsageError, shown
from hetdp.files.formats.json_form import write_json
from hetdp.files.formats.writing import whole_file
from hetdp.spaces.table.plan import Plan, read_plan

SUFFIX = ".json"


def approved_plan(path: str | Path | None, table: Any, releases: bool = False) -> Plan | None:
    """The plan that was made before, if the file is there; else the place for one is looked at.

    Args:
        path: the file of the plan.
        table: the table, which must not be overwritten.
        releases: whether an answer will be released: then the plan must be there, since nobody could have approved
            one that is not.

    Raises:
        UsageError: there is no such plan, or none can be kept there.
        InputError: the file is there, and is no plan.
    """
    if path is None:
        return None
    if not isinstance(path, str | Path):
        raise UsageError(f"the plan is {shown(path)}", f"it is the name of a {SUFFIX} file")
    place = Path(path)
    if str(path) == "-":
        raise UsageError("--plan -", "a plan is kept in a file, so that it can be approved", "name a .json file")
    if place.suffix.lower() != SUFFIX:
        raise UsageError(f"no format is known for {str(path)!r}", f"the name after --plan ends in {SUFFIX}")
    if isinstance(table, str | Path) and place.absolute() == Path(table).absolute():
        rule = "an input is never overwritten"
        raise UsageError(f"--plan {path} would replace what is read from {table}", rule, "choose another name")
    if releases and not place.exists():
        rule = "with a ledger, a plan is carried out that was written and approved before"
        hint = "check the name; --dry-run instead of the release writes a new plan, for somebody to approve"
        raise UsageError(f"there is no plan {str(path)!r}", rule, hint)
    if not place.absolute().parent.is_dir():
        raise UsageError(f"cannot write {str(path)!r}", f"{str(place.parent)!r} is no folder")
    return read_plan(place) if place.exists() else None


def sheet_of(plan: Plan | None) -> str | None:
    """The table within an SQLite file that a plan names, if it does."""
    named = None if plan is None else plan.facts["table"]
    found = named.get("table") if isinstance(named, dict) else None
    return found if isinstance(found, str) else None


def require_apart(table: Any, places: Iterable[Any]) -> None:
    """Refuses to write among the files of a table that is a folder: the next reader would find a stranger there.

    Args:
        table: the table.
        places: what may be written: names of files; others are passed over.

    Raises:
        UsageError: one of them lies in the folder.
    """
    if not isinstance(table, str | Path) or not Path(table).is_dir():
        return
    folder = Path(table).resolve()
    for place in places:
        if isinstance(place, str | Path) and folder in Path(place).resolve().parents:
            rule = "a folder that is a table holds the files of the table, and nothing else"
            raise UsageError(f"{str(place)!r} lies in the folder {str(table)!r}", rule, "choose another folder")


def kept(plan: Plan, approved: Plan | None, path: str | Path | None) -> str:
    """Writes the plan, unless it is there already; says what became of it.

    Raises:
        InputError: another plan is there.
    """
    if path is None:
        return ""
    if approved is not None:
        plan.require_same(approved, str(path))
        return f"this is exactly the plan in {path}, sha256 {approved.digest}"
    with whole_file(Path(path), private=True) as draft, draft.open("w", encoding="utf-8") as file:
        write_json(file, plan.document())
    return f"wrote {path}, sha256 {plan.digest}"
