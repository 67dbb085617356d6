"""The pages without a browser: from a table to a record, what is refused, and that no response depends on an answer."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import openpyxl
import pytest

import hetdp
from hetdp.cli.main import main
from hetdp.mechanism.accuracy.baselines import GEOMETRIC, ONE_EPSILON
from hetdp.mechanism.formatting import SMALL_ERROR
from hetdp.people.privacy.meaning import strength
from hetdp.releases.ledger.ledger import core_of
from hetdp.studio.people import session as sessions
from hetdp.studio.people import views
from hetdp.studio.people.charts import charts_of
from hetdp.studio.people.code import plan_lines
from hetdp.studio.people.folder import OpenedFolder
from hetdp.studio.people.release import caps_of, file_names, price_of
from hetdp.studio.people.session import NAMES, STALE, PeopleSession
from hetdp.studio.people.wording import runs_words
from tests.studio.people.conftest import EPSILONS, FIRST, LEVELS, QUESTION, SECRET, TOKEN, Pages, write_table


def test_the_whole_way_from_a_table_to_a_published_page(pages, tmp_path):
    pages.fill_in()
    shown = pages.save()
    digest = json.loads((tmp_path / "plan.json").read_text())["plan_sha256"]
    assert digest in shown
    assert "Saved as" in shown
    shown = pages.make_ledger()
    assert "The ledger staff.ledger was made." in shown
    assert "would be left" in shown
    shown = pages.send("release", {"do": "release"})
    assert "tick the box" in shown
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].people == 0
    shown = pages.release()
    assert pages.place == "record"
    record = hetdp.read_record(tmp_path / "plan-record.json")
    assert record["answers"][0]["words"] in shown
    assert "holds: this is exactly the plan that was carried out" in shown
    assert "(umask 077; cp staff.ledger staff.ledger.backup)" in shown
    assert "Do we move?" in (tmp_path / "plan-page.html").read_text()
    assert all(pages.session.is_complete(step) for step in NAMES)


def test_a_second_release_draws_nothing_and_spends_nothing(pages, tmp_path, monkeypatch):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    pages.release()
    record = (tmp_path / "plan-record.json").read_bytes()
    shown = pages.release()
    assert "It is the same answer, and nothing more was spent." in shown
    again = Pages(PeopleSession(OpenedFolder(tmp_path)))  # after a crash, say
    assert "plan.json" in again.get("table")
    again.send("table", {"open-plan": "plan.json"})
    assert again.place == "release"
    again.send("release", {"ledger": "staff.ledger"})
    assert "It is the same answer" in again.release()
    assert (tmp_path / "plan-record.json").read_bytes() == record
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].most_spent == "1"


def test_a_copy_of_the_ledger_is_saved_beside_it_and_replaces_nothing(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    pages.release()
    (tmp_path / "staff.ledger.backup").write_text("something else")
    shown = pages.send("record", {"do": "save-copy"})
    assert "saved as staff-2.ledger.backup. Only you can read it" in shown
    copy = tmp_path / "staff-2.ledger.backup"
    assert (copy.stat().st_mode & 0o777, (tmp_path / "staff.ledger.backup").read_text()) == (0o600, "something else")
    original = hetdp.Ledger(tmp_path / "staff.ledger")
    assert hetdp.Ledger(copy).history() == original.history()
    hetdp.Ledger(copy).verify()
    with pytest.raises(hetdp.UsageError, match="a copy of a ledger never replaces a file"):
        core_of(original).database.save_copy(copy)
    assert "staff-2.ledger.backup" not in pages.get("release"), "a copy is no ledger to choose"


def test_a_new_version_of_the_data_has_a_record_and_a_page_of_its_own(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger(times="3")
    pages.release()
    first = (tmp_path / "plan-record.json").read_bytes()
    assert "chmod a+r plan-page.html" in pages.get("record")
    longest, odd = "v" * 190, "2027/28"
    for version, stem in (("2", "plan-version-2"), (" 02 ", "plan-version-2"), (odd, "plan-version-2027-28-")):
        assert stem in pages.send("release", {"version": version})
        pages.release()
        assert pages.place == "record", version
        place = tmp_path / pages.session.published.record
        assert place.name.startswith(stem)
        assert hetdp.read_record(place)["composition"]["version"].lstrip("0") == version.strip().lstrip("0")
    assert (tmp_path / "plan-record.json").read_bytes() == first
    assert [one.kind for one in hetdp.Ledger(tmp_path / "staff.ledger").history()].count("spend") == 3
    shown = pages.send("release", {"version": longest})
    assert len(file_names(pages.session)[0]) < 120
    assert "would be refused" in shown


def test_releases_sent_at_once_draw_and_pay_once(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    page = pages.get("release")
    form = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    form |= {"confirm": "yes", "do": "release"}

    def release() -> None:
        pages.client.application.test_client().post(f"/{TOKEN}/people/release", data=form)

    threads = [threading.Thread(target=release) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [entry.kind for entry in hetdp.Ledger(tmp_path / "staff.ledger").history()].count("spend") == 1
    assert 'class="published"' in pages.get("record")


def test_no_response_before_the_release_depends_on_an_answer(tmp_path):
    seen = []
    for name, answers in (("a", ("move", SECRET)), ("b", ("stay", "stay", "move")), ("c", ("", f"{SECRET}2"))):
        (tmp_path / name / "same").mkdir(parents=True)
        found = PeopleSession(OpenedFolder(tmp_path / name / "same"))
        found.open(write_table(tmp_path / name / "same" / "people.csv", answers))
        walk = Pages(found)
        for step in NAMES:
            walk.get(step)
        walk.fill_in()
        walk.send("question", QUESTION | {"value": ""})
        walk.send("question", QUESTION | {"kind": "groups", "group": "site"})
        walk.send("question", QUESTION | {"kind": "groups", "threshold-0": "10", "threshold-1": "50"})
        walk.send("question", QUESTION)
        walk.send("plan", {"plan-name": "../x.json", "do": "save-plan"})
        walk.save()
        walk.make_ledger()
        seen.append(list(walk.responses))
        assert not any(SECRET in text for text in walk.responses)
        walk.release()
        assert not any(SECRET in text for text in walk.responses)
    for first, *others in zip(*seen, strict=True):
        assert others == [first, first]


def test_errors_of_a_release_do_not_depend_on_the_answers_either(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger(times="1")
    pages.release()
    shown = pages.send("question", QUESTION | {"share": "40"})
    pages.send("plan", {"plan-name": "other.json", "do": "save-plan"})
    shown = pages.get("release")
    assert "would be refused" in shown
    assert 'id="release"' not in shown
    assert 'id="refused"' in shown
    assert not pages.session.is_complete("release")  # the earlier answer belongs to another plan
    assert not pages.session.is_complete("record")
    shown = pages.release()
    assert "the budget of 'staff' does not allow this" in shown
    assert SECRET not in "".join(pages.responses)


def test_a_change_after_the_plan_was_saved_needs_a_new_plan(pages, tmp_path):
    pages.fill_in()
    pages.save()
    before = (tmp_path / "plan.json").read_bytes()
    pages.send("protection", LEVELS | EPSILONS | {"epsilon-0": "2"})
    assert "Something was changed after plan.json was saved" in pages.get("plan")
    assert "First complete the step <strong>Plan</strong>" in pages.get("release")
    shown = pages.save("plan.json")
    assert "plan.json exists, and is not this plan" in shown
    assert "Hint: plan-2.json is free" in shown
    assert str(tmp_path) not in shown
    assert (tmp_path / "plan.json").read_bytes() == before
    assert "Saved as" in pages.save("plan-2.json")
    pages.send("protection", LEVELS | EPSILONS)
    assert "Something was changed" in pages.get("plan")


def test_a_page_that_is_outdated_undoes_nothing(pages):
    pages.send("table", FIRST | {"go": "next"})
    old = str(pages.session.revision)
    pages.send("question", QUESTION)
    shown = pages.send("question", QUESTION | {"title": "Another title", "revision": old})
    assert STALE in shown
    assert pages.session.draft["title"] == "Do we move?"
    pages.send("question", QUESTION | {"revision": old, "go": "protection"})  # it would change nothing
    assert pages.place == "protection"
    assert STALE not in pages.get("protection")


def test_an_outdated_page_neither_saves_nor_makes_what_it_has_not_shown(pages, tmp_path):
    pages.fill_in()
    old = str(pages.session.revision)
    pages.send("question", QUESTION | {"share": "40"})
    assert STALE in pages.send("plan", {"plan-name": "plan.json", "do": "save-plan", "revision": old})
    assert not (tmp_path / "plan.json").exists()
    pages.save()
    fields = {"ledger-name": "a.ledger", "ledger-source": "staff", "times": "1", "do": "make-ledger", "revision": old}
    assert STALE in pages.send("release", fields)
    assert not (tmp_path / "a.ledger").exists()


def test_a_page_releases_only_the_plan_whose_digest_it_has_shown(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger(times="9")
    old, shown = str(pages.session.revision), pages.session.saved.digest
    assert f'name="plan-sha256" value="{shown}"' in pages.get("release")
    pages.send("question", QUESTION | {"share": "40"})  # on another page, which also saves it
    pages.save("other.json")
    release = {"confirm": "yes", "do": "release"}
    for outdated in ({"revision": old, "plan-sha256": shown}, {"plan-sha256": ""}):
        refused = pages.send("release", release | outdated)
        assert pages.place == "release"
        assert "the page was about another plan than other.json, and nothing was released" in refused
    own = {"revision": old, "plan-sha256": pages.session.saved.digest}
    pages.send("release", release | own)
    assert pages.place == "record"
    assert pages.send("release", release | own)  # a second click finds the same answer
    assert pages.place == "record"
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].most_spent == "1"


def test_a_release_from_a_page_that_does_not_show_the_latest_change_says_why_it_is_refused(pages):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    old = str(pages.session.revision)
    pages.send("question", QUESTION | {"title": "Another title"})  # on another page
    shown = pages.send("release", {"confirm": "yes", "do": "release", "revision": old})
    assert "something was changed after plan.json was saved, and nothing was released" in shown
    assert "First complete the step <strong>Plan</strong>" in shown
    pages.send("release", {"go": "plan"})
    assert "nothing was released" not in pages.get("release")


def test_a_plan_that_was_replaced_after_it_was_shown_is_not_carried_out(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger(times="9")
    (tmp_path / "plan.json").unlink()
    other = {"at_least": 3, "epsilon_by": {"open": 2, "strict": 2}, "level": "level", "person": "id"}
    hetdp.ask(tmp_path / "people.csv", "answer = 'move'", **other, plan=tmp_path / "plan.json", dry_run=True)
    shown = pages.release()
    assert "plan.json was replaced by another plan, and nothing was released" in shown
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].people == 0
    assert not (tmp_path / "plan-record.json").exists()


def test_values_that_look_the_same_are_pointed_out_wherever_they_count_as_different(tmp_path):
    path = write_table(tmp_path / "people.csv")
    path.write_text(path.read_text().replace("Town", "Town ", 1), encoding="utf-8")
    session = PeopleSession(OpenedFolder(tmp_path))
    session.open(path)
    pages, said = Pages(session), "Town and 'Town ' differ only in upper and lower case or in spaces"
    assert said in pages.send("table", FIRST)
    assert said not in pages.get("question")  # nothing depends on it yet
    assert said in pages.send("question", QUESTION | {"area": "site"})
    assert pages.send("question", QUESTION | {"area": "site", "kind": "groups", "group": "site"}).count(said) == 2
    pages.send("question", QUESTION | {"area": "site"})
    assert said in pages.send("protection", {"protection": "levels", "level": "site"})
    pages.send("protection", LEVELS)
    pages.send("protection", LEVELS | EPSILONS)
    assert "areas that differ only in case or surrounding spaces" in pages.get("plan").lower()


def test_steps_are_visited_in_any_order_and_say_what_is_missing(pages):
    for step in ("record", "release", "plan", "promise", "protection", "question"):
        assert "First complete the step <strong>Table</strong>" in pages.get(step)
    shown = pages.send("table", {"role-1": "public", "go": "next"})
    assert pages.place == "table"
    assert "one column must identify each person" in shown
    pages.send("table", FIRST | {"role-0": "", "role-1": "person", "go": "next"})
    assert "a duplicate id" in pages.get("table")
    pages.send("table", FIRST | {"go": "next"})
    shown = pages.send("question", {"value": "", "share": "", "go": "next"})
    assert pages.place == "question"
    assert "This field is empty" in shown


def test_nothing_is_called_missing_before_one_goes_on(pages):
    assert 'role="alert"' not in pages.get("table")
    pages.send("table", FIRST)
    assert 'role="alert"' not in pages.get("question")
    assert 'role="alert"' not in pages.get("protection")


def test_a_counted_column_is_not_shown_even_if_it_is_called_public_by_a_forged_form(pages):
    pages.send("table", FIRST | {"role-1": "public"})
    pages.send("question", {"area": "answer", "group": "answer", "kind": "groups", "threshold-0": "1"})
    pages.send("protection", {"protection": "levels", "level": "answer", "epsilon-0": "1"})
    pages.send("protection", {"protection": "column", "epsilon_column": "answer"})
    for step in NAMES:
        pages.get(step)
    assert SECRET not in "".join(pages.responses)
    shown = pages.send("table", {"role-1": "counted"})  # its values have been shown
    assert "this page has shown the values of this column" in shown


@pytest.mark.parametrize("kind", ["share", "count", "compare", "groups", "weighted", "areas", "several"])
def test_the_lines_for_a_shell_and_for_python_make_the_same_plan(pages, tmp_path, monkeypatch, kind):
    fields = {"title": "Who's “in”?", "yes": "We're in", "number": "40", "group": "site", "sum": "60"}
    pages.send("table", FIRST)
    areas = {"kind": "count", "area": "site", "thresholds": "own"}
    kinds = {"areas": areas, "several": {"kind": "groups"}}
    pages.send("question", QUESTION | fields | kinds.get(kind, {"kind": kind}))
    numbers = {"threshold-0": "10", "threshold-1": "50", "weight-0": "2", "weight-1": "0.5"}
    pages.send("question", numbers | {"area-threshold-0": "4", "area-threshold-1": "30"})
    if kind == "several":
        pages.add_second()
        pages.send("question", {"area": "site", "no": "We're out", "all-title": "What they’d say"})
    pages.send("protection", LEVELS)
    decides = {"decides": "yes", "deciding": "0,05"} if kind in ("share", "several") else {}
    pages.send("protection", EPSILONS | decides | {"go": "next"})
    assert pages.place == "promise", pages.session.faults("protection")
    digest = pages.session.identified_plan().digest
    assert digest in pages.get("plan")
    session = pages.session
    lines = plan_lines("people.csv", session.draft.arguments(session.require_table()), "by hand.json")
    monkeypatch.chdir(tmp_path)
    for run in (run_shell, run_python):
        run(lines)
        assert json.loads((tmp_path / "by hand.json").read_text())["plan_sha256"] == digest
        (tmp_path / "by hand.json").unlink()


def run_shell(lines) -> None:
    """Runs what a shell would: a file from a here-document, and one command on several lines."""
    text = lines.shell
    if text.startswith("cat > "):
        first, rest = text.split("\n", 1)
        document, text = rest.split("\nEND\n", 1)
        Path(first.split()[2]).write_text(document)
    program, *words = shlex.split(text.replace("\\\n", " "))
    assert program == "hetdp"
    assert main(words) == 0


def run_python(lines) -> None:
    exec(compile(lines.python, "lines", "exec"), {})


def test_the_lines_run_in_a_real_shell(pages, tmp_path):
    pages.send("table", FIRST)
    pages.send("question", QUESTION | {"title": "It's “$HOME” \\ `x`?", "kind": "groups", "group": "site"})
    pages.send("question", {"threshold-0": "10", "threshold-1": "50"})
    pages.send("protection", {"protection": "one", "epsilon": "0.5", "go": "next"})
    table = pages.session.require_table()
    lines = plan_lines("people.csv", pages.session.draft.arguments(table), "shell.json")
    programs = Path(sys.executable).parent
    paths = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", lines.shell], cwd=tmp_path, env=paths, check=True, capture_output=True)
    assert json.loads((tmp_path / "shell.json").read_text())["plan_sha256"] == pages.session.identified_plan().digest


PATHS = [
    *("files/people.csv", "files/../people.csv", "files/%2e%2e%2fpeople.csv", "files/..%5cpeople.csv", "files/"),
    *("static/../pages.py", "static/%2e%2e/pages.py", "static/people.py", "nowhere", "files/plan.json%00.html"),
]


def test_no_path_leads_to_a_file_that_was_not_written_here(pages):
    pages.fill_in()
    pages.save()
    for path in PATHS:
        answer = pages.client.get(f"/{TOKEN}/people/{path}")
        assert answer.status_code in (400, 404, 405), path
        assert "id,site" not in answer.get_data(as_text=True), path
    assert pages.client.get(f"/{TOKEN}/people/files/plan.json").status_code == 200


@pytest.mark.parametrize("name", ["../outside.csv", "/outside.csv", "link.csv", "..", ".", "", "people.csv/.."])
def test_no_name_opens_a_table_outside_the_folder(tmp_path, name):
    (tmp_path / "inside").mkdir()
    write_table(tmp_path / "outside.csv")
    (tmp_path / "inside" / "link.csv").symlink_to(tmp_path / "outside.csv")
    pages = Pages(PeopleSession(OpenedFolder(tmp_path / "inside")))
    pages.send("table", {"open": name})
    assert pages.session.table is None
    pages.send("table", {"open-plan": name})
    assert pages.session.table is None


def test_a_comparison_with_a_number_warns_of_decimal_commas(pages):
    pages.send("table", FIRST)
    assert "a cell such as 2,5 counts as no answer" not in pages.send("question", QUESTION)
    assert "a cell such as 2,5 counts as no answer" in pages.send(
        "question", QUESTION | {"operator": "more", "value": "2"}
    )


def test_a_folder_without_tables_is_named_so_that_somebody_finds_it_and_looks_again(tmp_path):
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    shown = pages.get("table")
    assert "There is none. Save the spreadsheet there" in shown
    assert f"<code>{tmp_path}</code>" in shown
    write_table(tmp_path / "people.csv")
    shown = pages.send("table", {"go": "table"})
    assert 'name="open" value="people.csv"' in shown
    assert str(tmp_path) not in shown, "a screenshot shows no more than it must"


def test_the_files_of_a_release_never_replace_other_files_or_follow_links(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    (tmp_path / "plan-record.json").symlink_to(tmp_path / "elsewhere.json")
    assert "links and folders are not used" in pages.release()
    assert not (tmp_path / "elsewhere.json").exists()
    (tmp_path / "plan-record.json").unlink()
    (tmp_path / "plan-record.json").write_text("{}")
    assert "'plan-record.json' exists and is not a record" in pages.release()  # without the path of the folder
    assert str(tmp_path) not in pages.responses[-1]
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].people == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": "http://localhost"}, 303),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://example.org"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
        ({"Host": "example.org"}, 403),
    ],
)
def test_a_form_of_another_page_is_refused(pages, headers, status):
    form = {"revision": str(pages.session.revision), "role-0": "person"}
    answer = pages.client.post(f"/{TOKEN}/people/table", data=form, headers=headers)
    assert answer.status_code == status
    assert pages.session.require_table().person == ("id" if status == 303 else "")
    assert pages.client.post("/other/people/table", data=form).status_code == 403


def test_the_pages_run_no_foreign_script_and_are_not_stored(pages):
    answer = pages.client.get(f"/{TOKEN}/people/table")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    text = answer.get_data(as_text=True)
    assert "style=" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_hostile_names_are_shown_as_plain_text(tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    place = tmp_path / "people.csv"
    place.write_text(f'id,"{evil}",answer\n1,"{evil}",a\n2,"b",b\n')
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open": "people.csv"})
    pages.send("table", {"role-0": "person", "role-1": "public", "role-2": "counted"})
    pages.send("question", {"value": evil, "share": "50", "title": evil, "area": evil})
    pages.send("protection", {"protection": "levels", "level": evil, "epsilon-0": "1", "epsilon-1": evil})
    for step in NAMES:
        pages.get(step)
    assert not any("<img" in text for text in pages.responses)


def test_no_two_parts_of_a_page_have_the_same_id(pages):
    pages.fill_in()
    for kind in ("share", "count", "compare", "groups", "weighted"):
        pages.send("question", QUESTION | {"area": "site", "thresholds": "own", "kind": kind, "group": "site"})
        for step in NAMES:
            found = re.findall(r'\sid="([^"]*)"', pages.get(step))
            assert len(found) == len(set(found)), (kind, [one for one in found if found.count(one) > 1])


def test_a_live_form_is_kept_without_leaving_the_step(pages):
    pages.send("table", FIRST)
    form = QUESTION | {"revision": str(pages.session.revision), "live": "yes"}
    answer = pages.client.post(f"/{TOKEN}/people/question", data=form)
    assert answer.status_code == 200
    assert "Do more than 50% of all 100 people" in answer.get_data(as_text=True)
    assert pages.session.draft["title"] == "Do we move?"
    assert pages.client.post(f"/{TOKEN}/people/question", data=form | {"title": "x"}).status_code == 409


def test_a_reload_comes_back_to_the_step(pages):
    pages.send("table", FIRST | {"go": "next"})
    answer = pages.client.get(f"/{TOKEN}/people/")
    assert answer.headers["Location"].endswith("/people/question")


def test_a_table_is_read_once_for_each_question(pages, monkeypatch):
    calls = []
    real = sessions.ask
    monkeypatch.setattr(sessions, "ask", lambda *args, **more: calls.append(more) or real(*args, **more))
    pages.send("table", FIRST)
    pages.get("table")
    before = len(calls)
    pages.get("table")
    assert len(calls) == before


def test_the_epsilon_that_an_accuracy_takes_is_said_and_can_be_used(pages):
    pages.fill_in()
    shown = pages.send("promise", LEVELS | EPSILONS | {"share-at": "60", "want": "99"})
    assert "every ε times" in shown
    assert "instead of 0.1 for strict (34 people)" in shown
    shown = pages.send("promise", LEVELS | EPSILONS | {"do": "use-epsilon"})
    table = pages.session.require_table()
    assert pages.session.draft.epsilons(table) != {"open": "1", "strict": "0.1"}
    assert pages.session.dry_run().promises[0].at_share("60%").accuracy >= 0.99
    assert "the wanted accuracy is more than 50%" in pages.send("promise", {"want": "40"})
    assert pages.send("promise", {"share-at": "145"}).count("the share is") == 1


def test_each_person_reads_one_sentence_in_every_step(pages):
    pages.fill_in()
    typed, charged = (strength(epsilon).questionnaire for epsilon in ("1", "0.1"))
    assert f"“{typed}”" in pages.get("protection")
    shown = pages.get("promise")
    protections = pages.session.dry_run().promises[0].protections
    for one in protections:
        assert one.odds in shown
        assert one.odds in pages.get("plan")
    assert protections[1].odds == charged
    less = "Where less is charged than allowed, this is stronger than the sentence for the questionnaire."
    assert less not in shown
    shown = pages.send("promise", LEVELS | {"epsilon-0": "0.1", "epsilon-1": "1"})  # the few on strict are not enough
    (_, more) = pages.session.dry_run().promises[0].protections
    assert more.used < more.largest == 1
    assert less in shown
    assert more.odds in shown


def test_what_is_said_of_a_share_of_those_who_answered_names_what_it_assumes(pages):
    pages.send("table", FIRST | {"go": "next"})
    pages.send("question", QUESTION | {"of": "respondents", "go": "next"})
    pages.send("protection", LEVELS)
    pages.send("protection", LEVELS | EPSILONS | {"go": "next"})
    shown = pages.send("promise", {"share-at": "60"})
    assert (
        "If 60 people truly have “move” in the column “answer” and everybody answers, the right answer is yes" in shown
    )


def test_going_on_opens_the_sheet_that_was_chosen(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["these are notes"])
    book.create_sheet("Staff").append(["id", "vote"])
    book["Staff"].append(["1", "yes"])
    book.save(tmp_path / "staff.xlsx")
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open": "staff.xlsx"})
    assert "one of them is the table" in pages.send("table", {"go": "next"})
    shown = pages.send("table", {"sheet": "Staff", "go": "next"})
    assert pages.place == "table"
    assert "Column vote is" in shown
    roles = {"role-0": "person", "role-1": "counted", "sheet": "Notes", "go": "next"}
    assert "these are notes" in pages.send("table", roles)  # rather than a question about the sheet Staff
    assert pages.place == "table"


def test_a_refused_sheet_leaves_the_choice_of_another_one_and_asks_nothing_about_csv(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Twice"
    book.active.append(["id", "id"])
    book.create_sheet("Staff").append(["id", "vote"])
    book.save(tmp_path / "staff.xlsx")
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open": "staff.xlsx"})
    shown = pages.send("table", {"sheet": "Twice", "go": "next"})
    assert "have the same name 'id'" in shown
    assert '<option value="Twice" selected>' in shown
    assert "Encoding" not in shown
    assert 'href="#open"' in shown
    assert "Column vote is" in pages.send("table", {"sheet": "Staff", "do": "reopen"})
    assert 'href="#role-0"' in pages.send("table", {"go": "next"}), "what is missing leads to a menu"


def test_a_file_in_an_old_encoding_is_opened_again(tmp_path):
    (tmp_path / "old.csv").write_bytes("id;täglich\n1;ja\n".encode("cp1252"))
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    shown = pages.send("table", {"open": "old.csv"})
    assert "UTF-8" in shown
    assert "the field Encoding names another one" in shown
    assert 'id="encoding"' in shown
    shown = pages.send("table", {"encoding": "cp1252", "do": "reopen"})
    assert "täglich" in shown
    assert pages.session.require_table().options == {"encoding": "cp1252"}


def test_areas_have_curves_of_their_own(pages):
    pages.send("table", FIRST)
    pages.send("question", QUESTION | {"area": "site"})
    pages.send("protection", {"protection": "one", "epsilon": "1", "go": "next"})
    assert "is right in Harbour" in pages.get("promise")
    assert "is right in Town" in pages.send("promise", {"area-at": "Town"})
    shown = pages.send("promise", {"share-at": "60", "want": "95"})
    for area in pages.session.solve_epsilon().areas:
        assert f"<li>{area.area}: ε = {area.epsilon}</li>" in shown


def test_a_plan_with_a_list_of_one_question_can_be_released(tmp_path):
    table = write_table(tmp_path / "people.csv")
    bodies = [{"count": "answer = 'move'", "at_least": "50%"}]
    hetdp.ask(table, questions=bodies, epsilon=1, person="id", plan=tmp_path / "plan.json", dry_run=True)
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open-plan": "plan.json"})
    assert pages.place == "release"
    pages.make_ledger(times="1")
    assert hetdp.Ledger(tmp_path / "staff.ledger").status()[0].cap == "1"
    pages.release()
    assert pages.place == "record"


def test_a_plan_is_saved_again_in_the_file_that_has_it_already(pages, tmp_path):
    pages.fill_in()
    pages.save()
    before = (tmp_path / "plan.json").read_bytes()
    shown = pages.save()
    assert "The plan was saved as plan.json." in shown
    assert "exists, and is not this plan" not in shown
    assert (tmp_path / "plan.json").read_bytes() == before


def test_a_new_ledger_has_a_cap_of_its_own_only_for_who_may_spend_less(pages):
    pages.fill_in()
    pages.save()
    assert caps_of(pages.session, "3") == ("3", {"strict": "0.3"})
    pages.send("protection", {"protection": "one", "epsilon": "0.4"})
    pages.save("other.json")
    assert caps_of(pages.session, " 2 ") == ("0.8", {})


def test_the_price_is_of_the_saved_plan_until_the_draft_is_changed(pages, tmp_path):
    def price() -> dict[str, str]:
        found = price_of(pages.session)
        return {} if found is None else {one.name: one.charged for one in found.classes}

    hetdp.Ledger.create(tmp_path / "staff.ledger", source="staff", cap=5, unit="person", relation="replace-one")
    pages.fill_in()
    pages.session.draft.set("ledger", "staff.ledger")
    unsaved = price()
    pages.save()
    saved = price()
    pages.send("protection", LEVELS | EPSILONS | {"epsilon-0": "2"})
    assert price() == {"open": "2", "strict": "0.1"} != saved
    assert unsaved == saved == {"open": "1", "strict": "0.1"}


def test_the_chosen_source_of_a_ledger_pays(pages, tmp_path):
    pages.fill_in()
    pages.save()
    ledger = hetdp.Ledger.create(tmp_path / "two.ledger", source="first", cap=5, unit="person", relation="replace-one")
    ledger.declare("second", cap=5, unit="person", relation="replace-one")
    pages.send("release", {"ledger": "two.ledger", "source": "second", "version": "3"})
    pages.release()
    assert pages.place == "record"
    assert {one.source: one.people for one in ledger.status()} == {"first": 0, "second": 100}
    assert hetdp.read_record(tmp_path / "plan-version-3-record.json")["composition"]["version"] == "3"


def test_a_workbook_is_no_table_until_a_sheet_is_chosen(tmp_path):
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Staff")):
        for row in (["id", "vote"], [1, "yes"]):
            sheet.append(row)
    book.save(tmp_path / "two.xlsx")
    session = PeopleSession(OpenedFolder(tmp_path))
    session.open(tmp_path / "two.xlsx")
    with pytest.raises(hetdp.UsageError, match="no table is open"):
        session.require_table()
    session.open(tmp_path / "two.xlsx", sheet="Staff")
    assert session.require_table().rows == 1


def test_the_accuracy_by_margin_is_listed_until_an_error_is_small(table):
    asked = hetdp.ask(table, "answer = 'move'", at_least="50%", epsilon=1, person="id", dry_run=True)
    assert [wrong < SMALL_ERROR for *_, wrong in asked.promises[0].accuracy] == [False] * 3 + [True] * 3
    assert [line.partition(" where ")[0] for line in views._margin_lines(asked.promises[0])] == [
        "73 of 100 runs",
        "90 of 100 runs",
        "995 of 1,000 runs",
        "more than 9,999 of 10,000 runs",
    ]


def test_a_promise_has_a_chart_by_share_if_that_is_known_and_one_by_margin():
    people = hetdp.spaces.population(hetdp.questions.majority(), 0.3, size=20)
    share, margin = charts_of(people.design().curves())
    assert (share.key, margin.key) == ("share", "margin")
    rows = {row[0]: row[1] for row in share.rows}
    for percent in (0, 50, 55, 100):
        at_share = people.design().accuracy_at_share(f"{percent}%")
        assert rows[f"{percent}%"] == runs_words(at_share.error)
    assert margin.rows[0][:2] == ("where 1 person decides", runs_words(people.design().accuracy_by_margin()[0].error))
    count = hetdp.questions.count
    joined = count("yes", 3, group="a") & count("yes", 2, group="b")
    people = hetdp.spaces.population(joined, [0.3] * 20, groups=["a"] * 10 + ["b"] * 10)
    assert [one.key for one in charts_of(people.design().curves())] == ["margin"]


def test_a_column_that_a_saved_plan_counts_stays_private(pages):
    pages.fill_in()
    pages.save()
    pages.send("table", {"role-3": "public"})
    assert "is counted by a plan that was saved" in pages.session.shown_faults("table")["role-3"]
    assert pages.session.require_table().roles["answer"] == "counted"
    for step in NAMES:
        pages.get(step)
    assert SECRET not in "".join(pages.responses)


def test_there_is_no_epsilon_to_use_without_a_wish_and_for_a_column_of_them(pages, tmp_path):
    pages.fill_in()
    before = pages.session.draft.arguments(pages.session.require_table())
    with pytest.raises(hetdp.UsageError, match="no ε to use"):
        pages.session.use_solved_epsilon()
    assert "no ε to use" in pages.send("promise", {"do": "use-epsilon"})
    assert pages.session.draft.arguments(pages.session.require_table()) == before


def test_there_is_no_other_step(pages):
    before = pages.session.revision
    for ask in (pages.client.get, pages.client.post):
        assert ask(f"/{TOKEN}/people/nowhere").status_code == 404
    assert pages.session.revision == before


def test_who_skips_a_step_finds_there_what_is_missing(pages):
    pages.send("table", FIRST)
    pages.get("question")
    assert pages.session.shown_faults("question") == {}
    pages.send("question", {"go": "plan"})
    assert "you type the value" in pages.session.shown_faults("question")["value"]


def test_a_column_of_epsilons_must_be_chosen(pages):
    pages.send("table", FIRST)
    pages.send("question", QUESTION)
    pages.send("protection", {"protection": "column", "go": "next"})
    assert pages.place == "protection"
    assert any("no column holds everybody's ε" in words for words in pages.session.faults("protection").values())


def test_a_plan_with_several_questions_can_be_released(tmp_path):
    table = write_table(tmp_path / "people.csv")
    bodies = [
        {"count": "answer = 'move'", "at_least": "50%", "yes": "We move"},
        {"count": "answer = 'stay'", "at_least": "20%", "no": "Few stay"},
    ]
    hetdp.ask(table, questions=bodies, epsilon=1, person="id", plan=tmp_path / "plan.json", dry_run=True)
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open-plan": "plan.json"})
    for step in NAMES:
        pages.get(step)
    summary = pages.get("plan").partition("The promise as the file")[0]  # what is printed and approved
    for words in (
        *("identified by the column “id”", "answer = 'move'. Whoever", "answer = 'stay'. Whoever"),
        *("The answer yes reads: “We move”", "The answer no reads: “Few stay”"),
    ):
        assert summary.count(words) == 1, words
    pages.make_ledger()
    pages.release()
    assert pages.place == "record"
    shown = pages.get("record")
    assert shown.count('class="published"') == 2
    assert "at least 20%" in shown


def test_a_column_that_a_saved_plan_counts_is_not_shown_if_it_is_called_public_later(pages):
    pages.fill_in()
    pages.save()
    shown = pages.send("table", {"role-3": "public"})
    assert "is counted by a plan that was saved" in shown
    assert SECRET not in "".join(pages.responses)


def test_a_second_ledger_is_offered_another_name_than_the_first(pages):
    pages.fill_in()
    pages.save()
    assert 'value="people.ledger"' in pages.get("release")
    pages.make_ledger("people.ledger")
    assert 'value="people-2.ledger"' in pages.get("release")
    shown = pages.send("release", {"times": "3"})
    assert "Each person may spend at most ε = 3 in all: somebody who knows everybody else's answer" in shown
    assert "from all of these answers together" in shown
    assert "something already exists there" in pages.make_ledger("people.ledger")


LISTED = ("open", "strict")


def test_a_question_that_was_released_gets_no_second_ledger(pages, tmp_path):
    pages.fill_in()
    pages.save()
    pages.make_ledger()
    pages.release()
    assert "use the ledger 'staff.ledger': the same answer, and nothing is charged" in pages.make_ledger("new.ledger")
    assert not (tmp_path / "new.ledger").exists()
    hetdp.Ledger.create(tmp_path / "new.ledger", source="staff", cap=5, unit="person", relation="replace-one")
    shown = pages.send("release", {"ledger": "new.ledger"})
    assert re.search(
        r'class="box refused" id="unpriced"><p>this was released before, .* with the ledger \'staff', shown
    )
    assert 'id="release"' not in shown, "there is nothing to release with this ledger"
    assert "Nothing is charged" in pages.send("release", {"ledger": "staff.ledger"})


def test_several_questions_are_approved_released_and_published_together(pages, tmp_path):
    pages.fill_in()
    pages.add_second()
    shown = pages.send("question", {"all-title": "Staff survey"})
    assert "Do more than 50% of all 100 people have “move”" in shown
    assert "Do at least 20 of all 100 people have “stay”" in shown
    shown = pages.get("promise")
    asked = pages.session.dry_run()
    used = {name: [one.promises[0].protections[at].used for one in asked.questions] for at, name in enumerate(LISTED)}
    for name, people in zip(LISTED, (66, 34), strict=True):
        first, second = (f"{number:g}" for number in used[name])
        row = (
            f'<th scope="row">{name}</th><td>{people}</td><td>{first}</td><td>{second}</td><td>{sum(used[name]):g}</td>'
        )
        assert row in shown
    shown = pages.send("promise", {"question-at": "0"})
    assert pages.session.draft.at == 0
    assert "If 60 people truly have “move”" in pages.send("promise", {"share-at": "60"})
    pages.save()
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["plan_sha256"] in pages.get("plan")
    assert [one["about"]["title"] for one in plan["questions"]] == ["Do we move?", "Do 20 stay?"]
    pages.make_ledger()
    shown = pages.release()
    assert pages.place == "record"
    assert shown.count('class="published"') == 2
    assert "Staff survey" in (tmp_path / "plan-page.html").read_text()
    assert [one.kind for one in hetdp.Ledger(tmp_path / "staff.ledger").history()].count("spend") == 2


def test_questions_are_changed_and_removed_one_by_one(pages):
    pages.fill_in()
    pages.add_second()
    assert pages.session.draft["title"] == "Do 20 stay?"
    shown = pages.send("question", {"do": "show-question-0"})
    assert 'value="Do we move?"' in shown
    pages.send("question", QUESTION | {"title": "Do we go?"})
    assert [one["title"] for one in pages.session.draft.each()] == ["Do we go?", "Do 20 stay?"]
    pages.send("question", {"do": "remove-question-0"})
    assert [one["title"] for one in pages.session.draft.each()] == ["Do 20 stay?"]
    for action in ("remove-question-0", "show-question-7", "remove-question-x", "show-question-"):
        pages.send("question", {"do": action})
    assert pages.session.draft.arguments(pages.session.require_table())["at_least"] == "20"


def test_another_question_is_added_only_to_complete_ones_and_says_what_is_missing(pages):
    pages.send("table", FIRST | {"go": "next"})
    shown = pages.send("question", {"value": "", "do": "add-question"})
    assert "question 1 is not complete" in shown
    assert not pages.session.draft.has_several
    pages.send("question", QUESTION | {"do": "add-question"})
    assert pages.session.draft.has_several
    pages.send("question", {"do": "show-question-0"})
    shown = pages.send("question", QUESTION | {"go": "next"})
    assert pages.place == "question"
    assert '<a href="#other-1">Question 2</a>: This field is empty' in shown
    pages.send("question", {"do": "show-question-1"})
    shown = pages.send("question", QUESTION | {"title": "The same again", "go": "next"})
    assert "question 1 ('Do we move?') and question 2 ('The same again') are the same" in shown


def test_a_second_page_cannot_type_into_another_question_than_it_shows(pages):
    pages.fill_in()
    old = str(pages.session.revision)
    pages.add_second()
    shown = pages.send("question", QUESTION | {"title": "Typed elsewhere", "revision": old})
    assert STALE in shown
    assert [one["title"] for one in pages.session.draft.each()] == ["Do we move?", "Do 20 stay?"]


def test_the_promise_is_complete_only_once_it_was_shown_as_it_is(pages):
    pages.send("table", FIRST)
    pages.send("question", QUESTION)
    pages.send("protection", LEVELS)
    pages.send("protection", EPSILONS)
    assert not pages.session.is_complete("promise")
    pages.get("promise")
    assert pages.session.is_complete("promise")
    pages.send("protection", LEVELS | EPSILONS | {"epsilon-0": "2"})
    assert not pages.session.is_complete("promise")


def test_more_privacy_where_one_person_decides_is_chosen_by_a_check_box(pages):
    pages.fill_in()
    shown = pages.send("protection", LEVELS | EPSILONS | {"decides": "yes", "go": "next"})
    assert pages.place == "protection"
    assert "ε where one person decides" in shown
    pages.send("protection", {"deciding": "0.05", "go": "next"})
    assert pages.place == "promise"
    assert pages.session.draft.arguments(pages.session.require_table())["deciding_epsilon"] == "0.05"
    pages.send("promise", {"share-at": "60", "want": "99"})
    pages.send("promise", {"do": "use-epsilon"})
    assert pages.session.dry_run().promises[0].at_share("60%").accuracy >= 0.99
    pages.send("protection", {"decides": ""})
    assert "deciding_epsilon" not in pages.session.draft.arguments(pages.session.require_table())


def test_what_an_accuracy_takes_says_what_was_done_and_that_nothing_changes_by_itself(pages):
    pages.fill_in()
    before = pages.session.draft.arguments(pages.session.require_table())
    shown = pages.send("promise", {"share-at": "60", "want": "99"})
    assert "instead of 0.1 for strict (34 people)" in shown
    assert "Every ε was multiplied by the same number, so the levels keep their proportions." in shown
    assert "protect people less than those that are chosen now. Nothing changes unless you use them." in shown
    shown = pages.send("promise", {"share-at": "90", "want": "60"})
    assert "protect people more than those that are chosen now" in shown
    assert pages.session.draft.arguments(pages.session.require_table()) == before
    pages.add_second()
    shown = pages.send("promise", {"share-at": "60", "want": "99"})
    assert "This is about question 2 alone. The others have the same ε, so they change, too" in shown


def test_the_gain_of_levels_is_computed_and_compared_with_one_epsilon_and_geometric_noise(pages):
    pages.fill_in()
    shown = pages.send("promise", {"share-at": "95"})
    promise = pages.session.dry_run().promises[0]
    (point,) = promise.mechanism.curves(numbers=[95]).by_share
    same, noisy = (runs_words(point.baselines[name]) for name in (ONE_EPSILON, GEOMETRIC))
    ours = runs_words(point.error)
    assert ours != same
    least = "" if ours.startswith("more than") else "at least "
    right = f"the published answer is right in {least}{ours} runs"
    assert f"The levels gain accuracy: if 95% truly count as yes (95 of 100 people), {right};" in shown
    strongest = f"with the strongest protection for all (ε = 0.1) in {same}"
    assert f"{strongest}, and with geometric noise of that ε in {noisy}." in shown
    assert "In return, people of open are charged more" in shown
    shown = pages.send("promise", {"protection": "one", "epsilon": "0.1"})
    assert "Everybody has the same ε, so there are no levels to gain from" in shown
    deciding = {"protection": "one", "epsilon": "1", "decides": "yes", "deciding": "0.1"}
    shown = pages.send("promise", deciding)
    assert "A smaller ε only where one person decides gains accuracy: if " in shown
    assert "In return, everybody is charged more: up to ε = 1, which they allow." in shown
    assert "The levels" not in shown
    pages.send("promise", LEVELS | {"decides": ""})
    shown = pages.send("promise", LEVELS | {"epsilon-0": "0.1001", "epsilon-1": "0.1", "decides": ""})
    assert (
        "gain nothing that is seen here: at no true share is the published answer visibly more often right than with"
        in shown
    )


def test_levels_that_are_numbers_are_named_with_their_column(tmp_path):
    rows = [f"{person},{person % 2 + 1},{('move', 'stay')[person % 3 == 0]}" for person in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["id,protection,answer", *rows]) + "\n")
    pages = Pages(PeopleSession(OpenedFolder(tmp_path)))
    pages.send("table", {"open": "people.csv"})
    pages.send("table", {"role-0": "person", "role-1": "public", "role-2": "counted"})
    pages.send("question", QUESTION)
    pages.send("protection", {"protection": "levels", "level": "protection"})
    assert "ε for protection 1" in pages.send("protection", EPSILONS)
    assert "<strong>protection 2</strong>" in pages.get("promise")
    assert "<strong>protection 2</strong>" in pages.get("plan")
    pages.save()
    assert "protection 2, 20 people: each pays at most ε = 0.1; at least" in pages.make_ledger()


def test_no_step_speaks_of_rows_blanks_neighbours_or_designs(pages):
    pages.fill_in()
    pages.send("question", QUESTION | {"of": "respondents"})
    pages.send("promise", {"share-at": "60", "want": "95"})
    pages.save()
    pages.make_ledger()
    pages.release()
    for step in NAMES:
        exact = r'<details class="noprint">.*?</details>|<pre.*?</pre>'  # the words of the file, and of programs
        shown = re.sub(exact, "", pages.get(step))
        words = re.sub(r"<[^>]*>", " ", shown).replace("header row", "").replace("one row for each person", "")
        assert re.findall(r"(?i)\b(?:rows?|blanks?|neighbour\w*|balanced|respondents)\b", words) == [], step
