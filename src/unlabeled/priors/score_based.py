"""What estimators on one-dimensional scores share: honest scores, by a classifier or by the WMMD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from unlabeled.deciding.scores import HonestScores, KeepsHonestScores
from unlabeled.deciding.top_counts import Share, TopCounts, p_value_of_half
from unlabeled.kernels import RBF
from unlabeled.priors.estimator import PriorEstimator, check_max_evaluations
from unlabeled.priors.scar import warn_unless_scar
from unlabeled.samples import PUSample
from unlabeled.scoring.cross_fitting import Pool, check_can_score, check_n_folds, held_out_scores
from unlabeled.scoring.ratio import Kernels
from unlabeled.scoring.scaling import gamma_grid, standardised
from unlabeled.scoring.selection import loo_scores
from unlabeled.stages import stage

#: Of the grid of gammas that all choices start from, those that are tried here: not the ends.
GAMMAS = slice(1, 10)
#: Tables that are simulated for a p-value.
N_SIMULATED = 9_999


class ScorePrior(KeepsHonestScores, PriorEstimator):
    """Estimates the prior from honest scores; its parameters are described in `BestBinPrior`."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        scenario: str = "case-control",
        max_evaluations: int | None = 20_000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.scenario = scenario
        self.max_evaluations = max_evaluations
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    def scar_p_value(self, prior: float) -> float:
        """How probable the scores are if labels were given completely at random and the prior is this or more.

        Near 0, one of the two is wrong: the positives are not labelled at random, or the prior is smaller. A value
        that is not small proves nothing: most ways of labelling that are not random leave no trace. Scores are taken to
        be independent of the rows that they score, as honest ones nearly are: read 0.001, not 0.01, as a contradiction.
        `unlabeled.bias.ScarTest` has the same counts of scores that are independent, at any level.

        Examples
        --------
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.priors import AutoPrior
        >>> data = make_gaussians(60, 200, separation=3, random_state=0)
        >>> AutoPrior().fit(data.X, data.y).scar_p_value(0.4) > 0.05
        True
        """
        check_is_fitted(self, "prior_")
        if not self.labelled_share_ <= prior <= 1:
            raise ValueError(
                f"prior must lie between {self.labelled_share_:.6g}, the labelled share of the population, and 1; got "
                f"{prior!r}."
            )
        share = (prior - self.labelled_share_) / (1 - self.labelled_share_)
        counts, null = TopCounts.of(self.honest_scores_), Share(share, labelled_in_population=False)
        return p_value_of_half(counts, null, round(counts.n_labelled), round(counts.n_unlabeled), (N_SIMULATED, 0))

    def fit_scores(self, scores: HonestScores) -> Self:
        """Estimate the prior from honest scores that a classifier has already; `interval` then works as after `fit`."""
        self.labelled_share_ = scores.labelled_share
        self.prior_ = float(self._to_population(self._read(scores)))
        return self

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        with stage("scores for the prior"):
            scores = replace(self._honest_scores(pu, rng), labelled_share=pu.labelled_share)
        with stage("prior from scores"):
            return self._read(scores)

    def _read(self, scores: HonestScores) -> float:
        """Keep the scores, and read off them the share of positives among the unlabeled rows."""
        self.honest_scores_ = scores
        warn_unless_scar(scores)
        return self._share(scores)

    def _honest_scores(self, pu: PUSample, rng: np.random.RandomState) -> HonestScores:
        """Cross-fitted scores of the classifier, or leave-one-out WMMD scores where there is none."""
        check_max_evaluations(self.max_evaluations)
        if self.estimator is None:
            return wmmd_scores(pu, self.max_evaluations, rng, self.engine, self.n_jobs)
        check_can_score(self.estimator)
        pool = Pool.of(pu)
        return held_out_scores(self.estimator, pool, pool.folds(check_n_folds(self.n_folds)))

    def _scores_at_hand(self) -> HonestScores:
        return self.honest_scores_

    def _share(self, scores: HonestScores) -> float:
        """Share of positives among the unlabeled rows, from scores."""
        raise NotImplementedError


def wmmd_scores(
    pu: PUSample,
    max_evaluations: int | None,
    rng: np.random.RandomState,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> HonestScores:
    """Leave-one-out WMMD scores on standardised features, at the gamma that best ranks P above U.

    The denominator is always the unlabeled sample alone: the estimators ask for the share among it.
    """
    pu = pu.case_control().mapped(lambda rows: rows.astype(np.float64))
    scaled = standardised(pu).apply_to_samples(pu)
    kernels = Kernels("rbf", gamma_grid(scaled, RBF(), rng)[GAMMAS], engine, n_jobs)
    found = loo_scores(scaled, kernels, max_evaluations, rng)
    weights = np.concatenate([found.positive_weights, found.unlabeled_weights])
    labels = np.repeat([1, 0], [found.positive.shape[1], found.unlabeled.shape[1]])
    areas = [
        roc_auc_score(labels, scores, sample_weight=weights) for scores in np.hstack([found.positive, found.unlabeled])
    ]
    best = int(np.argmax(np.array(areas) > max(areas) - 1e-9))  # of those equal up to rounding, the widest kernel
    return found.at(best)
