"""Privacy rules as data; `hetdp.privacy` is where people find them."""

from hetdp.people.privacy.epsilons import on_grid
from hetdp.people.privacy.rules import Privacy, Rule, from_document, from_json, from_toml, rules
from hetdp.people.privacy.situations import States, When, answer, within
from hetdp.people.privacy.table import Table

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
