"""How much memory a table takes, and how much there is."""

from __future__ import annotations

import os
import re
from pathlib import Path

import polars as pl

from unlabeled.tables.errors import TableError
from unlabeled.tables.reading import Table

#: Says how much memory may be used, instead of what is free: "400MB", "16 GB".
MEMORY_VARIABLE = "UNLABELED_MEMORY"
#: What a fit takes for each byte of the table: a million rows of 20 numbers, 160 MB, take 1.6 GB with Python's 0.3.
COPIES_OF_FIT = 8
_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"([\d.]+)\s*([KMGT]?I?)B?", re.IGNORECASE)
_CONTROL_GROUP = Path("/sys/fs/cgroup")


def table_bytes(table: Table) -> float:
    """About how many bytes a table in Parquet files takes in memory, by its rows and types of columns."""
    return float(table.n_rows() * row_bytes(table.schema()))


def row_bytes(schema: pl.Schema) -> int:
    """What a row takes: numbers are features of eight bytes, and words become a few."""
    return sum(32 if dtype in (pl.String, pl.Categorical) else 8 for dtype in schema.values())


def free_memory() -> float:
    """Bytes that may be used: what `MEMORY_VARIABLE` says, else what is free here; infinite where that is not known."""
    if said := os.environ.get(MEMORY_VARIABLE, "").strip():
        return _bytes_of(said)
    return min(_free_of_machine(), _free_of_control_group())


def _bytes_of(text: str) -> float:
    match = _SIZE.fullmatch(text)
    try:
        if match is not None:
            return float(match[1]) * _UNITS[match[2].upper()]
    except (ValueError, KeyError):
        pass
    raise TableError(f"{MEMORY_VARIABLE}={text} is no size of memory; write it as 400MB or 16GB.")


def _free_of_machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _free_of_control_group() -> float:
    """What is left of the limit that a container has."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most, now = (int((_CONTROL_GROUP / name).read_text(encoding="ascii")) for name in (limit, used))
        except (OSError, ValueError):  # there is none, or it is "max"
            continue
        return float(max(most - now, 0))
    return float("inf")


def in_words(n_bytes: float) -> str:
    """A size for people.

    Examples
    --------
    >>> from unlabeled.tables.sizes import in_words
    >>> in_words(1.62e9), in_words(400e6), in_words(51_200)
    ('1.6 GB', '400 MB', '51 kB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}" if n_bytes >= 10 * unit else f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes / 1e3:.0f} kB"
