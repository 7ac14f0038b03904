"""How the scores of labelled positives and of unlabeled rows are distributed, each scored without itself."""

from __future__ import annotations

from typing import Any, Self

from unlabeled.deciding.distributions import ScoreDistributions
from unlabeled.displays.axes import POPULATION, POSITIVE, EvidenceDisplay
from unlabeled.evaluation import Evidence


class ScoreDistributionDisplay(EvidenceDisplay):
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
    def _of(cls, evidence: Evidence) -> Self:
        return cls(ScoreDistributions.of(evidence.scores, evidence.threshold))

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.distributions
        sides = (found.unlabeled, POPULATION, "unlabeled rows"), (found.labelled, POSITIVE, "labelled positives")
        for shares, colour, label in sides:
            style = {"color": colour, "linewidth": 1.5, **kwargs}
            ax.stairs(shares, found.edges, fill=True, alpha=0.25, color=style["color"])
            ax.stairs(shares, found.edges, label=label, **style)
        ax.axvline(found.threshold, color="k", ls="--", lw=1, label="threshold")
        ax.set(xlabel="score (log ratio), each row scored without itself", ylabel="share of the sample", ylim=(0, None))
        ax.set_title(name or "")
        ax.legend(frameon=False)
