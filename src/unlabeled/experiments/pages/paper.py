"""The paper's own numbers, kept as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

SMALL = (
    "heart_scale",
    "sonar_scale",
    "australian_scale",
    "australian_scale2",
    "breast-cancer_scale",
    "breast-cancer_scale2",
    "diabetes_scale",
)
LARGE = ("skin_nonskin", "skin_nonskin2", "epsilon_normalized", "HIGGS")


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it, in percent: the mean, its standard error, and whether it stands in bold."""

    value: float
    error: float
    bold: bool


@cache
def _numbers() -> dict[str, Any]:
    return dict(json.loads(resources.files(__package__).joinpath("paper.json").read_text()))


def training_times() -> dict[str, dict[str, list[float]]]:
    """Table 1: seconds and ratios, each mean and standard error, by method."""
    return dict(_numbers()["table1"])


def data_sets() -> dict[str, dict[str, float]]:
    """Table 2: sizes of the eleven data sets."""
    return dict(_numbers()["table2"])


def printed(table: str, metric: str, dataset: str, method: str) -> Printed | None:
    """A cell of Table 3 or 4; None where the paper has a hyphen, or no such method."""
    found = _numbers()[table][metric][dataset].get(plain_name(method))
    return None if found is None else Printed(*found)


def plain_name(method: str) -> str:
    """The name that the paper's numbers are kept by: of a method, whatever its reading."""
    return method.removesuffix("-released").removesuffix("-balanced")


def highest(table: str, metric: str, dataset: str) -> tuple[list[str], float]:
    """The methods with the highest value that a table of the paper prints for a data set, and that value."""
    found: dict[str, list[float]] = _numbers()[table][metric][dataset]
    values = {method: entry[0] for method, entry in found.items() if entry is not None}
    value = max(values.values())
    return [method for method in values if values[method] == value], value


def label_of(method: str) -> str:
    """What the paper calls a method that its numbers are kept by."""
    return {"log": "LOG", "dh": "DH", "nnpu": "NNPU", "tadj": "tADJ", "wmmd": "WMMD"}[method]
