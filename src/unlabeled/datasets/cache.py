"""Parsed rows kept in binary form, so that the next load opens at once.

An entry is a folder with ``data.npy`` and ``target.npy``, named after the source files, their sizes and times, and the
layout. It is written under another name and renamed when it is whole, so nobody ever opens half of one. Where nothing
can be written, rows are read into memory: a cache is a convenience.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from unlabeled.datasets.folders import make_writable
from unlabeled.datasets.text import DenseRows
from unlabeled.files import written_whole

#: Counted up when the meaning of an entry changes.
_FORMAT = 1
#: Entries above this many bytes stay in their file and are read where they are used.
MAPPED_FROM = 1 << 27

ReadBlocks = Callable[[], Iterator[DenseRows]]


class CacheEntry:
    """The binary form of some files in one layout."""

    def __init__(self, name: str, layout: str, paths: Sequence[Path], folders: Sequence[Path]) -> None:
        states = [(path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
        self._family = f"{name}-{layout}-{_digest([str(path) for path in paths])}"
        self._name = f"{self._family}-{_digest([_FORMAT, *states])}"
        self._roots = [folder / "cache" for folder in folders]

    def open(self) -> DenseRows | None:
        """The rows, or None where they were not kept."""
        for root in self._roots:
            entry = root / self._name
            if not entry.is_dir():
                continue
            try:
                return _open(entry)
            except (ValueError, EOFError, FileNotFoundError):
                shutil.rmtree(entry, ignore_errors=True)  # damaged, for example by a full disk
            except OSError:  # not to be read by this process, or not now: no reason to remove it
                continue
        return None

    def fill(self, read_blocks: ReadBlocks) -> DenseRows:
        """Keep the rows and open them; where they cannot be kept, answer with them all the same."""
        root = next((root for root in self._roots if make_writable(root)), None)
        if root is None:
            return _in_memory(read_blocks())
        with suppress(OSError):  # the disk is full, or another process was first
            self._write(root, read_blocks())
            self._remove_outdated(root)
        return self.open() or _in_memory(read_blocks())

    def _write(self, root: Path, blocks: Iterable[DenseRows]) -> None:
        with written_whole(root / self._name) as entry:
            entry.mkdir()
            np.save(entry / "target.npy", _write_blocks(entry / "data.npy", blocks))

    def _remove_outdated(self, root: Path) -> None:
        """Remove the entries of the same files as they were before."""
        for other in root.glob(f"{self._family}-*"):
            if other.name != self._name:
                shutil.rmtree(other, ignore_errors=True)


def _open(folder: Path) -> DenseRows:
    path = folder / "data.npy"
    data = np.load(path, mmap_mode="r" if path.stat().st_size >= MAPPED_FROM else None)
    return DenseRows(data, np.load(folder / "target.npy"))


def _in_memory(blocks: Iterable[DenseRows]) -> DenseRows:
    data, target = zip(*blocks, strict=True)
    return DenseRows(np.concatenate(data), np.concatenate(target))


def _write_blocks(path: Path, blocks: Iterable[DenseRows]) -> np.ndarray:
    """Append the rows of all blocks to an .npy file; the answer is their targets."""
    targets: list[np.ndarray] = []
    with path.open("wb") as file:
        for block in blocks:
            if not targets:
                _write_header(file, block.data, n_rows=0)
            file.write(np.ascontiguousarray(block.data).data)
            targets.append(block.target)
        file.seek(0)
        _write_header(file, block.data, n_rows=sum(map(len, targets)))
    return np.concatenate(targets)


def _write_header(file: IO[bytes], like: np.ndarray, n_rows: int) -> None:
    """Header of an .npy file; NumPy leaves room in it for any number of rows, so it can be written again."""
    descr = np.lib.format.dtype_to_descr(like.dtype)
    header = {"descr": descr, "fortran_order": False, "shape": (n_rows, *like.shape[1:])}
    np.lib.format.write_array_header_1_0(file, header)


def _digest(values: Iterable[object]) -> str:
    return hashlib.sha256(repr(list(values)).encode()).hexdigest()[:12]
