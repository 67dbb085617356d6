"""The verdict as a page to print and keep: the problem, what is proved, accuracies, digests, and the changes made.

The page is complete in itself: it needs no script, and nothing on it refers to the studio. Digests are those of every
other door: the problem's identity, and the digest by which records and ledgers name a mechanism.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from html import escape
from typing import Any

from flask import Response, request

from hetdp.errors import HetdpError, UsageError
from hetdp.mechanism.accuracy.report import accuracy
from hetdp.mechanism.formatting import format_percentage
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.spelling import spell_label
from hetdp.releases.proof import digest_of
from hetdp.studio import panels
from hetdp.studio.answers import GIVEN, choose_engine
from hetdp.studio.drawing import answer_names
from hetdp.studio.export import MECHANISM, PROBLEM, picture_text
from hetdp.studio.glossary import OBJECTIVES, objective_name
from hetdp.studio.session import Session
from hetdp.studio.what_if import unprotected_classes
from hetdp.text import escape_unprintable, pluralize
from hetdp.version import VERSION

PATH = "verdict"  # of the page, below the token
MOST_LISTED = 200  # given values and changes that are listed; the files hold all
NEWER = "This is the newest state of the studio. The page that opened it showed an earlier one."
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1f26; background: #fff; }
body { max-width: 46em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin: 0 0 .2em; }
h2 { font-size: 1.05em; margin: 1.4em 0 .3em; border-bottom: 1px solid #c9d0d8; break-after: avoid; }
p { margin: .3em 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15em 1.2em; margin: .3em 0; }
dt { color: #57616d; }
dd { margin: 0; overflow-wrap: anywhere; }
ol { padding-left: 1.6em; margin: .3em 0; }
img { max-width: 100%; }
li, dd, img { break-inside: avoid; }
.verdict { border-left: 5px solid #0a7d5a; padding: .2em 0 .2em .9em; margin: .8em 0; }
.verdict p:first-child { font-weight: 650; font-size: 1.15em; }
.caution, .none { border-color: #a86b00; }
@media (max-width: 500px) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5em; } }
@media print { body { margin: 0; max-width: none; font-size: 10.5pt; } .screen { display: none; } }
@page { margin: 18mm; }
"""


def verdict_page(session: Session, now: datetime | None = None, shown: int | None = None) -> str:
    """The page of the current verdict as HTML.

    Args:
        session: the session.
        now: the time that the page states; by default the current time.
        shown: the revision that the page showed from which this one was opened, if it is known.
    """
    with session.lock:
        document, found = session.document, session.answer.mechanism
        about, kind = document.problem.about, panels.verdict(session)
        moment = (now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
        stated = document.stated
        title, changes = about.get("title", "") or document.name, [str(change) for change in document.changes]
        body = [
            f"<h1>{_text(document.name)}</h1>",
            f"<p><strong>{NEWER}</strong></p>" if shown is not None and shown < session.revision else "",
            f"<p>{_text(title)}</p>" if title != document.name else "",
            '<p class="screen">Print this page, or save it as PDF, with Ctrl+P.</p>',
            f'<div class="verdict {kind[0]}">{"".join(f"<p>{_text(words)}</p>" for words in _lines(kind[1]))}</div>',
            _picture(session),
            "<h2>Problem</h2>",
            _facts(_problem_facts(session)),
            "<h2>Objective</h2>",
            f"<p><strong>{_text(objective_name(document.objective))}.</strong>"
            f" {_text(OBJECTIVES[document.objective].words)}</p>",
            *([] if found is None else ["<h2>Accuracy</h2>", _facts(_accuracy_facts(session, found))]),
            *_list("Given values", _given_values(session)),
            *_list(f"Changes {panels.STATED}", changes[:stated]),
            *_list(f"Changes since the {'file' if stated else 'problem'} was opened", changes[stated:]),
            "<h2>How to check it</h2>",
            _facts(_proof_facts(session, found)),
            *_check_words(session, found),
            f"<p>Made by the studio of hetdp {_text(VERSION)} on {moment}.</p>",
        ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += '<link rel="icon" href="data:,">'
    head += f"<title>{_text(document.name)}: verdict</title><style>{STYLE}</style>"
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><main>{"".join(body)}</main></body></html>\n'


def connect_verdict(server: Any, token: str, session: Session) -> None:
    """Serves the page below the token."""

    @server.route(f"/{token}/{PATH}")  # type: ignore[untyped-decorator]
    def show() -> Response:
        return Response(verdict_page(session, shown=request.args.get("shown", type=int)), mimetype="text/html")


def _text(words: str) -> str:
    return escape(escape_unprintable(words)[:2000])


def text_of(part: Any) -> str:
    """The text of a component of Dash.

    >>> from dash import html
    >>> text_of(html.P(["p = ", html.B("0.5")]))
    'p = 0.5'
    """
    if part is None:
        return ""
    if isinstance(part, (list, tuple)):
        return "".join(map(text_of, part))
    return text_of(part.children) if hasattr(part, "children") else str(part)


def _lines(parts: list[Any]) -> list[str]:
    """The lines of the verdict; the steps of a list are lines of their own."""
    found = []
    for part in parts:
        if type(part).__name__ in ("Ol", "Ul"):
            found += [" · ".join(map(text_of, _leaves(row))) for row in part.children]
        else:
            found.append(text_of(part))
    return [line for line in found if line]


def _leaves(part: Any) -> list[Any]:
    """The parts of a row: its name, and the numbers beside it."""
    inside = part.children if isinstance(getattr(part, "children", None), list) else [getattr(part, "children", None)]
    return _leaves(inside[0]) if len(inside) == 1 and hasattr(inside[0], "children") else inside


def _facts(facts: list[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(words)}</dd>" for name, words in facts if words)
    return f"<dl>{rows}</dl>"


def _list(title: str, rows: list[str]) -> list[str]:
    more = len(rows) - MOST_LISTED
    listed = [*rows[:MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])]
    items = "".join(f"<li>{_text(row)}</li>" for row in listed)
    return [f"<h2>{_text(title)}</h2>", f"<ol>{items}</ol>"] if rows else []


def _problem_facts(session: Session) -> list[tuple[str, str]]:
    problem, listed = session.document.problem, session.edge_list
    one, two = answer_names(problem)
    size = f"{pluralize(problem.graph.size, 'dataset')}, {pluralize(problem.graph.edge_count, 'edge')}"
    ranges = []
    for name, values in ({} if listed is None else listed.columns).items():
        if len(values):
            low, high = float(values.min()), float(values.max())
            ranges.append(f"{name} {low:g}" if low == high else f"{name} from {low:g} to {high:g}")
    free = unprotected_classes(problem, listed).items()
    unprotected = [f"{spell_label(name)}: {panels.UNPROTECTED if whole else panels.PARTLY}" for name, whole in free]
    return [
        ("Answers", f"1: {one}; 2: {two}"),
        ("Size", size),
        ("Privacy", f"{problem.notion}; {', '.join(ranges)}".replace("inf", "∞")),
        ("Not protected", "; ".join(unprotected)),
        ("Rules", problem.about.get("privacy", "").replace("\n", "; ")),
        ("Unit of privacy", problem.about.get("privacy_unit", "")),
        ("Neighbours", problem.about.get("neighbour_relation", "") or problem.about.get("change", "")),
    ]


def _accuracy_facts(session: Session, found: LocalMechanism) -> list[tuple[str, str]]:
    problem = session.document.problem
    try:
        report = accuracy(problem, {"it": found}, baselines=False, engine=choose_engine(problem))
    except HetdpError as refusal:
        return [("Not computed", str(refusal))]
    worst, labels = report.methods[0], problem.labels
    where = "" if worst.worst_at is None else f", at {spell_label(worst.worst_at, labels)}"
    prior = {"uniform": "equal weights", "weight": "the weights of the problem"}.get(report.prior, "given weights")
    return [
        ("Worst case", f"right in {format_percentage(worst.worst_error)} of 100 runs{where}"),
        ("Mean", f"right in {format_percentage(worst.mean_error)} of 100 runs, with {prior}"),
    ]


def _given_values(session: Session) -> list[str]:
    """The given values; those that a repair has moved with their value before."""
    document, rows = session.document, []
    for dataset in document.pins:
        words = f"p of {session.dataset_name(dataset)} = {session.given_words(dataset)}"
        if dataset in document.repaired:
            before = session.pin_words(dataset, document.repaired[dataset])
            words += f", moved by the repair; it was {before}"
            words += f", {panels.STATED}" if document.stated_repairs.get(dataset) == document.repaired[dataset] else ""
        rows.append(words)
    return rows


def _proof_facts(session: Session, found: LocalMechanism | None) -> list[tuple[str, str]]:
    problem = session.document.problem
    facts = [("SHA-256 of the problem", problem.identity)]
    if found is not None:
        proof = "" if found.certificate is None else str(found.certificate)
        facts += [("SHA-256 of the mechanism", digest_of(problem, found.blocks())), ("Certificate", proof)]
    return facts


def _check_words(session: Session, found: LocalMechanism | None) -> list[str]:
    if found is None:
        return []
    verb = "extend" if session.document.objective == GIVEN else "design"
    words = (
        f"The tab Export saves {PROBLEM} and {MECHANISM}, and the code ({verb}) that makes the same mechanism. The"
        f" command hetdp verify {PROBLEM} {MECHANISM} proves it again. The digest of the problem is also in"
        f" {MECHANISM}; the record of a release names the mechanism by its digest."
    )
    return [f"<p>{_text(words)}</p>"]


def _picture(session: Session) -> str:
    """The figure with its legend, if matplotlib is installed."""
    try:
        drawn = picture_text(session)
    except (UsageError, ValueError):
        return ""
    code = base64.b64encode(drawn.encode()).decode()
    return f'<img alt="The mechanism as a picture" src="data:image/svg+xml;base64,{code}">'
