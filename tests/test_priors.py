"""Prior estimators, against hidden truth and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from unlabeled import ConvexPUClassifier, ElkanNotoClassifier, WMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.priors import (
    PRIORS,
    BestBinPrior,
    DedpulPrior,
    DensityPrior,
    ElkanNotoPrior,
    KernelMeanPrior,
    resolve_prior,
)
from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.elkan_noto import label_frequency
from unlabeled.priors.kernel_mean import project_on_simplex
from unlabeled.priors.scores import Scores, cross_fitted_scores, wmmd_scores
from unlabeled.samples import PUSample, Sample

#: How near each comes to the truth on well separated Gaussians (4 apart, 400 positives, 1,100 unlabeled).
TOLERANCES = {"best-bin": 0.05, "dedpul": 0.06, "km1": 0.06, "km2": 0.06, "density": 0.25, "elkan-noto": 0.15}
SCORE_BASED = [BestBinPrior(), DedpulPrior(), DedpulPrior(method="em"), ElkanNotoPrior()]


@pytest.fixture(params=sorted(PRIORS))
def name(request):
    return request.param


def scores(positive, unlabeled):
    return Scores(
        np.array(positive, float), np.array(unlabeled, float), np.ones(len(positive)), np.ones(len(unlabeled))
    )


@pytest.mark.parametrize("prior", [0.2, 0.6])
def test_near_the_truth_in_case_control(name, prior):
    data = make_gaussians(400, 1100, 1, prior=prior, n_features=3, separation=4.0, random_state=1)
    estimate = clone(PRIORS[name]).fit(data.X, data.y).prior_
    assert estimate == pytest.approx(prior, abs=TOLERANCES[name])


def test_near_the_truth_in_a_single_sample(name):
    """Half of the positives of one table are labelled: the prior is that of the whole table."""
    data = make_gaussians(1, 1500, 1, prior=0.4, n_features=3, separation=4.0, random_state=2)
    labelled = data.unlabeled_truth & (np.random.RandomState(0).uniform(size=1500) < 0.5)
    model = clone(PRIORS[name]).set_params(scenario="single-sample").fit(data.unlabeled, labelled)
    assert model.prior_ == pytest.approx(0.4, abs=TOLERANCES[name])
    assert model.prior_ >= labelled.mean()


def test_two_scenarios_differ_by_the_labelled_share(name):
    """Of n_p labelled and n_u unlabeled rows: prior of all = s + (1 - s) * share among the unlabeled."""
    if name == "density":
        pytest.skip("scores against another population in each scenario")
    data = make_gaussians(200, 500, 1, prior=0.3, separation=3.0, random_state=0)
    of_unlabeled, of_all = (
        clone(PRIORS[name]).set_params(scenario=scenario).fit(data.X, data.y).prior_
        for scenario in ("case-control", "single-sample")
    )
    assert of_all == pytest.approx(2 / 7 + 5 / 7 * of_unlabeled)


def test_every_classifier_takes_every_name(name):
    data = make_gaussians(60, 150, 50, prior=0.4, separation=3.0, random_state=0)
    for model in (
        WMMDClassifier(prior=name),
        ConvexPUClassifier(prior=name, gamma=0.2, alpha=0.1),
        ElkanNotoClassifier(prior=name),
    ):
        fitted = model.fit(data.X, data.y)
        assert 0 < fitted.prior_ <= 1
        assert set(fitted.predict(data.test)) <= {0, 1}


def test_density_is_what_the_wmmd_classifier_uses():
    data = make_gaussians(100, 400, 1, random_state=3)
    for scenario in ("case-control", "single-sample"):
        alone = DensityPrior(scenario=scenario).fit(data.X, data.y)
        within = WMMDClassifier(scenario=scenario).fit(data.X, data.y)
        assert alone.prior_ == pytest.approx(within.prior_)
        assert alone.gamma_ == within.gamma_


def test_an_estimator_given_is_not_modified():
    data = make_gaussians(50, 100, 1, random_state=0)
    prior = BestBinPrior(LogisticRegression())
    WMMDClassifier(prior=prior, scenario="single-sample").fit(data.X, data.y)
    assert prior.scenario == "case-control"
    assert not hasattr(prior, "prior_")
    assert not hasattr(prior.estimator, "coef_")


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), LinearSVC()])
def test_scores_of_any_classifier(estimator):
    data = make_gaussians(300, 700, 1, prior=0.3, separation=4.0, random_state=0)
    for prior in (BestBinPrior(estimator), DedpulPrior(estimator)):
        assert prior.fit(data.X, data.y).prior_ == pytest.approx(0.3, abs=0.08)


def test_a_classifier_that_cannot_score_is_refused_by_name():
    class Mute(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002
            self.classes_ = np.unique(y)
            return self

    data = make_gaussians(20, 50, 1, random_state=0)
    for prior in (BestBinPrior(Mute()), DedpulPrior(Mute()), ElkanNotoPrior(Mute())):
        with pytest.raises(ValueError, match="Mute"):
            prior.fit(data.X, data.y)


# --- intervals ---


@pytest.mark.parametrize("prior", SCORE_BASED)
def test_interval_holds_the_estimate_and_narrows(prior):
    widths = []
    for n in (100, 900):
        data = make_gaussians(n, 2 * n, 1, prior=0.4, separation=4.0, random_state=0)
        low, high = (fitted := clone(prior).fit(data.X, data.y)).interval()
        assert 0 <= low <= high <= 1
        assert low - 0.05 <= fitted.prior_ <= high + 0.05
        assert (low, high) == fitted.interval()  # asked twice, the same
        inner = fitted.interval(level=0.5)
        assert low <= inner[0] <= inner[1] <= high
        widths.append(high - low)
    assert widths[1] < widths[0]


@pytest.mark.parametrize("level", [0, 1, -0.5, np.nan])
def test_interval_of_a_bad_level(level):
    data = make_gaussians(20, 50, 1, random_state=0)
    with pytest.raises(ValueError, match="level"):
        BestBinPrior().fit(data.X, data.y).interval(level)


# --- hard data ---


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_five_positives(name, scenario):
    data = make_gaussians(5, 60, 1, random_state=0)
    assert 0 <= clone(PRIORS[name]).set_params(scenario=scenario).fit(data.X, data.y).prior_ <= 1


def test_two_of_each_and_rows_all_alike(name):
    for X in (np.arange(8.0).reshape(4, 2), np.ones((4, 2))):
        assert 0 <= clone(PRIORS[name]).fit(X, [1, 1, 0, 0]).prior_ <= 1


def test_perfect_separation_leaves_no_positives_among_the_unlabeled(name):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(50, 1, (100, 2)), rng.normal(-50, 1, (300, 2))])
    estimate = clone(PRIORS[name]).fit(X, np.repeat([1, 0], [100, 300])).prior_
    assert estimate < 0.1


def test_equal_distributions_leave_nothing_else(name):
    rng = np.random.default_rng(0)
    estimate = clone(PRIORS[name]).fit(rng.normal(size=(900, 2)), np.repeat([1, 0], [300, 600])).prior_
    assert estimate > 0.75


@pytest.mark.parametrize("prior", SCORE_BASED[:3])
def test_a_constant_score_is_survived(prior):
    assert prior._share(scores(np.zeros(10), np.zeros(20))) == pytest.approx(1.0)


def test_weights_are_repetitions_for_scores():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, 30), rng.integers(1, 4, 80)
    values = rng.normal(1, 1, 30), rng.normal(0, 1, 80)
    weighted = Scores(*values, *(c.astype(float) for c in counts))
    repeated = scores(*(np.repeat(v, c) for v, c in zip(values, counts, strict=True)))
    assert best_bin(weighted) == pytest.approx(best_bin(repeated))
    for method in ("ratio", "em"):
        assert DedpulPrior(method=method)._share(weighted) == pytest.approx(DedpulPrior(method=method)._share(repeated))
    for estimates in ("e1", "e2", "e3"):
        assert label_frequency(weighted, estimates) == pytest.approx(label_frequency(repeated, estimates))


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_weights_are_repetitions_for_wmmd_scores(scenario):
    rng = np.random.default_rng(1)
    X, y, counts = rng.normal(size=(60, 2)), np.repeat([1, 0], [20, 40]), rng.integers(1, 4, 60)
    for prior in (BestBinPrior(scenario=scenario), DedpulPrior(scenario=scenario), DensityPrior(scenario=scenario)):
        weighted = clone(prior).fit(X, y, sample_weight=counts).prior_
        assert weighted == pytest.approx(clone(prior).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).prior_)


# --- by hand ---


def test_best_bin_by_hand():
    """All positives score 1; of the unlabeled rows a quarter does, and the others 0: the bin at 1 holds a quarter."""
    assert best_bin(scores(np.ones(100), np.repeat([1, 0], [50, 150]))) == pytest.approx(0.25)


def test_best_bin_prefers_a_large_bin_to_a_lucky_one():
    """A single positive above everything has a ratio of 0 but no weight behind it."""
    positive = np.r_[2.0, np.ones(99)]
    assert best_bin(scores(positive, np.repeat([1, 0], [50, 150]))) == pytest.approx(0.25, abs=0.01)


def test_label_frequency_by_hand():
    log_odds = np.log(0.8 / 0.2)
    found = scores([log_odds, log_odds], [log_odds, -log_odds])
    assert label_frequency(found, "e1") == pytest.approx(0.8)
    assert label_frequency(found, "e2") == pytest.approx(1.6 / 2.6)
    assert label_frequency(found, "e3") == pytest.approx(0.8)


@given(arrays(float, st.integers(1, 12), elements=st.floats(-5, 5)))
def test_projection_on_the_simplex(vector):
    point = project_on_simplex(vector)
    assert point.min() >= 0
    assert point.sum() == pytest.approx(1)
    # Nearest: no corner of the simplex lies in the direction of the rest (the condition for a projection).
    assert ((np.eye(len(vector)) - point) @ (vector - point) <= 1e-9).all()


def test_honest_scores_are_of_all_rows_in_their_order():
    data = make_gaussians(40, 90, 1, separation=4.0, random_state=0)
    pu = PUSample(Sample(data.positive), Sample(data.unlabeled))
    for found in (
        wmmd_scores(pu, None, np.random.RandomState(0)),
        cross_fitted_scores(pu, LogisticRegression(), 5, np.random.RandomState(0)),
    ):
        assert (len(found.positive), len(found.unlabeled)) == (40, 90)
        assert roc_auc_score(data.unlabeled_truth, found.unlabeled) > 0.95


# --- bad input ---


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (KernelMeanPrior("km3"), "km1.*km2"),
        (DedpulPrior(method="mode"), "ratio.*em"),
        (DedpulPrior(eta=0), "eta"),
        (DensityPrior(eta=1.5), "eta"),
        (DensityPrior(gamma=-1.0), "gamma"),
        (ElkanNotoPrior(estimates="e4"), "e1.*e2.*e3"),
        (ElkanNotoPrior(LinearSVC()), "LinearSVC"),
        (BestBinPrior(scenario="other"), "case-control.*single-sample"),
    ],
)
def test_bad_parameters(prior, message):
    data = make_gaussians(20, 50, 1, random_state=0)
    with pytest.raises(ValueError, match=message):
        prior.fit(data.X, data.y)


@pytest.mark.parametrize("prior", ["densty", None, [0.5], LogisticRegression()])
def test_an_unknown_prior_lists_the_known_ones(prior):
    pu = PUSample(Sample(np.zeros((2, 1))), Sample(np.zeros((2, 1))))
    with pytest.raises(ValueError, match=r"best-bin.*density.*elkan-noto.*km1"):
        resolve_prior(prior, pu)


@pytest.mark.parametrize("y", [np.zeros(10), np.arange(10) % 3, np.arange(10) == 0])
def test_bad_labels(name, y):
    with pytest.raises(ValueError, match=r"class|values|two"):
        clone(PRIORS[name]).fit(np.arange(20.0).reshape(10, 2), y)


def test_nan_is_refused(name):
    with pytest.raises(ValueError, match="NaN"):
        clone(PRIORS[name]).fit([[np.nan], [1.0], [2.0], [3.0]], [1, 1, 0, 0])
