"""SHA-256 of data files, recorded when a file is first used and checked from then on.

The hashes of the LIBSVM collection are not published, so the first copy seen is the one to trust. The record lies
beside the file as ``FILE.sha256``, as ``sha256sum`` writes it, or among the records of the first folder that can be
written to, where the file's own cannot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from unlabeled.datasets.folders import make_writable
from unlabeled.files import written_whole


def check_unchanged(path: Path, folders: Iterable[Path]) -> None:
    """Refuse a file whose contents are not those of its first use; at the first use, remember them."""
    found = sha256(path)
    records = list(_records(path, folders))
    for record in records:
        if record.is_file():
            _compare(path, found, record)
            return
    for record in records:
        if make_writable(record.parent):
            with suppress(OSError):  # a full disk is no reason not to load
                write_record(record, found, path.name)
            return


def check_download(path: Path, destination: Path, folders: Iterable[Path]) -> str:
    """The hash of a file just fetched, which must be the recorded one where it was fetched before."""
    found = sha256(path)
    for record in _records(destination, folders):
        if record.is_file():
            _compare(destination, found, record)
    return found


def sha256(path: Path) -> str:
    """Hash of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_beside(path: Path) -> Path:
    """Where the hash of a file is recorded when its folder can be written to."""
    return path.with_name(f"{path.name}.sha256")


def write_record(record: Path, digest: str, name: str) -> None:
    """Write a hash in the format of ``sha256sum``."""
    with written_whole(record) as partial:
        partial.write_text(f"{digest}  {name}\n", encoding="ascii")


def _records(path: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """Where the hash of a file may be recorded, best place first."""
    yield record_beside(path)
    place = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    for folder in folders:
        yield folder / "checksums" / f"{path.name}-{place}.sha256"


def _compare(path: Path, found: str, record: Path) -> None:
    words = record.read_text(encoding="ascii").split()
    if words[:1] != [found]:
        raise OSError(
            f"{path.name} has changed: its SHA-256 is {found}, but {record} recorded {words[0] if words else 'none'} "
            f"when it was first used. If the new contents are right, remove {record} and load again; if not, put a "
            f"good copy at {path}."
        )
