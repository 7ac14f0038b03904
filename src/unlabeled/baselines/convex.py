"""LOG and DH: convex risk minimisation from positive and unlabeled data (du Plessis, Niu and Sugiyama, 2015).

A score ``g(x) = sum_i coef_i k(x, c_i) + intercept`` with one basis function at each training point minimises the
empirical risk of appendix D.2 of the paper, which is in `unlabeled.baselines.convex_risk` with its solvers.

Weights are frequencies, in the basis too. A point that is there w times brings w basis functions with equal
coefficients a: they add ``w a k`` to the score and ``w a^2`` to the penalty. One function ``sqrt(w) k`` with the
coefficient ``sqrt(w) a`` adds the same to both, so that is the basis function of a row of weight w.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.baselines.convex_risk import LOSSES, Loss, Risk, Solution, chunks, descend
from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.kernels import PAPER_GAMMAS, Kernel, as_grid, as_kernel
from unlabeled.priors import PriorEstimator, resolve_prior
from unlabeled.samples import HOLDOUT_SHARE, PUSample, Sample, random_split, some_rows
from unlabeled.scoring.scaling import refuse_large_values
from unlabeled.stages import stage

#: The grid of ``alpha``, lambda in the paper, of all its experiments (appendix D.2).
PAPER_ALPHAS = (1.0, 0.4, 0.2, 0.1, 0.05)
SOLVERS = ("exact", "gd")
SELECTIONS = ("ordered", "random")

#: An estimated prior of 0 or 1 has no finite minimum: the intercept runs away. It is kept this far inside.
_PRIOR_MARGIN = 1e-6


# --- features ---


@dataclass(frozen=True)
class Basis:
    """Basis functions ``sqrt(weight) k(., point)``."""

    points: FloatArray
    roots: FloatArray

    @classmethod
    def of(cls, pu: PUSample, max_basis: int, rng: np.random.RandomState) -> Basis:
        """One function at each training point, positives first, or at a random subset of ``max_basis`` of them."""
        points = np.concatenate([pu.positive.rows, pu.unlabeled.rows])
        roots = np.sqrt(np.concatenate([pu.positive.weights, pu.unlabeled.weights]))
        some = some_rows(len(points), max_basis, rng)
        return cls(points[some], roots[some])


@dataclass(frozen=True)
class Distances:
    """Squared distances of a PU sample from the basis, once for all gammas: (n, n_basis)."""

    pu: PUSample
    basis: Basis
    positive: FloatArray
    population: FloatArray

    @classmethod
    def of(cls, pu: PUSample, basis: Basis) -> Distances:
        """Measure a sample."""
        positive, population = (cdist(rows, basis.points, "sqeuclidean") for rows in _rows(pu))
        return cls(pu, basis, positive, population)

    def risk(self, loss: Loss, prior: float, kernel: Kernel, gamma: float) -> Risk:
        """The risk of this sample for one gamma."""
        weights, positive_weights = _shares(self.pu.population), _shares(self.pu.positive)
        features = self._features(self.population, kernel, gamma)
        center = weights @ features
        features -= center
        positive_mean = positive_weights @ self._features(self.positive, kernel, gamma) - center
        return Risk(loss, prior, features, center, weights, positive_mean)

    def _features(self, sq_dist: FloatArray, kernel: Kernel, gamma: float) -> FloatArray:
        features = np.empty_like(sq_dist)
        for rows in chunks(*sq_dist.shape):
            np.multiply(np.exp(kernel.log(sq_dist[rows], gamma)), self.basis.roots, out=features[rows])
        return features


def _rows(pu: PUSample) -> tuple[FloatArray, FloatArray]:
    return pu.positive.rows, pu.population.rows


def _shares(sample: Sample) -> FloatArray:
    return sample.weights / sample.total


# --- the split ---


def split_random(sample: Sample, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """The paper's: rows to train on, and 20 % chosen at random to hold out. A single row is on both sides."""
    kept, held = random_split(len(sample), rng)
    return np.sort(kept if len(kept) else held), np.sort(held)


def split_ordered(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Hold out every fifth of the distinct rows, in lexicographic order.

    Copies of a row are on one side, and the order of the rows does not matter. A single row is on both sides.
    """
    place = np.unique(sample.rows, axis=0, return_inverse=True)[1].ravel()
    n_distinct, every = place.max() + 1, round(1 / HOLDOUT_SHARE)
    is_held = place % every == min(every // 2, n_distinct - 1)
    everything = np.arange(len(sample))
    return (everything if n_distinct == 1 else everything[~is_held]), everything[is_held]


# --- the classifier ---


class ConvexPUClassifier(PUClassifierMixin, BaseEstimator):
    """Convex risk minimisation from positive and unlabeled data: LOG and DH (du Plessis, Niu and Sugiyama, 2015).

    The score is a sum of kernels around the training points and an intercept, and minimises
    ``-prior mean_P(g) + mean_U(loss(-g)) + alpha/2 |coef|^2``, an estimate of the classification risk.

    Parameters
    ----------
    loss : {"logistic", "double_hinge"}, default="logistic"
        LOG or DH in the paper.
    prior : float in (0, 1), str or prior estimator, default="dedpul"
        P(y = 1) in the population, or how to estimate it (see `unlabeled.priors`). If it is known, give it: the risk
        calls about this share of the unlabeled rows positive.
    kernel : {"rbf", "inverse"} or a kernel, default="rbf"
        ``exp(-gamma |x - y|^2)`` or ``gamma / (gamma + |x - y|^2)``. Distances are in the units of the data: scale it.
    gamma : float or sequence of floats, default=(1, 0.4, 0.2, 0.1, 0.05)
        One gamma, or the grid to choose from.
    alpha : float or sequence of floats, default=(1, 0.4, 0.2, 0.1, 0.05)
        The penalty on the coefficients, lambda in the paper: one, or the grid to choose from. The intercept is free.
    solver : {"exact", "gd"}, default="exact"
        "exact" finds the minimum of the risk, and once gamma and alpha are chosen uses all of the data: by Newton's
        method for the logistic loss (the minimum that L-BFGS would find, sooner and to more digits; checked against a
        generic solver), by an interior-point method for the double hinge. "gd" is the paper's protocol: gradient
        descent with the learning rate 0.1 for at most 100 epochs, ended after 10 epochs without a lower held-out risk;
        the classifier is that of the best epoch, and keeps the training rows.
    selection : {"ordered", "random"}, default="ordered"
        How a fifth of each sample is held out to choose gamma and alpha by their risk there, penalty included.
        "ordered": every fifth of the distinct rows in lexicographic order. It has no randomness, and copies of a row
        stay together, so that weights equal repetitions. "random": the paper's random split.
    max_basis : int, default=1000
        The most training points that carry basis functions. Where there are more, some are chosen at random, and a
        warning says so. Memory is about ``16 * n_rows * max_basis`` bytes: 1.6 GB for 100,000 rows at the default.
    max_evaluations : int or None, default=10000
        The most rows of each sample, chosen at random, that gamma and alpha are chosen by. All are in the final fit.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Case-control: the unlabeled rows are a sample of the population. Single-sample: labelled and unlabeled rows
        together are, and the mean over U in the risk is over both.
    random_state : int, RandomState or None, default=None
        Used by the random split, and by the choices beyond ``max_basis`` and ``max_evaluations``.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives. `predict` answers in them.
    prior_, gamma_, alpha_ : float
        What is in use: as given, as estimated, or as chosen.
    gammas_, alphas_ : arrays of shape (n_gammas,) and (n_alphas,)
        The grids.
    risks_ : array of shape (n_gammas, n_alphas)
        The held-out risk of each pair, penalty included. Of equal risks the first wins.
    basis_ : array of shape (n_basis, n_features_in_)
        Where the basis functions are: positives first, then unlabeled rows.
    coef_ : array of shape (n_basis,)
        The score is ``sum_i coef_[i] k(x, basis_[i]) + intercept_``.
    intercept_ : float
    n_iter_ : int
        Iterations of the solver; with ``solver="gd"`` the epoch that was kept.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    ``sample_weight`` are frequencies: a weight of 2 equals the row twice, in the basis and its penalty too. With
    ``selection="random"``, or more rows than ``max_basis`` or ``max_evaluations``, that holds on average only.

    Time grows as ``n_rows * max_basis^2`` for each of the 25 pairs of the grid, where ``max_evaluations`` bounds
    ``n_rows``, and for the final fit, where nothing does.

    The risk fixes the mean slope of the loss over U at the prior. Where the prior is wrong for the data, about that
    share of the unlabeled rows is called positive all the same.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.baselines.convex import ConvexPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(+1, 1, (50, 2))
    >>> unlabeled = np.vstack([rng.normal(+1, 1, (100, 2)), rng.normal(-1, 1, (100, 2))])
    >>> X = np.vstack([positive, unlabeled])
    >>> y = np.r_[np.ones(50), np.zeros(200)]
    >>> model = ConvexPUClassifier("double_hinge", prior=0.5).fit(X, y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1., 0.])
    """

    verbose: bool = False  # what models that were saved before have

    def __init__(
        self,
        loss: str = "logistic",
        prior: float | str | PriorEstimator = "dedpul",
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | tuple[float, ...] = PAPER_GAMMAS,
        alpha: float | tuple[float, ...] = PAPER_ALPHAS,
        solver: str = "exact",
        selection: str = "ordered",
        max_basis: int = 1_000,
        max_evaluations: int | None = 10_000,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = None,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.solver = solver
        self.selection = selection
        self.max_basis = max_basis
        self.max_evaluations = max_evaluations
        self.scenario = scenario
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    @classmethod
    def paper(cls, loss: str = "logistic", prior: float | str | PriorEstimator = "km1", **options: Any) -> Self:
        """LOG or DH as in the paper: its solver, its random split, its grids, a basis at all training points, KM1.

        Up to 10,000 of them: a larger kernel matrix is what the paper's own runs failed for. Other options, such as
        ``kernel`` and ``random_state``, are passed on.
        """
        chosen: dict[str, Any] = {"solver": "gd", "selection": "random", "max_basis": 10_000, "max_evaluations": None}
        return cls(loss, prior, **(chosen | options))

    def _fit(self, pu: PUSample) -> Self:
        self._check_parameters()
        self.gammas_, self.alphas_ = as_grid(self.gamma, "gamma"), as_grid(self.alpha, "alpha")
        refuse_large_values(pu, self)
        with stage("prior"):
            self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
        rng = check_random_state(self.random_state)

        kept, held = self._split(pu, rng)
        basis, solution = self._search(kept, held, Basis.of(kept, self.max_basis, rng))
        if self.solver == "exact":
            basis = Basis.of(pu, self.max_basis, rng)
            with stage("final fit"):
                solution = LOSSES[self.loss].minimise(self._risk(Distances.of(pu, basis), self.gamma_), self.alpha_)
        self._warn_of_a_small_basis(len(pu.positive) + len(pu.unlabeled))

        self.basis_, self.coef_ = basis.points, basis.roots * solution.coef
        self.intercept_, self.n_iter_ = float(solution.intercept), solution.n_iter
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The score g: `predict` answers positive where it is above 0."""
        X = self._validated(X)
        kernel, g = as_kernel(self.kernel), np.empty(len(X))
        for rows in chunks(len(X), len(self.basis_)):
            g[rows] = np.exp(kernel.log(cdist(X[rows], self.basis_, "sqeuclidean"), self.gamma_)) @ self.coef_
        return g + self.intercept_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, and its complement in the first.

        For the logistic loss the logistic function of the score, an estimate of the probability. For the double hinge
        ``(1 + g)/2`` cut off at 0 and 1: it ranks as the score does between the kinks, and is no estimate.
        """
        decision = self.decision_function(X)
        return two_columns(LOSSES[self.loss].probability(decision), decision)

    def _check_parameters(self) -> None:
        as_kernel(self.kernel)
        for name, accepted in (("loss", LOSSES), ("solver", SOLVERS), ("selection", SELECTIONS)):
            if getattr(self, name) not in accepted:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; use one of {sorted(accepted)}.")
        if not (isinstance(self.max_basis, Integral) and self.max_basis >= 1):
            raise ValueError(f"max_basis must be a whole number above 0; got {self.max_basis!r}.")
        rows: object = self.max_evaluations
        if not (rows is None or (isinstance(rows, Integral) and int(rows) >= 2)):
            raise ValueError(f"max_evaluations must be a whole number of 2 or more, or None; got {rows!r}.")

    def _split(self, pu: PUSample, rng: np.random.RandomState) -> tuple[PUSample, PUSample]:
        """The rows to train on, and the rows to judge by."""
        pu = pu.take(*(some_rows(len(sample), self.max_evaluations, rng) for sample in (pu.positive, pu.unlabeled)))
        samples = pu.positive, pu.unlabeled
        if self.selection == "random":
            positive, unlabeled = (split_random(sample, rng) for sample in samples)
        else:
            positive, unlabeled = (split_ordered(sample) for sample in samples)
        return pu.take(positive[0], unlabeled[0]), pu.take(positive[1], unlabeled[1])

    def _search(self, kept: PUSample, held: PUSample, basis: Basis) -> tuple[Basis, Solution]:
        """Fit every pair on the rows kept, judge it on those held out, and remember the best."""
        distances = Distances.of(kept, basis), Distances.of(held, basis)
        self.risks_ = np.full((len(self.gammas_), len(self.alphas_)), np.inf)
        best = Solution(np.zeros(len(basis.points)), 0.0)
        for i, gamma in enumerate(self.gammas_):
            with stage("gamma and alpha", f"gamma {i + 1} of {len(self.gammas_)}"):
                fits = list(self._fits(*distances, float(gamma)))
            for j, (solution, risk) in enumerate(fits):
                if risk < self.risks_.min():
                    best, self.gamma_, self.alpha_ = solution, float(gamma), float(self.alphas_[j])
                self.risks_[i, j] = risk
        return basis, best

    def _fits(self, kept: Distances, held: Distances, gamma: float) -> Iterator[tuple[Solution, float]]:
        """The solution for each alpha, with its held-out risk; they share the features."""
        risk, held_risk = self._risk(kept, gamma), self._risk(held, gamma)
        for alpha in self.alphas_:
            solution = descend(risk, held_risk, alpha) if self.solver == "gd" else risk.loss.minimise(risk, alpha)
            yield solution, held_risk.value(solution.coef, solution.intercept, alpha)

    def _risk(self, distances: Distances, gamma: float) -> Risk:
        prior = float(np.clip(self.prior_, _PRIOR_MARGIN, 1 - _PRIOR_MARGIN))
        return distances.risk(LOSSES[self.loss], prior, as_kernel(self.kernel), gamma)

    def _warn_of_a_small_basis(self, n_points: int) -> None:
        if n_points > self.max_basis:
            warnings.warn(
                f"{n_points} training points are more than max_basis={self.max_basis}: the basis functions are at a "
                "random subset of that size. All rows stay in the risk. A larger max_basis takes more time and memory.",
                stacklevel=3,
            )
