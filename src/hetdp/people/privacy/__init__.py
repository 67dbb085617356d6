"""Privacy rules as data; `hetdp.privacy` is where people find them."""

from hetdp.people.privacy.rules import Privacy, Rule, Table, from_document, from_json, from_toml, rules
from hetdp.people.privacy.situations import States, When, answer, within

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
    "rules",
    "within",
]
