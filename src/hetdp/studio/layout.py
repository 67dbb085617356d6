"""The layout of the page as it is when it is loaded: header, picture, panels, and the dialog that opens problems.

The contents follow with the first answer of the screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import dash_cytoscape
from dash import dcc, html

from hetdp.errors import UsageError
from hetdp.files.formats.registry import DOCUMENT, TABLE_SUFFIXES
from hetdp.problem.parameters import LETTERS
from hetdp.problem.spelling import spell_label
from hetdp.studio.gallery import GALLERY
from hetdp.studio.glossary import SECTIONS
from hetdp.studio.session import Session
from hetdp.studio.story import TOUR
from hetdp.studio.uploads import MOST_BYTES, SIZE_RULE, TOO_LARGE
from hetdp.studio.verdict import PATH
from hetdp.studio.views import CHARTS, views_of
from hetdp.theory.catalogue import PARAMETERS


def button(words: str, name: str, title: str = "", kind: str = "plain", action: str = "") -> Any:
    """A button; studio.js turns a click into its action, if it has one."""
    data: dict[str, Any] = {"data-action": action} if action else {}
    return html.Button(words, id=name, className=f"button {kind}", title=title, n_clicks=0, **data)


def radio_row(name: str, words: dict[str, str], value: str, label: str) -> Any:
    """A row of options, one of which is selected."""
    options = [{"label": label, "value": key} for key, label in words.items()]
    radio = dcc.RadioItems(id=name, options=options, value=value, className="segments", inline=True)
    return html.Div(radio, role="radiogroup", **aria_label(label))


def aria_label(words: str) -> dict[str, Any]:
    """The name of a part of the page for screen readers."""
    return {"aria-label": words}


MOST_NAMED = 3  # tables
WAYS = {"gallery": "Gallery", "file": "File", "people": "People"}


def dialog(start: bool, tables: str = "", listed: Sequence[str] | None = None) -> Any:
    """The dialog that opens a problem, or leads to the page for tables.

    Args:
        start: whether it is open when the page is loaded.
        tables: the address of the page for tables; empty if there is none.
        listed: the names of the tables in the opened folder; None if it is not listed.
    """
    cards = [
        html.Button(
            [html.Strong(entry.title), html.Span(entry.about)],
            id={"type": "gallery", "key": key},
            className="entry",
            n_clicks=0,
        )
        for key, entry in GALLERY.items()
    ]
    tour = button("Take the tour (30 seconds)", "tour-begin", "On the first example", "main", "tour")
    bounds: dict[str, Any] = {"data-most": MOST_BYTES, "data-refusal": str(UsageError(TOO_LARGE, SIZE_RULE))}
    drop = dcc.Upload(
        html.Div(
            [
                html.Strong("Drop a problem here"),
                html.Span(f"or click to choose files: one {DOCUMENT}, or edges and datasets as {TABLE_SUFFIXES}"),
            ],
            className="dropzone",
            **bounds,
            tabIndex=0,
            role="button",
        ),
        id="upload",
        multiple=True,  # studio.js refuses files that are too large
        className="drop",
        className_active="drop over",
    )
    ways: dict[str, Any] = {"gallery": cards, "file": [drop], "people": _form()}
    parts = [
        html.Div(content, id=f"way-{name}", className=f"way {name}", hidden=name != "gallery")
        for name, content in ways.items()
    ]
    people = html.A(
        [
            html.Strong("A table of people"),
            html.Span("From a spreadsheet to a published yes/no answer, step by step"),
            *([] if listed is None else [html.Span(_found_words(listed))]),
        ],
        id="open-table",
        href=tables,
        className="entry table",
    )
    inside = [
        *([people] if tables else []),
        tour,
        html.Div(
            [
                html.H2("Open a problem"),
                radio_row("way", WAYS, "gallery", "Source"),
                button("Close", "close", action="begin"),
            ],
            className="pair",
        ),
        *parts,
        html.P(id="refused", className="notice", role="alert"),
    ]
    modal: dict[str, Any] = {"aria-modal": "true", **aria_label("Open a problem")}
    box = html.Div(inside, className="dialog", role="dialog", **modal)
    return html.Div(box, id="shade", className="shade", hidden=not start)


def _found_words(listed: Sequence[str]) -> str:
    """The tables of the opened folder, in words.

    >>> _found_words(["a.csv", "b.csv", "c.csv", "d.xlsx", "e.xlsx"])
    'Tables in this folder: a.csv, b.csv, c.csv and 2 more'
    """
    if not listed:
        return "No table is in this folder yet; the page says what to do"
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return f"Tables in this folder: {', '.join(listed[:MOST_NAMED])}{more}"


def _form() -> list[Any]:
    fields = (
        ("people", "People", "Ann, Bob, Cyd — for tallies: pupils=20, staff=5", "Ann, Bob, Cyd"),
        ("values", "Possible values; the first one is counted", "yes, no", "yes, no"),
        ("at-least", "The answer is yes if at least this many have it", "3, 50% or 2/3; empty: more than half", ""),
        ("epsilon", "ε for everyone, or for each", "1 — or Ann=0.2, Bob=1", "1"),
        ("deciding", "ε where one person decides the answer, if different", "empty, or as above", ""),
    )
    rows: list[Any] = [radio_row("space", {"votes": "Votes", "tallies": "Tallies"}, "votes", "Kind of problem")]
    for name, words, example, value in fields:
        field = dcc.Input(
            id=f"form-{name}", type="text", value=value, placeholder=example, maxLength=2000, className="field"
        )
        rows.append(html.Label([html.Span(words), field], className="labelled"))
    note = "Votes: a dataset is one value for each person. Tallies: a dataset is one count for each group."
    return [*rows, html.P(note, className="quiet"), button("Create", "make", "", "main")]


LONGEST_SUGGESTION = 200  # characters of a label that is suggested
MOST_SUGGESTIONS = 400  # labels that are suggested
GRAPH_KEYS = (
    "Network of datasets. Arrow keys move between datasets, E steps through the edges of the selected one, Enter goes"
    " to its numbers, and Escape goes back or leaves the picture."
)
CHART_KEYS = "Chart of all datasets. On a map, arrow keys move between cells, and Enter goes to the numbers."
TABS = {
    "inspect": "Details",
    "what-if": "What if?",
    "accuracy": "Accuracy",
    "odds": "Odds",
    "changes": "Changes",
    "export": "Export",
}


def page(session: Session, start: bool, tables: str = "", listed: Sequence[str] | None = None) -> Any:
    """The whole page, without contents.

    Args:
        session: the session.
        start: whether the dialog is open at first.
        tables: the address of the pages for tables; empty without them.
        listed: the names of the tables in the opened folder; None if it is not listed.
    """
    with session.lock:
        needs_chart = views_of(session)[0] in CHARTS
    return html.Div(
        [
            dcc.Store(id="refresh", data=session.revision),
            dcc.Store(id="page", data=token_hex(8)),  # a new one each time the page is loaded
            dcc.Store(id="shown"),
            dcc.Store(id="picture-version"),
            dcc.Store(id="actions"),
            dcc.Store(id="subject"),
            dcc.Store(id="highlighted", data=None),
            dcc.Store(id="theme"),
            dcc.Store(id="still"),
            dcc.Store(id="scopes"),
            dcc.Store(id="opened"),
            dcc.Store(id="tab-request"),
            dcc.Store(id="tab-filled"),
            dcc.Store(id="opening"),
            *(dcc.Download(id=f"download-{name}") for name in SAVED),
            html.Div(id="acknowledged", hidden=True),  # studio.js sees it as soon as an answer is on the page
            html.Div(id="trouble", className="trouble", role="alert", hidden=True),
            dcc.Store(id="terms", data={key: [*term] for terms in SECTIONS.values() for key, term in terms.items()}),
            dcc.Store(id="tour-stops", data=[[*stop] for stop in TOUR]),
            _header(),
            html.Div(id="story", role="status"),
            html.Main([_picture(needs_chart), _side(), html.Div(id="tip", role="tooltip", hidden=True)]),
            dialog(start, tables, listed),
            _glossary(),
            _tour(),
        ],
        id="studio",
    )


def _header() -> Any:
    tools = [
        button("Open", "open", "Open another problem (O)"),
        button("Undo", "undo", "Undo the last change (Ctrl+Z)", action="undo"),
        button("Redo", "redo", "Redo the change (Ctrl+Shift+Z)", action="redo"),
        button("Present", "present", "Show the story of an example in large letters; arrow keys go on"),
        button("?", "help", "What every word and symbol means, and a tour (?)"),
        button("◐", "night", "Switch between light and dark"),
    ]
    return html.Header([html.H1("hetdp studio"), html.Div(id="title", className="title"), html.Nav(tools)])


def _glossary() -> Any:
    """The glossary: every word, symbol, objective and baseline."""
    parts: list[Any] = []
    for title, terms in SECTIONS.items():
        rows = [[html.Dt(term.name, id=f"term-{key}"), html.Dd(term.words)] for key, term in terms.items()]
        parts += [html.H3(title), html.Dl([part for row in rows for part in row])]
    tour = button("Take the tour (30 seconds)", "glossary-tour", kind="main", action="tour")
    head = html.Div([html.H2("Words and symbols"), button("Close", "glossary-close")], className="pair")
    return html.Dialog([head, tour, *parts], id="glossary", className="dialog", **aria_label("Words and symbols"))


def _tour() -> Any:
    """The box of the tour; guide.js fills it."""
    steps = [button("Back", "tour-back"), button("Next", "tour-next", kind="main"), button("End", "tour-end")]
    inside = [html.H2(id="tour-title"), html.P(id="tour-words"), html.P(id="tour-where", className="quiet")]
    live: dict[str, Any] = {"aria-live": "polite"}
    words = html.Div(inside, **live)
    box = html.Div(
        [words, html.Div(steps, className="buttons")], id="tour", role="dialog", hidden=True, **aria_label("Tour")
    )
    return html.Div([html.Div(id="tour-mark", hidden=True), box])


CHART = "chart"


def chart(figure: Any = None) -> Any:
    """The chart. It needs the largest script of the page, so it is on the page only once a view has needed it."""
    return dcc.Graph(
        id={"type": CHART, "name": CHART},
        figure=figure or {"data": [], "layout": {}},
        config={"displayModeBar": False, "responsive": True, "doubleClick": False},  # it would move the axes
        style={"width": "100%", "height": "100%"},
    )


def _picture(needs_chart: bool) -> Any:
    graph = dash_cytoscape.Cytoscape(  # not `responsive`: that scales what studio.js has fitted, from the last drawing
        id="graph",
        elements=[],
        layout={"name": "preset", "fit": True, "padding": 40},
        style={"width": "100%", "height": "100%"},
        stylesheet=[],
        minZoom=0.05,
        maxZoom=4,
        boxSelectionEnabled=False,
        autoungrabify=True,  # a place shows the distance to the other answer; and a finger that taps moves a little
    )
    find = dcc.Input(
        id="find",
        type="text",
        placeholder="Find a dataset  /",
        debounce=True,
        list="offered",
        maxLength=2000,
        className="find",
    )
    scroll: dict[str, Any] = {"data-scroll": "tab-inspect"}
    return html.Section(
        [
            html.Div(
                [
                    radio_row("view", {"network": "Network"}, "network", "View"),
                    find,
                    html.Datalist(id="offered"),
                ],
                className="above",
            ),
            html.Div(
                [
                    html.Div(graph, id="graph-box", tabIndex=0, role="application", **aria_label(GRAPH_KEYS)),
                    html.Div(
                        [chart()] if needs_chart else [],
                        id="chart-box",
                        tabIndex=0,
                        role="application",
                        className="away",
                        **aria_label(CHART_KEYS),
                    ),
                    html.Div(
                        [
                            button("+", "zoom-in", "Enlarge (+)"),
                            button("−", "zoom-out", "Make smaller (−)"),
                            button("Fit", "zoom-fit", "Show the whole picture (0)"),
                        ],
                        className="zoom",
                    ),
                ],
                className="canvas",
            ),
            html.Div(
                [
                    html.Div(id="announcement", role="status"),
                    html.Button("Details", className="button", **scroll),
                ],
                className="caption",  # seen on a phone, where the panels are below the picture
            ),
            html.Div(id="key", className="key"),
        ],
        className="picture",
        **aria_label("Picture of the mechanism"),
    )


def _side() -> Any:
    parts = [
        html.Div(
            [
                html.Div(id="status", role="status"),
                html.Div(
                    [
                        button(
                            "Apply the repair", "repair", "Take values near these that can be private", "main", "repair"
                        ),
                        button("Use the fair values", "fill", "", "main", "fill"),
                    ],
                    className="buttons",
                ),
            ],
            id="verdict",
            className="card",
        ),
        html.Div(
            [
                html.H3("Objective"),
                radio_row("objective", {"fair": "Fair"}, "fair", "Objective"),
                html.P(id="objective-words", className="quiet"),
                html.Div(
                    [
                        button(
                            "Keep these values",
                            "keep",
                            "Make the chosen values given ones, to move them by hand",
                            action="keep",
                        ),
                        button("Clear given values", "forget", "Remove all given values", action="forget"),
                    ],
                    className="buttons",
                ),
            ],
            className="card",
        ),
        radio_row("tab", TABS, "inspect", "Panel"),
        html.Div(_inspector(), id="tab-inspect", className="card pane"),
        html.Div(_what_if(), id="tab-what-if", className="card pane", hidden=True),
        html.Div(
            dcc.Loading(html.Div(id="accuracy"), type="dot"), id="tab-accuracy", className="card pane", hidden=True
        ),
        html.Div(html.Div(id="odds"), id="tab-odds", className="card pane", hidden=True),
        html.Div(html.Div(id="changes"), id="tab-changes", className="card pane", hidden=True),
        html.Div(_export(), id="tab-export", className="card pane", hidden=True),
    ]
    return html.Aside(parts, **aria_label("Results and settings"))


def _inspector() -> list[Any]:
    rows = [_mover(name, letter) for name, letter in LETTERS.items()]
    return [
        html.Div(id="inspect-words"),
        html.Div(
            [_mover("p", "p"), button("Clear the given value", "release", action="clear_pin")],
            id="edit-dataset",
            hidden=True,
        ),
        html.Div(rows, id="edit-edge", hidden=True),
        html.Div(id="inspect-compared"),
        html.Div(id="inspect-more"),
    ]


def _what_if() -> list[Any]:
    """Sliders for many edges at once, which studio.js draws, and two mechanisms side by side."""
    return [
        html.H3("ε of many edges at once"),
        html.Div(id="scope-rows", className="scopes"),
        html.Div(id="side-effect"),
        html.H3("Compare with"),
        radio_row("compare", {"before": "Last change"}, "before", "Compare with"),
        html.Div(id="compared"),
    ]


def _mover(name: str, letter: str) -> Any:
    """A number with a slider and a text field."""
    most = 1 if name == "p" or PARAMETERS[name].most == 1.0 else 3
    slider = dcc.Input(
        id={"type": "slider", "name": name},
        type="range",
        min=0,
        max=most,
        step=0.005 if most == 1 else 0.01,
        className="slider",
    )
    typed = dcc.Input(
        id={"type": "number", "name": name},
        type="text",
        debounce=True,
        maxLength=40,
        placeholder="not given" if name == "p" else "",
        className="typed",
    )
    words = html.Label(letter if name != "p" else "Set p", htmlFor=_place_of("slider", name))
    unseen = html.Label(f"{letter} as text", htmlFor=_place_of("number", name), className="unseen")
    data: dict[str, Any] = {"data-control": name, **aria_label(f"Edit {letter}")}
    return html.Div([words, slider, typed, unseen], id=f"mover-{name}", className="mover", role="group", **data)


def _place_of(kind: str, name: str) -> str:
    """The id that Dash gives a control in the page."""
    return json.dumps({"name": name, "type": kind}, separators=(",", ":"))


SAVED = ("problem", "pins", "mechanism", "svg", "script", "state")
LINK_WORDS = (
    "Whoever has this link and can use this machine can use this studio. It works until the studio ends; after that,"
    " open the file that State saves."
)


def _export() -> list[Any]:
    files = [
        button("Problem", "save-problem", "Save the problem with its given values (.json)"),
        button("Given values", "save-pins", "Save the given values alone (.json)"),
        button("Mechanism", "save-mechanism", "Save the mechanism with its certificate (.json)"),
        button("Picture", "save-png", "Save the current view with its legend (.png)"),
        button("Figure", "save-svg", "Save a figure for a paper (.svg)"),
        button("Script", "save-script", "Save the Python code below (.py)"),
    ]
    verdict = html.A("Verdict to print", href=PATH, target="_blank", className="button", id="verdict-link")
    keep = [
        verdict,
        button("Link to this state", "bookmark", "Copy a link that reopens this state while this studio runs"),
        button("State", "save-state", "Save all of this page (.json), to be opened by hetdp studio at any time"),
    ]
    link = dcc.Input(id="link", type="text", readOnly=True, value="", className="field")
    copied = html.Label([html.Span("Link to this state"), link], className="labelled")
    blocks = []
    for name, words in (("python", "The same in Python"), ("shell", "The same in a shell")):
        copy = html.Button("Copy", className="button", **{"data-copy": f"lines-{name}", **aria_label(f"Copy: {words}")})
        head = html.Div([html.H3(words), copy], className="pair")
        blocks += [head, html.Pre(id=f"lines-{name}", tabIndex=0)]
    return [
        html.H3("Keep"),
        html.Div(keep, className="buttons"),
        html.Div([copied, html.P(LINK_WORDS, className="quiet")], id="link-box", hidden=True),
        html.H3("Save"),
        html.Div(files, className="buttons"),
        html.P(id="saved", className="notice"),
        *blocks,
    ]


def label_suggestions(session: Session) -> list[Any]:
    """Labels that are suggested in the search field."""
    graph = session.document.problem.graph
    names = (spell_label(graph.label(at), graph.labels) for at in range(min(graph.size, MOST_SUGGESTIONS)))
    return [html.Option(value=name) for name in names if len(name) <= LONGEST_SUGGESTION]
