import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from unlabeled.deciding.calibration import Calibration, calibrate, ratio_probability
from unlabeled.deciding.isotonic import IsotonicRatio, tied
from unlabeled.deciding.rank_logistic import expected_prior, normal_ranks, probability
from unlabeled.deciding.scores import HonestScores

scores = st.lists(st.integers(-5, 5), min_size=2, max_size=12).map(lambda values: np.array(values, dtype=float))


def scored(positive, unlabeled, labelled_share=0.0):
    return HonestScores(positive, unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)), labelled_share)


def logistic_samples(rng, n_positive, n_unlabeled, prior, slope=3.0):
    """A normal score of a population whose P(y=1 | score) is a logistic curve with the prior as its mean."""
    grid = ndtri((np.arange(2000) + 0.5) / 2000)
    intercept = min(np.linspace(-20, 20, 4001), key=lambda a: abs(expit(a + slope * grid).mean() - prior))
    pool = rng.normal(size=40 * (n_positive + n_unlabeled))
    positive = pool[rng.uniform(size=len(pool)) < expit(intercept + slope * pool)][:n_positive]
    return positive, rng.normal(size=n_unlabeled), lambda z: expit(intercept + slope * z)


# --- the isotonic ratio ---


def slow_isotonic_share(positive, population, values):
    """The max-min formula: the largest, over starts, of the smallest, over ends, of mean shares of stretches."""
    p = np.array([(positive == v).mean() for v in values])
    q = np.array([(population == v).mean() for v in values])
    n = len(values)
    means = [[p[i : j + 1].sum() / (p + q)[i : j + 1].sum() if i <= j else np.nan for j in range(n)] for i in range(n)]
    return [max(min(means[i][j] for j in range(k, n)) for i in range(k + 1)) for k in range(n)]


@given(scores, scores)
def test_isotonic_ratio_is_the_max_min_formula(positive, population):
    fit = IsotonicRatio.fit(scored(positive, population))
    share = np.array(slow_isotonic_share(positive, population, fit.values))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(1 / (1 + 1 / fit.ratio), share, atol=1e-9)


@given(scores, scores)
def test_isotonic_ratio_depends_on_the_order_of_scores_only(positive, population):
    plain, mapped = (IsotonicRatio.fit(scored(f(positive), f(population))) for f in (np.asarray, np.exp))
    np.testing.assert_allclose(mapped.ratio, plain.ratio)
    assert mapped.log_likelihood() == pytest.approx(plain.log_likelihood())


def test_log_likelihood_by_hand():
    """Two of two positives above one of two of the population: shares 0 below and 2/3 above."""
    fit = IsotonicRatio.fit(scored(np.array([1.0, 1.0]), np.array([0.0, 1.0])))
    expected = (np.log(2 / 3) + 0.5 * np.log(1 / 3) + 0.5 * np.log(1 - 1e-3)) / 2
    assert fit.log_likelihood() == pytest.approx(expected)
    assert fit.log_likelihood(largest_ratio=1.0) == pytest.approx(
        (np.log(0.5) + 0.5 * np.log(0.5) + 0.5 * np.log(1 - 1e-3)) / 2
    )


def test_a_score_that_says_nothing_has_the_likelihood_of_a_coin(rng):
    fit = IsotonicRatio.fit(scored(np.zeros(10), np.zeros(30)))
    assert fit.log_likelihood() == pytest.approx(-np.log(2))
    better = IsotonicRatio.fit(scored(rng.normal(1, 1, 500), rng.normal(0, 1, 500)))
    assert better.log_likelihood() > fit.log_likelihood()


def test_scores_apart_by_rounding_are_ties():
    values, place = tied(np.array([3.0, 1.0, 1.0 + 1e-12, 3.0 - 1e-12, 2.0]))
    np.testing.assert_allclose(values, [1, 2, 3])
    np.testing.assert_array_equal(place, [2, 0, 0, 2, 1])


# --- the logistic curve in ranks ---


def test_normal_ranks_are_standard_normal_whatever_the_score(rng):
    population = np.exp(rng.standard_t(2, size=2000))
    ranks = normal_ranks(population, scored(population[:10], population))
    assert ranks.mean() == pytest.approx(0, abs=1e-3)
    assert ranks.std() == pytest.approx(1, abs=0.01)
    assert (np.diff(ranks[np.argsort(population)]) >= 0).all()  # scores that only rounding tells apart are ties


def test_ties_share_their_rank():
    ranks = normal_ranks(np.array([0.0, 1.0, 2.0]), scored(np.array([1.0, 2.0]), np.array([0.0, 1.0, 1.0, 1.0])))
    np.testing.assert_allclose(ranks, ndtri(np.array([1.0, 3.0, 4.5]) / 5))


@pytest.mark.parametrize("prior", [0.05, 0.4, 0.9])
def test_the_curve_has_the_prior_as_its_mean(rng, prior):
    positive, population, _ = logistic_samples(rng, 30, 1000, prior)
    assert probability(population, scored(positive, population), prior).mean() == pytest.approx(prior, abs=0.002)


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_the_curve_and_its_prior_are_found(rng, prior):
    positive, population, truth = logistic_samples(rng, 3000, 6000, prior)
    samples = scored(positive, population)
    assert expected_prior(samples) == pytest.approx(prior, abs=0.03)
    np.testing.assert_allclose(probability(population, samples, prior), truth(population), atol=0.05)


@pytest.mark.parametrize("prior", [0.005, 0.02, 0.05, 0.1])
def test_the_prior_of_a_rare_class_is_found(rng, prior):
    """On no grid of priors: the estimate is as near as the data are many."""
    is_positive = rng.uniform(size=20_000) < prior
    population = rng.normal(4.0 * is_positive, 1)
    assert expected_prior(scored(rng.normal(4, 1, 1000), population)) == pytest.approx(prior, rel=0.25)


def test_with_two_positives_the_prior_stays_off_the_ends():
    assert 0.2 < expected_prior(scored(np.array([0.9, 0.95]), np.linspace(0, 1, 50))) < 0.8


# --- both together ---


@given(scores, scores, st.floats(0.05, 0.95), st.sampled_from([0.0, 0.04]))
def test_calibration_never_falls_and_stays_in_range(positive, unlabeled, prior, labelled_share):
    found = calibrate(scored(positive, unlabeled, labelled_share), prior)
    assert (np.diff(found.probabilities) >= 0).all()
    assert (np.diff(found.scores) > 0).all()
    assert found.probabilities[0] >= 0
    assert found.probabilities[-1] <= 1


@pytest.mark.parametrize("n_positive", [20, 2000])
@pytest.mark.parametrize("prior", [0.2, 0.8])
def test_calibration_is_near_the_truth(rng, n_positive, prior):
    positive, population, truth = logistic_samples(rng, n_positive, 4000, prior)
    found = calibrate(scored(positive, population), prior).probability(population)
    assert found.mean() == pytest.approx(prior, abs=0.01)
    assert np.abs(found - truth(population)).mean() < (0.08 if n_positive == 20 else 0.05)


def test_with_many_positives_any_shape_is_fitted(rng):
    """A step, which no logistic curve is: P(y=1 | score) is .3 below 0 and 1 above."""
    population = rng.uniform(-1, 1, 8000)
    pool = rng.uniform(-1, 1, 40_000)
    positive = pool[rng.uniform(size=40_000) < np.where(pool > 0, 1, 0.3)][:20_000]
    found = calibrate(scored(positive, population), 0.65).probability(np.array([-0.5, 0.5]))
    np.testing.assert_allclose(found, [0.3, 1.0], atol=0.03)


def test_above_all_of_the_population_only_positives_are():
    found = calibrate(scored(np.full(50, 5.0), np.linspace(0, 1, 200)), 1e-6)
    assert found.probability(np.array([5.0])) == 1
    assert found.probability(np.array([1.0])) < 0.5


@given(scores, scores, st.floats(0.05, 0.95), st.floats(-6, 6))
def test_bent_through_one_half(positive, unlabeled, prior, threshold):
    bent = calibrate(scored(positive, unlabeled), prior).through_half_at(threshold)
    assert bent.probability(np.array([threshold]))[0] == pytest.approx(0.5, abs=1e-6)
    assert (np.diff(bent.probabilities) >= -1e-12).all()


@settings(max_examples=30)
@given(st.floats(0.01, 0.99))
def test_score_of_undoes_probability(share):
    curve = Calibration(np.array([0.0, 1.0, 3.0]), np.array([0.1, 0.5, 0.9]))
    score = curve.score_of(share)
    if share < 0.1:
        assert score < 0
    elif share >= 0.9:
        assert score == 3
    else:
        assert curve.probability(np.array([score]))[0] == pytest.approx(share)


def test_the_papers_probability_is_the_prior_times_the_ratio():
    log_ratio, prior = np.array([-3.0, 0.0, 0.5, 5.0]), 0.4
    found = ratio_probability(log_ratio + np.log(2 * prior))
    np.testing.assert_allclose(found, np.minimum(1, prior * np.exp(log_ratio)))
