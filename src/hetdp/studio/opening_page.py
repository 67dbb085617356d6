"""Opening another problem from the page: from the gallery, from files, or from a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import ALL, Input, Output, State, ctx, no_update

from hetdp.errors import HetdpError, printable
from hetdp.studio.forms import made
from hetdp.studio.gallery import GALLERY
from hetdp.studio.opening import dropped
from hetdp.studio.sheets import Sheet
from hetdp.studio.state import Session

FIELDS = ("people", "at-least", "epsilon", "deciding", "values")


def connect_opening(app: Any, session: Session) -> None:
    """Lets a person open another problem."""
    done = (
        Output("revision", "data", allow_duplicate=True),
        Output("done", "data", allow_duplicate=True),
        Output("refused", "children", allow_duplicate=True),
        Output("find", "value", allow_duplicate=True),
    )

    @app.callback(*done, Input({"type": "gallery", "key": ALL}, "n_clicks"))  # type: ignore[untyped-decorator]
    def from_gallery(clicks: Any) -> Any:
        key = ctx.triggered_id["key"] if isinstance(ctx.triggered_id, dict) else ""
        if not any(clicks) or key not in GALLERY:
            return no_update, no_update, no_update, no_update
        return _opened(session, GALLERY[key].make)

    @app.callback(*done, Input("upload", "contents"), State("upload", "filename"))  # type: ignore[untyped-decorator]
    def from_files(contents: Any, names: Any) -> Any:
        if not contents or not names:
            return no_update, no_update, no_update, no_update
        return _opened(session, lambda: dropped(list(names), list(contents)))

    @app.callback(  # type: ignore[untyped-decorator]
        *done, Input("make", "n_clicks"), State("space", "value"), *(State(f"form-{name}", "value") for name in FIELDS)
    )
    def from_form(clicks: Any, space: Any, *values: Any) -> Any:
        if not clicks:
            return no_update, no_update, no_update, no_update
        return _opened(session, lambda: made(str(space), *(str(value or "") for value in values)))


def _opened(session: Session, make: Callable[[], Sheet]) -> Any:
    try:
        session.open(make())
    except HetdpError as refusal:
        return no_update, no_update, printable(str(refusal))[:2000], no_update
    return session.revision, session.revision, "", ""
