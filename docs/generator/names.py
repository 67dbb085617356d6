"""The Python reference: every public name, from its docstring."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import hetdp
from docs.generator.described import ATTRIBUTES, EXIT_CODE, GROUPS, MORE, PYTHON_INTRODUCTION, VERSION_NOTE
from docs.generator.docstrings import Docstring, cell, code, docstring_of, table


def page() -> str:
    """The whole page."""
    grouped = [name for _, _, members in GROUPS for name in members]
    if sorted(grouped) != sorted(dir(hetdp)):
        raise ValueError(
            f"docs/generator/described.py groups other names than hetdp has: {set(grouped) ^ set(dir(hetdp))}"
        )
    lines = [PYTHON_INTRODUCTION]
    for title, about, members in GROUPS:
        lines += [f"## {title}", "", *([about, ""] if about else [])]
        for name in members:
            lines += list(_entry(name))
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str) -> Iterator[str]:
    yield from (f"### hetdp.{name}", "")
    thing = inspect.unwrap(getattr(hetdp, name))
    if inspect.ismodule(thing):
        yield from _module(name, thing)
    elif get_origin(thing) is Literal:
        yield from (f"One of {', '.join(code(repr(text)) for text in get_args(thing))}.", "")
    elif callable(thing):
        yield from _class_or_function(name, thing)
    else:
        yield from (VERSION_NOTE, "")


def _module(name: str, module: ModuleType) -> Iterator[str]:
    yield from _words(docstring_of(module))
    for member in sorted(module.__all__, key=lambda member: (member[0].isupper(), member)):  # functions, then classes
        yield from (f"#### {name}.{member}", "")
        yield from _class_or_function(f"{name}.{member}", getattr(module, member), "#####")


def _class_or_function(name: str, thing: Any, below: str = "####") -> Iterator[str]:
    return _class(name, thing, below) if inspect.isclass(thing) else _function(name, thing)


def _function(shown: str, function: Callable[..., Any]) -> Iterator[str]:
    words = docstring_of(function)
    yield from (_signature(shown, function), "")
    yield from _words(words)
    yield from _sections(words)
    yield from _example(words)


def _class(name: str, kind: type, below: str) -> Iterator[str]:
    words = docstring_of(kind)
    if "Args" in words.sections or f"{name}(" in words.examples:
        yield from (_signature(name, kind), "")
    yield from _words(words)
    yield from _sections(words)
    attributes = _attributes(name, kind, words)
    if attributes:
        yield from table(("attribute", "meaning"), *attributes)
    yield from _example(words)
    for member, function in _methods(kind):
        yield from (f"{below} {name}.{member}", "")
        yield from _function(f"{name}.{member}", function)


def _words(words: Docstring) -> Iterator[str]:
    for paragraph in words.prose:
        yield from (paragraph, "")
    if words.paper:
        yield from (f"*Paper:* {words.paper}", "")


def _sections(words: Docstring) -> Iterator[str]:
    if found := words.sections.get("Args"):
        yield from table(("argument", "meaning"), *((code(name), cell(meaning)) for name, meaning in found.items()))
    if found := words.sections.get("Returns"):
        yield from (f"Returns {cell(found['']).removesuffix('.')}.", "")
    if found := words.sections.get("Raises"):
        yield from table(("raises", "meaning"), *((_linked(name), cell(meaning)) for name, meaning in found.items()))


def _example(words: Docstring) -> Iterator[str]:
    if words.examples:
        yield from ("```python", words.examples, "```", "")


def _attributes(name: str, kind: type, words: Docstring) -> list[tuple[str, str]]:
    """Attributes from the docstring, those that are set when an object is made, and properties."""
    found = dict(words.sections.get("Attributes", {}))
    found |= {attribute: _described(name, attribute) for attribute in _set_attributes(kind) if attribute not in found}
    for attribute, value in vars(kind).items():
        if attribute not in found and not attribute.startswith("_") and _is_property(value):
            told = docstring_of(value)
            found[attribute] = " ".join([*told.prose, *([f"(Paper: {told.paper})"] if told.paper else [])])
    if "exit_code" in vars(kind):
        found["exit_code"] = f"{EXIT_CODE}: {vars(kind)['exit_code']}"
    return [(code(attribute), cell(meaning + MORE.get((name, attribute), ""))) for attribute, meaning in found.items()]


def _described(name: str, attribute: str) -> str:
    try:
        return ATTRIBUTES[name][attribute]
    except KeyError:
        raise ValueError(f"docs/generator/described.py does not say what {name}.{attribute} is") from None


def _set_attributes(kind: type) -> Iterator[str]:
    """Public names of what `__init__` stores, or of the fields of a named tuple."""
    if "_fields" in vars(kind):
        yield from kind._fields  # type: ignore[attr-defined]
    elif "__init__" in vars(kind) and not hasattr(kind, "__dataclass_fields__"):
        tree = ast.parse(textwrap.dedent(inspect.getsource(vars(kind)["__init__"])))
        stored = (
            node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        )
        names = dict.fromkeys(
            node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"
        )
        yield from (name for name in names if not name.startswith("_") and name != "arguments")


def _is_property(value: Any) -> bool:
    return hasattr(value, "__get__") and not callable(value) and not isinstance(value, (classmethod, staticmethod))


def _methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in vars(kind).items():
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def _signature(shown: str, function: Callable[..., Any]) -> str:
    """How it is called, and what comes back if that has a name of its own; types are left to the docstring."""
    signature = inspect.signature(function)
    given = [parameter for parameter in signature.parameters.values() if parameter.name not in ("self", "cls")]
    call = f"`{shown}({', '.join(map(_parameter, given))})`"
    result = str(signature.return_annotation)
    return f"{call} → {_linked(result)}" if result in dir(hetdp) else call


def _parameter(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name
    return f'{parameter.name}="{default}"' if isinstance(default, str) else f"{parameter.name}={default!r}"


def _linked(name: str) -> str:
    return f"[{code(name)}](#hetdp{name.lower()})" if name in dir(hetdp) else code(name)
