"""What the page is made of, again and again: buttons and rows of choices."""

from __future__ import annotations

import json
from secrets import token_hex
from typing import Any

import dash_cytoscape
from dash import dcc, html

from hetdp.errors import UsageError
from hetdp.problem.parameters import LETTERS
from hetdp.problem.spelling import spell_label
from hetdp.studio.gallery import GALLERY
from hetdp.studio.opening import MOST_BYTES, SIZE_RULE, TOO_LARGE
from hetdp.studio.session import Session
from hetdp.theory.catalogue import PARAMETERS


def button(words: str, name: str, title: str = "", kind: str = "plain", action: str = "") -> Any:
    """A button that says what it does; studio.js turns a click into its action, if it has one."""
    data: dict[str, Any] = {"data-action": action} if action else {}
    return html.Button(words, id=name, className=f"button {kind}", title=title, n_clicks=0, **data)


def segments(name: str, words: dict[str, str], value: str, told: str) -> Any:
    """A row of choices, one of which holds."""
    options = [{"label": label, "value": key} for key, label in words.items()]
    radio = dcc.RadioItems(id=name, options=options, value=value, className="segments", inline=True)
    return html.Div(radio, role="group", **named(told))


def named(words: str) -> dict[str, Any]:
    """What a part of the page is called, for those who hear it."""
    return {"aria-label": words}


# Where a problem comes from: the gallery, a file, or people and a question.


WAYS = {"gallery": "Gallery", "file": "A file", "people": "People"}


def dialog(start: bool) -> Any:
    """What is asked before there is a picture; open from the start if nothing else is shown."""
    cards = [
        html.Button(
            [html.Strong(entry.title), html.Span(entry.about)],
            id={"type": "gallery", "key": key},
            className="entry",
            n_clicks=0,
        )
        for key, entry in GALLERY.items()
    ]
    bounds: dict[str, Any] = {"data-most": MOST_BYTES, "data-refusal": str(UsageError(TOO_LARGE, SIZE_RULE))}
    drop = dcc.Upload(
        html.Div(
            [
                html.Strong("Drop a problem here"),
                html.Span("or press to choose: .json, or edges and datasets as .csv or .parquet"),
            ],
            className="dropzone",
            **bounds,
            tabIndex=0,
            role="button",
        ),
        id="upload",
        multiple=True,  # studio.js refuses what is too large, in words
        className="drop",
        className_active="drop over",
    )
    ways: dict[str, Any] = {"gallery": cards, "file": [drop], "people": _form()}
    parts = [
        html.Div(content, id=f"way-{name}", className=f"way {name}", hidden=name != "gallery")
        for name, content in ways.items()
    ]
    inside = [
        html.Div(
            [html.H2("Begin with"), segments("way", WAYS, "gallery", "Where from"), button("Close", "close")],
            className="pair",
        ),
        *parts,
        html.P(id="refused", className="notice", role="alert"),
    ]
    box = html.Div(inside, className="dialog", role="dialog", **named("Open a problem"))
    return html.Div(box, id="shade", className="shade", hidden=not start)


def _form() -> list[Any]:
    fields = (
        ("people", "Who", "Ann, Bob, Cyd — for tallies: pupils=20, staff=5", "Ann, Bob, Cyd"),
        ("values", "What a person may have; the first is counted", "yes, no", "yes, no"),
        ("at-least", "The answer is yes if at least so many have it", "3, 50% or 2/3; empty: more than half", ""),
        ("epsilon", "ε for everybody, or for each", "1 — or Ann=0.2, Bob=1", "1"),
        ("deciding", "ε where one person decides, if it is another", "empty, or as above", ""),
    )
    rows: list[Any] = [segments("space", {"votes": "Votes", "tallies": "Tallies"}, "votes", "Kind of problem")]
    for name, words, example, value in fields:
        field = dcc.Input(
            id=f"form-{name}", type="text", value=value, placeholder=example, maxLength=2000, className="field"
        )
        rows.append(html.Label([html.Span(words), field], className="labelled"))
    told = "Votes: every combination of answers is a dataset. Tallies: people of a group are counted."
    return [*rows, html.P(told, className="quiet"), button("Make it", "make", "", "main")]


# The page: one screen with a picture, what is said about it, and what can be done.


LONGEST_OFFER = 200  # characters of a label that is offered
OFFERED = 400  # datasets that are offered while one types
GRAPH_KEYS = (
    "Network of datasets. Arrow keys go from one to the next, E goes through the edges of the chosen one, "
    "Enter goes to its numbers, Escape back; in the picture, Escape leaves it."
)
CHART_KEYS = "Chart of all datasets. On a map, arrow keys go from cell to cell, and Enter goes to the numbers."
TABS = {"inspect": "Look closer", "accuracy": "Accuracy", "odds": "Odds", "export": "Export"}


def page(session: Session, start: bool) -> Any:
    """The whole page, as it is when it is loaded; its contents come after."""
    return html.Div(
        [
            dcc.Store(id="revision", data=session.revision),
            dcc.Store(id="page", data=token_hex(8)),  # another one each time that it is loaded
            dcc.Store(id="told"),
            dcc.Store(id="seen"),
            dcc.Store(id="actions"),
            dcc.Store(id="acknowledged"),
            dcc.Store(id="subject"),
            dcc.Store(id="lit", data=None),
            dcc.Store(id="theme"),
            dcc.Store(id="done"),
            dcc.Store(id="looked"),
            dcc.Store(id="drawn"),
            dcc.Download(id="download"),
            html.Div(id="spoken", className="unseen", role="status"),
            html.Div(id="trouble", className="trouble", role="alert", hidden=True),
            _header(),
            html.Main([_picture(), _side()]),
            dialog(start),
        ],
        id="studio",
    )


def _header() -> Any:
    tools = [
        button("Open", "open", "Another problem (O)"),
        button("Undo", "undo", "Take the last change back (Ctrl+Z)", action="undo"),
        button("Redo", "redo", "Make it again (Ctrl+Shift+Z)", action="redo"),
        button("◐", "night", "Light or dark"),
    ]
    return html.Header([html.H1("hetdp studio"), html.Div(id="title", className="title"), html.Nav(tools)])


def _picture() -> Any:
    graph = dash_cytoscape.Cytoscape(  # not `responsive`: that scales what studio.js has fitted, from the last drawing
        id="graph",
        elements=[],
        layout={"name": "preset", "fit": True, "padding": 40},
        style={"width": "100%", "height": "100%"},
        stylesheet=[],
        minZoom=0.05,
        maxZoom=4,
        boxSelectionEnabled=False,
    )
    chart = dcc.Graph(
        id="chart",
        figure={"data": [], "layout": {}},
        config={"displayModeBar": False, "responsive": True},
        style={"width": "100%", "height": "100%"},
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
    return html.Section(
        [
            html.Div(
                [
                    segments("view", {"network": "Network"}, "network", "Which picture"),
                    find,
                    html.Datalist(id="offered"),
                ],
                className="above",
            ),
            html.Div(
                [
                    html.Div(graph, id="graph-box", tabIndex=0, role="application", **named(GRAPH_KEYS)),
                    html.Div(
                        chart, id="chart-box", tabIndex=0, role="application", className="away", **named(CHART_KEYS)
                    ),
                ],
                className="canvas",
            ),
            html.Div(id="key", className="key"),
        ],
        className="picture",
        **named("Picture of the mechanism"),
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
                        button("Take the fair values for them", "fill", "", "main", "fill"),
                    ],
                    className="buttons",
                ),
            ],
            id="verdict",
            className="card",
        ),
        html.Div(
            [
                html.H3("Values are chosen to be"),
                segments("objective", {"fair": "Fair"}, "fair", "Objective"),
                html.P(id="objective-words", className="quiet"),
                html.Div(
                    [
                        button(
                            "Keep these values",
                            "keep",
                            "Make the chosen values given ones, to move them by hand",
                            action="keep",
                        ),
                        button("Forget given values", "forget", "Take all given values away", action="forget"),
                    ],
                    className="buttons",
                ),
            ],
            className="card",
        ),
        segments("tab", TABS, "inspect", "What is shown below"),
        html.Div(_inspector(), id="tab-inspect", className="card pane"),
        html.Div(
            dcc.Loading(html.Div(id="accuracy"), type="dot"), id="tab-accuracy", className="card pane", hidden=True
        ),
        html.Div(html.Div(id="odds"), id="tab-odds", className="card pane", hidden=True),
        html.Div(_export(), id="tab-export", className="card pane", hidden=True),
    ]
    return html.Aside(parts, **named("What the picture says"))


def _inspector() -> list[Any]:
    rows = [_mover(name, letter) for name, letter in LETTERS.items()]
    return [
        html.Div(id="inspect-words"),
        html.Div(
            [_mover("p", "p"), button("Take the given value away", "release", action="clear_pin")],
            id="edit-dataset",
            hidden=True,
        ),
        html.Div(rows, id="edit-edge", hidden=True),
        html.Div(id="inspect-more"),
    ]


def _mover(name: str, letter: str) -> Any:
    """A number that can be dragged or typed."""
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
    words = html.Label(letter if name != "p" else "Give it p =", htmlFor=_place_of("slider", name))
    unseen = html.Label(f"{letter}, typed", htmlFor=_place_of("number", name), className="unseen")
    data: dict[str, Any] = {"data-control": name, **named(f"Move {letter}")}
    return html.Div([words, slider, typed, unseen], id=f"mover-{name}", className="mover", role="group", **data)


def _place_of(kind: str, name: str) -> str:
    """What Dash calls a control in the page."""
    return json.dumps({"name": name, "type": kind}, separators=(",", ":"))


def _export() -> list[Any]:
    files = [
        button("Problem", "save-problem", "The problem with its given values, as .json"),
        button("Mechanism", "save-mechanism", "The mechanism with its proof, as .json"),
        button("Picture", "save-png", "What is seen, as .png"),
        button("Figure", "save-svg", "For a paper, as .svg"),
        button("Script", "save-script", "The lines below, as .py"),
    ]
    blocks = []
    for name, words in (("python", "The same in Python"), ("shell", "The same in a shell")):
        head = html.Div(
            [html.H3(words), dcc.Clipboard(target_id=f"lines-{name}", title="Copy", className="copy")], className="pair"
        )
        blocks += [head, html.Pre(id=f"lines-{name}", tabIndex=0)]
    return [html.H3("Save"), html.Div(files, className="buttons"), html.P(id="saved", className="notice"), *blocks]


def offers(session: Session) -> list[Any]:
    """Labels that are offered while one types."""
    graph = session.sheet.problem.graph
    names = (spell_label(graph.label(at), graph.labels) for at in range(min(graph.size, OFFERED)))
    return [html.Option(value=name) for name in names if len(name) <= LONGEST_OFFER]
