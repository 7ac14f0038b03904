"""The weighted integral probability metric over three classes of functions. Labels are those of the paper's source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist, pdist

from unlabeled import wmmd
from unlabeled.wipm import Bounded, BoundedLipschitz, KernelBall, wipm, wipm_optimum

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


CLASSES = [Bounded(), BoundedLipschitz(0.5), BoundedLipschitz(3.0), KernelBall("rbf", 0.7), KernelBall("inverse", 2.0)]


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
