"""Rows of a results file, found by what they are about, and the statistics of a group of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

Setting = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """What one method did under one setting: a value of each metric for each draw, and what went wrong."""

    metrics: dict[int, dict[str, Any]]
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether there are any rows, be they failures."""
        return bool(self.metrics or self.failures)

    def values(self, metric: str) -> dict[int, float]:
        """The metric by draw."""
        return {draw: float(found[metric]) for draw, found in sorted(self.metrics.items()) if metric in found}

    def mean(self, metric: str) -> Mean | None:
        """Mean and standard error of a metric; None where there are no draws."""
        return Mean.of(np.array(list(self.values(metric).values())))


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error (0 for one draw, which has none)."""

    value: float
    error: float
    n_draws: int

    @classmethod
    def of(cls, values: np.ndarray) -> Mean | None:
        """Of some values; None of none."""
        if len(values) == 0:
            return None
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(float(values.mean()), error, len(values))


class Rows:
    """All rows of a results file, indexed by experiment, data set, method and setting."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._groups: dict[tuple[Any, ...], Group] = {}
        collected: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in rows:
            collected.setdefault(_address(row["experiment"], row["dataset"], row["method"], row["setting"]), []).append(
                row
            )
        for address, found in collected.items():
            self._groups[address] = Group(
                {row["draw"]: row["metrics"] for row in found if "metrics" in row},
                tuple(sorted({row["failure"] for row in found if "failure" in row})),
                tuple(sorted({row["note"] for row in found if "note" in row})),
            )

    def group(self, experiment: str, dataset: str, method: str, setting: Setting) -> Group:
        """The draws of one method under one setting, possibly none."""
        return self._groups.get(_address(experiment, dataset, method, setting), Group({}))

    def settings(self, experiment: str) -> list[Setting]:
        """The settings that an experiment has rows for."""
        return [dict(address[3]) for address in self._groups if address[0] == experiment]

    def methods(self, experiment: str) -> list[str]:
        """The methods that an experiment has rows for."""
        return sorted({address[2] for address in self._groups if address[0] == experiment})


def _address(experiment: str, dataset: str, method: str, setting: Setting) -> tuple[Any, ...]:
    return experiment, dataset, method, tuple(sorted(setting.items()))


def paired_difference(one: Group, other: Group, metric: str) -> Mean | None:
    """Mean of one less the other over the draws that both have."""
    return Mean.of(_differences(one, other, metric))


def paired_p_value(one: Group, other: Group, metric: str) -> float | None:
    """Two-sided p-value of a paired t-test on the draws that both have; None of fewer than two."""
    differences = _differences(one, other, metric)
    if len(differences) < 2:
        return None
    if np.ptp(differences) == 0:
        return float(differences[0] == 0)
    with _nearly_equal_allowed():
        return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _differences(one: Group, other: Group, metric: str) -> np.ndarray:
    ours, theirs = one.values(metric), other.values(metric)
    return np.array([ours[draw] - theirs[draw] for draw in ours if draw in theirs])


def best_and_equals(groups: dict[str, Group], metric: str, level: float = 0.05) -> set[str]:
    """The method of the highest mean and those that a two-sample t-test at this level cannot tell from it."""
    samples = {name: np.array(list(group.values(metric).values())) for name, group in groups.items()}
    samples = {name: values for name, values in samples.items() if len(values)}
    if not samples:
        return set()
    best = max(samples, key=lambda name: samples[name].mean())
    return {name for name, values in samples.items() if name == best or _not_told_apart(samples[best], values, level)}


def _not_told_apart(best: np.ndarray, other: np.ndarray, level: float) -> bool:
    if len(best) < 2 or len(other) < 2:
        return False
    if np.ptp(best) == np.ptp(other) == 0:
        return bool(best[0] == other[0])
    with _nearly_equal_allowed():
        return bool(stats.ttest_ind(best, other, equal_var=False).pvalue > level)


@contextmanager
def _nearly_equal_allowed() -> Iterator[None]:
    """Say nothing of draws that are nearly equal, as of a method that always answers the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
