"""What the columns of a table look like, in a few numbers that a model can keep; and how far another table is off.

Numbers and dates are counted between deciles of the first table, categories by value, and missing values for
themselves. Two tables are compared by the population stability index, sum (q - p) log(q / p) over these cells: 0 for
equal shares, and some speak of a shift from 0.1 and of a large one from 0.25. Chance alone makes it about (k - 1) (1/n
+ 1/m) for k cells and n and m rows; what is told to have shifted is beyond that too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import chi2

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import SCALED, Column, Columns

#: Cells of a number, and the most of a category; the rest is one more.
N_CELLS, MOST_CATEGORIES = 10, 20
#: An index from which a column is told to have shifted.
SHIFTED = 0.25
#: A table of more columns keeps those of the first only.
MOST_COLUMNS = 500
_LEVEL = 0.001
#: Added to every share, so that an empty cell is no infinity.
_FLOOR = 1e-4


@dataclass(frozen=True)
class ColumnProfile:
    """Shares of the cells of a column: between ``edges`` (of numbers), or of codes 0, 1, ...; then others, missing."""

    name: str
    kind: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    n_rows: int

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        shares = [round(share, 6) for share in self.shares]
        return {
            "name": self.name,
            "kind": self.kind,
            "edges": list(self.edges),
            "shares": shares,
            "n_rows": self.n_rows,
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> ColumnProfile:
        """What `as_dict` wrote."""
        return cls(entry["name"], entry["kind"], tuple(entry["edges"]), tuple(entry["shares"]), entry["n_rows"])


@dataclass(frozen=True)
class Shift:
    """How far a column is off: the index, whether that is beyond chance and large, and shares in both tables."""

    name: str
    index: float
    is_clear: bool
    before: tuple[float, ...]
    after: tuple[float, ...]


def profile(frame: pl.DataFrame, columns: Columns) -> list[ColumnProfile]:
    """The columns of a table that become one number each; texts are left out."""
    columns = Columns(tuple(column for column in columns.all if column.kind != "text")[:MOST_COLUMNS])
    if not columns.coded or not len(frame):
        return []
    matrix, _ = columns.matrix(frame)
    return [_profile(column, values) for column, values in zip(columns.coded, matrix.T, strict=True)]


def _profile(column: Column, values: FloatArray) -> ColumnProfile:
    edges: FloatArray = np.array([])
    if column.kind in SCALED:
        known = values[~np.isnan(values)]
        edges = np.unique(np.quantile(known, np.arange(1, N_CELLS) / N_CELLS)) if len(known) else edges
    kind = "scale" if column.kind in SCALED else "codes"
    return ColumnProfile(
        column.name, kind, tuple(map(float, edges)), tuple(map(float, _shares(kind, edges, values))), len(values)
    )


def _shares(kind: str, edges: Sequence[float] | FloatArray, values: FloatArray) -> FloatArray:
    missing = np.isnan(values)
    known = values[~missing]
    if kind == "scale":
        counts = np.bincount(np.searchsorted(edges, known, side="left"), minlength=len(edges) + 1)
    else:
        codes = np.where((known < 0) | (known >= MOST_CATEGORIES), MOST_CATEGORIES, known).astype(int)
        counts = np.bincount(codes, minlength=MOST_CATEGORIES + 1)
    return np.append(counts, missing.sum()) / max(len(values), 1)


def shifts(before: Sequence[ColumnProfile], frame: pl.DataFrame, columns: Columns) -> list[Shift]:
    """How far each column of a table is off its profile, the farthest first."""
    known = {entry.name: entry for entry in before}
    kept = Columns(tuple(column for column in columns.all if column.name in known))
    if not kept.coded or not len(frame):
        return []
    matrix, _ = kept.matrix(frame)
    found = [
        _shift(known[column.name], values, len(kept.coded)) for column, values in zip(kept.coded, matrix.T, strict=True)
    ]
    return sorted(found, key=lambda shift: -shift.index)


def _shift(before: ColumnProfile, values: FloatArray, n_columns: int) -> Shift:
    after = _shares(before.kind, before.edges, values)
    p, q = np.array(before.shares) + _FLOOR, after + _FLOOR
    occupied = (np.array(before.shares) > 0) | (after > 0)
    index = float(((q - p) * np.log(q / p))[occupied].sum())
    degrees = max(int(occupied.sum()) - 1, 1)
    by_chance = chi2.isf(_LEVEL / n_columns, degrees) * (1 / before.n_rows + 1 / max(len(values), 1))
    is_clear = index > max(SHIFTED, float(by_chance))
    return Shift(before.name, index, is_clear, before.shares, tuple(map(float, after)))
