"""Fetch a file of the LIBSVM collection; it appears under its name only when it is whole."""

from __future__ import annotations

from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from unlabeled.datasets import sources
from unlabeled.datasets.checksums import check_download, record_beside, write_record
from unlabeled.datasets.folders import DATA_HOME_VARIABLE, ENDINGS, make_writable
from unlabeled.datasets.progress import progress
from unlabeled.datasets.sources import Source
from unlabeled.datasets.text import check_beginning
from unlabeled.files import written_whole

_READ_SIZE = 1 << 18
_SECONDS_WITHOUT_DATA = 60


def fetch(source: Source, file: str, folders: Sequence[Path]) -> Path:
    """Download a file of a source into the first folder that can be written to."""
    folder = next((folder for folder in folders if make_writable(folder)), None)
    if folder is None:
        raise _not_found(source, file, folders, "None of these folders can be written to, so it was not downloaded.")
    reasons = []
    for ending in source.endings:
        url = f"{sources.COLLECTION}{file}{ending}"
        try:
            return _download(url, folder / f"{file}{ending}", source, folders)
        except HTTPError as error:
            error.close()
            reasons.append(f"Downloading {url} failed: {error}.")
        except (URLError, HTTPException, TimeoutError, ConnectionError, ValueError) as error:
            reasons.append(f"Downloading {url} failed: {error}.")
            break  # the server cannot be reached or sends something else: another ending will not help
    raise _not_found(source, file, folders, " ".join(reasons))


def refuse(source: Source, file: str, folders: Sequence[Path]) -> FileNotFoundError:
    """The error for a file that was not found and may not be downloaded."""
    return _not_found(source, file, folders, "It was not downloaded, because download=False.")


def _not_found(source: Source, file: str, folders: Sequence[Path], reason: str) -> FileNotFoundError:
    places = ", ".join(str(folder) for folder in folders)
    endings = ", ".join(ending for ending in ENDINGS if ending)
    return FileNotFoundError(
        f"{file} was not found. There is no {file} (plain or {endings}) in {places}. {reason} Get it from "
        f"{sources.COLLECTION}{file}{source.endings[0]} and put it in {folders[0]}, or set {DATA_HOME_VARIABLE} to "
        "the folder that has it."
    )


def _download(url: str, destination: Path, source: Source, folders: Sequence[Path]) -> Path:
    """Fetch to a temporary name, check, record the hash, and move into place."""
    with written_whole(destination) as partial:
        with partial.open("xb") as file:
            _copy(url, file)
        check_beginning(partial, destination.suffix, source)
        digest = check_download(partial, destination, folders)
        write_record(record_beside(destination), digest, destination.name)
    return destination


def _copy(url: str, file: IO[bytes]) -> None:
    """Copy what the server sends, and insist on all of it."""
    with urlopen(url, timeout=_SECONDS_WITHOUT_DATA) as response:  # noqa: S310 (a constant of this package, https)
        length = response.headers.get("Content-Length")
        total = None if length is None else int(length)
        done = 0
        with progress(f"Downloading {url.rpartition('/')[2]}", total) as reach:
            while block := response.read(_READ_SIZE):
                file.write(block)
                done += len(block)
                reach(done)
    if total is not None and done != total:
        raise ConnectionError(f"the connection ended after {done} of {total} bytes")
