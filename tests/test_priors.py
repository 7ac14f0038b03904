"""Prior estimators, against hidden truth and by hand."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier, WMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import TopCounts
from unlabeled.priors import (
    PRIORS,
    BestBinPrior,
    DedpulPrior,
    DensityPrior,
    ElkanNotoPrior,
    KernelMeanPrior,
    PriorComparison,
    PriorEstimate,
    ScarWarning,
    resolve_prior,
)
from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.elkan_noto import label_frequency
from unlabeled.priors.kernel_mean import project_on_simplex, thinned, widest_gap
from unlabeled.priors.scar import FEWEST_POSITIVES, evidence_against_scar
from unlabeled.priors.score_based import ScorePrior, wmmd_scores
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.cross_fitting import Pool, held_out_scores

#: How near each comes to the truth on well separated Gaussians (4 apart, 400 positives, 1,100 unlabeled).
TOLERANCES = {
    "auto": 0.06,
    "best-bin": 0.05,
    "dedpul": 0.06,
    "km1": 0.06,
    "km2": 0.06,
    "density": 0.25,
    "elkan-noto": 0.15,
}
SCORE_BASED = [BestBinPrior(), DedpulPrior(), DedpulPrior(method="em"), ElkanNotoPrior()]


@pytest.fixture(params=sorted(PRIORS))
def name(request):
    return request.param


def scores(positive, unlabeled):
    return HonestScores(
        np.array(positive, float), np.array(unlabeled, float), np.ones(len(positive)), np.ones(len(unlabeled))
    )


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")  # all positives of these tables are labelled
@parametrize_with_checks([*PRIORS.values(), BestBinPrior(LogisticRegression(), scenario="single-sample")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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


def test_nnpu_takes_every_name(name):
    pytest.importorskip("torch")
    data = make_gaussians(60, 150, 50, prior=0.4, separation=3.0, random_state=0)
    fitted = NNPUClassifier(prior=name, n_epochs=1, random_state=0).fit(data.X, data.y)
    assert 0 < fitted.prior_ <= 1
    assert set(fitted.predict(data.test)) <= {0, 1}


def test_density_is_what_the_wmmd_classifier_uses():
    data = make_gaussians(100, 400, 1, random_state=3)
    for scenario in ("case-control", "single-sample"):
        alone = DensityPrior(scenario=scenario).fit(data.X, data.y)
        within = WMMDClassifier.paper(selection="loo", scenario=scenario).fit(data.X, data.y)
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


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self


def test_a_classifier_that_cannot_score_is_refused_by_name():
    data = make_gaussians(20, 50, 1, random_state=0)
    for prior in (BestBinPrior(Mute()), DedpulPrior(Mute()), ElkanNotoPrior(Mute())):
        with pytest.raises(ValueError, match="Mute"):
            prior.fit(data.X, data.y)


# --- intervals ---


@pytest.mark.parametrize("prior", [*SCORE_BASED, DensityPrior(), KernelMeanPrior("km1"), KernelMeanPrior()], ids=str)
def test_interval_holds_the_estimate_and_narrows(prior):
    widths = []
    for n in (20, 240):
        data = make_gaussians(n, 2 * n, 1, prior=0.4, separation=4.0, random_state=0)
        low, high = (fitted := clone(prior).fit(data.X, data.y)).interval()
        assert 0 <= low <= fitted.prior_ <= high <= 1
        inner = fitted.interval(0.5)
        assert low <= inner[0] <= inner[1] <= high
        widths.append(high - low)
    assert widths[1] < widths[0]


@pytest.mark.parametrize("prior", [BestBinPrior(), DensityPrior()])
def test_bad_intervals(prior):
    data = make_gaussians(20, 50, 1, random_state=0)
    fitted = prior.fit(data.X, data.y)
    for level in (0, 1, -0.5, np.nan):
        with pytest.raises(ValueError, match="level"):
            fitted.interval(level)


def test_no_interval_before_fit(name):
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(PRIORS[name]).interval()
    if isinstance(PRIORS[name], ScorePrior):
        with pytest.raises(NotFittedError, match="not fitted"):
            clone(PRIORS[name]).scar_p_value(0.3)


def test_an_interval_of_the_population_in_a_single_sample():
    data = make_gaussians(100, 300, 1, prior=0.3, separation=4.0, random_state=0)
    for prior in (DensityPrior(scenario="single-sample"), BestBinPrior(scenario="single-sample")):
        low, high = (fitted := prior.fit(data.X, data.y)).interval()
        assert 0.25 <= low <= fitted.prior_ <= high <= 1


# --- hard data ---


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_five_positives(name, scenario):
    data = make_gaussians(5, 60, 1, random_state=0)
    assert 0 <= clone(PRIORS[name]).set_params(scenario=scenario).fit(data.X, data.y).prior_ <= 1


@pytest.mark.filterwarnings("ignore:Every column of X is constant")
def test_two_of_each_and_rows_all_alike(name):
    for X in (np.arange(8.0).reshape(4, 2), np.ones((4, 2))):
        assert 0 <= clone(PRIORS[name]).fit(X, [1, 1, 0, 0]).prior_ <= 1


def test_perfect_separation_leaves_no_positives_among_the_unlabeled(name):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(50, 1, (100, 2)), rng.normal(-50, 1, (300, 2))])
    on_scores = isinstance(PRIORS[name], ScorePrior)
    with pytest.warns(ScarWarning, match="0 of 300 unlabeled rows") if on_scores else nullcontext():
        estimate = clone(PRIORS[name]).fit(X, np.repeat([1, 0], [100, 300])).prior_
    assert estimate < 0.1


def test_rows_very_far_away_are_survived(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat([1, 0], [20, 40])
    X[[0, 30]] = [[1e30, 0], [-1e30, 1e30]]
    assert 0 <= clone(PRIORS[name]).fit(X, y).prior_ <= 1


def test_equal_distributions_leave_nothing_else(name):
    rng = np.random.default_rng(0)
    estimate = clone(PRIORS[name]).fit(rng.normal(size=(900, 2)), np.repeat([1, 0], [300, 600])).prior_
    assert estimate > 0.75


@pytest.mark.parametrize("prior", SCORE_BASED, ids=str)
def test_a_constant_score_says_nothing_against_all_rows_being_positive(prior):
    odds = np.log(10 / 20)  # what a classifier of labelled rows says that knows their share alone
    assert prior._share(scores(np.full(10, odds), np.full(20, odds))) == pytest.approx(1.0)


@pytest.mark.parametrize("prior", [BestBinPrior, DedpulPrior, ElkanNotoPrior])
@pytest.mark.parametrize("estimator", [DummyClassifier(), LogisticRegression(), DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("n_positive", [2, 5])
def test_fewer_rows_than_folds(prior, estimator, n_positive):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_positive + 30, 2)), np.repeat([1, 0], [n_positive, 30])
    assert 0 <= prior(estimator, n_folds=7).fit(X, y).prior_ <= 1


@pytest.mark.parametrize("prior", [BestBinPrior, DedpulPrior, ElkanNotoPrior])
def test_weights_are_repetitions_for_cross_fitted_scores(prior):
    rng = np.random.default_rng(1)
    X, y, counts = rng.normal(size=(60, 2)), np.repeat([1, 0], [20, 40]), rng.integers(1, 4, 60)
    model = prior(LogisticRegression(tol=1e-10, solver="newton-cholesky"))
    weighted = clone(model).fit(X, y, sample_weight=counts).prior_
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).prior_
    assert weighted == pytest.approx(repeated, abs=1e-6)


def test_weights_are_repetitions_for_scores():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, 30), rng.integers(1, 4, 80)
    values = rng.normal(1, 1, 30), rng.normal(0, 1, 80)
    weighted = HonestScores(*values, *(c.astype(float) for c in counts))
    repeated = scores(*(np.repeat(v, c) for v, c in zip(values, counts, strict=True)))
    assert best_bin(weighted) == pytest.approx(best_bin(repeated))
    for method in ("ratio", "em"):
        assert DedpulPrior(method=method)._share(weighted) == pytest.approx(DedpulPrior(method=method)._share(repeated))
    for estimates in ("e1", "e2", "e3"):
        assert label_frequency(weighted, estimates) == pytest.approx(label_frequency(repeated, estimates))


@pytest.mark.parametrize("prior", [BestBinPrior(), DedpulPrior(), DedpulPrior(method="em")], ids=str)
@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_scores_may_have_any_scale(prior, scale, rng):
    found = scores(rng.normal(3, 1, 100), np.r_[rng.normal(3, 1, 90), rng.normal(0, 1, 210)])
    scaled = found.mapped(scale, 0.0)
    assert prior._share(scaled) == pytest.approx(prior._share(found), abs=1e-3)
    evidence = [evidence_against_scar(values, 150).p_value for values in (found, scaled)]
    assert evidence[1] == pytest.approx(evidence[0])
    assert evidence[0] < 1


def test_scores_that_differ_by_rounding_are_equal(rng):
    """Also beside a row far out, which must not make all others equal."""
    few = np.r_[rng.choice([0.0, 1.0, 2.0], 400), 1e12]
    rounded = few * (1 + 1e-15 * rng.choice([-1, 0, 1], 401)) + 1e-16 * rng.choice([-1, 0, 1], 401)
    exact, other = (scores(values[:100] + 1, values[100:]) for values in (few, rounded))
    assert DedpulPrior()._share(other) == pytest.approx(DedpulPrior()._share(exact))
    assert evidence_against_scar(other, 40) == evidence_against_scar(exact, 40)
    apart = scores(np.ones(100), np.r_[np.ones(60), np.zeros(240), -1e12])
    assert DedpulPrior()._share(apart) < 0.5


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
        held_out_scores(LogisticRegression(), Pool.of(pu), Pool.of(pu).folds(5)),
    ):
        assert (len(found.positive), len(found.unlabeled)) == (40, 90)
        assert roc_auc_score(data.unlabeled_truth, found.unlabeled) > 0.95


# --- labels completely at random ---


def biased(data, rng):
    """One table, its positives in the upper half of the first feature labelled, all of them, and no others."""
    labelled = data.unlabeled_truth & (data.unlabeled[:, 0] > np.median(data.unlabeled[data.unlabeled_truth, 0]))
    return data.unlabeled, labelled & (rng.uniform(size=len(labelled)) < 0.99)


def test_warns_where_only_one_side_is_labelled(rng):
    data = make_gaussians(1, 1500, 1, prior=0.4, separation=8.0, random_state=0)
    for prior in (BestBinPrior(), DedpulPrior(), BestBinPrior(LogisticRegression())):
        with pytest.warns(ScarWarning, match="of the labelled positives lie"):
            prior.set_params(scenario="single-sample").fit(*biased(data, rng))


def test_warns_where_positives_come_from_elsewhere():
    data = make_gaussians(200, 800, 1, prior=0.4, n_features=3, separation=4.0, random_state=0)
    shifted = np.concatenate([data.positive + np.array([0, 5, 0]), data.unlabeled])
    with pytest.warns(ScarWarning, match="come from elsewhere"):
        BestBinPrior().fit(shifted, data.y)
    with pytest.warns(ScarWarning):
        ElkanNotoClassifier(LogisticRegression()).fit(shifted, data.y)


def test_a_known_prior_is_contradicted_where_it_is_too_large():
    data = make_gaussians(200, 800, 1, prior=0.4, separation=6.0, random_state=0)
    fitted = BestBinPrior().fit(data.X, data.y)
    assert fitted.scar_p_value(0.4) > 0.01
    assert fitted.scar_p_value(0.6) < 0.001
    assert fitted.scar_p_value(0.0) == 1
    single = clone(fitted).set_params(scenario="single-sample").fit(data.X, data.y)
    assert single.scar_p_value(0.2 + 0.8 * 0.6) == pytest.approx(fitted.scar_p_value(0.6))
    with pytest.raises(ValueError, match=r"between 0\.2"):
        single.scar_p_value(0.1)


@pytest.mark.parametrize("n_positive", [3, 30, 300])
@pytest.mark.parametrize("n_hidden", [20, 150])
@pytest.mark.parametrize("ties", [False, True])
def test_false_alarms_keep_to_their_level(n_positive, n_hidden, ties, rng):
    """Scores of 300 unlabeled rows, ``n_hidden`` of them positives, the rest far below: the hardest case."""
    p_values = []
    for _ in range(250):
        positive, hidden = rng.normal(size=n_positive), rng.normal(size=n_hidden)
        if ties:
            positive, hidden = np.round(positive), np.round(hidden)
        unlabeled = np.concatenate([hidden, np.full(300 - len(hidden), -99.0)])
        p_values.append(evidence_against_scar(scores(positive, unlabeled), n_hidden).p_value)
    for level in (0.2, 0.05, 0.01):
        assert np.mean(np.array(p_values) < level) <= level + 3 * np.sqrt(level / 250)


def test_the_warning_counts_as_the_test_does(rng):
    """One statistic: that of `ScarTest`, of scores that are not split."""
    found = scores(rng.normal(size=40), np.r_[rng.normal(-1.6, 1, 20), np.full(200, -9.0)])
    evidence = evidence_against_scar(found, FEWEST_POSITIVES)
    hidden = np.full(20_000, FEWEST_POSITIVES)
    simulated = TopCounts.of(found).p_value(hidden, FEWEST_POSITIVES, np.random.RandomState(0))
    assert evidence.p_value == pytest.approx(simulated, rel=0.3)
    assert 1e-4 < evidence.p_value < 0.1
    threshold = np.sort(found.positive)[::-1][int(np.ceil(40 * evidence.portion)) - 1]
    assert evidence.n_unlabeled == (found.unlabeled >= threshold).sum()


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("separation", [2.0, 8.0])
@pytest.mark.parametrize("n_positive", [5, 100])
def test_no_alarm_on_labels_at_random(scenario, separation, n_positive):
    """Warnings are errors here."""
    for seed in range(5):
        data = make_gaussians(n_positive, 300, 1, prior=0.1, n_features=4, separation=separation, random_state=seed)
        BestBinPrior(scenario=scenario).fit(data.X, data.y)
        ElkanNotoPrior(scenario=scenario).fit(data.X, data.y)


def test_evidence_counts_weights_as_repetitions(rng):
    counts = rng.integers(1, 4, 30), rng.integers(1, 4, 80)
    values = rng.normal(1, 1, 30), rng.normal(0, 1, 80)
    weighted = evidence_against_scar(HonestScores(*values, *(c.astype(float) for c in counts)), 40)
    repeated = scores(*(np.repeat(v, c) for v, c in zip(values, counts, strict=True)))
    assert weighted == evidence_against_scar(repeated, 40)


def test_folds_do_not_favour_a_rows_own_sample():
    """Dealt in turn, a row would have both neighbours of its own sample in the fit that scores it."""
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(20):
        pu = PUSample(Sample(rng.uniform(size=(100, 1))), Sample(rng.uniform(size=(100, 1))))
        found = held_out_scores(KNeighborsClassifier(1), Pool.of(pu), Pool.of(pu).folds(5))
        ranks.append(roc_auc_score(np.repeat([1, 0], 100), np.concatenate([found.positive, found.unlabeled])))
    assert np.mean(ranks) == pytest.approx(0.5, abs=0.03)


# --- the kernel means ---


@pytest.mark.parametrize("seed", range(3))
def test_distance_to_the_hull_against_a_generic_solver(seed):
    rng = np.random.default_rng(seed)
    pu = PUSample(Sample(rng.normal(1, 1, (8, 2))), Sample(rng.normal(0, 1, (12, 2))))
    _, hull = widest_gap(pu, np.array([1.0]))
    rows = np.concatenate([pu.unlabeled.rows, pu.positive.rows])
    gram = np.exp(-cdist(rows, rows, "sqeuclidean") / 2)
    distances = []
    for ratio in (1.0, 1.4, 1.41, 3.0):
        target = ratio * hull.u + (1 - ratio) * hull.p
        found = minimize(
            lambda v, t=target: (t - v) @ gram @ (t - v),
            hull.u,
            jac=lambda v, t=target: -2 * gram @ (t - v),
            bounds=[(0, None)] * 20,
            constraints={"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda _: np.ones(20)},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        distances.append(np.sqrt(max(found.fun, 0)))
        assert hull.distance(ratio) == pytest.approx(distances[-1], abs=2e-3)
    slope, _ = hull.slope(1.405, hull.u)
    assert slope == pytest.approx((distances[2] - distances[1]) / 0.01, abs=0.02)
    assert hull.gap == pytest.approx(np.sqrt((hull.u - hull.p) @ gram @ (hull.u - hull.p)), abs=1e-5)


def test_thresholds_of_the_two_variants():
    data = make_gaussians(100, 300, 1, separation=4.0, random_state=0)
    pu = PUSample(Sample(data.positive), Sample(data.unlabeled))
    _, hull = widest_gap(pu, np.array([1.0]))
    km2 = 0.8 * hull.distance(1.05) / 0.05 + 0.2 * hull.gap
    assert KernelMeanPrior("km1")._threshold(hull, 100) == pytest.approx(0.1)
    assert KernelMeanPrior("km2")._threshold(hull, 100) == pytest.approx(km2)
    assert KernelMeanPrior("km1")._threshold(hull, 1) == pytest.approx(km2)  # 1 is above any slope


def test_the_bandwidth_does_not_shrink_where_the_samples_are_alike():
    """The kernel of a row with itself would make the narrowest kernel the best whatever the data."""
    data = make_gaussians(60, 200, 1, prior=0.9, n_features=5, separation=3.0, random_state=0)
    fitted = KernelMeanPrior().fit(data.X, data.y)
    assert fitted.bandwidth_ > 1
    assert KernelMeanPrior(bandwidth=0.7).fit(data.X, data.y).bandwidth_ == 0.7


def test_kernel_means_of_many_rows_take_bounded_memory():
    """20,000 rows would make a matrix of 3.2 GB; 600 of them make one of 2.9 MB, and some of its size beside it."""
    data = make_gaussians(5_000, 15_000, 1, separation=4.0, random_state=0)
    tracemalloc.start()
    try:
        fitted = KernelMeanPrior(max_points=600).fit(data.X, data.y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6
    assert fitted.prior_ == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("sizes", "max_points", "kept"),
    [
        ((200, 20_000), 1000, (200, 800)),
        ((20_000, 200), 1000, (800, 200)),
        ((5_000, 20_000), 1000, (500, 500)),
        ((5_000, 20_000), 1001, (500, 501)),
        ((300, 700), 1000, (300, 700)),
        ((1, 9), 4, (1, 3)),
    ],
)
def test_the_smaller_sample_is_thinned_last(sizes, max_points, kept):
    pu = PUSample(*(Sample(np.arange(float(n))[:, None]) for n in sizes))
    found = thinned(pu, max_points, np.random.RandomState(0))
    assert (len(found.positive), len(found.unlabeled)) == kept
    for sample in (found.positive, found.unlabeled):
        assert (np.diff(sample.rows[:, 0]) > 0).all()  # in their order, none twice


@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_kernel_means_where_positives_are_few_among_many_rows(variant):
    """In proportion, 10 of the 200 positives would remain, and the estimate would be 0.4 or more."""
    data = make_gaussians(200, 20_000, 1, prior=0.3, n_features=5, separation=3.0, random_state=0)
    assert KernelMeanPrior(variant, max_points=1000).fit(data.X, data.y).prior_ == pytest.approx(0.3, abs=0.09)


# --- bad input ---


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (KernelMeanPrior("km3"), "km1.*km2"),
        (KernelMeanPrior(bandwidth=-1.0), "bandwidth.*above 0"),
        (KernelMeanPrior(max_points=3), "max_points.*4 or more"),
        (BestBinPrior(LogisticRegression(), n_folds=1), "n_folds.*2 or more"),
        (ElkanNotoPrior(n_folds=2.5), "n_folds.*2 or more"),
        (DedpulPrior(method="mode"), "ratio.*em"),
        (DedpulPrior(eta=0), "eta"),
        (DensityPrior(eta=1.5), "eta"),
        (DensityPrior(max_evaluations=0), "max_evaluations.*2 or more"),
        (BestBinPrior(max_evaluations=2.5), "max_evaluations.*2 or more"),
        (DedpulPrior(max_evaluations="all"), "max_evaluations.*2 or more"),
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


def test_infinity_is_refused(name):
    with pytest.raises(ValueError, match="infinity"):
        clone(PRIORS[name]).fit([[np.inf], [1.0], [2.0], [3.0]], [1, 1, 0, 0])


# --- side by side ---


@pytest.mark.parametrize(
    ("values", "words"),
    [((0.1, 0.11), "agree:"), ((0.1, 0.16), "agree roughly"), ((0.1, 0.5), "disagree"), ((0.1,), "too few")],
)
def test_the_verdict(values, words):
    found = {f"e{i}": PriorEstimate(value, 0, 1, "e") for i, value in enumerate(values)}
    assert words in PriorComparison(found | {"density": PriorEstimate(0.9, 0, 1, "density")}, {}).verdict


# --- KM1 and KM2 as released ---


@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_kernel_means_as_released_by_a_generic_solver(variant):
    """Distances to the hull by SciPy's solver, then the slopes and the bisection spelled out."""
    data = make_gaussians(8, 14, prior=0.5, random_state=3)
    rows = np.concatenate([data.unlabeled, data.positive])
    sq_dist = ((rows[:, None] - rows) ** 2).sum(axis=2)
    u, p = np.repeat([1 / 14, 0], [14, 8]), np.repeat([0, 1 / 8], [14, 8])
    widths = np.sqrt(np.median(sq_dist)) * np.array([0.1, 10**-0.5, 1, 10**0.5, 10])
    grams = [np.exp(-sq_dist / (2 * width**2)) for width in widths]
    gaps = [np.sqrt((u - p) @ gram @ (u - p)) for gram in grams]
    gram, gap = grams[int(np.argmax(gaps))], max(gaps)

    def distance(ratio):
        target = ratio * u + (1 - ratio) * p
        found = minimize(
            lambda w: (w - target) @ gram @ (w - target),
            np.full(22, 1 / 22),
            jac=lambda w: 2 * gram @ (w - target),
            bounds=[(0, 1)] * 22,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda _: np.ones(22)},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        return np.sqrt(max(found.fun, 0))

    km2 = 0.8 * (distance(1.05) - distance(1.0)) / 0.05 + 0.2 * gap
    nu = km2 if variant == "km2" or 0.9 * gap < 8**-0.5 else 8**-0.5
    low, high = 1.0, 8.0
    while high - low > 0.04:
        middle = (low + high) / 2
        if (distance(middle + 0.02) - distance(middle)) / 0.02 > nu:
            high = middle
        else:
            low = middle
    fitted = KernelMeanPrior(variant, released=True).fit(data.X, data.y)
    assert fitted.bandwidth_ == pytest.approx(widths[int(np.argmax(gaps))])
    assert fitted.prior_ == pytest.approx(1 - 2 / (low + high))


def test_whether_as_released_is_a_truth_value():
    data = make_gaussians(8, 14, prior=0.5, random_state=3)
    with pytest.raises(ValueError, match="released must be True or False; got 'no'"):
        KernelMeanPrior("km1", released="no").fit(data.X, data.y)


def test_kernel_means_as_released_take_no_weights():
    data = make_gaussians(8, 14, prior=0.5, random_state=3)
    with pytest.raises(ValueError, match="takes no weights"):
        KernelMeanPrior("km1", released=True).fit(data.X, data.y, sample_weight=np.full(22, 2.0))
