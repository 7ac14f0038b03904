"""How fast the WMMD classifier comes near the Bayes rule, and at which bandwidth [thm:excess_super_fast].

The theorem asks for densities that are Hoelder with exponent alpha_H (A2), a population density of at least p_min > 0
on its support (A3), and Tsybakov's noise exponent q: ``P(|2 eta(x) - 1| <= t) <= C t^q`` (A4). Readings:

- A2 over all of R^d contradicts A3 (a continuous density falls to 0 at the edge of its support). A2 is read on the
  support. The proof survives: near the edge both kernel means lose the same share of their mass (at a corner of a cube
  1 - 2^-d of it), which leaves the sign alone.
- A2 has alpha_H < 1. The same argument covers alpha_H = 1 (Lipschitz densities), which is accepted here.
- The density estimates are scaled by sqrt(2 pi) h^d in the text; in d dimensions it is (2 pi)^(d/2) h^d. The sign does
  not see it.
- The lemma on uniform convergence is quoted without its factor sqrt(log n). By that route the rate of the theorem
  holds up to ``log(n)^((1 + q) / 2)``.
- "Super-fast" rates, beyond 1 / n, need alpha_H (q - 1) > d, as the exponent shows; the text's alpha_H q > d gives an
  exponent above 1/2 only.
"""

from __future__ import annotations

import math

from unlabeled.bounds.ranges import check


def theorem_bandwidth(n_positive: int, n_unlabeled: int, *, smoothness: float, n_features: int) -> float:
    """The theorem's bandwidth ``h = min(n_positive, n_unlabeled)^(-1 / (2 smoothness + n_features))``.

    h is the h of ``exp(-|x - y|^2 / (2 h^2))``; `gamma_of_bandwidth` turns it into gamma.

    Parameters
    ----------
    n_positive, n_unlabeled : int
    smoothness : float
        The Hoelder exponent alpha_H of the densities, in (0, 1].
    n_features : int

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.theorem_bandwidth(1000, 4000, smoothness=1.0, n_features=2), 4)
    0.1778
    """
    check(n_positive=n_positive, n_unlabeled=n_unlabeled, smoothness=smoothness, n_features=n_features)
    return float(min(n_positive, n_unlabeled) ** (-1 / (2 * smoothness + n_features)))


def gamma_of_bandwidth(bandwidth: float) -> float:
    """``gamma = 1 / (2 h^2)``, so that ``exp(-gamma |x - y|^2) = exp(-|x - y|^2 / (2 h^2))``.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.gamma_of_bandwidth(0.5), 4)
    2.0
    """
    check(bandwidth=bandwidth)
    return 1 / (2 * bandwidth**2)


def bandwidth_of_gamma(gamma: float) -> float:
    """``h = 1 / sqrt(2 gamma)``.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.bandwidth_of_gamma(2.0), 4)
    0.5
    """
    check(gamma=gamma)
    return 1 / math.sqrt(2 * gamma)


def rate_exponent(*, smoothness: float, noise_exponent: float, n_features: int) -> float:
    """The exponent of 1 / n in the theorem: ``smoothness (1 + noise_exponent) / (2 smoothness + n_features)``.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.rate_exponent(smoothness=1.0, noise_exponent=1.0, n_features=2), 4)
    0.5
    """
    check(smoothness=smoothness, noise_exponent=noise_exponent, n_features=n_features)
    return smoothness * (1 + noise_exponent) / (2 * smoothness + n_features)


def excess_risk_rate(
    n_positive: int,
    n_unlabeled: int,
    *,
    smoothness: float,
    noise_exponent: float,
    n_features: int,
    constant: float = 1.0,
) -> float:
    """``constant * min(n_positive, n_unlabeled)^(-rate_exponent)``, with probability 1 - 1/n_positive - 1/n_unlabeled.

    The constant exists but is unknown, so this is a rate to compare sizes with, not a guarantee.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.excess_risk_rate(1000, 4000, smoothness=1.0, noise_exponent=1.0, n_features=2), 4)
    0.0316
    """
    check(n_positive=n_positive, n_unlabeled=n_unlabeled, constant=constant)
    exponent = rate_exponent(smoothness=smoothness, noise_exponent=noise_exponent, n_features=n_features)
    return float(constant * min(n_positive, n_unlabeled) ** -exponent)
