"""A sign that labels were not given completely at random (SCAR), and what it can and cannot say.

Completely at random, the labelled positives are a random choice of all positives: where a share b of them lies, there
lies about a share b of the positives among the unlabeled rows. The sign is a region of top scores with many labelled
positives and hardly any unlabeled rows.

No such sign works without an assumption on how many positives the unlabeled rows hold: if none of them is positive,
every positive is labelled, and that agrees with labels at random in any table. So what is tested is that labels are
random *and* the unlabeled rows hold at least a given number of positives.

How probable are so few unlabeled rows at the top? `unlabeled.deciding.top_counts` works it out: the same counts, the
same null hypothesis and the same statistic as those of `unlabeled.bias.ScarTest`. That one scores each half of a table
by the other and keeps to any level. Estimators of the prior have scores of which each row is left out in turn; these
depend on the labelled rows as a whole, lean to what they have in common by chance, and no level can be stated for them.
So this is a warning, at a level far stricter than the 0.05 of the test.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import PORTIONS, TopCounts

#: How often, at most, the warning may come by chance, if scores did not depend on the rows at all.
LEVEL = 1e-3
#: The unlabeled rows are taken to hold at least this many positives.
FEWEST_POSITIVES = 20


class ScarWarning(UserWarning):
    """Labels do not look as if they were given completely at random.

    Examples
    --------
    >>> import warnings
    >>> from unlabeled.priors import ScarWarning
    >>> warnings.simplefilter("error", ScarWarning)  # doctest: +SKIP
    """


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
    p_value: float  # the probability of a table as strange or stranger, whatever its region


def warn_unless_scar(scores: HonestScores) -> None:
    """Warn where labels at random and as few as ``FEWEST_POSITIVES`` positives among the unlabeled rows do not agree.

    They are taken to be among the unlabeled rows that have scores.
    """
    n_unlabeled = scores.n_unlabeled
    if n_unlabeled <= FEWEST_POSITIVES:
        return
    found, told = evidence_against_scar(scores, FEWEST_POSITIVES), _told.get()
    if found.p_value < LEVEL and not told:
        if told is not None:
            told.append(True)
        warnings.warn(
            f"Labels do not look as if they were given completely at random: where {found.portion:.0%} of the labelled "
            f"positives lie, there are {found.n_unlabeled:g} of {n_unlabeled:g} unlabeled rows. Either fewer than "
            f"{FEWEST_POSITIVES} unlabeled rows are positive; or the labelled positives are not a random choice of "
            "all positives, come from elsewhere, or were copied, and then the prior comes out too small. "
            "unlabeled.bias.ScarTest says how sure that is and in which columns they differ; docs/bias.md what to do.",
            ScarWarning,
            stacklevel=2,
        )


def evidence_against_scar(scores: HonestScores, n_positives: int) -> Evidence:
    """How well the scores agree with labels at random and at least ``n_positives`` unlabeled positives, a few."""
    counts = TopCounts.of(scores)
    region = int(counts.improbability(counts.n_above, n_positives).argmin())
    return Evidence(PORTIONS[region], float(counts.n_above[region]), counts.p_value_of_count(n_positives))
