"""PU metrics: against hidden truth, as identities with scikit-learn's, and inside its model selection."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn import metrics as supervised
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.svm import LinearSVC

from unlabeled import WMMDClassifier
from unlabeled import metrics as pu
from unlabeled.datasets import make_gaussians
from unlabeled.metrics import LOSSES, SCORERS, PUStratifiedKFold, pu_scorer
from unlabeled.samples import SCENARIOS

OF_CLASSES = {
    "pu_recall": supervised.recall_score,
    "pu_precision": lambda y, p, **kw: supervised.precision_score(y, p, zero_division=0, **kw),
    "pu_f1": lambda y, p, **kw: supervised.f1_score(y, p, zero_division=0, **kw),
    "pu_accuracy": supervised.accuracy_score,
    "pu_flagged_rate": lambda _y, p, sample_weight=None: np.average(p, weights=sample_weight),
}
OF_SCORES = {"pu_roc_auc": supervised.roc_auc_score, "pu_average_precision": supervised.average_precision_score}
PRIOR_FREE = {"pu_recall", "pu_flagged_rate", "pu_lee_liu", "proxy_roc_auc"}
ALL_OF_CLASSES = [*OF_CLASSES, "pu_lee_liu", "proxy_accuracy"]
ALL_OF_SCORES = [*OF_SCORES, "proxy_roc_auc", "pu_risk"]


def estimate(name, y, answer, prior, **options):
    if name not in PRIOR_FREE:
        options["prior"] = prior
    return getattr(pu, name)(y, answer, **options)


@cache
def draw(scenario, prior, n=200_000, seed=0):
    """Labels, one score, and the hidden classes of n rows; scores are N(1, 1) for positives and N(-1, 1) otherwise."""
    rng = np.random.default_rng(seed)
    if scenario == "single-sample":
        truth = rng.uniform(size=n) < prior
        labelled = truth & (rng.uniform(size=n) < 0.5)
    else:
        labelled = np.arange(n) < n // 3
        truth = labelled | (rng.uniform(size=n) < prior)
    return labelled.astype(int), rng.normal(np.where(truth, 1.0, -1.0)), truth


def population(scenario, y):
    return np.ones(len(y), dtype=bool) if scenario == "single-sample" else y == 0


def tolerance(name, prior):
    """0.01; where positives are rare, three standard errors of the difference to the hidden truth, if that is more.

    Of 200,000 rows 10,000 are positive then, and 5,000 of them labelled: recall alone has 0.005.
    """
    rare = {"pu_recall": 0.015, "pu_precision": 0.025, "pu_f1": 0.025, "pu_average_precision": 0.045}
    return rare.get(name, 0.01) if prior < 0.1 else 0.01


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prior", [0.05, 0.2, 0.5, 0.8])
class TestAgainstHiddenTruth:
    @pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.7])
    def test_metrics_of_classes(self, scenario, prior, threshold):
        y, score, truth = draw(scenario, prior)
        of, flags = population(scenario, y), score > threshold
        for name, true_metric in OF_CLASSES.items():
            expected = true_metric(truth[of], flags[of])
            found = estimate(name, y, flags.astype(int), prior, scenario=scenario)
            assert found == pytest.approx(expected, abs=tolerance(name, prior)), name

    def test_metrics_of_scores(self, scenario, prior):
        y, score, truth = draw(scenario, prior)
        of = population(scenario, y)
        for name, true_metric in OF_SCORES.items():
            expected = true_metric(truth[of], score[of])
            found = estimate(name, y, score, prior, scenario=scenario)
            assert found == pytest.approx(expected, abs=tolerance(name, prior)), name

    def test_closed_forms(self, scenario, prior):
        """Recall, flagged rate and AUC of two Gaussians, from the normal distribution function."""
        y, score, _ = draw(scenario, prior)
        flags = (score > 0.5).astype(int)
        recall, false_alarms = norm.cdf(1 - 0.5), norm.cdf(-1 - 0.5)
        flagged = prior * recall + (1 - prior) * false_alarms
        auc = norm.cdf(2 / np.sqrt(2))
        expected = {
            "pu_recall": recall,
            "pu_precision": prior * recall / flagged,
            "pu_accuracy": prior * recall + (1 - prior) * (1 - false_alarms),
            "proxy_accuracy": prior + prior * recall + (1 - prior) * (1 - false_alarms),
        }
        for name, value in expected.items():
            assert estimate(name, y, flags, prior, scenario=scenario) == pytest.approx(value, abs=0.01)
        # The score of Lee and Liu is of the size 1/prior, so its error is judged in that unit.
        lee_liu = pu.pu_lee_liu(y, flags, scenario=scenario)
        assert prior * lee_liu == pytest.approx(prior * recall**2 / flagged, abs=0.01)
        assert pu.pu_roc_auc(y, score, prior=prior, scenario=scenario) == pytest.approx(auc, abs=0.01)
        proxy = pu.proxy_roc_auc(y, score, scenario=scenario)
        assert proxy == pytest.approx(prior / 2 + (1 - prior) * auc, abs=0.01)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_risks(self, scenario, prior, loss):
        y, score, truth = draw(scenario, prior)
        of = population(scenario, y)
        decision = score - 0.3
        true_losses = np.where(truth, LOSSES[loss](decision, 1), LOSSES[loss](decision, -1))
        found = pu.pu_risk(y, decision, prior=prior, loss=loss, scenario=scenario)
        assert found == pytest.approx(true_losses[of].mean(), abs=0.01)


class PopulationOfGaussians:
    """What the metrics are in the population that `draw` draws from, and their standard errors by the delta method."""

    scores = np.linspace(-8, 9, 20_001)
    step = scores[1] - scores[0]

    def __init__(self, scenario, prior, n_positive, n_population):
        self.prior, self.sizes, self.is_single = prior, (n_positive, n_population), scenario == "single-sample"
        self.positive = norm.pdf(self.scores - 1)
        self.everyone = prior * self.positive + (1 - prior) * norm.pdf(self.scores + 1)
        self.recall = norm.sf(self.scores - 1)
        self.flagged = prior * self.recall + (1 - prior) * norm.sf(self.scores + 1)

    def standard_error(self, of_positive, of_everyone):
        """Of an estimate, from what a labelled row and a row of the population add to it at each score."""
        of_positive = of_positive - self.mean(of_positive, self.positive)
        of_everyone = of_everyone - self.mean(of_everyone, self.everyone)
        n_positive, n_population = self.sizes
        variance = self.mean(of_positive**2, self.positive) / n_positive
        variance += self.mean(of_everyone**2, self.everyone) / n_population
        if self.is_single:  # labelled rows are in the population too
            variance += 2 * self.mean(of_positive * of_everyone, self.positive) / n_population
        return np.sqrt(variance)

    def mean(self, values, density):
        return (values * density).sum() * self.step

    def average_precision(self):
        precision = self.prior * self.recall / self.flagged
        below = [
            np.cumsum(part * self.positive) * self.step
            for part in (self.prior / self.flagged, precision / self.flagged)
        ]
        return self.mean(precision, self.positive), self.standard_error(precision + below[0], -below[1])

    def precision(self, threshold):
        k = np.searchsorted(self.scores, threshold)
        found, above = self.prior * self.recall[k], (self.scores > threshold).astype(float)
        value = found / self.flagged[k]
        return value, self.standard_error(self.prior * above / self.flagged[k], -value * above / self.flagged[k])

    def f1(self, threshold):
        k = np.searchsorted(self.scores, threshold)
        above, whole = (self.scores > threshold).astype(float), self.flagged[k] + self.prior
        value = 2 * self.prior * self.recall[k] / whole
        return value, self.standard_error(2 * self.prior * above / whole, -value * above / whole)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_ratios_at_a_small_prior_are_off_by_their_standard_error(scenario):
    """Precision, F1 and average precision are noisy where positives are rare: noise of the known size, and no bias."""
    prior, n_draws = 0.05, 10
    errors, standard_errors = [], []
    for seed in range(n_draws):
        y, score, _ = draw.__wrapped__(scenario, prior, seed=seed)
        truth = PopulationOfGaussians(scenario, prior, y.sum(), population(scenario, y).sum())
        options = {"prior": prior, "scenario": scenario}
        expected = [truth.average_precision()]
        found = [pu.pu_average_precision(y, score, **options)]
        for threshold in (-1.0, 0.7, 1.5):
            flags = (score > threshold).astype(int)
            expected += [truth.precision(threshold), truth.f1(threshold)]
            found += [pu.pu_precision(y, flags, **options), pu.pu_f1(y, flags, **options)]
        values, standard_errors = np.transpose(expected)
        errors.append((found - values) / standard_errors)
    assert (standard_errors < 0.016).all()  # what the docstring of the package says
    assert np.abs(errors).max() < 4
    assert (np.abs(np.mean(errors, axis=0)) < 3 / np.sqrt(n_draws)).all()
    assert (np.std(errors, axis=0) > 0.3).all()  # no smaller than they are either


def test_the_scenarios_are_not_the_same():
    """Read as the other scenario, precision is far off: the confusion that the scenario is there to prevent."""
    y, score, truth = draw("single-sample", 0.3)
    flags = (score > 0).astype(int)
    true_precision = supervised.precision_score(truth, flags)
    wrong = pu.pu_precision(y, flags, prior=0.3, scenario="case-control")
    assert abs(wrong - true_precision) > 0.05


# --- identities that hold for every table ---

tables = st.integers(3, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda y: any(y) and not all(y)),
        st.lists(st.integers(-4, 4), min_size=n, max_size=n),  # few values, so that ties are common
        st.lists(st.integers(1, 4), min_size=n, max_size=n),
    )
)


@given(tables)
def test_a_fully_labelled_single_sample_is_the_supervised_case(table):
    truth, scores, weights = (np.array(column) for column in table)
    prior, flags = float(np.average(truth, weights=weights)), (scores > 0).astype(int)
    options = {"scenario": "single-sample", "sample_weight": weights}
    for name, true_metric in (OF_CLASSES | OF_SCORES).items():
        answer = flags if name in OF_CLASSES else scores
        expected = true_metric(truth.astype(int), answer, sample_weight=weights)
        assert estimate(name, truth, answer, prior, **options) == pytest.approx(expected)


@given(tables)
def test_positives_that_copy_the_hidden_ones_make_case_control_the_supervised_case(table):
    """P holds exactly the positives of U: every estimate is then the true value in U, noise and all."""
    truth, scores, weights = (np.array(column) for column in table)
    prior = float(np.average(truth, weights=weights))
    y = np.r_[np.ones(truth.sum()), np.zeros(len(truth))]
    scores, weights, n_copied = np.r_[scores[truth], scores], np.r_[weights[truth], weights], truth.sum()
    flags = (scores > 0).astype(float)
    for name, true_metric in (OF_CLASSES | OF_SCORES).items():
        answer = flags if name in OF_CLASSES else scores
        expected = true_metric(truth.astype(int), answer[n_copied:], sample_weight=weights[n_copied:])
        assert estimate(name, y, answer, prior, sample_weight=weights) == pytest.approx(expected)


@given(tables, st.sampled_from(SCENARIOS), st.floats(0.6, 0.95))
def test_weights_are_repetitions_and_order_does_not_matter(table, scenario, prior):
    y, scores, weights = (np.array(column) for column in table)
    options = {"scenario": scenario}
    if scenario == "single-sample":
        prior = max(prior, float(np.average(y, weights=weights)) * 0.5 + 0.5)
    repeated = np.random.default_rng(0).permutation(np.repeat(np.arange(len(y)), weights))
    for name in ALL_OF_CLASSES + ALL_OF_SCORES:
        answer = scores > 0 if name in ALL_OF_CLASSES else scores
        if name == "pu_lee_liu" and not answer[~y].any():
            continue  # no row of the population is flagged, and one row stands for the rate
        weighted = estimate(name, y, answer, prior, sample_weight=weights, **options)
        assert weighted == pytest.approx(estimate(name, y[repeated], answer[repeated], prior, **options))


@given(tables, st.sampled_from(SCENARIOS))
def test_relations_between_the_metrics(table, scenario):
    y, scores, weights = (np.array(column) for column in table)
    prior = max(0.5, float(np.average(y, weights=weights)))
    options = {"scenario": scenario, "sample_weight": weights}
    found = {name: estimate(name, y, scores > 0, prior, **options) for name in ALL_OF_CLASSES}
    assert found["pu_accuracy"] == pytest.approx(1 - estimate("pu_risk", y, scores, prior, **options))
    assert found["proxy_accuracy"] == pytest.approx(found["pu_accuracy"] + prior)
    assert all(0 <= found[name] <= 1 + 1e-12 for name in ("pu_recall", "pu_precision", "pu_f1", "pu_flagged_rate"))
    if found["pu_recall"] > 0:
        assert found["pu_f1"] == pytest.approx(2 / (1 / found["pu_precision"] + 1 / found["pu_recall"]))
    reversed_area = estimate("pu_roc_auc", y, -scores, prior, **options)
    assert estimate("pu_roc_auc", y, scores, prior, **options) == pytest.approx(1 - reversed_area)
    assert 0 <= estimate("pu_average_precision", y, scores, prior, **options) <= 1 + 1e-12


@given(tables, st.sampled_from(SCENARIOS))
def test_scores_count_by_their_order_alone(table, scenario):
    y, scores, _ = (np.array(column) for column in table)
    prior = max(0.5, y.mean())
    for name in ("pu_roc_auc", "pu_average_precision", "proxy_roc_auc"):
        plain = estimate(name, y, scores, prior, scenario=scenario)
        assert estimate(name, y, np.exp(scores), prior, scenario=scenario) == pytest.approx(plain)


# --- noise and edges ---


def test_precision_where_no_unlabeled_row_is_flagged():
    y, flags = [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]
    assert pu.pu_precision(y, flags, prior=0.2) == 1
    assert pu.pu_f1(y, flags, prior=0.2) == pytest.approx(2 / (1 + 2))
    assert pu.pu_lee_liu(y, flags) == pytest.approx(0.5**2 * 3)


def test_nothing_flagged():
    y, flags = [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]
    assert pu.pu_precision(y, flags, prior=0.2) == 0
    assert pu.pu_f1(y, flags, prior=0.2) == 0
    assert pu.pu_lee_liu(y, flags) == 0


def test_sums_may_leave_the_unit_interval():
    """Of U nothing is flagged although the prior says a third is positive: unbiased, so above 1."""
    assert pu.pu_accuracy([1, 0, 0], [1, 0, 0], prior=1 / 3) == pytest.approx(1 + 1 / 3)
    assert pu.pu_roc_auc([1, 0, 0], [3, 2, 1], prior=1 / 3) == pytest.approx(1.25)


def test_a_decision_of_zero_is_negative_as_in_predict():
    assert pu.pu_risk([1, 0], [0.0, 0.0], prior=0.4) == pytest.approx(0.4)


@pytest.mark.parametrize("spelling", [(-1, 1), (False, True), ("unlabeled", "positive"), ("", "yes")])
def test_any_two_values_mark_the_samples(spelling):
    spelled = np.array(spelling)[[1, 0, 0, 1]]
    assert pu.pu_recall(spelled, spelled[[0, 1, 1, 1]]) == pytest.approx(0.5)


def test_one_row_more_than_the_prior_allows_is_rounding_and_two_are_an_error():
    y, flags = np.r_[np.ones(3), np.zeros(7)], np.r_[np.ones(3), np.zeros(7)]
    assert pu.pu_precision(y, flags, prior=0.25, scenario="single-sample") == pytest.approx(0.25 / 0.3)
    with pytest.raises(ValueError, match="below the labelled share"):
        pu.pu_precision(y, flags, prior=0.15, scenario="single-sample")
    assert pu.pu_precision(y, flags, prior=0.15) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pu.pu_recall([1, 1], [1, 1]), "only one class"),
        (lambda: pu.pu_recall([1, 0], [0.3, 0.7]), r"predicted classes.*pu_roc_auc"),
        (lambda: pu.pu_recall([1, 0], [1, 0, 0]), "must agree"),
        (lambda: pu.pu_roc_auc([1, 0], [1, 0, 0], prior=0.5), "must agree"),
        (lambda: pu.pu_roc_auc([1, 0], [1, np.nan], prior=0.5), "NaN"),
        (lambda: pu.pu_risk([1, 0], [1, np.inf], prior=0.5), "infinity"),
        (lambda: pu.pu_precision([1, 0], [1, 0], prior=0), "strictly between"),
        (lambda: pu.pu_precision([1, 0], [1, 0], prior=30), "strictly between"),
        (lambda: pu.pu_risk([1, 0], [1, 0], prior=0.5, loss="squared"), "double-hinge"),
        (lambda: pu.pu_recall([1, 0], [1, 0], scenario="both"), "single-sample"),
        (lambda: pu.pu_recall([1, 0], [1, 0], sample_weight=[0, 1]), "labelled positives"),
        (lambda: pu.pu_recall([1, 0], [1, 0], sample_weight=[1, 0]), "unlabeled rows"),
        (lambda: pu_scorer("recal"), "recall"),
        (lambda: pu_scorer("f1"), "needs the prior"),
        (lambda: pu_scorer("recall", scenario="one"), "single-sample"),
    ],
)
def test_errors_name_the_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- inside scikit-learn's model selection ---


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussians(60, 200, 1, prior=0.4, random_state=0)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scorer_equals_its_metric_on_the_fold(gaussians, scenario):
    model = WMMDClassifier(0.4, gamma=0.5, scenario=scenario)
    scorers = {name: pu_scorer(name, prior=0.4, scenario=scenario) for name in SCORERS}
    found = cross_validate(
        model,
        gaussians.X,
        gaussians.y,
        scoring=scorers,
        cv=PUStratifiedKFold(3),
        return_estimator=True,
        return_indices=True,
    )
    test = found["indices"]["test"][0]
    fitted, y = found["estimator"][0], gaussians.y[test]
    flags, decision = fitted.predict(gaussians.X[test]), fitted.decision_function(gaussians.X[test])
    for name in SCORERS:
        if name.endswith("-risk"):
            expected = -pu.pu_risk(y, decision, prior=0.4, loss=name.removesuffix("-risk"), scenario=scenario)
        else:
            function = name.replace("-", "_") if name.startswith("proxy") else "pu_" + name.replace("-", "_")
            expected = estimate(function, y, flags if function in ALL_OF_CLASSES else decision, 0.4, scenario=scenario)
        assert found[f"test_{name}"][0] == pytest.approx(expected), name


def test_grid_search_finds_the_better_gamma(gaussians):
    search = GridSearchCV(
        WMMDClassifier(0.4),
        {"gamma": [1e5, 0.3]},
        scoring=pu_scorer("accuracy", prior=0.4),
        cv=PUStratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(gaussians.X, gaussians.y)
    assert search.best_params_ == {"gamma": 0.3}


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["proba", "decision"])
def test_scorers_take_any_classifier(gaussians, model):
    for name in ("roc-auc", "average-precision", "f1"):
        assert np.isfinite(cross_val_score(model, gaussians.X, gaussians.y, scoring=pu_scorer(name, prior=0.4))).all()


# --- known negatives ---


@dataclass
class Says(ClassifierMixin, BaseEstimator):
    """A classifier whose decision is the first column."""

    classes: tuple = ("cleared", "fraud")

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.array(self.classes)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture(scope="module")
def three_samples():
    """Decisions with ties, counts, and labels of 8 frauds, 30 unlabeled rows and 12 that were cleared."""
    rng = np.random.RandomState(0)
    y = np.repeat(["fraud", "", "cleared"], [8, 30, 12])
    means = np.r_[np.full(8, 1.0), rng.choice([-1.0, 1.0], 30), np.full(12, -1.0)]
    return np.round(rng.normal(means, 1), 1)[:, None], y, rng.randint(1, 4, 50).astype(float)


HOW = {"prior": 0.3, "pos_label": "fraud", "negative": "cleared"}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", SCORERS)
def test_picked_negatives_are_unlabeled_rows_of_a_single_sample_and_else_left_out(name, scenario, three_samples):
    X, y, weights = three_samples
    kept = np.ones(50, dtype=bool) if scenario == "single-sample" else y != "cleared"
    two = np.where(y == "fraud", "fraud", "")[kept]
    model = Says().fit(X, y)
    found = pu_scorer(name, scenario=scenario, **HOW)(model, X, y, sample_weight=weights)
    plain = pu_scorer(name, prior=0.3, scenario=scenario, pos_label="fraud")
    expected = plain(Says(("", "fraud")).fit(X, y), X[kept], two, sample_weight=weights[kept])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "supervised_metric"),
    [
        ("precision", supervised.precision_score),
        ("f1", supervised.f1_score),
        ("accuracy", supervised.accuracy_score),
        ("roc-auc", supervised.roc_auc_score),
        ("zero-one-risk", lambda *a, **how: -supervised.zero_one_loss(*a, **how)),
    ],
)
def test_random_negatives_alone_are_the_supervised_case(name, supervised_metric, three_samples):
    """Of positives and negatives that are weighted by the prior; the unlabeled rows hardly count."""
    X, y, weights = three_samples
    weights = np.where(y == "", 1e-9, weights)
    score = pu_scorer(name, negatives_are="random", **HOW)(Says().fit(X, y), X, y, sample_weight=weights)
    known = y != ""
    truth, by_class = y[known] == "fraud", weights[known]
    by_class = by_class * np.where(truth, 0.3 / by_class[truth].sum(), 0.7 / by_class[~truth].sum())
    answer = X[known, 0] if name == "roc-auc" else X[known, 0] > 0
    assert score == pytest.approx(supervised_metric(truth, answer, sample_weight=by_class), abs=1e-6)


@pytest.mark.parametrize("share", [0.4, "random"])
def test_random_negatives_and_positives_are_a_second_sample_of_the_population(share, three_samples):
    X, y, _ = three_samples
    flags = X[:, 0] > 0
    recall, of_unlabeled, of_negatives = (flags[y == value].mean() for value in ("fraud", "", "cleared"))
    n_second = (1.0 if share == "random" else share) * 12 / 0.7
    flagged = (30 * of_unlabeled + n_second * (0.3 * recall + 0.7 * of_negatives)) / (30 + n_second)
    score = pu_scorer("accuracy", negatives_are=share, **HOW)(Says().fit(X, y), X, y)
    assert score == pytest.approx(1 - 0.3 - flagged + 2 * 0.3 * recall)


def test_a_search_with_known_negatives(gaussians):
    truth = np.r_[np.ones(len(gaussians.positive)), gaussians.unlabeled_truth].astype(bool)
    y = gaussians.y.copy()
    y[np.flatnonzero(~truth)[:30]] = -1
    search = GridSearchCV(
        WMMDClassifier(0.4, negative=-1),
        {"gamma": [1e5, 0.3]},
        scoring=pu_scorer("accuracy", prior=0.4, negative=-1, negatives_are="random"),
        cv=PUStratifiedKFold(3, shuffle=True, random_state=0, negative=-1),
    ).fit(gaussians.X, y)
    assert search.best_params_ == {"gamma": 0.3}


def test_folds_hold_their_share_of_known_negatives():
    y = np.random.default_rng(0).permutation(np.repeat([1, 0, -1], [9, 30, 12]))
    for _, test in PUStratifiedKFold(3, negative=-1).split(y, y):
        assert [(y[test] == value).sum() for value in (1, 0, -1)] == [3, 10, 4]
    with pytest.raises(ValueError, match="12 known negatives for n_splits=13"):
        PUStratifiedKFold(13, negative=-1).split(np.zeros(112), np.repeat([1, 0, -1], [50, 50, 12]))
    with pytest.raises(ValueError, match="name it by negative="):
        PUStratifiedKFold(3).split(y, y)


@pytest.mark.parametrize("choice", ["auto", 1.5, True])
def test_what_says_nothing_of_negatives_is_refused(choice):
    with pytest.raises(ValueError, match="is not known; use one of"):
        pu_scorer("f1", prior=0.3, negative=-1, negatives_are=choice)


# --- folds ---


@given(st.integers(2, 6), st.integers(6, 30), st.integers(6, 60), st.booleans())
def test_folds_hold_their_share_of_both_samples(n_splits, n_positive, n_unlabeled, shuffle):
    y = np.random.default_rng(0).permutation(np.repeat(["fraud", "a row"], [n_positive, n_unlabeled]))
    splitter = PUStratifiedKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None, pos_label="fraud")
    folds = list(splitter.split(y, y))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert not set(train) & set(test)
        for value, count in (("fraud", n_positive), ("a row", n_unlabeled)):
            assert abs((y[test] == value).sum() - count / n_splits) < 1


def test_fewer_positives_than_folds():
    with pytest.raises(ValueError, match=r"3 labelled positives for n_splits=5.*use n_splits=3"):
        PUStratifiedKFold(5).split(np.zeros(50), np.r_[np.ones(3), np.zeros(47)])
