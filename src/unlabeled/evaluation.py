"""What a classifier will do on rows that it has not seen, estimated from rows that took no part in their own score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from unlabeled.deciding.scores import HonestScores
from unlabeled.metrics import PUStratifiedKFold, pu_flagged_rate, pu_precision, pu_recall, pu_roc_auc
from unlabeled.samples import find_classes

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
    model: Any, X: ArrayLike, y: ArrayLike, *, prior: float | None = None, scenario: str | None = None
) -> Estimates | None:
    """Estimate recall, precision, flagged rate and ROC AUC of a fitted classifier in the population.

    The classifiers on WMMD keep the honest scores that their threshold was placed by, and these are used. Others are
    fitted anew without each of five folds.

    Parameters
    ----------
    model : classifier
        Fitted to X and y; with `decision_function`.
    X : array or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Two values: the larger marks labelled positives, the other unlabeled rows.
    prior : float in (0, 1), optional
        P(y = 1) in the population; by default the model's.
    scenario : {"case-control", "single-sample"}, optional
        By default the model's.

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
    _, is_positive = find_classes(y)
    decisions = _decisions(model, X, is_positive, np.asarray(y))
    if decisions is None:
        return None
    prior = float(model.prior_) if prior is None else prior
    labels = np.repeat([0, 1], [len(decisions.unlabeled), len(decisions.positive)])
    values = np.concatenate([decisions.unlabeled, decisions.positive])
    options: dict[str, Any] = {
        "scenario": model.scenario if scenario is None else scenario,
        "sample_weight": np.concatenate([decisions.unlabeled_weights, decisions.positive_weights]),
    }
    flags = (values > 0).astype(int)
    return Estimates(
        pu_recall(labels, flags, **options),
        pu_precision(labels, flags, prior=prior, **options),
        pu_flagged_rate(labels, flags, **options),
        pu_roc_auc(labels, values, prior=prior, **options),
    )


def _decisions(model: Any, X: ArrayLike, is_positive: np.ndarray, y: np.ndarray) -> HonestScores | None:
    """Honest scores less the threshold, each weighted by the rows of the table that it stands for."""
    honest = getattr(model, "honest_scores_", None)
    if isinstance(honest, HonestScores):
        return _standing_for(honest.mapped(1.0, -model.threshold_), is_positive)
    n_folds = min(N_FOLDS, is_positive.sum(), (~is_positive).sum())
    if n_folds < 3:  # each fit needs two rows of each sample
        return None
    folds = PUStratifiedKFold(int(n_folds), shuffle=True, random_state=0).split(y, is_positive)
    parts = [_of_fold(model, X, y, is_positive, train, test) for train, test in folds]
    return HonestScores(
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.unlabeled for part in parts]),
        np.concatenate([part.positive_weights for part in parts]),
        np.concatenate([part.unlabeled_weights for part in parts]),
    )


def _of_fold(
    model: Any, X: ArrayLike, y: np.ndarray, is_positive: np.ndarray, train: np.ndarray, test: np.ndarray
) -> HonestScores:
    fitted = clone(model).fit(_safe_indexing(X, train), y[train])
    positive, unlabeled = (test[is_positive[test] == value][:MOST_SCORED] for value in (True, False))
    of_positive, of_unlabeled = (fitted.decision_function(_safe_indexing(X, rows)) for rows in (positive, unlabeled))
    scores = HonestScores(of_positive, of_unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)))
    return _standing_for(scores, is_positive[test])


def _standing_for(scores: HonestScores, is_positive: np.ndarray) -> HonestScores:
    """The same scores, with weights that add up to the numbers of rows."""
    return replace(
        scores,
        positive_weights=scores.positive_weights * (is_positive.sum() / scores.n_positive),
        unlabeled_weights=scores.unlabeled_weights * ((~is_positive).sum() / scores.n_unlabeled),
    )
