"""A table read for learning: labels found, columns understood, features made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.stages import stage
from unlabeled.tables import Columns, Labels, Table, TableEncoder, TableError, find_columns, find_labels

#: What known negatives are to a classifier.
NEGATIVE = -1


@dataclass(frozen=True)
class LearningTable:
    """A table with labels, a fitted encoder of its columns, and the features (n_rows, n_features) it makes."""

    source: Table
    frame: pl.DataFrame
    labels: Labels
    encoder: TableEncoder
    features: FloatArray

    @property
    def columns(self) -> Columns:
        """What the columns are."""
        return self.encoder.columns_

    @property
    def y(self) -> np.ndarray:
        """1 for labelled positives, 0 for unlabeled rows, `NEGATIVE` for rows that are known to be negative."""
        y = self.labels.is_positive.astype(int)
        if self.labels.is_negative is not None:
            y[self.labels.is_negative] = NEGATIVE
        return y

    def two_samples(self, scenario: str) -> tuple[FloatArray, np.ndarray]:
        """Features and labels, 1 and 0, of the rows of both samples: known negatives are of a single sample only."""
        counts = (self.y != NEGATIVE) | (scenario == "single-sample")
        return self.features[counts], self.labels.is_positive.astype(int)[counts]

    @property
    def labelled_share(self) -> float:
        """Share of the rows that is labelled."""
        return self.labels.n_positive / len(self.frame)

    def describe(self) -> str:
        """What was read, in a line."""
        n_rows, n_columns = self.frame.shape
        return f"{self.source.name}: {self.source.format.in_words}, {n_rows:,} rows, {n_columns:,} columns"


def read_learning_table(
    path: Path,
    label: str,
    positive: str | None,
    *,
    negative: str | None = None,
    kinds: Mapping[str, str],
    decimal: str | None = None,
    encoding: str | None = None,
) -> LearningTable:
    """Read a table and make features of its columns; ``kinds`` and ``decimal`` are those of `find_columns`."""
    table = Table.open(path, encoding=encoding)
    frame = table.read()
    if label in table.header.renamed.values():
        raise TableError(f"{table.name} has two columns called {label!r}. Rename the one that marks no positives.")
    labels = find_labels(frame, label, positive, negative)
    with stage("columns"):
        columns = find_columns(frame.drop(label), kinds=kinds, decimal=decimal, first_line=table.first_line)
    if not columns.used:
        reasons = "; ".join(f"{column.name}: {column.note}" for column in columns.all[:5]) or "there is only the label"
        raise TableError(f"No column of {table.name} says anything about its rows ({reasons}).")
    encoder = TableEncoder(kinds, decimal=decimal)
    with stage("features"):
        features = encoder.fit_columns(frame, columns)
    return LearningTable(table, frame, labels, encoder, features)
