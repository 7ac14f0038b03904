"""The two averages that every metric is made of: over the positives, and over the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from unlabeled.arrays import FloatArray
from unlabeled.labels import completed, find_classes, positives_among
from unlabeled.samples import SCENARIOS, as_log_weights


@dataclass(frozen=True)
class Averages:
    """Weights over the rows of a table, each set summing to 1: those of the positives and those of the population.

    ``labelled_share`` is the share of the population that is labelled, and ``row_share`` that of one row.
    """

    positive: FloatArray
    population: FloatArray
    labelled_share: float
    row_share: float

    @classmethod
    def of(cls, is_positive: np.ndarray, scenario: str, sample_weight: ArrayLike | None = None) -> Averages:
        """The averages over the rows of one table."""
        if scenario not in SCENARIOS:
            raise ValueError(f"scenario={scenario!r} is not known; use one of {list(SCENARIOS)}.")
        weights = np.ones(len(is_positive))
        if (log_weights := as_log_weights(sample_weight, len(is_positive))) is not None:
            weights = np.exp(log_weights)
        positive = np.where(is_positive, weights, 0)
        single = scenario == "single-sample"
        population = weights if single else np.where(is_positive, 0, weights)
        for total, name in ((positive.sum(), "labelled positives"), (population.sum(), "unlabeled rows")):
            if total == 0:
                raise ValueError(f"All {name} have a sample_weight of 0; the metrics need some of both samples.")
        total = population.sum()
        labelled_share = float(positive.sum() / total) if single else 0.0
        return cls(positive / positive.sum(), population / total, labelled_share, float(weights.max() / total))

    def check_prior(self, prior: float) -> float:
        """Refuse a number that cannot be the prior of this population."""
        if not 0 < prior < 1:
            raise ValueError(f"prior must lie strictly between 0 and 1; got {prior!r}.")
        # A fold holds its share of the positives up to one row, so one row may be too many.
        if prior < self.labelled_share - self.row_share:
            raise ValueError(
                f"prior={prior!r} is below the labelled share of the population, {self.labelled_share:.6g}: that is "
                "impossible in the single-sample scenario. Give a larger prior, or use scenario='case-control'."
            )
        return float(prior)


def as_labels(y_true: ArrayLike, pos_label: Any) -> tuple[np.ndarray, np.ndarray]:
    """The two values of the labels, unlabeled first, and which rows are labelled positives."""
    return find_classes(column_or_1d(completed(y_true, pos_label)), pos_label)


def as_flags(y_pred: ArrayLike, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """Which rows are called positive, from predictions in the spelling of the labels."""
    predicted = column_or_1d(y_pred)
    if len(predicted) != n_rows:
        raise ValueError(f"y_true has {n_rows} entries and y_pred {len(predicted)}; they must agree.")
    try:
        return positives_among(predicted, classes)
    except ValueError as error:
        raise ValueError(
            f"y_pred: {error} Give predicted classes here, in the values of y_true; scores belong to pu_roc_auc, "
            "pu_average_precision and pu_risk."
        ) from None


def as_scores(y_score: ArrayLike, n_rows: int) -> FloatArray:
    """Scores as numbers, one for each row; larger is more positive."""
    scores = column_or_1d(y_score).astype(np.float64)
    if len(scores) != n_rows:
        raise ValueError(f"y_true has {n_rows} entries and y_score {len(scores)}; they must agree.")
    if np.isnan(scores).any():
        raise ValueError("y_score holds NaN; give a number for each row.")
    return scores
