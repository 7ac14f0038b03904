"""The test of labels given at random: its null distribution against slow definitions, its size, and what it tells."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import nbinom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled.bias import ScarTest
from unlabeled.bias.columns import column_differences
from unlabeled.datasets import ByColumn, draw_pu, make_gaussians
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import PORTIONS, Count, Share, TopCounts, scored_of_hidden
from unlabeled.samples import Sample


def scores(positive, unlabeled):
    return HonestScores(positive, unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)))


@parametrize_with_checks([ScarTest(n_simulated=99)])
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


@given(st.lists(st.integers(0, 6), min_size=4, max_size=30), st.lists(st.integers(0, 6), min_size=4, max_size=60))
def test_counts_by_definition(positive, unlabeled):
    positive, unlabeled = np.array(positive, float), np.array(unlabeled, float)
    counts = TopCounts.of(scores(positive, unlabeled))
    for place, portion in enumerate(PORTIONS):
        needed = max(1, portion * len(positive))
        threshold = max(value for value in positive if (positive >= value).sum() >= needed - 1e-9)
        assert counts.n_above[place] == (unlabeled >= threshold).sum()


def test_the_statistic_is_negative_binomial():
    counts = TopCounts.of(scores(np.arange(20.0), np.arange(-50.0, 15.0)))
    expected = nbinom.cdf(counts.n_above, counts.places, 20 / (20 + 30))
    np.testing.assert_allclose(counts.improbability(counts.n_above, 30.0), expected, rtol=1e-9)


def test_simulated_counts_are_those_of_ranks(rng):
    """Against scores that are drawn and counted."""
    n_labelled, n_hidden = 12, 30
    counts = TopCounts.of(scores(rng.normal(size=n_labelled), np.zeros(100)))
    simulated = counts._simulated(np.full(20_000, n_hidden), np.random.RandomState(0))
    drawn = np.array(
        [TopCounts.of(scores(rng.normal(size=n_labelled), rng.normal(size=n_hidden))).n_above for _ in range(4000)]
    )
    # Thresholds between whole places are those of the next whole place when counted, so compare where both agree.
    whole = counts.places == np.round(counts.places)
    assert whole.sum() >= 2
    np.testing.assert_allclose(simulated.mean(axis=0)[whole], drawn.mean(axis=0)[whole], rtol=0.05)
    np.testing.assert_allclose(np.cov(simulated.T)[whole][:, whole], np.cov(drawn.T)[whole][:, whole], rtol=0.12)
    assert (simulated.mean(axis=0) <= drawn.mean(axis=0) * 1.05).all()  # fewer than counted: on the safe side


@pytest.mark.parametrize("seed", range(8))
def test_the_p_value_of_a_few_hidden_positives_is_exact(seed):
    """Against all orders of 20 labelled and 2 hidden positives; all thresholds are at whole places."""
    labels = np.ones(22, dtype=bool)
    labels[np.random.RandomState(seed).choice(22, 2, replace=False)] = False

    def counts(labelled):
        values = np.arange(22.0, 0, -1)
        return TopCounts.of(scores(values[labelled], np.append(values[~labelled], -np.ones(80))))

    def strangeness(labelled):
        found = counts(labelled)
        return found.improbability(found.n_above, 2).min()

    everywhere = [strangeness(~np.isin(np.arange(22), hidden)) for hidden in combinations(range(22), 2)]
    expected = np.mean(np.array(everywhere) <= strangeness(labels) * (1 + 1e-9))
    assert counts(labels).p_value_of_count(2) == pytest.approx(expected)


@pytest.mark.parametrize("n_labelled", [1, 3, 37, 400])
def test_worked_out_and_simulated_p_values_are_the_same(n_labelled, rng):
    """Also where thresholds lie between whole places, or several at one."""
    found = TopCounts.of(scores(rng.normal(size=n_labelled), np.r_[rng.normal(-0.5, 1, 12), np.full(300, -9.0)]))
    simulated = found.p_value(np.full(40_000, 12), 12.0, np.random.RandomState(0))
    assert found.p_value_of_count(12) == pytest.approx(simulated, abs=4 * np.sqrt(simulated / 40_000))


@pytest.mark.parametrize(("n_labelled", "prior"), [(8, 0.3), (60, 0.1), (60, 0.9)])
@pytest.mark.parametrize("single", [True, False])
def test_p_values_are_uniform_or_larger_where_negatives_score_low(n_labelled, prior, single, rng):
    """The hardest case of the null hypothesis, with scores that know nothing of the rows."""
    n_unlabeled, p_values = 200, []
    for seed in range(250):
        labelled_rate = n_labelled / (n_labelled + n_unlabeled)
        if single:  # some of the positives of one table
            prior_of_all = labelled_rate + (1 - labelled_rate) * prior
            truth = rng.uniform(size=n_labelled + n_unlabeled) < prior_of_all
            known = truth & (rng.uniform(size=len(truth)) < labelled_rate / prior_of_all)
            hidden, n_positive, null = (truth & ~known).sum(), max(int(known.sum()), 1), Share(prior_of_all, True)
            n_rest = len(truth) - n_positive
        else:
            hidden, n_positive, null = rng.binomial(n_unlabeled, prior), n_labelled, Share(prior, False)
            n_rest = n_unlabeled
        found = scores(rng.normal(size=n_positive), np.append(rng.normal(size=hidden), np.full(n_rest - hidden, -99.0)))
        random = np.random.RandomState(seed)
        draws = null.draws(n_positive, n_rest, 299, random)
        p_values.append(TopCounts.of(found).p_value(draws, null.expected(n_positive, n_rest), random))
    for level in (0.3, 0.1, 0.05):
        assert np.mean(np.array(p_values) <= level) <= level + 3.5 * np.sqrt(level / 250)
    assert np.mean(np.array(p_values) <= 0.3) > 0.08  # not for want of any power


def test_more_unlabeled_rows_at_the_top_never_look_stranger(rng):
    positive, unlabeled = rng.normal(size=30), np.append(rng.normal(size=20), np.full(100, -9.0))
    hidden, p_values = np.full(999, 40), []
    for n_raised in (0, 10, 40):
        raised = unlabeled.copy()
        raised[20 : 20 + n_raised] = 9.0
        p_values.append(TopCounts.of(scores(positive, raised)).p_value(hidden, 40.0, np.random.RandomState(0)))
    assert p_values == sorted(p_values)


def test_hidden_positives():
    rng = np.random.RandomState(0)
    share = Share(0.3, True)
    draws = share.draws(50, 250, 20_000, rng)
    assert share.expected(50, 250) == pytest.approx(40)
    assert draws.mean() == pytest.approx(40, abs=0.3)
    assert draws.var() == pytest.approx(300 * 0.3 * 0.7, rel=0.05)
    assert Share(0.3, False).expected(50, 250) == pytest.approx(75)
    assert Share(0.1, True).expected(50, 250) == 0  # more are labelled than there should be
    assert Count(20).expected(50, 250) == 20
    assert set(Count(20).draws(50, 10, 5, rng)) == {10}
    half = scored_of_hidden(np.full(20_000, 40), 250, 125, rng)
    assert half.mean() == pytest.approx(20, abs=0.2)


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    truth = rng.uniform(size=1500) < 0.4
    X = rng.normal(size=(1500, 3))
    X[:, 0] += 5 * truth
    return X, truth


@pytest.fixture(scope="module")
def biased(table):
    return draw_pu(*table, 0, 800, 1, 0.4, scenario="single-sample", propensity=ByColumn(2, 0.4, 4.0), random_state=0)


def test_a_column_that_labels_depend_on_is_seen_and_named(biased):
    test = ScarTest(0.4, scenario="single-sample").fit(biased.X, biased.y)
    assert test.p_value_ < 0.01
    assert test.rejects_
    assert test.columns_[0].name == "column 2"
    assert test.columns_[0].is_clear
    assert test.columns_[0].difference > 0.5
    assert "column 2 (+" in test.verdict_
    assert "do not look as if they were given completely at random, with a prior of at least 0.4" in test.verdict_
    assert test.n_unlabeled_ < test.n_expected_
    assert test.largest_prior() < 0.4
    smaller, given_prior, larger = test.sensitivity().values()
    assert smaller >= given_prior == test.p_value_ >= larger
    assert test.p_value_at(biased.y.mean()) == 1  # every positive may be labelled


def test_labels_at_random_are_not_rejected(table):
    data = draw_pu(*table, 0, 800, 1, 0.4, scenario="single-sample", propensity=0.4, random_state=0)
    test = ScarTest(0.4, scenario="single-sample").fit(data.X, data.y)
    assert test.p_value_ > 0.05
    assert not test.rejects_
    assert test.verdict_.startswith("Nothing speaks against labels at random with a prior of at least 0.4")
    assert test.largest_prior() >= 0.4


def test_without_a_prior_the_unlabeled_rows_hold_some_positives():
    """All positives are labelled, so that labels are random; but then no unlabeled row is positive."""
    data = make_gaussians(60, 300, 1, prior=0.01, separation=8, random_state=0)
    test = ScarTest().fit(data.X, data.y)
    assert test.p_value_ < 0.01
    assert "at least 20 positives among the unlabeled rows" in test.verdict_
    with pytest.raises(ValueError, match="No prior was given"):
        test.sensitivity()


@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_neither_units_nor_order_matter(biased, estimator, rng):
    test = ScarTest(0.5, scenario="single-sample", estimator=estimator, n_simulated=499)
    order = rng.permutation(len(biased.y))
    found = clone(test).fit(biased.X, biased.y).p_value_
    assert clone(test).fit(biased.X[order], biased.y[order]).p_value_ == found
    if estimator is None:
        assert clone(test).fit(1024 * biased.X, biased.y).p_value_ == found


def test_missing_values_sparse_rows_and_names(biased, rng):
    X = biased.X.copy()
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    options = {"scenario": "single-sample", "n_simulated": 499}
    test = ScarTest(0.4, feature_names=["a", "b", "c"], **options).fit(X, biased.y)
    assert test.columns_[0].name == "c"
    sparse = ScarTest(0.4, **options).fit(csr_array(np.maximum(biased.X, 0)), biased.y)
    assert sparse.columns_[0].name == "column 2"


def test_differences_are_in_standard_deviations(rng):
    labelled, unlabeled = Sample(rng.normal([1, 0], [2, 1], (4000, 2))), Sample(rng.normal(0, [2, 1], (4000, 2)))
    first, second = column_differences(labelled, unlabeled, np.full(4000, 0.3), ["shifted", "same"])
    assert (first.name, second.name) == ("shifted", "same")
    assert first.difference == pytest.approx(0.5, abs=0.06)
    assert first.standard_error == pytest.approx(np.sqrt(2 / 4000))
    assert (first.is_clear, second.is_clear) == (True, False)


@pytest.mark.parametrize("scenario", ["single-sample", "case-control"])
def test_known_negatives_are_of_the_population_of_a_single_sample_only(biased, scenario):
    y = np.where(biased.y == 1, "yes", "")
    negatives = np.flatnonzero(y == "")[:40]
    y[negatives] = "no"
    options = {"scenario": scenario, "n_simulated": 499}
    found = ScarTest(0.5, pos_label="yes", negative="no", **options).fit(biased.X, y)
    kept = np.ones(len(y), dtype=bool)
    kept[negatives] = scenario == "single-sample"
    assert found.p_value_ == ScarTest(0.5, **options).fit(biased.X[kept], biased.y[kept]).p_value_


def test_too_few_rows_tell_nothing(rng):
    test = ScarTest(0.3).fit(rng.normal(size=(30, 2)), np.r_[np.ones(3), np.zeros(27)])
    assert test.p_value_ == 1
    assert "nothing can be told" in test.verdict_
    assert test.largest_prior() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "auto"}, "prior='auto' is no number.*compare the estimate with largest_prior"),
        ({"prior": 0.01, "scenario": "single-sample"}, "below the labelled share"),
        ({"prior": 1.2}, r"strictly between 0 and 1; got 1\.2"),
        ({"at_least": 0}, "1 or more; got 0"),
        ({"at_least": np.inf}, "1 or more; got inf"),
        ({"feature_names": ["a", "b"]}, "2 names, and X has 3 features"),
        ({"n_simulated": 3}, "19 or more; got 3"),
    ],
)
def test_errors(options, message, biased):
    with pytest.raises(ValueError, match=message):
        ScarTest(**options).fit(biased.X, biased.y)


def test_priors_below_the_labelled_share_are_refused(biased):
    test = ScarTest(scenario="single-sample", n_simulated=99).fit(biased.X, biased.y)
    with pytest.raises(ValueError, match="the labelled share of the population"):
        test.p_value_at(0.01)
    with pytest.raises(ValueError, match="level must lie between 0 and 1; got 5"):
        test.largest_prior(level=5)
    with pytest.raises(NotFittedError):
        ScarTest(0.3).sensitivity()
