"""From the page to the session: what a person does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import ALL, Input, Output, ctx, no_update

from hetdp.errors import UsageError
from hetdp.studio.drawing import first_of
from hetdp.studio.numbers import number_of
from hetdp.studio.showing import NUMBER, SLIDER, Screen
from hetdp.studio.state import Session
from hetdp.studio.views import cells_of

DATASET, EDGE = "dataset", "edge"


def connect_actions(app: Any, session: Session, screen: Screen) -> None:
    """Lets buttons, the picture, and everything that can be moved act on the session."""
    _connect_buttons(session, screen)
    _connect_looking(app, session, screen)
    _connect_moving(session, screen)


def _connect_buttons(session: Session, screen: Screen) -> None:
    actions: dict[str, Callable[[], None]] = {
        "undo": session.undo,
        "redo": session.redo,
        "repair": session.apply_repair,
        "fill": session.keep_values,
        "keep": session.keep_values,
        "forget": session.clear_pins,
        "release": lambda: session.clear_pin(_subject()[1]),
    }

    def press(*clicks: Any) -> bool:
        if not any(clicks) or ctx.triggered_id not in actions:
            return False
        actions[ctx.triggered_id]()
        return True

    def choose(objective: Any) -> bool:
        if not isinstance(objective, str) or objective == session.sheet.objective:
            return False
        session.set_objective(objective)
        return True

    screen.after(press, *(Input(name, "n_clicks") for name in actions))
    screen.after(choose, Input("objective", "value"))


def _connect_looking(app: Any, session: Session, screen: Screen) -> None:
    def look(node: Any, edge: Any, cell: Any, *_: Any) -> bool:
        given = [one for one in ctx.triggered if one["value"]]
        if not given:
            return False
        last = max(given, key=lambda one: one["prop_id"] != "find.value")  # a key may follow on what was typed at once
        source, value = ctx.triggered_prop_ids[last["prop_id"]], last["value"]
        if source == "graph":
            is_node = last["prop_id"].endswith("tapNode")
            session.select(DATASET if is_node else EDGE, _number((node if is_node else edge)["data"]["at"]))
        elif source == "chart":
            cells = cells_of(session)
            point = cell["points"][0]
            if cells is None:
                return False
            session.select(DATASET, cells.dataset(float(point["x"]), float(point["y"])))
        elif source == "pointed":
            return _point(session, value)
        elif source == "find":
            _find(session, str(value))
        else:
            session.select(source["type"], _number(source["at"]))
        return True

    screen.after(
        look,
        Input("graph", "tapNode"),
        Input("graph", "tapEdge"),
        Input("chart", "clickData"),
        Input("pointed", "data"),
        Input({"type": DATASET, "at": ALL}, "n_clicks"),
        Input({"type": EDGE, "at": ALL}, "n_clicks"),
        Input("find", "value"),
    )

    @app.callback(  # type: ignore[untyped-decorator]
        Output("lit", "data"), Input({"type": "step", "at": ALL}, "n_clicks")
    )
    def light(clicks: Any) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        return [session.revision, _number(ctx.triggered_id["at"])]


def _point(session: Session, pointed: Any) -> bool:
    """What keys have chosen: a dataset, an edge, or the next cell of a map."""
    kind, at, _ = pointed
    if kind != "cell":
        session.select(kind, _number(at))
        return True
    cells = cells_of(session)
    if cells is None:
        return False
    across, up = at
    here = session.selection.number if session.selection.kind == DATASET else None
    session.select(DATASET, first_of(session) if here is None else cells.next_to(here, _number(across), _number(up)))
    return True


def _find(session: Session, text: str) -> None:
    found = session.find(text)
    if found is None:
        session.refuse(f"There is no dataset “{text[:80]}”.")
    else:
        session.select(DATASET, found)


def _connect_moving(session: Session, screen: Screen) -> None:
    def move(*_: Any) -> bool:
        before, undone = session.revision, False
        for given in ctx.triggered:
            one = ctx.triggered_prop_ids[given["prop_id"]]
            if given["value"] is not None:
                undone |= _moved(session, one["type"], one["name"], given["value"])
        return undone or session.revision != before

    screen.after(move, Input(SLIDER, "value"), Input(NUMBER, "value"))


def _moved(session: Session, control: str, name: str, value: Any) -> bool:
    """Takes a number from a control, unless it is the one that the page was told: then nobody has moved it.

    It is meant for what the page shows beside the control, whatever has been chosen meanwhile.

    Returns:
        Whether the control shows something else than what is on the table.
    """
    kind, at, told = _subject()
    key = f"{control}-{name}"
    here = (kind, at) == session.selection
    entered = control == "number" and here and str(value) != session.typed(name)  # and not what the page was sent
    if entered:
        session.notice = ""  # it was about an entry before
    if not str(value).strip():
        return entered or told.get(key) is not None  # nothing is meant by an empty field: what it had comes back
    try:
        number = number_of(str(value))
    except UsageError as refusal:
        session.refuse(str(refusal))
        return True
    if number == told.get(key):
        return entered
    by = key if control == "slider" and here else ""
    if name == "p" and kind == DATASET:
        session.set_pin(at, number, by)
    elif kind == EDGE:
        session.set_parameter(at, name, number, by)
    return control == "number" and str(value) != session.typed(name)


def _subject() -> tuple[str, int, dict[str, float | None]]:
    """What the page shows: a dataset or an edge, its number, and what stood in the controls."""
    kind, number, told = ctx.states.get("subject.data") or ("", -1, {})
    return kind, _number(number), told


def _number(value: Any) -> int:
    return value if isinstance(value, int) else -1
