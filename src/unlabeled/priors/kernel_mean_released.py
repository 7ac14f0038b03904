"""KM1 and KM2 as the program computes them that their authors released (Kernel_MPE); see `KernelMeanPrior`.

Written from what that program does, not from its text: raw features; a Gaussian kernel whose bandwidth, of five around
the median of all distances, takes the kernel means farthest apart, pairs of a row with itself counted; slopes as
differences over 0.02; l between 1 and 8 by bisection to 0.04.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from unlabeled.arrays import FloatArray
from unlabeled.samples import PUSample

#: Bandwidths tried, in units of the median distance, in the order in which they are tried.
RELATIVE_BANDWIDTHS = np.logspace(-1, 1, 5)
LARGEST_LAMBDA, PRECISION = 8.0, 0.04
FIRST_LAMBDA, LAST_SLOPE_SHARE, LARGEST_RELATIVE_SLOPE = 1.05, 0.2, 0.9
MAX_ITERATIONS, TOLERANCE = 600, 1e-9


def share_as_released(pu: PUSample, variant: str, bandwidth: float | None = None) -> tuple[float, float]:
    """The bandwidth in use, and the share of positives among the unlabeled rows."""
    if pu.positive.log_weights is not None or pu.unlabeled.log_weights is not None:
        raise ValueError("KernelMeanPrior(released=True) takes no weights: repeat the rows, or use released=False.")
    hull, width = ReleasedHull.of(pu.unlabeled.rows, pu.positive.rows, bandwidth)
    return width, 1 - 1 / hull.bisect(hull.threshold(variant, min(len(pu.positive), len(pu.unlabeled))))


@dataclass(frozen=True)
class ReleasedHull:
    """The convex hull of embedded rows, unlabeled first, and the weights u and p of the two kernel means."""

    gram: FloatArray
    u: FloatArray
    p: FloatArray

    @classmethod
    def of(cls, mixture: FloatArray, component: FloatArray, bandwidth: float | None) -> tuple[ReleasedHull, float]:
        """The hull at the bandwidth that takes the kernel means farthest apart; of equal ones the narrowest."""
        rows, n = np.concatenate([mixture, component]), len(mixture)
        sq_dist = cdist(rows, rows, "sqeuclidean")
        u, p = (np.arange(len(rows)) < n) / n, (np.arange(len(rows)) >= n) / len(component)
        median = float(np.sqrt(np.median(sq_dist)))  # the zeros of the diagonal are counted
        widths = RELATIVE_BANDWIDTHS * (median or 1.0) if bandwidth is None else np.array([bandwidth])
        hulls = [cls(np.exp(-sq_dist / (2 * width**2)), u, p) for width in widths]
        best = int(np.argmax([hull.gap for hull in hulls]))
        return hulls[best], float(widths[best])

    @property
    def gap(self) -> float:
        """Distance of the kernel means."""
        difference = self.u - self.p
        return float(np.sqrt(max(0.0, float(difference @ self.gram @ difference))))

    def threshold(self, variant: str, n: int) -> float:
        """The slope of d that is looked for."""
        first = (self.distance(FIRST_LAMBDA) - self.distance(1.0)) / (FIRST_LAMBDA - 1)
        km2 = (1 - LAST_SLOPE_SHARE) * first + LAST_SLOPE_SHARE * self.gap
        km1 = 1 / np.sqrt(n)
        return float(km2 if variant == "km2" or km1 > LARGEST_RELATIVE_SLOPE * self.gap else km1)

    def bisect(self, nu: float) -> float:
        """The l at which the slope of d over the next 0.02 exceeds nu."""
        low, high, step = 1.0, LARGEST_LAMBDA, PRECISION / 2
        while high - low > PRECISION:
            middle = (low + high) / 2
            slope = (self.distance(middle + step) - self.distance(middle)) / step
            low, high = (low, middle) if slope > nu else (middle, high)
        return (low + high) / 2

    def distance(self, ratio: float) -> float:
        """Distance d of the point at l = ratio to the hull."""
        target = ratio * self.u + (1 - ratio) * self.p
        residual = target - self._project(target)
        return float(np.sqrt(max(0.0, float(residual @ self.gram @ residual))))

    def _project(self, target: FloatArray) -> FloatArray:
        """Nearest point of the hull: projected gradient on the simplex, accelerated, restarted when it overshoots."""
        size = 1 / float(self.gram.sum(axis=1).max())  # a bound of the largest eigenvalue, since kernels are positive
        point = ahead = project_on_simplex(target)
        momentum = 1.0
        for _ in range(MAX_ITERATIONS):
            gradient = self.gram @ (ahead - target)
            new = project_on_simplex(ahead - size * gradient)
            change = new - point
            if gradient @ change > 0 and momentum > 1:
                ahead, momentum = point, 1.0
                continue
            next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / next_momentum * change
            point, momentum = new, next_momentum
            if np.abs(change).sum() < TOLERANCE:
                break
        return point


def project_on_simplex(vector: FloatArray) -> FloatArray:
    """Nearest vector of non-negative numbers that sum to 1."""
    ordered = np.sort(vector)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(vector) + 1)
    return np.maximum(vector - excess[np.flatnonzero(ordered > excess)[-1]], 0)
