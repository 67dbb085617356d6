"""Colours that colour-blind readers can tell apart, also in print: blue is answer 1, orange answer 2, grey neither.

Orange stays lighter than blue throughout, so that the two differ in shades of grey as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import LinearSegmentedColormap

SHADES = ((0.0, "#b35000"), (0.2, "#ee8a2a"), (0.5, "#ebebeb"), (0.8, "#3f82bd"), (1.0, "#0b4a80"))  # by p
ONE, TWO, HALF = "#0b4a80", "#b35000", "#ebebeb"
INK, SOFT, FAINT, PAPER = "#1a1a1a", "#6b7075", "#c9cdd1", "#ffffff"  # text and lines; edges; grids; background
LINES = (
    "#0b4a80",
    "#b35000",
    "#00785a",
    "#8a3b8f",
    "#6b5b00",
    "#000000",
)  # for several curves, which also differ in their dashes
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DARK_LUMINANCE = 0.2  # the luminance below which text is white


def colour_map() -> LinearSegmentedColormap:
    """The colour map from answer 2 through a light grey at p = ½ to answer 1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("hetdp", list(SHADES))


def text_colour_on(p: float) -> str:
    """A text colour that is legible on the colour of p.

    >>> text_colour_on(0.5), text_colour_on(1.0)
    ('#1a1a1a', '#ffffff')
    """
    red, green, blue = (value**2.2 for value in colour_map()(p)[:3])
    return PAPER if 0.2126 * red + 0.7152 * green + 0.0722 * blue < DARK_LUMINANCE else INK
