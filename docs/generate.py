"""Writes the reference pages from the code: ``make docs``, or ``python -m docs.generate``.

A test fails if a page in the repository is not what this writes. The words come from docstrings and from the options of
the command line; what neither of them says stands in `docs/generator/described.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

from docs.generator import commands, names

DOCS = Path(__file__).parent
LISTED = ("theory", "decisions")  # folders whose pages are listed in the index


def index() -> str:
    """The index, with the pages of some folders listed between their marks."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    for folder in LISTED:
        found = "\n".join(f"- [{_title(page)}]({folder}/{page.name})" for page in sorted((DOCS / folder).glob("*.md")))
        text = re.sub(rf"(<!-- {folder} -->\n).*?(<!-- end -->)", rf"\g<1>{found}\n\g<2>", text, flags=re.DOTALL)
    return text


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").strip()


PAGES = {  # made here, whole or in part
    DOCS / "reference" / "python.md": names.page,
    DOCS / "reference" / "cli.md": commands.page,
    DOCS / "README.md": index,
}


def main() -> None:
    """Writes all of them."""
    for page, text in PAGES.items():
        page.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
