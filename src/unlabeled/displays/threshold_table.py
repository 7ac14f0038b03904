"""What each of many thresholds would do: flagged rate, recall, precision, counts, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.thresholds import Costs
from unlabeled.displays.axes import POPULATION, POSITIVE, THIRD, EvidenceDisplay
from unlabeled.evaluation import Evidence
from unlabeled.metrics.estimate import Estimate

#: Thresholds that are tried, beside the one of the classifier.
N_THRESHOLDS = 200


@dataclass(frozen=True)
class ThresholdRow:
    """What to expect at one threshold; each an `Estimate`.

    ``n_flagged``, ``n_found``, ``n_false`` and ``n_missed`` are numbers of rows in the table's population: flagged,
    positives among them, the others among them, and positives that are not flagged.
    """

    threshold: float
    flagged_rate: Estimate
    recall: Estimate
    precision: Estimate
    n_flagged: float
    n_found: Estimate
    n_false: Estimate
    n_missed: Estimate

    @classmethod
    def of(cls, evidence: Evidence, threshold: float) -> ThresholdRow:
        """By `Evidence.at`, and what follows from it."""
        found = evidence.at(threshold)
        n_flagged = float(found.flagged_rate.value or 0.0) * evidence.n_population
        return cls(
            threshold,
            found.flagged_rate,
            found.recall,
            found.precision,
            n_flagged,
            found.n_flagged_positives,
            _less(n_flagged, found.n_flagged_positives),
            _missed(found.n_positives, found.n_flagged_positives, found.recall),
        )

    def cost(self, costs: Costs) -> Estimate:
        """What its errors cost together; the ends are those of both errors at once."""
        false, missed = self.n_false, self.n_missed
        value = None
        if false.value is not None and missed.value is not None:
            value = costs.false_positive * false.value + costs.false_negative * missed.value
        low, high = (
            costs.false_positive * getattr(false, end) + costs.false_negative * getattr(missed, end)
            for end in ("low", "high")
        )
        return Estimate(value, low, high)


def _less(n_rows: float, found: Estimate) -> Estimate:
    """So many rows less those that were found."""
    value = None if found.value is None else max(n_rows - found.value, 0.0)
    return Estimate(value, max(n_rows - found.high, 0.0), max(n_rows - found.low, 0.0))


def _missed(positives: Estimate, found: Estimate, recall: Estimate) -> Estimate:
    """Positives that are not flagged: the ends are those of the number of positives, times what recall leaves."""
    value = None
    if positives.value is not None and found.value is not None:
        value = max(positives.value - found.value, 0.0)
    low, high = positives.low * (1 - recall.high), positives.high * (1 - recall.low)
    return Estimate(value, low if value is None else min(low, value), high if value is None else max(high, value))


@dataclass(frozen=True)
class ThresholdTable:
    """Rows for ascending thresholds, and the place of the classifier's own among them."""

    rows: tuple[ThresholdRow, ...]
    chosen: int

    @classmethod
    def of(cls, evidence: Evidence, n_thresholds: int = N_THRESHOLDS) -> ThresholdTable:
        """At thresholds that part the scores into equal shares, those of positives as well as the population's."""
        thresholds = threshold_grid(evidence, n_thresholds)
        chosen = int(np.searchsorted(thresholds, evidence.threshold))
        return cls(tuple(ThresholdRow.of(evidence, float(threshold)) for threshold in thresholds), chosen)

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, ascending."""
        return np.array([row.threshold for row in self.rows])

    def values(self, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, lower and upper end of one of the estimates at each threshold; NaN where there is no number."""
        found: list[Estimate] = [getattr(row, name) for row in self.rows]
        value = [np.nan if estimate.value is None else estimate.value for estimate in found]
        return np.array(value), np.array([e.low for e in found]), np.array([e.high for e in found])

    def cheapest(self, costs: Costs) -> int:
        """The place of the threshold whose errors cost least; of equals the lowest. That in use, if none is known."""
        found = [row.cost(costs).value for row in self.rows]
        if all(cost is None for cost in found):
            return self.chosen
        return int(np.argmin([np.inf if cost is None else cost for cost in found]))

    def some(self, n_rows: int = 11) -> list[int]:
        """Places of a few thresholds, evenly spread, and the one of the classifier."""
        spread = np.linspace(0, len(self.rows) - 1, n_rows).round().astype(int)
        return sorted({*map(int, spread), self.chosen})


def threshold_grid(evidence: Evidence, n_thresholds: int = N_THRESHOLDS) -> FloatArray:
    """Thresholds from below nearly all positives to the highest score, and the classifier's own, ascending."""
    scores = evidence.scores
    shares = np.linspace(0.005, 0.995, n_thresholds // 2)
    by_positives = np.quantile(scores.positive, shares)
    population = scores.population
    start = min(float(by_positives[0]), evidence.threshold)
    above = population[population >= start]
    by_population = np.quantile(above if len(above) else population, shares)
    return np.unique(np.concatenate([by_positives, by_population, [evidence.threshold]]))


class ThresholdDisplay(EvidenceDisplay):
    """Recall, precision and flagged rate against the threshold, with intervals of 95 %.

    Attributes
    ----------
    table : ThresholdTable
        What is drawn: ``rows`` with estimates for each threshold.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, evaluate
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import ThresholdDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> table = ThresholdDisplay.of_evidence(model, data.X, data.y).table
    >>> table.rows[table.chosen].recall == evaluate(model, data.X, data.y).recall
    True
    """

    def __init__(self, table: ThresholdTable) -> None:
        self.table = table

    @classmethod
    def _of(cls, evidence: Evidence) -> Self:
        return cls(ThresholdTable.of(evidence))

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        x = self.table.thresholds
        colours = {"recall": POSITIVE, "precision": POPULATION, "flagged_rate": THIRD}
        for what, colour in colours.items():
            value, low, high = self.table.values(what)
            (line,) = ax.plot(x, value, **{"color": colour, "label": what.replace("_", " ")} | kwargs)
            ax.fill_between(x, low, high, color=line.get_color(), alpha=0.15, lw=0)
        ax.axvline(x[self.table.chosen], color="k", ls="--", lw=1, label="threshold in use")
        ax.set(xlabel="threshold on the score (log ratio)", ylabel="share, with 95 % intervals", ylim=(0, 1.02))
        ax.set_title(name or "")
        ax.legend(frameon=False)
