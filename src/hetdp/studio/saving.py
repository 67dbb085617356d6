"""What can be saved from the page; the browser asks where to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import ClientsideFunction, Input, Output, State, ctx, no_update

from hetdp.errors import HetdpError, printable
from hetdp.studio import export
from hetdp.studio.state import Session
from hetdp.studio.visitors import Visit

UNSEEN = (
    "Nothing was saved: another page of this studio has changed what is on the table. This page shows it now; please"
    " look, and save again."
)


def connect_saving(app: Any, session: Session) -> None:
    """Lets a person save what is on the table."""
    ways: dict[str, tuple[str, Callable[[], str]]] = {
        "save-problem": (export.PROBLEM, lambda: export.problem_text(session)),
        "save-mechanism": (export.MECHANISM, lambda: export.mechanism_text(session)),
        "save-svg": (export.PICTURE, lambda: export.picture_text(session)),
        "save-script": (export.SCRIPT, lambda: export.lines(session.sheet, session.answer).python),
    }

    @app.callback(  # type: ignore[untyped-decorator]
        output=[
            Output("download", "data"),
            Output("saved", "children"),
            Output("revision", "data", allow_duplicate=True),
        ],
        inputs={"clicks": [Input(name, "n_clicks") for name in ways]},
        state={"page": State("page", "data"), "told": State("told", "data")},
    )
    def save(clicks: list[Any], page: Any, told: Any) -> Any:
        if not any(clicks) or ctx.triggered_id not in ways:
            return no_update, no_update, no_update
        name, text = ways[ctx.triggered_id]
        try:
            with session.lock:
                if not session.is_seen(Visit(page or "a page", told or 0, 0)):
                    return no_update, UNSEEN, session.revision  # which shows the page what it has not seen
                return {"content": text(), "filename": name, "type": "text/plain"}, "", no_update
        except HetdpError as refusal:
            return no_update, printable(str(refusal))[:600], no_update

    app.clientside_callback(  # what is seen is known to the browser alone
        ClientsideFunction("studio", "photograph"), Output("graph", "generateImage"), Input("save-png", "n_clicks")
    )
