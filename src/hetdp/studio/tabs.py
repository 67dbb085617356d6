"""The tabs beside the picture: each is filled only while it is looked at, since some of them take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import Input, Output, html, no_update

from hetdp.errors import HetdpError, printable
from hetdp.mechanism.accuracy.report import accuracy
from hetdp.mechanism.mechanism import Mechanism
from hetdp.mechanism.odds import odds
from hetdp.problem.problem import Problem
from hetdp.studio.answers import GIVEN, engine_of
from hetdp.studio.export import lines
from hetdp.studio.panels import OBJECTIVES
from hetdp.studio.state import Session
from hetdp.studio.tables import accuracy_table, odds_list


def connect_tabs(app: Any, session: Session) -> None:
    """Fills the tab that is looked at."""
    _connect(app, session, "accuracy", _compared)
    _connect(app, session, "odds", lambda problem, found: odds_list(odds(problem, found)))

    @app.callback(  # type: ignore[untyped-decorator]
        Output("lines-python", "children"),
        Output("lines-shell", "children"),
        Input("looked", "data"),
    )
    def write(looked: Any) -> Any:
        if looked[0] != "export":
            return no_update, no_update
        with session.lock:
            return tuple(lines(session.sheet, session.answer))


def _connect(app: Any, session: Session, name: str, content: Callable[[Problem, Mechanism], Any]) -> None:
    @app.callback(  # type: ignore[untyped-decorator]
        Output(name, "children"), Input("looked", "data")
    )
    def fill(looked: Any) -> Any:
        if looked[0] != name:
            return no_update
        with session.lock:
            problem, found = session.sheet.problem, session.answer.mechanism
        if found is None:
            return html.P("There is no mechanism to speak of.", className="quiet")
        try:
            return content(problem, found)
        except HetdpError as refusal:
            return html.P(printable(str(refusal)), className="quiet")


def _compared(problem: Problem, found: Mechanism) -> Any:
    name = "given values, extended" if found.objective == GIVEN else OBJECTIVES[found.objective][0].lower()
    return accuracy_table(accuracy(problem, {name: found}, engine=engine_of(problem)))
