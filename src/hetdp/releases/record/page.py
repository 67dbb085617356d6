"""The record as an HTML page for the public. It runs no script and loads nothing; all values are escaped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from hetdp.problem.answer_words import constant_words
from hetdp.releases.charges import EVERYBODY
from hetdp.text import escape_unprintable

PARAMETERS = (("mu", "μ"), ("delta", "δ"))
MOST_SHOWN = 200  # areas or groups that are shown; the record has all of them
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.55 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, p, li, th { overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.3; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
.answer { font-size: 2.2rem; font-weight: 700; margin: 1rem 0 0.5rem; overflow-wrap: anywhere; }
.promise { border-left: 4px solid #4a7ab5; padding: 0.1rem 0 0.1rem 1rem; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid #8886; }
td { overflow-wrap: anywhere; }
th { font-weight: 600; }
code { overflow-wrap: anywhere; font-size: 0.85rem; }
footer { margin-top: 3rem; font-size: 0.9rem; }
"""
INTRODUCTION = (
    "A little randomness was added to this answer on purpose, so that it reveals no more about any person than is"
    " stated below. It may therefore be wrong. How often that happens was known before anyone looked at the data."
)
SOME_AREAS = "In some areas the answer involves no randomness:"
MEANING = (
    "Each sentence states the most that the published answer can reveal about one person. It holds no matter what"
    " anyone else knows or answered."
)
CHECK = (
    "Anyone who has the record (a JSON file with the same content as this page) can check its digest with hetdp record"
    " verify. With the ledger, the same command checks that nothing was changed; with the problem and the mechanism,"
    " it proves the privacy again; with the plan of a table, it checks that exactly this plan was carried out."
)


def page_of(record: dict[str, Any]) -> str:
    """The whole page.

    Args:
        record: a record that is complete.
    """
    title = _text(record.get("title", record["question"]))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        mark_of(record),
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{title}</h1>",
        *_answers(record["answers"]),
        *_introduction(record),
        *_odds(record["privacy"]["promises"]),
        *_accuracy(record),
        *_section("What is not protected", _list(record["not_protected"])),
        *_section("The facts", _table(_facts(record))),
        *_section("Why it can be trusted", _list(record["security"])),
        *_section("How to check it", [f"<p>{_text(CHECK)}</p>", *_table(_digests(record))]),
        "</main>",
        f"<footer>Made by {_text(record['software'])}, {_text(record['released'])}.</footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def mark_of(record: dict[str, Any]) -> str:
    """The tag that identifies a page of this release: a digest of the ledger, source, version and question."""
    paid = record["composition"]
    named = [record["ledger"]["ledger"], paid["source"], paid["version"], record["mechanism"]["sha256"]]
    return f'<meta name="hetdp-release" content="{hashlib.sha256(json.dumps(named).encode()).hexdigest()}">'


def _text(words: Any) -> str:
    """A value as escaped text."""
    return escape(escape_unprintable(str(words)), quote=True)


def _section(title: str, body: Iterable[str]) -> Iterator[str]:
    yield f"<section><h2>{_text(title)}</h2>"
    yield from body
    yield "</section>"


def _list(entries: list[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{_text(entry)}</li>" for entry in entries)
    yield "</ul>"


def _table(rows: Iterable[tuple[Any, Any]], head: tuple[str, str] | None = None) -> Iterator[str]:
    """A table of names and values."""
    yield "<table>"
    if head is not None:
        yield f'<tr><th scope="col">{_text(head[0])}</th><th scope="col">{_text(head[1])}</th></tr>'
    yield from (f'<tr><th scope="row">{_text(name)}</th><td>{_text(value)}</td></tr>' for name, value in rows)
    yield "</table>"


def _count_of_others(entries: list[Any]) -> Iterator[str]:
    if len(entries) > MOST_SHOWN:
        yield f"<p>And {len(entries) - MOST_SHOWN:,} more, in the record.</p>"


def _answers(answers: list[dict[str, Any]]) -> Iterator[str]:
    if len(answers) == 1 and answers[0]["area"] is None:
        yield f'<p class="answer">{_text(answers[0]["words"])}</p>'
        return
    yield from _table(((one["area"], one["words"]) for one in answers[:MOST_SHOWN]), ("area", "answer"))
    yield from _count_of_others(answers)


def _introduction(record: dict[str, Any]) -> Iterator[str]:
    """Why the answer is random; or that it is not, if it is the same for all data."""
    constant = record["constant"]
    if len(constant) < len(record["answers"]):
        yield f"<p>{_text(INTRODUCTION)}</p>"
        yield from [f"<p>{_text(SOME_AREAS)}</p>"] if constant else []
    for one in constant[:MOST_SHOWN]:
        where = "" if one["area"] is None else f"{one['area']}: "
        of = "dataset" if record["plan"] is None else "table"
        yield f"<p>{_text(where + constant_words(one['answer'], of))}</p>"
    yield from _count_of_others(constant)


def _odds(promises: list[dict[str, Any]]) -> Iterator[str]:
    shown = [promise for promise in promises if promise["odds"]]
    if not shown:
        return
    yield "<section><h2>What it means for you</h2>"
    for promise in shown[:MOST_SHOWN]:
        whom = "everybody else" if len(shown) > 1 and _people_words(promise) == EVERYBODY else _people_words(promise)
        yield f'<p class="promise"><strong>For {_text(whom)}:</strong> {_text(promise["odds"])}</p>'
    yield from _count_of_others(shown)
    yield f"<p>{_text(MEANING)}</p></section>"


def _accuracy(record: dict[str, Any]) -> Iterator[str]:
    accuracy, cautions = record["accuracy"], record["cautions"]
    is_constant = len(record["constant"]) == len(record["answers"])
    if not accuracy:
        return
    yield "<section><h2>How accurate the answer is</h2>"
    if not is_constant:
        yield "<p>This was known beforehand. How close the data really is to the other answer is not published.</p>"
    areas = any(one["area"] is not None for one in accuracy)
    rows = (  # as percentages, which people read better
        (f"{one['area']}, {one['where']}" if areas else one["where"], _percent(one["probability"]))
        for one in accuracy[:MOST_SHOWN]
    )
    yield from _table(rows, ("situation", "probability of the right answer, at least"))
    yield from _count_of_others(accuracy)
    yield from (f"<p><strong>Caution.</strong> {_text(words)}</p>" for words in cautions[:MOST_SHOWN])
    yield "</section>"


def _percent(probability: str) -> str:
    """A probability as a percentage, by its digits, so that it is never more than was promised.

    >>> _percent("0.574442"), _percent("1 − 1.2e-22"), _percent("1"), _percent("often")
    ('57.4442 %', 'more than 99.999 %', 'always', 'often')
    """
    if probability == "1":  # exactly: the answer does not depend on the data
        return "always"
    if probability.startswith("1 − "):  # an error below 1e-5, which the record has in digits
        return "more than 99.999 %"
    whole, point, digits = probability.partition(".")
    if not (point and whole + digits).isdigit():
        return probability
    shifted = f"{int(whole + digits[:2].ljust(2, '0'))}.{digits[2:]}"
    return f"{shifted.rstrip('0').rstrip('.')} %"


def _facts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    privacy, composition = record["privacy"], record["composition"]
    yield "kind of privacy", privacy["flavour"]
    yield "who or what is protected", privacy["unit"]
    yield "neighbours", privacy["neighbours"]
    yield from ((f"parameters: {_people_words(one)}", _parameters(one)) for one in privacy["promises"][:MOST_SHOWN])
    yield "who is trusted", record["model"]
    yield "domain", record["domain"]["words"]
    yield "how it adds up", composition["rule"]
    accounts = "one for each person" if composition["kind"] == "person" else "one for each class"
    yield "accounts", f"{composition['accounts']:,}, {accounts}"
    yield "data", f"{composition['source']}, version {composition['version']}"
    yield "mechanism", record["mechanism"]["objective"]


def _people_words(promise: dict[str, Any]) -> str:
    return promise["whom"] if promise["area"] is None else f"{promise['whom']} in {promise['area']}"


def _parameters(promise: dict[str, Any]) -> str:
    least, largest = promise["least_epsilon"], promise["epsilon"]
    several = least not in (None, largest)
    parts = [f"ε from {least} to {largest}" if several else f"up to ε = {largest}"] if largest is not None else []
    parts += [f"up to {letter} = {promise[name]}" for name, letter in PARAMETERS if promise[name] is not None]
    words = [f"{', '.join(parts)} allowed, {'at most ' if several else ''}{promise['used']} used"]
    if promise["people"] is not None:
        words.append("1 person" if promise["people"] == 1 else f"{promise['people']:,} people")
    return "; ".join(words)


def _digests(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    ledger = record["ledger"]
    plan = record["plan"]
    if plan is None:
        yield f"the {record['mechanism']['kind']}", record["mechanism"]["sha256"]
    else:
        yield "the plan", plan.get("plan_sha256", "")
        yield "the question, in the ledger", record["mechanism"]["sha256"]
    yield "the ledger", ledger["ledger"]
    yield f"entry {ledger['entry']:,}", ledger["hash"]
    yield "this record", record["record_sha256"]
