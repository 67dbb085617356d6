"""The tables of a ledger, the same in SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

VERSION = 3
APPLICATION = 0x48446C67  # SQLite keeps this number in the file's header, so that a ledger is known as one

metadata = MetaData()

head = Table(  # one row
    "hetdp_ledger",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),  # always 1
    Column("schema_version", Integer, nullable=False),
    Column("ledger", Text, nullable=False),  # what tells it from all others
    Column("secret", Text, nullable=False),  # of the pseudonyms, in hexadecimal; never exported
    Column("entries", BigInteger, nullable=False),  # how many there are
    Column("hash", Text, nullable=False),  # of the last one
    Column("place", Text, nullable=False),  # of the file when it was last written to: inode and path; empty on a server
)
entries = Table(  # the chain, in order
    "hetdp_entries",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("asked", Text),  # by what a question or a declaration is found again
    Column("body", Text, nullable=False),  # the line of JSON that is hashed
    Index("hetdp_entries_asked", "asked", unique=True),
)
charges = Table(  # who paid how much, once for each different charge
    "hetdp_charges",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
classes = Table(  # what class accounts have spent
    "hetdp_classes",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),  # the number of its declaration
    Column("name", Text, primary_key=True),
    Column("cap", BigInteger, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("cap_delta", BigInteger, nullable=False),
    Column("spent_delta", BigInteger, nullable=False),
)
people = Table(  # what people have spent, some thousands of them to a row
    "hetdp_people",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),
    Column("first", LargeBinary, primary_key=True),  # 16 bytes: no pseudonym in this row is below, none above before it
    Column("pseudonyms", LargeBinary, nullable=False),  # of 16 bytes each, in order
    Column(
        "balances", LargeBinary, nullable=False
    ),  # all caps, all spent; with δ all its caps, all spent: 8 bytes each
    Column("named", Text),  # what the ids of the source's people are, as its first charge to people says
)
sources = Table(  # where it stands what a source's unit and relation are, unless its declaration says both
    "hetdp_sources",
    metadata,
    Column("source", BigInteger, primary_key=True, autoincrement=False),
    Column("entry", BigInteger, nullable=False),  # the number of the entry that says it
)
NAMES = tuple(metadata.tables)
INDICES = ("hetdp_entries_asked",)
