"""Cells and the processes that run them: seeds by name, failures recorded, kills survived."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unlabeled.experiments.cell import Cell
from unlabeled.experiments.harness import run_cells, run_one
from unlabeled.results import ResultsFile


def cells(n, method="m"):
    return [Cell("e", "d", method, {"n_unlabeled": 3, "kernel": "rbf"}, draw) for draw in range(n)]


def report_seed(cell):
    return {"seed": cell.data_seed}


def fail_in_many_ways(cell):
    """The kinds of trouble a method may be in, by draw."""
    if cell.draw == 0:
        raise ValueError("no such thing")
    if cell.draw == 1:
        return {"bytes": np.ones(int(4e9)).nbytes}  # 32 GB
    if cell.draw == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.draw == 5:
        return {"nothing": float("nan")}
    if cell.draw == 3:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
    return {"fine": 1.0, "note": "a remark"}


def slow(cell):
    time.sleep(0.05)
    return {"draw": cell.draw}


def interrupted(_):
    raise AssertionError("must not run")


def test_seeds_come_from_names():
    one = Cell("e", "d", "m", {"n_unlabeled": 3, "kernel": "rbf"}, 0)
    other_method = Cell("e", "d", "other", {"n_unlabeled": 3, "kernel": "inverse"}, 0)
    assert one.data_seed == other_method.data_seed
    assert one.seed != other_method.seed
    assert one.data_seed != Cell("e", "d", "m", {"n_unlabeled": 4}, 0).data_seed
    assert one.data_seed != Cell("e", "d", "m", {"n_unlabeled": 3}, 1).data_seed
    assert one.seed == 1014037108  # rows that are kept can be made again only while this stays
    assert 0 <= one.seed < 2**32


def test_rows_say_what_was_run_and_done_cells_are_not_run_again(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    heard = []
    assert run_cells(cells(4), file, report_seed, jobs=2, on_row=heard.append) == 4
    assert sorted(row["draw"] for row in heard) == [0, 1, 2, 3]
    for row in file.rows():
        (cell,) = (cell for cell in cells(4) if cell.draw == row["draw"])
        assert row["metrics"]["seed"] == row["data_seed"] == cell.data_seed
        assert row["seed"] == cell.seed
        assert {"version", "seconds", "setting", "method"} <= set(row)
    assert run_cells(cells(4), file, interrupted) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory can be bounded on Linux only")
def test_trouble_is_recorded_and_the_run_goes_on(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    assert run_cells(cells(6), file, fail_in_many_ways, memory_gb=4) == 6
    rows = {row["draw"]: row for row in file.rows()}
    assert rows[0]["failure"].startswith("ValueError: no such thing")
    assert rows[1]["failure"] == "memory: more than 4 GB"
    assert rows[2]["failure"] == "killed: the process ended with code -9"
    assert rows[3]["failure"] == "memory: more than 4 GB"
    assert rows[4]["metrics"] == {"fine": 1.0}
    assert rows[4]["note"] == "a remark"
    assert rows[5]["failure"].startswith("ValueError: Out of range float")


def test_failures_are_tried_again_only_when_asked(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    run_cells(cells(1), file, fail_in_many_ways)
    again = ResultsFile(file.path)
    assert run_cells(cells(1), again, report_seed) == 0
    again.forget_failures()
    assert run_cells(cells(1), again, report_seed) == 1
    (row,) = again.rows()
    assert "metrics" in row
    assert "failure" not in row


def test_one_cell_can_be_run_alone():
    (cell,) = cells(1)
    assert run_one(cell, report_seed)["metrics"] == {"seed": cell.data_seed}


RUN_SLOWLY = """
import sys
sys.path.insert(0, {tests!r})
from test_harness import cells, run_cells, slow
from unlabeled.results import ResultsFile
if __name__ == "__main__":
    run_cells(cells(60), ResultsFile({path!r}), slow, jobs=2)
"""


def start_slow_run(tmp_path):
    script = tmp_path / "run.py"
    path = tmp_path / "rows.jsonl"
    script.write_text(RUN_SLOWLY.format(tests=str(Path(__file__).parent), path=str(path)))
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE), path


def wait_for_rows(path, n_rows):
    for _ in range(600):
        if path.exists() and len(path.read_text().splitlines()) >= n_rows:
            return
        time.sleep(0.05)
    raise AssertionError("the run did not begin")


def test_a_killed_run_resumes_without_loss_or_repetition(tmp_path):
    process, path = start_slow_run(tmp_path)
    wait_for_rows(path, 3)
    process.kill()
    process.communicate()
    assert len(ResultsFile(path).rows()) < 60
    process, path = start_slow_run(tmp_path)
    assert process.communicate()[1] == b""
    assert process.returncode == 0
    assert sorted(row["draw"] for row in ResultsFile(path).rows()) == list(range(60))
    assert len(path.read_text().splitlines()) == 60


def sleep_long(cell):
    Path(cell.setting["pid_file"]).write_text(str(os.getpid()))
    time.sleep(60)
    return {}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_run_leaves_no_worker_behind(tmp_path):
    pid_file = tmp_path / "pid"
    code = RUN_SLOWLY.format(tests=str(Path(__file__).parent), path=str(tmp_path / "rows.jsonl"))
    code = code.replace("run_cells, slow", "run_cells, sleep_long, Cell")
    code = code.replace("cells(60)", f"[Cell('e', 'd', 'm', dict(pid_file={str(pid_file)!r}))]").replace(
        "slow, jobs=2", "sleep_long"
    )
    (tmp_path / "run.py").write_text(code)
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py")])
    for _ in range(600):
        if pid_file.exists() and pid_file.read_text():
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    worker = Path("/proc") / pid_file.read_text()
    deadline = time.monotonic() + 10
    while worker.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not worker.exists()


@pytest.mark.slow
def test_two_runs_on_one_file_leave_each_row_once(tmp_path):
    runs = [start_slow_run(tmp_path) for _ in range(2)]
    for process, _ in runs:
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    path = runs[0][1]
    assert sorted(row["draw"] for row in ResultsFile(path).rows()) == list(range(60))
    assert len(path.read_text().splitlines()) == 60


def test_an_interrupt_ends_the_workers_and_keeps_the_rows(tmp_path):
    process, path = start_slow_run(tmp_path)
    wait_for_rows(path, 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors
    assert b"Traceback" in errors
    assert errors.count(b"Traceback") == 1  # the workers are silent
    assert 3 <= len(ResultsFile(path).rows()) < 60
