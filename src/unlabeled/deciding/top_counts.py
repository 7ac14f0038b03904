"""How probable so few unlabeled rows among the top scores are, if labels were given at random.

Labels at random, with a share a of positives among the unlabeled rows, mean that the density of the unlabeled rows is
nowhere less than a times that of the labelled positives; and whatever obeys this is possible, the negatives being what
is left over. So the null hypothesis is that, and nothing else: *every* region with a share b of the positives holds at
least a share a b of the unlabeled rows. A score only says where to look: at the top.

Take a score that was made without the rows it scores. Put thresholds at the m-th highest score of n labelled
positives, for several m, and count the unlabeled rows above each. Of all unlabeled rows that obey the null, those with
the fewest rows above all thresholds at once are a share a of positives, and the rest below everything: any other can be
coupled with them such that no count is smaller. For these the counts depend on ranks alone, hence on n and the number
of hidden positives and on nothing else. Their joint distribution is simulated or, for a few hidden positives, worked
out. So the p-value is exact for this case (but for the simulation) and too large for all others; ties only add
unlabeled rows.

The statistic: were each positive in turn, from the top down, labelled with the chance n / (n + hidden), the number of
hidden ones above the m-th labelled one would be negative binomial. The smallest of these probabilities over all m
is compared with the same of such counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betainc, betaln, gammaln

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores

#: The parts of the labelled positives, from the highest score down, that are looked at.
PORTIONS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


class Hidden(Protocol):
    """How many positives the unlabeled rows hold, under the null hypothesis."""

    def expected(self, n_labelled: int, n_unlabeled: int) -> float:
        """The mean, for a table with so many rows."""
        ...

    def draws(self, n_labelled: int, n_unlabeled: int, n_draws: int, rng: np.random.RandomState) -> np.ndarray:
        """Random such numbers."""
        ...


@dataclass(frozen=True)
class Count:
    """A given number."""

    count: int

    def expected(self, n_labelled: int, n_unlabeled: int) -> float:  # noqa: ARG002
        """The mean, for a table with so many rows."""
        return float(min(self.count, n_unlabeled))

    def draws(self, n_labelled: int, n_unlabeled: int, n_draws: int, rng: np.random.RandomState) -> np.ndarray:  # noqa: ARG002
        """Random such numbers."""
        return np.full(n_draws, min(self.count, n_unlabeled))


@dataclass(frozen=True)
class Share:
    """A prior. The unlabeled rows are the population, or it is they and the labelled rows together.

    In the second case the table holds a binomial number of positives, and those not labelled are hidden. Given how many
    are labelled, the hidden ones are, strictly, binomial with an unknown chance that depends on how often positives are
    labelled; with that chance as uncertain as the labelled rows leave it, mean and variance are the same as here.
    """

    prior: float
    labelled_in_population: bool

    def expected(self, n_labelled: int, n_unlabeled: int) -> float:
        """The mean, for a table with so many rows."""
        known = n_labelled if self.labelled_in_population else 0
        return max(self.prior * (known + n_unlabeled) - known, 0.0)

    def draws(self, n_labelled: int, n_unlabeled: int, n_draws: int, rng: np.random.RandomState) -> np.ndarray:
        """Random such numbers."""
        known = n_labelled if self.labelled_in_population else 0
        return np.maximum(rng.binomial(known + n_unlabeled, self.prior, n_draws) - known, 0)


@dataclass(frozen=True)
class TopCounts:
    """The unlabeled rows that score as high as some portions of the labelled positives do."""

    places: FloatArray  # m: the place of each threshold among the labelled positives, from the top
    n_above: FloatArray  # the unlabeled rows at or above each
    n_labelled: float
    n_unlabeled: float

    @classmethod
    def of(cls, scores: HonestScores) -> TopCounts:
        """Count rows of equal score, such as copies, as above: too many is on the safe side."""
        order = np.argsort(-scores.positive)
        total = np.cumsum(scores.positive_weights[order])
        places = np.maximum(1.0, np.array(PORTIONS) * total[-1])
        last = np.minimum(np.searchsorted(total, places * (1 - 1e-9)), len(order) - 1)
        thresholds = scores.positive[order[last]] - scores.rounding
        above = (scores.unlabeled >= thresholds[:, None]) @ scores.unlabeled_weights
        return cls(places, above, float(total[-1]), scores.n_unlabeled)

    def improbability(self, n_above: FloatArray, n_hidden: float) -> FloatArray:
        """For each threshold the probability of so few hidden positives above it, if labelled in turn."""
        chance = self.n_labelled / (self.n_labelled + n_hidden)
        return np.asarray(betainc(self.places, n_above + 1, chance))

    def p_value(self, n_hidden: np.ndarray, expected: float, rng: np.random.RandomState) -> float:
        """The share of simulated tables, one for each number of hidden positives, that look as strange or stranger."""
        if expected <= 0:
            return 1.0
        counts = self._simulated(n_hidden, rng)
        of_count = self.improbability(np.arange(counts.max(initial=0) + 1.0)[:, None], expected)  # few are different
        simulated = np.take_along_axis(of_count, counts, axis=0).min(axis=1)
        found = self.improbability(self.n_above, expected).min()
        return float((1 + (simulated <= found * (1 + 1e-9)).sum()) / (1 + len(simulated)))

    def p_value_of_count(self, n_hidden: int) -> float:
        """The same with just so many hidden positives, a few: worked out, not simulated.

        The counts are a Markov chain: of the positives still hidden, those between one threshold and the next are
        beta-binomial. What looks as strange or stranger is taken out where it is first met.
        """
        numbers = np.arange(n_hidden + 1.0)
        found = self.improbability(self.n_above, n_hidden).min()
        stranger = self.improbability(numbers[:, None], n_hidden) <= found * (1 + 1e-9)  # (n_hidden + 1, n_thresholds)
        chances, taken_out = (numbers == 0).astype(np.float64), 0.0
        for step, place, here in zip(self._steps(), self.places, stranger.T, strict=False):
            chances = chances @ _moves(n_hidden, step, self.n_labelled + 1 - place)
            taken_out += float(chances[here].sum())
            chances = np.where(here, 0.0, chances)
        return min(1.0, taken_out)

    def _steps(self) -> FloatArray:
        """Places between neighbouring thresholds, and after the last one: parameters of a Dirichlet distribution."""
        steps = np.append(np.diff(self.places, prepend=0.0), self.n_labelled + 1 - self.places[-1])
        return np.maximum(steps, 1e-12)

    def _simulated(self, n_hidden: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """Hidden positives above each threshold (n_simulated, n_thresholds).

        The shares of all positives between neighbouring thresholds are those of a Dirichlet distribution.
        """
        steps = self._steps()
        shares = rng.gamma(steps, size=(len(n_hidden), len(steps)))
        below = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]  # of each share and all after it
        left, counts = n_hidden.copy(), np.zeros((len(n_hidden), len(self.places)), dtype=np.int64)
        for place in range(len(self.places)):
            here = rng.binomial(left, np.clip(shares[:, place] / np.maximum(below[:, place], 1e-300), 0, 1))
            left, counts[:, place] = left - here, here
        return np.cumsum(counts, axis=1)


def _moves(n_hidden: int, step: float, rest: float) -> FloatArray:
    """Chances of so many hidden positives above a threshold, given how many are above the one before (from, to)."""
    before, after = np.ogrid[: n_hidden + 1, : n_hidden + 1]
    left, between = n_hidden - before, np.maximum(after - before, 0)
    ways = gammaln(left + 1) - gammaln(between + 1) - gammaln(np.maximum(left - between, 0) + 1)
    chances = np.exp(ways + betaln(between + step, np.maximum(left - between, 0) + rest) - betaln(step, rest))
    return np.where(after >= before, chances, 0.0)


def scored_of_hidden(n_hidden: np.ndarray, n_unlabeled: int, n_scored: int, rng: np.random.RandomState) -> np.ndarray:
    """How many of the hidden positives are among those of the unlabeled rows that are scored, a random part."""
    n_scored = min(n_scored, n_unlabeled)
    return rng.hypergeometric(n_hidden, n_unlabeled - n_hidden, n_scored) if n_scored else np.zeros_like(n_hidden)


def p_value_of_half(half: TopCounts, null: Hidden, n_labelled: int, n_unlabeled: int, draws: tuple[int, int]) -> float:
    """The p-value of one scored part of a table with so many rows; ``draws`` is how many to simulate, and a seed."""
    n_simulated, seed = draws
    rng = np.random.RandomState(seed)
    hidden = null.draws(n_labelled, n_unlabeled, n_simulated, rng)
    hidden = scored_of_hidden(hidden, n_unlabeled, round(half.n_unlabeled), rng)
    return half.p_value(hidden, expected_in_half(half, null, n_labelled, n_unlabeled), rng)


def expected_in_half(half: TopCounts, null: Hidden, n_labelled: int, n_unlabeled: int) -> float:
    """How many hidden positives the null hypothesis expects among the unlabeled rows of one scored part."""
    return null.expected(n_labelled, n_unlabeled) * min(1.0, half.n_unlabeled / n_unlabeled)
