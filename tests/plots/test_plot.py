"""hetdp.plot: the picture that suits what it is given, where it is drawn, and what it refuses."""

from __future__ import annotations

import builtins
import subprocess
import sys

import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hetdp
from hetdp.cli import plot as verb
from hetdp.plots import plot as saving
from hetdp.plots.canvas import detached_axes, drawable_text
from hetdp.plots.plot import PICTURES, drawing_of
from tests.plots.shown import council, hostile, line, majority, senate, voters, words


@pytest.mark.parametrize(
    ("what", "name"),
    [
        (voters, "network"),
        (council, "tallies"),
        (lambda: line(3_000), "network"),
        (lambda: line(5_000), "summary"),
        (lambda: hetdp.accuracy(majority(), baselines=False), "accuracy"),
        (lambda: senate().design(), "population"),
    ],
)
def test_the_picture_suits_what_is_given(what, name):
    assert drawing_of(what(), None, None, False, True).name == name


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_of_a_mechanism_is_drawn_and_returned(picture):
    axes = hetdp.plot(hetdp.design(council()), picture)
    assert isinstance(axes, Axes)
    axes.get_figure().canvas.draw()
    assert axes.has_data()


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3_000])
def test_small_and_large_networks_are_drawn(size, key):
    mechanism = hetdp.design(line(size), "balanced")
    axes = hetdp.plot(mechanism, "network", key=key)
    axes.get_figure().canvas.draw()
    assert ("true answer: answer 1" in words(axes)) == key


def test_an_empty_problem_is_drawn():
    empty = hetdp.Problem(hetdp.DatasetGraph.from_edges([], [], []), [])
    for picture, said in (("network", "steps to the other answer"), ("summary", "0 datasets")):
        axes = hetdp.plot(empty, picture)
        axes.get_figure().canvas.draw()
        assert said in words(axes)


def test_given_axes_are_used():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert hetdp.plot(voters(), axes=left) is left
    assert hetdp.plot(hetdp.design(council()), axes=right, title="a title") is right
    assert right.get_title(loc="left") == "a title"
    assert not pyplot.get_fignums()
    with pytest.raises(hetdp.UsageError, match="axes=3; a picture is drawn on matplotlib's Axes"):
        hetdp.plot(voters(), axes=3)


def test_every_picture_can_be_styled_further():
    axes = hetdp.plot(voters())
    axes.set_title("mine")
    assert axes.get_title() == "mine"
    assert pyplot.get_fignums()  # so that notebooks show it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3,), "3 cannot be drawn; a picture is made of"),
        (({},), "cannot be drawn"),
        (([1, 2],), "cannot be drawn"),
        ((voters(), "pie"), "there is no picture 'pie'; the pictures are network, tallies, summary, accuracy"),
        (
            (line(5_000), "network"),
            "the problem is too large for a network; a network has at most 4,000 datasets and 40,000 edges",
        ),
    ],
)
def test_objects_that_cannot_be_drawn_are_refused(arguments, message):
    with pytest.raises(hetdp.UsageError, match=message):
        hetdp.plot(*arguments)


def test_options_that_would_be_ignored_are_refused():
    with pytest.raises(hetdp.UsageError, match="picture= for 'PopulationMechanism'"):
        hetdp.plot(senate().design(), "network")
    with pytest.raises(hetdp.UsageError, match="explain= for 'PopulationMechanism'"):
        hetdp.plot(senate().design(), explain="x")
    with pytest.raises(hetdp.UsageError, match="explain= in the picture 'summary'; a path is highlighted"):
        hetdp.plot(hetdp.design(voters()), "summary", explain="111")
    with pytest.raises(hetdp.UsageError, match="explain= for a problem without a mechanism"):
        hetdp.plot(voters(), explain="111")
    with pytest.raises(hetdp.UnknownDatasetError):
        hetdp.plot(hetdp.design(voters()), explain="777")


def test_a_mechanism_without_its_problem_is_refused(tmp_path):
    hetdp.save(hetdp.design(voters()), tmp_path / "mechanism.json")
    with pytest.raises(hetdp.UsageError, match="this mechanism was read without its problem"):
        hetdp.plot(hetdp.read_mechanism(tmp_path / "mechanism.json"))


def without_matplotlib(monkeypatch, name="matplotlib"):
    load = builtins.__import__

    def refuse(module, *arguments, **more):
        if module.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return load(module, *arguments, **more)

    for module in [module for module in sys.modules if module.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(builtins, "__import__", refuse)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    without_matplotlib(monkeypatch)
    message = "not installed; it comes with the extra plots. Hint: pip install '.\\[plots\\]'"
    for draw in (lambda: hetdp.plot(voters()), detached_axes):
        with pytest.raises(hetdp.UsageError, match=message) as error:
            draw()
        assert error.value.exit_code == 2


def test_a_matplotlib_that_cannot_be_loaded_has_its_own_message(monkeypatch):
    without_matplotlib(monkeypatch, "kiwisolver")
    with pytest.raises(hetdp.UsageError, match="matplotlib does not load: No module named 'kiwisolver'"):
        hetdp.plot(voters())


def test_no_display_and_no_window_are_needed():
    code = """
import hetdp, sys
from hetdp.cli.plot import command
graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0)
assert "matplotlib" not in sys.modules
from hetdp.plots.canvas import detached_axes
from hetdp.plots.plot import drawing_of
axes = detached_axes()
drawing_of(hetdp.Problem(graph, [1, 2]), None, None, True, True).draw_alone(axes, None)
axes.get_figure().canvas.draw()
print("matplotlib.pyplot" in sys.modules)
"""
    environment = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "tkagg", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, env=environment)
    assert done.stdout == "False\n"


def test_the_command_line_knows_the_pictures_and_formats():
    assert verb.PICTURES == PICTURES
    assert verb.SUFFIXES == saving.SUFFIXES


@pytest.mark.parametrize("form", saving.SUFFIXES)
def test_a_file_is_the_same_each_time_and_text_stays_text(form, tmp_path):
    files = [tmp_path / f"{number}{form}" for number in (1, 2)]
    for file in files:
        saving.write_figure(hetdp.plot(hetdp.design(hostile()), title="<script>"), file, form, 60)
    assert files[0].read_bytes() == files[1].read_bytes()
    start = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[form]
    assert files[0].read_bytes().startswith(start)
    if form == ".svg":
        text = files[0].read_text(encoding="utf-8")
        assert "&lt;script&gt;" in text
        assert "<script" not in text
        assert "$x^$ &lt;/svg&gt;" in text
        assert "<text" in text


@pytest.mark.parametrize("save", [saving.write_figure, lambda axes, place, _: axes.get_figure().savefig(place)])
def test_fonts_are_embedded_in_pdf_as_truetype(save, tmp_path):
    """Publishers refuse Type 3 fonts, which are matplotlib's default."""
    place = tmp_path / "a.pdf"
    save(hetdp.plot(hetdp.design(voters()), title="ε"), place, ".pdf")
    assert b"/FontFile2" in place.read_bytes()
    assert b"/Type3" not in place.read_bytes()


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 7.0), (2.5, 2.5), (20, 20.0)])
def test_a_figure_is_as_wide_as_asked_for(width, inches):
    assert hetdp.plot(voters(), width=width).get_figure().get_figwidth() == inches


@pytest.mark.parametrize("width", ["colum", "", 2.49, 20.01, float("nan"), float("inf"), -3, True, [3], "5"])
def test_a_width_that_no_figure_has_is_refused(width):
    with pytest.raises(hetdp.UsageError, match=r"^width=.*; a width is 'column' \(3\.3 inches\), 'page' \(7 inches\)"):
        hetdp.plot(voters(), width=width)


def test_given_axes_have_the_width_of_their_figure():
    with pytest.raises(hetdp.UsageError, match="width= with axes=; axes have the width of their own figure"):
        hetdp.plot(voters(), axes=Figure().add_subplot(), width="page")


def test_long_labels_are_shortened_and_lose_characters_that_cannot_be_drawn():
    assert drawable_text("a" * 20 + "b" * 20, 11) == "aaaaa…bbbbb"
    assert drawable_text("日") == "□"
    assert drawable_text("e\u0301") == "é"
    assert drawable_text("") == '""'
    assert drawable_text("\u202e") == r"\u202e"


def test_a_title_stands_above_its_caution():
    drawn = drawing_of(line(4), "network", None, True, False)
    for title, caution, expected in (
        ("T", "", "T"),
        (None, "c", "Caution: c"),
        ("T", "c", "T\nCaution: c"),
        (None, "", ""),
    ):
        axes = detached_axes()
        drawn._replace(caution=caution).draw_alone(axes, title)
        assert axes.get_title(loc="left") == expected
        assert axes.get_figure().get_figwidth() == pytest.approx(drawn.size[0])
