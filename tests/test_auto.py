import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled import ElkanNotoClassifier, explain, load, save
from unlabeled.classifiers import pu
from unlabeled.classifiers.pu import PARTS, PUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.classifiers.weighing import LEAST_WEIGHT, MOST_MIXTURES, STEPS, Comparison, mixtures
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.contract import PUInput
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import TargetRecall
from unlabeled.priors import KernelMeanPrior, PriorWarning
from unlabeled.priors.auto import AutoPrior
from unlabeled.samples import SCENARIOS


@pytest.fixture(scope="module")
def data():
    return make_gaussians(100, 400, 2000, random_state=0)


@pytest.fixture(scope="module")
def sparse_signal():
    """Thirty wild features of which two matter, by their product: distances drown, trees do not."""

    def draw(n, positive):
        rng = np.random.default_rng(n + positive)
        X = rng.standard_t(2, size=(10 * n, 30))
        return X[(X[:, 0] > 0.3) & (X[:, 1] > 0.3) if positive else (X[:, 0] < 0) | (X[:, 1] < 0)][:n]

    positive, unlabeled = draw(400, True), np.vstack([draw(500, True), draw(500, False)])
    test, truth = np.vstack([draw(901, True), draw(901, False)]), np.repeat([True, False], 901)
    return np.vstack([positive, unlabeled]), np.repeat([1, 0], [400, 1000]), test, truth


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")  # all positives of these tables are labelled
@pytest.mark.filterwarnings("ignore::unlabeled.priors.PriorWarning")  # and many of them tell nothing
@parametrize_with_checks([PUClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rings():
    """Two rings in a plane, of four wedges each: near rows are alike, and boxes fit them badly."""

    def draw(n, inner):
        rng = np.random.default_rng(n + inner)
        angle = rng.uniform(0, 2 * np.pi, n)
        radius = np.where(np.floor(angle / (np.pi / 4)) % 2 == inner, 1.0, 2.0)
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(scale=0.1, size=(n, 2))

    X = np.vstack([draw(300, 1), draw(450, 1), draw(451, 0)])
    return X, np.repeat([1, 0], [300, 901])


def test_distances_where_they_tell(rings):
    model = PUClassifier(0.5).fit(*rings)
    assert model.chosen_ == "wmmd"
    assert set(model.parts_) == {"wmmd"}
    assert "Distances alone: labelled rows are told from unlabeled ones best so" in model.reason_
    assert model.comparison_.weights["score"] < LEAST_WEIGHT


def test_a_learned_score_where_distances_drown(sparse_signal):
    X, y, test, truth = sparse_signal
    model = PUClassifier(0.5).fit(X, y)
    assert model.comparison_.best == "score"
    assert model.comparison_.weights["score"] > 0.7
    assert "least-squares" not in model.parts_
    plain = WMMDClassifier(0.5).fit(X, y)
    areas = [roc_auc_score(truth, each.score_samples(test)) for each in (model, plain)]
    assert areas[0] > areas[1] + 0.05


@pytest.fixture(scope="module")
def around():
    """One class around the other in eight dimensions."""

    def draw(n, seed):
        X = np.random.default_rng(seed).normal(size=(n, 8))
        return X, (X**2).sum(axis=1) > 7.34

    labelled, is_positive = draw(300, 1)
    X = np.vstack([labelled[is_positive][:100], draw(1000, 0)[0]])
    return X, np.repeat([1, 0], [100, 1000]), *draw(2000, 2)


def test_a_fitted_ratio_where_one_class_lies_around_the_other(around):
    X, y, test, truth = around
    model = PUClassifier(0.5).fit(X, y)
    assert model.comparison_.best == "least-squares"
    assert model.comparison_.weights["least-squares"] > 0.9
    areas = [roc_auc_score(truth, each.score_samples(test)) for each in (model, WMMDClassifier(0.5).fit(X, y))]
    assert areas[0] > areas[1] + 0.1


def test_all_where_none_leads_clearly(data):
    """The score is the weighted sum; in units of their spreads the weights are the shares of the comparison."""
    few = np.r_[:15, 100:250]
    model = PUClassifier().fit(data.X[few], data.y[few])
    assert model.chosen_ == "wmmd+least-squares+score"
    shares = model.comparison_.weights
    counts = "{wmmd:.0%}, {least-squares:.0%} and {score:.0%}".format(**shares)
    assert f"Distances, the fitted ratio and the learned score count {counts}: log-likelihood alone" in model.reason_
    for name, value in zip(model.comparison_.names, model.comparison_.log_likelihoods, strict=True):
        assert f"{value:.4f} of {PARTS[name].words}" in model.reason_
    expected = sum(model.weights_[name] * part.score_samples(data.test) for name, part in model.parts_.items())
    np.testing.assert_allclose(model.score_samples(data.test), expected)
    in_spreads = {name: model.weights_[name] * part.honest_scores_.spread for name, part in model.parts_.items()}
    for name, value in in_spreads.items():
        assert value / sum(in_spreads.values()) == pytest.approx(shares[name])
    assert model.prior_estimator_.honest_scores_ is model.honest_scores_
    assert model.prior_ == AutoPrior().fit_scores(model.honest_scores_).prior_
    score, decision, proba = (
        getattr(model, name)(data.test) for name in ("score_samples", "decision_function", "predict_proba")
    )
    np.testing.assert_array_equal(decision, score - model.threshold_)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(model.predict(data.test) == 1, decision > 0)


@pytest.mark.slow
def test_both_are_better_than_either_where_neither_leads():
    """Half of the signal in distances, half in one wild feature: the mean has more than each."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)

        def draw(n, sign, rng=rng):
            return np.c_[rng.normal(0.5 * sign, 1, (n, 4)), rng.standard_t(1, n) + 1.5 * sign]

        X = np.vstack([draw(40, 1), draw(200, 1), draw(200, -1)])
        test, truth = np.vstack([draw(2000, 1), draw(2000, -1)]), np.repeat([True, False], 2000)
        model = PUClassifier(0.5).fit(X, np.repeat([1, 0], [40, 400]))
        parts = WMMDClassifier(0.5), ScoreWMMDClassifier(prior=0.5)
        areas = [roc_auc_score(truth, part.fit(X, np.repeat([1, 0], [40, 400])).score_samples(test)) for part in parts]
        gains.append(roc_auc_score(truth, model.score_samples(test)) - np.array(areas))
    assert (np.mean(gains, axis=0) > 0).all()


def honest_scores(rng, n_positive, *leads):
    """Scores of positives that lie above those of 400 unlabeled rows by leads, with noise of their own."""
    positive = np.array([rng.normal(lead, 1, n_positive) for lead in leads])
    unlabeled = rng.normal(0, 1, (len(leads), 400))
    return HonestScores(positive, unlabeled, np.ones(n_positive), np.ones(400))


def test_shares_follow_from_the_likelihoods_of_mixtures(rng):
    """By definition: the mean of all mixtures on the grid, each counted by its likelihood."""
    scores = honest_scores(rng, 30, 1.0, 0.7)
    found = Comparison.of(("a", "b"), scores)
    likelihoods, spreads = [], [one.spread for one in scores.each()]
    for share in np.linspace(0, 1, STEPS + 1):
        mixture = scores.weighted_sum(np.array([share, 1 - share]) / spreads)
        likelihoods.append(60 * IsotonicRatio.fit(mixture).log_likelihood())
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    assert found.weights["a"] == pytest.approx(weights @ np.linspace(0, 1, STEPS + 1) / weights.sum())
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.log_likelihoods[0] == pytest.approx(likelihoods[-1] / 60)
    assert found.in_use(alone=True) == {found.best: 1.0}


def test_a_score_that_adds_nothing_loses_its_share_as_positives_become_many(rng):
    shares = [
        np.mean([Comparison.of(("good", "noise"), honest_scores(rng, n, 2.0, 0.0)).shares[1] for _ in range(10)])
        for n in (5, 30, 300)
    ]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.02


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_a_score_that_is_the_same_for_all_rows_has_no_share(rng, constant):
    """It has no units, and would drown the others in these."""
    scores = honest_scores(rng, 30, 1.0, 0.7)
    same = [np.vstack([each, np.full(each.shape[1], constant)]) for each in (scores.positive, scores.unlabeled)]
    found = Comparison.of(("a", "b", "same"), replace(scores, positive=same[0], unlabeled=same[1]))
    expected = Comparison.of(("a", "b"), scores)
    np.testing.assert_array_equal(found.shares, [*expected.shares, 0.0])
    np.testing.assert_array_equal(found.log_likelihoods, [*expected.log_likelihoods, np.log(1 / 2)])
    alike = replace(scores, positive=np.ones((2, 30)), unlabeled=np.ones((2, 400)))
    np.testing.assert_allclose(Comparison.of(("a", "b"), alike).shares, 0.5)


def test_scores_that_complete_each_other_share_whatever_they_tell_alone(rng):
    found = Comparison.of(("more", "less"), honest_scores(rng, 400, 1.5, 1.0))
    assert found.best == "more"
    assert found.weights["less"] > 0.2


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_mixtures_are_all_shares_in_steps(n):
    found = mixtures(n)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    every = {shares for shares in product(range(STEPS + 1), repeat=n) if sum(shares) == STEPS}
    assert {tuple(np.round(shares * STEPS).astype(int)) for shares in found} == every
    assert len(found) == len(every)


@pytest.mark.parametrize("n", [12, 13, 40, 200])
def test_mixtures_of_many_scores_are_few(n):
    found = mixtures(n)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert n <= len(found) <= MOST_MIXTURES
    assert ((found == 1).sum(axis=0) == 1).all()  # each alone, once


def test_what_has_too_little_weight_is_left_out():
    comparison = Comparison(("a", "b", "c"), np.array([-0.5, -0.6, -0.6]), np.array([0.6, 0.36, 0.04]))
    assert comparison.in_use() == pytest.approx({"a": 0.625, "b": 0.375})
    level = Comparison(tuple(f"p{i}" for i in range(25)), np.zeros(25), np.full(25, 0.04))
    assert len(level.in_use()) == 25


def test_the_papers_threshold_takes_one_of_them(data):
    model = PUClassifier(0.5, threshold="bayes").fit(data.X, data.y)
    assert model.chosen_ == model.comparison_.best
    assert model.threshold_ == pytest.approx(-np.log(2 * 0.5))


def test_it_answers_as_the_chosen_one_does(rings):
    X, y = rings
    model = PUClassifier(0.5, threshold=TargetRecall(0.9)).fit(X, y)
    alone = WMMDClassifier(0.5, threshold=TargetRecall(0.9)).fit(X, y)
    assert model.chosen_ == "wmmd"
    for method in ("score_samples", "decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(alone, method)(X))
    assert (model.prior_, model.threshold_) == (alone.prior_, alone.threshold_)
    assert pickle.loads(pickle.dumps(model)).reason_ == model.reason_


def test_data_frames(data):
    frame = pd.DataFrame(data.X, columns=["a", "b"])
    model = PUClassifier(0.5).fit(frame, data.y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    for part in model.parts_.values():
        np.testing.assert_array_equal(part.score_samples(frame), part.score_rows(data.X))
    np.testing.assert_array_equal(model.predict(frame), PUClassifier(0.5).fit(data.X, data.y).predict(data.X))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_both_scenarios_against_hidden_truth(scenario):
    data = make_gaussians(300, 1500, 4000, prior=0.4, separation=3.0, random_state=1)
    X, y = data.X, data.y
    if scenario == "single-sample":
        X, y = data.unlabeled, data.unlabeled_truth & (np.random.RandomState(0).uniform(size=1500) < 0.6)
    model = PUClassifier(scenario=scenario).fit(X, y)
    assert model.prior_ == pytest.approx(0.4, abs=0.05)
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.91  # the Bayes classifier has 0.935


def test_comparison_pairs_the_same_rows(data):
    """Rows beyond max_evaluations have no score by distance and take no part; weights count as often as they say."""
    few = WMMDClassifier(0.5, max_evaluations=60, random_state=0).fit(data.X, data.y)
    by_score = ScoreWMMDClassifier(LogisticRegression(), prior=0.5).fit(data.X, data.y)
    paired = HonestScores.stacked([few.honest_scores_, by_score.honest_scores_])
    for name in ("positive", "unlabeled"):
        assert getattr(paired, name).shape == (2, 60)
        rows = [getattr(scores, f"{name}_rows") for scores in (paired, few.honest_scores_, by_score.honest_scores_)]
        assert set(rows[0]) == set(rows[1]) <= set(rows[2])
        for one, alone in enumerate((few, by_score)):
            honest = alone.honest_scores_
            by_row = dict(zip(getattr(honest, f"{name}_rows"), getattr(honest, name), strict=True))
            np.testing.assert_array_equal(getattr(paired, name)[one], [by_row[row] for row in rows[0]])
    every = WMMDClassifier(0.5).fit(data.X, data.y).honest_scores_
    again = HonestScores.stacked([every, _in_another_order(every)])
    against_itself = Comparison.of(("one", "other"), again)
    assert against_itself.log_likelihoods[0] == pytest.approx(against_itself.log_likelihoods[1])
    np.testing.assert_allclose(against_itself.shares, 0.5)


def _in_another_order(scores):
    """The same scores of the same rows, their order drawn anew."""
    p, u = (np.random.RandomState(0).permutation(n) for n in (100, 400))
    return HonestScores(
        scores.positive[p],
        scores.unlabeled[u],
        np.ones(100),
        np.ones(400),
        0.0,
        scores.positive_rows[p],
        scores.unlabeled_rows[u],
    )


# --- parts of one's own ---


def test_further_parts(data):
    """Classifiers of the library and of scikit-learn are weighed beside the usual three; they are cloned."""
    few = np.r_[:15, 100:250]
    inverse, line = WMMDClassifier(0.9, kernel="inverse", scenario="single-sample"), LogisticRegression()
    parts = {"inverse": inverse, "line": line}
    model = PUClassifier(0.5, parts=parts, n_folds=3).fit(data.X[few], data.y[few])
    assert model.comparison_.names == ("wmmd", "least-squares", "score", "inverse", "line")
    assert "of 'inverse'" in model.reason_
    assert not hasattr(inverse, "prior_")
    assert not hasattr(line, "coef_")
    fitted = model.parts_["inverse"]
    assert (fitted.kernel, fitted.prior_, fitted.scenario) == ("inverse", 0.5, "case-control")
    expected = sum(w * model.parts_[name].score_samples(data.test) for name, w in model.weights_.items())
    np.testing.assert_allclose(model.score_samples(data.test), expected)
    assert clone(model).get_params()["parts"].keys() == parts.keys()


def test_a_baseline_of_the_paper_is_a_part_like_any_other(data):
    parts = {"tadj": ElkanNotoClassifier(), "wmmd": "drop", "score": "drop"}
    model = PUClassifier(0.5, parts=parts).fit(data.X[:300], data.y[:300])
    assert model.comparison_.names == ("least-squares", "tadj")
    assert model.comparison_.log_likelihoods[1] > np.log(1 / 2)
    assert all(isinstance(each, ElkanNotoClassifier) for each in model.parts_["tadj"].estimators_)


def test_a_part_that_tells_nothing_changes_nothing(data):
    """A constant of one's own, and trees that have too few rows to split."""
    few = np.r_[:15, 100:250]
    with_it, without = (
        PUClassifier(parts={"score": "drop"} | more).fit(data.X[few], data.y[few])
        for more in ({"dummy": DummyClassifier()}, {})
    )
    assert with_it.chosen_ == without.chosen_
    np.testing.assert_allclose(with_it.decision_function(data.test), without.decision_function(data.test))
    tiny = PUClassifier(0.5).fit(data.X[98:102], data.y[98:102])
    assert tiny.chosen_ == "wmmd+least-squares"


@pytest.mark.parametrize("seed", [0, None, np.random.RandomState(1)])
def test_all_parts_score_the_same_rows(data, seed):
    """Beyond max_evaluations too; a part of one's own takes seed and rows from here."""
    parts = {"inverse": WMMDClassifier(kernel="inverse"), "score": "drop"}
    model = PUClassifier(0.5, parts=parts, max_evaluations=60, random_state=seed).fit(data.X, data.y)
    assert model.comparison_.names == ("wmmd", "least-squares", "inverse")
    assert len(model.honest_scores_.positive) == len(model.honest_scores_.unlabeled) == 60


def test_a_part_of_ones_own_is_no_smoothed_ratio_under_the_papers_threshold(data):
    parts = {"inverse": WMMDClassifier(kernel="inverse")} | dict.fromkeys(PARTS, "drop")
    model = PUClassifier(0.5, parts=parts, threshold="bayes").fit(data.X, data.y)
    assert model.parts_["inverse"].rounds_ == ()


def test_parts_are_saved_and_explained_by_their_names(data, tmp_path):
    parts = {"line": LogisticRegression(), "score": "drop"}
    model = PUClassifier(0.5, parts=parts).fit(data.X[:200], data.y[:200])
    save(model, tmp_path / "model")
    np.testing.assert_allclose(
        load(tmp_path / "model").score_samples(data.test), model.score_samples(data.test), atol=1e-6
    )
    names = {"wmmd": "distances", "least-squares": "fitted ratio", "line": "line"}
    assert [reasons.by for reasons in explain(model, data.X[3]).reasons] == [names[name] for name in model.parts_]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_mixtures_are_judged_in_the_units_they_are_used_in(data, scenario):
    model = PUClassifier(0.5, estimator=LogisticRegression(), scenario=scenario).fit(data.X[:250], data.y[:250])
    in_spreads = np.array([model.weights_[name] * part.honest_scores_.spread for name, part in model.parts_.items()])
    shares = model.comparison_.in_use()
    np.testing.assert_allclose(in_spreads / in_spreads.sum(), list(shares.values()))


def test_parameters_reach_into_parts(data):
    given = {"line": LogisticRegression(C=1.0), "score": "drop"}
    model = PUClassifier(0.5, parts=given)
    deep = model.get_params()
    assert (deep["parts__line__C"], deep["parts__score"]) == (1.0, "drop")
    assert "parts__line" not in model.get_params(deep=False)
    copied = clone(model).set_params(parts__line__C=0.01, n_folds=3)
    assert (copied.parts["line"].C, copied.n_folds, given["line"].C) == (0.01, 3, 1.0)
    fitted = copied.fit(data.X[:300], data.y[:300])
    learned = fitted.parts_.get("line")
    assert learned is None or learned.estimator.C == 0.01


def test_whole_parts_are_set_before_their_parameters():
    given = {"line": LogisticRegression(), "a__b": LogisticRegression()}
    model = PUClassifier(0.5, parts=given)
    model.set_params(parts__line__n_neighbors=7, parts__line=KNeighborsClassifier(), parts__a__b__C=2.0)
    assert (model.parts["line"].n_neighbors, model.parts["a__b"].C) == (7, 2.0)
    assert isinstance(given["line"], LogisticRegression)


@pytest.mark.parametrize("name", ["parts__wmmd__gamma", "parts__score__C", "parts__lin", "parts__line_C"])
def test_parameters_of_parts_that_were_not_given(name):
    model = PUClassifier(0.5, parts={"line": LogisticRegression(), "score": "drop"})
    with pytest.raises(ValueError, match="Give the classifier in parts first"):
        model.set_params(**{name: 1})
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(parts__line__D=1)


def test_a_search_over_a_parameter_of_a_part(data):
    grid = {"parts__line__C": [1e-4, 1.0], "parts__least-squares": ["drop"]}
    parts = {"line": LogisticRegression(), "wmmd": "drop", "score": "drop", "least-squares": "drop"}
    search = GridSearchCV(PUClassifier(0.5, parts=parts), grid, cv=2).fit(data.X[:300], data.y[:300])
    assert search.best_params_["parts__line__C"] == search.best_estimator_.parts_["line"].estimator.C


def test_parts_can_be_replaced_and_dropped(data):
    parts = {"score": ScoreWMMDClassifier(LogisticRegression(), n_folds=2), "wmmd": "drop"}
    model = PUClassifier(0.5, parts=parts).fit(data.X, data.y)
    assert model.comparison_.names == ("least-squares", "score")
    only = PUClassifier(0.5, parts=dict.fromkeys(["wmmd", "score"], "drop")).fit(data.X, data.y)
    assert only.chosen_ == "least-squares"
    assert only.comparison_.shares == [1.0]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["wmmd"], "parts must be a dict"),
        ({"mine": 3}, "must be a classifier, or 'drop'; got 3"),
        ({"mine": LogisticRegression}, "must be a classifier, or 'drop'"),
        ({"other": "drop"}, "cannot be dropped: there are only"),
        (dict.fromkeys(PARTS, "drop"), "keep one of them"),
        ({"mine": StandardScaler()}, "neither predict_proba nor decision_function"),
    ],
)
def test_what_cannot_be_parts(data, parts, message):
    with pytest.raises(ValueError, match=message):
        PUClassifier(0.5, parts=parts).fit(data.X, data.y)


def test_a_prior_from_rows_is_estimated_once(data, monkeypatch):
    calls = []
    estimate = KernelMeanPrior.fit_sample
    monkeypatch.setattr(KernelMeanPrior, "fit_sample", lambda self, sample: calls.append(1) or estimate(self, sample))
    model = PUClassifier("km2", estimator=LogisticRegression()).fit(data.X, data.y)
    assert len(calls) == 1
    assert model.prior_ == KernelMeanPrior("km2").fit(data.X, data.y).prior_
    assert all(part.prior_estimator_ is model.prior_estimator_ for part in model.parts_.values())


def test_a_table_is_validated_once(data, monkeypatch):
    calls = []
    check = pu.PUClassifier._pu_sample
    monkeypatch.setattr(PUInput, "_pu_sample", lambda self, *given: calls.append(self) or check(self, *given))
    PUClassifier(0.5, estimator=LogisticRegression()).fit(data.X, data.y)
    assert [type(each) for each in calls] == [PUClassifier]


def test_parts_answer_in_the_values_of_y(data):
    model = PUClassifier(0.5, estimator=LogisticRegression()).fit(data.X, np.where(data.y == 1, 7, 3))
    for each in (model, *model.parts_.values()):
        assert set(each.predict(data.test)) == {3, 7}


def test_the_former_name_of_honest_scores_is_told(data):
    model = PUClassifier(0.5, estimator=LogisticRegression()).fit(data.X, data.y)
    for each in (model, *model.parts_.values(), AutoPrior().fit(data.X, data.y)):
        with pytest.warns(FutureWarning, match="honest_scores_"):
            assert each.scores_ is each.honest_scores_
    assert not hasattr(WMMDClassifier(), "scores_")


# --- the prior by default ---


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_auto_prior_is_near(prior):
    errors = [
        AutoPrior().fit(data.X, data.y).prior_ - prior
        for data in (make_gaussians(200, 800, 1, prior=prior, separation=3.0, random_state=seed) for seed in range(5))
    ]
    assert np.mean(np.abs(errors)) < 0.06


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_prior_that_cannot_be_known_is_warned_of_once(rng, scenario):
    """Labels that have nothing to do with the columns: the prior has no lower limit, as its interval says."""
    X, y = rng.normal(size=(300, 4)), np.arange(300) < 40
    with pytest.warns(PriorWarning, match="has no lower limit") as told:
        model = PUClassifier(estimator=LogisticRegression(), scenario=scenario).fit(X, y)
    assert [each.category for each in told] == [PriorWarning]
    low, high = model.prior_estimator_.interval()
    assert f"anywhere up to {high:.2f}." in str(told[0].message)
    assert low == pytest.approx(40 / 300 if scenario == "single-sample" else 0)
    assert high > 0.7
    PUClassifier(0.4, estimator=LogisticRegression(), scenario=scenario).fit(X, y)  # given: nothing to warn of


def test_auto_prior_with_ten_positives():
    """The best bin alone is off by 0.13 here."""
    errors = [
        AutoPrior().fit(data.X, data.y).prior_ - 0.5
        for data in (make_gaussians(10, 100, 1, separation=2.5, random_state=seed) for seed in range(40))
    ]
    assert np.mean(np.abs(errors)) < 0.125


def test_auto_prior_from_scores_of_a_classifier(data):
    fitted = AutoPrior().fit(data.X, data.y)
    again = AutoPrior().fit_scores(fitted.honest_scores_)
    assert again.prior_ == fitted.prior_
    assert again.interval() == fitted.interval()
    share = AutoPrior().fit_scores(replace(fitted.honest_scores_, labelled_share=0.2)).prior_
    assert share == pytest.approx(0.2 + 0.8 * fitted.prior_)


def test_auto_prior_counts_weights_as_repetitions(rng):
    p, u, counts = rng.normal(1, 1, 12), rng.normal(0, 1, 30), rng.integers(1, 4, 42)
    weighted = AutoPrior().fit_scores(HonestScores(p, u, counts[:12].astype(float), counts[12:].astype(float)))
    p, u = np.repeat(p, counts[:12]), np.repeat(u, counts[12:])
    repeated = AutoPrior().fit_scores(HonestScores(p, u, np.ones(len(p)), np.ones(len(u))))
    assert weighted.prior_ == pytest.approx(repeated.prior_)
