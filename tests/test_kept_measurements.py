"""Tables of docs/bias.md and docs/negatives.md are those of the rows that are kept beside them."""

import importlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from unlabeled import Balanced, PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier
from unlabeled.bias import ScarTest, choose_classifier
from unlabeled.datasets import AtRandom
from unlabeled.priors.scar import LEVEL
from unlabeled.results import read_rows

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "bias" / "rows.jsonl.xz"
KEPT_P_VALUES = ROOT / "docs" / "bias" / "scar_test.jsonl.xz"
KEPT_ADAPTING = ROOT / "docs" / "bias" / "adapting.jsonl.xz"
KEPT_NEGATIVES = ROOT / "docs" / "bias" / "negatives.jsonl.xz"


@pytest.fixture
def bias_size(monkeypatch):
    """The module ``benchmarks/bias_size.py``."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("bias_size")


@pytest.fixture
def adapting(monkeypatch):
    """The module ``benchmarks/adapting.py``."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("adapting")


@pytest.fixture
def p_values(bias_size):
    """Of the test, by set-up and the way to label in words."""
    return bias_size.p_values_of(read_rows(KEPT_P_VALUES))


@pytest.fixture
def bias(monkeypatch):
    """The module ``benchmarks/bias.py``."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("bias")


def lines(page, first, number=0):
    """The cells of a table whose header starts with these words, a list for each line, header first."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    start = [place for place, line in enumerate(text) if line.startswith(first)][number]
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


def test_draws_that_chose_nothing_are_told_apart(bias):
    """The cut was chosen on the first seven draws."""
    later = bias.Rows(row for row in read_rows(KEPT) if row["draw"] >= 7)
    header, *table = lines("bias.md", "| the other thirteen draws |")
    for method, *shown in table:
        assert shown == [f"{later.below(scheme.split(' (')[0], method):.1f}" for scheme in header[1:]]


def test_sentences_about_these_rows_hold(bias):
    rows = bias.Rows(read_rows(KEPT))
    page, choosing = (
        " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split()) for name in ("bias.md", "choosing.md")
    )

    def below(scheme, cut="", classifier=bias.DEFAULT):
        return rows.below(scheme, ", ".join(filter(None, [classifier, cut])))

    at_random, easy, slightly = list(bias.SCHEMES)[:3]
    assert (below(easy, bias.HALF), below(slightly, bias.HALF)) == pytest.approx((3.0, 3.1), abs=0.06)
    assert f"misses it by {below(at_random, bias.HALF) - 3:.1f} points where labels are random" in page
    assert below(at_random, bias.AT_KNOWN_PRIOR) <= 3
    assert max(below(scheme, bias.AT_KNOWN_PRIOR) for scheme in (easy, slightly)) <= 4
    farther = [
        below(scheme, bias.HALF, bias.PLAIN) - below(scheme, bias.HALF) for scheme in (at_random, easy, slightly)
    ]
    assert abs(farther[0]) < 0.05
    assert f"and {farther[1]:.1f} and {farther[2]:.1f} points farther off under the two biases" in page
    by_prior = below(at_random, "Balanced()") - below(at_random, bias.AT_KNOWN_PRIOR)
    assert f"`Balanced()` is {by_prior:.1f} points better at the true prior" in page
    plain, half = (rows.mean(at_random, method) for method in (bias.DEFAULT, f"{bias.DEFAULT}, {bias.HALF}"))
    assert all(half[name] > plain[name] - 0.01 for name in plain)
    gained = [below(scheme) - below(scheme, bias.HALF) for scheme in (at_random, easy)]
    assert f"{gained[0]:.1f} and {gained[1]:.1f} points of balanced accuracy nearer to all labels" in choosing


def test_what_is_said_of_the_test_on_these_rows_holds(bias):
    rows = bias.Rows(read_rows(KEPT))
    page = " ".join((ROOT / "docs" / "bias.md").read_text(encoding="utf-8").split())

    def rejected(scheme, *names):
        found = [p_value for name, told in rows.told(scheme, "p_value").items() if name in names for p_value in told]
        return sum(p_value < 0.05 for p_value in found), len(found)

    seen = ("diabetes", "wisconsin", "skin", "gaussians", "moons")
    for words, scheme, names in (
        ("labels at random in {} of the {} draws", "at random", bias.TABLES),
        ("hard cases first on skin and moons in {} of {} draws", "hard first", ("skin", "moons")),
        ("on digits in {} of {}", "hard first", ("digits",)),
        ("and in {} of {} elsewhere", "hard first", ("australian", "diabetes", "gaussians")),
        ("in {} of {} draws of diabetes, wisconsin, skin, gaussians and moons", bias.BY_COLUMN, seen),
        ("and in {} of {} of the other tables", bias.BY_COLUMN, set(bias.TABLES) - set(seen)),
    ):
        assert words.format(*rejected(scheme, *names)) in page
    for scheme in (*bias.SCHEMES, bias.BY_COLUMN):  # without a prior it rejects none
        assert min(min(told) for told in rows.told(scheme, "p_value_without_prior").values()) >= 0.05


def test_methods_that_learn_from_all_columns_are_those_of_the_rows(bias):
    rows = bias.Rows(read_rows(KEPT))
    header, *table = lines("bias.md", "| learned from all columns |")
    for method, *shown in table:
        for scheme, cell in zip(header[1:], shown, strict=True):
            measured = method in rows.methods(scheme)
            means = [rows.mean(scheme, method, one) for one in ("balanced accuracy", "AUC")] if measured else []
            assert cell == ", ".join(f"{np.mean(list(of_table.values())):.3f}" for of_table in means)
    assert len(table) == 4


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
    found = bias.cell("gaussians", "at random", 0, "all")
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


AT_RANDOM, WRONG = "at random", "at random, 1.2 times the prior"


def test_sizes_of_the_test_are_those_of_its_p_values(bias_size, p_values):
    sizes = {}
    for line in lines("bias.md", "| set-up | at its prior |")[1:]:
        sizes |= {name.split(" (")[0]: shares for name, *shares in (line[:3], line[3:])}
    assert sizes.keys() == bias_size.SETUPS.keys()
    for name, shown in sizes.items():
        assert (len(p_values[name, AT_RANDOM]), len(p_values[name, WRONG])) == (2000, 500)
        rejected = [bias_size.rejected(p_values[name, words]) for words in (AT_RANDOM, WRONG)]
        assert shown == [f"{share.value:.3f}" for share in rejected]
        assert rejected[0].high < 0.06  # beyond doubt no larger than it may be
    most = max((bias_size.rejected(p_values[name, AT_RANDOM]) for name in sizes), key=lambda share: share.value)
    page = (ROOT / "docs" / "bias.md").read_text(encoding="utf-8")
    assert f"the largest is {most.value:.3f}, with a 95 % interval from {most.low:.3f} to {most.high:.3f}" in page
    lifted = [np.mean(p_values[name, WRONG] <= 0.05) / np.mean(p_values[name, AT_RANDOM] <= 0.05) for name in sizes]
    assert round(max(lifted)) == 18
    assert np.quantile(lifted, [0.2, 0.8]) == pytest.approx([3, 5], abs=0.5)


def test_power_is_that_of_the_p_values(bias_size, p_values):
    header, *table = lines("bias.md", "| | 0.5 | 1 |")
    assert header[1:] == [f"{strength:g}" for strength in bias_size.STRENGTHS]
    assert len(table) == 2 * len(bias_size.POWER_SETUPS)
    for words, *shown in table:
        name, way = words.split(", ")
        found = [p_values[name, f"{way}, {strength}"] for strength in header[1:]]
        assert {len(values) for values in found} == {500}
        assert shown == [f"{bias_size.rejected(values).value:.2f}" for values in found]


@pytest.mark.usefixtures("bias_size")
def test_the_figure_of_power_is_drawn_of_these_rows(tmp_path):
    pytest.importorskip("matplotlib")
    figures = importlib.import_module("bias_figures")
    figures.draw_power(KEPT_P_VALUES, tmp_path)
    assert (tmp_path / "bias-power.png").stat().st_size > 10_000


def test_what_is_said_of_leave_one_out_scores_holds(bias_size, p_values):
    page = " ".join((ROOT / "docs" / "bias.md").read_text(encoding="utf-8").split())
    names = ("gaussians-6", "gaussians-6-case-control")
    found = [p_values[name, AT_RANDOM + bias_size.LEAVE_ONE_OUT] for name in names]
    alone, halved = (
        [f"{100 * bias_size.rejected(values).value:.1f} %" for values in of]
        for of in (found, [p_values[name, AT_RANDOM] for name in names])
    )
    assert {len(values) for values in found} == {1000}
    assert f"{alone[0]} of {names[0]} and {alone[1]} of {names[1]} were rejected" in page
    assert f"with halves {halved[0]} and {halved[1]}" in page


def test_what_is_said_of_the_warning_holds(bias_size, p_values):
    page = " ".join((ROOT / "docs" / "priors.md").read_text(encoding="utf-8").split())
    found = {name: p_values[name, AT_RANDOM + bias_size.WARNING] for name in bias_size.SETUPS}
    warned = [int((values < LEVEL).sum()) for values in found.values()]
    small = np.mean([values < 0.05 for values in found.values()])
    assert f"of {sum(map(len, found.values())):,} tables" in page
    assert f"{sum(warned)} were warned of" in page
    assert max(warned) == 1
    assert f"and {100 * small:.1f} % had a p-value below 0.05" in page


def test_a_kept_p_value_comes_out_again(bias_size, p_values):
    for name, words, of_draw in (
        ("gaussians-6", AT_RANDOM, bias_size.p_value),
        ("gaussians-6", AT_RANDOM + bias_size.WARNING, bias_size.p_value_of_warning),
    ):
        setup = bias_size.SETUPS[name]
        for place in range(2):
            found = of_draw(setup, AtRandom(setup.frequency), bias_size.generator(name, 0, place))
            assert found == pytest.approx(p_values[name, words][place], rel=0.05)


@pytest.mark.parametrize(("number", "classifier", "n_draws"), [(0, "wmmd", 300), (1, "pu", 30)])
def test_the_tables_of_adapting_are_those_of_the_rows(adapting, number, classifier, n_draws):
    rows = [row for row in read_rows(KEPT_ADAPTING) if row["method"] == classifier]
    table = lines("bias.md", "| scenario |", number)[1:]
    for setup, shown in zip(adapting.SETUPS, table, strict=True):
        of_setup = [row for row in rows if row["setting"] == setup._asdict()]
        assert len(of_setup) == n_draws
        assert shown == adapting.line(setup, of_setup)


def test_a_kept_row_of_adapting_comes_out_again(adapting):
    row = read_rows(KEPT_ADAPTING)[0]
    assert adapting.measure(row) == pytest.approx(row["metrics"], abs=0.01)


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
