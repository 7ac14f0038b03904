"""Best-bin estimation (Garg et al., 2021)."""

from __future__ import annotations

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.score_based import ScorePrior

#: Garg et al.'s constants: the slack on the confidence term, and one minus its level.
SLACK, DELTA = 0.01, 0.1


class BestBinPrior(ScorePrior):
    """Prior from the purest bin of top scores (Garg et al., 2021).

    Above a threshold c lie a share q_p(c) of the positives and q_u(c) of the unlabeled rows, and the share of
    positives among the latter is at most q_u(c) / q_p(c), with equality where only positives score that high. The
    estimate is that ratio at the threshold where its upper confidence bound is smallest: high enough for a pure bin,
    low enough for a large one.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Scores rows by classifying P against U, cross-fitted. None: leave-one-out WMMD scores, in closed form.
    n_folds : int, default=5
        Folds of the cross-fitting. The same rows, in any order, always come into the same folds.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    max_evaluations : int or None, default=20000
        The most rows of each sample that the WMMD scores. All stay in the sums.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How the kernel sums of the WMMD are computed.
    n_jobs : int or None, default=None
        Threads for the kernel sums.
    random_state : int, RandomState or None, default=0
        For the choice of rows, and the interval. A number by default: a prior asked for twice is the same.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    honest_scores_ : HonestScores
        Scores of both samples.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import BestBinPrior
    >>> round(float(BestBinPrior().fit(data.X, data.y).prior_), 2)  # in truth 0.5
    0.42
    """

    def _share(self, scores: HonestScores) -> float:
        return best_bin(scores)


def best_bin(scores: HonestScores) -> float:
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
