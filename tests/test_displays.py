"""Displays: what they draw is what the definitions say, and they keep scikit-learn's convention."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import auc as area_under
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unlabeled.displays
from unlabeled import ElkanNotoClassifier, PUClassifier, WMMDClassifier, evaluate
from unlabeled.datasets import make_gaussians, make_two_moons
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.distributions import ScoreDistributions, shares_in
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Costs
from unlabeled.displays import (
    ExplanationDisplay,
    GammaDisplay,
    PriorDisplay,
    PUCalibrationDisplay,
    PUDecisionBoundaryDisplay,
    PUPrecisionRecallDisplay,
    PURocCurveDisplay,
    ScoreDistributionDisplay,
    ThresholdDisplay,
)
from unlabeled.displays.calibration import CalibrationBins
from unlabeled.displays.decision_boundary import filled
from unlabeled.displays.ranking import RankingCurves
from unlabeled.displays.threshold_table import ThresholdRow, ThresholdTable
from unlabeled.evaluation import Evidence, find_evidence
from unlabeled.metrics import PUStratifiedKFold
from unlabeled.priors import AutoPrior, PriorEstimate

mpl.use("Agg")
SCENARIOS = ("case-control", "single-sample")


@pytest.fixture(scope="module")
def data():
    return make_gaussians(60, 240, prior=0.3, separation=3, random_state=1)


@pytest.fixture(scope="module", params=SCENARIOS)
def fitted(request, data):
    return WMMDClassifier(0.4, scenario=request.param, random_state=0).fit(data.X, data.y)


def made_up(scenario, n_positive=40, n_unlabeled=160, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.normal(1.5, 1, n_positive)
    unlabeled = rng.normal(np.where(rng.uniform(size=n_unlabeled) < 0.3, 1.5, -1), 1)
    share = n_positive / (n_positive + n_unlabeled) if scenario == "single-sample" else 0.0
    scores = HonestScores(positive, unlabeled, np.ones(n_positive), np.ones(n_unlabeled), share)
    return Evidence(scores, 0.4, PriorEstimate(0.4, 0.3, 0.5, "made up"), 1_000.0, share, 1.0)


def test_another_table_is_refused(fitted, data):
    """The honest scores are of the rows of `fit`: of others they know nothing."""
    other = make_gaussians(60, 240, prior=0.3, separation=3, random_state=2)
    in_pipeline = make_pipeline(StandardScaler(), clone(fitted)).fit(data.X, data.y)
    for ask in (evaluate, PURocCurveDisplay.from_estimator):
        for model in (fitted, in_pipeline):
            for X, y in ((other.X, other.y), (data.X + 50, data.y), (data.X[:-1], data.y[:-1])):
                with pytest.raises(ValueError, match=r"not the table that the model was fitted to.*new=X_new"):
                    ask(model, X, y)
            assert ask(model, data.X.tolist(), data.y) is not None


# --- thresholds ---


def test_the_table_of_thresholds_is_what_evaluate_says(fitted, data):
    table = ThresholdTable.of(find_evidence(fitted, data.X, data.y))
    row, expected = table.rows[table.chosen], evaluate(fitted, data.X, data.y)
    assert row.threshold == fitted.threshold_
    assert (row.recall, row.precision, row.flagged_rate) == (expected.recall, expected.precision, expected.flagged_rate)
    assert row.n_found == expected.n_flagged_positives
    other = WMMDClassifier(0.4, scenario=fitted.scenario, random_state=0, threshold=float(table.thresholds[30]))
    moved = evaluate(other.fit(data.X, data.y), data.X, data.y)
    assert table.rows[30].recall == moved.recall
    assert table.rows[30].precision.value == pytest.approx(moved.precision.value)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_thresholds_by_hand(scenario):
    evidence = made_up(scenario)
    scores, threshold = evidence.scores, 0.1
    row = ThresholdRow.of(evidence, threshold)
    population = scores.unlabeled if scenario == "case-control" else np.append(scores.positive, scores.unlabeled)
    assert row.flagged_rate.value == pytest.approx(np.mean(population > threshold))
    assert row.recall.value == pytest.approx(np.sum(scores.positive > threshold) / (len(scores.positive) + 1))
    probabilities = calibrate(scores, 0.4).probability(population)
    assert row.precision.value == pytest.approx(probabilities[population > threshold].mean())
    assert row.n_flagged == pytest.approx(1_000 * row.flagged_rate.value)
    assert row.n_found.value + row.n_false.value == pytest.approx(row.n_flagged)
    assert row.n_found.value + row.n_missed.value == pytest.approx(400)
    cost = row.cost(Costs(2, 5))
    assert cost.value == pytest.approx(2 * row.n_false.value + 5 * row.n_missed.value)
    assert cost.low <= cost.value <= cost.high


def test_thresholds_ascend_and_rates_fall():
    table = ThresholdTable.of(made_up("single-sample"))
    assert (np.diff(table.thresholds) > 0).all()
    for name in ("recall", "flagged_rate"):
        value, low, high = table.values(name)
        assert (np.diff(value) <= 0).all()
        assert ((low <= value + 1e-12) & (value <= high + 1e-12)).all()
    costs = [row.cost(Costs(1, 4)).value for row in table.rows]
    assert costs[table.cheapest(Costs(1, 4))] == min(costs)
    assert table.chosen in table.some(5)


def test_few_positives_have_intervals_alone():
    table = ThresholdTable.of(made_up("case-control", n_positive=6))
    row = table.rows[table.chosen]
    assert row.recall.value is None
    assert row.cost(Costs()).value is None
    assert row.flagged_rate.value is not None
    assert table.cheapest(Costs()) == table.chosen


# --- ranking ---


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rates_of_negatives_are_right_where_the_truth_is_known(scenario):
    rng = np.random.default_rng(3)
    truth = rng.uniform(size=40_000) < 0.3
    scores = rng.normal(np.where(truth, 1.0, -1.0), 1)
    labelled = truth & (rng.uniform(size=len(truth)) < 0.3)
    if scenario == "case-control":
        positive, unlabeled, share, prior = rng.normal(1, 1, 4_000), scores, 0.0, truth.mean()
    else:
        positive, unlabeled = scores[labelled], scores[~labelled]
        share, prior = labelled.mean(), truth.mean()
    honest = HonestScores(positive, unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)), share)
    evidence = Evidence(honest, 0.0, PriorEstimate(float(prior), None, None, "true"), len(truth), 0.0, 1.0)
    curves = RankingCurves.of(evidence)
    assert curves.recall[curves.chosen] == pytest.approx(np.mean(scores[truth] > 0), abs=0.02)
    assert curves.false_positive_rate[0, curves.chosen] == pytest.approx(np.mean(scores[~truth] > 0), abs=0.02)
    assert curves.precision[0, curves.chosen] == pytest.approx(truth[scores > 0].mean(), abs=0.03)
    assert curves.roc_auc.value == pytest.approx(roc_auc_score(truth, scores), abs=0.01)
    assert area_under(curves.false_positive_rate[0], curves.recall) == pytest.approx(curves.roc_auc.value, abs=0.02)


def test_the_band_is_that_of_the_priors_interval():
    evidence = made_up("case-control")
    curves = RankingCurves.of(evidence)
    assert curves.priors == (0.4, 0.3, 0.5)
    at_low = RankingCurves.of(Evidence(evidence.scores, 0.4, PriorEstimate(0.3, None, None, ""), 1_000.0, 0.0, 1.0))
    np.testing.assert_allclose(curves.precision[1], at_low.precision[0], equal_nan=True)
    np.testing.assert_allclose(curves.false_positive_rate[1], at_low.false_positive_rate[0])


# --- the others ---


def test_distributions_count_every_row(fitted):
    found = ScoreDistributions.of(fitted.honest_scores_, fitted.threshold_)
    assert found.labelled.sum() == pytest.approx(1)
    above = fitted.honest_scores_.unlabeled > found.edges[20]
    assert found.unlabeled[20:].sum() == pytest.approx(above.mean(), abs=1e-9)
    np.testing.assert_allclose(shares_in(np.array([0.0, 1.0, 2.0]), np.array([-9.0, 0.5, 1.5, 9.0])), [0.5, 0.5])


def test_scores_that_are_all_alike_have_a_picture():
    scores = HonestScores(np.zeros(3), np.zeros(4), np.ones(3), np.ones(4))
    found = ScoreDistributions.of(scores, 0.0)
    assert found.edges[0] < found.edges[-1]
    assert "NaN" not in found.picture()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_calibration_by_hand(scenario):
    evidence = made_up(scenario)
    bins, scores = CalibrationBins.of(evidence, n_bins=4), evidence.scores
    assert bins.n_rows.sum() == pytest.approx(scores.n_population)
    cut = np.quantile(scores.positive, 0.75)
    mass = scores.population_mass[scores.population >= cut].sum()
    assert bins.observed[-1] == pytest.approx(min(0.4 * np.mean(scores.positive >= cut) / mass, 1))
    mean = np.average(bins.predicted, weights=bins.n_rows)
    assert mean == pytest.approx(0.4, abs=0.02)  # calibrated probabilities have the prior as their mean
    assert (bins.by_prior[1] <= bins.by_prior[2]).all()
    assert ((bins.low <= bins.observed) & (bins.observed <= bins.high)).all()


def test_a_map_of_two_features_is_exact():
    data = make_two_moons(random_state=0)
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    found = PUDecisionBoundaryDisplay.of_rows(model, data.X, data.y).data_map
    centre = [(found.x_edges[5] + found.x_edges[6]) / 2, (found.y_edges[3] + found.y_edges[4]) / 2]
    assert found.field[3, 5] == pytest.approx(model.decision_function([centre])[0], rel=1e-5)
    line = max(found.boundary(), key=len)
    assert np.abs(model.decision_function(line)).max() < 0.5 * np.abs(found.field).max()
    assert found.labelled.sum() == (data.y == 1).sum()


def test_a_map_of_many_features_goes_along_the_score(data):
    X = np.column_stack([data.X, np.random.default_rng(0).normal(size=(len(data.X), 3))])
    model = WMMDClassifier(0.4, random_state=0).fit(X, data.y)
    found = PUDecisionBoundaryDisplay.of_rows(model, X, data.y).data_map
    assert not found.is_exact
    margins = model.decision_function(X)
    assert np.corrcoef(found.places[:, 0], margins)[0, 1] > 0.8
    assert ((found.strength >= 0) & (found.strength <= 1)).all()


def test_missing_values_are_at_the_mean_of_their_column():
    rows = np.array([[np.nan, 1], [np.nan, 3], [np.nan, np.nan]])
    np.testing.assert_array_equal(filled(rows), [[0, 1], [0, 3], [0, 2]])


def test_parts_of_a_row_sum_up(data):
    model = WMMDClassifier(0.4, random_state=0).fit(data.X, data.y)
    drivers = ExplanationDisplay.of_row(model, data.X[7]).drivers
    assert drivers.totals.sum() + sum(value for _, value in drivers.others) == pytest.approx(drivers.score, abs=1e-5)
    assert drivers.largest(1)[0][1] == drivers.totals[np.argmax(np.abs(drivers.totals))]


def test_gammas_and_priors_are_those_of_the_model(data):
    model = WMMDClassifier(random_state=0).fit(data.X, data.y)
    criteria = GammaDisplay.of_model(model).criteria
    assert criteria.chosen == model.gamma_
    assert sorted(criteria.criteria) == sorted(model.criteria_)
    comparison = PriorDisplay.of_evidence(model).comparison
    assert comparison.estimates["in use"].value == model.prior_
    by_hand = AutoPrior().fit_scores(model.honest_scores_)
    assert comparison.estimates["auto"].value == by_hand.prior_


DISPLAYS = (
    ScoreDistributionDisplay,
    ThresholdDisplay,
    PURocCurveDisplay,
    PUPrecisionRecallDisplay,
    PUCalibrationDisplay,
    GammaDisplay,
    PUDecisionBoundaryDisplay,
)


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_the_convention_of_scikit_learn(display, fitted, data):
    shown = display.from_estimator(fitted, data.X, data.y)
    assert shown.ax_.figure is shown.figure_
    assert shown.ax_.get_xlabel()
    ax = mpl.figure.Figure().subplots()
    assert shown.plot(ax) is shown
    assert shown.ax_ is ax
    assert ax.lines or ax.collections or ax.patches
    mpl.pyplot.close("all")


@pytest.mark.parametrize("display", [*DISPLAYS, PriorDisplay])
def test_names_and_arguments_of_matplotlib(display, fitted, data):
    """A name is shown, and what is drawn has the colour that was asked for."""
    ax = mpl.figure.Figure().subplots()
    X = data.X[3] if display is ExplanationDisplay else data.X
    rows = () if display is PriorDisplay else (X, data.y)
    display.from_estimator(fitted, *rows, ax=ax, name="first", color="#123456")
    shown = [ax.get_title(), *ax.get_legend_handles_labels()[1]]
    assert any("first" in words for words in shown)
    drawn = [artist for artist in (*ax.lines, *ax.collections, *ax.patches) if _colour_of(artist) == "#123456"]
    assert drawn


def _colour_of(artist):
    colour = artist.get_color() if hasattr(artist, "get_color") else artist.get_facecolor()
    colour = colour[0] if np.ndim(colour) == 2 and len(colour) else colour
    return None if len(colour) == 0 else mpl.colors.to_hex(colour)


@pytest.mark.parametrize("display", [PURocCurveDisplay, PUPrecisionRecallDisplay, PUCalibrationDisplay, GammaDisplay])
def test_two_models_in_the_same_axes(display, data):
    """Each has its own colour and its name in the legend; what they share is there once."""
    ax, curves = mpl.figure.Figure().subplots(), []
    for kernel in ("rbf", "inverse"):
        model = WMMDClassifier(0.4, kernel=kernel, random_state=0).fit(data.X, data.y)
        display.from_estimator(model, ax=ax, name=kernel)
        curves.append(dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True)))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(labels)) == len(labels)
    first, second = (next(label for label in labels if label.startswith(kernel)) for kernel in ("rbf", "inverse"))
    colours = [_colour_of(getattr(curves[1][label], "lines", [curves[1][label]])[0]) for label in (first, second)]
    assert colours[0] != colours[1]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scores_of_held_out_rows(scenario):
    """What is drawn is of these rows alone, and at the prior that was given."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=20_000) < 0.3
    scores = rng.normal(np.where(truth, 1.0, -1.0), 1)
    expected = roc_auc_score(truth, scores)
    y = truth & (rng.uniform(size=len(truth)) < 0.5)
    if scenario == "case-control":
        y, scores = np.repeat([False, True], [len(truth), 5_000]), np.append(scores, rng.normal(1.0, 1, 5_000))
    how = {"prior": 0.3, "scenario": scenario, "ax": mpl.figure.Figure().subplots()}
    found = PURocCurveDisplay.from_predictions(y, scores, **how).curves.roc_auc
    assert found.value == pytest.approx(expected, abs=0.015)
    for display in (PUPrecisionRecallDisplay, PUCalibrationDisplay, ScoreDistributionDisplay, ThresholdDisplay):
        display.from_predictions(y, scores, **how)
    with pytest.raises(ValueError, match="one finite number for each of the"):
        PURocCurveDisplay.from_predictions(y, scores[:-1], **how)


def test_a_search_is_drawn_by_its_best_estimator(data):
    search = GridSearchCV(WMMDClassifier(0.4, random_state=0), {"kernel": ["rbf"]}, cv=PUStratifiedKFold(2))
    search.fit(data.X, data.y)
    for display in (*DISPLAYS, PriorDisplay):
        ax = display.from_estimator(search, data.X, data.y, ax=mpl.figure.Figure().subplots()).ax_
        assert ax.lines or ax.collections or ax.patches


def test_rows_and_priors_are_drawn(data):
    model = WMMDClassifier(random_state=0).fit(data.X, data.y)
    ax = PriorDisplay.from_estimator(model, data.X, data.y, ax=mpl.figure.Figure().subplots()).ax_
    assert {label.get_text() for label in ax.get_yticklabels()} >= {"in use", "km2", "density"}
    ax = ExplanationDisplay.from_estimator(model, data.X[3], ax=mpl.figure.Figure().subplots()).ax_
    assert ax.patches


def test_a_model_without_scores_of_its_own_needs_the_table(data):
    model = ElkanNotoClassifier(prior=0.4, random_state=0).fit(data.X, data.y)
    with pytest.raises(ValueError, match="X and y are needed"):
        ThresholdDisplay.of_evidence(model)
    assert ThresholdDisplay.of_evidence(model, data.X, data.y).table.rows
    with pytest.raises(ValueError, match="has chosen no gamma"):
        GammaDisplay.of_model(model)


def test_without_matplotlib_the_extra_is_named(monkeypatch, fitted):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"unlabeled\[figures\]"):
        ScoreDistributionDisplay.from_estimator(fitted)


def test_all_displays_are_tested():
    assert set(unlabeled.displays.__all__) == {
        *(display.__name__ for display in DISPLAYS),
        "ExplanationDisplay",
        "PriorDisplay",
    }


# --- what notebooks show of a classifier ---


def test_a_fitted_classifier_shows_what_it_learned(data):
    model = PUClassifier(0.4, parts={"score": "drop", "least-squares": "drop"})
    before = model._repr_html_()
    assert "unlabeled-piece" not in before
    after = model.fit(data.X, data.y)._repr_html_()
    assert "sk-container" in after  # scikit-learn's own view is there
    assert f"prior: <b>{model.prior_:.3f}</b>" in after
    assert "<svg" in after
    assert "unlabeled-piece" in model._repr_mimebundle_()["text/html"]
