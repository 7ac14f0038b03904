"""A choice of units and the grid in them, judged by honest scores."""

from __future__ import annotations

from dataclasses import dataclass

from unlabeled.arrays import FloatArray
from unlabeled.contract import ResolvedPrior
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample
from unlabeled.scoring.ratio import Kernels
from unlabeled.scoring.scaling import Scaling
from unlabeled.scoring.selection import Places, first_of_best, loo_scores_at
from unlabeled.scoring.smoothing import SumsByFold


@dataclass(frozen=True)
class Candidate:
    """One choice of units: the grid in them, its honest scores, and what each gamma is worth."""

    scaling: Scaling
    gammas: FloatArray
    judged: HonestScores  # for each gamma
    whole: bool  # whether these are scores of all rows that are to have one, by all rows
    places: Places | None  # of the rows that have leave-one-out scores; None where these are those of other rows
    sample: PUSample
    criteria: FloatArray
    priors: list[ResolvedPrior] | None  # of each gamma, where they took part

    @property
    def best(self) -> int:
        """Which gamma."""
        return first_of_best(self.criteria)

    def scores(self, kernels: Kernels, sums: SumsByFold | None) -> HonestScores:
        """Honest scores for the best gamma: of all rows to be scored and by all rows, where fewer were judged."""
        if self.whole or self.places is None:
            return self.judged.at(self.best)
        return loo_scores_at(self.sample, kernels, self.places).at(0) if sums is None else sums.loo_scores()
