"""Explanations of scores: exact where the score is a closed form, and in the rows of the table that was fitted."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from unlabeled import (
    ElkanNotoClassifier,
    PropensityWMMDClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    explain,
)
from unlabeled.classifiers.pu import PARTS
from unlabeled.datasets import make_gaussians
from unlabeled.displays import ExplanationDisplay
from unlabeled.explanations import Shares, in_words


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_an_explanation_is_a_smoothed_score(scenario, rng):
    data = make_gaussians(30, 100, 1, n_features=3, random_state=0)
    model = WMMDClassifier(0.5, scenario=scenario).fit(data.X, data.y)
    row = rng.normal(size=(1, 3))
    found = explain(model, row).reasons[0].made_of
    assert len(model.rounds_) == 2
    assert found.score == pytest.approx(model.score_samples(row)[0])
    assert found.by_feature.sum() + found.crowding == pytest.approx(found.score)
    assert found.probable.shares.sum() == pytest.approx(1)
    n_voters = 130 if scenario == "single-sample" else 100
    first = 0 if scenario == "single-sample" else 30  # positives come first in the table
    assert set(found.probable.rows) == set(range(first, 130))
    assert len(found.probable.rows) == n_voters
    assert (found.probable.probabilities <= 1).all()


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_an_explanation_is_the_score(scenario, rng):
    data = make_gaussians(30, 100, 1, n_features=3, random_state=0)
    model = WMMDClassifier(0.5, gamma=0.7, scenario=scenario).fit(data.X, data.y)
    row = rng.normal(size=(1, 3))
    found = explain(model, row).reasons[0].made_of
    score = model.score_samples(row)[0]
    assert found.score == pytest.approx(score)
    assert found.by_feature.sum() + found.crowding == pytest.approx(score)
    assert found.positive.shares.sum() == pytest.approx(1)
    kernel = np.exp(-0.7 * ((data.positive - row) ** 2).sum(axis=1))
    np.testing.assert_allclose(found.positive.shares, kernel / kernel.sum())
    of_unlabeled = np.exp(-0.7 * ((data.unlabeled - row) ** 2).sum(axis=1))
    population = of_unlabeled.sum() + (kernel.sum() if scenario == "single-sample" else 0)
    np.testing.assert_allclose(found.unlabeled.shares, of_unlabeled / population)


def test_rows_are_those_of_the_table_whatever_its_order(rng):
    data = make_gaussians(30, 100, 1, random_state=0)
    order = rng.permutation(130)
    row, plain = rng.normal(size=2), WMMDClassifier(0.5).fit(data.X, data.y)
    shuffled = WMMDClassifier(0.5, gamma=plain.gamma_, scale=plain.scaling_.name, smoothing=0)
    shuffled.fit(data.X[order], data.y[order])
    straight = WMMDClassifier(0.5, gamma=plain.gamma_, scale=plain.scaling_.name, smoothing=0).fit(data.X, data.y)
    first, second = (explain(model, row).reasons[0].made_of for model in (straight, shuffled))
    for name in ("positive", "unlabeled"):
        here, there = (getattr(found, name) for found in (first, second))
        by_row = dict(zip(order[there.rows].tolist(), there.shares, strict=True))
        assert dict(zip(here.rows.tolist(), here.shares, strict=True)) == pytest.approx(by_row)


def test_rows_of_weight_zero_keep_their_place_in_the_table(rng):
    data = make_gaussians(10, 40, 1, random_state=0)
    weights = np.ones(50)
    weights[[0, 20]] = 0
    model = WMMDClassifier(0.5).fit(data.X, data.y, sample_weight=weights)
    found = explain(model, rng.normal(size=2)).reasons[0].made_of
    assert found.positive.rows.tolist() == list(range(1, 10))
    assert found.unlabeled.rows.tolist() == [row for row in range(10, 50) if row != 20]


def test_parts_add_up_to_the_score():
    data = make_gaussians(60, 240, 1, prior=0.4, separation=2.5, random_state=3)
    model = PUClassifier(0.4, estimator=LogisticRegression()).fit(pd.DataFrame(data.X, columns=["a", "b"]), data.y)
    row = pd.DataFrame(data.X[5:6], columns=["a", "b"])
    found = explain(model, row)
    assert [reasons.by for reasons in found.reasons] == ["distances", "fitted ratio", "learned score"]
    assert sum(reasons.adds for reasons in found.reasons) == pytest.approx(found.score)
    assert found.score == pytest.approx(model.score_samples(row)[0])
    assert found.threshold == model.threshold_
    assert found.flagged == (model.predict(row)[0] == 1)
    assert in_words(model).startswith("distances to the training rows")


def test_neighbours_in_a_learned_score():
    data = make_gaussians(60, 240, 1, random_state=3)
    model = ScoreWMMDClassifier(RandomForestClassifier(20, random_state=0), prior=0.5).fit(data.X, data.y)
    found = explain(model, data.X[7]).reasons[0].made_of
    assert found.score == pytest.approx(model.score_samples(data.X[7:8])[0])
    for near, rows in ((found.positive, range(60)), (found.unlabeled, range(60, 300))):
        assert set(near.rows) == set(rows)
        assert (np.diff(np.abs(near.scores - found.score)) >= 0).all()
    assert found.importances.sum() == pytest.approx(1)
    without = ScoreWMMDClassifier(SVC(), prior=0.5).fit(data.X, data.y)
    assert explain(without, data.X[7]).reasons[0].made_of.importances is None


def test_the_largest_shares():
    shares = Shares(np.array([4, 7, 9]), np.array([0.2, 0.7, 0.1]), np.array([0.5, 0.9, 0.1]))
    assert shares.n_for_half == 1
    assert shares.largest(2).rows.tolist() == [7, 4]
    assert shares.largest(2).probabilities.tolist() == [0.9, 0.5]


def test_what_cannot_be_explained():
    data = make_gaussians(20, 50, 1, random_state=0)
    model = WMMDClassifier(0.5, kernel="inverse").fit(data.X, data.y)
    with pytest.raises(ValueError, match="inverse kernel have no parts"):
        explain(model, data.X[0])
    with pytest.raises(ValueError, match="takes one row; got 2"):
        explain(model, data.X[:2])
    with pytest.raises(ValueError, match="ElkanNotoClassifier are not explained; those of WMMDClassifier"):
        explain(ElkanNotoClassifier().fit(data.X, data.y), data.X[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the propensity
def test_parts_that_cannot_be_explained_are_left_out_and_what_they_add_is_said():
    """In the answer and in the picture; a model of such parts alone is refused."""
    data = make_gaussians(20, 60, 1, random_state=0)
    others = {"inverse": WMMDClassifier(kernel="inverse"), "unbiased": PropensityWMMDClassifier()}
    model = PUClassifier(0.5, parts=others | {"score": "drop"}).fit(data.X, data.y)
    found = explain(model, data.X[0])
    by = {reasons.by: reasons for reasons in found.reasons}
    assert set(by) == {"distances", "fitted ratio", "inverse", "unbiased"}
    assert "inverse kernel have no parts" in by["inverse"].made_of.why
    assert "PropensityWMMDClassifier are not explained" in by["unbiased"].made_of.why
    left_out = by["inverse"].adds + by["unbiased"].adds
    assert found.unexplained == pytest.approx(left_out)
    assert found.score == pytest.approx(by["distances"].adds + by["fitted ratio"].adds + left_out)
    assert by["inverse"].made_of.by_column(np.sum) is by["inverse"].made_of
    drivers = ExplanationDisplay.of_row(model, data.X[0]).drivers
    assert ("inverse, as a whole", by["inverse"].adds) in drivers.others
    with pytest.raises(ValueError, match="inverse kernel have no parts"):
        explain(PUClassifier(0.5, parts=others | dict.fromkeys(PARTS, "drop")).fit(data.X, data.y), data.X[0])


def test_many_parts_have_a_bar_each():
    data = make_gaussians(12, 60, 1, random_state=0)
    parts = {f"gamma {gamma}": WMMDClassifier(gamma=gamma) for gamma in (0.1, 0.2, 0.4)}
    model = PUClassifier(0.5, parts=parts | {"score": "drop"}).fit(data.X, data.y)
    assert len(model.parts_) == 5
    shown = ExplanationDisplay.from_estimator(model, data.X[0], ax=Figure().subplots())
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()][-2:] == ["gamma 0.4", "not by column"]
