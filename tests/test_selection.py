import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled.datasets import make_gaussians
from unlabeled.deciding.scores import HonestScores
from unlabeled.kernels import PAPER_GAMMAS, RBF, as_gammas
from unlabeled.priors import density_prior
from unlabeled.samples import PUSample, Sample, order_by_values
from unlabeled.scoring import selection
from unlabeled.scoring.ratio import Kernels, log_scores
from unlabeled.scoring.scaling import gamma_grid
from unlabeled.scoring.selection import (
    averaged_with_neighbours,
    first_of_best,
    holdout_scores,
    judging_points,
    log_likelihoods,
    loo_scores,
    loo_scores_at,
    misclassification_risks,
    ratio_log_likelihoods,
)


def test_risk_by_hand():
    """Prior 0.6, threshold log(1 / 1.2): of 4 positives 1 is missed, of 5 unlabeled 2 are called positive."""
    scores = HonestScores(
        positive=np.array([[1.0, 1.0, 1.0, -1.0]]),
        unlabeled=np.array([[1.0, 1.0, -1.0, -1.0, -1.0]]),
        positive_weights=np.ones(4),
        unlabeled_weights=np.ones(5),
        labelled_share=0.0,
    )
    assert misclassification_risks(scores, np.array([0.6])) == pytest.approx([-0.6 + 2 * 0.6 / 4 + 2 / 5])


def test_the_threshold_itself_is_negative():
    at_threshold = np.full((1, 2), -np.log(2 * 0.3))
    scores = HonestScores(at_threshold, at_threshold, np.ones(2), np.ones(2), 0.0)
    assert misclassification_risks(scores, np.array([0.3])) == pytest.approx([-0.3 + 2 * 0.3 + 0])


def test_in_one_sample_the_positives_count_among_the_population():
    scores = HonestScores(np.array([[1.0, -1.0]]), np.array([[1.0, -1.0, -1.0, -1.0]]), np.ones(2), np.ones(4), 2 / 6)
    assert misclassification_risks(scores, np.array([0.5])) == pytest.approx([-0.5 + 2 * 0.5 * 0.5 + 2 / 6])


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_risk_estimates_the_error_rate(scenario):
    """Against hidden truth: at a large sample the leave-one-out risk is the classifier's error rate."""
    data = make_gaussians(20_000, 40_000, 40_000, prior=0.4, random_state=0)
    if scenario == "single-sample":  # one sample of the population; half of its positives are labelled
        labelled = data.unlabeled_truth & (np.random.RandomState(1).uniform(size=40_000) < 0.5)
        pu = PUSample(Sample(data.unlabeled[labelled]), Sample(data.unlabeled[~labelled]), scenario)
    else:
        pu = PUSample(Sample(data.positive), Sample(data.unlabeled), scenario)
    kernels = Kernels("rbf", as_gammas(PAPER_GAMMAS))
    risks = misclassification_risks(loo_scores(pu, kernels, None, np.random.RandomState(0)), np.full(5, 0.4))
    called = log_scores(data.test, pu, kernels) > -np.log(2 * 0.4)
    np.testing.assert_allclose(risks, (called != data.test_truth).mean(axis=1), atol=0.01)


def test_likelihood_sees_order_only_and_the_ratios_own_its_scale(rng):
    positive, unlabeled = rng.normal(1, 1, (1, 3000)), rng.normal(0, 1, (1, 3000))
    log_ratio = [sample - 0.5 for sample in (positive, unlabeled)]  # of N(1, 1) to N(0, 1)
    scales = np.array([0.2, 1.0, 5.0])[:, None]
    scores = HonestScores(*(scales * sample for sample in log_ratio), np.ones(3000), np.ones(3000), 0.0)
    likelihoods = log_likelihoods(scores)
    np.testing.assert_allclose(likelihoods, likelihoods[0])
    assert first_of_best(ratio_log_likelihoods(scores)) == 1
    assert ratio_log_likelihoods(scores)[1] == pytest.approx(likelihoods[1], abs=0.01)


def test_likelihood_prefers_the_better_score_at_a_high_prior(rng):
    """Nearly all rows are positive: the order among them is noise, and must not decide."""
    n = 4000
    truth = rng.uniform(size=n) < 0.8
    good = np.where(truth, 3.0, -3.0) + rng.normal(size=n)
    positive = 3.0 + rng.normal(size=500)
    bad_p, bad_u = positive + 3 * rng.normal(size=500), good + 3 * rng.normal(size=n)
    scores = HonestScores(np.array([bad_p, positive]), np.array([bad_u, good]), np.ones(500), np.ones(n), 0.0)
    assert first_of_best(log_likelihoods(scores)) == 1
    assert first_of_best(log_likelihoods(scores, largest_ratio=1 / 0.8)) == 1


def test_neighbours_are_averaged_and_the_first_of_equals_wins():
    np.testing.assert_allclose(averaged_with_neighbours(np.array([0.0, 4.0, 0.0])), [1, 2, 1])
    assert first_of_best(np.array([1.0, 1.0 + 1e-15, 0.5])) == 0


def test_holdout_scores_a_fifth_against_the_rest():
    positive, unlabeled = np.arange(10.0)[:, None], np.arange(100.0, 150.0)[:, None]
    pu = PUSample(Sample(positive), Sample(unlabeled))
    kernels = Kernels("rbf", as_gammas(0.1))
    scores, kept = holdout_scores(pu, kernels, None, np.random.RandomState(3))
    assert (len(kept.positive), len(kept.unlabeled)) == (8, 40)
    assert scores.positive.shape == (1, 2)
    assert scores.unlabeled.shape == (1, 10)
    held = np.setdiff1d(positive[:, 0], kept.positive.rows[:, 0])
    np.testing.assert_allclose(scores.positive, log_scores(held[:, None], kept, kernels))


def test_evaluations_are_bounded_and_all_points_stay_in_the_sums(rng):
    pu = PUSample(Sample(rng.normal(size=(30, 2))), Sample(rng.normal(size=(80, 2))))
    kernels = Kernels("rbf", as_gammas(0.5))
    some = loo_scores(pu, kernels, 20, np.random.RandomState(0))
    assert some.positive.shape == (1, 20)
    assert some.unlabeled.shape == (1, 20)
    every = loo_scores(pu, kernels, None, np.random.RandomState(0))
    assert np.isin(some.unlabeled, every.unlabeled).all()


# --- the density-based prior (appendix D.1) ---


def supremum(scores, eta):
    """The definition, on a fine grid of t."""
    t = np.linspace(1e-4, 1 - 1e-4, 9999)
    share = (1 / np.asarray(scores)[:, None] <= t).mean(axis=0)
    return t[share <= eta].max(initial=0)


@given(st.lists(st.floats(0.2, 50), min_size=1, max_size=40), st.sampled_from([0.05, 0.1, 0.3, 0.5]))
def test_density_prior_is_the_supremum_of_its_definition(scores, eta):
    assert density_prior(np.log([scores]), eta=eta)[0] == pytest.approx(supremum(scores, eta), abs=3e-4)


def test_exactly_the_share_eta_may_be_broken():
    """Of ten positives one may have 1 / score <= t, so the second smallest value is the answer."""
    bounds = np.arange(1, 11) / 20
    assert density_prior(-np.log([bounds]), eta=0.1) == pytest.approx([2 / 20])
    assert density_prior(-np.log([bounds]), eta=0.09) == pytest.approx([1 / 20])


def test_density_prior_of_scores_below_one_is_one():
    assert density_prior(np.log([[0.9, 0.5, 1.0]])) == 1.0


def test_density_prior_stays_above_zero():
    assert density_prior(np.full((1, 3), 1e5)) > 0


def test_density_prior_weights_are_repetitions(rng):
    log_scores_, counts = rng.normal(size=(4, 25)), rng.integers(1, 5, 25)
    weighted = density_prior(log_scores_, counts)
    np.testing.assert_allclose(weighted, density_prior(np.repeat(log_scores_, counts, axis=1)))


@pytest.mark.parametrize("eta", [0, 1, -0.1, np.nan])
def test_eta_outside_its_range(eta):
    with pytest.raises(ValueError, match="eta"):
        density_prior(np.zeros((1, 3)), eta=eta)


def test_density_prior_is_an_upper_bound_that_falls_with_the_bandwidth():
    """Gaussians 4 apart, prior 0.5: every gamma's estimate is above the truth, the sharpest one's the nearest."""
    data = make_gaussians(2000, 8000, 1, prior=0.5, separation=4.0, random_state=0)
    pu = PUSample(Sample(data.positive), Sample(data.unlabeled))
    scores = loo_scores(pu, Kernels("rbf", as_gammas(PAPER_GAMMAS)), None, np.random.RandomState(0))
    estimates = density_prior(scores.positive)  # for gammas from 1 down to 0.05
    assert (np.diff(estimates) > 0).all()
    assert 0.45 < estimates[0] < 0.56
    assert estimates[-1] > 0.55


# --- grids of large tables ---


def samples(scenario, n_positive=60, n_unlabeled=400):
    data = make_gaussians(n_positive, n_unlabeled, prior=0.4, random_state=3)
    return PUSample(Sample(data.positive), Sample(data.unlabeled), scenario)


def test_tables_of_moderate_size_are_judged_by_all_rows():
    pu = samples("case-control")
    assert judging_points(pu, (np.arange(60), np.arange(400))) is None


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_a_grid_is_judged_by_some_rows_as_by_all(scenario, monkeypatch):
    """Points hold the judged rows, and nothing but noise is added to the scores: each is as if the table were small."""
    monkeypatch.setattr(selection, "JUDGING_ROWS", 50)
    monkeypatch.setattr(selection, "JUDGING_POINTS", 100)
    pu = samples(scenario)
    places = np.arange(60), np.arange(400)
    judged, points = selection.judging(places), judging_points(pu, places)
    assert [len(of_sample) for of_sample in points] == [60, 100]
    assert all(np.isin(*pair).all() for pair in zip(judged, points, strict=True))
    kernels = Kernels("rbf", gamma_grid(pu, RBF()))
    by_all, by_some = loo_scores_at(pu, kernels, judged), loo_scores_at(pu, kernels, judged, points)
    np.testing.assert_array_equal(by_some.unlabeled_rows, by_all.unlabeled_rows)
    for one, other in ((by_all.positive, by_some.positive), (by_all.unlabeled, by_some.unlabeled)):
        assert np.abs(one[:4] - other[:4]).mean() < 0.15  # the wide kernels, whose sums have many terms
    assert abs(first_of_best(log_likelihoods(by_all)) - first_of_best(log_likelihoods(by_some))) <= 2


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_points_that_are_all_rows_change_nothing(scenario):
    """In the single-sample scenario up to the one row that is left out of the labelled share."""
    pu, kernels = samples(scenario), Kernels("rbf", as_gammas([0.1, 1.0]))
    everything = np.arange(60), np.arange(400)
    plain, thinned = loo_scores_at(pu, kernels, everything), loo_scores_at(pu, kernels, everything, everything)
    tolerance = 1e-12 if scenario == "case-control" else 1 / 60
    np.testing.assert_allclose(thinned.positive, plain.positive, rtol=0, atol=tolerance)
    np.testing.assert_allclose(thinned.unlabeled, plain.unlabeled, rtol=0, atol=tolerance)


@given(st.integers(1, 6), st.sampled_from([1, 2, 3, 60, 10**9]), st.integers(0, 2**32 - 1))
def test_rows_are_ordered_by_all_their_features(n_features, n_values, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n_values, (40, n_features)).astype(float)
    rows[rng.random(rows.shape) < rng.choice([0, 0.2])] = np.nan
    np.testing.assert_array_equal(order_by_values(rows), np.lexsort(rows.T[::-1]))
