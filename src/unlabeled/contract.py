"""What every PU estimator shares: how a table comes in, and how answers go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unlabeled.kernels import FloatArray
from unlabeled.samples import PUSample, as_log_weights, find_classes, split_samples


class PUInput:
    """Validation of tables and labels, for an estimator with a ``scenario``."""

    scenario: str
    classes_: np.ndarray

    def _pu_sample(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PUSample:
        """Check what ``fit`` was given, remember the classes and features, and separate the two samples."""
        rows: FloatArray
        rows, labels = validate_data(self, X, y, dtype=(np.float64, np.float32))
        self.classes_, is_positive = find_classes(labels)
        return split_samples(rows, is_positive, as_log_weights(sample_weight, len(rows)), self.scenario)

    def _validated(self, X: ArrayLike) -> FloatArray:
        """Check what a fitted estimator was given to answer for."""
        check_is_fitted(self)
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
