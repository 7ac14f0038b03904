"""Steps of features: those that boosted trees would find, once for all folds, and blind to labels."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from unlabeled import LeastSquaresPUClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier
from unlabeled.scoring import binning
from unlabeled.scoring.binning import MOST_STEPS, Steps


def test_steps_are_the_quantiles_of_the_rows(rng):
    """The ones that scikit-learn's boosted trees find for themselves where rows have no weights."""
    rows = rng.normal(size=(1000, 3))
    shares = np.linspace(0, 100, MOST_STEPS + 1)[1:-1]
    for feature, ends in zip(rows.T, Steps.of(rows, np.ones(1000)).ends, strict=True):
        np.testing.assert_allclose(ends, np.percentile(feature, shares, method="averaged_inverted_cdf"))


def test_rows_that_count_once_and_rows_that_all_count_twice_have_the_same_steps(rng):
    rows = rng.normal(size=(3000, 2))
    for once, twice in zip(Steps.of(rows, np.ones(3000)).ends, Steps.of(rows, np.full(3000, 2.0)).ends, strict=True):
        np.testing.assert_array_equal(once, twice)


def test_steps_hold_equal_shares_and_keep_the_order(rng):
    rows = np.c_[rng.normal(size=5000), rng.exponential(size=5000) ** 3]
    stepped = Steps.of(rows, np.ones(5000)).apply(rows)
    for before, after in zip(rows.T, stepped.T, strict=True):
        assert set(after) == set(range(MOST_STEPS))
        assert (np.diff(after[np.argsort(before)]) >= 0).all()
        assert np.ptp(np.bincount(after.astype(int))) <= 2


def test_a_feature_of_few_values_stays_as_it_is(rng):
    rows = np.c_[rng.integers(0, MOST_STEPS, 3000) / 7, rng.integers(0, MOST_STEPS + 1, 3000), rng.normal(size=3000)]
    steps = Steps.of(rows, np.ones(3000))
    assert [ends is None for ends in steps.ends] == [True, False, False]
    np.testing.assert_array_equal(steps.apply(rows)[:, 0], rows[:, 0])


@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    rows, counts = rng.normal(size=(400, 2)), rng.integers(1, 4, 400)
    weighted, repeated = (
        Steps.of(rows, counts.astype(float)),
        Steps.of(np.repeat(rows, counts, axis=0), np.ones(counts.sum())),
    )
    for one, other in zip(weighted.ends, repeated.ends, strict=True):
        np.testing.assert_allclose(one, other)


def test_new_rows_beyond_all_others_are_in_the_outer_steps(rng):
    steps = Steps.of(rng.normal(size=(1000, 1)), np.ones(1000))
    assert steps.apply(np.array([[-1e9], [1e9]]))[:, 0].tolist() == [0, MOST_STEPS - 1]


def test_many_rows_are_thinned(rng, monkeypatch):
    monkeypatch.setattr(binning, "MOST_ROWS", 2000)
    rows = rng.normal(size=(20_000, 1))
    thinned = Steps.of(rows, np.ones(20_000)).ends[0]
    monkeypatch.setattr(binning, "MOST_ROWS", 10**9)
    np.testing.assert_allclose(thinned[20:-20], Steps.of(rows, np.ones(20_000)).ends[0][20:-20], atol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_mean_nothing_are_not_found(seed):
    """Permuted labels: honest scores of the default estimator have an area of 1/2, so no row's own label leaks."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(900, 6)), rng.permutation(np.repeat([1, 0], [300, 600]))
    honest = ScoreWMMDClassifier(prior=0.5).fit(X, y).honest_scores_
    area = roc_auc_score(np.repeat([1, 0], [300, 600]), np.r_[honest.positive, honest.unlabeled])
    assert abs(area - 0.5) < 0.06  # three standard errors


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_nor_are_they_by_all_scores_together(scenario, rng):
    X, y = rng.normal(size=(600, 5)), rng.permutation(np.repeat([1, 0], [150, 450]))
    honest = PUClassifier(prior=0.5, scenario=scenario).fit(X, y).honest_scores_
    area = roc_auc_score(np.repeat([1, 0], [150, 450]), np.r_[honest.positive, honest.unlabeled])
    assert abs(area - 0.5) < 0.08  # three standard errors


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        (ScoreWMMDClassifier, "below 1"),
        (WMMDClassifier, "around 1"),
        (LeastSquaresPUClassifier, "around 1"),
        (PUClassifier, "of mean 1"),
    ],
)
def test_nor_are_they_with_weights_that_are_no_counts(kind, weights):
    """A row that stands for others is one row: all of it is left out, and no fit that scores it has seen a part."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 5)), rng.permutation(np.repeat([1, 0], [300, 600]))
    shape = rng.lognormal(0, 0.5, 900)
    given = {"below 1": rng.uniform(0.3, 0.9, 900), "around 1": rng.uniform(0.5, 1.5, 900)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(prior=0.5).fit(X, y, sample_weight=given.get(weights, shape / shape.mean()))
    honest = model.honest_scores_
    area = roc_auc_score(np.repeat([1, 0], [300, 600]), np.r_[honest.positive, honest.unlabeled])
    assert abs(area - 0.5) < 0.06  # as above


def test_the_steps_of_a_fit_know_no_labels(rng):
    X, y = rng.normal(size=(600, 2)), np.repeat([1, 0], [100, 500])
    fits = [ScoreWMMDClassifier(prior=0.5).fit(X, labels) for labels in (y, rng.permutation(y))]
    for one, other in zip(*(model.steps_.ends for model in fits), strict=True):
        np.testing.assert_array_equal(one, other)
