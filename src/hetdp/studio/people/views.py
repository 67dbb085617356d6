"""What each step shows: everything that its template uses, from the session alone."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

from hetdp.errors import HetdpError
from hetdp.mechanism.formatting import SMALL_ERROR
from hetdp.mechanism.solve import SolvedEpsilon
from hetdp.people.populations.mechanism import coin_caution
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.people.privacy.meaning import strength
from hetdp.problem.answer_words import KEYS, YES_AND_NO, constant_words, margin_words
from hetdp.releases.charges import EVERYBODY
from hetdp.releases.price import SHOWN, Price
from hetdp.releases.record.summary import statement
from hetdp.studio.people import code
from hetdp.studio.people.charts import charts_of
from hetdp.studio.people.draft import (
    ALL_TITLE,
    AREA_THRESHOLD,
    DIRECTIONS,
    EPSILON,
    GROUPS,
    KINDS,
    LEVELS,
    ONE,
    OPERATORS,
    PROTECTIONS,
    THRESHOLD,
    WEIGHT,
    Draft,
    read_epsilon,
    read_share,
)
from hetdp.studio.people.release import caps_of, checks_of_record, file_names, ledger_sources, price_of, version_of
from hetdp.studio.people.session import FORM, NAMES, STEPS, PeopleSession
from hetdp.studio.people.table import COUNTED, PUBLIC
from hetdp.studio.people.wording import (
    counted_words,
    gain_sentence,
    level_name,
    question_sentence,
    refusal_words,
    right_in_words,
    runs_words,
    similar_words,
)
from hetdp.tables.ask import AskedQuestion, AskResult
from hetdp.tables.formats import list_sheets
from hetdp.tables.promise import MOST_AREAS, RIGHT_BY_SHARE, SIMILAR_RULE, Promise
from hetdp.tables.request import ABOUT, plain_words
from hetdp.text import count_people, escape_unprintable, pluralize

CSV = ".csv"
PLACES = {
    "person": "role-0",
    "counted": "role-0",
    "table": "open",
}  # faults that are of no one field → where to mend them
LABELS = {
    "person": "A column that identifies each person",
    "counted": "A column that is private, to be counted",
    "table": "Table",
    "value": "Value that counts as yes",
    "share": "Share",
    "number": "Number of people",
    "group": "Groups",
    ALL_TITLE: "Title of all questions together",
    "sum": "Weight that the answer yes needs",
    "title": "Title of the question",
    "yes": "Words for the answer yes",
    "no": "Words for the answer no",
    "epsilon": "ε",
    "level": "Public column of levels",
    "epsilon_column": "Public column of ε",
    "deciding": "ε where one person decides",
    "plan-name": "Name of the file",
    "ledger": "Ledger",
    "ledger-name": "Name of the new ledger",
    "ledger-source": "Name of the data",
    "times": "Questions like this one",
    "confirm": "Confirmation",
    "sheet": "Sheet",
    "encoding": "Encoding",
    "delimiter": "Delimiter",
    "share-at": "True share",
    "want": "Wanted accuracy",
}


def context_of(session: PeopleSession, step: str, root: str, here: str, quiet: bool = False) -> dict[str, Any]:
    """Everything that the template of a step uses."""
    gap = session.first_gap(step) if step != "record" or session.published is None else ""
    parts = (
        _PARTS[step](session) if gap in ("", step) else {}
    )  # first, since a promise that is shown completes its step
    notices, session.notices = session.notices, session.notices if quiet else []
    faults = session.faults_of_action.get(step, {}) if gap else session.shown_faults(step)
    at = NAMES.index(step)
    found: dict[str, Any] = {
        "session": session,
        "folder": session.folder,
        "table": session.table,
        "draft": session.draft,
        "step": step,
        "titles": STEPS,
        "steps": [
            {"name": name, "title": title, "number": number, "complete": session.is_complete(name)}
            for number, (name, title) in enumerate(STEPS.items(), 1)
        ],
        "before": NAMES[at - 1] if at else "",
        "after": NAMES[at + 1] if at + 1 < len(NAMES) else "",
        "entered": "next" if step in ("question", "protection", "promise") else "stay",
        "root": root,
        "here": here,
        "gap": gap if gap != step else "",
        "faults": faults,
        "labels": LABELS,
        "places": PLACES if step == "table" else {},
        "label_of": lambda name: _label_of(session, name),
        "notices": notices,
        "quiet": quiet,
        "title": session.title(),
        "ready": session.is_complete(step),
    }
    return found | parts


def _label_of(session: PeopleSession, field: str) -> str:
    """The label of a numbered field: of a column, a group or a level."""
    what, _, number = field.rpartition("-")
    table = session.table
    if table is None or not number.isdecimal():
        return field
    if what == "role":
        return table.columns[int(number)].name
    if what == "other":
        return session.draft.each()[int(number)].name().capitalize()
    if what == AREA_THRESHOLD:
        return f"Threshold for {table.names(session.draft.area(table))[int(number)]}"
    if what in (THRESHOLD, WEIGHT):
        name = table.names(session.draft.group(table))[int(number)]
        return f"{'Threshold for' if what == THRESHOLD else 'Weight of each person of'} {name}"
    column = session.draft.level(table)
    return f"ε for {level_name(column, table.names(column)[int(number)])}"


def _table(session: PeopleSession) -> dict[str, Any]:
    table, wanted = session.table, session.wanted
    names: tuple[str, ...] = () if table is None else table.description.sheets
    is_csv = table is not None and bool(table.description.delimiter)
    if table is None and wanted is not None:  # it was refused
        is_csv = wanted.is_dir() or wanted.suffix.lower() == CSV
        try:
            names = list_sheets(wanted)
        except HetdpError:
            names = ()
    sheets = [(one, one) for one in names]
    return {
        "is_csv": is_csv,
        "tables": session.folder.tables(),
        "plans": session.folder.plans(),
        "sheets": sheets,
        "delimiters": [(one, one) for one in (",", ";", "tab", "|")],
        "values_of": lambda column: _values_words(session, column),
    }


def _values_words(session: PeopleSession, column: str) -> Any:
    """The values of a public column with their counts, as safe HTML."""
    try:
        found = session.require_table().values(column)
    except HetdpError as refusal:
        return render_fragment("fault", refusal_words(refusal))
    shown = list(found.counts.items())
    chips = render_fragment("values", shown[:12], found.distinct - len(shown[:12]), found.missing)
    return chips + render_fragment("caution", similar_words(sorted(found.counts)))


def _similar(session: PeopleSession, column: str) -> list[str]:
    """What to say about the values of a public column that look the same, if one is chosen and can be read."""
    if not column:
        return []
    try:
        return similar_words(session.require_table().names(column))
    except HetdpError:
        return []  # refused beside the field


def render_fragment(kind: str, *given: Any) -> Any:
    """A piece of a page that more than one template uses, escaped."""
    from markupsafe import Markup

    if kind == "fault":
        return Markup('<p class="fault">{}</p>').format(given[0])
    if kind == "caution":
        return Markup("").join(Markup('<p class="caution">{}</p>').format(words) for words in given[0])
    shown, more, missing = given
    rows = Markup("").join(
        Markup("<li><span>{}</span> <b>{}</b></li>").format(escape_unprintable(name), f"{count:,}")
        for name, count in shown
    )
    rest = [f"and {pluralize(more, 'other value')}"] if more else []
    rest += [f"{missing:,} without a value"] if missing else []
    words = Markup('<p class="quiet">{}</p>').format("; ".join(rest)) if rest else ""
    return Markup('<ul class="values">{}</ul>{}').format(rows, words)


def _question(session: PeopleSession) -> dict[str, Any]:
    if session.opened_plan is not None:
        return {}
    table, draft = session.require_table(), session.draft
    return {
        "counted": table.with_role(COUNTED),
        "operators": OPERATORS.items(),
        "kinds": KINDS.items(),
        "directions": DIRECTIONS.items(),
        "groups": table.with_role(PUBLIC, "group"),
        "group_rows": _number_rows(session, draft.group(table), THRESHOLD if draft["kind"] == GROUPS else WEIGHT),
        "area_rows": _number_rows(session, draft.area(table), AREA_THRESHOLD),
        "similar_areas": _similar(session, draft.area(table)),
        "similar_groups": _similar(session, draft.group(table)),
        "own_thresholds": draft.has_area_thresholds(table),
        "areas": [(one, f"One answer for each {one}") for one in table.with_role(PUBLIC, "area")],
        "sentence": question_sentence(draft, table),
        "questions": [
            {
                "at": one.at,
                "title": one["title"].strip(),
                "sentence": question_sentence(one, table),
                "complete": not one.own_faults(table),
                "current": one.at == draft.at,
            }
            for one in draft.each()
        ],
    }


def _number_rows(session: PeopleSession, column: str, what: str) -> list[dict[str, Any]]:
    """The fields for each value of a column, in alphabetical order."""
    if not column:
        return []
    table = session.require_table()
    try:
        counts, names = table.values(column).counts, table.names(column)
    except HetdpError:
        return []
    return [
        {
            "name": level_name(column, name),
            "key": name,
            "field": f"{what}-{at}",
            "people": counts[name],
            "typed": session.draft.number(what, column, name),
        }
        for at, name in enumerate(names)
    ]


def _protection(session: PeopleSession) -> dict[str, Any]:
    if session.opened_plan is not None:
        return {}
    table, draft = session.require_table(), session.draft
    rows = _number_rows(session, draft.level(table), EPSILON)
    typed = {"": draft["epsilon"]} if draft["protection"] == ONE else {one["key"]: one["typed"] for one in rows}
    if draft["decides"]:
        typed["deciding epsilon"] = draft["deciding"]
    strengths = {}
    for name, text in typed.items():
        try:
            strengths[name] = strength(read_epsilon(text))
        except HetdpError:
            continue
    return {
        "protections": PROTECTIONS.items(),
        "levels": table.with_role(PUBLIC, "level"),
        "epsilons": table.with_role(PUBLIC, "epsilon"),
        "level_rows": rows if draft["protection"] == LEVELS else [],
        "similar_levels": _similar(session, draft.level(table)) if draft["protection"] == LEVELS else [],
        "strengths": strengths,
        "deciding_strength": strengths.pop("deciding epsilon", None),
    }


def _promise(session: PeopleSession) -> dict[str, Any]:
    found = _protection(session)
    try:
        asked = session.dry_run()
    except HetdpError:
        return found
    session.note_promise()
    at = session.question_at(len(asked.questions))
    promises = asked.questions[at].promises
    names = [one.area for one in promises if one.area is not None]
    promise = next((one for one in promises if one.area == session.draft["area-at"]), promises[0])
    curves = promise.curves()
    column = session.level_column()
    return found | {
        "promise": promise,
        "question_at": str(at),
        "questions": _question_names(session, asked.questions),
        "level_name": partial(level_name, column),
        "constant": constant_words(promise.constant) if promise.constant else "",
        "charts": [] if promise.constant else charts_of(curves),
        "not_offered": plain_words(curves.not_offered),
        "gain": gain_sentence(promise, column, _share_shown(session, promise)),
        **_accuracy_words(promise),
        "areas_of_promise": [(name, level_name(session.area_column(at), name)) for name in names],
        "area_at": promise.area or "",
        "shares_known": bool(curves.by_share) and not promise.constant,
        "less_charged": any(one.used < one.largest for one in promise.protections),
        "charges": _charges(asked, column),
        "together": asked.together,
        **_needed_epsilon(session, at),
        **_at_share(session, promise, at),
    }


def _accuracy_words(promise: Promise) -> dict[str, Any]:
    """How often the answer is right, by margin and by true share, in words."""
    caution = coin_caution(promise.worse_up_to, promise.even_up_to)
    return {
        "share_lines": [f"{runs_words(wrong)} runs {plain_words(where)}" for where, wrong in promise.listed_shares],
        "right_by_share": f"{RIGHT_BY_SHARE[:1].upper()}{RIGHT_BY_SHARE[1:]}",
        "caution": f"{caution[:1].upper()}{caution[1:]}." if caution else "",
    }


def _question_names(session: PeopleSession, questions: tuple[AskedQuestion, ...]) -> list[tuple[str, str]]:
    """The questions with their numbers and titles, or their sentences."""
    drafts = [] if session.opened_plan is not None else session.draft.each()
    table = session.require_table()
    says = [question_sentence(one, table) for one in drafts] or [one.question for one in questions]
    pairs = zip(questions, says, strict=True)
    return [(str(at), f"{at + 1}. {escape_unprintable(one.title or words)}") for at, (one, words) in enumerate(pairs)]


def _charges(asked: AskResult, column: str) -> list[tuple[str, ...]]:
    """Of several questions, what the people of each level are charged for each of them and in all."""
    rows = []
    for one in asked.together:
        each = []
        for question in asked.questions:
            there = [part.used for area in question.promises for part in area.protections if part.group == one.group]
            each.append(format_epsilon(max(there, default=0.0)))
        whom = "Everybody" if one.group is None else level_name(column, one.group)
        rows.append((whom, f"{one.people:,}", *each, format_epsilon(float(one.used))))
    return rows


def _share_shown(session: PeopleSession, promise: Promise) -> str | None:
    """The true share that was typed; None if the field is empty or is not a share."""
    try:
        typed = read_share(session.draft["share-at"])
        promise.at_share(typed)
    except HetdpError:
        return None
    return typed


def _at_share(session: PeopleSession, promise: Promise, at: int) -> dict[str, Any]:
    """How often the answer is right at the typed share, in words; or what is wrong with that share."""
    typed = session.draft["share-at"].strip()
    if not typed:
        return {}
    try:
        point = promise.at_share(read_share(typed))
    except HetdpError as refusal:
        return {"at_share_refused": refusal_words(refusal), "needed": None, "needed_refused": ""}  # said once
    who = ""
    if session.opened_plan is None and session.table is not None:
        who = f" {counted_words(session.draft.each()[at], session.table)}"
    assumed = plain_words(promise.curves().assumption)
    also = f" and {assumed}" if assumed else ""
    words = (
        f"If {point.number:,} people truly{who or ' count as yes'}{also}, the right answer is {point.answer}, and the"
        f" published answer is {right_in_words(point.error)}."
    )
    return {"at_share": words}


MORE_THAN_NOW = "These numbers protect people more than those that are chosen now, which are more accurate than wanted."
LESS_THAN_NOW = "These numbers protect people less than those that are chosen now. Nothing changes unless you use them."


def _needed_epsilon(session: PeopleSession, at: int) -> dict[str, Any]:
    """The ε that a wanted accuracy needs, in words; or why there is none."""
    draft = session.draft
    try:
        found = None if session.opened_plan is not None else session.solve_epsilon()
    except HetdpError as refusal:
        return {"needed": None, "needed_refused": refusal_words(refusal)}
    if found is None:
        return {"needed": None, "needed_refused": ""}
    words = plain_words(str(found).splitlines()[0])
    notes = []
    if draft.has_several:
        notes.append(
            f"This is about question {at + 1} alone. The others have the same ε, so they change, too, and everybody is"
            " charged the sum."
        )
    if len(found.levels) > 1:
        notes.append("Every ε was multiplied by the same number, so the levels keep their proportions.")
    if found.multiple != 1.0:
        notes.append(MORE_THAN_NOW if found.multiple < 1.0 else LESS_THAN_NOW)
    return {
        "needed": found,
        "needed_words": f"{words[:1].upper()}{words[1:]}.",
        "needed_levels": _needed_levels(session, found),
        "needed_notes": notes,
        "needed_by_area": [
            (level_name(session.area_column(at), one.area or ""), _multiple_words(one)) for one in found.areas
        ],
        "needed_refused": "",
    }


def _needed_levels(session: PeopleSession, found: SolvedEpsilon) -> list[tuple[str, str, str]]:
    """Each needed ε beside the one that is chosen, what it means, and its warning."""
    draft, table = session.draft, session.require_table()
    named: dict[Decimal, list[str]] = {}
    if draft["protection"] == LEVELS:
        for name, typed in draft.epsilons(table).items():
            named.setdefault(Decimal(typed), []).append(level_name(draft.level(table), name))
    lines = []
    for one in found.levels:
        after, before = f"{one.after:f}", f"{one.before:f}"
        who = "everybody with a larger ε" if one.deciding else ", ".join(named.get(one.before, [])) or "everybody"
        whom = f"{who} ({one.people:,} people)" + (" where one of them decides" if one.deciding else "")
        instead = f" instead of {before}" if after != before else ", as now"
        lines.append((f"ε = {after}{instead} for {whom}", strength(after).belief, strength(after).warning))
    return lines


def _multiple_words(needed: SolvedEpsilon) -> str:
    return f"every ε times {needed.multiple:g}" if needed.epsilon is None else f"ε = {needed.epsilon}"


def _plan(session: PeopleSession) -> dict[str, Any]:
    table = session.require_table()
    found = session.identified_plan()
    name = session.plan_name()
    arguments = {} if session.opened_plan is not None else session.draft.arguments(table)
    return {
        "questions": _summaries(session, found),
        "person": escape_unprintable(_person_column(session)),
        "level_name": partial(level_name, session.level_column()),
        "charges": _charges(found, session.level_column()),
        "together": found.together,
        "similar": [f"{line[:1].upper()}{line[1:]}." for line in found.promise.splitlines() if SIMILAR_RULE in line],
        "lines_of_promise": [_split_line(line) for line in found.promise.splitlines()],
        "digest": found.digest,
        "changed": session.changed_since_saved(),
        "plan_name": name,
        "plan_lines": code.plan_lines(table.path.name, arguments, name) if arguments else ("", ""),
        **_ledgers(session),
        **_price(session, "plan"),
    }


def _person_column(session: PeopleSession) -> str:
    """The column that identifies people."""
    if session.opened_plan is not None:
        return str(session.saved_plans()[0]["columns"]["person"])
    return session.require_table().person


def _summaries(session: PeopleSession, found: AskResult) -> list[dict[str, Any]]:
    """The questions of a plan and what their answers promise, in plain words."""
    drafts: list[Draft] = [] if session.opened_plan is not None else session.draft.each()
    plans = [] if drafts else session.saved_plans()
    table, rows = session.require_table(), []
    for at, one in enumerate(found.questions):
        own = drafts[at] if drafts else None
        about = {} if own is not None else plans[at].get(ABOUT, {})
        words = {
            word: about.get(key, "") if own is None else own[word] for word, key in zip(YES_AND_NO, KEYS, strict=True)
        }
        rows.append(
            {
                "title": one.title or "",
                "sentence": f"Question: {one.question}." if own is None else question_sentence(own, table),
                "counted": "" if own is not None else f"{plans[at]['counted']}. {plain_words(plans[at]['missing'])}",
                "answers": [(word, text.strip()) for word, text in words.items() if text.strip()],
                "areas": [
                    {"promise": promise, "area": promise.area, "margins": _margin_lines(promise)}
                    | _accuracy_words(promise)
                    for promise in one.promises[:MOST_AREAS]
                ],
                "more": max(0, len(one.promises) - MOST_AREAS),
            }
        )
    return rows


def _margin_lines(promise: Promise) -> list[str]:
    """How often the answer is right, by how many people must change their minds."""
    if promise.constant:
        return [constant_words(promise.constant)]
    last = next((at for at, (_, _, wrong) in enumerate(promise.accuracy) if wrong < SMALL_ERROR), None)
    return [
        f"{runs_words(wrong)} runs {margin_words(margin)}" for margin, _, wrong in promise.accuracy[: last and last + 1]
    ]


def _split_line(line: str) -> tuple[int, str, str]:
    """Splits a line of the promise into its indentation, the name before a colon, if there is one, and the rest."""
    name, colon, rest = line.strip().partition(": ")
    indent = (len(line) - len(line.lstrip())) // 2
    return (
        (indent, f"{name[:1].upper()}{name[1:]}: ", rest) if colon and len(name) <= 40 else (indent, "", line.strip())
    )


def _ledgers(session: PeopleSession) -> dict[str, Any]:
    """The ledgers of the folder, and the sources of the chosen one."""
    sources: list[str] = []
    name = session.draft["ledger"]
    if name:
        try:
            sources = ledger_sources(session, name)
        except HetdpError:
            session.draft.set("ledger", "")
    if session.draft["source"] not in sources:
        session.draft.set("source", sources[0] if len(sources) == 1 else "")
    return {"ledgers": session.folder.ledgers(), "sources": sources}


def _price(session: PeopleSession, step: str) -> dict[str, Any]:
    """What the plan would cost, in words; or why that is not known."""
    if not session.draft["ledger"]:
        return {"price": None, "price_lines": []}
    try:
        found = price_of(session)
    except HetdpError as refusal:
        return {"price": None, "price_lines": [session.refusal_words(refusal)]}
    return {"price": found, "price_lines": [] if found is None else list(_price_words(found, session.level_column()))}


def _price_words(price: Price, column: str) -> Iterator[str]:
    """What everybody pays and has left, in the words of the page; the same numbers as in `Price.lines`."""
    yield f"In the data “{escape_unprintable(price.source)}”, version {escape_unprintable(price.version)}:"
    if price.before is not None:
        yield f"Nothing is charged: it was released before, {price.before}. The same answer would be given again."
        return
    for number in price.free:
        yield f"Question {number} was released before: it keeps its answer, and nothing is charged for it."
    if not price.classes:
        yield "Nobody is charged."
    for one in price.classes[:SHOWN]:
        whom = "Everybody" if one.name == EVERYBODY else level_name(column, one.name)
        people = count_people(one.accounts)
        paid = f"{whom}, {people}: each pays at most ε = {one.charged}"
        cap = one.cap if one.cap == one.highest_cap else f"{one.cap} to {one.highest_cap}"
        if one.exceeded:
            yield f"{paid}, but {one.exceeded:,} of them have less left of the {cap} that each may spend in all"
        else:
            yield f"{paid}; at least {one.left_after} of {cap} would be left"
    if len(price.classes) > SHOWN:
        yield f"and {len(price.classes) - SHOWN:,} more levels"
    if not price.fits:
        also = ", for all questions together" if price.questions > 1 else ""
        yield f"This does not fit, and would be refused; the most that fits everybody is ε = {price.largest}{also}."
    yield from (f"{line[:1].upper()}{line[1:]}" for line in price.similar)


def _release(session: PeopleSession) -> dict[str, Any]:
    table, draft, saved = session.require_table(), session.draft, session.saved
    assert saved is not None
    record, page = file_names(session)
    ledgers = _ledgers(session)
    ledger, source, version = draft["ledger"], draft["source"], version_of(session)
    stem = table.path.stem
    name = draft["ledger-name"] or session.folder.free_name(stem, ".ledger")
    named = draft["ledger-source"] or stem
    cap_lines, ledger_lines = [], None
    if draft["times"].strip():
        try:
            cap, caps = caps_of(session, draft["times"])
            cap_lines = [f"Each person may spend at most ε = {cap} in all: {_belief_of_all(cap)}"]
            cap_lines += [f"On {group}, at most ε = {most}: {_belief_of_all(most)}" for group, most in caps.items()]
            ledger_lines = code.ledger_lines(name, named, cap, caps)
        except HetdpError as refusal:
            cap_lines = [refusal_words(refusal)]
    return {
        **ledgers,
        **_price(session, "release"),
        "record_name": record,
        "page_name": page,
        "ledger_name": name,
        "ledger_source": named,
        "cap_lines": cap_lines,
        "ledger_lines": ledger_lines,
        "release_lines": code.release_lines(table.path.name, saved.name, ledger, source, version, record, page),
    }


def _belief_of_all(cap: str) -> str:
    """What somebody can learn about a person from all answers that a cap allows."""
    words = strength(cap).belief.replace("the published answer", "all of these answers together")
    return f"{words[:1].lower()}{words[1:]}"


def _record(session: PeopleSession) -> dict[str, Any]:
    done = session.published
    if done is None:
        return {"published": None}
    try:
        checks = checks_of_record(session)
    except HetdpError as refusal:
        session.faults_of_action["record"] = {FORM: session.refusal_words(refusal)}
        checks = []
    return {
        "published": done,
        "statement": statement(done.release.record),
        "checks": checks,
        "verify_lines": code.verify_lines(done.record, done.plan.name, done.ledger),
    }


_PARTS = {
    "table": _table,
    "question": _question,
    "protection": _protection,
    "promise": _promise,
    "plan": _plan,
    "release": _release,
    "record": _record,
}
