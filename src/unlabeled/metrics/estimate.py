"""A number with its interval: how a share is estimated from a sample, and how many rows it comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

LEVEL = 0.95
_TAIL = (1 - LEVEL) / 2


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its 95 % interval.

    ``value`` is None where the sample is too small for a number worth telling: the interval says all there is.
    """

    value: float | None
    low: float
    high: float

    def of_rows(self, n_rows: float, at_least: float = 0.0) -> Estimate:
        """How many of ``n_rows`` rows, if this is the share; of which so many are known.

        The share is uncertain, and how many of a limited number of rows there are is chance besides: the two are
        independent, and add up as such.
        """
        middle = (self.low + self.high) / 2 if self.value is None else self.value
        low, high = (
            n_rows * middle + sign * np.hypot(n_rows * (end - middle), _chance(n_rows, end))
            for sign, end in ((-1, self.low), (1, self.high))
        )
        low, high = np.clip([low, high], min(at_least, n_rows), n_rows)
        value = None if self.value is None else float(np.clip(n_rows * self.value, low, high))
        return Estimate(value, float(low), float(high))


def _chance(n_rows: float, share: float) -> float:
    """How far a binomial number lies off its mean at most, at the level of the interval."""
    return float(norm.isf(_TAIL) * np.sqrt(n_rows * share * (1 - share)))


def proportion(successes: float, n: float, *, spent: float = 0.0) -> Estimate:
    """A share of a population from ``successes`` in ``n`` independent observations, by Clopper and Pearson.

    Parameters
    ----------
    successes, n : float
        Weights count as observations, so they need not be whole.
    spent : float, default=0
        How many successes went into the choice of what counts as one. A threshold that was placed by n scores, just
        below the k-th of them, is exceeded by k / (n + 1) of all and not by k / n: one was spent.

    Examples
    --------
    >>> from unlabeled.metrics.estimate import proportion
    >>> all_of_three = proportion(3, 3)
    >>> round(all_of_three.low, 2), all_of_three.high
    (0.29, 1.0)
    """
    low = betaincinv(successes - spent, n - successes + 1 + spent, _TAIL) if successes > spent else 0.0
    high = betaincinv(successes + 1, n - successes, 1 - _TAIL) if successes < n else 1.0
    return Estimate(successes / (n + spent), float(low), float(high))
