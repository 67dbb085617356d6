"""A mechanism as a table that people read: aligned, in digits that do not round to certainty."""

from __future__ import annotations

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hetdp.mechanism.mechanism import Mechanism

HEADER = ("dataset", "query", "p", "error", "pinned", "binding")
NOTHING = "-"


def table_lines(mechanism: Mechanism) -> Iterator[str]:
    """One line for each dataset, in graph order, below the header."""
    columns = [[title, *cells] for title, cells in zip(HEADER, _columns(mechanism), strict=True)]
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _columns(mechanism: Mechanism) -> Sequence[list[str]]:
    from hetdp.mechanism.digits import error_digits, value_digits
    from hetdp.problem.spelling import spelled

    given, labels = mechanism.columns(), mechanism.problem.labels
    names = [spelled(label, labels) for label in given["dataset"]]
    lacking = mechanism.problem.notion.coordinate.probability(-mechanism.coordinates)
    return (
        names,
        [str(answer) for answer in given["query"].tolist()],
        [value_digits(*each) for each in zip(given["p"].tolist(), lacking.tolist(), given["z"].tolist(), strict=True)],
        [error_digits(error) for error in given["error"].tolist()],
        ["yes" if pinned else "no" for pinned in given["pinned"].tolist()],
        [NOTHING if link < 0 else names[link] for link in mechanism.links.tolist()],
    )
