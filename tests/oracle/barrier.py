"""The best average under a curved bound by another method: Newton steps inside a logarithmic barrier, in p.

Every point on the way is private, so none has a mean error below the least one; and the last one is close to it.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

import hetdp

NORMAL = NormalDist()
SHARPEST = 1e10  # the last weight of the cost; the mean error is then within rows / SHARPEST of the least


def mean_error_inside(problem: hetdp.Problem) -> float:
    """The mean error of a private mechanism that is nearly the best; every parameter is above 0, and none is given."""
    weights = np.asarray(problem.weights, dtype=np.float64)
    weights = weights / weights.sum()
    cost = np.where(problem.answers == 1, -weights, weights)
    blocks = list(problem.graph.edge_blocks())
    u, v = (np.concatenate([block[side] for block in blocks]) for side in (0, 1))
    shift = np.concatenate([block.parameters[0] for block in blocks])
    curve = {"gaussian": _gaussian, "bounded-range": _bounded_range}[problem.notion.name]
    p, sharp = np.full(len(cost), 0.5), 1.0
    while sharp <= SHARPEST:
        for _ in range(60):
            value, slope, bend = curve(p[u], shift)
            room = value - p[v]
            gradient = sharp * cost - 1.0 / p + 1.0 / (1.0 - p)
            np.add.at(gradient, u, -slope / room)
            np.add.at(gradient, v, 1.0 / room)
            hessian = np.diag(p**-2.0 + (1.0 - p) ** -2.0)
            np.add.at(hessian, (u, u), (slope / room) ** 2 - bend / room)
            np.add.at(hessian, (v, v), room**-2.0)
            np.add.at(hessian, (u, v), -slope / room**2)
            np.add.at(hessian, (v, u), -slope / room**2)
            step = np.linalg.solve(hessian, -gradient)
            decrease = float(-gradient @ step)
            length = 1.0 / (1.0 + math.sqrt(max(decrease, 0.0)))
            while not _inside(p + length * step, u, v, shift, curve):
                length *= 0.5
            p = p + length * step
            if decrease < 1e-8:
                break
        sharp *= 10.0
    return float(cost @ p + weights[problem.answers == 1].sum())


def _inside(p, u, v, shift, curve) -> bool:
    return bool(((p > 0.0) & (p < 1.0)).all() and (curve(p[u], shift)[0] > p[v]).all())


def _gaussian(p, mu):
    z = np.array([NORMAL.inv_cdf(x) for x in p.tolist()])
    value = np.array([NORMAL.cdf(x) for x in (z + mu).tolist()])
    slope = np.exp(-mu * (z + 0.5 * mu))
    return value, slope, -mu * slope * math.sqrt(2.0 * math.pi) * np.exp(0.5 * z * z)


def _bounded_range(p, epsilon):
    w = np.exp(epsilon)
    rest = 1.0 + (w - 1.0) * p
    return w * p / rest, w / rest**2, -2.0 * w * (w - 1.0) / rest**3
