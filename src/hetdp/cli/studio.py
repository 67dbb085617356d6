"""`hetdp studio`: a page on which a problem is seen, moved and understood."""

from __future__ import annotations

import contextlib

import click

from hetdp.cli.options import INPUT_OPTIONS, PATH, QUIET, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output

EXAMPLES = """
hetdp studio                    begin with the gallery
hetdp studio poll.json          begin with a problem
"""
ABOUT = """
Opens a page in the browser, served by this machine to itself (the extra studio: dash and dash-cytoscape). Its address
holds a token, without which nothing is answered. Nothing is fetched from elsewhere, and no file is read but PROBLEM
and what is dropped on the page. Ctrl-C ends it.
"""
PROBLEM = click.Argument(["problem"], type=PATH, metavar="[PROBLEM]", required=False)
HOST = click.Option(
    ["--host"], default="127.0.0.1", show_default=True, metavar="NAME", help="The address it answers at."
)
PORT = click.Option(
    ["--port"], type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. Default: any that is free."
)
LEADS = (
    '<!DOCTYPE html><meta charset="utf-8"><title>hetdp studio</title>'
    '<meta http-equiv="refresh" content="0;url={address}">\n'
)
NO_BROWSER = click.Option(["--no-browser"], is_flag=True, help="Say the address, but open no browser.")


def studio(
    out: Output,
    problem: str | None,
    host: str,
    port: int,
    no_browser: bool,
    duplicates: str,
    positive: str | None,
) -> None:
    """Serves the page until Ctrl-C."""
    from hetdp.cli.reading import require_input
    from hetdp.studio.server import LOOPBACK, place_of, require_dash

    if problem is not None:
        require_input(problem)
    require_dash()
    from hetdp.studio.gallery import GALLERY
    from hetdp.studio.opening import opened
    from hetdp.studio.session import Session

    sheet = GALLERY["three-voters"].make() if problem is None else opened(problem, duplicates, positive)
    place = place_of(Session(sheet), host, port, start=problem is None)
    out.emit([place.address])
    if host not in LOOPBACK:
        out.say(f"anybody who reaches {host} and knows this address can use it; it is not encrypted")
    out.say("Ctrl-C ends it")
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(place.stop)
        if not no_browser:
            _browse(place.address, cleanup)
        place.serve()  # which Ctrl-C ends


def _browse(address: str, cleanup: contextlib.ExitStack) -> None:
    """Opens a browser by a file that leads to the address: everybody on this machine sees command lines.

    It is started in the folder of that file, since the working folder may be somebody else's.
    """
    import subprocess
    import tempfile
    from pathlib import Path

    from hetdp.isolation import python_command

    with contextlib.suppress(OSError):  # the address was said
        folder = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hetdp-studio-", ignore_cleanup_errors=True))
        page = Path(folder, "studio.html")
        page.touch(0o600)
        page.write_text(LEADS.format(address=address), encoding="utf-8")
        command = python_command("-m", "webbrowser", page.as_uri())
        nowhere = subprocess.DEVNULL
        opener = subprocess.Popen(command, cwd=folder, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        cleanup.callback(opener.wait)
        cleanup.callback(opener.terminate)  # the browser itself goes on


command = Verb(
    "studio",
    studio,
    EXAMPLES,
    ABOUT,
    [PROBLEM, HOST, PORT, NO_BROWSER, *INPUT_OPTIONS, QUIET],
    stages=("reading", "building", "loading", "searching", "proving"),
)
