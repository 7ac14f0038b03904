"""Adds rows of other files to one that is kept packed: ``python -m unlabeled.experiments.fold KEPT.xz ROWS...``.

Rows that are there already stay as they are, so the command can be given again, also on a newer file.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Sequence
from pathlib import Path

from unlabeled.files import written_whole
from unlabeled.results import read_rows, row_key


def fold(kept: Path, others: Sequence[Path]) -> int:
    """Add the rows of other files to a packed one. Answers how many were added."""
    rows = {row_key(row): row for row in read_rows(kept)}
    n_before = len(rows)
    for other in others:
        for row in read_rows(other):
            if "failure" in rows.get(row_key(row), {"failure": ""}):
                rows[row_key(row)] = row
    lines = b"".join(json.dumps(row, allow_nan=False).encode() + b"\n" for row in rows.values())
    with written_whole(kept) as path:
        path.write_bytes(lzma.compress(lines, preset=9 | lzma.PRESET_EXTREME))
    return len(rows) - n_before


if __name__ == "__main__":
    kept, *others = map(Path, sys.argv[1:])
    sys.stdout.write(f"{fold(kept, others)} rows added to {kept}\n")
