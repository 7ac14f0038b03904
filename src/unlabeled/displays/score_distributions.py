"""How the scores of labelled positives and of unlabeled rows are distributed, each scored without itself."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from unlabeled.deciding.distributions import ScoreDistributions
from unlabeled.displays.axes import POPULATION, POSITIVE, Display, evidence_of


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
        evidence = evidence_of(model, X, y)
        return cls(ScoreDistributions.of(evidence.scores, evidence.threshold))

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
