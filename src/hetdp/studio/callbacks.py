"""The callbacks of the page: actions, tabs, opening, saving, and what the browser does alone.

`take_action` runs one action of a person on the session; the screen calls it for every new one in a page's queue. The
other callbacks fill the tabs, open problems, and save files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from dash import ALL, ClientsideFunction, Input, Output, State, ctx, html, no_update
from flask import request

from hetdp.errors import HetdpError, UsageError
from hetdp.mechanism.accuracy.report import accuracy
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.odds import edge_odds
from hetdp.numbers import parse_typed
from hetdp.problem.problem import Problem
from hetdp.studio import export
from hetdp.studio.answers import GIVEN, choose_engine
from hetdp.studio.drawing import first_dataset
from hetdp.studio.export import code_lines
from hetdp.studio.gallery import GALLERY, document_from_form
from hetdp.studio.glossary import OBJECTIVES
from hetdp.studio.layout import TABS, WAYS
from hetdp.studio.panels import accuracy_table, change_list, odds_list, scope_rows
from hetdp.studio.screen import Screen
from hetdp.studio.session import Document, PageView, Session
from hetdp.studio.state import STATE, state_text
from hetdp.studio.story import begin_tour, present
from hetdp.studio.uploads import document_from_files
from hetdp.studio.views import cells_of, dataset_near
from hetdp.studio.what_if import SLIDERS, Scope, unprotected_classes
from hetdp.text import escape_unprintable

DATASET, EDGE = "dataset", "edge"


def take_action(session: Session, name: str, details: Any) -> None:
    """Runs one action of a person on the session.

    Args:
        session: the session.
        name: the name of the action.
        details: its arguments: a number, a text, or several of them; None for most buttons.
    """
    buttons: dict[str, Callable[[], None]] = {
        "undo": session.undo,
        "redo": session.redo,
        "repair": session.apply_repair,
        "fill": session.keep_values,
        "keep": session.keep_values,
        "forget": session.clear_pins,
        "begin": session.begin,
        "tour": lambda: begin_tour(session),
    }
    numbered: dict[str, Callable[[int], None]] = {
        "clear_pin": session.clear_pin,
        "reopen": session.reopen,
        "present": lambda number: present(session, number),
    }
    if name in buttons:
        buttons[name]()
    elif name in numbered:
        numbered[name](_number(details))
    elif name in ACTIONS:
        ACTIONS[name](session, details)


def _find(session: Session, text: str) -> None:
    found = session.find_dataset(text)
    if found is None:
        session.refuse(f"There is no dataset “{text[:80]}”.")
    else:
        session.select(DATASET, found)


def _select_cell(session: Session, name: str, across: Any, up: Any) -> None:
    """Selects a cell of a map: the one that was clicked, or the next one in a direction."""
    cells = cells_of(session)
    if cells is None:
        return
    here = session.selection.number if session.selection.kind == DATASET else None
    if name == "cell":
        session.select(DATASET, cells.dataset(float(across), float(up)))
    elif here is None:
        session.select(DATASET, first_dataset(session))
    else:
        session.select(DATASET, cells.next_to(here, _number(across), _number(up)))


def _select_near(session: Session, across: Any, up: Any) -> None:
    """Selects the dataset nearest to a place of the summary."""
    found = dataset_near(session, float(across), float(up))
    if found is not None:
        session.select(DATASET, found)


def _enter(session: Session, kind: str, at: int, control: str, name: str, value: Any) -> None:
    """Takes a number from a slider or a text field.

    Args:
        session: the session.
        kind: "dataset" or "edge", as the page shows it beside the control; another page may have selected another.
        at: its index.
        control: "slider" or "number", the text field.
        name: the name of a parameter, or p.
        value: the text that was entered. An empty one is ignored, and the field shows the old number again.
    """
    here = (kind, at) == session.selection
    if control == "number" and here:
        session.notice = ""  # it was about an earlier entry
    if not str(value).strip():
        return
    try:
        number = parse_typed(str(value))
    except UsageError as refusal:
        session.refuse(str(refusal))
        return
    by = f"{control}-{name}" if control == "slider" and here else ""
    if kind == DATASET and name == "p":
        if not (here and control == "number" and str(value).strip() == session.field_text("p")):
            session.set_pin(_number(at), number, by, control == "slider")
    elif kind == EDGE:
        session.set_parameter(_number(at), name, number, by, control == "slider")


def _set_scope(session: Session, kind: str, at: Any, control: str, value: Any) -> None:
    """Takes a number for all edges of a scope; an empty one is ignored."""
    session.notice = ""
    if not str(value).strip() or kind not in SLIDERS:
        return
    try:
        number, place = parse_typed(str(value)), float(at)
    except (UsageError, TypeError, ValueError) as refusal:
        session.refuse(str(refusal))
        return
    session.set_scope(Scope(kind, place), number, control == "slider")


def _number(value: Any) -> int:
    return value if isinstance(value, int) else -1


ACTIONS: dict[str, Callable[[Session, Any], None]] = {
    "objective": lambda session, details: session.set_objective(str(details)),
    DATASET: lambda session, details: session.select(DATASET, _number(details)),
    EDGE: lambda session, details: session.select(EDGE, _number(details)),
    "find": lambda session, details: _find(session, str(details)),
    "column": lambda session, details: _select_near(session, *details),
    "cell": lambda session, details: _select_cell(session, "cell", *details),
    "next_cell": lambda session, details: _select_cell(session, "next_cell", *details),
    "enter": lambda session, details: _enter(session, **details),
    "scope": lambda session, details: _set_scope(session, **details),
    "compare": lambda session, details: session.set_comparison(str(details)),
}


def connect_tabs(app: Any, session: Session) -> None:
    """Fills the tab that is open when the page asks for it; some take long, so the others wait."""

    @app.callback(  # type: ignore[untyped-decorator]
        output={
            "accuracy": Output("accuracy", "children"),
            "odds": Output("odds", "children"),
            "changes": Output("changes", "children"),
            "scopes": Output("scopes", "data"),
            "python": Output("lines-python", "children"),
            "shell": Output("lines-shell", "children"),
            "filled": Output("tab-filled", "data"),
        },
        inputs={"request": Input("tab-request", "data")},
    )
    def fill(request: Any) -> Any:
        return {
            **dict.fromkeys(("accuracy", "odds", "changes", "scopes", "python", "shell"), no_update),
            **_fill_tab(session, request[0]),
            "filled": request,
        }


def _fill_tab(session: Session, name: str) -> dict[str, Any]:
    """The contents of a tab."""
    with session.lock:
        problem, found = session.document.problem, session.answer.mechanism
        if name == "what-if":
            return {"scopes": scope_rows(session)}
        if name == "changes":
            return {name: change_list(session)}
        if name == "export":
            return code_lines(session.document, session.answer)._asdict()
        free = unprotected_classes(problem, session.edge_list)
    if found is None:
        return {name: html.P("There is no mechanism.", className="quiet")}
    try:
        return {
            name: _compare(problem, found)
            if name == "accuracy"
            else odds_list([*edge_odds(problem, found).values()], free)
        }
    except HetdpError as refusal:
        return {name: html.P(escape_unprintable(str(refusal)), className="quiet")}


def _compare(problem: Problem, found: LocalMechanism) -> Any:
    name = "extension of given values" if found.objective == GIVEN else OBJECTIVES[found.objective][0].lower()
    return accuracy_table(accuracy(problem, {name: found}, engine=choose_engine(problem)))


FIELDS = ("people", "at-least", "epsilon", "deciding", "values")


def connect_opening(app: Any, session: Session) -> None:
    """Opens another problem: from the gallery, from files, or from a form."""
    done = (
        Output("refresh", "data", allow_duplicate=True),
        Output("opened", "data", allow_duplicate=True),
        Output("refused", "children", allow_duplicate=True),
        Output("find", "value", allow_duplicate=True),
    )

    @app.callback(*done, Input({"type": "gallery", "key": ALL}, "n_clicks"))  # type: ignore[untyped-decorator]
    def from_gallery(clicks: Any) -> Any:
        key = ctx.triggered_id["key"] if isinstance(ctx.triggered_id, dict) else ""
        if not any(clicks) or key not in GALLERY:
            return no_update, no_update, no_update, no_update
        return _open(session, GALLERY[key].make)

    @app.callback(  # type: ignore[untyped-decorator]
        *done,
        Output("upload", "contents"),  # emptied, so that the same file can be opened again
        Input("upload", "contents"),
        State("upload", "filename"),
    )
    def from_files(contents: Any, names: Any) -> Any:
        if not contents or not names:
            return no_update, no_update, no_update, no_update, no_update
        return *_open(session, lambda: document_from_files(list(names), list(contents))), None

    @app.callback(  # type: ignore[untyped-decorator]
        *done, Input("make", "n_clicks"), State("space", "value"), *(State(f"form-{name}", "value") for name in FIELDS)
    )
    def from_form(clicks: Any, space: Any, *values: Any) -> Any:
        if not clicks:
            return no_update, no_update, no_update, no_update
        return _open(session, lambda: document_from_form(str(space), *(str(value or "") for value in values)))


def _open(session: Session, make: Callable[[], Document]) -> Any:
    try:
        session.open(make())
    except HetdpError as refusal:
        return no_update, no_update, escape_unprintable(str(refusal))[:2000], no_update
    return session.revision, session.revision, "", ""


UNSEEN = (
    "Nothing was saved, because another page of this studio has changed the problem meanwhile. This page now shows"
    " that change. Check it, then save again."
)


def connect_saving(app: Any, session: Session) -> None:
    """Saves the problem, the mechanism, a picture or a script as a download."""
    ways: dict[str, tuple[str, Callable[[], str]]] = {
        "problem": (export.PROBLEM, lambda: export.problem_text(session)),
        "pins": (export.PINS, lambda: export.pins_text(session)),
        "state": (STATE, lambda: state_text(session, export.problem_text(session))),
        "mechanism": (export.MECHANISM, lambda: export.mechanism_text(session)),
        "svg": (export.PICTURE, lambda: export.picture_text(session)),
        "script": (export.SCRIPT, lambda: export.code_lines(session.document, session.answer).python),
    }
    for name, (filename, text) in ways.items():
        _connect_save(app, session, name, filename, text)
    _connect_link(app, session)
    app.clientside_callback(  # only the browser knows the current view
        ClientsideFunction("studio", "photograph"), Output("graph", "generateImage"), Input("save-png", "n_clicks")
    )


def _connect_link(app: Any, session: Session) -> None:
    """Stores the current state, and makes a link to it. What follows # stays in the browser."""

    @app.callback(  # type: ignore[untyped-decorator]
        Output("link", "value"),
        Output("link-box", "hidden"),
        Input("bookmark", "n_clicks"),
        State("view", "value"),
        State("tab", "value"),
    )
    def make_link(clicks: Any, view: Any, tab: Any) -> Any:
        if not clicks:
            return no_update, no_update
        address = request.host_url + app.config.requests_pathname_prefix.lstrip("/")
        return f"{address}#state={session.bookmark()}&view={quote(str(view))}&tab={quote(str(tab))}", False

    app.clientside_callback(
        ClientsideFunction("keep", "copyLink"),
        Output("saved", "children", allow_duplicate=True),
        Input("link", "value"),
    )


def _connect_save(app: Any, session: Session, name: str, filename: str, text: Callable[[], str]) -> None:
    """Connects one button, alone: Dash drops the answer of a callback that is asked again before it has answered."""

    @app.callback(  # type: ignore[untyped-decorator]
        Output(f"download-{name}", "data"),
        Output("saved", "children", allow_duplicate=True),
        Output("refresh", "data", allow_duplicate=True),
        Input(f"save-{name}", "n_clicks"),
        State("page", "data"),
        State("shown", "data"),
    )
    def save(clicks: Any, page: Any, shown: Any) -> Any:
        if not clicks:
            return no_update, no_update, no_update
        try:
            with session.lock:
                if not session.is_seen(PageView(page or "a page", shown or 0, 0)):
                    return no_update, UNSEEN, session.revision  # the page then shows the change
                return {"content": text(), "filename": filename, "type": "text/plain"}, "", no_update
        except HetdpError as refusal:
            return no_update, escape_unprintable(str(refusal))[:600], no_update


def connect(app: Any, session: Session) -> None:
    """Connects an application to a session."""
    Screen(app, session, take_action).connect()
    connect_tabs(app, session)
    connect_opening(app, session)
    connect_saving(app, session)
    _connect_page(app)


def _connect_page(app: Any) -> None:
    """Connects what needs no server: the queue of actions, light and dark, tabs, and the dialog."""
    app.clientside_callback(
        ClientsideFunction("studio", "theme"),
        Output("theme", "data"),
        Input("night", "n_clicks"),
        State("theme", "data"),
        prevent_initial_call=False,
    )
    app.clientside_callback(
        ClientsideFunction("studio", "still"),
        Output("still", "data"),
        Input("page", "data"),
        prevent_initial_call=False,
    )
    app.clientside_callback(ClientsideFunction("studio", "requestTab"), Input("tab", "value"))
    app.clientside_callback(ClientsideFunction("studio", "showScopes"), Input("scopes", "data"))
    app.clientside_callback(ClientsideFunction("studio", "acknowledgeTab"), Input("tab-filled", "data"))
    app.clientside_callback(
        ClientsideFunction("studio", "only"),
        [Output(f"tab-{name}", "hidden") for name in TABS],
        Input("tab", "value"),
    )
    app.clientside_callback(
        ClientsideFunction("studio", "only"),
        [Output(f"way-{name}", "hidden") for name in WAYS],
        Input("way", "value"),
    )
    app.clientside_callback(
        ClientsideFunction("studio", "dialog"),
        Output("shade", "hidden"),
        Input("open", "n_clicks"),
        Input("close", "n_clicks"),
        Input("opened", "data"),
    )
