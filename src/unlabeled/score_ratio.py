"""WMMD in one dimension: from any score to the log ratio of densities, as a function that rises with the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from unlabeled.isotonic import tied
from unlabeled.kernels import RBF, FloatArray
from unlabeled.samples import PUSample
from unlabeled.scaling import gamma_grid, standardised
from unlabeled.score import Kernels, log_scores
from unlabeled.selection import first_of_best, loo_scores, ratio_log_likelihoods

#: Rows of each sample that the bandwidth is chosen by: one dimension needs no more.
N_EVALUATIONS = 2000
N_KNOTS = 500
#: Where the ratio is flat the order of scores still shows, this much for each standard deviation.
SLOPE = 1e-6


@dataclass(frozen=True)
class ScoreRatio:
    """Log ratio at ascending scores; in between linear, and rising everywhere."""

    scores: FloatArray
    log_ratios: FloatArray
    slope: float

    @classmethod
    def fit(cls, pu: PUSample) -> ScoreRatio:
        """The ratio of the kernel means of two samples of a score (n_rows, 1), its gamma by leave-one-out."""
        scaling = standardised(pu)
        scaled = scaling.apply_to_samples(pu)
        gammas = gamma_grid(scaled, RBF())
        honest = loo_scores(scaled, Kernels("rbf", gammas), N_EVALUATIONS, np.random.RandomState(0))
        # In one dimension every wide kernel gives the same order; the ratio itself has to be right.
        best = first_of_best(ratio_log_likelihoods(honest))
        knots = _knots(np.concatenate([pu.positive.rows[:, 0], pu.unlabeled.rows[:, 0]]))
        raw = log_scores(scaling.apply(knots[:, None]), scaled, Kernels("rbf", gammas[best : best + 1]))[0]
        scale = 1.0 if scaling.scale is None else float(scaling.scale[0])
        return cls(knots, isotonic_regression(raw), SLOPE / scale)

    def log_ratio(self, scores: FloatArray) -> FloatArray:
        """Log of the ratio at any scores."""
        return np.interp(scores, self.scores, self.log_ratios) + self.slope * (scores - self.scores[0])


def _knots(scores: FloatArray) -> FloatArray:
    """All different scores, or so many of them that equally many observations lie between neighbours."""
    values, place = tied(scores)
    if len(values) <= N_KNOTS:
        return values
    ends = np.cumsum(np.bincount(place)) / len(scores)
    return values[np.unique(np.searchsorted(ends, np.linspace(0, 1, N_KNOTS)).clip(max=len(values) - 1))]
