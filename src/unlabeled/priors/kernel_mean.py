"""KM1 and KM2 (Ramaswamy, Scott and Tewari, 2016): the prior by kernel mean embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ssymv
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from unlabeled.arrays import FloatArray
from unlabeled.priors.kernel_mean_released import project_on_simplex, share_as_released
from unlabeled.priors.row_based import RowPrior
from unlabeled.samples import PUSample
from unlabeled.scoring.scaling import median_sq_distance, standardised

VARIANTS = ("km1", "km2")
#: Bandwidths tried, in units of the median distance.
RELATIVE_BANDWIDTHS = tuple(10.0**power for power in (-1, -0.5, 0, 0.5, 1))
#: The first slope of d is that of its chord from 1 to the first number; the second is the weight of the last slope.
FIRST_LAMBDA, LAST_SLOPE_SHARE = 1.05, 0.2
#: A km1 threshold above this share of the largest slope would never be reached.
LARGEST_RELATIVE_SLOPE = 0.9
#: Largest lambda considered: the largest share is 1 - 1 / lambda.
MAX_LAMBDA = 40.0
#: Larger squared distances, and sharper kernels, would leave the range of single precision.
FARTHEST = 1e18
N_BISECTIONS, MAX_ITERATIONS = 10, 150


class KernelMeanPrior(RowPrior):
    """Prior from the distance of extrapolated kernel means to the convex hull of the data (Ramaswamy et al., 2016).

    Let u and p be the kernel means of the unlabeled rows and of the positives. The point ``l u + (1 - l) p`` leaves u
    in the direction away from p; up to ``l = 1 / (1 - share)`` it is still the kernel mean of a distribution (at that
    value, of the negatives), so its distance d(l) to the convex hull of the embedded rows is small, and grows
    afterwards, in the end with slope ``|u - p|``. The estimate is the l at which the slope of d exceeds a threshold nu:

    - ``"km1"``: ``nu = 1 / sqrt(n)``, n the size of the smaller sample; where this is above ``0.9 |u - p|``, as km2.
    - ``"km2"``: ``nu = 0.8 * first + 0.2 * |u - p|``, between the first slope, ``d(1.05) / 0.05``, and the last.

    Parameters
    ----------
    variant : {"km1", "km2"}, default="km2"
    bandwidth : float or None, default=None
        Of the Gaussian kernel, in units of the standardised features. None: of 0.1, 0.32, 1, 3.2 and 10 times the
        median distance of unlabeled rows, the one at which u and p are farthest apart.
    released : bool, default=False
        Estimate as the program does that the authors released; see the notes. It takes no weights. That program uses
        all rows: give ``max_points`` no less than their number.
    max_points : int, default=2400
        The most rows that are used, chosen at random: half of them from each sample, or all of a smaller one. Memory
        grows with the square of this number (about 70 MB at 2,400), not with the size of the table.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    random_state : int, RandomState or None, default=0
        For the choice of rows, and the interval.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    bandwidth_ : float
        The bandwidth in use.

    Notes
    -----
    Both thresholds, the grid of bandwidths and how one is chosen are those of the program that the authors released
    (Kernel_MPE); the section on experiments of their paper could not be checked against it. Five things differ, and
    ``released=True`` takes all five back. Features are standardised. The median distance is that of the unlabeled
    rows, not of all. When a bandwidth is chosen, ``|u - p|`` leaves out the kernel of each row with itself, which would
    favour the narrowest one whether or not the samples differ. Slopes are derivatives, not differences over 0.02. l
    goes up to 40 instead of 8, so that shares up to 0.975 are in reach. As released, l is known to 0.04 after a
    bisection, so that shares below 0.01 do not come out, and the largest is 0.87.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.priors import KernelMeanPrior
    >>> data = make_gaussians(100, 400, prior=0.5, random_state=0)
    >>> ours, released = (KernelMeanPrior("km1", released=as_released) for as_released in (False, True))
    >>> print(round(ours.fit(data.X, data.y).prior_, 1), round(released.fit(data.X, data.y).prior_, 1))
    0.5 0.5
    """

    def __init__(
        self,
        variant: str = "km2",
        *,
        bandwidth: float | None = None,
        released: bool = False,
        max_points: int = 2400,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = 0,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.variant = variant
        self.bandwidth = bandwidth
        self.released = released
        self.max_points = max_points
        self.scenario = scenario
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    def _rows_in_use(self, pu: PUSample, rng: np.random.RandomState) -> PUSample:
        return thinned(pu, self.max_points, rng)

    def _share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        self._check_parameters()
        pu = pu.case_control().mapped(lambda rows: rows.astype(np.float64))
        if self.released:
            with threadpool_limits(1, user_api="blas"):
                self.bandwidth_, share = share_as_released(pu, self.variant, self.bandwidth)
            return share
        sample = standardised(pu).apply_to_samples(pu)
        if self.bandwidth is None:
            grid = np.sqrt(median_sq_distance(sample.unlabeled, rng)) * np.array(RELATIVE_BANDWIDTHS)
        else:
            grid = np.array([self.bandwidth], dtype=np.float64)
        n = min(pu.positive.n_effective, pu.unlabeled.n_effective)
        with threadpool_limits(1, user_api="blas"):  # products too short to be shared by threads
            self.bandwidth_, hull = widest_gap(sample, grid)
            return 1 - 1 / hull.lambda_of_slope(self._threshold(hull, n))

    def _threshold(self, hull: Hull, n: float) -> float:
        if self.variant == "km1" and 1 / np.sqrt(n) <= LARGEST_RELATIVE_SLOPE * hull.gap:
            return float(1 / np.sqrt(n))
        first = hull.distance(FIRST_LAMBDA) / (FIRST_LAMBDA - 1)
        return (1 - LAST_SLOPE_SHARE) * first + LAST_SLOPE_SHARE * hull.gap

    def _check_parameters(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant={self.variant!r} is not known; use one of {list(VARIANTS)}.")
        if self.released not in (True, False):
            raise ValueError(f"released must be True or False; got {self.released!r}.")
        width: object = self.bandwidth
        if not (width is None or (isinstance(width, Real) and 0 < float(width) < np.inf)):
            raise ValueError(f"bandwidth must be a finite number above 0, or None to have it chosen; got {width!r}.")


def thinned(pu: PUSample, max_points: int, rng: np.random.RandomState) -> PUSample:
    """At most ``max_points`` rows, at random: half of them from each sample, or all of a sample that has fewer.

    The estimate is as noisy as the kernel mean of the smaller sample, so that one is not thinned to make room for more
    of the larger.
    """
    if not (isinstance(max_points, Integral) and max_points >= 4):
        raise ValueError(f"max_points must be a whole number of 4 or more; got {max_points!r}.")
    n_positive, n_unlabeled = len(pu.positive), len(pu.unlabeled)
    kept_positive = min(n_positive, max(max_points // 2, max_points - n_unlabeled))
    kept_unlabeled = min(n_unlabeled, max_points - kept_positive)
    rows = [
        np.sort(rng.permutation(n_rows)[:n_kept])
        for n_rows, n_kept in ((n_positive, kept_positive), (n_unlabeled, kept_unlabeled))
    ]
    return pu.take(*rows)


def widest_gap(pu: PUSample, bandwidths: FloatArray) -> tuple[float, Hull]:
    """The bandwidth at which the kernel means are farthest apart, and the hull there."""
    rows = np.concatenate([pu.unlabeled.rows, pu.positive.rows])
    sq_dist = np.minimum(cdist(rows, rows, "sqeuclidean"), FARTHEST).astype(np.float32)
    u, p = (sample.weights / sample.total for sample in (pu.unlabeled, pu.positive))
    u, p = np.concatenate([u, np.zeros(len(p))]), np.concatenate([np.zeros(len(u)), p])
    best = max(bandwidths, key=lambda h: _squared_gap_of_pairs(Gram.of(sq_dist, h), u, p, pu))
    return float(best), Hull.of(Gram.of(sq_dist, best), u, p)


def _squared_gap_of_pairs(gram: Gram, u: FloatArray, p: FloatArray, pu: PUSample) -> float:
    """Squared distance of the kernel means over pairs of different observations: unbiased, so it may be below 0."""
    images = gram @ u, gram @ p
    within = [
        (n * (mean @ image) - 1) / (n - 1)
        for mean, image, n in zip(
            (u, p), images, (max(2.0, s.n_effective) for s in (pu.unlabeled, pu.positive)), strict=True
        )
    ]
    return float(sum(within) - 2 * (p @ images[0]))


@dataclass(frozen=True)
class Gram:
    """A matrix of kernels between rows, in single precision, of which one triangle is read: nine times as fast."""

    matrix: NDArray[np.float32]

    @classmethod
    def of(cls, sq_dist: NDArray[np.float32], bandwidth: float) -> Gram:
        """Gaussian kernels at squared distances."""
        matrix = sq_dist * np.float32(-min(0.5 / bandwidth**2, FARTHEST))
        return cls(np.exp(matrix, out=matrix))

    def __matmul__(self, vector: FloatArray) -> FloatArray:
        return np.asarray(ssymv(1.0, self.matrix.T, vector.astype(np.float32)), dtype=np.float64)


@dataclass(frozen=True)
class Hull:
    """The convex hull of embedded rows, and the line through the kernel means u and p (weights of the rows)."""

    gram: Gram
    u: FloatArray
    p: FloatArray
    gap: float  # distance of the two kernel means
    step: float  # one over the largest eigenvalue of the Gram matrix

    @classmethod
    def of(cls, gram: Gram, u: FloatArray, p: FloatArray) -> Hull:
        """Prepare the hull of a Gram matrix."""
        difference = u - p
        gap = float(np.sqrt(max(0.0, float(difference @ (gram @ difference)))))
        vector = np.ones(len(u)) / np.sqrt(len(u))
        for _ in range(20):  # power iteration; the Gram matrix is positive, so this converges fast
            vector = gram @ vector
            vector /= np.linalg.norm(vector)
        return cls(gram, u, p, gap, float(1 / (1.05 * (vector @ (gram @ vector)))))

    def lambda_of_slope(self, nu: float) -> float:
        """The l at which the slope of the distance d(l), which never falls, reaches nu; by bisection on the share."""
        low, high = 0.0, 1 - 1 / MAX_LAMBDA
        nearest = self.u
        for _ in range(N_BISECTIONS):
            middle = (low + high) / 2
            slope, nearest = self.slope(1 / (1 - middle), nearest)
            low, high = (low, middle) if slope > nu else (middle, high)
        return 1 / (1 - (low + high) / 2)

    def distance(self, ratio: float) -> float:
        """Distance d of the point at l = ratio to the hull."""
        return self._nearest(ratio, self.u)[0]

    def slope(self, ratio: float, start: FloatArray) -> tuple[float, FloatArray]:
        """Slope of d at l = ratio (by the envelope theorem), and the nearest point of the hull."""
        distance, image, nearest = self._nearest(ratio, start)
        return float(image @ (self.u - self.p) / max(distance, 1e-15)), nearest

    def _nearest(self, ratio: float, start: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Distance at l = ratio, inner products of the way there with all rows, and the nearest point of the hull."""
        target = ratio * self.u + (1 - ratio) * self.p
        nearest = self._project(target, start)
        residual = target - nearest
        image = self.gram @ residual
        return float(np.sqrt(max(0.0, float(residual @ image)))), image, nearest

    def _project(self, target: FloatArray, start: FloatArray) -> FloatArray:
        """Nearest point of the hull: projected gradient on the simplex, accelerated, restarted when it overshoots."""
        point, ahead, momentum = start, start, 1.0
        for _ in range(MAX_ITERATIONS):
            gradient = self.gram @ (ahead - target)
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
