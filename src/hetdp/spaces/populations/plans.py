"""A population's mechanism, written down: which question, which policy by its digest, which objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetdp.errors import Fault, shown
from hetdp.spaces.documents import VERSION, opened, refuse, require_keys
from hetdp.spaces.populations.population import OBJECTIVES, Population
from hetdp.version import VERSION as SOFTWARE

if TYPE_CHECKING:
    from hetdp.spaces.populations.mechanism import PopulationMechanism

KIND, CONTENT = "population mechanism", "mechanism"
KEYS = ("question", "values", "groups", "size", "policy", "objective", "software")


def document_of(mechanism: PopulationMechanism) -> dict[str, Any]:
    """The document."""
    people = mechanism.population
    facts = {
        "question": people.question.body(),
        "values": list(people.values),
        "groups": list(people.groups),
        "size": people.size,
        "policy": people.digest,
        "objective": mechanism.objective,
        "software": f"hetdp {SOFTWARE}",
    }
    return {"schema_version": VERSION, "kind": KIND, CONTENT: facts}


def objective_of(document: Mapping[str, Any], population: Population) -> str:
    """The objective that a document has, if it is about this population and made by this version.

    Raises:
        InputError: it is not.
    """
    facts = opened(document, KIND, CONTENT)
    require_keys(facts, KEYS, KEYS, CONTENT)
    if facts["objective"] not in OBJECTIVES:
        rule = f"it is one of {', '.join(OBJECTIVES)}"
        refuse(CONTENT, Fault("objective", CONTENT, shown(facts["objective"]), rule))
    mine = document_of(population.design(facts["objective"]))[CONTENT]
    for key in KEYS:
        if facts[key] != mine[key]:
            rule = f"here it is {shown(mine[key])}, and a plan holds for one policy and one version only"
            refuse(CONTENT, Fault(f"another {key}:", CONTENT, shown(facts[key]), rule))
    return str(facts["objective"])
