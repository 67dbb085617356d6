"""Takes the picture of the guided page in a real browser: ``python -m docs.pictures people``."""

from __future__ import annotations

import random
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from docs.pictures.studio import CHROMIUM, QUIET
from hetdp.studio.opening import open_path
from hetdp.studio.server import create_server

ROLES = {"id": "person", "site": "public", "level": "public", "answer": "counted"}
FIELDS = {"value": "move", "direction": "more_than", "share": "50", "title": "Do we move to the new offices?"}
EPSILONS = {"open": "1", "strict": "0.1", "usual": "0.4"}
READY = "#studio[data-ready=yes][aria-busy=false]"


def take(place_of_file: Path) -> None:
    """Chooses a question and three levels of protection for 400 people, and takes a screenshot of the promise."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "people.csv")
        _write_table(table)
        found = open_path(str(table))
        people, opened = found.people, found.people.require_table()
        for column, role in ROLES.items():
            opened.set_role(column, role)
        for name, value in (FIELDS | {"protection": "levels", "level": "level", "share-at": "55"}).items():
            people.draft.set(name, value)
        for name, number in EPSILONS.items():
            people.draft.set_number("epsilon", "level", name, number)
        place = create_server(found.session, people=people, first=found.first)
        threading.Thread(target=place.serve, daemon=True).start()
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
            page.goto(f"{place.address}promise")
            page.wait_for_selector(READY, state="attached")
            page.screenshot(path=str(place_of_file))
            browser.close()
        place.stop()


def _write_table(place: Path) -> None:
    random.seed(1)
    lines = ["id,site,level,answer"]
    for person in range(400):
        site, level = random.choice(["Town", "Town", "Harbour"]), random.choice(["strict", "usual", "usual", "open"])
        lines.append(f"{person},{site},{level},{random.choice(['move', 'move', 'stay', ''])}")
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
