"""The paper's theory as functions: how near the best classifier one comes with how many rows.

- `estimation_error_bound` and its kin: guarantees at finite sizes, sections 3 and 4 of the paper.
- `round_ball_bound`: a sharper one for kernel balls, not in the paper.
- `rademacher_complexity`, `largest_variance`: what the guarantees ask about the class, from data.
- `theorem_bandwidth`, `rate_exponent`: the asymptotic rate and the bandwidth that attains it.
- `approximation_error`: what a kernel ball lacks, for a known distribution.
- `sample_size`: "how many positives do I need?"
"""

from unlabeled.bounds.approximation import approximation_error, approximation_error_bound
from unlabeled.bounds.complexity import largest_variance, rademacher_complexity, rademacher_complexity_bound
from unlabeled.bounds.estimation import (
    chi1,
    chi2,
    complexity_constant,
    deviation_constant,
    estimation_error_bound,
    excess_risk_bound,
    is_sharper,
    kernel_estimation_error_bound,
    kernel_kiryo_bound,
    kiryo_bound,
    optimal_alpha,
    range_constant,
    sharper_up_to,
    wipm_error_bound,
)
from unlabeled.bounds.geometry import kernel_mean_error_bound, round_ball_bound
from unlabeled.bounds.planning import sample_size
from unlabeled.bounds.rates import (
    bandwidth_of_gamma,
    excess_risk_rate,
    gamma_of_bandwidth,
    rate_exponent,
    theorem_bandwidth,
)

__all__ = [
    "approximation_error",
    "approximation_error_bound",
    "bandwidth_of_gamma",
    "chi1",
    "chi2",
    "complexity_constant",
    "deviation_constant",
    "estimation_error_bound",
    "excess_risk_bound",
    "excess_risk_rate",
    "gamma_of_bandwidth",
    "is_sharper",
    "kernel_estimation_error_bound",
    "kernel_kiryo_bound",
    "kernel_mean_error_bound",
    "kiryo_bound",
    "largest_variance",
    "optimal_alpha",
    "rademacher_complexity",
    "rademacher_complexity_bound",
    "range_constant",
    "rate_exponent",
    "round_ball_bound",
    "sample_size",
    "sharper_up_to",
    "theorem_bandwidth",
    "wipm_error_bound",
]
