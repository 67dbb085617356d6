"""The kernels of this engine, compiled: those of one sweep as they are, the others for a notion."""

from __future__ import annotations

from functools import cache

from hetdp.engines.compiling import Function, Replacements, compiled
from hetdp.engines.product import grow as kernels
from hetdp.engines.product import links as link_kernels
from hetdp.engines.product import sweep as sweep_kernels
from hetdp.theory.notion import Notion


@cache
def compiled_sweeps() -> tuple[Function, Function]:
    """What sweeps the last axes, and what sweeps those before."""
    return (
        compiled(sweep_kernels.sweep_blocks, "sweep_blocks", {}),
        compiled(sweep_kernels.sweep_columns, "sweep_columns", {}),
    )


@cache
def compiled_copy() -> Function:
    """What copies start labels and looks at them."""
    return compiled(sweep_kernels.copy_and_look, "copy_and_look", {})


@cache
def compiled_relax(notion: Notion | None) -> Function:
    """What relaxes the lines along one axis; without a notion, by plain addition."""
    if notion is None:
        return compiled(kernels.relax_lines, "relax_lines_plain", {kernels.relax: kernels.relax_plain})
    return compiled(kernels.relax_lines, f"relax_lines_{_name(notion)}", _replaced(notion))


@cache
def compiled_links(notion: Notion) -> tuple[Function, Function]:
    """What finds links to smaller labels, and to equal ones."""
    return (
        compiled(link_kernels.find_links, f"find_links_{_name(notion)}", _replaced(notion)),
        compiled(link_kernels.link_ties, f"link_ties_{_name(notion)}", _replaced(notion)),
    )


def _replaced(notion: Notion) -> Replacements:
    return {kernels.step: notion.step, kernels.quick: notion.quick}


def _name(notion: Notion) -> str:
    return notion.name.replace("-", "_")
