"""verify: the public function of the verifier, for a mechanism or for any other values.

The proof itself is in `hetdp.certificate`, which shares no code with the engines. Where values come without links, this
module may ask an engine for them; links are a hint, and the certificate counts only those that it finds tight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from hetdp.certificate.certificate import EVERY_EDGE_ROUNDED, Certificate, values_of
from hetdp.certificate.certificate import verify as certify
from hetdp.certificate.rule import NOTHING_GIVEN
from hetdp.errors import InputError, NoExtensionError, UsageError
from hetdp.mechanism.extension import extend
from hetdp.mechanism.formatting import format_accuracy
from hetdp.mechanism.mechanism import LocalMechanism, Mechanism
from hetdp.problem.partial import PartialMechanism
from hetdp.problem.problem import Problem, require_edges
from hetdp.problem.space import Floats, Mask
from hetdp.problem.spelling import shorten_label
from hetdp.text import format_type, format_value

PINNED_HINT = f"{NOTHING_GIVEN}; pinned= lists them, such as pinned=problem.boundary"
BEST_ROUNDED = "the values are the best ones, but only up to rounding"
LACKING = 1e-9  # in z, relative: values that are this close to the best ones are the best ones up to rounding


@overload
def verify(mechanism: Mechanism, /, *, pinned: Iterable[Any] | None = None) -> Certificate: ...
@overload
def verify(problem: Any, values: Any, /, pinned: Iterable[Any] | None = None) -> Certificate: ...
def verify(mechanism: Any, values: Any = None, /, pinned: Iterable[Any] | None = None) -> Certificate:
    """Proves or refutes that a mechanism is private on every edge, and that it is optimal given its pins.

    It shares no code with the engines: only the numbers of the mechanism and the edges of the problem come in.

    Args:
        mechanism: a mechanism, which knows its problem. For values from elsewhere: their problem.
        values: with a problem only: a mechanism, on whatever problem it was made; or one value for each dataset, as
            `extend` takes them: a mapping label → p, an array, or a PartialMechanism. What is proved of p is proved of
            the z that p is rounded to, as `method` then says.
        pinned: for values: the labels whose values were given, so that the others can be shown optimal; if they
            are not, `shortfall` names the dataset that lacks most, and `polish` makes them so. Without it, values can
            be shown private, but not optimal. It goes with values, and with a mechanism from a file that says of no
            value that it was given. Values that are not private, perhaps only because a table rounds them, have
            private ones near them in ``check(problem, values).repair.pins``.

    Raises:
        UsageError: the mechanism was read without its problem.

    Paper: Definition 8 (every initial DP condition), Definition 6 (optimal) among mechanisms that agree on the pins.

    >>> import hetdp
    >>> graph = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)
    >>> problem = hetdp.Problem(graph, [1, 1, 2])
    >>> mechanism = hetdp.extend(problem, {1: 0.7, 2: 0.3})
    >>> hetdp.verify(mechanism).optimal
    True
    >>> hetdp.verify(problem, [0.8, 0.7, 0.3]).private, hetdp.verify(problem, [0.8, 0.7, 0.3], pinned=[1, 2]).optimal
    (True, False)
    """
    problem, claim = problem_and_values(mechanism, values, "verify checks every edge of the problem")
    if pinned is None:
        certificate = certify(problem, claim)
        return replace(certificate, shortfall=PINNED_HINT) if certificate.shortfall == NOTHING_GIVEN else certificate
    if isinstance(claim, Mechanism) and not (isinstance(claim, LocalMechanism) and says_no_pins(claim)):
        raise UsageError("pinned= together with a mechanism", "a mechanism knows which of its values were given")
    if isinstance(pinned, str) or not isinstance(pinned, Iterable):
        raise UsageError(f"pinned={format_value(pinned)}", "it lists the datasets whose values were given")
    if isinstance(pinned, Mapping):
        rule = "it lists labels; their values are those of the second argument"
        raise UsageError(f"pinned={format_value(pinned)}", rule, "pinned=list(…) of the same mapping")
    return _verify_values(problem, claim, list(pinned))


def says_no_pins(mechanism: LocalMechanism) -> bool:
    """True for a table from elsewhere that marks no value as given: there are neither pins nor links."""
    return not mechanism.pinned.any() and not (mechanism.links >= 0).any()


def problem_and_values(first: Any, values: Any, rule: str) -> tuple[Any, Any]:
    """The problem and the mechanism or values on it, from a mechanism alone or from both.

    Args:
        first: a mechanism, or a problem.
        values: None beside a mechanism.
        rule: why a mechanism needs its problem, for the message.

    Raises:
        UsageError: it is neither, or a mechanism that was read without its problem.
    """
    if isinstance(first, Mechanism):
        if values is not None:
            raise UsageError(
                "values together with a mechanism", "values go with their problem", "leave one of them out"
            )
        return (require_edges(first.problem, rule) if isinstance(first, LocalMechanism) else first.problem), first
    if values is None:
        is_problem = isinstance(first, Problem)
        what = "a problem without values" if is_problem else f"expected a Mechanism, got {format_type(first)}"
        raise UsageError(what, "the argument is a mechanism, or a problem and values")
    return first, values


def _verify_values(problem: Problem, values: Any, given: list[Any]) -> Certificate:
    """Judges values of which some were given."""
    z, pinned = values_of(problem, values), np.zeros(problem.graph.size, dtype=np.bool_)
    pinned[[problem.labels.index(label) for label in given]] = True
    exact = isinstance(values, Mechanism) or (
        isinstance(values, PartialMechanism) and values.p is None and values.error is None
    )
    certificate = verify_with_pins(problem, z, pinned)
    return certificate if exact else replace(certificate, method=EVERY_EDGE_ROUNDED)


def verify_with_pins(problem: Problem, z: Floats, pinned: Mask) -> Certificate:
    """Judges values from elsewhere; the best mechanism with the pinned ones gives links, and shows what is lacking.

    Args:
        problem: the problem.
        z: the values in graph order.
        pinned: the datasets whose values were given.
    """
    found = None
    try:
        found = extend(problem, PartialMechanism(z=np.where(pinned, z, np.nan)), verify=False)
    except (NoExtensionError, InputError):  # incompatible pins, or a boundary that is not pinned
        links = np.full(len(z), -1)
    else:
        links = np.where(pinned, -1, found.links)
    certificate = certify(problem, LocalMechanism(problem, z.copy(), pinned, links))
    if found is None or certificate.optimal or not certificate.private:
        return certificate
    return replace(certificate, shortfall=_shortfall(problem, z, found.coordinates))


def _shortfall(problem: Problem, z: Floats, best: Floats) -> str:
    """The dataset at which values fall furthest behind the best ones, in words."""
    with np.errstate(invalid="ignore"):
        lacking = np.nan_to_num(np.where(problem.answers == 1, best - z, z - best), nan=0.0)
    worst = int(np.argmax(lacking))
    if lacking[worst] <= LACKING * max(1.0, abs(z[worst])):
        return BEST_ROUNDED
    error = problem.notion.coordinate.error
    ours, possible = (format_accuracy(float(error(values[worst], problem.answers[worst]))) for values in (z, best))
    name = shorten_label(problem.labels.names[worst])
    return f"dataset {name} is answered right with probability {ours}, and {possible} is possible"
