"""What kind of table a file is, by its content: names are often wrong, first bytes seldom."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from dataclasses import dataclass
from pathlib import Path

#: The first bytes of a file, this many, tell what it is.
_HEAD = 1 << 16
_SEPARATORS = "\t,;|"
_LIBSVM_LINE = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:,[-+\d.]+)*(?:\s+\d+:[^\s:]+)+\s*(?:#.*)?")
_OTHER_KINDS = {
    b"FEA1": "an old Feather file (version 1); write it again as Feather (Arrow) or Parquet",
    b"\x1f\x8b": "compressed (gzip); unpack it first",
    b"BZh": "compressed (bzip2); unpack it first",
    b"\xfd7zXZ": "compressed (xz); unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed (zstd); unpack it first",
    b"PK\x03\x04": "a zip archive or an Excel file; unpack it, or export the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file; export the sheet as CSV",
    b"unlabeled model\n": "a saved model, not a table",
}


class TableError(ValueError):
    """A table that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Format:
    """The kind of a table file, "csv", "parquet", "feather" or "libsvm", and what separates the fields of a CSV."""

    kind: str
    separator: str = ","

    @property
    def name(self) -> str:
        """The word for it."""
        words = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather", "libsvm": "LIBSVM"}
        return "TSV" if self.kind == "csv" and self.separator == "\t" else words[self.kind]


def find_format(path: Path) -> Format:
    """Look into a file and say what it is; refuse what is no table, with a reason."""
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the file of a table.")
    if not path.exists():
        raise TableError(f"{path} does not exist.{_similar_file(path)}")
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except PermissionError:
        raise TableError(f"{path} may not be read: you have no permission. Ask its owner, or copy it.") from None
    if not head.strip():
        raise TableError(f"{path} is empty.")
    if head.startswith(b"PAR1"):
        return Format("parquet")
    if head.startswith(b"ARROW1"):
        return Format("feather")
    for start, what in _OTHER_KINDS.items():
        if head.startswith(start):
            raise TableError(f"{path} is {what}.")
    return _text_format(path, head)


def _text_format(path: Path, head: bytes) -> Format:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head:
        raise TableError(
            f"{path} is neither UTF-8 text nor Parquet nor Feather. Save it as CSV in UTF-8 or as Parquet."
        )
    try:
        text = getincrementaldecoder("utf-8-sig")().decode(head, final=len(head) < _HEAD)
    except UnicodeDecodeError as error:
        line = head.count(b"\n", 0, error.start) + 1
        raise TableError(f"{path} is not UTF-8 text: see line {line}. Save it as CSV in UTF-8.") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if lines and all(_LIBSVM_LINE.fullmatch(line) for line in lines[: max(1, len(lines) - 1)][:5]):
        return Format("libsvm")
    unquoted = re.sub(r'"[^"]*"', "", lines[0] if lines else "")
    return Format("csv", max(_SEPARATORS, key=lambda separator: (unquoted.count(separator), separator == ",")))


def _similar_file(path: Path) -> str:
    """A word on the file that may have been meant."""
    if not path.parent.is_dir():
        return f" There is no folder {path.parent} either."
    alike = sorted(other.name for other in path.parent.iterdir() if other.stem == path.stem)
    return f" Did you mean {alike[0]}?" if alike else ""
