"""The addresses of the page for tables: one for each step, the files of this session, style and script.

Every form is posted to its step, taken by the session, and answered by an address to go to, so that a reload repeats
nothing. The script posts the same forms with ``live`` while something is typed, and takes what has changed from the
page that comes back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, abort, redirect, render_template, request

from hetdp.errors import HetdpError
from hetdp.mechanism.solve import SolvedEpsilon
from hetdp.people.populations.mechanism import coin_caution
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.people.privacy.meaning import strength
from hetdp.problem.answer_words import constant_words
from hetdp.releases.record.summary import statement
from hetdp.studio.people import code
from hetdp.studio.people.charts import charts_of, runs_words
from hetdp.studio.people.draft import (
    AREA_THRESHOLD,
    DIRECTIONS,
    EPSILON,
    GROUPS,
    KINDS,
    LEVELS,
    ONE,
    OPERATORS,
    PROTECTIONS,
    TABLE_FIELDS,
    THRESHOLD,
    WEIGHT,
    read_epsilon,
    read_share,
)
from hetdp.studio.people.session import FORM, NAMES, STALE, STEPS, PeopleSession
from hetdp.studio.people.table import COUNTED, PUBLIC
from hetdp.studio.people.wording import question_sentence, says_words
from hetdp.tables.promise import RIGHT_BY_SHARE
from hetdp.text import escape_unprintable, pluralize

PREFIX = "people"
HERE = Path(__file__).parent
MOST_FIELDS = 2000
RELEASES = ("release", "release-again")  # buttons
SHOWN_PLAN = "plan-sha256"  # the field of the steps Release and Record that says which plan they show
LABELS = {
    "person": "A column that identifies each person",
    "counted": "A column that is private, to be counted",
    "table": "Table",
    "value": "Value that counts as yes",
    "share": "Share",
    "number": "Number of people",
    "group": "Groups",
    "sum": "Weight that the answer yes needs",
    "title": "Title of the question",
    "yes": "Words for the answer yes",
    "no": "Words for the answer no",
    "epsilon": "ε",
    "level": "Public column of levels",
    "epsilon_column": "Public column of ε",
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


def connect_pages(server: Flask, token: str, session: PeopleSession) -> None:
    """Adds the pages of a session to a server, below its token.

    Args:
        server: the Flask server, which is protected by `guard.protect`.
        token: the first part of every path.
        session: the session.
    """
    pages = Blueprint(
        PREFIX,
        __name__,
        url_prefix=f"/{token}/{PREFIX}",
        root_path=str(HERE),
        template_folder="templates",
        static_folder="static",
    )
    root = f"/{token}/"
    here = f"{root}{PREFIX}/"
    pages.add_app_template_filter(lambda names: [(name, name) for name in names], "pairs")
    pages.add_app_template_filter(format_epsilon, "epsilon")

    @pages.get("/")
    def first() -> Any:
        with session.lock:
            return redirect(f"{here}{session.step}", 303)

    @pages.get("/<step>")
    def show(step: str) -> Any:
        if step not in STEPS:
            abort(404)
        with session.lock:
            session.step = step
            return render_template(f"{step}.html", **_context(session, step, root, here))

    @pages.post("/<step>")
    def take(step: str) -> Any:
        if step not in STEPS:
            abort(404)
        form = dict(list(request.form.items())[:MOST_FIELDS])
        with session.lock:
            if form.get("live"):
                if not session.take(step, form):
                    return Response("", 409)
                return render_template(f"{step}.html", **_context(session, step, root, here, quiet=True))
            return redirect(f"{here}{_act(session, step, form)}", 303)

    @pages.get("/files/<name>")
    def send(name: str) -> Any:
        with session.lock:
            kind = session.files().get(name)
            if kind is None:
                abort(404)
            place = session.folder.existing(name, (Path(name).suffix.lower(),))
            answer = Response(place.read_bytes(), mimetype=kind)
        answer.headers["Content-Security-Policy"] = FILE_POLICY
        return answer

    server.register_blueprint(pages)


FILE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


# What a form does.


def _act(session: PeopleSession, step: str, form: dict[str, str]) -> str:
    """Takes a form and does what its button says; returns the step to show."""
    is_outdated = form.get("revision") != str(session.revision)
    if not session.take(step, form):
        return step
    if "open" in form or "open-plan" in form:
        return _open(session, step, form)
    action = form.get("do", "")
    if action and action not in RELEASES and is_outdated:  # a release says which plan it is about
        session.notices.append(STALE)
        return step
    if action:
        return _do(session, step, action, form)
    wanted = form.get("go", step)
    if wanted == "next" and step == "table" and not is_outdated and _is_other_sheet(session, form):
        return _do(session, step, "reopen", form)
    if wanted == "next":
        wanted = NAMES[min(NAMES.index(step) + 1, len(NAMES) - 1)]
        session.tried.add(step)
        if step in ("table", "question", "protection") and session.faults(step):
            return step
    elif wanted in STEPS and NAMES.index(wanted) > NAMES.index(step):
        session.tried.add(step)
    return wanted if wanted in STEPS else step


def _is_other_sheet(session: PeopleSession, form: dict[str, str]) -> bool:
    """True if a sheet is chosen that is not the open one."""
    chosen = form.get("sheet", "")
    return bool(chosen) and session.table is not None and chosen != session.table.description.sheet


def _open(session: PeopleSession, step: str, form: dict[str, str]) -> str:
    """Opens another table, or an approved plan."""
    try:
        if "open-plan" in form:
            session.open_plan(form["open-plan"])
            return "release"
        session.open(session.table_path(form["open"]))
        return "table"
    except HetdpError as refusal:
        session.faults_of_action[step] = {FORM: str(refusal)}
        return step


def _do(session: PeopleSession, step: str, action: str, form: dict[str, str]) -> str:
    """Does what a button of a step says; a refusal is shown in the step."""
    names = {"save-plan": "plan-name", "make-ledger": "ledger-name"}
    try:
        if action == "reopen" and session.wanted is not None:
            session.open(session.wanted, **{name: form[name].strip() for name in TABLE_FIELDS if form.get(name)})
        elif action == "use-epsilon":
            session.use_solved_epsilon()
        elif action == "start-over":
            session.start_over()
            return "table"
        elif action == "save-plan":
            session.save_plan(form.get("plan-name", ""))
        elif action == "make-ledger":
            return _make_ledger(session, step, form)
        elif action == "release" and form.get("confirm") != "yes":
            session.faults_of_action[step] = {"confirm": "tick the box if the answer is to be released now"}
        elif action in RELEASES:
            session.release(form.get(SHOWN_PLAN, ""))
            return "record"
    except HetdpError as refusal:
        session.faults_of_action[step] = {names.get(action, FORM): str(refusal)}
    return step


def _make_ledger(session: PeopleSession, step: str, form: dict[str, str]) -> str:
    """Makes a ledger; says beside the field what is wrong."""
    found = {}
    if not form.get("ledger-source", "").strip():
        found["ledger-source"] = "This field is empty; the ledger knows the data by a name, such as: staff survey"
    try:
        session.caps(form.get("times", ""))
    except HetdpError as refusal:
        found["times"] = str(refusal)
    if not found:
        try:
            session.make_ledger(form.get("ledger-name", ""), form["ledger-source"], form["times"])
        except HetdpError as refusal:
            found["ledger-name"] = str(refusal)
    if found:
        session.faults_of_action[step] = found
    return step


# What a page shows.


def _context(session: PeopleSession, step: str, root: str, here: str, quiet: bool = False) -> dict[str, Any]:
    """Everything that the template of a step uses."""
    gap = session.first_gap(step) if step != "record" or session.published is None else ""
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
        "label_of": lambda name: _label_of(session, name),
        "notices": notices,
        "quiet": quiet,
        "title": session.title(),
        "ready": session.is_complete(step),
    }
    if not found["gap"]:
        found |= _PARTS[step](session)
    return found


def _label_of(session: PeopleSession, field: str) -> str:
    """The label of a numbered field: of a column, a group or a level."""
    what, _, number = field.rpartition("-")
    table = session.table
    if table is None or not number.isdecimal():
        return field
    if what == "role":
        return table.columns[int(number)].name
    if what == AREA_THRESHOLD:
        return f"Threshold for {table.names(session.draft.area(table))[int(number)]}"
    return f"ε for {table.names(session.draft.level(table))[int(number)]}"


def _table(session: PeopleSession) -> dict[str, Any]:
    table = session.table
    sheets = [] if table is None else [(one, one) for one in table.description.sheets]
    return {
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
        return render_fragment("fault", str(refusal))
    shown = list(found.counts.items())
    return render_fragment("values", shown[:12], found.distinct - len(shown[:12]), found.missing)


def render_fragment(kind: str, *given: Any) -> Any:
    """A piece of a page that more than one template uses, escaped."""
    from markupsafe import Markup

    if kind == "fault":
        return Markup('<p class="fault">{}</p>').format(given[0])
    shown, more, missing = given
    rows = Markup("").join(
        Markup("<li><span>{}</span> <b>{}</b></li>").format(escape_unprintable(name), f"{count:,}")
        for name, count in shown
    )
    rest = [f"and {pluralize(more, 'other value')}"] if more else []
    rest += [f"{pluralize(missing, 'row')} without a value"] if missing else []
    words = Markup('<p class="quiet">{}</p>').format("; ".join(rest)) if rest else ""
    return Markup('<ul class="values">{}</ul>{}').format(rows, words)


def _question(session: PeopleSession) -> dict[str, Any]:
    if session.opened_plan is not None:
        return {}
    table, draft = session.require_table(), session.draft
    formal = session.formal_question()
    return {
        "counted": table.with_role(COUNTED),
        "operators": OPERATORS.items(),
        "kinds": KINDS.items(),
        "directions": DIRECTIONS.items(),
        "groups": table.with_role(PUBLIC, "group"),
        "group_rows": _number_rows(session, draft.group(table), THRESHOLD if draft["kind"] == GROUPS else WEIGHT),
        "area_rows": _number_rows(session, draft.area(table), AREA_THRESHOLD),
        "own_thresholds": draft.has_area_thresholds(table),
        "areas": [(one, f"One answer for each {one}") for one in table.with_role(PUBLIC, "area")],
        "sentence": question_sentence(draft, table),
        "formal": formal,
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
            "name": name,
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
    typed = {"": draft["epsilon"]} if draft["protection"] == ONE else {one["name"]: one["typed"] for one in rows}
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
        "strengths": strengths,
    }


def _promise(session: PeopleSession) -> dict[str, Any]:
    found = _protection(session)
    try:
        promises = session.asked().promises
    except HetdpError:
        return found
    names = [one.area for one in promises if one.area is not None]
    promise = next((one for one in promises if one.area == session.draft["area-at"]), promises[0])
    curves = promise.curves()
    caution = coin_caution(promise.worse_up_to, promise.even_up_to)
    return found | {
        "promise": promise,
        "constant": constant_words(promise.constant) if promise.constant else "",
        "charts": [] if promise.constant else charts_of(curves),
        "not_offered": curves.not_offered,
        "share_lines": [f"{runs_words(wrong)} runs {where}" for where, wrong in promise.listed_shares],
        "right_by_share": f"{RIGHT_BY_SHARE[:1].upper()}{RIGHT_BY_SHARE[1:]}",
        "caution": f"{caution[:1].upper()}{caution[1:]}." if caution else "",
        "areas_of_promise": names,
        "area_at": promise.area or "",
        "shares_known": bool(curves.by_share) and not promise.constant,
        **_needed(session),
        **_at_share(session, promise),
    }


def _at_share(session: PeopleSession, promise: Any) -> dict[str, Any]:
    """How often the answer is right at the typed share, in words; or what is wrong with that share."""
    typed = session.draft["share-at"].strip()
    if not typed:
        return {}
    try:
        point = promise.at_share(read_share(typed))
    except HetdpError as refusal:
        return {"at_share_refused": str(refusal), "needed": None, "needed_refused": ""}  # said once
    who = ""
    if session.opened_plan is None and session.table is not None:
        who = f" {says_words(session.draft, session.table)}"
    assumed = promise.curves().assumption
    also = f" and {assumed}" if assumed else ""
    words = (
        f"If {point.number:,} people truly{who or ' say yes'}{also}, the right answer is {point.answer}, and the"
        f" published answer is right in at least {runs_words(point.error)} runs."
    )
    return {"at_share": words}


def _needed(session: PeopleSession) -> dict[str, Any]:
    """The ε that a wanted accuracy needs, in words; or why there is none."""
    try:
        found = session.solve_epsilon()
    except HetdpError as refusal:
        return {"needed": None, "needed_refused": str(refusal)}
    if found is None:
        return {"needed": None, "needed_refused": ""}
    words = str(found).splitlines()[0]
    return {
        "needed": found,
        "needed_words": f"{words[:1].upper()}{words[1:]}.",
        "needed_by_area": [(one.area, _multiple_words(one)) for one in found.areas],
        "needed_refused": "",
    }


def _multiple_words(needed: SolvedEpsilon) -> str:
    return f"every ε times {needed.multiple:g}" if needed.epsilon is None else f"ε = {needed.epsilon}"


def _plan(session: PeopleSession) -> dict[str, Any]:
    table = session.require_table()
    found = session.identified_plan()
    sentence = "" if session.opened_plan is not None else question_sentence(session.draft, table)
    name = session.plan_name()
    arguments = {} if session.opened_plan is not None else session.draft.arguments(table)
    return {
        "sentence": sentence,
        "lines_of_promise": [_indented(line) for line in found.promise.splitlines()],
        "digest": found.digest,
        "changed": session.changed_since_saved(),
        "plan_name": name,
        "plan_lines": code.plan_lines(table.path.name, arguments, name) if arguments else ("", ""),
        **_ledgers(session),
        **_price(session, "plan"),
    }


def _indented(line: str) -> tuple[int, str, str]:
    """A line of the promise: how far it is indented, the name before its colon if it begins with one, and the rest."""
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
            sources = session.ledger_sources(name)
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
        found = session.price()
    except HetdpError as refusal:
        return {"price": None, "price_lines": [str(refusal)]}
    lines = [] if found is None else [line.strip() for line in found.lines()]
    return {"price": found, "price_lines": [f"P{line[1:]}" if line.startswith("price,") else line for line in lines]}


def _release(session: PeopleSession) -> dict[str, Any]:
    table, draft, saved = session.require_table(), session.draft, session.saved
    assert saved is not None
    record, page = session.file_names()
    ledgers = _ledgers(session)
    ledger, source, version = draft["ledger"], draft["source"], draft["version"].strip() or "1"
    stem = table.path.stem
    name = draft["ledger-name"] or session.folder.free_name(stem, ".ledger")
    named = draft["ledger-source"] or stem
    cap_lines, ledger_lines = [], None
    if draft["times"].strip():
        try:
            cap, caps = session.caps(draft["times"])
            cap_lines = [f"Each person may spend at most ε = {cap} in all: {_belief_of_all(cap)}"]
            cap_lines += [f"On {group}, at most ε = {most}: {_belief_of_all(most)}" for group, most in caps.items()]
            ledger_lines = code.ledger_lines(name, named, cap, caps)
        except HetdpError as refusal:
            cap_lines = [str(refusal)]
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
        checks = session.checks()
    except HetdpError as refusal:
        session.faults_of_action["record"] = {FORM: str(refusal)}
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
