"""The WMMD as the paper states it. Labels in brackets are those of the paper's source."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled import wmmd
from unlabeled.kernels import KERNELS, PAPER_GAMMAS, as_gammas
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.ratio import Kernels, log_scores, loo_log_scores
from unlabeled.scoring.witness import witness


def gram(a, b, kernel, gamma):
    return np.exp(KERNELS[kernel].log(((a[:, None] - b[None]) ** 2).sum(axis=2), gamma))


@pytest.fixture
def samples(rng):
    return rng.normal(0.5, 1, (20, 3)), rng.normal(0, 1, (50, 3))


def kernels(kernel="rbf", gammas=PAPER_GAMMAS):
    return Kernels(kernel, as_gammas(gammas))


# --- distance and witness [prop:MMD] ---


def test_distance_in_closed_form(samples, kernel):
    positive, unlabeled = samples
    uu, pp, up = (gram(a, b, kernel, 0.3).mean() for a, b in
                  ((unlabeled, unlabeled), (positive, positive), (unlabeled, positive)))  # fmt: skip
    expected = 0.7 * np.sqrt(uu + 1.2**2 * pp - 2 * 1.2 * up)
    assert wmmd(positive, unlabeled, 1.2, kernel=kernel, gamma=0.3, radius=0.7) == pytest.approx(expected, rel=1e-12)


def test_distance_between_gaussians_in_closed_form(rng):
    """For N(a, I) and N(b, I): E k(x, y) = (1 + 4 gamma)^(-d/2) exp(-gamma |a - b|^2 / (1 + 4 gamma))."""
    d, gamma, weight, n, shift = 2, 0.3, 1.4, 4000, 0.8
    positive, unlabeled = rng.normal(shift, 1, (n, d)), rng.normal(0, 1, (n, d))
    same = (1 + 4 * gamma) ** (-d / 2)
    cross = same * np.exp(-gamma * d * shift**2 / (1 + 4 * gamma))
    expected = np.sqrt(same * (1 + weight**2) - 2 * weight * cross)
    assert wmmd(positive, unlabeled, weight, gamma=gamma) == pytest.approx(expected, abs=0.01)


def test_weight_one_is_the_mmd_and_vanishes_on_equal_samples(samples, kernel):
    positive, _ = samples
    assert wmmd(positive, positive, 1.0, kernel=kernel) == 0.0
    assert wmmd(positive, positive[::-1], 1.0, kernel=kernel) == 0.0


def test_equal_distributions_of_large_samples_are_at_distance_zero(rng, kernel):
    rows = rng.normal(size=(800, 3))
    assert wmmd(rows, np.repeat(rows, 3, axis=0)[rng.permutation(2400)], 1.0, kernel=kernel, gamma=0.1) == 0.0


def test_zero_norm_gives_the_zero_function(samples, kernel):
    positive, unlabeled = samples
    f = witness(positive, positive[::-1], 1.0, kernel=kernel)
    np.testing.assert_array_equal(f.f(unlabeled), np.zeros(len(unlabeled)))


def test_witness_has_the_norm_of_the_ball_and_attains_the_distance(samples, kernel):
    positive, unlabeled = samples
    weight, radius = 0.8, 0.6
    found = witness(positive, unlabeled, weight, kernel=kernel, gamma=0.4, radius=radius)
    attained = found.g(unlabeled).mean() - weight * found.g(positive).mean()
    assert attained == pytest.approx(found.wmmd, rel=1e-10)
    np.testing.assert_array_equal(found.f(positive), -found.g(positive))
    # g = sum_j c_j k(., x_j): its squared RKHS norm is c' K c
    points = np.vstack([unlabeled, positive])
    c = np.repeat([1 / len(unlabeled), -weight / len(positive)], [len(unlabeled), len(positive)]) * radius / found.norm
    assert c @ gram(points, points, kernel, 0.4) @ c == pytest.approx(radius**2, rel=1e-10)


@given(st.floats(0.05, 0.95), st.floats(0.1, 1.0), st.sampled_from(sorted(KERNELS)), st.integers(0, 1000))
def test_one_minus_wmmd_is_the_least_hinge_risk_of_the_ball(prior, radius, kernel, seed):
    """[thm:relationship], for the empirical distributions: no function of the ball beats f."""
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.normal(0.5, 1, (8, 2)), rng.normal(0, 1, (15, 2))
    points = np.vstack([unlabeled, positive])
    gram_matrix = gram(points, points, kernel, 0.5)

    def hinge_risk(values):  # [eq:pu_risk] with the hinge loss
        of_unlabeled, of_positive = values[..., :15], values[..., 15:]
        loss = np.maximum(0, 1 - of_positive) - np.maximum(0, 1 + of_positive)
        return np.maximum(0, 1 + of_unlabeled).mean(axis=-1) + prior * loss.mean(axis=-1)

    found = witness(positive, unlabeled, 2 * prior, kernel=kernel, gamma=0.5, radius=radius)
    least = hinge_risk(found.f(points))
    assert least == pytest.approx(1 - found.wmmd, abs=1e-10)
    c = rng.normal(size=(300, len(points))) * rng.uniform(0, 3, size=(300, 1))
    c[:100] = -np.repeat([1 / 15, -2 * prior / 8], [15, 8]) + 0.05 * rng.normal(size=(100, len(points)))  # near f
    norms = np.sqrt(np.einsum("ij,jk,ik->i", c, gram_matrix, c))
    others = c @ gram_matrix * (radius * rng.uniform(0, 1, 300) ** 0.1 / norms)[:, None]
    assert (hinge_risk(others) >= least - 1e-12).all()


def test_sign_of_the_witness_is_the_rule_of_the_score(samples, kernel, rng):
    """[prop:MMD (c)]: f > 0 exactly where the score exceeds 1 / weight."""
    positive, unlabeled = samples
    queries, weight = rng.normal(size=(200, 3)), 1.3
    score = log_scores(queries, PUSample(Sample(positive), Sample(unlabeled)), kernels(kernel, 0.4))[0]
    f = witness(positive, unlabeled, weight, kernel=kernel, gamma=0.4).f(queries)
    np.testing.assert_array_equal(f > 0, score > -np.log(weight))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": -1.0}, "weight"),
        ({"weight": np.nan}, "weight"),
        ({"weight": "two"}, "weight"),
        ({"weight": None}, "weight"),
        ({"radius": -0.5}, "radius"),
        ({"gamma": [1.0, 2.0]}, "one number"),
        ({"gamma": 0}, "positive"),
        ({"kernel": "linear"}, "rbf"),
        ({"positive": np.empty((0, 3))}, "minimum of 1"),
        ({"unlabeled": [[np.nan] * 3]}, "NaN"),
        ({"unlabeled": [[1.0, 2.0]]}, "features"),
    ],
)
def test_bad_input(samples, change, message):
    arguments = {"positive": samples[0], "unlabeled": samples[1], "weight": 1.0, **change}
    with pytest.raises(ValueError, match=message):
        wmmd(**arguments)


# --- scores ---


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_score_is_the_ratio_of_means(samples, kernel, scenario, rng):
    positive, unlabeled = samples
    population = unlabeled if scenario == "case-control" else np.vstack([positive, unlabeled])
    queries = rng.normal(size=(9, 3))
    found = log_scores(queries, PUSample(Sample(positive), Sample(unlabeled), scenario), kernels(kernel))
    for row, gamma in zip(found, PAPER_GAMMAS, strict=True):
        ratio = gram(queries, positive, kernel, gamma).mean(axis=1) / gram(queries, population, kernel, gamma).mean(
            axis=1
        )
        np.testing.assert_allclose(row, np.log(ratio), atol=1e-12)


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_leave_one_out_is_scoring_without_the_row(samples, kernel, scenario):
    positive, unlabeled = samples
    of_positives, of_unlabeled = loo_log_scores(
        PUSample(Sample(positive), Sample(unlabeled), scenario), kernels(kernel)
    )
    for i in range(
        len(positive)
    ):  # in the single-sample scenario the positive leaves the population with the positives
        without = PUSample(Sample(np.delete(positive, i, axis=0)), Sample(unlabeled), scenario)
        np.testing.assert_allclose(
            of_positives[:, [i]], log_scores(positive[[i]], without, kernels(kernel)), atol=1e-12
        )
    for i in range(len(unlabeled)):
        without = PUSample(Sample(positive), Sample(np.delete(unlabeled, i, axis=0)), scenario)
        np.testing.assert_allclose(
            of_unlabeled[:, [i]], log_scores(unlabeled[[i]], without, kernels(kernel)), atol=1e-12
        )


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_leave_one_out_with_weights_is_leave_one_out_of_repeated_rows(samples, kernel, scenario, rng):
    counts = [rng.integers(1, 4, len(rows)) for rows in samples]
    weighted = PUSample(*(Sample(rows, np.log(count)) for rows, count in zip(samples, counts, strict=True)), scenario)
    repeated = PUSample(
        *(Sample(np.repeat(rows, count, axis=0)) for rows, count in zip(samples, counts, strict=True)), scenario
    )
    found = loo_log_scores(weighted, kernels(kernel))
    expected = loo_log_scores(repeated, kernels(kernel))
    for of_weighted, of_repeated, count in zip(found, expected, counts, strict=True):
        np.testing.assert_allclose(np.repeat(of_weighted, count, axis=1), of_repeated, atol=1e-12)


def test_some_rows_are_scored_as_among_all(samples):
    pu = PUSample(Sample(samples[0]), Sample(samples[1]))
    all_scores = loo_log_scores(pu, kernels())
    some = loo_log_scores(pu, kernels(), np.array([3, 7]), np.array([0, 49]))
    np.testing.assert_allclose(some[0], all_scores[0][:, [3, 7]], atol=1e-12)
    np.testing.assert_allclose(some[1], all_scores[1][:, [0, 49]], atol=1e-12)


def test_a_far_point_is_scored_by_its_nearest_neighbours():
    """Both means underflow there."""
    pu = PUSample(Sample(np.array([[1.0], [0.0]])), Sample(np.array([[-1.0], [0.0]])))
    left, right = log_scores(np.array([[-1e3], [1e3]]), pu, kernels("rbf", 1.0))[0]
    assert np.isfinite([left, right]).all()
    assert left < 0 < right
