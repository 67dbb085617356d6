"""What neighbours of the other answer offer, when the labels that they will have are known, or are guessed."""

from __future__ import annotations

from hetdp.engines.contract import Roles
from hetdp.engines.cpu.grow import ROLE, Columns, edge_of
from hetdp.engines.cpu.meetings import meet
from hetdp.engines.cpu.settle import across
from hetdp.problem.space import Floats, Indices


def offers(indptr: Indices, targets: Indices, columns: Columns, labels: Floats, roles: Roles, start: Floats) -> None:
    """Lowers the start of each free dataset to the least offer over its edges from the other answer.

    A neighbour that settles before the two would meet offers what its label allows; one that does not, the meeting.
    """
    for source in range(len(indptr) - 1):
        role, label = roles[source] & ROLE, float(labels[source])
        for arc in range(indptr[source], indptr[source + 1]):
            target = targets[arc]
            if role == 0 or roles[target] & ROLE != 3 - role:
                continue
            edge = edge_of(columns, arc)
            offer = meet(*edge) + 0.0
            if label < offer:
                offer = across(label, *edge) + 0.0
            start[target] = min(start[target], offer)
