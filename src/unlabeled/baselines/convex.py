"""LOG and DH: convex risk minimisation from positive and unlabeled data (du Plessis, Niu and Sugiyama, 2015).

A score ``g(x) = sum_i coef_i k(x, c_i) + intercept`` with one basis function at each training point minimises the
empirical risk of appendix D.2 of the paper, which is in `unlabeled.baselines.convex_risk` with its solvers.

Weights are frequencies, in the basis too. A point that is there w times brings w basis functions with equal
coefficients a: they add ``w a k`` to the score and ``w a^2`` to the penalty. One function ``sqrt(w) k`` with the
coefficient ``sqrt(w) a`` adds the same to both, so that is the basis function of a row of weight w.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
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
from unlabeled.samples import HOLDOUT_SHARE, PUSample, Sample, effective, random_split, some_rows
from unlabeled.scoring.scaling import refuse_large_values
from unlabeled.stages import stage

#: The grid of ``alpha``, lambda in the paper, of all its experiments (appendix D.2).
PAPER_ALPHAS = (1.0, 0.4, 0.2, 0.1, 0.05)
SOLVERS = ("exact", "gd")
SELECTIONS = ("ordered", "random")
READINGS = ("plain", "released")

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
        roots = np.sqrt(effective(np.concatenate([pu.positive.weights, pu.unlabeled.weights])))
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
        the classifier keeps the training rows.
    reading : {"plain", "released"}, default="plain"
        Of the paper's protocol (``solver="gd"``), what the text leaves open. "released", as its authors ran it:
        coefficients and intercept start from N(0, 1), the last epoch is kept, and each pair of the grid, and then the
        classifier with the chosen pair, has a random split and a start of its own. "plain": from 0, the epoch with the
        least held-out risk, one split for all; the best pair's solution is the classifier. Other solvers have no use
        for it.
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
    basis_ : array of shape (n_basis, `n_features_in_`)
        Where the basis functions are: positives first, then unlabeled rows.
    coef_ : array of shape (n_basis,)
        The score is ``sum_i coef_[i] k(x, basis_[i]) + intercept_``.
    intercept_ : float
    n_iter_ : int
        Iterations of the solver; with ``solver="gd"`` the epoch that was kept.
    n_features_in_ : int
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    ``sample_weight`` of whole numbers are frequencies: a weight of 2 equals the row twice, in the basis and its penalty
    too. With ``selection="random"``, or more rows than ``max_basis`` or ``max_evaluations``, that holds on average
    only.

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
    reading: str = "plain"  # likewise

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
        reading: str = "plain",
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
        self.reading = reading
        self.max_basis = max_basis
        self.max_evaluations = max_evaluations
        self.scenario = scenario
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    @classmethod
    def paper(cls, loss: str = "logistic", prior: float | str | PriorEstimator = "km1", **options: Any) -> Self:
        """LOG or DH as in the paper: its solver, its random splits, its grids, a basis at all training points, KM1.

        What the text leaves open is as its authors released it; ``reading="plain"`` is the plainest reading of the
        text. Up to 10,000 basis functions: a larger kernel matrix is what the paper's own runs failed for. Other
        options, such as ``kernel`` and ``random_state``, are passed on.

        Examples
        --------
        >>> from unlabeled import ConvexPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, prior=0.5, random_state=0)
        >>> for reading in ("released", "plain"):
        ...     log = ConvexPUClassifier.paper("logistic", 0.5, reading=reading, random_state=0)
        ...     print(log.fit(data.X, data.y).predict([[2.0, 2.0], [-2.0, -2.0]]))
        [1 0]
        [1 0]
        """
        chosen: dict[str, Any] = {"solver": "gd", "selection": "random", "reading": "released"}
        chosen |= {"max_basis": 10_000, "max_evaluations": None}
        return cls(loss, prior, **(chosen | options))

    def _fit(self, pu: PUSample) -> Self:
        self._check_parameters()
        self.gammas_, self.alphas_ = as_grid(self.gamma, "gamma"), as_grid(self.alpha, "alpha")
        refuse_large_values(pu, self)
        with stage("prior"):
            self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
        rng = check_random_state(self.random_state)

        if self.solver == "gd" and self.reading == "released":
            basis, solution = self._search_as_released(pu, rng)
            return self._keep(pu, basis, solution)
        kept, held = self._split(pu, rng)
        basis, solution = self._search(kept, held, Basis.of(kept, self.max_basis, rng))
        if self.solver == "exact":
            basis = Basis.of(pu, self.max_basis, rng)
            with stage("final fit"):
                solution = LOSSES[self.loss].minimise(self._risk(Distances.of(pu, basis), self.gamma_), self.alpha_)
        return self._keep(pu, basis, solution)

    def _keep(self, pu: PUSample, basis: Basis, solution: Solution) -> Self:
        self._warn_of_a_small_basis(len(pu.positive) + len(pu.unlabeled))
        self.basis_, self.coef_ = basis.points, basis.roots * solution.coef
        self.intercept_, self.n_iter_ = float(solution.intercept), solution.n_iter
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The score g: `predict` answers positive where it is above 0.

        Examples
        --------
        >>> from unlabeled import ConvexPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = ConvexPUClassifier(prior=0.5).fit(data.X, data.y)
        >>> bool(((model.decision_function(data.test) > 0) == (model.predict(data.test) == 1)).all())
        True
        """
        X = self._validated(X)
        kernel, g = as_kernel(self.kernel), np.empty(len(X))
        for rows in chunks(len(X), len(self.basis_)):
            g[rows] = np.exp(kernel.log(cdist(X[rows], self.basis_, "sqeuclidean"), self.gamma_)) @ self.coef_
        return g + self.intercept_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, and its complement in the first.

        For the logistic loss the logistic function of the score, an estimate of the probability. For the double hinge
        ``(1 + g)/2`` cut off at 0 and 1: it ranks as the score does between the kinks, and is no estimate.

        Examples
        --------
        >>> from unlabeled import ConvexPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = ConvexPUClassifier(prior=0.5).fit(data.X, data.y)
        >>> model.predict_proba(data.test).shape
        (100, 2)
        >>> bool(abs(model.predict_proba(data.test).sum(axis=1) - 1).max() < 1e-12)
        True
        """
        decision = self.decision_function(X)
        return two_columns(LOSSES[self.loss].probability(decision), decision)

    def _check_parameters(self) -> None:
        as_kernel(self.kernel)
        for name, accepted in (
            ("loss", LOSSES),
            ("solver", SOLVERS),
            ("selection", SELECTIONS),
            ("reading", READINGS),
        ):
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

    def _search_as_released(self, pu: PUSample, rng: np.random.RandomState) -> tuple[Basis, Solution]:
        """Judge every pair by a split and a start of its own, and fit the best with another split and start."""
        self.risks_ = np.full((len(self.gammas_), len(self.alphas_)), np.inf)
        for i, gamma in enumerate(self.gammas_):
            with stage("gamma and alpha", f"gamma {i + 1} of {len(self.gammas_)}"):
                for j, alpha in enumerate(self.alphas_):
                    *_, risk = self._descend_as_released(pu, float(gamma), float(alpha), rng)
                    if risk < self.risks_.min():
                        self.gamma_, self.alpha_ = float(gamma), float(alpha)
                    self.risks_[i, j] = risk
        if not np.isfinite(self.risks_).any():
            raise ValueError("Gradient descent diverged for every gamma and alpha; scale the data.")
        with stage("final fit"):
            basis, solution, _ = self._descend_as_released(pu, self.gamma_, self.alpha_, rng)
        return basis, solution

    def _descend_as_released(
        self, pu: PUSample, gamma: float, alpha: float, rng: np.random.RandomState
    ) -> tuple[Basis, Solution, float]:
        """The last epoch from a random start, and its held-out risk."""
        kept, held = self._split(pu, rng)
        basis = Basis.of(kept, self.max_basis, rng)
        start = Solution(rng.standard_normal(len(basis.points)), float(rng.standard_normal()))
        risk, held_risk = (self._risk(Distances.of(rows, basis), gamma) for rows in (kept, held))
        solution = descend(risk, held_risk, alpha, start, keep_last=True)
        return basis, solution, held_risk.value(solution.coef, solution.intercept, alpha)

    def _table(self, pu: PUSample) -> Any:
        """What `_search_as_released` would draw, to be fitted beside others. Sets the prior."""
        from unlabeled.baselines.convex_together import Draw, Table  # noqa: PLC0415 (it loads PyTorch)

        if pu.positive.log_weights is not None or pu.unlabeled.log_weights is not None:
            raise ValueError("Models that are fitted together take no weights: repeat the rows, or use fit.")
        n_positive, n_rows = len(pu.positive), len(pu.positive) + len(pu.unlabeled)
        if n_rows > self.max_basis:
            raise ValueError(f"{n_rows} rows are more than max_basis={self.max_basis}; use fit.")
        self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
        rng = check_random_state(self.random_state)
        draws = []
        for _ in range(len(as_grid(self.gamma, "gamma")) * len(as_grid(self.alpha, "alpha")) + 1):
            positive, unlabeled = (split_random(sample, rng)[0] for sample in (pu.positive, pu.unlabeled))
            kept, coef = np.zeros(n_rows, dtype=bool), np.zeros(n_rows)
            kept[positive], kept[n_positive + unlabeled] = True, True
            coef[kept] = rng.standard_normal(kept.sum())
            draws.append(Draw(kept, coef, float(rng.standard_normal())))
        prior = float(np.clip(self.prior_, _PRIOR_MARGIN, 1 - _PRIOR_MARGIN))
        return Table(np.concatenate([pu.positive.rows, pu.unlabeled.rows]), n_positive, prior, draws)

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


# --- many at once ---

#: What models that are fitted together have in common.
_SHARED = ("loss", "kernel", "gamma", "alpha")


def fit_together(
    models: Sequence[ConvexPUClassifier], samples: Sequence[tuple[ArrayLike, ArrayLike]], device: str = "auto"
) -> Sequence[ConvexPUClassifier]:
    """Fit each model to its own table ``(X, y)``, all at once: the same fits, to rounding error, sooner on a card.

    For many small tables, as in an experiment that is repeated. Models are those of `ConvexPUClassifier.paper` as
    released, with priors and random states of their own, in the case-control scenario; tables have the same number of
    columns, positives and unlabeled rows. Needs PyTorch: ``pip install 'unlabeled[torch]'``.
    """
    from unlabeled.baselines.convex_together import fit_tables  # noqa: PLC0415 (it loads PyTorch)
    from unlabeled.baselines.nnpu_network import select_device  # noqa: PLC0415 (likewise)

    first = models[0]
    for model in models:
        _check_fits_together(model, first)
    tables = [model._table(model._pu_sample(X, y, None)) for model, (X, y) in zip(models, samples, strict=True)]
    if len({(table.rows.shape, table.n_positive) for table in tables}) > 1:
        raise ValueError("Tables that are fitted together must have equal numbers of columns, positives and unlabeled.")
    gammas, alphas = as_grid(first.gamma, "gamma"), as_grid(first.alpha, "alpha")
    fits = fit_tables(tables, first.loss, str(first.kernel), gammas, alphas, select_device(device))
    for model, table, fit in zip(models, tables, fits, strict=True):
        model.gammas_, model.alphas_, model.risks_ = gammas, alphas, fit.risks
        model.gamma_, model.alpha_ = float(gammas[fit.best[0]]), float(alphas[fit.best[1]])
        model.basis_, model.coef_ = table.rows[fit.kept], fit.coef[fit.kept]
        model.intercept_, model.n_iter_ = fit.intercept, fit.n_iter
    return models


def _check_fits_together(model: ConvexPUClassifier, first: ConvexPUClassifier) -> None:
    model._check_parameters()
    other = [name for name in _SHARED if getattr(model, name) != getattr(first, name)]
    if other:
        raise ValueError(f"Models that are fitted together must agree in {other[0]}; fit them one by one.")
    wanted = {"solver": "gd", "reading": "released", "selection": "random", "scenario": "case-control"}
    for name, value in (wanted | {"max_evaluations": None}).items():
        if getattr(model, name) != value:
            raise ValueError(f"{name}={getattr(model, name)!r} cannot be fitted together with others; use fit.")
    if not isinstance(model.kernel, str):
        raise TypeError(f"kernel={model.kernel!r} cannot be fitted together with others; give its name, or use fit.")
