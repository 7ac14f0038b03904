"""Missing values (NaN) in arrays: learned as such, filled in for distances, told where that tells, and counted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    explain,
    load,
    save,
)
from unlabeled.datasets import make_gaussians
from unlabeled.priors import PRIORS
from unlabeled.samples import PUSample, Sample, order_by_values
from unlabeled.scoring.binning import MOST_STEPS, Steps
from unlabeled.scoring.forms import JUMP, Completion, center_and_scale, median
from unlabeled.scoring.scaling import standardised

CLASSIFIERS = {
    "auto": PUClassifier(0.4),
    "wmmd": WMMDClassifier(0.4),
    "wmmd-raw": WMMDClassifier(0.4, scale="none"),
    "score": ScoreWMMDClassifier(prior=0.4),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(scope="module")
def data():
    return make_gaussians(100, 400, 1500, prior=0.4, n_features=6, separation=2.5, random_state=0)


def is_positive(data):
    """The hidden truth of the training rows."""
    return np.append(np.ones(int(data.y.sum()), dtype=bool), data.unlabeled_truth)


def with_gaps(rows, share, seed=0, truth=None):
    """Some values missing: completely at random or, where the truth is given, more often in positives."""
    rng = np.random.default_rng(seed)
    shares = share if truth is None else np.where(truth, 1.6 * share, 0.4 * share)[:, None]
    return np.where(rng.uniform(size=rows.shape) < shares, np.nan, rows)


@pytest.fixture(scope="module")
def gappy(data):
    return with_gaps(data.X, 0.2), with_gaps(data.test, 0.2, seed=1)


@pytest.fixture(scope="module", params=CLASSIFIERS)
def model(request, data, gappy):
    return CLASSIFIERS[request.param].fit(gappy[0], data.y)


# --- every answer of a model ---


def test_all_answers(model, gappy):
    table, test = gappy
    np.testing.assert_array_equal(model.n_missing_, np.isnan(table).sum(axis=0))
    scores, probability = model.score_samples(test), model.predict_proba(test)
    assert np.isfinite(scores).all()
    assert np.isfinite(probability).all()
    np.testing.assert_array_equal(model.predict(test) == 1, scores > model.threshold_)
    np.testing.assert_allclose(model.score_samples(test[:1]), scores[:1])


def test_explanations_sum_up(model, gappy):
    for row in gappy[1][:5]:
        found = explain(model, row)
        assert found.score == pytest.approx(model.score_samples([row])[0])
        for reasons in found.reasons:
            if reasons.by == "distances":
                parts = reasons.made_of
                assert parts.by_feature.shape == (6,)
                assert parts.by_feature.sum() + parts.crowding == pytest.approx(parts.score, abs=1e-5)


def test_saved_and_loaded(model, gappy, tmp_path):
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_allclose(loaded.score_samples(gappy[1]), model.score_samples(gappy[1]), atol=2e-6)
    np.testing.assert_array_equal(loaded.predict(gappy[1]), model.predict(gappy[1]))
    np.testing.assert_array_equal(loaded.n_missing_, model.n_missing_)


def test_compressed(data, gappy):
    model = WMMDClassifier(0.4).fit(gappy[0], data.y)
    np.testing.assert_allclose(model.compressed("copies").score_samples(gappy[1]), model.score_samples(gappy[1]))


@pytest.mark.parametrize("name", ["auto", "wmmd", "score"])
def test_scikit_learn_is_told(name):
    assert get_tags(CLASSIFIERS[name]).input_tags.allow_nan
    assert get_tags(CLASSIFIERS[name]).input_tags.sparse


@pytest.mark.parametrize("name", ["auto", "wmmd", "score"])
def test_infinity_stays_an_error(name, data, gappy):
    table = gappy[0].copy()
    table[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        CLASSIFIERS[name].fit(table, data.y)


@pytest.mark.parametrize("make", [pd.DataFrame, lambda rows: pd.DataFrame(rows).convert_dtypes(), pl.DataFrame])
def test_missing_values_of_data_frames(data, gappy, make):
    """Also where a frame has a mark of its own for them, such as null."""
    names = [f"x{place}" for place in range(6)]
    frame = make({name: values.tolist() for name, values in zip(names, gappy[0].T, strict=True)})
    if isinstance(frame, pl.DataFrame):
        frame = frame.fill_nan(None)
    framed, plain = (WMMDClassifier(0.4, smoothing=0).fit(X, data.y) for X in (frame, gappy[0]))
    np.testing.assert_array_equal(framed.n_missing_, plain.n_missing_)
    np.testing.assert_allclose(framed.score_samples(frame), plain.score_samples(gappy[0]))


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
@pytest.mark.parametrize("name", PRIORS)
def test_estimates_of_the_prior(name, data, gappy):
    """By every method, and not far from what complete rows say; as the prior of a classifier, too."""
    found, complete = (clone(PRIORS[name]).fit(X, data.y) for X in (gappy[0], data.X))
    assert found.prior_ == pytest.approx(complete.prior_, abs=0.2)
    assert found.n_missing_.sum() == np.isnan(gappy[0]).sum()
    if not found.reads_scores:
        assert WMMDClassifier(name, smoothing=0).fit(gappy[0], data.y).prior_ == found.prior_


# --- those that do not take them ---


@pytest.mark.parametrize("model", [ConvexPUClassifier(), NNPUClassifier(), ElkanNotoClassifier()])
def test_the_error_says_what_to_do(model, data, gappy):
    with pytest.raises(ValueError, match=r"X contains NaN: [\d,]+ of 3,000 values.*in 6 of 6 features.*SimpleImputer"):
        model.fit(gappy[0], data.y)
    assert not get_tags(model).input_tags.allow_nan


def test_new_rows_too(data, gappy):
    model = ElkanNotoClassifier(n_folds=2).fit(data.X, data.y)
    with pytest.raises(ValueError, match="PUClassifier, WMMDClassifier and ScoreWMMDClassifier do"):
        model.predict(gappy[1])


@pytest.mark.parametrize("kind", [ScoreWMMDClassifier, PUClassifier, ElkanNotoClassifier])
def test_a_classifier_of_yours_has_the_last_word(kind, data, gappy):
    with pytest.raises(ValueError, match="LogisticRegression does not accept missing values"):
        kind(estimator=LogisticRegression(), prior=0.4).fit(gappy[0], data.y)
    able = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression())
    model = kind(estimator=able, prior=0.4).fit(gappy[0], data.y)
    assert np.isfinite(model.score_samples(gappy[1])).all()
    assert not get_tags(kind(estimator=LogisticRegression())).input_tags.allow_nan


# --- how much is lost, and what missing values tell ---


def areas(table, test, data):
    """Under the ROC curve, by distances and by boosted trees."""
    models = WMMDClassifier(0.4), ScoreWMMDClassifier(prior=0.4)
    return [roc_auc_score(data.test_truth, model.fit(table, data.y).score_samples(test)) for model in models]


@pytest.mark.parametrize(("share", "loss"), [(0.05, 0.02), (0.2, 0.06), (0.5, 0.2)])
def test_completely_at_random(data, share, loss):
    """About the share of the information that is lost: complete rows have areas of 0.95 and 0.92."""
    complete = areas(data.X, data.test, data)
    found = areas(with_gaps(data.X, share), with_gaps(data.test, share, seed=1), data)
    assert min(np.subtract(found, complete)) > -loss


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_where_missing_values_tell_the_columns_of_them_help(data, share, monkeypatch):
    table = with_gaps(data.X, share, truth=is_positive(data))
    test = with_gaps(data.test, share, seed=1, truth=data.test_truth)
    told = areas(table, test, data)
    make = Completion.of
    with monkeypatch.context() as patched:
        patched.setattr(Completion, "of", lambda pu: replace(make(pu), told=np.arange(0), jumps=np.zeros(0)))
        distances = WMMDClassifier(0.4).fit(table, data.y).score_samples(test)
    assert told[0] > roc_auc_score(data.test_truth, distances) + 0.02
    at_random = areas(with_gaps(data.X, share), with_gaps(data.test, share, seed=1), data)
    assert min(np.subtract(told, at_random)) > 0


# --- how values are filled in ---


def test_what_was_never_missing_in_training_is_the_median(data):
    model = WMMDClassifier(0.4).fit(data.X, data.y)
    row = data.test[:1].copy()
    row[0, 2] = np.nan
    filled = row.copy()
    filled[0, 2] = np.median(data.X[data.y == 0, 2])  # of the population
    np.testing.assert_allclose(model.score_samples(row), model.score_samples(filled))
    assert not model.n_missing_.any()


def test_a_feature_without_any_value_says_nothing(data):
    empty = np.full((len(data.X), 1), np.nan)
    plain, wider = (WMMDClassifier(0.4).fit(X, data.y) for X in (data.X, np.hstack([data.X, empty])))
    for value in (np.nan, 0.0, 1e9):
        test = np.hstack([data.test, np.full((len(data.test), 1), value)])
        np.testing.assert_allclose(wider.score_samples(test), plain.score_samples(data.test))
    everything = PUClassifier(0.4).fit(np.hstack([data.X, empty]), data.y)
    assert np.isfinite(everything.score_samples(test)).all()


def test_columns_of_missing_values_are_in_the_units_of_their_feature(rng):
    """One standard deviation, however rare; and in raw units in those of the feature."""
    rows = rng.normal(size=(1000, 3)) * [1, 100, 1]
    rows[:5, 1] = np.nan
    pu = PUSample(Sample(rows[500:]), Sample(rows[:500]))
    scaling = standardised(pu)
    scaled = scaling.apply(rows[:500])
    assert scaled.shape == (500, 4)
    assert set(scaled[:, 3]) == {0, JUMP}
    np.testing.assert_allclose(np.nanmean(rows[:500], axis=0), scaling.center[:3])
    np.testing.assert_allclose(scaled[5:, :3].std(axis=0)[[1]], 1)
    raw = scaling.form.apply(rows[:1])
    assert raw[0, 1] == pytest.approx(np.nanmedian(rows[:500, 1]))
    assert raw[0, 3] == pytest.approx(JUMP * np.nanstd(rows[:500, 1]))


def test_a_feature_that_only_positives_have(rng):
    rows = rng.normal(5, 1, size=(100, 2))
    unlabeled = rows.copy()
    unlabeled[:, 1] = np.nan
    form = Completion.of(PUSample(Sample(rows), Sample(unlabeled)))
    assert form.medians[1] == pytest.approx(np.median(rows[:, 1]))
    assert form.told.tolist() == [1]


def test_single_precision_stays(data, gappy):
    single = WMMDClassifier(0.4).fit(gappy[0].astype(np.float32), data.y)
    assert single.sample_.positive.rows.dtype == np.float32
    double = WMMDClassifier(0.4).fit(gappy[0], data.y)
    np.testing.assert_allclose(single.score_samples(gappy[1]), double.score_samples(gappy[1]), atol=1e-3)


@given(st.integers(0, 10_000))
def test_median_and_units_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    rows, counts = with_gaps(rng.normal(size=(30, 3)), 0.3, seed), rng.integers(1, 4, 30)
    rows[0] = 1.0
    repeated = np.repeat(rows, counts, axis=0)
    for feature, copies in zip(rows.T, repeated.T, strict=True):
        assert median(feature, counts.astype(float)) == pytest.approx(np.nanmedian(copies))
    center, scale = center_and_scale(rows, counts.astype(float))
    np.testing.assert_allclose(center, np.nanmean(repeated, axis=0))
    np.testing.assert_allclose(scale, np.nanstd(repeated, axis=0))


# --- what holds for complete rows holds here ---


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    data = make_gaussians(25, 60, 20, n_features=3, random_state=seed)
    table, counts = with_gaps(data.X, 0.3, seed), rng.integers(1, 3, len(data.X))
    table[:30, 0] = np.nan  # ties in the first feature
    order = rng.permutation(counts.sum())
    for model in (WMMDClassifier(0.5), ScoreWMMDClassifier(prior=0.5, n_folds=2)):
        weighted = model.fit(table, data.y, sample_weight=counts).score_samples(data.test)
        repeated = model.fit(np.repeat(table, counts, axis=0)[order], np.repeat(data.y, counts)[order])
        np.testing.assert_allclose(repeated.score_samples(data.test), weighted, atol=1e-5)


def test_the_order_by_values_puts_copies_together(rng):
    rows = np.array([[np.nan, 2.0], [1.0, np.nan], [np.nan, 1.0], [1.0, np.nan], [np.nan, 2.0]])
    for _ in range(5):
        shuffled = rows[rng.permutation(5)]
        expected = [[1.0, np.nan], [1.0, np.nan], [np.nan, 1.0], [np.nan, 2.0], [np.nan, 2.0]]
        np.testing.assert_array_equal(shuffled[order_by_values(shuffled)], expected)


def test_steps_keep_missing_values(rng):
    rows = with_gaps(np.c_[rng.normal(size=2000), rng.integers(0, 9, 2000)], 0.3)
    steps = Steps.of(rows, np.ones(2000))
    stepped = steps.apply(rows)
    np.testing.assert_array_equal(np.isnan(stepped), np.isnan(rows))
    present = stepped[~np.isnan(rows[:, 0]), 0]
    assert set(present) == set(range(MOST_STEPS))
    assert np.ptp(np.bincount(present.astype(int))) <= 2
    np.testing.assert_array_equal(stepped[:, 1], rows[:, 1])


def test_a_feature_with_few_values_may_have_none_in_a_fold(data):
    """Trees are not fitted to a feature without any value; and a value that only positives have tells a lot."""
    rare = np.full(len(data.X), np.nan)
    rare[:3] = -1e300, 5.0, 7.0
    model = ScoreWMMDClassifier(prior=0.4).fit(np.column_stack([data.X, rare]), data.y)
    assert np.isfinite(model.score_samples(np.column_stack([data.test, np.full(len(data.test), np.nan)]))).all()
    steps = Steps.of(np.column_stack([rare, np.full(len(rare), np.nan)]), np.ones(len(rare)))
    np.testing.assert_array_equal(steps.apply(np.array([[np.nan, np.nan], [5.0, 3.0]])), [[-2e300, -1], [5, 3]])
