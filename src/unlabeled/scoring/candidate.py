"""A choice of units and the grid in them, judged by honest scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.contract import ResolvedPrior
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.copies import Copies
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

    def copies(self, complete: PUSample) -> Copies:
        """Copies among its rows, in the units of ``complete``, where all of them are to be scored."""
        samples = self.sample.positive, self.sample.unlabeled
        all_scored = self.places is not None and all(map(_are_all, self.places, samples))
        return Copies.of(self.sample, complete) if all_scored and not self.whole else Copies(self.sample)

    def merged(self, copies: Copies) -> Candidate:
        """The same choice over rows without copies."""
        if not copies.n_merged:
            return self
        sample = copies.merged(self.sample)
        return replace(self, sample=sample, places=(np.arange(len(sample.positive)), np.arange(len(sample.unlabeled))))

    def scores(self, kernels: Kernels, sums: SumsByFold | None) -> HonestScores:
        """Honest scores for the best gamma: of all rows to be scored and by all rows, where fewer were judged."""
        if self.whole or self.places is None:
            return self.judged.at(self.best)
        return loo_scores_at(self.sample, kernels, self.places).at(0) if sums is None else sums.loo_scores()


def _are_all(places: np.ndarray, sample: Sample) -> bool:
    return len(places) == len(sample)
