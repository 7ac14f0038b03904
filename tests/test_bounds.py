"""The paper's bounds. Labels in brackets are those of its source."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from unlabeled import bounds
from unlabeled.scoring.witness import witness
from unlabeled.wipm import Bounded, KernelBall, wipm

sizes = st.integers(1, 10**6)
priors = st.floats(0.01, 0.99)
taus = st.floats(0.01, 20)
alphas = st.floats(0.01, 100)
unit = st.floats(0.001, 1)
complexities = st.floats(0, 2)
whole_domain = {  # as far as doubles carry the comparison
    "size": st.tuples(st.integers(1, 10**12), st.integers(1, 10**12), st.floats(1e-9, 1 - 1e-9)),
    "complexity": st.fixed_dictionaries(
        {"positive_complexity": st.floats(0, 1), "unlabeled_complexity": st.floats(0, 1)}
    ),
    "tau": st.floats(1e-6, 1e6),
    "nu": st.floats(1e-9, 1),
    "share": st.floats(0, 1),
}


def general(n_positive, n_unlabeled, prior, complexity=0.1, **settings):
    return bounds.estimation_error_bound(
        n_positive, n_unlabeled, prior, positive_complexity=complexity, unlabeled_complexity=complexity, **settings
    )


def kiryo(n_positive, n_unlabeled, prior, complexity=0.1, **settings):
    return bounds.kiryo_bound(
        n_positive, n_unlabeled, prior, positive_complexity=complexity, unlabeled_complexity=complexity, **settings
    )


# --- formulas, worked by hand: 100 positives, 400 unlabeled, prior 0.3, tau 2, rho 0.5, nu 0.8, alpha 0.5 ---
# chi1 = 0.6/10 + 1/20 = 0.11; chi2 = 2 (0.6/100 + 1/400) = 0.017; C_alpha = 6; C1 = 2 sqrt(4 * 0.25) = 2;
# C2 = 2 * 2 * 0.8 * (2/3 + 2) = 8.5333

HAND = {"tau": 2.0, "rho": 0.5, "nu": 0.8, "alpha": 0.5}


def test_chi_terms_by_hand():
    assert bounds.chi1(100, 400, 0.6) == pytest.approx(0.11)
    assert bounds.chi2(100, 400, 0.6) == pytest.approx(0.017)


def test_constants_by_hand():
    assert bounds.complexity_constant(0.5) == 6
    assert bounds.deviation_constant(2.0, 0.5) == pytest.approx(2)
    assert bounds.range_constant(2.0, 0.8, 0.5) == pytest.approx(8.5333333333)


def test_general_bound_by_hand():
    complexity = {"positive_complexity": 0.1, "unlabeled_complexity": 0.04}
    expected = 6 * (0.04 + 0.6 * 0.1) + 2 * 0.11 + 8.5333333333 * 0.017
    assert bounds.estimation_error_bound(100, 400, 0.3, **complexity, **HAND) == pytest.approx(expected)
    excess = bounds.excess_risk_bound(100, 400, 0.3, approximation_error=0.07, **complexity, **HAND)
    assert excess == pytest.approx(expected + 0.07)
    half = bounds.wipm_error_bound(100, 400, 0.6, **complexity, tau=2.0, rho=0.5, sup_norm=0.8, alpha=0.5)
    assert half == pytest.approx(expected / 2)


def test_kernel_bound_by_hand():
    expected = (6 + 2) * 0.11 + 8.5333333333 * 0.017
    assert bounds.kernel_estimation_error_bound(100, 400, 0.3, **HAND) == pytest.approx(expected)


def test_kiryo_bound_by_hand():
    complexity = {"positive_complexity": 0.1, "unlabeled_complexity": 0.04}
    expected = 8 * 0.1 + 0.11 * 1.8 * 2 + 0.05
    assert bounds.kiryo_bound(100, 400, 0.3, **complexity, tau=2.0, nu=0.8, delta=0.05) == pytest.approx(expected)
    in_the_ball = 8 * 0.11 + 0.11 * 2 * 2
    assert bounds.kernel_kiryo_bound(100, 400, 0.3, tau=2.0) == pytest.approx(in_the_ball)


def test_round_ball_by_hand():
    """s^2 = 0.36/100 + 1/400 = 0.0061, D = 3 s for tau = 4."""
    off = 3 * math.sqrt(0.0061)
    assert bounds.kernel_mean_error_bound(100, 400, 0.3, tau=4.0) == pytest.approx(off)
    assert bounds.round_ball_bound(100, 400, 0.3, tau=4.0) == pytest.approx(2 * off)
    assert bounds.round_ball_bound(100, 400, 0.3, tau=4.0, wmmd=0.2) == pytest.approx(2 * off)  # D > wmmd
    for wmmd in (0.24, 0.5):  # D < wmmd
        expected = wmmd - math.sqrt(wmmd**2 - off**2)
        assert bounds.round_ball_bound(100, 400, 0.3, tau=4.0, wmmd=wmmd) == pytest.approx(expected)


def test_complexity_of_a_ball_by_hand():
    assert bounds.rademacher_complexity_bound(400, radius=0.8) == pytest.approx(0.04)


@given(alpha=alphas, **whole_domain)
def test_bounds_are_made_of_the_constants(size, complexity, tau, nu, share, alpha):
    """[thm:estimation_error] as the text writes it."""
    n_positive, n_unlabeled, prior = size
    weight, rho = 2 * prior, share * nu
    joint = complexity["unlabeled_complexity"] + weight * complexity["positive_complexity"]
    rest = bounds.deviation_constant(tau, rho) * bounds.chi1(n_positive, n_unlabeled, weight)
    rest += bounds.range_constant(tau, nu, alpha) * bounds.chi2(n_positive, n_unlabeled, weight)
    known = {"tau": tau, "nu": nu, "rho": rho, "alpha": alpha}
    expected = bounds.complexity_constant(alpha) * joint + rest
    assert bounds.estimation_error_bound(*size, **complexity, **known) == pytest.approx(expected)
    in_the_ball = bounds.complexity_constant(alpha) * bounds.chi1(n_positive, n_unlabeled, weight) + rest
    assert bounds.kernel_estimation_error_bound(*size, **known) == pytest.approx(in_the_ball)


def test_nothing_known_of_the_variance_is_a_deviation_of_nu():
    assert general(50, 60, 0.3, nu=0.7) == general(50, 60, 0.3, nu=0.7, rho=0.7)


# --- alpha ---


@given(sizes, sizes, priors, st.floats(1e-3, 2), taus, unit)
def test_optimal_alpha_minimises_the_bound(n_positive, n_unlabeled, prior, complexity, tau, nu):
    def at(log_alpha):
        return general(n_positive, n_unlabeled, prior, complexity, tau=tau, nu=nu, alpha=math.exp(log_alpha))

    least = general(n_positive, n_unlabeled, prior, complexity, tau=tau, nu=nu)
    found = minimize_scalar(at, bounds=(-15, 15), method="bounded").fun
    alpha = bounds.optimal_alpha(
        n_positive,
        n_unlabeled,
        prior,
        positive_complexity=complexity,
        unlabeled_complexity=complexity,
        tau=tau,
        nu=nu,
    )
    assert at(math.log(alpha)) == pytest.approx(least, rel=1e-9)
    assert least <= found * (1 + 1e-9)
    assert found == pytest.approx(least, rel=1e-4)


@given(sizes, sizes, priors, complexities, taus, unit, alphas)
def test_no_alpha_beats_the_default(n_positive, n_unlabeled, prior, complexity, tau, nu, alpha):
    default = general(n_positive, n_unlabeled, prior, complexity, tau=tau, nu=nu)
    assert default <= general(n_positive, n_unlabeled, prior, complexity, tau=tau, nu=nu, alpha=alpha) * (1 + 1e-12)


def test_a_class_without_complexity_takes_alpha_to_infinity():
    limit = general(100, 400, 0.3, complexity=0.0, tau=2.0)
    assert limit == pytest.approx(general(100, 400, 0.3, complexity=0.0, tau=2.0, alpha=1e12))
    assert bounds.optimal_alpha(100, 400, 0.3, positive_complexity=0, unlabeled_complexity=0) == math.inf


# --- monotone ---

BOUNDS = {
    "general": general,
    "excess risk": lambda *args, **settings: bounds.excess_risk_bound(
        *args, approximation_error=0.1, positive_complexity=0.2, unlabeled_complexity=0.1, **settings
    ),
    "wipm": lambda n_positive, n_unlabeled, prior, tau: bounds.wipm_error_bound(
        n_positive, n_unlabeled, 2 * prior, positive_complexity=0.2, unlabeled_complexity=0.1, tau=tau, sup_norm=3.0
    ),
    "kernel": bounds.kernel_estimation_error_bound,
    "kiryo": kiryo,
    "kernel kiryo": bounds.kernel_kiryo_bound,
    "kernel means": bounds.kernel_mean_error_bound,
    "round ball": bounds.round_ball_bound,
    "round ball, wmmd known": lambda *args, **settings: bounds.round_ball_bound(*args, wmmd=0.2, **settings),
}


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
@given(sizes, sizes, priors, taus, st.integers(2, 1000), st.floats(1.01, 100))
def test_bounds_fall_with_the_sizes_and_rise_with_tau_and_prior(
    bound, n_positive, n_unlabeled, prior, tau, times_size, times
):
    """Strictly: a bound that ignores one of them would not pass."""
    here = bound(n_positive, n_unlabeled, prior, tau=tau)
    assert 0 < here < math.inf
    assert bound(n_positive * times_size, n_unlabeled, prior, tau=tau) < here
    assert bound(n_positive, n_unlabeled * times_size, prior, tau=tau) < here
    assert bound(n_positive, n_unlabeled, prior, tau=tau * times) > here
    assert bound(n_positive, n_unlabeled, min(0.999, prior * times), tau=tau) > here


@given(sizes, sizes, priors, taus, unit, st.floats(0, 1), st.floats(0, 1))
def test_bounds_rise_with_the_deviation(n_positive, n_unlabeled, prior, tau, nu, share, more):
    low, high = nu * min(share, more), nu * max(share, more)
    below = general(n_positive, n_unlabeled, prior, tau=tau, nu=nu, rho=low)
    assert below <= general(n_positive, n_unlabeled, prior, tau=tau, nu=nu, rho=high)


# --- [prop:sharper] ---


@settings(max_examples=500)
@given(**whole_domain)
def test_its_condition_is_its_inequality(size, complexity, tau, nu, share):
    """The condition implies the inequality, for any alpha at its best; and at alpha = 1 the inequality implies it."""
    rho = share * nu
    theirs = bounds.kiryo_bound(*size, **complexity, tau=tau, nu=nu)
    ours = bounds.estimation_error_bound(*size, **complexity, tau=tau, nu=nu, rho=rho, alpha=1.0)
    at_best = bounds.estimation_error_bound(*size, **complexity, tau=tau, nu=nu, rho=rho)
    if bounds.is_sharper(*size, tau=tau, rho=rho, nu=nu):
        assert at_best <= ours * (1 + 1e-12) <= theirs * (1 + 2e-12)
    else:
        assert ours >= theirs * (1 - 1e-12)


@pytest.mark.parametrize("offset", [-1e-6, 1e-6])
@given(sizes, sizes, priors, complexities, taus, unit)
def test_at_the_edge_of_its_condition(offset, n_positive, n_unlabeled, prior, complexity, tau, nu):
    size = n_positive, n_unlabeled, prior
    rho = bounds.sharper_up_to(*size, tau=tau, nu=nu) + offset
    assume(0 <= rho <= nu)
    assert bounds.is_sharper(*size, tau=tau, rho=rho, nu=nu) == (offset < 0)
    ours = general(*size, complexity, tau=tau, nu=nu, rho=rho, alpha=1.0)
    assert ours == pytest.approx(kiryo(*size, complexity, tau=tau, nu=nu), rel=1e-5)


@given(sizes, sizes, priors, taus)
def test_with_unknown_variances_it_never_holds(n_positive, n_unlabeled, prior, tau):
    assert not bounds.is_sharper(n_positive, n_unlabeled, prior, tau=tau)


def test_with_a_known_variance_it_holds_from_some_size_on():
    assert not bounds.is_sharper(10, 10, 0.5, tau=3.0, rho=0.5)
    assert bounds.is_sharper(1000, 1000, 0.5, tau=3.0, rho=0.5)


# --- the kernel ball on data ---


def gram(rows, gamma):
    return np.exp(-gamma * ((rows[:, None] - rows) ** 2).sum(axis=2))


def test_rademacher_complexity_is_the_mean_over_all_signs(rng):
    rows = rng.normal(size=(8, 2))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1)
    expected = 0.7 * np.sqrt(np.einsum("is,ij,js->s", signs, gram(rows, 0.5), signs)).mean() / 8
    found = bounds.rademacher_complexity(rows, gamma=0.5, radius=0.7, n_draws=20_000, random_state=0)
    assert found == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("gamma", [1e-6, 0.1, 1.0, 100.0])
def test_rademacher_complexity_lies_under_its_closed_form_and_not_far(rng, kernel, gamma):
    """Khintchine's inequality in a Hilbert space has the constant sqrt(2)."""
    rows = rng.normal(size=(300, 3))
    found = bounds.rademacher_complexity(rows, kernel=kernel, gamma=gamma, n_draws=2000, random_state=0)
    closed_form = bounds.rademacher_complexity_bound(300)
    assert closed_form / math.sqrt(2) * 0.95 <= found <= closed_form * 1.001


def test_rademacher_complexity_does_not_depend_on_the_chunks(rng):
    rows = rng.normal(size=(2100, 2))
    signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(2100, 3))
    expected = np.sqrt(np.einsum("is,ij,js->s", signs, gram(rows, 1.0), signs, optimize=True)).mean() / 2100
    assert bounds.rademacher_complexity(rows, n_draws=3, random_state=0) == pytest.approx(expected)


def test_largest_variance_is_attained_and_not_exceeded(rng):
    """On a sample with its own (n - 1) variance: random functions stay below, the leading eigenfunction reaches it."""
    rows = rng.normal(size=(40, 2))
    largest = bounds.largest_variance(rows, gamma=0.5, radius=0.9)
    matrix = gram(rows, 0.5)
    centring = np.eye(40) - 1 / 40
    coefficients = np.column_stack(
        [rng.normal(size=(40, 100)), centring @ np.linalg.eigh(centring @ matrix @ centring)[1]]
    )
    norms = np.sqrt(np.einsum("is,ij,js->s", coefficients, matrix, coefficients))
    kept = norms > 1e-6
    variances = np.var(0.9 * matrix @ coefficients[:, kept] / norms[kept], axis=0, ddof=1)
    assert variances.max() == pytest.approx(largest, rel=1e-9)


def test_largest_variance_with_a_probability_covers_the_distribution(rng):
    """The distribution: two atoms a, b of mass 1/2, where the largest variance is (1 - k(a, b)) / 2."""
    atoms = np.array([[0.0], [1.0]])
    truth = (1 - math.exp(-1.0)) / 2
    covered = [bounds.largest_variance(atoms[rng.integers(0, 2, 200)], gamma=1.0, tau=1.0) >= truth for _ in range(100)]
    assert np.mean(covered) >= 1 - math.exp(-1)
    assert bounds.largest_variance(atoms[rng.integers(0, 2, 2000)], gamma=1.0) == pytest.approx(truth, abs=0.01)
    assert bounds.largest_variance(atoms, tau=3.0, radius=0.5) == 0.25  # never more than the square of the radius


def test_largest_variance_with_a_probability_by_hand(rng):
    """201 rows make 100 pairs: 1/10, and sqrt(2 * 2 / 201)."""
    rows = rng.normal(size=(201, 1))
    more = bounds.largest_variance(rows, tau=2.0, radius=0.5) - bounds.largest_variance(rows, radius=0.5)
    assert more == pytest.approx(0.25 * (0.1 + math.sqrt(4 / 201)))


def test_covariance_estimate_keeps_to_the_steps_of_its_bound(rng):
    """It is the mean over pairs of (1/2) d d', d = k(., x) - k(., y), of norm 1 at most; a row moves it by 2 / n."""
    rows = np.concatenate([rng.normal(size=(30, 2)), [[9.0, 9.0]]])  # the last, far off, in exchange for the first
    features = np.linalg.cholesky(gram(rows, 2.0) + 1e-14 * np.eye(31))  # vectors with the kernel's inner products
    before, after = features[:30], features[1:]
    i, j = np.triu_indices(30, 1)
    pairs = (before[i] - before[j]) / math.sqrt(2)
    assert (pairs**2).sum(axis=1).max() <= 1 + 1e-9
    estimate = pairs.T @ pairs / len(pairs)
    assert np.linalg.norm(estimate, 2) == pytest.approx(bounds.largest_variance(rows[:30], gamma=2.0))
    assert 1 / 30 < np.linalg.norm(np.cov(after.T) - estimate, 2) <= 2 / 30


# --- the bounds hold: Gaussians, where kernel means and so the hinge risk of any kernel sum are in closed form ---

GAMMA, PRIOR, SHIFT = 0.4, 0.4, 1 / math.sqrt(2)


def mean_kernel(queries, centre, gamma=GAMMA):
    """E k(z, x) over x ~ N(centre, I)."""
    widened = 1 + 2 * gamma
    return widened ** (-queries.shape[1] / 2) * np.exp(-gamma / widened * ((queries - centre) ** 2).sum(axis=1))


def squared_wmmd():
    """Of N(+-SHIFT, I) mixed with PRIOR, in the plane: mu = (1 - PRIOR) mu_- - PRIOR mu_+."""
    widened = 1 + 4 * GAMMA
    cross = math.exp(-GAMMA / widened * 2 * (2 * SHIFT) ** 2)
    return ((1 - PRIOR) ** 2 + PRIOR**2 - 2 * PRIOR * (1 - PRIOR) * cross) / widened


def draw_errors(n_positive, n_unlabeled, rng):
    """Estimation error of the WMMD function, and the error of the WMMD itself, exact for one draw."""
    positive = rng.normal(SHIFT, 1, (n_positive, 2))
    unlabeled = rng.normal(0, 1, (n_unlabeled, 2)) + SHIFT * rng.choice([1, -1], (n_unlabeled, 1), p=[PRIOR, 1 - PRIOR])
    function = witness(positive, unlabeled, 2 * PRIOR, gamma=GAMMA)

    def margin(rows):  # E_X k - 2 PRIOR E_+ k
        return ((1 - PRIOR) * mean_kernel(rows, -SHIFT) - PRIOR * mean_kernel(rows, SHIFT)).mean()

    attained = (margin(unlabeled) - 2 * PRIOR * margin(positive)) / function.norm
    wmmd = math.sqrt(squared_wmmd())
    return wmmd - attained, abs(function.wmmd - wmmd)


@pytest.fixture(scope="module")
def errors():
    rng = np.random.default_rng(0)
    return {sizes: np.array([draw_errors(*sizes, rng) for _ in range(60)]) for sizes in ((5, 5), (20, 80), (150, 400))}


@pytest.mark.parametrize("tau", [0.05, 0.5, 3.0])
def test_bounds_hold_in_enough_draws(errors, tau):
    wmmd = math.sqrt(squared_wmmd())
    for (n_positive, n_unlabeled), found in errors.items():
        size = n_positive, n_unlabeled, PRIOR
        complexity = {
            "positive_complexity": bounds.rademacher_complexity_bound(n_positive),
            "unlabeled_complexity": bounds.rademacher_complexity_bound(n_unlabeled),
        }
        estimation, wipm_error = found.T
        assert (estimation >= -1e-12).all()
        for bound in (
            bounds.kernel_estimation_error_bound(*size, tau=tau),
            bounds.estimation_error_bound(
                *size, **complexity, tau=tau, rho=0.5
            ),  # above the sup of this ball: see below
            bounds.kernel_kiryo_bound(*size, tau=tau),
            bounds.round_ball_bound(*size, tau=tau),
            bounds.round_ball_bound(*size, tau=tau, wmmd=wmmd),
        ):
            assert np.mean(estimation <= bound) >= 1 - math.exp(-tau)
        for bound in (
            bounds.wipm_error_bound(n_positive, n_unlabeled, 2 * PRIOR, **complexity, tau=tau),
            bounds.kernel_mean_error_bound(*size, tau=tau),
        ):
            assert np.mean(wipm_error <= bound) >= 1 - math.exp(-tau)


@pytest.mark.parametrize("tau", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("sizes", [(10, 100), (60, 30), (400, 400)])
def test_wipm_bound_holds_for_two_functions_of_a_coin(sizes, tau):
    """F = {f, -f} with f = +-nu by a fair coin: the WIPM is 0, and the complexity nu E|sum of n signs| / n."""
    rng, nu, weight = np.random.default_rng(0), 0.6, 1.2
    signs = {n: 2 * rng.binomial(n, 0.5, 4000) / n - 1 for n in set(sizes)}
    again = {n: 2 * rng.binomial(n, 0.5, 4000) / n - 1 for n in set(sizes)}
    found = nu * np.abs(signs[sizes[1]] - weight * again[sizes[0]])
    bound = bounds.wipm_error_bound(
        *sizes,
        weight,
        positive_complexity=nu * np.abs(signs[sizes[0]]).mean(),
        unlabeled_complexity=nu * np.abs(signs[sizes[1]]).mean(),
        tau=tau,
        sup_norm=nu,
    )
    assert np.mean(found <= bound) >= 1 - math.exp(-tau)
    assert bound <= 8 * np.quantile(found, 1 - math.exp(-tau) / 2)  # it is no idle bound


def test_the_deviation_used_above_is_an_upper_one(rng):
    """For a Gaussian of unit variance and this gamma the largest standard deviation is below one half."""
    for centres in (np.zeros((1500, 1)) + SHIFT, SHIFT * rng.choice([1, -1], (1500, 1), p=[PRIOR, 1 - PRIOR])):
        assert bounds.largest_variance(rng.normal(0, 1, (1500, 2)) + centres, gamma=GAMMA) < 0.5**2 * 0.9


def test_the_round_ball_is_sharper_than_the_general_bounds():
    for size in ((10, 10), (100, 1000), (10**5, 10**5)):
        assert bounds.round_ball_bound(*size, 0.4) < bounds.kernel_estimation_error_bound(*size, 0.4, rho=0.1)
    ratio = bounds.round_ball_bound(10**6, 10**6, 0.4, wmmd=0.2) / bounds.round_ball_bound(10**8, 10**8, 0.4, wmmd=0.2)
    assert ratio == pytest.approx(100, rel=0.01)


def test_expected_error_of_the_kernel_means_is_attained(rng):
    """A kernel that tells all rows apart: the error is s in every draw, which is D for tau to 0."""
    masses = np.concatenate([np.full(30, 0.8 / 30), np.full(50, -1 / 50)])
    rows = rng.normal(size=(80, 3))
    found = math.sqrt(masses @ gram(rows, 1e9) @ masses)
    assert found == pytest.approx(bounds.kernel_mean_error_bound(30, 50, 0.4, tau=1e-12), rel=1e-5)


@given(st.integers(0, 10**6), st.floats(0.01, 3))
def test_geometry_of_the_round_ball(seed, size_of_error):
    """|mu| - <mu, m> / |m| against the formula, for random vectors and the error that they have."""
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=3)
    estimate = mu + size_of_error * rng.normal(size=3)
    off, length = np.linalg.norm(estimate - mu), np.linalg.norm(mu)
    loss = length - mu @ estimate / np.linalg.norm(estimate)
    assert loss <= (length - math.sqrt(length**2 - off**2) if off < length else 2 * off) + 1e-12


# --- rates [thm:excess_super_fast] ---


def test_bandwidth_rate_and_gamma_by_hand():
    assert bounds.theorem_bandwidth(10_000, 20_000, smoothness=0.5, n_features=3) == pytest.approx(0.1)
    assert bounds.gamma_of_bandwidth(0.1) == pytest.approx(50)
    assert bounds.rate_exponent(smoothness=0.5, noise_exponent=2, n_features=3) == pytest.approx(1.5 / 4)
    rate = bounds.excess_risk_rate(20_000, 10_000, smoothness=0.5, noise_exponent=2, n_features=3, constant=2.0)
    assert rate == pytest.approx(2 * 10_000 ** (-1.5 / 4))


@given(st.floats(1e-3, 1e3))
def test_gamma_and_bandwidth_are_inverse(gamma):
    assert bounds.gamma_of_bandwidth(bounds.bandwidth_of_gamma(gamma)) == pytest.approx(gamma)


@given(st.floats(0.01, 1), st.floats(0, 30), st.integers(1, 10))
def test_rates_beyond_one_over_n_need_more_than_the_text_says(smoothness, q, d):
    exponent = bounds.rate_exponent(smoothness=smoothness, noise_exponent=q, n_features=d)
    assume(abs(smoothness * (q - 1) - d) > 1e-9 and abs(2 * smoothness * q - d) > 1e-9)
    assert (exponent > 1) == (smoothness * (q - 1) > d)
    assert (exponent > 1 / 2) == (2 * smoothness * q > d)


# --- approximation error [lem:approximation_error_bound_RKHS] ---


@given(st.integers(0, 10**6), st.floats(0.05, 20), st.floats(0.05, 1))
def test_the_lemma_bounds_the_approximation_error(seed, gamma, beta):
    rng = np.random.default_rng(seed)
    points, eta, masses = rng.normal(size=(12, 2)), rng.uniform(size=12), rng.dirichlet(np.ones(12))
    known = {"masses": masses, "gamma": gamma}
    error = bounds.approximation_error(points, eta, **known)
    bound = bounds.approximation_error_bound(points, np.where(eta > 0.5, 1, -1), **known, beta=beta)
    margin = masses @ np.abs(2 * eta - 1)
    assert 0 <= error <= bound + (1 - beta) * margin + 1e-9


@pytest.mark.parametrize("gamma", [0.1, 3.0])
def test_approximation_error_is_a_difference_of_two_metrics(rng, gamma):
    """[thm:relationship] twice: the best of all functions against the best of the ball."""
    points, eta, masses = rng.normal(size=(9, 2)), rng.uniform(size=9), rng.dirichlet(np.ones(9))
    prior = masses @ eta
    known = {"positive_masses": masses * eta / prior, "unlabeled_masses": masses}
    best, in_ball = (wipm(points, points, 2 * prior, of, **known) for of in (Bounded(), KernelBall("rbf", gamma)))
    assert bounds.approximation_error(points, eta, masses=masses, gamma=gamma) == pytest.approx(best - in_ball)


@pytest.mark.parametrize("beta", [0.01, 0.7, 1.0])
def test_a_flat_kernel_holds_constants_only(rng, beta):
    """All eigenvalues but one are rounding: what the ball cannot reach stays in the distance."""
    rule = np.repeat([1, -1], [37, 23])
    expected = beta * math.sqrt(1 - rule.mean() ** 2)
    found = bounds.approximation_error_bound(rng.normal(size=(60, 2)), rule, gamma=1e-18, beta=beta)
    assert found == pytest.approx(expected)


def test_nearest_function_of_the_ball_by_brute_force():
    """Two atoms: the values of the ball's functions fill an ellipse, and the rule lies outside: search its edge."""
    points, target, masses = np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), np.array([0.3, 0.7])
    angles = np.linspace(0, 2 * np.pi, 20_001)
    root = np.linalg.cholesky(gram(points, 0.8))
    for radius in (1.0, 1.3):
        assert target @ np.linalg.solve(gram(points, 0.8), target) > radius**2
        edge = radius * root @ np.array([np.cos(angles), np.sin(angles)])
        nearest = np.sqrt(masses @ (edge - target[:, None]) ** 2).min()
        found = bounds.approximation_error_bound(points, target, masses=masses, gamma=0.8, beta=1 / radius)
        assert found == pytest.approx(nearest / radius, abs=1e-6)


@pytest.mark.parametrize("tau", [0.05, 3.0])
def test_the_corollary_on_a_finite_distribution(rng, tau):
    """[cor:excess_risk_bound], with its steps: excess error rate <= excess hinge risk <= bound. All sums are exact."""
    points, eta, masses = rng.normal(size=(12, 2)), rng.uniform(size=12), rng.dirichlet(np.ones(12))
    margin, prior, n_positive, n_unlabeled = masses * (2 * eta - 1), float(masses @ eta), 8, 20
    lacking = bounds.approximation_error(points, eta, masses=masses)
    complexity = {"positive_complexity": 1 / math.sqrt(n_positive), "unlabeled_complexity": 1 / math.sqrt(n_unlabeled)}
    bound = bounds.excess_risk_bound(n_positive, n_unlabeled, prior, approximation_error=lacking, **complexity, tau=tau)
    held = []
    for _ in range(50):
        positive = points[rng.choice(12, n_positive, p=masses * eta / prior)]
        f = witness(positive, points[rng.choice(12, n_unlabeled, p=masses)], 2 * prior, gamma=1.0).f(points)
        error_rate = np.abs(margin)[np.sign(margin) != np.sign(f)].sum()  # above that of the Bayes rule
        hinge_risk = np.abs(margin).sum() - margin @ f
        assert max(error_rate, lacking) <= hinge_risk + 1e-12
        held.append(error_rate <= bound)
    assert np.mean(held) >= 1 - math.exp(-tau)


def test_a_large_enough_ball_holds_the_bayes_rule_on_finitely_many_points(rng):
    points, rule = rng.normal(size=(6, 1)), np.array([1, 1, -1, 1, -1, -1])
    assert bounds.approximation_error_bound(points, rule, gamma=30.0, beta=0.01) == pytest.approx(0, abs=1e-9)


# --- sample size ---


@given(st.floats(0.05, 3), priors, taus, st.floats(0.1, 100))
def test_sample_size_is_the_first_that_reaches_the_target(target, prior, tau, cost):
    n_positive, n_unlabeled = bounds.sample_size(target, prior=prior, tau=tau, positive_cost=cost)
    assert bounds.kernel_estimation_error_bound(n_positive, n_unlabeled, prior, tau=tau) <= target
    proportion = (2 * prior / cost) ** (2 / 3)
    if proportion > 1:
        before = n_positive - 1, math.ceil((n_positive - 1) / proportion)
    else:
        before = math.ceil((n_unlabeled - 1) * proportion), n_unlabeled - 1
    assert min(before) == 0 or bounds.kernel_estimation_error_bound(*before, prior, tau=tau) > target


@given(st.floats(0.3, 3), priors)
def test_sample_size_with_one_size_given(target, prior):
    n_positive, n_unlabeled = bounds.sample_size(target, bounds.round_ball_bound, prior=prior, n_unlabeled=10_000)
    assert n_unlabeled == 10_000
    assert bounds.round_ball_bound(n_positive, 10_000, prior) <= target
    assert n_positive == 1 or bounds.round_ball_bound(n_positive - 1, 10_000, prior) > target


def test_sample_size_answers_for_the_unlabeled_too():
    n_positive, n_unlabeled = bounds.sample_size(0.1, bounds.round_ball_bound, prior=0.2, n_positive=500, wmmd=0.3)
    assert n_positive == 500
    assert bounds.round_ball_bound(500, n_unlabeled, 0.2, wmmd=0.3) <= 0.1
    assert bounds.round_ball_bound(500, n_unlabeled - 1, 0.2, wmmd=0.3) > 0.1


def test_sample_size_of_an_excess_risk_with_complexities_that_shrink():
    def bound(n_positive, n_unlabeled, prior, **settings):
        complexity = {"positive_complexity": 1 / n_positive**0.5, "unlabeled_complexity": 1 / n_unlabeled**0.5}
        return bounds.excess_risk_bound(n_positive, n_unlabeled, prior, **complexity, **settings)

    found = bounds.sample_size(0.5, bound, prior=0.3, tau=2.0, approximation_error=0.2)
    assert found == bounds.sample_size(0.3, prior=0.3, tau=2.0)


@pytest.mark.parametrize("cost", [0.02, 1.0, 50.0])
def test_no_other_proportion_is_much_cheaper(cost):
    n_positive, n_unlabeled = bounds.sample_size(0.05, prior=0.3, positive_cost=cost)
    price = cost * n_positive + n_unlabeled
    for factor in (0.8, 0.9, 1.1, 1.25, 2.0):
        fewer_or_more = math.ceil(factor * n_positive)
        rest = bounds.sample_size(0.05, prior=0.3, n_positive=fewer_or_more)[1]
        assert cost * fewer_or_more + rest > price * (1 - 1e-3)


def test_a_target_out_of_reach_says_what_is_reached():
    with pytest.raises(ValueError, match=r"out of reach: the bound is still .* at .*1000000000000000, 10\)"):
        bounds.sample_size(0.1, prior=0.3, n_unlabeled=10)


def test_sample_size_with_both_sizes_given():
    with pytest.raises(ValueError, match="not both"):
        bounds.sample_size(0.1, prior=0.3, n_unlabeled=10, n_positive=10)


# --- bad input ---

SYMBOLS = {
    "n_positive": ([0, -3, 2.5, True, "ten"], "at least 1"),
    "n_unlabeled": ([0, 1.0, None], "at least 1"),
    "prior": ([0, 1, -0.1, math.nan, None], "0 < prior < 1"),
    "tau": ([0, -1, math.inf, math.nan], "0 < tau < inf"),
    "nu": ([0, 1.01, -1, "one"], "0 < nu <= 1"),
    "rho": ([-0.1, 1.1, math.nan, "some"], "0 <= rho <= 1"),
    "alpha": ([0, -1, math.inf], "0 < alpha < inf"),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (bad, _) in SYMBOLS.items() for value in bad])
@pytest.mark.parametrize("bound", [general, bounds.kernel_estimation_error_bound])
def test_errors_state_the_range(bound, name, value):
    good = {"n_positive": 10, "n_unlabeled": 10, "prior": 0.5}
    with pytest.raises(ValueError, match=name) as error:
        bound(**{**good, name: value})
    assert SYMBOLS[name][1] in str(error.value)


def test_a_deviation_above_nu_is_refused():
    with pytest.raises(ValueError, match=r"0 <= rho <= 0\.5 .*at most nu"):
        general(10, 10, 0.5, nu=0.5, rho=0.6)
    with pytest.raises(ValueError, match=r"0 <= rho <= 0\.5 .*at most nu"):
        bounds.is_sharper(10, 10, 0.5, nu=0.5, rho=0.6)
    with pytest.raises(ValueError, match=r"0 <= rho <= 2\.5 .*at most sup_norm"):
        bounds.wipm_error_bound(10, 10, 1.0, positive_complexity=1, unlabeled_complexity=1, sup_norm=2.5, rho=2.6)
    with pytest.raises(ValueError, match="0 <= rho <= 1 "):
        bounds.deviation_constant(1.0, 1.1)


@pytest.mark.parametrize(
    ("call", "stated"),
    [
        (lambda: kiryo(10, 10, 0.5, delta=-1), "0 <= delta < inf"),
        (lambda: general(10, 10, 0.5, complexity=-1), "0 <= positive_complexity < inf"),
        (
            lambda: bounds.kiryo_bound(10, 10, 0.5, positive_complexity=1, unlabeled_complexity=math.nan),
            "0 <= unlabeled_complexity < inf",
        ),
        (
            lambda: bounds.optimal_alpha(0, 10, 0.5, positive_complexity=0, unlabeled_complexity=0),
            "n_positive=0 is out of range: give a whole number of at least 1",
        ),
        (
            lambda: bounds.wipm_error_bound(10, 10, 1, positive_complexity=1, unlabeled_complexity=1, sup_norm=0),
            "0 < sup_norm < inf",
        ),
        (lambda: bounds.largest_variance([[0.0], [1.0]], tau=0), "0 < tau < inf"),
        (
            lambda: bounds.excess_risk_rate(9, 9, smoothness=1, noise_exponent=1, n_features=1, constant=0),
            "0 < constant",
        ),
        (lambda: bounds.chi1(10, 10, 0), "0 < weight < inf"),
        (
            lambda: bounds.excess_risk_bound(
                1, 1, 0.5, approximation_error=-1, positive_complexity=1, unlabeled_complexity=1
            ),
            "0 <= approximation_error < inf",
        ),
        (lambda: bounds.theorem_bandwidth(10, 10, smoothness=1.5, n_features=2), "0 < smoothness <= 1"),
        (lambda: bounds.rate_exponent(smoothness=1, noise_exponent=-1, n_features=2), "0 <= noise_exponent < inf"),
        (lambda: bounds.rate_exponent(smoothness=1, noise_exponent=1, n_features=0), "at least 1"),
        (lambda: bounds.gamma_of_bandwidth(0), "0 < bandwidth < inf"),
        (lambda: bounds.bandwidth_of_gamma(-1), "0 < gamma < inf"),
        (lambda: bounds.rademacher_complexity_bound(10, radius=0), "0 < radius < inf"),
        (lambda: bounds.rademacher_complexity([[0.0]], n_draws=0), "at least 1"),
        (lambda: bounds.approximation_error_bound([[0.0]], [1], beta=2), "0 < beta <= 1"),
        (lambda: bounds.approximation_error_bound([[0.0], [1.0]], [0.2, 0.8]), "2 signs, +1 or -1"),
        (lambda: bounds.approximation_error_bound([[0.0], [1.0]], [1]), "2 signs, +1 or -1"),
        (lambda: bounds.approximation_error([[0.0]], [2]), "probabilities from 0 to 1"),
        (lambda: bounds.approximation_error([[0.0], [1.0]], [0.1, 0.2], masses=[0.5, 0.6]), "must sum to 1"),
        (lambda: bounds.round_ball_bound(10, 10, 0.5, wmmd=-1), "0 <= wmmd < inf"),
        (lambda: bounds.sample_size(0, prior=0.5), "0 < target < inf"),
        (lambda: bounds.sample_size(1, prior=0.5, positive_cost=0), "0 < positive_cost < inf"),
    ],
)
def test_other_errors_state_the_range_too(call, stated):
    with pytest.raises(ValueError, match=r"out of range|must") as error:
        call()
    assert stated in str(error.value)
