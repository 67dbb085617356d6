"""The step Release of the page for tables: the ledger that pays, the price, the release of the saved plan, its files.

These functions work on the session; the pages call them.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from pathlib import Path
from typing import Any

from hetdp.errors import UnwrittenRecordError, UsageError
from hetdp.numbers import parse_whole
from hetdp.people.privacy.epsilons import format_epsilon
from hetdp.releases.ledger.chain import normalize_version
from hetdp.releases.ledger.ledger import Ledger, core_of
from hetdp.releases.other_ledgers import require_known_ledger
from hetdp.releases.price import Price
from hetdp.studio.people.draft import MISSING
from hetdp.studio.people.folder import LEDGER, LONGEST_NAME, PAGE, PLAN, RECORD
from hetdp.studio.people.session import PeopleSession, Published
from hetdp.tables.ask import AskResult, Payment, ask
from hetdp.tables.record import verify_record

SHOWN_RULE = "a release carries out the plan whose digest was shown and approved"
UNIT, RELATION = "person", "replace-one"
FIRST_VERSION = "1"
COPY = ".backup"  # after .ledger: no ledger to choose
LONGEST_STEM = LONGEST_NAME - 20  # characters before -record.json or a digest


def ledger_sources(session: PeopleSession, name: str) -> list[str]:
    """The sources of a ledger.

    Raises:
        HetdpError: the ledger cannot be used.
    """
    return [one.source for one in Ledger(session.folder.existing(name, (LEDGER,))).status()]


def make_ledger(session: PeopleSession, name: str, source: str, times: str) -> None:
    """Makes a ledger in which everybody can pay for a number of questions like this one.

    Raises:
        HetdpError: the name is taken or not accepted, the number is not a whole number, or the
            question was released with another ledger of the folder.
    """
    if not source.strip():
        raise UsageError("the name of the data is missing", "the ledger knows the data by a name, such as a survey")
    cap, caps = caps_of(session, times)
    place = session.folder.place_to_save(name, LEDGER)
    with session.dry_run().open_request() as asked:
        require_known_ledger(None, asked.requests, version_of(session))
    Ledger.create(place, source=source.strip(), cap=cap, caps=caps, unit=UNIT, relation=RELATION)
    session.revision += 1
    session.draft.set("ledger", place.name)
    session.draft.set("source", source.strip())
    session.draft.set("ledger-name", "")
    session.notices.append(f"The ledger {place.name} was made.")


def caps_of(session: PeopleSession, times: str) -> tuple[str, dict[str, str]]:
    """The caps for everybody and for some groups: a multiple of what this plan allows.

    Raises:
        HetdpError: it is not a whole number of at least 1, or the promise cannot be made.
    """
    if not times.strip():
        raise UsageError(MISSING, "it says how many questions like this one each person may be asked in all")
    number = parse_whole(times.strip(), "the number of questions", 1)
    plans = [_allowed_epsilons(session, facts) for facts in session.saved_plans()]
    alike = all(plan.keys() == plans[0].keys() for plan in plans)
    allowed = {name: sum(plan[name] for plan in plans) for name in plans[0]} if alike else {}
    most = Decimal(sum(max(plan.values()) for plan in plans))
    below = {name: Decimal(value) for name, value in allowed.items() if name and value < most}
    return _times(most, number), {name: _times(value, number) for name, value in below.items()}


def _allowed_epsilons(session: PeopleSession, facts: dict[str, Any]) -> dict[str, Decimal]:
    """Level or group → the ε that a plan allows; everybody's under the empty name."""
    epsilon = facts["privacy"]["epsilon"]
    if "by_group" in epsilon:
        return {name: Decimal(text) for name, text in epsilon["by_group"].items()}
    if "constant" in epsilon:
        return {"": Decimal(epsilon["constant"])}
    largest = max(one.largest for promise in session.dry_run().promises for one in promise.protections)
    return {"": Decimal(format_epsilon(largest))}


def payment_of(session: PeopleSession, **files: Path) -> Payment:
    """The payment for the release.

    Raises:
        UsageError: no ledger is chosen.
    """
    name = session.draft["ledger"]
    if not name:
        raise UsageError("no ledger is chosen", "a ledger pays for the release, and remembers it")
    place, source = session.folder.existing(name, (LEDGER,)), session.draft["source"] or None
    return Payment(ledger=place, source=source, version=version_of(session), **files)


def price_of(session: PeopleSession) -> Price | None:
    """What the release would cost everybody, and what would be left.

    Raises:
        HetdpError: the ledger cannot be used, or the plan cannot be carried out.
    """
    table = session.require_table()
    if session.saved is not None and not session.changed_since_saved():
        plan: dict[str, Any] = {"plan": session.folder.existing(session.saved.name, (PLAN,))}
    else:
        plan = session.draft.arguments(table)
    return ask(table.path, **plan, dry_run=True, payment=payment_of(session)).price


def file_names(session: PeopleSession) -> tuple[str, str]:
    """The names of the files of the record and its page, made from the name of the plan and the version of the data."""
    stem = Path(session.saved.name if session.saved is not None else session.stem()).stem
    base, version = stem.removesuffix("-plan") or stem, normalize_version(version_of(session))
    base = _file_stem(base if version == FIRST_VERSION else f"{base}-version-{version}")
    return f"{base}-record{RECORD}", f"{base}-page{PAGE}"


def version_of(session: PeopleSession) -> str:
    """The declared version of the data."""
    return session.draft["version"].strip() or FIRST_VERSION


def _file_stem(name: str) -> str:
    """A name as part of the name of a file; what had to be changed is told apart by a digest.

    >>> _file_stem("staff-version-2"), _file_stem("a/b"), _file_stem("a:b")
    ('staff-version-2', 'a-b-c14cdd', 'a-b-6783a3')
    """
    plain = "".join(one if one.isalnum() or one in "-_. " else "-" for one in name)[:LONGEST_STEM]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def release_plan(session: PeopleSession, shown: str) -> None:
    """Releases the answer of the saved plan, and writes its record and page. Asked again, it gives the same answer.

    Args:
        session: the session.
        shown: SHA-256 of the plan that the page has shown. No other plan is carried out.

    Raises:
        HetdpError: nothing was released, and the message says why; or the answer is in the ledger already.
    """
    table, plan = session.require_table(), session.saved
    if plan is None or session.faults("plan"):
        what = "no plan is saved"
        if plan is not None and session.changed_since_saved():
            what = f"something was changed after {plan.name} was saved, and nothing was released"
        raise UsageError(what, "a release carries out a plan that was saved and approved")
    if shown != plan.digest:
        what = f"the page was about another plan than {plan.name}, and nothing was released"
        raise UsageError(what, SHOWN_RULE, "compare the digest that is shown now")

    def require_shown(found: AskResult) -> None:
        if found.digest != plan.digest:
            what = f"{plan.name} was replaced by another plan, and nothing was released"
            raise UsageError(what, SHOWN_RULE, "open the plan again, in the step Table")

    names = file_names(session)
    record, page = (session.folder.place(name, (suffix,)) for name, suffix in zip(names, (RECORD, PAGE), strict=True))
    place = session.folder.existing(plan.name, (PLAN,))
    payment = payment_of(session, record=record, html=page)
    unwritten = ""
    try:
        found = ask(table.path, plan=place, payment=payment, announce=require_shown).release
    except UnwrittenRecordError as failure:
        found, unwritten = failure.release, str(failure)
    assert found is not None
    session.revision += 1
    session.published = Published(found, plan, session.draft["ledger"], *names, unwritten)


def checks_of_record(session: PeopleSession) -> list[Any]:
    """The checks of the record against itself, the plan and the ledger, as `hetdp record verify` makes them."""
    done = session.published
    if done is None or done.unwritten:
        return []
    ledger, plan = session.folder.existing(done.ledger, (LEDGER,)), session.folder.existing(done.plan.name, (PLAN,))
    return list(verify_record(session.folder.existing(done.record, (RECORD,)), ledger=ledger, plan=plan).checks)


def save_ledger_copy(session: PeopleSession) -> None:
    """Saves a copy of the ledger that paid beside it, under a free name, and reads it again.

    Raises:
        HetdpError: nothing was released here, or the ledger cannot be copied.
    """
    done = session.published
    if done is None:
        raise UsageError("nothing was released", "the ledger that paid is copied")
    ledger = core_of(session.folder.existing(done.ledger, (LEDGER,)))
    name = session.folder.free_name(Path(done.ledger).stem, f"{LEDGER}{COPY}")
    ledger.database.save_copy(session.folder.path / name)
    core_of(session.folder.path / name)  # it is read as a ledger
    session.revision += 1
    session.notices.append(f"A copy of the ledger was saved as {name}. Only you can read it; move it to another place.")


def files_of(session: PeopleSession) -> dict[str, str]:
    """The files that a page may fetch: those that this session has written or opened, with their types."""
    found = {} if session.saved is None else {session.saved.name: "application/json"}
    if session.published is not None and not session.published.unwritten:
        found |= {session.published.record: "application/json", session.published.page: "text/html"}
    return found


def _times(epsilon: Decimal, number: int) -> str:
    """A multiple of an ε, as text."""
    return "inf" if epsilon.is_infinite() else format(epsilon * number, "f")
