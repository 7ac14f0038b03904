"""The command line: what must work, what must fail and how, and that nothing is left half-written."""

import datetime as dt
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

import unlabeled
from unlabeled import WMMDClassifier
from unlabeled.cli.commands import app
from unlabeled.cli.demo import make_customers
from unlabeled.cli.failures import run
from unlabeled.cli.methods import METHODS
from unlabeled.datasets import make_gaussians
from unlabeled.saving import load, save


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Boosted trees wait for their threads actively, which takes minutes on a machine that is busy otherwise."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(scope="module")
def customers():
    table, _ = make_customers()
    return table.head(400)


@pytest.fixture(scope="module")
def fitted(customers, tmp_path_factory):
    """A folder with a table, and a model of it by the method that is the quickest to fit and to load."""
    folder = tmp_path_factory.mktemp("fitted")
    customers.write_csv(folder / "customers.csv")
    options = ("--label", "known_fraud", "--method", "wmmd", "--model", folder / "customers.model")
    assert call("fit", folder / "customers.csv", *options) == 0
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return run(app, [str(argument) for argument in arguments])


def answer(capsys, *arguments):
    """The JSON that a command answers with."""
    capsys.readouterr()
    assert call(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def scores_of(fitted, table, folder, *options, suffix=".csv"):
    out = folder / f"scores{suffix}"
    assert call("predict", fitted / "customers.model", table, "--out", out, *options) == 0
    return pl.read_parquet(out) if suffix == ".parquet" else pl.read_csv(out)


# --- fit ---


def test_fit_reports_what_it_did(fitted, capsys, here):
    assert call("fit", fitted / "customers.csv", "--label", "known_fraud") == 0
    out = capsys.readouterr().out
    for words in (
        "CSV, 400 rows, 9 columns",
        "positives ('1')",
        "single-sample: all rows are the population",
        "number: age, mean_amount, transfers",
        "date: joined",
        "category: channel",
        "boolean: verified",
        "customer_id: identifier, left out",
        "country: constant, left out: always 'NL'",
        "95 % interval",
        "recall 0.",
        "precision ",
        "flagged ",
        "customers.model",
    ):
        assert words in out
    assert load(here / "customers.model").label == "known_fraud"


def test_fit_answers_in_json(fitted, capsys):
    facts = answer(capsys, "fit", fitted / "customers.csv", "--label", "known_fraud", "--prior", 0.2)
    assert facts["prior"] == {"value": 0.2, "low": None, "high": None, "source": "as given"}
    assert facts["threshold"] == pytest.approx(-np.log(0.4), abs=5)
    recall = facts["estimates"]["recall"]
    assert 0 <= recall["low"] < recall["value"] < recall["high"] <= 1
    assert facts["scenario"] == "single-sample"


def test_the_scenario_matters(fitted, capsys):
    options = ("--label", "known_fraud", "--prior", 0.2, "--force")
    single, two = (
        answer(capsys, "fit", fitted / "customers.csv", *options, "--scenario", scenario)["estimates"]
        for scenario in ("single-sample", "case-control")
    )
    assert single["flagged_rate"]["value"] != two["flagged_rate"]["value"]


def test_every_method_can_be_fitted_saved_and_used(fitted, here, capsys):
    for method in METHODS:
        options = ("--label", "known_fraud", "--method", method, "--model", here / method)
        assert call("fit", fitted / "customers.csv", *options) == 0
        assert call("predict", here / method, fitted / "customers.csv") == 0
    capsys.readouterr()


def test_dates_that_may_be_read_in_two_ways_are_told_and_kept(rng, capsys):
    days = [f"{1 + k % 12:02d}/{1 + k % 7:02d}/2024" for k in range(60)]
    pl.DataFrame({"joined": days, "x": rng.normal(size=60), "y": np.arange(60) % 3 == 0}).write_csv("t.csv")
    assert call("fit", "t.csv", "--label", "y", "--prior", 0.5) == 0
    assert "Warning     Column 'joined': no date says whether" in capsys.readouterr().out
    assert load("t.model").columns.all[0].pattern == "%m/%d/%Y"


# --- predict ---


def test_rows_are_scored_once_and_as_the_classifier_would(of_method, customers, monkeypatch):
    model = load(of_method[1])
    features, _ = model.features(customers)
    decision, probability = model.classifier.decision_function(features), model.classifier.predict_proba(features)
    calls = []
    score_samples = type(model.classifier).score_samples
    monkeypatch.setattr(type(model.classifier), "score_samples", lambda *a: calls.append(1) or score_samples(*a))
    scores, _ = model.decide(customers)
    assert calls == [1]
    np.testing.assert_array_equal(scores["margin"], decision)
    np.testing.assert_array_equal(scores["probability"], probability[:, 1])


def test_predict_adapts_to_another_share_of_positives(capsys, rng):
    """From one in five to one in two; and not to rows that are of neither kind."""

    def table(n_positives, n_negatives):
        return np.r_[rng.normal(3, 1, (n_positives, 2)), rng.normal(0, 1, (n_negatives, 2))]

    rows, labels = table(80, 320), np.repeat([1, 0], [40, 360])
    pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": labels}).write_parquet("old.parquet")
    pl.DataFrame(table(300, 300), schema=["a", "b"]).write_parquet("new.parquet")
    pl.DataFrame(rng.normal(1.5, 0.3, (500, 2)), schema=["a", "b"]).write_parquet("strange.parquet")
    assert call("fit", "old.parquet", "--label", "y", "--prior", 0.2, "--method", "wmmd", "--model", "m") == 0
    plain, adapted = (answer(capsys, "predict", "m", "new.parquet", *options) for options in ((), ("--adapt",)))
    assert adapted["adaptation"]["old_prior"] == 0.2
    assert adapted["adaptation"]["low"] < 0.5 < adapted["adaptation"]["high"]
    assert plain["n_flagged"] <= adapted["n_flagged"] < 400
    assert adapted["n_flagged_positives"] is None
    assert call("predict", "m", "new.parquet", "--adapt") == 0
    assert "in this table (95 % interval" in capsys.readouterr().out
    assert call("predict", "m", "strange.parquet", "--adapt", "--out", "s.csv") == 1
    refusal = capsys.readouterr().err
    assert "do not look like a mixture" in refusal
    assert "--adapt-anyway goes on" in refusal
    assert "check=False" not in refusal
    assert not Path("s.csv").exists()
    assert call("predict", "m", "strange.parquet", "--adapt-anyway", "--out", "s.csv") == 0
    assert "Warning     the rows do not look like a mixture" in capsys.readouterr().out
    assert len(pl.read_csv("s.csv")) == 500
    assert call("predict", "m", "new.parquet", "--adapt-anyway") == 0
    assert "Warning" not in capsys.readouterr().out
    forced = answer(capsys, "predict", "m", "new.parquet", "--adapt-anyway")
    assert forced["adaptation"] == adapted["adaptation"]


def checked_claims(rng):
    """200 claims, of which 30 were found to be fraud and 30 were cleared."""
    truth = np.repeat([True, False], [80, 120])
    checked = np.array(["fraud"] * 30 + [""] * 50 + ["cleared"] * 30 + [""] * 90)
    rows = rng.normal(size=(200, 2)) + 3 * truth[:, None]
    return pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "checked": checked})


@pytest.mark.parametrize("scenario", ["single-sample", "case-control"])
def test_known_negatives_are_named(capsys, rng, scenario):
    claims = checked_claims(rng)
    claims.write_csv("claims.csv")
    words = ("--label", "checked", "--positive", "fraud", "--method", "wmmd", "--scenario", scenario)
    facts = answer(capsys, "fit", "claims.csv", *words, "--negative", "cleared", "--model", "m")
    assert facts["negatives"]["negative"] == "cleared"
    assert facts["negatives"]["n_negative"] == 30
    assert 0 <= facts["negatives"]["eta"] < 1
    assert call("fit", "claims.csv", *words, "--negative", "cleared", "--model", "m", "--force") == 0
    shown = capsys.readouterr().out
    assert "30 positives ('fraud'), 140 unlabeled rows" in shown
    assert "30 known negatives ('cleared')" in shown
    assert call("predict", "m", "claims.csv", "--out", "s.csv") == 0
    scores = pl.read_csv("s.csv")
    assert (scores["known"] == (claims["checked"] == "fraud")).all()
    assert (scores["known_negative"] == (claims["checked"] == "cleared")).all()
    in_python = load("m").classifier
    said = in_python.predict(load("m").features(claims)[0])
    assert set(said) == {-1, 1}  # the command line's values for cleared and fraud
    assert ((said == 1) == scores["flagged"].to_numpy()).all()
    assert scores.filter(claims["checked"] == "cleared")["flagged"].mean() < 0.2
    assert call("predict", "m", "claims.csv", "--new", "--out", "new.csv") == 0
    assert (
        pl.read_csv("new.csv")["row"].to_list() == scores.filter(claims["checked"].fill_null("") == "")["row"].to_list()
    )
    report_facts = answer(capsys, "report", "m", "claims.csv", "--checks")
    picked = next(check for check in report_facts["checks"] if check["code"] == "PU204")
    assert "30 known negatives" in picked["sentence"]
    assert call("explain", "m", "claims.csv", "--row", "3") == 1
    assert "Fit without --negative" in capsys.readouterr().err


def test_negatives_are_said_to_be_picked(capsys, rng):
    checked_claims(rng).write_csv("claims.csv")
    words = ("--label", "checked", "--positive", "fraud", "--method", "wmmd", "--model", "m", "--force")
    without = answer(capsys, "fit", "claims.csv", *words)
    facts = answer(capsys, "fit", "claims.csv", *words, "--negative", "cleared", "--negatives-are", "selected")
    assert facts["negatives"]["weight"] == 0
    assert facts["prior"]["value"] == without["prior"]["value"]
    said = answer(capsys, "fit", "claims.csv", *words, "--negative", "cleared", "--negatives-are", "random")
    assert said["negatives"]["weight"] == 1
    assert said["prior"]["value"] != without["prior"]["value"]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["single-sample", "case-control"])
def test_negatives_have_a_say_in_the_prior_that_is_compared(capsys, rng, scenario):
    checked_claims(rng).write_csv("claims.csv")
    words = ("claims.csv", "--label", "checked", "--positive", "fraud", "--negative", "cleared", "--scenario", scenario)
    found = answer(capsys, "prior", *words)["estimates"]["auto"]
    assert found == answer(capsys, "fit", *words, "--model", "m")["prior"]
    without = answer(capsys, "prior", *words, "--negatives-are", "selected")["estimates"]["auto"]
    assert found["value"] != without["value"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--positive", "fraud", "--negative", "okay"), "'okay'"),
        (("--positive", "fraud", "--negative", "fraud"), "no row can be both"),
        ((), "--negative VALUE"),
        (("--positive", "fraud", "--negatives-are", "selected"), "needs --negative VALUE"),
        (("--positive", "fraud", "--negative", "cleared", "--method", "elkan-noto"), "does not take known negatives"),
    ],
)
def test_negatives_that_make_no_sense(capsys, rng, options, message):
    checked_claims(rng).write_csv("claims.csv")
    assert call("fit", "claims.csv", "--label", "checked", *options, "--model", "m") == 1
    assert message in capsys.readouterr().err
    assert not Path("m").exists()


def test_a_third_value_that_has_no_name_is_told(capsys, rng):
    checked_claims(rng).write_csv("claims.csv")
    words = ("claims.csv", "--label", "checked", "--positive", "fraud", "--method", "wmmd", "--model", "m", "--force")
    (told,) = [line for line in answer(capsys, "fit", *words)["warnings"] if "--negative VALUE" in line]
    assert "Beside 'fraud' column 'checked' has 'cleared': these rows are taken for unlabeled ones" in told
    assert not any(
        "taken for unlabeled" in line for line in answer(capsys, "fit", *words, "--negative", "cleared")["warnings"]
    )


def test_a_contradiction_between_negatives_and_labels_at_random_is_a_warning(capsys, rng):
    """Random negatives tell of more positives than labels of one branch, if these were given at random."""
    truth = rng.uniform(size=1000) < 0.4
    rows = rng.normal(size=(1000, 2)) + 3 * truth[:, None] * np.array([1, 0])
    branch = rng.choice(["north", "south", "west"], size=1000)
    labelled = truth & (rng.uniform(size=1000) < np.where(branch == "north", 0.6, 0.03))
    checked = np.where(labelled, "fraud", "").astype(object)
    checked[np.flatnonzero(~truth)[:60]] = "cleared"
    pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "branch": branch, "checked": checked}).write_csv("claims.csv")
    words = ("--label", "checked", "--positive", "fraud", "--negative", "cleared", "--negatives-are", "random")
    assert call("fit", "claims.csv", *words, "--method", "wmmd", "--model", "m") == 0
    shown = capsys.readouterr().out
    assert re.search(r"Warning +Labels at random agree with priors up to 0\.\d+, and the estimate is 0\.", shown)
    assert "do not look as if they were given completely at random, or the known negatives are no random" in shown
    finding = next(f for f in answer(capsys, "report", "m", "--checks")["checks"] if f["code"] == "PU201")
    assert finding["severity"] == "warning"


def test_an_estimated_prior_is_compared_and_a_given_one_tested(capsys, rng):
    """An estimate rests on labels at random, so that there is no p-value for it."""
    rows = np.r_[rng.normal(4, 1, (100, 2)), rng.normal(0, 1, (300, 2))]
    pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": np.repeat([1, 0], [50, 350])}).write_csv("t.csv")
    words = ("fit", "t.csv", "--label", "y", "--method", "wmmd", "--model", "m", "--force")
    assert call(*words) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Labels at random agree with priors up to 0\.\d+, .*the estimate", shown)
    assert "p = " not in shown
    assert call(*words, "--prior", 0.25) == 0
    shown = capsys.readouterr().out
    assert "with a prior of at least 0.25 (p = " in shown
    assert "agree with priors up to" not in shown


def test_predict_keeps_rows_ids_and_order(fitted, customers, tmp_path):
    scores = scores_of(fitted, fitted / "customers.csv", tmp_path)
    assert scores.columns == ["row", "customer_id", "margin", "probability", "flagged", "known"]
    assert scores["row"].to_list() == list(range(1, 401))
    assert scores["customer_id"].to_list() == customers["customer_id"].to_list()
    assert scores["known"].to_list() == (customers["known_fraud"] == 1).to_list()
    assert ((scores["margin"] > 0) == scores["flagged"]).all()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_top_is_the_head_of_the_ranking(fitted, tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("unlabeled.cli.predict.rows_a_batch", lambda _n: 37)
    every = scores_of(fitted, fitted / "customers.csv", tmp_path, suffix=suffix)
    top = scores_of(fitted, fitted / "customers.csv", tmp_path, "--top", 25, "--force", suffix=suffix)
    expected = every.sort("margin", descending=True, maintain_order=True).head(25)
    assert top.drop("rank").equals(expected)
    assert top["rank"].to_list() == list(range(1, 26))


def test_new_leaves_out_the_known(fitted, tmp_path, customers):
    new = scores_of(fitted, fitted / "customers.csv", tmp_path, "--new")
    assert len(new) == (customers["known_fraud"] == 0).sum()
    assert not new["known"].any()


def test_new_knows_labels_that_are_written_otherwise(fitted, tmp_path, customers):
    customers.with_columns(pl.col("known_fraud").cast(pl.Float64).cast(pl.String)).write_csv(tmp_path / "new.csv")
    new = scores_of(fitted, tmp_path / "new.csv", tmp_path, "--new")
    assert len(new) == (customers["known_fraud"] == 0).sum()


def test_new_needs_the_label_column(fitted, customers, capsys):
    customers.drop("known_fraud").write_csv("new.csv")
    assert call("predict", fitted / "customers.model", "new.csv", "--new") == 1
    assert "new.csv has no column 'known_fraud', so that --new cannot tell" in capsys.readouterr().err


def test_the_ranking_finds_hidden_positives(fitted, tmp_path):
    top = scores_of(fitted, fitted / "customers.csv", tmp_path, "--new", "--top", 15)
    _, truth = make_customers()
    hits = top.join(truth, on="customer_id")["fraud"]
    assert hits.mean() > 0.7


def test_scores_to_the_standard_output_and_nothing_else(fitted, capfdbinary):
    assert call("predict", fitted / "customers.model", fitted / "customers.csv", "--out", "-", "--top", 3) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0].startswith("rank,row,customer_id,margin")
    assert len(lines) == 4


# --- these work ---


def _reordered(table):
    return table.select(reversed(table.columns)).with_columns(extra=pl.lit("x"))


def _unseen(table):
    return table.with_columns(channel=pl.lit("carrier pigeon"))


WORKS = {
    "one row": lambda table: table.head(1),
    "no label": lambda table: table.drop("known_fraud"),
    "without the identifier": lambda table: table.drop("customer_id"),
    "reordered and extra columns": _reordered,
    "unseen categories": _unseen,
    "duplicate rows": lambda table: pl.concat([table, table]),
    "everything missing": lambda table: table.with_columns(age=None, mean_amount=None, channel=None, verified=None),
    "numbers as text": lambda table: table.with_columns(pl.col("age").cast(pl.String)),
    "booleans as numbers": lambda table: table.with_columns(pl.col("verified").cast(pl.Int8)),
}


@pytest.mark.parametrize(
    ("case", "suffix"),
    [
        *((case, ".csv") for case in WORKS),
        *((case, ".parquet") for case in ("one row", "everything missing", "unseen categories")),
    ],
)
def test_tables_that_can_be_scored(case, suffix, fitted, customers, tmp_path):
    table = WORKS[case](customers)
    path = tmp_path / f"new{suffix}"
    table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    scores = scores_of(fitted, path, tmp_path)
    assert len(scores) == len(table)
    assert np.isfinite(scores["margin"].to_numpy()).all()
    if case not in {"unseen categories", "everything missing"}:
        same = scores_of(fitted, fitted / "customers.csv", tmp_path, "--force")["margin"].to_numpy()
        np.testing.assert_allclose(scores["margin"].to_numpy()[: len(same)], same[: len(scores)], atol=1e-6)


def test_columns_of_the_table_that_are_named_as_those_of_the_output(rng, capsys):
    n_rows = 60
    columns = {name: [f"{name}{k}" for k in range(n_rows)] for name in ("row", "row_in_table", "rank", "margin")}
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(n_rows)]
    table = pl.DataFrame(columns | {"known": days, "x": rng.normal(size=n_rows), "y": np.arange(n_rows) % 2})
    table.write_parquet("t.parquet")
    identifiers = [part for name in [*columns, "known"] for part in ("--column", f"{name}=identifier")]
    assert call("fit", "t.parquet", "--label", "y", "--prior", 0.6, "--method", "wmmd", *identifiers) == 0
    top = answer(capsys, "predict", "t.model", "t.parquet", "--top", 1)["top"][0]
    number = top["row"] - 1
    assert top["row_in_table_in_table"] == f"row{number}"
    assert top["row_in_table"] == f"row_in_table{number}"
    assert top["rank"] == 1
    assert top["rank_in_table"] == f"rank{number}"
    assert top["known_in_table"] == str(days[number])
    assert top["known"] == bool(number % 2)


def test_a_table_without_rows(fitted, customers, here, capsys):
    customers.clear().write_csv("new.csv")
    assert call("predict", fitted / "customers.model", "new.csv", "--out", "s.csv") == 1
    assert "new.csv has column names and no rows." in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["new.csv"]


@pytest.mark.parametrize(("suffix", "width"), [(".csv", 1009), (".parquet", 8)])
def test_batches_are_sized_by_the_columns_that_are_read(suffix, width, fitted, customers, monkeypatch):
    wide = customers.head(20).with_columns(pl.lit(0).alias(f"extra{k}") for k in range(1000))
    wide.write_csv("new.csv") if suffix == ".csv" else wide.write_parquet("new.parquet")
    asked = []
    monkeypatch.setattr("unlabeled.cli.predict.rows_a_batch", lambda n: asked.append(n) or 7)
    assert call("predict", fitted / "customers.model", f"new{suffix}") == 0
    n_features = load(fitted / "customers.model").classifier.n_features_in_
    assert asked == [max(width, n_features)]


def test_unseen_categories_are_told(fitted, customers, tmp_path, capsys):
    _unseen(customers).write_csv(tmp_path / "new.csv")
    assert call("predict", fitted / "customers.model", tmp_path / "new.csv") == 0
    assert "channel: 400 rows with a value that was not there" in capsys.readouterr().out


LEARNS = {
    "booleans": lambda n: [i % 4 == 0 for i in range(n)],
    "strings and empties": lambda n: ["fraud" if i % 4 == 0 else "" for i in range(n)],
    "yes and no": lambda n: ["yes" if i % 4 == 0 else "no" for i in range(n)],
}


@pytest.mark.parametrize("case", LEARNS)
def test_label_columns_that_can_be_learned_from(case, rng, capsys):
    n = 60
    label = LEARNS[case](n)
    pl.DataFrame({"größe in €": rng.normal(size=n), "ラベル": label}).write_csv("t.csv")
    facts = answer(capsys, "fit", "t.csv", "--label", "ラベル")
    assert facts["label"]["n_positive"] == 15


@pytest.mark.slow
def test_ten_thousand_columns(rng, capsys):
    rows = rng.normal(size=(30, 10_000))
    rows[:10] += 0.5
    table = pl.DataFrame(rows, schema=[f"x{j}" for j in range(10_000)]).with_columns(y=pl.Series([1] * 10 + [0] * 20))
    table.write_parquet("wide.parquet")
    assert call("fit", "wide.parquet", "--label", "y", "--prior", "0.4", "--method", "wmmd") == 0
    assert call("predict", "wide.model", "wide.parquet", "--out", "s.csv") == 0
    assert len(pl.read_csv("s.csv")) == 30
    assert "and 9,988 more" in capsys.readouterr().out


# --- these fail, with a message and a code, and leave nothing behind ---

GOOD = "x,y\n" + "".join(f"{i * 0.37 % 1},{int(i % 5 == 0)}\n" for i in range(30))
FAILS = {
    "no such column": (GOOD, ["--label", "why"], 1, "no column 'why'. The columns are: 'y', 'x'"),
    "no positives": ("x,y\n1,0\n2,0\n3,0\n", [], 1, "no labelled positives"),
    "all positives": ("x,y\n1,1\n2,1\n3,1\n", [], 1, "Unlabeled rows are needed"),
    "one row": ("x,y\n1,1\n", [], 1, "Every row has '1'"),
    "prior below the labelled share": (GOOD, ["--prior", "0.1"], 1, "below the labelled share of the rows, 0.2"),
    "a prior that is no share": (GOOD, ["--prior", "20"], 1, "strictly between 0 and 1"),
    "a prior that is no number": (GOOD, ["--prior", "many"], 1, "neither a number nor 'auto'"),
    "mixed types": (GOOD + "oops,0\n", [], 1, "mixes numbers and words: 'oops' on line 32"),
    "a line too long": (GOOD + "1,0,7\n", [], 1, "line 32 has 3 fields where the header has 2"),
    "a line too short": (GOOD + "1\n", [], 1, "line 32 has 1 fields where the header has 2"),
    "an empty file": ("", [], 1, "is empty"),
    "no feature": ("y\n1\n1\n0\n0\n", [], 1, "there is only the label"),
    "an unknown method": (GOOD, ["--method", "magic"], 1, "no method 'magic'; use one of auto, wmmd"),
    "an unknown scenario": (GOOD, ["--scenario", "both"], 2, "single-sample"),
    "an unknown option": (GOOD, ["--lable", "y"], 2, "--lable"),
    "no folder for the output": (GOOD, ["--model", "nowhere/m"], 3, "no folder nowhere"),
    "a folder as output": (GOOD, ["--model", "."], 3, "is a folder"),
}


@pytest.mark.parametrize("case", FAILS)
def test_fits_that_fail(case, here, capsys):
    content, options, expected_code, message = FAILS[case]
    Path("t.csv").write_text(content)
    label = [] if "--label" in options else ["--label", "y"]
    assert call("fit", "t.csv", *label, *options) == expected_code
    err = capsys.readouterr().err
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert len(err) < 900
    assert [path.name for path in here.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("table", "message"), [(".", "is a folder"), ("absent.csv", "does not exist"), ("absent/t.csv", "no folder absent")]
)
def test_tables_that_are_not_there(table, message, capsys):
    assert call("fit", table, "--label", "y", "--model", "m") == 1
    assert message in capsys.readouterr().err


def test_a_table_without_permission(capsys, monkeypatch):
    Path("t.csv").write_text(GOOD)
    real_open = Path.open

    def refuse(path, *arguments, **options):
        if path.name == "t.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)  # chmod would not stop a test that is run as root
    assert call("fit", "t.csv", "--label", "y") == 1
    assert "no permission" in capsys.readouterr().err


def test_missing_columns_at_predict_are_named(fitted, customers, capsys):
    customers.drop("age", "joined").write_csv("new.csv")
    assert call("predict", fitted / "customers.model", "new.csv", "--out", "s.csv") == 1
    assert "lacks 2 of the 6 columns" in (err := capsys.readouterr().err)
    assert "'age', 'joined'" in err
    assert not Path("s.csv").exists()


def test_an_output_that_exists_needs_force(fitted, capsys):
    Path("s.csv").write_text("mine")
    options = ("predict", fitted / "customers.model", fitted / "customers.csv", "--out", "s.csv")
    assert call(*options) == 3
    assert "s.csv exists. To replace it: --force" in capsys.readouterr().err
    assert Path("s.csv").read_text() == "mine"
    assert call(*options, "--force") == 0
    assert Path("s.csv").read_text() != "mine"


def test_what_a_command_reads_is_never_its_output(fitted, customers, capsys):
    customers.write_csv("t.csv")
    Path("link.csv").symlink_to("t.csv")
    Path("m.csv").write_bytes((fitted / "customers.model").read_bytes())
    for arguments in (
        ("predict", "m.csv", "t.csv", "--out", "link.csv"),
        ("predict", "m.csv", "t.csv", "--out", "m.csv"),
        ("fit", "t.csv", "--label", "known_fraud", "--model", "./t.csv"),
    ):
        assert call(*arguments, "--force") == 3
        assert "is read by this command; give another name for the output." in capsys.readouterr().err
    assert pl.read_csv("t.csv").shape == customers.shape


def test_an_output_that_exists_is_asked_about_on_a_terminal(fitted, monkeypatch, capsys):
    Path("s.csv").write_text("mine")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_a, **_k: False)
    options = ("predict", fitted / "customers.model", fitted / "customers.csv", "--out", "s.csv")
    assert call(*options) == 3
    assert "left as it is" in capsys.readouterr().err
    monkeypatch.setattr("typer.confirm", lambda *_a, **_k: True)
    assert call(*options) == 0


def test_an_output_without_a_format(fitted, capsys):
    assert call("predict", fitted / "customers.model", fitted / "customers.csv", "--out", "s.xlsx") == 1
    assert ".parquet" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("out", ["s.csv", "s.parquet"])
def test_a_full_disk(fitted, here, monkeypatch, capsys, out):
    monkeypatch.setattr("unlabeled.files._mark", lambda: "x")
    Path(f".{out}.x.part").symlink_to("/dev/full")
    assert call("predict", fitted / "customers.model", fitted / "customers.csv", "--out", out) == 3
    assert f"The disk is full: {out} was not written." in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "options",
    [("--out", "-"), *(pytest.param(options, marks=pytest.mark.slow) for options in (("--top", "3"), ("--json",)))],
)
def test_a_full_disk_behind_the_standard_output(fitted, options):
    command = [sys.executable, "-m", "unlabeled.cli", "predict", fitted / "customers.model", fitted / "customers.csv"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*command, *options], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    reason = "The disk is full: the output was not written."
    assert done.returncode == 3
    if "--json" in options:
        assert json.loads(done.stderr) == {"error": reason, "exit_code": 3}
    else:
        assert done.stderr == f"unlabeled: {reason}\n"


def test_a_broken_line_late_in_the_table_leaves_no_scores(fitted, customers, here, capsys, monkeypatch):
    monkeypatch.setattr("unlabeled.cli.predict.rows_a_batch", lambda _n: 50)
    customers.write_csv("new.csv")
    with Path("new.csv").open("a") as file:
        file.write("one,field,too,many,a,b,c,d,e,f\n")
    assert call("predict", fitted / "customers.model", "new.csv", "--out", "s.csv") == 1
    assert "line 402 has 10 fields" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["new.csv"]


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "not a model"), (b"a,b\n", "not a model"), (b"unlabeled model\n{", "damaged")]
)
def test_models_that_are_none(capsys, content, message):
    Path("m").write_bytes(content)
    Path("t.csv").write_text(GOOD)
    assert call("predict", "m", "t.csv") == 1
    assert message in capsys.readouterr().err


def test_a_model_of_python_is_not_one_of_a_table(capsys):
    data = make_gaussians(20, 40, 1, random_state=0)
    save(WMMDClassifier(0.5).fit(data.X, data.y), "m")
    Path("t.csv").write_text(GOOD)
    assert call("predict", "m", "t.csv") == 1
    assert "holds a WMMDClassifier" in capsys.readouterr().err


def test_debug_shows_where(capsys):
    assert call("--debug", "fit", "absent.csv", "--label", "y") == 1
    assert "Traceback" in capsys.readouterr().err
    assert call("fit", "absent.csv", "--label", "y", "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_error_of_ours_has_a_code_of_its_own(capsys, monkeypatch):
    monkeypatch.setattr("unlabeled.cli.fit.Table.open", lambda *_a, **_k: 1 / 0)
    assert call("fit", "t.csv", "--label", "y") == 70
    assert "An error of ours, ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_stopped_in_the_middle(fitted, customers, tmp_path, number, code):
    pl.concat([customers] * 2000).write_parquet(tmp_path / "long.parquet")
    command = [sys.executable, "-m", "unlabeled.cli", "predict", str(fitted / "customers.model"), "long.parquet"]
    process = subprocess.Popen([*command, "--out", "s.csv"], cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.time() + 60
    while not any(path.suffix == ".part" for path in tmp_path.iterdir()) and time.time() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert err == (b"unlabeled: Stopped. No half-written file is left behind.\n" if number == signal.SIGINT else b"")
    assert [path.name for path in tmp_path.iterdir()] == ["long.parquet"]


_STOPPED_IN_A_CALLBACK = """
import os, sys
from unlabeled.files import written_whole
from unlabeled.cli.stopping import end_tidily

class LastRites:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))  # an exception raised in here is printed and forgotten

end_tidily("predict")
with written_whole("s.csv") as part:
    part.write_text("half")
    LastRites()
print("the work goes on")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_where_no_exception_gets_out(here, number, code):
    command = [sys.executable, "-c", _STOPPED_IN_A_CALLBACK, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert list(here.iterdir()) == []


# --- the other commands ---


def test_prior_shows_all_estimators(fitted, capsys):
    found = answer(capsys, "prior", fitted / "customers.csv", "--label", "known_fraud")
    assert {"density", "km2", "best-bin", "dedpul", "elkan-noto"} <= set(found["estimates"])
    assert all(e["low"] <= e["high"] for e in found["estimates"].values())
    assert found["verdict"].startswith("The estimates")
    # `fit` and `prior` made scores of their own each, and showed different numbers for one table.
    facts = answer(capsys, "fit", fitted / "customers.csv", "--label", "known_fraud")
    assert found["estimates"]["auto"] == facts["prior"]
    assert next(iter(found["estimates"])) == "auto"


@pytest.mark.parametrize("arguments", [("fit",), ("fit", "--method", "elkan-noto"), ("prior",)])
def test_what_several_estimates_see_is_told_once(arguments, capsys, rng):
    """Labelled positives from elsewhere: each estimate sees it in numbers of its own."""
    rows = np.r_[rng.normal(6, 0.5, (60, 2)), rng.normal(0, 1, (300, 2))]
    pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": np.repeat([1, 0], [60, 300])}).write_parquet("t.parquet")
    warned = answer(capsys, arguments[0], "t.parquet", "--label", "y", *arguments[1:])["warnings"]
    assert sum("completely at random" in warning for warning in warned) == 1


@pytest.fixture(scope="module", params=["wmmd", "score", "auto"])
def of_method(request, fitted):
    """The name of a method, and a model fitted by it."""
    options = ("--label", "known_fraud", "--method", request.param, "--model", fitted / request.param)
    assert call("fit", fitted / "customers.csv", *options) == 0
    return request.param, fitted / request.param


def test_explain_names_rows_and_columns(of_method, fitted, customers, capsys):
    method, model = of_method
    found = answer(capsys, "explain", model, fitted / "customers.csv", "--row", 5)
    every = ["distances", "fitted ratio", "learned score"]
    by = {"wmmd": every[:1], "score": every[2:], "auto": every}[method]
    assert [reasons["by"] for reasons in found["scores"]] == by
    assert sum(reasons["adds"] for reasons in found["scores"]) == pytest.approx(found["log_ratio"])
    known = set((np.flatnonzero(customers["known_fraud"].to_numpy()) + 1).tolist())
    for reasons in found["scores"]:
        exact = reasons["by"] == "distances"
        positives = reasons["rows"]["positives"]["first"] if exact else reasons["nearest"]["positives"]
        assert {entry["row"] for entry in positives} <= known
        kind = {"distances": "parts", "fitted ratio": "instead_of_mean", "learned score": "importances"}
        columns = reasons[kind[reasons["by"]]]
        assert set(columns) == {"age", "channel", "joined", "mean_amount", "transfers", "verified"}
        if reasons["by"] != "fitted ratio":
            assert sum(columns.values()) == pytest.approx(reasons["adds"] - reasons["crowding"] if exact else 1)
        if exact:
            probable = reasons["rows"]["probable"]["first"]
            assert all(1 <= entry["row"] <= 400 and 0 <= entry["probability"] <= 1 for entry in probable)
    assert call("explain", model, fitted / "customers.csv", "--row", 5) == 0
    printed = capsys.readouterr().out
    assert all(f"by {each}," in printed for each in by)
    assert ("exact" in printed) == ("distances" in by)


def test_explain_knows_what_it_cannot_explain(fitted, here, capsys):
    options = ("--label", "known_fraud", "--method", "elkan-noto", "--model", here / "m")
    assert call("fit", fitted / "customers.csv", *options) == 0
    assert call("explain", here / "m", fitted / "customers.csv", "--row", 5) == 1
    assert "--method wmmd, least-squares or score" in capsys.readouterr().err


def test_explain_beyond_the_table(fitted, capsys):
    assert call("explain", fitted / "customers.model", fitted / "customers.csv", "--row", 401) == 1
    assert "fewer than 401 rows" in capsys.readouterr().err


def test_demo_writes_a_table_to_try(capsys):
    assert call("demo") == 0
    assert "unlabeled fit demo/customers.csv" in capsys.readouterr().out
    assert len(pl.read_csv("demo/customers.csv")) == 2000
    assert call("demo") == 3
    assert call("demo", "--force") == 0


def test_datasets_lists_the_papers(capsys, tmp_path):
    found = answer(capsys, "datasets", "heart_scale", "--data-home", tmp_path)
    assert set(found["found"]) | set(found["missing"]) == {"heart_scale"}
    assert call("datasets", "heart") == 1
    assert "heart_scale" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "predict", "prior", "explain", "demo", "datasets", "reproduce"])
def test_help_has_an_example(command, capsys):
    assert call(command, "--help") == 0
    assert f"unlabeled {command}" in capsys.readouterr().out


def test_version(capsys):
    assert call("--version") == 0
    assert capsys.readouterr().out == f"unlabeled {unlabeled.__version__}\n"


def test_help_tells_the_exit_codes(capsys):
    assert call("--help") == 0
    assert "Exit codes" in capsys.readouterr().out


# --- memory ---

_PREDICT = """
import resource, sys
from unlabeled.cli.commands import app
from unlabeled.cli.failures import run
for table in sys.argv[1:]:
    assert run(app, ["predict", "small.model", table, "--out", "scores.parquet", "--force"]) == 0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux has it")
@pytest.mark.slow
def test_a_table_of_200_mb_is_scored_in_little_memory(here, rng):
    """The peak over 200 MB of Parquet in one row group is less than 200 MB above that over a table of 100 rows."""
    columns = {f"x{j}": rng.normal(size=500_000) for j in range(50)} | {"y": np.arange(500_000) % 3 == 0}
    table = pl.DataFrame(columns)
    table.write_parquet("large.parquet", compression="uncompressed", row_group_size=500_000)
    assert Path("large.parquet").stat().st_size > 199e6
    table.head(100).write_parquet("small.parquet")
    assert call("fit", "small.parquet", "--label", "y", "--prior", 0.5) == 0
    command = [sys.executable, "-c", _PREDICT, "small.parquet", "large.parquet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=here)
    at_first, at_last = map(int, done.stderr.split())
    assert at_last - at_first < 200
    assert pl.scan_parquet("scores.parquet").select(pl.len()).collect().item() == 500_000


# --- numbers one can trust ---


@pytest.fixture
def few(customers, here):
    """A table with three labelled positives."""
    labelled = np.zeros(len(customers), dtype=int)
    labelled[np.flatnonzero(customers["known_fraud"])[:3]] = 1
    customers.with_columns(known_fraud=pl.Series(labelled)).write_csv(here / "few.csv")
    return here / "few.csv"


def test_with_three_positives_what_cannot_be_known_is_said(few, capsys):
    assert call("fit", few, "--label", "known_fraud", "--method", "wmmd") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "With 3 labelled positives the ranking can be used; recall, precision and the number of positives" in out
    assert "From 10 positives on" in out
    assert not re.search(r"(recall|precision) [01]\.\d+ \(|about \d", out)
    assert call("predict", "few.model", few) == 0
    assert "how many of these are positive cannot be told" in capsys.readouterr().out
    assert call("prior", few, "--label", "known_fraud") == 0
    assert "With 3 positives the prior cannot be told" in capsys.readouterr().out


def test_what_cannot_be_known_is_null(few, capsys):
    facts = answer(capsys, "fit", few, "--label", "known_fraud", "--method", "wmmd")
    for name in ("recall", "precision", "roc_auc", "n_positives", "n_flagged_positives"):
        assert facts["estimates"][name]["value"] is None
        assert facts["estimates"][name]["low"] < facts["estimates"][name]["high"]
    assert answer(capsys, "predict", "few.model", few)["n_flagged_positives"]["value"] is None
    assert all(
        found["value"] is None for found in answer(capsys, "prior", few, "--label", "known_fraud")["estimates"].values()
    )
    given = answer(capsys, "fit", few, "--label", "known_fraud", "--method", "wmmd", "--prior", 0.1, "--force")
    assert given["estimates"]["n_positives"]["value"] == pytest.approx(40)


def test_the_positives_of_the_demo_are_counted_well(capsys):
    """143 of 146 flagged rows are positive, and 119 are told of, with an interval up to all."""
    table, truth = make_customers()
    table.write_csv("customers.csv")
    facts = answer(capsys, "fit", "customers.csv", "--label", "known_fraud")
    prior, hits = facts["prior"], facts["estimates"]["n_flagged_positives"]
    assert prior["low"] <= 0.1 <= prior["high"]
    scored = answer(capsys, "predict", "customers.model", "customers.csv", "--out", "scores.csv")
    flagged = pl.read_csv("scores.csv")["flagged"]
    true = int((flagged & (truth["fraud"] == 1)).sum())
    for found in (hits, scored["n_flagged_positives"]):
        assert found["low"] <= true <= found["high"]
        assert found["value"] == pytest.approx(true, abs=30)
