import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.cross_fitting import cross_fit
from unlabeled.scoring.one_dimension import ScoreRatio

LINEAR = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.fixture(scope="module")
def data():
    return make_gaussians(300, 1200, 5000, prior=0.4, n_features=5, separation=2.5, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return ScoreWMMDClassifier(LINEAR, prior=0.4).fit(data.X, data.y)


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")  # all positives of these tables are labelled
@parametrize_with_checks([ScoreWMMDClassifier(), ScoreWMMDClassifier(LINEAR, prior=0.5, threshold="bayes")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("inner", [LINEAR, LinearSVC(), RandomForestClassifier(30, random_state=0), None])
def test_any_classifier_becomes_a_pu_classifier(data, inner):
    """The Bayes classifier has an accuracy of 0.898 and an area of 0.961."""
    model = ScoreWMMDClassifier(inner, prior=0.4).fit(data.X, data.y)
    assert roc_auc_score(data.test_truth, model.score_samples(data.test)) > 0.92
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.84


def test_the_inner_classifier_is_cloned(data):
    inner = LogisticRegression()
    ScoreWMMDClassifier(inner, prior=0.4, n_folds=2).fit(data.X, data.y)
    assert not hasattr(inner, "coef_")


@pytest.mark.parametrize("threshold", ["calibrated", "prevalence", "bayes"])
@pytest.mark.parametrize("prior", [0.4, "auto"])
def test_score_threshold_decision_probability_and_class_agree(data, threshold, prior):
    model = ScoreWMMDClassifier(LINEAR, prior=prior, threshold=threshold).fit(data.X, data.y)
    score, decision, proba = (
        getattr(model, name)(data.test) for name in ("score_samples", "decision_function", "predict_proba")
    )
    np.testing.assert_array_equal(decision, score - model.threshold_)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(model.predict(data.test) == 1, decision > 0)
    assert (np.diff(proba[np.argsort(score), 1]) >= 0).all()


def test_the_score_is_the_log_ratio_of_densities(data, model):
    """Two normal distributions along the line between the means: their ratio is known."""
    along = data.test.sum(axis=1) / np.sqrt(5)
    ratio = 1 / (0.4 + 0.6 * np.exp(-2.5 * along))
    score = model.score_samples(data.test)
    middle = (along > -2) & (along < 2)
    assert np.corrcoef(score[middle], np.log(ratio)[middle])[0, 1] > 0.95
    assert np.abs(score - np.log(ratio))[middle].mean() < 0.4


def test_single_sample_against_hidden_truth():
    data = make_gaussians(1, 3000, 4000, prior=0.4, n_features=5, separation=3.0, random_state=0)
    labelled = data.unlabeled_truth & (np.random.RandomState(0).uniform(size=3000) < 0.7)
    model = ScoreWMMDClassifier(LINEAR, scenario="single-sample").fit(data.unlabeled, labelled)
    assert model.prior_ == pytest.approx(0.4, abs=0.04)
    assert model.predict_proba(data.test)[:, 1].mean() == pytest.approx(0.4, abs=0.04)
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.91  # the Bayes classifier has 0.934


def test_estimated_prior_and_its_interval(data):
    model = ScoreWMMDClassifier(LINEAR).fit(data.X, data.y)
    low, high = model.prior_estimator_.interval()
    assert low <= model.prior_ <= high
    assert model.prior_ == pytest.approx(0.4, abs=0.08)
    by_rows = ScoreWMMDClassifier(LINEAR, prior="km2").fit(data.X, data.y)
    assert by_rows.prior_ == pytest.approx(0.4, abs=0.15)


def test_importances_and_names_pass_through(data):
    frame = pd.DataFrame(data.X, columns=list("abcde"))
    model = ScoreWMMDClassifier(RandomForestClassifier(5, random_state=0), prior=0.4, n_folds=3).fit(frame, data.y)
    assert model.feature_names_in_.tolist() == list("abcde")
    expected = np.mean([inner.feature_importances_ for inner in model.estimators_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum())
    linear = ScoreWMMDClassifier(LogisticRegression(), prior=0.4, n_folds=2).fit(frame, data.y)
    coefficients = np.mean([np.abs(inner.coef_[0]) for inner in linear.estimators_], axis=0)
    np.testing.assert_allclose(linear.feature_importances_, coefficients / coefficients.sum())
    silent = ScoreWMMDClassifier(KNeighborsClassifier(), prior=0.4, n_folds=2).fit(frame, data.y)
    assert not hasattr(silent, "feature_importances_")


def test_boosted_trees_go_by_the_feature_that_tells(rng):
    X = rng.normal(size=(400, 4))
    X[:100, 2] += 2
    model = ScoreWMMDClassifier(prior=0.3).fit(X, np.repeat([1, 0], [100, 300]))
    assert model.feature_importances_.argmax() == 2
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_clone_pickle_and_copy(data, model):
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(data.X, data.y)):
        np.testing.assert_array_equal(twin.decision_function(data.test), model.decision_function(data.test))


def test_weights_are_repetitions_for_trees_too(data):
    rows = np.r_[0:40, 300:400]
    counts = np.random.RandomState(0).randint(0, 4, len(rows))
    X, y = data.X[rows], data.y[rows]
    weighted = ScoreWMMDClassifier(prior=0.4).fit(X, y, sample_weight=counts)
    order = np.random.RandomState(1).permutation(counts.sum())
    repeated = ScoreWMMDClassifier(prior=0.4).fit(np.repeat(X, counts, axis=0)[order], np.repeat(y, counts)[order])
    np.testing.assert_allclose(weighted.predict_proba(data.test), repeated.predict_proba(data.test), atol=1e-7)


def test_fractional_weights_reach_the_inner_classifier(data):
    weights = np.where(data.X[:, 0] > 0, 0.5, 1.5)
    model = ScoreWMMDClassifier(LogisticRegression(), prior=0.4).fit(data.X, data.y, sample_weight=weights)
    plain = ScoreWMMDClassifier(LogisticRegression(), prior=0.4).fit(data.X, data.y)
    assert not np.allclose(model.estimators_[0].coef_, plain.estimators_[0].coef_, atol=1e-3)


def test_out_of_fold_scores_are_honest(rng):
    """Pure noise in fifty features: no row's own label may shine through its score."""
    pu = PUSample(Sample(rng.normal(size=(60, 50))), Sample(rng.normal(size=(120, 50))))
    _, found = cross_fit(RandomForestClassifier(50, random_state=0), pu, 5)
    area = roc_auc_score(np.repeat([1, 0], [60, 120]), np.r_[found.positive.rows, found.unlabeled.rows])
    assert abs(area - 0.5) < 0.12


# --- the ratio in one dimension ---


def test_the_ratio_rises_everywhere(rng):
    pu = PUSample(Sample(rng.normal(1, 1, (200, 1))), Sample(rng.normal(0, 1.2, (2000, 1))))
    ratio = ScoreRatio.fit(pu)
    assert len(ratio.scores) <= 501
    at = ratio.log_ratio(np.linspace(-100, 100, 1001))
    assert (np.diff(at) > 0).all()


def test_the_ratio_of_normal_scores(rng):
    """Positives N(1, 1) in a population of N(0, 1), far more of it: the log ratio is x - 1/2."""
    pu = PUSample(Sample(rng.normal(1, 1, (4000, 1))), Sample(rng.normal(0, 1, (8000, 1))))
    at = np.linspace(-1, 2, 7)
    np.testing.assert_allclose(ScoreRatio.fit(pu).log_ratio(at), at - 0.5, atol=0.25)


def test_a_constant_score_has_ratio_one():
    pu = PUSample(Sample(np.ones((5, 1))), Sample(np.ones((9, 1))))
    np.testing.assert_allclose(ScoreRatio.fit(pu).log_ratio(np.array([0.0, 1.0, 2.0])), 0, atol=1e-5)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": StandardScaler()}, "StandardScaler has neither"),
        ({"n_folds": 1}, "n_folds"),
        ({"prior": 1.5}, "strictly between 0 and 1"),
        ({"prior": "magic"}, "best-bin"),
        ({"threshold": "magic"}, "calibrated"),
        ({"scenario": "magic"}, "case-control"),
    ],
)
def test_bad_parameters(data, options, message):
    with pytest.raises(ValueError, match=message):
        ScoreWMMDClassifier(**options).fit(data.X, data.y)
