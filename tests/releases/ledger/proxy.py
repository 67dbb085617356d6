"""A proxy in front of a PostgreSQL server that cuts or delays a connection at its COMMIT."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

COMMIT = b"COMMIT\0"
WAYS = {  # whether the server gets the COMMIT, and what the client sees of it
    "cut before": (False, "cut"),
    "cut after": (True, "cut"),
    "silent before": (False, "silent"),
    "silent after": (True, "silent"),
    "interrupted before": (False, "interrupted"),
    "interrupted after": (True, "interrupted"),
}
SILENCE = threading.Event()  # set when a proxy has swallowed something, so that its client waits for nothing


@dataclass
class Proxy:
    """What happens to the next COMMIT, and to all connections after it.

    Attributes:
        address: of a server, as seen through the proxy.
        way: one of WAYS; None leaves everything alone.
        is_gone: whether no connection is accepted after that.
        is_deaf: whether all further data is swallowed.
        seen: how many COMMITs were tampered with.
        sockets: of all connections.
    """

    address: str
    way: str | None = None
    is_gone: bool = False
    is_deaf: bool = False
    seen: int = 0
    sockets: list[socket.socket] = field(default_factory=list)


def _pass(source: socket.socket, sink: socket.socket, proxy: Proxy, is_client: bool, state: dict[str, Any]) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            if is_client and COMMIT in data and proxy.way is not None:
                (sends, seen), proxy.way, proxy.seen = WAYS[proxy.way], None, proxy.seen + 1
                state["quiet"] = True
                if sends:
                    sink.sendall(data)
                    state["answered"].wait(30)
                if seen == "interrupted":
                    os.kill(os.getpid(), signal.SIGINT)
                if seen == "cut":
                    break
                if seen == "silent":
                    SILENCE.set()
                threading.Event().wait(60 if seen == "silent" else 0.5)
                continue
            if proxy.is_deaf:
                SILENCE.set()
                continue
            if not is_client and state.get("quiet"):
                state["answered"].set()
                continue
            sink.sendall(data)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, place: tuple[str, int], proxy: Proxy) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            if proxy.is_gone and proxy.seen:
                client.close()
                continue
            server = socket.create_connection(place)
            proxy.sockets += [client, server]
            state: dict[str, Any] = {"answered": threading.Event()}
            for source, sink, is_client in ((client, server, True), (server, client, False)):
                threading.Thread(target=_pass, args=(source, sink, proxy, is_client, state), daemon=True).start()


@contextmanager
def open_proxy(address: str) -> Iterator[Proxy]:
    """Opens a proxy in front of the server of an address."""
    url = urlsplit(address)
    listener = socket.create_server(("127.0.0.1", 0))
    user = f"{url.username}@" if url.username else ""
    found = Proxy(f"postgresql://{user}127.0.0.1:{listener.getsockname()[1]}{url.path}")
    place = url.hostname or "127.0.0.1", url.port or 5432
    threading.Thread(target=_serve, args=(listener, place, found), daemon=True).start()
    try:
        yield found
    finally:
        for each in (listener, *found.sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                each.close()
