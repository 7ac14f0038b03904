import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled.baselines.elkan_noto import ESTIMATES, RULES, ElkanNotoClassifier, _log_loss
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.elkan_noto import elkan_noto_estimate
from unlabeled.samples import SCENARIOS, split_samples
from unlabeled.scoring.cross_fitting import Pool, deal

# Inner classifiers here answer what they are told, whatever the rows.
pytestmark = pytest.mark.filterwarnings("ignore:Every column of X is constant")


@pytest.fixture(scope="module")
def data():
    return make_gaussians(random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return ElkanNotoClassifier().fit(data.X, data.y)


# --- scikit-learn ---


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")  # all positives of these tables are labelled
@parametrize_with_checks(
    [
        ElkanNotoClassifier(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
@parametrize_with_checks(
    [
        ElkanNotoClassifier(prior=0.5),
        ElkanNotoClassifier(scenario="single-sample"),
        ElkanNotoClassifier(estimates="e2", rule="plain"),
    ]
)
def test_scikit_learn_checks_of_other_configurations(estimator, check):
    check(estimator)


def test_clone_pickle_and_data_frames(data, model):
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.decision_function(data.test), model.decision_function(data.test))
    table = pd.DataFrame(data.X, columns=["height", "weight"])
    framed = clone(model).fit(table, data.y)
    assert framed.feature_names_in_.tolist() == ["height", "weight"]
    np.testing.assert_array_equal(framed.predict(table), model.predict(data.X))


# --- what c means, against hidden truth ---


def single_sample(data, c):
    """One sample of the population, its positives labelled at rate c."""
    labelled = data.unlabeled_truth & (np.random.RandomState(1).uniform(size=len(data.unlabeled)) < c)
    return data.unlabeled, labelled.astype(int)


def separated(prior):
    """Classes that barely overlap (6 standard deviations), as Elkan and Noto assume."""
    return make_gaussians(2000, 6000, 2000, prior=prior, separation=6.0, random_state=0)


def posterior(data, prior, separation):
    """P(y = 1 | x) of the test rows under the two normal distributions."""
    margin = separation * data.test.sum(axis=1) / np.sqrt(data.test.shape[1])
    return 1 / (1 + (1 - prior) / prior * np.exp(-margin))


@pytest.mark.parametrize("prior", [0.2, 0.5])
@pytest.mark.parametrize(("estimates", "tolerance"), [("e1", 0.02), ("e2", 0.02), ("e3", 0.15)])
def test_c_and_prior_in_case_control(prior, estimates, tolerance):
    """A calibrated inner model. Hidden truth: n_p of n_p + prior n_u positives of the table are labelled."""
    data = separated(prior)
    model = ElkanNotoClassifier(KNeighborsClassifier(500), estimates=estimates).fit(data.X, data.y)
    assert model.c_ == pytest.approx(2000 / (2000 + data.unlabeled_truth.sum()), abs=tolerance)
    assert model.prior_ == pytest.approx(prior, abs=tolerance)
    assert model.predict_proba(data.test)[:, 1].mean() == pytest.approx(data.test_truth.mean(), abs=tolerance + 0.02)


@pytest.mark.parametrize("c", [0.3, 0.7])
@pytest.mark.parametrize(("estimates", "tolerance"), [("e1", 0.02), ("e2", 0.02), ("e3", 0.15)])
def test_c_and_prior_in_single_sample(c, estimates, tolerance):
    """Hidden truth: the rate at which positives were labelled, and the share of positives in the one sample."""
    data = separated(0.4)
    model = ElkanNotoClassifier(KNeighborsClassifier(500), estimates=estimates, scenario="single-sample")
    model.fit(*single_sample(data, c))
    assert model.c_ == pytest.approx(c, abs=tolerance)
    assert model.prior_ == pytest.approx(0.4, abs=tolerance)
    assert model.predict_proba(data.test)[:, 1].mean() == pytest.approx(data.test_truth.mean(), abs=tolerance + 0.02)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_default_inner_model_against_hidden_truth(scenario):
    """A logistic regression in place of a g that levels off at c: near, no more."""
    data = separated(0.4)
    X, y = (data.X, data.y) if scenario == "case-control" else single_sample(data, 0.5)
    model = ElkanNotoClassifier(scenario=scenario).fit(X, y)
    truth = 2000 / (2000 + data.unlabeled_truth.sum()) if scenario == "case-control" else 0.5
    assert model.c_ == pytest.approx(truth, abs=0.05)
    assert model.prior_ == pytest.approx(0.4, abs=0.06)
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.93


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_probabilities_of_overlapping_classes_with_a_known_prior(scenario):
    """With c from the prior no separability is needed: probabilities are those of the population."""
    data = make_gaussians(4000, 8000, 2000, prior=0.3, separation=2.0, random_state=0)
    X, y = (data.X, data.y) if scenario == "case-control" else single_sample(data, 0.5)
    truth = posterior(data, 0.3, 2.0)
    errors = {}
    for rule in RULES:
        model = ElkanNotoClassifier(KNeighborsClassifier(200), prior=0.3, scenario=scenario, rule=rule).fit(X, y)
        errors[rule] = np.abs(model.predict_proba(data.test)[:, 1] - truth).mean()
    assert errors["population"] < 0.05
    if scenario == "case-control":  # positives were added to the table, and plain g/c counts them in
        assert errors["plain"] > 0.1
    else:
        assert errors["plain"] == pytest.approx(errors["population"], abs=1e-12)


def test_c_of_a_known_prior(data):
    assert ElkanNotoClassifier(prior=0.5).fit(data.X, data.y).c_ == pytest.approx(100 / (100 + 0.5 * 400))
    single = ElkanNotoClassifier(prior=0.5, scenario="single-sample").fit(data.X, data.y)
    assert single.c_ == pytest.approx(100 / 500 / 0.5)
    assert single.prior_ == 0.5


# --- estimates of c ---


def test_estimates_worked_by_hand():
    """G = 0.6 and 0.4 (twice) for labelled rows, 0.5 and 0.1 for others."""
    g = np.array([0.6, 0.4, 0.5, 0.1])
    log_odds = np.log(g / (1 - g))
    scores = HonestScores(log_odds[:2], log_odds[2:], np.array([1.0, 2]), np.ones(2))
    assert elkan_noto_estimate(scores, "e1") == pytest.approx(1.4 / 3)
    assert elkan_noto_estimate(scores, "e2") == pytest.approx(1.4 / 2.0)
    assert elkan_noto_estimate(scores, "e3") == pytest.approx(0.6)
    assert _log_loss(scores) == pytest.approx(-(np.log(0.6) + 2 * np.log(0.4) + np.log(0.5) + np.log(0.9)) / 5)


class Told(ClassifierMixin, BaseEstimator):
    """Says that each row is labelled with the probability in its first column."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("estimates", ESTIMATES)
@pytest.mark.parametrize("told", [0.0, 1e-300, 0.5, 1.0, np.nan])
def test_probabilities_whatever_c_comes_out_as(told, estimates, scenario, rule):
    """The smallest and largest g, one that says c = 0 or NaN; g above c at prediction."""
    X, y = np.full((10, 1), told), np.repeat([1, 0], [3, 7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Every column of X is constant")
        model = ElkanNotoClassifier(Unchecked(), estimates=estimates, scenario=scenario, rule=rule)
        model.fit(np.arange(10.0)[:, None] if np.isnan(told) else X, y)
        rows = np.linspace(0, 1, 11)[:, None]
        proba, decision = model.predict_proba(rows), model.decision_function(rows)
    assert 0.3 <= model.c_ <= 1
    assert 0 < model.prior_ <= 1
    assert np.isfinite(decision).all()
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_array_equal(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(model.predict(rows) == 1, decision > 0)


class Unchecked(Told):
    """Answers NaN for rows outside [0, 1]."""

    def predict_proba(self, X):
        return super().predict_proba(np.where((X > 1) | (X < 0), np.nan, X))


# --- rules ---


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [None, 0.35])
def test_score_threshold_decision_probability_and_class_agree(data, scenario, rule, prior):
    model = ElkanNotoClassifier(scenario=scenario, rule=rule, prior=prior).fit(data.X, data.y)
    g = model.estimator_.predict_proba(data.test)[:, 1]
    ratio = 5 * g if scenario == "single-sample" else 4 * g / (1 - g)
    np.testing.assert_allclose(model.score_samples(data.test), np.log(ratio), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(data.test), np.log(ratio) - model.threshold_, atol=1e-9)
    called = model.predict(data.test) == 1
    np.testing.assert_array_equal(called, g > model.label_threshold_)
    np.testing.assert_array_equal(called, model.decision_function(data.test) > 0)
    expected = g / model.c_ if rule == "plain" else model.prior_ * ratio
    np.testing.assert_allclose(model.predict_proba(data.test)[:, 1], np.minimum(expected, 1), atol=1e-9)
    if rule == "population":
        assert model.threshold_ == pytest.approx(-np.log(2 * model.prior_))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_sizes_are_those_of_the_rows_fitted_on(scenario):
    """Of 6 and 21 rows a split keeps 4 and 16; where g is known, all else follows from it and these."""
    X, y = np.full((27, 1), 0.4), np.repeat([1, 0], [6, 21])
    model = ElkanNotoClassifier(Told(), n_folds=None, scenario=scenario, random_state=0).fit(X, y)
    assert model.c_ == pytest.approx(0.4)
    ratio, prior = {"case-control": (4 * 0.4 / 0.6, 1.5 / 4), "single-sample": (5 * 0.4, 1 / 2)}[scenario]
    assert model.score_samples(X) == pytest.approx(np.log(ratio))
    assert model.prior_ == pytest.approx(prior)
    known = ElkanNotoClassifier(Told(), prior=0.5, n_folds=None, scenario=scenario, random_state=0).fit(X, y)
    assert known.c_ == pytest.approx(4 / 12 if scenario == "case-control" else 0.4)
    plain = ElkanNotoClassifier(Told(), n_folds=None, scenario=scenario, rule="plain", random_state=0).fit(X, y)
    ratio = {"case-control": 3.5 * 0.4 / 0.6, "single-sample": 4.5 * 0.4}[scenario]
    assert plain.score_samples(X) == pytest.approx(np.log(ratio))  # of the whole table, as its rule needs none


@pytest.mark.parametrize("told", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("n_positive", [2, 3, 6])
def test_a_split_implies_no_impossible_prior(told, n_positive):
    X, y = np.full((25, 1), told), np.repeat([1, 0], [n_positive, 25 - n_positive])
    for prior in (None, n_positive / 25):
        model = ElkanNotoClassifier(Told(), prior=prior, n_folds=None, scenario="single-sample", random_state=0)
        model.fit(X, y)
        assert n_positive / 25 - 1e-12 <= model.prior_ <= 1
        assert 0 < model.c_ <= 1
    everything = ElkanNotoClassifier(Told(), n_folds=None, random_state=0).fit(X, y)
    if told < 0.06:
        assert everything.prior_ == pytest.approx(1)


def test_the_paper_configuration(data):
    model = ElkanNotoClassifier.paper(random_state=0).fit(data.X, data.y)
    assert type(model.estimator_).__name__ == "LogisticRegressionCV"
    assert model.estimator_.Cs_.tolist() == [100, 10, 1, 0.1, 0.01]
    # 80 % of each sample for the inner classifier, c from the rest, and the plain rule
    held = []
    rng = np.random.RandomState(0)
    for start, n in ((0, 100), (100, 400)):
        held.append(rng.permutation(np.arange(start, start + n))[: n // 5])
    kept = np.setdiff1d(np.arange(500), np.concatenate(held))
    by_hand = clone(model.estimator).fit(data.X[kept], data.y[kept])
    assert model.c_ == pytest.approx(by_hand.predict_proba(data.X[held[0]])[:, 1].mean())
    g = by_hand.predict_proba(data.test)[:, 1]
    np.testing.assert_array_equal(model.predict(data.test) == 1, g / model.c_ > 0.5)


def test_the_papers_inner_classifier_has_balanced_classes_or_none():
    assert ElkanNotoClassifier.paper().estimator.class_weight == "balanced"
    assert ElkanNotoClassifier.paper(class_weight=None).estimator.class_weight is None
    own = LogisticRegression()
    assert ElkanNotoClassifier.paper(estimator=own).estimator is own
    with pytest.raises(ValueError, match="set it on your estimator"):
        ElkanNotoClassifier.paper(estimator=own, class_weight=None)


@pytest.mark.parametrize("n_positive", [2, 3, 5, 7])
def test_the_paper_configuration_with_few_positives(n_positive, data):
    """Five folds of the inner cross-validation need five kept positives; with fewer there are fewer folds."""
    X = np.concatenate([data.positive[:n_positive], data.unlabeled])
    y = np.repeat([1, 0], [n_positive, 400])
    model = ElkanNotoClassifier.paper(random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert 0 < model.c_ <= 1


@pytest.mark.parametrize("n_draws", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_accuracy_and_auc_on_the_papers_gaussians(n_draws):
    """Bayes 0.841. The paper's text: AUC the highest of all methods, accuracy poor; poorer still without weights."""
    accuracy, auc = ({name: [] for name in ("paper", "unweighted", "default")} for _ in range(2))
    for seed in range(n_draws):
        data = make_gaussians(random_state=seed)
        for name, model in (
            ("paper", ElkanNotoClassifier.paper(random_state=seed)),
            ("unweighted", ElkanNotoClassifier.paper(class_weight=None, random_state=seed)),
            ("default", ElkanNotoClassifier()),
        ):
            model.fit(data.X, data.y)
            accuracy[name].append(np.mean((model.predict(data.test) == 1) == data.test_truth))
            auc[name].append(roc_auc_score(data.test_truth, model.decision_function(data.test)))
    assert min(map(np.mean, auc.values())) > 0.91
    assert np.mean(accuracy["paper"]) < 0.79
    assert np.mean(accuracy["unweighted"]) < 0.65
    assert np.mean(accuracy["default"]) > 0.79


# --- folds and weights ---


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(2, 7))
def test_folds_deal_out_copies(weights, n_folds):
    weights = np.array(weights, dtype=float)
    dealt = deal(weights, n_folds, np.random.RandomState(0))
    assert np.ptp(dealt.sum(axis=0)) < 1 + 1e-9  # evenly
    assert (dealt.sum(axis=0) < weights.sum() - 1e-9).all()  # no fold takes all
    repeated = deal(np.ones(int(weights.sum())), n_folds, np.random.RandomState(0))
    starts = np.cumsum(weights).astype(int) - weights.astype(int)
    np.testing.assert_allclose(dealt, np.add.reduceat(repeated, starts))


@given(st.lists(st.floats(0.01, 3), min_size=2, max_size=9), st.floats(0.02, 0.98), st.integers(2, 7))
def test_folds_deal_out_whole_rows_where_weights_are_no_counts(weights, share, n_folds):
    """A row that is fitted to by half and scored by half is known to the fit that scores it."""
    weights = np.array([share, *weights])
    dealt = deal(weights, n_folds, np.random.RandomState(0))
    np.testing.assert_array_equal(dealt.max(axis=1), weights)
    np.testing.assert_array_equal((dealt > 0).sum(axis=1), 1)
    assert np.ptp((dealt > 0).sum(axis=0)) <= 1  # evenly


@pytest.mark.parametrize("n_rows", [(1, 7), (7, 1), (2, 7), (10, 5)])
def test_a_split_has_both_samples_on_both_sides(n_rows):
    labelled, weights = np.repeat([True, False], n_rows), np.full(sum(n_rows), 3.0)
    pool = Pool.of(split_samples(np.arange(float(sum(n_rows)))[:, None], labelled, np.log(weights)))
    kept, held = (pool.weighted(part) for part in pool.split(np.random.RandomState(0)))
    for sample, n in zip((True, False), n_rows, strict=True):
        of_kept, of_held = (set(part.numbers[part.labelled == sample]) for part in (kept, held))
        assert len(of_held) == int(np.ceil(n / 5))
        assert of_kept | of_held == set(np.flatnonzero(labelled == sample))
        assert of_kept == of_held if n == 1 else not of_kept & of_held


def test_one_positive_that_counts_twice_can_be_split(data):
    X, y = np.concatenate([data.positive[:1], data.unlabeled]), np.repeat([1, 0], [1, 400])
    model = ElkanNotoClassifier(LogisticRegression(), n_folds=None, random_state=0)
    model.fit(X, y, sample_weight=np.where(y == 1, 2.0, 1.0))
    assert 0 < model.c_ <= 1


def test_a_deal_of_huge_weights_is_repeated():
    dealt = deal(np.array([1e12, 3e6, 2.0]), 5, np.random.RandomState(0))
    np.testing.assert_allclose(dealt.sum(axis=1), [1e12, 3e6, 2])
    np.testing.assert_allclose(dealt[0], 2e11)


@given(st.integers(0, 10_000), st.integers(2, 7))
def test_folds_cover_each_row_once_and_every_fit_has_both_samples(seed, n_folds):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 12, 2)
    labelled = np.repeat([True, False], n)
    pool = Pool.of(split_samples(rng.integers(0, 3, (n.sum(), 2)).astype(float), labelled))
    folds = [[pool.weighted(part) for part in fold] for fold in pool.folds(n_folds)]
    assert sum(held.weights.sum() for _, held in folds) == n.sum()
    for kept, held in folds:
        assert kept.weights.sum() + held.weights.sum() == n.sum()
        assert set(kept.labelled) == {True, False}
        assert set(kept.weights) == {1.0}


@given(st.integers(0, 10_000), st.sampled_from(SCENARIOS), st.sampled_from(ESTIMATES))
def test_weights_are_repetitions(seed, scenario, estimates):
    rng = np.random.default_rng(seed)
    X, y, counts = rng.normal(size=(12, 2)), np.repeat([1, 0], 6), rng.integers(0, 4, 12)
    counts[[0, 1, 6, 7]] += 1
    options = {"estimator": LogisticRegression(tol=1e-10, solver="newton-cholesky")}
    options |= {"scenario": scenario, "estimates": estimates}
    weighted = ElkanNotoClassifier(**options).fit(X, y, sample_weight=counts)
    repeated = ElkanNotoClassifier(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.c_ == pytest.approx(repeated.c_, abs=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_weights_reach_the_steps_of_a_pipeline(data):
    counts = np.where(data.X[:, 0] > 0, 2, 1)
    inner = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, solver="newton-cholesky"))
    weighted = ElkanNotoClassifier(inner).fit(data.X, data.y, sample_weight=counts)
    repeated = ElkanNotoClassifier(inner).fit(np.repeat(data.X, counts, axis=0), np.repeat(data.y, counts))
    np.testing.assert_allclose(weighted.decision_function(data.test), repeated.decision_function(data.test), atol=1e-6)


def test_an_inner_classifier_without_weights(data):
    inner = KNeighborsClassifier(20)
    plain = ElkanNotoClassifier(inner).fit(data.X, data.y)
    ones = ElkanNotoClassifier(inner).fit(data.X, data.y, sample_weight=np.ones(500))
    np.testing.assert_array_equal(plain.decision_function(data.test), ones.decision_function(data.test))
    with pytest.raises(ValueError, match="KNeighborsClassifier does not take it"):
        ElkanNotoClassifier(inner).fit(data.X, data.y, sample_weight=np.full(500, 2.0))


# --- inner classifiers ---


@pytest.mark.parametrize("inner", [LinearSVC(), RidgeClassifier()])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_decision_values_are_mapped_to_probabilities(data, inner, scenario):
    model = ElkanNotoClassifier(inner, scenario=scenario).fit(data.X, data.y)
    assert roc_auc_score(data.test_truth, model.decision_function(data.test)) > 0.9
    like = ElkanNotoClassifier(LogisticRegression(), scenario=scenario).fit(data.X, data.y)
    assert model.c_ == pytest.approx(like.c_, abs=0.03)
    with pytest.raises(NotFittedError):  # a clone was fitted
        inner.decision_function(data.test)


def test_an_inner_classifier_without_scores_is_refused_by_name(data):
    with pytest.raises(ValueError, match="LinearRegression has neither predict_proba nor decision_function"):
        ElkanNotoClassifier(LinearRegression()).fit(data.X, data.y)


# --- input that must work ---


@pytest.mark.parametrize("n_folds", [5, None])
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("inner", [None, DummyClassifier(strategy="prior"), DecisionTreeClassifier(), LinearSVC()])
def test_constant_scores_perfect_separation_and_two_positives(inner, scenario, n_folds):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [5, 20])
    tables = [
        (np.ones((25, 2)), y),
        (rng.normal(size=(25, 2)) + 100 * y[:, None], y),
        (rng.normal(size=(25, 2)), np.repeat([1, 0], [2, 23])),
        (rng.normal(size=(4, 2)), np.array([0, 1, 1, 0])),
    ]
    for X, labels in tables:
        model = ElkanNotoClassifier(inner, scenario=scenario, n_folds=n_folds, random_state=0).fit(X, labels)
        assert np.isfinite(model.decision_function(X)).all()
        assert 0 < model.c_ <= 1
        assert 0 < model.prior_ <= 1


def test_a_constant_score_says_nothing_against_all_rows_being_positive():
    model = ElkanNotoClassifier().fit(np.ones((25, 2)), np.repeat([1, 0], [5, 20]))
    assert model.c_ == pytest.approx(0.2)
    assert model.prior_ == pytest.approx(1)


def test_fractional_weights_that_sum_to_less_than_two(data):
    model = ElkanNotoClassifier().fit(data.X, data.y, sample_weight=np.full(500, 0.01))
    assert model.c_ == pytest.approx(ElkanNotoClassifier().fit(data.X, data.y).c_, abs=0.05)


def test_raw_scales_do_no_harm(data, model):
    scale, shift = np.array([1e6, 1e-6]), np.array([1e8, 0])
    scaled = ElkanNotoClassifier().fit(data.X * scale + shift, data.y)
    np.testing.assert_allclose(
        scaled.decision_function(data.test * scale + shift), model.decision_function(data.test), atol=1e-4
    )


def test_rows_far_from_all_data_get_an_answer(model):
    assert np.isfinite(model.decision_function([[1e200, 1e200], [-1e200, -1e200]])).all()


# --- bad input ---

X, Y = np.arange(20.0).reshape(10, 2), np.repeat([1, 0], 5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.where(X == 3, np.nan, X), Y, {}, "NaN"),
        (np.where(X == 3, np.inf, X), Y, {}, "infinity"),
        (X, np.zeros(10), {}, "only one class"),
        (X, np.arange(10) == 0, {}, "[Oo]nly one labelled positive"),
        (X, np.arange(10) > 0, {}, "[Oo]nly one unlabeled row"),
        (X, np.arange(10) % 3, {}, "3 values.*Use two"),
        (X, Y[:9], {}, "inconsistent"),
        (X, Y, {"prior": 0}, "strictly between 0 and 1"),
        (X, Y, {"prior": np.nan}, "strictly between 0 and 1"),
        (X, Y, {"prior": "densty"}, "densty"),
        (X, Y, {"prior": 0.2, "scenario": "single-sample"}, "labelled share"),
        (X, Y, {"scenario": "censoring"}, "case-control.*single-sample"),
        (X, Y, {"estimates": "e4"}, "e1.*e2.*e3"),
        (X, Y, {"rule": "bayes"}, "population.*plain"),
        (X, Y, {"n_folds": 1}, "n_folds.*2 or more"),
        (X, Y, {"n_folds": 2.5}, "n_folds.*2 or more"),
    ],
)
def test_bad_input(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        ElkanNotoClassifier(**options).fit(X, y)


def test_predict_before_fit_and_with_other_features(model):
    with pytest.raises(NotFittedError):
        ElkanNotoClassifier().predict(X)
    for method in ("predict", "predict_proba", "decision_function", "score_samples"):
        with pytest.raises(ValueError, match="3 features"):
            getattr(model, method)(np.zeros((2, 3)))
