"""Which line of a CSV is broken: the fast reader does not say where, or fills up short lines and says nothing."""

from __future__ import annotations

import csv
from pathlib import Path

_LONGEST_FIELD = 1 << 27


def find_broken_line(path: Path, separator: str) -> str | None:
    """Say what is wrong with the first line that has more or fewer fields than the header; None if all have as many."""
    csv.field_size_limit(_LONGEST_FIELD)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator, strict=True)
        try:
            n_fields = len(next(rows, []))
            start = rows.line_num + 1
            for row in rows:
                if row and len(row) != n_fields:
                    return f"line {start} has {len(row)} fields where the header has {n_fields}"
                start = rows.line_num + 1
        except csv.Error as error:
            return f"line {rows.line_num} cannot be read ({error})"
        except UnicodeDecodeError:
            return f"it is not UTF-8 text (somewhere after line {rows.line_num}); save it as UTF-8"
    return None
