"""The classifier to start with: WMMD on distances or in a learned score, whichever the data speak for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unlabeled.classifier import WMMDClassifier
from unlabeled.contract import PUClassifierMixin
from unlabeled.isotonic import IsotonicRatio, ScoredSamples
from unlabeled.kernels import FloatArray
from unlabeled.priors import PriorEstimator
from unlabeled.score_classifier import ScoreWMMDClassifier
from unlabeled.thresholds import Policy

#: The learned score must be better by so many standard errors: where nothing is to be seen, the closed form is kept.
STANDARD_ERRORS = 0.5


class PUClassifier(PUClassifierMixin, BaseEstimator):
    """Classifier from positive and unlabeled data that chooses how to score them; start here.

    `WMMDClassifier` scores by distances, in closed form. `ScoreWMMDClassifier` scores by boosted trees, or another
    classifier that you give. Both are fitted, and each labelled or unlabeled row has a score of either that it took no
    part in. The one that tells labelled from unlabeled rows better on these scores is kept, the second only if it is
    better by more than half a standard error. No negatives are needed for that: whatever ranks positives higher above
    the population also ranks them higher above the negatives.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it.
    estimator : classifier or None, default=None
        What learns the second score. None: boosted trees, see `ScoreWMMDClassifier`.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    max_evaluations : int or None, default=10000
        At most so many rows of each sample are scored by distances to choose; all stay in the sums.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads for the kernel sums.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the larger one, that marks positives.
    chosen_ : {"wmmd", "score"}
        What is in use.
    reason_ : str
        Why, in a sentence.
    comparison_ : Comparison
        The two log-likelihoods, their difference and its standard error.
    classifier_ : WMMDClassifier or ScoreWMMDClassifier
        The one in use, fitted.
    prior_, prior_estimator_, threshold_
        Those of ``classifier_``.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.

    Examples
    --------
    >>> from unlabeled import PUClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = PUClassifier(prior=0.5).fit(data.X, data.y)
    >>> model.chosen_
    'wmmd'
    """

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        estimator: Any = None,
        threshold: Policy = "calibrated",
        n_folds: int = 5,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.estimator = estimator
        self.threshold = threshold
        self.n_folds = n_folds
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PUClassifier:
        """Fit both classifiers and keep one.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two values: the larger marks labelled positives, the other unlabeled rows.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        self._pu_sample(X, y, sample_weight)  # remembers classes and features, and refuses what cannot be learned from
        by_distance, by_score = (part.fit(X, y, sample_weight) for part in self._parts())
        self.comparison_ = compare(by_distance, by_score)
        margin = STANDARD_ERRORS * self.comparison_.standard_error
        self.chosen_ = "score" if self.comparison_.difference > margin else "wmmd"
        self.classifier_ = by_score if self.chosen_ == "score" else by_distance
        self.reason_ = self.comparison_.sentence(self.chosen_)
        return self

    @property
    def prior_(self) -> float:
        """The prior in use: as given, or as estimated."""
        return self.classifier_.prior_

    @property
    def prior_estimator_(self) -> PriorEstimator | None:
        """The fitted estimator of the prior, where one was asked for."""
        return self.classifier_.prior_estimator_

    @property
    def threshold_(self) -> float:
        """What `score_samples` is compared with."""
        return self.classifier_.threshold_

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of p(x | y = 1) / p(x): larger is more likely positive."""
        check_is_fitted(self)
        return self.classifier_.score_samples(X)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0."""
        check_is_fitted(self)
        return self.classifier_.decision_function(X)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, its complement in the first."""
        check_is_fitted(self)
        return self.classifier_.predict_proba(X)

    def _parts(self) -> tuple[WMMDClassifier, ScoreWMMDClassifier]:
        shared: dict[str, Any] = {
            "prior": self.prior,
            "threshold": self.threshold,
            "scenario": self.scenario,
            "random_state": self.random_state,
        }
        of_kernels: dict[str, Any] = {
            "engine": self.engine,
            "max_evaluations": self.max_evaluations,
            "n_jobs": self.n_jobs,
        }
        return (
            WMMDClassifier(**shared, **of_kernels),
            ScoreWMMDClassifier(self.estimator, n_folds=self.n_folds, **shared),
        )


@dataclass(frozen=True)
class Comparison:
    """Mean log-likelihoods of telling labelled from unlabeled rows, and how sure their difference is."""

    wmmd: float
    score: float
    standard_error: float

    @property
    def difference(self) -> float:
        """How much better the learned score is."""
        return self.score - self.wmmd

    def sentence(self, chosen: str) -> str:
        """Why one was chosen."""
        numbers = (
            f"log-likelihood {self.score:.4f} of the learned score against {self.wmmd:.4f} of distances, "
            f"a difference of {self.difference:.4f} with a standard error of {self.standard_error:.4f}"
        )
        if chosen == "score":
            return f"The learned score tells labelled from unlabeled rows better than distances do: {numbers}."
        return f"The learned score tells labelled from unlabeled rows no better than distances do: {numbers}."


def compare(by_distance: WMMDClassifier, by_score: ScoreWMMDClassifier) -> Comparison:
    """Compare the honest scores of two fitted classifiers, on the rows that have both."""
    rows = by_distance.scored_rows_
    if rows is None:
        raise ValueError("The WMMD classifier has no leave-one-out scores; fit it with selection='loo'.")
    learned, distance = by_score.scores_, by_distance.scores_
    parts = zip(
        (distance.positive, distance.unlabeled),
        (learned.positive, learned.unlabeled),
        rows,
        by_score.origins_,
        (learned.positive_weights, learned.unlabeled_weights),
        strict=True,
    )
    positive, unlabeled = (_paired(*part) for part in parts)
    terms = [_log_likelihood_terms(positive, unlabeled, column) for column in (0, 1)]
    means, variance = np.zeros(2), 0.0
    for sample, weights in ((0, positive[2]), (1, unlabeled[2])):
        total = weights.sum()
        values = np.array([term[sample] for term in terms])  # (2, n_rows)
        means += values @ weights / total / 2
        difference = values[1] - values[0]
        variance += np.average((difference - np.average(difference, weights=weights)) ** 2, weights=weights) / total / 4
    return Comparison(float(means[0]), float(means[1]), float(np.sqrt(variance)))


_Pairs = tuple[FloatArray, FloatArray, FloatArray]


def _paired(
    distance: FloatArray, learned: FloatArray, rows: np.ndarray, origin: np.ndarray, weights: FloatArray
) -> _Pairs:
    """Both scores and the weight of each observation whose row was scored by distance."""
    place = np.full(int(max(origin.max(), rows.max())) + 1, -1)
    place[rows] = np.arange(len(rows))
    both = place[origin] >= 0
    return distance[place[origin[both]]], learned[both], weights[both]


def _log_likelihood_terms(positive: _Pairs, unlabeled: _Pairs, column: int) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each positive and each unlabeled row under the isotonic fit of one of the scores."""
    p, u = positive[column], unlabeled[column]
    fit = IsotonicRatio.fit(ScoredSamples.of(p, u, positive[2], unlabeled[2]))
    share = fit.share()
    places = [np.clip(np.searchsorted(fit.values, scores, side="right") - 1, 0, None) for scores in (p, u)]
    return np.log(share[places[0]]), np.log1p(-share[places[1]])
