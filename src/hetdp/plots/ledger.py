"""A ledger as bars: what each class has spent of its cap. The rows are those of `Ledger.status`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from hetdp.plots.canvas import (
    SMALL,
    add_legend_below,
    disable_math,
    distinct_texts,
    label_axes,
    size_in_points,
    style_axes,
    write_message,
)
from hetdp.plots.colours import INK, ONE, PAPER, SOFT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

MOST_ROWS = 40
NARROW = 240.0  # points: on narrower axes, names are cut earlier
PEOPLE = "people (largest amount)"
NOTHING = "nothing has been spent in this ledger yet"


class Account(NamedTuple):
    """One bar of the picture.

    Attributes:
        name: the class, with its source where there are several.
        spent: what it has spent, as a number.
        cap: what it may spend; infinite if there is no limit.
        words: the same as written in the ledger, with the unit.
    """

    name: str
    spent: float
    cap: float
    words: str


def accounts_of(rows: Iterable[Any]) -> list[Account]:
    """One account for each class of each source, and one for each group of people with the same cap.

    Args:
        rows: for each source `source`, `unit`, `classes` (each with `name`, `cap` and `spent`, as decimals), `people`
            and `by_cap` (each with `classes`, `cap` and `most_spent`), as `Ledger.status` gives them.
    """
    listed = list(rows)
    several = len({row.source for row in listed}) > 1
    found = []
    for row in listed:
        before = f"{row.source}: " if several else ""
        found += [_account(f"{before}{one.name}", one.spent, one.cap, row.unit) for one in row.classes]
        if row.people:
            found += [_account(f"{before}{_people(one)}", one.most_spent, one.cap, row.unit) for one in row.by_cap]
    return found


def _people(group: Any) -> str:
    return f"{', '.join(group.classes)}: {PEOPLE}" if group.classes else PEOPLE


def _account(name: str, spent: str, cap: str, unit: str) -> Account:
    limit = "no limit" if math.isinf(float(cap)) else f"of {cap}"
    return Account(
        name, float(spent), float(cap), f"{spent} {limit} {unit}" if limit != "no limit" else f"{spent} {unit}"
    )


def size_of_ledger(accounts: list[Account], width: float | None = None) -> tuple[float, float]:
    """The preferred width and height in inches."""
    return width or 5.6, 1.0 + 0.3 * max(2, min(len(accounts), MOST_ROWS))


def draw_ledger(axes: Axes, accounts: list[Account], key: bool) -> None:
    """Draws a bar for each account: its length is the cap, and the filled part is what was spent."""
    from matplotlib.patches import Patch

    if not accounts:
        axes.set_axis_off()
        write_message(axes, NOTHING)
        return
    shown = accounts[:MOST_ROWS]
    limits = [account.cap for account in shown if math.isfinite(account.cap)]
    longest = max([*limits, *(account.spent for account in shown if math.isfinite(account.spent)), 0.0]) or 1.0
    places = range(len(shown) - 1, -1, -1)
    for place, account in zip(places, shown, strict=True):
        if math.isfinite(account.cap):
            axes.barh(place, account.cap, 0.62, facecolor=PAPER, edgecolor=SOFT, linewidth=0.8)
        axes.barh(place, min(account.spent, longest), 0.62, facecolor=ONE, edgecolor=ONE, linewidth=0.8)
        end = max(min(account.spent, longest), account.cap if math.isfinite(account.cap) else 0.0)
        disable_math(
            axes.annotate(account.words, (end, place), (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
        )
    style_axes(axes, grid="x")
    longest_name = 34 if size_in_points(axes)[0] > NARROW else 20
    axes.spines["left"].set_visible(False)
    axes.set_yticks(list(places), distinct_texts([account.name for account in shown], longest_name))
    disable_math(*axes.get_yticklabels())
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0.0, 1.3 * longest)
    more = len(accounts) - len(shown)
    label_axes(axes, "privacy spent" + (f"  ({more:,} more classes are not shown)" if more else ""))
    if key:
        handles = [Patch(facecolor=ONE), Patch(facecolor=PAPER, edgecolor=SOFT, linewidth=0.8)]
        add_legend_below(axes, handles, ["spent", "left"])
    for text in axes.texts:
        text.set_color(INK)
