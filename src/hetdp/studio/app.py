"""The Dash application: layout, callbacks, access control. All scripts are served locally, below the token."""

from __future__ import annotations

from typing import Any

from dash import Dash

from hetdp.studio.callbacks import connect
from hetdp.studio.guard import protect
from hetdp.studio.layout import page
from hetdp.studio.server import ASSETS, LIMIT
from hetdp.studio.session import Session

TITLE = "hetdp studio"


def app_for(session: Session, token: str, hosts: frozenset[str], start: bool) -> Any:
    """Creates the application of a session."""
    app = Dash(
        __name__,
        assets_folder=str(ASSETS),
        requests_pathname_prefix=f"/{token}/",
        routes_pathname_prefix=f"/{token}/",
        serve_locally=True,
        title=TITLE,
        update_title="",
        prevent_initial_callbacks=True,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    app.layout = lambda: page(session, start)
    connect(app, session)
    app.server.config["MAX_CONTENT_LENGTH"] = LIMIT
    protect(app.server, token, hosts, app.csp_hashes)
    return app
