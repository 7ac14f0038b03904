"""Size of a saved model of many rows, and the time and memory to save and to load it.

    python benchmarks/model_size.py                     # 1,000,000 rows of 26 features, about a minute
    python benchmarks/model_size.py --rows 100000

The training rows of a WMMD classifier are the model. In float32, where that is exact enough, a million rows of 26
features are 108 MB, row numbers included. Saving and loading run in processes of their own, so that their peak memory
is seen.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unlabeled import WMMDClassifier, load, save

N_FEATURES = 26
N_EVALUATIONS = 1_000  # rows that gamma is chosen by: the size of the file is the question here


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.model"
        for name, job in (("fit and save", fit_and_save), ("load and score", load_and_score)):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, megabytes = pool.apply(measured, (job, path, n_rows))
            print(f"{name}: {', '.join(f'{what} {s:.1f} s' for what, s in seconds.items())}; peak {megabytes:,} MB")
        print(f"{n_rows:,} rows of {N_FEATURES} features: {path.stat().st_size / 1e6:.1f} MB in the file")


def measured(job: Callable[[Path, int], dict[str, float]], path: Path, n_rows: int) -> tuple[dict[str, float], int]:
    """What a job took, and the peak memory of this process in MB."""
    return job(path, n_rows), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def fit_and_save(path: Path, n_rows: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    positive = rng.uniform(size=n_rows) < 0.5
    X = rng.normal(positive[:, None] * 0.5, size=(n_rows, N_FEATURES))
    labelled = positive & (rng.uniform(size=n_rows) < 0.5)
    classifier = WMMDClassifier(0.5, scenario="single-sample", max_evaluations=N_EVALUATIONS)
    model, fitting = timed(lambda: classifier.fit(X, labelled))
    _, saving = timed(lambda: save(model, path))
    return {"fit": fitting, "save": saving}


def load_and_score(path: Path, _n_rows: int) -> dict[str, float]:
    model, loading = timed(lambda: load(path))
    rows = np.random.default_rng(1).normal(size=(1_000, N_FEATURES))
    _, scoring = timed(lambda: model.score_samples(rows))
    return {"load": loading, "score 1,000 rows": scoring}


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return job(), time.perf_counter() - started


if __name__ == "__main__":
    main()
