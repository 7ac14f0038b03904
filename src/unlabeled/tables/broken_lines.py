"""Which line of a text file is broken: the fast readers do not say where, or fill up short lines and say nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from unlabeled.tables.compressed import find_compression, opened

_LONGEST_FIELD = 1 << 27
_NOT_UTF_8 = "say what it is, such as --encoding cp1252, or save it as UTF-8"


@contextmanager
def _text(path: Path) -> Iterator[TextIOWrapper]:
    with opened(path, find_compression(path, str(path)), str(path)) as file:
        yield TextIOWrapper(file, encoding="utf-8-sig", newline="")


def first_record(path: Path, separator: str) -> list[str]:
    """The fields of the first line of a CSV; none if it cannot be read."""
    csv.field_size_limit(_LONGEST_FIELD)
    with _text(path) as file, suppress(csv.Error, UnicodeDecodeError):  # then reading says what is wrong
        return next((row for row in csv.reader(file, delimiter=separator) if row), [])
    return []


def find_broken_line(path: Path, separator: str) -> str | None:
    """Say what is wrong with the first line that has more or fewer fields than the header; None if all have as many."""
    csv.field_size_limit(_LONGEST_FIELD)
    with _text(path) as file:
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
            return f"it is not UTF-8 text (somewhere after line {rows.line_num}); {_NOT_UTF_8}"
    return None


def find_broken_object(path: Path) -> str | None:
    """Say what is wrong with the first line that is not a JSON object; None if all are."""
    number = 0
    with _text(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                if line.strip() and not isinstance(json.loads(line), dict):
                    return f"line {number} is not a JSON object"
        except UnicodeDecodeError:
            return f"it is not UTF-8 text (somewhere after line {number}); {_NOT_UTF_8}"
        except ValueError as error:
            return f"line {number} is not a JSON object ({error})"
    return None
