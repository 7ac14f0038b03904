"""The paper's experiments: data sets x methods x settings, one ``run(cell) -> metrics`` each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unlabeled.experiments import gaussians, moons, real_data, theory, timing
from unlabeled.experiments.cell import Cell

EXPERIMENTS: dict[str, Callable[[Cell], dict[str, Any]]] = {
    moons.NAME: moons.run,
    gaussians.NAME: gaussians.run,
    timing.NAME: timing.run,
    real_data.SUMMARY: real_data.summarise,
    real_data.NAME: real_data.run,
    theory.NAME: theory.run,
}


def run(cell: Cell) -> dict[str, Any]:
    """The metrics of any cell, by the experiment it belongs to."""
    return EXPERIMENTS[cell.experiment](cell)
