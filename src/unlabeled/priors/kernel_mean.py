"""KM1 and KM2 (Ramaswamy, Scott and Tewari, 2016): the prior by kernel mean embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from unlabeled.kernels import FloatArray
from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.scores import median_sq_distance, standardised
from unlabeled.samples import PUSample

VARIANTS = ("km1", "km2")
#: Bandwidths tried, in units of the median distance.
RELATIVE_BANDWIDTHS = (0.25, 0.5, 1.0, 2.0)
#: Largest lambda considered: the largest share is 1 - 1 / it.
MAX_LAMBDA = 40.0
N_BISECTIONS, MAX_ITERATIONS = 10, 100


class KernelMeanPrior(PriorEstimator):
    """Prior from the distance of extrapolated kernel means to the convex hull of the data (Ramaswamy et al., 2016).

    Let u and p be the kernel means of the unlabeled rows and of the positives. The point ``l u + (1 - l) p`` leaves u
    in the direction away from p; up to ``l = 1 / (1 - share)`` it is still the kernel mean of a distribution (at that
    value, of the negatives), so its distance d(l) to the convex hull of the embedded rows is small, and grows
    afterwards. The estimate is the l at which the slope of d exceeds a threshold nu, which both variants derive from n,
    the size of the smaller sample:

    - ``"km1"``: nu = 1 / sqrt(n).
    - ``"km2"``: nu = 1 / sqrt(n) divided by the square root of the distance of u and p, so that the slope is measured
      in units that know how far apart the two samples are.

    Parameters
    ----------
    variant : {"km1", "km2"}, default="km2"
    bandwidth : float or None, default=None
        Of the Gaussian kernel, in units of the standardised features. None: of a quarter, a half, one and two times the
        median distance, the one at which u and p are farthest apart.
    max_points : int, default=2400
        At most so many rows, chosen at random from both samples in proportion, are used: memory grows with the square
        (46 MB at 2,400) and larger samples add little.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    """

    def __init__(
        self,
        variant: str = "km2",
        *,
        bandwidth: float | None = None,
        max_points: int = 2400,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.variant = variant
        self.bandwidth = bandwidth
        self.max_points = max_points
        self.scenario = scenario
        self.random_state = random_state

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant={self.variant!r} is not known; use one of {list(VARIANTS)}.")
        sample = _thinned(standardised(pu), self.max_points, rng)
        hull = self._hull(sample, rng)
        n = min(sample.positive.total, sample.unlabeled.total)
        nu = 1 / np.sqrt(n)
        if self.variant == "km2":
            nu /= np.sqrt(max(hull.gap, 1e-12))
        return 1 - 1 / hull.lambda_of_slope(nu)

    def _hull(self, sample: PUSample, rng: np.random.RandomState) -> Hull:
        rows = np.concatenate([sample.unlabeled.rows, sample.positive.rows])
        sq_dist = cdist(rows, rows, "sqeuclidean")
        weights = [s.weights / s.total for s in (sample.unlabeled, sample.positive)]
        u = np.concatenate([weights[0], np.zeros(len(weights[1]))])
        p = np.concatenate([np.zeros(len(weights[0])), weights[1]])
        if self.bandwidth is not None:
            bandwidths = [self.bandwidth]
        else:
            median = np.sqrt(median_sq_distance(sample.unlabeled, rng))
            bandwidths = [factor * median for factor in RELATIVE_BANDWIDTHS]
        hulls = (Hull.of(np.exp(-sq_dist / (2 * h**2)), u, p) for h in bandwidths)
        return max(hulls, key=lambda hull: hull.gap)


def _thinned(pu: PUSample, max_points: int, rng: np.random.RandomState) -> PUSample:
    share = min(1.0, max_points / (len(pu.positive) + len(pu.unlabeled)))
    rows = [
        np.sort(rng.permutation(len(sample))[: max(2, int(share * len(sample)))])
        for sample in (pu.positive, pu.unlabeled)
    ]
    return pu.take(*rows)


@dataclass
class Hull:
    """The convex hull of embedded rows, and the line through the kernel means u and p (weights of the rows)."""

    gram: FloatArray
    u: FloatArray
    p: FloatArray
    gap: float  # distance of the two kernel means
    step: float  # one over the largest eigenvalue of the Gram matrix

    @classmethod
    def of(cls, gram: FloatArray, u: FloatArray, p: FloatArray) -> Hull:
        """Prepare the hull of a Gram matrix."""
        difference = u - p
        gap = float(np.sqrt(max(0.0, float(difference @ gram @ difference))))
        vector = np.ones(len(gram)) / np.sqrt(len(gram))
        for _ in range(20):  # power iteration; the Gram matrix is positive, so this converges fast
            vector = gram @ vector
            vector /= np.linalg.norm(vector)
        return cls(gram, u, p, gap, float(1 / (1.05 * (vector @ gram @ vector))))

    def lambda_of_slope(self, nu: float) -> float:
        """The l at which the slope of the distance d(l), which never falls, reaches nu; by bisection on the share."""
        low, high = 0.0, 1 - 1 / MAX_LAMBDA
        nearest = self.u.copy()
        for _ in range(N_BISECTIONS):
            middle = (low + high) / 2
            slope, nearest = self._slope(1 / (1 - middle), nearest)
            low, high = (low, middle) if slope > nu else (middle, high)
        return 1 / (1 - (low + high) / 2)

    def _slope(self, ratio: float, start: FloatArray) -> tuple[float, FloatArray]:
        """Slope of the distance to the hull at l = ratio, and the nearest point of the hull (envelope theorem)."""
        target = ratio * self.u + (1 - ratio) * self.p
        nearest = self._project(target, start)
        residual = target - nearest
        image = self.gram @ residual
        distance = np.sqrt(max(float(residual @ image), 1e-30))
        return float(image @ (self.u - self.p) / distance), nearest

    def _project(self, target: FloatArray, start: FloatArray) -> FloatArray:
        """Nearest point of the hull: projected gradient on the simplex, accelerated, restarted when it overshoots."""
        point, ahead, momentum = start, start, 1.0
        image_of_target = self.gram @ target
        for _ in range(MAX_ITERATIONS):
            gradient = self.gram @ ahead - image_of_target
            new = project_on_simplex(ahead - self.step * gradient)
            change = new - point
            if gradient @ change > 0:
                ahead, momentum = point, 1.0
                continue
            if np.abs(change).sum() < 1e-6:
                return new
            next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / next_momentum * change
            point, momentum = new, next_momentum
        return point


def project_on_simplex(vector: FloatArray) -> FloatArray:
    """Nearest vector of non-negative numbers that sum to 1."""
    ordered = np.sort(vector)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(vector) + 1)
    return np.maximum(vector - excess[np.flatnonzero(ordered > excess)[-1]], 0)
