"""Units for distances: features standardised or as they are, and a grid of gammas that fits them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.kernels import FloatArray, Kernel
from unlabeled.samples import PUSample, Sample

#: The grid of gamma, sharpest last, in units of one over the median squared distance. Wide enough for a class boundary
#: far finer than the data (skin colours want 16 to 32) and for many weak features (which want the widest).
RELATIVE_GAMMAS: FloatArray = np.exp2(np.arange(-3, 9))
#: So many pairs of rows make the median distance.
N_PAIRS = 20_000
PAIRS_AT_A_TIME = 1_000


@dataclass(frozen=True)
class Scaling:
    """Features less a center, by a scale; None leaves them as they are."""

    name: str
    center: FloatArray | None = None
    scale: FloatArray | None = None

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows in these units, in the precision they came in."""
        if self.center is None or self.scale is None:
            return rows
        scaled: FloatArray = ((rows - self.center) / self.scale).astype(rows.dtype, copy=False)
        return scaled

    def apply_to_samples(self, pu: PUSample) -> PUSample:
        """Both samples in these units."""
        positive, unlabeled = (Sample(self.apply(s.rows), s.log_weights) for s in (pu.positive, pu.unlabeled))
        return PUSample(positive, unlabeled, pu.scenario)


def as_they_are(_: PUSample) -> Scaling:
    """No scaling."""
    return Scaling("none")


def standardised(pu: PUSample) -> Scaling:
    """Mean 0 and variance 1 of every feature in the population; a constant feature keeps its units."""
    population = pu.population
    rows = population.rows.astype(np.float64, copy=False)
    center = np.average(rows, axis=0, weights=population.weights)
    largest = np.abs(rows - center).max(axis=0)
    largest[largest == 0] = 1
    scale = largest * np.sqrt(np.average(((rows - center) / largest) ** 2, axis=0, weights=population.weights))
    scale[scale <= 1e-12 * np.abs(center)] = 1  # constant, up to rounding
    scale[scale == 0] = 1
    return Scaling("standard", center, scale)


SCALINGS = {"standard": standardised, "none": as_they_are}


def gamma_grid(pu: PUSample, kernel: Kernel) -> FloatArray:
    """Gammas around one over the median squared distance of the population's rows, widest kernel first."""
    return np.asarray(kernel.sharpness(RELATIVE_GAMMAS / median_sq_distance(pu.population)), dtype=np.float64)


def median_sq_distance(sample: Sample) -> float:
    """Median squared distance of different rows: of all pairs where they are few, else of pairs chosen once for all.

    1 where all rows are alike. A weight of 2 counts as the row twice. The pairs are chosen by their place in the table.
    """
    weights = sample.weights
    if sample.total * (sample.total - 1) / 2 <= N_PAIRS:
        first, second = np.triu_indices(len(sample), 1)
        pair_weights = weights[first] * weights[second]
    else:  # pairs of observations and not of rows, so that weights and repeated rows come to the same
        ends = np.cumsum(weights) / weights.sum()
        places = np.random.RandomState(0).uniform(size=(2, N_PAIRS))
        first, second = np.minimum(np.searchsorted(ends, places), len(sample) - 1)
        pair_weights = np.ones(N_PAIRS)
    sq_dist = _sq_distances(sample.rows, first, second)
    order = np.argsort(sq_dist)
    order = order[sq_dist[order] > 0]
    if len(order) == 0:
        return 1.0
    share = np.cumsum(pair_weights[order])
    return float(sq_dist[order[np.searchsorted(share, share[-1] / 2 * (1 - 1e-9))]])


def _sq_distances(rows: FloatArray, first: np.ndarray, second: np.ndarray) -> FloatArray:
    """Squared distances of pairs of rows, some pairs at a time: rows may be long."""
    found = np.empty(len(first))
    for start in range(0, len(first), PAIRS_AT_A_TIME):
        part = slice(start, start + PAIRS_AT_A_TIME)
        found[part] = ((rows[first[part]].astype(np.float64) - rows[second[part]]) ** 2).sum(axis=1)
    return found
