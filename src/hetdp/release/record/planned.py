"""What a record of a table says beyond its plan: as far as it follows from the plan, it is held against it."""

from __future__ import annotations

from typing import Any

from hetdp.release.charges import EPSILON, EVERYBODY, PERSON
from hetdp.release.record import words
from hetdp.spaces.privacy.grid import decimal
from hetdp.spaces.table.everybody import lowered
from hetdp.spaces.table.plan import Plan
from hetdp.spaces.table.wish import Wish

Document = dict[str, Any]
PLANNED = ("people", "allowed", "used")


def contradictions(record: Document, plan: Plan) -> list[str]:
    """The parts of a record, by their keys, that cannot belong to this plan, whoever is in the table.

    Args:
        record: the record.
        plan: the plan that was carried out.
    """
    promises, counts = record["privacy"]["promises"], plan.facts["counts"]
    people = counts["people"]
    fits = {
        "software": record["software"] == plan.facts["software"],
        "certificates": len(record["certificates"]) == len(plan.facts["areas"])
        and all(one.get("private") is True for one in record["certificates"]),
        "privacy.promises": _charges(promises) == _planned_charges(plan)
        and all(_is_promised(one, plan.wish) for one in promises),
        "not_protected": _is_public(record["not_protected"], promises, plan.wish, people),
        "composition": _is_paid(record["composition"], people),
    }
    return [key for key, is_so in fits.items() if not is_so]


def _charges(promises: list[Document]) -> list[Any]:
    """Whom a record promises what, and what of it is used."""
    return [(one["area"], one["whom"], one["people"], one["epsilon"], one["used"]) for one in promises]


def _planned_charges(plan: Plan) -> list[Any] | None:
    """The same, from the plan; None if it is one that we never wrote."""
    try:
        return [
            (area["area"], EVERYBODY if one["group"] is None else one["group"], *(one[name] for name in PLANNED))
            for area in plan.facts["areas"]
            for one in area["charges"]
        ]
    except (KeyError, TypeError):
        return None


def _is_promised(one: Document, wish: Wish) -> bool:
    """Whether a promise is one that the plan makes: to its groups, with the ε that it names for all or for a group."""
    if not (wish.group is not None or one["whom"] == EVERYBODY) or not one["odds"]:
        return False
    if not 0 <= (one["unprotected"] or 0) <= (one["people"] or 0):
        return False
    given = {name: one[name] for name in ("changes", "delta", "mu")}
    if any(value is not None for value in given.values()) or None in (one["least_epsilon"], one["epsilon"]):
        return False
    if wish.epsilon.column is not None:
        return True
    by_group = dict(wish.epsilon.by_group)
    promised = by_group.get(one["whom"]) if wish.epsilon.constant is None else wish.epsilon.constant
    return promised is not None and one["least_epsilon"] == one["epsilon"] == decimal(lowered(str(promised)))


def _is_public(said: list[str], promises: list[Document], wish: Wish, people: int) -> bool:
    """Whether this is said of what is not protected; the plan does not know who is only where they decide."""
    unprotected = sum(one["unprotected"] or 0 for one in promises)
    told = [words.PUBLIC_TABLE, words.PUBLIC_RELEASE]
    told += [words.unprotected_words(unprotected, people, "people")] if unprotected else []
    if said[: len(told)] != told or len(said) > len(told) + (wish.deciding is not None):
        return False
    return said[len(told) :] in ([], [words.only_deciding_words(_number(said[-1], people), people)])


def _number(sentence: str, people: int) -> int:
    first = sentence.split(" ")[0].replace(",", "")
    return int(first) if first.isdecimal() and len(first) < 20 else people


def _is_paid(composition: Document, people: int) -> bool:
    """Whether everybody paid for themselves; of which data, and how much, is for the ledger to say."""
    told = {"currency": EPSILON, "rule": words.RULES[EPSILON], "kind": PERSON, "accounts": people, "charged": []}
    return {key: composition[key] for key in told} == told
