"""Where data files are looked for, and where new ones may be put."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from unlabeled.datasets.sources import Source

#: Names the folder of data files when no ``data_home`` is given.
DATA_HOME_VARIABLE = "UNLABELED_DATA_HOME"
#: Endings under which a file is recognised; the first that exists is taken.
ENDINGS = ("", ".xz", ".bz2", ".gz")

Folder = str | os.PathLike[str]


def search_folders(data_home: Folder | None = None) -> tuple[Path, ...]:
    """Folders to look in, in order: ``data_home``, UNLABELED_DATA_HOME, the cache folder of the platform."""
    named = (data_home, os.environ.get(DATA_HOME_VARIABLE) or None)
    folders = [Path(folder).expanduser().absolute() for folder in named if folder is not None]
    return tuple(dict.fromkeys([*folders, platform_cache()]))


def platform_cache() -> Path:
    """The folder for files that can be downloaded or made again, where the platform wants them."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "unlabeled"


def find_file(file: str, folders: Iterable[Path]) -> Path | None:
    """The first file of that name, plain or compressed."""
    candidates = (folder / f"{file}{ending}" for folder in folders for ending in ENDINGS)
    return next((path for path in candidates if path.is_file()), None)


def find_extracts(source: Source, folders: Iterable[Path]) -> tuple[Path, ...]:
    """Files with some rows of a source: those of the first folder that has any."""
    for folder in folders:
        found = [path for pattern in source.extracts for path in sorted(folder.glob(pattern))]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def make_writable(folder: Path) -> bool:
    """Make the folder if need be and say whether files may be put there.

    A folder whose permissions mark it as read-only is left alone, by an administrator too.
    """
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    marked_writable = existing.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if not (existing.is_dir() and marked_writable and os.access(existing, os.W_OK)):
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return True
