"""What a kernel ball lacks against all functions, for a distribution that is known.

The distribution is given as ``points`` with ``masses``: a discrete distribution (then all is exact), nodes and weights
of a quadrature, or a large sample (then an estimate).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray
from unlabeled.bounds.complexity import gram
from unlabeled.bounds.ranges import check
from unlabeled.kernels import Kernel


def approximation_error(
    points: ArrayLike,
    posterior: ArrayLike,
    *,
    masses: ArrayLike | None = None,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
) -> float:
    """Hinge risk of the best function in the unit kernel ball, less that of the best of all functions.

    Both are known: ``1 - WMMD`` [thm:relationship] and ``1 - E|2 eta - 1|``, so the answer is ``E|2 eta - 1| - WMMD``,
    never below 0. A sample in place of the distribution overstates the WMMD a little (each row meets itself).

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Where the population lives.
    posterior : array of shape (n_points,)
        eta = P(y=1 | x) at the points.
    masses : array of shape (n_points,), optional
        Their probabilities; equal by default.
    kernel : {"rbf", "inverse"} or a kernel
    gamma : float
        The kernel's parameter; the ball has radius 1.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.approximation_error([[0.0], [1.0], [2.0]], [0.1, 0.5, 0.9]), 4)
    0.1597
    """
    check(gamma=gamma)
    rows: FloatArray = check_array(points, dtype=np.float64, input_name="points")
    eta = _probabilities(posterior, "posterior", len(rows))
    margin = _masses(masses, len(rows)) * (2 * eta - 1)
    wmmd = np.sqrt(max(0.0, float(margin @ gram(rows, rows, kernel, gamma) @ margin)))
    return max(0.0, float(np.abs(margin).sum() - wmmd))


def approximation_error_bound(
    points: ArrayLike,
    bayes_rule: ArrayLike,
    *,
    masses: ArrayLike | None = None,
    kernel: str | Kernel = "rbf",
    gamma: float = 1.0,
    beta: float = 1.0,
) -> float:
    """``beta * inf |g - f*|`` in L2(P_X) over the ball of radius 1 / beta [lem:approximation_error_bound_RKHS].

    f* is the Bayes rule, +1 or -1. The left side of the lemma compares with functions bounded by ``beta``, whose best
    hinge risk is ``1 - beta E|2 eta - 1|``. For beta = 1 that is all functions, and the answer bounds
    `approximation_error`. For beta < 1 add ``(1 - beta) E|2 eta - 1|`` to it to compare with all functions; the text
    stops before that step.

    Parameters
    ----------
    points, masses, kernel, gamma : as in `approximation_error`
    bayes_rule : array of shape (n_points,)
        f* at the points: 1 where P(y=1 | x) > 1/2, -1 elsewhere.
    beta : float
        In (0, 1]: the height of the functions compared with, and 1 over the radius of the ball.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.approximation_error_bound([[0.0], [1.0], [2.0]], [-1, 1, 1]), 4)
    0.4422
    """
    check(gamma=gamma, beta=beta)
    rows: FloatArray = check_array(points, dtype=np.float64, input_name="points")
    target = np.asarray(bayes_rule, dtype=np.float64)
    if target.shape != (len(rows),) or not (np.abs(target) == 1).all():
        raise ValueError(
            f"bayes_rule must be {len(rows)} signs, +1 or -1, one for each point, such as np.where(posterior > 0.5, 1, "
            f"-1); got {target!r}."
        )
    roots = np.sqrt(_masses(masses, len(rows)))
    eigenvalues, vectors = np.linalg.eigh(roots[:, None] * gram(rows, rows, kernel, gamma) * roots)
    rounding = len(rows) * np.finfo(np.float64).eps * eigenvalues[-1]
    eigenvalues = np.where(eigenvalues > rounding, eigenvalues, 0.0)
    return beta * _distance_to_ball(eigenvalues, vectors.T @ (roots * target), 1 / beta)


def _distance_to_ball(eigenvalues: FloatArray, target: FloatArray, radius: float) -> float:
    """Smallest L2 distance of a target, given in the eigenbasis of the kernel, to the ball of a radius.

    The nearest g shrinks coordinate j by ``e_j / (e_j + ridge)``; the ridge is the one at which g reaches the radius.
    """

    def squared_norm(log_ridge: float) -> float:
        # A coordinate with eigenvalue 0 is out of the ball's reach: g has none of it, and it stays in the distance.
        return float((eigenvalues * (target / (eigenvalues + np.exp(log_ridge))) ** 2).sum())

    smallest, largest = np.log(eigenvalues[-1]) - 80, np.log(eigenvalues[-1]) + 80
    if squared_norm(smallest) <= radius**2:
        log_ridge = smallest
    else:
        log_ridge = brentq(lambda value: squared_norm(value) - radius**2, smallest, largest, xtol=1e-13)
    ridge = np.exp(log_ridge)
    return float(np.linalg.norm(ridge / (eigenvalues + ridge) * target))


def _probabilities(values: ArrayLike, name: str, n_points: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n_points,) or not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"{name} must be {n_points} probabilities from 0 to 1, one for each point; got {array!r}.")
    return array


def _masses(masses: ArrayLike | None, n_points: int) -> FloatArray:
    if masses is None:
        return np.full(n_points, 1 / n_points)
    array = _probabilities(masses, "masses", n_points)
    if not np.isclose(array.sum(), 1):
        raise ValueError(f"masses must sum to 1; they sum to {array.sum():.6g}.")
    return array
