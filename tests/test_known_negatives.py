"""Rows that are known to be negative: a third sample."""

import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score

from unlabeled import (
    ConvexPUClassifier,
    LeastSquaresPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    evaluate,
    explain,
    load,
    save,
)
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.adapting import LEVEL
from unlabeled.deciding.choice_of_negatives import NegativesWarning
from unlabeled.deciding.known_negatives import Line, PlainRatio, mixed
from unlabeled.deciding.scores import HonestScores
from unlabeled.labels import LabelWarning
from unlabeled.priors import BestBinPrior
from unlabeled.samples import PUSample, Sample

CLASSIFIERS = {
    "wmmd": WMMDClassifier,
    "least-squares": LeastSquaresPUClassifier,
    "score": lambda **how: ScoreWMMDClassifier(n_folds=2, **how),
    "pu": lambda **how: PUClassifier(parts={"score": "drop"}, **how),
}
SCENARIOS = ("single-sample", "case-control")
GAMMA = 0.5


def table(n=300, n_negatives=40, seed=0, easiest=False):
    """Rows, the truth, labels without and with known negatives."""
    rng = np.random.RandomState(seed)
    truth = rng.uniform(size=n) < 0.4
    X = rng.normal(size=(n, 3)) + 2 * truth[:, None] * np.array([1, 0.5, 0])
    y = (truth & (rng.uniform(size=n) < 0.2)).astype(int)
    negatives = np.flatnonzero(~truth)
    if easiest:
        negatives = negatives[np.argsort(X[negatives, 0])]
    three = y.copy()
    three[negatives[:n_negatives]] = -1
    return X, truth, y, three


def fit(name, scenario="single-sample", **how):
    X, _, _, three = table()
    return CLASSIFIERS[name](scenario=scenario, negative=-1, **how).fit(X, three)


# --- the formula ---


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_plain_score_has_a_third_kernel_mean(scenario):
    X, _, _, y = table(80, 20)
    prior, new = 0.4, np.random.RandomState(1).normal(size=(30, 3))
    how = {"gamma": GAMMA, "smoothing": 0, "scenario": scenario}
    model = WMMDClassifier(prior, negative=-1, **how).fit(X, y)
    kernel = np.exp(-GAMMA * cdist(new, X, "sqeuclidean"))
    of_p, of_n = (kernel[:, y == value].mean(axis=1) for value in (1, -1))
    of_u = kernel.mean(axis=1) if scenario == "single-sample" else kernel[:, y == 0].mean(axis=1)
    eta = model.known_negatives_.eta
    expected = of_p / (eta * of_u + (1 - eta) * (prior * of_p + (1 - prior) * of_n))
    np.testing.assert_allclose(model.score_samples(new), np.log(expected), atol=1e-6)
    assert 0 < eta < 1


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_honest_scores_are_those_of_a_fit_without_the_row(scenario):
    X, _, _, y = table(80, 12)
    how = {"gamma": GAMMA, "smoothing": 0, "scenario": scenario, "negative": -1}
    model = WMMDClassifier(0.4, **how).fit(X, y)
    known, honest = model.known_negatives_, model.honest_scores_
    of_rows = dict(zip(honest.positive_rows, honest.positive, strict=True))
    of_rows |= dict(zip(honest.unlabeled_rows, honest.unlabeled, strict=True))
    for row in [np.flatnonzero(y == value)[k] for value in (1, 0, -1) for k in (0, 3)]:
        kept = np.arange(len(y)) != row
        kernel = np.exp(-GAMMA * cdist(X[[row]], X[kept], "sqeuclidean"))[0]
        of_p, of_n = (kernel[y[kept] == value].mean() for value in (1, -1))
        of_u = kernel.mean() if scenario == "single-sample" else kernel[y[kept] == 0].mean()
        expected = of_p / (known.eta * of_u + (1 - known.eta) * (0.4 * of_p + 0.6 * of_n))
        assert of_rows[row] == pytest.approx(np.log(expected), abs=1e-6)


@given(st.floats(0, 1), st.floats(0.01, 0.99), st.lists(st.floats(-20, 20), min_size=2, max_size=6, unique=True))
def test_mixed_scores_lie_between_those_of_both_fits_and_rise_with_them(eta, prior, scores):
    scores = np.sort(scores)
    lines = Line(1.0, 0.3), Line(0.5, -0.2)
    inverses = [line.log_inverse(scores, prior) for line in lines]
    alone = [mixed(end, *inverses, prior) for end in (1.0, 0.0)]
    both = mixed(eta, *inverses, prior)
    assert (both <= np.maximum(*alone) + 1e-9).all()
    assert (both >= np.minimum(*alone) - 1e-9).all()
    assert (np.diff(both) >= -1e-12).all()
    assert (both <= -np.log(prior) + 1e-9).all()


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(-5, 5))
def test_a_plain_ratio_to_one_mixture_is_that_to_another(prior, share, log_odds):
    ratio = -np.log(share + (1 - share) * np.exp(-log_odds))
    expected = np.log(1 + (1 - prior) / prior * np.exp(-log_odds))
    assert PlainRatio(share).log_inverse(np.array([ratio]), prior)[0] == pytest.approx(expected, abs=1e-6)


def test_a_line_is_found_again():
    rng = np.random.RandomState(0)
    truth = rng.uniform(size=20_000) < 0.3
    scores = rng.normal(size=20_000) + 2 * truth  # log odds are 2 s - 2 and what the prior says
    honest = HonestScores(scores[truth], scores, np.ones(truth.sum()), np.ones(20_000))
    line = Line.fit(honest, 0.3)
    assert line.slope == pytest.approx(2, rel=0.2)
    assert line.intercept == pytest.approx(-2, abs=0.4)


# --- none, some, many ---


@pytest.mark.filterwarnings("ignore:negative=-1 is not in y")
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_without_negatives_answers_are_the_same_to_the_bit(name, scenario):
    X, _, y, _ = table(150)
    plain = CLASSIFIERS[name](scenario=scenario).fit(X, y)
    named = CLASSIFIERS[name](scenario=scenario, negative=-1, negatives_are="random").fit(X, y)
    assert named.known_negatives_ is None
    for method in ("score_samples", "predict", "predict_proba"):
        np.testing.assert_array_equal(getattr(plain, method)(X), getattr(named, method)(X))
    np.testing.assert_array_equal(plain.classes_, named.classes_)


@pytest.mark.filterwarnings("ignore:negative=-1 is not in y")
def test_negatives_help_and_many_come_near_to_positives_and_negatives_alone():
    """In the ranking and in accuracy, the threshold of positives and negatives alone being told the prior."""
    rng = np.random.RandomState(1)
    new_truth = rng.uniform(size=2000) < 0.4
    new = rng.normal(size=(2000, 3)) + 2 * new_truth[:, None] * np.array([1, 0.5, 0])
    areas, accuracies = defaultdict(list), defaultdict(list)

    def judge(name, scores, threshold):
        areas[name].append(roc_auc_score(new_truth, scores))
        accuracies[name].append(np.mean((scores > threshold) == new_truth))

    for seed in range(3):
        for n_negatives in (0, 500):
            X, _, _, y = table(1000, n_negatives, seed)
            model = WMMDClassifier(negative=-1, scenario="single-sample").fit(X, y)
            judge(n_negatives, model.score_samples(new), model.threshold_)
        only = y != 0
        share = float(np.mean(y[only] == 1))
        alone = WMMDClassifier(share, scenario="single-sample").fit(X[only], y[only] == 1)
        even = share * 0.6 / (share * 0.6 + (1 - share) * 0.4)  # an even chance in a population with a prior of 0.4
        judge("alone", alone.predict_proba(new)[:, 1], even)
    for found in (areas, accuracies):
        none, many, alone_ = (np.mean(found[key]) for key in (0, 500, "alone"))
        assert many > none - 0.002
        assert many > alone_ - 0.005


def test_random_negatives_mend_a_prior_that_biased_labels_make_too_small():
    rng = np.random.RandomState(0)
    truth = rng.uniform(size=1500) < 0.5
    X = rng.normal(size=(1500, 2)) + 3 * truth[:, None] * np.array([1, 0])
    y = (truth & (rng.uniform(size=1500) < 0.2)).astype(int)
    y[np.flatnonzero(~truth)[:150]] = -1
    model = WMMDClassifier(negative=-1, negatives_are="random", scenario="single-sample").fit(X, y)
    assert model.prior_ == pytest.approx(0.5, abs=0.06)
    low, high = model.prior_estimator_.interval()
    assert low <= 0.5 <= high
    inner = model.prior_estimator_.interval(0.5)
    assert low <= inner[0] <= model.prior_ <= inner[1] <= high


# --- how they were chosen ---


def test_negatives_that_were_picked_are_noticed():
    X, truth, y, _ = table(1500, seed=3)
    y[np.flatnonzero(~truth & (np.abs(X[:, 1]) > 1.2))[:150]] = -1
    X = X + 3 * truth[:, None] * np.array([1, 0, 0])
    picked = np.flatnonzero((y == 0) & ~truth)
    y[picked[np.argsort(-X[picked, 0])[:150]]] = -1  # those nearest to the positives
    with pytest.warns(NegativesWarning, match="random choice"):
        model = WMMDClassifier(negative=-1, scenario="single-sample", smoothing=0).fit(X, y)
    assert model.known_negatives_.weight == 0
    assert model.known_negatives_.p_value < LEVEL
    with warnings.catch_warnings():
        warnings.simplefilter("error", NegativesWarning)
        said = WMMDClassifier(negative=-1, scenario="single-sample", smoothing=0, negatives_are="selected").fit(X, y)
    np.testing.assert_array_equal(said.score_samples(X), model.score_samples(X))


def test_selected_negatives_have_no_say_in_the_prior():
    X, _, y, three = table()
    without = WMMDClassifier(scenario="single-sample").fit(X, y)
    model = WMMDClassifier(scenario="single-sample", negative=-1, negatives_are="selected").fit(X, three)
    assert model.prior_ == without.prior_
    assert model.known_negatives_.weight == 0
    half = WMMDClassifier(scenario="single-sample", negative=-1, negatives_are=0.5).fit(X, three)
    assert half.known_negatives_.weight == 0.5


# --- the contract ---


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_contract_holds_with_negatives(name, scenario, tmp_path):
    X, truth, _, y = table()
    model = fit(name, scenario)
    scores = model.score_samples(X)
    np.testing.assert_array_equal(model.decision_function(X), scores - model.threshold_)
    np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    assert set(model.predict(X)) == {-1, 1}
    assert np.mean((model.predict(X) == 1) == truth) > 0.8
    probability = model.predict_proba(X)[:, 1]
    assert ((probability > 0.5) == (model.predict(X) == 1)).all()
    assert (np.diff(probability[np.argsort(scores)]) >= -1e-12).all()
    save(model, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").score_samples(X), scores, atol=1e-6)
    assert model.honest_scores_.n_population > 0
    assert 0.5 < model.score(X, y) < 1


def test_score_leaves_negatives_out_unless_they_are_of_the_population():
    X, _, _, three = table()
    single, case = fit("wmmd", "single-sample"), fit("wmmd", "case-control")
    assert single.score(X, three) == single.score(X, np.where(three == 1, 1, 0))
    kept = three != -1
    assert case.score(X, three) == case.score(X[kept], three[kept])


def test_a_negative_twice_is_one_of_weight_two():
    X, _, _, y = table(120, 20)
    twice = np.flatnonzero(y == -1)[:7]
    weights = np.ones(len(y))
    weights[twice] = 2
    how = {"scenario": "single-sample", "negative": -1, "smoothing": 0, "prior": 0.4, "gamma": GAMMA}
    weighted = WMMDClassifier(**how).fit(X, y, sample_weight=weights)
    copied = WMMDClassifier(**how).fit(np.vstack([X, X[twice]]), np.r_[y, y[twice]])
    np.testing.assert_allclose(weighted.score_samples(X), copied.score_samples(X), atol=1e-9)
    assert weighted.threshold_ == pytest.approx(copied.threshold_, abs=1e-9)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_weights_that_are_no_counts_but_for_a_trace_are_no_weights(scenario):
    """Effective numbers of rows take the place of counts wherever known negatives come in."""
    X, _, _, y = table(120, 20)
    how = {"scenario": scenario, "negative": -1, "smoothing": 0, "prior": 0.4, "gamma": GAMMA}
    plain = WMMDClassifier(**how).fit(X, y)
    nearly = WMMDClassifier(**how).fit(X, y, sample_weight=np.where(np.arange(len(y)) % 2, 2.5, 2.5 + 1e-6))
    np.testing.assert_allclose(nearly.score_samples(X), plain.score_samples(X), atol=1e-5)
    assert nearly.known_negatives_.eta == pytest.approx(plain.known_negatives_.eta, abs=1e-5)
    assert nearly.known_negatives_.n_negatives == pytest.approx(20)
    assert nearly.threshold_ == pytest.approx(plain.threshold_, abs=1e-5)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_evaluation_counts_the_population(scenario):
    X, truth, _, y = table(600, 80)
    model = WMMDClassifier(scenario=scenario, negative=-1).fit(X, y)
    found = evaluate(model, X, y)
    n_population = len(y) if scenario == "single-sample" else (y == 0).sum()
    assert found.n_positives.value == pytest.approx(model.prior_ * n_population, rel=0.02)
    assert found.n_positives.low <= truth[y == 0].sum() + (scenario == "single-sample") * (y == 1).sum()
    assert 0 < found.precision.value <= 1


def test_adapting_and_data_frames():
    X, truth, _, y = table(500, 60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=np.where(X[:, 2] > 0, "up", "down"))
    labels = pd.Series(np.select([y == 1, y == -1], ["fraud", "cleared"], "")).astype(object)
    model = WMMDClassifier(scenario="single-sample", pos_label="fraud", negative="cleared").fit(frame, labels)
    assert set(model.predict(frame)) == {"fraud", "cleared"}
    assert model.adapt(frame[truth | (np.arange(500) % 3 == 0)], check=False).prior_ > model.prior_


def test_missing_labels_are_unlabeled_beside_negatives():
    X, _, _, y = table(200)
    labels = np.where(y == 0, np.nan, np.where(y == -1, 0.0, 1.0))
    found = WMMDClassifier(0.4, negative=0).fit(X, labels)
    assert found.known_negatives_.n_negatives == (y == -1).sum()
    np.testing.assert_array_equal(found.score_samples(X), WMMDClassifier(0.4, negative=-1).fit(X, y).score_samples(X))
    np.testing.assert_array_equal(found.classes_, [0, 1])


@pytest.mark.parametrize("negative", ["cleard", float("nan")])
def test_a_value_for_negatives_that_no_row_has_is_warned_of(negative):
    X, _, _, y = table(200)
    words = np.where(y == 1, "fraud", "").astype(object)
    with pytest.warns(LabelWarning, match=r"negative=.* is not in y: no row is known to be negative"):
        WMMDClassifier(0.4, pos_label="fraud", negative=negative).fit(X, words)


def test_samples_that_are_separated_already():
    X, _, _, y = table()
    pu = PUSample(*(Sample(X[y == value]) for value in (1, 0)), "single-sample", Sample(X[y == -1]))
    how = {"scenario": "single-sample", "smoothing": 0, "gamma": GAMMA, "prior": 0.4}
    by_sample, by_table = WMMDClassifier(**how).fit_sample(pu), WMMDClassifier(negative=-1, **how).fit(X, y)
    np.testing.assert_allclose(by_sample.score_samples(X), by_table.score_samples(X), atol=1e-9)
    with pytest.raises(ValueError, match="does not take known negatives"):
        BestBinPrior(scenario="single-sample").fit_sample(pu)


# --- errors ---


@pytest.mark.parametrize(
    ("y", "how", "message"),
    [
        ([1, 1, 0, 0, -1, -1], {}, r"name it by negative="),
        ([1, 1, 0, 0, -1, -1], {"negative": 1, "pos_label": 1}, "the same value"),
        ([1, 1, -1, -1, -1, -1], {"negative": -1}, "both positives and unlabeled rows are needed"),
        ([1, 1, 0, 0, 0, -1], {"negative": -1}, "Only one known negative counts"),
        ([1, 1, 0, 0, -1, -1], {"negative": -1, "negatives_are": "often"}, "negatives_are='often' is not known"),
        ([1, 1, 0, 0, -1, -1], {"negative": -1, "negatives_are": 2.0}, "negatives_are=2.0"),
        ([1, 1, 0, 0, -1, -1], {"negative": -1, "selection": "holdout"}, "selection='loo'"),
        ([1, 1, 0, 2, -1, -1], {"negative": -1}, "y has 3 values"),
    ],
)
def test_errors_say_what_to_do(y, how, message):
    X = np.random.RandomState(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=message):
        WMMDClassifier(0.5, **how).fit(X, y)


def test_what_cannot_take_negatives_says_so():
    X, _, _, y = table()
    with pytest.raises(ValueError, match="which PUClassifier, its parts, ScarTest and pu_scorer have"):
        ConvexPUClassifier(0.5).fit(X, y)
    model = fit("wmmd", smoothing=0)
    with pytest.raises(ValueError, match="without known negatives"):
        model.witness(X)
    with pytest.raises(ValueError, match="fit without negative="):
        explain(model, X[0])


# --- compression ---


@pytest.mark.parametrize("target", [1500, 2.0])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_target_is_for_the_population_and_not_for_the_few_negatives(scenario, target):
    """Some tens of negatives can be thinned to no target."""
    X, _, _, three = table(3000)
    how = {"prior": 0.4, "scenario": scenario, "gamma": GAMMA, "negative": -1, "negatives_are": "random"}
    plain, small = (WMMDClassifier(**how, compress=compress).fit(X, three) for compress in (None, target))
    assert small.compression_.n_rows < small.compression_.n_rows_before
    assert small.known_negatives_.model.compression_ is None
    change = np.abs(small.score_samples(X[:500]) - plain.score_samples(X[:500]))
    assert 0 < np.median(change) < 0.2
    assert plain.compressed(target).compression_.largest_change == small.compression_.largest_change


@pytest.mark.parametrize("kind", [WMMDClassifier, PUClassifier])
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("n_negatives", [2, 3])
def test_few_negatives_do_no_harm(kind, scenario, n_negatives):
    """Far from all of them the fit to positives and negatives knows nothing, but which of its rows are positive."""
    for seed in range(2):
        data = make_gaussians(200, 600, 400, prior=0.4, separation=3, random_state=seed)
        others = make_gaussians(1, 800, 10, prior=0.01, separation=3, random_state=1000 + seed)
        negatives = others.unlabeled[~others.unlabeled_truth][:n_negatives]
        X, y = np.vstack([data.X, negatives]), np.append(data.y, np.full(n_negatives, -1))
        without = kind(0.4, scenario=scenario, random_state=0).fit(data.X, data.y)
        model = kind(0.4, scenario=scenario, negative=-1, random_state=0).fit(X, y)
        assert model.known_negatives_.eta >= 5 / (n_negatives + 5)
        areas = [roc_auc_score(data.test_truth, one.score_samples(data.test)) for one in (model, without)]
        right = [((one.predict(data.test) == 1) == data.test_truth).mean() for one in (model, without)]
        assert areas[0] > areas[1] - 0.01
        assert right[0] > right[1] - 0.03
