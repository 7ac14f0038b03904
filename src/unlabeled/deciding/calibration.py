"""Probabilities from scores: P(y = 1 | score) that never falls with the score and has the prior as its mean.

The kernel means of wide kernels are nearly alike, so the plain estimate ``prior * ratio`` is drawn to the prior. The
honest scores of positives and population tell what a score is worth. Two fits are averaged: an isotonic one, which
fits anything and needs many positives, and a logistic curve in the rank of the score, which needs few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding import rank_logistic
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import HonestScores

#: With this many positives the two fits have the same weight; with more the isotonic one has more.
EVEN_AT = 200
#: A prior of 0 or 1 leaves nothing to calibrate.
_CLOSEST = 1e-9


@dataclass(frozen=True)
class Calibration:
    """P(y = 1 | score) at ascending scores, linear in between and constant beyond."""

    scores: FloatArray
    probabilities: FloatArray

    def probability(self, scores: FloatArray) -> FloatArray:
        """P(y = 1 | score)."""
        return np.interp(scores, self.scores, self.probabilities)

    def score_of(self, probability: float) -> float:
        """The largest score whose probability is at most this; just below all scores where there is none."""
        if self.probabilities[0] > probability:
            return float(np.nextafter(self.scores[0], -np.inf))
        last = int(np.searchsorted(self.probabilities, probability, side="right")) - 1
        if last + 1 == len(self.scores):
            return float(self.scores[-1])
        low, high = self.probabilities[last : last + 2]
        step = (probability - low) / (high - low)
        return float(self.scores[last] + step * (self.scores[last + 1] - self.scores[last]))

    def through_half_at(self, threshold: float) -> Calibration:
        """Bent so that 1/2 lies at the threshold: either side is stretched in proportion, 0 and 1 stay in place."""
        scores = np.unique(np.append(self.scores, threshold))
        probabilities = self.probability(scores)
        here = float(np.clip(self.probability(np.array([threshold]))[0], _CLOSEST, 1 - _CLOSEST))
        below, above = probabilities / (2 * here), 1 - (1 - probabilities) / (2 * (1 - here))
        return Calibration(scores, np.clip(np.where(scores <= threshold, np.minimum(below, 0.5), above), 0, 1))


def calibrate(scores: HonestScores, prior: float) -> Calibration:
    """Fit P(y = 1 | score) to honest scores, for a given prior."""
    prior = float(np.clip(prior, _CLOSEST, 1 - _CLOSEST))
    ratio = IsotonicRatio.fit(scores)
    isotonic = _isotonic_probability(ratio, prior)
    logistic = rank_logistic.probability(ratio.values, scores, prior)
    logistic[np.isinf(ratio.ratio)] = 1  # only positives score that high; a rank cannot say how far above all others
    share = scores.n_positive / (scores.n_positive + EVEN_AT)
    # Both never fall; the accumulation only takes out what rounding adds.
    blend = np.maximum.accumulate(share * isotonic + (1 - share) * logistic)
    return Calibration(ratio.values, np.clip(blend, 0, 1))


def _isotonic_probability(ratio: IsotonicRatio, prior: float) -> FloatArray:
    """min(1, factor * prior * ratio), the factor such that the mean over the population is the prior.

    The ratio cannot exceed one over the prior. Where noise puts it above, it is cut off, and the factor makes up
    for what is lost.
    """
    plain = np.minimum(1, prior * ratio.ratio)

    def mean(log_factor: float) -> float:
        # Not by BLAS, which takes threads for a sum of this length and waits for them.
        return float((np.minimum(1, np.exp(log_factor) * plain) * ratio.population_mass).sum())

    low, high = 0.0, 1.0  # a factor beyond e would call the score of most rows noise
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if mean(middle) > prior else (middle, high)
    return np.asarray(np.minimum(1, np.exp(low) * plain))


def ratio_probability(decision_from_bayes: FloatArray) -> FloatArray:
    """The paper's ``prior * ratio`` cut off at 1, from the log ratio less the threshold ``-log(2 prior)``."""
    return np.asarray(np.exp(np.minimum(decision_from_bayes, np.log(2))) / 2)
