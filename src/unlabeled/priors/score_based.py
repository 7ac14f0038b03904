"""What estimators on one-dimensional scores share: honest scores, and an interval by redrawing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.priors.cross_fitting import Table, check_can_score, check_n_folds, held_out_scores
from unlabeled.priors.estimator import PriorEstimator, check_level, check_max_evaluations, check_n_draws
from unlabeled.priors.scar import evidence_against_scar, warn_unless_scar
from unlabeled.priors.scores import Scores, wmmd_scores
from unlabeled.samples import PUSample


class ScorePrior(PriorEstimator):
    """Estimates the prior from scores.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Scores rows by classifying P against U, cross-fitted. None: leave-one-out WMMD scores, in closed form.
    n_folds : int, default=5
        Folds of the cross-fitting. The same rows, in any order, always come into the same folds.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    max_evaluations : int or None, default=20000
        At most so many rows of each sample are scored by the WMMD. All stay in the sums.
    random_state : int, RandomState or None, default=0
        For the choice of rows, and the interval. A number by default: a prior asked for twice is the same.

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    scores_ : Scores
        The honest scores of both samples.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        scenario: str = "case-control",
        max_evaluations: int | None = 20_000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.scenario = scenario
        self.max_evaluations = max_evaluations
        self.random_state = random_state

    def interval(self, level: float = 0.95, n_draws: int = 200) -> tuple[float, float]:
        """Percentile interval of the estimate over redrawn scores.

        It tells the noise of the estimate, not its bias, and misses the prior more often than its level says where the
        bias is no smaller than the noise. Over 20 tables, intervals of 95 % held the prior in 90 to 100 % for the best
        bin, and in 65 to 85 % for DEDPUL. If the classes are not irreducible the estimate is an upper bound of the
        prior, and then so is this interval: nothing in the data can say how far below the prior lies.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        n_draws : int, default=200
            How often scores are redrawn.
        """
        check_is_fitted(self, "prior_")
        check_level(level)
        rng = check_random_state(self.random_state)
        shares = np.array([self._share(self.scores_.resample(rng)) for _ in range(check_n_draws(n_draws))])
        low, high = np.quantile(self._to_population(shares), [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def scar_p_value(self, prior: float) -> float:
        """How probable the scores are if labels were given completely at random and the prior is this or more.

        Near 0, one of the two is wrong: the positives are not labelled at random, or the prior is smaller. A value
        that is not small proves nothing: most ways of labelling that are not random leave no trace. Scores are taken to
        be independent of the rows they are of, as honest ones nearly are: read 0.001, not 0.01, as a contradiction.
        """
        check_is_fitted(self, "prior_")
        if not self.labelled_share_ <= prior <= 1:
            raise ValueError(
                f"prior must lie between {self.labelled_share_:.6g}, the labelled share of the population, and 1; got "
                f"{prior!r}."
            )
        share = (prior - self.labelled_share_) / (1 - self.labelled_share_)
        return evidence_against_scar(self.scores_, share * self.scores_.unlabeled_weights.sum()).p_value

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        self.scores_ = self._honest_scores(pu, rng)
        warn_unless_scar(self.scores_)
        return self._share(self.scores_)

    def _honest_scores(self, pu: PUSample, rng: np.random.RandomState) -> Scores:
        """Cross-fitted scores of the classifier, or leave-one-out WMMD scores where there is none."""
        check_max_evaluations(self.max_evaluations)
        if self.estimator is None:
            return wmmd_scores(pu, self.max_evaluations, rng)
        check_can_score(self.estimator)
        return held_out_scores(self.estimator, Table.of(pu).folds(check_n_folds(self.n_folds)))

    def _share(self, scores: Scores) -> float:
        """Share of positives among the unlabeled rows, from scores."""
        raise NotImplementedError
