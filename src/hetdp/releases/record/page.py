"""The record as an HTML page for the public. It runs no script and loads nothing; all values are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hetdp.mechanism.formatting import promise_in_runs
from hetdp.problem.answer_words import YES_AND_NO, answer_name, answer_words, constant_words, split_right_answer
from hetdp.releases.record.document import TOGETHER, mark_of
from hetdp.releases.record.summary import (
    answer_of,
    bundle_headline_of,
    group_name,
    headline_of,
    nearest,
    people_words,
    promises_together,
    protections_of,
    sureness_of,
    thresholds_of,
    warning_of,
)
from hetdp.text import count_people, escape_unprintable
from hetdp.theory.pure import PURE

PARAMETERS = (("mu", "μ"), ("delta", "δ"))
MOST_SHOWN = 200  # areas or groups that are shown; the record has all of them
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.55 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3, p, li, th, td, dt, dd { overflow-wrap: anywhere; }
thead th { overflow-wrap: break-word; }
tbody th { min-width: 7rem; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; }
.answer { font-size: 2.2rem; line-height: 1.2; font-weight: 700; margin: 1rem 0; }
.promise { border-left: 4px solid #4a7ab5; padding: 0.1rem 0 0.1rem 1rem; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid #8886; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
dl div { margin: 0.6rem 0; }
dt { font-weight: 600; }
dd { margin: 0; }
code { font-size: 0.85rem; }
footer { margin-top: 3rem; font-size: 0.9rem; }
@media (min-width: 40rem), print {
  tbody th { min-width: 10rem; }
  dl div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; }
}
@media print {
  @page { margin: 18mm; }
  :root { color-scheme: light; }
  body { font-size: 10.5pt; line-height: 1.4; max-width: none; margin: 0; padding: 0; }
  h1 { font-size: 17pt; } h2 { font-size: 12.5pt; margin-top: 1.2rem; break-after: avoid; } .answer { font-size: 22pt; }
  tr, li, .promise, dl div { break-inside: avoid; }
}
"""
INTRODUCTION = (
    "A little randomness was added to this answer on purpose, to protect privacy. So it may be wrong. How often, at"
    " most, was fixed before it was drawn."
)
BUNDLE_INTRODUCTION = (
    "A little randomness was added to each of these answers on purpose, to protect privacy. So an answer may be wrong."
    " How often, at most, was fixed before it was drawn."
)
BUNDLE_MEANING = (
    "This holds for everything that anyone can conclude from all answers on this page together, whatever everybody else"
    " answered. Below, each question has the sentence about its own answer."
)
SHARED_LISTS = ("not_protected", "security")
SOME_AREAS = "In some areas the answer involves no randomness:"
DRAWN_MANY_TIMES = "The answer was drawn once. If it could be drawn many times from the same data, it would be right"
EACH_MANY_TIMES = "Each answer was drawn once. If it could be drawn many times from the same data, it would be right"
EITHER = "yes or no"
NOT_PUBLISHED = "Which of these situations comes closest to the truth is not published."
MEANING = (
    "One change like this makes no larger difference, whatever everybody else answered and whatever anyone knows."
    " A “run” is one draw of the answer; only one was made. What several published answers reveal adds up."
)
FOR_CHECKERS = "This part is for those who check the release. It uses technical words."
CHECK = (
    "Anyone who has the record (a JSON file with the same content as this page) can check its digest with hetdp record"
    " verify. With the ledger, the same command finds out whether anything was changed; with the problem and the"
    " mechanism, it proves the privacy again; with the plan of a table, it checks that exactly this plan was carried"
    " out."
)


def page_of(record: dict[str, Any]) -> str:
    """The whole page.

    Args:
        record: a record that is complete.
    """
    body = [
        *_question(record),
        *_section("What is not protected", _list(record["not_protected"])),
        *_section("What was done", _facts(_plain_facts(record))),
        *_checks(record["security"], [*_technical_facts(record), *_digests(record)]),
    ]
    return _page(record, headline_of(record), body, record["software"])


def bundle_page_of(record: dict[str, Any]) -> str:
    """The page of several questions: all answers, what they reveal together, and then a part for each question.

    Args:
        record: a record of several questions that is complete.
    """
    parts, together = record["releases"], record[TOGETHER]
    title = bundle_headline_of(record)
    answers = [(_question_words(one, answer), answer_of(answer)) for one in parts for answer in one["answers"]]
    body = [
        f"<h1>{_text(title)}</h1>",
        *_table(("question", "answer"), answers[:MOST_SHOWN]),
        *_count_of_others(answers),
    ]
    if any(len(one["constant"]) < len(one["answers"]) for one in parts):
        body.append(f"<p>{_text(BUNDLE_INTRODUCTION)}</p>")
    body += _odds(promises_together(record), PURE.key, "What all answers together mean for you", BUNDLE_MEANING)
    stated = [f"<p>{_text(words)}</p>" for words in (INTRODUCTION, BUNDLE_INTRODUCTION, MEANING)]  # once is enough
    common, technical = (
        [fact for fact in facts_of(parts[0]) if all(fact in list(facts_of(one)) for one in parts)]
        for facts_of in (_plain_facts, _technical_facts)
    )
    for one in parts:
        body.append("<section>")
        for line in _question(one):
            for words in stated:
                line = line.replace(words, "")
            body.append(line.replace("h2>", "h3>").replace("h1>", "h2>"))  # sections within this one
        body += _facts(fact for fact in _plain_facts(one) if fact not in common)
        body.append("</section>")
    unprotected, security = (list(dict.fromkeys(words for one in parts for words in one[key])) for key in SHARED_LISTS)
    others = [
        (f"{headline_of(one)} {name}", value)
        for one in parts
        for name, value in _technical_facts(one)
        if (name, value) not in technical
    ]
    digests = dict.fromkeys(
        (name if value == one["ledger"]["ledger"] else f"{headline_of(one)} {name}", value)
        for one in parts
        for name, value in _digests(one)
    )
    digests |= {("the plan of all questions", together["plan_sha256"]): None}
    digests |= {("the record of all questions", record["record_sha256"]): None}
    body += _section("What is not protected", _list(unprotected))
    sums = [
        (f"All answers together: {group_name(one['whom'])}", f"at most {one['used']} charged")
        for one in together["charges"]
    ]
    body += _section("What was done", _facts(common))
    body += _checks(security, [*technical, *others, *sums[:MOST_SHOWN], *digests])
    return _page(record, title, body, ", ".join(dict.fromkeys(one["software"] for one in parts)))


def _question_words(record: dict[str, Any], answer: dict[str, Any]) -> str:
    """A question and, with areas, the area of its answer."""
    return headline_of(record) if answer["area"] is None else f"{headline_of(record)} ({answer['area']})"


def _page(record: dict[str, Any], title: str, body: Iterable[str], software: str) -> str:
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        mark_of(record),
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        *body,
        "</main>",
        f"<footer>Made by {_text(software)}, {_text(record['released'])}.</footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _text(words: Any) -> str:
    """A value as escaped text."""
    return escape(escape_unprintable(str(words)), quote=True)


def _question(record: dict[str, Any]) -> Iterator[str]:
    """The part about one question: the answer, how sure it is, and what it means for the people."""
    yield f"<h1>{_text(headline_of(record))}</h1>"
    yield from _answers(record)
    yield from _introduction(record)
    yield from _sureness(record)
    yield from _odds(record["privacy"]["promises"], record["privacy"]["notion"])


def _section(title: str, body: Iterable[str]) -> Iterator[str]:
    yield f"<section><h2>{_text(title)}</h2>"
    yield from body
    yield "</section>"


def _checks(security: list[str], facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The part for those who check the release: what was proved, the technical facts, and the digests."""
    said = [f"<p>{_text(FOR_CHECKERS)}</p>", *_list(security), f"<p>{_text(CHECK)}</p>", *_facts(facts)]
    yield from _section("How to check it", said)


def _list(entries: list[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{_text(entry)}</li>" for entry in entries)
    yield "</ul>"


def _facts(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "<dl>"
    yield from (f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts)
    yield "</dl>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table whose rows are named by their first cell."""
    columns = "".join(f'<th scope="col">{_text(name)}</th>' for name in head)
    yield f"<table><thead><tr>{columns}</tr></thead><tbody>"
    for first, *others in rows:
        cells = "".join(f"<td>{_text(one)}</td>" for one in others)
        yield f'<tr><th scope="row">{_text(first)}</th>{cells}</tr>'
    yield "</tbody></table>"


def _count_of_others(entries: Sequence[Any]) -> Iterator[str]:
    if len(entries) > MOST_SHOWN:
        yield f"<p>And {len(entries) - MOST_SHOWN:,} more, in the record.</p>"


def _answers(record: dict[str, Any]) -> Iterator[str]:
    """The answer, or the answers of all areas with how sure each is."""
    answers = record["answers"]
    if len(answers) == 1 and answers[0]["area"] is None:
        yield f'<p class="answer">{_text(answer_of(answers[0]))}</p>'
        return
    shares, certain = sureness_of(record).by_share, {one["area"] for one in record["constant"]}
    thresholds = thresholds_of(record)
    rows = []
    for one in answers[:MOST_SHOWN]:
        area, needs = str(one["area"]), thresholds.get(one["area"])
        named = f"{area} (yes needs {needs})" if needs else area
        rows.append((named, answer_of(one), _area_sureness(one["area"], shares, certain)))
    if any(row[2] for row in rows):
        yield from _table(("area", "answer", "right in at least"), rows)
    else:
        yield from _table(("area", "answer"), (row[:2] for row in rows))
    yield from _count_of_others(answers)


def _area_sureness(area: str, shares: Mapping[str | None, list[tuple[str, str]]], certain: set[str]) -> str:
    if area in certain:
        return "all cases: it does not depend on the data"
    return "; ".join(f"{promise_in_runs(promise)} {where}" for where, promise in nearest(shares.get(area, [])))


def _introduction(record: dict[str, Any]) -> Iterator[str]:
    """Why the answer is random or, if it is the same for all data, that it is not."""
    constant = record["constant"]
    if len(constant) < len(record["answers"]):
        yield f"<p>{_text(BUNDLE_INTRODUCTION if len(record['answers']) > 1 else INTRODUCTION)}</p>"
        yield from [f"<p>{_text(SOME_AREAS)}</p>"] if constant else []
    for one in constant[:MOST_SHOWN]:
        where = "" if one["area"] is None else f"{one['area']}: "
        of = "dataset" if record["plan"] is None else "table"
        yield f"<p>{_text(where + constant_words(one['answer'], of))}</p>"
    yield from _count_of_others(constant)


def _sureness(record: dict[str, Any]) -> Iterator[str]:
    """How often the answer is right at least, in each situation that the promise lists."""
    sureness, cautions = sureness_of(record), record["cautions"]
    if len(record["constant"]) == len(record["answers"]) or not record["accuracy"]:
        return
    several = len(record["answers"]) > 1
    many_times = EACH_MANY_TIMES if several else DRAWN_MANY_TIMES
    yield "<section><h2>How sure it is</h2>"
    if sureness.worst:
        runs = promise_in_runs(sureness.worst)
        yield f"<p>{_text(f'{many_times} in at least {runs} runs, whatever the data is.')}</p>"
    shares = [] if several else [one for listed in sureness.by_share.values() for one in listed]
    situations = [(*split_right_answer(where), promise) for where, promise in (*shares, *sureness.by_margin)]
    names = _answer_names(record)
    rows = [(_situation(where), names.get(right, ""), promise_in_runs(promise)) for where, right, promise in situations]
    has_right = any(row[1] for row in rows)
    if rows:
        yield f"<p>{_text(f'{many_times} at least this often:')}</p>"
        head = ("if in truth", "the right answer is", "and published in at least")
        rows = [(where, right or EITHER, runs) for where, right, runs in rows]
        yield from _table(head, rows) if has_right else _table(("if in truth", "right in at least"), map(_ends, rows))
        yield f"<p>{_text(NOT_PUBLISHED)}</p>"
    yield from (f"<p><strong>Caution.</strong> {_text(words)}</p>" for words in cautions[:MOST_SHOWN])
    yield "</section>"


def _ends(row: Sequence[str]) -> tuple[str, str]:
    return row[0], row[-1]


def _answer_names(record: dict[str, Any]) -> dict[str, str]:
    """The names of yes and no in the words of those who asked."""
    about = (record["plan"] or {}).get("about")
    words = answer_words(about if isinstance(about, dict) else {}, YES_AND_NO)
    return {plain: answer_name(one, at + 1) for at, (plain, one) in enumerate(zip(YES_AND_NO, words, strict=True))}


def _situation(where: str) -> str:
    """A situation without the word that joins it to a sentence."""
    return where.removeprefix("if ").removeprefix("where ").replace("to change it", "to change the answer")


def _odds(
    promises: list[dict[str, Any]],
    notion: str = PURE.key,
    title: str = "What it means for you",
    meaning: str = MEANING,
) -> Iterator[str]:
    protections = protections_of(promises)
    if not protections:
        return
    yield f"<section><h2>{_text(title)}</h2>"
    for one in protections[:MOST_SHOWN]:
        whom = f"<strong>For {_text(one.whom)}:</strong> " if one.whom else ""
        yield f'<p class="promise">{whom}{_text(one.odds)}</p>'
        warning = warning_of(one, notion)
        if warning:
            yield f"<p><strong>Caution.</strong> {_text(warning)}.</p>"
    yield from _count_of_others(protections)
    yield f"<p>{_text(meaning)}</p></section>"


def _plain_facts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What was done, in plain words."""
    composition, is_table = record["composition"], record["plan"] is not None
    yield "Exact question", record["question"]
    if is_table:
        yield "Who and what is counted", record["domain"]["words"]
    yield "Data", f"{composition['source']}, version {composition['version']}"
    yield "Released", record["released"]
    yield from [] if is_table else _unit_facts(record)
    yield "Who is trusted", record["model"]


def _unit_facts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Who or what is protected", record["privacy"]["unit"]
    yield "What one of them changes", record["privacy"]["neighbours"]


def _technical_facts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The technical facts for those who check a release."""
    privacy, composition, is_table = record["privacy"], record["composition"], record["plan"] is not None
    if is_table:
        yield from _unit_facts(record)
    else:
        yield "Possible data", record["domain"]["words"]
    parameters = _merged_parameters(privacy["promises"])
    yield from ((f"Protection of {whom}", words) for whom, words in parameters[:MOST_SHOWN])
    yield "Kind of privacy", privacy["flavour"]
    accounts = "one for each person" if composition["kind"] == "person" else "one for each class"
    yield "How it adds up", f"{composition['rule']} Accounts: {composition['accounts']:,}, {accounts}."
    yield "Design of the mechanism", record["mechanism"]["objective"]


def _merged_parameters(promises: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The different parameters of promises, each once, with the people they are for."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in promises:
        found.setdefault(_parameters(one), []).append(one)
    merged = []
    for words, same in found.items():
        people = sum(one["people"] or 0 for one in same)
        count = f"; {count_people(people)}" if people else ""
        merged.append((people_words(same, promises), f"{words}{count}"))
    return merged


def _parameters(promise: dict[str, Any]) -> str:
    least, largest = promise["least_epsilon"], promise["epsilon"]
    several = least not in (None, largest)
    parts = [f"ε from {least} to {largest}" if several else f"up to ε = {largest}"] if largest is not None else []
    parts += [f"up to {letter} = {promise[name]}" for name, letter in PARAMETERS if promise[name] is not None]
    return f"{', '.join(parts)} allowed, {'at most ' if several else ''}{promise['used']} charged"


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
