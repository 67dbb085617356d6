"""A PostgreSQL server that stops answering, ends connections or refuses: clear errors and true messages."""

from __future__ import annotations

import socket
import threading
import time
from uuid import uuid4

import psycopg
import pytest

from hetdp.cli.main import main
from hetdp.errors import InterruptedSpend, LedgerError
from hetdp.releases.ledger import postgres
from hetdp.releases.ledger.charge import Charge
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.conftest import server
from tests.releases.ledger.proxy import SILENCE, WAYS, open_proxy
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn

UNKNOWN = r"it is not known whether this was spent, and no answer was given\. Hint: ask the same again"


@pytest.fixture
def place(database: str) -> str:
    """A ledger with one source on a server."""
    Ledger.create(database, source="survey", cap=0.3, timeout=5)
    return database


class EagerTimer(threading.Timer):
    """A timer whose time is over as soon as a proxy has begun to be silent; this ends one wait."""

    def run(self) -> None:
        end = time.monotonic() + self.interval
        while time.monotonic() < end and not self.finished.is_set():
            if SILENCE.wait(0.02):
                SILENCE.clear()
                break
        if not self.finished.is_set():
            self.function()


@pytest.fixture
def short_timeouts(monkeypatch):
    """Shortens the timeouts for an answer of the server; on a busy machine it still answers in time."""
    SILENCE.clear()
    monkeypatch.setattr(postgres, "STATEMENT_SECONDS", 1.0)
    monkeypatch.setattr(postgres, "GRACE_SECONDS", 1.0)
    monkeypatch.setattr(threading, "Timer", EagerTimer)


def spends(address: str) -> list[tuple[bool, ...]]:
    return [entry.answers for entry in Ledger(address).history() if entry.kind == "spend"]


def ask_again(address: str, before: list[tuple[bool, ...]]) -> None:
    """Asks again and asserts that the answer is free if it was spent, or is spent once now."""
    entry = Ledger(address).spend("survey", TENTH, "q", "1", fail_if_drawn if before else lambda: [True])
    assert spends(address) == [entry.answers] == (before or [(True,)])
    assert Ledger(address).status()[0].classes[0].spent == "0.1"
    Ledger(address).verify()


@pytest.mark.parametrize(
    ("way", "is_gone"), [(way, gone) for way in WAYS for gone in (False, True) if "interrupted" not in way or not gone]
)
def test_messages_are_true_whatever_happens_to_a_commit(place, short_timeouts, way, is_gone):
    sends, seen = WAYS[way]
    with open_proxy(place) as proxy:
        ledger = Ledger(proxy.address, timeout=0.4)
        proxy.way, proxy.is_gone = way, is_gone
        if seen == "interrupted":
            with pytest.raises(InterruptedSpend, match=UNKNOWN):
                ledger.spend("survey", TENTH, "q", "1", lambda: [False])
        elif sends and not is_gone:  # the entry is found, and so the answer is durable
            assert ledger.spend("survey", TENTH, "q", "1", lambda: [False]).answers == (False,)
        else:
            reason = postgres.NO_ANSWER if seen == "silent" else postgres.CONNECTION_LOST
            with pytest.raises(LedgerError, match=f"{reason}; {UNKNOWN}") as found:
                ledger.spend("survey", TENTH, "q", "1", lambda: [False])
            assert (found.value.spent, found.value.exit_code) == (None, 7)
        assert proxy.seen == 1
    ask_again(place, spends(place))
    assert bool(spends(place) == [(False,)]) == sends


def test_a_record_in_doubt_is_not_to_be_repeated_blindly(place, short_timeouts):
    with open_proxy(place) as proxy:
        ledger = Ledger(proxy.address, timeout=0.4)
        proxy.way, proxy.is_gone = "cut after", True
        with pytest.raises(LedgerError, match=r"it is not known whether this was recorded\. Hint: look at"):
            ledger.record("survey", TENTH, "elsewhere")
    assert [entry.kind for entry in Ledger(place).history()][2:] == ["record"]


def test_a_declaration_in_doubt_may_be_repeated(place, short_timeouts):
    with open_proxy(place) as proxy:
        ledger = Ledger(proxy.address, timeout=0.4)
        proxy.way, proxy.is_gone = "cut before", True
        with pytest.raises(LedgerError, match="it is not known whether this was written; nothing was spent"):
            ledger.declare("new", cap=1)
    assert Ledger(place).declare("new", cap=1) == Ledger(place).declare("new", cap=1)


def test_a_silent_server_times_out(capsys):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert main(["ledger", "status", f"postgresql://u:hidden@127.0.0.1:{port}/d?connect_timeout=2"]) == 7
    output = capsys.readouterr().err
    assert "the server did not answer in time; nothing was spent" in output
    assert "hidden" not in output


def test_the_host_that_answers_is_used(place):
    url = place.removeprefix("postgresql://").replace("@", "/").split("/")
    user, (host, port) = url[0], url[1].split(":")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dead = silent.getsockname()[1]
        address = f"postgresql://{user}@/{url[2]}?host=127.0.0.1:1&host=127.0.0.1:{dead}&host={host}:{port}"
        assert Ledger(f"{address}&connect_timeout=2").id == Ledger(place).id


def test_a_server_that_stops_during_a_spend_times_out(place, short_timeouts):
    with open_proxy(place) as proxy:
        ledger = Ledger(proxy.address, timeout=0.4)

        def draw() -> list[bool]:
            proxy.is_deaf = True
            return [True]

        with pytest.raises(LedgerError, match="the server did not answer in time; nothing was spent") as found:
            ledger.spend("survey", TENTH, "q", "1", draw)
        assert (found.value.spent, found.value.exit_code) == (False, 7)
    ask_again(place, [])


def execute(statement: str, address: str | None = None) -> None:
    with psycopg.connect(address or f"{server()}postgres", autocommit=True) as connection:
        connection.execute(statement)


def name_of(place: str) -> str:
    return place.rpartition("/")[2]


def terminate(place: str) -> None:
    execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name_of(place)}'")


SERVER_EVENTS = {
    "ended by the administrator": (terminate, "the server was shut down, or ended this connection"),
    "dropped": (
        lambda place: execute(f"DROP DATABASE {name_of(place)} WITH (FORCE)"),
        "the server was shut down, or ended this connection",
    ),
}


@pytest.mark.parametrize("name", SERVER_EVENTS)
def test_a_connection_that_the_server_ends_spends_nothing(place, name):
    happen, words = SERVER_EVENTS[name]

    def draw() -> list[bool]:
        happen(place)
        return [True]

    with pytest.raises(LedgerError, match=f"{words}; nothing was spent") as found:
        Ledger(place).spend("survey", TENTH, "q", "1", draw)
    assert (found.value.spent, found.value.exit_code) == (False, 7)
    if name == "dropped":
        with pytest.raises(LedgerError, match=r"there is no such database|cannot be reached"):
            Ledger(place)
    else:
        ask_again(place, [])


def wait_until_ended(place: str) -> None:
    """Waits until the server has ended the transaction that does nothing."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    with psycopg.connect(place, autocommit=True) as watching:
        while watching.execute(asked).fetchone() != (0,):
            time.sleep(0.02)


def test_a_transaction_that_does_nothing_is_ended_and_keeps_nobody_waiting(place):
    ledger = Ledger(f"{place}?options=-c%20idle_in_transaction_session_timeout%3D100")

    def draw() -> list[bool]:
        wait_until_ended(place)
        return [True]

    with pytest.raises(LedgerError, match="which did nothing for too long; nothing was spent"):
        ledger.spend("survey", TENTH, "q", "1", draw)
    ask_again(place, [])


def test_a_client_that_stops_blocks_others_for_a_limited_time(place, monkeypatch):
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 1.0)
    begun, goes_on = threading.Event(), threading.Event()
    result: list[BaseException] = []

    def draw() -> list[bool]:
        begun.set()
        goes_on.wait(300)
        return [True]

    def spend_until_stopped() -> None:
        try:
            Ledger(place, timeout=0.2).spend("survey", TENTH, "stopped", "1", draw)
        except LedgerError as error:
            result.append(error)

    with psycopg.connect(place) as other:  # another process, as far as the server knows
        other.execute("SET LOCAL idle_in_transaction_session_timeout = 1500")
        other.execute("SELECT * FROM hetdp_ledger FOR UPDATE")
        assert Ledger(place, timeout=30).spend("survey", TENTH, "q", "1", lambda: [True]).number == 3
        with pytest.raises(psycopg.Error):
            other.execute("SELECT 1")
    thread = threading.Thread(target=spend_until_stopped)
    thread.start()
    assert begun.wait(300)
    wait_until_ended(place)
    goes_on.set()
    thread.join()
    assert "did nothing for too long; nothing was spent" in str(result[0])


def test_reading_commands_are_distinguished_from_forbidden_ones(place):
    role = f"reader_{uuid4().hex}"
    execute(f"CREATE ROLE {role} LOGIN")
    execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}", place)
    reader = Ledger(place.replace("hetdp@", f"{role}@"))
    reader.verify()
    with pytest.raises(LedgerError, match="this user lacks the permission; nothing was spent"):
        reader.spend("survey", TENTH, "q", "1", fail_if_drawn)
    execute(f"ALTER DATABASE {name_of(place)} SET default_transaction_read_only = on")
    Ledger(place).verify()
    with pytest.raises(LedgerError, match="it cannot be written to: the server or this database is read-only"):
        Ledger(place).spend("survey", TENTH, "q", "1", fail_if_drawn)
    execute(f"ALTER DATABASE {name_of(place)} RESET default_transaction_read_only")
    execute(f"DROP OWNED BY {role}", place)
    execute(f"DROP ROLE {role}")
    ask_again(place, [])


COLLISIONS = """
CREATE SEQUENCE tries;
CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN IF nextval('tries') <= {times} THEN RAISE EXCEPTION USING ERRCODE = '{state}'; END IF; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER collide AFTER INSERT ON hetdp_entries DEFERRABLE INITIALLY {when}
FOR EACH ROW EXECUTE FUNCTION collide();
"""


@pytest.mark.parametrize("when", ["IMMEDIATE", "DEFERRED"])
@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_collision_is_retried_with_the_same_draw(place, state, when):
    execute(COLLISIONS.format(times=3, state=state, when=when), place)
    drawn: list[int] = []

    def draw() -> list[bool]:
        drawn.append(1)
        return [True]

    assert Ledger(place).spend("survey", TENTH, "q", "1", draw).number == 3
    assert len(drawn) == 1
    ask_again(place, [(True,)])


def test_repeated_collisions_end_with_an_error(place):
    execute(COLLISIONS.format(times=10**6, state="40001", when="DEFERRED"), place)
    with pytest.raises(LedgerError, match="too many others are writing to it at the same time; nothing was spent"):
        Ledger(place, timeout=0.5).spend("survey", TENTH, "q", "1", lambda: [True])
    assert spends(place) == []


def test_an_error_at_the_commit_that_the_server_reports_spends_nothing(place):
    execute(COLLISIONS.format(times=1, state="23514", when="DEFERRED"), place)
    with pytest.raises(LedgerError, match=r"the server refused \(23514\); nothing was spent"):
        Ledger(place).spend("survey", TENTH, "q", "1", lambda: [True])
    ask_again(place, [])


@pytest.mark.parametrize("level", ["serializable", "repeatable read", "read committed"])
def test_all_that_is_allowed_is_granted_at_every_isolation_level(place, level):
    execute(f"ALTER DATABASE {name_of(place)} SET default_transaction_isolation = '{level}'")
    Ledger(place).declare("busy", cap="0.02")
    granted: list[int] = []
    failed: list[BaseException] = []

    def work(name: int) -> None:
        ledger = Ledger(place)
        for number in range(5):
            try:
                entry = ledger.spend(
                    "busy", Charge.to_classes("epsilon", {"a": "0.001"}), f"{name} {number}", "1", lambda: [True]
                )
                granted.append(entry.number)
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (failed, len(set(granted))) == ([], 20)
