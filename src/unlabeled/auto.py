"""The classifier to start with: WMMD on distances and in a learned score, weighed by how well each tells the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unlabeled.classifier import WMMDClassifier
from unlabeled.decision import ScoreDecisions
from unlabeled.isotonic import IsotonicRatio, ScoredSamples
from unlabeled.kernels import FloatArray
from unlabeled.priors import PriorEstimator
from unlabeled.priors.scores import Scores
from unlabeled.score_classifier import ScoreWMMDClassifier
from unlabeled.thresholds import Policy

#: A lead of so many standard errors multiplies the odds of the two weights by e.
STANDARD_ERRORS = 2.0
#: A score of less weight is left out.
LEAST_WEIGHT = 0.05
_TINY = float(np.finfo(np.float64).tiny)


class PUClassifier(ScoreDecisions, BaseEstimator):
    """Classifier from positive and unlabeled data that finds out how to score them; start here.

    `WMMDClassifier` scores by distances, in closed form. `ScoreWMMDClassifier` scores by boosted trees, or another
    classifier that you give. Both are fitted, and each labelled or unlabeled row has a score of either that it took no
    part in. How well these tell labelled from unlabeled rows decides: a clear lead and one of them is used alone,
    otherwise the mean of both, weighted by the lead. No negatives are needed for that: whatever ranks positives higher
    above the population also ranks them higher above the negatives.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it.
    estimator : classifier or None, default=None
        What learns the second score. None: boosted trees, see `ScoreWMMDClassifier`.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`. "bayes" speaks of a single ratio, so with it the better of the
        two scores is used alone.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    max_evaluations : int or None, default=10000
        At most so many rows of each sample are scored by distances to weigh the two and to smooth.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads for the kernel sums.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the larger one, that marks positives.
    chosen_ : {"wmmd", "score", "both"}
        What is in use.
    reason_ : str
        Why, in a sentence.
    comparison_ : Comparison
        The two log-likelihoods, their difference, its standard error and the weight that follows.
    parts_ : dict
        The fitted classifiers in use, by "wmmd" and "score".
    weights_ : dict
        What their scores are multiplied by; the weights of both, in units of each one's spread.
    prior_, threshold_ : float
    prior_estimator_ : prior estimator or None
        Where one was asked for, fitted: its ``interval()`` says how sure the prior is.
    scores_ : Scores
        The honest scores of positives and unlabeled rows.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.

    Examples
    --------
    >>> from unlabeled import PUClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = PUClassifier(prior=0.5).fit(data.X, data.y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1, 0])
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
        """Fit both classifiers and weigh them.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two values: the larger marks labelled positives, the other unlabeled rows.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        pu = self._pu_sample(X, y, sample_weight)  # refuses what cannot be learned from
        by_distance, by_score = (part.fit(X, y, sample_weight) for part in self._parts())
        paired = PairedScores.of(by_distance, by_score)
        self.comparison_ = compare(paired)
        self.chosen_ = self.comparison_.choice(alone=self.threshold == "bayes")
        self.reason_ = self.comparison_.sentence(self.chosen_)
        main = by_score if self.chosen_ == "score" else by_distance  # for both: distances estimate the prior better
        self.prior_, self.prior_estimator_ = main.prior_, main.prior_estimator_
        if self.chosen_ == "both":
            self.parts_ = {"wmmd": by_distance, "score": by_score}
            self.weights_ = self._weights(paired, pu.labelled_share)
            self.scores_ = paired.mean(self.weights_)
        else:
            self.parts_, self.weights_, self.scores_ = {self.chosen_: main}, {self.chosen_: 1.0}, main.scores_
        self._decide(self.scores_.against(pu.labelled_share))
        return self

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of p(x | y = 1) / p(x), or the weighted mean of two such logs: larger is more likely positive."""
        check_is_fitted(self)
        if len(self.parts_) == 1:
            return next(iter(self.parts_.values())).score_samples(X)
        return np.asarray(sum(self.weights_[name] * part.score_samples(X) for name, part in self.parts_.items()))

    def _weights(self, paired: PairedScores, labelled_share: float) -> dict[str, float]:
        """What to multiply the scores by, so that in units of their spread they weigh as compared."""
        shares = 1 - self.comparison_.weight, self.comparison_.weight
        weights = np.array(
            [share / paired.scored(column, labelled_share).spread for column, share in enumerate(shares)]
        )
        return dict(zip(self.parts_, map(float, weights / weights.sum()), strict=True))

    def _parts(self) -> tuple[WMMDClassifier, ScoreWMMDClassifier]:
        shared: dict[str, Any] = {
            "prior": self.prior,
            "threshold": "bayes" if self.threshold == "bayes" else "calibrated",  # the policy is for the final score
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

    @property
    def weight(self) -> float:
        """The weight of the learned score: 1/2 where the two are level."""
        lead = self.difference / max(self.standard_error, _TINY)
        return float(expit(lead / STANDARD_ERRORS))

    def choice(self, *, alone: bool = False) -> str:
        """What to use: one of the two where its lead is clear or only one is wanted, else both."""
        if not alone and LEAST_WEIGHT <= self.weight <= 1 - LEAST_WEIGHT:
            return "both"
        return "score" if self.weight > 0.5 else "wmmd"

    def sentence(self, chosen: str) -> str:
        """Why that was chosen."""
        numbers = (
            f"log-likelihood {self.score:.4f} of the learned score against {self.wmmd:.4f} of distances, "
            f"a difference of {self.difference:.4f} with a standard error of {self.standard_error:.4f}"
        )
        if chosen == "both":
            return f"Distances and the learned score count {1 - self.weight:.0%} and {self.weight:.0%}: {numbers}."
        better, other = (
            ("The learned score", "distances do") if chosen == "score" else ("Distances", "the learned score")
        )
        tell = "tells" if chosen == "score" else "tell"
        return f"{better} {tell} labelled from unlabeled rows better than {other}: {numbers}."


@dataclass(frozen=True)
class PairedScores:
    """Honest scores by distance and by the learned score of the same observations, and their weights."""

    positive: tuple[FloatArray, FloatArray, FloatArray]
    unlabeled: tuple[FloatArray, FloatArray, FloatArray]

    @classmethod
    def of(cls, by_distance: WMMDClassifier, by_score: ScoreWMMDClassifier) -> PairedScores:
        """Of two fitted classifiers, on the rows that have both."""
        rows = by_distance.scored_rows_
        if rows is None:
            raise ValueError("The WMMD classifier has no leave-one-out scores; fit it with selection='loo'.")
        learned, distance = by_score.scores_, by_distance.scores_
        origins, (of_positive, of_unlabeled) = by_score.origins_, rows
        return cls(
            _paired(distance.positive, learned.positive, of_positive, origins[0], learned.positive_weights),
            _paired(distance.unlabeled, learned.unlabeled, of_unlabeled, origins[1], learned.unlabeled_weights),
        )

    def scored(self, column: int, labelled_share: float = 0.0) -> ScoredSamples:
        """One of the two scores, against the population."""
        weights = self.positive[2], self.unlabeled[2]
        return ScoredSamples.of(self.positive[column], self.unlabeled[column], *weights, labelled_share)

    def mean(self, weights: dict[str, float]) -> Scores:
        """The weighted sum of both."""
        positive, unlabeled = (
            weights["wmmd"] * side[0] + weights["score"] * side[1] for side in (self.positive, self.unlabeled)
        )
        return Scores(positive, unlabeled, self.positive[2], self.unlabeled[2])


def compare(paired: PairedScores) -> Comparison:
    """Compare honest scores of the same rows."""
    terms = [_log_likelihood_terms(paired, column) for column in (0, 1)]
    means, variance = np.zeros(2), 0.0
    for sample, weights in ((0, paired.positive[2]), (1, paired.unlabeled[2])):
        total = weights.sum()
        values = np.array([term[sample] for term in terms])  # (2, n_rows)
        means += values @ weights / total / 2
        difference = values[1] - values[0]
        variance += np.average((difference - np.average(difference, weights=weights)) ** 2, weights=weights) / total / 4
    return Comparison(float(means[0]), float(means[1]), float(np.sqrt(variance)))


def _paired(
    distance: FloatArray, learned: FloatArray, rows: np.ndarray, origin: np.ndarray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Both scores and the weight of each observation whose row was scored by distance."""
    place = np.full(int(max(origin.max(), rows.max())) + 1, -1)
    place[rows] = np.arange(len(rows))
    both = place[origin] >= 0
    return distance[place[origin[both]]], learned[both], weights[both]


def _log_likelihood_terms(paired: PairedScores, column: int) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each positive and each unlabeled row under the isotonic fit of one of the scores."""
    p, u = paired.positive[column], paired.unlabeled[column]
    fit = IsotonicRatio.fit(paired.scored(column))
    share = fit.share()
    places = [np.clip(np.searchsorted(fit.values, scores, side="right") - 1, 0, None) for scores in (p, u)]
    return np.log(share[places[0]]), np.log1p(-share[places[1]])
