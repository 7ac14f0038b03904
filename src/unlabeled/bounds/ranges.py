"""The symbols of the bounds: what each stands for, and the values it may take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real


@dataclass(frozen=True)
class Range:
    """An interval, and the meaning of what lies in it."""

    written: str
    meaning: str
    low: float
    high: float
    holds_low: bool = False
    holds_high: bool = False
    whole: bool = False

    def __contains__(self, value: object) -> bool:
        kind = Integral if self.whole else Real
        if not isinstance(value, kind) or isinstance(value, bool) or math.isnan(float(value)):
            return False
        inside = self.low < float(value) < self.high
        return inside or (self.holds_low and value == self.low) or (self.holds_high and value == self.high)


_INF = math.inf
_COUNT = Range("a whole number of at least 1", "how many rows", 1, _INF, holds_low=True, whole=True)

RANGES: dict[str, Range] = {
    "n_positive": _COUNT,
    "n_unlabeled": _COUNT,
    "n_rows": _COUNT,
    "n_draws": Range("a whole number of at least 1", "how many draws", 1, _INF, holds_low=True, whole=True),
    "n_features": Range("a whole number of at least 1", "the dimension", 1, _INF, holds_low=True, whole=True),
    "prior": Range("0 < prior < 1", "the share of positives in the population", 0, 1),
    "tau": Range("0 < tau < inf", "the bound holds with probability 1 - exp(-tau) or more", 0, _INF),
    "alpha": Range("0 < alpha < inf", "the free parameter of Talagrand's inequality", 0, _INF),
    "nu": Range("0 < nu <= 1", "the largest absolute value of a function in the class", 0, 1, holds_high=True),
    "rho": Range(
        "0 <= rho <= nu", "the largest standard deviation of a function in the class", 0, _INF, holds_low=True
    ),
    "sup_norm": Range("0 < sup_norm < inf", "the largest absolute value of a function in the class", 0, _INF),
    "weight": Range("0 < weight < inf", "what multiplies the positive mean, 2 prior for the classifier", 0, _INF),
    "complexity": Range("0 <= complexity < inf", "a Rademacher complexity", 0, _INF, holds_low=True),
    "delta": Range("0 <= delta < inf", "the bias of the non-negative risk", 0, _INF, holds_low=True),
    "wmmd": Range("0 <= wmmd < inf", "the distance of population and positives", 0, _INF, holds_low=True),
    "approximation_error": Range(
        "0 <= approximation_error < inf", "what the class lacks against all functions", 0, _INF, holds_low=True
    ),
    "target": Range("0 < target < inf", "what the bound should come under", 0, _INF),
    "positive_cost": Range("0 < positive_cost < inf", "price of a positive in unlabeled rows", 0, _INF),
    "radius": Range("0 < radius < inf", "the radius of the kernel ball", 0, _INF),
    "beta": Range("0 < beta <= 1", "the height of the functions compared with", 0, 1, holds_high=True),
    "smoothness": Range("0 < smoothness <= 1", "the Hoelder exponent alpha_H of the densities", 0, 1, holds_high=True),
    "noise_exponent": Range("0 <= noise_exponent < inf", "Tsybakov's exponent q", 0, _INF, holds_low=True),
    "bandwidth": Range("0 < bandwidth < inf", "the width h of the Gaussian kernel", 0, _INF),
    "gamma": Range("0 < gamma < inf", "the kernel's parameter", 0, _INF),
    "constant": Range("0 < constant < inf", "the unknown factor before the rate", 0, _INF),
}


def check(**values: object) -> None:
    """Raise a `ValueError` that states the range for the first value outside its range."""
    for name, value in values.items():
        allowed = RANGES[name]
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is out of range: give {allowed.written} ({allowed.meaning}).")


def check_deviation(rho: float | None, nu: float) -> float:
    """The standard deviation bound: as given, or nu when nothing is known (a function within +-nu varies no more)."""
    if rho is None:
        return nu
    check(rho=rho)
    if rho > nu:
        raise ValueError(
            f"rho={rho!r} is out of range: give 0 <= rho <= nu={nu!r}, for no function bounded by nu has a larger "
            "standard deviation. rho is a standard deviation, not a variance."
        )
    return rho
