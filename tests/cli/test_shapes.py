"""JSON documents, each compared with the one in golden/.

HETDP_WRITE_GOLDEN=1 rewrites these files after an intended change. Floats are compared to twelve digits, since
logarithms differ in the last digits between processors.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.cli import (
    shapes,
)
from hetdp.files import schema
from hetdp.version import VERSION

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    "demo": (0, "demo"),
    "boundary": (0, "boundary grid.json"),
    "check": (0, "check poll.json"),
    "check-refused": (4, "check too-much.json"),
    "extend": (0, "extend poll.json"),
    "extend-certain": (0, "extend certain.json"),
    "extend-to-a-file": (0, "extend poll.json -o mechanism.csv"),
    "design-average": (0, "design poll.json --free --objective average"),
    "extend-refused": (4, "extend too-much.json"),
    "accuracy": (0, "accuracy poll.json mechanism.json"),
    "verify": (0, "verify poll.json mechanism.json"),
    "verify-refused": (5, "verify tight.json mechanism.json"),
    "odds": (0, "odds poll.json"),
    "solve": (0, "solve poll.json 0.9"),
    "explain": (0, "explain grid.json [0,0] no/one [1,1]"),
    "plot": (0, "plot poll.json mechanism.json -o mechanism.svg"),
    "make": (0, "make votes --people Ann,Bob --majority --epsilon 1 --deciding-epsilon Ann=0.2 -o made.json"),
    "error-input": (3, "extend faulty.json"),
    "error-usage": (2, "extend poll.json --enginee cpu"),
    "error-unknown-dataset": (3, "explain grid.json no-one"),
}


def plain(value: Any) -> Any:
    """A document without its version and without the last digits of its floats."""
    if isinstance(value, dict):
        return [(name, plain(part)) for name, part in value.items()]  # the order counts too
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return f"{value:.12g}" if abs(value) > 1e-12 else "tiny"
    return value.replace(f"hetdp {VERSION}", "hetdp VERSION") if isinstance(value, str) else value


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_match_the_golden_files(hetdp, name):
    code, words = COMMANDS[name]
    Path("tight.json").write_text(Path("poll.json").read_text().replace('"epsilon": 1.0', '"epsilon": 0.5'))
    hetdp("extend", "poll.json", "-o", "mechanism.json")
    result = hetdp(*words.split(), "--json")
    assert result.code == code
    place = GOLDEN / f"{name}.json"
    expected = plain(json.loads(place.read_text(encoding="utf-8"))) if place.exists() else None
    if os.environ.get("HETDP_WRITE_GOLDEN") and plain(result.document) != expected:  # last digits may differ
        place.write_text(result.out.replace(f"hetdp {VERSION}", "hetdp VERSION"), encoding="utf-8")
    assert plain(result.document) == plain(json.loads(place.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_document_begins_with_its_version_and_verb(name):
    document = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert list(document)[:2] == ["schema_version", "verb"]
    assert document["schema_version"] == shapes.VERSION
    assert document["verb"] == COMMANDS[name][1].split()[0]


def test_every_golden_document_belongs_to_a_command():
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(COMMANDS)


def test_infinity_is_written_as_text():
    assert shapes.numbers([0.5, float("inf"), float("-inf")]) == [0.5, "inf", "-inf"]


def test_the_version_is_that_of_the_files():
    assert shapes.VERSION == schema.VERSION


def problem_of(answers: list[int], edges: bool = True, **about: str) -> hetdp.Problem:
    ends = (["a"], ["b"], 1.0) if edges else ([], [], [])
    graph = hetdp.DatasetGraph.from_edges(*ends, datasets=["a", "b"][: len(answers)])
    return hetdp.Problem(graph, answers, about=about)


def test_numbers_of_a_document_are_json():
    from hetdp.cli import shapes

    assert shapes.numbers([np.float64(0.5), np.inf, -np.inf]) == [0.5, "inf", "-inf"]
    assert shapes.counts(problem_of([1, 2])) == {"datasets": 2, "edges": 1}
    assert shapes.counts(problem_of([1, 2]), 0) == {"datasets": 2, "edges": 1, "pinned": 0}
    found = SimpleNamespace(repeated=True, record={})
    assert shapes.publication(found, "a", None, None) == {
        "released": True,
        "repeated": True,
        "output": "a",
        "record": {},
    }
    assert "output" not in shapes.publication(found, "a", "b", "full")
