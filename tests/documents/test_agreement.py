"""Pages agree with the pictures beside them and with the settings they describe."""

from __future__ import annotations

import re
import tomllib

import pytest

import hetdp
from examples import three_voters
from hetdp.mechanism.formatting import format_percentage
from hetdp.plots.canvas import two_digits
from tests.documents.pages import DOCS, ROOT

# loaded by others, forbidden everywhere, or accepted without being imported
EXEMPT = {"psycopg", "distributed", "random", "networkx", "pandas", "polars", "pyarrow", "scipy"}
SPELLINGS = {
    "cupy": "CuPy",
    "dash_cytoscape": "dash-cytoscape",
    "flask": "Flask",
    "python_calamine": "calamine",
    "werkzeug": "Werkzeug",
    "sqlalchemy": "SQLAlchemy",
}


def test_the_first_picture_shows_the_first_row_of_the_first_table():
    rows = [
        line.strip("|").split("|")
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if "|" in line
    ]
    votes, shown = ([cell.strip() for cell in rows[at][1:]] for at in (0, 2))
    mechanism = hetdp.design(three_voters.problem(three_voters.WAYS[0]), "balanced")
    assert shown == [f"{format_percentage(1.0 - mechanism[each])} %" for each in votes]
    texts = re.findall(
        r"<text[^>]*>([^<]*)</text>", (DOCS / "pictures" / "three-voters.svg").read_text(encoding="utf-8")
    )
    assert [texts[texts.index(each) + 1] for each in votes] == [two_digits(mechanism[each]) for each in votes]


def test_every_library_that_has_one_home_is_in_the_list_of_homes():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    confined = {
        library
        for contract in settings["tool"]["importlinter"]["contracts"]
        for library in contract.get("forbidden_modules", [])
        if not library.startswith("hetdp")
    }
    assert "dash" in confined
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = page.partition("Heavy libraries")[2].partition("Tests mirror")[0]
    missing = [each for each in confined - EXEMPT if not re.search(rf"\b{SPELLINGS.get(each, each)}\b", text)]
    assert missing == []


@pytest.mark.parametrize(
    "words", ["PostgreSQL", "`--cluster`", "`--engine dask`", "`hetdp studio`", "`--host`", "token"]
)
def test_every_connection_and_listener_is_in_the_threat_model(words):
    text = (DOCS / "threat-model.md").read_text(encoding="utf-8")
    assert words in text.partition("**The network.**")[2].partition("## Files")[0]
