"""Where a problem comes from: the gallery, a file, or people and a question."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from hetdp.errors import UsageError
from hetdp.studio.gallery import GALLERY
from hetdp.studio.opening import MOST_BYTES, SIZE_RULE, TOO_LARGE
from hetdp.studio.parts import button, named, segments

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
