"""Regions of top scores: how many positives among the unlabeled rows agree with so few, or so many, rows in one.

Put a threshold t at the m-th highest score of n labelled positives. A share B of all positives scores t or more, and B
has the distribution Beta(m, n + 1 - m) whatever the score is, or is larger where scores tie. So of ``n_positives``
positives among the unlabeled rows a binomial number with mean n_positives * B lies in the region, whose tails are no
larger than those of a Poisson number with this mean. Where negatives lie there too, there are more rows.

This holds for labels given completely at random, and for a score that does not depend on the rows it scores, which is
nearly true of honest scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, gammainc, gammaincc

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores

#: Edges of the cells in which the distribution of B is summed up, as probabilities: fine where B is small.
_EDGES: FloatArray = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(0.5, 1e-3, 50)[1:], [1.0]])
_MASS: FloatArray = np.diff(_EDGES)


@dataclass(frozen=True)
class TopRegion:
    """The rows that score as high as a portion of the labelled positives does."""

    portion: float  # the share of the labelled positives in it
    n_unlabeled: float  # the unlabeled rows in it
    least: FloatArray  # quantiles, at the edges of the cells, of the share of all positives in it, from below
    most: FloatArray  # and from above

    @classmethod
    def of(cls, scores: HonestScores, portion: float) -> TopRegion:
        """The smallest region with at least this share of the labelled positives, and with at least one of them."""
        order = np.argsort(-scores.positive)
        total = np.cumsum(scores.positive_weights[order])
        needed = max(1.0, portion * total[-1])
        last = min(int(np.searchsorted(total, needed * (1 - 1e-9))), len(order) - 1)
        threshold = scores.positive[order[last]] - scores.rounding  # copies of a row are as high
        n_labelled = float(scores.positive_weights[scores.positive >= threshold].sum())
        n_unlabeled = float(scores.unlabeled_weights[scores.unlabeled >= threshold].sum())
        return cls(portion, n_unlabeled, _quantiles(needed, total[-1]), _quantiles(n_labelled, total[-1]))

    def p_of_so_few(self, n_positives: float) -> float:
        """Probability of so few unlabeled rows here, or fewer, with this many positives among them; from above.

        It falls in B, so that in every cell the lower edge gives a bound.
        """
        return float(gammaincc(self.n_unlabeled + 1, n_positives * self.least[:-1]) @ _MASS)

    def p_of_so_many(self, n_positives: float) -> float:
        """Probability of so many unlabeled rows here, or more, if only positives are here; from above.

        It rises in B, so that in every cell the upper edge gives a bound.
        """
        if self.n_unlabeled == 0:
            return 1.0
        return float(gammainc(self.n_unlabeled, n_positives * self.most[1:]) @ _MASS)


def _quantiles(m: float, n: float) -> FloatArray:
    """Quantiles of Beta(m, n + 1 - m) at the edges of the cells."""
    return np.asarray(betaincinv(m, max(n + 1 - m, 1e-9), _EDGES))
