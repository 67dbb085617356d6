"""The kernels of this engine, compiled for a notion."""

from __future__ import annotations

from functools import cache

from hetdp import jit
from hetdp.engines.compiling import Function, Replacements, compiled
from hetdp.engines.cpu import grow as kernels
from hetdp.engines.cpu import meetings as meeting_kernels
from hetdp.engines.cpu import offers as offer_kernels
from hetdp.engines.cpu import settle as settle_kernels
from hetdp.engines.cpu.edges import BY_PLACES
from hetdp.engines.cpu.prefetch import compiled_prefetch, prefetch
from hetdp.theory.notion import Notion, turned


@cache
def compiled_grow(notion: Notion) -> Function:
    """The search kernel with a notion's step in it."""
    return compiled(kernels.grow, f"grow_{_name(notion)}", searching(notion))


@cache
def compiled_settle(notion: Notion) -> tuple[Function, Function]:
    """What lists the meetings of the fair search, and its kernel."""
    replaced = searching(notion)
    return (
        compiled(meeting_kernels.meetings, f"meetings_{_name(notion)}", replaced),
        compiled(settle_kernels.settle, f"settle_{_name(notion)}", replaced),
    )


@cache
def compiled_offers(notion: Notion) -> Function:
    """What neighbours of the other answer offer."""
    return compiled(offer_kernels.offers, f"offers_{_name(notion)}", searching(notion))


def _name(notion: Notion) -> str:
    """The module of its formulas: notions that share them share what is compiled."""
    return notion.across.__module__.rpartition(".")[2]


def searching(notion: Notion) -> Replacements:
    """What a kernel runs in place of the functions that stand for a notion's."""
    edge_of, turned_edge_of = BY_PLACES[turned(notion.parameters)]
    replaced: Replacements = {
        kernels.edge_of: edge_of,
        meeting_kernels.turned_edge_of: turned_edge_of,
        kernels.step: notion.step,
        kernels.quick: notion.quick,
        settle_kernels.across: notion.across,
        meeting_kernels.meet: notion.meet,
    }
    if not jit.is_off():
        replaced[prefetch] = compiled_prefetch
    return replaced


@cache
def compiled_mark() -> Function:
    """What marks the datasets that touch the other answer or a pin."""
    return compiled(meeting_kernels.mark, "mark", {})


@cache
def compiled_sides() -> Function:
    """The split of the starts."""
    return compiled(kernels.sides, "sides", {})
