"""Scores to choose gamma by, and the two criteria that choose it, named as users name them.

Honest scores of the training data:

- ``"loo"``: every row is scored against all others. No randomness, no data spent.
- ``"holdout"``: the paper's. An 80/20 random split of each sample; the 20 % are scored against the 80 %.

Criteria:

- ``"likelihood"``: how well the score tells positives from the population, whatever its scale. It needs no prior.
- ``"risk"``: the paper's. The estimated error rate at the threshold 1 / (2 prior) (appendix D.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from unlabeled.isotonic import IsotonicRatio, ScoredSamples
from unlabeled.kernels import FloatArray
from unlabeled.samples import PUSample
from unlabeled.score import Kernels, log_scores, loo_log_scores

SELECTIONS = ("loo", "holdout")
CRITERIA = ("likelihood", "risk")
HOLDOUT_SHARE = 0.2


@dataclass(frozen=True)
class HonestScores:
    """Log scores of positives and unlabeled rows that took no part in their own score, with their weights.

    ``positive`` (n_gammas, n_positive) and ``unlabeled`` (n_gammas, n_unlabeled). ``population_share`` is the share of
    the population that the labelled positives make up: 0 in the case-control scenario. ``rows`` says which rows of
    each sample were scored, in leave-one-out.
    """

    positive: FloatArray
    unlabeled: FloatArray
    positive_weights: FloatArray
    unlabeled_weights: FloatArray
    population_share: float
    rows: tuple[np.ndarray, np.ndarray] | None = None

    def at(self, index: int) -> ScoredSamples:
        """The scores of one gamma, against the population."""
        rows = self.positive[index], self.unlabeled[index]
        return ScoredSamples.of(*rows, self.positive_weights, self.unlabeled_weights, self.population_share)

    def only(self, index: int) -> HonestScores:
        """The scores of one gamma alone."""
        return replace(self, positive=self.positive[index : index + 1], unlabeled=self.unlabeled[index : index + 1])

    def recall(self, log_thresholds: FloatArray) -> FloatArray:
        """Share of the positives above each gamma's threshold."""
        return _weighted_rate(self.positive > log_thresholds[:, None], self.positive_weights)

    def positive_rate(self, log_thresholds: FloatArray) -> FloatArray:
        """Share of the population above each gamma's threshold."""
        rate = _weighted_rate(self.unlabeled > log_thresholds[:, None], self.unlabeled_weights)
        return self.population_share * self.recall(log_thresholds) + (1 - self.population_share) * rate


def _weighted_rate(hits: np.ndarray, weights: FloatArray) -> FloatArray:
    return np.asarray(hits @ weights / weights.sum())


def misclassification_risks(scores: HonestScores, priors: FloatArray) -> FloatArray:
    """The paper's estimate of the error rate of each gamma's classifier (n_gammas,) [eq:hyperparameter_risk].

    L = -prior + 2 prior * (share of positives called negative) + (share of the population called positive),
    at the threshold 1 / (2 prior). Each gamma may come with its own prior.
    """
    log_thresholds = -np.log(2 * priors)
    missed = 1 - scores.recall(log_thresholds)
    return -priors + 2 * priors * missed + scores.positive_rate(log_thresholds)


def log_likelihoods(scores: HonestScores, largest_ratio: float = np.inf) -> FloatArray:
    """How well each gamma's score tells positives from the population (n_gammas,), by its best monotone recalibration.

    The area under the ROC curve of P against U would do the same where positives are rare. Where they are common, most
    of that area is noise in the order of rows that are all positive; the isotonic fit makes one block of them.
    """
    fits = (IsotonicRatio.fit(scores.at(index)) for index in range(len(scores.positive)))
    return np.array([fit.log_likelihood(largest_ratio) for fit in fits])


def ratio_log_likelihoods(scores: HonestScores) -> FloatArray:
    """The same for each gamma's score as it stands (n_gammas,), taken to be the log of the ratio of densities."""
    samples = (scores.at(index) for index in range(len(scores.positive)))
    return np.array(
        [
            (log_expit(s.positive) @ s.positive_weights + log_expit(-s.population) @ s.population_weights) / 2
            for s in samples
        ]
    )


def averaged_with_neighbours(criteria: FloatArray) -> FloatArray:
    """Each gamma's criterion averaged with those beside it in the grid: they differ by noise more than by merit."""
    padded = np.concatenate([criteria[:1], criteria, criteria[-1:]])
    return (padded[:-2] + 2 * criteria + padded[2:]) / 4


def first_of_best(criteria: ArrayLike) -> int:
    """Place of the largest value; of those that only rounding tells apart, the first."""
    values = np.asarray(criteria)
    return int(np.argmax(values >= values.max() - 1e-12))


def loo_scores(pu: PUSample, kernels: Kernels, max_evaluations: int | None, rng: np.random.RandomState) -> HonestScores:
    """Leave-one-out scores of at most ``max_evaluations`` rows of each sample, all rows staying in the sums."""
    rows = [_some_rows(len(sample), max_evaluations, rng) for sample in (pu.positive, pu.unlabeled)]
    positive, unlabeled = loo_log_scores(pu, kernels, *rows)
    weights = pu.positive.weights[rows[0]], pu.unlabeled.weights[rows[1]]
    return HonestScores(positive, unlabeled, *weights, pu.labelled_share, (rows[0], rows[1]))


def holdout_scores(
    pu: PUSample, kernels: Kernels, max_evaluations: int | None, rng: np.random.RandomState
) -> tuple[HonestScores, PUSample]:
    """Scores of a random 20 % of each sample against the other 80 %, and those 80 %."""
    positive_kept, positive_held = _split(len(pu.positive), "labelled positives", rng)
    unlabeled_kept, unlabeled_held = _split(len(pu.unlabeled), "unlabeled rows", rng)
    kept, held = pu.take(positive_kept, unlabeled_kept), pu.take(positive_held, unlabeled_held)
    held = held.take(*(_some_rows(len(sample), max_evaluations, rng) for sample in (held.positive, held.unlabeled)))
    scores = HonestScores(
        log_scores(held.positive.rows, kept, kernels),
        log_scores(held.unlabeled.rows, kept, kernels),
        held.positive.weights,
        held.unlabeled.weights,
        pu.labelled_share,
    )
    return scores, kept


def _some_rows(n_rows: int, max_evaluations: int | None, rng: np.random.RandomState) -> np.ndarray:
    if max_evaluations is None or n_rows <= max_evaluations:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, max_evaluations, replace=False))


def _split(n_rows: int, what: str, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    n_held = int(np.ceil(HOLDOUT_SHARE * n_rows))
    if n_held == n_rows:
        raise ValueError(f"selection='holdout' cannot split {n_rows} {what}; give two or more, or use selection='loo'.")
    order = rng.permutation(n_rows)
    return np.sort(order[n_held:]), np.sort(order[:n_held])
