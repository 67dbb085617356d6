"""What if: one ε for all edges of a class or of a rule, or every ε times a number, set by one slider.

A rule is what gave several edges the same ε. `list_scopes` lists what can be set, `apply_scope` sets it by the public
methods of `Problem`, and `code_of_scope` is the line of Python that does the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hetdp.errors import UsageError
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.spelling import spell_label
from hetdp.studio.answers import EdgeList
from hetdp.text import pluralize

ALL, CLASS, RULE, PAIR = "all", "class", "rule", "pair"
SLIDERS = (ALL, CLASS, RULE)  # the scopes that have a slider
EPSILON = "epsilon"
LOSSES = (EPSILON, "mu")  # how names of parameters begin that bound what may be learnt
MOST_CLASSES = 12  # that have a slider
MOST_RULES = 4  # different ε up to which each has a slider
MOST_RULE_EDGES = 20_000  # edges up to which ε are set by rule: the function of a rule is called for each of them
LONGEST_CLASS = 40


class Scope(NamedTuple):
    """Edges whose ε are set together: all, those of a class, those that have one ε, or a single one.

    Attributes:
        kind: ALL, CLASS, RULE or PAIR.
        at: the class by its place in `class_names`, the ε, or the two ends of the edge; 0 for ALL.
    """

    kind: str
    at: Any = 0


class Setting(NamedTuple):
    """A scope with the ε that its edges have.

    Attributes:
        scope: the scope.
        words: its name.
        edges: the number of its edges, in words; empty if it is not counted.
        low: the smallest ε; for ALL the factor.
        high: the largest ε; for ALL the factor.
    """

    scope: Scope
    words: str
    edges: str
    low: float
    high: float


def class_names(problem: Problem, edge_list: EdgeList | None) -> list[Any]:
    """The classes of the edges, in an order that edits do not change."""
    if isinstance(problem.graph, ProductSpace):
        names = {axis.name for axis in problem.graph.axes}
    else:
        names = set() if edge_list is None else set(edge_list.classes) - {None}
    return sorted(names, key=spell_label)


def list_scopes(problem: Problem, edge_list: EdgeList | None, near: Any = None) -> tuple[list[Setting], int]:
    """What can be set by one slider, and how many classes have none because there are too many.

    Args:
        problem: the problem.
        edge_list: its edges; None if there are too many.
        near: the class of the selected edge, which has a slider in any case.
    """
    found = [Setting(Scope(ALL), "Every ε", "", 1.0, 1.0)]
    if EPSILON not in problem.graph.parameter_names or edge_list is None:
        return found, 0
    epsilon = np.minimum.reduce([values for name, values in edge_list.columns.items() if name.startswith(EPSILON)])
    names = class_names(problem, edge_list)
    if len(names) > 1:
        numbers = {name: number for number, name in enumerate(names)}
        of_edge = np.array([numbers.get(name, -1) for name in edge_list.classes])
        chosen = sorted(range(len(names)), key=lambda number: (names[number] != near, number))[:MOST_CLASSES]
        for number in sorted(chosen):
            mine = epsilon[of_edge == number]
            words = spell_label(names[number])[:LONGEST_CLASS]
            found.append(_setting(Scope(CLASS, number), words, mine))
    values = np.unique(epsilon[np.isfinite(epsilon)])
    if 1 < len(values) <= MOST_RULES and len(epsilon) <= MOST_RULE_EDGES:
        found += [
            _setting(Scope(RULE, value), f"ε = {value:g}", epsilon[epsilon == value]) for value in values.tolist()
        ]
    return found, max(0, len(names) - MOST_CLASSES)


def _setting(scope: Scope, words: str, epsilon: Any) -> Setting:
    if np.isinf(epsilon).all():  # or none: a space of people drops edges with ε = ∞
        return Setting(scope, words, "not protected", np.inf, np.inf)
    return Setting(scope, words, pluralize(len(epsilon), "edge"), float(epsilon.min()), float(epsilon.max()))


def unprotected_classes(problem: Problem, edge_list: EdgeList | None) -> dict[Any, bool]:
    """The classes with an infinite ε or μ: False if only some of their edges have it.

    A space of people has no edges where ε is infinite, so its list of edges does not show that it has left some out.
    """
    whole: dict[Any, bool] = {}  # by class: whether nothing protects it
    partly: set[Any] = set()  # classes that have unprotected edges
    for name, finite, every in _protected_edges(problem, edge_list):
        whole[name] = whole.get(name, True) and not finite
        partly |= {name} if finite < every else set()
    return {name: is_whole for name, is_whole in whole.items() if name in partly}


def _protected_edges(problem: Problem, edge_list: EdgeList | None) -> Iterator[tuple[Any, int, int]]:
    """The classes, each with the number of edges that have a finite ε, and of all; a class may come again."""
    space = problem.graph
    if isinstance(space, ProductSpace):
        for at, axis in enumerate(space.axes):
            lines = space.lines(at)
            yield axis.name, space.arcs_along(at), lines.high * lines.low * len(lines.moves.kinds)
    elif edge_list is not None:
        losses = [values for name, values in edge_list.columns.items() if name.startswith(LOSSES)]
        finite = np.isfinite(np.minimum.reduce(losses)) if losses else np.ones(len(edge_list.source))
        for name, is_finite in zip(edge_list.classes, finite.tolist(), strict=True):
            if name is not None:
                yield name, int(is_finite), 1


def apply_scope(problem: Problem, edge_list: EdgeList | None, scope: Scope, value: float) -> Problem:
    """The problem with another ε on the edges of a scope, or with every ε times a number.

    Raises:
        UsageError: there is no such scope, or the number is not allowed there.
        InputError: the value is not an ε.
    """
    if scope.kind == ALL:
        return problem.scaled(value)
    if scope.kind == CLASS:
        names = class_names(problem, edge_list)
        if not 0 <= scope.at < len(names):
            raise UsageError(f"no class {scope.at}", "classes are those that are listed")
        return problem.with_epsilon(classes={names[int(scope.at)]: value})
    if scope.kind == PAIR:
        return problem.with_epsilon(edges={_labels_of(problem, scope): value})
    if problem.graph.edge_count > MOST_RULE_EDGES:
        raise UsageError("ε by rule", f"it takes at most {MOST_RULE_EDGES:,} edges")
    return problem.with_epsilon(lambda _one, _other, epsilon: value if epsilon == scope.at else epsilon)


def code_of_scope(problem: Problem, edge_list: EdgeList | None, scope: Scope, value: float) -> str:
    """The line of Python that does what `apply_scope` does."""
    number = code_of_number(value)
    if scope.kind == ALL:
        return f"problem = problem.scaled({number})"
    if scope.kind == CLASS:
        return (
            f"problem = problem.with_epsilon(classes={{{class_names(problem, edge_list)[int(scope.at)]!r}: {number}}})"
        )
    if scope.kind == PAIR:
        return f"problem = problem.with_epsilon(edges={{{_labels_of(problem, scope)!r}: {number}}})"
    at = code_of_number(scope.at)
    return f"problem = problem.with_epsilon(lambda one, other, epsilon: {number} if epsilon == {at} else epsilon)"


def _labels_of(problem: Problem, scope: Scope) -> tuple[Any, Any]:
    one, other = scope.at
    return problem.graph.label(one), problem.graph.label(other)


def code_of_number(value: float) -> str:
    """A number as it is written in Python.

    >>> code_of_number(0.5), code_of_number(float("inf"))
    ('0.5', 'float("inf")')
    """
    return 'float("inf")' if value == np.inf else repr(float(value))


def scope_in_words(problem: Problem, edge_list: EdgeList | None, scope: Scope) -> str:
    """A scope in words, for the list of changes."""
    if scope.kind == ALL:
        return "Every ε"
    if scope.kind == CLASS:
        name = class_names(problem, edge_list)[int(scope.at)]
        return f"ε of all edges of {spell_label(name)[:LONGEST_CLASS]}"
    return f"ε of all edges with ε = {scope.at:g}"
