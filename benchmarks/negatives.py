"""What known negatives are worth: the tables of ``docs/negatives.md``.

    python benchmarks/negatives.py [--draws 10] [--classifier pu] [--tables australian ...]
                                   [--numbers 20 150] [--choices random] [--out negatives.jsonl]
    python benchmarks/negatives.py --check [--draws 200]

One sample of each table of ``benchmarks/bias.py``, 75 % to learn from and 25 % to judge by; a tenth of the positives is
labelled, at random, and some negatives are known: a random choice of all, or the easiest, half of them (by a logistic
regression's P(y = 1 | x) from the true classes) of which they are then chosen, with ``negatives_are="selected"`` or
without a word. Balanced accuracy and AUC on the quarter
and the error of the prior, by the number of known negatives; beside it the same classifier on the labelled positives
and those negatives alone. Rows of results go to a file, and a run that was stopped goes on where it was.

``--check`` counts how often the check takes random negatives for selected ones, and how often it finds selected ones.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from bias import table
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.results import ResultsFile, row_key

TABLES = ("australian", "diabetes", "breast-cancer", "wisconsin", "gaussians", "moons")
NUMBERS = (5, 10, 20, 50, 150)
CHOICES = ("random", "easiest", "easiest, said so")
CLASSIFIERS: dict[str, Any] = {"pu": PUClassifier, "wmmd": WMMDClassifier}
LABELLED = 0.1
UNKNOWN, NEGATIVE = 0, -1


def labels(name: str, draw: int, n_negatives: int, choice: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from and rows to judge by, and labels of the former."""
    _, truth, p = table(name)
    train, test = train_test_split(np.arange(len(truth)), test_size=0.25, stratify=truth, random_state=draw)
    rng = np.random.RandomState(draw)
    y = (truth[train] & (rng.uniform(size=len(train)) < LABELLED)).astype(int)
    negatives = rng.permutation(np.flatnonzero(~truth[train]))
    if choice != "random":
        negatives = negatives[p[train][negatives] <= np.median(p[train][negatives])]
    y[negatives[:n_negatives]] = NEGATIVE
    return train, test, y


def cell(name: str, draw: int, n_negatives: int, choice: str, classifier: str) -> dict[str, Any]:
    X, truth, _ = table(name)
    train, test, y = labels(name, draw, n_negatives, choice)
    how = {"scenario": "single-sample", "random_state": 0, "n_jobs": 1}
    said = "selected" if choice == "easiest, said so" else "auto"
    model = CLASSIFIERS[classifier](negative=NEGATIVE, negatives_are=said, **how).fit(X[train], y)
    found = measures(model, X[test], truth[test])
    found["prior's error"] = float(abs(model.prior_ - truth.mean()))
    known = model.known_negatives_
    if known is not None:
        found |= {"eta": known.eta, "weight": known.weight}
        only = y != UNKNOWN
        alone = CLASSIFIERS[classifier](float(np.mean(y[only] == 1)), **how).fit(X[train][only], y[only] == 1)
        found |= {f"{key}, P and N alone": value for key, value in measures(alone, X[test], truth[test]).items()}
    return {"metrics": found}


def measures(model: Any, X: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    decisions = model.decision_function(X)
    return {
        "balanced accuracy": float(balanced_accuracy_score(truth, decisions > 0)),
        "AUC": float(roc_auc_score(truth, decisions)),
    }


def cells(options: argparse.Namespace) -> Iterator[tuple[str, int, int, str]]:
    for draw in range(options.draws):
        for name in options.tables:
            yield name, draw, 0, "random"
            for number in options.numbers:
                for choice in options.choices:
                    yield name, draw, number, choice


def run(options: argparse.Namespace, results: ResultsFile) -> None:
    results.refresh()
    for name, draw, number, choice in cells(options):
        setting = {"negatives": number, "choice": choice}
        row: dict[str, Any] = {
            "experiment": "negatives",
            "dataset": name,
            "method": options.classifier,
            "setting": setting,
            "draw": draw,
        }
        if row_key(row) not in results:
            results.append(row | cell(name, draw, number, choice, options.classifier))


def tell(results: ResultsFile) -> None:
    found: dict[tuple[str, str, int], dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for row in results.rows():
        where = row["method"], row["setting"]["choice"], row["setting"]["negatives"]
        for measure, value in row["metrics"].items():
            found[where][measure].setdefault(row["dataset"], []).append(value)
    for measure in ("balanced accuracy", "AUC", "prior's error", "eta", "weight"):
        tables = list(dict.fromkeys(name for by_measure in found.values() for name in by_measure.get(measure, {})))
        print(f"\n{measure}\n\n| classifier | negatives |", " | ".join(tables), "| mean | P and N alone | draws |")
        print("|---|---|", "---|" * (len(tables) + 3))
        for (classifier, choice, number), by_measure in sorted(found.items(), key=lambda item: item[0]):
            if measure not in by_measure:
                continue
            by_table = by_measure[measure]
            means = {name: float(np.mean(by_table[name])) for name in tables if name in by_table}
            alone = by_measure.get(f"{measure}, P and N alone", {})
            other = f"{np.mean([np.mean(values) for values in alone.values()]):.3f}" if alone else ""
            shown = " | ".join(f"{means[name]:.3f}" if name in means else "" for name in tables)
            overall = float(np.mean(list(means.values())))
            draws = sorted({len(by_table[name]) for name in means})
            print(f"| {classifier} | {number} {choice} | {shown} | {overall:.3f} | {other} | {draws} |")


def check(options: argparse.Namespace) -> None:
    """How often the check takes negatives for selected ones, at the 5 % level."""
    print("| table | negatives | taken for selected |\n|---|---|---|")
    for name in options.tables:
        X = table(name)[0]
        for choice in CHOICES[:2]:
            for number in (20, 50, 150):
                p_values = []
                for draw in range(options.draws):
                    train, _, y = labels(name, draw, number, choice)
                    how = {"scenario": "single-sample", "random_state": 0, "n_jobs": 1, "smoothing": 0}
                    model = WMMDClassifier(negative=NEGATIVE, **how).fit(X[train], y)
                    p_values.append(model.known_negatives_.p_value)
                print(f"| {name} | {number} {choice} | {np.mean(np.array(p_values) < 0.05):.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--classifier", choices=CLASSIFIERS, default="pu")
    parser.add_argument("--numbers", nargs="+", type=int, default=NUMBERS, help="of known negatives, beside none")
    parser.add_argument("--choices", nargs="+", choices=CHOICES, default=CHOICES)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", default="negatives.jsonl")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.check:
            return check(options)
        results = ResultsFile(options.out)
        run(options, results)
    return tell(results)


if __name__ == "__main__":
    main()
