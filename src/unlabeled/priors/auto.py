"""The prior by default: a curve through all scores, the best bin where positives are common, clusters where clear."""

from __future__ import annotations

from unlabeled.deciding.anchored import cluster_share
from unlabeled.deciding.rank_logistic import expected_prior
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.score_based import ScorePrior

#: The best bin counts half of what it could with this many positives.
HALF_AT = 20.0


class AutoPrior(ScorePrior):
    """Prior from the shape of the scores, from the best bin of top scores, and from clusters where these part clearly.

    The best bin (Garg et al., 2021) assumes nothing about the scores. It is an upper bound of the prior: negatives that
    score high raise it, and where positives are rare these are many beside them. A logistic curve in the rank of the
    score uses every positive and looks beyond the top of the scores; its prior is the mean of all priors, weighted by
    their likelihood. Where nearly all rows are positive, few are left to tell its slope, and it comes out too low. So
    the curve is right where positives are rare and the bin where they are common: the estimate is the mean of the two,
    the bin weighing as much as the share that it says, times n / (n + 20) with n positives.

    Both go by ranks alone. Where there is a gap in the scores between the rows that look like the labelled positives
    and the others, the rows on either side can be counted: then the estimate is the share of the upper of two clusters,
    which is held where the positives are (`unlabeled.deciding.anchored`). It counts nothing while the clusters
    overlap, or where it cannot be one of positives alone, and all when their means are some two widths of both apart.

    Parameters
    ----------
    estimator, n_folds, scenario, max_evaluations, engine, n_jobs, random_state, pos_label, verbose
        As for `BestBinPrior`. As ``prior`` of a classifier it reads the classifier's own honest scores, unless an
        ``estimator`` is given; ``max_evaluations``, ``engine`` and ``n_jobs`` then have no part in it.

    Attributes
    ----------
    prior_, honest_scores_
        As for `BestBinPrior`.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import AutoPrior
    >>> round(float(AutoPrior().fit(data.X, data.y).prior_), 2)  # in truth 0.5
    0.39
    """

    @property
    def reads_scores(self) -> bool:
        """Whether a classifier should give it its own honest scores: unless it was given a classifier to score by."""
        return self.estimator is None

    def _share(self, scores: HonestScores) -> float:
        by_curve, by_bin = expected_prior(scores.against_unlabeled()), best_bin(scores)
        weight = by_bin * scores.n_positive / (scores.n_positive + HALF_AT)
        by_ranks = weight * by_bin + (1 - weight) * by_curve
        clusters = cluster_share(scores, by_ranks)
        return clusters.worth * clusters.share + (1 - clusters.worth) * by_ranks
