"""Best-bin estimation (Garg et al., 2021)."""

from __future__ import annotations

import numpy as np

from unlabeled.kernels import FloatArray
from unlabeled.priors.score_based import ScorePrior
from unlabeled.priors.scores import Scores

#: Garg et al.'s constants: the slack on the confidence term, and one less its level.
SLACK, DELTA = 0.01, 0.1


class BestBinPrior(ScorePrior):
    """Prior from the purest bin of top scores (Garg et al., 2021).

    Above a threshold c lie a share q_p(c) of the positives and q_u(c) of the unlabeled rows, and the share of
    positives among the latter is at most q_u(c) / q_p(c), with equality where only positives score so high. The
    estimate is that ratio at the threshold where its upper confidence bound is smallest: high enough for a pure bin,
    low enough for a large one.
    """

    __doc__ += (ScorePrior.__doc__ or "").split("Estimates the prior from scores.")[-1]

    def _share(self, scores: Scores) -> float:
        return best_bin(scores)


def best_bin(scores: Scores) -> float:
    """Share of positives among the unlabeled rows by the best bin."""
    thresholds = np.unique(scores.positive)
    above_p = _share_above(scores.positive, scores.positive_weights, thresholds)
    above_u = _share_above(scores.unlabeled, scores.unlabeled_weights, thresholds)
    width = sum(np.sqrt(np.log(4 / DELTA) / (2 * w.sum())) for w in (scores.positive_weights, scores.unlabeled_weights))
    bound = (above_u + (1 + SLACK) * width) / above_p
    best = int(np.argmin(bound))
    return float(min(1.0, above_u[best] / above_p[best]))


def _share_above(scores: FloatArray, weights: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Weighted share of scores at or above each threshold."""
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    index = np.searchsorted(scores[order], thresholds, side="left")
    return 1 - below[index] / below[-1]
