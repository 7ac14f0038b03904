"""The excess risk of WMMD at the theorem's bandwidth, over the number of rows, for a family with known exponents.

The population is uniform on the unit cube, so its density is bounded away from zero. The margin depends on the first
coordinate alone: with u its distance from the boundary,

    2 eta(x) - 1 = STEEP u^s  for u > 0,    -FLAT |u|^s  for u < 0.

So p(x | y=1) is Hoelder with exponent s on the cube, ``P(|2 eta - 1| <= t)`` is of the order ``t^(1/s)``, hence q = 1
/ s, and the theorem's exponent is ``(1 + s) / (2 s + d)``. The two sides differ in steepness because a symmetric
margin would let the smoothing bias cancel at the boundary, and flatter the rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unlabeled import bounds
from unlabeled.arrays import FloatArray
from unlabeled.engines import log_kernel_sums
from unlabeled.experiments.cell import Cell

DATASET = "margin"
BOUNDARY, STEEP, FLAT = 0.4, 1.2, 0.5
SMOOTHNESS = (0.5, 0.9)
N_FEATURES = (1, 2, 5)
SIZES = tuple(2**power for power in range(6, 17))
QUICK_SIZES = SIZES[:6]
#: Queries at which the risk is integrated. On a line few are enough, and the risk varies most from draw to draw.
N_QUERIES, N_QUERIES_LINE = 2000, 500
MORE_DRAWS_LINE = 4


@dataclass(frozen=True)
class Margin:
    """The family of the module's docstring."""

    smoothness: float
    n_features: int

    @property
    def noise_exponent(self) -> float:
        """Tsybakov's q."""
        return 1 / self.smoothness

    @property
    def prior(self) -> float:
        """P(y=1) = (1 + E(2 eta - 1)) / 2."""
        power = self.smoothness + 1
        return (1 + (STEEP * (1 - BOUNDARY) ** power - FLAT * BOUNDARY**power) / power) / 2

    def margin(self, rows: FloatArray) -> FloatArray:
        """2 P(y=1 | x) - 1."""
        u = rows[:, 0] - BOUNDARY
        return np.asarray(np.where(u > 0, STEEP, -FLAT) * np.abs(u) ** self.smoothness)

    def draw_unlabeled(self, n: int, rng: np.random.RandomState) -> FloatArray:
        """Rows of the population."""
        return np.asarray(rng.uniform(size=(n, self.n_features)))

    def draw_positive(self, n: int, rng: np.random.RandomState) -> FloatArray:
        """Rows of the positives: of the population, each kept with probability eta."""
        kept: list[FloatArray] = []
        while sum(map(len, kept)) < n:
            rows = self.draw_unlabeled(2 * n, rng)
            kept.append(rows[2 * rng.uniform(size=len(rows)) - 1 < self.margin(rows)])
        return np.concatenate(kept)[:n]


def cells(draws: int, *, quick: bool = False) -> list[Cell]:
    """Draws for each dimension, smoothness and size, as many positives as unlabeled rows."""
    sizes = QUICK_SIZES if quick else SIZES
    return [
        Cell("theory", DATASET, "wmmd", {"n_positive": n, "n_unlabeled": n, "n_features": d, "smoothness": s}, draw)
        for d in N_FEATURES
        for s in SMOOTHNESS
        for n in sizes
        for draw in range(draws * (MORE_DRAWS_LINE if d == 1 else 1))
    ]


def run(cell: Cell) -> dict[str, float]:
    """Excess risk of one draw, with the bandwidth and the exponent of the theorem."""
    n_positive, n_unlabeled = int(cell.setting["n_positive"]), int(cell.setting["n_unlabeled"])
    family = Margin(float(cell.setting["smoothness"]), int(cell.setting["n_features"]))
    rng = np.random.RandomState(cell.data_seed)
    positive, unlabeled = family.draw_positive(n_positive, rng), family.draw_unlabeled(n_unlabeled, rng)
    s, d = family.smoothness, family.n_features
    bandwidth = bounds.theorem_bandwidth(n_positive, n_unlabeled, smoothness=s, n_features=d)
    return {
        "excess_risk": excess_risk(family, positive, unlabeled, bounds.gamma_of_bandwidth(bandwidth), rng),
        "bandwidth": bandwidth,
        "exponent": bounds.rate_exponent(smoothness=s, noise_exponent=family.noise_exponent, n_features=d),
    }


def excess_risk(
    family: Margin, positive: FloatArray, unlabeled: FloatArray, gamma: float, rng: np.random.RandomState
) -> float:
    """E |2 eta - 1| over the rows where the WMMD classifier and the Bayes rule disagree."""
    queries, weights = _queries(family, rng)
    log_sums = [log_kernel_sums(queries, rows, "rbf", gamma)[0] - math.log(len(rows)) for rows in (positive, unlabeled)]
    is_positive = log_sums[0] - log_sums[1] > -math.log(2 * family.prior)
    margin = family.margin(queries)
    return float((weights * np.abs(margin) * (is_positive != (margin > 0))).mean())


def _queries(family: Margin, rng: np.random.RandomState) -> tuple[FloatArray, FloatArray]:
    """Rows of the population that are dense at the boundary, where classifiers err, with the weights that undo it.

    One row in each of n strata of t in (-1, 1); u = t^3 times the length of its side.
    """
    n = N_QUERIES_LINE if family.n_features == 1 else N_QUERIES
    t = 2 * (np.arange(n) + rng.uniform(size=n)) / n - 1
    side = np.where(t > 0, 1 - BOUNDARY, BOUNDARY)
    queries = family.draw_unlabeled(n, rng)
    queries[:, 0] = BOUNDARY + side * t**3
    return queries, 6 * side * t**2  # dx1 / dt, over the density 1/2 of t
