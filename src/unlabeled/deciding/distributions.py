"""How the honest scores of labelled positives and unlabeled rows are distributed, as numbers and as a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.drawing import DARK, LIGHT, STYLE, Plot

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
    def of(cls, scores: HonestScores, threshold: float, n_bins: int = N_BINS) -> ScoreDistributions:
        """Of honest scores."""
        edges = score_edges(scores, threshold, n_bins)
        labelled = shares_in(edges, scores.positive, scores.positive_weights)
        return cls(edges, labelled, shares_in(edges, scores.unlabeled, scores.unlabeled_weights), threshold)

    def picture(self, other: FloatArray | None = None, name: str = "scores") -> str:
        """Both histograms as SVG, and that of another table."""
        highest = max(self.labelled.max(), self.unlabeled.max(), 0 if other is None else other.max())
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        description = (
            f"Labelled positives have a mean score of {self.labelled @ middle:.2f}, unlabeled rows of "
            f"{self.unlabeled @ middle:.2f}; the threshold is {self.threshold:.2f}."
        )
        plot = Plot(
            name,
            "Distribution of the scores",
            description,
            (float(self.edges[0]), float(self.edges[-1])),
            (0.0, 1.08 * float(highest)),
            "score (log ratio)",
            "share of the sample",
            y_form=".0%",
        )
        plot.steps(self.edges, self.unlabeled, "two").steps(self.edges, self.labelled, "one")
        if other is not None:
            plot.line(np.repeat(self.edges, 2)[1:-1], np.repeat(other, 2), "three")
        return plot.upright(self.threshold, "threshold").svg()


def score_edges(scores: HonestScores, threshold: float, n_bins: int = N_BINS) -> FloatArray:
    """Edges of bins of equal width around nearly all scores, and around the threshold if it lies near them."""
    low, high = np.quantile(np.concatenate([scores.positive, scores.unlabeled]), _ENDS)
    width = max(high - low, 1e-6 * max(1.0, abs(high)))
    if low - width <= threshold <= high + width:
        low, high = min(low, threshold), max(high, threshold)
    low, high = (low, high) if high > low else (low - width, high + width)
    return np.linspace(low, high, n_bins + 1)


def shares_in(edges: FloatArray, scores: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """The share of scores in each bin; those beyond the ends are in the outermost."""
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), edges, weights=weights)
    return np.asarray(counts / counts.sum())


def piece_for_notebooks(scores: HonestScores, threshold: float, prior: float, name: str) -> str:
    """What a notebook shows of a fitted classifier below its parameters: key numbers, and the scores."""
    found = ScoreDistributions.of(scores, threshold)
    numbers = {
        "labelled positives": f"{scores.n_positive:,.0f}",
        "prior": f"{prior:.3f}",
        "threshold": f"{threshold:.3f}",
        "flagged": f"{float(scores.positive_rate(np.array([threshold]))[0]):.1%}",
        "labelled positives that are flagged": f"{float(scores.recall(np.array([threshold]))[0]):.0%}",
    }
    told = " · ".join(f"{words}: <b>{number}</b>" for words, number in numbers.items())
    piece = ".unlabeled-piece"
    style = (
        f"{piece} {{ {LIGHT}; background: var(--paper); color: var(--ink); padding: .5rem .8rem; max-width: 30rem; "
        f"font: 13px system-ui, sans-serif; }} @media (prefers-color-scheme: dark) {{ {piece} {{ {DARK} }} }} "
        f"{STYLE.replace('.picture', f'{piece} .picture')}"
    )
    return (
        f'<style>{style}</style><details class="unlabeled-piece" open><summary>What was learned (rows scored without '
        f"themselves)</summary><p>{told}</p>{found.picture(name=name)}<p>Red: labelled positives; blue: unlabeled "
        "rows. <code>unlabeled.report(model, X, y)</code> shows more.</p></details>"
    )
