"""``unlabeled datasets``: the paper's data sets, and which of them are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unlabeled.cli import options
from unlabeled.cli.output import collected_warnings, say, say_json, show_table
from unlabeled.datasets import PAPER_DATASETS, PaperDataset, paper_dataset
from unlabeled.tables import TableError


def datasets(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these. Default: all.")] = None,
    *,
    download: Annotated[bool, typer.Option("--download", help="Download missing files from LIBSVM.")] = False,
    data_home: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where files are. Default: UNLABELED_DATA_HOME, or a cache.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the data sets of the paper: their sizes, and which of them are missing.

    For example:

        unlabeled datasets

        unlabeled datasets heart_scale diabetes_scale --download
    """
    if strangers := [name for name in names or () if name not in PAPER_DATASETS]:
        raise TableError(f"There is no data set {strangers[0]!r}; the paper has {', '.join(PAPER_DATASETS)}.")
    found: dict[str, PaperDataset] = {}
    missing: dict[str, str] = {}
    with collected_warnings() as warned:
        for name in names or PAPER_DATASETS:
            try:
                found[name] = paper_dataset(name, data_home=data_home, download=download)
            except (OSError, ValueError) as error:
                missing[name] = str(error)
    if as_json:
        say_json({"found": {name: _facts(data) for name, data in found.items()}, "missing": missing})
        return
    rows = [_row(name, data) for name, data in found.items()] + [(name, *"-----", "not found") for name in missing]
    show_table(("data set", "rows", "features", "prior", "positives", "unlabeled", "note"), rows)
    for warning in warned:
        say("Warning", warning)
    if missing:
        say("Missing", f"{len(missing)} data sets. To fetch them: unlabeled datasets --download")


def _facts(data: PaperDataset) -> dict[str, object]:
    n_rows, n_features = data.X.shape
    return {
        "n_rows": n_rows,
        "n_features": n_features,
        "prior": data.prior,
        "n_positive": data.n_positive,
        "n_unlabeled": data.n_unlabeled,
        "note": data.note,
    }


def _row(name: str, data: PaperDataset) -> tuple[str, ...]:
    facts = _facts(data)
    return (name, *(f"{facts[key]:,}" for key in list(facts)[:5]), str(facts["note"]).split(".")[0])
