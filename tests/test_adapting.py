"""A new share of positives, from unlabeled rows alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import accuracy_score

from unlabeled import (
    Balanced,
    Costs,
    LeastSquaresPUClassifier,
    PropensityWMMDClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    TargetPrecision,
    TargetRecall,
    TwoClusters,
    WMMDClassifier,
    evaluate,
    load,
    save,
)
from unlabeled.deciding.adapting import Adaptation, CovariateShiftError, adaptation
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.scores import HonestScores

SEPARATION = 3.0


def rows(n, prior, seed):
    rng = np.random.RandomState(seed)
    truth = rng.uniform(size=n) < prior
    X = rng.normal(size=(n, 2))
    X[:, 0] += SEPARATION * truth
    return X, truth


def old_table(prior, seed=0):
    X, truth = rows(500, prior, seed)
    return X, truth & (np.random.RandomState(seed + 1).uniform(size=500) < 0.5)


@pytest.mark.parametrize(("old", "new"), [(0.1, 0.5), (0.5, 0.1)])
@pytest.mark.parametrize("make", [WMMDClassifier, PUClassifier, ScoreWMMDClassifier, LeastSquaresPUClassifier])
def test_priors_move_there_and_back(make, old, new):
    model = make(prior=old, scenario="single-sample", random_state=0).fit(*old_table(old))
    X, truth = rows(1000, new, seed=7)
    adapted = model.adapt(X)
    assert adapted.prior_ == pytest.approx(new, abs=0.09)
    assert adapted.adaptation_.low <= new <= adapted.adaptation_.high
    assert (model.prior_, adapted.adaptation_.old_prior) == (old, old)
    least = accuracy_score(truth, model.predict(X)) - (0.03 if make is ScoreWMMDClassifier else 0.01)
    assert accuracy_score(truth, adapted.predict(X)) > least
    assert adapted.predict_proba(X)[:, 1].mean() == pytest.approx(truth.mean(), abs=0.08)
    np.testing.assert_array_equal(adapted.score_samples(X), model.score_samples(X))
    # Once more, from the adapted one.
    back = adapted.adapt(rows(1000, old, seed=8)[0])
    assert back.prior_ == pytest.approx(old, abs=0.09)
    assert back.adaptation_.old_prior == old


def test_the_same_population_changes_little():
    X, y = old_table(0.3)
    model = WMMDClassifier(0.3, scenario="single-sample").fit(X, y)
    adapted = model.adapt(rows(4000, 0.3, seed=3)[0])
    assert adapted.prior_ == pytest.approx(0.3, abs=0.06)
    assert adapted.threshold_ == pytest.approx(model.threshold_, abs=0.3)


@given(st.floats(0.05, 0.9), st.floats(0.05, 0.95), st.floats(0.001, 0.999))
def test_probabilities_by_bayes_rule(old, new, probability):
    """pi' r / (pi' r + (1 - pi') (1 - pi r) / (1 - pi)), where the old probability is pi r."""
    moved = Adaptation(old, new, new, new, 1.0, 100).probability(np.array([probability]))[0]
    ratio = probability / old
    negatives = (1 - new) * (1 - old * ratio) / (1 - old)
    assert moved == pytest.approx(new * ratio / (new * ratio + negatives), rel=1e-6)


def exact_scores(rng, n_positive, n_population, prior):
    """Scores of two normal distributions, drawn anew each time, and their log ratio."""
    truth = rng.uniform(size=n_population) < prior
    return rng.normal(SEPARATION, 1, n_positive), rng.normal(SEPARATION * truth, 1)


@pytest.mark.parametrize(("old", "new"), [(0.1, 0.5), (0.5, 0.1), (0.3, 0.3)])
def test_mixtures_are_accepted_and_priors_found(old, new):
    """With scores that are a fixed function of rows it seldom refuses: honest scores are taken to be worth half."""
    p_values, priors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        positive, population = exact_scores(rng, 60, 400, old)
        honest = HonestScores(positive, population, np.ones(60), np.ones(400))
        batch = exact_scores(rng, 1, 500, new)[1]
        found = adaptation(honest, calibrate(honest, old), old, batch)
        p_values.append(found.p_value)
        priors.append(found.prior)
    assert np.mean(np.array(p_values) < 0.05) <= 0.06
    assert np.mean(priors) == pytest.approx(new, abs=0.03)


def test_other_rows_are_refused():
    X, y = old_table(0.4)
    model = WMMDClassifier(0.4, scenario="single-sample").fit(X, y)
    halfway = np.random.RandomState(0).normal([SEPARATION / 2, 0], 0.3, size=(300, 2))
    with pytest.raises(CovariateShiftError, match=r"do not look like a mixture .* check=False"):
        model.adapt(halfway)
    assert model.adapt(halfway, check=False).adaptation_.p_value < 0.05
    with pytest.raises(ValueError, match="batch of 3 rows"):
        model.adapt(halfway[:3])


def test_biased_labels_are_named_as_a_cause():
    with pytest.raises(CovariateShiftError, match=r"Or the labels were not given at random.*ScarTest.*check=False"):
        Adaptation(0.5, 0.3, 0.2, 0.4, 0.01, 100).check()


def test_weights_make_up_for_labels_by_a_column():
    """Only the prior has moved, and the labelled positives are not what positives look like."""
    X, truth = rows(1500, 0.5, 0)
    y = truth & (np.random.RandomState(1).uniform(size=1500) < expit(3 * X[:, 1] - 1))
    batch, _ = rows(1500, 0.15, 2)
    how = {"prior": 0.5, "scenario": "single-sample"}
    plain, known = (
        model.fit(X, y).adapt(batch, check=False).adaptation_
        for model in (WMMDClassifier(**how), PropensityWMMDClassifier(lambda given: expit(3 * given[:, 1] - 1), **how))
    )
    assert known.low < 0.15 < known.high
    assert abs(known.prior - 0.15) < abs(plain.prior - 0.15)


def test_an_adapted_classifier_is_evaluated_in_the_table_at_the_prior_of_that():
    X, truth = rows(800, 0.5, 0)
    y = truth & (np.random.RandomState(1).uniform(size=800) < 0.5)
    model = WMMDClassifier(0.5, scenario="single-sample").fit(X, y)
    adapted = model.adapt(rows(800, 0.15, 2)[0])
    assert adapted.threshold_ > model.threshold_
    before, after = (evaluate(one, X, y) for one in (model, adapted))
    assert after.n_positives.value == before.n_positives.value == pytest.approx(400)
    assert after.recall.value < before.recall.value
    assert after.precision.value > before.precision.value


@pytest.mark.parametrize(
    "threshold", [Costs(3, 1), TargetRecall(0.8), TargetPrecision(0.8), TwoClusters(), Balanced(), 0.4, "prevalence"]
)
def test_policies_are_kept_in_the_batch(threshold):
    model = WMMDClassifier(0.2, threshold=threshold, scenario="single-sample").fit(*old_table(0.2))
    X, truth = rows(3000, 0.6, seed=5)
    adapted = model.adapt(X)
    flagged = adapted.predict(X)
    if threshold in (0.4, TargetRecall(0.8)):
        assert adapted.threshold_ == model.threshold_
    if threshold == "prevalence":
        assert flagged.mean() == pytest.approx(adapted.prior_, abs=0.01)
        np.testing.assert_array_equal(flagged, adapted.predict_proba(X)[:, 1] > 0.5)
    if threshold == TargetPrecision(0.8):
        assert truth[flagged].mean() == pytest.approx(0.8, abs=0.07)
    if threshold == Costs(3, 1):
        assert truth[flagged].mean() > 0.9


def test_the_papers_rule_moves_with_the_population():
    """r' = p1 / p' with p' = a p1 + (1 - a) p, so that r' > 1 / (2 pi') in the scale of r."""
    model = WMMDClassifier(0.2, threshold="bayes", smoothing=0, scenario="single-sample").fit(*old_table(0.2))
    adapted = model.adapt(rows(3000, 0.6, seed=5)[0])
    a, prior = adapted.adaptation_.mixture, adapted.prior_
    ratio = np.exp(adapted.threshold_)
    assert 1 / (a + (1 - a) / ratio) == pytest.approx(1 / (2 * prior))


def test_an_adapted_model_can_be_saved(tmp_path):
    X, _ = rows(500, 0.5, seed=5)
    model = WMMDClassifier(0.3, scenario="single-sample").fit(*old_table(0.3)).adapt(X)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.adaptation_ == model.adaptation_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_fit_forgets_an_adaptation():
    model = WMMDClassifier(0.3, scenario="single-sample").fit(*old_table(0.3))
    adapted = model.adapt(rows(500, 0.5, seed=5)[0])
    assert adapted.fit(*old_table(0.3)).adaptation_ is None
