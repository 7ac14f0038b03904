r"""What biased labels do to classifiers, and what mends it: the tables of ``docs/bias.md``.

    python benchmarks/bias.py [--draws 20] [--tables australian ...] [--out bias.jsonl]
    python benchmarks/bias.py --methods all --out all.jsonl
    python benchmarks/bias.py --draws 2 --tables digits-high circles classification blobs gaussians-fifth \
        gaussians-tenth --out others.jsonl

One sample of each table, 75 % to learn from and 25 % to judge by. p(x) is a logistic regression's P(y = 1 | x) from the
true classes of the whole table, and positives are labelled with a chance of

    at random   0.1
    easy first  0.1 p(x)
    slightly    sigmoid(-0.5 p(x) - 1.5)              a little less often where p is large
    hard first  0.5 sigmoid(-0.5 logit p(x))
    by a column `LogisticIn([0], [2.0], 0.1)`         more often where the first column is large

Only where 20 labels or more are expected; in most real tables the larger class is positive, so that it is so. Balanced
accuracy, F1 and AUC on the quarter, of the tables for which all labels are done, and how far the means are below the
default with all labels. Several thresholds share one fit. What `choose_classifier` takes, by what is known, is told of
the same rows. With ``--methods all`` also expectation maximisation, with all columns or that one, and logistic
regression on the labels as they are. Rows of results go to a file, and a run that was stopped goes on where it was;
``docs/bias/rows.jsonl.xz`` has those behind the page (``--draws 0 --out docs/bias/rows.jsonl.xz`` shows its tables).

The tables of the LIBSVM collection are read from UNLABELED_DATA_HOME, or downloaded.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_blobs,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import (
    Balanced,
    PropensityEMClassifier,
    PropensityWMMDClassifier,
    PUClassifier,
    TwoClusters,
    WMMDClassifier,
)
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
#: Other tables; in half of them positives are the smaller class.
OTHERS = ("digits-high", "circles", "classification", "blobs", "gaussians-fifth", "gaussians-tenth")
N_MADE = 1500
Answers = dict[str, tuple[np.ndarray, np.ndarray]]

ALL_LABELS = "all positives labelled"
DEFAULT, PLAIN, WEIGHTED, BY_EM = "default", "WMMD", "weighted WMMD, e known", "weighted WMMD, e by EM, that column"
HALF, AT_KNOWN_PRIOR = "Balanced(clusters=0.5)", "Balanced(), prior known"
POLICIES = {"TwoClusters()": TwoClusters(), "Balanced()": Balanced(), HALF: Balanced(clusters=0.5)}


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, true classes and p(x)."""
    X, y = _other_rows(name) if name in OTHERS else _rows(name)
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


def _other_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(1)
    if name == "digits-high":
        X, y = load_digits(return_X_y=True)
        return X, y >= 5
    if name == "circles":
        X, y = make_circles(N_MADE, noise=0.15, factor=0.5, random_state=1)
        return X, y == 1
    if name == "classification":
        X, y = make_classification(N_MADE, 10, n_informative=5, n_redundant=2, class_sep=1.2, random_state=1)
        return X, y == 1
    if name == "blobs":
        X, y = make_blobs(N_MADE, 5, centers=6, cluster_std=3.0, random_state=3)
        return X, y % 3 == 0
    n_rows, prior = (2000, 0.2) if name == "gaussians-fifth" else (3000, 0.1)
    truth = rng.uniform(size=n_rows) < prior
    return rng.normal(size=(n_rows, 4)) + 3 * truth[:, None] * np.array([1, 0.5, 0, 0]), truth


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


def by_cuts(name: str, model: Any, new: np.ndarray, prior: float) -> Answers:
    """One ranking and several thresholds; one of them for people who know the prior."""
    scores, honest = model.score_samples(new), model.honest_scores_
    found = calibrate(honest, model.prior_)
    cuts = {name: model.threshold_}
    for words, policy in POLICIES.items():
        cuts[f"{name}, {words}"] = place_threshold(policy, honest, model.prior_, found)
    known = max(prior, honest.labelled_share)
    cuts[f"{name}, {AT_KNOWN_PRIOR}"] = place_threshold(Balanced(), honest, known, calibrate(honest, known))
    return {words: (scores > cut, scores) for words, cut in cuts.items()}


def learned(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, prior: float, e: np.ndarray, scheme: str, methods: str
) -> Answers:
    """What each method says of new rows; ``e`` are the propensities of the labelled rows."""
    how: dict[str, Any] = {"scenario": "single-sample"}
    em = PropensityEMClassifier(max_iter=100, tol=1e-3, **how)
    weighted = PropensityWMMDClassifier(random_state=0, n_jobs=1, **how)
    answers = {
        **by_cuts(DEFAULT, PUClassifier(**how, n_jobs=1).fit(X, y), new, prior),
        **by_cuts(PLAIN, WMMDClassifier(**how, random_state=0, n_jobs=1).fit(X, y), new, prior),
        **by_cuts(WEIGHTED, clone(weighted).set_params(propensity=lambda _: e).fit(X, y), new, prior),
    }
    if scheme == BY_COLUMN:
        fitted = clone(weighted).set_params(propensity=clone(em).set_params(columns=[COLUMN])).fit(X, y)
        answers |= by_cuts(BY_EM, fitted, new, prior)
        if methods == "all":
            answers["EM, that column"] = by_scores(fitted.propensity_estimator_, new)
    if methods == "all":
        fitted = clone(weighted).set_params(propensity=em).fit(X, y)
        answers["EM, all columns"] = by_scores(fitted.propensity_estimator_, new)
        answers["weighted WMMD, e by EM"] = by_scores(fitted, new)
        answers["logistic on labels"] = by_scores(logistic().fit(X, y), new)
    return answers


def ceilings(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> Answers:
    """The default and a logistic regression with all labels."""
    prior = float(y.mean())
    default = PUClassifier(prior, scenario="single-sample", n_jobs=1).fit(X, y)
    return {**by_cuts(DEFAULT, default, new, prior), "logistic regression": by_scores(logistic().fit(X, y), new)}


def chosen(scheme: str) -> dict[str, str]:
    """What `choose_classifier` takes, by what is known; `tests/test_kept_measurements.py` holds it to that."""
    by_e = f"{DEFAULT}, {HALF}" if scheme == "at random" else f"{WEIGHTED}, {HALF}"  # a number, or a function
    found = {"nothing": f"{DEFAULT}, {HALF}", "the prior": f"{DEFAULT}, {AT_KNOWN_PRIOR}", "e": by_e}
    return found | ({"the column": f"{BY_EM}, {HALF}"} if scheme == BY_COLUMN else {})


def measures(truth: np.ndarray, answers: Answers) -> dict[str, dict[str, float]]:
    return {
        name: {
            "balanced accuracy": round(float(balanced_accuracy_score(truth, said)), 5),
            "F1": round(float(f1_score(truth, said)), 5),
            "AUC": round(float(roc_auc_score(truth, scores)), 5),
        }
        for name, (said, scores) in answers.items()
    }


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    for draw in range(options.draws):
        for name in options.tables:
            for scheme in (*SCHEMES, BY_COLUMN, ALL_LABELS):
                if scheme == ALL_LABELS or TRAINING_SHARE * propensities(name, scheme).sum() >= FEWEST_LABELS:
                    yield name, scheme, draw


def cell(name: str, scheme: str, draw: int, methods: str) -> dict[str, Any]:
    X, truth, _ = table(name)
    how: dict[str, Any] = {"test_size": 1 - TRAINING_SHARE, "stratify": truth, "random_state": draw}
    train, test = train_test_split(np.arange(len(truth)), **how)
    if scheme == ALL_LABELS:
        return {"metrics": measures(truth[test], ceilings(X[train], truth[train], X[test]))}
    rng = np.random.RandomState([draw, *map(ord, scheme)])
    e = propensities(name, scheme)[train]
    labels = truth[train] & (rng.uniform(size=len(train)) < e)
    p_values = [
        ScarTest(prior, scenario="single-sample", n_simulated=999, n_jobs=1).fit(X[train], labels).p_value_
        for prior in (float(truth.mean()), None)
    ]
    answers = learned(X[train], labels, X[test], float(truth[train].mean()), e[labels], scheme, methods)
    found = {"metrics": measures(truth[test], answers), "n_labels": int(labels.sum())}
    return found | {"p_value": p_values[0], "p_value_without_prior": p_values[1]}


def row_of(name: str, scheme: str, draw: int) -> dict[str, Any]:
    return {"experiment": "bias", "dataset": name, "method": "all", "setting": {"scheme": scheme}, "draw": draw}


def run(options: argparse.Namespace, results: ResultsFile) -> None:
    results.refresh()
    for name, scheme, draw in cells(options):
        row = row_of(name, scheme, draw)
        if row_key(row) not in results:
            results.append(row | cell(name, scheme, draw, options.methods))


class Rows:
    """Means of rows of results, by way to label, method and table."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.by_cell: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            self.by_cell[row["setting"]["scheme"], row["dataset"]].append(row)

    def tables(self, scheme: str) -> list[str]:
        """That have rows with these labels, and with all of them."""
        here = (*TABLES, *OTHERS)
        return [name for name in here if (scheme, name) in self.by_cell and (ALL_LABELS, name) in self.by_cell]

    def methods(self, scheme: str) -> list[str]:
        """That were tried with these labels."""
        return list(self.by_cell[scheme, self.tables(scheme)[0]][0]["metrics"])

    def mean(self, scheme: str, method: str, measure: str = "balanced accuracy") -> dict[str, float]:
        """By table."""
        return {
            name: float(np.mean([row["metrics"][method][measure] for row in self.by_cell[scheme, name]]))
            for name in self.tables(scheme)
        }

    def line(self, scheme: str, method: str) -> list[str]:
        """Balanced accuracy by table, its mean, the points below the default with all labels, F1 and AUC."""
        means = self.mean(scheme, method)
        shown = [f"{means[name]:.3f}" if name in means else "" for name in self.tables(ALL_LABELS)]
        overall = [np.mean(list(self.mean(scheme, method, measure).values())) for measure in ("F1", "AUC")]
        ends = [f"{np.mean(list(means.values())):.3f}", f"{self.below(scheme, method):.1f}"]
        return [*shown, *ends, *(f"{value:.3f}" for value in overall)]

    def below(self, scheme: str, method: str) -> float:
        """How many points of balanced accuracy less than the default with all labels, on the same tables."""
        means, ceiling = self.mean(scheme, method), self.mean(ALL_LABELS, DEFAULT)
        return 100 * float(np.mean([ceiling[name] - means[name] for name in means]))

    def told(self, scheme: str, key: str) -> dict[str, Any]:
        """What the rows say beside the measures, by table."""
        return {name: [row[key] for row in self.by_cell[scheme, name]] for name in self.tables(scheme)}


def tell(rows: Rows) -> None:
    schemes = [scheme for scheme in (*SCHEMES, BY_COLUMN) if rows.tables(scheme)]
    print("draws:", {name: len(rows.by_cell[ALL_LABELS, name]) for name in rows.tables(ALL_LABELS)})
    for scheme in schemes:
        labels = {name: round(float(np.mean(found)), 1) for name, found in rows.told(scheme, "n_labels").items()}
        print(f"{scheme}: labels {labels}")
        for key, words in (("p_value", "at the true prior"), ("p_value_without_prior", "without a prior")):
            shares = {n: round(float(np.mean(np.array(p) < 0.05)), 2) for n, p in rows.told(scheme, key).items()}
            print(f"    rejected by ScarTest {words}: {shares}")
    names = rows.tables(ALL_LABELS)
    print("\n| labels | method |", " | ".join(names), "| mean | below | F1 | AUC |")
    print("|---|---|" + "---|" * (len(names) + 4))
    for scheme in (*schemes, ALL_LABELS):
        for method in rows.methods(scheme) if rows.tables(scheme) else ():
            print(f"| {scheme} | {method} |", " | ".join(rows.line(scheme, method)), "|")
    print("\npoints below, by what choose_classifier is told\n")
    for scheme in schemes:
        told = {known: round(rows.below(scheme, method), 1) for known, method in chosen(scheme).items()}
        print(f"{scheme}: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--methods", choices=("thresholds", "all"), default="thresholds")
    parser.add_argument("--tables", nargs="+", choices=(*TABLES, *OTHERS), default=TABLES)
    parser.add_argument("--out", default="bias.jsonl")
    options = parser.parse_args()
    results = ResultsFile(options.out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(options, results)
    tell(Rows(results.rows()))


if __name__ == "__main__":
    main()
