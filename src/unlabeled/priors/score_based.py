"""What estimators on one-dimensional scores share: honest scores, and an interval by redrawing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.scores import Scores, honest_scores
from unlabeled.samples import PUSample


class ScorePrior(PriorEstimator):
    """Estimates the prior from scores.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Scores rows by classifying P against U, cross-fitted. None: leave-one-out WMMD scores, in closed form.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    max_evaluations : int or None, default=20000
        At most so many rows of each sample are scored by the WMMD. All stay in the sums.
    random_state : int, RandomState or None, default=0
        For the folds, the choice of rows, and the interval. A number by default: a prior asked for twice is the same.

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

        It tells the noise of the estimate. If the classes are not irreducible the estimate is an upper bound of the
        prior, and then so is this interval: nothing in the data can say how far below the prior lies.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")
        rng = check_random_state(self.random_state)
        shares = np.array([self._share(self.scores_.resample(rng)) for _ in range(n_draws)])
        low, high = np.quantile(self._to_population(shares), [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        self.scores_ = honest_scores(pu, self.estimator, self.n_folds, self.max_evaluations, rng)
        return self._share(self.scores_)

    def _share(self, scores: Scores) -> float:
        """Share of positives among the unlabeled rows, from scores."""
        raise NotImplementedError
