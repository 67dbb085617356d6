"""The addresses of the page for tables: one for each step, the files of this session, style and script.

Every form is posted to its step and answered by a redirect, so that a reload repeats nothing. While something is typed,
the script posts the same forms with ``live``, and takes what has changed from the page that comes back.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, abort, redirect, render_template, request

from hetdp.errors import HetdpError
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.studio.people.draft import (
    TABLE_FIELDS,
)
from hetdp.studio.people.release import caps_of, files_of, make_ledger, release_plan, save_ledger_copy
from hetdp.studio.people.session import FORM, NAMES, STALE, STEPS, PeopleSession
from hetdp.studio.people.views import context_of

PREFIX = "people"
HERE = Path(__file__).parent
MOST_FIELDS = 2000
RELEASES = ("release", "release-again")  # buttons
ADD, SHOW, REMOVE = QUESTION_ACTIONS = ("add-question", "show-question-", "remove-question-")
SHOWN_PLAN = "plan-sha256"  # the field of the steps Release and Record that says which plan they show


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
    pages.add_app_template_filter(shlex.quote, "shell")

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
            return render_template(f"{step}.html", **context_of(session, step, root, here))

    @pages.post("/<step>")
    def take(step: str) -> Any:
        if step not in STEPS:
            abort(404)
        form = dict(list(request.form.items())[:MOST_FIELDS])
        with session.lock:
            if form.get("live"):
                if not session.take(step, form):
                    return Response("", 409)
                return render_template(f"{step}.html", **context_of(session, step, root, here, quiet=True))
            return redirect(f"{here}{_act(session, step, form)}", 303)

    @pages.get("/files/<name>")
    def send(name: str) -> Any:
        with session.lock:
            kind = files_of(session).get(name)
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
        session.faults_of_action[step] = {FORM: session.refusal_words(refusal)}
        return step


def _do(session: PeopleSession, step: str, action: str, form: dict[str, str]) -> str:
    """Does what a button of a step says; a refusal is shown in the step."""
    names = {"save-plan": "plan-name", "make-ledger": "ledger-name"}
    plain: dict[str, Callable[[], None]] = {
        "use-epsilon": session.use_solved_epsilon,
        "save-copy": partial(save_ledger_copy, session),
    }
    try:
        if action == "reopen" and session.wanted is not None:
            session.open(session.wanted, **{name: form[name].strip() for name in TABLE_FIELDS if form.get(name)})
        elif action in plain:
            plain[action]()
        elif action.startswith(QUESTION_ACTIONS):
            _change_questions(session, action)
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
            release_plan(session, form.get(SHOWN_PLAN, ""))
            return "record"
    except HetdpError as refusal:
        session.faults_of_action[step] = {names.get(action, FORM): session.refusal_words(refusal)}
    return step


def _change_questions(session: PeopleSession, action: str) -> None:
    """Adds a question, shows another one, or removes one."""
    number = action.rpartition("-")[2]
    if action == ADD:
        session.tried.add("question")
        session.add_question()
    elif number.isdecimal():
        (session.show_question if action.startswith(SHOW) else session.remove_question)(int(number))


def _make_ledger(session: PeopleSession, step: str, form: dict[str, str]) -> str:
    """Makes a ledger; shows beside the field what is wrong."""
    found = {}
    if not form.get("ledger-source", "").strip():
        found["ledger-source"] = "This field is empty; the ledger knows the data by a name, such as: staff survey"
    try:
        caps_of(session, form.get("times", ""))
    except HetdpError as refusal:
        found["times"] = session.refusal_words(refusal)
    if not found:
        try:
            make_ledger(session, form.get("ledger-name", ""), form["ledger-source"], form["times"])
        except HetdpError as refusal:
            found["ledger-name"] = session.refusal_words(refusal)
    if found:
        session.faults_of_action[step] = found
    return step
