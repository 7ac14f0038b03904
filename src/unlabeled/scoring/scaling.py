"""Units for distances: features standardised or as they are, and a grid of gammas that fits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray, is_on_device, on_device_of
from unlabeled.kernels import Kernel
from unlabeled.samples import PUSample, Sample

#: The grid of gamma, sharpest last, in units of one over the median squared distance. Wide enough for a class boundary
#: far finer than the data (skin colours want 16 to 32) and for many weak features (which want the widest).
RELATIVE_GAMMAS: FloatArray = np.exp2(np.arange(-3, 9))
#: The most pairs of rows that the median distance is taken over.
N_PAIRS = 20_000
PAIRS_AT_A_TIME = 1_000
#: Features that were standardised before have mean 0 and variance 1 up to this.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Scaling:
    """Features minus a center, divided by a scale; None leaves them as they are."""

    name: str
    center: FloatArray | None = None
    scale: FloatArray | None = None

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows in these units, in the precision they came in."""
        if self.center is None or self.scale is None:
            return rows
        if is_on_device(rows):
            center, scale = on_device_of(rows, self.center), on_device_of(rows, self.scale)
            return ((rows - center) / scale).type(rows.dtype)
        scaled: FloatArray = ((rows - self.center) / self.scale).astype(rows.dtype, copy=False)
        return scaled

    def apply_to_samples(self, pu: PUSample) -> PUSample:
        """Both samples in these units."""
        return pu.mapped(self.apply)

    @property
    def changes_nothing(self) -> bool:
        """Whether these are the units that the features come in, up to rounding."""
        if self.center is None or self.scale is None:
            return True
        return bool((np.abs(self.center) < _ROUNDING).all() and (np.abs(self.scale - 1) < _ROUNDING).all())


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


def different_scalings(names: Sequence[str], pu: PUSample) -> list[Scaling]:
    """The scalings of these names; of those that change nothing, only the first."""
    found: list[Scaling] = []
    for scaling in (SCALINGS[name](pu) for name in names):
        if not (scaling.changes_nothing and any(other.changes_nothing for other in found)):
            found.append(scaling)
    return found


def gamma_grid(pu: PUSample, kernel: Kernel, rng: np.random.RandomState | None = None) -> FloatArray:
    """Gammas around one over the median squared distance of the population's rows, widest kernel first."""
    return np.asarray(kernel.sharpness(RELATIVE_GAMMAS / median_sq_distance(pu.population, rng)), dtype=np.float64)


def median_sq_distance(sample: Sample, rng: np.random.RandomState | None = None) -> float:
    """Median squared distance of different rows: of all pairs where they are few, else of random pairs.

    1 where all rows are alike. A weight of 2 counts as the row twice. Without ``rng`` the pairs are always the
    same places in the table.
    """
    first, second, weights = _pairs(sample, rng)
    sq_dist = _sq_distances(sample.rows, first, second)
    order = np.argsort(sq_dist)
    order = order[sq_dist[order] > 0]
    if len(order) == 0:
        return 1.0
    share = np.cumsum(weights[order])
    return float(sq_dist[order[np.searchsorted(share, share[-1] / 2 * (1 - 1e-9))]])


def _pairs(sample: Sample, rng: np.random.RandomState | None) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """Pairs of rows, and how often each counts."""
    weights, n_rows = sample.weights, len(sample)
    n_observations = float(n_rows) if rng is not None else sample.total
    if n_observations * (n_observations - 1) / 2 <= N_PAIRS:
        first, second = np.triu_indices(n_rows, 1)
    elif rng is not None:
        first, second = rng.randint(n_rows, size=(2, N_PAIRS))
    else:  # pairs of observations and not of rows, so that weights and repeated rows give the same result
        ends = np.cumsum(weights) / weights.sum()
        places = np.random.RandomState(0).uniform(size=(2, N_PAIRS))
        first, second = np.minimum(np.searchsorted(ends, places), n_rows - 1)
        return first, second, np.ones(N_PAIRS)
    return first, second, weights[first] * weights[second]


def _sq_distances(rows: FloatArray, first: np.ndarray, second: np.ndarray) -> FloatArray:
    """Squared distances of pairs of rows, some pairs at a time: rows may be long."""
    found = np.empty(len(first))
    for start in range(0, len(first), PAIRS_AT_A_TIME):
        part = slice(start, start + PAIRS_AT_A_TIME)
        found[part] = ((rows[first[part]].astype(np.float64) - rows[second[part]]) ** 2).sum(axis=1)
    return found
