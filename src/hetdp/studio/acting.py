"""From the page to the session: what a person does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import ALL, Input, Output, ctx, no_update

from hetdp.studio.state import Session
from hetdp.studio.views import cells_of

DATASET, EDGE = "dataset", "edge"


def connect_actions(app: Any, session: Session) -> None:
    """Lets buttons, the picture, and everything that can be moved act on the session."""
    _connect_buttons(app, session)
    _connect_looking(app, session)
    _connect_moving(app, session)


def _connect_buttons(app: Any, session: Session) -> None:
    actions: dict[str, Callable[[], None]] = {
        "undo": session.undo,
        "redo": session.redo,
        "repair": session.apply_repair,
        "fill": session.keep_values,
        "keep": session.keep_values,
        "forget": session.clear_pins,
        "release": lambda: session.clear_pin(session.selection.number),
    }

    @app.callback(  # type: ignore[untyped-decorator]
        Output("revision", "data", allow_duplicate=True), *(Input(name, "n_clicks") for name in actions)
    )
    def press(*clicks: Any) -> Any:
        if not any(clicks) or ctx.triggered_id not in actions:
            return no_update
        actions[ctx.triggered_id]()
        return session.revision

    @app.callback(  # type: ignore[untyped-decorator]
        Output("revision", "data", allow_duplicate=True), Input("objective", "value")
    )
    def choose(objective: Any) -> Any:
        if not isinstance(objective, str) or objective == session.sheet.objective:
            return no_update
        session.set_objective(objective)
        return session.revision


def _connect_looking(app: Any, session: Session) -> None:
    @app.callback(  # type: ignore[untyped-decorator]
        Output("revision", "data", allow_duplicate=True),
        Input("graph", "tapNode"),
        Input("graph", "tapEdge"),
        Input("chart", "clickData"),
        Input({"type": DATASET, "at": ALL}, "n_clicks"),
        Input({"type": EDGE, "at": ALL}, "n_clicks"),
        Input("find", "value"),
    )
    def look(node: Any, edge: Any, cell: Any, *_: Any) -> Any:
        source = ctx.triggered_id
        value = ctx.triggered[0]["value"] if ctx.triggered else None
        if not value:
            return no_update
        if source == "graph":
            is_node = ctx.triggered[0]["prop_id"].endswith("tapNode")
            session.select(DATASET if is_node else EDGE, _number((node if is_node else edge)["data"]["at"]))
        elif source == "chart":
            cells = cells_of(session)
            point = cell["points"][0]
            if cells is None:
                return no_update
            session.select(DATASET, cells.dataset(float(point["x"]), float(point["y"])))
        elif source == "find":
            _find(session, str(value))
        else:
            session.select(source["type"], _number(source["at"]))
        return session.revision

    @app.callback(  # type: ignore[untyped-decorator]
        Output("lit", "data"), Input({"type": "step", "at": ALL}, "n_clicks")
    )
    def light(clicks: Any) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        return [session.revision, _number(ctx.triggered_id["at"])]


def _find(session: Session, text: str) -> None:
    found = session.find(text)
    if found is None:
        session.refuse(f"There is no dataset “{text[:80]}”.")
    else:
        session.select(DATASET, found)


def _connect_moving(app: Any, session: Session) -> None:
    @app.callback(  # type: ignore[untyped-decorator]
        Output("revision", "data", allow_duplicate=True),
        Input({"type": "slider", "name": ALL}, "value"),
        Input({"type": "number", "name": ALL}, "value"),
    )
    def move(*_: Any) -> Any:
        before = session.revision
        for one in ctx.triggered_prop_ids.values() if ctx.triggered_prop_ids else ():
            given = next(
                (
                    each
                    for group in ctx.inputs_list
                    for each in group
                    if each["id"] == one and each.get("value") is not None
                ),
                None,
            )
            if given is not None:
                _moved(session, one["type"], one["name"], given["value"])
        return no_update if session.revision == before else session.revision


def _moved(session: Session, control: str, name: str, value: Any) -> None:
    """Takes a number from a control, unless it is the one that was just written there."""
    with session.lock:
        key = f"{control}-{name}"
        number = _real(value)
        if number is None:
            if str(value).strip():
                session.refuse(f"“{str(value)[:40]}” is no number.")
            return
        if number == session.sent.get(key):
            return
        session.sent[key] = number
        by = key if control == "slider" else ""
        if name == "p" and session.selection.kind == DATASET:
            session.set_pin(session.selection.number, number, by)
        elif session.selection.kind == EDGE:
            session.set_parameter(session.selection.number, name, number, by)


def _real(value: Any) -> float | None:
    try:
        number = float(str(value).strip().replace(",", ".").replace("∞", "inf"))
    except ValueError:
        return None
    return None if number != number else number


def _number(value: Any) -> int:
    return value if isinstance(value, int) else -1
