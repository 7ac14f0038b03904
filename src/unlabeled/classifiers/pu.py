"""The classifier to start with: several scores, weighed by how well each tells labelled from unlabeled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.classifiers.weighing import Comparison, combined
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.priors import PriorEstimator, ResolvedPrior, reads_scores, resolve_prior
from unlabeled.priors.scar import told_once
from unlabeled.samples import PUSample
from unlabeled.stages import stage


class PUClassifier(ScoreDecisions, BaseEstimator):
    """Classifier from positive and unlabeled data that finds out how to score them; start here.

    `WMMDClassifier` scores by distances, in closed form. `ScoreWMMDClassifier` scores by boosted trees, or another
    classifier that you give. Both are fitted, and both give every row a score that the row itself took no part in.
    How well these scores tell labelled from unlabeled rows decides: with a clear lead one of them is used alone,
    otherwise the mean of both, weighted by the lead. No negatives are needed for that: whatever ranks positives higher
    above the population also ranks them higher above the negatives.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it.
    estimator : classifier or None, default=None
        What learns the second score. None: boosted trees, or a logistic regression where X is sparse, see
        `ScoreWMMDClassifier`.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`. "bayes" speaks of a single ratio, so with it the better of the
        two scores is used alone.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    max_evaluations : int or None, default=10000
        The most rows of each sample that are scored by distances to weigh the two and to smooth.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads for the kernel sums.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    chosen_ : {"wmmd", "score", "both"}
        The part in use; "both" where both are.
    reason_ : str
        Why, in a sentence.
    comparison_ : Comparison
        The log-likelihoods of both parts, the standard error of their difference, and the weights that follow.
    parts_ : dict
        The fitted classifiers in use, by "wmmd" and "score".
    weights_ : dict
        What their scores are multiplied by: the weights of the comparison, in units of each one's spread.
    prior_, threshold_ : float
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    honest_scores_ : HonestScores
        Scores of positives and unlabeled rows by parts that had not seen them, and which rows these are.
    n_features_in_ : int
    n_missing_ : array of shape (n_features_in_,)
        How many values of each feature were missing (NaN) in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    Missing values (NaN) and sparse tables are taken as they are: the notes of the two classifiers say how. An
    ``estimator`` of yours is given them too.

    Examples
    --------
    >>> from unlabeled import PUClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = PUClassifier(prior=0.5).fit(data.X, data.y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1, 0])
    """

    _takes_missing = True
    _takes_sparse = True
    verbose: bool = False  # what models that were saved before have

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
        pos_label: Any = None,
        verbose: bool = False,
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
        self.pos_label = pos_label
        self.verbose = verbose

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        check_threshold(self.threshold)
        if prior is None and not reads_scores(self.prior):  # estimated from the rows, the same for all parts
            prior = resolve_prior(self.prior, pu, engine=self.engine, n_jobs=self.n_jobs)
        parts = self._fitted_parts(pu, prior)
        honest = {name: part.honest_scores_ for name, part in parts.items()}
        with stage("weighing"):
            self.comparison_ = Comparison.of(tuple(parts), HonestScores.stacked(list(honest.values())))
        shares = self.comparison_.in_use(alone=self.threshold == "bayes")
        self.parts_ = {name: parts[name] for name in shares}
        self.chosen_ = "both" if len(shares) == len(parts) == 2 else "+".join(shares)
        self.reason_ = reason(self.comparison_, shares)
        main = next(iter(self.parts_.values()))  # of several the first: distances estimate the prior best
        self.prior_, self.prior_estimator_ = main.prior_, main.prior_estimator_
        self.weights_, scores = combined([honest[name] for name in shares], shares)
        with stage("calibration"):
            self._decide(scores)
        return self

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log of p(x | y = 1) / p(x) at validated rows, or a weighted mean of several such logs."""
        if len(self.parts_) == 1:
            return next(iter(self.parts_.values())).score_rows(rows)
        return np.asarray(sum(self.weights_[name] * part.score_rows(rows) for name, part in self.parts_.items()))

    def score_rows_like_honest(self, rows: FloatArray) -> FloatArray:
        """The same of scores that are made as the honest scores of the training rows were."""
        parts = self.parts_.items()
        return np.asarray(sum(self.weights_[name] * part.score_rows_like_honest(rows) for name, part in parts))

    def _fitted_parts(self, pu: PUSample, prior: ResolvedPrior | None) -> dict[str, Any]:
        shared: dict[str, Any] = {
            "prior": self.prior,
            "threshold": "bayes" if self.threshold == "bayes" else "calibrated",  # the policy is for the final score
            "scenario": pu.scenario,
            "engine": self.engine,
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
            "pos_label": self.pos_label,
        }
        parts = {name: part.make(self, shared) for name, part in PARTS.items()}
        with told_once():
            for part in parts.values():
                part.fit_sample(pu, prior=prior)._speak_as(self)
        return parts


@dataclass(frozen=True)
class Part:
    """A score that `PUClassifier` weighs: what it goes by, in words, and how its classifier is made.

    The classifier has `fit_sample`, `honest_scores_`, `score_rows`, `prior_` and `prior_estimator_`. It is made from
    the `PUClassifier` and from the parameters that all parts share.
    """

    words: str
    plural: bool
    make: Callable[[PUClassifier, dict[str, Any]], Any]


#: The scores that are weighed. Where several are in use, the first of them estimates the prior.
PARTS: dict[str, Part] = {
    "wmmd": Part(
        words="distances",
        plural=True,
        make=lambda model, shared: WMMDClassifier(**shared, max_evaluations=model.max_evaluations),
    ),
    "score": Part(
        words="the learned score",
        plural=False,
        make=lambda model, shared: ScoreWMMDClassifier(model.estimator, n_folds=model.n_folds, **shared),
    ),
}


def reason(comparison: Comparison, shares: dict[str, float]) -> str:
    """Why these scores are in use, in a sentence."""
    numbers = _numbers(comparison)
    words = [PARTS[name].words for name in shares]
    if len(shares) > 1:
        count = _enumerated([f"{share:.0%}" for share in shares.values()])
        return f"{_capitalised(_enumerated(words))} count {count}: {numbers}."
    chosen = PARTS[next(iter(shares))]
    others = [PARTS[name] for name in comparison.names if name not in shares]
    than = _enumerated([f"{other.words} do" if other.plural else other.words for other in others])
    tell = "tell" if chosen.plural else "tells"
    return f"{_capitalised(chosen.words)} {tell} labelled from unlabeled rows better than {than}: {numbers}."


def _numbers(comparison: Comparison) -> str:
    """The log-likelihood of one score against those of the others: of the best, or of two always of the second."""
    one = comparison.names[-1] if len(comparison.names) == 2 else comparison.best
    likelihoods = dict(zip(comparison.names, comparison.log_likelihoods, strict=True))
    lines = []
    for other in (name for name in comparison.names if name != one):
        difference, standard_error = comparison.difference(one, other)
        lines.append(
            f"against {likelihoods[other]:.4f} of {PARTS[other].words}, a difference of {difference:.4f} with a "
            f"standard error of {standard_error:.4f}"
        )
    return f"log-likelihood {likelihoods[one]:.4f} of {PARTS[one].words} " + ", ".join(lines)


def _enumerated(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _capitalised(words: str) -> str:
    return words[0].upper() + words[1:]
