"""Features in at most 255 steps, found once for all folds: finer steps boosted trees do not see.

scikit-learn finds such steps in every fit, and with weights in a slow way: nine tenths of a small fit. A feature of few
values it leaves as it is, so that one that is in steps already costs it nothing.

Steps are quantiles of the rows by their frequencies; a missing value (NaN) stays one, which trees have a side for at
every split. Steps know no labels, so that scores of rows by fits without these
rows stay honest although all rows take part here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.samples import some_rows

#: As many steps as scikit-learn's boosted trees have.
MOST_STEPS = 255
#: The most rows that quantiles are found from.
MOST_ROWS = 200_000
#: A feature with fewer values may have none in some fold, and scikit-learn fits no trees to a feature without values.
FEWEST_VALUES = 100


@dataclass(frozen=True)
class Steps:
    """For each feature the upper ends of all steps but the last; None where it has few values and stays as it is.

    ``missing`` (n_features,) is what stands for a missing value: NaN or, where nearly all values are missing, a number
    below all others. None: always NaN.
    """

    ends: tuple[FloatArray | None, ...]
    missing: FloatArray | None = None

    @classmethod
    def of(cls, rows: FloatArray, weights: FloatArray) -> Steps:
        """Steps that hold equal shares of the rows, each row counted by its weight."""
        some = some_rows(len(rows), MOST_ROWS, np.random.RandomState(0))
        chosen = rows[some].T
        missing = np.array([_missing(feature, weights[some]) for feature in chosen])
        return cls(tuple(_ends(feature, weights[some]) for feature in chosen), missing)

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows with the number of the step in place of a feature."""
        stepped = rows.astype(np.float64)
        for place, ends in enumerate(self.ends):
            if ends is not None:
                stepped[:, place] = np.searchsorted(ends, rows[:, place])
        missing = np.isnan(rows)
        if missing.any():
            stepped[missing] = np.nan if self.missing is None else np.broadcast_to(self.missing, rows.shape)[missing]
        return stepped


def _missing(feature: FloatArray, weights: FloatArray) -> float:
    """What stands for a missing value of a feature."""
    present = ~np.isnan(feature)
    if present.all() or weights[present].sum() >= FEWEST_VALUES:
        return float("nan")
    lowest = float(feature[present].min()) if present.any() else 0.0
    return float(max(lowest - max(1.0, abs(lowest)), -np.finfo(np.float64).max))


def _ends(feature: FloatArray, weights: FloatArray) -> FloatArray | None:
    present = ~np.isnan(feature)
    ordered, up_to = _ordered(feature[present].astype(np.float64), weights[present])
    if np.count_nonzero(np.diff(ordered)) < MOST_STEPS:
        return None
    shares = np.arange(1, MOST_STEPS) / MOST_STEPS * up_to[-1]
    # Where a share ends exactly at a row, halfway to the next one.
    low = np.searchsorted(up_to, shares * (1 - 1e-12))
    high = np.minimum(np.searchsorted(up_to, shares * (1 + 1e-12), side="right"), len(ordered) - 1)
    return np.unique((ordered[low] + ordered[high]) / 2)


def _ordered(feature: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A feature in ascending order, and the weight up to each of its values."""
    if (weights == 1).all():  # sorting is several times as fast as finding the order
        return np.sort(feature), np.arange(1.0, len(feature) + 1)
    order = np.argsort(feature, kind="stable")
    return feature[order], np.cumsum(weights[order])
