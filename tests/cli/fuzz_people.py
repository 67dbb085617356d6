"""Runs `hetdp make` on thousands of broken questions and privacy rules.

By hand, for longer: ``python -m tests.cli.fuzz_people 20000``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import hetdp
from hetdp.cli.main import main
from tests.cli.fuzz import mutate_bytes, replace_value

ALLOWED = {0, 2, 3}  # a file can be valid, ask for people who do not exist, or be invalid; it cannot be a bug
questions, privacy = hetdp.questions, hetdp.privacy
QUESTIONS: tuple[Any, ...] = (
    questions.count("yes", 2, ["Ann", "Bob"]),
    questions.share("yes", "60%", of="respondents", blank="blank"),
    questions.majority(),
    questions.versus("yes", "no", "yes"),
    questions.weighted_sum({"Ann": 2, "Bob": "1/3", "Cyd": -0.5}, 1.5, {"yes": 1, "blank": "0.25"}),
    questions.all_of("Ann"),
    questions.ratio_of_shares("yes", "Ann", "Bob", at_least="4/5"),
    (questions.count("yes", 1) & ~questions.all_of(["Bob", "Cyd"])) | questions.majority("no"),
)
RULES: tuple[Any, ...] = (
    privacy.rules(0.5),
    privacy.rules({"Ann": 1, "Bob": "0.30", "Cyd": "inf"}, deciding={"Ann": 0.2}),
    privacy.rules(1, within={2: 0.3}, answer={2: {"Bob": 0.1}}, change={("yes", "no"): 0.7, "blank": 2}),
)
VALUES: list[Any] = [
    -(10**30),
    10**30,
    "1/0",
    "-5%",
    "1e400",
    "1e-400",
    "９",
    " 3 ",
    0.1,
    [[]],
    {"within": 0},
    "deciding",
]
SPACES = (
    ("votes", "--people", "Ann,Bob,Cyd"),
    ("tallies", "--group", "Ann=2,Bob=1,Cyd=3"),
)


def to_toml(document: Any) -> str:
    """Writes a document as TOML, one line for each key; values that TOML lacks, such as null, make it invalid."""
    if not isinstance(document, dict):
        return _inline(document)
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in document.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def break_document(document: Any, suffix: str, rng: random.Random) -> bytes:
    """Changes values of the document, bytes of its text, or both."""
    if rng.random() < 0.02:
        return rng.choice([b"[", b'{"asks": "not", "part": ', b"a = ["]) * rng.choice([10, 5_000, 100_000])
    for _ in range(rng.choice([0, 1, 1, 2])):
        document = replace_value(document, rng)
    if rng.random() < 0.3:
        document = _insert_odd_value(document, rng)
    data = (to_toml(document) if suffix == ".toml" else json.dumps(document)).encode()
    return mutate_bytes(data, rng) if rng.random() < 0.3 else data


def _insert_odd_value(document: Any, rng: random.Random) -> Any:
    """Replaces one nested value by one that is odd for questions and rules, or nests the document many times."""
    if isinstance(document, dict) and document:
        key = rng.choice(list(document))
        return {**document, key: _insert_odd_value(document[key], rng)}
    if isinstance(document, list) and document:
        at = rng.randrange(len(document))
        return [*document[:at], _insert_odd_value(document[at], rng), *document[at + 1 :]]
    if rng.random() < 0.1:
        for _ in range(rng.choice([3, 60, 150])):
            document = {"asks": "not", "part": document}
        return document
    return rng.choice(VALUES)


def fuzz_once(rng: random.Random, folder: Path) -> tuple[list[str], int, str]:
    """Breaks a question, the rules or both, and makes a problem from them."""
    files = []
    for name, examples in (("question", QUESTIONS), ("rules", RULES)):
        suffix, document = rng.choice([".json", ".toml"]), rng.choice(examples).document()
        is_broken = rng.random() < 0.6
        whole = (to_toml(document) if suffix == ".toml" else json.dumps(document)).encode()
        (folder / f"{name}{suffix}").write_bytes(break_document(document, suffix, rng) if is_broken else whole)
        files += [f"--{name}", f"{name}{suffix}"]
    space = rng.choice(SPACES)
    command = [
        "make",
        *space,
        "--values",
        "yes,no,blank",
        *files,
        "-o",
        "made.json",
        *["--json"] * (rng.random() < 0.3),
    ]
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    err.flush()
    words = err.buffer.getvalue().decode("utf-8", "replace")
    made = folder / "made.json"
    assert made.exists() == (code == 0), f"{command} ended with {code}, and a file is there: {made.exists()}"
    assert not list(folder.glob(".*")), f"{command} left a draft"
    if code == 0:
        hetdp.read_problem(made)
        made.unlink()
    return command, code, words


def fuzz(count: int, seed: int) -> Counter[int]:
    """Returns how often each exit code occurred; stops at the first result that is not allowed and shows its files."""
    rng, codes, here = random.Random(seed), Counter[int](), Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for number in range(count):
                command, code, words = fuzz_once(rng, Path(place))
                files = {path.name: path.read_bytes()[:2000] for path in Path(place).iterdir()}
                report = f"seed {seed}, number {number}: {command} ended with {code}:\n{words}\n{files}"
                assert code in ALLOWED, report
                assert "Traceback" not in words, report
                assert code == 0 or words.startswith("hetdp: "), report
                codes[code] += 1
        finally:
            os.chdir(here)
    return codes


if __name__ == "__main__":
    sys.stdout.write(
        str(dict(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)))) + "\n"
    )
