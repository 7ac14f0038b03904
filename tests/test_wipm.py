"""The weighted integral probability metric over classes of functions. Labels are those of the paper's source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist, pdist

from unlabeled import wmmd
from unlabeled.wipm import Bounded, BoundedLipschitz, FisherBall, KernelBall, wipm, wipm_optimum

SOLVER = 1e-7


def discrete(seed, n_points=8, n_features=2):
    """A joint distribution on a few points: the points, P(x | y=1), P(x | y=-1), and the prior."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, (n_points, n_features)) / 2 + np.arange(n_points)[:, None] / 100  # distinct
    return points, rng.dirichlet(np.ones(n_points)), rng.dirichlet(np.ones(n_points)), rng.uniform(0.1, 0.9)


def smallest_hinge_risk(points, p_positive, p_negative, prior, lipschitz=None):
    """The slow definition: both classes, a slack for each hinge, and a constraint for each ordered pair of points."""
    n = len(points)
    masses = np.concatenate([prior * p_positive, (1 - prior) * p_negative])
    identity = np.eye(n)
    hinges = np.block([[-identity, -identity, np.zeros((n, n))], [identity, np.zeros((n, n)), -identity]])
    rows, limits = [hinges], [np.full(2 * n, -1.0)]  # slack >= 1 - y f
    if lipschitz is not None:
        i, j = np.nonzero(~np.eye(n, dtype=bool))
        rows.append(np.hstack([identity[i] - identity[j], np.zeros((len(i), 2 * n))]))
        limits.append(lipschitz * cdist(points, points)[i, j])
    bounds = [(-1, 1)] * n + [(0, None)] * (2 * n)
    cost = np.concatenate([np.zeros(n), masses])
    return linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(limits), bounds=bounds).fun


def hinge_risk(f, p_positive, p_negative, prior):
    return prior * p_positive @ np.maximum(0, 1 - f) + (1 - prior) * p_negative @ np.maximum(0, 1 + f)


def of_population(case, functions):
    points, p_positive, p_negative, prior = case
    population = prior * p_positive + (1 - prior) * p_negative
    return wipm_optimum(points, points, 2 * prior, functions, positive_masses=p_positive, unlabeled_masses=population)


# --- [thm:relationship]: the smallest hinge risk is 1 - WIPM, and minus the optimizer attains it ---


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("lipschitz", [None, 0.3, 1.0, 5.0])
def test_smallest_hinge_risk_is_one_minus_wipm(seed, lipschitz):
    case = discrete(seed)
    functions = Bounded() if lipschitz is None else BoundedLipschitz(lipschitz)
    assert 1 - of_population(case, functions).value == pytest.approx(smallest_hinge_risk(*case, lipschitz), abs=SOLVER)


CLASSES = [
    Bounded(),
    BoundedLipschitz(0.5),
    BoundedLipschitz(3.0),
    KernelBall("rbf", 0.7),
    KernelBall("inverse", 2.0),
    FisherBall("rbf", 0.7, penalty=1.0),
    FisherBall("inverse", 2.0, penalty=3.0),
]


@pytest.mark.parametrize("functions", CLASSES, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_minus_the_optimizer_attains_the_smallest_hinge_risk(functions, seed):
    points, p_positive, p_negative, prior = discrete(seed)
    optimum = of_population((points, p_positive, p_negative, prior), functions)
    order = [int(np.flatnonzero((optimum.points == point).all(axis=1))[0]) for point in points]
    risk = hinge_risk(-optimum.g[order], p_positive, p_negative, prior)
    assert risk == pytest.approx(1 - optimum.value, abs=SOLVER)


@pytest.mark.parametrize("functions", CLASSES, ids=str)
def test_optimizer_is_a_member_of_its_class(functions):
    for seed in range(20):
        optimum = of_population(discrete(seed), functions)
        assert np.abs(optimum.g).max() <= 1 + 1e-12
        if isinstance(functions, BoundedLipschitz):
            rises = pdist(optimum.g[:, None]) - functions.constant * pdist(optimum.points)
            assert rises.max() <= 1e-12


def test_no_member_of_the_kernel_ball_does_better(rng):
    """A random function of norm 1, from coefficients on the points."""
    points, p_positive, p_negative, prior = discrete(0)
    best = 1 - of_population((points, p_positive, p_negative, prior), KernelBall("rbf", 0.7)).value
    gram = np.exp(-0.7 * cdist(points, points, "sqeuclidean"))
    for _ in range(200):
        coefficients = rng.normal(size=len(points))
        f = gram @ coefficients / np.sqrt(coefficients @ gram @ coefficients)
        assert hinge_risk(f, p_positive, p_negative, prior) >= best - 1e-12


# --- the Fisher ball: E_u f^2 + penalty |f|^2 <= 1 ---

FISHER = [
    FisherBall("rbf", 0.7, penalty=0.05),
    FisherBall("inverse", 2.0, penalty=1.0),
    FisherBall("linear", penalty=0.3),
    FisherBall("rbf", 0.7, penalty=0.05, constant=True),
    FisherBall("linear", penalty=0.3, constant=True),
]


def gram_of(functions, points):
    if functions.kernel == "linear":
        return points @ points.T
    sq_dist = cdist(points, points, "sqeuclidean")
    return np.exp(-0.7 * sq_dist) if functions.kernel == "rbf" else 2 / (2 + sq_dist)


@pytest.mark.parametrize("functions", FISHER, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_no_member_of_the_fisher_ball_does_better(functions, seed, rng):
    """The optimizer is a member whose value is the WIPM, and random members on the ball's surface have less."""
    points, p_positive, p_negative, prior = discrete(seed)
    population = prior * p_positive + (1 - prior) * p_negative
    masses, gram = population - 2 * prior * p_positive, gram_of(functions, points)
    optimum = of_population((points, p_positive, p_negative, prior), functions)
    order = [int(np.flatnonzero((optimum.points == point).all(axis=1))[0]) for point in points]
    g = optimum.g[order]
    assert masses @ g == pytest.approx(optimum.value)
    constant = g @ population if functions.constant else 0.0
    centred = gram - population @ gram if functions.constant else gram
    coefficients = np.linalg.lstsq(centred, g - constant, rcond=None)[0]
    np.testing.assert_allclose(centred @ coefficients + constant, g, atol=1e-6)
    one = np.linalg.lstsq(gram, np.ones(len(gram)), rcond=None)[0]
    if functions.constant and np.allclose(gram @ one, 1):  # the constant takes what it can: it costs no norm
        coefficients -= one * (one @ gram @ coefficients) / (one @ gram @ one)
    cost = g**2 @ population + functions.penalty * coefficients @ gram @ coefficients
    assert cost == pytest.approx(1, abs=1e-6)
    for _ in range(200):
        coefficients, constant = rng.normal(size=len(points)), rng.normal() if functions.constant else 0.0
        f = gram @ coefficients + constant
        f /= np.sqrt(f**2 @ population + functions.penalty * coefficients @ gram @ coefficients)
        assert masses @ f <= optimum.value + 1e-9


def test_a_large_penalty_makes_the_fisher_ball_a_kernel_ball(rng, kernel):
    """Without a constant: the root of the penalty times the WIPM tends to the WMMD, and likewise the optimizer."""
    positive, unlabeled = rng.normal(0.5, 1, (15, 2)), rng.normal(0, 1, (25, 2))
    ball = wipm_optimum(positive, unlabeled, 1.3, KernelBall(kernel, 0.6))
    errors = []
    for penalty in (1e2, 1e4, 1e6):
        fisher = wipm_optimum(positive, unlabeled, 1.3, FisherBall(kernel, 0.6, penalty))
        assert np.sqrt(penalty) * fisher.value <= ball.value + 1e-12
        errors.append(abs(np.sqrt(penalty) * fisher.value - ball.value))
        errors[-1] += np.abs(np.sqrt(penalty) * fisher.g - ball.g).max()
    assert errors[0] > 50 * errors[1] > 50 * 50 * errors[2]


def test_a_fisher_ball_of_penalty_one_lies_within_one():
    """Below 1 it need not, and the hinge risk is then no longer 1 - WIPM."""
    case = discrete(3)
    assert np.abs(of_population(case, FisherBall("rbf", 0.7, 1.0)).g).max() <= 1
    assert np.abs(of_population(case, FisherBall("rbf", 0.7, 1e-4)).g).max() > 1


def test_the_linear_fisher_ball_is_fishers_discriminant(rng):
    """With a constant and hardly a penalty its direction is the inverse covariance times the difference of means."""
    positive, unlabeled = rng.normal(0.5, 1, (40, 3)), rng.normal(0, [1, 2, 3], (200, 3))
    optimum = wipm_optimum(positive, unlabeled, 1.0, FisherBall("linear", penalty=1e-9, constant=True))
    difference = unlabeled.mean(axis=0) - positive.mean(axis=0)
    direction = np.linalg.solve(np.cov(unlabeled.T, bias=True), difference)
    along = optimum.points @ direction
    assert np.corrcoef(along, optimum.g)[0, 1] == pytest.approx(1, abs=1e-9)
    assert optimum.value == pytest.approx(np.sqrt(difference @ direction), rel=1e-6)


@pytest.mark.parametrize("functions", [*FISHER, KernelBall("rbf", 0.7)], ids=str)
def test_how_far_a_far_point_lies_does_not_matter(functions, rng):
    """Nor where the origin is, but for the linear kernel without a constant."""
    positive, unlabeled = rng.normal(1, 1, (20, 2)), rng.normal(0, 1, (60, 2))
    values = []
    for far in (1e6, 1e9, 1e12, 1e100):
        unlabeled[0, 0] = far
        values.append(wipm(positive, unlabeled, 1.0, functions))
    np.testing.assert_allclose(values, values[0], rtol=1e-4)
    unlabeled[0, 0] = 0.5
    if functions.kernel != "linear" or functions.constant:
        moved = wipm(positive + 1e6, unlabeled + 1e6, 1.0, functions)
        assert moved == pytest.approx(wipm(positive, unlabeled, 1.0, functions), rel=1e-6)


# --- closed forms ---


def test_bounded_functions_sum_the_differences_over_merged_points():
    positive, unlabeled = [[0.0], [0.0], [1.0], [2.0]], [[0.0], [1.0], [1.0], [3.0]]
    # p - 1.2 q over the points 0, 1, 2, 3
    expected = abs(0.25 - 0.6) + abs(0.5 - 0.3) + 0.3 + 0.25
    assert wipm(positive, unlabeled, 1.2, Bounded()) == pytest.approx(expected)


def test_bounded_functions_see_nothing_in_samples_without_shared_points(rng):
    same = rng.normal(size=(2000, 2)), rng.normal(size=(3000, 2))
    assert wipm(*same, 0.8, Bounded()) == pytest.approx(1.8)


def test_kernel_ball_is_the_wmmd(rng, kernel):
    positive, unlabeled = rng.normal(0.5, 1, (15, 2)), rng.normal(0, 1, (25, 2))
    expected = wmmd(positive, unlabeled, 1.3, kernel=kernel, gamma=0.6, radius=0.8)
    assert wipm(positive, unlabeled, 1.3, KernelBall(kernel, 0.6, 0.8)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("distance", "constant"), [(0.3, 1.0), (0.3, 5.0), (1.0, 1.5), (4.0, 1.0)])
@pytest.mark.parametrize("weight", [0.4, 1.0, 1.7])
def test_lipschitz_functions_on_two_points(distance, constant, weight):
    """Mass 1 here and -w there: f falls by at most min(2, L d), and the heavier side gets +-1."""
    fall = min(2.0, constant * distance)
    expected = max(1 - weight * (1 - fall), weight - (1 - fall))
    value = wipm([[distance]], [[0.0]], weight, BoundedLipschitz(constant))
    assert value == pytest.approx(expected, abs=SOLVER)


def test_lipschitz_functions_with_equal_masses_are_the_transport_distance_when_the_bound_is_idle(rng):
    positive, unlabeled = rng.uniform(0, 1, (12, 1)), rng.uniform(0, 1, (12, 1))
    transport = np.abs(np.sort(positive[:, 0]) - np.sort(unlabeled[:, 0])).mean()
    assert wipm(positive, unlabeled, 1.0, BoundedLipschitz(1.0)) == pytest.approx(transport, abs=SOLVER)


def test_steep_lipschitz_functions_are_all_bounded_functions(rng):
    positive, unlabeled = rng.normal(size=(10, 2)), rng.normal(size=(15, 2))
    assert wipm(positive, unlabeled, 1.4, BoundedLipschitz(1e6)) == pytest.approx(
        wipm(positive, unlabeled, 1.4, Bounded())
    )


def test_nearly_constant_lipschitz_functions_see_the_masses_only(rng):
    positive, unlabeled = rng.normal(size=(10, 2)), rng.normal(size=(15, 2))
    assert wipm(positive, unlabeled, 1.4, BoundedLipschitz(1e-9)) == pytest.approx(0.4, abs=SOLVER)


def transport_with_a_dump(points, masses, constant):
    """The dual: carry positive mass to negative at ``constant`` a unit of distance, or dump either at 1 a unit."""
    above, below = np.flatnonzero(masses > 0), np.flatnonzero(masses < 0)
    carry = constant * cdist(points[above], points[below])
    leaves = np.hstack([np.kron(np.eye(len(above)), np.ones(len(below))), np.eye(len(above), len(above) + len(below))])
    arrives = np.hstack(
        [np.kron(np.ones(len(above)), np.eye(len(below))), np.eye(len(below), len(above) + len(below), len(above))]
    )
    cost = np.concatenate([carry.ravel(), np.ones(len(above) + len(below))])
    return linprog(cost, A_eq=np.vstack([leaves, arrives]), b_eq=np.concatenate([masses[above], -masses[below]])).fun


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.01, 30), st.floats(-2, 3))
def test_lipschitz_functions_are_transport_with_a_dump(seed, constant, shift):
    """The program is bounded from above by its dual; weights of both signs, shared and massless points."""
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.integers(0, 4, (7, 2)) / 3, rng.integers(0, 4, (9, 2)) / 3
    weights = rng.normal(size=7) + shift
    points, place = np.unique(np.concatenate([unlabeled, positive]), axis=0, return_inverse=True)
    masses = np.bincount(place.ravel(), np.concatenate([np.full(9, 1 / 9), -weights / 7]), len(points))
    found = wipm(positive, unlabeled, weights, BoundedLipschitz(constant))
    assert found == pytest.approx(transport_with_a_dump(points, masses, constant), abs=SOLVER)


# --- weights ---


@pytest.mark.parametrize("functions", CLASSES, ids=str)
def test_a_weight_function_an_array_and_scaled_masses_agree(functions, rng):
    positive, unlabeled = rng.integers(0, 3, (9, 2)).astype(float), rng.integers(0, 3, (14, 2)).astype(float)

    def weight(rows):
        return 0.5 + rows[:, 0] ** 2

    values = weight(positive)
    expected = wipm(positive, unlabeled, values.mean(), functions, positive_masses=values / values.sum())
    assert wipm(positive, unlabeled, weight, functions) == pytest.approx(expected, abs=SOLVER)
    assert wipm(positive, unlabeled, values, functions) == pytest.approx(expected, abs=SOLVER)


@pytest.mark.parametrize("functions", CLASSES, ids=str)
def test_weight_one_vanishes_on_equal_distributions(functions, rng):
    rows = rng.normal(size=(10, 2))
    assert wipm(rows, np.tile(rows, (2, 1)), 1.0, functions) == pytest.approx(0, abs=SOLVER)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(0.1, 3), st.floats(0.1, 3))
def test_larger_classes_have_larger_values(seed, constant, weight):
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.integers(0, 4, (6, 1)) / 2, rng.integers(0, 4, (8, 1)) / 2
    values = [
        wipm(positive, unlabeled, weight, functions)
        for functions in (BoundedLipschitz(constant), BoundedLipschitz(2 * constant), Bounded())
    ]
    assert (
        abs(1 - weight) - SOLVER <= values[0] <= values[1] + SOLVER <= values[2] + 2 * SOLVER <= 1 + weight + 3 * SOLVER
    )


# --- bad input ---


@pytest.mark.parametrize("constant", [0, -1, np.inf, np.nan, "steep"])
def test_lipschitz_constant_out_of_range(constant):
    with pytest.raises(ValueError, match="constant must be a finite number above 0"):
        BoundedLipschitz(constant)


@pytest.mark.parametrize(("name", "value"), [("gamma", 0), ("gamma", "scale"), ("radius", -1), ("kernel", "linear")])
def test_kernel_ball_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        KernelBall(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("gamma", 0), ("penalty", 0), ("penalty", -1), ("kernel", "cubic"), ("constant", "no"), ("constant", 1)],
)
def test_fisher_ball_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        FisherBall(**{name: value})


@pytest.mark.parametrize("weight", [np.nan, np.inf, [1.0, 2.0], lambda rows: rows])
def test_weight_of_a_wrong_shape_or_not_finite(weight):
    with pytest.raises(ValueError, match="one for each of the 3 positive rows"):
        wipm(np.zeros((3, 2)), np.ones((4, 2)), weight, Bounded())


@pytest.mark.parametrize("masses", [[0.5, 0.5], [0.5, 0.6, 0.1], [1.5, -0.25, -0.25]])
def test_masses_that_are_no_probabilities(masses):
    with pytest.raises(ValueError, match="3 probabilities that sum to 1"):
        wipm(np.zeros((3, 2)), np.ones((4, 2)), 1.0, Bounded(), positive_masses=masses)


def test_samples_of_different_width():
    with pytest.raises(ValueError, match="positive has 2 features and unlabeled 3"):
        wipm(np.zeros((3, 2)), np.ones((4, 3)), 1.0, Bounded())
