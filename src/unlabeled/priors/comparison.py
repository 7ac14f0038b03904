"""Several estimates of one prior, side by side, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.labels import find_classes
from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.limits import ENOUGH_POSITIVES
from unlabeled.priors.scar import told_once

#: Estimators whose assumption (classes that hardly overlap) makes them come out too large otherwise.
UPPER_BOUNDS = ("density", "elkan-noto")
#: An estimate of 0 or 1 is no prior that a classifier can use.
_CLOSEST = 1e-9


@dataclass(frozen=True)
class PriorEstimate:
    """A prior, the ends of its 95 % interval (None where it was given), and where it is from.

    Examples
    --------
    >>> from unlabeled.priors import PriorEstimate
    >>> estimate = PriorEstimate(0.1, None, None, "given")
    >>> estimate.value, estimate.source
    (0.1, 'given')
    """

    value: float
    low: float | None
    high: float | None
    source: str

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; of no width where the prior was given."""
        return (self.value if self.low is None else self.low), (self.value if self.high is None else self.high)

    @classmethod
    def of(cls, estimator: PriorEstimator, name: str) -> PriorEstimate:
        """What a fitted estimator says, as a share that a classifier can use.

        Examples
        --------
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.priors import AutoPrior
        >>> data = make_gaussians(60, 200, separation=3, random_state=0)
        >>> from unlabeled.priors import PriorEstimate
        >>> found = PriorEstimate.of(AutoPrior().fit(data.X, data.y), "auto")
        >>> found.low < found.value < found.high
        True
        """
        low, high = estimator.interval()
        least = max(estimator.labelled_share_, _CLOSEST)
        return cls(float(np.clip(estimator.prior_, least, 1 - _CLOSEST)), low, high, name)


@dataclass(frozen=True)
class PriorComparison:
    """Estimates by name, why others have none, and how many labelled positives they are from.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import compare_priors
    >>> comparison = compare_priors(data.X, data.y, names=["density", "km2"])
    >>> sorted(comparison.estimates), comparison.failures
    (['density', 'km2'], {})
    """

    estimates: dict[str, PriorEstimate]
    failures: dict[str, str]
    n_positive: float = np.inf

    @property
    def few(self) -> bool:
        """Whether the positives are too few for an estimate: its interval says all there is."""
        return self.n_positive < ENOUGH_POSITIVES

    @property
    def votes(self) -> list[float]:
        """The estimates in ascending order; upper bounds have no vote."""
        return sorted(estimate.value for name, estimate in self.estimates.items() if name not in UPPER_BOUNDS)

    @property
    def disagree(self) -> bool:
        """Whether the estimates are too far apart to be of use."""
        votes = self.votes
        return len(votes) > 1 and votes[-1] - votes[0] > max(0.1, 0.6 * votes[len(votes) // 2])

    @property
    def verdict(self) -> str:
        """Whether the estimates agree, in a sentence."""
        votes = self.votes
        if self.few:
            return (
                f"With {self.n_positive:,} positives the prior cannot be told: the intervals say all there is. "
                f"From {ENOUGH_POSITIVES} positives on it is estimated."
            )
        if len(votes) < 2:
            return "There are too few estimates to compare."
        middle, spread = votes[len(votes) // 2], votes[-1] - votes[0]
        aside = [name for name in UPPER_BOUNDS if name in self.estimates or name in self.failures]
        of = f"{votes[0]:.3f} to {votes[-1]:.3f}" + (f" ({', '.join(aside)} set aside: upper bounds)" if aside else "")
        if spread <= max(0.03, 0.25 * middle):
            return f"The estimates agree: {of}."
        if not self.disagree:
            return f"The estimates agree roughly: {of}. Treat counts that follow from it as rough too."
        return f"The estimates disagree: {of}. Give the prior if you know it."


def compare(
    estimators: Iterable[tuple[str, PriorEstimator]],
    X: ArrayLike,
    y: ArrayLike,
    scenario: str,
    on_estimate: Callable[[str], object],
    pos_label: Any = None,
) -> PriorComparison:
    """Fit estimators that are given by name, one after the other."""
    _, is_positive = find_classes(y, pos_label)  # once, for all of them: it may refuse y, or warn of it
    found, failed = {}, {}
    with told_once():
        for name, estimator in estimators:
            try:
                fitted = estimator.set_params(scenario=scenario).fit(X, is_positive)
                found[name] = PriorEstimate.of(fitted, name)
            except ValueError as error:
                failed[name] = str(error)
            on_estimate(name)
    return PriorComparison(found, failed, int(is_positive.sum()))
