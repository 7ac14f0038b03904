"""In which columns the labelled positives differ from the probable positives among the unlabeled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import norm

from unlabeled.arrays import FloatArray
from unlabeled.samples import Sample

COLUMNS_AT_ONCE = 256


@dataclass(frozen=True)
class ColumnDifference:
    """A column's mean among the labelled positives less that among the probable positives, in standard deviations.

    ``standard_error`` is of the difference, both samples being small; ``is_clear`` where it cannot well be chance, all
    columns taken into account.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.bias import ScarTest
    >>> test = ScarTest(prior=0.5).fit(data.X, data.y)
    >>> sorted(column.name for column in test.columns_)
    ['column 0', 'column 1']
    """

    name: str
    difference: float
    standard_error: float
    is_clear: bool

    def __str__(self) -> str:
        return f"{self.name} ({self.difference:+.2f} standard deviations)"


def column_differences(
    labelled: Sample, unlabeled: Sample, probabilities: FloatArray, names: Sequence[str]
) -> tuple[ColumnDifference, ...]:
    """All columns, largest difference first; the unlabeled rows count by their probabilities of being positive.

    Units are the standard deviation of both together. With probabilities as weights, the unlabeled rows count for
    fewer: (sum of weights)^2 / (sum of squared weights).
    """
    weights = labelled.weights, unlabeled.weights * probabilities
    counts = [total**2 / np.sum(w**2) for w in weights if (total := w.sum()) > 0]
    if len(counts) < 2:
        return ()
    (mean, variance), (other_mean, other_variance) = (
        _moments(sample.rows, w) for sample, w in zip((labelled, unlabeled), weights, strict=True)
    )
    spread = np.sqrt((variance + other_variance) / 2)
    differences = (mean - other_mean) / np.where(spread > 0, spread, 1)
    error = float(np.sqrt(1 / counts[0] + 1 / counts[1]))
    limit = norm.isf(0.025 / len(names)) * error
    found = [
        ColumnDifference(str(name), float(d), error, bool(abs(d) > limit))
        for name, d in zip(names, np.nan_to_num(differences), strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.difference)))


def _moments(rows: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column, missing values left out."""
    if issparse(rows):
        mass = weights / weights.sum()
        mean = np.asarray(mass @ rows)
        return mean, np.maximum(np.asarray(mass @ rows.power(2)) - mean**2, 0)
    starts = range(0, rows.shape[1], COLUMNS_AT_ONCE)  # a wide table should not be in memory several times over
    blocks = [_dense_moments(rows[:, start : start + COLUMNS_AT_ONCE], weights) for start in starts]
    return np.concatenate([mean for mean, _ in blocks]), np.concatenate([variance for _, variance in blocks])


def _dense_moments(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    present = ~np.isnan(rows)
    mass = present * weights[:, None]
    mass = mass / np.maximum(mass.sum(axis=0), np.finfo(np.float64).tiny)
    values = np.where(present, rows, 0.0)
    mean = np.sum(mass * values, axis=0)
    return mean, np.sum(mass * (values - mean) ** 2, axis=0)
