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

from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.kernels import FloatArray
from unlabeled.priors import PriorEstimator, resolve_prior
from unlabeled.samples import PUSample
from unlabeled.selection import HOLDOUT_SHARE

PAPER_CS = (0.01, 0.1, 1.0, 10.0, 100.0)
ESTIMATES = ("e1", "e2", "e3")
RULES = ("population", "plain")
TINY = np.finfo(np.float64).tiny


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

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the larger one, that marks positives.
    estimator_ : classifier
        The inner classifier, fitted to tell labelled (1) from unlabeled (0) rows.
    c_ : float
        P(labelled | y = 1) in the table, between the share of labelled rows (all rows positive) and 1.
    prior_ : float
        P(y = 1) in the population: as given, or as c implies.
    label_threshold_ : float
        A row is positive where g is above this: c/2 for the plain rule and in single-sample, c/(2-c) in case-control.
    threshold_ : float
        The same on the scale of `score_samples`: ``-log(2 prior_)``, unless the rule is plain.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had string column names.

    Notes
    -----
    ``sample_weight`` are frequencies: a weight of 2 equals the row twice (if the inner classifier reads weights so).
    For that, folds are no matter of chance: rows are ordered by their values within each sample and dealt out in turn,
    each unit of weight like a row. With ``n_folds=None`` rows are split whatever their weight.

    The inner classifier sees labels 1 and 0. In a `Pipeline` the weights reach every step that takes them.
    """

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
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.estimates = estimates
        self.n_folds = n_folds
        self.rule = rule
        self.scenario = scenario
        self.random_state = random_state

    @classmethod
    def paper(cls, *, random_state: int | np.random.RandomState | None = None, **options: Any) -> Self:
        """The configuration of the WMMD paper's appendix D.2; ``options`` override it.

        `LogisticRegressionCV` over five C by 5-fold accuracy on a random 80 %, c by e1 from the other 20 %, and the
        plain rule g/c > 1/2, although the data are case-control.
        """
        chosen = {"estimator": _paper_estimator(), "n_folds": None, "rule": "plain"}
        return cls(random_state=random_state, **(chosen | options))

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the inner classifier and estimate c.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two values: the larger marks labelled positives, the other unlabeled rows.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        pu = self._pu_sample(X, y, sample_weight)
        self._check_parameters()
        table = Table.of(pu)
        scores = self._fit_inner(table)
        self._labelled_odds = pu.positive.total / pu.unlabeled.total
        if self.prior is None:
            # Below the share of labelled rows, c would say that there are more positives than rows.
            self.c_ = float(np.clip(np.nan_to_num(scores.estimate(self.estimates)), table.labelled_share, 1))
            self.prior_ = _prior_of_c(self.c_, pu)
        else:
            self.prior_ = resolve_prior(self.prior, pu)
            self.c_ = _c_of_prior(self.prior_, pu)
        self._set_thresholds()
        return self

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of the estimate of p(x | y=1) / p(x), p the density of the population. It needs no c and no prior."""
        return self._log_ratio(self._log_odds(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0."""
        return self.score_samples(X) - self.threshold_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, cut off at 1, and its complement in the first.

        ``prior_`` times the ratio of `score_samples`; with the plain rule g/c. Above 1/2 exactly where `predict`
        answers positive.
        """
        log_odds = self._log_odds(X)
        decision = self._log_ratio(log_odds) - self.threshold_
        log_double = log_expit(log_odds) - np.log(self.c_ / 2) if self.rule == "plain" else decision
        return two_columns(np.exp(np.minimum(log_double, np.log(2))) / 2, decision)

    def _fit_inner(self, table: Table) -> Scores:
        """Fit ``estimator_``, and score rows it did not see."""
        candidates = _default_candidates() if self.estimator is None else [self.estimator]
        if self.n_folds is None:
            kept, held = table.split(check_random_state(self.random_state))
            parts, whole = [(kept, held)], kept
        else:
            parts, whole = list(table.folds(self.n_folds)), table
        scores = [Scores.join([_held_out_scores(candidate, *part) for part in parts]) for candidate in candidates]
        best = int(np.argmin([score.log_loss() for score in scores])) if len(scores) > 1 else 0
        self.estimator_ = _fit_clone(candidates[best], whole)
        self._slope, self._intercept = 1.0, 0.0
        if not hasattr(self.estimator_, "predict_proba"):
            self._slope, self._intercept = _platt(scores[best])
        return scores[best].mapped(self._slope, self._intercept)

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
        return self._slope * _inner_scores(self.estimator_, rows) + self._intercept

    def _log_ratio(self, log_odds: FloatArray) -> FloatArray:
        """From the log odds of being labelled to log p(x | y=1) / p(x)."""
        if self.scenario == "single-sample":
            return log_expit(log_odds) - log_expit(np.log(self._labelled_odds))
        return log_odds - np.log(self._labelled_odds)

    def _check_parameters(self) -> None:
        for name, known in (("estimates", ESTIMATES), ("rule", RULES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; use one of {list(known)}.")
        folds: object = self.n_folds
        if not (folds is None or (isinstance(folds, Integral) and int(folds) >= 2)):
            raise ValueError(f"n_folds must be a whole number of 2 or more, or None for an 80/20 split; got {folds!r}.")
        if self.estimator is not None and not any(
            hasattr(self.estimator, method) for method in ("predict_proba", "decision_function")
        ):
            raise ValueError(
                f"{type(self.estimator).__name__} has neither predict_proba nor decision_function, so it gives no "
                "score to adjust; use a classifier that has one of them."
            )


@dataclass(frozen=True)
class Table:
    """Rows of both samples, which are labelled, and how often each counts."""

    rows: FloatArray
    labelled: np.ndarray
    weights: FloatArray

    @classmethod
    def of(cls, pu: PUSample) -> Table:
        """Labelled rows above unlabeled ones."""
        parts = (pu.positive, pu.unlabeled)
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.repeat([True, False], [len(part) for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    @property
    def labelled_share(self) -> float:
        """Share of the table that is labelled."""
        return float(self.weights[self.labelled].sum() / self.weights.sum())

    def weighted(self, weights: FloatArray) -> Table:
        """The same rows with other weights; those of weight 0 are left out."""
        counts = weights > 0
        return Table(self.rows[counts], self.labelled[counts], weights[counts])

    def folds(self, n_folds: int) -> list[tuple[Table, Table]]:
        """What to fit on and what to score, for each fold that has any rows.

        Rows are ordered by their values and dealt out in turn, unit of weight by unit, so that copies of a row and a
        row with a weight come to the same. Two rows of a sample lie in two folds, so that no fit lacks either sample.
        """
        dealt = np.zeros((len(self.rows), n_folds))
        for of_sample in (np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)):
            order = of_sample[np.lexsort(self.rows[of_sample].T[::-1])]
            dealt[order] = _deal(self.weights[order], n_folds)
        left = self.weights[:, None] - dealt
        return [(self.weighted(left[:, k]), self.weighted(dealt[:, k])) for k in range(n_folds) if dealt[:, k].any()]

    def split(self, rng: np.random.RandomState) -> tuple[Table, Table]:
        """A random 80 % of each sample, and the other 20 %; at least one row of each on either side."""
        held = np.zeros(len(self.rows), dtype=bool)
        for of_sample in (np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)):
            held[rng.permutation(of_sample)[: int(np.ceil(HOLDOUT_SHARE * len(of_sample)))]] = True
        return self.weighted(np.where(held, 0, self.weights)), self.weighted(np.where(held, self.weights, 0))


def _deal(weights: FloatArray, n_folds: int) -> FloatArray:
    """Cut a line of weights into units and give unit t to fold t mod n_folds; weights by fold (n_rows, n_folds)."""
    unit = min(1.0, weights.max())  # small weights are dealt row by row; two rows are always more than one unit
    ends = np.concatenate([[0], np.cumsum(weights)])[:, None] / unit  # (n_rows + 1, 1)
    rounds, rest = np.divmod(ends, n_folds)
    up_to = rounds + np.clip(rest - np.arange(n_folds), 0, 1)  # of each fold, before each row
    return np.asarray(np.minimum(np.diff(up_to, axis=0) * unit, weights[:, None]))


@dataclass(frozen=True)
class Scores:
    """Scores of rows that the inner classifier did not see: log odds of being labelled, or decision values."""

    values: FloatArray
    labelled: np.ndarray
    weights: FloatArray

    @classmethod
    def join(cls, parts: list[Scores]) -> Scores:
        """The scores of all folds."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__annotations__))

    def mapped(self, slope: float, intercept: float) -> Scores:
        """Scores on another scale."""
        return Scores(slope * self.values + intercept, self.labelled, self.weights)

    def log_loss(self) -> float:
        """Mean log-loss of the scores as log odds."""
        return float(-np.average(log_expit(np.where(self.labelled, 1, -1) * self.values), weights=self.weights))

    def estimate(self, name: str) -> float:
        """Elkan and Noto's e1, e2 or e3 of c; NaN where they are not defined."""
        g = expit(self.values)
        if name == "e3":
            return float(g.max())
        over_labelled = (g * self.weights)[self.labelled].sum()
        base = self.weights[self.labelled].sum() if name == "e1" else (g * self.weights).sum()
        return float(over_labelled / base) if base > 0 else np.nan


def _prior_of_c(c: float, pu: PUSample) -> float:
    """The prior of the population, if positives of the table are labelled at this rate; above 0."""
    n_positive, n_unlabeled = pu.positive.total, pu.unlabeled.total
    if pu.positives_in_population:
        return min(n_positive / ((n_positive + n_unlabeled) * c), 1.0)
    return float(np.clip(n_positive / n_unlabeled * (1 - c) / c, TINY, 1))


def _c_of_prior(prior: float, pu: PUSample) -> float:
    """P(labelled | y = 1) in the table, if the population has this prior."""
    n_positive, n_unlabeled = pu.positive.total, pu.unlabeled.total
    if pu.positives_in_population:
        return n_positive / (prior * (n_positive + n_unlabeled))
    return n_positive / (n_positive + prior * n_unlabeled)


def _held_out_scores(estimator: Any, kept: Table, held: Table) -> Scores:
    return Scores(_inner_scores(_fit_clone(estimator, kept), held.rows), held.labelled, held.weights)


def _fit_clone(estimator: Any, table: Table) -> Any:
    """A fitted clone; weights are passed only where they say something."""
    labels = table.labelled.astype(int)
    if (table.weights == 1).all():
        return clone(estimator).fit(table.rows, labels)
    return clone(estimator).fit(table.rows, labels, **_weight_arguments(estimator, table.weights))


def _weight_arguments(estimator: Any, weights: FloatArray) -> dict[str, FloatArray]:
    """How to pass weights to `fit`; through a Pipeline, to every step that takes them."""
    names = {"sample_weight": estimator}
    if isinstance(estimator, Pipeline):
        names = {f"{name}__sample_weight": step for name, step in estimator.steps}
    taken = {name: weights for name, step in names.items() if has_fit_parameter(step, "sample_weight")}
    if not taken:
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__} does not take it; use an estimator whose fit "
            "does, or repeat the rows."
        )
    return taken


def _inner_scores(estimator: Any, rows: FloatArray) -> FloatArray:
    """Log odds of being labelled where the classifier has probabilities, else its decision values; finite."""
    if not hasattr(estimator, "predict_proba"):
        return np.nan_to_num(np.asarray(estimator.decision_function(rows), dtype=np.float64))
    probability = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    unlabeled, labelled = np.log(np.maximum(np.nan_to_num(probability), TINY)).T
    return np.asarray(labelled - unlabeled)


def _platt(scores: Scores) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of being labelled on the score; never falling."""
    center = np.average(scores.values, weights=scores.weights)
    spread = np.sqrt(np.average((scores.values - center) ** 2, weights=scores.weights)) or 1.0
    model = LogisticRegression(C=1e3, **_EXACT)
    model.fit(((scores.values - center) / spread)[:, None], scores.labelled.astype(int), sample_weight=scores.weights)
    # A score that says nothing may come out slightly upside down; its order is kept all the same.
    slope = max(float(model.coef_[0, 0]), 1e-3) / spread
    return slope, float(model.intercept_[0]) - slope * center


#: Solved to the minimum, so that weights and repeated rows give the same answer.
_EXACT: dict[str, Any] = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


def _default_candidates() -> list[Any]:
    return [make_pipeline(StandardScaler(), LogisticRegression(C=C, **_EXACT)) for C in PAPER_CS]


def _paper_estimator() -> LogisticRegressionCV:
    """The paper's inner classifier, with the arguments that keep each version of scikit-learn quiet."""
    options = {"l1_ratios": (0,), "use_legacy_attributes": False}
    if "use_legacy_attributes" not in signature(LogisticRegressionCV).parameters:  # before scikit-learn 1.8
        options = {}
    return LogisticRegressionCV(Cs=PAPER_CS, cv=5, scoring="accuracy", max_iter=1000, **options)
