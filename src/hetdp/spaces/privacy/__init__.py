"""Privacy rules as data: ε by person or group, change of value and situation; the smallest that applies counts.

Neighbouring tables differ in one person's value, and ε is public. An ε that is missing is refused, never assumed.
"""

from hetdp.spaces.privacy.grid import UNBOUNDED, on_grid
from hetdp.spaces.privacy.reading import from_document, from_json, from_toml
from hetdp.spaces.privacy.rules import Privacy, Rule, rules
from hetdp.spaces.privacy.situations import States, When, answer, within
from hetdp.spaces.privacy.table import Table

__all__ = [
    "UNBOUNDED",
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
