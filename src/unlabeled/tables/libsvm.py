"""Rows of LIBSVM files; columns are called by their index in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path

import polars as pl
from sklearn.datasets import load_svmlight_file

from unlabeled.tables.errors import TableError

#: What LIBSVM's first field is called.
LIBSVM_LABEL = "label"


def libsvm_batches(path: Path, n_rows: int, name: str) -> Iterator[pl.DataFrame]:
    """Label and columns of some rows at a time; a column without any value in them is not there."""
    with path.open("rb") as file:
        n_before = 0
        while lines := list(islice(file, n_rows)):
            try:
                sparse, labels = load_svmlight_file(BytesIO(b"".join(lines)), zero_based=True)
            except ValueError as error:
                place = f"lines {n_before + 1} to {n_before + len(lines)}"
                raise TableError(f"{name} cannot be read as LIBSVM: {place}: {error}.") from error
            n_before += len(lines)
            values = {str(j): column for j, column in enumerate(sparse.toarray().T) if j > 0 or column.any()}
            yield pl.DataFrame({LIBSVM_LABEL: labels} | values)


def libsvm_columns(path: Path, names: Sequence[str], n_rows: int, name: str) -> Iterator[pl.DataFrame]:
    """Some columns of some rows at a time; LIBSVM leaves zeros out."""
    for batch in libsvm_batches(path, n_rows, name):
        absent = [column for column in names if column not in batch.columns]
        yield batch.with_columns(pl.lit(0.0).alias(column) for column in absent).select(names)
