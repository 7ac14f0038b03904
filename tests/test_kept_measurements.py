"""Tables of docs/bias.md and docs/negatives.md are those of the rows that are kept beside them."""

import importlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from unlabeled import Balanced, PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier
from unlabeled.bias import ScarTest, choose_classifier
from unlabeled.results import read_rows

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "bias" / "rows.jsonl.xz"
KEPT_NEGATIVES = ROOT / "docs" / "bias" / "negatives.jsonl.xz"


@pytest.fixture
def bias(monkeypatch):
    """The module ``benchmarks/bias.py``."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("bias")


def lines(page, first):
    """The cells of the table of a page whose header starts with these words, a list for each line, header first."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(text) if line.startswith(first))
    table = text[start : start + 1 + [line.startswith("|") for line in [*text[start:], ""]].index(False) - 1]
    cells = [[cell.strip().strip("*") for cell in line.strip("|").replace("`", "").split("|")] for line in table]
    return [cells[0], *cells[2:]]


def test_the_table_of_thresholds_is_that_of_the_rows(bias):
    rows = bias.Rows(read_rows(KEPT))
    header, *table = lines("bias.md", "| labels | method |")
    assert header[2:-4] == list(bias.TABLES)
    scheme = ""
    for first, method, *shown in table:
        scheme = first or scheme
        assert shown == rows.line(scheme, method)
    assert len(table) > 40


def test_points_below_the_ceiling_are_those_of_the_rows(bias):
    rows = bias.Rows(read_rows(KEPT))
    header, *table = lines("bias.md", "| points below the ceiling |")
    schemes = [cell.split(" (")[0] for cell in header[1:]]
    assert schemes == [*bias.SCHEMES, bias.BY_COLUMN]
    for method, *shown in table:
        for scheme, cell in zip(schemes, shown, strict=True):
            assert cell == (f"{rows.below(scheme, method):.1f}" if method in rows.methods(scheme) else "")


def test_other_tables_are_those_of_the_rows(bias):
    rows = bias.Rows(row for row in read_rows(KEPT) + read_rows(KEPT.with_name("others.jsonl.xz")))
    of_others = bias.Rows(read_rows(KEPT.with_name("others.jsonl.xz")))
    assert set(rows.tables("at random")) == {*bias.TABLES, *bias.OTHERS}
    assert len(lines("bias.md", "| other tables |")) > 5
    header, *table = lines("bias.md", "| other tables |")
    for method, *shown in table:
        assert shown == [f"{of_others.below(scheme, method):.1f}" for scheme in header[1:]]


def test_no_draw_is_left_out(bias):
    """A table that lacks a way to label has too few labels in it; all others have all draws."""
    for rows, names in ((KEPT, bias.TABLES), (KEPT.with_name("others.jsonl.xz"), bias.OTHERS)):
        draws = defaultdict(set)
        for row in read_rows(rows):
            draws[row["dataset"], row["setting"]["scheme"]].add(row["draw"])
        assert {name for name, _ in draws} == set(names)
        assert len({frozenset(found) for found in draws.values()}) == 1


def test_a_kept_row_comes_out_again(bias):
    kept = {(row["dataset"], row["setting"]["scheme"], row["draw"]): row for row in read_rows(KEPT)}
    row = kept["gaussians", "at random", 0]
    found = bias.cell("gaussians", "at random", 0, "thresholds")
    assert found["n_labels"] == row["n_labels"]
    assert found["metrics"].keys() == row["metrics"].keys()
    for method, measured in row["metrics"].items():
        for measure, value in measured.items():  # another BLAS may move a row across a threshold
            assert found["metrics"][method][measure] == pytest.approx(value, abs=0.02)


def test_the_chooser_takes_what_the_rows_say_it_takes(bias, rng):
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0.5) & (rng.uniform(size=300) < 0.5)
    without, known = (
        ScarTest(prior, scenario="single-sample", n_simulated=99).fit(X, y).set_params() for prior in (None, 0.5)
    )
    words = {Balanced(clusters=0.5): bias.HALF, Balanced(): bias.AT_KNOWN_PRIOR}

    def name(choice):
        estimator = choice.estimator
        if isinstance(estimator, PropensityWMMDClassifier):
            learned = isinstance(estimator.propensity, PropensityEMClassifier)
            return f"{bias.BY_EM if learned else bias.WEIGHTED}, {words[estimator.threshold]}"
        assert isinstance(estimator, PUClassifier)
        return f"{bias.DEFAULT}, {words[estimator.threshold]}"

    for scheme in (*bias.SCHEMES, bias.BY_COLUMN):
        e = 0.1 if scheme == "at random" else lambda rows: np.full(len(rows), 0.1)
        found = {
            "nothing": choose_classifier(without),
            "the prior": choose_classifier(known),
            "e": choose_classifier(without, propensity=e),
        }
        if scheme == bias.BY_COLUMN:
            found["the column"] = choose_classifier(without, columns=[0])
        assert {told: name(choice) for told, choice in found.items()} == bias.chosen(scheme)


def test_the_table_of_negatives_is_that_of_the_rows():
    means = defaultdict(lambda: defaultdict(list))
    for row in read_rows(KEPT_NEGATIVES):
        setting = row["setting"]
        for measure, value in row["metrics"].items():
            of_table = means[row["method"], setting["negatives"], setting["choice"]][measure, row["dataset"]]
            of_table.append(value)

    def shown(found, measure, tables):
        values = [np.mean(values) for (name, table), values in found.items() if name == measure and table in tables]
        return f"{np.mean(values):.3f}" if values else ""

    both = ("australian", "diabetes", "breast-cancer", "wisconsin", "gaussians", "moons")
    for header, tables in (("| negatives |", both), ("| 150 and more |", both[-2:])):
        for kind, *cells in lines("negatives.md", header)[1:]:
            classifier = "pu" if kind.startswith("PUClassifier, ") else "wmmd"
            number, choice = kind.removeprefix("PUClassifier, ").split(" ", 1)
            found = means[classifier, int(number), choice]
            measures = ["balanced accuracy", "AUC"]
            expected = [shown(found, f"{one}{alone}", tables) for one in measures for alone in ("", ", P and N alone")]
            assert cells == [*expected, shown(found, "prior's error", tables)]
