"""The first two lines of a model file: what it is, and what it was written with."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from typing import Any, BinaryIO

MAGIC = b"unlabeled model\n"
#: Counts up when older readers could not understand a file, or this one cannot understand older files.
FORMAT = 3
#: No header is longer. A file may be anything, so no more than this is read in search of one.
LONGEST_HEADER = 4096
_CHUNK = 1 << 20


class ModelFileError(ValueError):
    """A file that cannot be loaded as a model; the message says why, and nothing of it was run."""


@dataclass(frozen=True)
class Header:
    """Version of the format, what the model is, versions it was written with, and checksum of the archive."""

    format: int
    model: str
    unlabeled: str
    scikit_learn: str
    skops: str
    size: int
    sha256: str

    @classmethod
    def of(cls, model: Any, archive: bytes) -> Header:
        """The header of a model that is about to be written."""
        versions = {name.replace("-", "_"): version(name) for name in ("unlabeled", "scikit-learn", "skops")}
        digest = hashlib.sha256(archive).hexdigest()
        return cls(format=FORMAT, model=type(model).__name__, size=len(archive), sha256=digest, **versions)

    @classmethod
    def read(cls, file: BinaryIO) -> Header:
        """Read the two lines, leaving the file at the archive."""
        if file.readline(len(MAGIC)) != MAGIC:
            raise ModelFileError(f"{file.name} is not a model file: it was not written by unlabeled.save.")
        try:
            found = json.loads(file.readline(LONGEST_HEADER))
        except ValueError:
            raise ModelFileError(f"{file.name} is damaged: its second line cannot be read.") from None
        if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] > FORMAT:
            raise ModelFileError(
                f"{file.name} was written by a newer unlabeled, {found.get('unlabeled')} (format {found['format']}; "
                f"this one reads up to {FORMAT}). Upgrade: pip install -U unlabeled."
            )
        if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] < FORMAT:
            raise ModelFileError(
                f"{file.name} was written by an early unlabeled (format {found['format']}; this one reads {FORMAT}), "
                "before the parts of a model had their present names. Fit the model again and save it."
            )
        if not isinstance(found, dict) or set(found) != {field.name for field in fields(cls)}:
            raise ModelFileError(f"{file.name} is damaged: its second line is not the header of a model.")
        return cls(**found)

    def to_bytes(self) -> bytes:
        """The two lines."""
        return MAGIC + json.dumps(asdict(self)).encode() + b"\n"

    def check_archive(self, file: BinaryIO) -> None:
        """Refuse an archive that is not the one that was written."""
        digest, size = hashlib.sha256(), 0
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
        if size != self.size:
            raise ModelFileError(
                f"{file.name} is damaged: {size:,} bytes where {self.size} were written. Copy it again, or fit again."
            )
        if digest.hexdigest() != self.sha256:
            raise ModelFileError(f"{file.name} is damaged: its checksum does not agree. Copy it again, or fit again.")

    def versions_differ(self) -> str:
        """A sentence about the versions it was written with, where they are not those in use."""
        ours = {name: version(name.replace("_", "-")) for name in ("unlabeled", "scikit_learn", "skops")}
        differing = [
            f"{name.replace('_', '-')} {getattr(self, name)} (now {now})"
            for name, now in ours.items()
            if getattr(self, name) != now
        ]
        return f"It was written with {', '.join(differing)}." if differing else ""
