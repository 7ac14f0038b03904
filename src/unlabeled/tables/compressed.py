"""Compressed files: told by their first bytes, and read as a stream."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from unlabeled.tables.errors import TableError

#: What compressed files are mostly called.
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_ZIP = b"PK\x03\x04"
#: A spreadsheet is a zip archive with one of these in it.
_IN_SPREADSHEETS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
_CHUNK = 1 << 20


def find_compression(path: Path, name: str) -> str:
    """How a file is compressed: "gzip", "bzip2", "xz", "zstd", "zip", or "" if it is not, or is a spreadsheet."""
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(_ZIP):
        return _zip_or_spreadsheet(path, name)
    return next((kind for start, kind in _FIRST_BYTES.items() if head.startswith(start)), "")


def _zip_or_spreadsheet(path: Path, name: str) -> str:
    if not is_zipfile(path):
        raise TableError(f"{name} is a damaged zip archive or Excel file.")
    members = _members(path)
    if any(member in _IN_SPREADSHEETS for member in members):
        return ""
    if len(members) != 1:
        raise TableError(
            f"{name} is a zip archive of {len(members)} files; unpack it, and give the one with the table."
        )
    return "zip"


def _members(path: Path) -> list[str]:
    with ZipFile(path) as archive:
        return [info.filename for info in archive.infolist() if not info.is_dir()]


@contextmanager
def opened(path: Path, compression: str, name: str) -> Iterator[IO[bytes]]:
    """The bytes of a file as they were before it was compressed."""
    try:
        if compression == "zip":
            with ZipFile(path) as archive, archive.open(_members(path)[0]) as member:
                yield member
        else:
            with _OPENERS[compression](path, "rb") as file:
                yield file
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, BadZipFile) as error:
        raise TableError(f"{name} cannot be unpacked ({compression}): {error}. Copy it again.") from error
    except OSError as error:
        if not compression or error.errno is not None:
            raise
        raise TableError(f"{name} cannot be unpacked ({compression}): {error}. Copy it again.") from error


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """All of an open file, a megabyte at a time."""
    while piece := file.read(_CHUNK):
        yield piece


def _open_zstd(path: Path, mode: str) -> Any:
    """Zstandard of the standard library where it has it, from Python 3.14 on."""
    home = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return import_module(home).open(path, mode)
    except ModuleNotFoundError as error:
        raise TableError(f"Files of zstd need one more package: pip install {home}. Or unpack it first.") from error


#: By name; each is called with a path and a mode.
_OPENERS: dict[str, Callable[[Path, str], Any]] = {
    "": Path.open,
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
    "zstd": _open_zstd,
}
