"""What a mechanism costs whom: from the edges of a problem, by class; from a table's policy, by person or by group.

An account is charged the largest promise of all its edges: the decimal that was written. What a mechanism uses is never
above it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.errors import UsageError
from hetdp.mechanism.solving.scaling import written_edges
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.findings import Findings
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.release.ledger.sealed import EVERYBODY as NO_CLASS
from hetdp.spaces.table.policy import Policy
from hetdp.theory.notion import BACK

EVERYBODY = NO_CLASS  # the account of edges without a class, and of people without a group
CLASS, PERSON = "class", "person"
EPSILON, EPSILON_DELTA, GAUSSIAN = "epsilon", "epsilon-delta", "gaussian"
CURRENCIES = {  # by which rule a notion adds up
    "pure": EPSILON,
    "directed": EPSILON,
    "bounded-range": EPSILON,
    "approximate": EPSILON_DELTA,
    "gaussian": GAUSSIAN,
}


@dataclass(frozen=True)
class Costs:
    """What one release costs each account.

    Attributes:
        kind: ``"class"`` (accounts have public names) or ``"person"`` (they have ids, which the ledger hides).
        names: the class, or the id of the person, of each account.
        currency: ``"epsilon"``, ``"epsilon-delta"`` or ``"gaussian"``.
        written: for each parameter (epsilon, delta or mu) the largest that the account is promised, as written; ∞ where
            nothing is promised.
        groups: for people, the class whose cap holds for each.
        named: for people, the column of their ids.
    """

    kind: str
    names: Sequence[str]
    currency: str
    written: dict[str, Floats]
    groups: Sequence[str] | None = None
    named: str | None = None


def costs_of(problem: Problem) -> Costs:
    """What a private mechanism costs: for each class of edges the largest ε (and δ, or μ), in either direction.

    Raises:
        UsageError: there are no edges, so that nobody is protected; or nobody knows how the notion adds up.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.1, 0.3], classes=["pupils", "pupils"])
    >>> found = costs_of(hetdp.Problem(graph, [1, 1, 2]))
    >>> found.names, found.written["epsilon"]
    (('pupils',), array([0.3]))
    """
    notion = problem.notion.name
    if notion not in CURRENCIES:
        raise UsageError(f"no rule is known by which {notion!r} adds up", f"it is one of {', '.join(CURRENCIES)}")
    if not problem.graph.edge_count:
        rule = "a release needs a promise, and promises are made on edges"
        raise UsageError("there are no edges, so nobody is protected", rule)
    graph = problem.graph
    names, largest = _of_product(graph) if isinstance(graph, ProductSpace) else _of_graph(graph)
    return Costs(CLASS, names, CURRENCIES[notion], largest)


def costs_of_people(policy: Policy, people: Sequence[str] | None, named: str | None = None) -> Costs:
    """What an answer from a table costs: everybody's ε. One answer for each area costs the same: each is in one area.

    Args:
        policy: everybody's ε, and group.
        people: everybody's id, in the same order; None if accounts are kept by group.
        named: the column of these ids; accounts are known by it, too.
    """
    codes = np.zeros(policy.size, dtype=np.int32) if policy.groups is None else policy.groups.codes
    names = (EVERYBODY,) if policy.groups is None else policy.groups.names
    if people is None:
        there = np.unique(codes)
        largest = _largest(codes, policy.epsilon, len(names))[there]
        return Costs(CLASS, tuple(names[at] for at in there.tolist()), EPSILON, {"epsilon": largest})
    groups = None if policy.groups is None else np.array(names, dtype=object)[codes].tolist()
    return Costs(PERSON, people, EPSILON, {"epsilon": policy.epsilon}, groups, named)


def account_name(name: Any) -> str:
    """The account of a class of edges: texts as they are, numbers and tuples as JSON; what is equal has one account.

    Raises:
        UsageError: it is anything else, which may be written otherwise another time and so would have a new account.

    >>> account_name("pupils"), account_name((1.0, "a")), account_name(None)
    ('pupils', '[1, "a"]', 'everybody')
    """
    if name is None:
        return EVERYBODY
    plain = _plain(name)
    try:
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:  # not finite, or more digits than Python writes
        raise _no_account(name) from None


def _plain(name: Any) -> Any:
    """Text, a number, or a tuple of these, without NumPy's types and with whole numbers as such."""
    if isinstance(name, tuple):
        return tuple(map(_plain, name))
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, (str, int)):
        return str(value) if isinstance(value, str) else int(value)
    raise _no_account(name)


def _no_account(name: Any) -> UsageError:
    rule = "only text, a finite number, or a tuple of these is named alike every time"
    return UsageError(f"a class of edges has no account: it is a {type(name).__name__}", rule)


def _of_graph(graph: Any) -> tuple[tuple[str, ...], dict[str, Floats]]:
    """The names of the accounts, and the largest parameters, as written, of each."""
    _, _, columns = written_edges(graph)
    classes = classes_of(graph.edge_classes(), Findings("edges"))
    both: dict[str, Floats] = {}
    for name, values in columns.items():
        forward = name.removesuffix(BACK)
        both[forward] = np.maximum(both[forward], values) if forward in both else values
    if classes is None:
        return (EVERYBODY,), {name: values.max(keepdims=True) for name, values in both.items()}
    accounts = dict.fromkeys(map(account_name, (*classes.names, None)))
    at = {name: number for number, name in enumerate(accounts)}
    number_of = np.array([at[account_name(name)] for name in (*classes.names, None)])
    numbers = number_of[np.where(classes.numbers == NONE, len(classes.names), classes.numbers)]
    there = np.unique(numbers)
    names = tuple(accounts)
    found = {name: _largest(numbers, values, len(names))[there] for name, values in both.items()}
    return tuple(names[number] for number in there.tolist()), found


def _of_product(space: ProductSpace) -> tuple[tuple[str, ...], dict[str, Floats]]:
    """The same without storing edges: each axis is a class."""
    found: dict[str, float] = {}
    for at, axis in enumerate(space.axes):
        name = account_name(axis.name)
        if axis.length > 1:
            found[name] = max(found.get(name, 0.0), _along(space, at))
    return tuple(found), {"epsilon": np.array(list(found.values()))}


def _along(space: ProductSpace, at: int) -> float:
    """The largest ε along an axis, as written; where it depends on the situation, of situations that there are."""
    axis, lines = space.axes[at], space.lines(at)
    kinds = np.unique(lines.moves.kinds)
    if axis.states == 1:
        return float(axis.written[kinds].max())
    largest, seen = 0.0, 0
    for block in space.blocks_along(at, written=True):
        largest, seen = max(largest, float(block.parameters[0].max(initial=0.0))), seen + len(block.source)
    return largest if seen == lines.high * lines.low * len(lines.moves.kinds) else float(np.inf)


def _largest(numbers: Any, values: Floats, count: int) -> Floats:
    found = np.zeros(count)
    np.maximum.at(found, numbers, values)
    return found
