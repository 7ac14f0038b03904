"""ROC and precision-recall curves without negatives, with what the prior's uncertainty makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.calibration import calibrate
from unlabeled.displays.axes import POPULATION, EvidenceDisplay, once, style_of
from unlabeled.evaluation import Evidence
from unlabeled.metrics.estimate import Estimate

#: More points than this are thinned out: no picture shows them.
MOST_POINTS = 400


@dataclass(frozen=True)
class RankingCurves:
    """Recall, false positive rate and precision as the threshold falls; the last two at three priors.

    Each of ``false_positive_rate`` and ``precision`` is (3, n_points): at the prior, and at the lower and upper end of
    its interval. The share of negatives that are flagged is (flagged - prior * recall) / (1 - prior), never falling and
    cut off at 0 and 1. Precision is the mean calibrated probability of the flagged, as `evaluate` has it.
    """

    recall: FloatArray
    flagged_rate: FloatArray
    false_positive_rate: FloatArray
    precision: FloatArray
    priors: tuple[float, float, float]
    roc_auc: Estimate
    chosen: int

    @classmethod
    def of(cls, evidence: Evidence) -> RankingCurves:
        """From honest scores."""
        scores, priors = evidence.scores, (evidence.prior.value, *evidence.prior.ends)
        thresholds = _thresholds(evidence)
        recall = _share_above(thresholds, scores.positive, scores.positive_mass)
        flagged = _share_above(thresholds, scores.population, scores.population_mass)
        rates = [(flagged - prior * recall) / max(1 - prior, 1e-9) for prior in priors]
        found = [
            _share_above(thresholds, scores.population, scores.population_mass * _probabilities(evidence, prior))
            for prior in priors
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.array([np.minimum(share / flagged, 1.0) for share in found])
        return cls(
            recall,
            flagged,
            np.array([np.maximum.accumulate(np.clip(rate, 0, 1)) for rate in rates]),
            precision,
            priors,
            evidence.roc_auc,
            int(np.flatnonzero(thresholds == evidence.threshold)[0]),
        )


def _thresholds(evidence: Evidence) -> FloatArray:
    """Scores of the table from the highest to below the lowest, and the threshold in use; not too many."""
    values = np.unique(np.concatenate([evidence.scores.positive, evidence.scores.population]))
    if len(values) > MOST_POINTS:
        positive = np.quantile(evidence.scores.positive, np.linspace(0, 1, MOST_POINTS // 2))
        values = np.concatenate([np.quantile(values, np.linspace(0, 1, MOST_POINTS // 2)), positive])
    below = np.nextafter(values.min(), -np.inf)
    return np.unique(np.concatenate([values, [below, evidence.threshold]]))[::-1]


def _share_above(thresholds: FloatArray, scores: FloatArray, mass: FloatArray) -> FloatArray:
    order = np.argsort(scores)
    above = np.append(np.cumsum(mass[order][::-1])[::-1], 0.0)
    return above[np.searchsorted(scores[order], thresholds, side="right")]


def _probabilities(evidence: Evidence, prior: float) -> FloatArray:
    if prior == evidence.prior.value:
        return evidence.probabilities
    return calibrate(evidence.scores, prior).probability(evidence.scores.population)


class _RankingDisplay(EvidenceDisplay):
    def __init__(self, curves: RankingCurves) -> None:
        self.curves = curves

    @classmethod
    def _of(cls, evidence: Evidence) -> Self:
        return cls(RankingCurves.of(evidence))


class PURocCurveDisplay(_RankingDisplay):
    """ROC curve without negatives: recall against the share of negatives that are flagged, with the prior's band.

    Attributes
    ----------
    curves : RankingCurves
        ``recall``, ``false_positive_rate`` (at the prior and at both ends of its interval) and ``roc_auc``.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import PURocCurveDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> curves = PURocCurveDisplay.of_evidence(model).curves
    >>> round(float(curves.recall[-1]), 6), round(float(curves.false_positive_rate[0, -1]), 6)
    (1.0, 1.0)
    """

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.curves
        rate, *ends = found.false_positive_rate
        area = f"AUC {_in_words(found.roc_auc)}"
        label = area if name is None else f"{name}: {area}"
        (line,) = ax.plot(rate, found.recall, **{"label": label} | style_of(ax, kwargs))
        _band(ax, ax.fill_betweenx, found.recall, ends, line)
        if not ax.get_xlabel():
            ax.plot([0, 1], [0, 1], color="0.6", lw=1, ls=":")
        _chosen(ax, rate[found.chosen], found.recall[found.chosen])
        ax.set(xlabel="negatives that are flagged (estimate)", ylabel="recall", xlim=(-0.01, 1.01), ylim=(0, 1.01))
        ax.legend(frameon=False, loc="lower right")


class PUPrecisionRecallDisplay(_RankingDisplay):
    """Precision-recall curve without negatives, with the prior's band.

    Attributes
    ----------
    curves : RankingCurves
        ``recall`` and ``precision`` (at the prior and at both ends of its interval).

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import PUPrecisionRecallDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> curves = PUPrecisionRecallDisplay.of_evidence(model).curves
    >>> round(float(curves.precision[0, -1]), 2)  # all rows are flagged: the prior
    0.5
    """

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.curves
        precision, *ends = found.precision
        colour = {} if ax.lines else {"color": POPULATION}
        (line,) = ax.plot(found.recall, precision, **{"label": name or "precision"} | style_of(ax, colour | kwargs))
        _band(ax, ax.fill_between, found.recall, ends, line)
        prior = once(ax, f"all flagged: the prior, {found.priors[0]:.3g}")
        ax.axhline(found.priors[0], color="0.6", lw=1, ls=":", label=prior)
        _chosen(ax, found.recall[found.chosen], precision[found.chosen])
        ax.set(xlabel="recall", ylabel="precision (estimate)", xlim=(-0.01, 1.01), ylim=(0, 1.01))
        ax.legend(frameon=False)


def _band(ax: Any, fill: Callable[..., Any], along: FloatArray, ends: Sequence[FloatArray], line: Any) -> None:
    """What the prior's interval makes of a curve, in its colour."""
    fill(along, *ends, color=line.get_color(), alpha=0.2, lw=0, label=once(ax, "prior's 95 % interval"))


def _chosen(ax: Any, x: float, y: float) -> None:
    ax.plot(x, y, "o", color="k", ms=5, label=once(ax, "threshold in use"))


def _in_words(found: Estimate) -> str:
    number = "unknown" if found.value is None else f"{found.value:.2f}"
    return f"{number} ({found.low:.2f} to {found.high:.2f})"
