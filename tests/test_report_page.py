"""The page of a report: what it holds, that text of users stays text, and the command that writes it."""

import html.parser
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from unlabeled import Costs, ElkanNotoClassifier, PUClassifier, WMMDClassifier, evaluate, explain, report
from unlabeled.cli.commands import app
from unlabeled.cli.failures import run
from unlabeled.datasets import make_gaussians
from unlabeled.displays.threshold_table import ThresholdTable
from unlabeled.evaluation import find_evidence
from unlabeled.metrics import PUStratifiedKFold
from unlabeled.reports.content import as_script_data, money, some_of_both, threshold_cells
from unlabeled.reports.importance import MOST_COLUMNS, importances

EVIL = "<script>alert(1)</script>"


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1, user_api="openmp"):
        yield


class Parsed(html.parser.HTMLParser):
    """Elements of a page, their identifiers and what they refer to, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.links, self.sources, self.words = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes and tag == "a":
            self.links.append(attributes["href"])
        self.sources += [attributes[name] for name in ("src", "srcset", "data", "action") if name in attributes]

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def data():
    return make_gaussians(80, 300, prior=0.3, separation=3, random_state=1)


@pytest.fixture(scope="module")
def frame(data):
    rng = np.random.default_rng(0)
    words = rng.choice(["<img src=x onerror=alert(2)>", "a & b", "plain"], len(data.X))
    return pd.DataFrame({EVIL: data.X[:, 0], "b\"'>": data.X[:, 1], "words": words})


@pytest.fixture(scope="module")
def found(frame, data):
    model = WMMDClassifier(0.4, random_state=0).fit(frame, data.y)
    return report(model, frame, data.y, costs=Costs(2, 9), title=f"On {EVIL}", source=EVIL)


def test_everything_is_there(found):
    page = Parsed(found.html)
    sections = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    expected = "summary checks learned prior score-distributions explorer ranking probabilities data-map columns top"
    assert sections == expected.split()
    assert len(page.ids) == len(set(page.ids))
    inner = [link[1:] for link in page.links if link.startswith("#")]
    assert set(inner) <= set(page.ids)
    assert set(sections) <= set(inner)


def test_the_numbers_are_those_of_evaluate(found, frame, data):
    expected = evaluate(found.subject.model, frame, data.y)
    tiles = {tile["name"]: tile for tile in found.content.sections["summary"]["tiles"]}
    assert tiles["Recall"]["value"] == f"{expected.recall.value:.0%}"
    assert tiles["Precision"]["note"] == f"{expected.precision.low:.0%} to {expected.precision.high:.0%}"
    assert tiles["Flagged"]["value"] == f"{expected.flagged_rate.value:.1%}"
    assert tiles["Labelled"]["value"] == "80"
    words = " ".join(Parsed(found.html).words)
    assert tiles["Recall"]["value"] in words


def test_the_explorer_has_what_python_computes(found, frame, data):
    table = ThresholdTable.of(find_evidence(found.subject.model, frame, data.y))
    explorer = found.content.sections["thresholds"]["data"]
    assert [row["t"] for row in explorer["rows"]] == list(table.thresholds)
    row, cells = table.rows[7], threshold_cells(table.rows[7], Costs(2, 9))
    assert explorer["rows"][7]["words"] == [cells[name] for name in explorer["shown"]]
    assert explorer["rows"][7]["errors"][1] == [row.n_missed.value, row.n_missed.low, row.n_missed.high]
    assert explorer["chosen"] == table.chosen


def test_top_rows_are_the_best_unlabeled_ones(found, frame, data):
    margins = found.subject.model.decision_function(frame)
    unlabeled = np.flatnonzero(np.asarray(data.y) != 1)
    best = unlabeled[np.argsort(-margins[unlabeled])[:10]] + 1
    entries = found.content.sections["top"]["entries"]
    assert [entry["number"] for entry in entries] == list(best)
    assert all(entry["drivers"] for entry in entries)


def test_text_of_the_table_stays_text(found):
    page = Parsed(found.html)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2  # the numbers of the explorer, and what shows them
    assert not {"img", "iframe", "object", "embed"} & set(tags)
    assert not [attributes for _, attributes in page.tags if any(name.startswith("on") for name in attributes)]
    assert EVIL in "".join(page.words)  # shown as what it is
    assert "onerror=alert(2)" in "".join(page.words)
    assert "<script>alert" not in found.html
    assert "<img" not in found.html


def test_nothing_is_fetched(found):
    page = Parsed(found.html)
    assert not page.sources
    assert "url(" not in found.html
    assert "@import" not in found.html
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_data_in_the_page_cannot_end_their_element():
    value = {"words": "</script><!-- \u2028 & >"}
    text = as_script_data(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value


def test_pictures_say_what_they_show(found):
    page = Parsed(found.html)
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(pictures) >= 6
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert set(attributes["aria-labelledby"].split()) <= set(page.ids)


def test_notebooks_show_the_page(found):
    shown = found._repr_html_()
    assert shown.count("<") == 2  # one frame, and all of the page is in an attribute of it
    assert Parsed(shown).tags[0][1]["srcdoc"] == found.html


def test_another_table_is_compared(found, frame):
    new = frame.assign(**{EVIL: frame[EVIL] + 3})
    both = report(found.subject.model, frame, (np.arange(len(frame)) < 80).astype(int), new=new)
    drift = both.content.sections["drift"]
    assert drift["rows"][0]["name"] == EVIL
    assert drift["rows"][0]["clear"]
    assert 'id="drift"' in both.html
    assert "unlabeled rows of the other table" in both.html


def test_what_the_model_alone_knows(data):
    model = PUClassifier(0.4, parts={"score": "drop"}, random_state=0).fit(data.X, data.y)
    page = report(model).html
    assert "No table was given" in page
    assert 'id="explorer"' in page
    assert 'id="top"' not in page


def test_a_model_that_keeps_no_scores(data):
    model = ElkanNotoClassifier(prior=0.4, random_state=0).fit(data.X, data.y)
    assert "keeps no scores" in report(model).html
    assert 'id="explorer"' in report(model, data.X, data.y).html


def test_few_positives_have_ranges_alone():
    few = make_gaussians(6, 200, prior=0.3, random_state=0)
    page = report(WMMDClassifier(0.3, random_state=0).fit(few.X, few.y), few.X, few.y).html
    assert "ranges say all there is" in page
    assert "not told" in page


def test_findings_are_told_before_the_numbers(data):
    model = WMMDClassifier(0.95, random_state=0).fit(data.X, data.y)
    page = report(model, data.X, data.y).html
    assert page.index("Before you trust these numbers") < page.index('class="tiles"')


def test_wrong_input_is_told(found, data):
    model = found.subject.model
    with pytest.raises(ValueError, match="y came without X"):
        report(model, None, data.y)
    with pytest.raises(ValueError, match="X has 380 rows and y 3"):
        report(model, data.X, [1, 0, 0])


def test_a_map_has_rows_from_all_over_a_long_table():
    places = some_of_both(np.arange(20_000) < 4_000)
    labelled, others = places[places < 4_000], places[places >= 4_000]
    assert (len(labelled), len(others)) == (1_500, 1_500)
    assert labelled.mean() == pytest.approx(2_000, abs=150)
    assert others.mean() == pytest.approx(12_000, abs=600)


def test_of_a_wide_table_those_columns_are_tried_that_go_with_the_score(data):
    noise = np.random.default_rng(0).normal(size=(len(data.X), 200))
    X = np.column_stack([noise, 3 * data.X])
    model = WMMDClassifier(0.4, scale="none", random_state=0).fit(X, data.y)
    columns = report(model, X, data.y).content.sections["columns"]
    assert {row["name"] for row in columns["rows"][:2]} == {"x200", "x201"}
    assert columns["untried"] == 202 - MOST_COLUMNS
    words = np.where(noise[:, 0] > 0, "a", "b")
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(202)]).assign(c0=words)
    model = WMMDClassifier(0.4, random_state=0).fit(frame, data.y)
    tried = {one.column for one in importances(report(model, frame, data.y).subject)}
    assert {"c200", "c201"} <= tried
    assert len(tried) == MOST_COLUMNS


def test_a_pipeline_of_texts():
    rng = np.random.default_rng(0)
    words = np.array([*"abcdefghij"])
    shares = np.where(np.arange(240)[:, None] < 100, np.r_[np.ones(5) * 3, np.ones(5)], np.ones(10))
    texts = [" ".join(rng.choice(words, 30, p=p)) for p in shares / shares.sum(axis=1, keepdims=True)]
    texts[150] = f"{texts[0]} {EVIL}"
    y = np.arange(240) < 40
    model = make_pipeline(CountVectorizer(analyzer=str.split), WMMDClassifier(0.3, scenario="single-sample"))
    found = report(model.fit(texts, y), texts, y)
    top = found.content.sections["top"]
    assert top["columns"] == ["text"]
    assert top["entries"][0]["cells"][0]
    assert top["why_not"] == ""
    assert {driver["name"] for driver in top["entries"][0]["drivers"]} <= set(words)
    assert found.content.sections["map"]["axes"][0].split()[0] in words
    assert EVIL not in found.html
    named = explain(model, [texts[3]])
    assert named.score == pytest.approx(model.score_samples(texts[3:4])[0], abs=1e-6)


def test_what_a_search_has_found(data):
    search = GridSearchCV(WMMDClassifier(0.4, random_state=0), {"kernel": ["rbf", "inverse"]}, cv=PUStratifiedKFold(2))
    search.fit(data.X, data.y)
    assert report(search, data.X, data.y).subject.classifier is search.best_estimator_
    assert evaluate(search, data.X, data.y) == evaluate(search.best_estimator_, data.X, data.y)
    assert explain(search, data.X[3]).score == pytest.approx(search.best_estimator_.score_samples(data.X[3:4])[0])


def test_other_classifiers_are_refused(data):
    with pytest.raises(TypeError, match=r"LogisticRegression is none. ScoreWMMDClassifier\(LogisticRegression\(\)\)"):
        report(LogisticRegression().fit(data.X, data.y), data.X, data.y)


def test_without_jinja_the_extra_is_named(monkeypatch, found):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"unlabeled\[report\]"):
        report(found.subject.model).html  # noqa: B018


@pytest.mark.slow
def test_a_million_rows_are_a_small_page(data):
    model = WMMDClassifier(0.4, random_state=0).fit(data.X, data.y)
    X = np.random.default_rng(0).normal(size=(1_000_000, 2))
    assert len(report(model, X, np.arange(len(X)) < 300_000).html.encode()) < 5e6


# --- the command ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    """A table with a column that knows the label, another without labels, and a model."""
    place = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.X))
    y = np.asarray(data.y)[order]
    table = pl.DataFrame(data.X[order], schema=[EVIL, "size"], orient="row")
    table = table.with_columns(case=pl.Series(np.where(y == 1, rng.uniform(5, 9, len(y)), 0.0)), known=pl.Series(y))
    table.write_csv(place / "table.csv")
    table.drop("known").with_columns(pl.col("size") + 3).write_csv(place / "new.csv")
    fit = ("--label", "known", "--prior", "0.4", "--method", "wmmd", "--model", str(place / "a.model"))
    assert run(app, ["fit", str(place / "table.csv"), *fit]) == 0
    return place


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_the_command_writes_a_page(here, capsys):
    assert run(app, ["report", "a.model", "table.csv", "--out", "page.html", "--costs", "1,20"]) == 0
    told = capsys.readouterr().out
    assert "Written     page.html" in told
    assert "PU401" in told
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "<h1>Report on known</h1>" in page
    assert "<script>alert" not in page
    assert 'id="cost-missed" min="0" step="any" value="20"' in page
    assert run(app, ["report", "a.model", "--out", "page.html"]) == 3  # it is there already


@pytest.mark.usefixtures("here")
def test_checks_alone_with_an_exit_code_on_request(capsys):
    assert run(app, ["report", "a.model", "table.csv", "--checks"]) == 0
    told = capsys.readouterr().out
    assert "error       PU401" in told
    assert "Written" not in told
    assert run(app, ["report", "a.model", "table.csv", "--checks", "--fail-on", "PU401"]) == 4
    assert run(app, ["report", "a.model", "table.csv", "--checks", "--fail-on", "PU402"]) == 0
    capsys.readouterr()
    assert run(app, ["report", "a.model", "new.csv", "--checks", "--fail-on", "warning", "--json"]) == 4
    facts = json.loads(capsys.readouterr().out)
    assert "PU501" in facts["failing"]
    assert {check["code"] for check in facts["checks"]} >= set(facts["failing"])
    assert run(app, ["report", "a.model", "table.csv", "--checks", "--fail-on", "PU9"]) == 1
    assert "'PU9' is neither a code" in capsys.readouterr().err


def test_checks_are_printed_beside_a_page_that_is_asked_for(here, capsys):
    assert run(app, ["report", "a.model", "table.csv", "--checks"]) == 0
    assert not (here / "a.html").exists()
    assert run(app, ["report", "a.model", "table.csv", "--checks", "--out", "both.html"]) == 0
    assert "ok          PU501" in capsys.readouterr().out
    assert (here / "both.html").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (0.0042, "0.00420"),
        (0.5, "0.500"),
        (2.5, "2.50"),
        (99.96, "100.0"),
        (100.5, "101"),
        (1234567, "1,234,567"),
    ],
)
def test_amounts_have_three_digits(value, words):
    assert money(value) == words


def test_costs_of_another_type_are_refused():
    model = WMMDClassifier(0.5).fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 0, 0])
    with pytest.raises(TypeError, match=re.escape("as in Costs(1, 20); got (1, 5)")):
        report(model, costs=(1, 5))


def test_costs_that_are_none(capsys):
    assert run(app, ["report", "a.model", "--checks", "--costs", "1;2"]) == 1
    assert "are not two numbers" in capsys.readouterr().err


def test_fit_offers_the_report(here, capsys):
    arguments = ["fit", "table.csv", "--label", "known", "--prior", "0.4", "--method", "wmmd", "--model", "b.model"]
    assert run(app, arguments) == 0
    offered = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Report"))
    command = offered.removeprefix("Report").split()
    assert command[0] == "unlabeled"
    assert run(app, command[1:]) == 0
    assert (here / "b.html").exists()
