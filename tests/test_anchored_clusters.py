"""The share of positives where two clusters of scores part clearly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled import PUClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.anchored import cluster_share
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.auto import AutoPrior


def scores_of(positive, unlabeled, positive_weights=None, unlabeled_weights=None):
    weights = [
        np.ones(len(values)) if given is None else given
        for values, given in ((positive, positive_weights), (unlabeled, unlabeled_weights))
    ]
    return HonestScores(np.asarray(positive, float), np.asarray(unlabeled, float), *weights)


def draw(rng, share, separation, n_positive=40, n_unlabeled=1000):
    above = rng.uniform(size=n_unlabeled) < share
    return rng.normal(separation, 1, n_positive), rng.normal(separation * above, 1), above.mean()


@pytest.mark.parametrize("share", [0.03, 0.1, 0.5, 0.9, 0.97])
@pytest.mark.parametrize("error", [-0.15, 0.15])
def test_rows_on_either_side_of_a_gap_are_counted(share, error, rng):
    positive, unlabeled, truth = draw(rng, share, 7)
    found = cluster_share(scores_of(positive, unlabeled), share + error)
    assert found.worth == 1
    assert found.share == pytest.approx(truth, abs=0.003)


@pytest.mark.parametrize("separation", [0.0, 1.0, 2.0])
def test_where_clusters_overlap_they_are_worth_nothing(separation, rng):
    for share in (0.02, 0.05, 0.5):
        positive, unlabeled, _ = draw(rng, share, separation)
        assert cluster_share(scores_of(positive, unlabeled), share).worth == 0


def test_a_cluster_with_negatives_in_it_is_worth_nothing(rng):
    """Thirty rows far below are a cluster, and all others another, at the top of which the labelled positives are."""
    positive, unlabeled, truth = draw(rng, 0.3, 2, 100)
    with_outliers = scores_of(positive, np.r_[unlabeled, rng.normal(-12, 0.5, 30)])
    assert cluster_share(with_outliers, truth).worth == 0
    assert cluster_share(with_outliers, 0.95).worth == 0  # although others say the same
    as_wide = scores_of(rng.permutation(unlabeled)[:30], with_outliers.unlabeled)  # labelled rows like all the others
    assert cluster_share(as_wide, 0.4).worth == 0
    assert cluster_share(as_wide, 0.95).worth > 0.9


def test_few_positives_can_seem_to_lie_apart_by_chance(rng):
    """Three that happen to be close to each other say little of how wide the positives lie."""
    worth = {
        n: np.mean([cluster_share(scores_of(*draw(rng, 0.5, 4, n)[:2]), 0.5).worth for _ in range(20)])
        for n in (3, 10, 100)
    }
    assert worth[3] < 0.05 < worth[100]
    assert worth[3] <= worth[10] <= worth[100]
    assert cluster_share(scores_of([9.0, 9.1], rng.normal(size=100)), 0.2).worth == 0


def test_nothing_below_the_positives_is_no_cluster(rng):
    for unlabeled in (np.zeros(50), rng.normal(5, 1, 500), np.r_[np.zeros(2), rng.normal(5, 1, 500)]):
        assert cluster_share(scores_of(rng.normal(5, 1, 50), unlabeled), 0.4).worth == 0
    below = scores_of(rng.normal(0, 1, 50), np.r_[rng.normal(0, 1, 400), rng.normal(9, 1, 100)])
    assert cluster_share(below, 0.4).worth == 0  # what lies above the positives is no gap below them


def test_weights_are_copies_and_the_order_does_not_matter(rng):
    positive, unlabeled, _ = draw(rng, 0.4, 5, 20, 200)
    times = rng.integers(1, 4, 20), rng.integers(1, 4, 200)
    weighted = cluster_share(scores_of(positive, unlabeled, *(t.astype(float) for t in times)), 0.3)
    copied = cluster_share(
        scores_of(*(np.repeat(v, t) for v, t in zip((positive, unlabeled), times, strict=True))), 0.3
    )
    shuffled = cluster_share(scores_of(rng.permutation(positive), rng.permutation(unlabeled)), 0.3)
    plain = cluster_share(scores_of(positive, unlabeled), 0.3)
    for one, other in ((weighted, copied), (shuffled, plain)):
        assert one.share == pytest.approx(other.share, abs=1e-9)
        assert one.worth == pytest.approx(other.worth, abs=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_positive=st.integers(1, 30),
    n_unlabeled=st.integers(1, 60),
    n_values=st.integers(1, 40),
    scale=st.floats(1e-6, 1e6),
    shift=st.floats(-1e3, 1e3),
)
def test_any_scores_have_a_share_whatever_their_units(seed, n_positive, n_unlabeled, n_values, scale, shift):
    rng = np.random.default_rng(seed)
    positive, unlabeled = (np.round(rng.standard_t(2, n), 2) % n_values for n in (n_positive, n_unlabeled))
    found = cluster_share(scores_of(positive, unlabeled), 0.3)
    moved = cluster_share(scores_of(scale * (positive + shift), scale * (unlabeled + shift)), 0.3)
    assert 0 <= found.share <= 1
    assert 0 <= found.worth <= 1
    assert moved.worth == pytest.approx(found.worth, abs=1e-3)
    if found.worth:
        assert moved.share == pytest.approx(found.share, abs=1e-3)


@pytest.mark.filterwarnings("ignore::unlabeled.priors.PriorWarning")  # an interval rests on less
@pytest.mark.parametrize("prior", [0.05, 0.5, 0.8])
def test_the_estimate_is_near_where_classes_part(prior):
    """With ranks alone a prior of 0.8 comes out 0.13 too small, since few rows tell what the negatives are like."""
    errors = []
    for seed in range(4):
        data = make_gaussians(40, 600, prior=prior, separation=6, random_state=seed)
        model = PUClassifier().fit(data.X, data.y)
        errors.append(model.prior_ - data.unlabeled_truth.mean())
        assert AutoPrior().fit_scores(model.honest_scores_).prior_ == model.prior_
    assert np.abs(errors).mean() < 0.06


@pytest.mark.parametrize("share", [0.0, 0.002, 0.006])
def test_what_is_drawn_in_is_no_cluster(share, rng):
    """All positives lie beyond the end that scores are drawn in to, and the negatives there are as many."""
    positive, unlabeled, _ = draw(rng, share, 6, 40, 4000)
    assert cluster_share(scores_of(positive, unlabeled), 0.003).worth == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [1e-200, 1e100, 1e160, 1e305])
def test_scores_of_any_size(factor, rng):
    positive, unlabeled, truth = draw(rng, 0.3, 7)
    found = cluster_share(scores_of(factor * positive, factor * unlabeled), 0.3)
    if factor < 1:  # all alike
        assert found.worth == 0
    else:
        assert found.worth == 1
        assert found.share == pytest.approx(truth, abs=0.003)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("odd", [np.finfo(float).max, -np.finfo(float).max, np.inf, -np.inf, np.nan])
def test_odd_scores_are_worth_nothing_or_drawn_in(odd, rng):
    positive, unlabeled, _ = draw(rng, 0.3, 7)
    for n_odd in (1, 30, 1000):
        found = cluster_share(scores_of(np.r_[positive, odd], np.r_[np.full(n_odd, odd), unlabeled[n_odd:]]), 0.3)
        assert 0 <= found.share <= 1
        assert 0 <= found.worth <= 1
        assert found.worth == 0 or n_odd == 1
