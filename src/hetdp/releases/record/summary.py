"""The parts of a record for laypeople: its headline, the answer, how sure it is, and what it means for whom.

The page of a record and its statement are made from these parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from hetdp.documents import require_path
from hetdp.errors import Fault, InputError, UsageError
from hetdp.mechanism.formatting import promise_in_runs
from hetdp.numbers import EXACT, format_share, parse_exact
from hetdp.people.privacy.meaning import strength
from hetdp.problem.answer_words import BARE_NUMBERS, quote_answer
from hetdp.releases.charges import EVERYBODY
from hetdp.releases.record.document import (
    TOGETHER,
    Document,
    has_valid_digest,
    is_bundle,
    read_record,
    require_record,
)
from hetdp.releases.record.facts import BY_CERTAINTY, BY_MARGIN, BY_SHARE, BY_WORST
from hetdp.text import pluralize
from hetdp.theory.pure import PURE

NEARLY_SURE = Decimal("0.95")
MOST_NAMED = 8  # groups or areas in one sentence
TECHNICAL = "every combination of the published answers becomes"  # left to the page: an e-mail says what can be learnt
BY_AREA = "by_area"  # of a question with a threshold for each area
ASKED = "Is it true that "
WORST_CASE = "in the worst case"


# Of the parts of a question, what an exact tie and a missing answer mean, which a headline leaves out
_explained = re.compile(r"; (?:exactly|people without|blank|any other value)[^()']*(\))").sub
EXPLANATIONS = ("exactly ", "people without ", "blank ", "any other value")
_first_sentence = re.compile(rf"({ASKED}[^?;]*\?) (?:{'|'.join(part.capitalize() for part in EXPLANATIONS)})").match
_asks_by_area = re.compile(rf"{ASKED}for each (?P<area>.+?), about its own people: (?P<words>.*)").fullmatch


def question_in_sentences(words: str) -> str:
    """A question and what is explained about it, each as a sentence; `headline_of` takes the first of them.

    >>> question_in_sentences("more than half count as yes; exactly half is not enough; blank rows do not count as yes")
    'Is it true that more than half count as yes? Exactly half is not enough. Blank rows do not count as yes.'
    >>> question_in_sentences("(a; exactly half is enough) and (b)")
    'Is it true that (a; exactly half is enough) and (b)?'
    """
    first, *rest = words.split("; ")
    is_whole = first.count("(") == first.count(")") and not first.count("'") % 2 and "?" not in first
    if not (rest and is_whole and all(part.startswith(EXPLANATIONS) for part in rest)):
        return f"{ASKED}{words}?"
    return " ".join([f"{ASKED}{first}?", *(f"{part[:1].upper()}{part[1:]}." for part in rest)])


def headline_of(record: Document) -> str:
    """The question in the words of those who asked or, without a title, as a short sentence.

    >>> headline_of({"question": "Is it true that more than half count as yes; half is not enough? (Yes means: a.)"})
    'Is it true that more than half count as yes?'
    >>> headline_of({"question": "Is it true that for each site, about its own people: half of all people vote?"})
    'Is it true that for each site, half of its people vote?'
    """
    if "title" in record:
        return str(record["title"])
    question: str = record["question"]
    if not question.startswith(ASKED):
        return question[:1].upper() + question[1:]
    by_area = _asks_by_area(question)
    if by_area and by_area["words"].startswith("in "):  # a threshold for each, of which a short sentence has no room
        return f"{ASKED}each {by_area['area']} reaches a threshold of its own?"
    if by_area:
        words = by_area["words"].replace("of all people", "of its people", 1)
        question = f"{ASKED}for each {by_area['area']}, {words}"
    if first := _first_sentence(question):
        return first[1]
    question = _explained(r"\1", question)
    short = question.partition(";")[0]
    is_whole = short.count("(") == short.count(")") and not short.count("'") % 2
    return f"{short}?" if is_whole and short != question else question.partition("? (Yes means")[0].rstrip("?") + "?"


def bundle_headline_of(record: Document) -> str:
    """The title of several questions that were released together; without a title, their number."""
    return str(record[TOGETHER].get("title", f"{pluralize(len(record['releases']), 'question')} and what was answered"))


def promises_together(record: Document) -> list[Document]:
    """What all answers to several questions together reveal, in the form of the promises of one question."""
    return [one | {"area": None, "unprotected": 0} for one in record[TOGETHER]["charges"]]


def answer_of(answer: Document) -> str:
    """A published answer in words: those of the question, or its number."""
    words: str = answer["words"]
    return f"Answer {words}" if words in BARE_NUMBERS else words


def thresholds_of(record: Document) -> dict[str, str]:
    """What the answer yes needs in each area, if each has a threshold of its own; nothing if the plan is malformed."""
    plan: Any = record["plan"] or {}
    try:
        asked = plan["question"]["question"]
        areas = asked["areas"] if asked["asks"] == BY_AREA else {}
        return {area: words for area, body in areas.items() if (words := _threshold_in_words(body))}
    except (AttributeError, KeyError, TypeError, ValueError, UsageError):
        return {}


def _threshold_in_words(body: Document) -> str:
    """A threshold of a count or a share in a few words; empty for other questions.

    >>> _threshold_in_words({"asks": "share", "at_least": "2/3", "strict": True}), _threshold_in_words({"asks": "all"})
    ('more than 2/3', '')
    >>> _threshold_in_words({"asks": "count", "at_least": 1200})
    'at least 1,200'
    """
    if body["asks"] == "count":
        return f"at least {body['at_least']:,}"
    if body["asks"] != "share":
        return ""
    return f"{'more than' if body['strict'] else 'at least'} {format_share(parse_exact(body['at_least'], 'the share'))}"


class Protection(NamedTuple):
    """One sentence about what an answer reveals, and the people it is for.

    Attributes:
        whom: the people, in words; empty if it is for everybody.
        odds: the sentence.
        used: the largest privacy loss of any of them, as a decimal; ``inf`` is no protection.
    """

    whom: str
    odds: str
    used: Decimal


def protections_of(promises: list[Document]) -> list[Protection]:
    """The different sentences of a record about what it reveals, each once, with all people it is for."""
    stated = [one for one in promises if one["odds"]]
    by_odds: dict[str, list[Document]] = {}
    for one in stated:
        by_odds.setdefault(one["odds"], []).append(one)
    whom = "" if len(by_odds) == 1 else None
    return [
        Protection(people_words(same, stated) if whom is None else whom, odds, max(map(_largest_loss, same)))
        for odds, same in by_odds.items()
    ]


def warning_of(given: Protection, notion: str) -> str:
    """The warning about an ε that protects practically nobody; empty for others, and where no protection is promised.

    Where none is promised, the sentence of the protection says so.
    """
    return strength(given.used).warning if notion == PURE.key and given.used.is_finite() else ""


def people_words(same: list[Document], promises: list[Document]) -> str:
    """The people of some of all promises: groups and, where other areas of a group have another promise, its areas."""
    areas: dict[str, int] = {}
    for one in promises:
        areas[one["whom"]] = areas.get(one["whom"], 0) + 1
    found: dict[str, list[str]] = {}
    for one in same:
        found.setdefault(one["whom"], []).extend([] if one["area"] is None else [one["area"]])
    names = []
    for whom, where in found.items():
        name = "everybody else" if whom == EVERYBODY and len(areas) > 1 else group_name(whom)
        names.append(name if len(where) in (0, areas[whom]) else f"{name} in {join_some(where)}")
    return join_some(names)


def group_name(whom: str) -> str:
    """The people of a promise as a sentence names them; a name without letters would be read as a number.

    >>> group_name("strict"), group_name("2")
    ('strict', 'group 2')
    """
    return whom if any(map(str.isalpha, whom)) else f"group {whom}"


def join_some(names: list[str]) -> str:
    """Names in a sentence, as far as they are few; empty without names, as in a record that states no margin.

    >>> join_some(["a", "b", "c"]), join_some(list("abcdefghij")), join_some([])
    ('a, b and c', 'a, b, c, d, e, f, g and 3 more', '')
    """
    if not names:
        return ""
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1:,} more"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _largest_loss(promise: Document) -> Decimal:
    return Decimal("inf") if promise["unprotected"] else _decimal(promise["used"], Decimal("inf"))


def _decimal(text: str, otherwise: Decimal) -> Decimal:
    """A number of a record; something else if it is none."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        return otherwise
    return otherwise if found.is_nan() else found


class Sureness(NamedTuple):
    """How sure the answers of a record are, as far as that is public.

    Attributes:
        certain: the areas whose answer is the same for any data.
        worst: the least probability of the right answer of a mechanism; empty for a table.
        by_share: for each area the listed true shares with their promises.
        by_margin: the listed margins, with the least promise of any area.
    """

    certain: list[str | None]
    worst: str
    by_share: dict[str | None, list[tuple[str, str]]]
    by_margin: list[tuple[str, str]]


def sureness_of(record: Document) -> Sureness:
    """How sure the answers of a record are, from what its promises say beforehand."""
    accuracy = record["accuracy"]
    shares: dict[str | None, list[tuple[str, str]]] = {}
    margins: dict[str, list[str]] = {}
    for one in accuracy:
        if one["by"] == BY_SHARE:
            shares.setdefault(one["area"], []).append((one["where"], one["probability"]))
        elif one["by"] == BY_MARGIN:
            margins.setdefault(one["where"], []).append(one["probability"])
    uncertain = len({one["area"] for one in accuracy if one["by"] == BY_MARGIN})
    least = [(where, min(listed, key=chance)) for where, listed in margins.items() if len(listed) == uncertain]
    return Sureness(
        [one["area"] for one in accuracy if one["by"] == BY_CERTAINTY],
        next((one["probability"] for one in accuracy if one["by"] == BY_WORST), ""),
        shares,
        _few(least) if shares else least,
    )


def _few(margins: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first margin, and the first at which the answer is nearly sure."""
    later = [one for one in margins[1:] if chance(one[1]) >= NEARLY_SURE]
    return [*margins[:1], *later[:1]]


def chance(promise: str) -> Decimal:
    """A promise of a record as a number, to compare it with others.

    >>> chance("0.97"), chance("1") > chance("1 − 1e-9") > chance("0.999999")
    (Decimal('0.97'), True)
    """
    error = promise.partition(" − ")[2]
    found = _decimal(error or promise, Decimal(len(error) > 0))
    return EXACT.subtract(1, min(max(found, Decimal(0)), Decimal(1))) if error else found


def nearest(shares: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The two listed shares at which the answer is least sure: those next to the threshold."""
    least = sorted(range(len(shares)), key=lambda at: chance(shares[at][1]))[:2]
    return [shares[at] for at in sorted(least)]


# The statement --------------------------------------------------------------------------------------------------------


def statement(record: str | Path | Document) -> str:
    """Two sentences about a release, for an e-mail or a report: the answer and how sure it is, and what it reveals.

    For several questions that were released together, there is a sentence about each, and one about what all of them
    reveal.

    The record's digest is verified first. A change of the record together with its digest is detected only by
    `verify_record`, with the ledger.

    Args:
        record: the file of a record, or the document itself.

    Raises:
        UsageError: the file cannot be read.
        InputError: it is not a record, or was changed.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["most say yes"], ["most say no"], 0.5)
    >>> words = {"title": "Shall we move?", "answer_1": "yes", "answer_2": "no", "change": "you vote differently"}
    >>> mechanism = hetdp.design(hetdp.Problem(graph, [1, 2], about=words))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "a.ledger"), source="data", cap=1)
    ...     released = hetdp.release(mechanism, "most say yes", ledger=ledger)
    >>> hetdp.statement(released.record).endswith(
    ...     "If you vote differently, the published answer is yes in at most 63 of 100 runs instead of 37."
    ... )
    True
    """
    name = "record" if isinstance(record, dict) else require_path(record).name
    found = require_record(record, name) if isinstance(record, dict) else read_record(record)
    if not has_valid_digest(found):
        rule = "its digest must match its content"
        raise InputError(name, [Fault("the record was changed", name, "", rule, "ask for the record again")])
    parts = found["releases"] if is_bundle(found) else [found]
    if not parts or not all(one["answers"] for one in parts):
        raise InputError(name, [Fault("no answer", name, "", "a record has at least one")])
    promises = promises_together(found) if is_bundle(found) else found["privacy"]["promises"]
    notion = parts[0]["privacy"]["notion"]
    return " ".join([*map(_sentence_about_answers, parts), _sentence_about_people(promises, notion)])


def _sentence_about_answers(record: Document) -> str:
    answers, sureness = record["answers"], sureness_of(record)
    several = len(answers) > 1
    published = _answers_in_words(answers, thresholds_of(record))
    start = f"To the question {_question_in_words(record)}, the published answer {published}"
    if len(record["constant"]) == len(answers):
        return f"{start}; {'these answers are' if several else 'it is'} the same for any data, without any randomness."
    drawn = f"{start}; a little randomness was added to protect privacy"
    return f"{drawn}{_sureness_of_areas(sureness) if several else _sureness_in_words(answers[0]['area'], sureness)}."


def _sureness_in_words(area: str | None, sureness: Sureness) -> str:
    """How sure one answer is, as the end of a sentence; empty if that is not public."""
    promises = [(WORST_CASE, sureness.worst)] if sureness.worst else []
    shares = nearest(sureness.by_share.get(area, []))
    promises += [*shares, *(sureness.by_margin[:1] if promises or shares else sureness.by_margin[:2])]
    words = join_some([f"{promise_in_runs(promise)} runs {where}" for where, promise in promises])
    return f", and if it could be drawn many times, it would be right in at least {words}" if words else ""


def _sureness_of_areas(sureness: Sureness) -> str:
    """How sure the answers of areas are: each at the least margin, and one of them at a true share, as an example."""
    examples = [(area, *nearest(one)[-1]) for area, one in sureness.by_share.items() if one]
    margins = sureness.by_margin[: 1 if examples else 2]
    words = join_some([f"{promise_in_runs(promise)} runs {where}" for where, promise in margins])
    parts = [f"each would be right in at least {words}"] if words else []
    if examples:
        area, where, promise = min(examples, key=lambda one: chance(one[2]))
        would = "in" if words else "it would be right in"
        parts.append(f"in {area}, for example, {would} at least {promise_in_runs(promise)} {where}")
    return f", and if they could be drawn many times, {'; '.join(parts)}" if parts else ""


def _question_in_words(record: Document) -> str:
    """The headline and, if it is a title, what exactly was asked: a title seldom names the threshold."""
    headline, question = headline_of(record), headline_of({"question": record["question"]})
    asked = f" ({question[:1].lower()}{question[1:]})" if "title" in record and question.startswith(ASKED) else ""
    return f"“{headline}”{asked}"


def _answers_in_words(answers: list[Document], thresholds: Mapping[str, str]) -> str:
    if len(answers) == 1 and answers[0]["area"] is None:
        return f"is {_answer_in_sentence(answers[0])}"
    areas: dict[str, list[str]] = {}
    for one in answers:
        needs = thresholds.get(one["area"])
        areas.setdefault(_answer_in_sentence(one), []).append(f"{one['area']} ({needs})" if needs else str(one["area"]))
    return f"is {', but '.join(f'{words} in {join_some(names)}' for words, names in areas.items())}"


def _answer_in_sentence(answer: Document) -> str:
    """A published answer inside a sentence."""
    words: str = answer["words"]
    return f"answer {words}" if words in BARE_NUMBERS else quote_answer(words)


def _sentence_about_people(promises: list[Document], notion: str) -> str:
    protections = protections_of(promises)
    if not protections:
        return "Its record says what it may reveal about people."
    least = max(protections, key=lambda one: one.used)
    said = least.odds.removesuffix(".").split(". ")
    parts = [part for part in said if TECHNICAL not in part] + list(filter(None, [warning_of(least, notion)]))
    odds = "; ".join(f"{part[:1].lower()}{part[1:]}" for part in parts) + "."
    if len(protections) == 1:
        return odds[:1].upper() + odds[1:]
    return f"For those who are protected least ({least.whom}): {odds}"
