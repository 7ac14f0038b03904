"""tADJ: a classifier of labelled against unlabeled rows, adjusted by the labelling rate (Elkan and Noto, 2008).

What c means, in the two scenarios
----------------------------------
Let s = 1 mark the labelled rows of the table that is given, and g(x) = P(s = 1 | x) in that table. Labels are chosen
completely at random among positives, so c = P(s = 1 | y = 1) is one number for all x, and g(x) = c P(y = 1 | x), where
P(y = 1 | x) speaks of the *table*.

- Single-sample: the table is a sample of the population. ``P(y=1 | x) = g/c``, and with the labelled share
  n_p / n = c * prior, ``prior = n_p / (n c)``.
- Case-control: only the unlabeled rows are, and the labelled ones were added to them. The table holds
  n_p + prior * n_u positives, n_p of them labelled: ``c = n_p / (n_p + prior n_u)``. Still no matter of x, so c is
  estimated from g as before, and ``prior = (n_p / n_u) (1 - c) / c``. But g/c is too large for the population, which
  is the rows with s = 0: there ``P(y=1 | x, s=0) = (1-c)/c * g/(1-g)``, the weight of Elkan and Noto's section 3.

Both are one formula. The ratio of densities ``r(x) = p(x | y=1) / p(x)``, p that of the population, is
``(n / n_p) g`` in the first and ``(n_u / n_p) g / (1-g)`` in the second, and ``P(y=1 | x) = prior * r(x)`` in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors import PriorEstimator, resolve_prior
from unlabeled.priors.elkan_noto import ESTIMATES, elkan_noto_estimate, label_frequency
from unlabeled.priors.scar import warn_unless_scar
from unlabeled.samples import PUSample
from unlabeled.scoring.cross_fitting import (
    TINY,
    Pool,
    check_can_score,
    check_n_folds,
    fit_clone,
    held_out_scores,
    score_of,
)
from unlabeled.scoring.scaling import refuse_large_values
from unlabeled.stages import stage

#: One over the strengths of the L2 penalty in the paper's grid, {0.01, ..., 100}, in its order.
PAPER_CS = (100.0, 10.0, 1.0, 0.1, 0.01)
RULES = ("population", "plain")


class ElkanNotoClassifier(PUClassifierMixin, BaseEstimator):
    """Any classifier of labelled against unlabeled rows, adjusted for the labels that are missing.

    The inner classifier estimates g(x) = P(labelled | x). If labels were given completely at random, g is proportional
    to P(y = 1 | x) in the table, with factor c = P(labelled | y = 1). c is estimated from scores of rows that the inner
    classifier was not fitted on, under the assumption of the original: the classes are (nearly) separable, so that
    P(y = 1 | x) = 1 at the positives. Where they overlap, e1 and e2 give too small a c, hence too large a prior and
    too many positives.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier with `predict_proba` or `decision_function`; it is cloned. Decision values are
        mapped to g by a logistic regression on the out-of-fold values (Platt's sigmoid). None: logistic regression on
        standardised features, C chosen from {0.01, 0.1, 1, 10, 100} by the out-of-fold log-loss.
    prior : float in (0, 1), name, prior estimator or None, default=None
        P(y = 1) in the population where it is known or estimated otherwise; c then follows from it. None: from
        ``estimates``.
    estimates : {"e1", "e2", "e3"}, default="e1"
        How c is estimated: the mean of g over the labelled rows; their sum of g as a share of that of all rows; or the
        largest g. The last is an extreme value: it needs a g that is smooth and well calibrated.
    n_folds : int or None, default=5
        Folds for the out-of-fold scores, after which the inner classifier is fitted to all rows. None: one random
        split of each sample, 80 % for the inner classifier, for good, and c from the other 20 %.
    rule : {"population", "plain"}, default="population"
        What is compared with 1/2: P(y = 1 | x) in the population of the scenario, or plain g/c. They differ in
        case-control, where g/c speaks of a table to which positives were added.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    random_state : int, RandomState or None, default=None
        Decides the split where ``n_folds`` is None. Folds need none: see Notes.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    estimator_ : classifier
        The inner classifier, fitted to tell labelled (1) from unlabeled (0) rows.
    c_ : float
        P(labelled | y = 1) in the table, between the share of labelled rows (all rows positive) and 1.
    prior_ : float
        P(y = 1) in the population: as given, or as c implies.
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    label_threshold_ : float
        A row is positive where g is above this: c/2 for the plain rule and in single-sample, c/(2-c) in case-control.
    threshold_ : float
        The same on the scale of `score_samples`: ``-log(2 prior_)``, unless the rule is plain.
    n_features_in_ : int
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    ``sample_weight`` of whole numbers are frequencies: a weight of 2 equals the row twice (if the inner classifier
    reads weights so).
    For that, the same rows, in any order, always come into the same folds, each unit of weight like a row. With
    ``n_folds=None`` rows are split whatever their weight.

    The inner classifier sees labels 1 and 0. In a `Pipeline` the weights reach every step that takes them.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unlabeled import ElkanNotoClassifier
    >>> model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(data.X, data.y)
    >>> round(float(((model.predict(data.test) == 1) == data.test_truth).mean()), 2)  # accuracy on new rows
    0.84
    """

    verbose: bool = False  # what models that were saved before have

    def __init__(
        self,
        estimator: Any = None,
        *,
        prior: float | str | PriorEstimator | None = None,
        estimates: str = "e1",
        n_folds: int | None = 5,
        rule: str = "population",
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = None,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.estimates = estimates
        self.n_folds = n_folds
        self.rule = rule
        self.scenario = scenario
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return self.estimator is not None  # which has the last word

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self.estimator is not None

    @classmethod
    def paper(
        cls,
        *,
        class_weight: str | None = "balanced",
        random_state: int | np.random.RandomState | None = None,
        **options: Any,
    ) -> Self:
        """The configuration of the WMMD paper's appendix D.2; ``options`` override it.

        `LogisticRegressionCV` over five C by 5-fold accuracy on a random 80 %, c by e1 from the other 20 %, and the
        plain rule g/c > 1/2, although the data are case-control. The grid is read as strengths of the penalty, weakest
        first, and the first of equals wins: with few labelled rows every C calls all rows unlabeled and all are equal.
        With the strongest first the accuracy is far below the paper's on its real data. With fewer than five positives
        in the 80 % there are as many folds as positives.

        The paper is silent on ``class_weight`` of the inner classifier. ``"balanced"`` comes nearest to its results;
        None is scikit-learn's default. With balanced classes g is no share of labelled rows any more: `predict` and the
        order of scores are what they are for, while `c_`, `prior_` and the zero of `score_samples` mean little.

        Examples
        --------
        >>> from unlabeled import ElkanNotoClassifier
        >>> ElkanNotoClassifier.paper(prior=0.3).prior
        0.3
        """
        if "estimator" in options and class_weight != "balanced":
            raise ValueError("class_weight is of the paper's own inner classifier; set it on your estimator instead.")
        chosen = {"estimator": _paper_estimator(class_weight), "n_folds": None, "rule": "plain"}
        return cls(random_state=random_state, **(chosen | options))

    def _fit(self, pu: PUSample) -> Self:
        self._check_parameters()
        if self.estimator is None:  # before scikit-learn 1.9 its exact solver fails on single precision
            refuse_large_values(pu, self)
            pu = pu.mapped(lambda rows: rows.astype(np.float64, copy=False))
        scores, fitted_on = self._fit_inner(Pool.of(pu))
        # g and c speak of the rows that g was fitted on. Plain g/c needs no sizes: the table's only place the score.
        seen = pu if self.rule == "plain" else fitted_on.samples(self.scenario)
        self._labelled_odds = seen.positive.total / seen.unlabeled.total
        self.prior_estimator_: PriorEstimator | None = None
        if self.prior is None:
            warn_unless_scar(scores)
            self.c_ = self._estimated_c(scores, seen, pu.labelled_share)
            self.prior_ = _prior_of_c(self.c_, seen)
        else:
            with stage("prior"):
                self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
            self.c_ = _c_of_prior(self.prior_, seen)
        self._set_thresholds()
        return self

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of the estimate of p(x | y=1) / p(x), p the density of the population. It needs no c and no prior.

        Examples
        --------
        >>> from unlabeled import ElkanNotoClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from sklearn.linear_model import LogisticRegression
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(data.X, data.y)
        >>> model.score_samples(data.test).shape
        (100,)
        """
        return self._log_ratio(self._log_odds(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0.

        Examples
        --------
        >>> from unlabeled import ElkanNotoClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from sklearn.linear_model import LogisticRegression
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(data.X, data.y)
        >>> bool(((model.decision_function(data.test) > 0) == (model.predict(data.test) == 1)).all())
        True
        """
        return self.score_samples(X) - self.threshold_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, cut off at 1, and its complement in the first.

        ``prior_`` times the ratio of `score_samples`; with the plain rule g/c. Above 1/2 exactly where `predict`
        answers positive.

        Examples
        --------
        >>> from unlabeled import ElkanNotoClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from sklearn.linear_model import LogisticRegression
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(data.X, data.y)
        >>> model.predict_proba(data.test).shape
        (100, 2)
        >>> bool(abs(model.predict_proba(data.test).sum(axis=1) - 1).max() < 1e-12)
        True
        """
        log_odds = self._log_odds(X)
        decision = self._log_ratio(log_odds) - self.threshold_
        log_double = log_expit(log_odds) - np.log(self.c_ / 2) if self.rule == "plain" else decision
        return two_columns(np.exp(np.minimum(log_double, np.log(2))) / 2, decision)

    def _fit_inner(self, pool: Pool) -> tuple[HonestScores, Pool]:
        """Fit ``estimator_``; scores of rows by a fit that did not see them, and the rows it was fitted on at last."""
        candidates = _default_candidates() if self.estimator is None else [self.estimator]
        if self.n_folds is None:
            folds = [pool.split(check_random_state(self.random_state))]
            whole = pool.weighted(folds[0][0])
        else:
            folds, whole = pool.folds(self.n_folds), pool
        scores = []
        for number, candidate in enumerate(candidates, start=1):
            with stage("held-out scores", f"candidate {number} of {len(candidates)}"):
                scores.append(held_out_scores(candidate, pool, folds))
        best = int(np.argmin([_log_loss(found) for found in scores])) if len(scores) > 1 else 0
        with stage("final fit"):
            self.estimator_ = fit_clone(candidates[best], whole)
        self._slope, self._intercept = 1.0, 0.0
        if not hasattr(self.estimator_, "predict_proba"):
            self._slope, self._intercept = _platt(scores[best])
        return scores[best].mapped(self._slope, self._intercept), whole

    def _estimated_c(self, scores: HonestScores, seen: PUSample, least_prior: float) -> float:
        """P(labelled | y = 1) among the rows seen, between what a prior of 1 and the least possible one imply."""
        if self.rule == "plain":
            return label_frequency(scores, self.estimates)
        least, most = _c_of_prior(1.0, seen), _c_of_prior(least_prior, seen)
        return float(np.clip(np.nan_to_num(elkan_noto_estimate(scores, self.estimates)), least, most))

    def _set_thresholds(self) -> None:
        self.threshold_ = float(-np.log(2 * self.prior_))
        self.label_threshold_ = self.c_ / (2 - self.c_)
        if self.scenario == "single-sample" or self.rule == "plain":
            self.label_threshold_ = self.c_ / 2
        if self.rule == "plain":
            self.threshold_ = float(self._log_ratio(np.log(self.c_ / (2 - self.c_))))  # log odds of c/2

    def _log_odds(self, X: ArrayLike) -> FloatArray:
        """Log of g/(1-g)."""
        rows = self._validated(X)
        return self._slope * score_of(self.estimator_, rows) + self._intercept

    def _log_ratio(self, log_odds: FloatArray) -> FloatArray:
        """From the log odds of being labelled to log p(x | y=1) / p(x)."""
        if self.scenario == "single-sample":
            return log_expit(log_odds) - log_expit(np.log(self._labelled_odds))
        return log_odds - np.log(self._labelled_odds)

    def _check_parameters(self) -> None:
        for name, known in (("estimates", ESTIMATES), ("rule", RULES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; use one of {list(known)}.")
        if self.n_folds is not None:
            check_n_folds(self.n_folds)
        if self.estimator is not None:
            check_can_score(self.estimator)


def _prior_of_c(c: float, pu: PUSample) -> float:
    """The prior of the population, if positives of the table are labelled at this rate; above 0."""
    n_positive, n_unlabeled = pu.positive.total, pu.unlabeled.total
    if pu.positives_in_population:
        return min(n_positive / ((n_positive + n_unlabeled) * c), 1.0)
    return float(np.clip(n_positive / n_unlabeled * (1 - c) / c, TINY, 1))


def _c_of_prior(prior: float, pu: PUSample) -> float:
    """P(labelled | y = 1) in the table, if the population has this prior."""
    n_positive, n_unlabeled = pu.positive.total, pu.unlabeled.total
    if pu.positives_in_population:  # a random part of the table may be labelled more often than its prior allows
        return min(n_positive / (prior * (n_positive + n_unlabeled)), 1.0)
    return n_positive / (n_positive + prior * n_unlabeled)


def _log_loss(scores: HonestScores) -> float:
    """Mean log-loss of the scores as log odds of being labelled."""
    loss = scores.positive_weights @ log_expit(scores.positive) + scores.unlabeled_weights @ log_expit(
        -scores.unlabeled
    )
    return float(-loss / (scores.n_positive + scores.n_unlabeled))


def _platt(scores: HonestScores) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of being labelled on the score; never falling."""
    values = np.concatenate([scores.positive, scores.unlabeled])
    weights = np.concatenate([scores.positive_weights, scores.unlabeled_weights])
    labels = np.repeat([1, 0], [len(scores.positive), len(scores.unlabeled)])
    center = np.average(values, weights=weights)
    spread = np.sqrt(np.average((values - center) ** 2, weights=weights)) or 1.0
    model = LogisticRegression(C=1e3, **_EXACT)
    model.fit(((values - center) / spread)[:, None], labels, sample_weight=weights)
    # A score that says nothing may come out slightly upside down; its order is kept all the same.
    slope = max(float(model.coef_[0, 0]), 1e-3) / spread
    return slope, float(model.intercept_[0]) - slope * center


#: Solved to the minimum, so that weights and repeated rows give the same answer.
_EXACT: dict[str, Any] = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


def _default_candidates() -> list[Any]:
    return [make_pipeline(StandardScaler(), LogisticRegression(C=C, **_EXACT)) for C in PAPER_CS]


class UpToFiveFolds(BaseCrossValidator):
    """Five stratified folds, or as many as the smaller class has rows; a single row is fitted and judged alike."""

    def split(self, X: ArrayLike, y: ArrayLike, groups: object = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # noqa: ARG002
        """What to fit on and what to judge by, for each fold."""
        n_folds = self.get_n_splits(X, y)
        if n_folds == 1:
            everything = np.arange(len(np.asarray(y)))
            yield everything, everything
        else:
            yield from StratifiedKFold(n_folds).split(X, y)

    def get_n_splits(self, X: object = None, y: ArrayLike = (), groups: object = None) -> int:  # noqa: ARG002
        """How many folds there are."""
        return int(min(5, np.unique(np.asarray(y), return_counts=True)[1].min()))


def _paper_estimator(class_weight: str | None) -> LogisticRegressionCV:
    """The paper's inner classifier, with the arguments that keep each version of scikit-learn quiet."""
    options: dict[str, Any] = {"l1_ratios": (0,), "use_legacy_attributes": False}
    if "use_legacy_attributes" not in signature(LogisticRegressionCV).parameters:  # before scikit-learn 1.8
        options = {}
    options |= {"class_weight": class_weight, "max_iter": 1000}
    return LogisticRegressionCV(Cs=PAPER_CS, cv=UpToFiveFolds(), scoring="accuracy", **options)
