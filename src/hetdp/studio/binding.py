"""The path that binds the selected dataset, or that shows a contradiction: the same in words and in all pictures."""

from __future__ import annotations

from typing import Any, NamedTuple

from hetdp.mechanism.explanation import BindingPath
from hetdp.studio.session import Session


class HighlightedPath(NamedTuple):
    """The path that is highlighted.

    Attributes:
        datasets: the datasets, from the neighbour across the boundary, if there is one, to the last one.
        classes: the class of the edge of each step.
        is_loose: True if the first edge crosses the boundary and leaves the next value room.
        path: the path itself; None if nothing is highlighted.
    """

    datasets: list[int]
    classes: list[Any]
    is_loose: bool = False
    path: BindingPath | None = None

    def until(self, steps: int | None) -> HighlightedPath:
        """The beginning of the path; all of it if the number of steps is None."""
        return self if steps is None else self._replace(datasets=self.datasets[: steps + 1])


def highlighted_path(session: Session) -> HighlightedPath:
    """The highlighted path: that of the witness, or else the binding path of the selected dataset."""
    found = session.answer
    path = binding_path(session) if found.witness is None else found.witness.path
    if path is None:
        return HighlightedPath([], [])
    across = [] if path.across is None else [path.across.edge_class]
    is_loose = path.across is not None and not path.across.tight
    datasets = [session.document.problem.graph.index(name) for name in path.crossing]
    return HighlightedPath(datasets, [*across, *path.classes], is_loose, path)


def binding_path(session: Session) -> BindingPath | None:
    """The path that binds the selected dataset; None if no dataset is selected, or no path explains its value."""
    found = session.answer.mechanism
    if found is None or session.selection.kind != "dataset" or found.objective == "weighted-vote":
        return None
    path: BindingPath | None
    mechanism, number, path = session.cache.get("explained", (None, -1, None))
    if mechanism is not found or number != session.selection.number:
        number = session.selection.number
        path = found.explain(session.document.problem.graph.label(number))
        session.cache["explained"] = (found, number, path)  # the panel and the picture need it
    return path
