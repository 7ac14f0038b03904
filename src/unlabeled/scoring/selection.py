"""Scores to choose gamma by, and the two criteria that choose it, named as users name them.

Honest scores of the training data:

- ``"loo"``: every row is scored against all others. No randomness, no data spent.
- ``"holdout"``: the paper's. An 80/20 random split of each sample; the 20 % are scored against the 80 %.

Criteria:

- ``"likelihood"``: how well the score tells positives from the population, whatever its scale. It needs no prior.
- ``"risk"``: the paper's. The estimated error rate at the threshold 1 / (2 prior) (appendix D.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from unlabeled.arrays import FloatArray
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import MANY_TO_CHOOSE_FROM, PUSample, random_split, some_rows
from unlabeled.scoring.ratio import Kernels, against_population, log_scores, loo_log_scores

SELECTIONS = ("loo", "holdout")
CRITERIA = ("likelihood", "risk")
#: The most rows of each sample whose leave-one-out scores are computed for a whole grid. The criterion's noise at this
#: size is far below what a factor of two in gamma makes of it.
JUDGING_ROWS = 2000
#: The most rows of each sample that these scores are sums over. Positives are fewer: it is they that make sums noisy.
JUDGING_POINTS = 20_000

#: Where in their samples some positives and some unlabeled rows are.
Places = tuple[np.ndarray, np.ndarray]


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
    return np.array([IsotonicRatio.fit(one).log_likelihood(largest_ratio) for one in scores.each()])


def ratio_log_likelihoods(scores: HonestScores) -> FloatArray:
    """The same for each gamma's score as it stands (n_gammas,), taken to be the log of the ratio of densities."""
    return np.array(
        [
            (log_expit(one.positive) @ one.positive_mass + log_expit(-one.population) @ one.population_mass) / 2
            for one in scores.each()
        ]
    )


def averaged_with_neighbours(criteria: FloatArray) -> FloatArray:
    """Each gamma's criterion averaged with those beside it in the grid: they differ by noise more than by merit."""
    padded = np.concatenate([criteria[:1], criteria, criteria[-1:]])
    return (padded[:-2] + 2 * criteria + padded[2:]) / 4


def first_of_best(criteria: ArrayLike) -> int:
    """Place of the largest value; of those that differ by rounding only, the first."""
    values = np.asarray(criteria)
    return int(np.argmax(values >= values.max() - 1e-12))


def some_places(pu: PUSample, at_most: int | None, rng: np.random.RandomState) -> Places:
    """Places of all rows of both samples, or of at most so many of each."""
    return some_rows(len(pu.positive), at_most, rng), some_rows(len(pu.unlabeled), at_most, rng)


def judging(places: Places) -> Places:
    """Those of the rows that a grid is judged on: at most `JUDGING_ROWS` of each sample."""
    rng = np.random.RandomState(0)
    positive, unlabeled = (rows[some_rows(len(rows), JUDGING_ROWS, rng)] for rows in places)
    return positive, unlabeled


def judging_points(pu: PUSample, places: Places) -> Places | None:
    """Rows that a grid is judged by: at most `JUDGING_POINTS` of each sample, those judged among them; None: all."""
    samples, rng = (pu.positive, pu.unlabeled), np.random.RandomState(1)
    if max(map(len, samples)) <= JUDGING_POINTS:
        return None
    of_positive, of_unlabeled = (
        _and_others(judged, len(sample), rng) for judged, sample in zip(judging(places), samples, strict=True)
    )
    return of_positive, of_unlabeled


def _and_others(places: np.ndarray, n_rows: int, rng: np.random.RandomState) -> np.ndarray:
    """Places of these rows and of others, in ascending order: of all, or of `JUDGING_POINTS`."""
    if n_rows <= JUDGING_POINTS:
        return np.arange(n_rows)
    # Of a great many rows not all places are written down: of so many drawn, enough are none of these.
    some = some_rows(n_rows, JUDGING_POINTS if n_rows > MANY_TO_CHOOSE_FROM else None, rng)
    others = np.setdiff1d(some, places, assume_unique=True)
    return np.sort(np.concatenate([places, rng.choice(others, JUDGING_POINTS - len(places), replace=False)]))


def loo_scores(pu: PUSample, kernels: Kernels, max_evaluations: int | None, rng: np.random.RandomState) -> HonestScores:
    """Leave-one-out scores of at most ``max_evaluations`` rows of each sample, all rows staying in the sums."""
    return loo_scores_at(pu, kernels, some_places(pu, max_evaluations, rng))


def loo_scores_at(pu: PUSample, kernels: Kernels, places: Places, points: Places | None = None) -> HonestScores:
    """Leave-one-out scores of the rows at these places, all rows staying in the sums, or those at some points."""
    if points is None:
        return scores_of(pu.take(*places), loo_log_scores(pu, kernels, *places), pu.labelled_share)
    # Samples that are thinned out lose their proportion, which in the single-sample scenario makes the population.
    thinned = pu.take(*points).case_control()
    found = loo_log_scores(thinned, kernels, *map(np.searchsorted, points, places))
    of_positive, of_unlabeled = (against_population(ratios, pu.labelled_share) for ratios in found)
    return scores_of(pu.take(*places), (of_positive, of_unlabeled), pu.labelled_share)


def holdout_scores(
    pu: PUSample, kernels: Kernels, max_evaluations: int | None, rng: np.random.RandomState
) -> tuple[HonestScores, PUSample]:
    """Scores of a random 20 % of each sample against the other 80 %, and those 80 %."""
    positive_kept, positive_held = _split(len(pu.positive), "labelled positives", rng)
    unlabeled_kept, unlabeled_held = _split(len(pu.unlabeled), "unlabeled rows", rng)
    kept, held = pu.take(positive_kept, unlabeled_kept), pu.take(positive_held, unlabeled_held)
    held = held.take(*(some_rows(len(sample), max_evaluations, rng) for sample in (held.positive, held.unlabeled)))
    found = (log_scores(held.positive.rows, kept, kernels), log_scores(held.unlabeled.rows, kept, kernels))
    return scores_of(held, found, pu.labelled_share), kept


def scores_of(scored: PUSample, scores: tuple[FloatArray, FloatArray], labelled_share: float) -> HonestScores:
    """Scores (n_gammas, n_rows) of the rows of both samples, with their weights and numbers."""
    positive, unlabeled = scored.positive, scored.unlabeled
    numbers = positive.row_numbers, unlabeled.row_numbers
    weights = positive.effective_weights, unlabeled.effective_weights
    return HonestScores(*scores, *weights, labelled_share, *numbers)


def _split(n_rows: int, what: str, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    kept, held = random_split(n_rows, rng)
    if len(kept) == 0:
        raise ValueError(f"selection='holdout' cannot split {n_rows} {what}; give two or more, or use selection='loo'.")
    return np.sort(kept), np.sort(held)
