"""What the page is made of, again and again: buttons and rows of choices."""

from __future__ import annotations

from typing import Any

from dash import dcc, html


def button(words: str, name: str, title: str = "", kind: str = "plain") -> Any:
    """A button that says what it does."""
    return html.Button(words, id=name, className=f"button {kind}", title=title, n_clicks=0)


def segments(name: str, words: dict[str, str], value: str, told: str) -> Any:
    """A row of choices, one of which holds."""
    options = [{"label": label, "value": key} for key, label in words.items()]
    radio = dcc.RadioItems(id=name, options=options, value=value, className="segments", inline=True)
    return html.Div(radio, role="group", **named(told))


def named(words: str) -> dict[str, Any]:
    """What a part of the page is called, for those who hear it."""
    return {"aria-label": words}
