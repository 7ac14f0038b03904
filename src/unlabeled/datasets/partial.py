"""Files and folders that appear under their name only when they are whole."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

#: What nobody wrote to for so long was left by a process that was killed.
_SECONDS_UNTIL_STALE = 3600


@contextmanager
def written_whole(destination: Path) -> Iterator[Path]:
    """A name to write a file or folder under, which is renamed when the block ends well and removed when it fails."""
    _remove_stale(destination)
    partial = destination.with_name(f".{destination.name}.{token_hex(4)}.part")
    try:
        yield partial
        partial.replace(destination)
    finally:
        _remove(partial)


def _remove_stale(destination: Path) -> None:
    """Remove what killed processes have left of the same file or folder."""
    for partial in destination.parent.glob(f".{destination.name}.*.part"):
        with suppress(OSError):  # another process may be removing it too
            newest = max(path.stat().st_mtime for path in (partial, *partial.rglob("*")))
            if time.time() - newest > _SECONDS_UNTIL_STALE:
                _remove(partial)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
