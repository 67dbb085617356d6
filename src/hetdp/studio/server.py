"""The server of the studio. It listens on one address of this machine. Dash is imported when it starts."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.studio.people.session import PeopleSession
from hetdp.studio.session import Session
from hetdp.studio.uploads import MOST_BYTES

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = ("0.0.0.0", "::", "", "*")
HTTP_PORT = 80  # the default port of http, which browsers leave out of Host
ASSETS = Path(__file__).parent / "assets"
TITLE = "hetdp studio"
PAGE = (  # Dash's own has no language
    '<!DOCTYPE html><html lang="en"><head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}</head>'
    "<body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body></html>"
)
MOST_REQUEST_BYTES = MOST_BYTES * 3 // 2  # bytes of a request, in which files are base64


class StudioServer(NamedTuple):
    """The address of a studio with its token, and functions that serve it and stop it."""

    address: str
    serve: Callable[[], None]
    stop: Callable[[], None]


def require_dash() -> None:
    """Checks that Dash is installed.

    Raises:
        UsageError: dash or dash-cytoscape is not installed.
    """
    try:
        with delay_interrupts():
            import dash  # noqa: F401
            import dash_cytoscape  # noqa: F401
    except ImportError as failure:
        rule = "the studio needs the extra studio, with dash and dash-cytoscape"
        raise UsageError(
            f"{failure.name} is not installed", rule, "pip install '.[studio]', in the folder of hetdp's sources"
        ) from None


def create_server(
    session: Session,
    host: str = "127.0.0.1",
    port: int = 0,
    start: bool = False,
    people: PeopleSession | None = None,
    first: str = "",
) -> StudioServer:
    """Creates the server of a session. It answers once `serve` is called.

    Args:
        session: the session.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        start: whether the dialog with the gallery is open as long as nothing was done.
        people: the session of the pages for tables; None for a server without them.
        first: the page that the address leads to: the one for problems, or "people/".

    Raises:
        UsageError: dash is not installed, or the address cannot be used.
    """
    if host in ANY_ADDRESS:
        rule = "the studio listens on one address, the one that is typed in the browser"
        raise UsageError(f"the address {host!r}", rule, "127.0.0.1 can be reached from this machine only")
    require_dash()
    from werkzeug.serving import WSGIRequestHandler, make_server

    from hetdp.studio.guard import new_token

    class QuietHandler(WSGIRequestHandler):
        """Writes no log, since it would contain the token."""

        def log(self, type: str, message: str, *args: Any) -> None:
            """Writes nothing."""

    token = new_token()
    listening = _listen(host, port)
    server = make_server(
        host, port, lambda environ, answer: [], threaded=True, request_handler=QuietHandler, fd=listening.fileno()
    )
    listening.close()  # the server has its own
    server.log = lambda *_: None  # type: ignore[method-assign]
    shown = f"[{host}]" if ":" in host else host
    hosts = {f"{shown}:{server.port}"}
    if host in LOOPBACK:
        hosts |= {f"{name}:{server.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if server.port == HTTP_PORT:
        hosts |= {name.removesuffix(f":{HTTP_PORT}") for name in hosts}
    server.app = app_for(session, token, frozenset(hosts), start, people).server
    return StudioServer(f"http://{shown}:{server.port}/{token}/{first}", server.serve_forever, lambda: _stop(server))


def app_for(
    session: Session, token: str, hosts: frozenset[str], start: bool, people: PeopleSession | None = None
) -> Any:
    """Creates the Dash application of a session: layout, callbacks, access control, and the pages for tables.

    All scripts are served locally, below the token.
    """
    from dash import Dash

    from hetdp.studio.callbacks import connect
    from hetdp.studio.guard import PEOPLE, protect
    from hetdp.studio.layout import page
    from hetdp.studio.verdict import connect_verdict

    app = Dash(
        __name__,
        assets_folder=str(ASSETS),
        requests_pathname_prefix=f"/{token}/",
        routes_pathname_prefix=f"/{token}/",
        serve_locally=True,
        title=TITLE,
        update_title="",
        prevent_initial_callbacks=True,
        index_string=PAGE,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    tables = "" if people is None else f"/{token}/{PEOPLE}/"
    listed = people.folder if start and people is not None else None  # not beside an opened file
    found = (lambda: None) if listed is None else listed.tables
    session.begins_with_example = start
    app.layout = lambda: page(session, start and session.is_untouched, tables, found())
    connect(app, session)
    connect_verdict(app.server, token, session)
    if people is not None:
        from hetdp.studio.people.pages import connect_pages

        connect_pages(app.server, token, people)
    app.server.config["MAX_CONTENT_LENGTH"] = MOST_REQUEST_BYTES
    protect(app.server, token, hosts, app.csp_hashes)
    return app


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. Its failure is a UsageError; the server itself would print a message and exit.

    Raises:
        UsageError: the address cannot be used.
    """
    listening = None
    try:
        wanted = socket.AF_INET6 if ":" in host else socket.AF_INET
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, wanted, socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except (OSError, OverflowError, UnicodeError) as refusal:
        if listening is not None:
            listening.close()
        taken = isinstance(refusal, OSError) and refusal.errno == errno.EADDRINUSE
        if taken:
            rule = "the studio needs a free port"
            raise UsageError(f"port {port} is in use", rule, "without --port it finds a free one") from None
        rule = "the studio listens on an address of this machine"
        reason = getattr(refusal, "strerror", None) or "no such address"
        raise UsageError(
            f"{host}, port {port}: {reason}", rule, "127.0.0.1 can be reached from this machine only"
        ) from None
    return listening


def _stop(server: Any) -> None:
    """Stops a server, whether it runs in another thread or was interrupted in this one."""
    ending = threading.Thread(target=server.shutdown, daemon=True)
    ending.start()
    ending.join(1.0)
    server.server_close()
