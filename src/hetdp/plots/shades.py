"""The scale of colours beside a picture, and the words for the two answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hetdp.plots.canvas import SMALL, plain, readable
from hetdp.plots.colours import INK, scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANSWERS = ("answer_1", "answer_2")  # the keys of a problem's words


def answer_words(about: Mapping[str, str]) -> tuple[str, str]:
    """What the two answers are called.

    >>> answer_words({"answer_1": "adopted"}), answer_words({})
    (('adopted', 'answer 2'), ('answer 1', 'answer 2'))
    """
    one, two = (readable(about.get(key) or key.replace("_", " ")) for key in ANSWERS)
    return one, two


def add_scale(axes: Axes, about: Mapping[str, str], beside: Any = None) -> None:
    """Adds the scale of p on the right."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure: Any = axes.get_figure()
    bar = figure.colorbar(
        beside or ScalarMappable(Normalize(0.0, 1.0), scale()), ax=axes, fraction=0.04, aspect=32, pad=0.02
    )
    bar.outline.set(linewidth=0.4, edgecolor=INK)
    bar.ax.tick_params(labelsize=SMALL, width=0.5, length=2)
    bar.set_ticks([0.0, 0.25, 0.5, 0.75, 1.0], labels=["0", "¼", "½", "¾", "1"])
    bar.set_label(f"probability that\n“{answer_words(about)[0]}” is published", fontsize=SMALL)
    plain(bar.ax.yaxis.label)


def hundredths(p: float) -> str:
    """p in two digits; never a whole 0 or 1 where it is none.

    >>> hundredths(0.574), hundredths(1.0), hundredths(0.9999), hundredths(0.0001)
    ('.57', '1', '>.99', '<.01')
    """
    if p in (0.0, 1.0):
        return str(int(p))
    if p > 0.995 or p < 0.005:
        return ">.99" if p > 0.5 else "<.01"
    return f"{p:.2f}".removeprefix("0")
