"""`score` of the classifiers: what a search maximises where it is told nothing else."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
)
from unlabeled.datasets import make_gaussians
from unlabeled.metrics import PUStratifiedKFold, proxy_roc_auc, pu_scorer
from unlabeled.samples import SCENARIOS

CLASSIFIERS = {
    "wmmd": lambda **options: WMMDClassifier(0.5, gamma=0.5, **options),
    "score": lambda **options: ScoreWMMDClassifier(LogisticRegression(), prior=0.5, **options),
    "pu": lambda **options: PUClassifier(0.5, estimator=LogisticRegression(), **options),
    "convex": lambda **options: ConvexPUClassifier("logistic", 0.5, gamma=0.2, alpha=0.1, **options),
    "elkan-noto": lambda **options: ElkanNotoClassifier(LogisticRegression(), **options),
    "nnpu": lambda **options: NNPUClassifier(0.5, n_epochs=1, random_state=0, **options),
}
FOLDS = PUStratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_gaussians(60, 240, 1000, random_state=0)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_score_is_the_area_of_positives_against_the_population(name, scenario, data):
    model = CLASSIFIERS[name](scenario=scenario).fit(data.X, data.y)
    decision = model.decision_function(data.X)
    assert model.score(data.X, data.y) == proxy_roc_auc(data.y, decision, scenario=scenario)
    if scenario == "case-control":
        assert model.score(data.X, data.y) == pytest.approx(roc_auc_score(data.y, decision))


def test_weights_are_repetitions(data):
    model = CLASSIFIERS["wmmd"]().fit(data.X, data.y)
    weights = np.arange(len(data.y)) % 4
    rows = np.repeat(np.arange(len(data.y)), weights)
    assert model.score(data.X, data.y, sample_weight=weights) == pytest.approx(model.score(data.X[rows], data.y[rows]))
    assert model.score(data.X, data.y, sample_weight=weights) != model.score(data.X, data.y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CLASSIFIERS["wmmd"]().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_val_score(model, data.X, data.y, cv=FOLDS, params={"sample_weight": weights})
    expected = [
        CLASSIFIERS["wmmd"]()
        .fit(data.X[train], data.y[train], sample_weight=weights[train])
        .score(data.X[test], data.y[test], sample_weight=weights[test])
        for train, test in FOLDS.split(data.X, data.y)
    ]
    np.testing.assert_allclose(found, expected)


def test_a_search_finds_a_good_gamma(data):
    """By accuracy against the unlabeled rows, as other classifiers have it, the sharpest gamma would win."""
    grid = {"gamma": [1e4, 1e3, 0.3]}
    search = GridSearchCV(WMMDClassifier(0.5), grid, cv=FOLDS).fit(data.X, data.y)
    assert search.best_params_ == {"gamma": 0.3}
    assert accuracy_score(data.test_truth, search.predict(data.test) == 1) > 0.8


@pytest.mark.parametrize("gamma", ["auto", 0.5])
def test_a_search_does_not_collapse_onto_a_small_prior(gamma, data):
    """Accuracy against the unlabeled rows is best where nothing is flagged: it picked 0.05, by far."""
    grid = {"prior": [0.5, 0.05, 0.2, 0.8]}
    model, folds = WMMDClassifier(gamma=gamma), PUStratifiedKFold(2, shuffle=True, random_state=0)
    naive = GridSearchCV(model, grid, cv=folds, scoring="accuracy").fit(data.X, data.y)
    assert naive.best_params_ == {"prior": 0.05}
    assert np.ptp(naive.cv_results_["mean_test_score"]) > 0.1
    search = GridSearchCV(model, grid, cv=folds).fit(data.X, data.y)
    # What the prior adds to the choice of gamma is within the noise; at a given gamma it is nothing at all.
    assert np.ptp(search.cv_results_["mean_test_score"]) < (0.03 if gamma == "auto" else 1e-9)
    known = GridSearchCV(model, grid, cv=folds, scoring=pu_scorer("accuracy", prior=0.5)).fit(data.X, data.y)
    assert known.best_params_ == {"prior": 0.5}
    if gamma != "auto":
        assert search.best_params_ == {"prior": 0.5}  # the first of equals


def test_of_candidates_that_rank_alike_the_first_is_taken(data):
    grid = {"prior": [0.3, 0.7], "threshold": ["bayes", "prevalence"]}
    search = GridSearchCV(WMMDClassifier(gamma=0.5), grid, cv=FOLDS).fit(data.X, data.y)
    assert np.ptp(search.cv_results_["mean_test_score"]) < 1e-9
    assert search.best_params_ == {"prior": 0.3, "threshold": "bayes"}


@pytest.mark.parametrize(("value", "lacking"), [(0, "labelled positives"), (1, "unlabeled rows")])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fold_that_lacks_a_sample(value, lacking, scenario, data):
    model = CLASSIFIERS["wmmd"](scenario=scenario).fit(data.X, data.y)
    one = data.y == value
    with pytest.raises(ValueError, match=f"y has no {lacking}.*PUStratifiedKFold"):
        model.score(data.X[one], data.y[one])


def test_folds_that_lack_positives_are_told_in_a_search(data):
    folds = [(np.arange(200), np.arange(200, 300))]  # the positives are the first rows
    with pytest.warns(UserWarning, match="y has no labelled positives"), pytest.warns(UserWarning, match="non-finite"):
        GridSearchCV(WMMDClassifier(0.5), {"gamma": [0.3]}, cv=folds).fit(data.X, data.y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            lambda y: np.where(y == 1, "yes", "no"),
            "y holds .'yes', 'no'., .* none of the classes: 1 for labelled",
        ),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
        (lambda y: np.where(y == 1, 2, 0), "y holds .2."),
    ],
)
def test_labels_that_the_model_does_not_know(y, message, data):
    with pytest.raises(ValueError, match=message):
        CLASSIFIERS["wmmd"]().fit(data.X, data.y).score(data.X, y(data.y))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_log_probabilities(name, data):
    model = CLASSIFIERS[name]().fit(data.X, data.y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(data.test)), model.predict_proba(data.test))
    far = model.predict_log_proba(np.array([[-1e6, -1e6], [1e6, 1e6]]))  # -inf where a probability is 0, and no warning
    assert (far <= 0).all()
