"""A figure that is written as journals want it: fonts are embedded as outlines, and text in SVG stays text.

This module imports matplotlib when it is imported.
"""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.figure import Figure

SETTINGS: dict[str, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42}


class PaperFigure(Figure):  # type: ignore[misc]
    """A figure whose `savefig` uses `SETTINGS`, except those that the user has changed."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Writes the figure as `Figure.savefig` does."""
        given, usual = matplotlib.rcParams, matplotlib.rcParamsDefault
        with matplotlib.rc_context({name: SETTINGS[name] for name in SETTINGS if given[name] == usual[name]}):
            super().savefig(*arguments, **options)
