"""The Python of README and of the pages of the site runs as it stands, and prints what a page shows."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

from unlabeled import PUClassifier
from unlabeled.datasets import make_gaussians

README = Path(__file__).parents[1] / "README.md"
PAGES = README.parent / "docs"
QUICKSTART = PAGES / "quickstart.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_the_ten_lines_run(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(code, {})  # noqa: S102
    choice, accuracy = capsys.readouterr().out.splitlines()
    assert set(choice.split()[0].split("+")) <= {"wmmd", "least-squares", "score"}
    assert float(accuracy) > 0.8


def test_the_quickstart_prints_what_it_shows(capsys):
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", QUICKSTART.read_text(), re.DOTALL).groups()
    exec(code, {})  # noqa: S102
    printed = capsys.readouterr().out
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    assert [float(n) for n in NUMBER.findall(printed)] == pytest.approx(
        [float(n) for n in NUMBER.findall(shown)], abs=0.03
    )


@pytest.fixture(scope="module")
def table():
    """What pages take for given: a table with labels, and another."""
    data = make_gaussians(100, 900, prior=0.3, random_state=0)
    new = make_gaussians(20, 100, prior=0.3, random_state=1)
    model = PUClassifier(parts={"score": "drop"}, random_state=0).fit(data.X, data.y)
    return {"X": data.X, "y": data.y, "X_new": new.X, "y_new": new.y, "model": model}


@pytest.mark.filterwarnings("ignore")  # some is what warnings are for: a table of no page's own
@pytest.mark.parametrize(
    "page",
    [
        "index",
        "report",
        "project",
        "negatives",
        "from_scratch",
        "api/index",
        "guide/index",
        "guide/scenarios",
        "guide/thresholds",
        "guide/metrics",
        "guide/scale",
    ],
)
def test_the_python_of_a_page_runs(page, table, tmp_path, monkeypatch):
    """`docs/parquet.md`, `docs/theory.md` and `docs/method.md` have tests of their own."""
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL))
    assert code
    names = dict(table)
    if "compressed(" in code:  # of a few rows none can be left out
        data = make_gaussians(100, 2000, random_state=0)
        names |= {"X": data.X, "y": data.y}
    if "negative=" in code:
        names["y"] = np.where(table["y"] == 1, "fraud", "").astype("<U7")
        names["y"][np.flatnonzero((names["y"] == "") & (table["X"].sum(axis=1) < -2))[:40]] = "cleared"
    exec(code, names)  # noqa: S102


def test_the_examples_of_the_method():
    found = doctest.testfile(
        str(PAGES / "method.md"), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    assert found.attempted > 15
    assert found.failed == 0


def test_the_quickstart_shows_what_the_readme_does():
    """`tests/test_cli_transcript.py` replays the README."""
    (shown,) = (text for text in re.findall(r"```text\n(.*?)```", QUICKSTART.read_text(), re.DOTALL) if "Prior" in text)
    for line in shown.splitlines():
        assert line in README.read_text()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
