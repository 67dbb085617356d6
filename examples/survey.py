"""A survey with three levels of privacy, through `hetdp ask`: ``python -m examples.survey --people 1000000``.

The people are made up, their table lies in a temporary folder (or is kept, as CSV or Parquet, with --table), and the
answer is simulated.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from hetdp.cli.main import main as hetdp

LEVELS = {"strict": 0.05, "usual": 0.2, "open": 1.0}  # ε of those who chose each level
SHARES = (0.2, 0.5, 0.3)
AGREE = 0.505  # how many agree, on the whole


def write_table(path: Path, people: int, seed: int = 0) -> None:
    """Writes a CSV or Parquet file with one row for each person: id, level of privacy, and what they say."""
    made_up = np.random.default_rng(seed)
    levels = made_up.choice(list(LEVELS), size=people, p=SHARES)
    agree = np.where(made_up.random(people) < AGREE, "yes", "no")
    columns = {"id": np.arange(people), "level": levels.astype(object), "agree": agree.astype(object)}
    with duckdb.connect() as database:
        table = database.register("people", columns).table("people")
        write = table.write_parquet if path.suffix == ".parquet" else table.write_csv
        write(str(path))


def ask(table: Path, *more: str) -> int:
    """Asks whether at least half of all people agree; prints what is promised, and a simulated answer."""
    by_level = ",".join(f"{level}={epsilon}" for level, epsilon in LEVELS.items())
    question = ["--count", "agree = 'yes'", "--at-least", "50%"]
    privacy = ["--person", "id", "--group", "level", "--epsilon-by", by_level]
    return hetdp(["ask", str(table), *question, *privacy, "--simulate", *more])


def main(arguments: list[str] | None = None) -> int:
    """Makes up a table, and asks it."""
    options = argparse.ArgumentParser(description="A survey with three levels of privacy.")
    options.add_argument("--people", type=int, default=1_000, help="how many people; 1000 if not given")
    options.add_argument("--table", type=Path, help="keep the table in this .csv or .parquet file")
    options.add_argument("--json", action="store_true", help="the numbers only")
    given = options.parse_args(arguments)
    if given.people < 1 or (given.table and given.table.exists()):
        options.error("--people is at least 1, and --table names a file that is not there yet")
    with tempfile.TemporaryDirectory() as folder:
        table = given.table or Path(folder) / "survey.csv"
        write_table(table, given.people)
        return ask(table, *(["--json"] if given.json else []))


if __name__ == "__main__":
    raise SystemExit(main())
