"""Metrics of scores, whatever the threshold: ROC AUC and average precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.arrays import FloatArray
from unlabeled.metrics.averages import Averages, as_labels, as_scores

_Weights = ArrayLike | None


def proxy_roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Chance that a positive has a larger score than a row of the population, ties counting half. It needs no prior.

    ``prior/2 + (1 - prior) AUC``: it ranks classifiers as their AUC does, and `pu_roc_auc` is the AUC itself.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Which rows are labelled positive: two values, spelled as `fit` of the classifiers takes them.
    y_score : array of shape (n_samples,)
        Larger is more positive.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the population is the unlabeled rows, or labelled and unlabeled rows together.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    pos_label : optional
        The value that marks labelled positives, where numbers or words do not say it.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_score = [4, 3, 2, 1, 3.5, 2.5, 0.5, 0.4, 0.3, 0.2]
    >>> from unlabeled.metrics import proxy_roc_auc
    >>> round(proxy_roc_auc(y_true, y_score), 4)
    0.7917
    """
    _, is_positive = as_labels(y_true, pos_label)
    averages = Averages.of(is_positive, scenario, sample_weight)
    return _area(averages, as_scores(y_score, len(is_positive)))


def pu_roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Chance that a positive has a larger score than a negative, without bias, so that noise may push it above 1.

    Parameters
    ----------
    y_true, y_score, scenario, sample_weight, pos_label
        As in `proxy_roc_auc`.
    prior : float in (0, 1)
        P(y = 1) in the population.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_score = [4, 3, 2, 1, 3.5, 2.5, 0.5, 0.4, 0.3, 0.2]
    >>> from unlabeled.metrics import pu_roc_auc
    >>> round(pu_roc_auc(y_true, y_score, prior=0.3), 4)
    0.9167
    """
    _, is_positive = as_labels(y_true, pos_label)
    averages = Averages.of(is_positive, scenario, sample_weight)
    prior = averages.check_prior(prior)
    return (_area(averages, as_scores(y_score, len(is_positive))) - prior / 2) / (1 - prior)


def pu_average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Mean precision over the recalls that the scores reach, as scikit-learn's `average_precision_score` has it.

    Parameters as in `pu_roc_auc`. The precision at each threshold is at most 1. It is noisy where positives are rare:
    at a prior of 0.05, 200,000 rows give it with a standard error of 0.01 or so, see `unlabeled.metrics`.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_score = [4, 3, 2, 1, 3.5, 2.5, 0.5, 0.4, 0.3, 0.2]
    >>> from unlabeled.metrics import pu_average_precision
    >>> round(pu_average_precision(y_true, y_score, prior=0.3), 4)
    0.8687
    """
    _, is_positive = as_labels(y_true, pos_label)
    averages = Averages.of(is_positive, scenario, sample_weight)
    prior = averages.check_prior(prior)
    positive, population = _mass_by_score(averages, as_scores(y_score, len(is_positive)))
    found = prior * np.cumsum(positive[::-1])
    flagged = np.maximum(np.cumsum(population[::-1]), found)
    precision = np.divide(found, flagged, out=np.zeros_like(found), where=flagged > 0)
    return float(positive[::-1] @ precision)


def _area(averages: Averages, scores: FloatArray) -> float:
    positive, population = _mass_by_score(averages, scores)
    return float(positive @ (np.cumsum(population) - population / 2))


def _mass_by_score(averages: Averages, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of the positives and of the population at each different score, in rising order."""
    distinct, place = np.unique(scores, return_inverse=True)

    def at_scores(weights: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(place, weights, len(distinct)), dtype=np.float64)

    return at_scores(averages.positive), at_scores(averages.population)
