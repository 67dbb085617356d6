"""The proof of a mechanism before its release: a private copy is proved, and only that copy is drawn from.

Proofs are cached in this process under a digest of every byte that they depend on. A second release of the same bytes
needs no second proof; whatever differs in one bit is proved again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate, verify
from hetdp.certificate.losses import certain_answer
from hetdp.errors import FaultCollector, UsageError, VerificationError
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism, refuse_remote, seal
from hetdp.mechanism.resident import ResidentMechanism
from hetdp.problem.classes import classes_of
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.identity import PREFIX, identity_of
from hetdp.problem.problem import Problem, require_edges
from hetdp.problem.product import ProductSpace, is_listable
from hetdp.problem.space import Floats
from hetdp.releases.charges import Costs, account_name, costs_of

MOST_CACHED = 16  # cached proofs; the least recently used one makes room
LARGEST_CACHED = 100_000  # arcs and datasets of a problem whose proof is cached


@dataclass
class CachedProof:
    """A cached proof, and what else follows from the bytes alone.

    Attributes:
        certificate: the proof.
        digest: the digest by which the ledger finds the mechanism.
        costs: what it costs each account.
        facts: the facts of its record, as JSON; None until they are asked for.
    """

    certificate: Certificate
    digest: str
    costs: Costs
    facts: str | None = None


_cache: OrderedDict[bytes, CachedProof] = OrderedDict()
_lock = threading.Lock()


def find_proof(fingerprint: bytes | None) -> CachedProof | None:
    """The cached proof of these bytes, if there is one."""
    with _lock:
        found = None if fingerprint is None else _cache.get(fingerprint)
        if fingerprint is not None and found is not None:
            _cache.move_to_end(fingerprint)
        return found


def store_proof(fingerprint: bytes | None, found: CachedProof) -> None:
    """Caches a proof; the caller took the same fingerprint before and after the proof was made."""
    with _lock:
        if fingerprint is not None:
            _cache[fingerprint] = found
            while len(_cache) > MOST_CACHED:
                _cache.popitem(last=False)


def clear_cache() -> None:
    """Drops all cached proofs."""
    with _lock:
        _cache.clear()


def fingerprint_of(problem: Problem, mechanism: LocalMechanism) -> bytes | None:
    """A digest of a problem and a mechanism as they are in memory now; None if the proof is not to be cached.

    Args:
        problem: the problem; every byte is read again, and nothing that it has cached is used.
        mechanism: a copy of the one to be released, which nobody else holds.
    """
    graph = problem.graph
    if type(problem) is not Problem or type(graph) is not DatasetGraph or graph.size + graph.arc_count > LARGEST_CACHED:
        return None
    names, arrays = graph.identity_parts()
    if any(type(name) not in (str, int, float) for name in names):
        return None  # different names may have the same repr
    words = sorted(problem.about.items()), names, graph.parameter_names, problem.notion
    options = mechanism.objective, mechanism.moved, mechanism.objective_gap
    found = hashlib.sha256(identity_of(problem).encode())
    arrays += [mechanism.coordinates, mechanism.pinned, mechanism.links, problem.boundary_mask]
    text = repr((words, options, [(each.dtype.str, each.shape) for each in arrays])).encode("utf-8", "surrogatepass")
    found.update(len(text).to_bytes(8, "big") + text)
    for each in arrays:
        found.update(np.ascontiguousarray(each).data)
    return found.digest()


def parse_facts(text: str) -> dict[str, Any]:
    """Facts from their JSON: each release gets its own copy."""
    found: dict[str, Any] = json.loads(text)
    return found


TITLE = b"hetdp mechanism 1\n"
WORDS = ("title", "answer_1", "answer_2", "change", "privacy_unit", "neighbour_relation")  # of the record


@dataclass(frozen=True)
class ProvedMechanism:
    """A copy of a mechanism with its proof.

    Attributes:
        problem: its problem.
        mechanism: the copy that was proved; nobody else holds its arrays.
        certificate: the proof.
        digest: a digest of exactly these values for exactly this problem.
        costs: what it costs each account.
        certain: 1 or 2 if every dataset is given this answer for certain; else 0.
        fingerprint: the key of the cached proof; None if it is not cached.
    """

    problem: Problem
    mechanism: LocalMechanism | ResidentMechanism
    certificate: Certificate
    digest: str
    costs: Costs
    certain: int
    fingerprint: bytes | None = None


def prove(mechanism: Mechanism) -> ProvedMechanism:
    """Copies a mechanism and proves the copy on every edge of its problem, whatever certificate it has.

    A proof that this process made of exactly the same bytes is not repeated. A mechanism on a GPU is proved there, and
    not copied: nothing changes its values.

    Raises:
        UsageError: it is not a mechanism, or has no problem.
        VerificationError: it is not private.
    """
    if isinstance(mechanism, ResidentMechanism):
        return _prove_resident(mechanism)
    refuse_remote(mechanism, "released")
    if not isinstance(mechanism, LocalMechanism):
        raise UsageError(
            f"an object of the type {type(mechanism).__name__} cannot be released",  # as text it may name a dataset
            "a release takes a Mechanism or the result of hetdp.ask; a simulation is neither",
        )
    problem = require_edges(mechanism.problem, "a release proves every edge again")
    copy = _copy(mechanism, problem)
    before = fingerprint_of(problem, copy)
    found = find_proof(before)
    if found is None:
        certificate = _require_private(verify(problem, copy))
        found = CachedProof(certificate, digest_of(problem, copy.blocks()), costs_of(problem, copy.coordinates))
        before = before if before == fingerprint_of(problem, copy) else None  # the problem was changed meanwhile
        store_proof(before, found)
    copy = seal(replace(copy, certificate=found.certificate))
    certain = certain_answer(copy.coordinates)
    return ProvedMechanism(problem, copy, found.certificate, found.digest, found.costs, certain, before)


def _prove_resident(mechanism: ResidentMechanism) -> ProvedMechanism:
    """Proves a mechanism on its device again."""
    problem = mechanism.problem
    certificate = _require_private(verify(problem, mechanism))
    certain = 0
    if mechanism.against_coin.error == 0.0:  # every z is infinite
        answers = int(problem.answers.min()), int(problem.answers.max())
        certain = answers[0] if answers[0] == answers[1] else 0
    costs = costs_of(problem, mechanism)
    digest = digest_of(problem, mechanism.blocks())
    return ProvedMechanism(problem, mechanism, certificate, digest, costs, certain)


def _require_private(certificate: Certificate) -> Certificate:
    if not certificate.private:
        raise VerificationError(certificate, f"nothing is released, since the mechanism is {certificate}")
    return certificate


def _copy(mechanism: LocalMechanism, problem: Problem) -> LocalMechanism:
    """A plain mechanism of the same values, whatever its class; nobody else holds its arrays."""
    z, pinned, links = np.array(mechanism.coordinates), np.array(mechanism.pinned), np.array(mechanism.links)
    options: Any = {
        "moved": mechanism.moved,
        "objective": mechanism.objective,
        "objective_gap": mechanism.objective_gap,
    }
    return LocalMechanism(problem, z, pinned, links, **options)


def digest_of(problem: Problem, coordinates: Iterable[Floats]) -> str:
    """A digest of the problem's identity and words, the classes of its edges, and every z bit by bit; −0 is 0."""
    found = hashlib.sha256(TITLE)
    found.update(f"{problem.identity}\n{problem.notion.key} {problem.notion.coordinate.name}\n".encode())
    found.update(json.dumps({key: problem.about[key] for key in WORDS if key in problem.about}).encode() + b"\n")
    _add_classes(found, problem.graph)
    for block in coordinates:
        found.update(np.ascontiguousarray(block + 0.0, dtype="<f8").data)
    return PREFIX + found.hexdigest()


def _add_classes(digest: Any, graph: Any) -> None:
    """Adds the account of each edge, by its name in the ledger."""
    if isinstance(graph, ProductSpace) and not is_listable(graph):
        digest.update(json.dumps([account_name(axis.name) for axis in graph.axes]).encode() + b"\n")
        return
    named = graph.edge_classes()
    if isinstance(graph, ProductSpace):  # in the order of its file, so that both give the same digest
        source, target, *_ = graph.edges()
        named = [named[at] for at in np.lexsort((target, source)).tolist()] or None
    classes = classes_of(named, FaultCollector("edges"))
    if classes is not None:
        digest.update(json.dumps([account_name(name) for name in classes.names]).encode() + b"\n")
        digest.update(np.ascontiguousarray(classes.numbers, dtype="<i4").data)
