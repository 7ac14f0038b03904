"""How several scores of the same rows are weighed: by how well mixtures of them tell labelled from unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import softmax

from unlabeled.arrays import FloatArray
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import SMALLEST_SPREAD, HonestScores

#: Shares are tried in steps of one over this.
STEPS = 5
#: Of many scores in fewer steps, for each mixture is judged on all rows.
MOST_MIXTURES = 5_000
#: A score of less weight is left out.
LEAST_WEIGHT = 0.05


@dataclass(frozen=True)
class Comparison:
    """How well several scores tell labelled from unlabeled rows, and what share each should have in the score.

    ``log_likelihoods`` are those of each score alone, the mean over both samples; a score that tells nothing has
    log(1/2). ``shares`` are those of the mixture, in units of each score's spread: the mean over all mixtures on a
    grid, each counted by its likelihood for the labelled rows and as many unlabeled ones. So a score that adds to the
    others has a share even if it tells less alone, one that adds nothing loses its share as positives become many, and
    with few positives no luck decides.
    """

    names: tuple[str, ...]
    log_likelihoods: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, names: tuple[str, ...], scores: HonestScores) -> Comparison:
        """Compare several honest scores of the same rows. One that is the same for all rows tells nothing."""
        spreads = np.array([one.spread for one in scores.each()])
        varying = np.flatnonzero(spreads > SMALLEST_SPREAD)
        varying = varying if len(varying) else np.arange(len(names))
        grid = np.zeros((len(of_varying := mixtures(len(varying))), len(names)))
        grid[:, varying] = of_varying
        in_units = grid / spreads
        # Where positives belong to the population, they would be compared with themselves.
        scores = scores.against_unlabeled()
        found = np.array([IsotonicRatio.fit(scores.weighted_sum(weights)).log_likelihood() for weights in in_units])
        alone = np.full(len(names), np.log(1 / 2))
        alone[varying] = found[grid[:, varying].argmax(axis=0)]
        return cls(names, alone, softmax(2 * scores.n_positive * found) @ grid)

    @property
    def best(self) -> str:
        """The name of the score that tells best alone; of equals the first."""
        return self.names[int(np.argmax(self.log_likelihoods))]

    @property
    def weights(self) -> dict[str, float]:
        """The share of each score."""
        return dict(zip(self.names, map(float, self.shares), strict=True))

    def in_use(self, *, alone: bool = False) -> dict[str, float]:
        """The weights of the scores to use: of the best alone where one is wanted, else of all that count."""
        if alone:
            return {self.best: 1.0}
        largest = max(self.weights.values())
        kept = {name: weight for name, weight in self.weights.items() if weight >= min(LEAST_WEIGHT, largest)}
        total = sum(kept.values())
        return {name: weight / total for name, weight in kept.items()}


def mixtures(n_scores: int) -> FloatArray:
    """All shares in whole steps that sum to 1 (n_mixtures, n_scores); each score alone is one of them."""
    n_bars = n_scores - 1
    few_enough = (n for n in range(STEPS, 1, -1) if comb(n + n_bars, n_bars) <= MOST_MIXTURES)
    steps = next(few_enough, 1)
    places = range(steps + n_bars)  # of bars between stars
    bars = np.array([(-1, *between, steps + n_bars) for between in combinations(places, n_bars)])
    return np.asarray((np.diff(bars, axis=1) - 1) / steps)


def combined(honest: list[HonestScores], shares: dict[str, float]) -> tuple[dict[str, float], HonestScores]:
    """What to multiply the scores by, so that in units of their spread they have these shares; and their sum."""
    if len(honest) == 1:
        return dict.fromkeys(shares, 1.0), honest[0]
    scores = HonestScores.stacked(honest)
    weights = np.array([share / one.spread for share, one in zip(shares.values(), scores.each(), strict=True)])
    weights /= weights.sum()
    return dict(zip(shares, map(float, weights), strict=True)), scores.weighted_sum(weights)
