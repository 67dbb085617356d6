"""The cost of a mechanism for each account, from the edges of its problem; `hetdp.tables.release` does it for a table.

An account is charged what the mechanism can reveal of it: the largest loss over all its edges, or over all tables,
rounded up (docs/theory/losses.md). It never depends on the true data, and is never above what was allowed: the largest
promise of all its edges, as written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetdp.certificate.certificate import RemoteClaim
from hetdp.certificate.losses import has_loss, largest_losses, losses_along
from hetdp.errors import FaultCollector, UsageError
from hetdp.mechanism.scaling import Columns, edges_as_written
from hetdp.problem.classes import NONE, classes_of
from hetdp.problem.problem import Problem
from hetdp.problem.product import ProductSpace
from hetdp.problem.space import Floats
from hetdp.releases.ledger.amounts import currency_of
from hetdp.releases.ledger.charge import EVERYBODY as NO_CLASS
from hetdp.releases.ledger.charge import Charge
from hetdp.theory.notion import BACK, Notion
from hetdp.theory.pure import BY_EPSILON

EVERYBODY = NO_CLASS  # the account of edges without a class, and of people without a group
CLASS, PERSON = "class", "person"
EPSILON = BY_EPSILON.name  # what answers about people are counted in


@dataclass(frozen=True)
class Costs:
    """The cost of one release for each account.

    Attributes:
        kind: ``"class"`` (accounts have public names) or ``"person"`` (they have ids, which the ledger hides).
        names: the class, or the id of the person, of each account.
        currency: the name of the currency that the notion is counted in.
        allowed: for each parameter (epsilon, delta or mu) the largest that the account is promised, as written; ∞ where
            nothing is promised.
        used: for each parameter what is charged: the largest loss that the mechanism can cause the account, rounded up.
            It is never above `allowed`, and equal to it where the notion has no single number for it.
        groups: for people, the class whose cap holds for each.
        named: for people, the column of their ids.
    """

    kind: str
    names: Sequence[str]
    currency: str
    allowed: dict[str, Floats]
    used: dict[str, Floats]
    groups: Sequence[str] | None = None
    named: str | None = None

    @property
    def main(self) -> str:
        """The parameter that a loss is counted in: the first one of the notion."""
        return next(iter(self.allowed))


def costs_of(problem: Problem, coordinates: Floats | RemoteClaim | None = None) -> Costs:
    """The cost of a private mechanism for each class of edges: its largest loss, in either direction.

    Args:
        problem: the datasets and edges.
        coordinates: the mechanism's values, which were proved private, or the mechanism itself if they are not in this
            process. Without them, what any private mechanism may cost: all that is allowed.

    Raises:
        UsageError: there are no edges, so that nobody is protected.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges("ab", "bc", [0.1, 0.3], classes=["pupils", "pupils"])
    >>> found = costs_of(hetdp.Problem(graph, [1, 1, 2]))
    >>> found.names, found.allowed["epsilon"]
    (('pupils',), array([0.3]))
    """
    notion = problem.notion
    if not problem.graph.edge_count:
        rule = "a release needs a promise, and promises are made on edges"
        raise UsageError("there are no edges, so nobody is protected", rule)
    graph = problem.graph
    z = coordinates if has_loss(notion) else None
    if isinstance(graph, ProductSpace):
        names, allowed, used = _of_product(graph, z, notion)
    else:
        assert not isinstance(z, RemoteClaim), "only values on spaces of people stay elsewhere"
        names, allowed, used = _of_graph(graph, z, notion)
    return Costs(CLASS, names, notion.currency.name, allowed, used)


def charge_of(costs: Costs, currency: str | None = None) -> Charge:
    """The charge for a ledger: what each account uses.

    Args:
        costs: what one release costs each account.
        currency: the currency of the source. If it counts ε and δ, a promise without δ has δ = 0; the ledger refuses
            any other that differs.
    """
    first = costs.main
    is_widened = currency is not None and currency_of(currency).includes == costs.currency
    counted_by = currency if currency is not None and is_widened else costs.currency
    zeros = {"delta": np.zeros(len(costs.names))} if is_widened else {}
    if costs.kind == CLASS:
        columns = {name: values.tolist() for name, values in (costs.used | zeros).items()}
        by_name = {name: dict(zip(costs.names, values, strict=True)) for name, values in columns.items()}
        return Charge.to_classes(counted_by, by_name[first], by_name.get("delta"))
    amounts = costs.used | zeros
    return Charge.to_people(counted_by, costs.names, amounts[first], amounts.get("delta"), costs.groups, costs.named)


def account_name(name: Any) -> str:
    """The account of a class of edges: texts as they are, numbers and tuples as JSON; what is equal has one account.

    Raises:
        UsageError: it is anything else, which may be written otherwise another time and so would have a new account.

    >>> account_name("pupils"), account_name((1.0, "a")), account_name(None)
    ('pupils', '[1, "a"]', 'everybody')
    """
    if name is None:
        return EVERYBODY
    plain = _plain_name(name)
    try:
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:  # not finite, or more digits than Python writes
        raise _no_account(name) from None


def _plain_name(name: Any) -> Any:
    """Text, a number, or a tuple of these, without NumPy's types and with whole numbers as such."""
    if isinstance(name, tuple):
        return tuple(map(_plain_name, name))
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, (str, int)):
        return str(value) if isinstance(value, str) else int(value)
    raise _no_account(name)


def _no_account(name: Any) -> UsageError:
    rule = "it must be text, a finite number, or a tuple of these, so that it always has the same name"
    return UsageError(f"a class of edges has no account: it is a {type(name).__name__}", rule)


def _of_graph(graph: Any, z: Floats | None, notion: Notion) -> tuple[tuple[str, ...], Columns, Columns]:
    """The names of the accounts, the largest parameters, as written, of each, and the largest losses."""
    source, target, columns = edges_as_written(graph)
    classes = classes_of(graph.edge_classes(), FaultCollector("edges"))
    both: dict[str, Floats] = {}
    for name, values in columns.items():
        forward = name.removesuffix(BACK)
        both[forward] = np.maximum(both[forward], values) if forward in both else values
    accounts, numbers = dict.fromkeys([EVERYBODY]), np.zeros(len(source), dtype=np.int64)
    if classes is not None:
        accounts = dict.fromkeys(map(account_name, (*classes.names, None)))
        at = {name: number for number, name in enumerate(accounts)}
        number_of = np.array([at[account_name(name)] for name in (*classes.names, None)])
        numbers = number_of[np.where(classes.numbers == NONE, len(classes.names), classes.numbers)]
    there, numbers = np.unique(numbers, return_inverse=True)
    names = tuple(accounts)
    allowed = {name: largest_by_account(numbers, values, len(there)) for name, values in both.items()}
    used = dict(allowed)
    if z is not None:
        main = notion.main.name
        used[main] = largest_losses(z[source], z[target], numbers, allowed[main], notion)
    return tuple(names[number] for number in there.tolist()), allowed, used


def _of_product(
    space: ProductSpace, z: Floats | RemoteClaim | None, notion: Notion
) -> tuple[tuple[str, ...], Columns, Columns]:
    """The same without storing edges: each axis is a class."""
    along = np.array([_largest_along(space, at) if axis.length > 1 else 0.0 for at, axis in enumerate(space.axes)])
    if isinstance(z, RemoteClaim):
        losses = z.losses_along(along)
    else:
        losses = along if z is None else losses_along(space, z, along, notion)
    found: dict[str, tuple[float, float]] = {}
    for axis, allowed, used in zip(space.axes, along.tolist(), losses.tolist(), strict=True):
        name = account_name(axis.name)
        if axis.length > 1:
            before = found.get(name, (0.0, 0.0))
            found[name] = max(before[0], allowed), max(before[1], used)
    columns = np.array(list(found.values()))
    return tuple(found), {"epsilon": columns[:, 0]}, {"epsilon": columns[:, 1]}


def _largest_along(space: ProductSpace, at: int) -> float:
    """The largest ε along an axis, as written; where it depends on the situation, of situations that there are."""
    axis, lines = space.axes[at], space.lines(at)
    kinds = np.unique(lines.moves.kinds)
    if axis.states == 1:
        return float(axis.written[kinds].max())
    largest, seen = 0.0, 0
    for block in space.blocks_along(at, written=True):
        largest, seen = max(largest, float(block.parameters[0].max(initial=0.0))), seen + len(block.source)
    return largest if seen == lines.high * lines.low * len(lines.moves.kinds) else float(np.inf)


def largest_by_account(numbers: Any, values: Floats, count: int) -> Floats:
    """The largest value of each account, 0 where it has none.

    Args:
        numbers: the account of each value.
        values: the values.
        count: how many accounts there are.
    """
    found = np.zeros(count)
    np.maximum.at(found, numbers, values)
    return found
