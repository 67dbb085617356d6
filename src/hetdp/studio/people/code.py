"""The same as the page, in a shell and in Python. Both make the same plan, with the same digest."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from hetdp.documents import SCHEMA_VERSION
from hetdp.people.questions.question import Question
from hetdp.tables.bundle import CONTENT, KIND

OPTIONS = {  # arguments of `ask` in the order of the lines, with their options
    "count": "--count",
    "at_least": "--at-least",
    "more_than": "--more-than",
    "at_least_by": "--at-least-by",
    "more_than_by": "--more-than-by",
    "of": "--of",
    "question": "--question",
    "questions": "--questions",
    "person": "--person",
    "group": "--group",
    "level": "--level",
    "by": "--by",
    "epsilon": "--epsilon",
    "epsilon_by": "--epsilon-by",
    "deciding_epsilon": "--deciding-epsilon",
    "title": "--title",
    "yes": "--yes",
    "no": "--no",
    "sheet": "--table",
    "encoding": "--encoding",
    "delimiter": "--delimiter",
}
FILES = {"question": "question.json", "questions": "questions.json"}  # what the shell reads from a file
WIDTH = 100  # characters of a line
END = "END"


class CodeLines(NamedTuple):
    """Lines for a shell and for Python."""

    shell: str
    python: str


def plan_lines(table: str, arguments: Mapping[str, Any], plan: str) -> CodeLines:
    """The lines that write a plan.

    Args:
        table: the name of the table, in the working folder.
        arguments: the arguments of `ask`.
        plan: the name of the plan's file.
    """
    given = {name: arguments[name] for name in OPTIONS if name in arguments}
    words = ["hetdp ask", shlex.quote(table)]
    shell = []
    for name, value in given.items():
        if name in FILES:
            document = json.dumps(_document(value), ensure_ascii=False, indent=1)
            shell.append(f"cat > {FILES[name]} <<'{END}'\n{document}\n{END}")
            value = FILES[name]
        words.append(f"{OPTIONS[name]} {_shell_value(value)}")
    shell.append(_wrap([*words, f"--plan {shlex.quote(plan)}", "--dry-run"]))
    first = [f"    {given['count']!r},\n"] if "count" in given else []
    written = [f"    {name}={_python_value(value)},\n" for name, value in given.items() if name != "count"]
    python = (
        f"import hetdp\n\nasked = hetdp.ask(\n    {table!r},\n{''.join([*first, *written])}"
        f"    plan={plan!r},\n    dry_run=True,\n)\nprint(asked)\nprint(asked.digest)\n"
    )
    return CodeLines("\n".join(shell) + "\n", python)


def price_lines(table: str, plan: str, ledger: str, source: str, version: str) -> CodeLines:
    """The lines that show what a plan would cost."""
    words = ["hetdp ask", shlex.quote(table), f"--plan {shlex.quote(plan)}", *_paid(ledger, source, version)]
    python = (
        f"import hetdp\n\npaid = hetdp.Payment({_payment(ledger, source, version)})\n"
        f"asked = hetdp.ask({table!r}, plan={plan!r}, payment=paid, dry_run=True)\nprint(asked.price)\n"
    )
    return CodeLines(_wrap([*words, "--dry-run"]) + "\n", python)


def ledger_lines(ledger: str, source: str, cap: str, caps: Mapping[str, str]) -> CodeLines:
    """The lines that make a ledger."""
    words = ["hetdp ledger init", shlex.quote(ledger), f"--source {shlex.quote(source)}", f"--cap {cap}"]
    words += [f"--class-cap {shlex.quote(_pairs(caps))}"] if caps else []
    python = (
        f"import hetdp\n\nhetdp.Ledger.create(\n    {ledger!r}, source={source!r}, cap={cap!r}, caps={dict(caps)!r},"
        f" unit='person', relation='replace-one'\n)\n"
    )
    return CodeLines(_wrap([*words, "--unit person", "--relation replace-one"]) + "\n", python)


def release_lines(table: str, plan: str, ledger: str, source: str, version: str, record: str, page: str) -> CodeLines:
    """The lines that release the answer of a plan."""
    words = ["hetdp ask", shlex.quote(table), f"--plan {shlex.quote(plan)}", *_paid(ledger, source, version)]
    words += [f"-o {shlex.quote(record)}", f"--html {shlex.quote(page)}"]
    python = (
        f"import hetdp\n\npaid = hetdp.Payment(\n    {_payment(ledger, source, version)},\n    record={record!r},"
        f" html={page!r},\n)\n"
        f"print(hetdp.ask({table!r}, plan={plan!r}, payment=paid).release)\n"
    )
    return CodeLines(_wrap(words) + "\n", python)


def verify_lines(record: str, plan: str, ledger: str) -> CodeLines:
    """The lines that check a record."""
    words = [
        "hetdp record verify",
        shlex.quote(record),
        f"--plan {shlex.quote(plan)}",
        f"--ledger {shlex.quote(ledger)}",
    ]
    python = f"import hetdp\n\nprint(hetdp.verify_record({record!r}, plan={plan!r}, ledger={ledger!r}))\n"
    return CodeLines(_wrap(words) + "\n", python)


def _paid(ledger: str, source: str, version: str) -> list[str]:
    found = [f"--ledger {shlex.quote(ledger)}"]
    found += [f"--source {shlex.quote(source)}"] if source else []
    return found + ([f"--version {shlex.quote(version)}"] if version != "1" else [])


def _payment(ledger: str, source: str, version: str) -> str:
    named = [f"ledger={ledger!r}"] + ([f"source={source!r}"] if source else [])
    return ", ".join(named + ([f"version={version!r}"] if version != "1" else []))


def _shell_value(value: Any) -> str:
    return shlex.quote(_pairs(value) if isinstance(value, Mapping) else str(value))


def _pairs(pairs: Mapping[str, str]) -> str:
    """Names with numbers as an option takes them: as JSON if a name could be misread.

    >>> _pairs({"strict": "0.1", "open": "1"}), _pairs({"a,b": "1"})
    ('strict=0.1,open=1', '{"a,b": "1"}')
    """
    plain = all(name == name.strip() and name and not set(",={") & set(name) for name in pairs)
    if plain:
        return ",".join(f"{name}={number}" for name, number in pairs.items())
    return json.dumps(dict(pairs), ensure_ascii=False)


def _document(value: Any) -> Any:
    """A question, or several, as the document of a file."""
    if isinstance(value, Question):
        return value.document()
    bodies = [{name: one.body() if isinstance(one, Question) else one for name, one in body.items()} for body in value]
    return {"schema_version": SCHEMA_VERSION, "kind": KIND, CONTENT: bodies}


def _python_value(value: Any) -> str:
    if isinstance(value, Question):
        return _python_question(value.body())
    if isinstance(value, list):
        return f"[\n{''.join(f'        {_python_dictionary(body)},{chr(10)}' for body in value)}    ]"
    return repr(value)


def _python_dictionary(body: Mapping[str, Any]) -> str:
    return f"{{{', '.join(f'{name!r}: {_python_value(value)}' for name, value in body.items())}}}"


def _python_question(body: Mapping[str, Any]) -> str:
    """A question as the calls that make it."""
    if "parts" in body:
        joint = " & " if body["asks"] == "and" else " | "
        return joint.join(_python_question(part) for part in body["parts"])
    given = ", ".join(f"{name}={value!r}" for name, value in body.items() if name != "asks")
    return f"hetdp.questions.{body['asks']}({given})"


def _wrap(words: list[str]) -> str:
    """The words of a command on lines that are not too long."""
    lines, line = [], words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(f"{line} \\")
            line = f"    {word}"
        else:
            line = f"{line} {word}"
    return "\n".join([*lines, line])
