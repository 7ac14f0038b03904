"""The simulations of the theory: their closed forms against sampling, and what they must show."""

import doctest
import math
from pathlib import Path

import numpy as np
import pytest

from unlabeled import bounds, wmmd
from unlabeled.datasets import make_gaussians
from unlabeled.experiments import theory, theory_estimation, theory_rate, theory_sharper
from unlabeled.experiments.cell import Cell
from unlabeled.scoring.witness import witness

# --- estimation error on Gaussians ---


def test_wmmd_of_gaussians_in_closed_form_against_a_sample():
    truth = theory_estimation.Gaussians(gamma=0.4, prior=0.3, n_features=3, separation=1.5)
    data = make_gaussians(2500, 2500, 1, prior=0.3, n_features=3, separation=1.5, random_state=0)
    assert wmmd(data.positive, data.unlabeled, 0.6, gamma=0.4) == pytest.approx(truth.wmmd, abs=0.015)


def test_errors_of_a_draw_against_a_large_sample():
    """The hinge risk of the learned function, averaged over fresh rows, less the smallest one."""
    gamma, prior = theory_estimation.GAMMA, theory_estimation.PRIOR
    data = make_gaussians(30, 30, 1, prior=prior, random_state=0)
    fresh = make_gaussians(1, 1, 100_000, prior=prior, random_state=1)
    f = witness(data.positive, data.unlabeled, 2 * prior, gamma=gamma).f(fresh.test)
    risk = np.maximum(0, 1 - np.where(fresh.test_truth, 1, -1) * f).mean()
    errors = theory_estimation._errors(data.positive, data.unlabeled)
    truth = theory_estimation.Gaussians(gamma, prior).wmmd
    assert errors["estimation_error"] == pytest.approx(risk - (1 - truth), abs=0.005)
    found = wmmd(data.positive, data.unlabeled, 2 * prior, gamma=gamma)
    assert errors["wmmd_error"] == pytest.approx(abs(found - truth))


def test_uniform_deviation_is_the_norm_of_the_error_of_the_kernel_means():
    """Against a large sample in place of the distribution."""
    gamma, prior = theory_estimation.GAMMA, theory_estimation.PRIOR
    data = make_gaussians(30, 30, 1, prior=prior, random_state=0)
    many = make_gaussians(1500, 1500, 1, prior=prior, random_state=1)
    points = np.concatenate([data.unlabeled, data.positive, many.unlabeled, many.positive])
    masses = np.repeat([1 / 30, -2 * prior / 30, -1 / 1500, 2 * prior / 1500], [30, 30, 1500, 1500])
    norm = math.sqrt(masses @ bounds.complexity.gram(points, points, "rbf", gamma) @ masses)
    assert theory_estimation._errors(data.positive, data.unlabeled)["uniform_deviation"] == pytest.approx(
        norm, abs=0.02
    )


def test_errors_keep_the_order_that_the_proofs_give_them():
    for n in (8, 100):
        found = [theory_estimation.run(Cell("theory", "gaussians", "wmmd", sizes(n), draw)) for draw in range(20)]
        for errors in found:
            assert 0 <= errors["estimation_error"] <= 2 * errors["uniform_deviation"]
            assert errors["wmmd_error"] <= errors["uniform_deviation"] + 1e-9


def test_bounds_of_a_size_lie_above_the_errors():
    at = theory_estimation.run(Cell("theory", "gaussians", "bounds", sizes(100)))
    errors = theory_estimation.run(Cell("theory", "gaussians", "wmmd", sizes(100)))
    assert errors["estimation_error"] < at["round_ball_wmmd_known"] <= at["round_ball"] < at["general"]
    assert at["general"] <= at["kernel"] <= at["kernel_any_variance"]
    assert at["kiryo"] == bounds.kernel_kiryo_bound(100, 100, 0.5, tau=3.0)
    assert at["kernel"] == bounds.kernel_estimation_error_bound(100, 100, 0.5, tau=3.0, rho=at["rho"])
    assert at["round_ball_wmmd_known"] == bounds.round_ball_bound(100, 100, 0.5, tau=3.0, wmmd=at["wmmd"])


# --- excess risk ---


def sizes(n, **more):
    return {"n_positive": n, "n_unlabeled": n, **more}


@pytest.mark.parametrize("smoothness", theory_rate.SMOOTHNESS)
@pytest.mark.parametrize("n_features", [1, 3])
def test_family_is_what_it_says(smoothness, n_features):
    family = theory_rate.Margin(smoothness, n_features)
    rng = np.random.RandomState(0)
    rows = family.draw_unlabeled(200_000, rng)
    margin = family.margin(rows)
    assert np.abs(margin).max() <= 1
    assert (1 + margin.mean()) / 2 == pytest.approx(family.prior, abs=0.002)
    positive = family.draw_positive(50_000, rng)
    # E over the positives of a function = E over the population of it times eta / prior
    for power in (1, 3):
        expected = (rows[:, 0] ** power * (1 + margin) / 2).mean() / family.prior
        assert (positive[:, 0] ** power).mean() == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("smoothness", theory_rate.SMOOTHNESS)
def test_noise_exponent_of_the_family(smoothness):
    """P(|2 eta - 1| <= t) = t^q times a constant for small t."""
    family = theory_rate.Margin(smoothness, 1)
    margin = np.abs(family.margin(np.linspace(0, 1, 2_000_001)[:, None]))
    shares = [np.mean(margin <= t) for t in (0.04, 0.08)]
    assert math.log2(shares[1] / shares[0]) == pytest.approx(family.noise_exponent, abs=0.01)


@pytest.mark.parametrize("smoothness", theory_rate.SMOOTHNESS)
def test_hoelder_exponent_of_the_family(smoothness):
    """The largest |margin(x) - margin(y)| / |x - y|^s is bounded, and with a larger exponent it is not."""
    family = theory_rate.Margin(smoothness, 1)
    x = np.concatenate([np.linspace(0, 1, 801), theory_rate.BOUNDARY + np.geomspace(1e-9, 0.1, 400)])
    gaps = np.abs(x[:, None] - x)
    kept = gaps > 1e-12
    changes = np.abs(np.subtract.outer(*[family.margin(x[:, None])] * 2))[kept]
    assert (changes / gaps[kept] ** smoothness).max() < 2
    assert (changes / gaps[kept] ** (smoothness + 0.1)).max() > 5


def test_weighted_queries_integrate_over_the_population():
    family = theory_rate.Margin(0.5, 2)
    queries, weights = theory_rate._queries(family, np.random.RandomState(0))
    assert weights.mean() == pytest.approx(1, abs=0.01)
    assert (weights * queries[:, 0]).mean() == pytest.approx(0.5, abs=0.01)
    assert (weights * family.margin(queries)).mean() == pytest.approx(2 * family.prior - 1, abs=0.01)


def test_excess_risk_of_a_rule_that_is_known():
    """One row in each sample: all beyond their middle, but for the threshold, is called positive."""
    family = theory_rate.Margin(0.5, 1)
    cut = 0.7
    positive, unlabeled = np.array([[cut + 0.1]]), np.array([[cut - 0.1]])
    shift = math.log(2 * family.prior) / (2 * 50 * 0.2)  # where the log ratio meets the threshold
    queries = np.linspace(0, 1, 200_001)[:, None]
    margin = family.margin(queries)
    wrong = (queries[:, 0] > cut - shift) != (margin > 0)
    found = theory_rate.excess_risk(family, positive, unlabeled, 50.0, np.random.RandomState(0))
    assert found == pytest.approx((np.abs(margin) * wrong).mean(), abs=0.002)


def test_excess_risk_falls():
    risks = [
        np.mean(
            [
                theory_rate.run(Cell("theory", "margin", "wmmd", sizes(n, n_features=2, smoothness=0.5), draw))[
                    "excess_risk"
                ]
                for draw in range(5)
            ]
        )
        for n in (64, 4096)
    ]
    assert 0 < risks[1] < risks[0] / 2


# --- which bound is sharper ---


def test_largest_rho_is_where_the_bounds_meet():
    setting = sizes(60, nu=0.8, tau=3.0)
    found = theory_sharper.run(Cell("theory", "formula", "sharper", setting))
    complexity = dict.fromkeys(("positive_complexity", "unlabeled_complexity"), 0.8 / math.sqrt(60))
    theirs = bounds.kiryo_bound(60, 60, 0.5, **complexity, tau=3.0, nu=0.8)
    for rho, alpha in ((found["rho_alpha_one"], 1.0), (found["rho_best_alpha"], None)):
        assert 0 < rho < 0.8
        ours = bounds.estimation_error_bound(60, 60, 0.5, **complexity, tau=3.0, nu=0.8, rho=rho, alpha=alpha)
        assert ours == pytest.approx(theirs)


def test_best_alpha_is_sharper_more_often_than_alpha_one():
    for cell in theory_sharper.cells():
        found = theory_sharper.run(cell)
        assert 0 <= found["rho_alpha_one"] <= found["rho_best_alpha"] + 1e-9 <= cell.setting["nu"] + 1e-9


# --- as an experiment ---


def test_cells_are_distinct_and_repeat_exactly():
    cells = theory.cells(quick=True)
    assert len({cell.key for cell in cells}) == len(cells) < len(theory.cells())
    for dataset in ("gaussians", "margin", "formula"):
        cell = next(cell for cell in cells if cell.dataset == dataset)
        metrics = theory.run(cell)
        assert metrics == theory.run(cell)
        assert all(math.isfinite(value) for value in metrics.values())


def test_figures_of_a_quick_run_show_its_slopes():
    report = pytest.importorskip("unlabeled.experiments.pages.theory_figures")
    rows_of = pytest.importorskip("unlabeled.experiments.pages.rows").Rows
    cells = [cell for cell in theory.cells(2, quick=True) if cell.setting["n_positive"] < 2000]
    rows = rows_of({**cell.identity(), "metrics": theory.run(cell)} for cell in cells)
    drawn = report.estimation(rows).axes[0]
    labels = drawn.get_legend_handles_labels()[1]
    slopes = {label.split(":")[0]: float(label.rsplit(" ", 1)[1]) for label in labels if "slope" in label}
    assert slopes["bound of Kiryo et al."] == pytest.approx(-0.5, abs=0.01)
    assert slopes["estimation error"] < slopes["twice the largest risk difference"]
    at_16 = [theory.run(cell) for cell in cells if (cell.dataset, cell.method) == ("gaussians", "wmmd")][:2]
    twice = next(bars for bars in drawn.containers if bars.get_label().startswith("twice"))
    assert twice[0].get_ydata()[0] == pytest.approx(sum(found["uniform_deviation"] for found in at_16))
    panels = report.rates(rows).axes
    assert [axes.get_title() for axes in panels] == ["d = 1", "d = 2", "d = 5"]
    dashed = [line for line in panels[1].lines if line.get_linestyle() == "--"]
    assert [np.polyfit(*np.log(line.get_data()), 1)[0] for line in dashed] == pytest.approx([-0.5, -0.5])
    assert [axes.get_title() for axes in report.sharper(rows).axes] == ["tau = 1", "tau = 3", "tau = 7"]


def test_slope_of_a_curve_and_its_error():
    """Against numpy's fit of the last sizes, and against the slopes of many noisy curves."""
    curve_of = pytest.importorskip("unlabeled.experiments.pages.theory_figures").Curve
    sizes, errors = 2.0 ** np.arange(3, 12), np.array([9, 9, 9, 0.01, 0.03, 0.02, 0.04, 0.01, 0.02])
    truth = 3 * sizes**-0.7
    rng = np.random.default_rng(0)
    curves = [
        curve_of(sizes, truth * (1 + errors * rng.normal(size=9) * (errors < 1)), truth * errors) for _ in range(500)
    ]
    fits = [np.polyfit(np.log(sizes[-6:]), np.log(curve.means[-6:]), 1)[0] for curve in curves]
    assert [curve.slope for curve in curves] == pytest.approx(fits)
    assert curves[0].slope_error == pytest.approx(np.std(fits), rel=0.1)


def test_curves_leave_out_sizes_without_the_metric():
    report = pytest.importorskip("unlabeled.experiments.pages.theory_figures")
    rows_of = pytest.importorskip("unlabeled.experiments.pages.rows").Rows
    rows = rows_of(
        {
            "experiment": "theory",
            "dataset": "margin",
            "method": "wmmd",
            "setting": sizes(n),
            "draw": 0,
            "metrics": found,
        }
        for n, found in ((8, {"excess_risk": 0.3}), (4, {"excess_risk": 0.4}), (6, {"other": 1.0}))
    )
    curve = report._curve(rows, "margin", "wmmd", "excess_risk", {})
    assert (curve.sizes.tolist(), curve.means.tolist()) == ([4, 8], [0.4, 0.3])


def test_figures_of_no_rows_are_none():
    report = pytest.importorskip("unlabeled.experiments.pages.theory_figures")
    rows = pytest.importorskip("unlabeled.experiments.pages.rows").Rows([])
    assert report.estimation(rows) is report.rates(rows) is report.sharper(rows) is None


# --- the page ---


def test_examples_of_the_page():
    page = Path(__file__).parent.parent / "docs" / "theory.md"
    if not page.exists():
        pytest.skip("docs are not part of this distribution")
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert found.attempted > 20
    assert found.failed == 0
