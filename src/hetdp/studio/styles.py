"""How the graph looks, by day and by night; the colours of answers are those of the plots."""

from __future__ import annotations

from typing import Any

INKS = {  # words, edges, rings, the lit path, what lies behind
    "light": {"ink": "#22272e", "edge": "#aab2bd", "ring": "#22272e", "lit": "#0a7d5a", "paper": "#ffffff"},
    "dark": {"ink": "#dde3ea", "edge": "#5a6572", "ring": "#f2f5f8", "lit": "#3ddba4", "paper": "#161b22"},
}
SIZES = ((40, 36), (120, 28), (260, 24), (10**9, 36))  # how large a dataset is, by how many; beyond 260, no names
STEPS = 12  # of a path that lights up one after the other
PAUSE = 140  # milliseconds between them


def stylesheet(theme: str, datasets: int) -> list[dict[str, Any]]:
    """The style of everything in the graph.

    Args:
        theme: "light" or "dark".
        datasets: how many are drawn; where there are many, each is small.
    """
    colour = INKS["dark" if theme == "dark" else "light"]
    size = next(size for most, size in SIZES if datasets <= most)
    rules: list[tuple[str, dict[str, Any]]] = [
        (
            "node",
            {
                "background-color": "data(colour)",
                "width": size,
                "height": size,
                "border-width": 1,
                "border-color": colour["edge"],
                "label": "data(label)",
                "text-wrap": "wrap",
                "font-size": 11,
                "font-family": "system-ui, sans-serif",
                "color": colour["ink"],
                "text-valign": "bottom",
                "text-margin-y": 4,
                "text-background-color": colour["paper"],
                "text-background-opacity": 0.75,
                "text-background-padding": 1,
                "min-zoomed-font-size": 6.5,
                "overlay-opacity": 0,
                "transition-property": "border-color, border-width",
                "transition-duration": 120,
            },
        ),
        ("node.two", {"shape": "round-rectangle"}),
        ("node.pinned", {"border-width": 3, "border-color": colour["ring"]}),
        (
            "edge",
            {
                "width": "data(width)",
                "line-color": colour["edge"],
                "curve-style": "straight",
                "label": "data(label)",
                "font-size": 9,
                "font-family": "system-ui, sans-serif",
                "color": colour["ink"],
                "text-background-color": colour["paper"],
                "text-background-opacity": 0.85,
                "text-background-padding": 1,
                "min-zoomed-font-size": 8,
                "overlay-opacity": 0,
                "transition-property": "line-color",
                "transition-duration": 120,
            },
        ),
        (
            "edge.within",
            {"curve-style": "unbundled-bezier", "control-point-distances": 46, "control-point-weights": 0.5},
        ),
        ("edge.parallel", {"curve-style": "bezier", "control-point-step-size": 28}),
        ("edge.free", {"line-style": "dotted", "width": 1}),
        ("node.lit", {"border-color": colour["lit"], "border-width": 4, "z-index": 10, "font-weight": "bold"}),
        ("edge.lit", {"width": "data(lit)", "line-color": colour["lit"], "z-index": 9, "font-weight": "bold"}),
        ("node.chosen", {"border-color": colour["lit"], "border-width": 5, "width": size + 8, "height": size + 8}),
        ("edge.chosen", {"width": "data(lit)", "line-color": colour["ink"], "line-style": "solid", "z-index": 9}),
    ]
    rules += [(f".step{step}", {"transition-delay": step * PAUSE}) for step in range(STEPS + 1)]
    return [{"selector": selector, "style": style} for selector, style in rules]
