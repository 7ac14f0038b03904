"""What estimators on the rows themselves share: the rows in use, and scores of them for the interval."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.score_based import wmmd_scores
from unlabeled.samples import PUSample
from unlabeled.scoring.forms import complete
from unlabeled.stages import stage

#: The most rows of each sample that are scored for the interval.
MOST_SCORED = 20_000


class RowPrior(PriorEstimator):
    """Estimates the prior from rows."""

    def _scores_at_hand(self) -> HonestScores:
        """Leave-one-out WMMD scores: an estimate from rows has none of its own."""
        rng = check_random_state(self.random_state)
        options = {name: getattr(self, name) for name in ("engine", "n_jobs") if hasattr(self, name)}
        return wmmd_scores(self._sample, MOST_SCORED, rng, **options)

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        pu = complete(pu) if issparse(pu.positive.rows) else pu  # once, and not in every draw of the interval
        self._sample = self._rows_in_use(pu, rng)
        with stage("prior from rows"):
            return self._share(self._sample, rng)

    def _rows_in_use(self, pu: PUSample, rng: np.random.RandomState) -> PUSample:  # noqa: ARG002
        """The rows that the estimate rests on."""
        return pu

    def _share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        """Share of positives among the unlabeled rows, from rows."""
        raise NotImplementedError
