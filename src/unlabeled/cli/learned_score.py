"""What can be said of a learned score: the training rows that come next to a row in it, and what the model goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from unlabeled.kernels import FloatArray
from unlabeled.score_classifier import ScoreWMMDClassifier


def nearest_in_score(classifier: ScoreWMMDClassifier, score: float, n_rows: int) -> dict[str, list[tuple[int, float]]]:
    """Places (within their sample) and scores of the positives and unlabeled rows of the nearest out-of-fold scores."""
    nearest = {}
    samples = (classifier.scores_.positive, classifier.scores_.unlabeled)
    for name, scores, origin in zip(("positives", "unlabeled"), samples, classifier.origins_, strict=True):
        order = np.abs(scores - score).argsort(kind="stable")[:n_rows]
        nearest[name] = [(int(origin[place]), float(scores[place])) for place in order]
    return nearest


def importances(classifier: ScoreWMMDClassifier) -> FloatArray | None:
    """The inner models' own importances of the features, as shares, over all rows; None where they have none."""
    found = [_own_importances(model, classifier.n_features_in_) for model in classifier.estimators_]
    if any(values is None for values in found):
        return None
    mean = np.mean(np.array(found, dtype=np.float64), axis=0)
    return np.asarray(mean / (mean.sum() or 1.0))


def _own_importances(model: Any, n_features: int) -> FloatArray | None:
    if isinstance(
        model, HistGradientBoostingClassifier
    ):  # has no attribute for it; the gain of its splits is the usual
        gains = np.zeros(n_features)
        for tree in (tree for trees in model._predictors for tree in trees):
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
        return gains
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_)
    if hasattr(model, "coef_"):
        return np.abs(np.ravel(model.coef_))
    return None
