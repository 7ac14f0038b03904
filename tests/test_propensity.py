"""Classifiers for labels that depend on features, against closed forms, slow definitions and labels at random."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled import (
    Balanced,
    PropensityEMClassifier,
    PropensityWMMDClassifier,
    PUClassifier,
    TwoClusters,
    WMMDClassifier,
    evaluate,
    load,
    save,
)
from unlabeled.bias import ScarTest, choose_classifier
from unlabeled.classifiers.propensity_em import _as_both
from unlabeled.classifiers.propensity_wmmd import effective_number
from unlabeled.datasets import ByColumn, LogisticIn, draw_pu
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.clusters import cut_between, equal_densities, farthest_means, two_gaussians
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import place_threshold
from unlabeled.labels import LabelWarning
from unlabeled.scoring.cross_fitting import Pool


@parametrize_with_checks(
    [PropensityEMClassifier(tol=0.02, max_iter=20, scenario="single-sample"), PropensityWMMDClassifier(0.5, prior=0.4)]
)
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


SCHEME = LogisticIn([1], [1.2], 0.3)


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    truth = rng.uniform(size=4000) < 0.5
    X = rng.normal(size=(4000, 2))
    X[:, 0] += 3 * truth
    return X, truth


@pytest.fixture(scope="module")
def data(table):
    return draw_pu(*table, 0, 1600, 1000, 0.5, scenario="single-sample", propensity=SCHEME, random_state=0)


def true_propensity(rows):
    """The scheme's, for a column with mean 0 and standard deviation 1 among the positives."""
    return expit(1.2 * rows[:, 1] - 1.08)


def accuracy(model, data):
    return balanced_accuracy_score(data.test_truth, model.predict(data.test) == 1)


# --- expectation maximisation ---


def test_class_and_propensity_are_found(data):
    model = PropensityEMClassifier([1], scenario="single-sample").fit(data.X, data.y)
    assert accuracy(model, data) > 0.91  # Bayes' rule has 0.933
    assert model.prior_ == pytest.approx(0.5, abs=0.06)
    found, exact = model.propensities(data.test), true_propensity(data.test)
    assert np.abs(found - exact).mean() < 0.08
    assert model.n_iter_ > 1
    np.testing.assert_array_equal(model.predict(data.test) == 1, model.predict_proba(data.test)[:, 1] > 0.5)


def log_likelihood(model, data):
    chance = model.predict_proba(data.X)[:, 1] * model.propensities(data.X)
    return np.where(data.y == 1, np.log(chance), np.log1p(-chance)).sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_round_lowers_the_likelihood(data):
    """With classifiers that maximise it: a logistic regression without a penalty."""
    exact = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8)
    values = [
        log_likelihood(
            PropensityEMClassifier([1], classifier=exact, propensity=exact, max_iter=n, scenario="single-sample").fit(
                data.X, data.y
            ),
            data,
        )
        for n in (1, 2, 4, 8)
    ]
    assert np.all(np.diff(values) > -1e-6)


def test_each_row_counts_as_both_classes(rng):
    pool = Pool(rng.normal(size=(5, 2)), np.array([True, False, False, False, False]), np.full(5, 2.0), np.arange(5))
    both = _as_both(pool, np.array([1.0, 0.25, 0.0, 0.5, 0.75]))
    assert both.weights.sum() == pytest.approx(10)
    assert both.weights[both.labelled].sum() == pytest.approx(5)
    assert len(both) == 8  # no weight, no row


def test_a_case_control_table_speaks_of_its_unlabeled_rows(table):
    X, truth = table
    rng = np.random.RandomState(1)
    positives = rng.permutation(np.flatnonzero(truth))[:1000]
    added = positives[rng.uniform(size=1000) < true_propensity(X[positives])]
    rest = np.setdiff1d(np.arange(len(X)), positives)
    negatives = rest[~truth[rest]]
    unlabeled = np.r_[rest[truth[rest]], negatives[:800]]
    model = PropensityEMClassifier([1]).fit(X[np.r_[added, unlabeled]], np.repeat([1, 0], [len(added), len(unlabeled)]))
    share = truth[unlabeled].mean()
    assert model.prior_ == pytest.approx(share, abs=0.06)
    assert model.predict_proba(X[unlabeled])[:, 1].mean() == pytest.approx(model.prior_, abs=0.02)


def test_any_two_classifiers_and_names_of_columns(data):
    frame = pd.DataFrame(data.X, columns=["size", "place"])
    model = PropensityEMClassifier(
        ["place"], classifier=GaussianNB(), scenario="single-sample", tol=1e-3, max_iter=500
    ).fit(frame, data.y)
    assert list(model.columns_) == [1]
    assert balanced_accuracy_score(data.test_truth, model.predict(pd.DataFrame(data.test, columns=frame.columns))) > 0.9


@pytest.fixture(scope="module")
def words():
    """Labels depend on a column of words, which becomes three features after those of the other columns."""
    pl = pytest.importorskip("polars")
    rng = np.random.RandomState(0)
    truth = rng.uniform(size=600) < 0.5
    branch = np.array(["north", "south", "west"])[rng.randint(3, size=600)]
    y = truth & (rng.uniform(size=600) < np.where(branch == "north", 0.7, 0.1))
    numbers = rng.normal(size=(600, 2)) + 3 * truth[:, None] * np.array([1, 0])
    columns = {"id": np.arange(600) * 7 + 3, "branch": branch, "size": numbers[:, 0], "place": numbers[:, 1]}
    return pl.DataFrame(columns), y, branch


def test_a_column_of_words_is_all_its_features(words):
    frame, y, branch = words
    model = PropensityEMClassifier(["branch"], scenario="single-sample", tol=1e-2).fit(frame, y)
    names = model.encoder_.get_feature_names_out()[model.columns_]
    assert list(names) == ["branch_north", "branch_south", "branch_west"]
    found = model.propensities(frame)
    assert found[branch == "north"].mean() > 2 * found[branch != "north"].mean()
    by_place = PropensityEMClassifier([1], scenario="single-sample", tol=1e-2).fit(frame, y)
    np.testing.assert_array_equal(by_place.columns_, model.columns_)
    weighted = PropensityWMMDClassifier(
        PropensityEMClassifier(["branch"], tol=1e-2), prior=0.5, scenario="single-sample"
    ).fit(frame, y)
    np.testing.assert_array_equal(weighted.propensity_estimator_.columns_, model.columns_)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["id"], "Column 'id' was left out of the features"),
        ([4], r"no column 4 for the propensity: X has the columns \['id', 'branch'"),
        (["north"], "no column 'north'"),
    ],
)
def test_columns_of_a_frame_with_words_that_do_not_exist(columns, message, words):
    frame, y, _ = words
    for model in (PropensityEMClassifier(columns), PropensityWMMDClassifier(PropensityEMClassifier(columns))):
        with pytest.raises(ValueError, match=message):
            model.fit(frame, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age"]}, "There is no column 'age' for the propensity: X has 2 columns"),
        ({"columns": [2]}, "There is no column 2"),
        ({"columns": []}, "columns is empty"),
        ({"columns": "ab"}, r"columns='ab' is not a list; write columns=\['ab'\]"),
        ({"columns": 1}, r"columns=1 is not a list; write columns=\[1\]"),
        ({"max_iter": 0}, "whole number above 0; got 0"),
        ({"tol": 0}, "above 0; got 0"),
    ],
)
def test_errors_of_the_em(options, message, data):
    with pytest.raises(ValueError, match=message):
        PropensityEMClassifier(**options).fit(data.X, data.y)


def test_too_few_rounds_are_told(data):
    with pytest.warns(ConvergenceWarning, match="after 2 rounds"):
        PropensityEMClassifier(max_iter=2).fit(data.X, data.y)


# --- weighted kernel means ---


@pytest.mark.parametrize("scenario", ["single-sample", "case-control"])
def test_the_score_is_a_ratio_of_weighted_means(scenario, rng):
    positive, unlabeled, new = rng.normal(1, 1, (12, 2)), rng.normal(0, 1, (30, 2)), rng.normal(size=(7, 2))
    X, y = np.vstack([positive, unlabeled]), np.repeat([1, 0], [12, 30])
    e = rng.uniform(0.2, 0.9, 12)
    model = PropensityWMMDClassifier(lambda _: e, prior=0.5, gamma=0.3, scenario=scenario).fit(X, y)
    population = X if scenario == "single-sample" else unlabeled
    center, scale = population.mean(axis=0), population.std(axis=0)

    def kernel(a, b):
        return np.exp(-0.3 * (((a[:, None] - b) / scale) ** 2).sum(axis=-1))

    def score(rows, weights, others):
        return np.log(kernel(rows, positive) @ weights / weights.sum()) - np.log(kernel(rows, others).mean(axis=1))

    assert center.shape == (2,)
    np.testing.assert_allclose(model.score_samples(new), score(new, 1 / e, population), rtol=1e-6)
    # Without a row, by definition.
    honest = model.honest_scores_
    for place in range(12):
        weights = np.where(np.arange(12) == place, 0, 1 / e)
        others = np.delete(X, place, axis=0) if scenario == "single-sample" else unlabeled
        np.testing.assert_allclose(honest.positive[place], score(positive[[place]], weights, others)[0], rtol=1e-6)
    first = 12 if scenario == "single-sample" else 0
    np.testing.assert_allclose(
        honest.unlabeled[first], score(unlabeled[:1], 1 / e, np.delete(population, first, axis=0))[0], rtol=1e-6
    )
    assert honest.n_positive == pytest.approx((1 / e).sum() ** 2 / (1 / e**2).sum())
    assert model.n_effective_ == pytest.approx(honest.n_positive)


def test_labels_at_random_are_the_plain_ratio(data):
    plain = WMMDClassifier(0.5, scale="standard", smoothing=0, scenario="single-sample").fit(data.X, data.y)
    same = PropensityWMMDClassifier(0.7, prior=0.5, gamma=plain.gamma_, scenario="single-sample").fit(data.X, data.y)
    np.testing.assert_allclose(same.score_samples(data.test), plain.score_samples(data.test), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(same.honest_scores_.positive, plain.honest_scores_.positive, rtol=1e-5, atol=1e-6)
    assert same.n_effective_ == pytest.approx((data.y == 1).sum())


def test_weights_mend_what_bias_spoils(data):
    plain, known = (
        PropensityWMMDClassifier(e, scenario="single-sample").fit(data.X, data.y) for e in (0.5, true_propensity)
    )
    assert known.prior_ > plain.prior_ + 0.05
    assert known.prior_ == pytest.approx(0.5, abs=0.1)
    areas = [roc_auc_score(data.test_truth, model.decision_function(data.test)) for model in (plain, known)]
    assert areas[1] > areas[0]
    assert known.n_effective_ < (data.y == 1).sum() / 2
    estimated = PropensityWMMDClassifier(PropensityEMClassifier([1]), scenario="single-sample").fit(data.X, data.y)
    assert estimated.prior_ == pytest.approx(0.5, abs=0.12)
    assert accuracy(estimated, data) > accuracy(plain, data)


@pytest.mark.parametrize("prior", ["auto", "best-bin"])
def test_no_prior_is_below_the_labelled_share(table, prior):
    """Labelled rows are known to be positive, whatever a propensity makes of the others."""
    X, truth = (values[:1500] for values in table)
    chance = np.where(X[:, 0] > 3, 0.95, 0.02)
    y = truth & (np.random.RandomState(0).uniform(size=len(X)) < chance)
    model = PropensityWMMDClassifier(0.9, prior=prior, scenario="single-sample").fit(X, y)
    assert y.mean() <= model.prior_ <= 1
    low, high = model.prior_estimator_.interval()
    assert y.mean() <= low <= model.prior_ <= high
    low, _ = model.prior_estimator_.interval(0.5)
    assert low >= y.mean()


def test_priors_of_another_sample_may_be_below_the_labelled_share(data):
    """In the case-control scenario the labelled rows are none of the population."""
    few = np.concatenate([data.positive, data.unlabeled[:20]])
    y = np.repeat([1, 0], [len(data.positive), 20])
    assert PropensityWMMDClassifier(0.5).fit(few, y).prior_ < y.mean()


def test_recall_to_expect_is_that_of_all_positives(data):
    model = PropensityWMMDClassifier(true_propensity, prior=0.5, scenario="single-sample").fit(data.X, data.y)
    recall = np.mean(model.predict(data.test[data.test_truth]) == 1)
    found = evaluate(model, data.X, data.y).recall
    assert found.low <= recall <= found.high


def test_small_propensities_are_clipped_and_told(data):
    with pytest.warns(UserWarning, match="outweigh all others"):
        model = PropensityWMMDClassifier(lambda rows: np.where(rows[:, 1] > 1, 1, 1e-4), scenario="single-sample").fit(
            data.X, data.y
        )
    assert model.propensities_.min() == 0.02


@pytest.mark.parametrize(
    ("propensity", "message"),
    [
        (0.0, r"a probability in \(0, 1\]"),
        (1.2, r"in \(0, 1\].*1\.2"),
        (lambda rows: rows, "one a row"),
        (True, "propensity=True is not known"),
        (
            np.full(40, 0.5),
            r"propensity=an array of shape \(40,\) is not known; use a number, a function that is given",
        ),
        (PropensityEMClassifier("ab"), "columns='ab' is not a list"),
        (lambda rows: np.full(len(rows), np.nan), r"in \(0, 1\]"),
        ("auto", "propensity='auto' is not known; use a number, a function .* or a PropensityEMClassifier"),
    ],
)
def test_errors_of_the_weights(propensity, message, data):
    with pytest.raises(ValueError, match=message):
        PropensityWMMDClassifier(propensity).fit(data.X, data.y)


def test_a_thinned_out_sample_scores_alike(data):
    whole, some = (
        PropensityWMMDClassifier(
            true_propensity, prior=0.5, max_evaluations=n, random_state=0, scenario="single-sample"
        )
        for n in (None, 300)
    )
    np.testing.assert_allclose(whole.fit(data.X, data.y).threshold_, some.fit(data.X, data.y).threshold_, atol=0.4)
    assert len(some.honest_scores_.unlabeled) == 300


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=20))
def test_effective_numbers_lie_between_1_and_all(weights):
    found = effective_number(np.array(weights), np.ones(len(weights)))
    assert 1 - 1e-9 <= found <= len(weights) + 1e-9


def test_effective_number_of_weights_that_are_no_counts():
    assert effective_number(np.ones(2), np.array([3.0, 1.0])) == 4  # observations
    assert effective_number(np.ones(2), np.array([0.75, 0.25])) == pytest.approx(1.6)
    assert effective_number(np.array([0.75, 0.25]), np.ones(2)) == pytest.approx(1.6)


def test_only_proportions_matter_of_weights_that_are_no_counts(data):
    X, y = data.X, data.y
    weights = np.random.default_rng(0).uniform(0.2, 0.9, len(y))
    one, other = (
        PropensityWMMDClassifier(lambda rows: np.full(len(rows), 0.5), prior=0.5).fit(
            X, y, sample_weight=factor * weights
        )
        for factor in (1, 7)
    )
    np.testing.assert_allclose(one.score_samples(X), other.score_samples(X))
    assert one.n_effective_ == pytest.approx(other.n_effective_)
    assert one.n_effective_ < (y == 1).sum()
    assert one.threshold_ == pytest.approx(other.threshold_)


def test_both_can_be_saved(data, tmp_path):
    for model in (
        PropensityEMClassifier([1], scenario="single-sample", tol=1e-2),
        PropensityWMMDClassifier(0.5, prior=0.5, scenario="single-sample", threshold=TwoClusters()),
    ):
        save(model.fit(data.X, data.y), tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.decision_function(data.test), model.decision_function(data.test))
        (tmp_path / "model").unlink()


# --- a threshold that asks no prior ---


COUNTED = st.dictionaries(st.integers(-9, 9), st.integers(1, 4), min_size=2, max_size=20)


@given(COUNTED)
def test_the_farthest_means_by_definition(counted):
    """The cut with the largest variance between both sides, tried one by one."""
    values, counts = np.array(sorted(counted.items()), dtype=float).T
    threshold = farthest_means(values, counts / counts.sum())

    def apart(cut):
        above = values > cut
        if above.all() or not above.any():
            return -1.0
        means = [np.average(values[side], weights=counts[side]) for side in (above, ~above)]
        return counts[above].sum() * counts[~above].sum() * (means[0] - means[1]) ** 2

    assert apart(threshold) == pytest.approx(max(map(apart, values)))


@pytest.mark.parametrize("width", [1.0, 2.5])
def test_two_gaussians_are_found_and_cut_where_they_are_equally_dense(width):
    """Of a mixture whose quantiles are known; the larger cluster draws the farthest means to itself."""
    grid = np.linspace(-6, 14, 2001)
    mass = 0.75 * norm.pdf(grid) + 0.25 * norm.pdf(grid, 6, width)
    mass /= mass.sum()
    low, high = two_gaussians(grid, mass, farthest_means(grid, mass))
    np.testing.assert_allclose([*low, *high], [0.75, 0, 1, 0.25, 6, width], atol=0.05)
    cut = equal_densities(grid, mass, 0.0)
    assert norm.pdf(cut) == pytest.approx(norm.pdf(cut, 6, width), rel=0.05)


def test_a_cluster_within_another_is_cut_as_the_means_say():
    grid = np.linspace(-9, 9, 1001)
    mass = 0.5 * norm.pdf(grid, 0, 0.3) + 0.5 * norm.pdf(grid, 0.2, 3)
    assert equal_densities(grid, mass / mass.sum(), 1.25) == 1.25


@given(COUNTED, st.floats(0.1, 10), st.floats(-5, 5))
def test_two_clusters_lie_within_the_scores_in_any_units(counted, slope, intercept):
    values, counts = np.array(sorted(counted.items()), dtype=float).T
    mass = counts / counts.sum()
    cut = cut_between(values, mass)
    assert values[0] <= cut <= values[-1]
    assert cut_between(slope * values + intercept, mass) == pytest.approx(slope * cut + intercept, abs=1e-3 * slope)


@pytest.mark.parametrize("policy", [TwoClusters(), Balanced(clusters=0.5)])
def test_scores_that_lie_far_out_are_no_cluster(policy, rng):
    population = np.concatenate([rng.normal(0, 1, 600), rng.normal(6, 1, 400)])
    positive = rng.normal(6, 1, 60)
    plain = HonestScores(positive, population, np.ones(60), np.ones(1000))
    far = HonestScores(positive, np.where(np.arange(1000) < 20, -500.0, population), np.ones(60), np.ones(1000))
    cuts = [place_threshold(policy, scores, 0.4, calibrate(scores, 0.4)) for scores in (plain, far)]
    assert cuts[0] == pytest.approx(3, abs=0.5)
    assert cuts[1] == pytest.approx(cuts[0], abs=0.2)


def test_nearly_equal_scores_have_two_clusters_too():
    """Were the few drawn in, nothing would be left."""
    scores = HonestScores(np.ones(3), np.repeat([0.0, 1.0], [99, 1]), np.ones(3), np.ones(100))
    assert 0.1 < place_threshold(TwoClusters(), scores, 0.1, calibrate(scores, 0.1)) < 0.9


def test_two_clusters_ask_neither_prior_nor_scale(data):
    cuts = []
    for prior, slope in ((0.3, 1.0), (0.6, 1.0), (0.6, 5.0)):
        model = WMMDClassifier(prior, threshold=TwoClusters(), scenario="single-sample", smoothing=0, gamma=0.5)
        scores = model.fit(data.X, data.y).honest_scores_.mapped(slope, 0.0)
        cuts.append(place_threshold(TwoClusters(), scores, prior, model.calibration_) / slope)
    np.testing.assert_allclose(cuts, cuts[0], rtol=1e-9)


@pytest.mark.parametrize("prior", [0.2, 0.5])
def test_balanced_cuts_where_the_probability_is_the_prior(data, prior):
    """There the expected mean of recall and specificity is largest, of all cuts between honest scores."""
    model = WMMDClassifier(prior, threshold=Balanced(), scenario="single-sample", smoothing=0, gamma=0.5)
    scores = model.fit(data.X, data.y).honest_scores_
    population, mass = scores.population, scores.population_mass
    chances = model.calibration_.probability(population)
    share = mass @ chances
    assert share == pytest.approx(prior, abs=0.02)

    def expected(cut):
        above = population > cut
        recall, specificity = mass[above] @ chances[above] / share, mass[~above] @ (1 - chances[~above]) / (1 - share)
        return (recall + specificity) / 2

    assert expected(model.threshold_) == pytest.approx(max(map(expected, population)), abs=1e-6)


def test_balanced_goes_towards_two_clusters(data):
    scores = WMMDClassifier(0.5, scenario="single-sample").fit(data.X, data.y).honest_scores_
    calibration = calibrate(scores, 0.5)
    ends = [place_threshold(policy, scores, 0.5, calibration) for policy in (Balanced(), TwoClusters())]
    halfway = place_threshold(Balanced(clusters=0.5), scores, 0.5, calibration)
    assert ends[0] != ends[1]
    assert halfway == pytest.approx(np.mean(ends), abs=1e-3)  # the mean of the calibration is nearly the prior
    assert place_threshold(Balanced(clusters=1), scores, 0.5, calibration) == pytest.approx(ends[1], abs=1e-3)


def test_balanced_goes_less_far_where_one_class_is_rare(data):
    scores = WMMDClassifier(0.5, scenario="single-sample").fit(data.X, data.y).honest_scores_
    for prior, share in ((0.5, 0.5), (0.2, 0.32)):
        calibration = calibrate(scores, prior)
        first, second = (place_threshold(policy, scores, prior, calibration) for policy in (Balanced(), TwoClusters()))
        found = (place_threshold(Balanced(clusters=0.5), scores, prior, calibration) - first) / (second - first)
        assert found == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("clusters", [-0.1, 1.1, "all", None])
def test_balanced_refuses_what_is_no_share(clusters):
    with pytest.raises(ValueError, match="clusters must be a number from 0 to 1"):
        Balanced(clusters)


# --- what to use when ---


def test_what_is_chosen_can_be_fitted_or_it_is_said_what_to_do(table):
    """Classifiers with propensities take no known negatives."""
    X, truth = (values[:600] for values in table)
    y = np.where(truth & (np.arange(600) % 3 == 0), 1, 0)
    y[np.flatnonzero(~truth)[:20]] = -1
    options = {"scenario": "single-sample", "n_simulated": 99, "negative": -1}
    test = ScarTest(0.5, **options).fit(X, y)
    assert choose_classifier(test).estimator.fit(X, y).known_negatives_ is not None
    for known in ({"propensity": true_propensity}, {"columns": [1]}, {"propensity": true_propensity, "columns": [1]}):
        with pytest.raises(ValueError, match=rf"Leave out {' and '.join(known)}; or make these rows unlabeled"):
            choose_classifier(test, **known)
    with pytest.warns(LabelWarning, match="negative=-1 is not in y"):
        without = ScarTest(0.5, **options).fit(X, np.maximum(y, 0))
    assert choose_classifier(without, columns=[1]).estimator.fit(X, np.maximum(y, 0)).prior_ == 0.5


def test_what_is_known_decides_and_then_the_test(table):
    at_random = draw_pu(*table, 0, 600, 1, 0.5, scenario="single-sample", propensity=0.3, random_state=0)
    biased = draw_pu(*table, 0, 600, 1, 0.5, scenario="single-sample", propensity=ByColumn(1, 0.4, 6.0), random_state=0)
    options = {"scenario": "single-sample", "n_simulated": 499}
    silent = ScarTest(0.5, **options).fit(at_random.X, at_random.y)
    loud = ScarTest(0.5, **options).fit(biased.X, biased.y)
    weighted = choose_classifier(silent, propensity=true_propensity)
    assert weighted.estimator.propensity is true_propensity
    assert "weighted by one over" in weighted.reason
    by_columns = choose_classifier(silent, columns=[1]).estimator
    assert by_columns.propensity.columns == [1]
    assert (by_columns.threshold, by_columns.prior) == (Balanced(), 0.5)
    constant = choose_classifier(loud, propensity=0.3)
    assert isinstance(constant.estimator, PUClassifier)  # weights that are all alike are of no use
    assert "labels are random" in constant.reason
    for test, words in ((silent, "Nothing speaks against labels at random"), (loud, "do not look as if")):
        with_prior = choose_classifier(test)
        assert (with_prior.estimator.threshold, with_prior.estimator.prior) == (Balanced(), 0.5)
        assert words in with_prior.reason
        assert "at the prior that you know" in with_prior.reason
    loud.prior = None
    ranking = choose_classifier(loud)
    assert (ranking.estimator.threshold, ranking.estimator.prior) == (Balanced(clusters=0.5), "auto")
    assert ranking.estimator.scenario == "single-sample"
    assert "two clusters" in ranking.reason
    assert choose_classifier(loud, columns=[1]).estimator.threshold == Balanced(clusters=0.5)
    for propensity, message in ((1.5, r"a probability in \(0, 1\]"), (True, "True is not known"), ("x", "'x' is not")):
        with pytest.raises(ValueError, match=message):
            choose_classifier(loud, propensity=propensity)


def test_columns_are_looked_for_when_a_classifier_is_chosen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=80), "branch": rng.choice(["north", "south"], 80)})
    test = ScarTest(n_simulated=99).fit(frame, np.arange(80) < 30)
    assert choose_classifier(test, columns=["branch"]).estimator.propensity.columns == ["branch"]
    for columns, message in (
        (["town"], r"There is no column 'town' for the propensity: X has the columns \['age', 'branch'\]"),
        ([2], "There is no column 2"),
        ([], "columns is empty"),
        ("branch", r"write columns=\['branch'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_classifier(test, columns=columns)
    with pytest.raises(ValueError, match="both given"):
        choose_classifier(test, columns=["branch"], propensity=true_propensity)
