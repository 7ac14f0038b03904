"""The ratio of two densities of a score, as a function that never falls, from samples of the score.

Such a fit has no bandwidth, does not change when the score is put on another scale, and shows how good the score is:
the better the score tells the positives from the population, the higher the likelihood that the fit reaches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores

#: Copies of a row have equal scores up to rounding only, and are ties all the same.
ROUNDING = 1e-9
#: No score may count as impossible for a positive: a single positive with it would then decide the whole likelihood.
SMALLEST_SHARE = 1e-3


@dataclass(frozen=True)
class IsotonicRatio:
    """Density of the positives divided by that of the population, at each score that occurs; it never falls."""

    values: FloatArray  # ascending
    ratio: FloatArray  # infinite where only positives score that high
    positive_mass: FloatArray
    population_mass: FloatArray

    @classmethod
    def fit(cls, scores: HonestScores) -> IsotonicRatio:
        """The likeliest such ratio, for one score."""
        values, place = tied(np.concatenate([scores.positive, scores.population]))
        n_positive = len(scores.positive)
        positive = _mass(place[:n_positive], scores.positive_mass, len(values))
        population = _mass(place[n_positive:], scores.population_mass, len(values))
        both = positive + population
        share = isotonic_regression(positive / both, sample_weight=both)
        with np.errstate(divide="ignore"):
            return cls(values, share / (1 - share), positive, population)

    def log_likelihood(self, largest_ratio: float = np.inf) -> float:
        """Mean log-likelihood of telling positives from the population, half of the weight on either.

        Where the prior is known the ratio cannot exceed one over it; what is above that is noise and is cut off.
        """
        share = self.share(largest_ratio)
        return float(self.positive_mass @ np.log(share) + self.population_mass @ np.log1p(-share)) / 2

    def share(self, largest_ratio: float = np.inf) -> FloatArray:
        """Probability that a score is from the positives and not from the population, if both were equally many."""
        largest = min(1 - SMALLEST_SHARE, 1 / (1 + 1 / largest_ratio))
        with np.errstate(divide="ignore"):
            return np.clip(1 / (1 + 1 / self.ratio), SMALLEST_SHARE, largest)


def tied(scores: FloatArray, rounding: float = ROUNDING) -> tuple[FloatArray, np.ndarray]:
    """Different scores, ascending, and each one's place among them; those that differ by rounding only count as one."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    starts = np.append(True, np.diff(ordered) > rounding * (1 + np.abs(ordered[1:])))
    place = np.empty(len(scores), dtype=np.int64)
    place[order] = np.cumsum(starts) - 1
    return ordered[starts], place


def _mass(places: np.ndarray, weights: FloatArray, n_places: int) -> FloatArray:
    return np.asarray(np.bincount(places, weights, n_places), dtype=np.float64)
