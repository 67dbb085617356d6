"""Draws the pictures of the gallery anew: ``python -m docs.pictures``. Look at them before you commit them."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.pictures.drawn import PICTURES
from hetdp.plots.plot import write_figure

FOLDER = Path(__file__).parent
STUDIO, PEOPLE = PHOTOGRAPHS = ("studio", "people")  # photographs of pages, which need chromium


def main(names: list[str]) -> None:
    """Draws some of them, or all."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    for name in names or (*PICTURES, *PHOTOGRAPHS):
        if name == STUDIO:
            from docs.pictures.studio import take

            take(FOLDER / f"{name}.png")
            continue
        if name == PEOPLE:
            from docs.pictures.people import take as take_people

            take_people(FOLDER / f"{name}.png")
            continue
        write_figure(PICTURES[name](), FOLDER / f"{name}.svg", ".svg")
        pyplot.close("all")


if __name__ == "__main__":
    main(sys.argv[1:])
