"""The command line on tables as they come: what it reads, what it refuses, and how it says so."""

import gzip
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

from unlabeled.cli.commands import app
from unlabeled.cli.failures import run
from unlabeled.cli.output import shown_progress
from unlabeled.files import check_writable, remove_unfinished, written_whole
from unlabeled.saving import load
from unlabeled.stages import stage, tell

N_ROWS = 80
FIT = ("--label", "known", "--prior", "0.4", "--method", "wmmd", "--force")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(rng):
    """Amounts as Europeans write them, text, and 16-digit numbers."""
    known = np.arange(N_ROWS) % 4 == 0
    amounts = rng.uniform(1000, 9000, N_ROWS) + 2000 * known
    notes = ("the card was stolen in town", "all is well with the account")
    return pl.DataFrame(
        {
            "amount": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in amounts],
            "size": rng.normal(known, 1).round(3),
            "note": [f"{notes[0 if k else 1]} since day {i}" for i, k in enumerate(known)],
            "card": rng.integers(4 * 10**15, 5 * 10**15, N_ROWS),
            "known": known.astype(int),
        }
    )


@pytest.fixture
def fitted(table):
    table.write_csv("t.csv")
    assert call("fit", "t.csv", *FIT) == 0


def call(*arguments):
    return run(app, [str(argument) for argument in arguments])


def margins(table, *options):
    assert call("predict", "t.model", table, "--out", "s.csv", "--force", *options) == 0
    return pl.read_csv("s.csv")["margin"].to_numpy()


# --- columns ---


def test_fit_says_what_it_guessed_in_a_form_that_can_be_pasted_back(table, capsys):
    table.write_csv("t.csv")
    assert call("fit", "t.csv", *FIT) == 0
    out = capsys.readouterr().out
    for words in (
        "amount: number, read with a decimal comma, such as '",
        "note: text, words of 80 different texts",
        "card: identifier, left out: whole numbers of 16 digits",
    ):
        assert words in out
    assert load("t.model").columns.names == ["amount", "size", "note"]
    line = next(line for line in out.splitlines() if "to change it: " in line)
    pasted = shlex.split(line.split("to change it: ")[1])
    assert pasted == [
        part
        for said in ("amount=number:1.234,5", "size=number", "note=text", "card=identifier")
        for part in ("--column", said)
    ]
    first = margins("t.csv")
    assert call("fit", "t.csv", *FIT, *pasted) == 0
    np.testing.assert_array_equal(margins("t.csv"), first)


def test_what_is_said_of_columns_counts(table, capsys):
    table.write_csv("t.csv")
    said = ("--column", "note=drop", "--column", "amount=category", "--column", "card=number")
    assert call("fit", "t.csv", *FIT, *said) == 0
    kinds = {column.name: column.kind for column in load("t.model").columns.all}
    assert kinds == {"amount": "category", "size": "number", "note": "drop", "card": "number"}
    assert call("prior", "t.csv", "--label", "known", "--column", "sise=drop") == 1
    assert "no column 'sise' to say something of. The columns are: 'size'" in capsys.readouterr().err


@pytest.mark.usefixtures("fitted")
def test_text_can_be_scored_and_explained(table, capsys):
    np.testing.assert_array_equal(margins("t.csv"), margins("t.csv"))
    table.with_columns(note=pl.lit(None, dtype=pl.String)).write_csv("without.csv")
    assert (margins("t.csv") != margins("without.csv")).any()
    capsys.readouterr()
    assert call("explain", "t.model", "t.csv", "--row", 1, "--json") == 0
    parts = json.loads(capsys.readouterr().out)["scores"][0]["parts"]
    assert set(parts) == {"amount", "size", "note"}


# --- values that cannot be read ---


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("out", ["s.csv", "s.parquet"])
def test_a_column_with_another_decimal_mark_stops_predict(table, out, here, capsys):
    english = table.with_columns(pl.col("amount").str.replace(r"\.", "").str.replace(",", ".").str.strip_chars(" €"))
    english.write_csv("new.csv")
    before = sorted(path.name for path in here.iterdir())
    assert call("predict", "t.model", "new.csv", "--out", out) == 1
    err = capsys.readouterr().err
    assert "new.csv: 80 of the first 80 values of column 'amount' cannot be read" in err
    assert "--decimal '.'" in err
    assert sorted(path.name for path in here.iterdir()) == before
    np.testing.assert_allclose(margins("new.csv", "--decimal", "."), margins("t.csv"), atol=1e-9)


@pytest.mark.usefixtures("fitted")
def test_a_few_values_that_cannot_be_read_are_told_and_many_stop_it(table, capsys, monkeypatch):
    monkeypatch.setattr("unlabeled.cli.predict.rows_a_batch", lambda _n: 20)
    spoiled = [
        pl.when(pl.int_range(pl.len()) % every == 0).then(pl.lit("oops")).otherwise("amount") for every in (20, 3)
    ]
    table.with_columns(amount=spoiled[0]).write_csv("few.csv")
    assert call("predict", "t.model", "few.csv") == 0
    assert "amount: 4 of 80 values cannot be read, such as 'oops'; taken as missing" in capsys.readouterr().out
    table.with_columns(amount=spoiled[1]).write_csv("many.csv")
    assert call("predict", "t.model", "many.csv", "--out", "s.csv") == 1
    assert "7 of the first 20 values" in capsys.readouterr().err  # in the first batch already
    assert not Path("s.csv").exists()


@pytest.mark.usefixtures("fitted")
def test_explain_tells_what_it_cannot_read(table, capsys):
    table.with_columns(amount=pl.lit("oops")).write_csv("new.csv")
    assert call("explain", "t.model", "new.csv", "--row", 2) == 0
    assert "Warning     amount: 1 of 1 values cannot be read, such as 'oops'" in capsys.readouterr().out


# --- formats ---


class _Input:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)

    def isatty(self):
        return False


@pytest.mark.usefixtures("fitted")
def test_the_same_scores_from_every_form_of_the_table(table, monkeypatch, capsys):
    expected = margins("t.csv")
    data = Path("t.csv").read_bytes()
    Path("t.csv.gz").write_bytes(gzip.compress(data))
    Path("windows.csv").write_bytes(data.decode().encode("cp1252"))
    table.write_excel("t.xlsx")
    table.write_ndjson("t.jsonl")
    for name in ("t.csv.gz", "windows.csv", "t.xlsx", "t.jsonl"):
        np.testing.assert_allclose(margins(name), expected, atol=1e-12, err_msg=name)
    assert "Read        The text is not UTF-8; it is read as cp1252" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", _Input(data))
    np.testing.assert_array_equal(margins("-"), expected)
    np.testing.assert_array_equal(margins("windows.csv", "--encoding", "cp1252"), expected)


def test_fit_names_the_model_and_says_how_it_read(table, capsys, monkeypatch):
    data = table.write_csv().encode("cp1252")
    Path("t.csv.gz").write_bytes(gzip.compress(data))
    assert call("fit", "t.csv.gz", *FIT) == 0
    out = capsys.readouterr().out
    assert "Read        t.csv.gz: CSV in Windows-1252, compressed (gzip), 80 rows, 5 columns" in out
    assert "            The text is not UTF-8; it is read as cp1252. If that is wrong: --encoding." in out
    assert Path("t.model").exists()
    monkeypatch.setattr("sys.stdin", _Input(data))
    assert call("fit", "-", *FIT) == 1
    assert "give one: --model OUT" in capsys.readouterr().err
    assert call("fit", "-", *FIT, "--model", "m") == 0
    assert "Read        the standard input: CSV in Windows-1252, 80 rows" in capsys.readouterr().out


def test_a_name_that_is_there_twice(table, capsys):
    text = table.write_csv().replace("size,note", "amount,note", 1)
    Path("t.csv").write_text(text)
    assert call("fit", "t.csv", *FIT) == 0
    assert "Columns 1 and 2 are both called 'amount': the second is 'amount_2' here." in capsys.readouterr().out
    assert load("t.model").columns.names == ["amount", "amount_2", "note"]
    assert len(margins("t.csv")) == N_ROWS
    Path("t.csv").write_text(text.replace("amount,note", "known,note", 1))
    assert call("fit", "t.csv", *FIT) == 1
    assert "two columns called 'known'. Rename" in capsys.readouterr().err


# --- where nothing can be read or written ---


@pytest.mark.parametrize("folder", [".", "..", "/"])
def test_a_folder_is_no_table(folder, capsys):
    assert call("fit", folder, "--label", "y") == 1
    assert f"{folder} is a folder; give the file of a table." in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_told_before_the_work(table, capsys, monkeypatch):
    table.write_csv("t.csv")
    monkeypatch.setattr("unlabeled.cli.fit.read_learning_table", lambda *_a, **_k: pytest.fail("it began to work"))

    def refuse(path, *_a, **_k):
        raise PermissionError(13, "Permission denied", str(path))

    assert call("fit", "t.csv", *FIT, "--model", "x" * 250) == 3
    assert "cannot be written: File name too long" in capsys.readouterr().err
    monkeypatch.setattr(Path, "touch", refuse)  # chmod would not stop a test that is run as root
    assert call("fit", "t.csv", *FIT) == 3
    assert "t.model cannot be written: Permission denied" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a device")
def test_a_device_is_not_replaced(table, capsys):
    table.write_csv("t.csv")
    assert call("fit", "t.csv", *FIT, "--model", "/dev/null") == 3
    assert "/dev/null is not a file" in capsys.readouterr().err
    assert call("fit", "t.csv", *FIT, "--model", "-") == 3
    assert "not for the standard output" in capsys.readouterr().err
    assert not Path("/dev/null").is_file()


_KILLED = """
import os, signal
from unlabeled.files import Spool, written_whole
spool = Spool([b"half"])
with written_whole("scores.csv") as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_signal_during_the_try_leaves_no_file(here, monkeypatch):
    plain = Path.touch

    def touched(path):
        plain(path)
        assert path.exists()
        remove_unfinished()  # as the handler of a signal does, and then ends the process
        assert not path.exists()

    monkeypatch.setattr(Path, "touch", touched)
    check_writable(here / "scores.csv")
    assert list(here.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_what_a_killed_process_left_is_removed_by_the_next(here):
    command = [sys.executable, "-c", _KILLED]
    assert subprocess.run(command, check=False, env={**os.environ, "TMPDIR": str(here)}).returncode == -9
    left = [path.name for path in here.iterdir()]
    assert sorted(name.split(".")[1] for name in left) == ["scores", "unlabeled"]
    with written_whole(here / "other.csv") as part:
        part.write_text("whole")
        (here / "mine.part").touch()
        assert len(list(here.glob(".*.part"))) == 1  # one's own
    assert sorted(path.name for path in here.iterdir()) == ["mine.part", "other.csv"]


def test_what_others_are_writing_is_left_alone(here):
    with written_whole(here / "a") as first, written_whole(here / "b") as second:
        first.touch()
        second.touch()
    foreign = here / ".c.00000000-1-00000000.part"
    foreign.touch()
    with written_whole(here / "d") as part:
        part.touch()
    assert foreign.exists()
    os.utime(foreign, (0, 0))
    with written_whole(here / "d") as part:
        part.touch()
    assert sorted(path.name for path in here.iterdir()) == ["a", "b", "d"]


# --- for machines, and on a terminal ---


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fit", "absent.csv", "--label", "y"), 1, "absent.csv does not exist."),
        (("fit", "absent.csv", "--label", "y", "--model", "no/m"), 3, "There is no folder no to write m to."),
        (("fit", "absent.csv", "--lable", "y"), 2, "No such option"),  # --lable, in words of Typer's own
        (("fit", "absent.csv"), 2, "Missing option '--label'"),
        (("predict", "absent", "absent.csv", "--top", "0"), 2, "Invalid value for '--top'"),
    ],
)
def test_errors_are_json_where_json_is_asked_for(arguments, code, message, capsys):
    assert call(*arguments, "--json") == code
    out, err = capsys.readouterr()
    told = json.loads(err)
    assert out == ""
    assert told["exit_code"] == code
    assert message in told["error"]


def test_help_is_help_with_json_too(capsys):
    assert call("fit", "--json", "--help") == 0
    assert "--column" in capsys.readouterr().out


def test_progress_tells_what_was_read_and_learned(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "unlabeled.cli.output.Progress.update", lambda _self, _task, *, description: shown.append(description)
    )
    with shown_progress("Reading") as show:
        with stage("reading"):
            tell("reading", "2,000 rows")
        with stage("prior"):
            pass
        with stage("learned score", "fold 1 of 5"):
            pass
        show("[odd]")
    assert shown == [
        "Reading",
        "Reading: 2,000 rows",
        "Reading: 2,000 rows",
        "Learning from 2,000 rows: prior",
        "Learning from 2,000 rows: learned score, fold 1 of 5 (1 steps done)",
        r"\[odd]",
    ]


_ON_A_TERMINAL = """
import os, pty, sys, threading
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-m", "unlabeled.cli", "demo"])
first = os.read(terminal, 21)
while True:
    try:
        if not os.read(terminal, 1024):
            break
    except OSError:
        break
assert os.waitpid(pid, 0)[1] == 0
print(first.decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="terminals as Linux has them")
def test_a_terminal_shows_something_before_the_libraries_are_loaded(here):
    done = subprocess.run([sys.executable, "-c", _ON_A_TERMINAL], capture_output=True, text=True, check=True, cwd=here)
    assert done.stdout.strip() == "Loading the libraries"


# --- tables in several files ---


def test_a_folder_of_parquet_files_or_a_pattern_is_one_table(table):
    folder = Path("days")
    folder.mkdir()
    table.write_parquet("whole.parquet")
    for number, start in enumerate(range(0, N_ROWS, 30)):
        table.slice(start, 30).write_parquet(folder / f"day-{number}.parquet")
    (folder / "_SUCCESS").touch()
    assert call("fit", "whole.parquet", *FIT) == 0
    assert call("fit", "days", *FIT) == 0
    for source in ("days", "days/day-*.parquet"):
        for model in ("whole.model", "days.model"):
            assert call("predict", model, source, "--out", "found.parquet", "--force") == 0
            assert call("predict", "whole.model", "whole.parquet", "--out", "expected.parquet", "--force") == 0
            assert pl.read_parquet("found.parquet").equals(pl.read_parquet("expected.parquet"))
    assert call("predict", "whole.model", "days/night-*.parquet", "--out", "none.parquet") == 1
