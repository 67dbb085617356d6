"""`hetdp.plot`: chooses the picture that suits an object and draws it; also writes figures to files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from hetdp import progress
from hetdp.errors import UsageError
from hetdp.files.formats.writing import whole_file
from hetdp.mechanism.accuracy.report import Accuracy, accuracy
from hetdp.mechanism.accuracy.sweep import Sweep
from hetdp.mechanism.compatibility import Witness
from hetdp.mechanism.explanation import BindingPath
from hetdp.mechanism.formatting import clip_uncertain
from hetdp.mechanism.mechanism import LocalMechanism, refuse_remote
from hetdp.plots.canvas import add_title, axes_for, inches_of, own_settings
from hetdp.plots.network import is_small, network, places_of
from hetdp.plots.tallies import by_counts, grid_of
from hetdp.problem.problem import Problem, require_edges
from hetdp.text import did_you_mean, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from hetdp.releases.ledger.status import Status


SUFFIXES = (".svg", ".png", ".pdf")
DOTS_PER_INCH = 200  # per inch
HASH_SALT = {"svg.hashsalt": "hetdp"}  # so that a file is the same each time


def write_figure(axes: Axes, place: Path, form: str, dots: int = DOTS_PER_INCH) -> None:
    """Writes the figure of some axes. Files are reproducible: they contain no date, and text in SVG stays text.

    Args:
        axes: the axes.
        place: the path of the file.
        form: one of `SUFFIXES`.
        dots: the resolution per inch, in PNG and in raster parts of other formats.
    """
    from matplotlib import rc_context

    from hetdp.plots.figure import SETTINGS

    nothing: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None, "Creator": None},
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    figure: Any = axes.get_figure(root=True)
    with own_settings(), rc_context(SETTINGS | HASH_SALT), place.open("wb") as file:
        figure.savefig(file, format=form.removeprefix("."), dpi=dots, metadata=nothing[form], facecolor="white")


def write_whole_figure(axes: Axes, output: str) -> None:
    """Writes the figure of some axes to a file, in the format of its suffix, completely or not at all."""
    progress.report_stage("writing")
    with whole_file(Path(output)) as draft:
        write_figure(axes, draft, Path(output).suffix.lower())


PictureName = Literal["network", "tallies", "summary", "accuracy"]
MeasureName = Literal["mean", "worst"]
WidthName = Literal["column", "page"]
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)
PICTURES: tuple[PictureName, ...] = get_args(PictureName)  # of problems and mechanisms
WHAT_RULE = (
    "a picture is made of a Mechanism, a Problem, the result of hetdp.accuracy or hetdp.sweep, a mechanism or promise"
    " of a population (or several by name), the result of hetdp.ask, or a ledger"
)


class Drawing(NamedTuple):
    """A picture before it is drawn.

    Attributes:
        name: which picture it is.
        size: the preferred width and height in inches; the height may change as it is drawn.
        data: what it shows.
        draw: draws it on axes, which may be alone in their figure.
        caution: a warning that is drawn above it.
    """

    name: str
    size: tuple[float, float]
    data: Any
    draw: Callable[[Axes, bool], None]
    caution: str = ""

    def draw_on(self, axes: Axes, title: str | None) -> None:
        """Draws it, with a title and the caution, on axes whose size is given."""
        self._draw(axes, title, False)

    def draw_alone(self, axes: Axes, title: str | None) -> None:
        """Draws it on axes that are alone in their figure, which gets the preferred size."""
        figure: Any = axes.get_figure()
        figure.set_size_inches(self.size)
        self._draw(axes, title, True)

    def _draw(self, axes: Axes, title: str | None, alone: bool) -> None:
        with own_settings():
            add_title(axes, title, self.caution)
            self.draw(axes, alone)


def plot(
    what: Any,
    picture: PictureName | None = None,
    *,
    explain: Any = None,
    at: Mapping[str, int] | None = None,
    baselines: bool = True,
    axes: Any = None,
    title: str | None = None,
    key: bool = True,
    measure: MeasureName = "mean",
    positions: Mapping[Any, Any] | None = None,
    width: WidthName | float | None = None,
) -> Axes:
    """Draws a picture with matplotlib (the extra `plots`), and returns the Axes, to be styled further or saved.

    Args:
        what: what to draw. For a Mechanism or a Problem: the graph, a map of tallies, or a summary if there are too
            many datasets. For the result of `accuracy`: the accuracy by distance, beside the baselines. For the result
            of `sweep`: the accuracy against ε. For a population's mechanism, or several by name: the accuracy by
            margin. For a ledger: what each class has spent and, among people with the same cap, the most that anybody
            has spent.
        picture: for a Mechanism or a Problem, another picture than the one that suits it: ``"network"``,
            ``"tallies"``, ``"summary"`` or ``"accuracy"``.
        explain: in the network: the label of a dataset whose binding path is highlighted, or a path, or a witness.
        at: in a map of three or more groups: fixed counts of some groups, such as ``{"staff": 1}``. The two largest
            of the others are drawn; the rest is as at a dataset on the boundary.
        baselines: for accuracy: whether to show the baselines, too.
        axes: where to draw; by default a new figure.
        title: a title above the picture.
        key: whether to add a legend.
        measure: of the result of `sweep`: "mean" or "worst", the accuracy that is drawn against ε, or against the scale
            if edges have different ε.
        positions: in the network: where each dataset stands, as a mapping from labels to (x, y), such as the layouts
            of NetworkX; by default in columns by the distance to the other answer.
        width: the width of a new figure: ``"column"`` (3.3 inches), ``"page"`` (7 inches, two columns), or inches; by
            default what suits the picture. Letters are 6 to 9 points high at every width, so include it unscaled. The
            `savefig` of the figure embeds fonts in PDF as TrueType, not Type 3, and text in SVG stays text.

    Raises:
        UsageError: matplotlib is not installed, or there is no such picture of `what`.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], [0.5, 1.0])
    >>> problem = hetdp.Problem(graph, {"a": 1, "b": 1, "c": 2})
    >>> axes = hetdp.plot(hetdp.design(problem), explain="a")
    >>> axes.get_figure().savefig("mechanism.svg")  # doctest: +SKIP
    """
    if measure not in MEASURES:
        raise UsageError(f"measure={format_value(measure)}", "a sweep has the measures 'mean' and 'worst'")
    if measure != MEASURES[0] and not isinstance(what, Sweep):
        raise UsageError(f"measure= for {format_value(type(what).__name__)}", "it is for the result of hetdp.sweep")
    if width is not None and axes is not None:
        raise UsageError("width= with axes=", "axes have the width of their own figure")
    drawing = drawing_of(what, picture, explain, baselines, key, at, measure, positions, inches_of(width))
    where = axes_for(axes, drawing.size)
    (drawing.draw_alone if axes is None else drawing.draw_on)(where, title)
    return where


def drawing_of(
    what: Any,
    picture: str | None,
    explain: Any,
    baselines: bool,
    key: bool,
    at: Mapping[str, int] | None = None,
    measure: str = "mean",
    positions: Mapping[Any, Any] | None = None,
    width: float | None = None,
) -> Drawing:
    """Chooses the picture and collects its data, before anything is drawn."""
    if picture is not None and picture not in PICTURES:
        rule = f"the pictures are {', '.join(PICTURES)}"
        raise UsageError(f"there is no picture {format_value(picture)}", rule, did_you_mean(picture, PICTURES))
    if isinstance(what, LocalMechanism | Problem):
        found = _of_problem(what, picture, explain, baselines, key, at, positions, width)
        return found if isinstance(what, Problem) else found._replace(caution=what.against_coin.short())
    refuse_remote(what, "drawn")
    options = ("picture", picture), ("explain", explain), ("at", at), ("positions", positions)
    given = next((name for name, value in options if value is not None), "")
    if given:
        raise UsageError(f"{given}= for {format_value(type(what).__name__)}", "it is for a Mechanism or a Problem")
    if isinstance(what, Accuracy):
        return _of_report(what, key, width)
    if isinstance(what, Sweep):
        return _of_sweep(what, measure, key, width)
    rows = _rows_of_ledger(what)
    return _of_population(what, baselines, key, width) if rows is None else _of_ledger(rows, key, width)


def _of_problem(
    what: LocalMechanism | Problem,
    picture: str | None,
    explain: Any,
    baselines: bool,
    key: bool,
    at: Mapping[str, int] | None,
    positions: Mapping[Any, Any] | None,
    width: float | None,
) -> Drawing:
    problem = require_edges(what.problem, "only edges can be drawn") if isinstance(what, LocalMechanism) else what
    bare = isinstance(what, Problem)
    truth = np.where(problem.answers == 1, 1.0, 0.0)
    p = truth if isinstance(what, Problem) else clip_uncertain(what.probabilities, what.coordinates)
    ringed = problem.boundary_mask if isinstance(what, Problem) else what.pinned
    in_network = explain is not None or positions is not None
    chosen = picture or ("tallies" if at and not in_network else _suitable_picture(problem, in_network))
    if explain is not None and chosen != "network":
        raise UsageError(f"explain= in the picture {chosen!r}", "a path is highlighted in the network")
    if positions is not None and chosen != "network":
        raise UsageError(f"positions= in the picture {chosen!r}", "datasets have places in the network")
    if at and chosen != "tallies":
        raise UsageError(f"at= in the picture {chosen!r}", "counts are fixed in a map of tallies")
    if chosen == "accuracy":
        return _of_report(accuracy(problem, None if bare else what, baselines=baselines), key, width)
    if chosen == "tallies":
        from hetdp.plots.tallies import draw_tallies, tallies

        grid = grid_of(problem, at)
        if grid is None:
            rule = "every dataset is one or more counts, and neighbours differ by one in one of them"
            raise UsageError("no map of tallies", rule, "the pictures network and summary are for any problem")
        map_ = tallies(problem, grid, p, ringed, bare)
        return Drawing(chosen, map_.size(width), map_, lambda axes, alone: draw_tallies(axes, map_, key, alone))
    if chosen == "summary":
        from hetdp.plots.summary import draw_summary, size_of_summary, summary

        found = summary(problem, p, bare, ringed)
        return Drawing(chosen, size_of_summary(width), found, lambda axes, alone: draw_summary(axes, found, key, alone))
    highlighted = _path(what, explain, bare)
    from hetdp.plots.network import draw_network, require_small
    from hetdp.plots.network_labels import size_of_picture

    require_small(problem)
    places = None if positions is None else places_of(positions, problem)
    net = network(problem, p, ringed, highlighted, bare, places)
    size = size_of_picture(net.layout, width)
    return Drawing("network", size, net, lambda axes, alone: draw_network(axes, net, key, alone))


def _path(what: Any, explain: Any, bare: bool) -> BindingPath | Witness | None:
    """The path to be highlighted."""
    if explain is None or isinstance(explain, BindingPath | Witness):
        return explain
    if bare:
        raise UsageError("explain= for a problem without a mechanism", "there, a path is given by a witness")
    found: BindingPath = what.explain(explain)
    return found


def _suitable_picture(problem: Problem, in_network: bool) -> str:
    if in_network:
        return "network"
    found = by_counts(problem)
    if found is not None and len(found.names) <= 2:  # a slice is drawn only on request
        return "tallies"
    return "network" if is_small(problem) else "summary"


def _of_report(report: Accuracy, key: bool, width: float | None) -> Drawing:
    from hetdp.plots.curves import curves_by_distance, draw_by_distance, size_of_curves

    curves, size = curves_by_distance(report), size_of_curves(width)
    return Drawing(
        "accuracy", size, curves, lambda axes, alone: draw_by_distance(axes, curves, report.prior, key, alone)
    )


def _of_sweep(swept: Sweep, measure: str, key: bool, width: float | None) -> Drawing:
    from hetdp.plots.curves import curves_by_scale, draw_by_scale, prior_words, size_of_curves

    curves, across = curves_by_scale(swept, measure)
    up = f"right answer (mean{prior_words(swept.prior)})" if measure == "mean" else "right answer (worst case)"
    return Drawing(
        "sweep", size_of_curves(width), curves, lambda axes, alone: draw_by_scale(axes, curves, across, up, key, alone)
    )


def _rows_of_ledger(what: Any) -> Sequence[Status] | None:
    """The rows of a ledger, or of its status; None for anything else."""
    from hetdp.releases.ledger.ledger import Ledger
    from hetdp.releases.ledger.status import Status

    if isinstance(what, Ledger):
        return what.status()
    is_status = isinstance(what, list | tuple) and what and all(isinstance(row, Status) for row in what)
    return what if is_status else None


def _of_population(what: Any, baselines: bool, key: bool, width: float | None) -> Drawing:
    from hetdp.people.populations.mechanism import PopulationMechanism
    from hetdp.plots.curves import curves_by_margin, draw_by_margin, has_margins, size_of_curves
    from hetdp.tables.ask import AskResult
    from hetdp.tables.preparation import Preparation
    from hetdp.tables.promise import Promise

    what = what.promises if isinstance(what, AskResult | Preparation) else what
    if isinstance(what, Mapping):
        given = {str(name): each for name, each in what.items()}
    elif isinstance(what, list | tuple):
        named = [each.area if isinstance(each, Promise) else None for each in what]
        areas = [area or f"answer {at}" for at, area in enumerate(named, 1)]
        given = dict(zip(map(str, areas), what, strict=True))
    else:
        given = {what.objective if isinstance(what, PopulationMechanism) else "the answer": what}
    if not given or not all(has_margins(each) for each in given.values()):
        raise UsageError(f"{format_value(what)} cannot be drawn", WHAT_RULE)
    curves = curves_by_margin(given, baselines)
    return Drawing(
        "population", size_of_curves(width), curves, lambda axes, alone: draw_by_margin(axes, curves, key, alone)
    )


def _of_ledger(rows: Any, key: bool, width: float | None) -> Drawing:
    from hetdp.plots.ledger import accounts_of, draw_ledger, size_of_ledger

    accounts = accounts_of(rows)
    return Drawing(
        "ledger", size_of_ledger(accounts, width), accounts, lambda axes, _: draw_ledger(axes, accounts, key)
    )
