"""`unlabeled fit` and `predict` on Parquet files that memory has no room for, or is said to have none for."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unlabeled.cli import out_of_core
from unlabeled.cli.commands import app
from unlabeled.cli.failures import run
from unlabeled.saving import load
from unlabeled.tables import Table, TableError
from unlabeled.tables.sizes import MEMORY_VARIABLE, free_memory, table_bytes

pytest.importorskip("distributed")

from unlabeled.distributed import parquet

FIT = ("--label", "known", "--prior", "0.3", "--method", "wmmd", "--force")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out_of_core, "FEWEST_SAMPLED", 500)
    return tmp_path


@pytest.fixture
def table(rng):
    n_rows = 2000
    truth = rng.random(n_rows) < 0.3
    return pl.DataFrame(
        {
            "height": rng.normal(2.0 * truth, 1),
            "width": rng.normal(2.0 * truth, 1),
            "town": np.where(truth, rng.choice(["Rome", "Bonn"], n_rows), rng.choice(["Oslo", "Bonn"], n_rows)),
            "serial": np.arange(n_rows) + 7,
            "known": (truth & (rng.random(n_rows) < 0.2)).astype(int),
        }
    )


def call(*arguments):
    return run(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("form", ["folder", "pattern"])
def test_a_fit_in_pieces_gives_the_scores_of_one_in_memory(table, monkeypatch, capsys, form):
    """Where all rows say what the columns are: the same prior, threshold and estimates; scores as near as thinning."""
    names = {"folder": "t", "pattern": "t/day-*.parquet"}
    Path("t").mkdir()
    table.head(900).write_parquet("t/day-1.parquet")
    table.tail(1100).write_parquet("t/day-2.parquet")
    monkeypatch.setattr(out_of_core, "FEWEST_SAMPLED", 2000)
    assert call("fit", names[form], *FIT, "--model", "whole.model") == 0
    assert "Dask" not in capsys.readouterr().err
    monkeypatch.setenv(MEMORY_VARIABLE, "100kB")
    assert call("fit", names[form], *FIT, "--model", "pieces.model") == 0
    told = capsys.readouterr()
    about = "would take about 1.0 MB of memory, and 100 kB are free: Dask works on it in pieces, on this machine"
    assert told.err == f"unlabeled: {names[form]} {about}\n"
    assert "2,000 rows of it say what its columns are" in told.out
    assert told.out.splitlines()[-1].endswith("  unlabeled report pieces.model --out pieces.html")
    assert call("report", "pieces.model") == 0
    assert call("report", "pieces.model", names[form], "--checks") == 1
    assert "100 kB are free. Leave it out" in capsys.readouterr().err
    whole, pieces = load("whole.model"), load("pieces.model")
    assert pieces.facts["prior"] == whole.facts["prior"]
    assert pieces.facts["label"] == whole.facts["label"]
    assert pieces.facts["n_rows"] == 2000
    assert pieces.classifier.threshold_ == pytest.approx(whole.classifier.threshold_, abs=1e-5)
    for name in ("recall", "flagged_rate", "n_positives"):
        assert pieces.facts["estimates"][name] == pytest.approx(whole.facts["estimates"][name], abs=1e-4)
    found, expected = pieces.decide(table)[0], whole.decide(table)[0]
    assert (found["margin"] - expected["margin"]).abs().mean() < 0.05
    assert (found["flagged"] == expected["flagged"]).mean() > 0.97


def test_some_rows_say_what_columns_are(table, monkeypatch, capsys):
    """A column that counts all rows is known as such; how labels look is told by all positives, in units of rows."""
    table.write_parquet("t.parquet")
    monkeypatch.setenv(MEMORY_VARIABLE, "100kB")
    assert call("fit", "t.parquet", *FIT, "--json") == 0
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert told.err == ""
    kinds = {column["name"]: column["kind"] for column in facts["columns"]}
    assert kinds == {"height": "number", "width": "number", "town": "category", "serial": "identifier"}
    assert facts["columns"][3]["note"] == "left out: a different whole number in every row"
    assert any("500 rows of it say what its columns are" in note for note in facts["notes"])
    assert facts["labelling"]["p_value"] > 0.05
    assert facts["label"]["n_positive"] == int(table["known"].sum())
    assert 0.3 < facts["labelling"]["largest_prior"] <= 1
    assert call("fit", "t.parquet", *FIT, "--prior", "0.35", "--json", "--force") == 0
    labelling = json.loads(capsys.readouterr().out)["labelling"]
    assert "a prior of at least 0.35 (" in labelling["verdict"]
    assert [round(entry["prior"], 9) for entry in labelling["sensitivity"]] == [0.28, 0.35, 0.42]


def test_the_usual_method(table, monkeypatch):
    table.write_parquet("t.parquet")
    monkeypatch.setenv(MEMORY_VARIABLE, "100kB")
    assert call("fit", "t.parquet", "--label", "known", "--prior", "0.3", "--force") == 0
    model = load("t.model")
    assert type(model.classifier).__name__ == "PUClassifier"
    truth = table["height"] + table["width"] > 2
    assert (model.decide(table)[0]["flagged"] == truth).mean() > 0.8


def test_predictions_in_pieces_are_those_of_batches(table, monkeypatch, capsys):
    table.write_parquet("t.parquet")
    assert call("fit", "t.parquet", *FIT) == 0
    assert call("predict", "t.model", "t.parquet", "--out", "whole.parquet") == 0
    capsys.readouterr()
    monkeypatch.setenv(MEMORY_VARIABLE, "50kB")
    assert call("predict", "t.model", "t.parquet", "--out", "pieces.parquet") == 0
    assert "and 50 kB are free: Dask works on it in pieces" in capsys.readouterr().err
    whole, pieces = pl.read_parquet("whole.parquet"), pl.read_parquet("pieces.parquet")
    assert pieces.drop("margin", "probability").equals(whole.drop("margin", "probability"))
    np.testing.assert_allclose(pieces["margin"], whole["margin"], rtol=0, atol=1e-6)
    assert call("predict", "t.model", "t.parquet", "--top", 5, "--json") == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert told.err == ""
    assert [row["row"] for row in answer["top"]] == whole.sort("margin", descending=True).head(5)["row"].to_list()
    assert any("Dask" in note for note in answer["notes"])


def test_some_rows_of_many_are_chosen_without_writing_all_places_down(monkeypatch):
    """Of 30 million rows; the places of all of them took 240 MB."""
    n_all, label = 30_000_000, pl.Series("known", [0] * 10)
    pieces = [parquet.Piece(start, 10) for start in (0, n_all - 10)] + [parquet.Piece(10, n_all - 20)]

    class Numbers:
        def names(self):
            return ["known"]

        def rows(self, _names, _start, _n_rows):
            return label.to_frame()

    monkeypatch.setattr(parquet, "in_order", lambda _client, function, items: map(function, items[:2]))
    tracemalloc.start()
    some, positives = parquet.sampled_rows(None, Numbers(), pieces, 1000, "known", "1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(some) <= 2
    assert len(positives) == 0
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--method", "elkan-noto"), "--method elkan-noto cannot do. Use auto or wmmd"),
        (("--negative", "0"), "known negatives (--negative) cannot be used"),
        (("--label", "knwon"), "There is no column 'knwon'. The columns are: 'known'"),
        (("--label", "town"), "Column 'town' has 3 values"),
        (("--prior", "0.001"), "--prior 0.001 is below the labelled share of the rows"),
    ],
)
def test_what_cannot_be_done_in_pieces_is_told_at_once(table, monkeypatch, capsys, more, message):
    table.write_parquet("t.parquet")
    monkeypatch.setenv(MEMORY_VARIABLE, "100kB")
    monkeypatch.setattr("unlabeled.distributed.parquet.on_this_machine", None)  # no cluster is started for it
    assert call("fit", "t.parquet", *FIT, *more) == 1
    assert message in capsys.readouterr().err


def test_without_dask_it_says_what_to_install(table, monkeypatch, capsys):
    table.write_parquet("t.parquet")
    monkeypatch.setenv(MEMORY_VARIABLE, "100kB")
    monkeypatch.setattr(out_of_core, "find_spec", lambda _: None)
    assert call("fit", "t.parquet", *FIT) == 1
    assert "pip install 'unlabeled[dask]'" in capsys.readouterr().err


def test_memory(table, monkeypatch):
    table.write_parquet("t.parquet")
    assert table_bytes(Table.open("t.parquet")) == 2000 * (4 * 8 + 32)
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    assert 1e7 < free_memory() < 1e15
    for text, size in (("400MB", 4e8), ("16 GB", 1.6e10), ("1.5GiB", 1.5 * 2**30), ("1000", 1000)):
        monkeypatch.setenv(MEMORY_VARIABLE, text)
        assert free_memory() == size
    monkeypatch.setenv(MEMORY_VARIABLE, "much")
    with pytest.raises(TableError, match="UNLABELED_MEMORY=much is no size of memory; write it as 400MB or 16GB"):
        free_memory()
