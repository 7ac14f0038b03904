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
from functools import partial

import numpy as np
from scipy.sparse import dia_array, issparse
from sklearn.decomposition import TruncatedSVD

from unlabeled.arrays import FloatArray, has_missing, is_on_device, on_host, row_blocks
from unlabeled.samples import PUSample, Sample, some_rows, stacked

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
        rows, weights = population.rows_of(some), population.weights_of(some)
        medians = np.array([median(feature, weights) for feature in rows.T])
        for place in np.flatnonzero(np.isnan(medians)):
            medians[place] = median(pu.positive.rows[:, place], pu.positive.weights)
        empty = np.isnan(medians)
        told = np.flatnonzero((n_missing > 0) & ~empty)
        scales = center_and_scale_of(population)[1][told] if len(told) else np.zeros(0)
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
            weighed = dia_array((roots[None], [0]), shape=(len(roots), len(roots))) @ rows
            return cls(svd.fit(weighed).components_.T.astype(np.float64))

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
    return center_and_scale_of(Sample(rows, np.log(weights)))


def center_and_scale_of(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """The same over the rows of a sample, wherever they are."""
    found = sample.reduced(Ranges.of, Ranges.merged)
    largest = found.largest
    squares = sample.reduced(partial(_sums_of_squares, center=found.center, largest=largest), np.add)
    present = found.weights > 0
    scale = np.ones(len(squares))
    scale[present] = largest[present] * np.sqrt(squares[present] / found.weights[present])
    scale[scale <= 1e-12 * np.abs(found.center)] = 1  # constant, up to rounding
    scale[scale == 0] = 1
    return found.center, scale


@dataclass(frozen=True)
class Ranges:
    """Of each feature: the weight of the rows that have it, their mean, smallest and largest value."""

    weights: FloatArray
    center: FloatArray  # 0 where no row has the feature
    low: FloatArray  # and infinity
    high: FloatArray  # and minus infinity

    @classmethod
    def of(cls, part: Sample, start: int = 0) -> Ranges:  # noqa: ARG003
        """In float64, and some rows at a time."""
        rows, weights = part.rows, part.weights
        if not has_missing(rows):
            return cls(*_ranges(rows, weights))
        columns = []
        for place, absent in enumerate(np.isnan(rows).T):
            columns.append(_ranges(rows[~absent, place : place + 1], weights[~absent]))
        return cls(*(np.concatenate(found) for found in zip(*columns, strict=True)))

    def merged(self, other: Ranges) -> Ranges:
        """The ranges of both parts."""
        weights = self.weights + other.weights
        share = np.divide(other.weights, weights, out=np.zeros(len(weights)), where=weights > 0)
        center = self.center * (1 - share) + other.center * share  # and not a difference, which might overflow
        return Ranges(weights, center, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def largest(self) -> FloatArray:
        """The largest distance from the mean; 1 where there is none: what squares are taken in units of."""
        largest = np.where(self.weights > 0, np.maximum(self.high - self.center, self.center - self.low), 0)
        largest[largest == 0] = 1
        return largest


def _ranges(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    d, total = rows.shape[1], weights.sum()
    center = np.zeros(d)
    for block in row_blocks(rows):
        center += weights[block] @ rows[block].astype(np.float64, copy=False) / total
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    if len(rows):
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    return np.full(d, total, dtype=np.float64), center, low, high


def _sums_of_squares(part: Sample, start: int, center: FloatArray, largest: FloatArray) -> FloatArray:  # noqa: ARG001
    """Of the distances from the mean, in units of the largest: squares might overflow."""
    rows, weights = part.rows, part.weights
    if not has_missing(rows):
        return _squares(rows, weights, center, largest)
    found = np.zeros(rows.shape[1])
    for place, absent in enumerate(np.isnan(rows).T):
        one = slice(place, place + 1)
        found[one] = _squares(rows[~absent, one], weights[~absent], center[one], largest[one])
    return found


def _squares(rows: FloatArray, weights: FloatArray, center: FloatArray, largest: FloatArray) -> FloatArray:
    squares = np.zeros(rows.shape[1])
    for block in row_blocks(rows):
        squares += weights[block] @ ((rows[block] - center) / largest) ** 2
    return squares
