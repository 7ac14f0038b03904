"""The prior by default: the best bin of top scores, helped by a curve where positives are few."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.scar import warn_unless_scar
from unlabeled.priors.score_based import ScorePrior
from unlabeled.priors.scores import Scores
from unlabeled.rank_logistic import expected_prior

#: The curve counts as much as so many positives.
WEIGHT_OF_CURVE = 20.0
#: Up to so many positives the best bin is as careful as Garg et al.; beyond, its confidence term shrinks faster.
CAREFUL_UP_TO = 100.0


class AutoPrior(ScorePrior):
    """Prior from the best bin of top scores, and with few positives from the shape of the scores as well.

    The best bin (Garg et al., 2021) assumes nothing about the scores but needs some dozens of positives: with ten of
    them its bin is nearly all of them. A logistic curve in the rank of the score uses every positive; its prior is the
    mean over its likelihood. The estimate is the mean of the two, the curve weighing as much as 20 positives: it is
    forgotten as their number grows.
    """

    __doc__ += (ScorePrior.__doc__ or "").split("Estimates the prior from scores.")[-1]

    def fit_scores(self, scores: Scores, labelled_share: float = 0.0) -> Self:
        """Estimate the prior from honest scores that are at hand; `interval` then works as after `fit`.

        Parameters
        ----------
        scores : Scores
            Of the positives and the unlabeled rows.
        labelled_share : float, default=0
            Share of the population that is labelled: 0 in the case-control scenario.
        """
        self.labelled_share_ = labelled_share
        self.scores_ = scores
        warn_unless_scar(scores)
        self.prior_ = float(self._to_population(self._share(scores)))
        return self

    def _share(self, scores: Scores) -> float:
        scored = scores.against()
        weight = scored.n_positive / (scored.n_positive + WEIGHT_OF_CURVE)
        return weight * _bolder_best_bin(scores) + (1 - weight) * expected_prior(scored)


def _bolder_best_bin(scores: Scores) -> float:
    """The best bin with a confidence term that falls like n^-0.8 and not n^-0.5 where positives are many.

    It was made to hold for all bins at once, and prefers a large bin with some negatives to a small one with none long
    after the small one has enough rows. More weight on every row narrows it and changes nothing else.
    """
    factor = max(1.0, float(scores.positive_weights.sum()) / CAREFUL_UP_TO) ** 0.6
    weights = factor * scores.positive_weights, factor * scores.unlabeled_weights
    return best_bin(replace(scores, positive_weights=weights[0], unlabeled_weights=weights[1]))
