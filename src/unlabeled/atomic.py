"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` when the block ends well and is removed otherwise.

    It lies in the same folder, so that the last step is a rename, which happens at once or not at all.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a disk that fills up late says so here, before the old file is gone
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
