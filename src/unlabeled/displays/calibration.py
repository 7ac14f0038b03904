"""Whether probabilities are what they say, as far as positives and unlabeled rows tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.calibration import calibrate
from unlabeled.displays.axes import POPULATION, EvidenceDisplay, once, style_of
from unlabeled.evaluation import Evidence, squared_and_added
from unlabeled.metrics.estimate import proportion

N_BINS = 8
#: Fewer rows of the population are no bin.
LEAST_ROWS = 5


@dataclass(frozen=True)
class CalibrationBins:
    """Predicted and estimated shares of positives in bins of the score.

    ``predicted`` is the mean calibrated probability in a bin, at the prior. ``observed`` is the share of positives by
    Bayes' rule, prior * (labelled positives in the bin) / (population in the bin), with ``low`` and ``high`` for the
    noise of both and of the prior. ``n_rows`` are scores of the population in each. ``by_prior`` (3, n_bins) are the
    predictions if the prior were the one in use, the lower and the upper end of its interval.
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    n_rows: FloatArray
    by_prior: FloatArray
    priors: tuple[float, float, float]

    @classmethod
    def of(cls, evidence: Evidence, n_bins: int = N_BINS) -> CalibrationBins:
        """In bins with equal shares of the labelled positives; below the lowest of these one more."""
        scores, priors = evidence.scores, (evidence.prior.value, *evidence.prior.ends)
        inner = np.unique(np.quantile(scores.positive, np.linspace(0, 1, n_bins + 1)[:-1]))
        place = np.searchsorted(inner, scores.population, side="right")
        positive_place = np.searchsorted(inner, scores.positive, side="right")
        size = len(inner) + 1
        mass = np.bincount(place, scores.population_mass, size)
        positive = np.bincount(positive_place, scores.positive_mass, size)
        kept = mass * scores.n_population >= LEAST_ROWS
        by_prior = [
            np.bincount(place, scores.population_mass * _at(evidence, prior), size)[kept] / mass[kept]
            for prior in priors
        ]
        observed = np.array(
            [_observed(evidence, share, weight) for share, weight in zip(positive[kept], mass[kept], strict=True)]
        ).reshape(-1, 3)
        share, low, high = observed.T
        n_rows = np.asarray(mass[kept] * scores.n_population, dtype=np.float64)
        return cls(by_prior[0], share, low, high, n_rows, np.array(by_prior), priors)


def _at(evidence: Evidence, prior: float) -> FloatArray:
    if prior == evidence.prior.value:
        return evidence.probabilities
    return calibrate(evidence.scores, prior).probability(evidence.scores.population)


def _observed(evidence: Evidence, share: float, mass: float) -> tuple[float, float, float]:
    """Prior * share / mass, and how far off it may be: shares by their binomial intervals, the prior by its own."""
    scores, (low_prior, high_prior) = evidence.scores, evidence.prior.ends
    of_positives = proportion(share * scores.n_positive, scores.n_positive)
    of_population = proportion(mass * scores.n_population, scores.n_population)
    value, prior = evidence.prior.value * share / mass, evidence.prior.value
    if not share:  # no positive of the sample is there, and some may be
        return 0.0, 0.0, min(high_prior * of_positives.high / mass, 1.0)
    down = [(prior, low_prior), (share, of_positives.low), (of_population.high, mass)]
    up = [(high_prior, prior), (of_positives.high, share), (mass, of_population.low)]
    low, high = value * np.exp(-squared_and_added(down)), value * np.exp(squared_and_added(up))
    return min(value, 1.0), min(float(low), 1.0), min(float(high), 1.0)


class PUCalibrationDisplay(EvidenceDisplay):
    """Predicted probabilities against shares of positives by Bayes' rule, with the prior's uncertainty.

    The probabilities were fitted to the same scores, so that points near the diagonal are no proof; points far from it
    say that the calibrated curve cannot follow what the scores show.

    Attributes
    ----------
    bins : CalibrationBins
        ``predicted``, ``observed``, ``low``, ``high`` and ``by_prior``.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import PUCalibrationDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> bins = PUCalibrationDisplay.of_evidence(model).bins
    >>> bool((bins.low <= bins.observed).all())
    True
    """

    def __init__(self, bins: CalibrationBins) -> None:
        self.bins = bins

    @classmethod
    def _of(cls, evidence: Evidence) -> Self:
        return cls(CalibrationBins.of(evidence))

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.bins
        _, low, high = found.by_prior
        style = {"fmt": "o", "markersize": 5, "label": name or "by Bayes' rule, 95 %"} | style_of(ax, kwargs)
        colour = style["color"] if ax.get_xlabel() else POPULATION  # of the first alone the band is told apart
        ax.plot([0, 1], [0, 1], color="0.6", lw=1, ls=":", label=once(ax, "as predicted"))
        band = once(ax, "if the prior is off")
        ax.fill_between(found.predicted, low, high, color=colour, alpha=0.2, lw=0, label=band)
        below, above = found.observed - found.low, found.high - found.observed
        ax.errorbar(found.predicted, found.observed, [below, above], **style)
        ax.set(xlabel="mean predicted probability", ylabel="share of positives (estimate)")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.legend(frameon=False)
