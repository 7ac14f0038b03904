"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

#: A disk, or one's share of it, is full; a plain write does not say of which file.
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: What nobody has written to for this long was left by a process that was killed.
_SECONDS_UNTIL_STALE = 3600
#: What is being written in this process.
_unfinished: set[Path] = set()


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name for a new file or folder, which takes the place of ``path`` when the block ends well, and else is removed.

    It lies in the same folder, so that the last step is a rename, which happens at once or not at all.
    """
    path = Path(path)
    _remove_stale(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
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


def remove_unfinished() -> None:
    """Remove what is half-written, for a process that is about to end without unwinding."""
    for part in tuple(_unfinished):
        with suppress(OSError):
            _remove(part)


def _flush(part: Path) -> None:
    """Put on the disk what is still in memory: one that fills up late says so now, before the old file is gone."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())


def _remove_stale(path: Path) -> None:
    """Remove what killed processes have left of the same file or folder."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        with suppress(OSError):  # another process may be removing it too, or own it
            newest = max(found.lstat().st_mtime for found in (part, *part.rglob("*")))
            if time.time() - newest > _SECONDS_UNTIL_STALE:
                _remove(part)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
