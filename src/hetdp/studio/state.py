"""The state of the studio as a file: the problem with its given values, and what was chosen and changed on the page.

The file is a problem like any other, with one more key, which other doors ignore. The studio opens it again as it was:
objective, selection, list of changes, repaired values, and the people that a problem was made of.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hetdp.errors import HetdpError, UsageError
from hetdp.files.schema import STUDIO
from hetdp.problem.problem import Problem
from hetdp.studio.answers import list_edges, list_objectives
from hetdp.studio.gallery import document_from_form
from hetdp.studio.session import MOST_CHANGES, MOST_UNDO, Change, Document, Selection, Session
from hetdp.studio.what_if import PAIR, SLIDERS, Scope, apply_scope
from hetdp.text import format_value

STATE = "studio.json"
MARK = f'"{STUDIO}"'.encode()
PARTS = 6  # of a form
UNREADABLE = "a state of the studio that cannot be read"
RULE = "the key studio must be as the studio has saved it"
HINT = f"leave out the key {STUDIO}"
LONGEST_NAME = 80  # characters of the name of a problem
LONGEST_CHANGE = 2_000  # characters of a part of a change; the studio writes no longer ones
MOST_EDITS = 10_000  # of which a problem of people is made only of the first


def state_text(session: Session, problem_text: str) -> str:
    """The state of the session as a file.

    Args:
        session: the session.
        problem_text: its problem with the given values, as a file.
    """
    document = session.document
    state: dict[str, Any] = {"name": document.name, "objective": document.objective}
    if session.selection.kind:
        state["selected"] = [*session.selection]
    if document.origin.form:
        state["form"] = [*document.origin.form]
        state["edits"] = [[*scope, repr(value)] for scope, value in document.origin.edits]
    if document.repaired:
        state["repaired"] = [[dataset, *pin] for dataset, pin in document.repaired.items()]
    if document.changes:
        state["changes"] = [[*change] for change in document.changes]
    return json.dumps({STUDIO: state} | json.loads(problem_text), ensure_ascii=False, indent=1) + "\n"


def with_saved_state(document: Document, text: bytes, name: str) -> Document:
    """The document of a file, with the state that the studio has saved in it, if there is one.

    Args:
        document: the document of the problem in the file, as for any problem file.
        text: the file.
        name: its name, for messages.
    """
    found = json.loads(text).get(STUDIO) if MARK in text else None
    return document if found is None else document_of_state(document, found, name)


def document_of_state(document: Document, state: Any, file: str) -> Document:
    """The document of a saved state. Its changes and repairs are what the file says, and are marked as such.

    Args:
        document: the document of the problem in the file, as for any problem file.
        state: the value of the key in the file.
        file: the name of the file, for messages.

    Raises:
        UsageError: the state is not one that the studio has saved.
    """
    problem = document.problem

    def read(key: str, default: Any, make: Callable[[Any], Any]) -> Any:
        """The value of a key of the state."""
        value = state.get(key, default) if isinstance(state, dict) else state
        return _read_value(file, f"{STUDIO}.{key}" if isinstance(state, dict) else STUDIO, value, make)

    def read_each(key: str, most: int, make: Callable[[Any], Any]) -> list[Any]:
        """The entries of a list of the state."""
        found = read(key, [], _require_list)
        if len(found) > most:
            place = f"{STUDIO}.{key} has {len(found):,} entries"
            raise UsageError(f"{file}: {UNREADABLE}: {place}", f"it has at most {most:,}", HINT)
        return [_read_value(file, f"{STUDIO}.{key}[{at}]", one, make) for at, one in enumerate(found)]

    objective = read("objective", None, _require_text)
    name = read("name", None, _require_text)[:LONGEST_NAME]
    selection = read("selected", ["", -1], lambda chosen: Selection(_require_text(chosen[0]), int(chosen[1])))
    changes = tuple(read_each("changes", MOST_CHANGES, _require_change))
    repaired = dict(
        read_each("repaired", problem.graph.size, lambda one: (_require_index(one[0], problem), _require_pin(*one[1:])))
    )
    form = read("form", [], _require_form)
    edits = read_each("edits", MOST_EDITS, lambda edit: _require_edit(*edit))
    problem, origin = _made_of_people(document, form, edits)
    if objective not in list_objectives(problem):
        objective = document.objective
    repaired = {dataset: pin for dataset, pin in repaired.items() if dataset in document.pins}
    found = replace(document, name=name, problem=problem, origin=origin, objective=objective, selected=selection)
    return replace(found, repaired=repaired, changes=changes, stated=len(changes), stated_repairs=repaired)


def _read_value(file: str, place: str, value: Any, make: Callable[[Any], Any]) -> Any:
    """What a function makes of a value in a file.

    Raises:
        UsageError: the function refuses the value; it names the file, the place and the value.
    """
    try:
        return make(value)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise UsageError(f"{file}: {UNREADABLE}: {place} is {format_value(value)}", RULE, HINT) from None


def _made_of_people(document: Document, form: tuple[str, ...], edits: list[tuple[Scope, float]]) -> tuple[Problem, Any]:
    """The problem that the form and the edits describe, if it is the one in the file; otherwise that in the file."""
    if form:
        try:
            made = document_from_form(*form)
            problem, origin = made.problem, made.origin
            for scope, value in edits[:MOST_UNDO]:
                edge_list = list_edges(problem)
                changed = apply_scope(problem, edge_list, scope, value)
                origin, problem = origin.followed_by(problem, edge_list, scope, value), changed
        except (HetdpError, IndexError):
            return document.problem, document.origin
        if problem.identity == document.problem.identity:
            return problem, origin
    return document.problem, document.origin


def _require_edit(kind: Any, at: Any, value: Any) -> tuple[Scope, float]:
    """The edges whose ε were set, and the number."""
    if kind == PAIR:
        one, other = (int(end) for end in at)
        return Scope(PAIR, (one, other)), float(value)
    if kind not in SLIDERS:
        raise ValueError
    return Scope(kind, float(at)), float(value)


def _require_form(value: Any) -> tuple[str, ...]:
    form = tuple(map(_require_text, _require_list(value)))
    if form and len(form) != PARTS:
        raise ValueError
    return form


def _require_change(value: Any) -> Change:
    change = Change(*map(_require_text, _require_list(value)))
    if max(map(len, change)) > LONGEST_CHANGE or not change.what:
        raise ValueError
    return change


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _require_index(value: Any, problem: Problem) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < problem.graph.size:
        raise ValueError
    return value


def _require_pin(kind: Any, value: Any) -> tuple[str, float]:
    if kind not in ("p", "z", "error") or isinstance(value, bool):
        raise ValueError
    number = float(value)
    if number != number or (kind != "z" and not 0.0 <= number <= 1.0):
        raise ValueError
    return kind, number
