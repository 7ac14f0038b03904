import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled.kernels import RBF, Inverse
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.scaling import RELATIVE_GAMMAS, Scaling, gamma_grid, median_sq_distance, standardised


def test_standardised_is_of_the_population(rng):
    pu = PUSample(Sample(rng.normal(5, 1, (20, 2))), Sample(rng.normal(3, [1, 10], (500, 2))))
    rows = standardised(pu).apply(pu.unlabeled.rows)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=0), 1)
    whole = PUSample(pu.positive, pu.unlabeled, "single-sample")
    np.testing.assert_allclose(standardised(whole).apply(whole.population.rows).std(axis=0), 1)


def test_a_constant_feature_keeps_its_units():
    pu = PUSample(Sample(np.ones((2, 1))), Sample(np.full((3, 1), 0.1)))
    assert standardised(pu).scale == [1]


def test_no_scaling_hands_the_rows_back(rng):
    rows = rng.normal(size=(3, 2)).astype(np.float32)
    assert Scaling("none").apply(rows) is rows
    assert Scaling("standard", np.zeros(2), np.ones(2)).apply(rows).dtype == np.float32


def test_the_grid_is_centred_on_the_median_distance(rng):
    pu = PUSample(Sample(rng.normal(size=(5, 3))), Sample(rng.normal(size=(4000, 3))))
    median = median_sq_distance(pu.unlabeled)
    assert median == pytest.approx(2 * 2.366, rel=0.03)  # twice the median of a chi-squared variable, 3 degrees
    np.testing.assert_allclose(gamma_grid(pu, RBF()), RELATIVE_GAMMAS / median)
    np.testing.assert_allclose(gamma_grid(pu, Inverse()), median / RELATIVE_GAMMAS)


@given(st.integers(0, 1000), st.sampled_from([20, 150, 300]))
def test_weights_are_repetitions(seed, n):
    rng = np.random.default_rng(seed)
    rows, counts = rng.normal(size=(n, 2)), rng.integers(1, 4, n)
    weighted = Sample(rows, np.log(counts))
    repeated = Sample(np.repeat(rows, counts, axis=0))
    assert median_sq_distance(weighted) == pytest.approx(median_sq_distance(repeated), rel=1e-9)


def test_identical_rows_have_distance_one():
    assert median_sq_distance(Sample(np.ones((4, 2)))) == 1
