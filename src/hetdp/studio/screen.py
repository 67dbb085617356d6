"""The content of the page: one callback takes the actions of a page and returns all texts, numbers and pictures.

An answer holds only what the page lacks. The legend below a picture is made here, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, NamedTuple

from dash import ALL, Input, Output, Patch, State, html, no_update

from hetdp.numbers import format_short
from hetdp.problem.parameters import LETTERS
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.binding import highlighted_path
from hetdp.studio.drawing import answer_names, compared_probabilities, find_majority, smallest_epsilons, stylesheet
from hetdp.studio.glossary import OBJECTIVES
from hetdp.studio.layout import CHART, chart, label_suggestions
from hetdp.studio.panels import describe_selection
from hetdp.studio.picture import Picture
from hetdp.studio.session import BEFORE, PageView, Session
from hetdp.studio.story import STEPS
from hetdp.studio.views import (
    CHARTS,
    MAP,
    SUMMARY,
    VIEW_NAMES,
    cells_of,
    map_figure,
    summary_figure,
    views_of,
    voters_of,
)
from hetdp.text import escape_unprintable
from hetdp.theory.catalogue import PARAMETERS


def story_of(session: Session) -> list[Any]:
    """The sentence of the step of the story that is shown, and where it is in the story; empty without a story."""
    if session.step is None:
        return []
    data: dict[str, Any] = {"data-step": session.step, "data-steps": len(STEPS), "aria-level": "1"}
    where = f"{session.step + 1} of {len(STEPS)} · arrow keys or a tap · Escape ends "
    end = html.Button("End", id="story-end", className="link")
    return [
        html.P(STEPS[session.step].words(session), role="heading", **data),
        html.Span([where, end], className="quiet"),
    ]


def legend_of(session: Session, view: str) -> list[Any]:
    """The legend below a view."""
    one, two = answer_names(session.document.problem)
    ends = ["published: ", html.Bdi(two), html.I(className="scale"), html.Bdi(one)]
    scale = [html.Span(ends, className="ends", **_term("ends"))]
    if view == MAP:
        cells = cells_of(session)
        fixed = {} if cells is None else cells.fixed
        fixed_words = ", ".join(f"{escape_unprintable(name)[:30]} = {count:,}" for name, count in fixed.items())
        where = [html.Strong(html.Bdi(f"where {fixed_words}"))] if fixed_words else []
        bare = [_entry("bare", "no colour: no value")] if session.answer.mechanism is None else []
        line = _entry("border", "where the true answer changes")
        return [*where, *scale, *bare, line, *_path_entries(session), _entry("selectedring", "selected")]
    if view == SUMMARY and session.answer.mechanism is None:
        return []
    if view == SUMMARY:
        return [
            *scale,
            _entry("dashedline", "where the true answer changes"),
            _entry("dot", "median dataset at each distance"),
            _entry("band half", "middle half of them"),
            _entry("band", "all of them; no band where p is the same"),
            *_comparison_entries(session, "diamond", "median"),
            *_path_entries(session),
            *([_entry("selectedring", "selected")] if session.selection.kind == "dataset" else []),
        ]
    people = [escape_unprintable(name)[:20] for name in voters_of(session.document.problem)]
    given = session.document.pins.keys() - session.document.repaired.keys()
    is_moved = bool(session.document.repaired) or session.answer.repair is not None
    return [
        html.Span([html.I(className="square"), "true answer: ", html.Bdi(two)], **_term("square")),
        *scale,
        html.Span([html.I(className="circle"), "true answer: ", html.Bdi(one)], **_term("circle")),
        _entry("ring", "given value", not given),  # the next click may show one, as well as a dashed line
        *([_entry("ring moved", "value moved by the repair")] if is_moved else []),
        *([] if session.answer.mechanism is not None else [_entry("bare", "dashed: no value")]),
        *([_entry("order", f"order: {', '.join(people)}")] if people else []),
        _entry("thick", f"thicker: smaller ε, more privacy{_usual_epsilon(session)}"),
        _entry("highlightline", "binding path"),
        _entry("highlightline loose", "dashed: leaves room", not highlighted_path(session).is_loose),
        *_comparison_entries(session, "", "values"),
        *([_entry("selectedline", "selected")] if session.selection.kind == "edge" else []),
    ]


def _comparison_entries(session: Session, symbol: str, what: str) -> list[Any]:
    """The legend of what the mechanism is compared with, if the picture shows it."""
    reference = None if compared_probabilities(session) is None else session.reference()
    if reference is None:
        return []
    names = f"{reference.name} → {panels.compared_name(session)}"
    return [_entry(symbol, f"{what}: {reference.name}") if symbol else html.Span(f"{what}: {names}")]


def _path_entries(session: Session) -> list[Any]:
    """The legend of the path, if there is one."""
    path = highlighted_path(session)
    loose = [_entry("highlightline loose", "leaves room")] if path.is_loose else []
    return [_entry("highlightline", "binding path"), *loose] if len(path.datasets) > 1 else []


def _entry(kind: str, words: str, is_absent: bool = False) -> Any:
    """A symbol with its meaning; a phone leaves out those that are absent from the picture."""
    return html.Span([html.I(className=kind), words], className="absent" if is_absent else "", **_term(kind))


def _term(kind: str) -> dict[str, Any]:
    """What makes a symbol of the legend a button for its entry in the glossary; guide.js shows it."""
    return {"data-term": kind, "role": "button", "tabIndex": 0}


def _usual_epsilon(session: Session) -> str:
    """The ε of more than half of the edges, which are not labelled with it."""
    if session.edge_list is None or "epsilon" not in session.edge_list.columns:
        return ""
    usual = find_majority(smallest_epsilons(session.edge_list))
    return "" if usual is None else f" (most edges: {format_short(usual)})"


HINT = "Select a dataset or an edge in the picture, or find a dataset by its name."
SLIDER, NUMBER = {"type": "slider", "name": ALL}, {"type": "number", "name": ALL}
CHARTS_SHOWN = {"type": CHART, "name": ALL}  # none until a view needs the chart
OUTPUTS: dict[str, tuple[Any, str]] = {  # everything that depends on the session
    "shown": ("shown", "data"),
    "acknowledged": ("acknowledged", "children"),
    "announcement": ("announcement", "children"),
    "story": ("story", "children"),
    "title": ("title", "children"),
    "status": ("status", "children"),
    "verdict": ("verdict", "className"),
    "repair": ("repair", "hidden"),
    "fill": ("fill", "hidden"),
    "objectives": ("objective", "options"),
    "objective": ("objective", "value"),
    "promise": ("objective-words", "children"),
    "keep": ("keep", "disabled"),
    "forget": ("forget", "disabled"),
    "undo": ("undo", "disabled"),
    "redo": ("redo", "disabled"),
    "comparisons": ("compare", "options"),
    "comparison": ("compare", "value"),
    "compared": ("compared", "children"),
    "inspect_compared": ("inspect-compared", "children"),
    "side_effect": ("side-effect", "children"),
    "words": ("inspect-words", "children"),
    "more": ("inspect-more", "children"),
    "no_dataset": ("edit-dataset", "hidden"),
    "no_edge": ("edit-edge", "hidden"),
    "not_given": ("release", "hidden"),
    **{f"no_{name}": (f"mover-{name}", "hidden") for name in LETTERS},
    "subject": ("subject", "data"),
    "sliders": (SLIDER, "value"),
    "typed": (NUMBER, "value"),
    "most": (SLIDER, "max"),
    "views": ("view", "options"),
    "view": ("view", "value"),
    "offered": ("offered", "children"),
    "opening": ("opening", "data"),
    "elements": ("graph", "elements"),
    "stylesheet": ("graph", "stylesheet"),
    "layout": ("graph", "layout"),
    "picture_version": ("picture-version", "data"),
    "chart": ("chart-box", "children"),
    "figures": (CHARTS_SHOWN, "figure"),
    "graph_box": ("graph-box", "className"),
    "chart_box": ("chart-box", "className"),
    "key": ("key", "children"),
}
PAGE_STATE: dict[str, tuple[Any, str]] = {  # what the page has, so that an answer holds only what it lacks
    "objectives": ("objective", "options"),
    "objective": ("objective", "value"),
    "comparisons": ("compare", "options"),
    "comparison": ("compare", "value"),
    "movers": (SLIDER, "id"),
    "subject": ("subject", "data"),
    "view": ("view", "value"),
    "opening": ("opening", "data"),
    "picture_version": ("picture-version", "data"),
    "charts": (CHARTS_SHOWN, "id"),
    "theme": ("theme", "data"),
    "highlighted": ("highlighted", "data"),
    "still": ("still", "data"),
    "shown": ("shown", "data"),
    "page": ("page", "data"),
    "actions": ("actions", "data"),
    "acknowledged": ("acknowledged", "children"),
}
FIGURE = "figure"  # of the chart, whichever output it goes to
COMPARED = (  # what only answers change, in contrast to controls, and what has no version of its own
    *("announcement", "story", "title", "status", "verdict", "repair", "fill", "promise", "keep", "forget"),
    *("undo", "redo"),
    *("words", "more", "no_dataset", "no_edge", "not_given", *(f"no_{name}" for name in LETTERS), "subject"),
    *("compared", "inspect_compared", "side_effect", "graph_box", "chart_box", "key", FIGURE),
)
MOST_RECEIVERS = 64  # pages whose contents are known; another page gets everything


class Received(NamedTuple):
    """What a page has once it shows an answer.

    Attributes:
        number: the number of the answer.
        chart: the number of the answer that held the chart of the page; 0 if there is no chart.
        digests: the contents by name, as digests.
    """

    number: int
    chart: int
    digests: Mapping[str, str]


class PageContents:
    """What the pages have that asked last, so that an answer leaves it out.

    A page names the last answer that it shows. If this is not the last one that it was sent, because Dash has dropped
    that one, the page gets everything.
    """

    def __init__(self) -> None:
        self._pages: dict[str, Received] = {}

    def of_page(self, page: str, acknowledged: str | None) -> Received:
        """What a page has that shows an answer; nothing if that is not known."""
        found = self._pages.get(page)
        shown = int(acknowledged.split()[1]) if acknowledged else 0
        return found if found is not None and found.number == shown else Received(0, 0, {})

    def record(self, page: str, received: Received) -> None:
        """Records what a page will have once it shows an answer."""
        self._pages.pop(page, None)
        self._pages[page] = received
        for older in list(self._pages)[:-MOST_RECEIVERS]:
            del self._pages[older]


def digest_of(content: Any) -> str:
    """A digest of a part of an answer: equal parts have equal digests.

    >>> digest_of(html.P("one")) == digest_of(html.P("one")), digest_of(html.P("one")) == digest_of(html.P("two"))
    (True, False)
    """
    text = json.dumps(content, default=lambda part: part.to_plotly_json(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Screen:
    """The connection between a session and its pages: one callback for all actions and all that is shown.

    When a callback is called again before it has answered, Dash drops the older answer. With a single callback, the
    newer answer holds all that the older one held. Actions are numbered and taken once, so that a page can send them
    until they are acknowledged.
    """

    def __init__(self, app: Any, session: Session, take_action: Callable[[Session, str, Any], None]) -> None:
        self.app, self.session, self.picture = app, session, Picture()
        self.take_action, self._answers, self._contents = take_action, count(1), PageContents()

    def connect(self) -> None:
        """Answers when a page is loaded, after actions, and whenever the page asks for a refresh."""
        asked = {name: Input(*PAGE_STATE[name]) for name in ("view", "theme", "still", "highlighted", "actions")}
        known = {name: State(*place) for name, place in PAGE_STATE.items() if name not in asked}

        @self.app.callback(  # type: ignore[untyped-decorator]
            output={name: Output(*place) for name, place in OUTPUTS.items()},
            inputs={"refresh": Input("refresh", "data"), **asked},
            state=known,
            prevent_initial_call=False,
        )
        def show(refresh: Any, **known: Any) -> dict[str, Any]:
            page = known["page"] or "a page"
            with self.session.lock:
                for action in known["actions"] or ():
                    if self.session.is_new(page, action["number"]):
                        seen = action["seen"]
                        with self.session.acting_for(PageView(page, seen["revision"], seen["opening"])):
                            self.take_action(self.session, action["name"], action["details"])
                return self.content(known)

    def content(self, known: dict[str, Any]) -> dict[str, Any]:
        """Everything that is shown, as far as the page lacks it."""
        with self.session.lock:
            page, number = known["page"] or "a page", next(self._answers)
            before = self._contents.of_page(page, known["acknowledged"])
            views = self._views(known)
            found = {
                "announcement": describe_selection(self.session),
                "story": story_of(self.session),
                **self._words(page, known["objectives"], known["objective"]),
                **self._comparison(known["comparisons"], known["comparison"]),
                **_inspector(self.session, known["movers"]),
                **views,
                **self._picture(known["view"] if views["view"] is no_update else views["view"], known),
            }
            digests = {name: digest_of(found[name]) for name in COMPARED if found[name] is not no_update}
            equal = [name for name, digest in digests.items() if before.digests.get(name) == digest]
            found |= dict.fromkeys(equal, no_update)
            figure, chart_number = found.pop(FIGURE), before.chart
            if figure is not no_update:
                chart_number = figure["layout"]["meta"] = number  # tells the page that this chart is drawn
                found["figures"] = [figure for _ in known["charts"]]
                found["chart"] = no_update if known["charts"] else [chart(figure)]
            self._contents.record(page, Received(number, chart_number, {**before.digests, **digests}))
            taken = self.session.last_action(page)
            return {
                "shown": self.session.revision,
                "acknowledged": f"{taken} {number} {self.session.milliseconds} {chart_number}",
                **found,
            }

    def _words(self, page: str, listed: Any, objective: Any) -> dict[str, Any]:
        session = self.session
        kind, words = panels.status(session, page)
        found, document = session.answer, session.document
        options = [{"label": OBJECTIVES[name][0], "value": name} for name in session.objectives]
        return {
            "title": panels.title(session),
            "status": words,
            "verdict": f"card {kind}",
            "repair": found.repair is None,
            "fill": not found.lacks_pins,
            "objectives": no_update if options == listed else options,
            "objective": no_update if objective == document.objective else document.objective,
            "promise": panels.objective_description(session),
            "keep": found.mechanism is None or document.objective == GIVEN,
            "forget": not document.pins,
            "undo": not session.past,
            "redo": not session.future,
        }

    def _comparison(self, listed: Any, chosen: Any) -> dict[str, Any]:
        session = self.session
        options, table = panels.comparisons(session), panels.comparison_table(session)
        is_edited = bool(session.past) and session.past[-1].opening == session.document.opening
        note = panels.side_effect(session)
        inspected = [*table, *note] if session.selection.kind and (is_edited or session.comparison != BEFORE) else []
        return {
            "comparisons": no_update if options == listed else options,
            "comparison": no_update if chosen == session.comparison else session.comparison,
            "compared": [*table, *panels.details_link(session)],
            "inspect_compared": inspected,
            "side_effect": note,
        }

    def _views(self, known: dict[str, Any]) -> dict[str, Any]:
        """The views that suit the document, if they have changed."""
        session, view = self.session, known["view"]
        found = views_of(session)
        again = known["opening"] == session.document.opening
        chosen = view if view in found and again else found[0]
        if session.step is not None and STEPS[session.step].view in found:
            chosen = STEPS[session.step].view
        if again and chosen == view:
            return dict.fromkeys(("views", "view", "offered", "opening"), no_update)
        options = [{"label": VIEW_NAMES[name], "value": name} for name in found]
        return {
            "views": options,
            "view": chosen,
            "offered": label_suggestions(session),
            "opening": session.document.opening,
        }

    def _picture(self, view: str, known: dict[str, Any]) -> dict[str, Any]:
        session, picture, theme = self.session, self.picture, known["theme"] or "light"
        found: dict[str, Any] = dict.fromkeys(
            ("elements", "stylesheet", "layout", "picture_version", "chart", FIGURE), no_update
        )
        found["figures"] = [no_update for _ in known["charts"]]
        path = known["highlighted"]  # the revision, and how many steps
        steps = path[1] if path and path[0] == session.revision else None
        if view in CHARTS:
            cells = cells_of(session) if view == MAP else None
            found[FIGURE] = (
                summary_figure(session, theme, steps) if cells is None else map_figure(session, cells, theme, steps)
            )
            return {**found, "graph_box": "away", "chart_box": "", "key": legend_of(session, view)}
        elements = picture.update(session, steps)
        frame, version, style = known["picture_version"] or (-1, -1, "")
        if frame != picture.frame_number:
            found["layout"] = {"name": "preset", "fit": True, "padding": 36, "drawn": picture.frame_number}
            found["elements"] = elements
        else:
            found["elements"] = _changes(elements, picture.changes_since(version))
        if frame != picture.frame_number or style != theme:
            found["stylesheet"] = stylesheet(theme, picture.datasets, bool(known["still"]))
        found["picture_version"] = [picture.frame_number, picture.version, theme]
        return {**found, "graph_box": "", "chart_box": "away", "key": legend_of(session, view)}


def _changes(elements: list[Any], changed: list[int]) -> Any:
    """A patch with the changed elements; all elements if most have changed."""
    if not changed or 2 * len(changed) > len(elements):
        return elements if changed else no_update
    patch = Patch()
    for at in changed:
        patch[at] = elements[at]
    return patch


def _inspector(session: Session, ids: list[dict[str, str]]) -> dict[str, Any]:
    """The texts about the selection, and its numbers that can be edited."""
    kind, number = session.selection
    words: list[Any] = [html.P(HINT, className="quiet")]
    more: list[Any] = []
    if kind == "dataset":
        words, more = panels.dataset_summary(session), panels.dataset_details(session)
    elif kind == "edge":
        words = panels.edge_summary(session)
    values = session.editable_values()
    known = session.edge_list.columns if session.edge_list is not None else {}
    sliders, typed, most = [], [], []
    for one in ids:
        name = one["name"]
        value = values.get(name)
        here = session.last_control == f"slider-{name}"
        sliders.append(no_update if value is None or here or value == float("inf") else value)
        typed.append(session.field_text(name))
        large = name != "p" and PARAMETERS[name].most > 1.0
        most.append(max(3.0, 2.0 * value) if large and value not in (None, float("inf")) and not here else no_update)
    return {
        "words": words,
        "more": more,
        "no_dataset": kind != "dataset",
        "no_edge": kind != "edge",
        "not_given": number not in session.document.pins,
        **{f"no_{name}": name not in known for name in LETTERS},
        "subject": [kind, number],
        "sliders": sliders,
        "typed": typed,
        "most": most,
    }
