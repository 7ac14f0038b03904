"""The report: verdicts, marks and pages, from rows whose truth is known."""

import re

import numpy as np
import pytest

from unlabeled.report import write_report
from unlabeled.report.claims import CLAIMS
from unlabeled.report.page import Heading, Table, Text, as_html, as_markdown
from unlabeled.report.paper import LARGE, SMALL, data_sets, printed, training_times
from unlabeled.report.rows import Group, Mean, Rows, best_and_equals, paired_difference
from unlabeled.report.tables import differs, real_data
from unlabeled.report.tables import training_times as training_table

METHODS = ("log", "dh", "nnpu", "tadj", "wmmd")


def row(experiment, dataset, method, setting, draw, **metrics):
    found = {"experiment": experiment, "dataset": dataset, "method": method, "setting": setting, "draw": draw}
    return found | {"metrics": metrics}


def gaussian_rows(level, n_draws=4, priors=("known", "estimated")):
    """Rows of Figures 2 and 3 and appendix E, where level(method, metric, prior, kernel) is the mean."""
    points = [(n, 0.5) for n in (40, 400)] + [(400, 0.45), (400, 0.9)]
    for kernel in ("rbf", "inverse"):
        for method in METHODS if kernel == "rbf" else ("log", "dh", "wmmd"):
            for prior in priors if method != "tadj" else ("known",):
                for n, true_prior in points:
                    setting = {"n_unlabeled": n, "true_prior": true_prior, "prior": prior, "kernel": kernel}
                    for draw in range(n_draws):
                        noise = 1e-4 * draw + 2e-6 * n
                        values = {m: level(method, m, prior, kernel) + noise for m in ("accuracy", "auc")}
                        yield row("gaussians", "gaussians", method, setting, draw, **values)


def real_rows(level, n_draws=4, datasets=SMALL + LARGE):
    for dataset in datasets:
        for method in METHODS:
            for prior in ("known", "estimated") if method != "tadj" else ("known",):
                for draw in range(n_draws):
                    value = level(method, prior) + 1e-3 * draw
                    yield row("real data", dataset, method, {"prior": prior}, draw, accuracy=value, auc=value)


def as_the_paper_says(method, metric, prior, kernel):
    value = {"wmmd": 0.82, "log": 0.815, "dh": 0.80, "nnpu": 0.815, "tadj": 0.60}[method]
    if metric == "auc":
        value = {"wmmd": 0.90, "log": 0.89, "dh": 0.88, "nnpu": 0.88, "tadj": 0.905}[method]
    if prior == "estimated":
        value -= 0.02 if method in {"log", "dh", "nnpu"} and metric == "auc" else 0.0
        value -= 0.05 if method == "wmmd" and metric == "accuracy" else 0.0
    return value - (0.005 if kernel == "inverse" else 0)


def verdicts(rows):
    indexed = Rows(rows)
    return {claim.text: claim.check(indexed) for claim in CLAIMS}


def test_without_rows_no_claim_is_judged_and_the_page_says_so(tmp_path):
    assert set(verdicts([]).values()) == {None}
    pages = write_report([], tmp_path)
    assert "no rows yet" in pages[0].read_text().lower()


def test_claims_of_figures_2_and_3_hold_in_rows_made_to_bear_them_out():
    found = [v for v in verdicts(gaussian_rows(as_the_paper_says)).values() if v is not None]
    assert len(found) == 14
    missed = [v for v in found if not v.held]
    assert len(missed) == 1  # the inverse kernel is never better here
    assert "inverse less Gaussian" in missed[0].numbers


def test_claims_fail_in_rows_made_to_contradict_them():
    def contrary(method, metric, prior, kernel):
        return 1.5 - as_the_paper_says(method, metric, prior, kernel)

    found = [v for v in verdicts(gaussian_rows(contrary)).values() if v is not None]
    assert sum(v.held for v in found) <= 4


def test_claims_about_real_data():
    def level(method, prior):
        return {"wmmd": 0.9, "tadj": 0.7}.get(method, 0.85 if prior == "known" else 0.5)

    found = verdicts(real_rows(level))
    by_text = {text: verdict for text, verdict in found.items() if verdict is not None}
    held = {text: verdict.held for text, verdict in by_text.items()}
    assert held["LOG, DH and NNPU lose much accuracy and AUC with KM1's prior."]
    assert held["The AUC of WMMD and tADJ hardly depends on whether the prior is known."]
    assert not held["NNPU is more accurate than WMMD on skin_nonskin, epsilon_normalized and HIGGS."]
    assert not held["LOG and DH run out of 12 GB of memory on the large data sets."]
    failed = [
        {"experiment": "real data", "dataset": d, "method": m, "setting": {"prior": "known"}, "draw": 0,
         "failure": "memory: more than 12 GB"}
        for d in LARGE for m in ("log", "dh")
    ]  # fmt: skip
    again = verdicts(failed)["LOG and DH run out of 12 GB of memory on the large data sets."]
    assert again is not None
    assert again.held


def test_claims_about_time():
    times = dict(zip(METHODS, (3.5, 4.0, 0.2, 0.02, 0.01), strict=True))
    rows = [row("timing", "gaussians", "+".join(METHODS), {"n_unlabeled": 400}, i, **times) for i in range(3)]
    assert [v.held for v in verdicts(rows).values() if v is not None] == [True, True]
    slower = [row("timing", "gaussians", "+".join(METHODS), {"n_unlabeled": 400}, 0, **(times | {"tadj": 0.005}))]
    assert [v.held for v in verdicts(slower).values() if v is not None] == [False, True]


def test_best_and_equals_follow_the_t_test():
    rng = np.random.default_rng(0)
    groups = {
        name: Group({i: {"a": float(v)} for i, v in enumerate(rng.normal(mean, 1, 50))})
        for name, mean in (("best", 10.0), ("equal", 9.9), ("worse", 8.0))
    }
    assert best_and_equals(groups, "a") == {"best", "equal"}
    assert best_and_equals(groups | {"none": Group({})}, "a") == {"best", "equal"}
    assert best_and_equals({}, "a") == set()


def test_paired_difference_uses_shared_draws_only():
    one, other = Group({0: {"a": 1.0}, 1: {"a": 2.0}, 5: {"a": 9.0}}), Group({0: {"a": 0.5}, 1: {"a": 1.0}})
    assert paired_difference(one, other, "a") == Mean(0.75, pytest.approx(0.25), 2)


def test_marks_against_the_paper():
    theirs = printed("table3", "accuracy", "heart_scale", "wmmd")
    assert theirs is not None
    assert (theirs.value, theirs.error, theirs.bold) == (71.6, 0.8, True)
    assert not differs(Mean(0.70, 0.008, 100), theirs)
    assert differs(Mean(0.66, 0.008, 100), theirs)
    assert printed("table3", "auc", "HIGGS", "log") is None
    table = real_data(Rows(real_rows(lambda *_: 0.716)), "table3", "accuracy")
    assert table is not None
    heart = table.rows[0]
    assert heart[-1].startswith("**")
    assert heart[-1].endswith("(4)")
    assert heart[2].endswith("≠")  # DH: 68.4 in the paper


def test_the_papers_numbers_are_whole():
    assert tuple(data_sets()) == SMALL + LARGE
    assert set(training_times()["ratio"]) == set(METHODS)
    hyphens = [
        (table, m, d)
        for table in ("table3", "table4")
        for m in METHODS
        for d in data_sets()
        if printed(table, "accuracy", d, m) is None
    ]
    assert len(hyphens) == 2 * 4 + 3 * 4


def test_pages_are_whole_and_stand_alone(tmp_path):
    picture = {"window": [0, 1, 0, 1], "decision": list(np.linspace(-1, 1, 9)), "positive": [[0.5, 0.5]]}
    picture |= {"unlabeled": [[0.1, 0.1], [0.9, 0.9]], "truth": [0, 1]}
    moons = [
        row("moons", "two_moons", "wmmd", {"n_positive": p, "n_unlabeled": u, "true_prior": 0.5}, 0,
            accuracy=0.8 + p / 1000 + u / 10000, gamma=1.0, picture=picture)
        for p in (5, 10) for u in (50, 400)
    ]  # fmt: skip
    rows = [*moons, *gaussian_rows(as_the_paper_says), *real_rows(lambda *_: 0.8)]
    markdown, page = write_report(rows, tmp_path)
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 4
    assert not re.findall(r'src="(?!data:)', text)
    for name in re.findall(r"\]\((\w+\.png)\)", markdown.read_text()):
        assert (tmp_path / name).stat().st_size > 5000
        assert (tmp_path / name).with_suffix(".svg").exists()


def test_html_escapes_what_markdown_leaves():
    blocks = [Heading("a < b", 1), Text("**bold** `x<y` & [link](page.html)"), Table(["", "n"], [["a", "1"]], "c")]
    page = as_html(blocks, None, "t")
    assert "<h1>a &lt; b</h1>" in page
    assert "<strong>bold</strong> <code>x&lt;y</code> &amp; " in page
    assert '<a href="page.html">link</a>' in page
    assert as_markdown(blocks).splitlines()[0] == "# a < b"
    assert "| a | 1 |" in as_markdown(blocks)


def test_a_failed_timing_is_no_table():
    failed = {"experiment": "timing", "dataset": "gaussians", "method": "+".join(METHODS), "setting": {}, "draw": 0}
    assert training_table(Rows([failed | {"failure": "ImportError"}])) is None
    partial = [row("timing", "gaussians", "+".join(METHODS), {}, 0, log=1.0, dh=1.0, tadj=0.1, wmmd=0.01)]
    table = training_table(Rows(partial))
    assert table is not None
    assert table.header == ["", "LOG", "DH", "tADJ", "WMMD"]
    assert not [v for v in verdicts(partial).values() if v is not None and "NNPU" in v.numbers]


def test_notes_are_marked_and_listed(tmp_path):
    rows = [r | ({"note": "only 5 rows"} if r["dataset"] == "HIGGS" else {}) for r in real_rows(lambda *_: 0.7)]
    page = write_report(rows, tmp_path)[0].read_text()
    assert page.count("†") == 2 * 2 * 5 + 4  # both tables, both metrics, five methods, and four captions
    assert "HIGGS, LOG, DH, NNPU, tADJ, WMMD: only 5 rows" in page


def test_one_draw_is_not_called_different():
    theirs = printed("table3", "accuracy", "heart_scale", "wmmd")
    assert theirs is not None
    assert not differs(Mean(0.1, 0.0, 1), theirs)


def test_the_papers_own_values_are_near_the_paper():
    def own(offset):
        for table, prior in (("table3", "known"), ("table4", "estimated")):
            for name in SMALL:
                values = {m: (printed(table, m, name, "wmmd").value + offset) / 100 for m in ("accuracy", "auc")}
                yield row("real data", name, "wmmd", {"prior": prior}, 0, **values)

    near = next(claim for claim in CLAIMS if claim.where == "Tables 3, 4")
    assert near.check(Rows(own(0))).held
    assert near.check(Rows(own(2.9))).held
    assert not near.check(Rows(own(6))).held
