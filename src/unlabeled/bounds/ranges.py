"""The symbols of the bounds: what each stands for, and the values it may take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real


@dataclass(frozen=True)
class Range:
    """What a symbol means, and the interval its values lie in: open, but for the ends it holds."""

    meaning: str
    low: float = 0
    high: float = math.inf
    holds_low: bool = False
    holds_high: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        inside = self.low < float(value) < self.high  # False for a NaN, like the comparisons below
        return inside or (self.holds_low and value == self.low) or (self.holds_high and value == self.high)

    def written(self, name: str) -> str:
        """The interval as an inequality."""
        above, below = ("<=" if held else "<" for held in (self.holds_low, self.holds_high))
        return f"{self.low!r} {above} {name} {below} {self.high!r}"


@dataclass(frozen=True)
class Count:
    """What is counted: a whole number from 1 on."""

    meaning: str

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1

    def written(self, name: str) -> str:  # noqa: ARG002 (as Range)
        """The accepted values in words."""
        return "a whole number of at least 1"


RANGES: dict[str, Range | Count] = {
    "n_positive": Count("how many rows"),
    "n_unlabeled": Count("how many rows"),
    "n_rows": Count("how many rows"),
    "n_draws": Count("how many draws"),
    "n_features": Count("the dimension"),
    "prior": Range("the share of positives in the population", 0, 1),
    "tau": Range("the bound holds with probability 1 - exp(-tau) or more"),
    "alpha": Range("the free parameter of Talagrand's inequality"),
    "nu": Range("the largest absolute value of a function in the class", 0, 1, holds_high=True),
    "sup_norm": Range("the largest absolute value of a function in the class"),
    "weight": Range("what multiplies the positive mean, 2 prior for the classifier"),
    "positive_complexity": Range("the class's Rademacher complexity on positives", holds_low=True),
    "unlabeled_complexity": Range("the class's Rademacher complexity on unlabeled rows", holds_low=True),
    "delta": Range("the bias of the non-negative risk", holds_low=True),
    "wmmd": Range("the distance of population and positives", holds_low=True),
    "approximation_error": Range("what the class lacks against all functions", holds_low=True),
    "target": Range("what the bound should come under"),
    "positive_cost": Range("price of a positive in unlabeled rows"),
    "radius": Range("the radius of the kernel ball"),
    "beta": Range("the height of the functions compared with", 0, 1, holds_high=True),
    "smoothness": Range("the Hoelder exponent alpha_H of the densities", 0, 1, holds_high=True),
    "noise_exponent": Range("Tsybakov's exponent q", holds_low=True),
    "bandwidth": Range("the width h of the Gaussian kernel"),
    "gamma": Range("the kernel's parameter"),
    "constant": Range("the unknown factor before the rate"),
}


def check(**values: object) -> None:
    """Raise a `ValueError` that states the range for the first value outside its range."""
    for name, value in values.items():
        _require(name, value, RANGES[name])


def check_deviation(rho: float | None, **bound: float) -> float:
    """The largest standard deviation in a class: as given, or the bound of its functions when nothing is known.

    The bound comes under the name that the caller's users know, ``nu`` or ``sup_norm``; no function that keeps within
    +-nu has a standard deviation above nu.
    """
    ((name, largest),) = bound.items()
    check(**bound)
    if rho is None:
        return largest
    meaning = f"the largest standard deviation, not variance, of a function in the class; at most {name}"
    _require("rho", rho, Range(meaning, 0, largest, holds_low=True, holds_high=True))
    return rho


def _require(name: str, value: object, allowed: Range | Count) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is out of range: give {allowed.written(name)} ({allowed.meaning}).")
