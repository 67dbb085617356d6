"""Pages agree with the pictures beside them and with the settings they describe."""

from __future__ import annotations

import re
import tomllib
from typing import Any, get_args

import hetdp
from examples import three_voters
from hetdp.plots.canvas import two_digits
from tests.documents.pages import DOCS, ROOT
from tests.loops import for_each

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


def test_the_table_of_the_readme_is_true_under_the_best_design_of_each_row():
    rules = (hetdp.privacy.rules(1, deciding={"careful": 0.3}), {"careful": 0.3, "others": 1}, 0.3)
    rows = [means_of({"careful": 10, "others": 11}, rule) for rule in rules]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\| (\d\d\.\d) % \| (\d\d\.\d) % \|", text) == [
        (f"{100 * max(means.values()):.1f}", f"{100 * means['fair']:.1f}") for means, _ in rows
    ]
    assert max(rows[0][0].values()) > max(rows[1][0].values()) > max(rows[2][0].values())
    assert {f"{100 * least:.1f}" for _, least in rows} == {"57.4"}
    alike = [means_of({"voters": 21}, rule) for rule in (hetdp.privacy.rules(1, deciding={"voters": 0.3}), 0.3)]
    shown = [f"{100 * max(means.values()):.1f} %" for means, _ in alike]
    assert f"it is still {shown[0]}, against {shown[1]} for one ε" in text
    assert f"at least {100 * rows[0][1]:.1f} %" in text


def means_of(groups: dict[str, int], privacy: Any) -> tuple[dict[str, float], float]:
    """The mean accuracy of a majority under each objective, and the largest accuracy that the worst votes can have."""
    problem = hetdp.spaces.tallies(groups, hetdp.questions.majority(), privacy)
    designs = {each: hetdp.design(problem, each) for each in get_args(hetdp.ObjectiveName)}
    means = {each: float(problem.weights @ (1 - design.errors)) for each, design in designs.items()}
    return means, 1 - float(designs["balanced"].errors.max())


def test_the_first_picture_shows_three_voters_as_balanced():
    mechanism = hetdp.design(three_voters.problem(three_voters.WAYS[0]), "balanced")
    assert "pictures/three-voters.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
    picture = (DOCS / "pictures" / "three-voters.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    votes = ("111", "112", "211")
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


@for_each("words", ["PostgreSQL", "`--cluster`", "`--engine dask`", "`hetdp studio`", "`--host`", "token"])
def test_every_connection_and_listener_is_in_the_threat_model(words):
    text = (DOCS / "threat-model.md").read_text(encoding="utf-8")
    assert words in text.partition("**The network.**")[2].partition("## Files")[0]
