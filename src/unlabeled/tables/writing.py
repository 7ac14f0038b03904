"""Scores to a file, batch by batch: CSV, TSV or Parquet by the name of the file."""

from __future__ import annotations

import errno
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from unlabeled.tables.errors import TableError

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
#: Batches that wait to be written; more would be memory.
_WAITING = 2
#: Appends a batch.
Write = Callable[[pl.DataFrame], None]


def check_suffix(path: Path) -> None:
    """Refuse a name that does not tell a format."""
    if path.suffix.lower() not in SUFFIXES:
        raise TableError(f"{path} does not say what to write; let the name end in one of {', '.join(SUFFIXES)}.")


def writer(path: Path, suffix: str) -> AbstractContextManager[Write]:
    """A writer to a path, in the format that a suffix stands for."""
    if suffix.lower() == ".parquet":
        return parquet_writer(path)
    return _file_writer(path, "," if suffix.lower() == ".csv" else "\t")


@contextmanager
def _file_writer(path: Path, separator: str) -> Iterator[Write]:
    with path.open("wb") as file:
        yield text_writer(file, separator)


def text_writer(file: BinaryIO, separator: str = ",") -> Write:
    """A function that appends batches to an open file as CSV or TSV, under one header."""
    n_batches = 0

    def write(batch: pl.DataFrame) -> None:
        nonlocal n_batches
        file.write(batch.write_csv(separator=separator, include_header=n_batches == 0).encode())
        n_batches += 1

    return write


@contextmanager
def parquet_writer(path: Path) -> Iterator[Write]:
    """Parquet in row groups, written by polars in a thread of its own while the next batch is computed."""
    waiting: queue.Queue[pl.DataFrame | None] = queue.Queue(_WAITING)
    failures: list[Exception] = []
    threads: list[threading.Thread] = []

    def batches(*_asked: object) -> Iterator[pl.DataFrame]:
        while (batch := waiting.get()) is not None:
            yield batch

    def sink(schema: pl.Schema) -> None:
        try:
            register_io_source(batches, schema=schema).sink_parquet(path)
        except Exception as error:  # noqa: BLE001 (told to the thread that writes)
            failures.append(error)

    def put(batch: pl.DataFrame | None) -> None:
        while not failures:
            with suppress(queue.Full):
                waiting.put(batch, timeout=0.1)
                return

    def write(batch: pl.DataFrame) -> None:
        if not threads:
            threads.append(threading.Thread(target=sink, args=(batch.schema,), daemon=True))
            threads[0].start()
        put(batch)
        _raise_first(failures, path)

    try:
        yield write
    finally:
        for thread in threads:
            put(None)
            thread.join()
    _raise_first(failures, path)


def _raise_first(failures: list[Exception], path: Path) -> None:
    """What polars said in its thread, as the error that a plain write would have raised."""
    if failures:
        full = "No space left" in str(failures[0]) or f"os error {errno.ENOSPC}" in str(failures[0])
        raise OSError(errno.ENOSPC if full else errno.EIO, str(failures[0]), str(path)) from failures[0]
