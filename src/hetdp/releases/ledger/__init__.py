"""The ledger: what was spent of people's privacy, in whole numbers, checked and written in one transaction.

- `ledger`: the public `Ledger`. `ledger_core`: what releases ask of it. `status`: balances, and one person's account.
  `verification`: proof.
- `chain`: entries and their hashes. `charge`, `charging`, `accounts`, `neighbours`, `amounts`: who pays how much.
- `database`: the interface of a database and its transactions. `sqlite` (with `sqlite_file` and `connection_cache`) and
  `postgres` implement it. `schema`: the tables, and statements on them.

To add a database, implement `Database` in a module of its own and open it in `ledger.open_database`. SQLAlchemy is
imported here only.

`releases`, `tables`, `partitioned`, `studio` and `cli` may import this package.
"""
