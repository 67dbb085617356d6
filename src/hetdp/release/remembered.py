"""What was proved a while ago, kept in this process under a digest of every byte that it depends on.

A release of the same mechanism about new data needs no second proof: only the proof that these still are the very same
bytes. Whatever differs in one bit, wherever it is and however it came to differ, is proved anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.certificate.certificate import Certificate
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.identity import identity_of
from hetdp.problem.problem import Problem
from hetdp.release.charges import Costs

MOST = 16  # proofs that are kept; the one that was used least lately makes room
LARGEST = 100_000  # arcs and datasets of a problem whose proof is kept


@dataclass
class Remembered:
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


_known: OrderedDict[bytes, Remembered] = OrderedDict()
_lock = threading.Lock()


def known(fingerprint: bytes | None) -> Remembered | None:
    """What is remembered of these bytes, if anything is."""
    with _lock:
        found = None if fingerprint is None else _known.get(fingerprint)
        if fingerprint is not None and found is not None:
            _known.move_to_end(fingerprint)
        return found


def remember(fingerprint: bytes | None, found: Remembered) -> None:
    """Keeps something; the caller took the fingerprint before and after it was made, and it was the same."""
    with _lock:
        if fingerprint is not None:
            _known[fingerprint] = found
            while len(_known) > MOST:
                _known.popitem(last=False)


def fingerprint_of(problem: Problem, mechanism: Mechanism) -> bytes | None:
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


def told(text: str) -> dict[str, Any]:
    """Facts from their JSON: each release has its own."""
    found: dict[str, Any] = json.loads(text)
    return found
