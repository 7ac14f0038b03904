"""The WMMD classifier as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.engines import select_engine
from unlabeled.kernels import PAPER_GAMMAS, FloatArray, Kernel, as_gammas, as_kernel
from unlabeled.priors import PriorEstimator, as_prior_estimator, check_prior, density_prior, resolve_prior
from unlabeled.samples import PUSample
from unlabeled.score import Kernels, Witness, log_scores
from unlabeled.selection import SELECTIONS, HonestScores, holdout_scores, loo_scores, misclassification_risks


class WMMDClassifier(PUClassifierMixin, BaseEstimator):
    """Closed-form classifier from positive and unlabeled data (Kwon, Kim, Sugiyama and Paik, 2020).

    A point is scored by the ratio of two kernel means, over the labelled positives and over the population, and is
    called positive where the ratio exceeds ``1 / (2 prior)``. Nothing is trained: fitting chooses the kernel's gamma
    from a grid, by the estimated error rate of the classifier it gives, and estimates the prior when it is not known.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="density"
        P(y = 1) in the population. If it is known, give it. ``"density"`` estimates it by the paper's density-based
        method, from the classifier's own scores (see Notes). ``"best-bin"``, ``"dedpul"``, ``"km1"``, ``"km2"``,
        ``"elkan-noto"`` or an estimator of `unlabeled.priors` estimate it beforehand.
    kernel : {"rbf", "inverse"} or a kernel, default="rbf"
        ``exp(-gamma |x - y|^2)`` or ``gamma / (gamma + |x - y|^2)``. Distances are in the units of the data: scale it.
    gamma : float or sequence of floats, default=(1, 0.4, 0.2, 0.1, 0.05)
        One gamma, or the grid to choose from. Of equal risks the first in the grid wins.
    selection : {"loo", "holdout"}, default="loo"
        What gamma and an unknown prior are judged by: leave-one-out scores of all the data, or the paper's 80/20
        random split, after which the classifier keeps the 80 %.
    refit : bool, default=False
        With ``selection="holdout"``, use all of the data for the classifier once gamma is chosen.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Case-control: the unlabeled rows are a sample of the population (the paper's two samples). Single-sample: one
        sample of the population, some of whose positives are labelled; labelled and unlabeled rows together are
        the population.
    engine : {"auto", "numba", "reference"}, default="auto"
        How the kernel sums are computed, never what they are.
    max_evaluations : int or None, default=20000
        At most so many rows of each sample, chosen at random, are scored to choose gamma. All stay in the sums.
    random_state : int, RandomState or None, default=None
        Used by the random split, and by the choice of rows beyond ``max_evaluations``.
    n_jobs : int or None, default=None
        Threads for the kernel sums. None: all cores, or one inside a joblib worker thread.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the larger one, that marks positives. `predict` answers in them.
    prior_ : float
        The prior in use: as given, or as estimated for ``gamma_``.
    gamma_ : float
        The chosen gamma.
    gammas_, risks_, priors_ : arrays of shape (n_gammas,)
        The grid, each gamma's estimated error rate, and the prior that went into it.
    threshold_ : float
        What `score_samples` is compared with: ``-log(2 prior_)``.
    engine_ : str
        The engine in use.
    sample_ : PUSample
        The labelled positives and the unlabeled rows that the score is made of.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.

    Notes
    -----
    With an unknown prior each gamma brings its own estimate into its own risk. The paper leaves this open;
    ``docs/method.md`` compares this reading with the paper's table for an unknown prior. When the estimate reaches the
    end of its range, 1, the threshold is ``log(1/2)`` and a warning says so.

    ``sample_weight`` are frequencies: a weight of 2 equals the row twice, in leave-one-out too.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import WMMDClassifier
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(+1, 1, (100, 2))
    >>> unlabeled = np.vstack([rng.normal(+1, 1, (200, 2)), rng.normal(-1, 1, (200, 2))])
    >>> X = np.vstack([positive, unlabeled])
    >>> y = np.r_[np.ones(100), np.zeros(400)]
    >>> model = WMMDClassifier(prior=0.5).fit(X, y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1., 0.])
    """

    def __init__(
        self,
        prior: float | str | PriorEstimator = "density",
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | tuple[float, ...] = PAPER_GAMMAS,
        selection: str = "loo",
        refit: bool = False,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 20_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.selection = selection
        self.refit = refit
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def paper(
        cls,
        prior: float | str | PriorEstimator = "density",
        *,
        kernel: str | Kernel = "rbf",
        random_state: int | np.random.RandomState | None = None,
        **options: Any,
    ) -> Self:
        """The configuration of the paper's appendix D.1; ``options`` override it.

        Hold-out selection of gamma from {1, 0.4, 0.2, 0.1, 0.05} by the estimated error rate, the classifier keeping
        80 % of the data, and the density-based prior where the prior is not given.
        """
        settings: dict[str, Any] = {"gamma": PAPER_GAMMAS, "selection": "holdout"}
        return cls(prior, kernel=kernel, random_state=random_state, **(settings | options))

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> WMMDClassifier:
        """Choose gamma, and the prior if it is not given.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two values: the larger marks labelled positives, the other unlabeled rows.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        pu = self._pu_sample(X, y, sample_weight)
        self._check_parameters(pu)
        self.engine_ = select_engine(self.engine)
        self.gammas_ = as_gammas(self.gamma)

        scores, kept = self._honest_scores(pu)
        self.priors_ = self._priors(scores, pu)
        self.risks_ = misclassification_risks(scores, self.priors_)
        best = int(np.argmin(self.risks_))
        self.gamma_, self.prior_ = float(self.gammas_[best]), float(self.priors_[best])
        self.threshold_ = float(-np.log(2 * self.prior_))
        self.sample_ = pu if self.refit else kept
        self._witness: Witness | None = None
        if self.prior_ == 1.0:
            warnings.warn(
                "The density-based prior came out as 1, the end of its range: unlabeled rows are as dense around the "
                "labelled positives as these are. Give the prior if you know it, or try larger gammas.",
                stacklevel=2,
            )
        return self

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of the ratio of the two kernel means: larger is more likely positive. It needs no prior."""
        return self._log_scores(self._validated(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0."""
        return self.score_samples(X) - self.threshold_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, as ``prior * ratio`` cut off at 1, and its complement in the first.

        Above 1/2 exactly where `predict` answers positive. Wide kernels pull the ratio to 1, so these probabilities
        rank well and are calibrated poorly.
        """
        decision = self.decision_function(X)
        return two_columns(np.exp(np.minimum(decision, np.log(2))) / 2, decision)

    def witness(self, X: ArrayLike) -> FloatArray:
        """The normalised discriminant function f of the paper's closed form: positive where `predict` says so.

        It is the function of the unit ball that minimises the empirical hinge risk, up to the rounding of a sum of
        kernels: far from all data it is 0, while `decision_function` still tells the sides apart.
        """
        rows = self._validated(X)
        if self._witness is None:  # its norm takes all pairs of training rows, so it is made when first asked for
            kernels = self._kernels(self.gamma_)
            self._witness = Witness.of(self.sample_.positive, self.sample_.population, 2 * self.prior_, kernels)
        return self._witness.f(rows)

    def _check_parameters(self, pu: PUSample) -> None:
        as_kernel(self.kernel)
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection={self.selection!r} is not known; use one of {list(SELECTIONS)}.")
        if self.max_evaluations is not None and not (
            isinstance(self.max_evaluations, Integral) and self.max_evaluations >= 1
        ):
            raise ValueError(f"max_evaluations must be a whole number above 0, or None; got {self.max_evaluations!r}.")
        if isinstance(self.prior, Real):
            check_prior(float(self.prior), pu)
        else:
            as_prior_estimator(self.prior)

    def _kernels(self, gammas: ArrayLike) -> Kernels:
        return Kernels(self.kernel, as_gammas(gammas), self.engine_, self.n_jobs)

    def _honest_scores(self, pu: PUSample) -> tuple[HonestScores, PUSample]:
        rng = check_random_state(self.random_state)
        if self.selection == "holdout":
            return holdout_scores(pu, self._kernels(self.gammas_), self.max_evaluations, rng)
        return loo_scores(pu, self._kernels(self.gammas_), self.max_evaluations, rng), pu

    def _priors(self, scores: HonestScores, pu: PUSample) -> FloatArray:
        if isinstance(self.prior, str) and self.prior == "density":
            return np.maximum(density_prior(scores.positive, scores.positive_weights), pu.labelled_share)
        return np.full(len(self.gammas_), resolve_prior(self.prior, pu))

    def _log_scores(self, X: FloatArray) -> FloatArray:
        return log_scores(X, self.sample_, self._kernels(self.gamma_))[0]
