"""What every PU estimator shares: how a table comes in, and how answers go out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from unlabeled.arrays import FloatArray, checked_on_device, is_on_device, on_host
from unlabeled.callbacks import TellsCallbacks, with_callbacks
from unlabeled.frames import check_names_differ, columns_of_words, new_encoder
from unlabeled.labels import completed, find_classes, known_among, warn_of_absent, without_negatives
from unlabeled.metrics.ranking import proxy_roc_auc
from unlabeled.samples import (
    PUSample,
    as_log_weights,
    checked_samples,
    means_of_some_rows,
    split_samples,
    warn_if_constant,
    warn_if_no_counts,
)
from unlabeled.stages import listening, printing, stage


class ResolvedPrior(NamedTuple):
    """A prior as a number, and the fitted estimator that it is from; None where it was given.

    Examples
    --------
    >>> from unlabeled.priors import ResolvedPrior
    >>> ResolvedPrior(0.3, None).value
    0.3
    """

    value: float
    estimator: Any


#: How scikit-learn checks a table. Missing values and sparse tables have our own errors, which name the remedy.
_TABLE: dict[str, Any] = {
    "dtype": (np.float64, np.float32),
    "accept_sparse": "csr",
    "ensure_all_finite": "allow-nan",
}


class PUInput(TellsCallbacks):
    """Learning from a table with labels, or from its two samples, for an estimator with a ``scenario``.

    One that takes missing values (NaN) or sparse tables, by itself or by the ``estimator`` that it was given, says so.
    """

    _takes_missing: bool = False
    _takes_sparse: bool = False
    _takes_tensors: bool = False  # on a card, as they are; others work on a copy in the host's memory
    _learned_sparse: bool = False  # whether the table of `fit` was sparse
    _table_seen: dict[str, Any] | None = None  # what that table is known again by

    scenario: str
    pos_label: Any = None  # what models that were saved before have
    negative: Any = None  # those that take known negatives have a parameter of this name
    unlabeled_label_: Any = None  # the value of y for unlabeled rows, where predict answers with that for negatives
    classes_: np.ndarray
    n_features_in_: int
    n_missing_: np.ndarray
    feature_names_in_: np.ndarray
    encoder_: Any = None

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table in which some rows are labelled positive.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            A data frame of pandas or polars may have words, categories, dates and missing values:
            `unlabeled.tables.TableEncoder` makes features of it. To say what its columns are, put one before the
            classifier in a pipeline.
        y : array of shape (n_samples,)
            Two values, one for labelled positives and one for unlabeled rows; and a third for rows that are known to be
            negative, where ``negative`` names it. Of numbers and booleans the larger marks
            positives; of words "positive", "yes", "true" and the like do, beside "unlabeled", "no", "" and the like;
            else ``pos_label`` names the positive one. A missing value (None, NaN, NA) is unlabeled.
        sample_weight : array of shape (n_samples,), optional
            Whole numbers are counts: a weight of 2 is a row and its copy, and what leaves the row out keeps the copy.
            Where any is no whole number, all say how far a row stands for others, as in a survey: only their
            proportions matter, what leaves a row out leaves all of it out, and rows count as
            (sum of weights)^2 / (sum of squared weights) of equal weight.

        Notes
        -----
        `classes_` and with it `predict` have the value for unlabeled rows first, the positive one second; where some
        rows are known to be negative, the value for these comes first instead. Where y had
        only the positive value and missing ones, the first is 0 beside a number, False beside True and "unlabeled"
        beside a word. Tools of scikit-learn that put numbers in place of labels (`cross_val_predict` for scores,
        stacking, calibration) sort them first, so that "positive" comes before "unlabeled": give these 1 and 0.
        Its own folds refuse missing labels; `unlabeled.metrics.PUStratifiedKFold` takes them.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> model.classes_
        array([0, 1])
        """
        with self._telling_callbacks(X, y, sample_weight), self._undone_if_stopped(), self._telling():
            with stage("checks of the table"):
                pu = self._pu_sample(X, y, sample_weight)
            return self._learn(pu)

    def fit_sample(self, pu: PUSample) -> Self:
        """Learn from samples that are already separated, of the same scenario; classes are then called 1 and 0.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.samples import split_samples
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> pu = split_samples(data.X, data.y == 1)
        >>> model, same = WMMDClassifier(prior=0.5).fit_sample(pu), WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> bool((model.score_samples(data.X) == same.score_samples(data.X)).all())
        True
        """
        return self._learn(self._checked(pu))

    def _learn(self, pu: PUSample) -> Self:
        """Learn from checked samples, known negatives among them where ``negative`` is a parameter."""
        return self._fit(pu)

    def _fit(self, pu: PUSample) -> Self:
        raise NotImplementedError

    @contextmanager
    def _undone_if_stopped(self) -> Iterator[None]:
        """An error or an interrupt leaves the estimator as it was, fitted or not."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _telling(self) -> AbstractContextManager[None]:
        """Print what is being done, for an estimator with ``verbose`` that is asked to."""
        return listening(printing(type(self).__name__)) if getattr(self, "verbose", False) else nullcontext()

    def _pu_sample(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PUSample:
        """Check what ``fit`` was given, remember the classes and features, and separate the two samples."""
        rows: FloatArray
        given, is_negative = without_negatives(on_host(y), self.negative, self.pos_label)
        if self.negative is not None and is_negative is None:
            warn_of_absent(self.negative)
        rows, labels = validate_data(self, self._encoded(on_host(X)), completed(given, self.pos_label), **_TABLE)
        rows = self._accepted(rows)
        self.classes_, is_positive = find_classes(labels, self.pos_label)
        self._name_negatives(on_host(y), is_negative)
        warn_if_constant(rows)
        log_weights = as_log_weights(sample_weight, rows.shape[0])
        if log_weights is not None:
            warn_if_no_counts(log_weights, is_positive)
        pu = split_samples(rows, is_positive, log_weights, self.scenario, is_negative)
        self._table_seen = {
            "n_rows": rows.shape[0],
            "n_labelled": int(is_positive.sum()),
            "means": means_of_some_rows(rows),
            "is_weighted": log_weights is not None,
        }
        self._remember_form(pu)
        self._speak_of_columns()
        return pu

    def _name_negatives(self, y: ArrayLike, is_negative: np.ndarray | None) -> None:
        """Where some rows are known to be negative, answer with their value for all that is not positive."""
        self.unlabeled_label_ = None
        if is_negative is not None:
            of_negatives = np.asarray(y)[is_negative][:1]
            unlabeled, positive = self.classes_
            self.unlabeled_label_, self.classes_ = unlabeled, np.array([*of_negatives.tolist(), positive])

    def _checked(self, pu: PUSample) -> PUSample:
        """Check samples as `_pu_sample` checks a table, and remember what it would; the classes are 0 and 1."""
        if pu.negative is not None and "negative" not in self.get_params():  # type: ignore[attr-defined]
            raise ValueError(f"{type(self).__name__} does not take known negatives; PUClassifier and its parts do.")
        if pu.scenario != self.scenario:
            raise ValueError(f"The samples are {pu.scenario}, and the estimator is {self.scenario}; they must agree.")
        if pu.unlabeled.is_here:  # rows elsewhere are checked there
            pu = checked_samples(pu).mapped(self._accepted)
        self._remember_form(pu)
        self.classes_, self.n_features_in_, self.unlabeled_label_ = np.array([0, 1]), pu.positive.rows.shape[1], None
        self.encoder_, self._table_seen = None, None
        vars(self).pop("feature_names_in_", None)
        return pu

    def _speak_as(self, other: PUInput) -> None:
        """Take over the classes and the names of features of another estimator, fitted to the same samples."""
        self.classes_, self.unlabeled_label_ = other.classes_, other.unlabeled_label_
        if hasattr(other, "feature_names_in_"):
            self.feature_names_in_ = other.feature_names_in_
        self.encoder_ = other.encoder_
        self._speak_of_columns()

    def _encoded(self, X: Any) -> Any:
        """The features of a data frame that has columns of words, by an encoder that is kept; or X as it is."""
        check_names_differ(X)
        words = columns_of_words(X)
        self.encoder_ = new_encoder(words) if words else None
        return X if self.encoder_ is None else np.asarray(self.encoder_.fit_transform(X))

    def _speak_of_columns(self) -> None:
        """Let the columns of a data frame be what it was fitted to, not the features that were made of them."""
        if self.encoder_ is not None:
            self.n_features_in_ = self.encoder_.n_features_in_
            if self._takes_missing:
                self.n_missing_ = self.encoder_.n_missing_
            if hasattr(self.encoder_, "feature_names_in_"):
                self.feature_names_in_ = self.encoder_.feature_names_in_

    def by_column(self, values: FloatArray) -> FloatArray:
        """Values of features, such as importances, summed up by column of the table that it was fitted to.

        Examples
        --------
        >>> import pandas as pd
        >>> from unlabeled import WMMDClassifier
        >>> frame = pd.DataFrame({"age": [31, 40, 58, 18] * 5, "city": ["Bonn", "Rome", "Bonn", "Oslo"] * 5})
        >>> model = WMMDClassifier(prior=0.6).fit(frame, [1, 1, 0, 0] * 5)
        >>> model.by_column([1.0, 1.0, 2.0, 3.0])  # of age, and of three features that were made of city
        array([1., 6.])
        """
        return values if self.encoder_ is None else self.encoder_.by_column(values)

    def _validated(self, X: ArrayLike) -> FloatArray:
        """Check what a fitted estimator was given to answer for: rows of their own, and on a card those that are.

        They are a new view, because engines find what they keep of an array by its identity.
        """
        check_is_fitted(self)
        if self.encoder_ is not None:
            return self.encoder_.features(on_host(X))
        if is_on_device(X) and self._takes_tensors:
            return self._validated_on_device(X)
        rows: FloatArray = self._accepted(validate_data(self, on_host(X), reset=False, **_TABLE))
        if issparse(rows) == self._learned_sparse:
            return rows if issparse(rows) else rows[:]
        if self._learned_sparse:
            return csr_array(rows)
        raise TypeError(
            f"This {type(self).__name__} was fitted to a dense table, and this one is sparse. Give some rows at a "
            "time, X[:1000].toarray(), or fit to a sparse table."
        )

    def _validated_on_device(self, X: Any) -> FloatArray:
        rows: FloatArray = checked_on_device(X, "X")
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return rows

    def _accepted(self, rows: FloatArray) -> FloatArray:
        """Rows that scikit-learn has checked, unless this estimator does not take what they are."""
        if issparse(rows):
            return _checked_sparse(rows, type(self).__name__, taken=self._takes_sparse)
        if not self._takes_missing and (missing := np.isnan(rows)).any():
            raise ValueError(
                f"X contains NaN: {missing.sum():,} of {rows.size:,} values are missing, in "
                f"{missing.any(axis=0).sum():,} of {rows.shape[1]:,} features, and {type(self).__name__} does not take "
                "missing values. PUClassifier, WMMDClassifier and ScoreWMMDClassifier do; or fill them in: "
                f"make_pipeline(SimpleImputer(add_indicator=True), {type(self).__name__}(...))."
            )
        return rows

    def _remember_form(self, pu: PUSample) -> None:
        self._learned_sparse = issparse(pu.positive.rows)
        if self._takes_missing:
            self.n_missing_ = pu.n_missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's classes beside this one
        taken = tags.input_tags
        taken.allow_nan, taken.sparse = self._takes_missing, self._takes_sparse
        inner = getattr(self, "estimator", None)
        if hasattr(inner, "__sklearn_tags__"):  # what it is given it passes on
            of_inner = get_tags(inner).input_tags
            taken.allow_nan, taken.sparse = taken.allow_nan and of_inner.allow_nan, taken.sparse and of_inner.sparse
        return tags


class PUClassifierMixin(PUInput, ClassifierMixin):
    """Classes from a decision function: positive exactly where it is above 0."""

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """How far each row is on the positive side."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each row, in the values that ``y`` had.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> found = model.predict(data.test)
        >>> bool(((found == 1) == data.test_truth).mean() > 0.7)
        True
        """
        is_positive = on_host(self.decision_function(X)) > 0
        return self.classes_[is_positive.astype(int)]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the two classes, in the order of `classes_`."""
        raise NotImplementedError

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Log of `predict_proba`; -inf where that is 0.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> import numpy as np
        >>> bool(np.allclose(np.exp(model.predict_log_proba(data.test)), model.predict_proba(data.test)))
        True
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """How well positives are ranked above the population: the area under the ROC curve of P against it.

        This is what `GridSearchCV` maximises unless it is told otherwise. Accuracy, as other classifiers have it here,
        would count every positive among the unlabeled rows that is found as an error, and be best where nothing is
        flagged. The area needs neither negatives nor a prior: it is ``prior/2 + (1 - prior) AUC`` (see
        `unlabeled.metrics.proxy_roc_auc`), so what ranks better has the larger one, and no parameter can talk it up.

        It does not see the threshold, nor a prior that leaves the ranking alone: in a search over ``prior`` candidates
        are equal but for noise, and of equal ones the first is taken. No score of such data could tell them
        apart: estimate the prior (`unlabeled.priors`), or search with a prior that you know,
        ``scoring=pu_scorer("accuracy", prior=...)`` of `unlabeled.metrics`. Where true classes are known, compare them
        with `predict`, as in ``sklearn.metrics.accuracy_score(truth, model.predict(X))``.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows that the classifier was not fitted to.
        y : array of shape (n_samples,)
            Which of them are labelled positive, in the values that `fit` was given. Both kinds must be there:
            `unlabeled.metrics.PUStratifiedKFold` makes such folds.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        area : float
            1/2 by chance; at most ``1 - prior/2``.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> bool(0.5 < model.score(data.X, data.y) < 1)  # the AUC of positives against the population
        True
        """
        decision = self.decision_function(X)
        is_positive, counts = self._labels_among(column_or_1d(y))
        check_consistent_length(decision, is_positive)
        if not counts.all():
            decision, is_positive = decision[counts], is_positive[counts]
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[counts]
        for present, name in ((is_positive, "labelled positives"), (~is_positive, "unlabeled rows")):
            if not present.any():
                raise ValueError(
                    f"score compares labelled positives with unlabeled rows, and y has no {name}. Use folds that hold "
                    "both, as unlabeled.metrics.PUStratifiedKFold makes them, and no more folds than positives."
                )
        return proxy_roc_auc(is_positive, decision, scenario=self.scenario, sample_weight=sample_weight)

    def _labels_among(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which entries are positive, and which rows are of either sample: negatives that are known to be are of none.

        In the single-sample scenario these are members of the population all the same.
        """
        is_positive, is_negative = known_among(y, self.classes_, self.unlabeled_label_)
        return is_positive, ~is_negative | (self.scenario == "single-sample")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def without_search(model: Any) -> Any:
    """The best estimator of a search of scikit-learn, which was fitted to all rows; other models as they are."""
    return getattr(model, "best_estimator_", model)


def two_columns(positive: FloatArray, decision: FloatArray) -> FloatArray:
    """Probabilities of the two classes that sum to 1, with P(y=1) above 1/2 exactly where the decision is above 0.

    Where rounding alone puts a probability on the wrong side of 1/2, the decision has the last word.
    """
    positive = np.where(decision > 0, np.clip(positive, np.nextafter(0.5, 1), 1), np.clip(positive, 0, 0.5))
    return np.column_stack([1 - positive, positive])


def _checked_sparse(rows: Any, name: str, *, taken: bool) -> Any:
    """A sparse table (CSR) with each entry once, in order; whoever gave it keeps theirs as it is."""
    if not taken:
        raise TypeError(
            f"X is sparse, and {name} takes dense tables only. PUClassifier, WMMDClassifier and ScoreWMMDClassifier "
            "take sparse ones, and ElkanNotoClassifier around a classifier that does; or make it dense and short: "
            f"make_pipeline(TruncatedSVD(100), {name}(...))."
        )
    if np.isnan(rows.data).any():
        raise ValueError(
            f"X is sparse and contains NaN: {np.isnan(rows.data).sum():,} values. Missing values are taken in dense "
            "tables only; fill them in, for example by SimpleImputer in a pipeline."
        )
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
