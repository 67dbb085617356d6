"""What MkDocs needs beside `mkdocs.yml`: pages outside docs/, links, pictures of notebooks, lists, examples."""

from __future__ import annotations

import json
import posixpath
import re
import textwrap
from pathlib import Path
from typing import Any

import click
from griffe import Extension, Object
from mkdocs.structure.files import File, Files

from hetdp.cli.group import GROUP, VERBS

ROOT = Path(__file__).parents[1]
ADDED = {  # what lies outside docs/, and where it is on the site
    "README.md": "introduction.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "benchmarks/RESULTS.md": "benchmarks/results.md",
    **{f"benchmarks/pictures/{found.name}": f"benchmarks/pictures/{found.name}"
       for found in sorted((ROOT / "benchmarks" / "pictures").glob("*.svg"))},
}  # fmt: skip
REPOSITORY = {site: path for path, site in ADDED.items()}
EXAMPLES = re.compile(r"^>>> .*(?:\n(?:\n>>> )?.+)*", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]+)?\)")
LITERAL = re.compile(r"<(/?)(?:code|pre|script|style|svg)\b")  # elements whose text stays as it is
NAME = r"[A-Za-zα-ωΑ-Ωℓ]+[₀-₉ᵢ]*['′]*(?:<sub>\w+</sub>)?"
EXPONENT = re.compile(
    r"\^(?:\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"  # in brackets, which are dropped
    r"|\{([^{}]*)\}"
    rf"|([−-]?(?:(?:min|max)\([^()]*\)|{NAME}(?:\([A-Za-zα-ω,′→ ]+\))?|\d+(?:\.\d+)?)))"
)
SUBSCRIPT = re.compile(r"(?<!\w)([A-Za-zα-ωΑ-Ω])_(?:([A-Za-zα-ω]{1,3}[₀-₉]*(?!\w))|\(([^()]*)\)|\{([^{}]*)\})")
LIST_ITEM = re.compile(r"(?:[-*+]|(\d+)\.) +(?=\S)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages from outside docs/."""
    for path, site in ADDED.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links that lead out of docs/, or come from outside, lead to where their target is on the site."""
    here = page.file.src_uri
    notebook = ROOT / "docs" / Path(here).with_suffix(".ipynb")
    if notebook.exists():
        markdown = show_pictures(markdown, json.loads(notebook.read_text(encoding="utf-8")))

    def moved(link: re.Match[str]) -> str:
        mark, words, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(REPOSITORY.get(here, f"docs/{here}")), target))
        site = path.removeprefix("docs/") if path.startswith("docs/") else ADDED.get(path)
        if site is None:  # a file of the repository that is no page
            return words
        return f"{mark}[{words}]({posixpath.relpath(site, posixpath.dirname(here) or '.')}{anchor or ''})"

    return indent_lists(LINK.sub(moved, markdown))


def show_pictures(markdown: str, notebook: dict[str, Any]) -> str:
    """Sets the pictures that a notebook shows below the lines of its page that draw them."""
    for cell in notebook["cells"]:
        for picture in (output.get("data", {}).get("image/png") for output in cell.get("outputs", [])):
            if picture:
                lines = markdown.index(f">>> {cell['source'][0]}")
                end = markdown.index("\n```\n", lines) + 5
                image = f'<img alt="What these lines draw" src="data:image/png;base64,{picture}">'
                markdown = f"{markdown[:end]}\n{image}\n{markdown[end:]}"
    return markdown


def indent_lists(markdown: str) -> str:
    """Indents what belongs to a list by four spaces, and sets blank lines where a list begins.

    GitHub needs neither: two or three spaces suffice there. Python-Markdown would set such a list as one paragraph.
    """
    lines: list[str] = []
    begins: list[int] = []  # where the text of each open list item begins, from the outermost to the innermost
    in_fence = in_paragraph = False
    for line in markdown.split("\n"):
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        item = None if in_fence else LIST_ITEM.match(text)
        is_first = not begins
        if text and not in_fence and (item or not lines or not lines[-1]):
            while begins and indent < begins[-1]:
                begins.pop()
        if item and is_first and in_paragraph and item[1] not in (None, "1"):  # a number at the beginning of a line
            item = None
        if item and indent - (begins[-1] if begins else 0) < 4:
            if in_paragraph:
                lines.append("")
            lines.append("    " * len(begins) + text)
            begins.append(indent + item.end())
            in_paragraph = False
        else:
            lines.append(("    " * len(begins) + line[min(indent, begins[-1] if begins else 0) :]) if text else "")
            in_paragraph = bool(text) and (in_paragraph or len(lines) < 2 or not lines[-2])
        in_fence ^= text.startswith("```")
    return "\n".join(lines)


def on_config(config: Any) -> Any:
    """Where the navigation names a folder, it lists the pages of the folder."""
    for section in config.nav:
        for entry in next(iter(section.values())):
            if isinstance(entry, dict):
                folders = {title: target for title, target in entry.items() if isinstance(target, str)}
                entry.update({title: _pages(path) for title, path in folders.items() if not path.endswith(".md")})
    return config


def _pages(folder: str) -> list[str]:
    return [page.relative_to(ROOT / "docs").as_posix() for page in sorted((ROOT / "docs" / folder).glob("*.md"))]


def on_pre_build(**_: Any) -> None:
    """Sets the examples that a verb's help begins with as a block, which mkdocs-click would set as words."""
    context = click.Context(GROUP)
    for command in [GROUP, *(GROUP.get_command(context, verb) for verb in VERBS)]:
        assert command is not None
        command.help = re.sub(r"\A\x08\n(.*?)\n\n", r"```text\n\1\n```\n\n", command.help or "", flags=re.DOTALL)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Sets exponents and subscripts, and shows no default of options that have none.

    Click 8.3 calls a missing default by a name that mkdocs-click prints.
    """
    html = html.replace("<code>Sentinel.UNSET</code>", "") if page.file.src_uri == "reference/cli.md" else html
    return set_formulas(html)


def set_formulas(html: str) -> str:
    """Sets e^(−ε(d−1)) and v_i outside code as superscripts and subscripts.

    >>> set_formulas("<p>e^(−ε(d−1))/(1 + e^ε), v_i, v_(i+1), <code>2^k</code></p>")
    '<p>e<sup>−ε(d−1)</sup>/(1 + e<sup>ε</sup>), v<sub>i</sub>, v<sub>i+1</sub>, <code>2^k</code></p>'
    >>> set_formulas("e^−ε(u→v)·q, e^−ε'(1 − x), e^max(A,0), 2^-40, e^ε_i")
    "e<sup>−ε(u→v)</sup>·q, e<sup>−ε'</sup>(1 − x), e<sup>max(A,0)</sup>, 2<sup>-40</sup>, e<sup>ε<sub>i</sub></sup>"
    """
    pieces, depth = re.split(r"(<[^>]*>)", html), 0  # tags have odd places
    for at, piece in enumerate(pieces):
        if at % 2:
            literal = LITERAL.match(piece)
            depth += 0 if literal is None else -1 if literal[1] else 1
        elif not depth:
            lowered = SUBSCRIPT.sub(lambda found: f"{found[1]}<sub>{found[2] or found[3] or found[4]}</sub>", piece)
            pieces[at] = EXPONENT.sub(lambda found: f"<sup>{found[1] or found[2] or found[3]}</sup>", lowered)
    return "".join(pieces)


class ExamplesExtension(Extension):
    """Sets the examples of a docstring, which hetdp writes without a heading, as a section of their own."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Puts a heading before the examples and moves them in."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLES.sub(
                lambda found: "Examples:\n" + textwrap.indent(found[0], "    "), obj.docstring.value
            )
