"""The parts that all pictures share: matplotlib with the user's settings, axes, texts, legends and the colour bar.

A settings file in the working folder is never read. Such a file, ``matplotlibrc``, could make matplotlib start LaTeX,
among other things. The user's own settings are in the file that the environment variable ``MATPLOTLIBRC`` names, or
else in matplotlib's configuration folder. Settings that the program itself has made are used as well.
"""

from __future__ import annotations

import logging
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from numbers import Real
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

from hetdp.errors import UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.isolation import ignore_file
from hetdp.plots.colours import FAINT, INK, SOFT, colour_map
from hetdp.problem import answer_words as words
from hetdp.text import did_you_mean, escape_unprintable, format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SETTINGS_FILE = "matplotlibrc"


@contextmanager
def import_matplotlib() -> Iterator[None]:
    """A context for importing modules of matplotlib without reading the settings file in the working folder.

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


_loaded_before: list[bool] = []  # whether the program imported matplotlib before hetdp did


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
WIDTHS = {"column": 3.3, "page": 7.0}  # inches: one and two columns of a paper
LEAST_WIDTH, MOST_WIDTH = 2.5, 20.0  # inches
WIDTH_RULE = f"a width is 'column' (3.3 inches), 'page' (7 inches), or inches from {LEAST_WIDTH:g} to {MOST_WIDTH:g}"
LINE_HEIGHT = 1.2  # of a line of text, divided by its size
LEGEND_GAP = 4.0  # points between a picture and its legend
LONGEST_LABEL = 24  # characters of a label; a longer one is cut in the middle
BOUNDARY: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": (0, (4, 3))}  # the line of the boundary
MISSING_GLYPH = "□"  # replaces characters that the font does not have
MISSING = "pictures are drawn by matplotlib, which is not installed"


def inches_of(width: Any) -> float | None:
    """A width in inches; None for the width that suits a picture.

    Raises:
        UsageError: it is neither a name nor a number of inches in the range.

    >>> inches_of("column"), inches_of(5), inches_of(None)
    (3.3, 5.0, None)
    """
    if width is None:
        return None
    if isinstance(width, str) and width in WIDTHS:
        return WIDTHS[width]
    is_number = isinstance(width, Real) and not isinstance(width, bool)
    if not is_number or not LEAST_WIDTH <= float(width) <= MOST_WIDTH:
        hint = did_you_mean(width, WIDTHS) if isinstance(width, str) else ""
        raise UsageError(f"width={format_value(width)}", WIDTH_RULE, hint)
    return float(width)


def axes_for(given: Any, size: tuple[float, float]) -> Axes:
    """The axes to draw on: the given ones, or those of a new figure of a size in inches.

    Raises:
        UsageError: matplotlib is not installed, or something other than axes was given.
    """
    if given is None:
        with import_matplotlib():
            from matplotlib import pyplot

            from hetdp.plots.figure import PaperFigure
        with own_settings():
            return pyplot.figure(FigureClass=PaperFigure, figsize=size, layout="constrained").add_subplot()
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
    return _shorten(_with_glyphs(value), longest) or '""'


def _with_glyphs(value: Any) -> str:
    text = unicodedata.normalize("NFC", escape_unprintable(str(value)))
    return "".join(character if _has_glyph(ord(character)) else MISSING_GLYPH for character in text)


def _shorten(text: str, longest: int) -> str:
    half = max((longest - 1) // 2, 1)
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def distinct_texts(values: Sequence[Any], longest: int = LONGEST_LABEL) -> list[str]:
    """Texts that can be drawn, as by `drawable_text`, but different values stay different.

    Texts that would look alike begin where they differ; if they still look alike, they are numbered.

    >>> distinct_texts(["a", "a" * 20, "District 9, eastern", "District 9, western"], 9)
    ['a', 'aaaa…aaaa', '…eastern', '…western']
    >>> distinct_texts(["x" * 20, "x" * 21], 9)
    ['xx…xx #1', 'xx…xx #2']
    """
    whole = {str(value): _with_glyphs(value) for value in values}
    shown = {value: _shorten(text, longest) or '""' for value, text in whole.items()}
    numbered: set[str] = set()
    for same in _group_alike(shown):
        start = len(commonprefix([whole[value] for value in same]))  # noqa: RUF071 (these are no paths)
        if all(len(whole[value]) > start for value in same):
            shown |= {value: "…" + _shorten(whole[value][start:], longest - 1) for value in same}
    while again := _group_alike(shown):
        numbered = {value for same in again for value in same} if not numbered else set(shown)
        for number, value in enumerate(shown, 1):
            if value in numbered:
                shown[value] = f"{_shorten(whole[value], longest - 2 - len(str(number)))} #{number}"
    return [shown[str(value)] for value in values]


def _group_alike(shown: Mapping[str, str]) -> list[list[str]]:
    """The groups of several values that have the same text."""
    groups: dict[str, list[str]] = {}
    for value, text in shown.items():
        groups.setdefault(text, []).append(value)
    return [group for group in groups.values() if len(group) > 1]


@lru_cache(maxsize=4096)
def _has_glyph(number: int) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return number < 128 or bool(get_font(findfont(FontProperties())).get_char_index(number))


def disable_math(*texts: Any) -> None:
    """Prevents dollar signs from starting formulas."""
    for text in texts:
        text.set_parse_math(False)


def text_size(text: str, points: float, spacing: float = LINE_HEIGHT) -> tuple[float, float]:
    """The width and height of a text of some size, in points."""
    lines = text.split("\n")
    return points * max(map(_relative_width, lines)), points * spacing * len(lines)


@lru_cache(maxsize=8192)
def _relative_width(line: str) -> float:
    """The width of a line of text divided by its size; a little is added, since screens round letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return 1.03 * float(text_to_path.get_text_width_height_descent(line, FontProperties(size=10), False)[0]) / 10.0


SPACES = re.compile(" (?![=…])(?<![=…] )")  # where a line may end: not beside a sign
GOOD_SPACES = re.compile(SPACES.pattern + "(?![^“]*”)")  # and, if possible, not within a quoted name


def wrap_text(text: str, width: float, points: float) -> str:
    """Breaks a text between words into lines of at most this width in points, where that is possible.

    A line that is too long is broken at two spaces first.
    """
    lines: list[str] = []
    for whole in text.split("\n"):
        parts = whole.split("  ") if text_size(whole, points)[0] > width else [whole]
        lines += [line for part in parts for line in _wrap(part, width, points)]
    return "\n".join(lines)


def _wrap(text: str, width: float, points: float) -> list[str]:
    words = GOOD_SPACES.split(text)
    if any(text_size(word, points)[0] > width for word in words):
        words = SPACES.split(text)
    lines, line = [], ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if line and text_size(longer, points)[0] > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def label_axes(axes: Axes, across: str = "", up: str = "") -> None:
    """Labels both axes, in lines that are not longer than the axes, and as few as possible."""
    words = wrap_text(across, size_in_points(axes)[0], USUAL), wrap_text(up, LEAST_HEIGHT - 4.0, USUAL)
    horizontal = axes.set_xlabel(words[0], fontsize=USUAL, color=INK)
    vertical = axes.set_ylabel(words[1], fontsize=USUAL, color=INK)
    disable_math(horizontal, vertical)


def add_title(axes: Axes, title: str | None, caution: str = "") -> None:
    """Adds a title, and below it a caution, if there are any."""
    lines = [drawable_text(words, 90) for words in (title, caution and f"Caution: {caution}") if words]
    if lines:
        words = wrap_text("\n".join(lines), size_in_points(axes)[0], USUAL + 1)
        disable_math(axes.set_title(words, fontsize=USUAL + 1, color=INK, loc="left"))


def count_ticks(axes: Axes, largest: float, most: int = 12) -> int:
    """The number of ticks for whole numbers up to some number whose labels do not touch."""
    return max(1, min(most, int(size_in_points(axes)[0] / (text_size(f"{largest:,.0f}", SMALL)[0] + 8.0))))


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


def add_text_legend(axes: Axes, handles: list[Any], words: list[str], **options: Any) -> None:
    """Adds a legend without a frame; its texts are shown as they are, and may begin with an underscore."""
    legend = axes.legend(handles, ["-"] * len(words), frameon=False, fontsize=SMALL, **options)
    for text, word in zip(legend.get_texts(), words, strict=True):
        disable_math(text)
        text.set(text=word, color=INK)


def add_legend_below(axes: Axes, handles: list[Any], words: list[str]) -> None:
    """Adds a legend below the picture, in as few lines as its width allows."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    figure: Any = axes.get_figure(root=True)
    if axes.get_legend() is not None:  # which this one replaces
        axes.get_legend().remove()
    lay_out(axes)
    below = (axes.get_window_extent().y0 - axes.get_tightbbox().y0) * 72.0 / figure.dpi + LEGEND_GAP
    place = axes.transAxes + ScaledTranslation(0.0, -below / 72.0, figure.dpi_scale_trans)
    columns, lines = arrange_legend(words, size_in_points(axes)[0])
    where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": place, "borderaxespad": 0.0}
    add_text_legend(axes, handles, lines, ncol=columns, **where, **LEGEND_SPACES)


LEGEND_SPACES = {"handlelength": 2.2, "handletextpad": 0.8, "columnspacing": 1.4, "borderpad": 0.2}  # in font sizes
WRAPPED_AT = (400.0, 200.0, 160.0, 130.0, 105.0, 85.0)  # points, for texts of a legend


def arrange_legend(words: list[str], width: float) -> tuple[int, list[str]]:
    r"""The number of columns in which a legend is lowest, and its texts in lines that fit.

    >>> arrange_legend(["one", "two", "three"], 400.0)
    (3, ['one', 'two', 'three'])
    >>> arrange_legend(["one", "two", "a text that is rather long for a column"], 150.0)
    (2, ['one', 'two', 'a text that is rather\nlong for a column'])
    """
    choices: list[tuple[float, float, int, int, list[str]]] = []
    for columns in range(len(words), 0, -1):
        for most in WRAPPED_AT:
            lines = [wrap_text(word, most, SMALL) for word in words]
            each, more = divmod(len(lines), columns)
            counts = [each + 1] * more + [each] * (columns - more)
            parts = [lines[sum(counts[:at]) : sum(counts[: at + 1])] for at in range(columns)]
            wide = sum(max(text_size(text, SMALL)[0] for text in part) for part in parts)
            spaces = columns * (LEGEND_SPACES["handlelength"] + LEGEND_SPACES["handletextpad"])
            wide += SMALL * (spaces + (columns - 1) * LEGEND_SPACES["columnspacing"] + 2 * LEGEND_SPACES["borderpad"])
            tall = max(sum(text.count("\n") + 1.3 for text in part) for part in parts)
            choices.append((max(wide - width, 0.0), tall, len(choices), columns, lines))
    _, _, _, columns, lines = min(choices)
    return columns, lines


def lay_out(axes: Axes) -> None:
    """Lets the figure place its axes, labels and legends, so that they can be measured."""
    figure: Any = axes.get_figure(root=True)
    figure.draw_without_rendering()


def size_in_points(axes: Axes) -> tuple[float, float]:
    """The width and height of the axes, as they were when the figure was last laid out."""
    box, figure = axes.get_position(), axes.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    return 72.0 * width * box.width, 72.0 * height * box.height


LEAST_HEIGHT = 108.0  # points: of the axes of a figure that is sized after its content


def fit_height(axes: Axes, height: float) -> None:
    """Makes a figure tall enough for its only axes to have a height in points, if they fill their place."""
    figure: Any = axes.get_figure(root=True)
    lay_out(axes)
    for _ in range(2):
        missing = height - 72.0 * figure.get_figheight() * axes.get_position(original=True).height
        if abs(missing) < 0.25:
            return
        figure.set_figheight(max(figure.get_figheight() + missing / 72.0, 1.0))
        lay_out(axes)


def answer_names(about: Mapping[str, str]) -> tuple[str, str]:
    """The names of the two answers.

    >>> answer_names({"answer_1": "adopted"}), answer_names({})
    (('adopted', 'answer 2'), ('answer 1', 'answer 2'))
    """
    one, two = map(drawable_text, words.answer_words(about))
    return one, two


def published_words(about: Mapping[str, str]) -> str:
    """What p is, for an axis.

    >>> published_words({"answer_1": "adopted"})
    'probability that “adopted” is published'
    """
    return f"probability that “{answer_names(about)[0]}” is published"


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
    words = wrap_text(published_words(about), LEAST_HEIGHT - 4.0, SMALL)
    bar.set_label(words, fontsize=SMALL)
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
