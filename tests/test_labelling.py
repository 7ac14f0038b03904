import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from unlabeled.datasets import AtRandom, ByColumn, EasyFirst, HardFirst, LogisticIn, draw_pu
from unlabeled.datasets.labelling import scaled_to_mean


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=3000) < 0.4
    return rng.normal(truth[:, None] * [1.5, 0, 0], 1, size=(3000, 3)), truth


def posterior(rows):
    """Bayes' rule for the table: log odds 1.5 x - 1.125 + logit(0.4)."""
    return expit(1.5 * rows[:, 0] - 1.125 + logit(0.4))


SCHEMES = [
    AtRandom(0.3),
    EasyFirst(0.3),
    EasyFirst(0.7, 3.0, posterior),
    HardFirst(0.3),
    HardFirst(0.6, 2.0, posterior),
    ByColumn(1, 0.3),
    ByColumn(-1, 0.8, 2.0, falling=True),
    LogisticIn([1, 2], [2.0, -1.0], 0.3),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_expected_frequency_is_the_parameter(scheme, table):
    e = scheme.propensities(*table)
    assert e.shape == (table[1].sum(),)
    assert ((e > 0) & (e <= 1)).all()
    assert e.mean() == pytest.approx(scheme.frequency, rel=1e-9)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.floats(0.01, 1))
def test_a_shape_is_scaled_and_cut_off(shape, frequency):
    shape = np.array(shape)
    e = scaled_to_mean(shape, frequency)
    assert e.mean() == pytest.approx(frequency, rel=1e-9)
    assert e.max() <= 1
    if (e < 1).any():  # what is cut off would be above 1 by the same factor
        ratio = e[e < 1] / shape[e < 1]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        assert (shape[e == 1] * ratio[0] >= 1 - 1e-9).all()


@pytest.mark.parametrize("scheme", [EasyFirst(0.9, 1e4), HardFirst(0.3, 1e3), ByColumn(0, 0.3, 1e4)])
def test_the_strongest_bias_has_the_frequency_too(scheme, table):
    """Powers that are too small for a float are not 0."""
    e = scheme.propensities(*table)
    assert e.mean() == pytest.approx(scheme.frequency, rel=1e-9)
    assert ((e > 0) & (e <= 1)).all()


def test_formulas(table):
    X, truth = table
    p, x = posterior(X)[truth], X[truth]
    np.testing.assert_allclose(np.ptp(EasyFirst(0.2, posterior=posterior).propensities(X, truth) / p), 0, atol=1e-9)
    shape = expit(-0.5 * logit(p))
    np.testing.assert_allclose(
        HardFirst(0.2, posterior=posterior).propensities(X, truth), 0.2 * shape / shape.mean(), rtol=1e-9
    )
    share = np.array([(x[:, 1] < v).mean() + 0.5 / len(x) for v in x[:, 1]])
    by_column = ByColumn(1, 0.2).propensities(X, truth)
    np.testing.assert_allclose(by_column, 0.4 * share, rtol=1e-9)
    falling = ByColumn(1, 0.2, falling=True).propensities(X, truth)
    np.testing.assert_allclose(by_column + falling, 0.4, rtol=1e-9)
    z = (x[:, [1, 2]] - x[:, [1, 2]].mean(axis=0)) / x[:, [1, 2]].std(axis=0)
    log_odds = logit(LogisticIn([1, 2], [2.0, -1.0], 0.3).propensities(X, truth))
    np.testing.assert_allclose(np.ptp(log_odds - z @ [2.0, -1.0]), 0, atol=1e-9)


@pytest.mark.parametrize(
    "scheme", [EasyFirst(0.3, 0), HardFirst(0.3, 0), ByColumn(0, 0.3, 0), LogisticIn([0], [0], 0.3)]
)
def test_strength_0_is_at_random(scheme, table):
    np.testing.assert_allclose(scheme.propensities(*table), 0.3, rtol=1e-9)


def test_a_logistic_regression_stands_in_for_the_posterior(table):
    X, truth = table
    found, exact = (EasyFirst(0.3, posterior=p).propensities(X, truth) for p in (None, posterior))
    assert np.abs(found - exact).mean() < 0.02


def test_draws_are_labelled_so(table):
    X, truth = table
    data = draw_pu(X, truth, 0, 2000, 100, 0.4, scenario="single-sample", propensity=ByColumn(1, 0.4), random_state=0)
    hidden = data.unlabeled[data.unlabeled_truth]
    assert len(data.positive) == pytest.approx(320, abs=60)
    assert data.positive[:, 1].mean() - hidden[:, 1].mean() > 0.5
    assert abs(data.positive[:, 2].mean() - hidden[:, 2].mean()) < 0.3
    same = draw_pu(X, truth, 0, 2000, 100, 0.4, scenario="single-sample", propensity=0.3, random_state=1)
    named = draw_pu(X, truth, 0, 2000, 100, 0.4, scenario="single-sample", propensity=AtRandom(0.3), random_state=1)
    np.testing.assert_array_equal(same.X, named.X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: AtRandom(0), r"in \(0, 1\]; got 0"),
        (lambda _: EasyFirst(1.2), r"in \(0, 1\]; got 1\.2"),
        (lambda _: HardFirst(0.2, -1), "at least 0; got -1"),
        (lambda t: ByColumn(3, 0.2).propensities(*t), "no column 3: X has 3 columns, numbered from 0 to 2"),
        (lambda t: ByColumn("age", 0.2).propensities(*t), "no column 'age'"),
        (lambda t: LogisticIn([7], [1.0], 0.2).propensities(*t), "no column 7"),
        (lambda _: LogisticIn([0], [1.0, 2.0], 0.2), "must be as many, and at least one; got 1 and 2"),
        (lambda _: LogisticIn([0], [1.0], 1), "never quite reaches"),
        (lambda _: LogisticIn([0], [np.nan], 0.2), r"coefficients must be finite numbers; got \[nan\]"),
        (lambda t: EasyFirst(0.2, posterior=lambda rows: rows).propensities(*t), "one probability, from 0 to 1"),
    ],
)
def test_errors_name_the_remedy(make, message, table):
    with pytest.raises(ValueError, match=message):
        make(table)
