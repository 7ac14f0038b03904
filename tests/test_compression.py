"""Compression: copies merged without any change, and thinning whose stated error is the error."""

import re
from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from unlabeled import WMMDClassifier, load, save
from unlabeled.engines import log_kernel_sums
from unlabeled.kernels import KERNELS
from unlabeled.samples import Sample
from unlabeled.scoring.compression import Points, halve

N_UNLABELED = 6000


def table(rng, n_unlabeled=N_UNLABELED, n_positive=400, d=3):
    positive = rng.standard_normal((n_positive, d)) + 2 / np.sqrt(d)
    unlabeled = rng.standard_normal((n_unlabeled, d)) + 2 / np.sqrt(d) * (rng.random((n_unlabeled, 1)) < 0.4)
    return np.vstack([positive, unlabeled]), np.repeat([1, 0], [n_positive, n_unlabeled])


@pytest.fixture(scope="module")
def fitted():
    return WMMDClassifier(0.4).fit(*table(np.random.default_rng(0)))


@pytest.fixture(scope="module")
def new_rows():
    return table(np.random.default_rng(1), 1500)[0]


# --- copies ---


@given(st.integers(0, 10**6), st.booleans())
def test_merged_copies_have_the_same_sums(seed, weighted):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (40, 2)).astype(float)
    sample = Sample(rows, rng.standard_normal(40) if weighted else None)
    (merged,) = Points.of(sample).without_copies().samples
    assert len(merged) == len(np.unique(rows, axis=0)) == len(np.unique(merged.rows, axis=0))
    assert merged.total == pytest.approx(sample.total)
    sums = [
        log_kernel_sums(rng.standard_normal((5, 2)) * 0 + 0.3, s.rows, "rbf", 0.7, log_weights=s.log_weights)
        for s in (sample, merged)
    ]
    assert_allclose(*sums, atol=1e-12)


def test_a_sample_without_copies_is_left_alone(rng):
    points = Points.of(Sample(rng.standard_normal((20, 2))))
    assert points.without_copies() is points


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_copies_change_no_score(scenario, rng):
    X, y = table(rng, 1200, 150)
    X = np.round(X * 4) / 4
    plain, small = (WMMDClassifier(0.4, scenario=scenario, compress=c).fit(X, y) for c in (None, "copies"))
    assert small.compression_.n_rows < small.compression_.n_rows_before
    assert small.compression_.largest_change == 0
    assert_allclose(small.decision_function(X[::7]), plain.decision_function(X[::7]), atol=1e-8)
    assert plain.compression_ is None


# --- thinning ---


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("n", [2, 7, 256, 513, 3000])
def test_half_of_the_rows_have_the_weight_of_all(kernel, n, rng):
    weights = rng.uniform(0.5, 2, (2, n))
    places, of_half = halve(rng.standard_normal((n, 2)), weights, KERNELS[kernel], 1.0)
    assert n // 2 <= len(places) <= n // 2 + 128
    assert len(np.unique(places)) == len(places) == of_half.shape[1]
    assert_allclose(of_half.sum(axis=1), weights.sum(axis=1))
    assert (of_half >= weights[:, places] - 1e-12).all()


def test_thinning_beats_a_random_choice_by_far(rng):
    rows, queries = rng.standard_normal((8192, 3)), rng.standard_normal((500, 3))
    exact = log_kernel_sums(queries, rows, "rbf", 0.5)[0]
    places, weights = np.arange(8192), np.ones((1, 8192))
    for _ in range(4):
        chosen, weights = halve(rows[places], weights, KERNELS["rbf"], 0.5)
        places = places[chosen]
    thinned = np.abs(log_kernel_sums(queries, rows[places], "rbf", 0.5, log_weights=np.log(weights[0]))[0] - exact)
    choices = [rng.choice(8192, len(places), replace=False) for _ in range(5)]
    chance = [np.abs(log_kernel_sums(queries, rows[c], "rbf", 0.5)[0] + np.log(16) - exact) for c in choices]
    assert np.median(thinned) < np.median(chance) / 5


def test_the_stated_error_is_that_of_new_rows(fitted, new_rows):
    expected = fitted.score_samples(new_rows)
    small = fitted.compressed(2500)
    change = np.abs(small.score_samples(new_rows) - expected)
    stated = small.compression_
    assert stated.n_rows < stated.n_rows_before
    assert stated.mean_change / 2 < change.mean() < 2 * stated.mean_change
    assert np.quantile(change, 0.99) < 2 * stated.largest_change
    assert small.prior_ == fitted.prior_
    assert small.threshold_ == fitted.threshold_


def test_fewer_rows_for_a_larger_error(fitted):
    tight, loose = (fitted.compressed(error).compression_ for error in (0.3, 3.0))
    assert tight.largest_change <= 0.3
    assert loose.largest_change <= 3.0
    assert loose.n_rows <= tight.n_rows < tight.n_rows_before
    sizes = [max(len(r.numerator), len(r.denominator)) for r in fitted.compressed(2000).compression_.ratios]
    assert max(sizes) <= 2000


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_weights_scenarios_and_kernels(kernel, scenario, new_rows, rng):
    X, y = table(rng, 3000, 200)
    weights = rng.integers(1, 4, len(y)).astype(float)
    how = {"kernel": kernel, "scenario": scenario, "smoothing": 0}
    plain = WMMDClassifier(0.4, **how, random_state=0).fit(X, y, sample_weight=weights)
    small = WMMDClassifier(0.4, **how, random_state=0, compress=2200).fit(X, y, sample_weight=weights)
    assert small.gamma_ == plain.gamma_
    change = np.abs(small.score_samples(new_rows) - plain.score_samples(new_rows))
    assert 0 < np.median(change) < 0.5
    assert change.mean() < 3 * small.compression_.mean_change
    assert sum(ratio.denominator.total for ratio in small.compression_.ratios) == pytest.approx(
        plain.sample_.population.total
    )


def test_a_compressed_model_is_saved_and_told_what_it_is(fitted, new_rows, tmp_path):
    small = fitted.compressed(2500)
    assert fitted.compression_ is None
    assert fitted.compress is None
    assert small.get_params()["compress"] == 2500
    save(small, tmp_path / "model.unl")
    again = load(tmp_path / "model.unl")
    assert_allclose(again.score_samples(new_rows[:50]), small.score_samples(new_rows[:50]), atol=1e-5)


# --- what cannot be had ---


@pytest.mark.parametrize("target", ["much", 0, -3, 0.0, -0.1, np.inf, np.nan, True, [5]])
def test_targets_without_meaning_are_refused(target, fitted, rng):
    with pytest.raises(ValueError, match=r"compress=.*'copies'.*float"):
        fitted.compressed(target)
    with pytest.raises(ValueError, match=r"compress=.*'copies'.*float"):
        WMMDClassifier(0.4, compress=target).fit(*table(rng, 60, 20))


def test_what_a_compressed_model_scores_by_is_told_without_its_rows(fitted):
    small = fitted.compressed("copies").compression_
    assert repr(small).startswith(f"Compression(n_rows_before={small.n_rows_before}, n_rows={small.n_rows}, largest_")


def test_samples_that_are_too_small_to_be_thinned_are_said_to_be(rng):
    """None of their rows measures anything."""
    X, y = rng.standard_normal((500, 2)), np.repeat([1, 0], [150, 350])
    with pytest.raises(ValueError, match="that are kept here are 350: samples as small as these are not thinned"):
        WMMDClassifier(0.5, smoothing=0, compress=100).fit(X, y)


def test_a_target_that_cannot_be_met_says_what_can(fitted, rng):
    with pytest.raises(ValueError, match=r"changes by up to .*; ask for that") as refused:
        fitted.compressed(1e-9)
    possible = float(re.search(r"up to ([\d.e-]+) ", str(refused.value)).group(1))
    assert fitted.compressed(possible).compression_.largest_change <= possible
    with pytest.raises(ValueError, match=r"fewest rows .* ask for [\d,]+ or more"):
        fitted.compressed(10)
    with pytest.raises(ValueError, match="too few rows to leave any out"):
        WMMDClassifier(0.4, compress=0.1).fit(*table(rng, 60, 20))


@pytest.mark.parametrize("n", [300, 600, 1100, 1600])
def test_tables_of_any_size(n, rng):
    """From where nothing can be left out to where a thousand rows are put aside."""
    model = WMMDClassifier(0.4, gamma=0.5, smoothing=0).fit(*table(rng, n, n))
    if n < 1000:
        with pytest.raises(ValueError, match="too few rows"):
            model.compressed(5.0)
    else:
        small = model.compressed(5.0).compression_
        assert small.n_rows < small.n_rows_before
        assert 0 < small.mean_change <= small.largest_change <= 5.0


def test_models_from_before_compression_still_answer(fitted, new_rows):
    old = copy(fitted)
    for name in ("compress", "verbose", "compression_"):
        del vars(old)[name]
    assert_allclose(old.score_samples(new_rows[:5]), fitted.score_samples(new_rows[:5]))
    assert "compress" in clone(old).get_params()


def test_more_rows_than_there_are_is_all_of_them(fitted, new_rows):
    whole = fitted.compressed(10**6)
    assert whole.compression_.largest_change == 0
    assert_allclose(whole.score_samples(new_rows[:50]), fitted.score_samples(new_rows[:50]), atol=1e-8)


# --- what a compressed model must not lose ---


def test_a_floor_stays_or_is_refused():
    X, y = table(np.random.default_rng(2), 600, 60, 2)
    model = WMMDClassifier.paper(0.5, floor=1e-8, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="needs compress=None"):
        model.compressed("copies")


def test_known_negatives_come_in_by_scores_of_all_rows(rng):
    X, y = table(rng, 3000)
    negatives = rng.standard_normal((200, 3))
    X, y = np.vstack([X, negatives]), np.append(y, np.full(200, -1))
    plain = WMMDClassifier(0.4, negative=-1, random_state=0).fit(X, y)
    model = WMMDClassifier(0.4, negative=-1, compress=2000, random_state=0).fit(X, y)
    later = plain.compressed(2000)
    assert model.known_negatives_.eta == plain.known_negatives_.eta
    assert model.threshold_ == plain.threshold_
    assert_allclose(model.score_samples(X), later.score_samples(X), rtol=1e-9)
    assert model.compression_.n_rows < model.compression_.n_rows_before


@pytest.mark.parametrize("target", [1000.0, 1550.0, 20.5])
def test_a_number_of_rows_that_is_no_whole_number(fitted, target):
    with pytest.raises(ValueError, match=re.escape(f"as in compress={round(target)}.")):
        fitted.compressed(target)
