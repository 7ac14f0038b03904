"""Which columns the scores depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from unlabeled.arrays import FloatArray
from unlabeled.displays.decision_boundary import filled
from unlabeled.frames import is_frame
from unlabeled.reports.subject import Subject, TableRows

#: Rows that are scored anew for all columns together, and the most and fewest for each.
ROWS_IN_ALL, MOST_ROWS, FEWEST_ROWS = 12_000, 400, 40
#: Of a wider table so many columns are tried: those that go most with the score.
MOST_COLUMNS = 150


@dataclass(frozen=True)
class Importance:
    """How much scores change on average when the values of a column are dealt out anew, in their standard deviations.

    Nothing is learned anew: it is what this model looks at, not what could be learned without the column.
    """

    column: str
    change: float


def importances(subject: Subject) -> list[Importance]:
    """Of every column, the largest first; none without a table, for a sparse one, or for texts."""
    rows = subject.rows
    if rows is None or issparse(rows.X) or len(rows.X.shape) == 1:
        return []
    names = _tried(subject, rows)
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


def used_columns(subject: Subject, rows: TableRows) -> list[str]:
    """The columns of the table that the model uses."""
    used = set(subject.columns.names)
    return [name for name in rows.names if name in used]


def _tried(subject: Subject, rows: TableRows) -> list[str]:
    """All columns, or of a wide table some."""
    names = used_columns(subject, rows)
    if len(names) <= MOST_COLUMNS:
        return names
    n_features, strengths = rows.features.shape[1], np.zeros(0)
    if subject.encoder is not None:
        strengths = subject.encoder.by_column(_with_score(rows))
    elif n_features == len(rows.names) and not issparse(rows.features):
        strengths = _with_score(rows)
    if len(strengths) != len(subject.columns.all):
        return names[:MOST_COLUMNS]  # a step of the user's own makes features: nobody knows of which column
    strength = {column.name: value for column, value in zip(subject.columns.all, strengths, strict=True)}
    chosen = set(sorted(names, key=lambda name: -strength[name])[:MOST_COLUMNS])
    return [name for name in names if name in chosen]


def _with_score(rows: TableRows) -> FloatArray:
    """For each feature the size of its correlation with the margins."""
    values = filled(rows.features)
    values, margins = values - values.mean(axis=0), rows.margins - rows.margins.mean()
    sizes = np.linalg.norm(values, axis=0) * np.linalg.norm(margins)
    return np.asarray(np.abs(margins @ values) / np.where(sizes > 0, sizes, 1))


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
