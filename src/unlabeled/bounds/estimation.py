"""Bounds on the hinge risk of a learned function over the best of its class, at finite sample sizes.

Labels in brackets are those of the paper's source. In all of them the positives and the population are two
independent samples (case-control), F is a symmetric class of functions with ``|f| <= nu <= 1`` whose standard
deviation under both distributions is at most ``rho``, and a bound holds with probability at least ``1 - exp(-tau)``.

Readings, where the text leaves a choice:

- The paper writes rho^2 in its constants and rho in the condition of [prop:sharper]; rho^2 is the larger *variance*, so
  ``rho`` here is always the standard deviation.
- chi2 holds the factor 2 of ``|f - E f| <= 2 nu``. It is not applied a second time in the constants.
- ``alpha`` is any positive number fixed before the data are seen. Left out, it is the minimiser, which depends on sizes
  and expected complexities only, so the bound stays valid.
- The Delta of the bound of Kiryo et al. is "some" positive number in the text: the bias of their non-negative risk. It
  is 0 by default, which is the reading most favourable to that bound.
"""

from __future__ import annotations

import math

from unlabeled.bounds.ranges import check, check_deviation

# --- chi terms and constants -----------------------------------------------------------------------------------------


def chi1(n_positive: int, n_unlabeled: int, weight: float) -> float:
    """``weight / sqrt(n_positive) + 1 / sqrt(n_unlabeled)``: the size of the sampling error of the two means.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.chi1(100, 400, 1.0), 4)
    0.15
    """
    check(n_positive=n_positive, n_unlabeled=n_unlabeled, weight=weight)
    return weight / math.sqrt(n_positive) + 1 / math.sqrt(n_unlabeled)


def chi2(n_positive: int, n_unlabeled: int, weight: float) -> float:
    """``2 (weight / n_positive + 1 / n_unlabeled)``: how far one row of each sample can move its mean of f / nu.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.chi2(100, 400, 1.0), 4)
    0.025
    """
    check(n_positive=n_positive, n_unlabeled=n_unlabeled, weight=weight)
    return 2 * (weight / n_positive + 1 / n_unlabeled)


def complexity_constant(alpha: float) -> float:
    """C_alpha = 4 (1 + alpha), the factor of the Rademacher complexities [thm:estimation_error].

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.complexity_constant(1.0), 4)
    8.0
    """
    check(alpha=alpha)
    return 4 * (1 + alpha)


def deviation_constant(tau: float, rho: float) -> float:
    """C^(1) = 2 sqrt(2 tau rho^2), the factor of chi1 [thm:estimation_error]; rho is a standard deviation.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.deviation_constant(3.0, 0.5), 4)
    2.4495
    """
    check(tau=tau)
    check_deviation(rho, nu=1)
    return 2 * rho * math.sqrt(2 * tau)


def range_constant(tau: float, nu: float, alpha: float) -> float:
    """C^(2) = 2 tau nu (2/3 + 1/alpha), the factor of chi2 [thm:estimation_error].

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.range_constant(3.0, 1.0, 1.0), 4)
    10.0
    """
    check(tau=tau, nu=nu, alpha=alpha)
    return 2 * tau * nu * (2 / 3 + 1 / alpha)


def optimal_alpha(
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    *,
    positive_complexity: float,
    unlabeled_complexity: float,
    tau: float = 3.0,
    nu: float = 1.0,
) -> float:
    """The alpha that makes [thm:estimation_error] smallest; infinite for a class without complexity.

    It minimises ``4 alpha R + 2 tau nu chi2 / alpha``, hence is ``sqrt(tau nu chi2 / (2 R))``, with R the sum of the
    complexities, the positive one times 2 prior. Parameters are as in `estimation_error_bound`, which takes this alpha
    when none is given.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.optimal_alpha(10_000, 40_000, 0.5, positive_complexity=0.01, unlabeled_complexity=0.005), 4)
    0.1581
    """
    check(prior=prior, tau=tau, nu=nu)
    jump = tau * nu * chi2(n_positive, n_unlabeled, 2 * prior)
    complexity = _joint_complexity(2 * prior, positive_complexity, unlabeled_complexity)
    return math.sqrt(jump / (2 * complexity)) if complexity > 0 else math.inf


# --- the bounds ------------------------------------------------------------------------------------------------------


def wipm_error_bound(
    n_positive: int,
    n_unlabeled: int,
    weight: float,
    *,
    positive_complexity: float,
    unlabeled_complexity: float,
    tau: float = 3.0,
    rho: float | None = None,
    sup_norm: float = 1.0,
    alpha: float | None = None,
) -> float:
    """How far the WIPM of two samples may lie from that of their distributions [prop:consistency_wipm].

    Any positive weight and any bound on the functions are allowed here. The same number bounds the largest difference
    of empirical and true risk over the class, and twice it is [thm:estimation_error].

    Parameters
    ----------
    n_positive, n_unlabeled : int
    weight : float
        Multiplies the mean over the positives; 2 prior for the classifier.
    positive_complexity, unlabeled_complexity : float
        Expected Rademacher complexities of the class on samples of these sizes; see `rademacher_complexity_bound`.
    tau : float
        The bound holds with probability at least 1 - exp(-tau); 3 stands for 95 %.
    rho : float, optional
        Largest standard deviation of a function of the class, under either distribution. By default sup_norm.
    sup_norm : float
        Largest absolute value of a function of the class.
    alpha : float, optional
        By default the value that makes the bound smallest.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.wipm_error_bound(10_000, 40_000, 1.0, positive_complexity=0.01, unlabeled_complexity=0.005), 4)
    0.0767
    """
    check(weight=weight, tau=tau)
    rho = check_deviation(rho, sup_norm=sup_norm)
    complexity = _joint_complexity(weight, positive_complexity, unlabeled_complexity)
    spread = chi1(n_positive, n_unlabeled, weight) * rho * math.sqrt(2 * tau)
    jump = tau * sup_norm * chi2(n_positive, n_unlabeled, weight)
    if alpha is None:  # 2 alpha R + jump / alpha at its minimum, which exists as a limit for R = 0 too
        return 2 * complexity + 2 * math.sqrt(2 * complexity * jump) + spread + 2 / 3 * jump
    check(alpha=alpha)
    return 2 * (1 + alpha) * complexity + spread + jump * (2 / 3 + 1 / alpha)


def estimation_error_bound(
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    *,
    positive_complexity: float,
    unlabeled_complexity: float,
    tau: float = 3.0,
    rho: float | None = None,
    nu: float = 1.0,
    alpha: float | None = None,
) -> float:
    """How far the hinge risk of the empirical optimizer may lie above the best of its class [thm:estimation_error].

    ``4 (1 + alpha) (R_u + 2 prior R_p) + C1 chi1(2 prior) + C2 chi2(2 prior)``.

    Parameters
    ----------
    n_positive, n_unlabeled : int
    prior : float
    positive_complexity, unlabeled_complexity : float
        Expected Rademacher complexities R_p, R_u of the class on samples of these sizes.
    tau : float
        The bound holds with probability at least 1 - exp(-tau); 3 stands for 95 %.
    rho : float, optional
        Largest standard deviation of a function of the class, under either distribution. By default nu.
    nu : float
        Largest absolute value of a function of the class, at most 1.
    alpha : float, optional
        By default the value that makes the bound smallest, `optimal_alpha`.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.estimation_error_bound(
    ...     10_000, 40_000, 0.5, positive_complexity=0.01, unlabeled_complexity=0.005), 4)
    0.1535
    """
    check(prior=prior)
    return 2 * wipm_error_bound(
        n_positive,
        n_unlabeled,
        2 * prior,
        positive_complexity=positive_complexity,
        unlabeled_complexity=unlabeled_complexity,
        tau=tau,
        rho=check_deviation(rho, nu=nu),
        sup_norm=nu,
        alpha=alpha,
    )


def kernel_estimation_error_bound(
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    *,
    tau: float = 3.0,
    rho: float | None = None,
    nu: float = 1.0,
    alpha: float | None = None,
) -> float:
    """[thm:estimation_error] for the largest kernel ball within [-1, 1], explicit [lem:estimation_error_bound_RKHS].

    ``(C_alpha + C1) chi1(2 prior) + C2 chi2(2 prior)``: a ball of radius r1 = 1 / sup sqrt(k(x, x)), which is 1 for
    the kernels of this library, has a Rademacher complexity of at most 1 / sqrt(n). The lemma carries nu along, but
    this ball attains nu = 1; for a smaller ball give its complexities to `estimation_error_bound`. Other parameters
    are as there.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.kernel_estimation_error_bound(10_000, 40_000, 0.5), 4)
    0.1535
    """
    return estimation_error_bound(
        n_positive,
        n_unlabeled,
        prior,
        **_ball_complexities(n_positive, n_unlabeled),
        tau=tau,
        rho=rho,
        nu=nu,
        alpha=alpha,
    )


def kiryo_bound(
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    *,
    positive_complexity: float,
    unlabeled_complexity: float,
    tau: float = 3.0,
    nu: float = 1.0,
    delta: float = 0.0,
) -> float:
    """The bound of Kiryo et al. (2017, Theorem 4) for the hinge loss, by McDiarmid's inequality [eq:kiryo_ineq].

    ``8 (R_u + 2 prior R_p) + chi1(2 prior) (1 + nu) sqrt(2 tau) + delta``; 1 + nu is the largest hinge loss of the
    class. ``delta`` is the bias of their non-negative risk: 0 for the unbiased one. Other parameters are as in
    `estimation_error_bound`.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.kiryo_bound(10_000, 40_000, 0.5, positive_complexity=0.01, unlabeled_complexity=0.005), 4)
    0.1935
    """
    check(prior=prior, tau=tau, nu=nu, delta=delta)
    complexity = _joint_complexity(2 * prior, positive_complexity, unlabeled_complexity)
    return 8 * complexity + chi1(n_positive, n_unlabeled, 2 * prior) * (1 + nu) * math.sqrt(2 * tau) + delta


def kernel_kiryo_bound(
    n_positive: int, n_unlabeled: int, prior: float, *, tau: float = 3.0, nu: float = 1.0, delta: float = 0.0
) -> float:
    """`kiryo_bound` for the kernel ball of `kernel_estimation_error_bound`, with the same complexities.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.kernel_kiryo_bound(10_000, 40_000, 0.5), 4)
    0.1935
    """
    return kiryo_bound(
        n_positive, n_unlabeled, prior, **_ball_complexities(n_positive, n_unlabeled), tau=tau, nu=nu, delta=delta
    )


def sharper_up_to(n_positive: int, n_unlabeled: int, prior: float, *, tau: float = 3.0, nu: float = 1.0) -> float:
    """The largest rho at which [prop:sharper] calls the new bound the sharper one; below 0 there is none.

    ``(1 + nu) / 2 - 5 sqrt(2 tau) chi2 nu / (6 chi1)``, with chi1 and chi2 for the weight 2 prior.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.sharper_up_to(10_000, 40_000, 0.5), 4)
    0.966
    """
    check(prior=prior, tau=tau, nu=nu)
    ratio = chi2(n_positive, n_unlabeled, 2 * prior) / chi1(n_positive, n_unlabeled, 2 * prior)
    return (1 + nu) / 2 - 5 * math.sqrt(2 * tau) * ratio * nu / 6


def is_sharper(
    n_positive: int, n_unlabeled: int, prior: float, *, tau: float = 3.0, rho: float | None = None, nu: float = 1.0
) -> bool:
    """Whether [prop:sharper] calls the new bound sharper than that of Kiryo et al.

    The condition is [thm:estimation_error] at alpha = 1 being at most [eq:kiryo_ineq] with Delta = 0. It is exact for
    that alpha (each step of the proof is an equivalence) and sufficient for the optimal one. With nothing known of the
    variances (rho = nu = 1) it never holds, at no sample size. Parameters are as in `estimation_error_bound`.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> bounds.is_sharper(10_000, 40_000, 0.5, rho=0.4)
    True
    """
    return check_deviation(rho, nu=nu) <= sharper_up_to(n_positive, n_unlabeled, prior, tau=tau, nu=nu)


def excess_risk_bound(
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    *,
    approximation_error: float,
    positive_complexity: float,
    unlabeled_complexity: float,
    tau: float = 3.0,
    rho: float | None = None,
    nu: float = 1.0,
    alpha: float | None = None,
) -> float:
    """How far the error rate may lie above that of the Bayes rule [cor:excess_risk_bound].

    ``approximation_error + estimation_error_bound(...)``: the hinge risk bounds the error rate from above, and
    ``approximation_error`` is what the class lacks, inf over F of the hinge risk less that over all functions; see
    `unlabeled.bounds.approximation_error`. Other parameters are as in `estimation_error_bound`.

    Examples
    --------
    >>> from unlabeled import bounds
    >>> round(bounds.excess_risk_bound(
    ...     10_000, 40_000, 0.5, approximation_error=0.1, positive_complexity=0.01, unlabeled_complexity=0.005), 4)
    0.2535
    """
    check(approximation_error=approximation_error)
    return approximation_error + estimation_error_bound(
        n_positive,
        n_unlabeled,
        prior,
        positive_complexity=positive_complexity,
        unlabeled_complexity=unlabeled_complexity,
        tau=tau,
        rho=rho,
        nu=nu,
        alpha=alpha,
    )


def _joint_complexity(weight: float, positive_complexity: float, unlabeled_complexity: float) -> float:
    check(positive_complexity=positive_complexity, unlabeled_complexity=unlabeled_complexity)
    return unlabeled_complexity + weight * positive_complexity


def _ball_complexities(n_positive: int, n_unlabeled: int) -> dict[str, float]:
    check(n_positive=n_positive, n_unlabeled=n_unlabeled)
    return {
        "positive_complexity": 1 / math.sqrt(n_positive),
        "unlabeled_complexity": 1 / math.sqrt(n_unlabeled),
    }
