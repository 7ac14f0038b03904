"""What a classifier will do on rows that it has not seen, estimated from rows that took no part in their own score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.labels import find_classes, positives_among
from unlabeled.metrics import PUStratifiedKFold, pu_flagged_rate, pu_precision, pu_recall, pu_roc_auc
from unlabeled.priors.scar import told_once

__all__ = ["Estimates", "evaluate"]

#: Folds for classifiers that keep no honest scores of their own.
N_FOLDS = 5
#: The most rows of each sample that are scored in a fold.
MOST_SCORED = 2_000


@dataclass(frozen=True)
class Estimates:
    """Recall, precision, flagged rate and ROC AUC in the population."""

    recall: float
    precision: float
    flagged_rate: float
    roc_auc: float


def evaluate(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    prior: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Estimates | None:
    """Estimate recall, precision, flagged rate and ROC AUC of a fitted classifier in the population.

    The classifiers on WMMD keep the honest scores that their threshold was placed by, and these serve. Others are
    fitted anew without each of five folds.

    Parameters
    ----------
    model : classifier, or pipeline that ends with one
        Fitted to this table.
    X : array or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Which rows are labelled positive, as the model was told.
    prior : float in (0, 1), optional
        P(y = 1) in the population; by default the model's.
    sample_weight : array of shape (n_samples,), optional
        How often each row counted, where the model has to be fitted anew; honest scores know their weights.
    pos_label : optional
        The value of y that marks labelled positives; by default what the model has learned.

    Returns
    -------
    estimates : Estimates or None
        None where there are too few rows to hold any out.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, evaluate
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> 0.7 < evaluate(model, data.X, data.y).recall < 0.95
    True
    """
    check_is_fitted(model)
    classifier = model[-1] if isinstance(model, Pipeline) else model
    pos_label = _positive_label(classifier, y) if pos_label is None else pos_label
    _, is_positive = find_classes(y, pos_label)
    if isinstance(getattr(classifier, "honest_scores_", None), HonestScores):
        decisions = _honest_decisions(classifier, is_positive)
    elif min(is_positive.sum(), (~is_positive).sum()) < 3:  # each fit needs two rows of each sample
        return None
    else:
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        model = _unfitted(model, pos_label)
        with told_once():
            decisions = _refitted_decisions(model, X, np.asarray(y), is_positive, weights)
    return _estimates(decisions, float(classifier.prior_) if prior is None else prior, classifier.scenario)


def _positive_label(classifier: Any, y: ArrayLike) -> Any:
    """The value that the classifier knows positives by; None where y is spelled otherwise, as samples are not."""
    try:
        known = positives_among(y, classifier.classes_)
    except ValueError:
        return None
    return classifier.classes_[1] if known.any() else None


def _unfitted(model: Any, pos_label: Any) -> Any:
    """A copy to be fitted anew that knows the positive value, so that no fold has to guess it."""
    copy = clone(model)
    (copy[-1] if isinstance(copy, Pipeline) else copy).set_params(pos_label=pos_label)
    return copy


def _estimates(decisions: HonestScores, prior: float, scenario: str) -> Estimates:
    labels = np.repeat([0, 1], [len(decisions.unlabeled), len(decisions.positive)])
    values = np.concatenate([decisions.unlabeled, decisions.positive])
    weights = np.concatenate([decisions.unlabeled_weights, decisions.positive_weights])
    options: dict[str, Any] = {"scenario": scenario, "sample_weight": weights}
    flags = (values > 0).astype(int)
    return Estimates(
        pu_recall(labels, flags, **options),
        pu_precision(labels, flags, prior=prior, **options),
        pu_flagged_rate(labels, flags, **options),
        pu_roc_auc(labels, values, prior=prior, **options),
    )


def _honest_decisions(classifier: Any, is_positive: np.ndarray) -> HonestScores:
    """Honest scores less the threshold; in the single-sample scenario positives weigh their share of the population."""
    honest: HonestScores = classifier.honest_scores_
    for rows, expected in ((honest.positive_rows, True), (honest.unlabeled_rows, False)):
        if rows is None or rows.max() >= len(is_positive) or (is_positive[rows] != expected).any():
            raise ValueError(
                "X and y are not the table that the model was fitted to, or its rows are in another order."
            )
    share = honest.labelled_share or 0.5  # in the case-control scenario it does not matter
    return replace(
        honest.mapped(1.0, -classifier.threshold_),
        positive_weights=share * honest.positive_mass,
        unlabeled_weights=(1 - share) * honest.unlabeled_weights / honest.n_unlabeled,
    )


def _refitted_decisions(
    model: Any, X: ArrayLike, y: np.ndarray, is_positive: np.ndarray, weights: FloatArray | None
) -> HonestScores:
    """Decisions about rows by fits without their fold, each weighted by the rows that it stands for."""
    n_folds = int(min(N_FOLDS, is_positive.sum(), (~is_positive).sum()))
    counts = np.ones(len(y)) if weights is None else weights
    decisions, stands_for, scored = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y), dtype=bool)
    for train, test in PUStratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, is_positive):
        options = {} if weights is None else {"sample_weight": weights[train]}
        fitted = clone(model).fit(_safe_indexing(X, train), y[train], **options)
        for value in (True, False):
            of_sample = test[is_positive[test] == value]
            some = of_sample[:MOST_SCORED]
            decisions[some], scored[some] = fitted.decision_function(_safe_indexing(X, some)), True
            stands_for[some] = counts[some] * (counts[of_sample].sum() / counts[some].sum())
    positive, unlabeled = scored & is_positive, scored & ~is_positive
    return HonestScores(decisions[positive], decisions[unlabeled], stands_for[positive], stands_for[unlabeled])
