"""The server of the studio: it listens on this machine only and is ended by Ctrl-C. Dash is imported when it starts."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.errors import UsageError
from hetdp.interrupts import import_uninterrupted
from hetdp.studio.opening import MOST_BYTES
from hetdp.studio.session import Session

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "", "*")
PLAIN = 80  # the port that an address need not name
ASSETS = Path(__file__).parent / "assets"


class Place(NamedTuple):
    """Where the studio answers: its address with the token, and what starts and ends it."""

    address: str
    serve: Callable[[], None]
    stop: Callable[[], None]


def require_dash() -> None:
    """Refuses to go on without what the page is made of.

    Raises:
        UsageError: dash or dash-cytoscape is not installed.
    """
    try:
        import_uninterrupted("dash")
        import_uninterrupted("dash_cytoscape")
    except ImportError as failure:
        rule = "the studio is the extra studio: dash and dash-cytoscape"
        raise UsageError(
            f"{failure.name} is not installed", rule, "pip install '.[studio]', in the folder of hetdp's sources"
        ) from None


def place_of(session: Session, host: str = "127.0.0.1", port: int = 0, start: bool = False) -> Place:
    """Makes the server; nothing answers before `serve` is called.

    Args:
        session: what is on the table.
        host: the address it is reached by.
        port: the port; 0 takes a free one.
        start: whether the page begins with the gallery.

    Raises:
        UsageError: dash is not installed, or the address cannot be used.
    """
    if host in EVERYWHERE:
        rule = "the studio answers at one address, the one that is typed in the browser"
        raise UsageError(f"the address {host!r}", rule, "127.0.0.1 is this machine alone")
    require_dash()
    from werkzeug.serving import WSGIRequestHandler, make_server

    from hetdp.studio.guard import new_token

    class Quiet(WSGIRequestHandler):
        """Writes no log: its lines would hold the token."""

        def log(self, type: str, message: str, *args: Any) -> None:
            """Says nothing."""

    token = new_token()
    listening = _listening(host, port)
    server = make_server(
        host, port, lambda environ, answer: [], threaded=True, request_handler=Quiet, fd=listening.fileno()
    )
    listening.close()  # the server has its own
    server.log = lambda *_: None  # type: ignore[method-assign]
    shown = f"[{host}]" if ":" in host else host
    hosts = {f"{shown}:{server.port}"}
    if host in LOOPBACK:
        hosts |= {f"{name}:{server.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if server.port == PLAIN:
        hosts |= {name.removesuffix(f":{PLAIN}") for name in hosts}  # which browsers leave out
    from hetdp.studio.app import app_for

    server.app = app_for(session, token, frozenset(hosts), start).server
    return Place(f"http://{shown}:{server.port}/{token}/", server.serve_forever, lambda: _stop(server))


def _listening(host: str, port: int) -> socket.socket:
    """A socket at an address of this machine; refused in words, where the server itself would write and leave.

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
            rule = "the studio needs a free port of this machine"
            raise UsageError(f"port {port} is in use", rule, "without --port it finds one") from None
        rule = "the studio answers at an address of this machine"
        reason = getattr(refusal, "strerror", None) or "no such address"
        raise UsageError(f"{host}, port {port}: {reason}", rule, "127.0.0.1 is this machine alone") from None
    return listening


def _stop(server: Any) -> None:
    """Ends a server, whether it answers in another thread or was interrupted in this one."""
    ending = threading.Thread(target=server.shutdown, daemon=True)
    ending.start()
    ending.join(1.0)
    server.server_close()


LIMIT = MOST_BYTES * 3 // 2  # of one request: files travel as text
