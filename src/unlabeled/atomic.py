"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: A disk, or one's share of it, is full; a plain write does not say of which file.
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: What is being written in this process.
_unfinished: set[Path] = set()


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` when the block ends well and is removed otherwise.

    It lies in the same folder, so that the last step is a rename, which happens at once or not at all.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    _unfinished.add(part)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a disk that fills up late says so here, before the old file is gone
        part.replace(path)
    except OSError as error:
        if error.filename == str(part) or error.errno in _FULL:
            error.filename = str(path)  # the name that was asked for
        raise
    finally:
        part.unlink(missing_ok=True)
        _unfinished.discard(part)


def remove_unfinished() -> None:
    """Remove what is half-written, for a process that is about to end without unwinding."""
    for part in tuple(_unfinished):
        with suppress(OSError):
            part.unlink(missing_ok=True)
