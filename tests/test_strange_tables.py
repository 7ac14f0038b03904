"""Tables that are hard to learn from: constant columns, huge values, and warnings and errors that are to the point."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    LeastSquaresPUClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
)
from unlabeled.datasets import make_gaussians
from unlabeled.priors import PRIORS, ScarWarning, compare_priors

CLASSIFIERS = {
    "wmmd": WMMDClassifier(0.3),
    "paper": WMMDClassifier.paper(0.3, random_state=0),
    "least-squares": LeastSquaresPUClassifier(0.3),
    "score": ScoreWMMDClassifier(prior=0.3),
    "pu": PUClassifier(0.3),
    "convex": ConvexPUClassifier(prior=0.3, gamma=0.2, alpha=0.1),
    "elkan-noto": ElkanNotoClassifier(prior=0.3),
    "nnpu": NNPUClassifier(0.3, n_epochs=1, random_state=0),
}


@pytest.fixture(scope="module")
def data():
    return make_gaussians(40, 160, 20, random_state=0)


# --- constant columns ---


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_constant_table(name, data):
    """All rows are alike, so that all are as probable as the prior says; and a word that nothing was learned."""
    X = np.full_like(data.X, 7.0)
    with pytest.warns(UserWarning, match="Every column of X is constant") as told:
        model = clone(CLASSIFIERS[name]).fit(X, data.y)
    assert len(told) == 1
    for method in ("decision_function", "predict_proba"):
        answer = getattr(model, method)(X)
        assert np.isfinite(answer).all()
        assert (answer == answer[0]).all()
    if name != "nnpu":  # one epoch is not enough for a network
        assert model.predict_proba(X[:1])[0, 1] == pytest.approx(0.3, abs=0.02)
        assert not model.predict(X).any()


@pytest.mark.parametrize("name", PRIORS)
def test_the_prior_of_a_constant_table(name, data):
    with pytest.warns(UserWarning, match="prior cannot be estimated"):
        assert 0 < clone(PRIORS[name]).fit(np.ones_like(data.X), data.y).prior_ <= 1


def test_one_constant_column_is_fine(data):
    X = np.c_[data.X, np.full(200, 7.0)]
    model, plain = WMMDClassifier(0.5).fit(X, data.y), WMMDClassifier(0.5).fit(data.X, data.y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(data.X), atol=1e-6)


# --- huge values ---


@pytest.mark.parametrize("factor", [1e160, 1e300])
@pytest.mark.parametrize("name", ["wmmd", "least-squares", "score", "pu"])
def test_huge_values_are_only_another_unit(name, factor, data):
    """Squares of these overflow; standardised they are the table as it was."""
    unit = np.array([1.0, factor])
    huge, plain = (clone(CLASSIFIERS[name]).fit(X, data.y) for X in (data.X * unit, data.X))
    if name == "wmmd":
        plain = WMMDClassifier(0.3, scale="standard").fit(data.X, data.y)
        np.testing.assert_allclose(
            huge.decision_function(data.test * unit), plain.decision_function(data.test), atol=1e-6
        )
    assert np.mean(huge.predict(data.test * unit) == plain.predict(data.test)) > 0.85


@pytest.mark.parametrize("name", ["best-bin", "dedpul", "auto", "km2"])
def test_priors_of_huge_values(name, data):
    found = [clone(PRIORS[name]).fit(data.X * [1, factor], data.y).prior_ for factor in (1, 1e300)]
    assert found[1] == pytest.approx(found[0], abs=1e-6)


REFUSING = {
    "paper": WMMDClassifier.paper(0.3, random_state=0),
    "raw": WMMDClassifier(0.3, scale="none"),
    "raw ratio": LeastSquaresPUClassifier(0.3, scale="none"),
    "raw linear": LeastSquaresPUClassifier(0.3, scale="none", kernel="linear"),
    "convex": CLASSIFIERS["convex"],
    "elkan-noto": ElkanNotoClassifier(),
    "nnpu": CLASSIFIERS["nnpu"],
    "density": PRIORS["density"],
    "elkan-noto prior": PRIORS["elkan-noto"],
}


@pytest.mark.parametrize("name", REFUSING)
def test_values_that_cannot_be_squared_are_named(name, data):
    model, X = REFUSING[name], data.X * [1, 1e300]
    message = rf"of X holds values up to \S+e\+300, .*{type(model).__name__}.*Divide the feature"
    with pytest.raises(ValueError, match=rf"Feature 1 \(counted from 0\) {message}"):
        clone(model).fit(X, data.y)
    with pytest.raises(ValueError, match=rf"Feature 'income' {message}"):
        clone(model).fit(pd.DataFrame(X, columns=["age", "income"]), data.y)


def test_one_huge_value_does_not_matter_to_distances(data):
    X = data.X.copy()
    X[50, 1] = 1e300
    model, plain = WMMDClassifier(0.5).fit(X, data.y), WMMDClassifier(0.5).fit(data.X, data.y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.mean(model.predict(data.test) == plain.predict(data.test)) > 0.85


@pytest.mark.parametrize("kernel", ["rbf", "inverse", "linear"])
def test_how_far_one_value_is_off_does_not_matter_to_the_fitted_ratio(kernel, data):
    """Neither to its equations nor to what it says of the other rows."""
    X, others = data.X.copy(), np.arange(200) != 50
    X[50, 1] = 1e4
    expected = LeastSquaresPUClassifier(0.3, kernel=kernel).fit(X, data.y).density_ratio(X)[others]
    for value in (3e5, 1e6, 1e9, 1e20, 1e100, 1e200, 1e300):
        X[50, 1] = value
        found = LeastSquaresPUClassifier(0.3, kernel=kernel).fit(X, data.y).density_ratio(X)[others]
        np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("n_codes", [1, 5, 80])
@pytest.mark.parametrize("code", [9_999_999, 999_999_999])
def test_codes_for_missing_values(code, n_codes, data):
    """A column with 999999999 where there is no value: other rows are ranked nearly as without the code."""
    X = np.c_[data.X, 40 + 12 * np.random.default_rng(0).normal(size=200)]
    clean, coded = LeastSquaresPUClassifier(0.3).fit(X, data.y), X.copy()
    coded[np.random.default_rng(1).choice(200, n_codes, replace=False), 2] = code
    others = X[coded[:, 2] < code]
    found = LeastSquaresPUClassifier(0.3).fit(coded, data.y)
    assert spearmanr(clean.score_samples(others), found.score_samples(others)).statistic > 0.9


@pytest.mark.parametrize("value", [1e6, 1e300])
def test_all_parts_take_one_huge_value(value, data):
    X = data.X.copy()
    X[50, 1] = value
    model, plain = PUClassifier(0.5).fit(X, data.y), PUClassifier(0.5).fit(data.X, data.y)
    assert np.mean(model.predict(data.test) == plain.predict(data.test)) > 0.85


@pytest.mark.parametrize("name", ["wmmd", "least-squares", "pu"])
def test_tiny_values_are_only_another_unit(name, data):
    """Squares of these vanish; standardised they are the table as it was."""
    tiny, plain = (clone(CLASSIFIERS[name]).fit(X, data.y) for X in (data.X * 1e-160, data.X))
    assert np.mean(tiny.predict(data.test * 1e-160) == plain.predict(data.test)) > 0.85


@pytest.mark.parametrize("name", ["raw", "raw ratio", "raw linear"])
def test_tables_whose_squares_vanish_are_refused(name, data):
    model = REFUSING[name]
    with pytest.raises(ValueError, match=rf"squares vanish in {type(model).__name__}.*scale='standard'"):
        clone(model).fit(data.X * 1e-160, data.y)


@pytest.mark.filterwarnings("ignore:Every column of X is constant")
def test_a_table_without_any_value_is_not_one_of_tiny_values(data):
    model = WMMDClassifier(0.3, scale="none").fit(np.full_like(data.X, np.nan), data.y)
    assert np.isfinite(model.decision_function(data.test)).all()


def test_a_row_of_huge_values_has_no_inner_products(data):
    """The linear kernel is then tried on the table in units of its spread only."""
    X = data.X.copy()
    X[50] = 1e200
    model = LeastSquaresPUClassifier(0.3, kernel="linear").fit(X, data.y)
    assert {each["scale"] for each in model.kernels_} == {"standard"}
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("name", ["wmmd", "least-squares", "pu"])
def test_differences_that_overflow_are_named(name, data):
    X = data.X.copy()
    X[:, 1], X[::5, 1] = 1.7e308, -1.7e308
    with pytest.raises(ValueError, match=r"Feature 1 \(counted from 0\) of X holds values so large"):
        clone(CLASSIFIERS[name]).fit(X, data.y)


# --- warnings once, errors of the one that was called ---


def test_one_fit_warns_once():
    """Labelled positives from elsewhere: both parts see it, each in its own numbers."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(6, 0.5, (60, 2)), rng.normal(0, 1, (300, 2))]
    y = np.repeat([1, 0], [60, 300])
    with pytest.warns(ScarWarning) as told:
        PUClassifier().fit(X, y)
    assert len(told) == 1
    with pytest.warns(ScarWarning) as told:
        compare_priors(X, y, names=["auto", "best-bin", "elkan-noto"])
    assert len(told) == 1
    with pytest.warns(ScarWarning) as told:  # a second fit is another one
        PUClassifier().fit(X, y)
    assert len(told) == 1


WRONG = {
    "prior": "many",
    "threshold": "high",
    "n_folds": 1,
    "scenario": "both",
    "engine": "steam",
    "max_evaluations": 0,
    "random_state": "luck",
    "n_jobs": 0,
    "estimator": object(),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_speak_of_the_one_that_was_called(name, data):
    options = {"estimator": LogisticRegression(), name: WRONG[name]}
    with pytest.raises(ValueError, match=r".") as found:
        PUClassifier(**options).fit(data.X, data.y)
    _check_words(str(found.value))


def test_errors_of_tables_speak_of_the_one_that_was_called(data):
    model = PUClassifier(0.5, estimator=LogisticRegression()).fit(data.X, data.y)
    for call in (
        lambda: model.predict(np.zeros((2, 3))),
        lambda: model.score_samples(np.full((2, 2), np.inf)),
        lambda: clone(model).predict(data.X),
        lambda: clone(model).fit(data.X[:, :0], data.y),
        lambda: clone(model).fit(data.X, data.y, sample_weight=np.zeros(200)),
        lambda: clone(model).fit(data.X[39:], data.y[39:]),
        lambda: clone(model).set_params(prior=0.1, scenario="single-sample").fit(data.X, data.y),
    ):
        with pytest.raises(ValueError, match=r".") as found:
            call()
        _check_words(str(found.value))


def _check_words(message):
    """No part of `PUClassifier`, and no parameter that it does not have."""
    assert not re.search(r"WMMDClassifier|\bgamma|smoothing|kernel=|calibration=|selection=|compress=", message), (
        message
    )


def test_an_ordinary_fit_is_silent(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PUClassifier().fit(data.X, data.y)
