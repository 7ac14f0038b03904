"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from weakref import finalize

#: A disk, or one's share of it, is full; a plain write does not say of which file.
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: What nobody has written to for this long was left by a process that was killed, on whatever machine.
_SECONDS_UNTIL_STALE = 3600
#: The machine, the process and a random number are in the name of what is being written.
_PART = re.compile(r"\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.part", re.DOTALL)
#: What is being written in this process.
_unfinished: set[Path] = set()


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name for a new file or folder, which takes the place of ``path`` when the block ends well, and else is removed.

    It lies in the same folder, so that the last step is a rename, which happens at once or not at all.
    """
    path = Path(path)
    _remove_stale(path.parent)
    part = path.with_name(f".{path.name}.{_mark()}.part")
    _unfinished.add(part)
    try:
        yield part
        if part.is_file():
            _flush(part)
        part.replace(path)
    except OSError as error:
        if error.filename == str(part) or error.errno in _FULL:
            error.filename = str(path)  # the name that was asked for
        raise
    finally:
        _remove(part)
        _unfinished.discard(part)


def check_writable(path: Path) -> None:
    """Raise now what `written_whole` would raise after the work: no permission, a read-only disk, a name too long."""
    part = path.with_name(f".{path.name}.try.{_mark()}.part")
    _unfinished.add(part)  # before it is there: a signal may come at any time
    try:
        part.touch()
    finally:
        _forget(part)


class Spool:
    """A copy of what comes in pieces, in the folder for temporary files: there as long as this object, or the process.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        folder = Path(tempfile.gettempdir())
        _remove_stale(folder)
        self.path = folder / f".unlabeled.{_mark()}.part"
        _unfinished.add(self.path)
        finalize(self, _forget, self.path)
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(pieces)


def _forget(path: Path) -> None:
    with suppress(OSError):
        _remove(path)
    _unfinished.discard(path)


def remove_unfinished() -> None:
    """Remove what is half-written or temporary, for a process that is about to end without unwinding."""
    for part in tuple(_unfinished):
        with suppress(OSError):
            _remove(part)


def _flush(part: Path) -> None:
    """Put on the disk what is still in memory: one that fills up late says so now, before the old file is gone."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())


def _mark() -> str:
    return f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


@cache
def _machine() -> str:
    """A short name of this machine: process numbers mean nothing on another one that shares the folder."""
    return blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def _remove_stale(folder: Path) -> None:
    """Remove what killed processes have left in a folder."""
    with suppress(OSError):
        for part in folder.glob(".*.part"):
            match = _PART.fullmatch(part.name)
            if match and _is_stale(part, *match.groups()):
                _remove(part)


def _is_stale(part: Path, machine: str, process: str) -> bool:
    if machine == _machine() and not _is_running(int(process)):
        return True
    try:
        newest = max(found.lstat().st_mtime for found in (part, *part.rglob("*")))
    except OSError:  # another process is removing it, or it belongs to somebody else
        return False
    return time.time() - newest > _SECONDS_UNTIL_STALE


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere to ask is to kill
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and somebody else's
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
