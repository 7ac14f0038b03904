"""A new prior from a new batch of unlabeled rows, if only the share of positives has changed (label shift).

Let F1 be the distribution of the score among positives and F that in the old population, with prior q. If p(x | y)
stays and the prior becomes q', the new distribution is a F1 + (1 - a) F with a = (q' - q) / (1 - q): a mixture of the
two, or F with less of F1 in it. So a follows from the mean of any function of the score, in closed form, and q' from a.
The function is the old P(y = 1 | score), which tells the classes best. Labelled positives stand for F1, so that all
of this asks for labels given at random, or for weights that make up for it (`PropensityWMMDClassifier`).

Whether the batch looks like such a mixture is tested by the largest distance of its distribution function from the one
that a gives. How far off chance alone takes it is simulated: labelled positives, old population and batch are drawn
anew from the fitted distributions, and a is estimated again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from unlabeled.arrays import FloatArray
from unlabeled.deciding.calibration import Calibration
from unlabeled.deciding.scores import HonestScores

#: Cells of the score, each with the same share of the positives and the old population together.
N_CELLS = 40
#: Draws of the simulation.
N_SIMULATED = 999
#: What a row with an honest score is worth in it. Scores without each row in turn know nothing of their own row, but
#: lean together to what the rows have in common by chance: sums over them vary about twice as much.
WORTH_OF_HONEST = 0.5
#: A p-value below it means that the batch is no such mixture.
LEVEL = 0.05
#: A smaller batch tells nothing.
FEWEST_ROWS = 10
_CLOSEST = 1e-6


class CovariateShiftError(ValueError):
    """New rows do not look like a mixture of the positives and negatives that a classifier has learned from."""


@dataclass(frozen=True)
class Adaptation:
    """What a batch of new rows says about the prior.

    ``low`` and ``high`` are the ends of an interval that is to hold the new prior in 95 % of the cases, if the batch is
    a mixture of the old positives and negatives; ``p_value`` is how probable a batch as strange as this is then.
    """

    old_prior: float
    prior: float
    low: float
    high: float
    p_value: float
    n_rows: int

    @property
    def mixture(self) -> float:
        """What is more (or less, below 0) of the positives in the batch than in the old population."""
        return (self.prior - self.old_prior) / (1 - self.old_prior)

    @property
    def is_no_mixture(self) -> bool:
        """Whether the batch does not look like a mixture of the old positives and negatives."""
        return self.p_value < LEVEL

    def check(self, anyway: str = "adapt(X, check=False)") -> None:
        """Refuse a batch that is no mixture; ``anyway`` is how one asks for it all the same."""
        if self.is_no_mixture:
            raise CovariateShiftError(
                f"The new rows do not look like a mixture of the positives and negatives that the classifier has "
                f"learned from (p = {self.p_value:.2g}), and no prior can be told from them. Either more than the "
                "share of positives has changed: fit anew with rows that are like these, or look at what has changed. "
                "Or the labels were not given at random, so that the labelled positives are not what positives look "
                "like: see whether unlabeled.bias.ScarTest rejects, and use a classifier with propensities if you know "
                f"what labelling depended on. {anyway} goes on all the same."
            )

    def probability(self, old: FloatArray) -> FloatArray:
        """P(y = 1 | x) at the new prior, from that at the old one: the odds are multiplied."""
        factor = logit(np.clip(self.prior, _CLOSEST, 1 - _CLOSEST)) - logit(
            np.clip(self.old_prior, _CLOSEST, 1 - _CLOSEST)
        )
        with np.errstate(divide="ignore"):
            return expit(logit(old) + factor)


@dataclass(frozen=True)
class _Cells:
    """How often scores of labelled positives, other old rows and the batch fall into each cell (..., n_cells).

    ``worth`` is the mean of the old P(y = 1 | score) in each cell, and ``labelled_share`` that of the labelled rows in
    the old population. With leading axes: several such tables.
    """

    labelled: FloatArray
    others: FloatArray
    batch: FloatArray
    worth: FloatArray
    labelled_share: float

    @property
    def positives(self) -> FloatArray:
        """F1, as shares."""
        return _shares(self.labelled)

    @property
    def population(self) -> FloatArray:
        """F, as shares."""
        return self.labelled_share * self.positives + (1 - self.labelled_share) * _shares(self.others)

    def mixture(self, least: float) -> FloatArray:
        """The a that gives the batch's mean worth, from the least possible to 1; 0 where scores tell nothing."""
        more = (self.positives - self.population) @ self.worth
        gained = (_shares(self.batch) - self.population) @ self.worth
        return np.clip(np.where(more > 1e-9, gained / np.maximum(more, 1e-9), 0.0), least, 1.0)

    def fitted(self, a: FloatArray) -> FloatArray:
        """The distribution function of the batch as it should be; noise can make it fall."""
        a = np.asarray(a)[..., None]
        return np.cumsum(a * self.positives + (1 - a) * self.population, axis=-1)

    def distance(self, a: FloatArray) -> FloatArray:
        """The largest distance of both distribution functions."""
        return np.abs(np.cumsum(_shares(self.batch), axis=-1) - self.fitted(a)).max(axis=-1)

    def drawn(self, batch: FloatArray, n_draws: int, rng: np.random.RandomState) -> _Cells:
        """All three drawn anew, the batch from the given distribution, the old rows as if they were fewer."""

        def counts(like: FloatArray, shares: FloatArray, part: float = 1.0) -> FloatArray:
            return rng.multinomial(max(round(part * like.sum()), 1), shares, n_draws).astype(np.float64)

        return replace(
            self,
            labelled=counts(self.labelled, _shares(self.labelled), WORTH_OF_HONEST),
            others=counts(self.others, _shares(self.others), WORTH_OF_HONEST),
            batch=counts(self.batch, batch),
        )


def _rising(fitted: FloatArray) -> FloatArray:
    """Shares of cells from a distribution function that noise makes fall in places: halfway between two that do not."""
    up, down = np.maximum.accumulate(fitted), np.minimum.accumulate(fitted[::-1])[::-1]
    return _shares(np.diff(np.clip((up + down) / 2, 0, 1), prepend=0.0))


def _shares(counts: FloatArray) -> FloatArray:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def adaptation(
    honest: HonestScores, calibration: Calibration, prior: float, scores: FloatArray, random_state: int = 0
) -> Adaptation:
    """What scores of new rows say about the prior, beside honest scores at the old prior and their calibration."""
    if len(scores) < FEWEST_ROWS:
        raise ValueError(f"A batch of {len(scores)} rows tells nothing of its prior; give at least {FEWEST_ROWS}.")
    cells, rng = _cells(honest, calibration, scores), np.random.RandomState(random_state)
    least = -prior / (1 - prior) if prior < 1 else 0.0
    a = cells.mixture(least)
    simulated = cells.drawn(_rising(cells.fitted(a)), N_SIMULATED, rng)
    mixtures = simulated.mixture(least)
    stranger = simulated.distance(mixtures) >= cells.distance(a) - 1e-12
    shares = (np.quantile(mixtures, 0.025), float(a), np.quantile(mixtures, 0.975))
    low, value, high = (float(np.clip(prior + (1 - prior) * share, 0, 1)) for share in shares)
    p_value = float((1 + stranger.sum()) / (1 + N_SIMULATED))
    return Adaptation(prior, value, min(low, value), max(high, value), p_value, len(scores))


def _cells(honest: HonestScores, calibration: Calibration, scores: FloatArray) -> _Cells:
    pooled = np.concatenate([honest.positive, honest.unlabeled])
    edges = np.unique(np.quantile(pooled, np.arange(1, N_CELLS) / N_CELLS))
    places = [np.searchsorted(edges, values, side="left") for values in (honest.positive, honest.unlabeled, scores)]
    weights = honest.positive_weights, honest.unlabeled_weights, np.ones(len(scores))
    labelled, others, batch = (
        np.asarray(np.bincount(place, weight, len(edges) + 1), dtype=np.float64)
        for place, weight in zip(places, weights, strict=True)
    )
    in_cell = np.bincount(places[1], minlength=len(edges) + 1)
    middles = np.append(edges, edges[-1]) if len(edges) else np.array([pooled.mean()])
    sums = np.bincount(places[1], calibration.probability(honest.unlabeled), len(edges) + 1)
    worth = np.where(in_cell > 0, sums / np.maximum(in_cell, 1), calibration.probability(middles))
    return _Cells(labelled, others, batch, worth, honest.labelled_share)
