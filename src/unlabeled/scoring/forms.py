"""From rows as they come to rows that have distances: missing values filled in, sparse rows made dense and short.

*Missing values.* The median of the feature takes the place of a missing value, and a column more tells where it was
missing, for each feature that had missing values in training. That column jumps by one standard deviation of the
feature (`JUMP`). So in units of the standard deviation two values of a feature are 2 apart on average (squared), a
value and a missing one 1 + 1, two missing ones 0: a missing value is as far from a present one as two present ones are
from each other, however rare it is. In units of its own, the column of a value that is missing once in a thousand rows
would jump by 32 and set such a row apart from all others. And a jump of 2 where half of all values are missing at
random cost distances 6 points of AUC, that of 1 nothing.

*Sparse rows* are projected on their first right singular vectors (scikit-learn's `TruncatedSVD` with a fixed seed),
which keep distances as well as so few columns can: `N_COMPONENTS` of them, but no more than one for each
`ROWS_A_COMPONENT` rows, since with as many directions as rows the rows at hand lie along these and new ones do not.
Rows of no more features than `N_COMPONENTS` are made dense as they are.

Neither knows labels, so that scores without a row stay honest although the row takes part here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import diags_array, issparse
from sklearn.decomposition import TruncatedSVD

from unlabeled.arrays import FloatArray, has_missing, is_on_device, on_host, row_blocks
from unlabeled.samples import PUSample, some_rows, stacked

#: What being missing counts, in standard deviations of the feature.
JUMP = 1.0
#: The most rows that medians are taken over.
MOST_ROWS = 10_000
#: Columns that sparse rows are reduced to; scikit-learn's advice for text. Fewer where rows are few.
N_COMPONENTS = 100
ROWS_A_COMPONENT = 10
FEWEST_COMPONENTS = 10


@dataclass(frozen=True)
class Completion:
    """Medians in place of missing values, and columns that tell where some features are missing.

    Parameters
    ----------
    medians : array of shape (n_features,)
        0 for a feature without any value in training.
    empty : int array
        These features: they are 0 in all rows, whatever new ones have.
    told : int array
        The features whose missing values have a column, in the order of these columns.
    jumps : array of the shape of ``told``
        What the column holds where the value is missing; 0 elsewhere.
    """

    medians: FloatArray
    empty: np.ndarray
    told: np.ndarray
    jumps: FloatArray

    @classmethod
    def of(cls, pu: PUSample) -> Completion:
        """From what the population has of each feature or, where it has nothing, from the positives."""
        n_missing, population = pu.n_missing, pu.population
        some = some_rows(len(population), MOST_ROWS, np.random.RandomState(0))
        rows, weights = population.rows[some], population.weights[some]
        medians = np.array([median(feature, weights) for feature in rows.T])
        for place in np.flatnonzero(np.isnan(medians)):
            medians[place] = median(pu.positive.rows[:, place], pu.positive.weights)
        empty = np.isnan(medians)
        told = np.flatnonzero((n_missing > 0) & ~empty)
        scales = center_and_scale(population.rows[:, told], population.weights)[1]
        return cls(np.where(empty, 0, medians), np.flatnonzero(empty), told, JUMP * scales)

    def apply(self, rows: FloatArray) -> FloatArray:
        """Complete rows, with a column more for each feature that is told."""
        if is_on_device(rows):  # where nothing is missing
            if not (len(self.told) or len(self.empty)):
                return rows
            rows = on_host(rows)
        if not (len(self.told) or len(self.empty) or has_missing(rows)):
            return rows
        missing = np.isnan(rows)
        filled = np.where(missing, self.medians, rows)
        filled[:, self.empty] = 0
        return np.hstack([filled, missing[:, self.told] * self.jumps]).astype(rows.dtype, copy=False)

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Values of the columns as values of features: those of a feature and of its missing values summed up."""
        of_features, of_missing = np.split(values, [len(self.medians)])
        summed = of_features.copy()
        summed[self.told] += of_missing
        return summed


@dataclass(frozen=True)
class Reduction:
    """Sparse rows as their coordinates along some directions (n_features, n_components); None: as they are, dense."""

    components: FloatArray | None

    @classmethod
    def of(cls, pu: PUSample) -> Reduction:
        """The first right singular vectors of all rows, each counted by its weight."""
        samples = pu.positive, pu.unlabeled
        rows = stacked([sample.rows for sample in samples])
        if rows.shape[1] <= N_COMPONENTS:
            return cls(None)
        weights = np.concatenate([sample.weights for sample in samples])
        n_components = max(FEWEST_COMPONENTS, min(N_COMPONENTS, int(weights.sum() / ROWS_A_COMPONENT)))
        svd, roots = TruncatedSVD(min(n_components, *rows.shape), random_state=0), np.sqrt(weights)
        with np.errstate(invalid="ignore", divide="ignore"):  # shares of a variance that may be 0
            return cls(svd.fit(diags_array(roots) @ rows).components_.T.astype(np.float64))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Dense rows of few columns."""
        if not issparse(rows):
            return rows if self.components is None else rows @ self.components
        return rows.toarray() if self.components is None else rows @ self.components  # type: ignore[attr-defined]

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Values of the columns, which are features where these are few and directions otherwise."""
        return values


Form = Completion | Reduction


def form_of(pu: PUSample) -> Form:
    """What makes rows such as these complete and dense."""
    return Reduction.of(pu) if issparse(pu.positive.rows) else Completion.of(pu)


def complete(pu: PUSample) -> PUSample:
    """The same observations without missing values, dense."""
    return pu.mapped(form_of(pu).apply)


def median(values: FloatArray, weights: FloatArray) -> float:
    """Median of those values that are not missing, each counted by its weight; NaN where all are."""
    present = ~np.isnan(values)
    values, weights = values[present].astype(np.float64), weights[present]
    if len(values) == 0:
        return float("nan")
    order = np.argsort(values)
    up_to = np.cumsum(weights[order])
    half = up_to[-1] / 2
    # Where half of the weight ends exactly at a value, halfway to the next one.
    low = np.searchsorted(up_to, half * (1 - 1e-12))
    high = min(np.searchsorted(up_to, half * (1 + 1e-12), side="right"), len(values) - 1)
    return float((values[order[low]] + values[order[high]]) / 2)


def center_and_scale(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each feature over the rows that have it; 0 and 1 for one that none has.

    A constant feature has the scale 1.
    """
    if not has_missing(rows):
        return _center_and_scale(rows, weights)
    missing = np.isnan(rows)
    center, scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    for place, absent in enumerate(missing.T):
        if not absent.all():
            found = _center_and_scale(rows[~absent, place : place + 1], weights[~absent])
            center[place], scale[place] = (of_feature[0] for of_feature in found)
    return center, scale


def _center_and_scale(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """In float64, some rows at a time, and in units of the largest value: squares might overflow."""
    d, total = rows.shape[1], weights.sum()
    center, largest = np.zeros(d), np.zeros(d)
    for block in row_blocks(rows):
        center += weights[block] @ rows[block].astype(np.float64, copy=False) / total
    if len(rows):
        largest = np.maximum(rows.max(axis=0) - center, center - rows.min(axis=0))
    largest[largest == 0] = 1
    squares = np.zeros(d)
    for block in row_blocks(rows):
        squares += weights[block] @ ((rows[block] - center) / largest) ** 2
    scale = largest * np.sqrt(squares / total)
    scale[scale <= 1e-12 * np.abs(center)] = 1  # constant, up to rounding
    scale[scale == 0] = 1
    return center, scale
