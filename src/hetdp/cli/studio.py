"""`hetdp studio`: an interactive page for a problem and its mechanism."""

from __future__ import annotations

import contextlib
from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, PATH, QUIET, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output

EXAMPLES = """
hetdp studio                    start with the gallery
hetdp studio poll.json          start with a problem
"""
ABOUT = """
Opens a page in the browser, served locally (needs the extra studio). Its address contains a token, without which every
request is refused. The page fetches nothing from other hosts, and reads no files except PROBLEM and those dropped on
it. Press Ctrl-C to stop.
"""
PROBLEM = click.Argument(["problem"], type=PATH, metavar="[PROBLEM]", required=False)
HOST = click.Option(
    ["--host"], default="127.0.0.1", show_default=True, metavar="NAME", help="The address to listen on."
)
PORT = click.Option(
    ["--port"], type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. Default: any free one."
)
REDIRECT = (
    '<!DOCTYPE html><meta charset="utf-8"><title>hetdp studio</title>'
    '<meta http-equiv="refresh" content="0;url={address}">\n'
)
NO_BROWSER = click.Option(["--no-browser"], is_flag=True, help="Print the address, and do not open a browser.")


def studio(
    out: Output,
    problem: str | None,
    host: str,
    port: int,
    no_browser: bool,
    duplicates: Literal["error", "min"],
    positive: str | None,
) -> None:
    """Serves the page until Ctrl-C."""
    from hetdp.cli.reading import require_input
    from hetdp.studio.server import LOOPBACK, create_server, require_dash

    if problem is not None:
        require_input(problem)
    require_dash()
    from hetdp.studio.gallery import GALLERY
    from hetdp.studio.session import Session
    from hetdp.studio.uploads import document_from_path

    document = GALLERY["three-voters"].make() if problem is None else document_from_path(problem, duplicates, positive)
    server = create_server(Session(document), host, port, start=problem is None)
    out.emit([server.address])
    if host not in LOOPBACK:
        out.say(f"anyone who can reach {host} and knows this address can use it; the connection is not encrypted")
    out.say("press Ctrl-C to stop")
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(server.stop)
        if not no_browser:
            _browse(server.address, cleanup)
        server.serve()  # until Ctrl-C


def _browse(address: str, cleanup: contextlib.ExitStack) -> None:
    """Opens a browser with a file that redirects to the address, since command lines are visible to other users.

    The browser is started in the folder of that file, since the working folder may belong to another user.
    """
    import subprocess
    import tempfile
    from pathlib import Path

    from hetdp.isolation import python_command

    with contextlib.suppress(OSError):  # the address has been printed
        folder = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hetdp-studio-", ignore_cleanup_errors=True))
        page = Path(folder, "studio.html")
        page.touch(0o600)
        page.write_text(REDIRECT.format(address=address), encoding="utf-8")
        command = python_command("-m", "webbrowser", page.as_uri())
        nowhere = subprocess.DEVNULL
        opener = subprocess.Popen(command, cwd=folder, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        cleanup.callback(opener.wait)
        cleanup.callback(opener.terminate)  # the browser keeps running


command = Verb(
    "studio",
    studio,
    EXAMPLES,
    ABOUT,
    [PROBLEM, HOST, PORT, NO_BROWSER, *INPUT_OPTIONS, QUIET],
    stages=("reading", "building", "loading", "searching", "proving"),
)
