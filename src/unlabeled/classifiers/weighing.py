"""How several scores of the same rows are weighed: by how well each tells labelled from unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from unlabeled.arrays import FloatArray
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import HonestScores

#: A lead of this many standard errors multiplies the odds of two weights by e.
STANDARD_ERRORS = 2.0
#: A score of less weight is left out.
LEAST_WEIGHT = 0.05
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Comparison:
    """Mean log-likelihoods of telling labelled from unlabeled rows, by the name of the score.

    ``standard_errors`` (n_scores, n_scores) are those of the differences between any two.
    """

    names: tuple[str, ...]
    log_likelihoods: FloatArray
    standard_errors: FloatArray

    @classmethod
    def of(cls, names: tuple[str, ...], scores: HonestScores) -> Comparison:
        """Compare several honest scores of the same rows."""
        # Where positives belong to the population, they would be compared with themselves.
        terms = [_log_likelihood_terms(one) for one in scores.against_unlabeled().each()]
        means, variances = np.zeros(len(names)), np.zeros((len(names), len(names)))
        for sample, weights in enumerate((scores.positive_weights, scores.unlabeled_weights)):
            values = np.array([term[sample] for term in terms])  # (n_scores, n_rows)
            means += values @ weights / weights.sum() / 2
            for place, of_one in enumerate(values):
                variances[place] += _variances_of_means(values - of_one, weights) / 4
        return cls(names, means, np.sqrt(variances))

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """How much better one score is than another, and the standard error of that."""
        first, second = self.names.index(one), self.names.index(other)
        lead = self.log_likelihoods[first] - self.log_likelihoods[second]
        return float(lead), float(self.standard_errors[first, second])

    @property
    def best(self) -> str:
        """The name of the score that tells best; of equals the first."""
        return self.names[int(np.argmax(self.log_likelihoods))]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each score: the odds of any against the best fall with its lag in standard errors."""
        best = self.names.index(self.best)
        lags = (self.log_likelihoods - self.log_likelihoods[best]) / np.maximum(self.standard_errors[best], _TINY)
        return dict(zip(self.names, map(float, softmax(lags / STANDARD_ERRORS)), strict=True))

    def in_use(self, *, alone: bool = False) -> dict[str, float]:
        """The weights of the scores to use: of the best alone where one is wanted, else of all that count."""
        if alone:
            return {self.best: 1.0}
        kept = {name: weight for name, weight in self.weights.items() if weight >= LEAST_WEIGHT or name == self.best}
        total = sum(kept.values())
        return {name: weight / total for name, weight in kept.items()}


def _variances_of_means(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Variance of the weighted mean of each row of values (n_rows, n)."""
    spread = values - np.average(values, axis=1, weights=weights)[:, None]
    return np.asarray(np.average(spread**2, axis=1, weights=weights) / weights.sum())


def _log_likelihood_terms(scores: HonestScores) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each positive and each unlabeled row under the isotonic fit of one score."""
    fit = IsotonicRatio.fit(scores)
    share = fit.share()
    places = [
        np.clip(np.searchsorted(fit.values, values, side="right") - 1, 0, None)
        for values in (scores.positive, scores.unlabeled)
    ]
    return np.log(share[places[0]]), np.log1p(-share[places[1]])


def combined(honest: list[HonestScores], shares: dict[str, float]) -> tuple[dict[str, float], HonestScores]:
    """What to multiply the scores by, so that in units of their spread they have these shares; and their sum."""
    if len(honest) == 1:
        return dict.fromkeys(shares, 1.0), honest[0]
    scores = HonestScores.stacked(honest)
    weights = np.array([share / one.spread for share, one in zip(shares.values(), scores.each(), strict=True)])
    weights /= weights.sum()
    return dict(zip(shares, map(float, weights), strict=True)), scores.weighted_sum(weights)
