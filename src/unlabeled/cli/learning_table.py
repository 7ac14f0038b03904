"""A table read for learning: labels found, columns understood, features made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.frame)

    @property
    def labelled_share(self) -> float:
        """Share of the rows that is labelled."""
        return self.labels.n_positive / self.n_rows

    @property
    def notes(self) -> list[str]:
        """What was guessed or changed to read it, and how it was read, for people to know."""
        return self.source.notes

    def describe(self) -> str:
        """What was read, in a line."""
        n_columns = self.frame.shape[1]
        return f"{self.source.name}: {self.source.format.in_words}, {self.n_rows:,} rows, {n_columns:,} columns"


def read_learning_table(
    table: Table,
    label: str,
    positive: str | None,
    *,
    negative: str | None = None,
    kinds: Mapping[str, str],
    decimal: str | None = None,
) -> LearningTable:
    """Read a table and make features of its columns; ``kinds`` and ``decimal`` are those of `find_columns`."""
    frame = table.read()
    if label in table.header.renamed.values():
        raise TableError(f"{table.name} has two columns called {label!r}. Rename the one that marks no positives.")
    labels = find_labels(frame, label, positive, negative)
    encoder, features = understood(table, frame, label, kinds, decimal)
    return LearningTable(table, frame, labels, encoder, features)


def understood(
    table: Table,
    frame: pl.DataFrame,
    label: str,
    kinds: Mapping[str, str],
    decimal: str | None,
    counting: Sequence[str] = (),
) -> tuple[TableEncoder, FloatArray]:
    """A fitted encoder of the columns of a table but its label, and features of the rows that it was fitted to.

    Columns that count the rows of the table are known beforehand where its rows are not all here.
    """
    known = {**dict.fromkeys(counting, "identifier"), **kinds}
    with stage("columns"):
        columns = find_columns(frame.drop(label), kinds=known, decimal=decimal, first_line=table.first_line)
    note = "left out: a different whole number in every row"
    columns = Columns(tuple(replace(one, note=note) if one.name in counting else one for one in columns.all))
    if not columns.used:
        reasons = "; ".join(f"{column.name}: {column.note}" for column in columns.all[:5]) or "there is only the label"
        raise TableError(f"No column of {table.name} says anything about its rows ({reasons}).")
    encoder = TableEncoder(kinds, decimal=decimal)
    with stage("features"):
        features = encoder.fit_columns(frame, columns)
    return encoder, features
