"""Takes the picture of the studio for its page, in a real browser: ``python -m docs.pictures studio``."""

from __future__ import annotations

import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from hetdp.studio.gallery import GALLERY
from hetdp.studio.server import create_server
from hetdp.studio.session import Session

CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def take(place_of_file: Path) -> None:
    """Opens three voters, selects the dataset where all say yes, and takes a screenshot."""
    session = Session(GALLERY["three-voters"].make())
    place = create_server(session)
    threading.Thread(target=place.serve, daemon=True).start()
    session.select("dataset", 0)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = browser.new_page(viewport={"width": 1280, "height": 760}, color_scheme="light")
        page.goto(place.address)
        page.wait_for_selector("#studio[data-ready=yes][aria-busy=false]")
        page.wait_for_function("() => document.getElementById('graph')._cyreg?.cy.edges('.highlighted').length === 2")
        page.wait_for_timeout(1500)  # the path is highlighted step by step
        page.screenshot(path=str(place_of_file))
        browser.close()
    place.stop()
