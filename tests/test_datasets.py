import numpy as np
import pytest
from scipy.stats import norm

from unlabeled.datasets import make_gaussians, make_two_moons
from unlabeled.datasets.synthetic import moon_curve

MAKERS = [make_two_moons, make_gaussians]


@pytest.mark.parametrize("make", MAKERS)
def test_shapes_and_labels(make):
    data = make(7, 30, 11, random_state=0)
    assert data.X.shape == (37, 2)
    assert data.y.tolist() == [1] * 7 + [0] * 30
    assert data.unlabeled_truth.shape == (30,)
    assert data.test.shape == (11, 2)
    assert data.test_truth.dtype == bool


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides(make):
    first, same, other = (make(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, same.X)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", MAKERS)
def test_prior_is_the_share_of_positives(make):
    data = make(10, 20_000, 20_000, prior=0.3, random_state=0)
    assert data.unlabeled_truth.mean() == pytest.approx(0.3, abs=0.015)
    assert data.test_truth.mean() == pytest.approx(0.3, abs=0.015)


def test_gaussians_have_the_papers_means_and_bayes_risk():
    data = make_gaussians(50_000, 50_000, 50_000, random_state=0)
    np.testing.assert_allclose(data.positive.mean(axis=0), [1 / np.sqrt(2)] * 2, atol=0.02)
    np.testing.assert_allclose(np.cov(data.positive.T), np.eye(2), atol=0.03)
    bayes = ((data.test.sum(axis=1) > 0) == data.test_truth).mean()
    assert bayes == pytest.approx(norm.cdf(1), abs=0.006)


def test_moons_lie_around_their_curves():
    data = make_two_moons(2000, 2000, 1, random_state=0)
    curve = moon_curve(np.linspace(0, 1, 500), 1)
    nearest = np.sqrt(((data.positive[:, None] - curve[None]) ** 2).sum(axis=2).min(axis=1))
    assert nearest.mean() < 0.4
    # The paper's formula at u = 0 and u = 1/2: positives from (0, 2), negatives from (4, 0).
    np.testing.assert_allclose(moon_curve(np.array([0.0, 0.5]), 1), [[0, 2], [4, -2]], atol=1e-12)
    np.testing.assert_allclose(moon_curve(np.array([0.0, 0.5]), -1), [[4, 0], [0, 4]], atol=1e-12)


@pytest.mark.parametrize("prior", [0, 1, -0.5, np.nan])
def test_bad_prior(prior):
    with pytest.raises(ValueError, match="between 0 and 1"):
        make_gaussians(prior=prior)
