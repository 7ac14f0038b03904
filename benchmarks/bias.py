"""What biased labels do to classifiers, and what mends it: the tables of ``docs/bias.md``.

    python benchmarks/bias.py [--draws 20] [--tables australian ...] [--out bias.jsonl]

One sample of each table, 75 % to learn from and 25 % to judge by. p(x) is a logistic regression's P(y = 1 | x) from the
true classes of the whole table, and positives are labelled with a chance of

    at random   0.1
    easy first  0.1 p(x)
    slightly    sigmoid(-0.5 p(x) - 1.5)              a little less often where p is large
    hard first  0.5 sigmoid(-0.5 logit p(x))

In most real tables the larger class is positive, so that about 20 labels or more are expected. Balanced accuracy, F1
and AUC on the quarter, of the tables for which all schemes are done. Rows of results go to a file, and a run that was
stopped goes on where it was.

The tables of the LIBSVM collection are read from UNLABELED_DATA_HOME, or downloaded.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier, TwoClusters
from unlabeled.bias import ScarTest
from unlabeled.datasets import load_libsvm
from unlabeled.datasets.labelling import posteriors
from unlabeled.deciding.thresholds import place_threshold
from unlabeled.results import ResultsFile, row_key

SCHEMES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "at random": lambda p: np.full(len(p), 0.1),
    "easy first": lambda p: 0.1 * p,
    "slightly": lambda p: expit(-0.5 * p - 1.5),
    "hard first": lambda p: 0.5 * expit(-0.5 * logit(p)),
}
#: Names of tables with the target that is positive.
LIBSVM = {"australian": 0, "diabetes": 1, "breast-cancer": 0}
TABLES = (*LIBSVM, "wisconsin", "digits", "skin", "gaussians", "moons")
N_MADE = 1500
CEILINGS = ("all labels", "logistic, all labels")
Answers = dict[str, tuple[np.ndarray, np.ndarray]]


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, true classes and p(x)."""
    X, y = _rows(name)
    return X, y, posteriors(X, y)


def _rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    if name in LIBSVM:
        loaded = load_libsvm(f"{name}_scale")
        return np.asarray(loaded.data, dtype=np.float64), np.asarray(loaded.target == LIBSVM[name])
    if name == "skin":
        loaded = load_libsvm("skin_nonskin")
        some = rng.choice(len(loaded.target), N_MADE, replace=False)
        return np.asarray(loaded.data[some], dtype=np.float64), np.asarray(loaded.target[some] == 1)
    if name == "wisconsin":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y == 1
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y % 2 == 0
    if name == "moons":
        X, y = make_moons(N_MADE, noise=0.2, random_state=0)
        return X, y == 1
    truth = rng.uniform(size=N_MADE) < 0.4
    return rng.normal(size=(N_MADE, 4)) + 2.5 * truth[:, None] * np.array([1, 0.5, 0, 0]), truth


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def by_scores(model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = model.decision_function(X)
    return scores > 0, scores


def learned(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Answers:
    """What each method says of new rows."""
    how = {"scenario": "single-sample"}
    default = PUClassifier(**how, n_jobs=1).fit(X, y)
    scores = default.score_samples(new)
    cut = place_threshold(TwoClusters(), default.honest_scores_, default.prior_, default.calibration_)
    em = PropensityEMClassifier(max_iter=100, tol=1e-3, **how).fit(X, y)
    weighted = PropensityWMMDClassifier(em, random_state=0, n_jobs=1, **how).fit(X, y)
    return {
        "default": (scores > default.threshold_, scores),
        "two clusters": (scores > cut, scores),
        "EM": by_scores(em, new),
        "weighted WMMD, e by EM": by_scores(weighted, new),
        "logistic on labels": by_scores(logistic().fit(X, y), new),
    }


def ceilings(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Answers:
    """The default and a logistic regression with all labels."""
    default = PUClassifier(float(y.mean()), scenario="single-sample", n_jobs=1).fit(X, y)
    return dict(zip(CEILINGS, (by_scores(default, new), by_scores(logistic().fit(X, y), new)), strict=True))


def measures(truth: np.ndarray, answers: Answers) -> dict[str, dict[str, float]]:
    return {
        name: {
            "balanced accuracy": float(balanced_accuracy_score(truth, said)),
            "F1": float(f1_score(truth, said)),
            "AUC": float(roc_auc_score(truth, scores)),
        }
        for name, (said, scores) in answers.items()
    }


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    for draw in range(options.draws):
        for name in options.tables:
            for scheme in (*SCHEMES, "all labels"):
                yield name, scheme, draw


def cell(name: str, scheme: str, draw: int) -> dict[str, Any]:
    X, truth, p = table(name)
    train, test = train_test_split(np.arange(len(truth)), test_size=0.25, stratify=truth, random_state=draw)
    if scheme == "all labels":
        return {"metrics": measures(truth[test], ceilings(X[train], truth[train], X[test]))}
    rng = np.random.RandomState([draw, *map(ord, scheme)])
    labels = truth[train] & (rng.uniform(size=len(train)) < SCHEMES[scheme](p[train]))
    scar = ScarTest(float(truth.mean()), scenario="single-sample", n_simulated=999, n_jobs=1).fit(X[train], labels)
    found = measures(truth[test], learned(X[train], labels, X[test]))
    return {"metrics": found, "n_labels": int(labels.sum()), "p_value": scar.p_value_}


def run(options: argparse.Namespace, results: ResultsFile) -> None:
    results.refresh()
    for name, scheme, draw in cells(options):
        row = {"experiment": "bias", "dataset": name, "method": "all", "setting": {"scheme": scheme}, "draw": draw}
        if row_key(row) in results:
            continue
        start = time.perf_counter()
        row |= cell(name, scheme, draw)
        results.append(row | {"seconds": round(time.perf_counter() - start, 2)})


def tell(results: ResultsFile) -> None:
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    counts: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in results.rows():
        name, scheme = row["dataset"], row["setting"]["scheme"]
        counts[name, scheme].append(row)
        for method, values in row["metrics"].items():
            for measure, value in values.items():
                found[measure, method, f"{name}|{scheme}"].append(value)
    everything = (*SCHEMES, "all labels")
    names = [name for name in TABLES if all((name, scheme) in counts for scheme in everything)]
    print("draws:", {name: len(counts[name, "at random"]) for name in names})
    for scheme in SCHEMES:
        labels = {n: round(float(np.mean([row["n_labels"] for row in counts[n, scheme]])), 1) for n in names}
        rejected = {n: round(float(np.mean([row["p_value"] <= 0.05 for row in counts[n, scheme]])), 2) for n in names}
        print(f"{scheme}: labels {labels}; rejected by ScarTest at the true prior {rejected}")
    for measure in ("balanced accuracy", "F1", "AUC"):
        _tell_measure(measure, found, names)


def _tell_measure(measure: str, found: dict[tuple[str, str, str], list[float]], names: list[str]) -> None:
    print(f"\n{measure}\n")
    print("| labels | method |", " | ".join(names), "| mean |")
    print("|---|---|", "---|" * (len(names) + 1))
    for scheme in (*SCHEMES, "all labels"):
        methods = dict.fromkeys(m for kind, m, where in found if kind == measure and where.endswith(f"|{scheme}"))
        for method in methods:
            means = [float(np.mean(found[measure, method, f"{name}|{scheme}"])) for name in names]
            shown = " | ".join(f"{value:.3f}" for value in [*means, float(np.mean(means))])
            print(f"| {scheme} | {method} | {shown} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--out", default="bias.jsonl")
    options = parser.parse_args()
    results = ResultsFile(options.out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(options, results)
    tell(results)


if __name__ == "__main__":
    main()
