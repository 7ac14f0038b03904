"""Honest one-dimensional scores of positives and unlabeled rows: a row takes no part in its own score.

Here are leave-one-out WMMD scores; those of any scikit-learn classifier are in `unlabeled.priors.cross_fitting`.
The denominator of the WMMD score is always the unlabeled sample alone: the estimators ask for the share among it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled.isotonic import ScoredSamples
from unlabeled.kernels import FloatArray
from unlabeled.samples import PUSample, Sample
from unlabeled.score import Kernels
from unlabeled.selection import loo_scores

#: The grid of gamma, in units of one over the median squared distance between unlabeled rows.
RELATIVE_GAMMAS: FloatArray = np.exp2(np.arange(-2, 7))
#: Up to so many rows all pairs make the median distance.
N_MEDIAN_ROWS = 200


@dataclass(frozen=True)
class Scores:
    """Scores and weights of both samples (each one-dimensional); larger is more positive."""

    positive: FloatArray
    unlabeled: FloatArray
    positive_weights: FloatArray
    unlabeled_weights: FloatArray

    @property
    def rounding(self) -> float:
        """How far apart scores may lie that are equal but for rounding, such as those of copies of a row.

        A billionth of the width of nine tenths of the scores: scores may have any scale, and a few may lie far out.
        Not less than some last digits of what scores are differences of: logarithms near 1 or as large as the scores.
        """
        low, middle, high = np.quantile(np.concatenate([self.positive, self.unlabeled]), [0.05, 0.5, 0.95])
        return float(max(1e-9 * (high - low), 1e-14 * max(1.0, abs(middle))))

    def mapped(self, slope: float, intercept: float) -> Scores:
        """Scores on another scale."""
        positive, unlabeled = (slope * values + intercept for values in (self.positive, self.unlabeled))
        return Scores(positive, unlabeled, self.positive_weights, self.unlabeled_weights)

    def against(self, labelled_share: float = 0.0) -> ScoredSamples:
        """The scores against the population, of which labelled positives make up this share."""
        return ScoredSamples.of(
            self.positive, self.unlabeled, self.positive_weights, self.unlabeled_weights, labelled_share
        )

    def resample(self, rng: np.random.RandomState) -> Scores:
        """A bootstrap draw of the scores; rows themselves cannot be redrawn, since copies defeat leave-one-out."""
        p, u = (rng.randint(len(s), size=len(s)) for s in (self.positive, self.unlabeled))
        return Scores(self.positive[p], self.unlabeled[u], self.positive_weights[p], self.unlabeled_weights[u])


def wmmd_scores(pu: PUSample, max_evaluations: int | None, rng: np.random.RandomState) -> Scores:
    """Leave-one-out WMMD scores on standardised features, at the gamma that best ranks P above U."""
    two_samples = standardised(pu)
    gammas = RELATIVE_GAMMAS / median_sq_distance(two_samples.unlabeled, rng)
    found = loo_scores(two_samples, Kernels("rbf", gammas), max_evaluations, rng)
    weights = np.concatenate([found.positive_weights, found.unlabeled_weights])
    labels = np.repeat([1, 0], [found.positive.shape[1], found.unlabeled.shape[1]])
    areas = [
        roc_auc_score(labels, scores, sample_weight=weights) for scores in np.hstack([found.positive, found.unlabeled])
    ]
    best = int(np.argmax(np.array(areas) > max(areas) - 1e-9))  # the widest kernel of those that rounding tells apart
    return Scores(found.positive[best], found.unlabeled[best], found.positive_weights, found.unlabeled_weights)


def standardised(pu: PUSample) -> PUSample:
    """Both samples in units of the unlabeled sample; constant features drop out of all distances."""
    rows = pu.unlabeled.rows.astype(np.float64)
    mean = np.average(rows, axis=0, weights=pu.unlabeled.weights)
    scale = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=pu.unlabeled.weights))
    scale[scale == 0] = 1
    positive, unlabeled = (Sample((s.rows - mean) / scale, s.log_weights) for s in (pu.positive, pu.unlabeled))
    return PUSample(positive, unlabeled, "case-control")


def median_sq_distance(sample: Sample, rng: np.random.RandomState) -> float:
    """Median squared distance of different rows, of random pairs where there are many; 1 where rows are all alike."""
    if len(sample) <= N_MEDIAN_ROWS:
        first, second = np.triu_indices(len(sample), 1)
    else:
        first, second = rng.randint(len(sample), size=(2, N_MEDIAN_ROWS**2 // 2))
    sq_dist = ((sample.rows[first] - sample.rows[second]) ** 2).sum(axis=1)
    weights = sample.weights[first] * sample.weights[second]
    order = np.argsort(sq_dist)
    order = order[sq_dist[order] > 0]
    if len(order) == 0:
        return 1.0
    share = np.cumsum(weights[order])
    return float(sq_dist[order[np.searchsorted(share, share[-1] / 2 * (1 - 1e-9))]])
