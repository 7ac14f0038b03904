"""Tables from files, whole or in batches, through polars.

Text formats come as text: what a column holds is decided by all of its values (`unlabeled.tables.columns`), not by the
first hundred. A file that polars cannot read as it is (from the standard input, in another encoding, or compressed in
a way that it does not know) is read from a temporary copy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
import polars as pl

from unlabeled.files import Spool
from unlabeled.stages import stage, tell
from unlabeled.tables.broken_lines import find_broken_line, find_broken_object, first_record
from unlabeled.tables.compressed import opened, pieces
from unlabeled.tables.encodings import UTF_8, as_utf_8
from unlabeled.tables.errors import TableError
from unlabeled.tables.feather import feather_chunks
from unlabeled.tables.formats import Format, find_format
from unlabeled.tables.headers import Header, unique_header
from unlabeled.tables.libsvm import LIBSVM_LABEL, libsvm_batches, libsvm_columns
from unlabeled.tables.spreadsheets import read_sheet

#: The name of the standard input, for a table.
STANDARD_INPUT = "-"
#: Compressions that polars unpacks while it reads a CSV.
_UNPACKED_BY_POLARS = ("", "gzip", "zstd")
#: Batches of Parquet that are read at once. Each reading looks through its row group: fewer readings, less time.
_BATCHES_A_SLICE = 4
_ROWS_A_CHUNK = 1 << 16


@dataclass(frozen=True)
class Table:
    """A table in a file: nothing is read but its head.

    ``source`` is the file that is read, of the format ``format``: ``path`` itself or a copy, which ``copies`` keep.

    Examples
    --------
    >>> from unlabeled.tables import Table
    >>> table = Table.open("customers.csv")  # doctest: +SKIP
    """

    path: Path
    format: Format
    source: Path
    encoding_is_guess: bool = False
    copies: tuple[Spool, ...] = field(default=(), repr=False, compare=False)
    files: tuple[Path, ...] = ()  # of a table in several Parquet files, in their order

    @classmethod
    def open(cls, path: str | Path, *, encoding: str | None = None) -> Table:
        """Find out what a file is; ``-`` is the standard input, ``encoding`` that of its text instead of a guess.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import polars as pl
        >>> from unlabeled.tables import Table
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "customers.csv"
        ...     pl.DataFrame({"age": [31, 40], "city": ["Bonn", "Rome"]}).write_csv(path)
        ...     Table.open(path).read().shape
        (2, 2)
        """
        path, source, copies = Path(path), Path(path), []
        if files := parquet_files(path):
            return cls(path, Format("parquet"), path, files=files)
        if str(path) == STANDARD_INPUT:
            with stage("reading"):
                copies.append(Spool(pieces(sys.stdin.buffer)))
            source = copies[0].path
        name = _called(path)
        form = find_format(source, encoding, name)
        if not _polars_can_read(form):
            with stage("reading"):
                copies.append(_plain_copy(source, form, name))
            source = copies[-1].path
        return cls(path, form, source, encoding is None, tuple(copies))

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return _called(self.path)

    @property
    def first_line(self) -> int:
        """The line of the file that the first row is on, or 1 for formats without lines."""
        return 2 if self.format.kind in {"csv", "excel"} else 1

    @property
    def leaves_out_zeros(self) -> bool:
        """Whether a column that is not there is one of zeros (LIBSVM)."""
        return self.format.kind == "libsvm"

    @property
    def reads_all_columns(self) -> bool:
        """Whether unwanted columns are read too: of CSV, where polars overlooks broken lines if it leaves any out."""
        return self.format.kind in {"csv", "excel"}

    @cached_property
    def header(self) -> Header:
        """The names of the columns of a CSV or a sheet, and which had to be renamed; empty for other formats."""
        if self.format.kind == "excel":
            return self._sheet[1]
        return unique_header(first_record(self.source, self.format.separator) if self.format.kind == "csv" else [])

    @property
    def notes(self) -> list[str]:
        """What was guessed or changed to read it, for people to know."""
        notes = list(self.header.notes)
        if self.encoding_is_guess and self.format.encoding != UTF_8:
            notes.append(f"The text is not UTF-8; it is read as {self.format.encoding}. If that is wrong: --encoding.")
        if self.format.kind == "excel" and len(sheets := self._sheet[2]) > 1:
            notes.append(f"Only the first of {len(sheets)} sheets is read, {sheets[0]!r}.")
        return notes

    def names(self) -> list[str]:
        """The names of its columns; of LIBSVM, that of the label alone."""
        if self.leaves_out_zeros:
            return [LIBSVM_LABEL]
        with self._explained():
            return self._scan().collect_schema().names()

    def schema(self) -> pl.Schema:
        """Names and types of its columns, of Parquet."""
        with self._explained():
            return self._scan().collect_schema()

    def n_rows(self) -> int:
        """How many rows there are in Parquet files, which say so."""
        with self._explained():
            return int(self._scan().select(pl.len()).collect().item())

    def rows(self, names: Sequence[str], start: int, n_rows: int) -> pl.DataFrame:
        """Some columns of some rows of Parquet files that follow each other."""
        with self._explained():
            return self._scan().select(names).slice(start, n_rows).collect(engine="streaming")

    def counts(self, name: str) -> pl.DataFrame:
        """How often each value of a column occurs in Parquet files: the column, and ``count``."""
        with self._explained():
            return self._scan().group_by(name).agg(pl.len().alias("count")).collect(engine="streaming")

    def ranges(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The smallest and the largest value of columns of whole numbers in Parquet files; none of empty columns."""
        with self._explained():
            ends = [
                self._scan().select(getattr(pl.col(names), end)()).collect(engine="streaming") for end in ("min", "max")
            ]
        found = {name: (ends[0][name].item(), ends[1][name].item()) for name in names}
        return {name: pair for name, pair in found.items() if None not in pair}

    def read(self) -> pl.DataFrame:
        """All of it."""
        with stage("reading"):
            if self.leaves_out_zeros:
                batches = _counted(libsvm_batches(self.source, _ROWS_A_CHUNK, self.name))
                return pl.concat(batches, how="diagonal").fill_null(0.0)
            with self._explained():
                chunks = list(_counted(self._chunks(None, _ROWS_A_CHUNK)))
                frame = pl.concat(chunks) if chunks else self._scan().head(0).collect()
            if self._may_have_short_lines(frame):
                self._refuse_short_lines()
                frame = _without_empty_rows(frame)
        if frame.is_empty():
            self._refuse_no_rows()
        return frame

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Some columns of it, ``n_rows`` rows at a time, in order; only a few batches are in memory at once."""
        if self.leaves_out_zeros:
            yield from libsvm_columns(self.source, names, n_rows, self.name)
            return
        with self._explained():
            is_empty = True
            for chunk in self._checked(self._chunks(names, n_rows)):
                for batch in chunk.iter_slices(n_rows):
                    is_empty = False
                    yield batch.select(names)
        if is_empty:
            self._refuse_no_rows()

    def _chunks(self, names: Sequence[str] | None, n_rows: int) -> Iterator[pl.DataFrame]:
        """The table in pieces of some batches each; all of its columns without ``names``."""
        if self.format.kind == "feather":
            yield from (chunk for chunk in feather_chunks(self.source, names, n_rows) if len(chunk))
            return
        scan = self._scan() if self.reads_all_columns or names is None else self._scan().select(names)
        if self.format.kind != "parquet" or names is None:
            yield from (chunk for chunk in scan.collect_batches(chunk_size=n_rows, maintain_order=True) if len(chunk))
            return
        # Batches of polars are as large as the row groups of the file, which may be all of it; slices are not.
        n_all, n_chunk = self.n_rows(), _BATCHES_A_SLICE * n_rows
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
        if self.format.kind not in {"libsvm", "feather"}:
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
        kind = self.format.kind
        if kind == "parquet":
            return pl.scan_parquet(list(self.files) or self.source, glob=False)
        if kind == "feather":
            return pl.scan_ipc(self.source, glob=False)
        if kind == "excel":
            return self._sheet[0].lazy()
        if kind == "jsonl":
            return pl.scan_ndjson(self.source, schema=self._json_schema)
        names = list(self.header.names) if self.header.renamed else None
        options = {"separator": self.format.separator, "infer_schema": False, "glob": False, "new_columns": names}
        return pl.scan_csv(self.source, **options)  # type: ignore[arg-type]

    @cached_property
    def _sheet(self) -> tuple[pl.DataFrame, Header, list[str]]:
        return read_sheet(self.source, self.name)

    @cached_property
    def _json_schema(self) -> pl.Schema:
        """The types of JSON values, by all lines."""
        return pl.scan_ndjson(self.source, infer_schema_length=None).collect_schema()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what polars says of a bad file into something that helps."""
        try:
            yield
        except pl.exceptions.DuplicateError as error:
            raise TableError(f"{self.name} has two columns of one name: {error}. Rename one of them.") from error
        except (pl.exceptions.PolarsError, OSError) as error:
            if isinstance(error, PermissionError):
                raise
            what = self._find_broken_line() or f"{' '.join(str(error).split())[:200]}"
            raise TableError(f"{self.name} cannot be read as {self.format.name}: {what}.") from error

    def _find_broken_line(self) -> str | None:
        if self.format.kind == "csv":
            return find_broken_line(self.source, self.format.separator)
        return find_broken_object(self.source) if self.format.kind == "jsonl" else None

    def _may_have_short_lines(self, frame: pl.DataFrame) -> bool:
        """Whether lines may have too few fields: polars fills them up, so that their last column is empty."""
        return self.format.kind == "csv" and frame[frame.columns[-1]].null_count() > 0

    def _refuse_short_lines(self) -> None:
        found = find_broken_line(self.source, self.format.separator)
        if found:
            raise TableError(f"{self.name} cannot be read as {self.format.name}: {found}.")

    def _refuse_no_rows(self) -> NoReturn:
        raise TableError(f"{self.name} has column names and no rows.")


def parquet_files(path: Path) -> tuple[Path, ...]:
    """The Parquet files of a folder, or those that a pattern such as ``day-*.parquet`` names; else none."""
    if path.is_dir():
        return tuple(sorted(path.glob("*.parquet")))
    if path.exists() or not any(mark in path.name for mark in "*?["):
        return ()
    found = tuple(sorted(file for file in path.parent.glob(path.name) if file.is_file()))
    return found if found and all(file.suffix == ".parquet" for file in found) else ()


def _called(path: Path) -> str:
    return "the standard input" if str(path) == STANDARD_INPUT else str(path)


def _polars_can_read(form: Format) -> bool:
    """Whether polars can read a file as it is."""
    unpacks = _UNPACKED_BY_POLARS if form.kind == "csv" else ("",)
    return form.encoding == UTF_8 and form.compression in unpacks


def _plain_copy(path: Path, form: Format, name: str) -> Spool:
    """A copy of a file, unpacked and in UTF-8."""
    with opened(path, form.compression, name) as file:
        if form.encoding == UTF_8:
            return Spool(pieces(file))
        return Spool(as_utf_8(pieces(file), form.encoding, name))


def _counted(chunks: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Tell how many rows are read while they are."""
    n_rows = 0
    for chunk in chunks:
        n_rows += len(chunk)
        tell("reading", f"{n_rows:,} rows")
        yield chunk


_AnyFrame = TypeVar("_AnyFrame", pl.DataFrame, pl.LazyFrame)


def _without_empty_rows(frame: _AnyFrame) -> _AnyFrame:
    """The rows of a CSV without empty lines, nor lines of empty fields, as spreadsheets leave them below a table.

    In a single column an empty line is a missing value.
    """
    n_columns = len(frame.collect_schema())
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if n_columns > 1 else frame


def rows_a_batch(n_columns: int, n_numbers: int = 1 << 21) -> int:
    """How many rows make a batch of about ``n_numbers`` values: 16 MB of them unless told.

    Examples
    --------
    >>> from unlabeled.tables import rows_a_batch
    >>> rows_a_batch(20)
    65536
    """
    return int(np.clip(n_numbers // max(n_columns, 1), 1, 1 << 16))
