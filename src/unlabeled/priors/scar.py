"""A sign that labels were not given completely at random (SCAR), and what it can and cannot say.

Completely at random, the labelled positives are a random choice of all positives: where a share b of them lies, there
lies about a share b of the positives among the unlabeled rows. The sign is a region of top scores with many labelled
positives and hardly any unlabeled rows.

No such sign works without an assumption on how many positives the unlabeled rows hold: if none of them is positive,
every positive is labelled, and that agrees with labels at random in any table. So what is tested is that labels are
random *and* the unlabeled rows hold at least a given number of positives.

How probable are so few unlabeled rows at the top? Put a threshold t at the m-th highest score of n labelled positives.
A share B of all positives scores t or more, and B has the distribution Beta(m, n + 1 - m) whatever the score is, or is
larger where scores tie. So the number of unlabeled rows at or above t is no smaller than a binomial number with mean
(positives) * B, whose lower tail is no larger than that of a Poisson number with this mean. Several m are tried, and
the smallest probability is multiplied by their number. This holds for a score that does not depend on the rows it
scores, which is nearly true of honest scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, gammaincc

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores

#: How often, at most, the warning may come by chance.
LEVEL = 1e-3
#: The unlabeled rows are taken to hold at least this many positives.
FEWEST_POSITIVES = 20.0
#: The parts of the labelled positives, from the highest score down, that are looked at.
PORTIONS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
#: Edges of the cells in which the distribution of B is summed up, as probabilities: fine where B is small.
_EDGES: FloatArray = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(0.5, 1e-3, 50)[1:], [1.0]])


class ScarWarning(UserWarning):
    """Labels do not look as if they were given completely at random."""


#: Whether the warning has come, where several estimates from one table are to give it only once.
_told: ContextVar[list[bool] | None] = ContextVar("told", default=None)


@contextmanager
def told_once() -> Iterator[None]:
    """Let several estimates from one table warn only once, although each has scores and numbers of its own."""
    if _told.get() is not None:  # somebody further out has seen to it
        yield
        return
    token = _told.set([])
    try:
        yield
    finally:
        _told.reset(token)


@dataclass(frozen=True)
class Evidence:
    """The region of top scores that speaks most against labels at random."""

    portion: float  # the share of the labelled positives in it
    n_unlabeled: float  # the unlabeled rows in it
    p_value: float  # the probability of so few or fewer, with all regions tried taken into account


def warn_unless_scar(scores: HonestScores) -> None:
    """Warn where labels at random and as few as ``FEWEST_POSITIVES`` positives among the unlabeled rows do not agree.

    If labels are random and there are that many, the warning comes in at most ``LEVEL`` of all cases.
    """
    n_unlabeled = float(scores.unlabeled_weights.sum())
    if n_unlabeled <= FEWEST_POSITIVES:
        return
    found, told = evidence_against_scar(scores, FEWEST_POSITIVES), _told.get()
    if found.p_value < LEVEL and not told:
        if told is not None:
            told.append(True)
        warnings.warn(
            f"Labels do not look as if they were given completely at random: where {found.portion:.0%} of the labelled "
            f"positives lie, there are {found.n_unlabeled:g} of {n_unlabeled:g} unlabeled rows. Either fewer than "
            f"{FEWEST_POSITIVES:g} unlabeled rows are positive; or the labelled positives are not a random choice of "
            "all positives, come from elsewhere, or were copied, and then the prior comes out too small. Compare the "
            "features of both, or give the prior if you know it.",
            ScarWarning,
            stacklevel=2,
        )


def evidence_against_scar(scores: HonestScores, n_positives: float) -> Evidence:
    """How well the scores agree with labels at random and at least ``n_positives`` unlabeled positives."""
    order = np.argsort(-scores.positive)
    total = np.cumsum(scores.positive_weights[order])
    rounding, found = scores.rounding, []
    for portion in PORTIONS:
        needed = max(1.0, portion * total[-1])
        last = min(int(np.searchsorted(total, needed * (1 - 1e-9))), len(order) - 1)
        threshold = scores.positive[order[last]]
        as_high = scores.unlabeled >= threshold - rounding  # copies of a row are as high
        n_above = float(scores.unlabeled_weights[as_high].sum())
        found.append(Evidence(portion, n_above, _p_value(needed, total[-1], n_above, n_positives)))
    best = min(found, key=lambda evidence: evidence.p_value)
    return Evidence(best.portion, best.n_unlabeled, min(1.0, len(PORTIONS) * best.p_value))


def _p_value(m: float, n: float, n_above: float, n_positives: float) -> float:
    """P(Poisson(n_positives * B) <= n_above) for B ~ Beta(m, n + 1 - m), from above.

    It falls in B, so that in every cell the lower edge gives a bound.
    """
    b = betaincinv(m, max(n + 1 - m, 1e-9), _EDGES[:-1])
    return float(gammaincc(n_above + 1, n_positives * b) @ np.diff(_EDGES))
