"""Feather, which pandas writes in a way that polars cannot always read.

Where a category is missing pandas leaves a number of -1 behind, which the format allows and polars 2 refuses. pyarrow,
with which such files are written, reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import polars as pl

from unlabeled.tables.errors import TableError

_OF_POLARS = "dictionary key"


def feather_chunks(path: Path, names: Sequence[str] | None, n_rows: int) -> Iterator[pl.DataFrame]:
    """Some columns of a Feather file, or all, in pieces."""
    scan, n_done = pl.scan_ipc(path, glob=False).select(pl.all() if names is None else names), 0
    try:
        for chunk in scan.collect_batches(chunk_size=n_rows, maintain_order=True):
            n_done += len(chunk)
            yield chunk
    except pl.exceptions.ComputeError as error:
        if _OF_POLARS not in str(error):
            raise
        yield from _by_arrow(path, names, n_done)


def _by_arrow(path: Path, names: Sequence[str] | None, n_skipped: int) -> Iterator[pl.DataFrame]:
    try:
        ipc = import_module("pyarrow.ipc")
    except ModuleNotFoundError as error:
        raise TableError(
            "The Feather file has missing categories as pandas writes them, which needs one more package: pip install "
            "pyarrow. Or write it as Parquet."
        ) from error
    with ipc.open_file(str(path)) as file:
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            frame = pl.DataFrame(pl.from_arrow(batch if names is None else batch.select(list(names))))
            yield frame.slice(min(n_skipped, len(frame)))
            n_skipped = max(n_skipped - len(frame), 0)
