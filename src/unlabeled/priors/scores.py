"""Honest one-dimensional scores of positives and unlabeled rows, for the estimators that work on scores.

A row takes no part in its own score: leave-one-out for the WMMD score, cross-fitting for any scikit-learn classifier.
Here the denominator of the WMMD score is always the unlabeled sample alone: the estimators ask for the share among it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

from unlabeled.kernels import FloatArray
from unlabeled.samples import PUSample, Sample
from unlabeled.score import Kernels
from unlabeled.selection import loo_scores

#: The grid of gamma, in units of one over the median squared distance between unlabeled rows.
RELATIVE_GAMMAS: FloatArray = np.exp2(np.arange(-2, 7))
#: Up to so many rows all pairs make the median distance.
N_MEDIAN_ROWS = 200


@dataclass(frozen=True)
class Scores:
    """Scores and weights of both samples (each one-dimensional); larger is more positive."""

    positive: FloatArray
    unlabeled: FloatArray
    positive_weights: FloatArray
    unlabeled_weights: FloatArray

    def resample(self, rng: np.random.RandomState) -> Scores:
        """A bootstrap draw of the scores; rows themselves cannot be redrawn, since copies defeat leave-one-out."""
        p, u = (rng.randint(len(s), size=len(s)) for s in (self.positive, self.unlabeled))
        return Scores(self.positive[p], self.unlabeled[u], self.positive_weights[p], self.unlabeled_weights[u])


def honest_scores(
    pu: PUSample, estimator: Any, n_folds: int, max_evaluations: int | None, rng: np.random.RandomState
) -> Scores:
    """Cross-fitted scores of an estimator, or leave-one-out WMMD scores where it is None."""
    if estimator is None:
        return wmmd_scores(pu, max_evaluations, rng)
    return cross_fitted_scores(pu, estimator, n_folds, rng)


def wmmd_scores(pu: PUSample, max_evaluations: int | None, rng: np.random.RandomState) -> Scores:
    """Leave-one-out WMMD scores on standardised features, at the gamma that best ranks P above U."""
    two_samples = standardised(pu)
    gammas = RELATIVE_GAMMAS / median_sq_distance(two_samples.unlabeled, rng)
    found = loo_scores(two_samples, Kernels("rbf", gammas), max_evaluations, rng)
    weights = np.concatenate([found.positive_weights, found.unlabeled_weights])
    labels = np.repeat([1, 0], [found.positive.shape[1], found.unlabeled.shape[1]])
    areas = [
        roc_auc_score(labels, scores, sample_weight=weights) for scores in np.hstack([found.positive, found.unlabeled])
    ]
    best = int(
        np.argmax(np.array(areas) > max(areas) - 1e-9)
    )  # the widest kernel of those that rounding may tell apart
    return Scores(found.positive[best], found.unlabeled[best], found.positive_weights, found.unlabeled_weights)


def standardised(pu: PUSample) -> PUSample:
    """Both samples in units of the unlabeled sample; constant features drop out of all distances."""
    rows = pu.unlabeled.rows.astype(np.float64)
    mean = np.average(rows, axis=0, weights=pu.unlabeled.weights)
    scale = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=pu.unlabeled.weights))
    scale[scale == 0] = 1
    positive, unlabeled = (Sample((s.rows - mean) / scale, s.log_weights) for s in (pu.positive, pu.unlabeled))
    return PUSample(positive, unlabeled, "case-control")


def median_sq_distance(sample: Sample, rng: np.random.RandomState) -> float:
    """Median squared distance of different rows, of random pairs where there are many; 1 where rows are all alike."""
    if len(sample) <= N_MEDIAN_ROWS:
        first, second = np.triu_indices(len(sample), 1)
    else:
        first, second = rng.randint(len(sample), size=(2, N_MEDIAN_ROWS**2 // 2))
    sq_dist = ((sample.rows[first] - sample.rows[second]) ** 2).sum(axis=1)
    weights = sample.weights[first] * sample.weights[second]
    order = np.argsort(sq_dist)
    order = order[sq_dist[order] > 0]
    if len(order) == 0:
        return 1.0
    share = np.cumsum(weights[order])
    return float(sq_dist[order[np.searchsorted(share, share[-1] / 2 * (1 - 1e-9))]])


def cross_fitted_scores(pu: PUSample, estimator: Any, n_folds: int, rng: np.random.RandomState) -> Scores:
    """Out-of-fold scores of a classifier of P against U; the estimator given is cloned and never fitted itself."""
    rows = np.concatenate([pu.positive.rows, pu.unlabeled.rows])
    labels = np.repeat([1, 0], [len(pu.positive), len(pu.unlabeled)])
    weights = np.concatenate([pu.positive.weights, pu.unlabeled.weights])
    scores = np.empty(len(rows))
    n_folds = max(2, min(n_folds, len(pu.positive), len(pu.unlabeled)))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=rng).split(rows, labels):
        scores[test] = score_of(_fitted(estimator, rows[train], labels[train], weights[train]), rows[test])
    n_positive = len(pu.positive)
    return Scores(scores[:n_positive], scores[n_positive:], weights[:n_positive], weights[n_positive:])


def _fitted(estimator: Any, rows: FloatArray, labels: np.ndarray, weights: FloatArray) -> Any:
    model = clone(estimator)
    if (weights == 1).all():
        return model.fit(rows, labels)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"{type(model).__name__} does not take sample_weight; use one that does, or leave weights out."
        )
    return model.fit(rows, labels, sample_weight=weights)


def score_of(model: Any, rows: FloatArray) -> FloatArray:
    """The log odds of P against U as a fitted classifier sees them, or its decision function."""
    if hasattr(model, "predict_proba"):
        positive = np.clip(model.predict_proba(rows)[:, 1], 1e-12, 1 - 1e-12)
        return np.asarray(np.log(positive) - np.log1p(-positive))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows), dtype=np.float64)
    raise ValueError(
        f"{type(model).__name__} has neither predict_proba nor decision_function; use a classifier that can score rows."
    )
