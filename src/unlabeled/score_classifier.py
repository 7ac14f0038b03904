"""Any classifier becomes a PU classifier: WMMD in the one-dimensional score that it learns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from unlabeled.decision import ScoreDecisions
from unlabeled.isotonic import ScoredSamples
from unlabeled.kernels import FloatArray
from unlabeled.priors import PriorEstimator, as_prior_estimator, check_prior
from unlabeled.priors.auto import AutoPrior
from unlabeled.priors.cross_fitting import Table, check_can_score, check_n_folds, fit_clone, score_of
from unlabeled.priors.scores import Scores
from unlabeled.samples import PUSample, Sample
from unlabeled.score_ratio import ScoreRatio
from unlabeled.thresholds import Policy, check_threshold

#: Whole-number weights are made copies of rows up to so many rows in all: few learners read a weight as a frequency.
MOST_COPIES = 1_000_000
#: Up to so many rows one thread fits the inner classifiers.
FEW_ROWS = 20_000
_TINY = float(np.finfo(np.float64).tiny)


class ScoreWMMDClassifier(ScoreDecisions, BaseEstimator):
    """Any scikit-learn classifier as a PU classifier, for data that distances say little about.

    The inner classifier learns to tell labelled from unlabeled rows, in folds, so that every row has a score from a fit
    that did not see it. The WMMD works on that one-dimensional score: the ratio of kernel means of positives and
    population, made to rise with the score, is the log ratio that `score_samples` answers; prior, threshold and
    probabilities are read off the out-of-fold scores as in `WMMDClassifier`. New rows get the mean over the folds.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Anything with `predict_proba` or `decision_function`; it is cloned. None: `HistGradientBoostingClassifier` with
        small trees, few features a split, and both samples weighing the same (by their numbers of rows).
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it. "auto" estimates it from the out-of-fold
        scores, other names and estimators of `unlabeled.priors` from the rows.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`.
    n_folds : int, default=5
        Folds of the cross-fitting, and inner classifiers that are kept. Which row comes into which fold depends on the
        rows only, in any order.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    random_state : int, RandomState or None, default=0
        For the default estimator.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the larger one, that marks positives.
    estimators_ : list of classifiers
        One for each fold, fitted to tell labelled (1) from unlabeled (0) rows.
    feature_importances_ : array of shape (n_features_in_,)
        Mean over the inner classifiers, where these have any.
    ratio_ : ScoreRatio
        The log ratio as a function of an inner classifier's score.
    prior_ : float
        The prior in use: as given, or as estimated.
    prior_estimator_ : prior estimator or None
        Where one was asked for, fitted.
    threshold_ : float
        What `score_samples` is compared with.
    calibration_ : Calibration
        P(y = 1 | score).
    scores_ : Scores
        Out-of-fold log ratios of positives and unlabeled rows, weights made copies.
    origins_ : tuple of two arrays
        Which positive and which unlabeled row each of them is of, counted within their sample.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.

    Notes
    -----
    DEDPUL (Ivanov, 2020) has the same first step and estimates the densities of both samples of the score, on the scale
    of ranks, by kernels of a fixed bandwidth rule. Here gamma is chosen by leave-one-out, the score keeps its scale,
    and probabilities come from the isotonic and logistic fits of `WMMDClassifier` with the prior as their mean.

    ``sample_weight`` are frequencies: whole numbers are made copies of rows, other weights are passed on to the
    inner classifier.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        prior: float | str | PriorEstimator = "auto",
        threshold: Policy = "calibrated",
        n_folds: int = 5,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.threshold = threshold
        self.n_folds = n_folds
        self.scenario = scenario
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ScoreWMMDClassifier:
        """Cross-fit the inner classifier, and read ratio, prior, threshold and probabilities off its scores.

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
        inner = default_estimator(self.random_state) if self.estimator is None else self.estimator
        fitted = cross_fit(inner, pu, check_n_folds(self.n_folds))
        self._read(fitted, pu)
        return self

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log ratio of the densities of positives and population at the inner score, the mean over the folds."""
        rows = self._validated(X)
        return np.mean([self.ratio_.log_ratio(score_of(model, rows)) for model in self.estimators_], axis=0)

    @property
    def feature_importances_(self) -> FloatArray:
        """How much the inner classifiers go by each feature, as shares: their importances, coefficients or gains."""
        found = [importances_of(model, self.n_features_in_) for model in self.estimators_]
        known = [values for values in found if values is not None]
        if len(known) < len(found):
            raise AttributeError(f"{type(self.estimators_[0]).__name__} has no importances of features.")
        mean = np.mean(known, axis=0)
        return np.asarray(mean / (mean.sum() or 1.0))

    def _check_parameters(self, pu: PUSample) -> None:
        check_threshold(self.threshold)
        if self.estimator is not None:
            check_can_score(self.estimator)
        if isinstance(self.prior, Real) and not isinstance(self.prior, bool):
            check_prior(float(self.prior), pu)
        elif self.prior != "auto":
            as_prior_estimator(self.prior)

    def _read(self, fitted: CrossFit, pu: PUSample) -> None:
        """Take over the inner classifiers, and all that their scores tell."""
        self.estimators_, self.origins_ = fitted.estimators, (fitted.positive_origin, fitted.unlabeled_origin)
        self.ratio_ = ScoreRatio.fit(fitted.pu)
        samples = fitted.pu.positive, fitted.pu.unlabeled
        positive, unlabeled = (self.ratio_.log_ratio(sample.rows[:, 0]) for sample in samples)
        weights = samples[0].weights, samples[1].weights
        self.scores_ = Scores(positive, unlabeled, *weights)
        self.prior_ = self._prior(self.scores_, pu)
        self._decide(ScoredSamples.of(positive, unlabeled, *weights, pu.labelled_share))

    def _prior(self, scores: Scores, pu: PUSample) -> float:
        self.prior_estimator_: PriorEstimator | None = None
        if isinstance(self.prior, Real):
            return float(self.prior)
        estimator = AutoPrior() if self.prior == "auto" else as_prior_estimator(self.prior)
        estimator.set_params(scenario=self.scenario)
        if isinstance(estimator, AutoPrior) and estimator.estimator is None:
            estimator.fit_scores(scores, pu.labelled_share)
        else:
            estimator.fit_sample(pu)
        self.prior_estimator_ = estimator
        return max(estimator.prior_, _TINY)  # a prior of 0 has no threshold


def default_estimator(random_state: int | np.random.RandomState | None = 0) -> HistGradientBoostingClassifier:
    """Boosted trees for telling few positives from a population that is full of them: small, slow and balanced."""
    return HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=100,
        max_leaf_nodes=8,
        min_samples_leaf=5,
        max_features=0.3,
        l2_regularization=5.0,
        class_weight="balanced",
        early_stopping=False,
        random_state=random_state,
    )


def importances_of(model: Any, n_features: int) -> FloatArray | None:
    """What a fitted classifier goes by; None where it does not say."""
    if isinstance(model, HistGradientBoostingClassifier):  # has no attribute for it; the gain of its splits is usual
        gains = np.zeros(n_features)
        for tree in (tree for trees in model._predictors for tree in trees):
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
        return gains
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_)
    if hasattr(model, "coef_"):
        return np.abs(np.ravel(model.coef_))
    return None


@dataclass(frozen=True)
class CrossFit:
    """Inner classifiers, out-of-fold scores of both samples (n_rows, 1), and which row of its sample each is of."""

    estimators: list[Any]
    pu: PUSample
    positive_origin: np.ndarray
    unlabeled_origin: np.ndarray


def cross_fit(estimator: Any, pu: PUSample, n_folds: int) -> CrossFit:
    """Fit a clone without each fold in turn, and score the fold by it."""
    (positive, positive_origin), (unlabeled, unlabeled_origin) = _as_copies(pu.positive), _as_copies(pu.unlabeled)
    table = Table.of(PUSample(positive, unlabeled, pu.scenario))
    sums, weights, estimators = np.zeros(len(table.rows)), np.zeros(len(table.rows)), []
    # Small trees gain nothing from threads, and on a busy machine these wait for each other most of the time.
    with threadpool_limits(1 if len(table.rows) <= FEW_ROWS else None, user_api="openmp"):
        for kept, held in table.folds(n_folds):
            model = fit_clone(estimator, kept)
            sums[held.place] += held.weights * score_of(model, held.rows)
            weights[held.place] += held.weights
            estimators.append(model)
    of_positive, of_unlabeled = np.split((sums / weights)[:, None], [len(positive)])
    scored = PUSample(
        Sample(of_positive, positive.log_weights), Sample(of_unlabeled, unlabeled.log_weights), pu.scenario
    )
    return CrossFit(estimators, scored, positive_origin, unlabeled_origin)


def _as_copies(sample: Sample) -> tuple[Sample, np.ndarray]:
    """Whole-number weights as copies of rows, in an order that depends on the rows only; and each one's origin."""
    order = np.lexsort(sample.rows.T[::-1])
    counts = np.round(sample.weights[order])
    whole = np.allclose(counts, sample.weights[order], rtol=0, atol=1e-9) and counts.min() >= 1
    whole = whole and counts.sum() <= MOST_COPIES
    if sample.log_weights is None or not whole:
        return sample.take(order), order
    origin = np.repeat(order, counts.astype(int))
    return Sample(sample.rows[origin]), origin
