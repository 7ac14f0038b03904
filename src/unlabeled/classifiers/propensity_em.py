"""Class and propensity learned together by expectation maximisation (Bekker, Robberechts and Davis, 2019).

Labels depend on some columns: e(x) = P(labelled | x, y = 1). With f(x) = P(y = 1 | x), both speaking of the rows of the
table, a row is labelled with the chance f(x) e(x), and an unlabeled row is positive with the chance
f (1 - e) / (1 - f e). Given these chances, f is fitted to all rows, each as a positive and as a negative with its
chances as weights, and e to tell labelled from unlabeled rows, each weighted by its chance of being positive. Given f
and e, the chances follow. Neither step lowers the likelihood, if both classifiers maximise it.

Case-control: f and e are those of the table, to which the labelled positives were added. The population is its
unlabeled rows, and P(y = 1 | x) there is that same chance, f (1 - e) / (1 - f e).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled.arrays import FloatArray
from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.samples import PUSample
from unlabeled.scoring.cross_fitting import Pool, check_can_score, fit_clone, score_of
from unlabeled.stages import stage


class PropensityEMClassifier(PUClassifierMixin, BaseEstimator):
    """Learns which rows are positive, and which positives get labelled, by two classifiers that inform each other.

    For labels that were not given at random but depend on columns that you know. Without such knowledge the two cannot
    be told apart: a region with few labels may have few positives, or few of its positives labelled. What separates
    them is that the propensity sees fewer columns, or a simpler form, than the class.

    Parameters
    ----------
    columns : sequence of str or int, optional
        The columns that labelling depends on: names, where X is a data frame, or places; of a column of words all
        features that are made of it. None: all of them, and then only the form of the two classifiers tells class from
        propensity.
    classifier : classifier, optional
        For P(y = 1 | x); with `predict_proba` or `decision_function`, and weights in `fit`. None: logistic regression
        on standardised features.
    propensity : classifier, optional
        For P(labelled | x, y = 1), likewise. None: logistic regression on standardised features.
    max_iter : int, default=200
        The most rounds.
    tol : float, default=1e-4
        Stop when the chances of the unlabeled rows change by less than this, on average.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    classifier_, propensity_ : classifiers
        The two, fitted, of the rows of the table.
    columns_ : array of int
        The places of the features that the propensity sees: of the columns, where X had numbers alone.
    prior_ : float
        P(y = 1) in the population: the mean of the rows' chances.
    n_iter_ : int
        Rounds that were made.
    n_features_in_ : int
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.

    Notes
    -----
    Starts from the classifier of labelled against unlabeled rows, both counting the same in all, as in the paper.

    References
    ----------
    J. Bekker, P. Robberechts and J. Davis. Beyond the selected completely at random assumption for learning from
    positive and unlabeled data. ECML PKDD 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import PropensityEMClassifier
    >>> from unlabeled.datasets import ByColumn, draw_pu
    >>> rng = np.random.RandomState(0)
    >>> truth = rng.uniform(size=2000) < 0.5
    >>> X = rng.normal(size=(2000, 2)) + 3 * truth[:, None] * np.array([1, 0])
    >>> how = {"scenario": "single-sample", "propensity": ByColumn(1, 0.3), "random_state": 0}
    >>> data = draw_pu(X, truth, 0, 1500, 400, 0.5, **how)
    >>> model = PropensityEMClassifier([1], scenario="single-sample").fit(data.X, data.y)
    >>> bool(np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.9)
    True
    >>> of_positives = model.propensities(data.positive)  # P(labelled | x, y = 1)
    >>> bool(of_positives.min() >= 0 and of_positives.max() <= 1)
    True
    """

    verbose: bool = False

    def __init__(
        self,
        columns: Sequence[str | int] | None = None,
        *,
        classifier: Any = None,
        propensity: Any = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        scenario: str = "case-control",
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.columns = columns
        self.classifier = classifier
        self.propensity = propensity
        self.max_iter = max_iter
        self.tol = tol
        self.scenario = scenario
        self.pos_label = pos_label
        self.verbose = verbose

    def _fit(self, pu: PUSample) -> Self:
        self._check_parameters()
        self.columns_ = self._places(pu.positive.rows.shape[1])
        pool = Pool.of(pu)
        chances = self._start(pool)
        for n_rounds in range(1, self.max_iter + 1):
            with stage("class and propensity", f"round {n_rounds}"):
                before, chances = chances, self._round(pool, chances)
            self.n_iter_, change = n_rounds, np.average(np.abs(chances - before), weights=pool.weights)
            if change < self.tol:
                break
        else:
            warnings.warn(
                f"Class and propensity still change by {change:.1g} after {self.max_iter} rounds. Raise max_iter, or "
                "tol if that is near enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        population = slice(None) if pu.positives_in_population else ~pool.labelled
        self.prior_ = float(np.average(chances[population], weights=pool.weights[population]))
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Log odds of being positive: `predict` answers positive where this is above 0.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from unlabeled import PropensityEMClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = PropensityEMClassifier([1], classifier=LogisticRegression()).fit(data.X, data.y)
        >>> bool(((model.decision_function(data.test) > 0) == (model.predict(data.test) == 1)).all())
        True
        """
        rows = self._validated(X)
        log_odds = score_of(self.classifier_, rows)
        if self.scenario == "single-sample":
            return log_odds
        return log_odds + log_expit(-score_of(self.propensity_, rows[:, self.columns_]))  # f (1 - e) : 1 - f

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, its complement in the first.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from unlabeled import PropensityEMClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = PropensityEMClassifier([1], classifier=LogisticRegression()).fit(data.X, data.y)
        >>> model.predict_proba(data.test).shape
        (100, 2)
        >>> bool(abs(model.predict_proba(data.test).sum(axis=1) - 1).max() < 1e-12)
        True
        """
        log_odds = self.decision_function(X)
        return two_columns(expit(log_odds), log_odds)

    def propensities(self, X: ArrayLike) -> FloatArray:
        """P(labelled | x, y = 1), in a table like the one it was fitted to.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from unlabeled import PropensityEMClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = PropensityEMClassifier([1], classifier=LogisticRegression()).fit(data.X, data.y)
        >>> chances = model.propensities(data.test)
        >>> bool(chances.min() >= 0 and chances.max() <= 1)
        True
        """
        return expit(score_of(self.propensity_, self._validated(X)[:, self.columns_]))

    def _start(self, pool: Pool) -> FloatArray:
        """Chances by a classifier of labelled against unlabeled rows that count the same."""
        shares = [pool.weights[pool.labelled == kind].sum() for kind in (False, True)]
        balanced = pool.weights / np.where(pool.labelled, shares[1], shares[0]) * pool.weights.sum() / 2
        first = fit_clone(self._or_default(self.classifier), Pool(pool.rows, pool.labelled, balanced, pool.numbers))
        return np.where(pool.labelled, 1.0, expit(score_of(first, pool.rows)))

    def _round(self, pool: Pool, chances: FloatArray) -> FloatArray:
        """Fit both to the rows' chances of being positive, and the chances that follow from both."""
        self.classifier_ = fit_clone(self._or_default(self.classifier), _as_both(pool, chances))
        seen = Pool(pool.rows[:, self.columns_], pool.labelled, pool.weights, pool.numbers)
        self.propensity_ = fit_clone(self._or_default(self.propensity), seen.weighted(pool.weights * chances))
        log_f = score_of(self.classifier_, pool.rows)
        hidden = log_f + log_expit(-score_of(self.propensity_, seen.rows))  # log odds of f (1 - e) to 1 - f
        return np.where(pool.labelled, 1.0, expit(hidden))

    @staticmethod
    def _or_default(estimator: Any) -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)) if estimator is None else estimator

    def _places(self, n_features: int) -> np.ndarray:
        """Places of the features that the propensity sees."""
        if self.columns is None:
            return np.arange(n_features)
        return places_of_columns(self.columns, n_features, getattr(self, "feature_names_in_", ()), self.encoder_)

    def _check_parameters(self) -> None:
        for estimator in (self.classifier, self.propensity):
            if estimator is not None:
                check_can_score(estimator)
        if not (isinstance(self.max_iter, Integral) and int(self.max_iter) >= 1):
            raise ValueError(f"max_iter must be a whole number above 0; got {self.max_iter!r}.")
        if not (isinstance(self.tol, Real) and float(self.tol) > 0):
            raise ValueError(f"tol must be a number above 0; got {self.tol!r}.")


def _as_both(pool: Pool, chances: FloatArray) -> Pool:
    """Each row as a positive, weighted by its chance, and as a negative by the rest."""
    twice = np.tile(np.arange(len(pool)), 2)
    weights = pool.weights[twice] * np.concatenate([chances, 1 - chances])
    is_positive = np.repeat([True, False], len(pool))
    return Pool(pool.rows[twice], is_positive, pool.weights[twice], pool.numbers[twice]).weighted(weights)


def places_of_columns(columns: Any, n_features: int, names: Iterable[str] = (), encoder: Any = None) -> np.ndarray:
    """Places of the features that are made of some columns, in the order of these.

    Without an ``encoder``, which a data frame with columns of words has, each column is a feature.
    """
    if isinstance(columns, (str, Integral)):
        raise ValueError(f"columns={columns!r} is not a list; write columns=[{columns!r}].")  # noqa: TRY004
    of_features = np.arange(n_features) if encoder is None else encoder.columns_of_features
    n_columns = n_features if encoder is None else encoder.n_features_in_
    known = list(names)
    places = [np.flatnonzero(of_features == _place(column, known, n_columns)) for column in columns]
    if not places:
        raise ValueError("columns is empty; name the columns that labelling depends on, or None for all of them.")
    for column, found in zip(columns, places, strict=True):
        if len(found) == 0:
            raise ValueError(f"Column {column!r} was left out of the features, so no propensity can depend on it.")
    return np.concatenate(places)


def _place(column: object, names: list[str], n_columns: int) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, Integral) and not isinstance(column, bool) and 0 <= int(column) < n_columns:
        return int(column)
    known = f"X has the columns {names[:8]}" if names else f"X has {n_columns} columns, numbered from 0, and no names"
    raise ValueError(f"There is no column {column!r} for the propensity: {known}.")
