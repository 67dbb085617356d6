"""From the session to the page: after every change, what is seen and what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import ALL, Input, Output, State, html, no_update

from hetdp.plots.colours import SHADES
from hetdp.problem.parameters import LETTERS
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import Picture, answer_words
from hetdp.studio.layout import offers
from hetdp.studio.state import Session
from hetdp.studio.styles import stylesheet
from hetdp.studio.tabs import connect_tabs
from hetdp.studio.views import AROUND, MAP, NETWORK, WORDS, cells_of, map_figure, summary_figure, views_of

HINT = "Choose a dataset or an edge in the picture, or find a dataset by its name."


def connect_showing(app: Any, session: Session) -> None:
    """Shows everything again when the session has changed."""
    _connect_words(app, session)
    _connect_inspector(app, session)
    _connect_picture(app, session)
    connect_tabs(app, session)


def _connect_words(app: Any, session: Session) -> None:
    @app.callback(  # type: ignore[untyped-decorator]
        Output("title", "children"),
        Output("status", "children"),
        Output("verdict", "className"),
        Output("repair", "hidden"),
        Output("fill", "hidden"),
        Output("objective", "options"),
        Output("objective", "value"),
        Output("objective-words", "children"),
        Output("keep", "disabled"),
        Output("forget", "disabled"),
        Output("undo", "disabled"),
        Output("redo", "disabled"),
        Input("revision", "data"),
        State("objective", "options"),
        State("objective", "value"),
        prevent_initial_call=False,
    )
    def words(_: Any, listed: Any, objective: Any) -> tuple[Any, ...]:
        with session.lock:
            kind, told = panels.status(session)
            found, sheet = session.answer, session.sheet
            options = [{"label": panels.OBJECTIVES[name][0], "value": name} for name in session.objectives]
            return (
                panels.title(session),
                told,
                f"card {kind}",
                found.repair is None,
                not found.unpinned,
                no_update if options == listed else options,
                no_update if objective == sheet.objective else sheet.objective,
                panels.objective_words(session),
                found.mechanism is None or sheet.objective == GIVEN,
                not sheet.pins,
                not session.past,
                not session.future,
            )


def _connect_inspector(app: Any, session: Session) -> None:
    @app.callback(  # type: ignore[untyped-decorator]
        Output("inspect-words", "children"),
        Output("inspect-more", "children"),
        Output("edit-dataset", "hidden"),
        Output("edit-edge", "hidden"),
        Output("release", "hidden"),
        *(Output(f"mover-{name}", "hidden") for name in LETTERS),
        Output({"type": "slider", "name": ALL}, "value"),
        Output({"type": "number", "name": ALL}, "value"),
        Output({"type": "slider", "name": ALL}, "max"),
        Input("revision", "data"),
        State({"type": "slider", "name": ALL}, "id"),
        prevent_initial_call=False,
    )
    def inspector(_: Any, ids: list[dict[str, str]]) -> tuple[Any, ...]:
        with session.lock:
            kind, number = session.selection
            words: list[Any] = [html.P(HINT, className="quiet")]
            more: list[Any] = []
            if kind == "dataset":
                words, more = panels.dataset_words(session), panels.dataset_more(session)
            elif kind == "edge":
                words = panels.edge_words(session)
            values = session.moved()
            known = session.ends.columns if session.ends is not None else {}
            sliders, typed, most = [], [], []
            for one in ids:
                name = one["name"]
                value = values.get(name)
                text = session.typed(name)
                session.sent[f"slider-{name}"] = value
                session.sent[f"number-{name}"] = float(text) if text else None
                here = session.last == f"slider-{name}"
                sliders.append(no_update if value is None or here or value == float("inf") else value)
                typed.append(text)
                large = name != "p" and not name.startswith("delta")
                most.append(
                    max(3.0, 2.0 * value) if large and value not in (None, float("inf")) and not here else no_update
                )
            return (
                words,
                more,
                kind != "dataset",
                kind != "edge",
                number not in session.sheet.pins,
                *(name not in known for name in LETTERS),
                sliders,
                typed,
                most,
            )


def _connect_picture(app: Any, session: Session) -> None:
    picture = Picture()

    @app.callback(  # type: ignore[untyped-decorator]
        Output("view", "options"),
        Output("view", "value"),
        Output("offered", "children"),
        Output("drawn", "data"),
        Input("revision", "data"),
        State("view", "value"),
        State("drawn", "data"),
        prevent_initial_call=False,
    )
    def choices(_: Any, view: str, offered: Any) -> tuple[Any, ...]:
        with session.lock:
            found = views_of(session)
            again = offered == session.sheet.drawn
            chosen = view if view in found and again else found[0]
            if again and chosen == view:
                return no_update, no_update, no_update, no_update
            return (
                [{"label": WORDS[name], "value": name} for name in found],
                chosen,
                offers(session),
                session.sheet.drawn,
            )

    @app.callback(  # type: ignore[untyped-decorator]
        Output("graph", "elements"),
        Output("graph", "stylesheet"),
        Output("graph", "layout"),
        Output("chart", "figure"),
        Output("graph-box", "className"),
        Output("chart-box", "className"),
        Output("key", "children"),
        Input("revision", "data"),
        Input("view", "value"),
        Input("theme", "data"),
        Input("lit", "data"),
        prevent_initial_call=False,
    )
    def draw(revision: int, view: str, theme: str, lit: Any) -> tuple[Any, ...]:
        with session.lock:
            views = views_of(session)
            view = view if view in views else views[0]
            steps = lit[1] if lit and lit[0] == session.revision else None
            if view in (NETWORK, AROUND):
                elements = picture.elements(session, steps)
                drawn = sum("source" not in one["data"] for one in elements)
                layout = {"name": "preset", "fit": True, "padding": 36, "drawn": picture.drawn}
                return elements, stylesheet(theme, drawn), layout, no_update, "", "away", _key(session)
            cells = cells_of(session) if view == MAP else None
            figure = map_figure(session, cells, theme) if cells is not None else summary_figure(session, theme)
            return no_update, no_update, no_update, figure, "away", "", _key(session)


def _key(session: Session) -> list[Any]:
    one, two = answer_words(session.sheet.problem)
    shades = ", ".join(f"{code} {100 * at:g}%" for at, code in SHADES)
    return [
        html.Span([html.I(className="square"), "truly ", html.Bdi(two)]),
        html.Span(html.Bdi(two), className="end"),
        html.I(className="scale", style={"background": f"linear-gradient(90deg, {shades})"}),
        html.Span(html.Bdi(one), className="end"),
        html.Span([html.I(className="circle"), "truly ", html.Bdi(one)]),
        html.Span([html.I(className="ring"), "given"]),
        html.Span([html.I(className="thick"), f"smaller ε{_usual(session)}"]),
        html.Span([html.I(className="litline"), "what binds"]),
    ]


def _usual(session: Session) -> str:
    """The ε that most edges have, which is not written on them."""
    columns = {} if session.ends is None else session.ends.columns
    if "epsilon" not in columns or not len(columns["epsilon"]):
        return ""
    known, counts = np.unique(columns["epsilon"], return_counts=True)
    return f" (most: {known[counts.argmax()]:g})"
