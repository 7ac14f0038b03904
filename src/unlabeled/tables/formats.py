"""What kind of table a file is, by its content: names are often wrong, first bytes seldom."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from unlabeled.tables.compressed import find_compression, opened
from unlabeled.tables.encodings import UTF_8, check_encoding, find_encoding, in_words, without_mark
from unlabeled.tables.errors import TableError

__all__ = ["Format", "TableError", "find_format"]

#: The first bytes of a file, this many, tell what it is, and these how its text is encoded.
_HEAD, _HEAD_OF_TEXT = 1 << 16, 1 << 24
_SEPARATORS = "\t,;|"
_LIBSVM_LINE = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:,[-+\d.]+)*(?:\s+\d+:[^\s:]+)+\s*(?:#.*)?")
_BINARY_KINDS = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"PK\x03\x04": "excel",  # a zip archive of anything else is unpacked
    b"\xd0\xcf\x11\xe0": "excel",
}
_OTHER_KINDS = {
    b"FEA1": "an old Feather file (version 1); write it again as Feather (Arrow) or Parquet",
    b"unlabeled model\n": "a saved model, not a table",
    b"SQLite format 3\0": "a database; export the table as CSV or Parquet",
    b"%PDF": "a PDF document; export the table as CSV",
}
_NAMES = {
    "csv": "CSV",
    "parquet": "Parquet",
    "feather": "Feather",
    "libsvm": "LIBSVM",
    "jsonl": "JSON lines",
    "excel": "Excel",
}


@dataclass(frozen=True)
class Format:
    """The kind of a table file, what separates the fields of a CSV, how text is encoded, and how it is compressed."""

    kind: str
    separator: str = ","
    encoding: str = UTF_8
    compression: str = ""

    @property
    def name(self) -> str:
        """The word for it."""
        return "TSV" if self.kind == "csv" and self.separator == "\t" else _NAMES[self.kind]

    @property
    def in_words(self) -> str:
        """The same, with what else is to be known."""
        encoding = "" if self.encoding == UTF_8 else f" in {in_words(self.encoding)}"
        return f"{self.name}{encoding}{self.compression and f', compressed ({self.compression})'}"


def find_format(path: Path, encoding: str | None = None, name: str | None = None) -> Format:
    """Look into a file and say what it is; refuse what is no table, with a reason.

    ``encoding`` is that of text, instead of a guess; ``name`` is what the file is called in messages.
    """
    name = name or str(path)
    _check_file(path)
    given = check_encoding(encoding) if encoding else None
    compression = find_compression(path, name)
    with opened(path, compression, name) as file:
        head = file.read(_HEAD)
        if not without_mark(head).strip():
            raise TableError(f"{name} is empty.")
        for start, kind in _BINARY_KINDS.items():
            if head.startswith(start):
                return Format(kind, compression=compression)
        for start, what in _OTHER_KINDS.items():
            if head.startswith(start):
                raise TableError(f"{name} is {what}.")
        more = file.read(_HEAD_OF_TEXT)
    found = given or find_encoding(head + more, is_all=len(more) < _HEAD_OF_TEXT)
    kind, separator = _text_kind(head.decode(found, errors="replace"), name)
    return Format(kind, separator, found, compression)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the file of a table.")
    if not path.exists():
        raise TableError(f"{path} does not exist.{_similar_file(path)}")
    try:
        path.open("rb").close()
    except PermissionError:
        raise TableError(f"{path} may not be read: you have no permission. Ask its owner, or copy it.") from None


def _text_kind(text: str, name: str) -> tuple[str, str]:
    """The kind of a text file, and what separates its fields."""
    if "\0" in text:
        raise TableError(
            f"{name} is neither text nor Parquet, Feather or Excel. Save it as CSV in UTF-8 or as Parquet."
        )
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip() and not line.startswith("#")]
    if lines and all(_LIBSVM_LINE.fullmatch(line) for line in lines[: max(1, len(lines) - 1)][:5]):
        return "libsvm", ","
    if lines and lines[0].lstrip().startswith(("{", "[")):
        _check_json(lines[0], name)
        return "jsonl", ","
    unquoted = re.sub(r'"[^"]*"', "", lines[0] if lines else "")
    return "csv", max(_SEPARATORS, key=lambda separator: (unquoted.count(separator), separator == ","))


def _check_json(line: str, name: str) -> None:
    try:
        is_row = len(line) >= _HEAD // 2 or isinstance(json.loads(line), dict)
    except ValueError:
        is_row = False
    if not is_row:
        raise TableError(f"{name} is JSON in one piece; write it as JSON lines, one object a line, or as CSV.")


def _similar_file(path: Path) -> str:
    """A word on the file that may have been meant."""
    if not path.parent.is_dir():
        return f" There is no folder {path.parent} either."
    alike = sorted(other.name for other in path.parent.iterdir() if other.stem == path.stem)
    return f" Did you mean {alike[0]}?" if alike else ""
