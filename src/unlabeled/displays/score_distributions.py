"""How the scores of labelled positives and of unlabeled rows are distributed, each scored without itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.displays.axes import POPULATION, POSITIVE, Display, evidence_of
from unlabeled.evaluation import Evidence

N_BINS = 40
#: Scores beyond these quantiles of the table lie in the outermost bins.
_ENDS = 0.002, 0.998


@dataclass(frozen=True)
class ScoreDistributions:
    """Shares of labelled positives and of unlabeled rows in bins of the score, and the threshold.

    Scores beyond the ends are counted in the outermost bins, so that the shares of each sum up to 1.
    """

    edges: FloatArray
    labelled: FloatArray
    unlabeled: FloatArray
    threshold: float

    @classmethod
    def of(cls, evidence: Evidence, n_bins: int = N_BINS) -> ScoreDistributions:
        """Of honest scores."""
        scores, threshold = evidence.scores, evidence.threshold
        edges = score_edges(scores, threshold, n_bins)
        labelled = shares_in(edges, scores.positive, scores.positive_weights)
        return cls(edges, labelled, shares_in(edges, scores.unlabeled, scores.unlabeled_weights), threshold)


def score_edges(scores: HonestScores, threshold: float, n_bins: int = N_BINS) -> FloatArray:
    """Edges of bins of equal width around nearly all scores, and around the threshold if it lies near them."""
    both = np.concatenate([scores.positive, scores.unlabeled])
    low, high = np.quantile(both, _ENDS)
    width = max(high - low, 1e-6 * max(1.0, abs(high)))
    if low - width <= threshold <= high + width:
        low, high = min(low, threshold), max(high, threshold)
    low, high = (low, high) if high > low else (low - width, high + width)
    return np.linspace(low, high, n_bins + 1)


def shares_in(edges: FloatArray, scores: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """The share of scores in each bin; those beyond the ends are in the outermost."""
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), edges, weights=weights)
    return np.asarray(counts / counts.sum())


class ScoreDistributionDisplay(Display):
    """Histograms of the scores of labelled positives and unlabeled rows, with the threshold.

    Each row is scored without itself, so that the picture is what to expect of new rows. If the two look alike, the
    columns do not tell positives from others.

    Attributes
    ----------
    distributions : ScoreDistributions
        ``edges``, ``labelled``, ``unlabeled`` and ``threshold``: what is drawn.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import ScoreDistributionDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> shown = ScoreDistributionDisplay.of_evidence(model)
    >>> round(float(shown.distributions.labelled.sum()), 9)
    1.0
    """

    def __init__(self, distributions: ScoreDistributions) -> None:
        self.distributions = distributions

    @classmethod
    def of_evidence(cls, model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Self:
        """Computed, and not drawn yet."""
        return cls(ScoreDistributions.of(evidence_of(model, X, y)))

    @classmethod
    def from_estimator(
        cls, model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Any = None
    ) -> Self:
        """Draw the scores of a fitted classifier; X and y are the table that it was fitted to."""
        return cls.of_evidence(model, X, y).plot(ax)

    def _draw(self, ax: Any) -> None:
        found = self.distributions
        ax.stairs(found.unlabeled, found.edges, fill=True, alpha=0.25, color=POPULATION)
        ax.stairs(found.unlabeled, found.edges, color=POPULATION, lw=1.5, label="unlabeled rows")
        ax.stairs(found.labelled, found.edges, fill=True, alpha=0.25, color=POSITIVE)
        ax.stairs(found.labelled, found.edges, color=POSITIVE, lw=1.5, label="labelled positives")
        ax.axvline(found.threshold, color="k", ls="--", lw=1, label="threshold")
        ax.set(xlabel="score (log ratio), each row scored without itself", ylabel="share of the sample", ylim=(0, None))
        ax.legend(frameon=False)
