"""Every estimator learns the same from a table and from its two samples, and knows rows by their place in the table."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    LeastSquaresPUClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    evaluate,
    evaluation,
)
from unlabeled.classifiers import wmmd
from unlabeled.datasets import make_gaussians
from unlabeled.engines import numba as numba_engine
from unlabeled.engines import reference
from unlabeled.priors import PRIORS, AutoPrior, DedpulPrior, DensityPrior, compare_priors, resolve_prior
from unlabeled.priors.comparison import compare
from unlabeled.samples import SCENARIOS, PUSample, Sample, random_split, split_samples
from unlabeled.scoring.scaling import different_scalings, standardised
from unlabeled.scoring.selection import loo_scores_at


def _network(**options):
    pytest.importorskip("torch")
    return NNPUClassifier(0.5, n_epochs=2, random_state=0, **options)


CLASSIFIERS = {
    "wmmd": lambda **options: WMMDClassifier(0.5, random_state=0, **options),
    "least-squares": lambda **options: LeastSquaresPUClassifier(0.5, **options),
    "score": lambda **options: ScoreWMMDClassifier(LogisticRegression(), prior=0.5, **options),
    "pu": lambda **options: PUClassifier(0.5, estimator=LogisticRegression(), **options),
    "convex": lambda **options: ConvexPUClassifier("logistic", 0.5, gamma=0.2, alpha=0.1, **options),
    "elkan-noto": lambda **options: ElkanNotoClassifier(LogisticRegression(), **options),
    "nnpu": _network,
}


@pytest.fixture(scope="module")
def data():
    return make_gaussians(40, 160, 20, prior=0.5, random_state=0)


def samples_of(data, scenario="case-control"):
    return split_samples(data.X, data.y == 1, scenario=scenario)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(data, name, scenario):
    of_table = CLASSIFIERS[name](scenario=scenario).fit(data.X, data.y)
    of_sample = CLASSIFIERS[name](scenario=scenario).fit_sample(samples_of(data, scenario))
    np.testing.assert_array_equal(of_sample.decision_function(data.test), of_table.decision_function(data.test))
    np.testing.assert_array_equal(of_sample.predict(data.test), of_table.predict(data.test))
    assert of_sample.classes_.tolist() == [0, 1]
    assert of_sample.n_features_in_ == 2
    with pytest.raises(ValueError, match="features"):
        of_sample.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("name", ["auto", "density", "best-bin", "dedpul", "km2", "elkan-noto"])
def test_prior_estimators(data, name):
    of_table, of_sample = (clone(PRIORS[name]) for _ in range(2))
    assert of_sample.fit_sample(samples_of(data)).prior_ == of_table.fit(data.X, data.y).prior_


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_samples_are_checked_as_tables_are(data, name):
    make, pu = CLASSIFIERS[name], samples_of(data)
    one = PUSample(Sample(data.X[:1]), pu.unlabeled)
    strange = PUSample(Sample(np.where(np.arange(40)[:, None] == 3, np.inf, data.X[:40])), pu.unlabeled)
    wide = PUSample(Sample(np.zeros((5, 3))), pu.unlabeled)
    for sample, message in ((one, "two are needed"), (strange, "infinity"), (wide, "they must agree")):
        with pytest.raises(ValueError, match=message):
            make().fit_sample(sample)
    with pytest.raises(ValueError, match="samples are single-sample, and the estimator is case-control"):
        make().fit_sample(samples_of(data, "single-sample"))


@pytest.mark.parametrize("name", ["wmmd", "least-squares", "score", "pu"])
def test_whole_numbers_and_weights_of_zero(data, name):
    X, weights = np.round(3 * data.X), np.where(np.arange(200) % 7 == 0, 0.0, 1.0)
    pu = PUSample(
        Sample(X[:40].astype(int), np.log(np.maximum(weights[:40], 1e-300)) + np.where(weights[:40] > 0, 0, -np.inf)),
        Sample(X[40:].astype(int), np.where(weights[40:] > 0, 0.0, -np.inf)),
    )
    of_sample = CLASSIFIERS[name]().fit_sample(pu)
    of_table = CLASSIFIERS[name]().fit(X, data.y, sample_weight=weights)
    np.testing.assert_allclose(of_sample.decision_function(data.test), of_table.decision_function(data.test), atol=1e-9)
    np.testing.assert_array_equal(of_sample.honest_scores_.positive_rows, of_table.honest_scores_.positive_rows)
    np.testing.assert_array_equal(of_sample.honest_scores_.unlabeled_rows, of_table.honest_scores_.unlabeled_rows)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "nnpu"])
def test_only_proportions_matter_of_weights_that_are_no_counts(data, name, scenario):
    weights = np.random.default_rng(0).lognormal(0, 0.5, 200)
    make = lambda: CLASSIFIERS[name](scenario=scenario)  # noqa: E731
    expected = make().fit(data.X, data.y, sample_weight=weights).decision_function(data.test)
    scaled = make().fit(data.X, data.y, sample_weight=50 * weights).decision_function(data.test)
    pu = split_samples(data.X, data.y == 1, np.log(weights / 9), scenario)
    np.testing.assert_allclose(scaled, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(make().fit_sample(pu).decision_function(data.test), expected, rtol=1e-5, atol=1e-6)
    plain = make().fit(data.X, data.y).decision_function(data.test)
    assert np.abs(expected - plain).max() > 1e-3
    all_alike = make().fit(data.X, data.y, sample_weight=np.full(200, 0.7))
    np.testing.assert_array_equal(all_alike.decision_function(data.test), plain)


def test_weights_that_are_no_counts_stand_for_the_effective_number_of_rows(data):
    """As many as would tell a mean as well: none for rows that hardly weigh anything."""
    weights = np.where(np.arange(200) % 2 == 0, 1.5, 1e-9)
    model = WMMDClassifier(0.5).fit(data.X, data.y, sample_weight=weights)
    assert model.honest_scores_.n_positive == pytest.approx(20)
    assert model.honest_scores_.n_unlabeled == pytest.approx(80)
    found = evaluate(model, data.X, data.y, sample_weight=weights)
    assert found.n_positives.value == pytest.approx(0.5 * 160)  # and there are as many as there are rows
    assert found == evaluate(model, data.X, data.y, sample_weight=7 * weights)
    counted = WMMDClassifier(0.5).fit(data.X, data.y, sample_weight=np.full(200, 2))
    assert counted.honest_scores_.n_positive == 80


def test_rows_that_are_in_no_table_are_numbered_positives_first(data):
    bare = PUSample(Sample(data.X[:40]), Sample(data.X[40:]))
    honest = WMMDClassifier(0.5).fit_sample(bare).honest_scores_
    assert honest.positive_rows.tolist() == list(range(40))
    assert honest.unlabeled_rows.tolist() == list(range(40, 200))
    with pytest.raises(ValueError, match="not in the sample"):
        samples_of(data).positive.places_of(np.array([3, 99]))


def test_a_network_takes_no_weights(data):
    pu = samples_of(data)
    weighted = PUSample(Sample(pu.positive.rows, np.full(40, 0.5)), pu.unlabeled)
    with pytest.raises(ValueError, match="takes no weights"):
        _network().fit_sample(weighted)


# --- rows are known by their place in the table ---


@pytest.mark.parametrize("name", ["wmmd", "least-squares", "score", "pu"])
def test_honest_scores_say_which_rows_they_are_of(data, name, rng):
    order = rng.permutation(200)
    y = data.y[order]
    honest = CLASSIFIERS[name]().fit(data.X[order], y).honest_scores_
    assert set(honest.positive_rows) == set(np.flatnonzero(y == 1))
    assert set(honest.unlabeled_rows) == set(np.flatnonzero(y == 0))


def test_rows_keep_their_numbers_wherever_they_go(rng):
    X, labelled = np.arange(20.0).reshape(10, 2), np.isin(np.arange(10), [2, 5, 6])
    pu = split_samples(X, labelled)
    assert pu.positive.row_numbers.tolist() == [2, 5, 6]
    taken = pu.take(np.array([2, 0]), np.array([1, 6]))
    assert taken.positive.row_numbers.tolist() == [6, 2]
    assert taken.unlabeled.row_numbers.tolist() == [1, 9]
    for sample in (pu.positive, pu.unlabeled, taken.positive, Sample(X), Sample(X).take(rng.permutation(10))):
        places = rng.permutation(len(sample))
        np.testing.assert_array_equal(sample.places_of(sample.row_numbers[places]), places)
    np.testing.assert_array_equal(pu.mapped(np.sqrt).unlabeled.row_numbers, pu.unlabeled.row_numbers)
    single = split_samples(X, labelled, scenario="single-sample").population
    np.testing.assert_array_equal(single.rows, X[single.row_numbers])


@pytest.mark.parametrize(("n_rows", "n_held"), [(1, 1), (2, 1), (5, 1), (6, 2), (100, 20)])
def test_the_papers_split(n_rows, n_held):
    kept, held = random_split(n_rows, np.random.RandomState(0))
    assert len(held) == n_held
    assert sorted([*kept, *held]) == list(range(n_rows))


# --- the prior is resolved in one place ---


def test_a_name_and_its_estimator_mean_the_same_everywhere(data):
    for name, instance in (("auto", AutoPrior()), ("density", DensityPrior())):
        for make in (WMMDClassifier, lambda prior: ScoreWMMDClassifier(LogisticRegression(), prior=prior)):
            by_name, by_instance = (make(prior).fit(data.X, data.y) for prior in (name, instance))
            assert by_name.prior_ == by_instance.prior_
            assert type(by_name.prior_estimator_) is type(by_instance.prior_estimator_) is type(instance)
            assert by_name.prior_estimator_.fit_scores(by_name.honest_scores_).prior_ > 0
        assert not hasattr(instance, "prior_")  # what was given is not touched


def test_an_estimator_with_a_kernel_or_a_classifier_of_its_own_uses_it(data):
    for prior in (DensityPrior(gamma=0.3), AutoPrior(LogisticRegression())):
        model = WMMDClassifier(prior).fit(data.X, data.y)
        assert model.prior_ == clone(prior).fit(data.X, data.y).prior_


def test_a_prior_as_a_number_and_its_estimator(data):
    pu = samples_of(data)
    assert resolve_prior(0.3, pu) == (0.3, None)
    value, estimator = resolve_prior("km2", pu)
    assert value == estimator.prior_
    scores = WMMDClassifier(0.5).fit(data.X, data.y).honest_scores_
    assert resolve_prior("auto", pu, scores).estimator.honest_scores_ is scores
    assert resolve_prior("auto", pu).estimator.honest_scores_ is not scores
    assert resolve_prior("best-bin", pu, scores).value == resolve_prior("best-bin", pu).value  # it reads rows


def test_the_density_based_prior_of_scores_has_an_interval(data):
    model = WMMDClassifier("density").fit(data.X, data.y)
    low, high = model.prior_estimator_.interval()
    assert 0 < low <= model.prior_ <= high <= 1
    again = model.prior_estimator_.fit(data.X, data.y)  # and from rows after all
    assert again.prior_ == DensityPrior().fit(data.X, data.y).prior_


def test_compared_priors(data):
    seen = []
    found = compare_priors(data.X, data.y, names=["best-bin", "density"], on_estimate=seen.append)
    assert seen == list(found.estimates) == ["best-bin", "density"]
    assert found.failures == {}
    for name, estimate in found.estimates.items():
        assert estimate.value == pytest.approx(clone(PRIORS[name]).fit(data.X, data.y).prior_)
        assert estimate.low <= estimate.high
    failed = compare([("dedpul", DedpulPrior(eta=2))], data.X, data.y, "case-control", seen.append)
    assert "eta" in failed.failures["dedpul"]
    few = compare_priors(data.X[[0, 1, 50, 51]], data.y[[0, 1, 50, 51]], names=["density", "best-bin"])
    assert all(estimate.high > 0.9 for estimate in few.estimates.values())
    assert "With 2 positives the prior cannot be told" in few.verdict
    with pytest.raises(ValueError, match="only one class"):
        compare_priors(data.X, np.zeros(200))


# --- kernel sums go to the engine that was asked for ---

MODELS = {
    "wmmd": WMMDClassifier,
    "score": lambda **options: ScoreWMMDClassifier(LogisticRegression(), **options),
    "pu": lambda **options: PUClassifier(estimator=LogisticRegression(), **options),
    **{
        name: lambda name=name, **options: clone(PRIORS[name]).set_params(**options)
        for name in ("auto", "density", "best-bin", "dedpul")
    },
    **{f"wmmd {name}": lambda name=name, **options: WMMDClassifier(name, **options) for name in ("dedpul", "density")},
}


@pytest.mark.parametrize("name", MODELS)
def test_engine_and_threads_reach_every_kernel_sum(data, name, monkeypatch):
    threads = []
    monkeypatch.setattr(
        numba_engine, "log_sums", lambda *_args, **_options: pytest.fail("another engine was asked for")
    )
    plain = reference.log_sums
    monkeypatch.setattr(
        reference, "log_sums", lambda *args, **options: threads.append(options["n_jobs"]) or plain(*args, **options)
    )
    model = MODELS[name](engine="reference", n_jobs=3).fit(data.X, data.y)
    if hasattr(model, "predict"):
        model.predict(data.test)
    assert len(threads) > 0
    assert set(threads) == {3}


# --- units ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_standardised_table_is_scored_in_one_unit_only(data, dtype, monkeypatch):
    jobs = []
    monkeypatch.setattr(wmmd, "loo_scores_at", lambda *given: jobs.append(1) or loo_scores_at(*given))
    standard = StandardScaler().fit_transform(data.X).astype(dtype)
    model = WMMDClassifier(0.5, scenario="single-sample").fit(standard, data.y)
    assert len(jobs) == 1
    assert model.scaling_.name == "standard"
    WMMDClassifier(0.5, scenario="single-sample").fit(data.X, data.y)
    assert len(jobs) == 3  # these are in units of their own: both are tried
    pu = samples_of(data)
    assert [scaling.name for scaling in different_scalings(("standard", "none"), pu)] == ["standard", "none"]
    scaled = standardised(pu).apply_to_samples(pu)
    assert [scaling.name for scaling in different_scalings(("standard", "none"), scaled)] == ["standard"]
    assert [scaling.name for scaling in different_scalings(("none",), scaled)] == ["none"]


# --- what to expect of a classifier ---


@pytest.mark.parametrize("name", ["wmmd", "least-squares", "score", "pu", "elkan-noto"])
def test_what_is_expected_of_new_rows(name):
    data = make_gaussians(150, 800, 4000, prior=0.5, separation=2.5, random_state=0)
    model = CLASSIFIERS[name]().fit(data.X, np.where(data.y == 1, "positive", "background"))
    found = evaluate(model, data.X, np.where(data.y == 1, "positive", "background"), prior=0.5)
    flagged = model.decision_function(data.test) > 0
    assert found.recall.value == pytest.approx(flagged[data.test_truth].mean(), abs=0.08)
    assert found.precision.value == pytest.approx(data.test_truth[flagged].mean(), abs=0.08)
    assert found.flagged_rate.value == pytest.approx(flagged.mean(), abs=0.06)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["score", "elkan-noto"])
def test_weights_count_as_repetitions(data, name, scenario):
    counts = np.where(data.y == 1, 1, 3)
    X, y = np.repeat(data.X, counts, axis=0), np.repeat(data.y, counts)
    make = lambda: CLASSIFIERS[name](scenario=scenario)  # noqa: E731
    weighted = evaluate(make().fit(data.X, data.y, sample_weight=counts), data.X, data.y, sample_weight=counts)
    repeated = evaluate(make().fit(X, y), X, y)
    tolerance = 1e-6 if name == "score" else 0.06  # folds of rows and of copies differ
    for share in ("recall", "precision", "flagged_rate", "roc_auc"):
        assert vars(getattr(weighted, share)) == pytest.approx(vars(getattr(repeated, share)), abs=tolerance)


def test_a_pipeline_is_evaluated_by_its_classifier(data):
    pipeline = make_pipeline(StandardScaler(), WMMDClassifier(0.5)).fit(data.X, data.y)
    scaled = StandardScaler().fit_transform(data.X)
    alone = WMMDClassifier(0.5).fit(scaled, data.y)
    assert evaluate(pipeline, data.X, data.y) == evaluate(alone, scaled, data.y)
    refitted = make_pipeline(StandardScaler(), ElkanNotoClassifier(LogisticRegression(), prior=0.5)).fit(data.X, data.y)
    assert 0.5 < evaluate(refitted, data.X, data.y).recall.value <= 1


def test_of_a_long_table_other_rows_than_the_first_are_scored(data, monkeypatch):
    order = np.lexsort((data.X[:, 0], -data.y))  # positives, then the others, each by a feature that tells
    X, y = data.X[order], data.y[order]
    model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(X, y)
    everything = evaluate(model, X, y).flagged_rate.value
    monkeypatch.setattr(evaluation, "MOST_SCORED", 15)
    assert evaluate(model, X, y).flagged_rate.value == pytest.approx(everything, abs=0.2)


def test_another_table_than_the_fitted_one_is_refused(data):
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    for rows in (slice(None, None, -1), slice(0, 150)):
        with pytest.raises(ValueError, match="not the table"):
            evaluate(model, data.X[rows], data.y[rows])


def test_too_few_rows_to_hold_any_out(data):
    few = np.r_[:2, 50:90]
    model = ElkanNotoClassifier(LogisticRegression(), prior=0.5).fit(data.X[few], data.y[few])
    assert evaluate(model, data.X[few], data.y[few]) is None
