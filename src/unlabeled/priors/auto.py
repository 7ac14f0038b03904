"""The prior by default: the best bin of top scores, helped by a curve where positives are few."""

from __future__ import annotations

from dataclasses import replace

from unlabeled.deciding.rank_logistic import expected_prior
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.score_based import ScorePrior

#: The curve counts as much as this many positives.
WEIGHT_OF_CURVE = 20.0
#: Up to this many positives the best bin is as careful as Garg et al.; beyond, its confidence term shrinks faster.
CAREFUL_UP_TO = 100.0


class AutoPrior(ScorePrior):
    """Prior from the best bin of top scores, and with few positives from the shape of the scores as well.

    The best bin (Garg et al., 2021) assumes nothing about the scores but needs some dozens of positives: with ten,
    its bin holds nearly all of them. A logistic curve in the rank of the score uses every positive; its prior is the
    mean of all priors, weighted by their likelihood. The estimate is the mean of the two, the curve weighing as much as
    20 positives, so that its share shrinks as their number grows.

    Parameters
    ----------
    estimator, n_folds, scenario, max_evaluations, engine, n_jobs, random_state, pos_label, verbose
        As for `BestBinPrior`. As ``prior`` of a classifier it reads the classifier's own honest scores, unless an
        ``estimator`` is given; ``max_evaluations``, ``engine`` and ``n_jobs`` then have no part in it.

    Attributes
    ----------
    prior_, honest_scores_
        As for `BestBinPrior`.
    """

    @property
    def reads_scores(self) -> bool:
        """Whether a classifier should give it its own honest scores: unless it was given a classifier to score by."""
        return self.estimator is None

    def _share(self, scores: HonestScores) -> float:
        weight = scores.n_positive / (scores.n_positive + WEIGHT_OF_CURVE)
        return weight * _bolder_best_bin(scores) + (1 - weight) * expected_prior(scores.against_unlabeled())


def _bolder_best_bin(scores: HonestScores) -> float:
    """The best bin with a confidence term that falls like n^-0.8 and not n^-0.5 where positives are many.

    The term was made to hold for all bins at once, and prefers a large bin with some negatives to a small one with none
    long after the small one has enough rows. More weight on every row narrows it and changes nothing else.
    """
    factor = max(1.0, scores.n_positive / CAREFUL_UP_TO) ** 0.6
    weights = factor * scores.positive_weights, factor * scores.unlabeled_weights
    return best_bin(replace(scores, positive_weights=weights[0], unlabeled_weights=weights[1]))
