"""The paper's experiments: data sets x methods x settings, one ``run(cell) -> metrics`` each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unlabeled.experiments.cell import Cell

#: The module of each experiment and its function. Loaded when one is run: a process that only waits needs none of them.
EXPERIMENTS: dict[str, tuple[str, str]] = {
    "moons": ("moons", "run"),
    "gaussians": ("gaussians", "run"),
    "timing": ("timing", "run"),
    "data sets": ("real_data", "summarise"),
    "real data": ("real_data", "run"),
    "theory": ("theory", "run"),
}


def run(cell: Cell) -> dict[str, Any]:
    """The metrics of any cell, by the experiment it belongs to."""
    module, function = EXPERIMENTS[cell.experiment]
    return getattr(import_module(f"{__name__}.{module}"), function)(cell)
