"""`unlabeled reproduce` as a person runs it."""

import lzma
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from unlabeled.cli import app
from unlabeled.datasets import PAPER_DATASETS
from unlabeled.experiments import EXPERIMENTS, run
from unlabeled.experiments.harness import run_one
from unlabeled.experiments.plan import TARGETS, Options, plan
from unlabeled.results import ResultsFile

needs_data = pytest.mark.skipif(
    "UNLABELED_DATA_HOME" not in os.environ, reason="UNLABELED_DATA_HOME does not point at the LIBSVM files"
)


def reproduce(*args):
    return CliRunner().invoke(app, ["reproduce", *map(str, args)])


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
    for cell in plan(["figure2"], Options(methods=("wmmd", "log", "tadj"), draws=1))[0][::40]:
        one, other = (run_one(cell, run)["metrics"] for _ in range(2))
        assert {k: v for k, v in one.items() if k != "fit_seconds"} == {
            k: v for k, v in other.items() if k != "fit_seconds"
        }


@needs_data
def test_real_data_from_the_shell(tmp_path):
    options = ("--draws", 2, "--jobs", 1, "--datasets", "heart_scale,sonar_scale", "--methods", "wmmd,tadj")
    done = reproduce("table2", "table3", "table4", *options, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "README.md").read_text()
    assert "| heart_scale | 12 | 122 | 10 | 60 | 60 | 0.62 |" in page
    assert "± " in page.split("Table 4")[1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["figure9"], "figure or table 'figure9' is not known; use some of"),
        (["figure2", "--methods", "wmmd,svm"], "method 'svm' is not known"),
        (["table3", "--datasets", "iris"], "data set 'iris' is not known"),
        (["figure1", "--draws", "0"], "draws must be 1 or more"),
        (["figure1", "--jobs", "0"], "should be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path, args, message):
    done = reproduce(*args, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", "").split())


def test_a_report_of_nothing(tmp_path):
    assert reproduce("report", "--out", tmp_path).exit_code == 0
    assert "No rows yet" in (tmp_path / "README.md").read_text()


def test_data_that_are_not_at_hand_are_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setenv("UNLABELED_DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = reproduce("table2", "--quick", "--datasets", "HIGGS", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "Left out: HIGGS. a quick run does not download gigabytes" in " ".join(done.output.split())


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
    assert counts["figure2"] == counts["figure3"] == 5 * 100 * (24 + 18)
    assert counts["table3"] == counts["table4"] == 5 * (7 * 100 + 4 * 10)
    assert counts["appendix-e"] == counts["figure2"] + 3 * 100 * (24 + 18)


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
    assert "the same command goes on from here" in " ".join(said.split())
    assert "Traceback" not in said
    assert "Nothing was written" not in said
    assert ResultsFile(rows).n_damaged() == 0
