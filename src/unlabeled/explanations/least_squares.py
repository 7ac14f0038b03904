"""What can be said of a ratio fitted by least squares: what each feature does for a row, and the rows next to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.classifiers import LeastSquaresPUClassifier
from unlabeled.explanations.learned_score import Nearest, nearest_in_score


@dataclass(frozen=True)
class LeastSquaresReasons:
    """A score by least squares, the ratio that it is the log of, and what each feature does for it.

    ``by_feature`` is how much the score would fall if the feature had its mean over the population instead. It is exact
    for one feature at a time, but for one that had missing values, whose two columns are replaced one by one; together
    features may do more or less than their sum. ``positive`` and ``unlabeled`` are
    the training rows next to this one in the score.
    """

    score: float
    ratio: float
    by_feature: FloatArray
    positive: Nearest
    unlabeled: Nearest

    def by_column(self, sums: Callable[[FloatArray], FloatArray]) -> LeastSquaresReasons:
        """The same with parts of columns, of which the features were made."""
        return replace(self, by_feature=sums(self.by_feature))


def least_squares_reasons(classifier: LeastSquaresPUClassifier, row: FloatArray) -> LeastSquaresReasons:
    """Explain the score of one row of features (1, n_features)."""
    row = classifier.form_.apply(row).astype(np.float64)
    instead = np.repeat(row, row.shape[1], axis=0)
    np.fill_diagonal(instead, classifier.column_means_)
    score, *without = classifier.score_complete(np.vstack([row, instead]))
    honest = classifier.own_honest_scores
    return LeastSquaresReasons(
        float(score),
        float(classifier.ratio_.at(row)[0]),
        classifier.by_column(classifier.form_.by_feature(score - np.array(without))),
        nearest_in_score(float(score), honest.positive, honest.positive_rows),
        nearest_in_score(float(score), honest.unlabeled, honest.unlabeled_rows),
    )
