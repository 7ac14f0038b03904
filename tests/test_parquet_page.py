"""The page from Parquet files to scored Parquet files, run as it stands."""

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import unlabeled
from unlabeled.datasets import make_gaussians

pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

PAGE = Path(__file__).parents[1] / "docs" / "parquet.md"


def blocks():
    found = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    spark = [block for block in found if block.startswith("# spark")]
    return [block for block in found if block not in spark], spark


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, beside the newest pandas
def test_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    of_dask, of_spark = blocks()
    assert len(of_dask) >= 5
    assert len(of_spark) == 1
    names = {}
    for block in of_dask:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    assert capsys.readouterr().out == "1900 unlabeled rows, of which 500 came to the client\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_recipe_for_spark(tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark takes 500 MB: pip install -r requirements-spark.txt")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # else its workers take the first Python in PATH
    data = make_gaussians(100, 300, random_state=0)
    frame = pd.DataFrame(data.X, columns=["height", "width"])
    model = unlabeled.WMMDClassifier(prior=0.5, random_state=0).fit(frame, data.y)
    unlabeled.save(model, "scorer.model")
    frame.assign(known=data.y).to_parquet("table")
    source = blocks()[1][0].replace('"scorer.model"', repr(str(tmp_path / "scorer.model")))
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102
    found = pd.read_parquet("scored").sort_values(["height", "width"])
    expected = frame.assign(score=model.score_samples(frame)).sort_values(["height", "width"])
    np.testing.assert_allclose(found["score"], expected["score"], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found["flagged"], found["score"] > model.threshold_)
