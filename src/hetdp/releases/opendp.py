"""to_opendp: turns a mechanism into a measurement of OpenDP, which OpenDP can compose with others.

The input metric counts edges of the problem's graph, and the privacy map bounds what the mechanism reveals between two
datasets at a given distance. It is computed from the values of a copy that was verified on every edge, and rounded up:
it never claims less than the true loss. docs/how-to/opendp.md says what is not accounted for.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hetdp.certificate.losses import SCALE, has_loss, largest_losses
from hetdp.errors import UsageError
from hetdp.interrupts import delay_interrupts
from hetdp.mechanism.mechanism import LocalMechanism, RemoteMechanism
from hetdp.mechanism.scaling import edges_as_written, unconstrained_directions
from hetdp.problem.labels import Labels
from hetdp.problem.problem import Problem, require_edges
from hetdp.problem.product import ProductSpace, require_few_edges
from hetdp.problem.space import Floats, Indices
from hetdp.releases.charges import account_name
from hetdp.releases.draw import draw
from hetdp.releases.proof import prove
from hetdp.text import did_you_mean, first_line, format_type, format_value
from hetdp.theory.coordinate import LAPLACE
from hetdp.theory.gaussian import GAUSSIAN
from hetdp.theory.pure import PURE

FEATURES_HINT = 'opendp.prelude.enable_features("contrib", "honest-but-curious")'
UP = Context(prec=150, rounding=ROUND_CEILING)
MARGIN = Decimal("1e-50")  # relative; the quotient below is this precise, since e^ε − 1 keeps 90 digits or more
TINY = 1e-60  # for smaller ε it would not
LARGEST_POWER = 700.0  # e^700 is still a float, and times any δ that matters above 1


def to_opendp(mechanism: Any, classes: Iterable[Any] | None = None) -> Any:
    """Turns a mechanism into a measurement of OpenDP, which needs the extra `opendp`.

    The measurement takes the label of a dataset and draws 1 or 2 with exactly the mechanism's probability. Its distance
    d_in is a whole number of edges of the graph, including edges without a constraint. The privacy map returns the
    largest loss between two datasets that are d_in edges apart: ε (max divergence) for the notions pure, directed,
    renyi and bounded-range; ρ (zero-concentrated divergence) for gaussian; ε and δ for approximate.

    No ledger is charged, and every call draws a new answer: OpenDP counts what is spent.

    Args:
        mechanism: a Mechanism with its problem. It is copied, and the copy is verified on every edge.
        classes: the classes of edges that count as steps, such as one person; by default all edges.

    Raises:
        UsageError: OpenDP is not installed or its features are not enabled, there is no such class, or the values are
            not in this process.
        VerificationError: the mechanism is not private.

    >>> import hetdp, opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> problem = hetdp.Problem(hetdp.spaces.path(4, [1.0, 0.5, 1.0]), [2, 2, 1, 1])
    >>> measurement = hetdp.to_opendp(hetdp.design(problem))
    >>> measurement(3) in (1, 2)
    True
    >>> measurement.map(1), measurement.check(2, 1.5), measurement.check(2, 1.4)
    (1.0, True, False)
    """
    if isinstance(mechanism, RemoteMechanism):
        raise UsageError(f"{mechanism.noun} as a measurement", "all of its values must be in this process")
    if not isinstance(mechanism, LocalMechanism):
        raise UsageError(f"expected a Mechanism, got {format_type(mechanism)}", "to_opendp makes a measurement of one")
    problem = require_edges(mechanism.problem, "the privacy map counts its edges")
    if isinstance(problem.graph, ProductSpace):
        require_few_edges(problem.graph)
    proved = prove(mechanism)
    assert isinstance(proved.mechanism, LocalMechanism)
    return _measurement(StepLosses(proved.problem, proved.mechanism, classes))


class StepLosses:
    """The largest loss of a mechanism between two datasets that are at most a number of edges apart.

    Args:
        problem: a problem.
        mechanism: a mechanism that was proved private on it.
        classes: the classes of edges that count; None for all edges.
    """

    def __init__(self, problem: Problem, mechanism: LocalMechanism, classes: Iterable[Any] | None = None) -> None:
        self.problem, self.mechanism, self.notion = problem, mechanism, problem.notion
        source, target, columns = edges_as_written(problem.graph)
        named = problem.graph.edge_classes()
        self.classes = None if classes is None else _require_classes(named, classes)
        counted: Any = slice(None)
        if self.classes is not None:
            counted = np.fromiter((name in self.classes for name in named or ()), np.bool_, len(source))
        self.source: Indices = source[counted]
        self.target: Indices = target[counted]
        self.columns: dict[str, Floats] = {name: values[counted] for name, values in columns.items()}
        self._reached: dict[int, tuple[Floats, Floats]] = {0: (mechanism.coordinates, mechanism.coordinates)}
        self._known: dict[int, Any] = {}

    @cached_property
    def name(self) -> str:
        """Identifies the datasets and the edges that count, so that OpenDP refuses to mix them with others."""
        found = hashlib.sha256(self.problem.identity.encode())
        pairs = np.stack([np.minimum(self.source, self.target), np.maximum(self.source, self.target)]).astype("<i8")
        found.update(np.unique(pairs, axis=1).tobytes())
        return found.hexdigest()[:16]

    def at(self, steps: Any) -> Any:
        """The largest loss within some edges: ε, ρ, or the pair ε and δ; never less than the true one.

        Raises:
            UsageError: steps is not a whole number ≥ 0.
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
            raise UsageError(f"d_in={format_value(steps)}", "a distance is a whole number of edges")
        if int(steps) not in self._known:
            self._known[int(steps)] = self._find(int(steps))
        return self._known[int(steps)]

    def _find(self, steps: int) -> Any:
        if not has_loss(self.notion):
            return _group_privacy(*self._largest_parameters(), steps)
        loss = self._largest(steps)
        if self.notion.name == GAUSSIAN.name:
            return _float_above(Fraction(loss) ** 2 / 2) if loss < math.inf else math.inf
        return loss

    def _largest_parameters(self) -> tuple[float, float]:
        """The largest ε and δ of all edges that count, as they were verified; (∞, 1) if an edge has no constraint."""
        free = any(mask.any() for mask in unconstrained_directions(self.columns)) if len(self.source) else False
        if free:
            return math.inf, 1.0
        most = {name: float(values.max(initial=0.0)) for name, values in self.columns.items()}
        epsilon = max(value for name, value in most.items() if name.startswith("epsilon"))
        return epsilon, max((value for name, value in most.items() if name.startswith("delta")), default=0.0)

    def _largest(self, steps: int) -> float:
        """The largest loss between two datasets so close, at most what their edges promise; for one parameter."""
        (low, high), furthest = self._extremes(steps)
        z = self.mechanism.coordinates
        rule = PURE if self.notion.coordinate is LAPLACE else self.notion
        ends = np.concatenate([z, z]), np.concatenate([low, high])
        unknown = np.array([math.inf])
        found = float(largest_losses(*ends, np.zeros(2 * len(z), dtype=np.int64), unknown, rule)[0])
        found = _decimal_above(found)
        if rule.name != self.notion.name and not self.notion.bounds_ratios:
            return found
        promised = max((float(values.max(initial=0.0)) for values in self.columns.values()), default=0.0)
        return min(found, _float_above(furthest * Fraction(promised)) if promised < math.inf else math.inf)

    def _extremes(self, steps: int) -> tuple[tuple[Floats, Floats], int]:
        """For each dataset the least and the largest z at most so many edges away, and how many edges reach them.

        Several threads may ask at once. Each entry follows from the one before it, whoever computes it.
        """
        for step in range(steps):
            before = self._reached[step]
            if step + 1 not in self._reached:
                self._reached.setdefault(step + 1, self._extremes_one_edge_further(before))
            if self._reached[step + 1] is before:
                return before, step
        return self._reached[steps], steps

    def _extremes_one_edge_further(self, before: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The extremes one more edge away; the same object if no other values are reached."""
        low, high = (values.copy() for values in before)
        for one, other in ((self.source, self.target), (self.target, self.source)):
            np.minimum.at(low, one, before[0][other])
            np.maximum.at(high, one, before[1][other])
        return before if np.array_equal(low, before[0]) and np.array_equal(high, before[1]) else (low, high)


def _require_classes(named: Any, classes: Any) -> frozenset[Any]:
    """The classes to count, all of which exist."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise UsageError(f"classes={format_value(classes)}", "it lists classes of edges, such as ['Ann']")
    known, wanted = dict.fromkeys(named or ()), frozenset(classes)
    for name in wanted:
        if name not in known:
            rule = "classes= lists classes of edges" if known else "no edge has a class"
            raise UsageError(f"unknown class {format_value(name)}", rule, did_you_mean(name, known))
    return wanted


def _group_privacy(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """ε and δ between datasets some edges apart, each of which keeps (ε, δ): kε, and δ·(1 + e^ε + … + e^((k−1)ε)).

    >>> _group_privacy(0.5, 1e-6, 1), _group_privacy(0.0, 0.25, 3), _group_privacy(1.0, 0.5, 2)
    ((0.5, 1e-06), (0.0, 0.75), (2.0, 1.0))
    """
    if steps == 0:
        return 0.0, 0.0
    if math.isinf(epsilon):
        return math.inf, 1.0
    total = _float_above(steps * Fraction(epsilon))
    if delta == 0.0 or steps == 1:
        return total, delta
    if total > LARGEST_POWER:
        return total, 1.0
    if epsilon == 0.0:
        return total, min(1.0, _float_above(Fraction(delta) * steps))
    with localcontext(UP):  # the caller's context may be less precise, or round down
        largest = (Decimal(epsilon) * steps).exp()
        terms = steps * largest if epsilon < TINY else (largest - 1) / (Decimal(epsilon).exp() - 1)
        whole = Decimal(delta) * terms * (1 + MARGIN)
    return total, min(1.0, _float_above(Fraction(whole)))


def _decimal_above(loss: float) -> float:
    """A float that is not below the decimal that a loss was rounded up to; the float of the loss is its nearest one.

    >>> _decimal_above(1.5), _decimal_above(0.3) > 0.3
    (1.5, True)
    """
    if math.isinf(loss):
        return loss
    return max(loss, _float_above(Fraction(round(Fraction(loss) * SCALE), SCALE)))


def _float_above(value: Fraction) -> float:
    """The least float that is not below a number.

    >>> _float_above(Fraction(1, 10)) >= Fraction(1, 10), _float_above(Fraction(1, 2))
    (True, 0.5)
    """
    try:
        found = float(value)
    except OverflowError:
        return math.inf
    return found if found >= value else math.nextafter(found, math.inf)


# OpenDP's objects ----------------------------------------------------------------------------------------------------


def _measurement(losses: StepLosses) -> Any:
    """The measurement; the library is loaded here."""
    try:
        with delay_interrupts():
            import opendp.prelude as library
            from opendp.mod import OpenDPException
    except ModuleNotFoundError:
        hint = "pip install '.[opendp]', in the folder of hetdp's sources"
        raise UsageError("OpenDP is not installed", "to_opendp needs it", hint) from None
    mechanism, labels, coordinate = losses.mechanism, losses.problem.labels, losses.notion.coordinate.name

    def is_member(value: Any) -> bool:
        return _number_of(labels, value) >= 0

    def answer(value: Any) -> int:
        number = _number_of(labels, value)
        if number < 0:
            raise UsageError("the argument is no dataset of the problem", "it is the label of one")  # may be private
        return 1 if draw(coordinate, mechanism.coordinate(number)) else 2

    counted = "" if losses.classes is None else f" of {', '.join(sorted(map(account_name, losses.classes)))}"
    try:
        measurement = library.m.make_user_measurement(
            library.user_domain(f"datasets of the hetdp problem {losses.problem.identity}", is_member),
            library.user_distance(f"number of edges{counted} between datasets, {losses.name}"),
            _measure(library, losses.notion),
            answer,
            losses.at,
            TO="i32",
        )
    except OpenDPException as refusal:  # it refuses features that were not enabled
        rule = "the functions of a measurement are written in Python, where OpenDP cannot check them"
        reason = first_line(ValueError(str(refusal).strip())).partition(". ")[0]
        raise UsageError(f"OpenDP refuses: {reason}", rule, FEATURES_HINT) from None
    return measurement


def _measure(library: Any, notion: Any) -> Any:
    """The measure in which the loss of a notion is stated."""
    if notion.name == GAUSSIAN.name:
        return library.zero_concentrated_divergence()
    return library.max_divergence() if has_loss(notion) else library.fixed_smoothed_max_divergence()


def _number_of(labels: Labels, value: Any) -> int:
    """The number of a dataset; −1 if there is no such dataset."""
    try:
        return labels.index(value)
    except (KeyError, TypeError):
        return -1
