"""What can be said of a learned score: the training rows next to a row in it, and the importances of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.classifiers import ScoreWMMDClassifier


@dataclass(frozen=True)
class Nearest:
    """Training rows by how near their out-of-fold score is, the nearest first; rows counted as in `fit`."""

    rows: np.ndarray
    scores: FloatArray


@dataclass(frozen=True)
class LearnedReasons:
    """A learned score, the positives and unlabeled rows next to it, and the importances of features (None: unknown).

    Neighbours in the score do not decide it, and importances over all rows need not be what counts for one.
    """

    score: float
    positive: Nearest
    unlabeled: Nearest
    importances: FloatArray | None

    def by_column(self, sums: Callable[[FloatArray], FloatArray]) -> LearnedReasons:
        """The same with importances of columns, of which the features were made."""
        return self if self.importances is None else replace(self, importances=sums(self.importances))


def learned_reasons(classifier: ScoreWMMDClassifier, row: FloatArray) -> LearnedReasons:
    """Explain the score of one row of features (1, n_features)."""
    score, honest = float(classifier.score_rows(row)[0]), classifier.own_honest_scores
    return LearnedReasons(
        score,
        nearest_in_score(score, honest.positive, honest.positive_rows),
        nearest_in_score(score, honest.unlabeled, honest.unlabeled_rows),
        getattr(classifier, "feature_importances_", None),
    )


def nearest_in_score(score: float, scores: FloatArray, rows: np.ndarray | None) -> Nearest:
    """Training rows by how near their honest score is to a score."""
    order = np.abs(scores - score).argsort(kind="stable")
    return Nearest(order if rows is None else rows[order], scores[order])
