import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import (
    Costs,
    TargetPrecision,
    TargetRecall,
    between,
    check_threshold,
    place_threshold,
)


def scored(positive, unlabeled):
    return HonestScores(positive, unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)))


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(1)
    truth = rng.uniform(size=4000) < 0.4
    return scored(rng.normal(2, 1, 800), np.where(truth, rng.normal(2, 1, 4000), rng.normal(0, 1, 4000)))


def placed(policy, samples, prior=0.4):
    return place_threshold(policy, samples, prior, calibrate(samples, prior))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.floats(0.01, 1))
def test_between_is_the_highest_threshold_that_enough_exceed(values, share):
    values = np.array(values, dtype=float)
    threshold = between(values, np.ones(len(values)), share)
    assert (values > threshold).mean() >= share - 1e-9
    higher = values[values > threshold].min()
    assert (values > higher).mean() < share


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=20), st.floats(0.01, 1))
def test_weights_are_repetitions(pairs, share):
    values, counts = np.array(pairs, dtype=float).T
    repeated = np.repeat(values, counts.astype(int))
    assert between(values, counts, share) == between(repeated, np.ones(len(repeated)), share)


def test_bayes_is_the_papers_rule(samples):
    assert placed("bayes", samples) == pytest.approx(-np.log(0.8))


def test_a_number_is_itself(samples):
    assert placed(0.7, samples) == 0.7


def test_prevalence_calls_as_many_positive_as_there_are(samples):
    assert (samples.population > placed("prevalence", samples)).mean() == pytest.approx(0.4, abs=1e-3)


def test_calibrated_is_where_the_odds_are_even(samples):
    """Normal scores 2 apart with prior .4: even odds at 1 + log(1.5) / 2."""
    assert placed("calibrated", samples) == pytest.approx(1 + np.log(1.5) / 2, abs=0.15)
    assert placed(Costs(), samples) == placed("calibrated", samples)


def test_costs_move_the_threshold(samples):
    assert placed(Costs(false_positive=5), samples) > placed(Costs(), samples)
    assert placed(Costs(false_negative=5), samples) < placed(Costs(), samples)
    assert placed(Costs(3, 1), samples) == placed(Costs(6, 2), samples)
    # odds of 3 to 1 at 1 + (log(1.5) + log(3)) / 2
    assert placed(Costs(3, 1), samples) == pytest.approx(1 + np.log(4.5) / 2, abs=0.2)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 1.0])
def test_target_recall(samples, share):
    assert (samples.positive > placed(TargetRecall(share), samples)).mean() == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize(
    ("policy", "scenario"),
    [
        (TargetRecall(0.8), "case-control"),
        (TargetPrecision(0.8), "single-sample"),
        (Costs(2, 1), "case-control"),
        pytest.param(TargetRecall(0.8), "single-sample", marks=pytest.mark.slow),
        pytest.param(TargetPrecision(0.8), "case-control", marks=pytest.mark.slow),
        pytest.param(Costs(2, 1), "single-sample", marks=pytest.mark.slow),
    ],
)
def test_targets_hold_against_hidden_truth(policy, scenario):
    if scenario == "case-control":
        data = make_gaussians(1500, 4000, 20_000, prior=0.4, random_state=0)
        X, y = data.X, data.y
    else:
        data = make_gaussians(1, 5000, 20_000, prior=0.4, random_state=0)
        X, y = data.unlabeled, data.unlabeled_truth & (np.random.RandomState(0).uniform(size=5000) < 0.6)
    model = WMMDClassifier(0.4, threshold=policy, scenario=scenario, max_evaluations=2000, random_state=0).fit(X, y)
    called = model.decision_function(data.test) > 0
    if isinstance(policy, TargetRecall):
        assert called[data.test_truth].mean() == pytest.approx(0.8, abs=0.03)
    elif isinstance(policy, TargetPrecision):
        assert data.test_truth[called].mean() == pytest.approx(0.8, abs=0.04)
    else:
        bayes = 2 / 3  # the Bayes rule under these costs, on the true posterior of two normal distributions 2 apart
        along = data.test.sum(axis=1) / np.sqrt(2)
        best = 1 / (1 + 0.6 / 0.4 * np.exp(-2 * along)) > bayes
        cost = [2 * (c & ~data.test_truth).mean() + (~c & data.test_truth).mean() for c in (called, best)]
        assert cost[0] <= cost[1] + 0.015


def test_a_precision_out_of_reach_is_said_to_be():
    nothing = scored(np.linspace(0, 1, 100), np.linspace(0, 1, 100))
    with pytest.warns(UserWarning, match="No threshold reaches a precision of 0.99"):
        threshold = placed(TargetPrecision(0.99), nothing, prior=0.3)
    assert threshold == 1.0


@pytest.mark.parametrize("bad", ["median", None, np.inf, True, [0.5], ("recall", 0.9)])
def test_unknown_policies(bad):
    with pytest.raises(ValueError, match="TargetRecall"):
        check_threshold(bad)


@pytest.mark.parametrize("make", [lambda: TargetRecall(0), lambda: TargetPrecision(1.5), lambda: Costs(0, 1)])
def test_impossible_targets(make):
    with pytest.raises(ValueError, match="above 0"):
        make()


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.7, 0.9]))
def test_a_target_precision_is_kept_where_scores_are_tied(seed, share):
    """What is above the threshold is expected to be as precise as was asked for, or there is a warning."""
    rng = np.random.default_rng(seed)
    p, u = rng.integers(0, 4, 60) + 1.0, rng.integers(0, 5, 300).astype(float)
    scored = HonestScores(p, u, np.ones(60), rng.integers(1, 4, 300).astype(float))
    calibration = calibrate(scored, 0.3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threshold = TargetPrecision(share).place(scored, calibration)
    above = scored.population > threshold
    if caught:
        assert not above.any()
    else:
        chances = calibration.probability(scored.population[above])
        assert np.average(chances, weights=scored.population_mass[above]) >= share - 1e-12


def test_no_threshold_lies_between_copies():
    """Scores of copies differ in their last digits; they are flagged together."""
    scores = np.repeat([0.1, 0.2, 0.3], 100) + np.tile(np.linspace(-1e-8, 1e-8, 100), 3)
    for share in (0.1, 0.4, 0.5, 0.9):
        above = scores > between(scores, np.ones(300), share)
        assert above.sum() % 100 == 0
        assert above.mean() >= share
