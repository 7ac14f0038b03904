"""How many rows bring a bound under a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from unlabeled.bounds.estimation import kernel_estimation_error_bound
from unlabeled.bounds.ranges import check

#: Sizes beyond it are answered with an error: nobody has that many rows.
LARGEST_SIZE = 10**15


def sample_size(
    target: float,
    bound: Callable[..., float] = kernel_estimation_error_bound,
    *,
    prior: float,
    n_positive: int | None = None,
    n_unlabeled: int | None = None,
    positive_cost: float = 1.0,
    **settings: Any,
) -> tuple[int, int]:
    """The smallest (n_positive, n_unlabeled) that bring a bound to a target or below.

    Fix one of the two sizes and the other is answered. Fix none, and both grow in the proportion that is cheapest when
    a positive costs ``positive_cost`` unlabeled rows: ``n_positive / n_unlabeled = (2 prior / positive_cost)^(2/3)``,
    which minimises the cost at a given chi1, the leading term of the paper's bounds. (For `round_ball_bound` the
    cheapest is ``2 prior / sqrt(positive_cost)``; the difference in cost is a few percent.)

    Parameters
    ----------
    target : float
    bound : callable
        Called as ``bound(n_positive, n_unlabeled, prior, **settings)``; must not rise when either size grows. Settings
        stay fixed while sizes grow. So where complexities shrink with the sizes, give a function that computes them.
    prior : float
    n_positive, n_unlabeled : int, optional
        A size that is given.
    positive_cost : float
        Price of a positive, in unlabeled rows; used when no size is given.
    **settings
        Passed to the bound: tau, rho, ...

    Returns
    -------
    n_positive, n_unlabeled : int

    Examples
    --------
    >>> from unlabeled import bounds
    >>> bounds.sample_size(0.1, prior=0.2)  # (positives, unlabeled rows)
    (13269, 24440)
    >>> bounds.sample_size(0.1, bounds.round_ball_bound, prior=0.2, n_unlabeled=10_000)
    (682, 10000)
    """
    check(target=target, prior=prior, positive_cost=positive_cost)
    sizes = _family_of_sizes(n_positive, n_unlabeled, (2 * prior / positive_cost) ** (2 / 3))

    def reached(step: int) -> bool:
        return bound(*sizes(step), prior, **settings) <= target

    if not reached(LARGEST_SIZE):
        least = bound(*sizes(LARGEST_SIZE), prior, **settings)
        raise ValueError(
            f"target={target!r} is out of reach: the bound is still {least:.4g} at (n_positive, n_unlabeled) = "
            f"{sizes(LARGEST_SIZE)}. Raise the target, or give more of the sample whose size is fixed."
        )
    return sizes(_first(reached))


def _family_of_sizes(
    n_positive: int | None, n_unlabeled: int | None, positives_per_unlabeled: float
) -> Callable[[int], tuple[int, int]]:
    """Growing pairs of sizes, numbered from 1: one size runs and the other is fixed or follows."""
    if n_positive is not None and n_unlabeled is not None:
        raise ValueError("give n_positive or n_unlabeled, not both: one of them is the answer.")
    if n_unlabeled is not None:
        fixed_unlabeled = n_unlabeled
        check(n_unlabeled=fixed_unlabeled)
        return lambda step: (step, fixed_unlabeled)
    if n_positive is not None:
        fixed_positive = n_positive
        check(n_positive=fixed_positive)
        return lambda step: (fixed_positive, step)
    if positives_per_unlabeled > 1:  # the larger size runs, so that no pair between is left out
        return lambda step: (step, math.ceil(step / positives_per_unlabeled))
    return lambda step: (math.ceil(positives_per_unlabeled * step), step)


def _first(reached: Callable[[int], bool]) -> int:
    """The first whole number at which a condition holds that, once true, stays true."""
    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
