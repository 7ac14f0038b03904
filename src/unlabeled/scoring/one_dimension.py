"""WMMD in one dimension: from any score to the log ratio of densities, as a function that rises with the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from unlabeled.arrays import FloatArray
from unlabeled.deciding.isotonic import tied
from unlabeled.kernels import RBF
from unlabeled.samples import PUSample
from unlabeled.scoring.ratio import Kernels, log_scores
from unlabeled.scoring.scaling import gamma_grid, standardised
from unlabeled.scoring.selection import (
    first_of_best,
    judging_points,
    loo_scores_at,
    ratio_log_likelihoods,
    some_places,
)

#: Rows of each sample that the bandwidth is chosen by: one dimension needs no more.
N_EVALUATIONS = 2000
N_KNOTS = 500
#: A flat ratio is made to rise by this much for each standard deviation, so that the order of scores is kept.
SLOPE = 1e-6


@dataclass(frozen=True)
class ScoreRatio:
    """Log ratio at ascending scores; in between linear, and rising everywhere."""

    scores: FloatArray
    log_ratios: FloatArray
    slope: float

    @classmethod
    def fit(cls, pu: PUSample, engine: str = "auto", n_jobs: int | None = None) -> ScoreRatio:
        """The ratio of the kernel means of two samples of a score (n_rows, 1), its gamma by leave-one-out."""
        scaling = standardised(pu)
        scaled = scaling.apply_to_samples(pu)
        kernels = Kernels("rbf", gamma_grid(scaled, RBF()), engine, n_jobs)
        places = some_places(scaled, N_EVALUATIONS, np.random.RandomState(0))
        honest = loo_scores_at(scaled, kernels, places, judging_points(scaled, places))
        # In one dimension every wide kernel gives the same order; the ratio itself has to be right.
        best = first_of_best(ratio_log_likelihoods(honest))
        knots = _knots(np.concatenate([pu.positive.rows[:, 0], pu.unlabeled.rows[:, 0]]))
        raw = log_scores(scaling.apply(knots[:, None]), scaled, kernels.only(best))[0]
        scale = 1.0 if scaling.scale is None else float(scaling.scale[0])
        return cls(knots, isotonic_regression(raw), SLOPE / scale)

    def log_ratio(self, scores: FloatArray) -> FloatArray:
        """Log of the ratio at any scores."""
        return np.interp(scores, self.scores, self.log_ratios) + self.slope * (scores - self.scores[0])


def _knots(scores: FloatArray) -> FloatArray:
    """All different scores, or a choice of them with about equally many observations between neighbours."""
    values, place = tied(scores)
    if len(values) <= N_KNOTS:
        return values
    ends = np.cumsum(np.bincount(place)) / len(scores)
    return values[np.unique(np.searchsorted(ends, np.linspace(0, 1, N_KNOTS)).clip(max=len(values) - 1))]
