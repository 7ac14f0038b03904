"""A prior with its interval, given or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from unlabeled.kernels import FloatArray
from unlabeled.priors import PRIORS, PriorEstimator
from unlabeled.priors.auto import AutoPrior
from unlabeled.tables import TableError

ESTIMATORS: dict[str, PriorEstimator] = {"auto": AutoPrior()} | PRIORS
#: Each draw of these is a fit of seconds, so that there are fewer.
_DRAWS: dict[str, Any] = {"km1": {"n_draws": 10}, "km2": {"n_draws": 10}}


@dataclass(frozen=True)
class PriorEstimate:
    """A prior, the ends of its 95 % interval (None where it was given), and where it is from."""

    value: float
    low: float | None
    high: float | None
    source: str

    def describe(self) -> str:
        """In words."""
        if self.low is None:
            return f"{self.value:.3f}, {self.source}"
        return f"{self.value:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}), by {self.source}"


def given_prior(text: str, labelled_share: float) -> PriorEstimate:
    """A prior that a person wrote."""
    try:
        value = float(text)
    except ValueError:
        raise TableError(f"--prior {text} is neither a number nor 'auto'.") from None
    if not 0 < value < 1:
        raise TableError(f"--prior {text} is not a share: it must lie strictly between 0 and 1.")
    if value < labelled_share:
        raise TableError(
            f"--prior {text} is below the labelled share of the rows, {labelled_share:.4g}: so many are known to be "
            "positive. Give a larger prior, or --scenario case-control if the positives were added to the table."
        )
    return PriorEstimate(value, None, None, "as given")


def estimate_prior(name: str, X: FloatArray, y: np.ndarray, scenario: str) -> PriorEstimate:
    """The estimate of one of `ESTIMATORS`, as a share that a classifier can use."""
    estimator = clone(ESTIMATORS[name]).set_params(scenario=scenario).fit(X, y)
    least = float(y.mean()) if scenario == "single-sample" else 1e-9
    low, high = estimator.interval(**_DRAWS.get(name, {}))
    return PriorEstimate(float(np.clip(estimator.prior_, least, 1 - 1e-9)), low, high, name)
