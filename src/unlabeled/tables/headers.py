"""The names of columns, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Header:
    """Names that differ, what those are called in the file that had to be renamed, and a note on each."""

    names: tuple[str, ...]
    renamed: dict[str, str]
    notes: tuple[str, ...]


def unique_header(names: Sequence[str]) -> Header:
    """Rename the second of two columns of one name."""
    taken, places, found, notes = set(names), {}, [], []
    renamed: dict[str, str] = {}
    for place, name in enumerate(names, start=1):
        if name not in places:
            places[name] = place
            found.append(name)
            continue
        new = _free_name(name, place, taken)
        taken.add(new)
        renamed[new] = name
        found.append(new)
        called = f"called {name!r}" if name else "without a name"
        notes.append(f"Columns {places[name]} and {place} are both {called}: the second is {new!r} here.")
    return Header(tuple(found), renamed, tuple(notes))


def _free_name(name: str, place: int, taken: set[str]) -> str:
    new, number = (f"{name}_2" if name else f"column_{place}"), 2
    while new in taken:
        number += 1
        new = f"{name}_{number}"
    return new
