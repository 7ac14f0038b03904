"""Between which limits the share of positives among the unlabeled rows lies, from honest scores.

From above: no more positives than agree with the unlabeled rows in regions of top scores. Several regions are tried,
which their number makes up for. This assumes labels given completely at random, and nothing else.

From below: two limits, each of which holds under an assumption of its own, and the smaller of them counts.

- If one of the regions holds hardly any negatives, the unlabeled rows in it are positives. Which of the regions does is
  not known, so that the smallest of their limits counts; no correction is needed for that. That there is such a region
  is irreducibility with a size: the fifth of the positives with the highest scores, or a smaller part where positives
  are many, lies among positives.
- If P(y = 1 | score) is a logistic curve in the rank of the score, as the estimate "auto" has it, a prior is as
  probable as the curve that goes with it. That holds where classes overlap everywhere, and no region is pure.

Where neither holds, the lower limit may come out too high, and nothing in the data can tell. There is no lower limit
where the assumptions say too little or are refuted: with fewer than ten positives, where the scores do not tell
labelled from unlabeled rows, and where they contradict the upper limit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from unlabeled.deciding.rank_logistic import prior_quantile
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import PORTIONS
from unlabeled.priors.top_regions import TopRegion

#: With fewer labelled positives the ranking can be used, and hardly a number told: over the draws of
#: ``benchmarks/intervals.py`` the interval of the prior is then half as wide as all it could be, or wider, and where
#: classes are rare lower limits came out above the prior more often than they may.
ENOUGH_POSITIVES = 10
#: An interval of a share that is wider than this says little.
WIDE = 0.3
#: The part of the positives that is taken to lie among positives; of more than 400 positives, 4 sqrt(n) of n.
PURE_PORTION = 0.2
_STEPS = 50
_ROUNDING = 1e-9


class PriorWarning(UserWarning):
    """The data do not say how small the prior may be, and it was not given.

    Examples
    --------
    >>> import warnings
    >>> from unlabeled.priors import PriorWarning
    >>> warnings.simplefilter("error", PriorWarning)  # doctest: +SKIP
    """


def share_limits(scores: HonestScores, level: float = 0.95) -> tuple[float, float]:
    """Limits of the share of positives among the unlabeled rows, each wrong with a probability of (1 - level) / 2."""
    tail = (1 - level) / 2
    high = _upper_limit(scores, tail)
    if scores.n_positive < ENOUGH_POSITIVES or not _tell_apart(scores, tail):
        return 0.0, high
    low = min(_lower_limit(scores, tail), prior_quantile(scores.against_unlabeled(), tail))
    return (low if low <= high else 0.0), high


def why_open(ends: tuple[float, float], least: float, n_positive: float) -> str | None:
    """Why data leave an estimated prior open, in a sentence; None where they do not.

    ``ends`` are those of its interval, ``least`` is the smallest prior there could be: the labelled share, or 0.
    """
    low, high = ends
    if low <= least + _ROUNDING and n_positive >= ENOUGH_POSITIVES:
        return _no_lower_limit(high)
    return f"The prior may lie anywhere between {low:.2f} and {high:.2f}." if high - low > WIDE else None


def warn_unless_limited(ends: tuple[float, float], scores: HonestScores) -> None:
    """Warn where an estimated prior has no lower limit, and none near it from above, with ten positives or more.

    Where the upper limit is near, labels do not look random, which has a warning of its own.
    """
    low, high = ends
    has_none = low <= scores.labelled_share + _ROUNDING and high - low > WIDE
    if has_none and scores.n_positive >= ENOUGH_POSITIVES:
        warnings.warn(
            f"{_no_lower_limit(high)} Give the prior if you know it; else trust neither the number of positives nor "
            "the threshold that follows from it.",
            PriorWarning,
            stacklevel=2,
        )


def _no_lower_limit(high: float) -> str:
    return (
        "The prior has no lower limit: no region of high scores is surely made of positives. It may lie anywhere up to "
        f"{high:.2f}."
    )


def _upper_limit(scores: HonestScores, tail: float) -> float:
    """The largest share under which so few unlabeled rows at the top are not too improbable."""
    n_unlabeled, regions = scores.n_unlabeled, [TopRegion.of(scores, portion) for portion in PORTIONS]

    def is_possible(share: float) -> bool:
        return min(region.p_of_so_few(share * n_unlabeled) for region in regions) >= tail / len(regions)

    return 1.0 if is_possible(1.0) else _last(is_possible)


def _lower_limit(scores: HonestScores, tail: float) -> float:
    """By regions: the smallest share under which so many unlabeled rows in one of them are not too improbable."""
    n_positive, n_unlabeled = scores.n_positive, scores.n_unlabeled
    smallest = min(PURE_PORTION, 4 / np.sqrt(n_positive))
    portions = [smallest, *(portion for portion in PORTIONS if portion > smallest)]
    regions = [TopRegion.of(scores, portion) for portion in portions]

    def is_impossible(share: float) -> bool:
        return max(region.p_of_so_many(share * n_unlabeled) for region in regions) < tail

    return 1.0 if is_impossible(1.0) else _last(is_impossible)


def _tell_apart(scores: HonestScores, tail: float) -> bool:
    """Whether the positives score higher than the unlabeled rows beyond what chance would do."""
    n_positive, n_unlabeled = scores.n_positive, scores.n_unlabeled
    by_chance = np.sqrt((n_positive + n_unlabeled + 1) / (12 * n_positive * n_unlabeled))
    return bool(scores.against_unlabeled().area - 0.5 > norm.isf(tail) * by_chance)


def _last(holds: Callable[[float], bool]) -> float:
    """The largest share that something holds for, by bisection: it holds up to one and not beyond."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
