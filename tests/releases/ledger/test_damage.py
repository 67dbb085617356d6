"""Wrong, locked, full, read-only, truncated, changed and restored ledgers: found, and nothing granted."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy

from hetdp.errors import HetdpError, LedgerError, UsageError
from hetdp.releases.ledger.chain import parse_entry
from hetdp.releases.ledger.charge import Charge, canonical_json
from hetdp.releases.ledger.ledger import Ledger
from tests.releases.ledger.conftest import server
from tests.releases.ledger.test_spending import TENTH, fail_if_drawn
from tests.stress import mostly_long

PEOPLE = Charge.to_people("epsilon", ["Ann", "Bob"], "0.01", classes=["staff", "pupils"], named="id")


@pytest.fixture
def used_ledger(address):
    """A ledger with entries of every kind."""
    ledger = Ledger.create(address, source="survey", cap=0.3, caps={"staff": "0.5"}, timeout=0.2)
    ledger.declare("other", cap=(1, 1), currency="epsilon-delta")
    ledger.spend("survey", TENTH, "q", "1", lambda: [True, False], {"words": "?"})
    ledger.declare("people", cap=0.3, caps={"staff": "0.5"})
    ledger.spend("people", PEOPLE, "q", "2", lambda: [True])
    ledger.record("survey", TENTH, "elsewhere")
    ledger.record("other", Charge.to_people("epsilon-delta", ["Ann"], "0.5", "0.5"), "elsewhere")
    ledger.declare("noted", cap=1)
    ledger.spend("noted", TENTH, "q", "1", lambda: [True], unit="person")
    ledger.declare("noted", relation="replace-one")
    ledger.spend("people", PEOPLE, "q", "3", lambda: [False])
    ledger.verify()
    return ledger


@contextmanager
def unchecked_connection(address: str):
    """A database connection that bypasses the checks of the ledger."""
    url = address.replace("postgresql:", "postgresql+psycopg:") if "://" in address else f"sqlite:///{address}"
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def assert_damage_found(address: str) -> None:
    """Asserts that opening or verifying the ledger fails with a one-line message."""
    with pytest.raises(LedgerError) as found:
        Ledger(address, timeout=0.2).verify()
    assert "\n" not in str(found.value)


CHANGES = {  # of every column of every table
    "hetdp_ledger": {
        "one": ["one + 1"],
        "schema_version": ["2"],
        "ledger": ["'0'"],
        "secret": ["'00'", "'xy'", "''"],
        "entries": ["entries + 1", "entries - 1", "0", "-1"],
        "hash": ["''", "'0'"],
        "place": ["'here'", "'7'"],
    },
    "hetdp_entries": {"number": ["number + 100"], "asked": ["'0'", "NULL"], "body": ["''", "'{}'", "'null'", "'[1]'"]},
    "hetdp_charges": {"digest": ["'0'"], "content": ["CAST('' AS BLOB)", "CAST('{}' AS BLOB)"]},
    "hetdp_classes": {
        "source": ["1", "3"],
        "name": ["'staff'"],
        "cap": ["cap + 1", "0", "-1"],
        "spent": ["spent - 1", "0", "-1", "9223372036854775807"],
        "cap_delta": ["1"],
        "spent_delta": ["1"],
    },
    "hetdp_people": {
        "source": ["source + 1"],
        "first": ["pseudonyms"],
        "pseudonyms": ["CAST('0123456789abcdef' AS BLOB)", "CAST('' AS BLOB)"],
        "balances": ["CAST('' AS BLOB)", "CAST('0123456789abcdef' AS BLOB)"],
        "named": ["'email'", "NULL", "CAST('id' AS BLOB)"],
    },
    "hetdp_sources": {"source": ["3"], "entry": ["1", "4", "10", "99"]},
}


def test_every_column_is_among_the_changes():
    from hetdp.releases.ledger.schema import metadata

    assert {name: list(table.columns.keys()) for name, table in metadata.tables.items()} == {
        name: list(columns) for name, columns in CHANGES.items()
    }


def test_every_change_of_a_column_is_found(used_ledger, address):
    is_file = "://" not in address
    for name, columns in CHANGES.items():
        table = _table(name)
        with unchecked_connection(address) as connection:
            ledger = [dict(row) for row in connection.execute(table.select()).mappings()]
        for column, values in columns.items():
            for value in values if is_file else values[:1]:
                row = ledger[-1] if column == "asked" else ledger[0]
                which = sqlalchemy.and_(*(table.c[key.name] == row[key.name] for key in table.primary_key))
                other = sqlalchemy.literal_column(value if is_file else value.replace("BLOB", "BYTEA"))
                with unchecked_connection(address) as connection:
                    connection.execute(table.update().where(which).values({column: other}))
                assert_damage_found(address)
                with unchecked_connection(address) as connection:
                    connection.execute(table.delete())
                    connection.execute(table.insert(), ledger)
    used_ledger.verify()


def _table(name):
    from hetdp.releases.ledger.schema import metadata

    return metadata.tables[name]


def test_every_change_of_an_entry_is_found(used_ledger, address):
    entries, table = used_ledger.history(), _table("hetdp_entries")
    for entry in entries if "://" not in address else entries[3:4]:
        for key, other in changed_values(json.loads(entry.body)).items():
            body = canonical_json(json.loads(entry.body) | {key: other})
            with unchecked_connection(address) as connection:
                connection.execute(table.update().where(table.c.number == entry.number).values(body=body))
            assert_damage_found(address)
        with unchecked_connection(address) as connection:
            connection.execute(table.update().where(table.c.number == entry.number).values(body=entry.body))
    used_ledger.verify()


def changed_values(document: dict) -> dict:
    """Another value for every key of an entry."""
    changed = {str: lambda value: f"{value}x", int: lambda value: value + 1, dict: lambda value: {**value, "x": 1}}
    found = {key: changed[type(value)](value) for key, value in document.items() if type(value) in changed}
    return found | {"answers": [1 - answer for answer in document["answers"]] or [1], "unheard_of": 1}


@pytest.mark.parametrize("address", mostly_long(["sqlite", "postgresql"], 1), indirect=True)
@pytest.mark.parametrize("table", CHANGES)
def test_a_missing_or_repeated_row_is_found(used_ledger, address, table):
    rows = _table(table)
    with unchecked_connection(address) as connection:
        ledger = [dict(row) for row in connection.execute(rows.select()).mappings()]
    for row in ledger:
        which = sqlalchemy.and_(*(rows.c[key.name] == row[key.name] for key in rows.primary_key))
        with unchecked_connection(address) as connection:
            connection.execute(rows.delete().where(which))
        assert_damage_found(address)
        with unchecked_connection(address) as connection:
            connection.execute(rows.insert().values(row))
    copy = {
        "one": 2,
        "number": len(ledger) + 1,
        "asked": None,
        "digest": "0",
        "name": "new",
        "first": bytes([255]) * 16,
    }
    copy |= {"source": 99} if table == "hetdp_sources" else {}
    with unchecked_connection(address) as connection:
        connection.execute(rows.insert().values({key: copy.get(key, value) for key, value in ledger[-1].items()}))
    assert_damage_found(address)


def test_a_changed_last_entry_grants_nothing(used_ledger, address):
    with unchecked_connection(address) as connection:
        connection.exec_driver_sql("UPDATE hetdp_ledger SET hash = 'x'")
    before = _bytes(address)
    for ask in (
        lambda: used_ledger.spend("survey", TENTH, "new", "1", fail_if_drawn),
        lambda: used_ledger.spend("survey", TENTH, "q", "1", fail_if_drawn),
        lambda: used_ledger.record("survey", TENTH, "n"),
        lambda: used_ledger.declare("new", cap=1),
        lambda: used_ledger.status(),
        lambda: used_ledger.history(),
        lambda: list(used_ledger.export()),
        lambda: Ledger(address),
    ):
        with pytest.raises(
            LedgerError, match="it was changed, or is damaged; nothing was spent, and no answer was given"
        ):
            ask()
    assert _bytes(address) == before


def _bytes(address: str) -> bytes:
    return b"" if "://" in address else Path(address).read_bytes()


def test_a_changed_answer_is_not_given_again(used_ledger, address):
    entry, table = used_ledger.history()[3], _table("hetdp_entries")
    assert (entry.kind, entry.answers) == ("spend", (True, False))
    body = entry.body.replace('"answers":[1,0]', '"answers":[0,1]')
    assert parse_entry(body) != entry
    with unchecked_connection(address) as connection:
        connection.execute(table.update().where(table.c.number == entry.number).values(body=body))
    with pytest.raises(LedgerError, match="it was changed"):
        used_ledger.spend("survey", TENTH, "q", "1", fail_if_drawn)


def test_a_permanent_lock_is_an_error(used_ledger, address):
    with unchecked_connection(address) as connection:
        if "://" in address:
            connection.exec_driver_sql("SELECT * FROM hetdp_ledger FOR UPDATE")
        else:
            connection.exec_driver_sql("BEGIN EXCLUSIVE")
        with pytest.raises(
            LedgerError, match="somebody else is writing to it, and did not finish in time; nothing was"
        ):
            used_ledger.spend("survey", TENTH, "new", "1", fail_if_drawn)
    assert used_ledger.spend("survey", TENTH, "new", "1", lambda: [True]).answers == (True,)


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    """A ledger that is a file."""
    place = tmp_path / "school.ledger"
    ledger = Ledger.create(place, source="survey", cap=0.3, timeout=0.2)
    ledger.spend("survey", TENTH, "q", "1", lambda: [True])
    return place


def test_a_ledger_is_for_its_owner_only_and_nothing_else_is_left(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["school.ledger"]


def test_a_restored_backup_is_found_by_the_receipts(file, tmp_path):
    ledger = Ledger(file)
    shutil.copy(file, tmp_path / "backup")
    receipt = ledger.spend("survey", TENTH, "r", "1", lambda: [True]).receipt()
    ledger.verify([receipt])
    shutil.copy(tmp_path / "backup", file)
    ledger.verify()  # by itself, it looks as it should
    words = "it is older than its records: 1 entry that its records name is missing; a restored copy would spend again"
    for ask in (
        lambda: ledger.verify([receipt]),
        lambda: ledger.spend("survey", TENTH, "s", "1", fail_if_drawn, receipts=[receipt]),
    ):
        with pytest.raises(LedgerError, match=words):
            ask()
    ledger.spend("survey", TENTH, "s", "1", lambda: [True])  # another entry in that place
    with pytest.raises(LedgerError, match="it has diverged from its records: entry 4 is not the one that they"):
        ledger.verify([receipt])


def test_another_ledger_in_the_same_place_is_noticed(file, tmp_path):
    ledger = Ledger(file)
    Ledger.create(tmp_path / "other", source="survey", cap="inf")
    shutil.copy(tmp_path / "other", file)
    for ask in (lambda: ledger.spend("survey", TENTH, "r", "1", fail_if_drawn), ledger.status, ledger.verify):
        with pytest.raises(LedgerError, match="it is not the ledger that was here before"):
            ask()


FOREIGN_SCHEMAS = (
    "CREATE TRIGGER t AFTER UPDATE ON hetdp_classes BEGIN UPDATE hetdp_classes SET spent = 0; END",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TABLE t (x)",
    "DROP INDEX hetdp_entries_asked",
    "DROP TABLE hetdp_people",
    "ALTER TABLE hetdp_classes ADD COLUMN x",
    "ALTER TABLE hetdp_classes RENAME COLUMN cap TO hat",
    "PRAGMA user_version = 2",
    "PRAGMA application_id = 7",
)


@pytest.mark.parametrize("trick", FOREIGN_SCHEMAS)
def test_other_tables_than_those_of_a_ledger_are_refused(file, trick):
    with sqlite3.connect(file) as connection:
        connection.execute(trick)
    connection.close()
    assert_damage_found(str(file))


def test_files_that_are_not_ledgers_are_refused(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("not a ledger, but a text that is long enough\n" * 100)
    connection = sqlite3.connect(tmp_path / "other")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    (tmp_path / "folder").mkdir()
    for name, words in {
        "nowhere": "there is no ledger here; hetdp.Ledger.create makes one",
        "folder": "it is not a file",
        "empty": "it is not a ledger",
        "text": "it is not a ledger",
        "other": "it is not a ledger",
    }.items():
        with pytest.raises(LedgerError, match=words):
            Ledger(tmp_path / name)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(LedgerError, match="a ledger cannot be made here: No such file or directory"):
        Ledger.create(tmp_path / "no" / "folder")


def test_a_truncated_ledger_is_refused(file):
    whole = file.read_bytes()
    for size in [*range(0, len(whole), 1000), len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert_damage_found(str(file))


@contextmanager
def file_size_limit(size: int):
    """Limits the size to which files may grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_spends_nothing_and_breaks_nothing(file):
    ledger = Ledger(file)
    ledger.declare("people", cap="inf")
    many = Charge.to_people("epsilon", range(5000), "0.01")
    for room in (0, 512, 4096, file.stat().st_size, file.stat().st_size + 8192):
        before = file.read_bytes()
        with (
            file_size_limit(room),
            pytest.raises(LedgerError, match=r"the disk is full|the disk cannot be read or written"),
        ):
            ledger.spend("people", many, "q", "1", lambda: [True])
        ledger.verify()
        assert file.read_bytes() == before
    ledger.spend("people", many, "q", "1", lambda: [True])
    ledger.verify()


def test_a_ledger_that_cannot_be_written_can_be_read_and_spends_nothing():
    folder = Path(tempfile.mkdtemp())
    try:
        ledger = Ledger.create(folder / "kept", source="survey", cap="inf")
        folder.joinpath("kept").chmod(0o444)
        folder.chmod(0o555)
        with as_unprivileged_user():
            ledger.verify()
            assert ledger.status()[0].source == "survey"
            with pytest.raises(LedgerError, match="it cannot be written to; nothing was spent"):
                ledger.spend("survey", TENTH, "q", "1", lambda: [True])
            with pytest.raises(LedgerError, match="a ledger cannot be made here: Permission denied"):
                Ledger.create(folder / "new")
        folder.joinpath("kept").chmod(0)
        with as_unprivileged_user(), pytest.raises(LedgerError, match="it cannot be opened: this user may not read it"):
            Ledger(folder / "kept")
        folder.chmod(0)
        with as_unprivileged_user(), pytest.raises(LedgerError, match="opened: this user may not look into its folder"):
            Ledger(folder / "kept")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@contextmanager
def as_unprivileged_user():
    """Drops the privileges of root, who may write anything."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


# Addresses ------------------------------------------------------------------------------------------------------------


def test_an_address_is_a_path_or_a_url(tmp_path):
    Ledger.create(f"sqlite:///{tmp_path}/a").verify()
    assert (tmp_path / "a").is_file()
    Ledger.create(tmp_path / "with space?&%20#").verify()
    for wrong in ("mysql://h/d", "sqlite://", "sqlite:///x?mode=memory", "nothing://", "postgresql+other://h/d"):
        with pytest.raises(
            UsageError, match="this is not the address of a ledger; an address is a path, sqlite:///PATH"
        ):
            Ledger(wrong)


UNREACHABLE = (
    "postgresql://u:hidden@127.0.0.1:1/d",
    "postgresql://u:hid@den@127.0.0.1:1/d",
    "postgres://u:hidden@127.0.0.1:1/d?password=hidden",
    "postgresql://u:hidden@127.0.0.1:x/d",
)


@pytest.mark.parametrize("address", UNREACHABLE)
def test_an_unreachable_server_is_reported_without_the_password(address):
    with pytest.raises(HetdpError) as refusal:
        Ledger(address)
    assert refusal.value.exit_code in (2, 7)
    assert "hid" not in str(refusal.value)
    assert "den" not in str(refusal.value)


def test_a_database_without_a_ledger_is_refused():
    with pytest.raises(LedgerError, match="it is not a ledger"):
        Ledger(f"{server()}postgres")
    with pytest.raises(LedgerError, match=r"there is no such database|cannot be reached"):
        Ledger(f"{server()}nowhere")


@pytest.mark.parametrize("place", ["1:1 /a\0b", "1:1 /" + "x" * 5000, "x", "1:1 ..", "1:1 /", "\0"])
def test_a_stored_address_that_is_not_a_path_is_damage(tmp_path, place):
    address = str(tmp_path / "survey.ledger")
    Ledger.create(address, source="survey", cap=1, timeout=0.2)
    with sqlite3.connect(address) as connection:
        connection.execute("UPDATE hetdp_ledger SET place = ?", [place])
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(address, timeout=0.2).verify()
