"""What every PU estimator shares: how a table comes in, and how answers go out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unlabeled.arrays import FloatArray
from unlabeled.frames import columns_of_words, new_encoder
from unlabeled.samples import PUSample, as_log_weights, checked_samples, find_classes, split_samples
from unlabeled.stages import listening, printing


class ResolvedPrior(NamedTuple):
    """A prior as a number, and the fitted estimator that it is from; None where it was given."""

    value: float
    estimator: Any


class PUInput:
    """Learning from a table with labels, or from its two samples, for an estimator with a ``scenario``."""

    scenario: str
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    encoder_: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a table in which some rows are labelled positive.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            A data frame of pandas or polars may have words, categories, dates and missing values:
            `unlabeled.tables.TableEncoder` makes features of it. To say what its columns are, put one before the
            classifier in a pipeline.
        y : array of shape (n_samples,)
            Two values: the larger marks labelled positives, the other unlabeled rows.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        with self._undone_if_stopped(), self._telling():
            return self._fit(self._pu_sample(X, y, sample_weight))

    def fit_sample(self, pu: PUSample) -> Self:
        """Learn from samples that are already separated, of the same scenario; classes are then called 1 and 0."""
        return self._fit(self._checked(pu))

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
        rows, labels = validate_data(self, self._encoded(X), y, dtype=(np.float64, np.float32))
        self._speak_of_columns()
        self.classes_, is_positive = find_classes(labels)
        return split_samples(rows, is_positive, as_log_weights(sample_weight, len(rows)), self.scenario)

    def _checked(self, pu: PUSample) -> PUSample:
        """Check samples as `_pu_sample` checks a table, and remember what it would; the classes are 0 and 1."""
        if pu.scenario != self.scenario:
            raise ValueError(f"The samples are {pu.scenario}, and the estimator is {self.scenario}; they must agree.")
        pu = checked_samples(pu)
        self.classes_, self.n_features_in_ = np.array([0, 1]), pu.positive.rows.shape[1]
        self.encoder_ = None
        vars(self).pop("feature_names_in_", None)
        return pu

    def _speak_as(self, other: PUInput) -> None:
        """Take over the classes and the names of features of another estimator, fitted to the same samples."""
        self.classes_ = other.classes_
        if hasattr(other, "feature_names_in_"):
            self.feature_names_in_ = other.feature_names_in_
        self.encoder_ = other.encoder_
        self._speak_of_columns()

    def _encoded(self, X: Any) -> Any:
        """The features of a data frame that has columns of words, by an encoder that is kept; or X as it is."""
        words = columns_of_words(X)
        self.encoder_ = new_encoder(words) if words else None
        return X if self.encoder_ is None else np.asarray(self.encoder_.fit_transform(X))

    def _speak_of_columns(self) -> None:
        """Let the columns of a data frame be what it was fitted to, not the features that were made of them."""
        if self.encoder_ is not None:
            self.n_features_in_ = self.encoder_.n_features_in_
            if hasattr(self.encoder_, "feature_names_in_"):
                self.feature_names_in_ = self.encoder_.feature_names_in_

    def by_column(self, values: FloatArray) -> FloatArray:
        """Values of features, such as importances, summed up by column of the table that it was fitted to."""
        return values if self.encoder_ is None else self.encoder_.by_column(values)

    def _validated(self, X: ArrayLike) -> FloatArray:
        """Check what a fitted estimator was given to answer for."""
        check_is_fitted(self)
        if self.encoder_ is not None:
            return self.encoder_.features(X)
        return validate_data(self, X, reset=False, dtype=(np.float64, np.float32))


class PUClassifierMixin(PUInput, ClassifierMixin):
    """Classes from a decision function: positive exactly where it is above 0."""

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """How far each row is on the positive side."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each row, in the values that ``y`` had."""
        is_positive = self.decision_function(X) > 0
        return self.classes_[is_positive.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def two_columns(positive: FloatArray, decision: FloatArray) -> FloatArray:
    """Probabilities of the two classes that sum to 1, with P(y=1) above 1/2 exactly where the decision is above 0.

    Where rounding alone puts a probability on the wrong side of 1/2, the decision has the last word.
    """
    positive = np.where(decision > 0, np.clip(positive, np.nextafter(0.5, 1), 1), np.clip(positive, 0, 0.5))
    return np.column_stack([1 - positive, positive])
