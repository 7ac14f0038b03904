"""The WMMD itself: the distance of two weighted kernel means, and the function that attains it.

Notation as in `unlabeled.scoring.ratio`; the weight w = 2 prior multiplies the mean over the positives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray
from unlabeled.kernels import Kernel, as_gammas
from unlabeled.samples import Sample
from unlabeled.scoring.ratio import Kernels


def wmmd(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    weight: float,
    *,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
    radius: float = 1.0,
    engine: str = "auto",
) -> float:
    """Weighted maximum mean discrepancy of two samples, in closed form [prop:MMD (a)].

    ``radius * sqrt(E k(u, u') + weight^2 E k(p, p') - 2 weight E k(u, p))``, the expectations over all pairs of the
    empirical distributions, a point with itself included. With ``weight = 2 prior`` and ``radius <= 1``,
    ``1 - wmmd`` is the smallest hinge risk over the ball of that radius [thm:relationship].

    Parameters
    ----------
    positive, unlabeled : arrays of shape (n_positive, n_features) and (n_unlabeled, n_features)
    weight : float
        Multiplies the mean over the positives: 2 prior for the classifier.
    kernel : {"rbf", "inverse"} or a kernel
    gamma : float
    radius : float
        Radius of the ball in the reproducing kernel Hilbert space.
    engine : {"auto", "triton", "tree", "numba", "reference"}

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import wmmd
    >>> round(wmmd(data.positive, data.unlabeled, 2 * 0.5), 3)
    0.281
    >>> round(wmmd(data.unlabeled, data.unlabeled, 1.0), 3)
    0.0
    """
    return witness(positive, unlabeled, weight, kernel=kernel, gamma=gamma, radius=radius, engine=engine).wmmd


def witness(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    weight: float,
    *,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
    radius: float = 1.0,
    engine: str = "auto",
) -> Witness:
    """The function that attains the WMMD, ready to be evaluated anywhere [prop:MMD (b)]; parameters as in `wmmd`."""
    positives = Sample(check_array(positive, dtype=np.float64, input_name="positive"))
    population = Sample(check_array(unlabeled, dtype=np.float64, input_name="unlabeled"))
    for value, name in ((weight, "weight"), (radius, "radius")):
        if not (isinstance(value, Real) and 0 <= value < np.inf):
            raise ValueError(f"{name} must be a number of at least 0; got {value!r}.")
    grid = as_gammas(gamma)
    if len(grid) != 1:
        raise ValueError(f"gamma must be one number here; got {len(grid)}.")
    return Witness.of(positives, population, weight, Kernels(kernel, grid, engine), radius)


@dataclass(frozen=True)
class Witness:
    """Optimizer g of the WMMD and its negative f, the discriminant function [prop:MMD (b)].

    ``g = radius * (mean_u k(., u) - weight * mean_p k(., p)) / norm``, where norm is the RKHS norm of the bracket.
    A zero norm (the weighted means coincide) gives g = f = 0.
    """

    positive: Sample
    unlabeled: Sample
    weight: float
    kernels: Kernels
    radius: float
    norm: float

    @classmethod
    def of(cls, positive: Sample, unlabeled: Sample, weight: float, kernels: Kernels, radius: float = 1.0) -> Witness:
        """Build the witness of two samples for one gamma, with its norm."""
        return cls(positive, unlabeled, weight, kernels, radius, _norm(positive, unlabeled, weight, kernels))

    @property
    def wmmd(self) -> float:
        """The distance that this function attains [prop:MMD (a)]."""
        return self.radius * self.norm

    def g(self, queries: ArrayLike) -> FloatArray:
        """The optimizer, at some points: positive where unlabeled data outweigh positives."""
        rows: FloatArray = check_array(queries, dtype=np.float64, input_name="queries")
        if self.norm == 0:
            return np.zeros(len(rows))
        means = [
            np.exp(self.kernels.log_sums(rows, sample)[0] - np.log(sample.total))
            for sample in (self.unlabeled, self.positive)
        ]
        return self.radius * (means[0] - self.weight * means[1]) / self.norm

    def f(self, queries: ArrayLike) -> FloatArray:
        """The discriminant function f = -g: positive where the classifier says positive."""
        return -self.g(queries)


def _norm(positive: Sample, unlabeled: Sample, weight: float, kernels: Kernels) -> float:
    """RKHS norm of mean_u k(., u) - weight mean_p k(., p): a small difference of large numbers, so exact sums."""
    kernels = replace(kernels, exact=True)
    uu = _mean_kernel(unlabeled, unlabeled, kernels)
    pp = _mean_kernel(positive, positive, kernels)
    up = _mean_kernel(unlabeled, positive, kernels)
    squared = uu + weight * (weight * pp - 2 * up)
    # Below the rounding of its own terms the difference is zero: coinciding means must not leave a random direction.
    negligible = 1e-12 * (uu + weight * weight * pp)
    return float(np.sqrt(squared)) if squared > negligible else 0.0


def _mean_kernel(queries: Sample, points: Sample, kernels: Kernels) -> float:
    """E k(x, y) over all pairs of two samples, a point with itself included."""
    log_sums = kernels.log_sums(queries.rows, points)[0]
    if queries.log_weights is not None:
        log_sums = log_sums + queries.log_weights
    return float(np.exp(logsumexp(log_sums) - np.log(queries.total) - np.log(points.total)))
