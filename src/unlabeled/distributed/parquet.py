"""Tables in Parquet files that this machine has no room for: read in pieces, on a cluster of its own threads.

Each piece is read by the task that needs it, for each pass anew, and let go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

import dask
import dask.array as da
import joblib
import numpy as np
import polars as pl
from dask import delayed
from distributed import Client, LocalCluster

from unlabeled.arrays import FloatArray
from unlabeled.engines.threads import at_most_threads
from unlabeled.samples import some_rows
from unlabeled.tables import Table, TableEncoder
from unlabeled.tables.labels import is_labelled
from unlabeled.tables.sizes import row_bytes

#: A piece takes at most so many bytes, and at least so many rows.
LARGEST_PIECE, SMALLEST_PIECE = 64e6, 256
#: What a task takes for each byte of its piece.
_COPIES = 8
_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

#: What tasks are handed by name: the workers share this process, and it need not be copied for each of them.
_by_name: WeakValueDictionary[str, ByName] = WeakValueDictionary()


class ByName:
    """Something that tasks of this process take as it is."""

    def __init__(self) -> None:
        self.name = uuid4().hex
        _by_name[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return _called, (self.name,)


def _called(name: str) -> ByName:
    return _by_name[name]


@dataclass(frozen=True)
class Piece:
    """Rows of a table that follow each other."""

    start: int
    n_rows: int


def pieces_of(table: Table, memory: float) -> list[Piece]:
    """A table in pieces of which each thread of this machine can have one, with all that is made of it."""
    n_bytes = min(LARGEST_PIECE, memory / (_COPIES * joblib.cpu_count()))
    n_all, n_rows = table.n_rows(), max(SMALLEST_PIECE, int(n_bytes / max(1, row_bytes(table.schema()))))
    return [Piece(start, min(n_rows, n_all - start)) for start in range(0, n_all, n_rows)]


@contextmanager
def on_this_machine() -> Iterator[Client]:
    """A cluster of one worker in this process, with as many threads as there are cores."""
    settings = {"distributed.worker.memory.pause": False, "distributed.worker.memory.spill": False}
    options = {"n_workers": 1, "threads_per_worker": joblib.cpu_count(), "processes": False}
    with (
        dask.config.set(settings),
        LocalCluster(**options, dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


class PieceReader(ByName):
    """What makes features and labels of the pieces of a table, for tasks of this process."""

    def __init__(self, table: Table, encoder: TableEncoder, label: str, positive: str) -> None:
        super().__init__()
        self.table = table
        self.encoder = encoder
        self.label = label
        self.positive = positive

    def features(self, piece: Piece) -> FloatArray:
        """What the classifier sees of a piece."""
        return self.encoder.encode(self.table.rows(self.encoder.columns_.names, piece.start, piece.n_rows))[0]

    def labels(self, piece: Piece) -> np.ndarray:
        """1 for labelled positives, 0 for the rows of a piece that are not labelled."""
        values = self.table.rows([self.label], piece.start, piece.n_rows)[self.label]
        return is_labelled(values, self.positive).to_numpy().astype(np.int8)

    def arrays(self, pieces: Sequence[Piece]) -> tuple[da.Array, da.Array]:
        """Features and labels of all pieces, which nobody has read yet."""
        width, lengths = self.encoder.n_features_out_, tuple(piece.n_rows for piece in pieces)
        rows = [da.from_delayed(delayed(_features)(self, p), (p.n_rows, width), dtype=np.float64) for p in pieces]
        labels = [da.from_delayed(delayed(_labels)(self, p), (p.n_rows,), dtype=np.int8) for p in pieces]
        X, y = da.concatenate(rows), da.concatenate(labels)
        return X.rechunk((lengths, -1)), y.rechunk((lengths,))


def _features(reader: PieceReader, piece: Piece) -> FloatArray:
    return reader.features(piece)


def _labels(reader: PieceReader, piece: Piece) -> np.ndarray:
    return reader.labels(piece)


def sampled_rows(
    client: Client, table: Table, pieces: Sequence[Piece], n_rows: int, label: str, positive: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """So many rows of a table at random, in their order; and the labelled positives of all of it."""
    names = table.names()
    places = some_rows(sum(piece.n_rows for piece in pieces), n_rows, np.random.RandomState(0))

    def picked(piece: Piece) -> tuple[pl.DataFrame, pl.DataFrame]:
        rows = table.rows(names, piece.start, piece.n_rows)
        first, last = np.searchsorted(places, [piece.start, piece.start + piece.n_rows])
        return rows[places[first:last] - piece.start], rows.filter(is_labelled(rows[label], positive))

    some, positives = zip(*in_order(client, picked, pieces), strict=True)
    return pl.concat(some), pl.concat(positives)


def in_order(client: Client, function: Callable[[_Item], _Answer], items: Sequence[_Item]) -> Iterator[_Answer]:
    """What a function answers for each of some items, in their order, with few answers at a time in memory."""
    work, waiting = _Work(function), iter(items)
    n_ahead = 2 * sum(client.nthreads().values())
    running = deque(client.submit(_done, work, item, pure=False) for item in islice(waiting, n_ahead))
    try:
        while running:
            first = running.popleft()
            answer: _Answer = first.result()
            first.release()
            running.extend(client.submit(_done, work, item, pure=False) for item in islice(waiting, 1))
            yield answer
    finally:
        if running:
            client.cancel(list(running), force=True)


class _Work(ByName):
    """A function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function


def _done(work: _Work, item: Any) -> Any:
    with at_most_threads(1):
        return work.function(item)
