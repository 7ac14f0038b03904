"""Text as a sparse table: what fitting and scoring 20,000 x 50,000 takes, and how well it tells the classes apart.

    python benchmarks/sparse.py

Documents of a topic model: words follow a Zipf law, topics prefer some of them, and each class prefers some topics.
About 0.2 % of the entries are not 0. Each classifier is fitted in a process of its own, whose peak memory (RSS)
is what is shown; a dense table of this size would be 8 GB.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from unlabeled import ElkanNotoClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier

N_ROWS, N_WORDS, N_TOPICS, LENGTH, N_TEST = 20_000, 50_000, 40, 150, 5_000
PRIOR, LABELLED = 0.4, 0.2
MODELS = ("PUClassifier", "WMMDClassifier", "ScoreWMMDClassifier", "ElkanNotoClassifier")


def main() -> None:
    for name in MODELS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            print(name, *(f"{key} {value}" for key, value in alone.submit(measured, name).result().items()), sep="; ")


def measured(name: str) -> dict[str, str]:
    counts, truth = documents(N_ROWS + N_TEST, np.random.default_rng(0))
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    table, test = X[:N_ROWS], X[N_ROWS:]
    labelled = truth[:N_ROWS] & (np.random.default_rng(1).uniform(size=N_ROWS) < LABELLED)
    models: dict[str, Any] = {
        "PUClassifier": PUClassifier(PRIOR, scenario="single-sample"),
        "WMMDClassifier": WMMDClassifier(PRIOR, scenario="single-sample", random_state=0),
        "ScoreWMMDClassifier": ScoreWMMDClassifier(prior=PRIOR, scenario="single-sample"),
        "ElkanNotoClassifier": ElkanNotoClassifier(LogisticRegression(), prior=PRIOR, scenario="single-sample"),
    }
    started = time.perf_counter()
    model = models[name].fit(table, labelled)
    fitted = time.perf_counter()
    scores = model.score_samples(test)
    scored = time.perf_counter()
    return {
        "entries": f"{table.nnz / table.shape[0] / table.shape[1]:.2%}",
        "fit": f"{fitted - started:.1f} s",
        f"score {N_TEST:,} rows": f"{scored - fitted:.2f} s",
        "peak memory": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
        "AUC": f"{roc_auc_score(truth[N_ROWS:], scores):.4f}",
        "accuracy": f"{((scores > model.threshold_) == truth[N_ROWS:]).mean():.4f}",
    }


def documents(n_rows: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Counts of words (n_rows, N_WORDS), and which documents are of the positive class."""
    common = rng.permutation(1 / np.arange(1, N_WORDS + 1))
    common /= common.sum()
    of_topics = rng.gamma(0.1, size=(N_TOPICS, N_WORDS)) * common
    words = np.cumsum(0.5 * of_topics / of_topics.sum(axis=1, keepdims=True) + 0.5 * common, axis=1)
    positive = rng.uniform(size=n_rows) < PRIOR
    taste = np.full((n_rows, N_TOPICS), 0.06)
    taste[:, :8] *= np.where(positive, 6, 1)[:, None]
    taste[:, 8:16] *= np.where(positive, 1, 6)[:, None]
    shares = rng.gamma(taste) + 1e-12
    counts = rng.multinomial(5 + rng.poisson(LENGTH, n_rows), shares / shares.sum(axis=1, keepdims=True))
    rows, columns = [], []
    for topic, of_topic in enumerate(counts.T):
        rows.append(np.repeat(np.arange(n_rows), of_topic))
        found = np.searchsorted(words[topic] / words[topic, -1], rng.uniform(size=of_topic.sum()))
        columns.append(np.minimum(found, N_WORDS - 1))
    entries = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_array((np.ones(len(entries[0])), entries), shape=(n_rows, N_WORDS)).tocsr(), positive


if __name__ == "__main__":
    main()
