"""Any classifier becomes a PU classifier: WMMD in the one-dimensional score that it learns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray, on_host
from unlabeled.deciding.choice_of_negatives import check_choice
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.engines.threads import n_threads
from unlabeled.priors import PriorEstimator, ResolvedPrior, check_prior, resolve_prior
from unlabeled.samples import PUSample, stacked
from unlabeled.scoring.binning import Steps
from unlabeled.scoring.cross_fitting import Pool, check_can_score, check_n_folds, cross_fit, score_of, side_by_side
from unlabeled.scoring.one_dimension import ScoreRatio
from unlabeled.scoring.ratio import engine_of_fit
from unlabeled.stages import stage

#: One over the penalty of the linear score of sparse rows whose mean squared length is 1. Of 0.03 to 10 the best for
#: TF-IDF and counts of a topic model together: unlabeled rows are full of positives, so labels are noise in part.
SPARSE_C = 0.3
#: So few rows are scored by one thread: more would wait for each other longer than they work.
FEW_TO_SCORE = 1_000


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
        small trees, few features a split, and both samples weighing the same (by their numbers of rows). It takes no
        sparse tables: for these, `LogisticRegression` with as much weight on both samples, see Notes.
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it. "auto" and "density" estimate it from the out-of-fold
        scores, other names and estimators of `unlabeled.priors` from the rows.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`.
    n_folds : int, default=5
        Folds of the cross-fitting, and inner classifiers that are kept. Which row comes into which fold depends on the
        rows only, in any order.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How the kernel sums of the ratio are computed.
    random_state : int, RandomState or None, default=0
        For the default estimator.
    n_jobs : int or None, default=None
        Threads for the kernel sums and the default trees; an estimator of yours sees to its own.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.
    negative : optional
        The value of y that marks rows known to be negative, see Notes of `PUClassifier`; None: there are none.
    negatives_are : {"auto", "random", "selected"} or float in [0, 1], default="auto"
        How far the known negatives are a random choice of all negatives, and so have a say in the prior. "auto":
        random, unless a check contradicts it.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    estimators_ : list of classifiers
        One for each fold, fitted to tell labelled (1) from unlabeled (0) rows.
    feature_importances_ : array of shape (`n_features_in_`,)
        Mean over the inner classifiers, where these have any.
    steps_ : Steps or None
        The steps that features are in for the default estimator; None for others, which see features as they are.
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
    known_negatives_ : KnownNegatives or None
        How known negatives enter the score, and whether they look like a random choice; None without any.
    honest_scores_ : HonestScores
        Out-of-fold log ratios of positives and unlabeled rows, whole-number weights made copies.
    engine_ : str
        The engine of the largest sums of the fit; "auto" chooses for each.
    engine_reason_ : str
        Why it is this one.
    n_features_in_ : int
    n_missing_ : array of shape (`n_features_in_`,)
        How many values of each feature were missing (NaN) in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    Boosted trees learn for each split where missing values (NaN) go. A classifier of yours is given them as they are,
    and has the last word on them.

    Text as TF-IDF and other sparse tables have more features than rows, each of which says little: a linear score with
    a penalty is what suits them. The penalty is in units of the mean squared length of the rows, so that multiplying
    the table by a number changes nothing.

    DEDPUL (Ivanov, 2020) has the same first step and estimates the densities of both samples of the score, on the scale
    of ranks, by kernels of a fixed bandwidth rule. Here gamma is chosen by leave-one-out, the score keeps its scale,
    and probabilities come from the isotonic and logistic fits of `WMMDClassifier` with the prior as their mean.

    ``sample_weight`` of whole numbers are frequencies, and made copies of rows. Other weights are passed on to the
    inner classifier, scaled so that their sum is the effective number of rows.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unlabeled import ScoreWMMDClassifier
    >>> model = ScoreWMMDClassifier(LogisticRegression()).fit(data.X, data.y)
    >>> round(float(((model.predict(data.test) == 1) == data.test_truth).mean()), 2)  # accuracy on new rows
    0.85
    """

    _takes_missing = True
    _takes_sparse = True
    verbose: bool = False  # what models that were saved before have
    # How many unlabeled rows each stands for where only some are given. Positives weigh that much less in the
    # population, which is nothing to the inner classifier.
    _stands_for: float = 1.0

    def __init__(
        self,
        estimator: Any = None,
        *,
        prior: float | str | PriorEstimator = "auto",
        threshold: Policy = "calibrated",
        n_folds: int = 5,
        scenario: str = "case-control",
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        pos_label: Any = None,
        negative: Any = None,
        negatives_are: str | float = "auto",
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.threshold = threshold
        self.n_folds = n_folds
        self.scenario = scenario
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.pos_label = pos_label
        self.negative = negative
        self.negatives_are = negatives_are
        self.verbose = verbose

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_parameters(pu)
        choice = engine_of_fit(self.engine, "rbf", pu, n_features=1)
        self.engine_, self.engine_reason_ = choice.name, choice.reason
        inner, self.steps_ = self._inner(pu)
        seen = pu if self.steps_ is None else pu.mapped(self.steps_.apply)
        self.estimators_, learned = self._cross_fit(inner, seen)
        how: dict[str, Any] = {"engine": self.engine, "n_jobs": self.n_jobs}
        with stage("ratio of the learned score"):
            self.ratio_ = ScoreRatio.fit(learned, **how)
            scores = self._out_of_fold(counted(learned, np.log(self._stands_for)), pu.labelled_share)
        with stage("prior"):
            self.prior_, self.prior_estimator_ = prior or resolve_prior(self.prior, pu, scores, **how)
        with stage("calibration"):
            self._decide(scores)
        return self

    def _inner(self, pu: PUSample) -> tuple[Any, Steps | None]:
        """The inner classifier, and the steps that it sees features in."""
        if self.estimator is not None:
            return self.estimator, None
        if self._learned_sparse:
            return sparse_estimator(pu), None
        seed = self.random_state
        if seed is None:  # drawn once, for folds that are fitted at once would draw in any order
            seed = int(check_random_state(None).randint(np.iinfo(np.int32).max))
        with stage("steps of features"):
            return default_estimator(seed), _steps_of(pu)

    def _cross_fit(self, inner: Any, pu: PUSample) -> tuple[list[Any], PUSample]:
        """A classifier for each fold, and the samples with out-of-fold scores as rows, which count as these do."""
        once = counted(pu, np.log(self._stands_for))
        estimators, learned = cross_fit(inner, once, check_n_folds(self.n_folds), self._n_threads())
        return estimators, counted(learned, -np.log(self._stands_for))

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log ratio of the densities of positives and population at the inner score, the mean over the folds."""
        rows = on_host(rows)  # where the inner classifiers are
        rows = rows if self.steps_ is None else self.steps_.apply(rows)
        threads = 1 if self.steps_ is not None and len(rows) <= FEW_TO_SCORE else self._n_threads()
        scores = side_by_side(lambda model: score_of(model, rows), self.estimators_, threads)
        return np.mean([self.ratio_.log_ratio(of_model) for of_model in scores], axis=0)

    def score_rows_like_honest(self, rows: FloatArray) -> FloatArray:
        """Each row by one of the folds' classifiers in turn: a mean over all varies less than out-of-fold scores do."""
        rows = on_host(rows)
        rows = rows if self.steps_ is None else self.steps_.apply(rows)
        scores = np.empty(rows.shape[0])
        for fold, model in enumerate(self.estimators_):
            dealt = np.arange(fold, rows.shape[0], len(self.estimators_))
            if len(dealt):
                scores[dealt] = self.ratio_.log_ratio(score_of(model, rows[dealt]))
        return scores

    def _n_threads(self) -> int | None:
        """Threads for the default trees; None for other classifiers, which might not stand to be fitted at once."""
        return None if self.steps_ is None else n_threads(self.n_jobs)

    @property
    def feature_importances_(self) -> FloatArray:
        """How much the inner classifiers go by each feature, as shares: their importances, coefficients or gains."""
        found = [importances_of(model) for model in self.estimators_]
        known = [values for values in found if values is not None]
        if len(known) < len(found):
            raise AttributeError(f"{type(self.estimators_[0]).__name__} has no importances of features.")
        mean = self.by_column(np.mean(known, axis=0))
        return np.asarray(mean / (mean.sum() or 1.0))

    def _check_parameters(self, pu: PUSample) -> None:
        check_threshold(self.threshold)
        check_choice(self.negatives_are)
        if self.estimator is not None:
            check_can_score(self.estimator)
        check_prior(self.prior, pu)

    def _out_of_fold(self, learned: PUSample, labelled_share: float) -> HonestScores:
        """Log ratios at the out-of-fold scores of both samples (n_rows, 1)."""
        positive, unlabeled = learned.positive, learned.unlabeled
        return HonestScores(
            self.ratio_.log_ratio(positive.rows[:, 0]),
            self.ratio_.log_ratio(unlabeled.rows[:, 0]),
            positive.effective_weights,
            unlabeled.effective_weights,
            labelled_share,
            positive.row_numbers,
            unlabeled.row_numbers,
        )


def counted(pu: PUSample, log_times: float) -> PUSample:
    """The same samples, each positive so many times; what was multiplied can be divided without a trace."""
    if log_times == 0:
        return pu
    positive = pu.positive
    log_weights = log_times + (np.zeros(len(positive)) if positive.log_weights is None else positive.log_weights)
    return replace(pu, positive=replace(positive, log_weights=log_weights))


def _steps_of(pu: PUSample) -> Steps:
    pool = Pool.of(pu)
    return Steps.of(pool.rows, pool.weights)


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


def sparse_estimator(pu: PUSample) -> LogisticRegression:
    """A linear score for sparse rows: never dense, balanced, with a penalty in units of the rows."""
    samples = pu.positive, pu.unlabeled
    rows: Any = stacked([sample.rows for sample in samples])
    lengths = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    mean = np.average(lengths, weights=np.concatenate([sample.weights for sample in samples]))
    # Solved closely: how far from the minimum it ends must not depend on the units.
    return LogisticRegression(C=SPARSE_C / (mean or 1.0), class_weight="balanced", tol=1e-6, max_iter=1000)


def importances_of(model: Any) -> FloatArray | None:
    """What a fitted classifier goes by; None where it does not say."""
    if isinstance(model, HistGradientBoostingClassifier):  # has no attribute for it; the gain of its splits is usual
        gains = np.zeros(model.n_features_in_)
        for tree in (tree for trees in model._predictors for tree in trees):
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
        return gains
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_)
    if hasattr(model, "coef_"):
        return np.abs(np.ravel(model.coef_))
    return None
