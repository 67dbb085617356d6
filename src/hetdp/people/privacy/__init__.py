"""Privacy rules as data; `hetdp.privacy` is their public name.

`rule` holds the rules and the table of ε that they make, `situations` when a rule applies and how far each dataset is
from the other answer, `epsilons` how an ε is read, rounded down to the grid and written, and `meaning` what it means
in everyday terms.

`people` and the packages above it may import this package; `files`, `mechanism` and the packages below may not.
"""

from hetdp.people.privacy.meaning import Strength, strength
from hetdp.people.privacy.rule import Privacy, Rule, Table, from_document, from_json, from_toml, rules
from hetdp.people.privacy.situations import States, When, answer, within

__all__ = [
    "Privacy",
    "Rule",
    "States",
    "Strength",
    "Table",
    "When",
    "answer",
    "from_document",
    "from_json",
    "from_toml",
    "rules",
    "strength",
    "within",
]
