"""Every coded check fires on a table that was made for it, and stays silent on a clean one."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unlabeled import ElkanNotoClassifier, WMMDClassifier, report
from unlabeled.bounds import round_ball_bound, sample_size
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.choice_of_negatives import NegativesWarning
from unlabeled.evaluation import find_evidence
from unlabeled.reports import CHECKS, SEVERITIES, subject
from unlabeled.reports.checks.labels import order_of_labels
from unlabeled.reports.checks.learned import positives_needed
from unlabeled.reports.findings import DOCUMENTATION
from unlabeled.reports.leaks import column_areas
from unlabeled.tables import Column, Columns
from unlabeled.tables.profile import profile, shifts

PAGE = Path(__file__).parents[1] / "docs" / "checks.md"


def drawn(n_positive=60, n_unlabeled=400, prior=0.4, separation=3.0, n_noise=2, seed=0):
    """Two Gaussians, and columns of noise beside them."""
    data = make_gaussians(n_positive, n_unlabeled, prior=prior, separation=separation, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(len(data.X), n_noise))
    return np.column_stack([data.X, noise]), np.asarray(data.y)


def fitted(X, y, prior=0.4, **options):
    return WMMDClassifier(prior, random_state=0, **options).fit(X, y)


def found(code, model, X=None, y=None, **options):
    about = report(model, X, y, **options)
    check = CHECKS[code](about.subject if about.other is None else about.other)  # this one alone, for it is quick
    assert check.sentence
    assert check.remedy or check.severity in ("ok", "skipped", "info")
    return check


@pytest.fixture(scope="module")
def clean():
    X, y = drawn(n_positive=120, n_unlabeled=600)
    return X, y, fitted(X, y)


@pytest.fixture(scope="module")
def clean_report(clean):
    X, y, model = clean
    new, _ = drawn(n_positive=1, n_unlabeled=500, seed=7)
    return {check.code: check for check in report(model, X, y, new=new[1:]).checks}


# --- a clean table ---


@pytest.mark.parametrize("code", sorted(set(CHECKS) - {"PU302"}))
def test_silent_on_a_clean_table(clean_report, code):
    assert clean_report[code].severity == "ok", clean_report[code].sentence


def test_codes_stay(clean_report):
    """Codes are part of what users write into pipelines: none may go, and none may change its meaning."""
    assert {code: check.title for code, check in sorted(clean_report.items())} == {
        "PU101": "Prior near 1",
        "PU102": "Prior not identified",
        "PU201": "Labels do not look random",
        "PU202": "Scenario mismatch",
        "PU203": "Hardly an unlabeled positive left",
        "PU204": "Known negatives look picked",
        "PU301": "Fewer positives than needed",
        "PU302": "No better than taking unlabeled as negative",
        "PU303": "Columns hardly tell positives from others",
        "PU401": "A column leaks the label",
        "PU402": "Duplicates",
        "PU501": "Drift",
        "PU502": "Another share of positives",
        "PU503": "Values that the model does not know",
    }


def test_every_check_has_its_page(clean_report):
    text = PAGE.read_text(encoding="utf-8")
    for code, check in clean_report.items():
        heading = f'<a id="{code.lower()}"></a>\n## {code}: {check.title[0].lower()}{check.title[1:]}\n'
        assert heading in text, code
        assert check.link == f"{DOCUMENTATION}checks.html#{code.lower()}"
    assert len(re.findall(r"^## PU\d+", text, re.MULTILINE)) == len(CHECKS)


# --- tables that were made for a check ---


def test_a_prior_near_one():
    X, y = drawn()
    assert found("PU101", fitted(X, y, prior=0.95)).severity == "warning"


def test_a_prior_that_is_not_identified():
    X, y = drawn(n_positive=25, n_unlabeled=150, separation=0.7)
    model = fitted(X, y, prior="auto")
    check = found("PU102", model)
    assert check.severity == "warning"
    assert "between" in check.sentence or "lower limit" in check.sentence


def test_labels_of_one_corner():
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=800) < 0.5
    X = rng.normal(np.where(truth, 2.0, -2.0)[:, None] * [1, 0], 1)
    y = (truth & (X[:, 1] > 0.3)).astype(int)  # all positives of one half are labelled, and none of the other
    model = fitted(X, y, prior=0.5, scenario="single-sample")
    check = found("PU201", model, X, y)
    assert check.severity == "warning"
    assert "PropensityWMMDClassifier(PropensityEMClassifier(columns))" in check.remedy


def test_a_block_of_labels_is_no_single_sample():
    X, y = drawn()
    assert y[: y.sum()].all()
    check = found("PU202", fitted(X, y, scenario="single-sample"), X, y)
    assert check.severity == "warning"
    assert "one block" in check.sentence
    order = np.random.default_rng(0).permutation(len(y))
    model = fitted(X[order], y[order], scenario="single-sample")
    assert found("PU202", model, X[order], y[order]).severity == "ok"


def test_negatives_that_were_picked():
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=600) < 0.4
    X = rng.normal(np.where(truth, 3.0, 0.0)[:, None] * [1, 0], 1)
    y = (truth & (rng.uniform(size=600) < 0.3)).astype(int)
    negatives = np.flatnonzero(~truth)
    picked, drawn_ones = y.copy(), y.copy()
    picked[negatives[np.argsort(X[negatives, 1])[:120]]] = -1
    drawn_ones[negatives[:120]] = -1
    how = {"scenario": "single-sample", "negative": -1, "smoothing": 0}
    with pytest.warns(NegativesWarning):
        check = found("PU204", fitted(X, picked, negatives_are="random", **how))
    assert check.severity == "warning"
    assert "random choice" in check.sentence
    assert found("PU204", fitted(X, picked, negatives_are="selected", **how)).severity == "ok"
    assert "Nothing speaks against" in found("PU204", fitted(X, drawn_ones, **how)).sentence


@pytest.mark.parametrize("scenario", ["single-sample", "case-control"])
def test_known_negatives_are_no_surprise(scenario):
    """The report goes by the score that they have a part in, and has them in neither sample of a case-control table."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=400) < 0.4
    X = rng.normal(np.where(truth, 3.0, 0.0)[:, None] * [1, 0], 1)
    y = (truth & (rng.uniform(size=400) < 0.3)).astype(int)
    y[np.flatnonzero(~truth)[:60]] = -1
    model = WMMDClassifier(0.4, scenario=scenario, negative=-1, smoothing=0).fit(X, y)
    about = report(model, X, y)
    subject, rows = about.subject, about.subject.rows
    assert subject.is_training
    np.testing.assert_allclose(rows.margins, model.decision_function(X[rows.numbers]), atol=1e-9)
    assert len(rows.numbers) == (400 if scenario == "single-sample" else 340)
    assert not (y[rows.numbers[rows.unknown]] == -1).any()
    top = [entry["number"] - 1 for entry in about.content.sections["top"]["entries"]]
    assert (y[top] == 0).all()
    new = rng.normal(np.where(rng.uniform(size=300) < 0.7, 3.0, 0.0)[:, None] * [1, 0], 1)
    found_prior = CHECKS["PU502"](report(model, X, y, new=new).other)
    assert f"{model.adapt(new, check=False).prior_:.3f} of this table" in found_prior.sentence


def test_scattered_labels_are_no_sample_of_their_own():
    X, y = drawn()
    order = np.random.default_rng(0).permutation(len(y))
    assert found("PU202", fitted(X[order], y[order]), X[order], y[order]).severity == "info"
    assert found("PU202", fitted(X[order], y[order])).severity == "info"  # from what the model keeps


def test_positives_that_are_copies_of_unlabeled_rows():
    X, y = drawn()
    X[np.flatnonzero(y == 0)[:20]] = X[np.flatnonzero(y == 1)[:20]]
    order = np.random.default_rng(0).permutation(len(y))
    check = found("PU202", fitted(X[order], y[order], scenario="single-sample"), X[order], y[order])
    assert "20 labelled rows have a copy" in check.sentence


def test_copies_are_natural_in_a_table_of_few_categories(rng):
    truth = rng.random(2000) < 0.3
    X = np.column_stack(
        [rng.binomial(4, 0.3 + 0.4 * truth), rng.binomial(6, 0.3 + 0.3 * truth), rng.integers(0, 5, 2000)]
    )
    y = (truth & (rng.random(2000) < 0.4)).astype(int)
    model = fitted(X.astype(float), y, 0.3, scenario="single-sample", smoothing=0)
    assert found("PU202", model, X.astype(float), y).severity == "ok"
    assert found("PU402", model, X.astype(float), y).severity == "warning"


def test_the_order_of_labels_by_hand():
    labels = np.array([True, True, False, True, False, False])  # four runs where four are expected
    assert order_of_labels(labels) == pytest.approx(0)
    assert order_of_labels(np.repeat([True, False], 200)) < -15


def test_no_positive_left():
    X, y = drawn()
    model = fitted(X, y, prior=(y.sum() + 0.4) / len(y), scenario="single-sample")
    assert found("PU203", model).severity == "warning"


def test_few_positives():
    X, y = drawn(n_positive=7)
    check = found("PU301", fitted(X, y))
    assert check.severity == "warning"
    assert "7 labelled positives" in check.sentence


def test_positives_needed_are_those_of_the_bound(clean):
    X, y, model = clean
    evidence = find_evidence(model, X, y)
    assert positives_needed(evidence) is None  # 600 unlabeled rows are too few for any promise
    many = replace(evidence, n_population=1e6)
    assert positives_needed(many) == sample_size(0.1, round_ball_bound, prior=0.4, n_unlabeled=1_000_000)[0]


def test_trees_that_rank_better():
    rng = np.random.default_rng(0)
    truth = np.arange(900) < 500
    truth[300:] = rng.uniform(size=600) < 0.3
    X = rng.normal(size=(900, 25))
    X[:, 0] = np.where(truth, rng.choice([-1.0, 1.0], 900), 0) + 0.1 * rng.normal(size=900)
    y = (np.arange(900) < 300).astype(int)
    check = found("PU302", fitted(X, y, prior=0.3), X, y)
    assert check.severity == "warning"
    assert "rank labelled positives higher" in check.sentence


def test_a_ranking_better_than_that_of_trees_is_silent():
    rng = np.random.default_rng(1)
    truth = np.append(np.ones(200, bool), rng.uniform(size=500) < 0.3)
    X = rng.normal(0.5 * truth[:, None], 1, (700, 16))  # a little in every column: hard for trees
    y = (np.arange(700) < 200).astype(int)
    assert found("PU302", fitted(X, y, prior=0.3), X, y).severity == "ok"


def test_columns_that_tell_nothing():
    X, y = drawn(separation=0.0)
    assert found("PU303", fitted(X, y)).severity == "warning"


def test_a_column_that_knows_the_label():
    X, y = drawn()
    case = np.where(y == 1, np.arange(len(y)) + 1.0, np.nan)  # filled in where a case was confirmed
    frame = pd.DataFrame(np.column_stack([X, case]), columns=["a", "b", "c", "d", "case_number"])
    model = fitted(frame, y)
    check = found("PU401", model, frame, y)
    assert check.severity == "error"
    assert "'case_number'" in check.sentence
    assert found("PU401", model).severity in ("ok", "warning")  # the scores alone name no column


def table_of_one_sample(n_rows=1000, prior=0.3, separation=2.0, seed=0):
    """A data frame of the population in which half of the positives are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=n_rows) < prior
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] += separation * truth
    return pd.DataFrame(X, columns=list("abc")), (truth & (rng.uniform(size=n_rows) < 0.5)).astype(int), rng


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
@pytest.mark.parametrize(("prior", "severity"), [(0.3, "error"), ("auto", "warning")])
def test_a_category_that_knows_the_label(prior, severity):
    """No feature of the column does so alone. By an estimated prior, which it draws down, hardly a positive is left."""
    frame, y, rng = table_of_one_sample()
    of_labelled, of_others = (rng.choice(words, len(y)) for words in (["closed", "won", "done"], ["open", "new"]))
    frame["status"] = np.where(y == 1, of_labelled, of_others)
    check = found("PU401", fitted(frame, y, prior, scenario="single-sample"), frame, y)
    assert (check.severity, "'status'" in check.sentence) == (severity, True)
    assert "(100% of them) and 0 unlabeled ones" in check.sentence


@pytest.mark.parametrize(("share", "severity"), [(0.9, "error"), (0.3, "warning")])
def test_values_that_only_labelled_rows_have(share, severity):
    frame, y, rng = table_of_one_sample()
    frame["case"] = np.where((y == 1) & (rng.uniform(size=len(y)) < share), np.arange(len(y)) + 1.0, np.nan)
    check = found("PU401", fitted(frame, y, 0.3, scenario="single-sample"), frame, y)
    assert (check.severity, "'case'" in check.sentence) == (severity, True)


@pytest.mark.parametrize("prior", [0.01, "auto"])
def test_a_perfect_column_of_rare_positives_does_not_leak(prior):
    frame, y, _ = table_of_one_sample(20_000, prior=0.01, separation=6.0)
    assert max(column_areas(frame.to_numpy(), y == 1)) > 0.99
    check = found("PU401", fitted(frame, y, prior, scenario="single-sample"), frame, y)
    assert check.severity == "ok", check.sentence


def test_the_most_telling_column_is_named_where_few_are_labelled():
    """A tree of few labelled rows says little of a column, and its order says much."""
    rng = np.random.default_rng(0)
    hidden = np.arange(2000) < 200
    frame = pd.DataFrame(rng.normal(size=(2000, 4)), columns=list("abcd")).assign(
        hour=rng.normal(size=2000) + 3 * hidden
    )
    y = (np.arange(2000) < 20).astype(int)
    check = found("PU401", fitted(frame, y, 0.1, scenario="single-sample"), frame, y)
    assert check.severity == "ok"
    area = column_areas(frame[["hour"]].to_numpy(), y == 1)[0]
    assert area > 0.9
    assert f"(largest AUC {area:.3f}, of 'hour')" in check.sentence


def test_a_word_that_knows_the_label():
    _, y, rng = table_of_one_sample()
    there = np.column_stack([rng.uniform(size=(len(y), 6)) < 0.2, y == 1]).astype(float)
    check = found("PU401", fitted(csr_array(there), y, 0.3, scenario="single-sample"), csr_array(there), y)
    assert (check.severity, "'x6'" in check.sentence) == ("error", True)


def test_two_columns_that_know_the_label_together():
    frame, y, rng = table_of_one_sample()
    u = rng.choice([-3.0, 3.0], len(y))
    frame = frame.assign(u=u, v=np.where(y == 1, u, -u) + rng.normal(size=len(y)))
    check = found("PU401", fitted(frame, y, 0.3, scenario="single-sample"), frame, y)
    assert (check.severity, "nearly perfectly" in check.sentence) == ("warning", True)


def test_areas_of_columns_by_pairs():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, (40, 3)).astype(float)
    values[rng.uniform(size=40) < 0.2, 2] = np.nan
    is_positive = np.arange(40) < 12
    for column, area in zip(values.T, column_areas(values, is_positive), strict=True):
        by_pairs = []
        for fill in (-np.inf, np.inf):
            filled = np.where(np.isnan(column), fill, column)
            positive, others = filled[is_positive][:, None], filled[~is_positive]
            share = float(np.mean((positive > others) + 0.5 * (positive == others)))
            by_pairs.append(max(share, 1 - share))
        assert area == pytest.approx(max(by_pairs))


def test_copies_of_labelled_rows():
    X, y = drawn()
    places = np.r_[np.arange(len(y)), np.flatnonzero(y == 1)[:10]]
    check = found("PU402", fitted(X[places], y[places]), X[places], y[places])
    assert check.severity == "warning"
    assert "0 labelled rows have one among the unlabeled" in check.sentence


def test_columns_that_shifted(clean):
    X, y, model = clean
    new = drawn(seed=3)[0] + [0, 2.0, 0, 0]
    check = found("PU501", model, X, y, new=new)
    assert check.severity == "warning"
    assert "'x1'" in check.sentence


def test_the_index_of_a_shift_by_hand():
    columns = Columns((Column("a", "number"),))
    pl = pytest.importorskip("polars")
    before = profile(pl.DataFrame({"a": np.arange(1, 101.0)}), columns)
    assert before[0].shares[:-1] == pytest.approx([0.1] * 10)
    (same,) = shifts(before, pl.DataFrame({"a": np.arange(1, 101.0)}), columns)
    assert same.index == pytest.approx(0)
    (half,) = shifts(before, pl.DataFrame({"a": np.arange(1, 51.0)}), columns)
    p, q = np.full(10, 0.1) + 1e-4, np.r_[np.full(5, 0.2), np.zeros(5)] + 1e-4
    assert half.index == pytest.approx(np.sum((q - p) * np.log(q / p)))
    assert half.is_clear
    assert not same.is_clear


def one_sample(n_rows, prior, seed, separation=3.0):
    """A table of the population, some of whose positives are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < prior
    return rng.normal(size=(n_rows, 2)) + separation * truth[:, None], (truth & (rng.random(n_rows) < 0.6)).astype(int)


@pytest.fixture
def few_rows_are_looked_at(monkeypatch):
    monkeypatch.setattr(subject, "MOST_POSITIVES", 150)
    monkeypatch.setattr(subject, "MOST_UNLABELED", 600)


@pytest.mark.usefixtures("few_rows_are_looked_at")
def test_long_tables_of_one_sample():
    """Most labelled rows of a long table are looked at, and few others: what is said is of the table all the same."""
    (X, y), (new, of_new) = one_sample(6000, 0.06, 0), one_sample(6000, 0.06, 1)
    model = fitted(X, y, 0.06, scenario="single-sample")
    check = found("PU201", model, X, y)  # the share of labelled rows that are looked at is above the prior
    assert (check.severity, "a prior of at least 0.06" in check.sentence) == ("ok", True)
    for labels in (None, of_new):
        about = report(model, new, labels)
        (prior,) = (float(words) for words in re.findall("About ([.0-9]+) of", CHECKS["PU502"](about.subject).sentence))
        assert 0.04 < prior < 0.085
        assert found("PU501", model, new, labels).severity == "ok"
    assert found("PU501", model, X, y, new=new).severity == "ok"


@pytest.mark.parametrize("kind", [WMMDClassifier, ElkanNotoClassifier])
def test_other_features_are_another_table(kind):
    X, y = one_sample(800, 0.3, 0)
    model = kind(prior=0.3, scenario="single-sample", random_state=0).fit(X, y)
    assert report(model, X, y).subject.is_training
    assert report(model, pd.DataFrame(X), y).subject.is_training
    assert not report(model, X + 1, y).subject.is_training
    assert not report(model, X[:700], y[:700]).subject.is_training
    assert not report(model, X, 1 - y).subject.is_training
    assert found("PU501", fitted(X, y, 0.3), X + 5, y).severity == "warning"


def test_a_training_table_of_words_missing_values_or_within_a_pipeline():
    X, y = one_sample(500, 0.3, 0)
    X[::7, 1] = np.nan
    words = pd.DataFrame({"x": X[:, 0], "town": np.where(X[:, 1] > 1, "Rome", "Oslo")})
    for table, model in (
        (X, fitted(X, y)),
        (words, fitted(words, y)),
        (csr_array(np.nan_to_num(X)), fitted(csr_array(np.nan_to_num(X)), y)),
        (np.nan_to_num(X), make_pipeline(PCA(), WMMDClassifier(0.4)).fit(np.nan_to_num(X), y)),
    ):
        assert report(model, table, y).subject.is_training


def test_weights_are_not_known_to_the_report():
    X, y = one_sample(400, 0.3, 0)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = WMMDClassifier(0.3, scenario="single-sample").fit(X, y, sample_weight=weights)
    assert report(model, X, y).subject.is_training
    for code in ("PU201", "PU302"):
        assert found(code, model, X, y).severity == "skipped"


def test_a_table_of_labelled_rows_alone(clean):
    X, y, model = clean
    assert "<svg" in report(model, X[y == 1], y[y == 1]).html


def test_another_share_of_positives(clean):
    X, y, model = clean
    new = drawn(n_positive=1, n_unlabeled=500, prior=0.8, seed=5)[0][1:]
    check = found("PU502", model, X, y, new=new)
    assert check.severity == "warning"
    assert "adapt" in check.remedy


def test_categories_that_were_not_there(clean):
    X, y, _ = clean
    words = np.random.default_rng(0).choice(["web", "phone"], len(y))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "channel": words})
    model = fitted(frame, y)
    new = frame.assign(channel=np.where(np.arange(len(y)) % 10 == 0, "fax", words))
    check = found("PU503", model, frame, y, new=new)
    assert check.severity == "warning"
    assert "'channel'" in check.sentence
    assert found("PU503", model, frame, y, new=frame).severity == "ok"


@pytest.fixture(scope="module")
def pipeline_of_words():
    """A pipeline that makes features of words itself."""
    frame, y, rng = table_of_one_sample(600)
    frame = frame.assign(e=rng.choice(["u", "w", "z"], len(y)), day=pd.Timestamp("2026-01-01"))
    encoder = make_column_transformer((StandardScaler(), list("abc")), (OneHotEncoder(handle_unknown="ignore"), ["e"]))
    model = make_pipeline(encoder, WMMDClassifier(0.3, scenario="single-sample", random_state=0))
    return frame, y, model.fit(frame, y)


def test_a_pipeline_that_knows_words(pipeline_of_words):
    frame, y, model = pipeline_of_words
    for new, severity in ((frame.head(50), "ok"), (frame.assign(e="v"), "warning")):
        for code in ("PU501", "PU503"):
            check = found(code, model, frame, y, new=new)
            assert check.severity == severity
            assert ("'e'" in check.sentence) == (severity == "warning")
    assert found("PU503", model, frame.assign(e="v")).severity == "skipped"  # nobody knows what was there
    leak = frame.assign(e=np.where(y == 1, "closed", frame["e"]))
    check = found("PU401", model.fit(leak, y), leak, y)
    assert (check.severity, "'e'" in check.sentence) == ("error", True)


# --- what is not there is not judged ---


def test_without_a_table_some_checks_are_skipped(clean):
    _, _, model = clean
    skipped = {check.code for check in report(model).checks if check.severity == "skipped"}
    assert skipped == {"PU201", "PU302", "PU402", "PU501", "PU502", "PU503"}


def test_limits(clean):
    X, y, _ = clean
    bad = report(fitted(X, y, prior=0.95), X, y)
    assert "PU101" in [check.code for check in bad.failing("PU101")]
    assert not bad.failing("PU401")
    assert {check.severity for check in bad.failing("warning")} <= {"warning", "error"}
    assert bad.failing("warning")
    assert not bad.failing()
    with pytest.raises(ValueError, match=r"'PU999' is neither a code .*PU101.* nor one of"):
        bad.failing("PU999")
    levels = [SEVERITIES.index(check.severity) for check in bad.checks]
    assert levels == sorted(levels, reverse=True)
