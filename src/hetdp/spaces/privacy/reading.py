"""Written privacy rules, read back: strictly, so that no promise is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetdp.errors import Fault, shown
from hetdp.problem.findings import Findings
from hetdp.spaces.documents import built, opened, parsed_json, parsed_toml, refuse
from hetdp.spaces.privacy.rules import Privacy, Rule

KIND = "privacy"


def from_document(document: Mapping[str, Any]) -> Privacy:
    """Privacy rules from a document, as `Privacy.document` gives it; the keys of a rule are the arguments of `Rule`.

    Args:
        document: the document, as `json` or `tomllib` reads it.

    Raises:
        InputError: a key is unknown or missing, or a value is refused; all faults of all rules are listed.

    >>> import hetdp
    >>> promised = hetdp.privacy.rules(1, deciding=0.3)
    >>> hetdp.privacy.from_document(promised.document()) == promised
    True
    """
    found = opened(document, KIND, "rules")
    if not isinstance(found, list) or not found:
        refuse(KIND, Fault("rules", KIND, shown(found), "there is a list of one rule or more"))
    findings, rules = Findings(KIND), []
    for at, body in enumerate(found):
        with findings.collecting():
            keys = body if isinstance(body, Mapping) else {}
            if keys is not body:
                refuse(KIND, Fault("no object:", f"rules[{at}]", shown(body), "a rule has the key epsilon"))
            rules.append(built(Rule, keys, f"rules[{at}]"))
    findings.raise_if_any()
    return Privacy(rules)


def from_json(text: str) -> Privacy:
    """Privacy rules from a JSON text; each ε is kept as it is written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no JSON, or no privacy rules.

    >>> import hetdp
    >>> print(hetdp.privacy.from_json('{"schema_version": 1, "kind": "privacy", "rules": [{"epsilon": 0.50}]}'))
    everybody: 0.50
    """
    return from_document(parsed_json(text, KIND))


def from_toml(text: str) -> Privacy:
    """Privacy rules from a TOML text; each ε is kept as it is written.

    Args:
        text: the document.

    Raises:
        InputError: the text is no TOML, or no privacy rules.

    >>> import hetdp
    >>> print(hetdp.privacy.from_toml('''
    ... schema_version = 1
    ... kind = "privacy"
    ... rules = [{epsilon = 1}, {epsilon = 0.3, groups = "Pupils", when = {within = 2}}]
    ... '''))
    Pupils: 0.3 within 2 of the threshold, else 1
    everybody else: 1
    """
    return from_document(parsed_toml(text, KIND))
