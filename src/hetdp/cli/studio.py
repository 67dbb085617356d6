"""`hetdp studio`: an interactive page for a problem and its mechanism, or for a table of people."""

from __future__ import annotations

import contextlib
from typing import Literal

import click

from hetdp.cli.options import INPUT_OPTIONS, PATH, QUIET, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output

EXAMPLES = """
hetdp studio                    choose: a table of people, or a problem
hetdp studio people.xlsx        a table, step by step to a published answer
hetdp studio poll.json          start with a problem
"""
ABOUT = """
Opens a page in the browser, served locally (needs the extra studio). For a table of people (a .csv, .xlsx, .parquet,
.arrow or .sqlite file, or a folder of files) it leads step by step from the table to a plan that a second person
approves, and to a published answer. For a problem (a .json file, or a folder with edges and datasets) it shows the
mechanism and lets you edit it. An approved plan, a .json file, goes on with its release. The address contains a token,
without which every request is refused. The page fetches nothing from other hosts. It reads and writes only files in
the folder of TABLE (without one, in the working folder), reads PROBLEM, and what is dropped on it. Press Ctrl-C to
stop.
"""
OPENED = click.Argument(["opened"], type=PATH, metavar="[TABLE|PROBLEM]", required=False)
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
    opened: str | None,
    host: str,
    port: int,
    no_browser: bool,
    duplicates: Literal["error", "min"],
    positive: str | None,
) -> None:
    """Serves the page until Ctrl-C."""
    from hetdp.cli.reading import require_input

    if opened is not None:
        require_input(opened)
    out.say("starting the page; this takes a few seconds")
    from hetdp.studio.server import LOOPBACK, create_server, require_dash

    require_dash()
    from hetdp.studio.opening import open_path

    found = open_path(opened, duplicates, positive)
    server = create_server(found.session, host, port, opened is None, found.people, found.first)
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
    [OPENED, HOST, PORT, NO_BROWSER, *INPUT_OPTIONS, QUIET],
    stages=("reading", "building", "loading", "searching", "proving"),
)
