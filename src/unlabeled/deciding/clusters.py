"""A cut between two clusters of scores, from the scores of the population alone.

Two cuts, and the middle between them. One parts the scores such that the means on both sides are farthest apart
(Otsu, 1979): it takes clusters to be equally wide, and of a large and a small one it cuts into the large. The other is
where a score is as probable in either of two Gaussians, fitted to the scores by expectation maximisation: they may
differ in width, and are led astray by clusters that are no Gaussians. The two err in different ways.

The outermost scores are drawn in before: log ratios of densities have long tails, and a few far out would be a cluster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from unlabeled.arrays import FloatArray

#: The share of the scores at either end that is drawn in to the next one.
TAIL = 0.05
_MOST_ROUNDS = 200
_TOLERANCE = 1e-4
#: A Gaussian is at least this wide, in units of the spread of all scores.
_NARROWEST = 1e-3


class Gaussian(NamedTuple):
    """One of two clusters."""

    share: float
    mean: float
    width: float

    def log_density(self, values: FloatArray | float) -> FloatArray:
        """Up to a constant."""
        return np.asarray(-np.log(self.width) - 0.5 * ((values - self.mean) / self.width) ** 2)


def cut_between(values: FloatArray, mass: FloatArray) -> float:
    """The middle between the two cuts, of different ascending values and the share of the scores that has each."""
    values = drawn_in(values, mass)
    farthest = farthest_means(values, mass)
    return (farthest + equal_densities(values, mass, start=farthest)) / 2


def drawn_in(values: FloatArray, mass: FloatArray) -> FloatArray:
    """Ascending values, the outermost moved to the quantiles of `TAIL` and of the rest; as they are if none is left."""
    total = np.cumsum(mass)
    low, high = (values[min(int(np.searchsorted(total, share)), len(values) - 1)] for share in (TAIL, 1 - TAIL))
    return np.clip(values, low, high) if low < high else values


def farthest_means(values: FloatArray, mass: FloatArray) -> float:
    """The cut for which n_below n_above (mean_above - mean_below)^2 is largest, halfway to the next value."""
    below = np.cumsum(mass)[:-1]
    moments = mass * (values - values[0])
    sum_below = np.cumsum(moments)[:-1]
    apart = (moments.sum() * below - sum_below) ** 2 / (below * (1 - below))
    best = int(np.argmax(np.where(np.diff(values) > 0, apart, -1.0)))
    return float((values[best] + values[best + 1]) / 2)


def equal_densities(values: FloatArray, mass: FloatArray, start: float) -> float:
    """Where two Gaussians that are fitted to the values have the same density; ``start`` where there is no such place.

    The densities of the clusters, and not their shares, are compared: that cut is best for balanced accuracy.
    """
    low, high = two_gaussians(values, mass, start)

    def difference(value: float) -> float:
        return float(high.log_density(value) - low.log_density(value))

    if not (low.mean < high.mean and difference(low.mean) < 0 < difference(high.mean)):
        return start
    return float(brentq(difference, low.mean, high.mean))


def two_gaussians(values: FloatArray, mass: FloatArray, start: float) -> tuple[Gaussian, Gaussian]:
    """Two Gaussians by expectation maximisation, from the values below and above a cut."""
    narrowest = _NARROWEST * float(np.sqrt(mass @ (values - mass @ values) ** 2))
    of_high = np.where(values > start, 0.95, 0.05)
    for _ in range(_MOST_ROUNDS):
        low, high = (_gaussian(values, mass * share, narrowest) for share in (1 - of_high, of_high))
        odds = np.log(high.share / low.share) + high.log_density(values) - low.log_density(values)
        before, of_high = of_high, np.clip(1 / (1 + np.exp(-np.clip(odds, -50, 50))), 1e-9, 1 - 1e-9)
        if np.abs(of_high - before).max() < _TOLERANCE:
            break
    return low, high


def _gaussian(values: FloatArray, weights: FloatArray, narrowest: float) -> Gaussian:
    share = float(weights.sum())
    mean = float(weights @ values) / share
    return Gaussian(share, mean, float(np.sqrt(weights @ (values - mean) ** 2 / share)) + narrowest)
