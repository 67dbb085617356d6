"""What joins the page and the session: everything that a person can do, and everything that is shown."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State

from hetdp.studio.acting import connect_actions
from hetdp.studio.dialog import WAYS
from hetdp.studio.layout import TABS
from hetdp.studio.opening_page import connect_opening
from hetdp.studio.saving import connect_saving
from hetdp.studio.showing import Screen
from hetdp.studio.state import Session
from hetdp.studio.tabs import connect_tabs


def connect(app: Any, session: Session) -> None:
    """Joins an application and a session."""
    screen = Screen(app, session)
    screen.connect()
    connect_actions(app, session, screen)
    connect_tabs(app, session)
    connect_opening(app, session)
    connect_saving(app, session)
    _connect_page(app)


def _connect_page(app: Any) -> None:
    """What needs no server: light and dark, tabs, and the dialog."""
    app.clientside_callback(
        ClientsideFunction("studio", "theme"),
        Output("theme", "data"),
        Input("night", "n_clicks"),
        State("theme", "data"),
        prevent_initial_call=False,
    )
    app.clientside_callback(
        ClientsideFunction("studio", "looked"),
        Output("looked", "data"),
        Input("tab", "value"),
        Input("told", "data"),
    )
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
        Input("done", "data"),
    )
