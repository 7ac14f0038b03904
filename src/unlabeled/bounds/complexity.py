"""How rich a kernel ball is on a sample: Rademacher complexity and largest variance.

A function of the ball of radius r is ``f(x) = <f, k(., x)>`` with ``|f| <= r``, so suprema over the ball are norms of
kernel sums: closed forms of the Gram matrix, with no optimisation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.utils import check_array, check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.bounds.ranges import check
from unlabeled.kernels import Kernel, as_kernel

#: Rows of the Gram matrix held at once.
_CHUNK = 1000


def rademacher_complexity(
    rows: ArrayLike,
    *,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
    radius: float = 1.0,
    n_draws: int = 200,
    random_state: int | np.random.RandomState | None = None,
) -> float:
    """Empirical Rademacher complexity of a kernel ball on a sample, by Monte Carlo over the signs.

    The supremum is in closed form, ``radius / n * sqrt(s' K s)`` for signs s and the Gram matrix K; its mean is taken
    over ``n_draws`` random signs. It lies between ``radius / sqrt(2 n)`` and ``radius / sqrt(n)``, up to the Monte
    Carlo error.

    The bounds ask for its expectation over samples. That is at most this value plus ``radius * sqrt(t / n)`` with
    probability 1 - exp(-t) (McDiarmid), which for any t above 0.1 is more than the closed form
    `rademacher_complexity_bound`. So that one is the better in a guarantee; this one is for simulations.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    kernel : {"rbf", "inverse"} or a kernel
    gamma, radius : float
        The kernel's parameter, and the radius of the ball in its space.
    n_draws : int
        How many random sign vectors are averaged.
    random_state : int, RandomState or None

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import bounds
    >>> round(bounds.rademacher_complexity(data.unlabeled, gamma=0.4, random_state=0), 3)
    0.07
    >>> round(bounds.rademacher_complexity_bound(len(data.unlabeled)), 3)
    0.071
    """
    check(gamma=gamma, radius=radius, n_draws=n_draws)
    points: FloatArray = check_array(rows, dtype=np.float64, input_name="rows")
    signs = check_random_state(random_state).choice([-1.0, 1.0], size=(len(points), n_draws))
    squared = np.zeros(n_draws)
    for start in range(0, len(points), _CHUNK):
        some = slice(start, start + _CHUNK)
        squared += (signs[some] * (gram(points[some], points, kernel, gamma) @ signs)).sum(axis=0)
    return radius * float(np.sqrt(np.maximum(squared, 0)).mean()) / len(points)


def rademacher_complexity_bound(n_rows: int, *, radius: float = 1.0) -> float:
    """The closed form above every `rademacher_complexity`: ``radius / sqrt(n_rows)``, for kernels with k(x, x) = 1.

    ``E sqrt(s' K s) <= sqrt(E s' K s) = sqrt(trace K)``: signs of different rows are uncorrelated.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.rademacher_complexity_bound(400), 4)
    0.05
    """
    check(n_rows=n_rows, radius=radius)
    return radius / math.sqrt(n_rows)


def largest_variance(
    rows: ArrayLike,
    *,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
    radius: float = 1.0,
    tau: float | None = None,
) -> float:
    """The largest variance of a function in a kernel ball: ``rho**2`` of the bounds, from data.

    On the sample itself it is the largest eigenvalue of the covariance in the kernel's space, ``radius^2 lambda_max(H
    K H) / (n - 1)`` with H the centring. Take the larger of the values for positives and population. Needs the whole
    Gram matrix; give a few thousand rows, a random part of the sample will do.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        Two rows or more.
    kernel : {"rbf", "inverse"} or a kernel
    gamma, radius : float
    tau : float, optional
        Return an upper bound of the distribution's value that holds with probability 1 - exp(-tau) or more. The
        estimate of the covariance averages, over pairs of rows, operators between 0 and 1. Its expected error in norm
        is at most ``1 / sqrt(floor(n / 2))``, an exchanged row moves it by 2 / n, and so (McDiarmid) it is off by no
        more than ``1 / sqrt(floor(n / 2)) + sqrt(2 tau / n)``. The result is never more than radius^2.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import bounds
    >>> round(bounds.largest_variance(data.unlabeled, gamma=0.4), 3)
    0.19
    """
    check(gamma=gamma, radius=radius)
    if tau is not None:
        check(tau=tau)
    points: FloatArray = check_array(rows, dtype=np.float64, ensure_min_samples=2, input_name="rows")
    n = len(points)
    matrix = gram(points, points, kernel, gamma)
    centred = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    largest = max(0.0, float(eigh(centred, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0]))
    estimate = largest / (n - 1)
    if tau is not None:
        estimate += 1 / math.sqrt(n // 2) + math.sqrt(2 * tau / n)
    return radius**2 * min(1.0, estimate)


def gram(queries: FloatArray, points: FloatArray, kernel: str | Kernel, gamma: float) -> FloatArray:
    """The kernel between all queries and all points (n_queries, n_points)."""
    return np.exp(as_kernel(kernel).log(cdist(queries, points, "sqeuclidean"), gamma))
