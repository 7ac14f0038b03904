"""Load the paper's real data sets from LIBSVM files: found, downloaded, checked, parsed, and kept in binary form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sklearn.utils import Bunch

from unlabeled.datasets.cache import CacheEntry
from unlabeled.datasets.checksums import check_unchanged
from unlabeled.datasets.download import fetch, refuse
from unlabeled.datasets.folders import Folder, find_extracts, find_file, search_folders
from unlabeled.datasets.sources import COLLECTION, Source, find_source
from unlabeled.datasets.text import LAYOUTS, DenseRows, read_rows

_LAYOUT_MEANS = {
    "indexed": "every row, each value in the column of its index (1-based in the file), zeros where none is stored",
    "paper": "the rows that store as many values as the first row of the file, their values taken by position",
}


def load_libsvm(name: str, layout: str = "indexed", data_home: Folder | None = None, *, download: bool = True) -> Bunch:
    """Load one of the LIBSVM data sets of the paper.

    Files are looked for in ``data_home``, in the folder that the environment variable UNLABELED_DATA_HOME names, and in
    the cache folder of the platform, plain or as .xz, .bz2 or .gz. What is missing is downloaded into the first of
    these folders that can be written to. The hash of a file is recorded at its first use, and a file that changes
    afterwards is refused. Parsed rows are kept in binary form, and loading them again takes no time; sets of more than
    128 MB come as read-only memory-mapped arrays.

    Where a data set is not found but extracts of it are (``higgs_*.xz``, ``epsilon_normalized*_100.xz``), their rows
    are used, each once, and ``note`` says so.

    Parameters
    ----------
    name : str
        One of heart_scale, sonar_scale, australian_scale, breast-cancer_scale, diabetes_scale, skin_nonskin,
        epsilon_normalized, HIGGS.
    layout : {"indexed", "paper"}, default="indexed"
        "indexed": every row, each value in the column of its index. "paper": the rows that store as many values as
        the first row of the file, read by position. That is how the paper had them; LIBSVM text omits zeros, so
        columns are not the same quantity in every row. Use it to reproduce the paper only.
    data_home : path, default=None
        Folder to look in first, and to download to.
    download : bool, default=True
        Whether to fetch what is missing.

    Returns
    -------
    Bunch
        ``data`` (float32 for epsilon_normalized and HIGGS, else float64), ``target`` (1 or 0), ``target_names`` (what
        0 and 1 mean), ``name``, ``layout``, ``files``, ``note`` (empty, or what is missing) and ``DESCR``.

    Examples
    --------
    >>> from unlabeled.datasets import load_libsvm
    >>> table = load_libsvm("heart")  # doctest: +SKIP
    >>> table.data.shape, table.target.shape  # doctest: +SKIP
    """
    source = find_source(name)
    if layout not in LAYOUTS:
        raise ValueError(f"layout={layout!r} is not known; use one of {list(LAYOUTS)}.")
    folders = search_folders(data_home)
    files, are_extracts = _find_files(source, folders, download=download)
    rows = _load_rows(source, layout, files, folders, distinct=are_extracts)
    note = _extract_note(source, files, len(rows.target)) if are_extracts else ""
    return Bunch(
        data=rows.data,
        target=rows.target.astype(int),
        target_names=list(source.target_names),
        name=name,
        layout=layout,
        files=[str(path) for path in files],
        note=note,
        DESCR=_describe(source, layout, rows, note),
    )


def _find_files(source: Source, folders: Sequence[Path], *, download: bool) -> tuple[tuple[Path, ...], bool]:
    """The files of a source, downloaded if need be, or extracts of it; and whether they are extracts."""
    found = {file: find_file(file, folders) for file in source.files}
    if not any(found.values()):
        extracts = find_extracts(source, folders)
        if extracts:
            return extracts, True
    paths = []
    for file, path in found.items():
        if path is None and not download:
            raise refuse(source, file, folders)
        paths.append(path or fetch(source, file, folders))
    return tuple(paths), False


def _load_rows(
    source: Source, layout: str, files: Sequence[Path], folders: Sequence[Path], *, distinct: bool
) -> DenseRows:
    """Open the binary form of the files, or make it."""
    entry = CacheEntry(source.name, layout, files, folders)
    rows = entry.open()
    if rows is None:
        for path in files:
            check_unchanged(path, folders)
        rows = entry.fill(lambda: read_rows(files, source, layout, distinct=distinct))
    return rows


def _extract_note(source: Source, files: Sequence[Path], n_rows: int) -> str:
    names = ", ".join(path.name for path in files)
    whole = " and ".join(f"{COLLECTION}{file}{source.endings[0]}" for file in source.files)
    return (
        f"{source.name} is not at hand; these {n_rows:,} rows are from extracts of it ({names}), each row once. "
        f"The whole is {whole}."
    )


def _describe(source: Source, layout: str, rows: DenseRows, note: str) -> str:
    n_rows, n_columns = rows.data.shape
    n_positive = int(rows.target.sum())
    classes = (
        f"{n_positive:,} with target 1 ({source.target_names[1]}), "
        f"{n_rows - n_positive:,} with target 0 ({source.target_names[0]})"
    )
    lines = [
        f"{source.name}, from the LIBSVM collection, {COLLECTION}",
        f"{n_rows:,} rows, {n_columns:,} columns; {classes}.",
        f"layout={layout!r}: {_LAYOUT_MEANS[layout]}.",
        source.remark,
        note,
    ]
    return "\n".join(line for line in lines if line)
