"""LIBSVM text read in a stream: blocks of whole lines, each parsed by scikit-learn's compiled parser.

Memory holds one block at a time, so a file of many gigabytes reads like a small one.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from unlabeled.datasets.progress import progress
from unlabeled.datasets.sources import Source

LAYOUTS = ("indexed", "paper")
#: Bytes of text parsed at a time.
BLOCK_SIZE = 1 << 22
_LONGEST_LINE = 1 << 20
#: What a file that is cut short or holds something else raises.
_DAMAGED = (EOFError, OSError, lzma.LZMAError, zlib.error, ValueError)
#: Decimals to which two copies of a row agree: one of the HIGGS extracts is printed with nine digits.
_SAME_DECIMALS = 5


class StoredRows(NamedTuple):
    """Rows as the text stores them, zeros it writes out included, and their targets (1 or 0)."""

    entries: sparse.csr_matrix
    target: np.ndarray


class DenseRows(NamedTuple):
    """Rows as an array, and their targets (1 or 0)."""

    data: np.ndarray
    target: np.ndarray


def read_rows(paths: Iterable[Path], source: Source, layout: str, *, distinct: bool = False) -> Iterator[DenseRows]:
    """Rows of some files of a source, one below the other, block by block.

    ``layout="indexed"`` puts each value in the column of its index. ``layout="paper"`` keeps the rows that store as
    many values as the first one, and takes them by position. ``distinct`` leaves repeated rows out; it reads all rows
    into memory, and is meant for extracts.
    """
    blocks: Iterable[StoredRows] = (block for path in paths for block in parse_file(path, source))
    if distinct:
        blocks = [without_repeats(blocks)]
    return by_position(blocks) if layout == "paper" else by_index(blocks)


def by_index(blocks: Iterable[StoredRows]) -> Iterator[DenseRows]:
    """Every row, each value in the column of its index, zero where none is stored."""
    for entries, target in blocks:
        yield DenseRows(entries.toarray(), target)


def by_position(blocks: Iterable[StoredRows]) -> Iterator[DenseRows]:
    """The rows that store as many values as the first one, their values side by side."""
    width = None
    for entries, target in blocks:
        counts = np.diff(entries.indptr)
        width = counts[0] if width is None else width
        kept = counts == width
        yield DenseRows(entries[kept].data.reshape(kept.sum(), width), target[kept])


def without_repeats(blocks: Iterable[StoredRows]) -> StoredRows:
    """All rows in one block, the first of each that occurs more than once."""
    parts = list(blocks)
    entries = sparse.vstack([part.entries for part in parts], format="csr")
    target = np.concatenate([part.target for part in parts])
    values = np.round(np.column_stack([target, entries.toarray()]), _SAME_DECIMALS)
    _, first = np.unique(values, axis=0, return_index=True)
    kept = np.sort(first)
    return StoredRows(entries[kept], target[kept])


def parse_file(path: Path, source: Source) -> Iterator[StoredRows]:
    """The rows of one file, block by block."""
    with path.open("rb") as raw, progress(f"Reading {path.name}", path.stat().st_size) as reach:
        try:
            n_rows = 0
            for text in whole_lines(_uncompressed(raw, path.suffix)):
                reach(raw.tell())
                block = _parse(text, source)
                n_rows += len(block.target)
                if len(block.target):
                    yield block
            if not n_rows:
                raise ValueError("it has no rows.")
        except _DAMAGED as error:
            raise ValueError(
                f"{path} is damaged or does not hold {source.name} as LIBSVM text: {error} Remove it and load again, "
                "or put a good copy in its place."
            ) from error


def check_beginning(path: Path, suffix: str, source: Source) -> None:
    """Refuse a file that does not begin with a row of the source, such as a web page in its place."""
    with path.open("rb") as raw:
        try:
            first = _parse(_uncompressed(raw, suffix).readline(_LONGEST_LINE), source)
            if not len(first.target):
                raise ValueError("its first line is empty.")
        except _DAMAGED as error:
            raise ValueError(f"what came does not begin with a row of {source.name} as LIBSVM text: {error}") from error


def whole_lines(stream: IO[bytes], size: int | None = None) -> Iterator[bytes]:
    """Cut a stream into blocks that end where a line does."""
    rest = b""
    while text := stream.read(size or BLOCK_SIZE):
        end = text.rfind(b"\n") + 1
        if end:
            yield rest + text[:end]
            rest = text[end:]
        else:
            rest += text
    if rest:
        yield rest


def _uncompressed(raw: IO[bytes], suffix: str) -> IO[bytes]:
    """The text of a file, by the ending of its name."""
    if suffix == ".xz":
        return lzma.open(raw)
    if suffix == ".bz2":
        return bz2.open(raw)
    if suffix == ".gz":
        return gzip.open(raw)  # type: ignore[return-value]
    return raw


def _parse(text: bytes, source: Source) -> StoredRows:
    """The rows of a block."""
    entries, labels = load_svmlight_file(
        BytesIO(text), n_features=source.n_features, dtype=source.dtype, zero_based=False
    )
    known = source.negative_labels + source.positive_labels
    unknown = np.setdiff1d(labels, known)
    if unknown.size:
        raise ValueError(f"it has label {unknown[0]:g}, where {sorted(known)} are known.")
    return StoredRows(entries, np.isin(labels, source.positive_labels).astype(np.int8))
