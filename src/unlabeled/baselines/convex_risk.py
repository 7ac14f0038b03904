"""The convex risk of LOG and DH, its two losses, and the ways to minimise it (du Plessis, Niu and Sugiyama, 2015).

    J = -prior * mean_P g + mean_U loss(-g) + alpha/2 |coef|^2

The positives enter linearly because both losses are *linear-odd*: ``loss(g) - loss(-g) = -g``. That keeps J convex.

Both exact solvers are Newton methods on the same bordered system (`Risk.newton_system`). The logistic risk is smooth
and is minimised to rounding error. The double hinge is a quadratic program, solved by a primal-dual interior-point
method that stops on its duality gap. `descend` is the paper's gradient descent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from unlabeled.arrays import FloatArray

PAPER_LEARNING_RATE, PAPER_EPOCHS, PAPER_PATIENCE = 0.1, 100, 10

#: Entries of a matrix held at once beside the features (8 bytes each).
_CHUNK = 4_000_000
_MAX_ITERATIONS = 200
#: The duality gap, relative to the risk, that the interior-point method aims at, and the one where rounding may end it:
#: with an alpha far below the paper's the Newton systems lose digits before the aim is reached.
_GAP, _ROUNDING = 1e-13, 1e-6
#: Steps of iterative refinement in each Newton system.
_REFINEMENTS = 2

_NewtonStep = Callable[[FloatArray, float], tuple[FloatArray, float]]


# --- the risk ---


class Solution(NamedTuple):
    """Coefficients in the order of the basis, the intercept, and the iterations they took."""

    coef: FloatArray
    intercept: float
    n_iter: int = 0


class Loss(Protocol):
    """What the risk asks of a loss; everything is in terms of ``loss(-g)``, the loss of a negative with score g."""

    @property
    def name(self) -> str:
        """The word users write for it."""

    def of_negatives(self, g: FloatArray) -> FloatArray:
        """The loss of rows with these scores, were they negative: ``loss(-g)``."""

    def slope(self, g: FloatArray) -> FloatArray:
        """Derivative of ``loss(-g)``; at a kink, the one to its right."""

    def probability(self, g: FloatArray) -> FloatArray:
        """P(y = 1) at a score: in [0, 1], increasing, 1/2 at 0."""

    def minimise(self, risk: Risk, alpha: float) -> Solution:
        """The minimum of the risk."""


@dataclass(frozen=True)
class Risk:
    """The empirical risk J of one PU sample, as a function of coefficients and intercept.

    ``features`` (n_rows, n_basis) are the basis functions at the rows of the population less their mean ``center``
    (n_basis,), because wide kernels have nearly constant basis functions, which the intercept would have to cancel.
    ``weights`` (n_rows,) sum to 1. ``positive_mean`` (n_basis,) is the mean over the positives, less ``center``.
    Coefficients and intercept are always those of the basis functions as they are.
    """

    loss: Loss
    prior: float
    features: FloatArray
    center: FloatArray
    weights: FloatArray
    positive_mean: FloatArray

    def scores(self, coef: FloatArray, intercept: float) -> FloatArray:
        """The score at the rows of the population."""
        return self.features @ coef + (self.center @ coef + intercept)

    def value(self, coef: FloatArray, intercept: float, alpha: float) -> float:
        """J at these parameters."""
        loss = self.weights @ self.loss.of_negatives(self.scores(coef, intercept))
        positive = self.positive_mean @ coef + (self.center @ coef + intercept)
        return float(loss - self.prior * positive + alpha / 2 * (coef @ coef))

    def gradient(self, coef: FloatArray, intercept: float, alpha: float) -> tuple[FloatArray, float]:
        """Derivatives of J by the coefficients and by the intercept."""
        return self.gradient_of(self.loss.slope(self.scores(coef, intercept)), coef, alpha)

    def gradient_of(self, slopes: FloatArray, coef: FloatArray, alpha: float) -> tuple[FloatArray, float]:
        """The gradient when the loss has these slopes (n_rows,) at the rows."""
        by_coef, by_intercept = self.pull(slopes)
        by_intercept -= self.prior
        return alpha * coef - self.prior * self.positive_mean + by_coef + self.center * by_intercept, by_intercept

    def pull(self, slopes: FloatArray) -> tuple[FloatArray, float]:
        """Derivatives of the mean loss by the coefficients of the centred features, and by the intercept."""
        pull = self.weights * slopes
        return pull @ self.features, float(pull.sum())

    def newton_system(self, curvature: FloatArray, alpha: float) -> _NewtonStep:
        """Solver of the linear system whose matrix is the Hessian of J where the loss has these curvatures (n_rows,).

        With Z the features and Q the curvatures times the weights it is, for the coefficients and the intercept,
        ``[[Z'QZ + alpha I, Z'Q1], [1'QZ, 1'Q1]]``. It is reduced to the smaller of two systems, one equation a basis
        function or one a row.
        """
        n_rows, n_basis = self.features.shape
        system = self._system_of_rows if n_rows <= n_basis else self._system_of_basis
        solve_once = system(self.weights * curvature, alpha)

        def solve(coef_side: FloatArray, intercept_side: float) -> tuple[FloatArray, float]:
            coef_side = coef_side - self.center * intercept_side
            coef, intercept = solve_once(coef_side, intercept_side)
            for _ in range(_REFINEMENTS):  # curvatures near a kink are huge: the first answer has lost digits
                pull, total = self.pull(curvature * (self.features @ coef + intercept))
                more = solve_once(coef_side - alpha * coef - pull, intercept_side - total)
                coef, intercept = coef + more[0], intercept + more[1]
            return coef, float(intercept - self.center @ coef)

        return solve

    @cached_property
    def _gram(self) -> FloatArray:
        return np.asarray(self.features @ self.features.T)  # (n_rows, n_rows)

    def _system_of_rows(self, q: FloatArray, alpha: float) -> _NewtonStep:
        """By Woodbury's identity, with S = (Q^-1 + ZZ'/alpha)^-1; written so that curvatures may be 0 or huge."""
        root = np.sqrt(q)
        matrix = self._gram * (root[:, None] * root / alpha)
        matrix.flat[:: len(q) + 1] += 1
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def S(x: FloatArray) -> FloatArray:
            return np.asarray(root * cho_solve(factor, root * x, check_finite=False))

        sums = S(np.ones_like(q))

        def solve(coef_side: FloatArray, intercept_side: float) -> tuple[FloatArray, float]:
            g = self.features @ coef_side / alpha
            intercept = (intercept_side - sums @ g) / sums.sum()
            return (coef_side - S(g + intercept) @ self.features) / alpha, float(intercept)

        return solve

    def _system_of_basis(self, q: FloatArray, alpha: float) -> _NewtonStep:
        """With features centred at their mean under Q, so that eliminating the intercept does not cancel."""
        total = q.sum()
        mean = q @ self.features / total
        matrix = np.zeros((len(mean), len(mean)))
        for rows in chunks(*self.features.shape):
            centred = np.sqrt(q[rows])[:, None] * (self.features[rows] - mean)
            matrix += centred.T @ centred
        matrix.flat[:: len(mean) + 1] += alpha
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(coef_side: FloatArray, intercept_side: float) -> tuple[FloatArray, float]:
            coef = cho_solve(factor, coef_side - mean * intercept_side, check_finite=False)
            return coef, float(intercept_side / total - mean @ coef)

        return solve


# --- the losses and their exact solvers ---


@dataclass(frozen=True)
class Logistic:
    """``loss(m) = log(1 + exp(-m))``: the score estimates the log odds."""

    name: ClassVar[str] = "logistic"

    def of_negatives(self, g: FloatArray) -> FloatArray:
        """``log(1 + exp(g))``."""
        return np.logaddexp(0, g)

    def slope(self, g: FloatArray) -> FloatArray:
        """The logistic function."""
        return np.asarray(expit(g))

    def probability(self, g: FloatArray) -> FloatArray:
        """The logistic function: the minimiser of the risk over all functions is the log odds."""
        return np.asarray(expit(g))

    def minimise(self, risk: Risk, alpha: float) -> Solution:
        """Newton's method with backtracking, to rounding error.

        Quasi-Newton methods stop some digits earlier, too early for weights to equal repetitions to seven digits.
        """
        coef, intercept = np.zeros_like(risk.positive_mean), float(np.log(risk.prior / (1 - risk.prior)))
        for n_iter in range(1, _MAX_ITERATIONS + 1):
            g = risk.scores(coef, intercept)
            slopes = self.slope(g)
            by_coef, by_intercept = risk.gradient_of(slopes, coef, alpha)
            # Rows that are all flat to rounding would leave the system singular.
            curvature = np.maximum(slopes * (1 - slopes), 1e-10)
            step = risk.newton_system(curvature, alpha)(-by_coef, -by_intercept)
            decrease = -float(by_coef @ step[0] + by_intercept * step[1])  # the risk falls by half of it
            if decrease <= 1e-13 * (1 + abs(risk.value(coef, intercept, alpha))):
                # One full step squares an error that is small already.
                return Solution(coef + step[0], intercept + step[1], n_iter)
            # A quadratic knows nothing of where the loss is flat: scores may double, no more.
            limit = 3 + float(np.abs(g).max())
            longest = limit / max(limit, float(np.abs(risk.scores(*step)).max()))
            size = _backtrack(risk, alpha, (coef, intercept), step, longest, decrease)
            coef, intercept = coef + size * step[0], intercept + size * step[1]
        _warn_unsolved(decrease)
        return Solution(coef, intercept, _MAX_ITERATIONS)


def _backtrack(
    risk: Risk,
    alpha: float,
    at: tuple[FloatArray, float],
    step: tuple[FloatArray, float],
    size: float,
    decrease: float,
) -> float:
    """Halve the step until the risk falls by some of what the step promises."""
    value, shortest = risk.value(*at, alpha), 1e-10 * size
    while size > shortest:
        moved = risk.value(at[0] + size * step[0], at[1] + size * step[1], alpha)
        if moved <= value - 1e-4 * size * decrease:
            break
        size /= 2
    return size


@dataclass(frozen=True)
class DoubleHinge:
    """``loss(m) = max(0, -m, (1 - m)/2)``, made of two hinges: ``loss(-g) = max(0, g+1)/2 + max(0, g-1)/2``."""

    name: ClassVar[str] = "double_hinge"

    def of_negatives(self, g: FloatArray) -> FloatArray:
        """``max(0, g, (1 + g)/2)``."""
        return np.maximum(0, np.maximum(g, (1 + g) / 2))

    def slope(self, g: FloatArray) -> FloatArray:
        """0, 1/2 or 1: below -1, up to 1, and above."""
        return ((g >= -1).astype(np.float64) + (g >= 1)) / 2

    def probability(self, g: FloatArray) -> FloatArray:
        """``(1 + g)/2`` cut off at 0 and 1, a monotone map of the score; it is not calibrated."""
        return np.clip((1 + g) / 2, 0, 1)

    def minimise(self, risk: Risk, alpha: float) -> Solution:
        """A primal-dual interior-point method, then the best intercept for its coefficients.

        With many rows strictly between the kinks a whole interval of intercepts is best; the answer is its middle.
        """
        point = best = _InteriorPoint.start(risk, alpha)
        least, n_iter = point.gap(risk, alpha), 0
        while least > _GAP and n_iter < _MAX_ITERATIONS:
            try:
                point = point.step(risk, alpha)
            except np.linalg.LinAlgError:  # singular to rounding
                break
            gap, n_iter = point.gap(risk, alpha), n_iter + 1
            if gap < least:
                best, least = point, gap
            elif least <= _ROUNDING or not np.isfinite(gap):  # rounding has the better of it
                break
        if least > _ROUNDING:
            _warn_unsolved(least)
        return Solution(best.coef, best_intercept(risk.scores(best.coef, 0.0), risk.weights, risk.prior), n_iter)


@dataclass(frozen=True)
class _InteriorPoint:
    """A point strictly inside the constraints of the double hinge's quadratic program and of its dual.

    Each hinge ``max(0, u)`` has a bound xi above it, ``xi > 0`` and ``xi > u``, and a slope s in (0, 1), its dual
    variable. At the solution ``s (xi - u) = 0`` and ``(1 - s) xi = 0``; on the way both equal some mu for all hinges.
    The same mu for every row, whatever its weight, makes the whole path the same for weights as for repetitions.
    All arrays are (2, n_rows), for the hinges at -1 and at 1. ``below`` is xi - u and ``rest`` is 1 - s: held apart,
    they keep their digits near 0.
    """

    coef: FloatArray
    intercept: float
    slopes: FloatArray
    rest: FloatArray
    bounds: FloatArray
    below: FloatArray

    KINKS: ClassVar[FloatArray] = np.array([[-1.0], [1.0]])

    @classmethod
    def start(cls, risk: Risk, alpha: float) -> _InteriorPoint:
        """Every slope equal to the prior, which satisfies the dual's one equation, and the coefficients of that."""
        slopes = np.full((2, len(risk.weights)), risk.prior)
        zero = np.zeros_like(risk.positive_mean)
        coef = -risk.gradient_of(slopes[0], zero, alpha)[0] / alpha
        intercept = -float(risk.center @ coef)
        u = risk.scores(coef, intercept) - cls.KINKS
        bounds = np.maximum(u, 0) + 1
        return cls(coef, intercept, slopes, 1 - slopes, bounds, bounds - u)

    def gap(self, risk: Risk, alpha: float) -> float:
        """Risk less the dual's value, relative to the risk: how far from the minimum the point can be at most.

        What the slopes violate their equation by, times the intercept, is what that bound may be wrong by.
        """
        value = risk.value(self.coef, self.intercept, alpha)
        mean_slopes = self.slopes.mean(axis=0)
        pull, total = risk.gradient_of(mean_slopes, np.zeros_like(self.coef), alpha)
        dual = risk.weights @ (self.slopes[0] - self.slopes[1]) / 2 - pull @ pull / (2 * alpha)
        return (abs(value - dual) + abs(total) * (1 + abs(self.intercept))) / (1 + abs(value))

    def step(self, risk: Risk, alpha: float) -> _InteriorPoint:
        """Mehrotra's predictor and corrector, with one factorisation."""
        scale = self.rest * self.below + self.slopes * self.bounds
        solve = risk.newton_system((self.slopes * self.rest / scale).mean(axis=0), alpha)
        by_coef, by_intercept = risk.gradient_of(self.slopes.mean(axis=0), self.coef, alpha)

        def direction(target: float, first: FloatArray | float, second: FloatArray | float) -> _InteriorPoint:
            """The Newton step to where both products equal the target, less second-order terms."""
            e1 = target - self.slopes * self.below - first
            e2 = target - self.rest * self.bounds - second
            fixed = (self.rest * e1 - self.slopes * e2) / scale  # the change of the slopes if u stays
            pull, total = risk.pull(fixed.mean(axis=0))
            coef, intercept = solve(-by_coef - pull - risk.center * total, -by_intercept - total)
            du = risk.scores(coef, intercept)
            ds = fixed + self.slopes * self.rest / scale * du
            # Of two equal expressions, the one that does not divide by a number near 0.
            large = self.slopes > self.rest
            below = np.where(large, (e1 - self.below * ds) / self.slopes, (e2 + self.bounds * ds) / self.rest - du)
            return _InteriorPoint(coef, intercept, ds, -ds, below + du, below)

        mu = self._mu(risk)
        predictor = direction(0.0, 0.0, 0.0)
        centring = (self._moved(predictor, self._longest(predictor))._mu(risk) / mu) ** 3
        second_order = predictor.slopes * predictor.below, predictor.rest * predictor.bounds
        corrector = direction(centring * mu, *second_order)
        return self._moved(corrector, min(1.0, 0.995 * self._longest(corrector)))

    def _mu(self, risk: Risk) -> float:
        products = self.slopes * self.below + self.rest * self.bounds
        return float(products.mean(axis=0) @ risk.weights / 2)

    def _longest(self, step: _InteriorPoint) -> float:
        """The longest step, up to 1 / 0.995, that does not leave the constraints."""
        longest = 1 / 0.995
        for name in ("slopes", "rest", "bounds", "below"):
            value, change = getattr(self, name), getattr(step, name)
            shrinking = change < 0
            if shrinking.any():
                longest = min(longest, float((-value[shrinking] / change[shrinking]).min()))
        return longest

    def _moved(self, step: _InteriorPoint, size: float) -> _InteriorPoint:
        size = min(1.0, size)
        names = ("coef", "intercept", "slopes", "rest", "bounds", "below")
        return _InteriorPoint(*(getattr(self, name) + size * getattr(step, name) for name in names))


def best_intercept(g: FloatArray, weights: FloatArray, prior: float) -> float:
    """The intercept that minimises the double hinge's risk of scores without one; the middle of an interval of them.

    The risk's slope in the intercept is ``-prior`` at the far left and rises by half a row's weight at each of its
    two kinks: the minimum lies where that passes 0.
    """
    kinks = np.concatenate([-1 - g, 1 - g])
    order = np.argsort(kinks, kind="stable")
    slopes = np.cumsum(np.concatenate([weights, weights])[order] / 2)
    first, last = np.searchsorted(slopes, [prior - 1e-12, prior + 1e-12])
    low, high = kinks[order[np.minimum([first, last], len(kinks) - 1)]]
    # A hair below the middle: a row that is exactly there would get its sign from rounding.
    return float(low + (0.5 - 1e-9) * (high - low))


def _warn_unsolved(gap: float) -> None:
    warnings.warn(
        f"The minimum of the risk was not reached: the gap is {gap:.1e}. Scale the data, or use a larger alpha.",
        ConvergenceWarning,
        stacklevel=2,
    )


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), DoubleHinge())}


# --- the paper's solver ---


def descend(
    risk: Risk, held_risk: Risk, alpha: float, start: Solution | None = None, *, keep_last: bool = False
) -> Solution:
    """The paper's gradient descent: learning rate 0.1, at most 100 epochs, an end after 10 without a new least risk.

    The risk that is watched is that of the held-out rows. The paper is silent on where to start (here 0, if no
    ``start`` is given) and on which epoch is kept: the one with the least held-out risk, or the last. The steps are too
    long for some of its grid, where the last may be a poor one.
    """
    coef, intercept = (np.zeros_like(risk.positive_mean), 0.0) if start is None else (start.coef, start.intercept)
    best, least = Solution(coef, intercept), np.inf
    for epoch in range(1, PAPER_EPOCHS + 1):
        by_coef, by_intercept = risk.gradient(coef, intercept, alpha)
        coef, intercept = coef - PAPER_LEARNING_RATE * by_coef, intercept - PAPER_LEARNING_RATE * by_intercept
        value = held_risk.value(coef, intercept, alpha)
        if value < least:
            best, least = Solution(coef, intercept, epoch), value
        elif epoch - best.n_iter >= PAPER_PATIENCE:
            break
    return Solution(coef, intercept, epoch) if keep_last else best


def chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows whose entries fit the bound on memory."""
    step = max(1, _CHUNK // max(1, n_columns))
    return (slice(start, start + step) for start in range(0, n_rows, step))
