"""How the text of a file is encoded, and the same text as UTF-8."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder, lookup
from collections.abc import Iterable, Iterator

from unlabeled.tables.errors import TableError

UTF_8 = "utf-8"
#: What text of Western Europe that is not UTF-8 mostly is: that of Windows, and of Excel's CSV.
_OF_WINDOWS = "cp1252"


def find_encoding(head: bytes, *, is_all: bool) -> str:
    """The encoding of text by its first bytes: UTF-8 if it can be, else UTF-16 by its marks, else that of Windows."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    if head.count(b"\0") > len(head) // 4:  # every other byte of Latin text
        return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    try:
        getincrementaldecoder(UTF_8)().decode(head, final=is_all)
    except UnicodeDecodeError:
        return _OF_WINDOWS
    return UTF_8


def check_encoding(encoding: str) -> str:
    """The name that Python has for an encoding."""
    try:
        name = lookup(encoding).name
    except LookupError:
        raise TableError(
            f"There is no encoding {encoding!r}; common ones are utf-8, cp1252 (Windows), latin-1, utf-16, shift_jis."
        ) from None
    return UTF_8 if name == "utf-8-sig" else name


def as_utf_8(pieces: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Text in another encoding as UTF-8."""
    decoder = getincrementaldecoder(encoding)()
    n_lines = 1
    try:
        for piece in pieces:
            text = decoder.decode(piece)
            n_lines += text.count("\n")
            yield text.encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise TableError(
            f"{name} is not text in {encoding}: see after line {n_lines:,}. Say what it is: --encoding NAME, or save "
            "it as UTF-8."
        ) from error


def in_words(encoding: str) -> str:
    """What an encoding is called."""
    words = {UTF_8: "UTF-8", "cp1252": "Windows-1252"}
    return words.get(encoding, encoding.upper())


def without_mark(head: bytes) -> bytes:
    """Bytes of UTF-8 without the mark that some programs put first."""
    return head.removeprefix(BOM_UTF8)
