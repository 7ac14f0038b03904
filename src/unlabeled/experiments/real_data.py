"""Tables 2, 3 and 4: the paper's eleven real data sets, with the prior known and estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from unlabeled.datasets import PaperDataset, PUData, paper_dataset
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.methods import PRIOR_ESTIMATORS, Prior, known_or_estimated, measure

NAME = "real data"
SUMMARY = "data sets"
SKIN = ("skin_nonskin", "skin_nonskin2")
LARGE = (*SKIN, "epsilon_normalized", "HIGGS")
#: Also run in the layout "indexed": as the paper read these files, a column is not the same quantity in every row.
ALSO_INDEXED = ("HIGGS",)
#: Unlabeled and test rows at most, where a quick look is asked for.
QUICK_ROWS = 1_000


def summary_cells(datasets: Iterable[str]) -> list[Cell]:
    """Cells of Table 2, what the data are."""
    return [Cell(SUMMARY, name, "count") for name in datasets]


def cells(
    datasets: Iterable[str],
    methods: Iterable[str],
    draws: dict[str, int],
    *,
    prior: str = "known",
    layout: str = "paper",
    quick: bool = False,
) -> list[Cell]:
    """Cells of Table 3 (prior known) or Table 4 (estimated); ``draws`` says how many for each data set."""
    return [
        _cell(name, method, prior, layout, quick, draw)
        for name in datasets
        for method in methods
        for draw in range(draws[name])
    ]


def _cell(dataset: str, method: str, prior: str, layout: str, quick: bool, draw: int) -> Cell:  # noqa: FBT001
    setting: dict[str, Any] = {"prior": prior if method in PRIOR_ESTIMATORS else "known"}
    if layout != "paper":
        setting["layout"] = layout
    if quick and dataset in LARGE:
        setting["n_unlabeled"] = QUICK_ROWS
    return Cell(NAME, dataset, method, setting, draw)


def summarise(cell: Cell) -> dict[str, Any]:
    """Rows, columns and positives of a data set, and the sizes drawn from it."""
    data_set = _loaded(cell.dataset, "paper")
    return _with_note(
        data_set,
        {
            "n_features": int(data_set.X.shape[1]),
            "n_rows": len(data_set.X),
            "n_positives": int(data_set.is_positive.sum()),
            "n_positive": data_set.n_positive,
            "n_unlabeled": data_set.n_unlabeled,
            "n_test": data_set.n_test,
            "prior": data_set.prior,
        },
    )


def drawn(cell: Cell) -> tuple[PUData, Prior]:
    """The data of a cell, and the prior that its method is given."""
    data_set = _data_set(cell)
    return data_set.draw(cell.data_seed), known_or_estimated(cell.method, str(cell.setting["prior"]), data_set.prior)


def run(cell: Cell) -> dict[str, Any]:
    """Accuracy and AUC of one method on one draw."""
    return with_note(cell, measure(cell.method, *drawn(cell), cell.seed))


def with_note(cell: Cell, found: dict[str, Any]) -> dict[str, Any]:
    """What was found, with what there is to say of the data."""
    return _with_note(_data_set(cell), found)


def _data_set(cell: Cell) -> PaperDataset:
    data_set = _loaded(cell.dataset, str(cell.setting.get("layout", "paper")))
    if (n_rows := cell.setting.get("n_unlabeled")) is not None:
        data_set = replace(
            data_set,
            n_unlabeled=min(int(n_rows), data_set.n_unlabeled),
            n_test=min(int(n_rows), data_set.n_test),
        )
    return data_set


def _with_note(data_set: PaperDataset, found: dict[str, Any]) -> dict[str, Any]:
    notes = [note for note in (data_set.note, found.get("note")) if note]
    return found | ({"note": "; ".join(notes)} if notes else {})


@lru_cache(maxsize=2)
def _loaded(name: str, layout: str) -> PaperDataset:
    return paper_dataset(name, layout=layout, download=False)  # the command has fetched it, once
