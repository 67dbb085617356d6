"""Privacy rules as data; `hetdp.privacy` is where people find them."""

from hetdp.spaces.privacy.grid import on_grid
from hetdp.spaces.privacy.reading import from_document, from_json, from_toml
from hetdp.spaces.privacy.rules import Privacy, Rule, rules
from hetdp.spaces.privacy.situations import States, When, answer, within
from hetdp.spaces.privacy.table import Table

__all__ = [
    "Privacy",
    "Rule",
    "States",
    "Table",
    "When",
    "answer",
    "from_document",
    "from_json",
    "from_toml",
    "on_grid",
    "rules",
    "within",
]
