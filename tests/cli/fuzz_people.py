"""Broken questions and privacy rules, by the thousand, given to `hetdp make`.

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
from tests.cli.fuzz import mutated, replaced

ALLOWED = {0, 2, 3}  # a file can be good, or ask for what these people do not have, or be bad; it cannot be a bug
questions, privacy = hetdp.questions, hetdp.privacy
ASKED: tuple[Any, ...] = (
    questions.count("yes", 2, ["Ann", "Bob"]),
    questions.share("yes", "60%", of="respondents", blank="blank"),
    questions.majority(),
    questions.versus("yes", "no", "yes"),
    questions.weighted_sum({"Ann": 2, "Bob": "1/3", "Cyd": -0.5}, 1.5, {"yes": 1, "blank": "0.25"}),
    questions.all_of("Ann"),
    questions.ratio_of_shares("yes", "Ann", "Bob", at_least="4/5"),
    (questions.count("yes", 1) & ~questions.all_of(["Bob", "Cyd"])) | questions.majority("no"),
)
PROMISED: tuple[Any, ...] = (
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


def toml(document: Any) -> str:
    """A document as TOML, in one line for each key; what TOML cannot say, such as null, makes a broken one."""
    if not isinstance(document, dict):
        return _inline(document)
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in document.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def broken(document: Any, suffix: str, rng: random.Random) -> bytes:
    """The document with values changed, or its text with bytes changed, or both."""
    if rng.random() < 0.02:
        return rng.choice([b"[", b'{"asks": "not", "part": ', b"a = ["]) * rng.choice([10, 5_000, 100_000])
    for _ in range(rng.choice([0, 1, 1, 2])):
        document = replaced(document, rng)
    if rng.random() < 0.3:
        document = _odd(document, rng)
    data = (toml(document) if suffix == ".toml" else json.dumps(document)).encode()
    return mutated(data, rng) if rng.random() < 0.3 else data


def _odd(document: Any, rng: random.Random) -> Any:
    """The document with one value deep inside that is odd for questions and rules; or wrapped many times."""
    if isinstance(document, dict) and document:
        key = rng.choice(list(document))
        return {**document, key: _odd(document[key], rng)}
    if isinstance(document, list) and document:
        at = rng.randrange(len(document))
        return [*document[:at], _odd(document[at], rng), *document[at + 1 :]]
    if rng.random() < 0.1:
        for _ in range(rng.choice([3, 60, 150])):
            document = {"asks": "not", "part": document}
        return document
    return rng.choice(VALUES)


def once(rng: random.Random, folder: Path) -> tuple[list[str], int, str]:
    """Breaks a question, or rules, or both, and makes a problem of them."""
    files = []
    for name, known in (("question", ASKED), ("rules", PROMISED)):
        suffix, document = rng.choice([".json", ".toml"]), rng.choice(known).document()
        is_broken = rng.random() < 0.6
        whole = (toml(document) if suffix == ".toml" else json.dumps(document)).encode()
        (folder / f"{name}{suffix}").write_bytes(broken(document, suffix, rng) if is_broken else whole)
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
    """How often each exit code came; stops at the first thing that must not be, and leaves the files to look at."""
    rng, codes, here = random.Random(seed), Counter[int](), Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for number in range(count):
                command, code, words = once(rng, Path(place))
                files = {path.name: path.read_bytes()[:2000] for path in Path(place).iterdir()}
                told = f"seed {seed}, number {number}: {command} ended with {code}:\n{words}\n{files}"
                assert code in ALLOWED, told
                assert "Traceback" not in words, told
                assert code == 0 or words.startswith("hetdp: "), told
                codes[code] += 1
        finally:
            os.chdir(here)
    return codes


if __name__ == "__main__":
    sys.stdout.write(
        str(dict(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)))) + "\n"
    )
