"""The share of positives by two clusters of scores, one of which is that of the labelled positives.

Where the scores of the two classes part clearly, the gap between them tells how many rows are on either side, whatever
ranks and regions of few labelled rows say. So two Gaussians are fitted to the unlabeled scores by expectation
maximisation. One is held where the labelled positives are, which count `ANCHOR` times; its share is that of the
positives. Where the two overlap the share rests on their shape, which nobody knows; and where the labelled positives
score higher than the others of their cluster, it is none of positives alone. What the share is worth is said with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores

#: How often each labelled positive counts beside an unlabeled row.
ANCHOR = 10.0
#: The share of the unlabeled scores at either end that is drawn in to the next one, and with it what labelled positives
#: are farther out: log ratios have long tails.
TAIL = 0.01
#: A share that is hardly more than what is drawn in is that, and nothing is seen of it; from the second on all is.
DRAWN, SEEN = 1.25 * TAIL, 1.75 * TAIL
#: A Gaussian is at least this wide, in units of the spread of the unlabeled scores.
NARROWEST = 0.1
#: Distances of the two means, in units of the sum of both widths, up to which the share is worth nothing, and from
#: which it is worth all.
OVERLAP, GAP = 1.4, 1.9
#: Widths are taken to be as large as the positives' may be, by this share of all samples of as many scores.
DOUBT = 0.05
#: How much higher than the rest of their cluster the labelled positives may score, in standard errors: up to this it is
#: worth all, from that on nothing, for then negatives are in it.
ALIKE, STRANGE = 2.0, 3.0
#: How far the share may be from what others say if hardly a row is below: up to this it is worth all, from that on
#: nothing. A few rows far below all others are a cluster too, and not the negatives. `MORE` times the share of the rows
#: below is added to both: where they are many, they say more than ranks do.
NEAR, FAR, MORE = 0.2, 0.3, 2.0
#: Shares to start from, besides the one that is given.
STARTS = (0.1, 0.5, 0.85)
#: Of fewer rows nothing is known.
FEWEST = 3
_MOST_ROUNDS, _TOLERANCE, _LEAST_SHARE, _TINY = 150, 1e-5, 1e-5, 1e-100
#: Scores from their lower to their upper end.
_NODES: FloatArray = np.linspace(0, 1, 401)


@dataclass(frozen=True)
class ClusterShare:
    """The share of positives among the unlabeled rows by clusters, and how much that is worth, from 0 to 1."""

    share: float
    worth: float


def cluster_share(scores: HonestScores, start: float) -> ClusterShare:
    """What clusters say; ``start`` is the share that others say."""
    low, high = _ends(scores.unlabeled, scores.unlabeled_weights)
    n_positive, width = scores.n_positive, high / 2 - low / 2  # halves: their difference may be out of range
    is_known = not (np.isnan(scores.positive).any() or np.isnan(scores.unlabeled).any())
    if n_positive < FEWEST or not (is_known and 1e-9 * (1 + abs(low) + abs(high)) < width < np.inf):
        return ClusterShare(start, 0.0)
    of_unlabeled, of_positive = (
        _on_nodes((np.clip(values, low, high) / 2 - low / 2) / width, weights)
        for values, weights in (
            (scores.unlabeled, scores.unlabeled_weights),
            (scores.positive, scores.positive_weights),
        )
    )
    in_upper, distance = _fitted(of_unlabeled, ANCHOR * of_positive, np.clip([start, *STARTS], 0.01, 0.97))
    wider = np.sqrt((n_positive - 1) / (2 * gammaincinv((n_positive - 1) / 2, DOUBT)))
    share, above = float(in_upper.sum() / of_unlabeled.sum()), _standard_errors_above(of_positive, in_upper)
    worth = _between(distance / wider, OVERLAP, GAP) * _between(above, STRANGE, ALIKE) * _between(share, DRAWN, SEEN)
    return ClusterShare(share, worth * _between(abs(share - start) - MORE * (1 - share), FAR, NEAR))


def _between(value: float, nothing: float, everything: float) -> float:
    """How far a value has come from one to the other."""
    return float(np.clip((value - nothing) / (everything - nothing), 0, 1))


def _standard_errors_above(of_positive: FloatArray, others: FloatArray) -> float:
    """How much higher than others the labelled positives score, in standard errors of the area under the curve."""
    n_positive, n_others = of_positive.sum(), others.sum() + _TINY
    area = float(of_positive @ (np.cumsum(others) - others / 2)) / (n_positive * n_others)
    return (area - 0.5) / float(np.sqrt((1 / n_positive + 1 / n_others) / 12))


def _ends(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The quantiles that what is farther out is drawn in to."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(total, np.array([TAIL, 1 - TAIL]) * total[-1]), len(order) - 1)
    return float(values[order[places[0]]]), float(values[order[places[1]]])


def _on_nodes(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The weight at each node from 0 to 1: that of a value goes to the two next to it, in proportion."""
    place = values * (len(_NODES) - 1)
    before = np.minimum(place.astype(int), len(_NODES) - 2)
    on = place - before
    left, right = (
        np.bincount(b, w, len(_NODES)) for b, w in ((before, weights * (1 - on)), (before + 1, weights * on))
    )
    return np.asarray(left + right, dtype=np.float64)


def _fitted(of_unlabeled: FloatArray, of_positive: FloatArray, starts: FloatArray) -> tuple[FloatArray, float]:
    """The rows of the upper Gaussian at each node, and the distance of the means over both widths; the likeliest.

    All starts at once, one to a row. The distance is not above 0 if no start ends with the positives' Gaussian on top.
    """
    total, share = of_unlabeled.sum(), starts[:, None]
    narrowest = NARROWEST * _gaussian(of_unlabeled[None], 0.0).width[0, 0]
    upper = _gaussian(np.tile(of_positive, (len(starts), 1)), narrowest)
    lower = _gaussian(of_unlabeled * (np.cumsum(of_unlabeled) <= total * (1.01 - share)), narrowest)
    for _ in range(_MOST_ROUNDS):
        odds = (1 - share) * (lower.density() + _TINY) / (share * (upper.density() + _TINY))
        in_upper = of_unlabeled / (1 + odds)
        before, share = share, np.clip(in_upper.sum(axis=1, keepdims=True) / total, _LEAST_SHARE, 1 - _LEAST_SHARE)
        upper = _gaussian(in_upper + of_positive, narrowest)
        lower = _gaussian(in_upper * odds, narrowest)
        if np.abs(share - before).max() < _TOLERANCE:
            break
    mixed = share * upper.density() + (1 - share) * lower.density()
    log_likelihood = np.log(mixed + _TINY) @ of_unlabeled + np.log(upper.density() + _TINY) @ of_positive
    distance = ((upper.mean - lower.mean) / (upper.width + lower.width))[:, 0]
    distance[total - in_upper.sum(axis=1) < FEWEST] = 0.0  # nothing is below
    best = int(np.argmax(np.where(distance > 0, log_likelihood, -np.inf)))
    return in_upper[best], float(distance[best])


@dataclass(frozen=True)
class _Gaussian:
    """One for each start; both arrays (n_starts, 1)."""

    mean: FloatArray
    width: FloatArray

    def density(self) -> FloatArray:
        """At the nodes, up to a constant; (n_starts, n_nodes)."""
        return np.asarray(np.exp(-0.5 * ((_NODES - self.mean) / self.width) ** 2) / self.width)


def _gaussian(mass: FloatArray, narrowest: float) -> _Gaussian:
    """The one with the mean and the width of each row of masses (n_starts, n_nodes)."""
    total = mass.sum(axis=1, keepdims=True) + _TINY
    mean = (mass @ _NODES)[:, None] / total
    variance = (mass * (_NODES - mean) ** 2).sum(axis=1, keepdims=True) / total
    return _Gaussian(mean, np.maximum(np.sqrt(variance), narrowest))
