"""A table read for learning: labels found, columns understood, features made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.tables import Columns, Labels, Table, TableError, encode, find_columns, find_labels
from unlabeled.tables.labels import check_column


@dataclass(frozen=True)
class LearningTable:
    """A table with labels, its columns, a fitted encoder, and the features (n_rows, n_features) it makes."""

    source: Table
    frame: pl.DataFrame
    labels: Labels
    columns: Columns
    encoder: Any
    features: FloatArray

    @property
    def y(self) -> np.ndarray:
        """1 for labelled positives, 0 for unlabeled rows."""
        return self.labels.is_positive.astype(int)

    @property
    def labelled_share(self) -> float:
        """Share of the rows that is labelled."""
        return self.labels.n_positive / len(self.frame)

    def describe(self) -> str:
        """What was read, in a line."""
        n_rows, n_columns = self.frame.shape
        return f"{self.source.path}: {self.source.format.name}, {n_rows:,} rows, {n_columns:,} columns"


def read_learning_table(
    path: Path,
    label: str,
    positive: str | None,
    *,
    categories: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> LearningTable:
    """Read a table and make features of its columns; the last three name columns, see `unlabeled fit --help`."""
    table = Table.open(path)
    frame = table.read()
    labels = find_labels(frame, label, positive)
    for name in (*categories, *identifiers, *drop):
        check_column(name, frame.columns)
    columns = find_columns(
        frame.drop([label, *drop], strict=False),
        categories=categories,
        identifiers=identifiers,
        first_line=table.first_line,
    )
    if not columns.used:
        reasons = "; ".join(f"{column.name}: {column.note}" for column in columns.all[:5]) or "there is only the label"
        raise TableError(f"No column of {path} says anything about its rows ({reasons}).")
    encoder, features = encode(columns, frame)
    return LearningTable(table, frame, labels, columns, encoder, features)
