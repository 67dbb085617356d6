"""The registry of proofs: one line for each notion of privacy. No other place of the verifier knows them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hetdp.certificate import additive, directed, renyi
from hetdp.certificate.rule import Rule
from hetdp.errors import UsageError

RULES: dict[str, Rule | Callable[..., Rule]] = {  # a notion with settings has a function of these
    "pure": additive.PURE,
    "bounded-range": additive.BOUNDED_RANGE,
    "gaussian": additive.GAUSSIAN,
    "directed": directed.DIRECTED,
    "approximate": directed.APPROXIMATE,
    "renyi": renyi.renyi,
}


def rule_of(notion: Any) -> Rule:
    """The proof for a notion with its settings, or a refusal."""
    found = RULES.get(notion.name)
    if found is None:
        known = ", ".join(repr(name) for name in RULES)
        raise UsageError(f"no proof is known for the notion {notion.name!r}", f"verify knows {known}")
    return found if isinstance(found, Rule) else found(**dict(notion.settings))
