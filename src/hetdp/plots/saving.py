"""A picture as a file: in SVG text stays text, and nothing says when it was made, so that files can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetdp.plots.settings import own_settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".pdf")
DOTS = 200  # per inch
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "hetdp", "pdf.fonttype": 42}


def draw_to(axes: Axes, place: Path, form: str, dots: int = DOTS) -> None:
    """Writes the figure of some axes.

    Args:
        axes: what was drawn on.
        place: the name of the file, whatever it ends in.
        form: one of `SUFFIXES`.
        dots: per inch, in PNG, and in the parts of other formats that are painted.
    """
    from matplotlib import rc_context

    nothing: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None, "Creator": None},
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    figure: Any = axes.get_figure(root=True)
    with own_settings(), rc_context(SETTINGS), place.open("wb") as file:
        figure.savefig(file, format=form.removeprefix("."), dpi=dots, metadata=nothing[form], facecolor="white")
