"""The results file: what is appended stays, once, whatever happens to the runs that write it."""

import json
import lzma
import multiprocessing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unlabeled.experiments.fold import fold
from unlabeled.results import ResultsFile, read_rows, row_key


def row(draw, **setting):
    return {"experiment": "e", "dataset": "d", "method": "m", "setting": setting, "draw": draw, "metrics": {"a": 0.5}}


def test_rows_come_back_in_order(tmp_path):
    file = ResultsFile(tmp_path / "new" / "rows.jsonl")
    assert [file.append(row(i)) for i in range(3)] == [True] * 3
    assert [found["draw"] for found in ResultsFile(file.path).rows()] == [0, 1, 2]


def test_a_row_is_kept_once_whoever_writes_it(tmp_path):
    one, other = (ResultsFile(tmp_path / "rows.jsonl") for _ in range(2))
    assert one.append(row(0))
    assert not other.append(row(0))
    assert not one.append(row(0))
    assert len(one.path.read_text().splitlines()) == 1


def test_the_order_of_settings_is_no_difference():
    assert row_key(row(0, a=1, b=2)) == row_key(row(0, b=2, a=1))
    assert row_key(row(0, a=1)) != row_key(row(0, a=2))


def test_refresh_sees_what_others_wrote(tmp_path):
    one, other = (ResultsFile(tmp_path / "rows.jsonl") for _ in range(2))
    one.append(row(7))
    assert row_key(row(7)) not in other
    other.refresh()
    assert row_key(row(7)) in other


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(1, 200))
def test_a_line_cut_anywhere_costs_only_itself(tmp_path_factory, cut):
    file = ResultsFile(tmp_path_factory.mktemp("rows") / "rows.jsonl")
    file.append(row(0))
    whole = file.path.stat().st_size
    file.append(row(1))
    with file.path.open("r+b") as raw:
        raw.truncate(min(whole + cut, file.path.stat().st_size))
    again = ResultsFile(file.path)
    again.refresh()
    again.append(row(1))
    again.append(row(2))
    assert sorted(found["draw"] for found in again.rows()) == [0, 1, 2]
    assert again.n_damaged() in {0, 1}


def test_lines_that_are_no_rows_are_counted_and_passed_over(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row(0)) + '\n{"half": \n[1, 2]\n' + json.dumps(row(1)) + "\n")
    file = ResultsFile(path)
    assert [found["draw"] for found in file.rows()] == [0, 1]
    assert file.n_damaged() == 2


def test_what_json_cannot_say_is_refused_and_leaves_no_trace(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match="not JSON compliant"):
        file.append(row(0) | {"metrics": {"a": float("nan")}})
    assert file.path.read_text() == ""


def append_many(path, draws):
    file = ResultsFile(path)
    for draw in draws:
        file.append(row(draw, text="x" * 5000))


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(path, range(start, start + 60))) for start in (0, 30, 60)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    file = ResultsFile(path)
    assert sorted(found["draw"] for found in file.rows()) == list(range(120))
    assert len(path.read_text().splitlines()) == 120
    assert file.n_damaged() == 0


def test_a_packed_file_has_the_same_rows(tmp_path):
    file = ResultsFile(tmp_path / "rows.jsonl")
    for i in range(3):
        file.append(row(i))
    packed = tmp_path / "rows.jsonl.xz"
    packed.write_bytes(lzma.compress(file.path.read_bytes()))
    assert read_rows(packed) == file.rows()


def test_rows_are_folded_into_a_packed_file_once(tmp_path):
    def line(draw, **rest):
        identity = {"experiment": "e", "dataset": "d", "method": "m", "setting": {}, "draw": draw}
        return json.dumps(identity | rest).encode() + b"\n"

    kept, more = tmp_path / "kept.jsonl.xz", tmp_path / "more.jsonl"
    kept.write_bytes(lzma.compress(line(0, metrics={"a": 1}) + line(1, failure="memory")))
    more.write_bytes(line(0, metrics={"a": 2}) + line(1, metrics={"a": 3}) + line(2, metrics={"a": 4}))
    assert [fold(kept, [more]), fold(kept, [more])] == [1, 0]
    assert [row["metrics"]["a"] for row in read_rows(kept)] == [1, 3, 4]
