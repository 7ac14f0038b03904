"""Tables from files, whole or in batches, through polars.

Text formats come as text: what a column holds is decided by all of its values (`unlabeled.tables.columns`), not by the
first hundred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file

from unlabeled.tables.broken_lines import find_broken_line
from unlabeled.tables.formats import Format, TableError, find_format

#: What LIBSVM's first field is called.
LIBSVM_LABEL = "label"
#: Batches of Parquet that are read at once. Each reading looks through its row group: fewer readings, less time.
_BATCHES_A_SLICE = 4


@dataclass(frozen=True)
class Table:
    """A table in a file: nothing is read but its head."""

    path: Path
    format: Format

    @classmethod
    def open(cls, path: str | Path) -> Table:
        """Find out what a file is."""
        return cls(Path(path), find_format(Path(path)))

    @property
    def first_line(self) -> int:
        """The line of the file that the first row is on, or 1 for formats without lines."""
        return 2 if self.format.kind == "csv" else 1

    @property
    def leaves_out_zeros(self) -> bool:
        """Whether a column that is not there is one of zeros (LIBSVM)."""
        return self.format.kind == "libsvm"

    @property
    def reads_all_columns(self) -> bool:
        """Whether unwanted columns are read too: of CSV, where polars overlooks broken lines if it leaves any out."""
        return self.format.kind == "csv"

    def names(self) -> list[str]:
        """The names of its columns; of LIBSVM, that of the label alone."""
        if self.leaves_out_zeros:
            return [LIBSVM_LABEL]
        with self._explained():
            return self._scan().collect_schema().names()

    def read(self) -> pl.DataFrame:
        """All of it."""
        if self.leaves_out_zeros:
            return pl.concat(self._libsvm_batches(1 << 16), how="diagonal").fill_null(0.0)
        with self._explained():
            frame = self._scan().collect(engine="streaming")
        if self._may_have_short_lines(frame):
            self._refuse_short_lines()
            frame = _without_empty_rows(frame)
        if frame.is_empty():
            self._refuse_no_rows()
        return frame

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Some columns of it, ``n_rows`` rows at a time, in order; only a few batches are in memory at once."""
        if self.leaves_out_zeros:
            yield from self._libsvm_columns(names, n_rows)
            return
        with self._explained():
            is_empty = True
            for chunk in self._checked(self._chunks(names, n_rows)):
                for batch in chunk.iter_slices(n_rows):
                    is_empty = False
                    yield batch.select(names)
        if is_empty:
            self._refuse_no_rows()

    def _chunks(self, names: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """The table in pieces of some batches each."""
        scan = self._scan() if self.reads_all_columns else self._scan().select(names)
        if self.format.kind != "parquet":
            yield from (chunk for chunk in scan.collect_batches(chunk_size=n_rows, maintain_order=True) if len(chunk))
            return
        # Batches of polars are as large as the row groups of the file, which may be all of it; slices are not.
        n_all, n_chunk = self._scan().select(pl.len()).collect().item(), _BATCHES_A_SLICE * n_rows
        for start in range(0, n_all, n_chunk):
            yield scan.slice(start, n_chunk).collect(engine="streaming")

    def _checked(self, chunks: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Pieces of the table without empty lines; a line with too few fields is refused."""
        lines_are_whole = False
        for chunk in chunks:
            if not self._may_have_short_lines(chunk):
                yield chunk
                continue
            if not lines_are_whole:
                self._refuse_short_lines()
            lines_are_whole = True  # all of the file was looked at
            yield _without_empty_rows(chunk)

    def row(self, number: int, names: Sequence[str]) -> pl.DataFrame | None:
        """Some columns of one row, counted from 1, or None where there is no such row."""
        if not self.leaves_out_zeros:
            with self._explained():
                scan = _without_empty_rows(self._scan()) if self.format.kind == "csv" else self._scan()
                found = scan.select(names).slice(number - 1, 1).collect(engine="streaming")
            return None if found.is_empty() else found
        n_before = 0
        for batch in self.batches(names, 1 << 12):
            if number <= n_before + len(batch):
                return batch.slice(number - 1 - n_before, 1)
            n_before += len(batch)
        return None

    def _scan(self) -> pl.LazyFrame:
        if self.format.kind == "parquet":
            return pl.scan_parquet(self.path, glob=False)
        if self.format.kind == "feather":
            return pl.scan_ipc(self.path, glob=False)
        return pl.scan_csv(self.path, separator=self.format.separator, infer_schema=False, glob=False)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what polars says of a bad file into something that helps."""
        try:
            yield
        except pl.exceptions.DuplicateError as error:
            raise TableError(f"{self.path} has two columns of one name: {error}.") from error
        except (pl.exceptions.PolarsError, OSError) as error:
            if isinstance(error, PermissionError):
                raise
            found = find_broken_line(self.path, self.format.separator) if self.format.kind == "csv" else None
            what = found or f"{' '.join(str(error).split())[:200]}"
            raise TableError(f"{self.path} cannot be read as {self.format.name}: {what}.") from error

    def _may_have_short_lines(self, frame: pl.DataFrame) -> bool:
        """Whether lines may have too few fields: polars fills them up, so that their last column is empty."""
        return self.format.kind == "csv" and frame[frame.columns[-1]].null_count() > 0

    def _refuse_short_lines(self) -> None:
        found = find_broken_line(self.path, self.format.separator)
        if found:
            raise TableError(f"{self.path} cannot be read as {self.format.name}: {found}.")

    def _refuse_no_rows(self) -> NoReturn:
        raise TableError(f"{self.path} has column names and no rows.")

    def _libsvm_batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Rows of a LIBSVM file; columns are called by their index in the file."""
        with self.path.open("rb") as file:
            n_before = 0
            while lines := list(islice(file, n_rows)):
                try:
                    sparse, labels = load_svmlight_file(BytesIO(b"".join(lines)), zero_based=True)
                except ValueError as error:
                    place = f"lines {n_before + 1} to {n_before + len(lines)}"
                    raise TableError(f"{self.path} cannot be read as LIBSVM: {place}: {error}.") from error
                n_before += len(lines)
                values = {str(j): column for j, column in enumerate(sparse.toarray().T) if j > 0 or column.any()}
                yield pl.DataFrame({LIBSVM_LABEL: labels} | values)

    def _libsvm_columns(self, names: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        for batch in self._libsvm_batches(n_rows):
            absent = [name for name in names if name not in batch.columns]  # LIBSVM leaves zeros out
            yield batch.with_columns(pl.lit(0.0).alias(name) for name in absent).select(names)


_AnyFrame = TypeVar("_AnyFrame", pl.DataFrame, pl.LazyFrame)


def _without_empty_rows(frame: _AnyFrame) -> _AnyFrame:
    """The rows of a CSV without empty lines, nor lines of empty fields, as spreadsheets leave them below a table.

    In a single column an empty line is a missing value.
    """
    n_columns = len(frame.collect_schema())
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if n_columns > 1 else frame


def rows_a_batch(n_columns: int, n_numbers: int = 1 << 21) -> int:
    """How many rows make a batch of about ``n_numbers`` values: 16 MB of them unless told."""
    return int(np.clip(n_numbers // max(n_columns, 1), 1, 1 << 16))
