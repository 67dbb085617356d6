"""The path that is lit in the picture: what binds the chosen dataset, or why values contradict each other."""

from __future__ import annotations

from hetdp.mechanism.explanation import BindingPath
from hetdp.studio.state import Session


def lit_path(session: Session) -> tuple[list[int], BindingPath | None]:
    """The path that is lit: the witness if there is one, else what binds the chosen dataset."""
    found, path = session.answer, None
    if found.witness is not None:
        path = found.witness.path
    elif found.mechanism is not None and session.selection.kind == "dataset":
        path = explained(session)
    if path is None:
        return [], None
    return [session.sheet.problem.graph.index(name) for name in path.datasets], path


def explained(session: Session) -> BindingPath | None:
    """Why the chosen dataset is not answered better; None where that has no explanation by a path."""
    found = session.answer.mechanism
    if found is None or session.selection.kind != "dataset" or found.objective == "weighted-vote":
        return None
    path: BindingPath | None
    mechanism, number, path = session.memo.get("explained", (None, -1, None))
    if mechanism is not found or number != session.selection.number:
        number = session.selection.number
        path = found.explain(session.sheet.problem.graph.label(number))
        session.memo["explained"] = (found, number, path)  # the words and the picture both need it
    return path
