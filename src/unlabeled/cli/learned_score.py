"""What can be said of a learned score: the training rows that come next to a row in it."""

from __future__ import annotations

import numpy as np

from unlabeled.score_classifier import ScoreWMMDClassifier


def nearest_in_score(classifier: ScoreWMMDClassifier, score: float, n_rows: int) -> dict[str, list[tuple[int, float]]]:
    """Places (within their sample) and scores of the positives and unlabeled rows of the nearest out-of-fold scores."""
    nearest = {}
    samples = (classifier.scores_.positive, classifier.scores_.unlabeled)
    for name, scores, origin in zip(("positives", "unlabeled"), samples, classifier.origins_, strict=True):
        order = np.abs(scores - score).argsort(kind="stable")[:n_rows]
        nearest[name] = [(int(origin[place]), float(scores[place])) for place in order]
    return nearest
