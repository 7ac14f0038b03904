"""The WMMD as plain functions: distance, witness, score, and leave-one-out scores.

Notation of the paper (labels in brackets are those of its source): the population has distribution P_X with empirical
sample ``unlabeled``, the positives P_{X|Y=1} with sample ``positive``, and the weight w = 2 prior multiplies the
positive mean. All sums are taken in the log domain, so a point far from all data gets a finite score, decided by its
nearest neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import check_array

from unlabeled.engines import log_kernel_sums
from unlabeled.kernels import FloatArray, Kernel, as_gammas
from unlabeled.samples import PUSample, Sample


@dataclass(frozen=True)
class Kernels:
    """How kernel sums are taken: the kernel, its gammas, and the engine."""

    kernel: str | Kernel
    gammas: FloatArray
    engine: str = "auto"
    n_jobs: int | None = None
    exact: bool = False

    def log_sums(self, queries: FloatArray, sample: Sample, own: np.ndarray | None = None) -> FloatArray:
        """Log of the weighted kernel sums over a sample (n_gammas, n_queries)."""
        return log_kernel_sums(
            queries,
            sample.rows,
            self.kernel,
            self.gammas,
            own=own,
            log_weights=sample.log_weights,
            engine=self.engine,
            exact=self.exact,
            n_jobs=self.n_jobs,
        )


def log_scores(queries: FloatArray, pu: PUSample, kernels: Kernels) -> FloatArray:
    """Log of the WMMD score lambda(z), the ratio of two kernel means [prop:MMD_emp]; (n_gammas, n_queries).

    lambda(z) = mean over positives of k(z, x) / mean over the population of k(z, x).
    """
    positive = kernels.log_sums(queries, pu.positive)
    unlabeled = kernels.log_sums(queries, pu.unlabeled)
    return log_ratio(pu, positive, unlabeled, pu.positive.total, pu.unlabeled.total)


def loo_log_scores(
    pu: PUSample, kernels: Kernels, positive_rows: np.ndarray | None = None, unlabeled_rows: np.ndarray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Leave-one-out log scores of both samples: each row is scored without (one unit of) itself.

    An unlabeled row leaves the population's mean. A positive leaves the positives' mean, and in the single-sample
    scenario, where it is a member of the population too, the population's mean as well.
    Some rows may be chosen to be scored; all stay in the sums. Both arrays are (n_gammas, n_rows).
    """
    positive_rows = np.arange(len(pu.positive)) if positive_rows is None else positive_rows
    unlabeled_rows = np.arange(len(pu.unlabeled)) if unlabeled_rows is None else unlabeled_rows
    queries = pu.positive.rows[positive_rows]
    of_positives = log_ratio(
        pu,
        kernels.log_sums(queries, pu.positive, own=positive_rows),
        kernels.log_sums(queries, pu.unlabeled),
        pu.positive.total - np.minimum(1, pu.positive.weights[positive_rows]),
        pu.unlabeled.total,
    )
    queries = pu.unlabeled.rows[unlabeled_rows]
    of_unlabeled = log_ratio(
        pu,
        kernels.log_sums(queries, pu.positive),
        kernels.log_sums(queries, pu.unlabeled, own=unlabeled_rows),
        pu.positive.total,
        pu.unlabeled.total - np.minimum(1, pu.unlabeled.weights[unlabeled_rows]),
    )
    return of_positives, of_unlabeled


def log_ratio(
    pu: PUSample,
    positive: FloatArray,
    unlabeled: FloatArray,
    n_positive: float | FloatArray,
    n_unlabeled: float | FloatArray,
) -> FloatArray:
    """Log of the ratio of means, from log sums over both samples and the weights they were taken over."""
    if pu.positives_in_population:
        unlabeled, n_unlabeled = np.logaddexp(unlabeled, positive), n_unlabeled + n_positive
    return (positive - np.log(n_positive)) - (unlabeled - np.log(n_unlabeled))


# --- distance and witness --------------------------------------------------------------------------------------------


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
    engine : {"auto", "numba", "reference"}
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
