"""The key below a picture: what its colours, shapes and lines mean."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from dash import ALL, Input, Output, Patch, State, html, no_update

from hetdp.numbers import format_short
from hetdp.plots.colours import SHADES
from hetdp.problem.parameters import LETTERS
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import answer_words, smallest_of, usual_of
from hetdp.studio.layout import offers
from hetdp.studio.panels import spoken
from hetdp.studio.picture import Picture
from hetdp.studio.session import Session, Visit
from hetdp.studio.styles import stylesheet
from hetdp.studio.views import AROUND, MAP, NETWORK, SUMMARY, WORDS, cells_of, map_figure, summary_figure, views_of
from hetdp.text import escape_unprintable
from hetdp.theory.catalogue import PARAMETERS


def key_of(session: Session, view: str) -> list[Any]:
    """The key of one of the pictures."""
    one, two = answer_words(session.sheet.problem)
    shades = ", ".join(f"{code} {100 * at:g}%" for at, code in SHADES)
    colours = html.I(className="scale", style={"background": f"linear-gradient(90deg, {shades})"})
    scale = [html.Span([html.Bdi(two), colours, html.Bdi(one)], className="ends")]
    if view == MAP:
        cells = cells_of(session)
        fixed = {} if cells is None else cells.fixed
        said = ", ".join(f"{escape_unprintable(name)[:30]} = {count:,}" for name, count in fixed.items())
        where = [html.Strong(html.Bdi(f"where {said}"))] if said else []
        bare = [_entry("circle bare", "white: no value")] if session.answer.mechanism is None else []
        return [*where, *scale, *bare, _entry("line", "where the true answer changes"), _entry("ring", "chosen")]
    if view == SUMMARY and session.answer.mechanism is None:
        return []
    if view == SUMMARY:
        return [
            *scale,
            _entry("dot", "the middle dataset at each distance"),
            _entry("band half", "half of them"),
            _entry("band", "all of them"),
        ]
    return [
        html.Span([html.I(className="square"), "truly ", html.Bdi(two)]),
        *scale,
        html.Span([html.I(className="circle"), "truly ", html.Bdi(one)]),
        _entry("ring", "given"),
        *([] if session.answer.mechanism is not None else [_entry("circle bare", "white: no value")]),
        _entry("thick", f"smaller ε{_usual(session)}"),
        _entry("litline", "what binds"),
        *([_entry("chosenline", "chosen")] if session.selection.kind == "edge" else []),
    ]


def _entry(kind: str, words: str) -> Any:
    return html.Span([html.I(className=kind), words])


def _usual(session: Session) -> str:
    """The ε that more than half of the edges have, which is not written on them."""
    if session.ends is None or "epsilon" not in session.ends.columns:
        return ""
    usual = usual_of(smallest_of(session.ends))
    return "" if usual is None else f" (most: {format_short(usual)})"


# From the session to the page: after every change, what is seen and what is said, in one answer.


HINT = "Choose a dataset or an edge in the picture, or find a dataset by its name."
SLIDER, NUMBER = {"type": "slider", "name": ALL}, {"type": "number", "name": ALL}
SHOWN: dict[str, tuple[Any, str]] = {  # everything that follows what is on the table
    "told": ("told", "data"),
    "acknowledged": ("acknowledged", "data"),
    "spoken": ("spoken", "children"),
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
    "drawn": ("drawn", "data"),
    "elements": ("graph", "elements"),
    "stylesheet": ("graph", "stylesheet"),
    "layout": ("graph", "layout"),
    "seen": ("seen", "data"),
    "figure": ("chart", "figure"),
    "graph_box": ("graph-box", "className"),
    "chart_box": ("chart-box", "className"),
    "key": ("key", "children"),
}
KNOWN: dict[str, tuple[Any, str]] = {  # what the page has, so that it is sent only what it lacks
    "objectives": ("objective", "options"),
    "objective": ("objective", "value"),
    "movers": (SLIDER, "id"),
    "subject": ("subject", "data"),
    "view": ("view", "value"),
    "drawn": ("drawn", "data"),
    "seen": ("seen", "data"),
    "theme": ("theme", "data"),
    "lit": ("lit", "data"),
    "told": ("told", "data"),
    "page": ("page", "data"),
    "actions": ("actions", "data"),
}


class Screen:
    """What is shown of a session. One callback takes all actions and answers with everything that follows from them.

    There is only this one, because Dash drops the answer to a callback when the same one is asked for again: a newer
    answer then holds all that the older one held. Actions come numbered and are taken once, so that the page can send
    them again.
    """

    def __init__(self, app: Any, session: Session, take_action: Callable[[Session, str, Any], None]) -> None:
        self.app, self.session, self.picture = app, session, Picture()
        self.take_action, self._answers = take_action, count(1)

    def connect(self) -> None:
        """Answers when the page is loaded, after actions, and whenever the page asks."""
        asked = {name: Input(*KNOWN[name]) for name in ("view", "theme", "lit", "actions")}
        known = {name: State(*place) for name, place in KNOWN.items() if name not in asked}

        @self.app.callback(  # type: ignore[untyped-decorator]
            output={name: Output(*place) for name, place in SHOWN.items()},
            inputs={"revision": Input("revision", "data"), **asked},
            state=known,
            prevent_initial_call=False,
        )
        def show(revision: Any, **known: Any) -> dict[str, Any]:
            page = known["page"] or "a page"
            with self.session.lock:
                for action in known["actions"] or ():
                    if self.session.is_new(page, action["number"]):
                        seen = action["seen"]
                        with self.session.visited(Visit(page, seen["told"], seen["drawn"])):
                            self.take_action(self.session, action["name"], action["details"])
                return self.content(known)

    def content(self, known: dict[str, Any]) -> dict[str, Any]:
        """Everything as it is now, as far as the page does not have it."""
        with self.session.lock:
            views = self._views(known)
            return {
                "told": self.session.revision,
                "acknowledged": [self.session.last_action(known["page"] or "a page"), next(self._answers)],
                "spoken": spoken(self.session),
                **self._words(known["objectives"], known["objective"]),
                **_inspector(self.session, known["movers"]),
                **views,
                **self._picture(known["view"] if views["view"] is no_update else views["view"], known),
            }

    def _words(self, listed: Any, objective: Any) -> dict[str, Any]:
        session = self.session
        kind, told = panels.status(session)
        found, sheet = session.answer, session.sheet
        options = [{"label": panels.OBJECTIVES[name][0], "value": name} for name in session.objectives]
        return {
            "title": panels.title(session),
            "status": told,
            "verdict": f"card {kind}",
            "repair": found.repair is None,
            "fill": not found.unpinned,
            "objectives": no_update if options == listed else options,
            "objective": no_update if objective == sheet.objective else sheet.objective,
            "promise": panels.objective_words(session),
            "keep": found.mechanism is None or sheet.objective == GIVEN,
            "forget": not sheet.pins,
            "undo": not session.past,
            "redo": not session.future,
        }

    def _views(self, known: dict[str, Any]) -> dict[str, Any]:
        """The pictures that there are, if they are others than before."""
        session, view = self.session, known["view"]
        found = views_of(session)
        again = known["drawn"] == session.sheet.drawn
        chosen = view if view in found and again else found[0]
        if again and chosen == view:
            return dict.fromkeys(("views", "view", "offered", "drawn"), no_update)
        options = [{"label": WORDS[name], "value": name} for name in found]
        return {"views": options, "view": chosen, "offered": offers(session), "drawn": session.sheet.drawn}

    def _picture(self, view: str, known: dict[str, Any]) -> dict[str, Any]:
        session, picture, theme = self.session, self.picture, known["theme"]
        found: dict[str, Any] = dict.fromkeys(("elements", "stylesheet", "layout", "seen", "figure"), no_update)
        if view not in (NETWORK, AROUND):
            cells = cells_of(session) if view == MAP else None
            figure = map_figure(session, cells, theme) if cells is not None else summary_figure(session, theme)
            return {**found, "figure": figure, "graph_box": "away", "chart_box": "", "key": key_of(session, view)}
        lit = known["lit"]
        elements = picture.update(session, lit[1] if lit and lit[0] == session.revision else None)
        frame, version, style = known["seen"] or (-1, -1, "")
        if frame != picture.drawn:
            found["layout"] = {"name": "preset", "fit": True, "padding": 36, "drawn": picture.drawn}
            found["elements"] = elements
        else:
            found["elements"] = _changes(elements, picture.since(version))
        if frame != picture.drawn or style != theme:
            found["stylesheet"] = stylesheet(theme, picture.datasets)
        found["seen"] = [picture.drawn, picture.version, theme]
        return {**found, "graph_box": "", "chart_box": "away", "key": key_of(session, view)}


def _changes(elements: list[Any], changed: list[int]) -> Any:
    """The elements that have changed; all, if they are many."""
    if not changed or 2 * len(changed) > len(elements):
        return elements if changed else no_update
    patch = Patch()
    for at in changed:
        patch[at] = elements[at]
    return patch


def _inspector(session: Session, ids: list[dict[str, str]]) -> dict[str, Any]:
    """What is chosen, and the numbers of it that can be moved."""
    kind, number = session.selection
    words: list[Any] = [html.P(HINT, className="quiet")]
    more: list[Any] = []
    if kind == "dataset":
        words, more = panels.dataset_words(session), panels.dataset_more(session)
    elif kind == "edge":
        words = panels.edge_words(session)
    values = session.moved()
    known = session.ends.columns if session.ends is not None else {}
    sliders, typed, most = [], [], []
    for one in ids:
        name = one["name"]
        value = values.get(name)
        here = session.last == f"slider-{name}"
        sliders.append(no_update if value is None or here or value == float("inf") else value)
        typed.append(session.typed(name))
        large = name != "p" and PARAMETERS[name].most > 1.0
        most.append(max(3.0, 2.0 * value) if large and value not in (None, float("inf")) and not here else no_update)
    return {
        "words": words,
        "more": more,
        "no_dataset": kind != "dataset",
        "no_edge": kind != "edge",
        "not_given": number not in session.sheet.pins,
        **{f"no_{name}": name not in known for name in LETTERS},
        "subject": [kind, number],
        "sliders": sliders,
        "typed": typed,
        "most": most,
    }
