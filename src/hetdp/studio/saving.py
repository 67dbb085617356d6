"""What can be saved from the page; the browser asks where to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import ClientsideFunction, Input, Output, ctx, no_update

from hetdp.errors import HetdpError, printable
from hetdp.studio import export
from hetdp.studio.state import Session


def connect_saving(app: Any, session: Session) -> None:
    """Lets a person save what is on the table."""
    ways: dict[str, tuple[str, Callable[[], str]]] = {
        "save-problem": (export.PROBLEM, lambda: export.problem_text(session)),
        "save-mechanism": (export.MECHANISM, lambda: export.mechanism_text(session)),
        "save-svg": (export.PICTURE, lambda: export.picture_text(session)),
        "save-script": (export.SCRIPT, lambda: export.lines(session.sheet, session.answer).python),
    }

    @app.callback(  # type: ignore[untyped-decorator]
        Output("download", "data"), Output("saved", "children"), *(Input(name, "n_clicks") for name in ways)
    )
    def save(*clicks: Any) -> Any:
        if not any(clicks) or ctx.triggered_id not in ways:
            return no_update, no_update
        name, text = ways[ctx.triggered_id]
        try:
            with session.lock:
                return {"content": text(), "filename": name, "type": "text/plain"}, ""
        except HetdpError as refusal:
            return no_update, printable(str(refusal))[:600]

    app.clientside_callback(  # what is seen is known to the browser alone
        ClientsideFunction("studio", "photograph"), Output("graph", "generateImage"), Input("save-png", "n_clicks")
    )
