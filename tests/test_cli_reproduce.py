"""`unlabeled reproduce` as a person runs it."""

import lzma
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from unlabeled.cli import app
from unlabeled.datasets import PAPER_DATASETS
from unlabeled.engines import choosing
from unlabeled.experiments import EXPERIMENTS, run
from unlabeled.experiments.calibration import calibration_error
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.harness import run_one
from unlabeled.experiments.methods import (
    METHODS,
    OUR_METHODS,
    SMALL_METHODS,
    TRIED_METHODS,
    Task,
    known_or_estimated,
)
from unlabeled.experiments.plan import TARGETS, Options, plan
from unlabeled.results import ResultsFile

needs_data = pytest.mark.skipif(
    "UNLABELED_DATA_HOME" not in os.environ, reason="UNLABELED_DATA_HOME does not point at the LIBSVM files"
)


def reproduce(*args):
    return CliRunner().invoke(app, ["reproduce", *map(str, args)])


@pytest.mark.slow
def test_figure_1_from_the_shell_and_again(tmp_path):
    first = reproduce("figure1", "--draws", 1, "--jobs", 1, "--out", tmp_path)
    assert first.exit_code == 0, first.output
    assert "4 cells, 0 of them done before" in first.output
    assert (tmp_path / "figure1.png").stat().st_size > 20_000
    assert "Figure 1" in (tmp_path / "index.html").read_text()
    rows = ResultsFile(tmp_path / "results.jsonl").rows()
    assert len(rows) == 4
    assert all(row["metrics"]["accuracy"] > 0.6 for row in rows)
    again = reproduce("figure1", "--draws", 1, "--jobs", 1, "--out", tmp_path)
    assert "4 cells, 4 of them done before" in again.output
    assert ResultsFile(tmp_path / "results.jsonl").rows() == rows


def test_any_row_can_be_made_again_alone():
    for cell in plan(["figure2"], Options(methods=("wmmd", "log-released", "tadj-balanced"), draws=1))[0][::40]:
        one, other = (run_one(cell, run)["metrics"] for _ in range(2))
        assert {k: v for k, v in one.items() if k != "fit_seconds"} == {
            k: v for k, v in other.items() if k != "fit_seconds"
        }


@pytest.mark.slow
@needs_data
def test_real_data_from_the_shell(tmp_path):
    options = ("--draws", 2, "--jobs", 1, "--datasets", "heart_scale,sonar_scale", "--methods", "wmmd,tadj-balanced")
    done = reproduce("table2", "table3", "table4", *options, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "README.md").read_text()
    assert "| heart_scale | 12 | 122 | 10 | 60 | 60 | 0.62 |" in page
    assert "± " in page.split("Table 4")[1]


@pytest.mark.slow
@needs_data
def test_accuracy_from_the_shell(tmp_path):
    options = ("--draws", 2, "--jobs", 1, "--datasets", "heart_scale", "--methods", "tadj-balanced,pu-auto")
    done = reproduce("accuracy", *options, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "6 cells, 0 of them done before" in done.output
    lines = [line for line in (tmp_path / "accuracy.md").read_text().splitlines() if line.startswith("| heart_scale")]
    assert len(lines) == 2 * 2 + 2  # both metrics with the prior known and unknown, and both priors again for ours
    assert all("tADJ" in line and "| 2 |" in line for line in lines[:4])
    assert (tmp_path / "accuracy.png").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["figure9"], "figure or table 'figure9' is not known; use some of"),
        (["figure2", "--methods", "wmmd,svm"], "method 'svm' is not known"),
        (["table3", "--datasets", "iris"], "data set 'iris' is not known"),
        (["figure1", "--draws", "0"], "draws must be 1 or more"),
        (["figure1", "--jobs", "0"], "'--jobs'"),
        (["report", "--engine", "cuda"], "engine='cuda' is not known; use 'auto' or one of"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path, args, message):
    done = reproduce(*args, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", "").split())


def test_methods_that_a_table_has_no_cells_of_are_named(tmp_path):
    done = reproduce("figure1", "--methods", "tadj-balanced,wmmd-floor", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "Left out: tadj-balanced, wmmd-floor. There are no cells of it in figure1." in " ".join(done.output.split())
    assert "Left out" not in reproduce("figure1", "--methods", "wmmd", "--draws", 1, "--out", tmp_path).output


def test_an_engine_for_all_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("UNLABELED_ENGINE", "numba")  # and is put back afterwards
    assert reproduce("report", "--engine", "reference", "--out", tmp_path).exit_code == 0
    assert os.environ["UNLABELED_ENGINE"] == "reference"


def test_an_engine_that_cannot_be_used_is_refused_before_the_cells(tmp_path, monkeypatch):
    """Else every cell would fail by itself."""
    monkeypatch.setattr(choosing, "load", lambda _: SimpleNamespace(unusable=lambda: "torch sees no CUDA card"))
    done = reproduce("figure1", "--quick", "--engine", "triton", "--out", tmp_path)
    assert done.exit_code == 2
    assert "torch sees no CUDA card; or use engine='auto'" in " ".join(done.output.replace("│", "").split())
    assert not list(tmp_path.iterdir())


def test_a_report_of_nothing(tmp_path):
    assert reproduce("report", "--out", tmp_path).exit_code == 0
    assert "No rows yet" in (tmp_path / "README.md").read_text()


def test_data_that_are_not_at_hand_are_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setenv("UNLABELED_DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = reproduce("table2", "--quick", "--datasets", "HIGGS", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "Left out: HIGGS. a quick run does not download gigabytes" in " ".join(done.output.split())


@pytest.mark.slow
def test_packed_rows_are_gone_on_with(tmp_path):
    reproduce("figure1", "--draws", 1, "--jobs", 1, "--out", tmp_path)
    rows = tmp_path / "results.jsonl"
    (tmp_path / "results.jsonl.xz").write_bytes(lzma.compress(rows.read_bytes()))
    rows.unlink()
    again = reproduce("figure1", "--draws", 1, "--jobs", 1, "--out", tmp_path)
    assert "4 cells, 4 of them done before" in again.output


def test_the_full_protocol_is_the_papers():
    counts = {target: sum(map(len, plan([target], Options()))) for target in TARGETS if target != "theory"}
    assert counts["figure1"] == 4 * 100
    assert counts["table1"] == 100
    assert counts["table2"] == 11
    assert counts["figure2"] == counts["figure3"] == (5 + 3) * 100 * (24 + 18)
    assert counts["table3"] == counts["table4"] == (5 + 4 + 3) * (7 * 100 + 4 * 10)  # paper, other readings, ours
    assert counts["appendix-e"] == (5 + 3) * 100 * (24 + 18)  # all five with the one kernel, three with the other
    with_a_prior, without = 4 + 3 + 3, 2
    assert counts["accuracy"] == (2 * with_a_prior + without) * (7 * 100 + 4 * 10 + 10)  # HIGGS in two layouts
    with_km, last_epoch, tried = 4 + 3, 2, 2 * 3 + len(TRIED_METHODS)
    on_gaussians = (100 + 20) * (24 + 18)  # WMMD with KM1 and KM2
    assert counts["readings"] == 7 * ((with_km + last_epoch) * 100 + tried * 20) + on_gaussians + 2  # and KM1 on skin


def test_our_methods_are_in_the_accuracies_and_not_in_the_rest():
    having_ours = {
        target
        for target in TARGETS
        for stage in plan([target], Options(quick=True))
        for cell in stage
        if set(cell.method.split("+")) & set(OUR_METHODS)
    }
    assert having_ours == {"figure2", "figure3", "table3", "table4", "accuracy"}
    assert plan(["table1", "figure1", "appendix-e"], Options(methods=tuple(OUR_METHODS))) == []


def test_accuracy_is_tables_3_and_4_and_higgs_again():
    (accuracy,), (tables,) = (plan(targets, Options()) for targets in (["accuracy"], ["table3", "table4"]))
    more = {cell.key for cell in accuracy} - {cell.key for cell in tables}
    assert {cell.key for cell in tables} < {cell.key for cell in accuracy}
    again = [cell for cell in accuracy if cell.key in more]
    assert {(cell.dataset, cell.setting["layout"]) for cell in again} == {("HIGGS", "indexed")}
    assert {cell.method for cell in again} == set(METHODS) - set(TRIED_METHODS) - set(SMALL_METHODS)
    (quick,) = plan(["accuracy"], Options(quick=True))
    assert not [cell for cell in quick if "layout" in cell.setting]


def test_a_quick_run_has_few_draws_of_ours_in_the_figures():
    def draws(options):
        return {name: len({c.draw for stage in plan(["figure2"], options) for c in stage if c.method == name})
                for name in ("wmmd", "pu-auto")}  # fmt: skip

    assert draws(Options(quick=True)) == {"wmmd": 3, "pu-auto": 1}
    assert draws(Options(quick=True, draws=2)) == {"wmmd": 2, "pu-auto": 2}


@pytest.mark.parametrize("method", OUR_METHODS)
def test_a_row_of_ours_says_how_calibrated_it_is_and_what_was_chosen(method):
    setting = {"n_unlabeled": 60, "true_prior": 0.5, "prior": "estimated", "kernel": "rbf"}
    metrics = run_one(Cell("gaussians", "gaussians", method, setting), run)["metrics"]
    assert metrics["accuracy"] > 0.6
    assert metrics["auc"] > 0.8
    assert 0 < metrics["ece"] < 0.4
    assert 0 < metrics["prior"] < 1
    assert metrics["prior"] != 0.5
    assert ("chosen" in metrics) == (method == "pu-auto")
    known = run_one(Cell("gaussians", "gaussians", method, setting | {"prior": "known"}), run)["metrics"]
    assert known["prior"] == 0.5


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("tadj-balanced", "class_weight", "balanced"),
        ("nnpu-last", "keep", "last"),
        ("tadj-liblinear", "solver", "liblinear"),
        ("tadj-log-loss", "scoring", "neg_log_loss"),
        ("tadj-auc", "scoring", "roc_auc"),
        ("nnpu-standardised", "standardize", True),
        ("nnpu-20", "batch_size", 20),
    ],
)
def test_a_reading_that_was_tried_differs_in_one_thing(name, parameter, value):
    tried, usual = (METHODS[method](Task(0.5, "rbf", 0, 100)) for method in (name, name.split("-", maxsplit=1)[0]))
    if name.startswith("tadj"):
        tried, usual = tried.estimator, usual.estimator
    found, before = tried.get_params(), usual.get_params()
    assert {key: found[key] for key in found if key != "cv" and found[key] != before[key]} == {parameter: value}


@pytest.mark.parametrize(("setting", "prior"), [("known", 0.5), ("estimated", "km1"), ("0.05", 0.05)])
def test_a_setting_says_which_prior_a_method_is_given(setting, prior):
    assert known_or_estimated("nnpu", setting, 0.5) == prior
    assert known_or_estimated("tadj", setting, 0.5) == 0.5


def test_a_row_of_the_five_has_no_more_than_before():
    setting = {"n_unlabeled": 60, "true_prior": 0.5, "prior": "known", "kernel": "rbf"}
    metrics = run_one(Cell("gaussians", "gaussians", "wmmd", setting), run)["metrics"]
    assert set(metrics) == {"accuracy", "auc", "fit_seconds", "prior"}


def test_calibration_error_by_hand():
    probability = np.array([0.1, 0.3, 0.6, 0.8])
    truth = np.array([False, True, True, True])
    assert calibration_error(probability, truth, n_bins=2) == pytest.approx((0.3 + 0.3) / 2)  # .2 and .7, shares .5, 1
    assert calibration_error(probability[::-1], truth[::-1], n_bins=2) == pytest.approx(0.3)
    assert calibration_error(probability, truth) == pytest.approx((0.1 + 0.7 + 0.4 + 0.2) / 4)  # a bin each
    assert calibration_error(truth.astype(float), truth) == 0


def test_calibration_error_of_true_probabilities_vanishes():
    rng = np.random.default_rng(0)
    probability = rng.uniform(size=200_000)
    truth = rng.uniform(size=len(probability)) < probability
    assert calibration_error(probability, truth) < 0.005
    assert calibration_error(probability**2, truth) == pytest.approx(1 / 2 - 1 / 3, abs=0.005)


def test_a_plan_has_every_cell_once_and_the_timed_ones_first():
    stages = plan(tuple(TARGETS), Options(quick=True))
    cells = [cell for stage in stages for cell in stage]
    assert len({cell.key for cell in cells}) == len(cells)
    assert {cell.experiment for cell in stages[0]} == {"timing"}
    assert {cell.experiment for cell in cells} == set(EXPERIMENTS)
    assert {cell.dataset for cell in cells} >= set(PAPER_DATASETS)
    draws = [cell.draw for cell in stages[1]]
    assert draws == sorted(draws)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_cleanly(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from unlabeled.cli import main; main()",
        "reproduce",
        "figure2",
        "--methods",
        "wmmd",
    ]
    process = subprocess.Popen([*command, "--out", str(tmp_path), "--jobs", "1"], stderr=subprocess.PIPE, text=True)
    rows = tmp_path / "results.jsonl"
    for _ in range(600):
        if rows.exists() and rows.stat().st_size:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the same command continues from here" in " ".join(said.split())
    assert "Traceback" not in said
    assert "Nothing was written" not in said
    assert ResultsFile(rows).n_damaged() == 0
