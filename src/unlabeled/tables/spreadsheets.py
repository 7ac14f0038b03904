"""Tables in spreadsheets: the first sheet of an Excel or OpenDocument file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import polars as pl

from unlabeled.tables.errors import TableError
from unlabeled.tables.headers import Header, unique_header


def read_sheet(path: Path, name: str) -> tuple[pl.DataFrame, Header, list[str]]:
    """The first sheet as text, its header, and the names of all sheets.

    As text, for what a column holds is decided by all of its values, and a reader that wants numbers would take words
    between them for missing.
    """
    try:
        sheets = import_module("fastexcel").read_excel(str(path)).sheet_names
        cells = pl.read_excel(path, has_header=False, read_options={"dtypes": "string"}, raise_if_empty=False)
    except ModuleNotFoundError as error:
        raise TableError("Spreadsheets need one more package: pip install fastexcel. Or save it as CSV.") from error
    except Exception as error:  # those of fastexcel have no common kind
        what = " ".join(str(error).split())[:200]
        raise TableError(f"{name} cannot be read as Excel: {what}. Save it as CSV.") from error
    if cells.is_empty():
        return cells, unique_header([]), sheets
    header = unique_header([name or "" for name in cells.row(0)])
    return cells.slice(1).rename(dict(zip(cells.columns, header.names, strict=True))), header, sheets
