"""What a classifier will do on rows that it has not seen, estimated from rows that took no part in their own score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from unlabeled.kernels import FloatArray
from unlabeled.metrics import PUStratifiedKFold, pu_flagged_rate, pu_precision, pu_recall, pu_roc_auc
from unlabeled.priors.scores import Scores

#: Folds for classifiers that keep no honest scores of their own.
N_FOLDS = 5
#: At most so many rows of each sample are scored in a fold.
MOST_SCORED = 2_000


@dataclass(frozen=True)
class Estimates:
    """Recall, precision, flagged rate and ROC AUC in the population."""

    recall: float
    precision: float
    flagged_rate: float
    roc_auc: float


@dataclass(frozen=True)
class _Decisions:
    """Labels and decisions of rows, and how many rows of the table each stands for."""

    labels: np.ndarray
    decisions: FloatArray
    weights: FloatArray


def estimate(classifier: Any, X: FloatArray, y: np.ndarray, prior: float, scenario: str) -> Estimates | None:
    """Estimates for a fitted classifier; None where there are too few rows to hold any out.

    The classifiers on WMMD keep the honest scores that their threshold was placed by, and these serve. Others are
    fitted anew without each of five folds.
    """
    scores = getattr(classifier, "scores_", None)
    if isinstance(scores, Scores):
        found = _from_scores(scores, classifier.threshold_, y)
    elif min(y.sum(), len(y) - y.sum()) < 3:  # each fit needs two rows of each sample
        return None
    else:
        found = _from_folds(classifier, X, y)
    options: dict[str, Any] = {"scenario": scenario, "sample_weight": found.weights}
    flags = (found.decisions > 0).astype(int)
    return Estimates(
        pu_recall(found.labels, flags, **options),
        pu_precision(found.labels, flags, prior=prior, **options),
        pu_flagged_rate(found.labels, flags, **options),
        pu_roc_auc(found.labels, found.decisions, prior=prior, **options),
    )


def _from_scores(scores: Scores, threshold: float, y: np.ndarray) -> _Decisions:
    labels = np.repeat([0, 1], [len(scores.unlabeled), len(scores.positive)])
    decisions = np.concatenate([scores.unlabeled, scores.positive]) - threshold
    own = np.concatenate([scores.unlabeled_weights, scores.positive_weights])
    standing_for = [(y == value).sum() / own[labels == value].sum() for value in (0, 1)]
    return _Decisions(labels, decisions, own * np.array(standing_for)[labels])


def _from_folds(classifier: Any, X: FloatArray, y: np.ndarray) -> _Decisions:
    n_folds = int(min(N_FOLDS, y.sum(), len(y) - y.sum()))
    folds = PUStratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y)
    parts = [_of_fold(classifier, X, y, train, test) for train, test in folds]
    return _Decisions(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.decisions for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _of_fold(classifier: Any, X: FloatArray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> _Decisions:
    model = clone(classifier).fit(X[train], y[train])
    scored = np.concatenate([test[y[test] == value][:MOST_SCORED] for value in (0, 1)])
    standing_for = np.array([(y[test] == value).sum() / (y[scored] == value).sum() for value in (0, 1)])
    return _Decisions(y[scored], model.decision_function(X[scored]), standing_for[y[scored]])
