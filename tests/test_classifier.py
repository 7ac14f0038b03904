import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians, make_two_moons
from unlabeled.deciding.thresholds import CALIBRATING, Costs, TargetPrecision, TargetRecall
from unlabeled.engines import threads
from unlabeled.kernels import PAPER_GAMMAS, RBF, Inverse
from unlabeled.samples import SCENARIOS
from unlabeled.scoring.selection import SELECTIONS
from unlabeled.scoring.witness import witness

PRIOR_OF_ONE = "ignore:The density-based prior came out as 1"


@pytest.fixture(scope="module")
def data():
    return make_gaussians(100, 400, 1000, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return WMMDClassifier(prior=0.5).fit(data.X, data.y)


# --- scikit-learn ---


@pytest.mark.filterwarnings(PRIOR_OF_ONE)
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")  # all positives of these tables are labelled
@parametrize_with_checks(
    [
        WMMDClassifier(),
        WMMDClassifier(prior=0.5, threshold="bayes"),
        WMMDClassifier.paper(selection="loo"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings(PRIOR_OF_ONE)
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
@parametrize_with_checks(
    [
        WMMDClassifier(kernel="inverse"),
        WMMDClassifier(scenario="single-sample"),
        WMMDClassifier(threshold="prevalence"),
        WMMDClassifier(prior=0.3, threshold="bayes", kernel="inverse", engine="reference"),
        WMMDClassifier.paper(prior=0.5, selection="loo", gamma=0.3),
    ]
)
def test_scikit_learn_checks_of_other_configurations(estimator, check):
    check(estimator)


def test_in_a_pipeline_and_a_search(data):
    pipeline = make_pipeline(StandardScaler(), WMMDClassifier(prior=0.5))
    search = GridSearchCV(pipeline, {"wmmdclassifier__kernel": ["rbf", "inverse"]}, scoring="roc_auc").fit(
        data.X, data.y
    )
    assert search.best_score_ > 0.6
    scores = cross_val_predict(pipeline, data.X, data.y, method="decision_function")
    assert roc_auc_score(data.y, scores) > 0.6


@pytest.mark.parametrize("kernel", ["rbf", Inverse(), RBF()])
def test_clone_pickle_and_copy(data, kernel):
    model = WMMDClassifier(prior=0.4, kernel=kernel).fit(data.X, data.y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(data.X, data.y)):
        np.testing.assert_array_equal(twin.decision_function(data.test), model.decision_function(data.test))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(data, frame):
    if frame is pl.DataFrame and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("scikit-learn reads the names of polars columns from 1.9 on")
    columns = ["height", "weight"]
    table = frame(dict(zip(columns, data.X.T, strict=True)))
    model = WMMDClassifier(prior=0.5).fit(table, data.y)
    assert model.feature_names_in_.tolist() == columns
    np.testing.assert_array_equal(model.predict(table), WMMDClassifier(prior=0.5).fit(data.X, data.y).predict(data.X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["weight", "height"]])


def test_metadata_routing(data):
    import sklearn  # noqa: PLC0415

    weights = np.where(data.X[:, 0] > 0, 2.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            WMMDClassifier(prior=0.5).set_fit_request(sample_weight=True),
        )
        routed = pipeline.fit(data.X, data.y, sample_weight=weights).decision_function(data.test)
    scaler = StandardScaler().fit(data.X)
    direct = WMMDClassifier(prior=0.5).fit(scaler.transform(data.X), data.y, sample_weight=weights)
    np.testing.assert_allclose(routed, direct.decision_function(scaler.transform(data.test)), atol=1e-12)


# --- the contract ---


@pytest.mark.parametrize(
    ("unlabeled", "positive"), [(0, 1), (-1, 1), (False, True), ("maybe", "yes"), (2, 4), (0.5, 1.5)]
)
def test_predict_answers_in_the_spelling_of_y(data, model, unlabeled, positive):
    y = np.where(data.y == 1, positive, unlabeled)
    other = WMMDClassifier(prior=0.5).fit(data.X, y)
    assert other.classes_.tolist() == [unlabeled, positive]
    answer = other.predict(data.test)
    assert answer.dtype == y.dtype
    np.testing.assert_array_equal(answer == positive, model.predict(data.test) == 1)


@pytest.mark.parametrize("kernel", ["rbf", "inverse"])
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [0.35, 0.9, "density"])
@pytest.mark.filterwarnings(PRIOR_OF_ONE)
def test_the_papers_rule_and_probabilities(data, kernel, selection, scenario, prior):
    model = WMMDClassifier.paper(prior, kernel=kernel, selection=selection, scenario=scenario, random_state=0)
    model.fit(data.X, data.y)
    score, decision, proba = (
        getattr(model, name)(data.test) for name in ("score_samples", "decision_function", "predict_proba")
    )
    assert model.threshold_ == pytest.approx(-np.log(2 * model.prior_))
    np.testing.assert_allclose(decision, score - model.threshold_)
    np.testing.assert_array_equal(model.predict(data.test) == 1, decision > 0)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_allclose(proba[:, 1], np.clip(model.prior_ * np.exp(score), 0, 1), atol=1e-12)
    np.testing.assert_array_equal(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    if selection == "loo":
        np.testing.assert_array_equal(model.witness(data.test) > 0, decision > 0)


def test_paper_names_what_the_paper_did(data):
    model = WMMDClassifier.paper(0.5, random_state=3).fit(data.X, data.y)
    assert model.scaling_.name == "none"
    assert tuple(model.gammas_) == PAPER_GAMMAS
    assert len(model.sample_.positive) == 80
    assert model.calibration_ is None
    assert WMMDClassifier.paper(0.5, refit=True).refit
    np.testing.assert_array_equal(model.priors_, 0.5)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [0.3, 0.8, "auto", "best-bin"])
@pytest.mark.parametrize("threshold", CALIBRATING)
def test_score_threshold_decision_probability_and_class_agree(data, scenario, prior, threshold):
    model = WMMDClassifier(prior, scenario=scenario, threshold=threshold).fit(data.X, data.y)
    score, decision, proba = (
        getattr(model, name)(data.test) for name in ("score_samples", "decision_function", "predict_proba")
    )
    np.testing.assert_array_equal(decision, score - model.threshold_)
    np.testing.assert_array_equal(model.predict(data.test) == 1, decision > 0)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    assert (np.diff(proba[np.argsort(score), 1]) >= 0).all()
    plain = WMMDClassifier(prior, scenario=scenario, threshold=threshold, smoothing=0).fit(data.X, data.y)
    np.testing.assert_array_equal(plain.witness(data.test) > 0, plain.decision_function(data.test) > 0)


@pytest.mark.parametrize("threshold", [0.1, Costs(3, 1), TargetRecall(0.9), TargetPrecision(0.7)])
def test_a_decision_policy_leaves_probabilities_alone(data, threshold):
    policy = WMMDClassifier(0.5, threshold=threshold).fit(data.X, data.y)
    default = WMMDClassifier(0.5).fit(data.X, data.y)
    np.testing.assert_array_equal(policy.predict_proba(data.test), default.predict_proba(data.test))
    np.testing.assert_array_equal(policy.predict(data.test) == 1, policy.decision_function(data.test) > 0)
    assert policy.threshold_ != default.threshold_


def test_attributes(model):
    assert model.engine_ == "numba"
    assert len(model.gammas_) == len(model.criteria_) == 12
    assert model.gamma_ == model.gammas_[np.argmax(model.criteria_)]
    assert model.prior_ == 0.5
    assert model.prior_estimator_ is None
    assert model.n_features_in_ == 2
    assert model.honest_scores_.positive.shape == (100,)
    assert [len(model.honest_scores_.positive_rows), len(model.honest_scores_.unlabeled_rows)] == [100, 400]


def test_an_estimated_prior_comes_with_an_interval(data):
    model = WMMDClassifier().fit(data.X, data.y)
    low, high = model.prior_estimator_.interval()
    assert 0 < low <= model.prior_ <= high < 1


def test_features_in_any_units_give_the_same_classifier(data):
    """Standardised units do not see the scale of a feature; and the choice of units sees that it should not count."""
    factors = np.array([1.0, 1000.0])
    plain = WMMDClassifier(0.5, scale="standard").fit(data.X, data.y)
    scaled = WMMDClassifier(0.5, scale="standard").fit(data.X * factors, data.y)
    np.testing.assert_allclose(
        scaled.decision_function(data.test * factors), plain.decision_function(data.test), atol=1e-6
    )
    assert WMMDClassifier(0.5).fit(data.X * factors, data.y).scaling_.name == "standard"


def test_units_are_kept_where_they_carry_the_information(rng):
    """Twenty features of tiny variance that say nothing, and two that do."""

    def draw(n, sign):
        return np.hstack([rng.normal(1.5 * sign, 1, (n, 2)), 0.05 * rng.normal(size=(n, 20))])

    X, y = np.vstack([draw(60, 1), draw(150, 1), draw(150, -1)]), np.repeat([1, 0], [60, 300])
    assert WMMDClassifier(0.5).fit(X, y).scaling_.name == "none"


def test_witness_is_the_papers_optimizer(data):
    model = WMMDClassifier.paper(0.5, selection="loo").fit(data.X, data.y)
    expected = witness(data.positive, data.unlabeled, 1.0, gamma=model.gamma_).f(data.test)
    np.testing.assert_allclose(model.witness(data.test), expected, atol=1e-12)


def test_witness_is_made_anew_by_fit(data):
    model = WMMDClassifier(prior=0.5, gamma=0.2).fit(data.X, data.y)
    model.witness(data.test)
    model.set_params(gamma=1.0).fit(data.X, data.y)
    expected = WMMDClassifier(prior=0.5, gamma=1.0).fit(data.X, data.y).witness(data.test)
    np.testing.assert_array_equal(model.witness(data.test), expected)


def test_of_equal_risks_the_first_gamma_wins(data):
    for grid in ([0.3, 0.3 * (1 + 1e-13)], [0.3 * (1 + 1e-13), 0.3]):
        assert WMMDClassifier(prior=0.5, gamma=grid).fit(data.X, data.y).gamma_ == grid[0]


def test_the_score_needs_no_prior(data):
    scores = [WMMDClassifier(prior=p, gamma=0.2).fit(data.X, data.y).score_samples(data.test) for p in (0.1, 0.9)]
    np.testing.assert_array_equal(*scores)


def test_leave_one_out_has_no_randomness(data):
    first, second = (WMMDClassifier(random_state=seed).fit(data.X, data.y) for seed in (0, 1))
    np.testing.assert_array_equal(first.criteria_, second.criteria_)
    np.testing.assert_array_equal(first.decision_function(data.test), second.decision_function(data.test))


def test_holdout_keeps_four_fifths_unless_refitted(data):
    options = {"prior": 0.5, "random_state": 0}
    kept, refitted = (WMMDClassifier.paper(refit=refit, **options).fit(data.X, data.y) for refit in (False, True))
    assert (len(kept.sample_.positive), len(kept.sample_.unlabeled)) == (80, 320)
    assert (len(refitted.sample_.positive), len(refitted.sample_.unlabeled)) == (100, 400)
    np.testing.assert_array_equal(kept.criteria_, refitted.criteria_)


def test_evaluations_are_bounded(data):
    few = WMMDClassifier(prior=0.5, smoothing=0, max_evaluations=50, random_state=0).fit(data.X, data.y)
    scored = few.honest_scores_
    assert [len(scored.positive_rows), len(scored.unlabeled_rows)] == [50, 50]
    assert len(few.sample_.unlabeled) == 400
    every = WMMDClassifier(prior=0.5, gamma=few.gamma_, scale=few.scaling_.name).fit(data.X, data.y)
    same = every.honest_scores_.unlabeled[scored.unlabeled_rows - 100]  # positives come first in the table
    np.testing.assert_allclose(scored.unlabeled, same, atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from(SCENARIOS), st.sampled_from(["rbf", "inverse"]))
def test_weights_are_repetitions(seed, scenario, kernel):
    rng = np.random.default_rng(seed)
    X, y, counts = rng.normal(size=(12, 2)), np.repeat([1, 0], 6), rng.integers(1, 4, 12)
    options = {"prior": 0.95, "scenario": scenario, "kernel": kernel}
    weighted = WMMDClassifier(**options).fit(X, y, sample_weight=counts)
    repeated = WMMDClassifier(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.criteria_, repeated.criteria_, atol=1e-12)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_row_whose_weight_is_no_count_is_left_out_altogether(scenario):
    """Its honest score is that of a fit to the other rows, however large its weight."""
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(20, 2)), np.repeat([1, 0], [8, 12]), rng.uniform(1, 9, 20)
    options = {"prior": 0.9, "scenario": scenario, "gamma": 0.7, "scale": "none", "smoothing": 0}
    honest = WMMDClassifier(**options).fit(X, y, sample_weight=weights).honest_scores_
    for row in (0, 3, 11, 19):
        kept = np.arange(20) != row
        without = WMMDClassifier(**options).fit(X[kept], y[kept], sample_weight=weights[kept])
        found = np.r_[honest.positive, honest.unlabeled][row]
        assert found == pytest.approx(without.score_samples(X[row : row + 1])[0], abs=1e-6)


def test_weights_of_zero_leave_rows_out(data):
    keep = np.arange(len(data.y)) % 3 > 0
    zeroed = WMMDClassifier().fit(data.X, data.y, sample_weight=keep.astype(float))
    dropped = WMMDClassifier().fit(data.X[keep], data.y[keep])
    np.testing.assert_allclose(zeroed.decision_function(data.test), dropped.decision_function(data.test), atol=1e-12)


def test_single_sample_prior_speaks_of_the_whole_population():
    """One sample, most of its positives labelled: the prior is P(y=1) of labelled and unlabeled rows together."""
    data = make_gaussians(1, 4000, 4000, prior=0.4, separation=3.0, random_state=0)
    labelled = data.unlabeled_truth & (np.random.RandomState(0).uniform(size=4000) < 0.75)
    for make in (WMMDClassifier.paper, WMMDClassifier):
        options = {"max_evaluations": 1000, "random_state": 0}
        if make == WMMDClassifier.paper:
            options |= {"gamma": 0.4, "selection": "loo"}
        model = make(0.4, scenario="single-sample", **options).fit(data.unlabeled, labelled)
        assert model.predict_proba(data.test)[:, 1].mean() == pytest.approx(0.4, abs=0.02)
        wrong = make(0.4, **options).fit(data.unlabeled, labelled)
        assert abs(wrong.predict_proba(data.test)[:, 1].mean() - 0.4) > 0.02
    estimated = WMMDClassifier(scenario="single-sample", max_evaluations=1000, random_state=0)
    estimated.fit(data.unlabeled, labelled)
    assert estimated.prior_ == pytest.approx(0.4, abs=0.03)
    assert np.mean((estimated.predict(data.test) == 1) == data.test_truth) > 0.92  # the Bayes classifier has 0.937


def test_estimated_prior_is_not_below_the_labelled_share(data):
    model = WMMDClassifier(scenario="single-sample", gamma=100.0).fit(data.X, data.y)
    assert model.prior_ >= 100 / 500


@pytest.mark.parametrize(("selection", "expected"), [("holdout", 0.832), ("loo", 0.836)])
def test_accuracy_on_the_papers_gaussians(selection, expected):
    """Experiment 2 with n_p = 100, n_u = 400, prior 0.5 known, 100 draws; the Bayes classifier has 0.841."""
    accuracies = []
    for seed in range(100):
        data = make_gaussians(random_state=seed)
        model = WMMDClassifier.paper(0.5, selection=selection, random_state=seed).fit(data.X, data.y)
        accuracies.append(np.mean((model.predict(data.test) == 1) == data.test_truth))
    assert np.mean(accuracies) == pytest.approx(expected, abs=0.005)


def test_density_prior_on_the_papers_gaussians_is_too_large():
    """The figure in docs/method.md: 0.62 on average where the prior is 0.5."""
    draws = [make_gaussians(random_state=seed) for seed in range(100)]
    priors = [WMMDClassifier.paper(selection="loo").fit(data.X, data.y).prior_ for data in draws]
    assert np.mean(priors) == pytest.approx(0.62, abs=0.01)


@pytest.mark.parametrize(("prior", "expected"), [(0.5, 0.97), ("auto", 0.93)])
def test_two_moons(prior, expected):
    data = make_two_moons(50, 1000, 1000, random_state=0)
    model = WMMDClassifier(prior).fit(data.X, data.y)
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > expected


@pytest.mark.parametrize(
    ("prior", "known", "n_draws"),
    [(0.2, True, 1), (0.8, True, 1), (0.5, False, 1)]
    + [pytest.param(prior, known, 3, marks=pytest.mark.slow) for prior in (0.2, 0.5, 0.8) for known in (True, False)],
)
def test_probabilities_are_calibrated(prior, known, n_draws):
    """Expected calibration error in 15 bins of equal mass; ``prior * ratio`` is at .12 to .29 on these."""
    errors = []
    for seed in range(n_draws):
        data = make_gaussians(1000, 4000, 20_000, prior=prior, random_state=seed)
        model = WMMDClassifier(prior if known else "auto", max_evaluations=2000, random_state=0).fit(data.X, data.y)
        errors.append(calibration_error(model.predict_proba(data.test)[:, 1], data.test_truth))
    assert np.mean(errors) <= 0.05


def calibration_error(probability, truth, n_bins=15):
    bins = np.array_split(np.argsort(probability, kind="stable"), n_bins)
    return sum(len(rows) * abs(probability[rows].mean() - truth[rows].mean()) for rows in bins) / len(truth)


# --- input that must work ---


def test_one_feature_constant(data):
    X, test = (np.column_stack([rows, np.full(len(rows), 7.0)]) for rows in (data.X, data.test))
    plain = WMMDClassifier(prior=0.5).fit(data.X, data.y).decision_function(data.test)
    np.testing.assert_allclose(WMMDClassifier(prior=0.5).fit(X, data.y).decision_function(test), plain, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Every column of X is constant")
@pytest.mark.parametrize("kernel", ["rbf", "inverse"])
def test_all_rows_identical(kernel):
    X, y = np.ones((20, 3)), np.repeat([1, 0], 10)
    for threshold in CALIBRATING:
        model = WMMDClassifier(0.5, kernel=kernel, threshold=threshold).fit(X, y)
        np.testing.assert_array_equal(model.score_samples(X), 0)
        np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)
    with pytest.warns(UserWarning, match="came out as 1"):
        assert WMMDClassifier("density", kernel=kernel).fit(X, y).prior_ == 1


def test_a_single_row_at_predict(data, model):
    for i in range(5):
        assert model.decision_function(data.test[[i]]) == pytest.approx(
            model.decision_function(data.test)[[i]], abs=1e-12
        )


def test_rows_far_from_all_data_get_an_answer(model):
    far = np.array([[1e3, 1e3], [-1e3, -1e3], [1e9, 1e9]])
    assert np.isfinite(model.decision_function(far)).all()
    assert model.predict(far)[:2].tolist() == [1, 0]


def test_two_of_each(data):
    rows = [0, 1, 200, 300]
    model = WMMDClassifier(prior=0.5).fit(data.X[rows], data.y[rows])
    assert np.isfinite(model.decision_function(data.test)).all()


# --- bad input ---

X, Y = np.arange(20.0).reshape(10, 2), np.repeat([1, 0], 5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.where(X == 3, np.inf, X), Y, {}, "infinity"),
        (np.char.add(X.astype(str), "a"), Y, {}, "convert|string"),
        (X + 1j, Y, {}, "[Cc]omplex"),
        (X, np.zeros(10), {}, "only one class"),
        (X, np.ones(10), {}, "only one class"),
        (X, np.arange(10) == 0, {}, "Only one labelled positive"),
        (X, np.arange(10) > 0, {}, "Only one unlabeled row"),
        (X, np.arange(10) % 3, {}, "3 values.*Use two"),
        (X, np.array(["a", 1, None] * 3 + [2], dtype=object), {}, "compared"),
        (X, np.linspace(0, 1, 10), {}, "[Uu]nknown label type|continuous"),
        (X, Y[:9], {}, "inconsistent"),
        (X, Y, {"prior": 0}, "strictly between 0 and 1"),
        (X, Y, {"prior": 1}, "strictly between 0 and 1"),
        (X, Y, {"prior": -0.3}, "strictly between 0 and 1"),
        (X, Y, {"prior": 1.5}, "strictly between 0 and 1"),
        (X, Y, {"prior": np.nan}, "strictly between 0 and 1"),
        (X, Y, {"prior": None}, "number in .0, 1."),
        (X, Y, {"prior": "densty"}, "best-bin.*density"),
        (X, Y, {"prior": 0.2, "scenario": "single-sample"}, "labelled share"),
        (X, Y, {"gamma": 0}, "positive and finite"),
        (X, Y, {"gamma": -1.0}, "positive and finite"),
        (X, Y, {"gamma": np.nan}, "positive and finite"),
        (X, Y, {"gamma": []}, "non-empty"),
        (X, Y, {"gamma": "scale"}, "not a number"),
        (X, Y, {"scale": "robust"}, "auto.*standard.*none"),
        (X, Y, {"criterion": "auc"}, "likelihood.*risk"),
        (X, Y, {"calibration": "platt"}, "monotone.*ratio"),
        (X, Y, {"threshold": "median"}, "calibrated.*prevalence.*bayes"),
        (X, Y, {"threshold": np.nan}, "calibrated.*prevalence.*bayes"),
        (X, Y, {"threshold": True}, "calibrated.*prevalence.*bayes"),
        (X, Y, {"kernel": "linear"}, "inverse.*rbf"),
        (X, Y, {"engine": "cuda"}, "numba.*reference"),
        (X, Y, {"selection": "cv"}, "loo.*holdout"),
        (X, Y, {"scenario": "censoring"}, "case-control.*single-sample"),
        (X, Y, {"max_evaluations": 0}, "max_evaluations"),
        (X, Y, {"max_evaluations": True}, "max_evaluations must be a whole number of 2 or more"),
        (X, Y, {"max_evaluations": 2.5}, "max_evaluations"),
        (X, Y, {"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_input(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        WMMDClassifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(10), "zero throughout"),
        (np.ones(9), "one weight for each row"),
        (-np.ones(10), "not negative"),
        (np.full(10, np.nan), "finite"),
        (np.r_[np.zeros(5), np.ones(5)], "no labelled positive"),
        (np.r_[np.zeros(4), np.ones(6)], "Only one labelled positive"),
        (np.r_[np.ones(5), np.zeros(5)], "no unlabeled row"),
        (np.r_[1.0, np.full(4, 1e-20), np.ones(5)], "Only one labelled positive"),
        (np.full(10, 1e308), "too large"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        WMMDClassifier().fit(X, Y, sample_weight=weights)


def test_predict_before_fit_and_with_other_features(model):
    with pytest.raises(NotFittedError):
        WMMDClassifier().predict(X)
    for method in ("predict", "predict_proba", "decision_function", "score_samples", "witness"):
        with pytest.raises(ValueError, match="3 features"):
            getattr(model, method)(np.zeros((2, 3)))


def test_a_failed_fit_does_not_harm_the_data(data):
    X, y = data.X.copy(), data.y.copy()
    with pytest.raises(ValueError, match="gamma"):
        WMMDClassifier(gamma=-1).fit(X, y)
    WMMDClassifier().fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(y, data.y)


# --- threads ---


@pytest.mark.slow
def test_joblib_workers_do_not_multiply_threads():
    alone = threads.n_threads(None)
    for backend in ("loky", "threading", "multiprocessing"):
        counts = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(threads.n_threads)(None) for _ in range(2))
        assert max(counts) <= max(1, alone // 2)
    assert threads.n_threads(3) == 3
    assert threads.n_threads(-1) == alone
    assert threads.n_threads(None) == alone


def test_fits_in_worker_processes_agree(data):
    def fit(seed):
        return WMMDClassifier.paper(0.5, random_state=seed).fit(data.X, data.y).criteria_

    serial = [fit(seed) for seed in range(3)]
    parallel = joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(seed) for seed in range(3))
    np.testing.assert_allclose(parallel, serial, atol=1e-12)


def test_the_released_floor_by_hand(data):
    """The mean over positives plus 1e-8, over the population's, at gamma and with the rows that were kept."""
    model = WMMDClassifier.paper(0.5, floor=1e-8, gamma=1.0, random_state=3).fit(data.X, data.y)
    rows = np.concatenate([data.X[:5], [[6.0, 6.0], [-9.0, 9.0]]])  # from near to where every kernel is far below it
    means = [
        np.exp(-((rows[:, None] - sample.rows) ** 2).sum(axis=2)).mean(axis=1)
        for sample in (model.sample_.positive, model.sample_.unlabeled)
    ]
    np.testing.assert_allclose(model.score_samples(rows), np.log(means[0] + 1e-8) - np.log(means[1]), rtol=1e-5)
    assert model.predict(rows[-1:]) == 1  # far from everything, and called positive
    with pytest.raises(ValueError, match="needs selection='holdout'"):
        WMMDClassifier(0.5, floor=1e-8).fit(data.X, data.y)
    with pytest.raises(ValueError, match="floor must be a number"):
        WMMDClassifier.paper(0.5, floor=-1.0).fit(data.X, data.y)
