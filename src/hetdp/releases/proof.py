"""What was proved a while ago, kept in this process under a digest of every byte that it depends on.

A release of the same mechanism about new data needs no second proof: only the proof that these still are the very same
bytes. Whatever differs in one bit, wherever it is and however it came to differ, is proved anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate, verify
from hetdp.errors import UsageError, VerificationError
from hetdp.mechanism.mechanism import LocalMechanism, sealed
from hetdp.problem.classes import classes_of
from hetdp.problem.faults import FaultCollector
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.identity import PREFIX, identity_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace, is_listable
from hetdp.problem.space import Floats
from hetdp.releases.charges import Costs, account_name, costs_of

MOST = 16  # proofs that are kept; the one that was used least lately makes room
LARGEST = 100_000  # arcs and datasets of a problem whose proof is kept


@dataclass
class CachedProof:
    """What follows from the bytes alone.

    Attributes:
        certificate: the proof.
        digest: by which the ledger knows the mechanism.
        costs: what it costs whom.
        facts: what a record says of it, as JSON; None until that is asked for.
    """

    certificate: Certificate
    digest: str
    costs: Costs
    facts: str | None = None


_cache: OrderedDict[bytes, CachedProof] = OrderedDict()
_lock = threading.Lock()


def find_proof(fingerprint: bytes | None) -> CachedProof | None:
    """What is remembered of these bytes, if anything is."""
    with _lock:
        found = None if fingerprint is None else _cache.get(fingerprint)
        if fingerprint is not None and found is not None:
            _cache.move_to_end(fingerprint)
        return found


def store_proof(fingerprint: bytes | None, found: CachedProof) -> None:
    """Keeps something; the caller took the fingerprint before and after it was made, and it was the same."""
    with _lock:
        if fingerprint is not None:
            _cache[fingerprint] = found
            while len(_cache) > MOST:
                _cache.popitem(last=False)


def clear_cache() -> None:
    """Drops all cached proofs."""
    with _lock:
        _cache.clear()


def fingerprint_of(problem: Problem, mechanism: LocalMechanism) -> bytes | None:
    """A digest of a problem and a mechanism as they are in memory now; None where nothing is to be remembered.

    Args:
        problem: read anew, byte by byte; what it has computed of itself earlier is not believed.
        mechanism: a copy of the one to be released, which nobody else holds.
    """
    graph = problem.graph
    if type(problem) is not Problem or type(graph) is not DatasetGraph or graph.size + graph.arc_count > LARGEST:
        return None
    names, arrays = graph.beside()
    if any(type(name) not in (str, int, float) for name in names):
        return None  # two that differ may be written alike
    words = sorted(problem.about.items()), names, graph.parameter_names, problem.notion
    said = mechanism.objective, mechanism.moved, mechanism.objective_gap
    found = hashlib.sha256(identity_of(problem).encode())
    arrays += [mechanism.coordinates, mechanism.pinned, mechanism.links, problem.boundary_mask]
    text = repr((words, said, [(each.dtype.str, each.shape) for each in arrays])).encode("utf-8", "surrogatepass")
    found.update(len(text).to_bytes(8, "big") + text)
    for each in arrays:
        found.update(np.ascontiguousarray(each).data)
    return found.digest()


def parse_facts(text: str) -> dict[str, Any]:
    """Facts from their JSON: each release has its own."""
    found: dict[str, Any] = json.loads(text)
    return found


# Exactly these bytes: a private copy of a mechanism is proved, and only that copy is looked up and drawn from.


TITLE = b"hetdp mechanism 1\n"
WORDS = ("title", "answer_1", "answer_2", "change", "privacy_unit", "neighbour_relation")  # what a record says


@dataclass(frozen=True)
class ProvedMechanism:
    """A mechanism as it was proved a moment ago.

    Attributes:
        problem: what it answers.
        mechanism: the copy that was proved; nobody else holds its arrays.
        certificate: the proof.
        digest: by which these very values, for this very problem, are known.
        costs: what it costs whom.
        fingerprint: under which the proof is remembered; None if it is not.
    """

    problem: Problem
    mechanism: LocalMechanism
    certificate: Certificate
    digest: str
    costs: Costs
    fingerprint: bytes | None = None


def prove(mechanism: LocalMechanism) -> ProvedMechanism:
    """Copies a mechanism, and proves the copy on every edge of its problem, whatever it says was proved before.

    A proof that this process made itself, of exactly the same bytes, is not made twice.

    Raises:
        UsageError: it is no mechanism, or has no problem.
        VerificationError: it is not private.
    """
    if not isinstance(mechanism, LocalMechanism):
        raise UsageError(
            f"an object of the type {type(mechanism).__name__} cannot be released",  # as text it may name a dataset
            "a release takes a Mechanism, or what hetdp.ask gives; a simulation is neither",
        )
    problem = mechanism.problem
    if not isinstance(problem, Problem):
        rule = "a release proves every edge again"
        raise UsageError(
            "this mechanism was loaded without its problem", rule, "hetdp.read_mechanism(path, problem) joins them"
        )
    copy = _copied(mechanism, problem)
    before = fingerprint_of(problem, copy)
    found = find_proof(before)
    if found is None:
        certificate = verify(problem, copy)
        if not certificate.private:
            raise VerificationError(certificate, f"nothing is released, since the mechanism is {certificate}")
        found = CachedProof(certificate, digest_of(problem, copy.coordinates), costs_of(problem, copy.coordinates))
        before = before if before == fingerprint_of(problem, copy) else None  # somebody is changing the problem
        store_proof(before, found)
    copy = sealed(replace(copy, certificate=found.certificate))
    return ProvedMechanism(problem, copy, found.certificate, found.digest, found.costs, before)


def _copied(mechanism: LocalMechanism, problem: Problem) -> LocalMechanism:
    """A plain Mechanism of the same values, whatever class it was of; nobody else holds its arrays."""
    z, pinned, links = np.array(mechanism.coordinates), np.array(mechanism.pinned), np.array(mechanism.links)
    told: Any = {"moved": mechanism.moved, "objective": mechanism.objective, "objective_gap": mechanism.objective_gap}
    return LocalMechanism(problem, z, pinned, links, **told)


def digest_of(problem: Problem, coordinates: Floats) -> str:
    """A digest of the problem's identity, its words, whose edges they are, and every z, bit by bit; zeros are one."""
    found = hashlib.sha256(TITLE)
    found.update(f"{problem.identity}\n{problem.notion.key} {problem.notion.coordinate.name}\n".encode())
    found.update(json.dumps({key: problem.about[key] for key in WORDS if key in problem.about}).encode() + b"\n")
    _add_classes(found, problem.graph)
    found.update(np.ascontiguousarray(coordinates + 0.0, dtype="<f8").data)
    return PREFIX + found.hexdigest()


def _add_classes(digest: Any, graph: Any) -> None:
    """Adds who pays for which edge, as the ledger calls them."""
    if isinstance(graph, ProductSpace) and not is_listable(graph):
        digest.update(json.dumps([account_name(axis.name) for axis in graph.axes]).encode() + b"\n")
        return
    named = graph.edge_classes()
    if isinstance(graph, ProductSpace):  # as its file lists them, so that both are the same release
        source, target, *_ = graph.edges()
        named = [named[at] for at in np.lexsort((target, source)).tolist()] or None
    classes = classes_of(named, FaultCollector("edges"))
    if classes is not None:
        digest.update(json.dumps([account_name(name) for name in classes.names]).encode() + b"\n")
        digest.update(np.ascontiguousarray(classes.numbers, dtype="<i4").data)
