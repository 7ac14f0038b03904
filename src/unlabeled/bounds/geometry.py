"""A bound for the kernel ball that uses its roundness. It is not in the paper.

The best function of a kernel ball is the unit vector along mu = (kernel mean of the population) - 2 prior (kernel mean
of the positives), and the learned one the unit vector along its estimate m. Their hinge risks differ by ``|mu| (1 -
cos(angle))``, and an error of D in m turns it by at most ``arcsin(D / |mu|)``. So the estimation error is of the order
D^2 / |mu|, hence 1 / n, where bounds for general classes give 1 / sqrt(n).
"""

from __future__ import annotations

import math

from unlabeled.bounds.ranges import check


def kernel_mean_error_bound(n_positive: int, n_unlabeled: int, prior: float, *, tau: float = 3.0) -> float:
    """The most, with probability 1 - exp(-tau), by which the estimate of mu is off, as a norm: ``s (1 + sqrt(tau))``.

    ``s = sqrt(w^2 / n_positive + 1 / n_unlabeled)``, w = 2 prior, bounds the expected error. One exchanged observation
    moves a mean by sqrt(2) / n at most, because ``|k(., x) - k(., y)|^2 = 2 - 2 k(x, y) <= 2`` for a kernel between 0
    and ``k(x, x) = 1``, as all kernels of this library are; McDiarmid's inequality does the rest. The same number
    bounds the largest difference of empirical and true hinge risk over the ball, and ``|wmmd(P, U) - wmmd|``.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.kernel_mean_error_bound(10_000, 40_000, 0.5), 4)
    0.0305
    """
    check(n_positive=n_positive, n_unlabeled=n_unlabeled, prior=prior, tau=tau)
    return math.sqrt((2 * prior) ** 2 / n_positive + 1 / n_unlabeled) * (1 + math.sqrt(tau))


def round_ball_bound(
    n_positive: int, n_unlabeled: int, prior: float, *, wmmd: float | None = None, tau: float = 3.0
) -> float:
    """How far the hinge risk of the WMMD classifier's function may lie above the best of the unit ball.

    It is 2 D, with D = `kernel_mean_error_bound`; and where D < wmmd is known, ``wmmd - sqrt(wmmd^2 - D^2)``, which is
    of the order 1 / n.

    Parameters
    ----------
    n_positive, n_unlabeled : int
    prior : float
    wmmd : float, optional
        The WMMD of the distributions for the weight 2 prior and radius 1, or a lower bound of it. That of a sample
        less D serves, with the same probability.
    tau : float
        The bound holds with probability at least 1 - exp(-tau); 3 stands for 95 %.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.round_ball_bound(1000, 4000, 0.5, wmmd=0.3), 4)
    0.016
    """
    off = kernel_mean_error_bound(n_positive, n_unlabeled, prior, tau=tau)
    if wmmd is None:
        return 2 * off
    check(wmmd=wmmd)
    if off >= wmmd:
        return 2 * off
    return off**2 / (wmmd + math.sqrt(wmmd**2 - off**2))  # wmmd - sqrt(wmmd^2 - off^2), without cancellation
