"""Landmarks: some rows that stand for all, and the features of a kernel's space that they span.

A function of the space that is a sum of kernels at n rows takes n kernels to evaluate and n^3 operations to find. As
a sum of kernels at m landmarks it takes m, and n m^2. Landmarks are chosen without labels, so that scores of rows that
are left out stay honest although the row itself may be a landmark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from unlabeled.arrays import FloatArray, beside
from unlabeled.engines import kernel_matrix
from unlabeled.engines.matrices import solve_lower, squared_distances
from unlabeled.kernels import Kernel, Linear
from unlabeled.samples import PUSample, order_by_values, some_rows

#: The most numbers that landmarks are chosen among: rows times features.
MOST_NUMBERS = 500_000
#: But never so few rows for each landmark.
ROWS_A_LANDMARK = 4
#: Added to the diagonal of the landmarks' Gram matrix, in units of its mean: directions below that are rounding.
JITTER = 1e-10
#: Rows are chosen as if none were farther than that from their middle, in any feature.
_FARTHEST = 1e100
#: Kernel values held at once (8 bytes each).
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Landmarks:
    """Rows that stand for all, in some units: which they are, and the share of all rows that each stands for.

    ``places`` are among the positives and, counted on from these, the unlabeled rows.
    """

    places: np.ndarray
    rows: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, pu: PUSample, at_most: int) -> Landmarks:
        """All different rows where they are few enough, else a choice of some that lie apart.

        That is k-means++ (Arthur and Vassilvitskii, 2007): each is drawn with a probability in proportion to its
        squared distance from those before. The draws are always the same, of the rows in the order of their values:
        neither labels nor the order of the rows matter, and a weight of 2 is the row twice. (Where there are more
        numbers than `MOST_NUMBERS`, some rows are looked at, by their place.)
        """
        rows = np.concatenate([pu.positive.rows, pu.unlabeled.rows]).astype(np.float64, copy=False)
        weights = np.concatenate([pu.positive.weights, pu.unlabeled.weights])
        n_looked_at = max(MOST_NUMBERS // rows.shape[1], ROWS_A_LANDMARK * at_most)
        places = some_rows(len(rows), n_looked_at, np.random.RandomState(0))
        places, weights = _different(rows, weights, places)
        rows = rows[places]
        if len(places) > at_most:
            chosen = _plus_plus(rows, weights, at_most)
            nearest = squared_distances(rows, rows[chosen]).argmin(axis=1)
            weights = np.bincount(nearest, weights, len(chosen)).astype(np.float64)
            places, rows = places[chosen], rows[chosen]
        return cls(places, rows, weights / weights.sum())

    def with_rows(self, rows: FloatArray) -> Landmarks:
        """The same in other units."""
        return replace(self, rows=rows)


def _different(rows: FloatArray, weights: FloatArray, places: np.ndarray) -> tuple[np.ndarray, FloatArray]:
    """One place for each different row, in the order of the values, and the weight of all its copies."""
    places = places[order_by_values(rows[places])]
    ordered = rows[places]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    return places[is_new], np.bincount(np.cumsum(is_new) - 1, weights[places]).astype(np.float64)


def _plus_plus(rows: FloatArray, weights: FloatArray, n_chosen: int) -> np.ndarray:
    """Places of the rows that k-means++ draws, in ascending order."""
    draws = np.random.RandomState(0).uniform(size=n_chosen)
    # Around their middle, which one row far away does not move, and no farther than can be squared.
    rows = np.clip(rows - np.median(rows, axis=0), -_FARTHEST, _FARTHEST)
    norms = np.einsum("ij,ij->i", rows, rows)
    sq_dist, chosen = np.ones(len(rows)), []
    for draw in draws:
        ends = np.cumsum(weights * sq_dist)
        chosen.append(min(int(np.searchsorted(ends, draw * ends[-1], side="right")), len(rows) - 1))
        new = chosen[-1]
        to_new = np.maximum(norms + norms[new] - 2 * (rows @ rows[new]), 0)
        to_new[new] = 0
        sq_dist = np.minimum(sq_dist, to_new) if len(chosen) > 1 else to_new
    return np.unique(chosen)


class Features(Protocol):
    """Coordinates of rows in a space of functions that are sums of kernels at the landmarks.

    Their inner product is the kernel of that space, and a function of it is the inner product with a direction.
    Coordinates of rows on a card are on that card.
    """

    @property
    def landmarks(self) -> FloatArray:
        """The rows that kernels are centred at."""

    @property
    def kernel(self) -> Kernel | Linear:
        """The kernel."""

    @property
    def gamma(self) -> float | None:
        """Its gamma; None for the linear kernel."""

    def of(self, rows: FloatArray) -> FloatArray:
        """Coordinates of rows (n_rows, n_landmarks)."""

    def coefficients(self, direction: FloatArray) -> FloatArray:
        """What to multiply the kernels at the landmarks by, for the function that is this direction's inner product."""


@dataclass(frozen=True)
class PlainFeatures:
    """The kernel's own space, projected on what the landmarks span (the Nystrom method).

    Exact where all rows are landmarks, up to `JITTER`.
    """

    landmarks: FloatArray
    kernel: Kernel | Linear
    gamma: float | None
    lower: FloatArray  # its product with its transpose is the landmarks' Gram matrix

    @classmethod
    def at(cls, landmarks: Landmarks, kernel: Kernel | Linear, gamma: float | None) -> PlainFeatures:
        """The features for one gamma; None for the linear kernel."""
        gram = _matrix(landmarks.rows, landmarks.rows, kernel, gamma)
        gram[np.diag_indices_from(gram)] += JITTER * (np.trace(gram) / len(gram) or 1.0)
        return cls(landmarks.rows, kernel, gamma, cholesky(gram, lower=True))

    def of(self, rows: FloatArray) -> FloatArray:
        """Coordinates of rows (n_rows, n_landmarks)."""
        found: FloatArray = solve_lower(self.lower, _matrix(self.landmarks, rows, self.kernel, self.gamma)).T
        return found

    def coefficients(self, direction: FloatArray) -> FloatArray:
        """What to multiply the kernels at the landmarks by, for the function that is this direction's inner product."""
        return np.asarray(solve_triangular(self.lower, direction, lower=True, trans="T"))


@dataclass(frozen=True)
class TwoStepFeatures:
    """The space of the kernel in two steps, from a row to any row z and on: the mean over z of k(x, z) k(z, y).

    Unlike k(x, x), its value at x and x says how dense rows are around x. So a class that lies where rows are dense, or
    where they are not, is set apart by the plainest functions of the space.
    """

    landmarks: FloatArray
    kernel: Kernel | Linear
    gamma: float | None
    roots: FloatArray  # of the shares that the landmarks stand for

    @classmethod
    def at(cls, landmarks: Landmarks, kernel: Kernel | Linear, gamma: float | None) -> TwoStepFeatures:
        """The features for one gamma of the kernel of one step."""
        return cls(landmarks.rows, kernel, gamma, np.sqrt(landmarks.shares))

    def of(self, rows: FloatArray) -> FloatArray:
        """Coordinates of rows (n_rows, n_landmarks)."""
        values = _matrix(rows, self.landmarks, self.kernel, self.gamma)
        found: FloatArray = values * beside(values, self.roots)
        return found

    def coefficients(self, direction: FloatArray) -> FloatArray:
        """What to multiply the kernels at the landmarks by, for the function that is this direction's inner product."""
        return self.roots * direction


def chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut rows into parts whose matrices fit into memory."""
    step = max(1, _CHUNK // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _matrix(queries: FloatArray, points: FloatArray, kernel: Kernel | Linear, gamma: float | None) -> FloatArray:
    found: FloatArray = kernel_matrix(queries, points, kernel, None if gamma is None else np.array([gamma]))[0]
    return found
