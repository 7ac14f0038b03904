"""The weighted integral probability metric over several classes of functions [eq:WIPM_fct].

``WIPM(P, Q; w, F)`` is the largest value over f in F of ``|E_P f(x) - E_Q w(x) f(x)|``, with P the population and Q
the positives. On finitely many points it is a linear function of f's values there, ``sum_i m_i f(x_i)``, with the
signed masses ``m = p - w q``. So a class of functions is a value with one method: the f of the class that makes such a
sum largest. The class itself may depend on the population's masses p.

With the constant weight 2 prior, ``1 - WIPM`` is the smallest hinge risk over a symmetric class within [-1, 1], and
minus the optimizer attains it [thm:relationship]. `unlabeled.wmmd` is the case of a kernel ball, for large samples;
`unlabeled.LeastSquaresPUClassifier` that of a Fisher ball.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, solve_triangular
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray
from unlabeled.engines import kernel_matrix
from unlabeled.kernels import Kernel, Linear, as_inner_product, as_kernel

__all__ = ["Bounded", "BoundedLipschitz", "FisherBall", "KernelBall", "Optimum", "wipm", "wipm_optimum"]

#: A weight: one number, one for each positive, or a function that gives them.
Weight = float | ArrayLike | Callable[[FloatArray], ArrayLike]


class FunctionClass(Protocol):
    """A symmetric class of functions."""

    def optimizer(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:
        """Values at the points of the function whose sum with the signed masses is largest.

        ``population`` are the population's own masses at the points, 0 where only positives are.
        """


@dataclass(frozen=True)
class Bounded:
    """All functions with values in [-1, 1].

    The WIPM is the sum of ``|p_i - w q_i|``. Samples without shared points give 1 + w, whatever their distributions:
    this class is of use on discrete data only.

    Examples
    --------
    >>> from unlabeled.wipm import Bounded, wipm
    >>> round(wipm([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, Bounded()), 3)
    1.0
    """

    def optimizer(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:  # noqa: ARG002
        """The sign of the masses.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.wipm import Bounded
        >>> points, masses = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, 0.5, -1.0])
        >>> Bounded().optimizer(points, masses, np.full(3, 1 / 3)).round(2)
        array([ 1.,  1., -1.])
        """
        return np.sign(masses)


@dataclass(frozen=True)
class BoundedLipschitz:
    """Functions with values in [-1, 1] that change by at most ``constant`` per unit of Euclidean distance.

    Without the bound the WIPM would be infinite whenever the two masses, 1 and w, differ. A linear program of one
    variable for each point and one constraint for each pair of a positive and a negative mass that are nearer than 2 /
    constant: for hundreds of points, or some thousands where few are that near.

    Examples
    --------
    >>> from unlabeled.wipm import BoundedLipschitz, wipm
    >>> round(wipm([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, BoundedLipschitz(0.5)), 3)
    0.75
    """

    constant: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(self.constant, "constant")

    def optimizer(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:  # noqa: ARG002
        """Solve the linear program on the masses' points, and extend its solution to the others.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.wipm import BoundedLipschitz
        >>> points, masses = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, 0.5, -1.0])
        >>> BoundedLipschitz(0.5).optimizer(points, masses, np.full(3, 1 / 3)).round(2)
        array([ 1. ,  0.5, -0.5])
        """
        above, below = np.flatnonzero(masses > 0), np.flatnonzero(masses < 0)
        if len(below) == 0:
            return np.ones(len(points))
        rise = self.constant * cdist(points, points[below])  # (n_points, n_below)
        floor = self._floor(rise[above], masses[above], masses[below])
        # The largest function of the class with these values below. At the points above it is no lower than the
        # program's solution, so pairs of points on the same side need no constraints.
        return np.clip((floor + rise).min(axis=1), -1, 1)

    def _floor(self, rise: FloatArray, above: FloatArray, below: FloatArray) -> FloatArray:
        """Optimal values at the negative masses.

        Maximise ``above @ u + below @ v`` with u, v in [-1, 1] and ``u_i - v_j <= rise_ij``.
        """
        # Constraints with a rise of 2 or more hold for all functions within [-1, 1].
        i, j = np.nonzero(rise < 2)
        if len(i) == 0:
            return np.full(len(below), -1.0)
        row = np.arange(len(i))
        constraints = coo_array(
            (np.repeat([1.0, -1.0], len(i)), (np.tile(row, 2), np.concatenate([i, len(above) + j]))),
            shape=(len(i), len(above) + len(below)),
        ).tocsr()
        solution = linprog(
            -np.concatenate([above, below]), A_ub=constraints, b_ub=rise[i, j], bounds=(-1, 1), method="highs"
        )
        if not solution.success:
            raise RuntimeError(f"the linear program of the Lipschitz functions was not solved: {solution.message}")
        return np.asarray(solution.x[len(above) :])


@dataclass(frozen=True)
class KernelBall:
    """Functions of norm at most ``radius`` in the space of a kernel; within [-1, 1] for a radius of at most 1.

    The WIPM is the WMMD.

    Examples
    --------
    >>> from unlabeled.wipm import KernelBall, wipm
    >>> round(wipm([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, KernelBall()), 3)
    0.583
    """

    kernel: str | Kernel = "rbf"
    gamma: float = 1.0
    radius: float = 1.0

    def __post_init__(self) -> None:
        as_kernel(self.kernel)
        _check_positive(self.gamma, "gamma")
        _check_positive(self.radius, "radius")

    def optimizer(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:  # noqa: ARG002
        """The kernel sum of the masses, scaled to the radius.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.wipm import KernelBall
        >>> points, masses = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, 0.5, -1.0])
        >>> KernelBall().optimizer(points, masses, np.full(3, 1 / 3)).round(2)
        array([ 0.53,  0.52, -0.77])
        """
        sums = np.exp(as_kernel(self.kernel).log(cdist(points, points, "sqeuclidean"), self.gamma)) @ masses
        squared_norm = float(masses @ sums)
        return self.radius * sums / np.sqrt(squared_norm) if squared_norm > 0 else np.zeros(len(points))


@dataclass(frozen=True)
class FisherBall:
    """Functions f of a kernel's space with ``E_u f^2 + penalty |f|^2`` at most 1, u the population.

    Where `KernelBall` bounds the norm alone, this class bounds f in the mean square where the population is: it spends
    its norm where that costs little. The maximiser is again closed form, ``(C_u + penalty)^-1 (mu_u - w mu_p)`` up to
    a factor, C_u the population's second moment in the space and mu its means; the WIPM is the root of the difference's
    squared norm in the inverse of C_u + penalty, a penalised Mahalanobis distance (Fisher's discriminant).

    Parameters
    ----------
    kernel : {"rbf", "inverse", "linear"} or a kernel
    gamma : float
        The linear kernel takes no notice of it.
    penalty : float
        For 1 or more, and a kernel of at most 1, the functions lie within [-1, 1], which [thm:relationship] needs. As
        it grows, the root of the penalty times the WIPM tends to the WMMD.
    constant : bool, default=False
        Whether functions have a constant added to them that costs no norm; they may then leave [-1, 1]. Minus the
        maximiser is then above 0 exactly where the least-squares ratio of `LeastSquaresPUClassifier` exceeds 1 / w.

    Examples
    --------
    >>> from unlabeled.wipm import FisherBall, wipm
    >>> round(wipm([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, FisherBall()), 3)
    0.504
    """

    kernel: str | Kernel | Linear = "rbf"
    gamma: float = 1.0
    penalty: float = 1.0
    constant: bool = False

    def __post_init__(self) -> None:
        as_inner_product(self.kernel)
        _check_positive(self.gamma, "gamma")
        _check_positive(self.penalty, "penalty")
        if self.constant is not True and self.constant is not False:
            raise ValueError(f"constant must be True or False; got {self.constant!r}.")

    def optimizer(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:
        """Solve for the values at the points, and scale them to the ball's surface.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.wipm import FisherBall
        >>> points, masses = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, 0.5, -1.0])
        >>> FisherBall().optimizer(points, masses, np.full(3, 1 / 3)).round(2)
        array([ 0.43,  0.42, -0.68])
        """
        kernel = as_inner_product(self.kernel)
        if isinstance(kernel, Linear):
            values = self._linear(points, masses, population)
        else:
            gram = kernel_matrix(points, points, kernel, np.array([self.gamma]))[0]
            values = self._of_kernel(gram, masses, population)
        squared = float(masses @ values)
        return values / np.sqrt(squared) if squared > 0 else np.zeros(len(points))

    def _of_kernel(self, gram: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:
        """Values at the points, by one equation for each of them."""
        level = 0.0
        if self.constant:  # the mean over the population, which costs no norm, and what differs from it
            level = float(masses.sum())
            means = gram @ population
            gram = gram - means[:, None] - means + population @ means
        solved = np.linalg.solve(gram * population + self.penalty * np.eye(len(gram)), gram @ masses)
        return np.asarray(level + solved)

    def _linear(self, points: FloatArray, masses: FloatArray, population: FloatArray) -> FloatArray:
        """The same by one equation for each feature: a point far away leaves the other features their digits."""
        level = 0.0
        if self.constant:
            level, points = float(masses.sum()), points - population @ points
        root = qr(
            np.vstack([points * np.sqrt(population)[:, None], np.sqrt(self.penalty) * np.eye(points.shape[1])]),
            mode="r",
        )[0][: points.shape[1]]  # of the second moment plus the penalty
        direction = solve_triangular(root, solve_triangular(root, masses @ points, trans="T"))
        return np.asarray(level + points @ direction)


@dataclass(frozen=True)
class Optimum:
    """A WIPM with the function that attains it.

    ``g[i]`` is the optimizer's value at ``points[i]``, the distinct points of both samples; the discriminant function
    of the classifier is -g.

    Examples
    --------
    >>> from unlabeled.wipm import KernelBall, wipm_optimum
    >>> optimum = wipm_optimum([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, KernelBall())
    >>> round(optimum.value, 3), optimum.g.shape
    (0.583, (4,))
    """

    value: float
    points: FloatArray
    g: FloatArray


def wipm(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    weight: Weight,
    functions: FunctionClass,
    *,
    positive_masses: ArrayLike | None = None,
    unlabeled_masses: ArrayLike | None = None,
) -> float:
    """Weighted integral probability metric of two discrete distributions [eq:WIPM_fct].

    Parameters
    ----------
    positive, unlabeled : arrays of shape (n_positive, n_features) and (n_unlabeled, n_features)
    weight : float, array of shape (n_positive,), or callable
        Multiplies the positives' side: a number (2 prior for the classifier), one for each positive row, or a function
        of the rows.
    functions : `Bounded`, `BoundedLipschitz`, `KernelBall` or `FisherBall`
    positive_masses, unlabeled_masses : arrays, optional
        Probabilities of the rows; equal by default (the empirical distributions).

    Returns
    -------
    float
        0 or more; 0 where no function of the class can tell the two weighted distributions apart.

    Examples
    --------
    >>> from unlabeled.wipm import KernelBall, wipm
    >>> round(wipm([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, KernelBall(gamma=0.5)), 3)
    0.618
    """
    masses = {"positive_masses": positive_masses, "unlabeled_masses": unlabeled_masses}
    return wipm_optimum(positive, unlabeled, weight, functions, **masses).value


def wipm_optimum(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    weight: Weight,
    functions: FunctionClass,
    *,
    positive_masses: ArrayLike | None = None,
    unlabeled_masses: ArrayLike | None = None,
) -> Optimum:
    """The `wipm` with its optimizer; parameters as there.

    Examples
    --------
    >>> from unlabeled.wipm import KernelBall, wipm_optimum
    >>> optimum = wipm_optimum([[0.0], [1.0]], [[0.0], [1.0], [3.0], [4.0]], 1.0, KernelBall())
    >>> optimum.g.round(2)
    array([-0.59, -0.58,  0.58,  0.59])
    """
    rows: FloatArray = check_array(positive, dtype=np.float64, input_name="positive")
    population: FloatArray = check_array(unlabeled, dtype=np.float64, input_name="unlabeled")
    if rows.shape[1] != population.shape[1]:
        raise ValueError(f"positive has {rows.shape[1]} features and unlabeled {population.shape[1]}; they must agree.")
    minus = _as_weights(weight, rows) * _as_masses(positive_masses, len(rows), "positive_masses")
    plus = _as_masses(unlabeled_masses, len(population), "unlabeled_masses")
    points, place = np.unique(np.concatenate([population, rows]), axis=0, return_inverse=True)
    masses = np.zeros(len(points))
    np.add.at(masses, place.ravel(), np.concatenate([plus, -minus]))
    of_population = np.bincount(place.ravel()[: len(plus)], plus, len(points)).astype(np.float64)
    g = functions.optimizer(points, masses, of_population)
    return Optimum(float(masses @ g), points, g)


def _as_weights(weight: Weight, rows: FloatArray) -> FloatArray:
    values = np.asarray(weight(rows) if callable(weight) else weight, dtype=np.float64)
    if values.shape not in {(), (len(rows),)} or not np.isfinite(values).all():
        raise ValueError(
            f"weight must be a finite number or one for each of the {len(rows)} positive rows (or a function that "
            f"gives them); got {values!r}."
        )
    return np.broadcast_to(values, (len(rows),))


def _as_masses(masses: ArrayLike | None, n_rows: int, name: str) -> FloatArray:
    if masses is None:
        return np.full(n_rows, 1 / n_rows)
    values = np.asarray(masses, dtype=np.float64)
    if values.shape != (n_rows,) or not (values >= 0).all() or not np.isclose(values.sum(), 1):
        raise ValueError(f"{name} must be {n_rows} probabilities that sum to 1, one for each row; got {masses!r}.")
    return values


def _check_positive(value: float, name: str) -> None:
    if not (isinstance(value, Real) and 0 < value < np.inf):
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")
