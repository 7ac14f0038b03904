"""An append-only file of results, one JSON object a line, that several runs may share and any may be killed.

A row is what one method did on one draw. Its identity is in `IDENTITY`; a file holds each identity once, or twice where
a first try failed (the row has a "failure") and another did not.

A line is written in one piece under a lock. Where a run was killed in the middle of a line, the next append ends that
line first, and readers pass over it: the row is missing, so it is computed again.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no flock; one run at a time is safe there without
    fcntl = None  # type: ignore[assignment]

Row = dict[str, Any]
#: What tells two rows apart.
IDENTITY = ("experiment", "dataset", "method", "setting", "draw")


def row_key(row: Mapping[str, Any]) -> str:
    """The identity of a row as text: equal for equal identities, whatever the order of the settings."""
    return json.dumps([row[name] for name in IDENTITY], sort_keys=True)


class ResultsFile:
    """Rows in a file. Appending a row that is there already, from this run or another, leaves the file as it is."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        self._keys: set[str] = set()
        self._failed: set[str] = set()
        self._read_up_to = 0

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def forget_failures(self) -> None:
        """Count cells that failed as not done, so that they are tried again."""
        self.refresh()
        self._keys -= self._failed

    def refresh(self) -> None:
        """Take note of what other runs have written since the last look."""
        with self.path.open("rb") as file:
            self._note_new_lines(file)

    def append(self, row: Row) -> bool:
        """Write a row, unless it is there. Answers whether it was written."""
        line = json.dumps(row, sort_keys=False, allow_nan=False).encode() + b"\n"
        with self.path.open("r+b") as file, _locked(file):
            self._note_new_lines(file)
            if row_key(row) in self._keys:
                return False
            end = file.seek(0, os.SEEK_END)
            if end and not _ends_with_newline(file, end):
                line = b"\n" + line
            os.write(file.fileno(), line)
            self._note_new_lines(file)
        return True

    def rows(self) -> list[Row]:
        """All rows; see `read_rows`."""
        return read_rows(self.path)

    def n_damaged(self) -> int:
        """How many lines are no rows: the traces of runs that were killed while writing."""
        with self.path.open("rb") as file:
            text = file.read()
        return sum(1 for line in text.splitlines() if line.strip()) - sum(1 for _ in _parsed(text))

    def _note_new_lines(self, file: Any) -> None:
        file.seek(self._read_up_to)
        text = file.read()
        whole = text.rfind(b"\n") + 1  # a last line without an end may still be on its way
        for row in _parsed(text[:whole]):
            self._keys.add(row_key(row))
            (self._failed.add if "failure" in row else self._failed.discard)(row_key(row))
        self._read_up_to += whole


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of a results file, plain or packed (.xz); of rows with one identity the first that did not fail."""
    path = Path(path)
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    found: dict[str, Row] = {}
    for row in _parsed(text):
        key = row_key(row)
        if key not in found or ("failure" in found[key] and "failure" not in row):
            found[key] = row
    return list(found.values())


def _parsed(text: bytes) -> Iterator[Row]:
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and all(name in row for name in IDENTITY):
            yield row


def _ends_with_newline(file: Any, end: int) -> bool:
    file.seek(end - 1)
    return bool(file.read(1) == b"\n")


@contextmanager
def _locked(file: Any) -> Iterator[None]:
    """Hold the file against other processes."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
