"""The state of the studio as a file: the problem with its given values, and what was chosen and changed on the page.

The file is a problem like any other, with one more key, which other doors ignore. The studio opens it again as it was:
objective, selection, list of changes, repaired values, and the people that a problem was made of.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hetdp.errors import HetdpError, UsageError
from hetdp.files.schema import STUDIO
from hetdp.problem.problem import Problem
from hetdp.studio.answers import list_edges, list_objectives
from hetdp.studio.gallery import document_from_form
from hetdp.studio.session import MOST_UNDO, Change, Document, Selection, Session
from hetdp.studio.what_if import PAIR, SLIDERS, Scope, apply_scope

STATE = "studio.json"
MARK = f'"{STUDIO}"'.encode()
PARTS = 6  # of a form
RULE = "the key studio must be as the studio has saved it"


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


def with_saved_state(document: Document, text: bytes) -> Document:
    """The document of a file, with the state that the studio has saved in it, if there is one."""
    found = json.loads(text).get(STUDIO) if MARK in text else None
    return document if found is None else document_of_state(document, found)


def document_of_state(document: Document, state: Any) -> Document:
    """The document of a saved state.

    Args:
        document: the document of the problem in the file, as for any problem file.
        state: the value of the key in the file.

    Raises:
        UsageError: the state is not one that the studio has saved.
    """
    try:
        objective, chosen = _require_text(state["objective"]), state.get("selected", ["", -1])
        changes = tuple(Change(*map(_require_text, _require_list(one))) for one in state.get("changes", []))
        repaired = {
            _require_index(one[0], document.problem): _require_pin(*one[1:]) for one in state.get("repaired", [])
        }
        form = tuple(map(_require_text, state.get("form", [])))
        edits = [_require_edit(*edit) for edit in state.get("edits", [])]
        selection = Selection(_require_text(chosen[0]), int(chosen[1]))
        name = _require_text(state["name"])[:80]
        if form and len(form) != PARTS:
            raise ValueError
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise UsageError("a state of the studio that cannot be read", RULE, f"leave out the key {STUDIO}") from None
    problem, origin = _made_of_people(document, form, edits)
    if objective not in list_objectives(problem):
        objective = document.objective
    repaired = {dataset: pin for dataset, pin in repaired.items() if dataset in document.pins}
    found = replace(document, name=name, problem=problem, origin=origin, objective=objective)
    return replace(found, repaired=repaired, changes=changes, selected=selection)


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
