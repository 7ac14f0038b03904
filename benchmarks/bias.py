"""What biased labels do to classifiers, and what mends it: the tables of ``docs/bias.md``.

    python benchmarks/bias.py [--draws 20] [--tables australian ...] [--out bias.jsonl]

One sample of each table, 75 % to learn from and 25 % to judge by. p(x) is a logistic regression's P(y = 1 | x) from the
true classes of the whole table, and positives are labelled with a chance of

    at random   0.1
    easy first  0.1 p(x)
    slightly    sigmoid(-0.5 p(x) - 1.5)              a little less often where p is large
    hard first  0.5 sigmoid(-0.5 logit p(x))
    by a column `LogisticIn([0], [2.0], 0.1)`         more often where the first column is large

Only where 20 labels or more are expected; in most real tables the larger class is positive, so that it is so. Balanced
accuracy, F1 and AUC on the quarter, of the tables for which all labels are done, and how far the means are below the
same classifier with all labels. Rows of results go to a file, and a run that was
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
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import Balanced, PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier, TwoClusters
from unlabeled.bias import ScarTest
from unlabeled.datasets import LogisticIn, load_libsvm
from unlabeled.datasets.labelling import posteriors
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.thresholds import place_threshold
from unlabeled.results import ResultsFile, row_key

SCHEMES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "at random": lambda p: np.full(len(p), 0.1),
    "easy first": lambda p: 0.1 * p,
    "slightly": lambda p: expit(-0.5 * p - 1.5),
    "hard first": lambda p: 0.5 * expit(-0.5 * logit(p)),
}
BY_COLUMN, COLUMN = "by a column", 0
FEWEST_LABELS = 20
TRAINING_SHARE = 0.75
#: Names of tables with the target that is positive.
LIBSVM = {"australian": 0, "diabetes": 1, "breast-cancer": 0}
TABLES = (*LIBSVM, "wisconsin", "digits", "skin", "gaussians", "moons")
N_MADE = 1500
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


def propensities(name: str, scheme: str) -> np.ndarray:
    """e(x) of every row of a table; 0 for negatives."""
    X, truth, p = table(name)
    e = np.zeros(len(truth))
    by_column = LogisticIn([COLUMN], [2.0], 0.1)
    e[truth] = by_column.propensities(X, truth) if scheme == BY_COLUMN else SCHEMES[scheme](p[truth])
    return e


def by_cuts(model: Any, new: np.ndarray, prior: float) -> Answers:
    """One ranking and several thresholds; one of them for people who know the prior."""
    scores, honest = model.score_samples(new), model.honest_scores_
    found = calibrate(honest, model.prior_)
    cuts = {
        "default": model.threshold_,
        "two clusters": place_threshold(TwoClusters(), honest, model.prior_, found),
        "balanced": place_threshold(Balanced(), honest, model.prior_, found),
        "balanced, half by clusters": place_threshold(Balanced(clusters=0.5), honest, model.prior_, found),
        "balanced, prior known": place_threshold(Balanced(), honest, prior, calibrate(honest, prior)),
    }
    return {name: (scores > cut, scores) for name, cut in cuts.items()}


def learned(X: np.ndarray, y: np.ndarray, new: np.ndarray, prior: float, e: np.ndarray, scheme: str) -> Answers:
    """What each method says of new rows; ``e`` are the propensities of the labelled rows."""
    how: dict[str, Any] = {"scenario": "single-sample"}
    em = PropensityEMClassifier(max_iter=100, tol=1e-3, **how)
    weighted = PropensityWMMDClassifier(random_state=0, n_jobs=1, **how)

    def by_propensities(columns: list[int] | None, words: str) -> Answers:
        fitted = clone(em).set_params(columns=columns).fit(X, y)
        by_them = clone(weighted).set_params(propensity=fitted).fit(X, y)
        return {f"EM{words}": by_scores(fitted, new), f"weighted WMMD, e by EM{words}": by_scores(by_them, new)}

    return {
        **by_cuts(PUClassifier(**how, n_jobs=1).fit(X, y), new, prior),
        **by_propensities(None, ""),
        **(by_propensities([COLUMN], ", that column") if scheme == BY_COLUMN else {}),
        "weighted WMMD, e known": by_scores(clone(weighted).set_params(propensity=lambda _: e).fit(X, y), new),
        "logistic on labels": by_scores(logistic().fit(X, y), new),
    }


def ceilings(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Answers:
    """The default and a logistic regression with all labels."""
    default = PUClassifier(float(y.mean()), scenario="single-sample", n_jobs=1).fit(X, y)
    answers = by_cuts(default, new, float(y.mean()))
    return {
        "all labels": answers["default"],
        "all labels, balanced": answers["balanced"],
        "logistic, all labels": by_scores(logistic().fit(X, y), new),
    }


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
            for scheme in (*SCHEMES, BY_COLUMN, "all labels"):
                if scheme == "all labels" or TRAINING_SHARE * propensities(name, scheme).sum() >= FEWEST_LABELS:
                    yield name, scheme, draw


def cell(name: str, scheme: str, draw: int) -> dict[str, Any]:
    X, truth, _ = table(name)
    how: dict[str, Any] = {"test_size": 1 - TRAINING_SHARE, "stratify": truth, "random_state": draw}
    train, test = train_test_split(np.arange(len(truth)), **how)
    if scheme == "all labels":
        return {"metrics": measures(truth[test], ceilings(X[train], truth[train], X[test]))}
    rng = np.random.RandomState([draw, *map(ord, scheme)])
    e = propensities(name, scheme)[train]
    labels = truth[train] & (rng.uniform(size=len(train)) < e)
    scar = ScarTest(float(truth.mean()), scenario="single-sample", n_simulated=999, n_jobs=1).fit(X[train], labels)
    answers = learned(X[train], labels, X[test], float(truth[train].mean()), e[labels], scheme)
    found = measures(truth[test], answers)
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
    rows = defaultdict(list)
    for row in results.rows():
        rows[row["dataset"], row["setting"]["scheme"]].append(row)
    names = [name for name in TABLES if (name, "all labels") in rows]
    print("draws:", {name: len(rows[name, "all labels"]) for name in names})
    for scheme in (*SCHEMES, BY_COLUMN):
        here = [name for name in names if (name, scheme) in rows]
        labels = {n: round(float(np.mean([row["n_labels"] for row in rows[n, scheme]])), 1) for n in here}
        rejected = {n: round(float(np.mean([row["p_value"] <= 0.05 for row in rows[n, scheme]])), 2) for n in here}
        print(f"{scheme}: labels {labels}; rejected by ScarTest at the true prior {rejected}")
    for measure in ("balanced accuracy", "F1", "AUC"):
        _tell_measure(measure, rows, names)


def _tell_measure(measure: str, rows: dict[tuple[str, str], list[Any]], names: list[str]) -> None:
    """A table of means; how far below the ceiling is of the same tables."""
    print(f"\n{measure}\n")
    print("| labels | method |", " | ".join(names), "| mean | below |")
    print("|---|---|" + "---|" * (len(names) + 2))
    ceiling = {n: np.mean([row["metrics"]["all labels"][measure] for row in rows[n, "all labels"]]) for n in names}
    for scheme in (*SCHEMES, BY_COLUMN, "all labels"):
        here = [name for name in names if rows.get((name, scheme))]
        for method in rows[here[0], scheme][0]["metrics"] if here else ():
            means = {n: np.mean([row["metrics"][method][measure] for row in rows[n, scheme]]) for n in here}
            shown = " | ".join(f"{means[name]:.3f}" if name in means else "" for name in names)
            mean = np.mean(list(means.values()))
            below = np.mean([ceiling[name] for name in here]) - mean
            print(f"| {scheme} | {method} | {shown} | {mean:.3f} | {below:.3f} |")


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
