"""The parts that all pictures share: matplotlib with the user's settings, axes, texts, legends and the colour bar.

A settings file in the working folder is never read.
Such a file, ``matplotlibrc``, could make matplotlib start LaTeX, among other things. The user's own settings are in the
file that the environment variable ``MATPLOTLIBRC`` names, or else in matplotlib's configuration folder. What a program
has set since it imported matplotlib is its own as well.
"""

from __future__ import annotations

import logging
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from hetdp.errors import UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.isolation import ignore_file
from hetdp.plots.colours import FAINT, INK, SOFT, colour_map
from hetdp.problem import answer_words as words
from hetdp.text import escape_unprintable, format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SETTINGS_FILE = "matplotlibrc"


@contextmanager
def import_matplotlib() -> Iterator[None]:
    """The block imports modules of matplotlib; the settings file in the working folder is not read.

    Raises:
        UsageError: matplotlib is not installed, or does not load.
    """
    try:
        _library()
        with delay_interrupts():
            yield
    except ImportError as failure:
        raise import_refusal(failure) from None


@contextmanager
def own_settings() -> Iterator[None]:
    """Draws with the user's own settings, even if a program imported matplotlib in a foreign working folder."""
    library = _library()
    found = {
        name: value for name, value in _local_settings().items() if library.rcParams[name] == library.rcParamsOrig[name]
    }
    if not found:
        yield
    else:
        with library.rc_context(found):
            yield


_loaded_before: list[bool] = []  # whether the program imported matplotlib before it was needed here


def _library() -> Any:
    if not _loaded_before:
        _loaded_before.append("matplotlib" in sys.modules)
    with ignore_file(SETTINGS_FILE), delay_interrupts():
        import matplotlib
    return matplotlib


@cache
def _local_settings() -> dict[str, Any]:
    """The settings that matplotlib read in the working folder, with the values they would have otherwise."""
    if not _loaded_before[0]:
        return {}
    library = _library()
    with ignore_file(SETTINGS_FILE):
        own = library.rc_params_from_file(library.matplotlib_fname())
    read = library.rcParamsOrig
    return {name: own[name] for name in own if name in read and name != "backend" and own[name] != read[name]}


SMALL, USUAL = 7.0, 8.0  # points, for a picture printed at the width of a page or column
LEGEND_GAP = 27.0  # points between a picture and its legend
LONGEST_LABEL = 24  # characters of a label; a longer one is cut in the middle
MISSING_GLYPH = "□"  # replaces characters that the font does not have
MISSING = "pictures are drawn by matplotlib, which is not installed"


def axes_for(given: Any, size: tuple[float, float]) -> Axes:
    """The axes to draw on: the given ones, or those of a new figure of a size in inches.

    Raises:
        UsageError: matplotlib is not installed, or something other than axes was given.
    """
    if given is None:
        with import_matplotlib():
            from matplotlib import pyplot
        with own_settings():
            return pyplot.subplots(figsize=size, layout="constrained")[1]
    with import_matplotlib():
        from matplotlib.axes import Axes
    if not isinstance(given, Axes):
        raise UsageError(f"axes={format_value(given)}", "a picture is drawn on matplotlib's Axes")
    return given


def detached_axes() -> Any:
    """Axes of a figure that pyplot does not manage, for the command line and the studio.

    Raises:
        UsageError: matplotlib is not installed.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it would report building its font cache
    with import_matplotlib():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    with own_settings():
        figure = Figure(figsize=(6.3, 4.0), layout="constrained")
        FigureCanvasAgg(figure)
        return figure.add_subplot()


def import_refusal(failure: ImportError) -> UsageError:
    """The error if matplotlib is not installed or cannot be imported."""
    if failure.name != "matplotlib":
        return UsageError(f"matplotlib does not load: {escape_unprintable(str(failure))}", "pictures are drawn by it")
    return UsageError(
        MISSING, "it comes with the extra plots", "pip install '.[plots]', in the folder of hetdp's sources"
    )


def drawable_text(value: Any, longest: int = LONGEST_LABEL) -> str:
    r"""A text that can be drawn: on one line, not too long, with only characters that the font has.

    >>> drawable_text("a\nb"), drawable_text("x" * 30, 9), drawable_text(7)
    ('a\\nb', 'xxxx…xxxx', '7')
    """
    text = unicodedata.normalize("NFC", escape_unprintable(str(value)))
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return "".join(character if _has_glyph(ord(character)) else MISSING_GLYPH for character in text) or '""'


@lru_cache(maxsize=4096)
def _has_glyph(number: int) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return number < 128 or bool(get_font(findfont(FontProperties())).get_char_index(number))


def disable_math(*texts: Any) -> None:
    """Prevents dollar signs from starting formulas."""
    for text in texts:
        text.set_parse_math(False)


def label_axes(axes: Axes, across: str = "", up: str = "") -> None:
    """Labels both axes."""
    disable_math(axes.set_xlabel(across, fontsize=USUAL, color=INK), axes.set_ylabel(up, fontsize=USUAL, color=INK))


def add_title(axes: Axes, title: str | None, caution: str = "") -> None:
    """Adds a title, and below it a caution, if there are any."""
    lines = [drawable_text(words, 90) for words in (title, caution and f"Caution: {caution}") if words]
    if lines:
        disable_math(axes.set_title("\n".join(lines), fontsize=USUAL + 1, color=INK, loc="left"))


def write_message(axes: Axes, words: str) -> None:
    """Writes a message where there is nothing to draw."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": USUAL, "color": INK}
    disable_math(axes.text(0.5, 0.5, words, transform=axes.transAxes, **style))


def style_axes(axes: Axes, grid: str | None = None) -> None:
    """Makes axes and grid thin and small, so that the data stand out."""
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set(color=SOFT, linewidth=0.6)
    axes.tick_params(labelsize=SMALL, colors=INK, width=0.6, length=2.5)
    if grid is not None:
        axes.grid(axis=grid, color=FAINT, linewidth=0.4)
        axes.set_axisbelow(True)


def add_legend_below(axes: Axes, handles: list[Any], words: list[str], columns: int = 4) -> None:
    """Adds a legend below the picture; its texts may begin with an underscore."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    figure: Any = axes.get_figure(root=True)
    wide = 72.0 * figure.get_size_inches()[0]
    below = axes.transAxes + ScaledTranslation(0.0, -LEGEND_GAP / 72.0, figure.dpi_scale_trans)
    legend = axes.legend(
        handles,
        ["-"] * len(words),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        ncol=max(1, min(columns, len(words), int(wide // (max(map(len, words)) * 0.55 * SMALL + 32.0)))),
        frameon=False,
        fontsize=SMALL,
        handlelength=2.2,
        columnspacing=1.4,
    )
    for text, word in zip(legend.get_texts(), words, strict=True):
        disable_math(text)
        text.set(text=word, color=INK)


def size_in_points(axes: Axes) -> tuple[float, float]:
    """The approximate width and height of the axes."""
    box, figure = axes.get_position(), axes.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    return 72.0 * width * box.width, 72.0 * height * box.height


def answer_names(about: Mapping[str, str]) -> tuple[str, str]:
    """The names of the two answers.

    >>> answer_names({"answer_1": "adopted"}), answer_names({})
    (('adopted', 'answer 2'), ('answer 1', 'answer 2'))
    """
    one, two = map(drawable_text, words.answer_words(about))
    return one, two


def add_colour_bar(axes: Axes, about: Mapping[str, str], beside: Any = None) -> None:
    """Adds the colour bar of p on the right."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure: Any = axes.get_figure()
    bar = figure.colorbar(
        beside or ScalarMappable(Normalize(0.0, 1.0), colour_map()), ax=axes, fraction=0.04, aspect=32, pad=0.02
    )
    bar.outline.set(linewidth=0.4, edgecolor=INK)
    bar.ax.tick_params(labelsize=SMALL, width=0.5, length=2)
    bar.set_ticks([0.0, 0.25, 0.5, 0.75, 1.0], labels=["0", "¼", "½", "¾", "1"])
    bar.set_label(f"probability that\n“{answer_names(about)[0]}” is published", fontsize=SMALL)
    disable_math(bar.ax.yaxis.label)


def two_digits(p: float) -> str:
    """p in two digits; 0 and 1 only if it is exactly that.

    >>> two_digits(0.574), two_digits(1.0), two_digits(0.9999), two_digits(0.0001)
    ('.57', '1', '>.99', '<.01')
    """
    if p in (0.0, 1.0):
        return str(int(p))
    if p > 0.995 or p < 0.005:
        return ">.99" if p > 0.5 else "<.01"
    return f"{p:.2f}".removeprefix("0")
