"""Which columns the scores depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from unlabeled.frames import is_frame
from unlabeled.reports.subject import Subject

#: Rows that are scored anew for all columns together, and the most and fewest for each.
ROWS_IN_ALL, MOST_ROWS, FEWEST_ROWS = 12_000, 400, 40
#: Of a wider table these many columns are tried, those whose means differ most between flagged and other rows.
MOST_COLUMNS = 150


@dataclass(frozen=True)
class Importance:
    """How much scores change on average when the values of a column are dealt out anew, in their standard deviations.

    Nothing is learned anew: it is what this model looks at, not what could be learned without the column.
    """

    column: str
    change: float


def importances(subject: Subject) -> list[Importance]:
    """Of every column, the largest first; none without a table, or for a sparse one."""
    rows = subject.rows
    if rows is None or issparse(rows.X):
        return []
    names = [name for name in rows.names if name in set(subject.columns.names)]
    if len(names) > MOST_COLUMNS:
        names = names[:MOST_COLUMNS]
    rng = np.random.RandomState(0)
    n_rows = int(np.clip(ROWS_IN_ALL // max(len(names), 1), FEWEST_ROWS, MOST_ROWS))
    places = np.sort(rng.permutation(len(rows.numbers))[:n_rows])
    some, before = rows.some(places), rows.margins[places]
    spread = float(rows.margins.std()) or 1.0
    order = rng.permutation(len(places))
    found = []
    for name in names:
        dealt = _dealt(some, name, rows.names, order)
        after = subject.margins(subject.features(dealt))
        found.append(Importance(name, float(np.mean(np.abs(after - before))) / spread))
    return sorted(found, key=lambda one: -one.change)


def _dealt(X: Any, name: str, names: tuple[str, ...], order: np.ndarray) -> Any:
    """A table with the values of one column in another order."""
    if hasattr(X, "with_columns"):
        return X.with_columns(X[name].gather(order))
    if is_frame(X):
        dealt = X.copy()
        column = next(label for label in X.columns if str(label) == name)
        dealt[column] = X[column].to_numpy()[order] if X[column].dtype == object else X[column].iloc[order].array
        return dealt
    dealt = np.array(X, copy=True)
    place = names.index(name)
    dealt[:, place] = dealt[order, place]
    return dealt
