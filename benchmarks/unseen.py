"""Our defaults and the paper's methods on data that no default was chosen on.

    python benchmarks/unseen.py [--draws 10] [--sets hastie,spirals] [--methods wmmd-auto,pu-auto] [--out unseen.jsonl]

Ten tables: eight made up by rules that the development sets do not contain, and two small ones that come with
scikit-learn. Prints accuracy / AUC / average precision in percent, with standard errors, the prior known and unknown;
LOG, DH and NNPU take KM1's prior where it is unknown, WMMD the density-based one, ours "auto". "trees" are boosted
trees that take unlabeled rows as negatives: they rank, and decide nothing. NNPU takes PyTorch. Some of these tables
became development data since; `unseen_again.py` has others. Rows of results go to a file, and a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from resumable import filled, wanted
from sklearn.datasets import (
    load_diabetes,
    load_iris,
    make_blobs,
    make_friedman1,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_swiss_roll,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import LeastSquaresPUClassifier
from unlabeled.datasets import PUData, draw_pu
from unlabeled.experiments.methods import METHODS, PRIOR_ESTIMATORS, Task
from unlabeled.results import Row, read_rows, row_key

N_ROWS = 20_000
TREES = "trees"
LINEAR = "linear"
RATIO = "least-squares"
SHOWN = ("log", "dh", "nnpu", "tadj", "wmmd", TREES, "wmmd-auto", RATIO, "wmmd-score", "pu-auto")


@dataclass(frozen=True)
class Family:
    """A table with its truth, and the sizes drawn from it."""

    make: Callable[[], tuple[np.ndarray, np.ndarray]]
    n_positive: int
    n_unlabeled: int
    n_test: int
    prior: float

    def draw(self, seed: int) -> PUData:
        """One draw of positives, unlabeled rows and test rows."""
        X, truth = self.make()
        sizes = {"n_positive": self.n_positive, "n_unlabeled": self.n_unlabeled, "n_test": self.n_test}
        return draw_pu(X, truth, **sizes, prior=self.prior, random_state=seed)


def hastie() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_hastie_10_2(N_ROWS, random_state=0)
    return X, y > 0


def quantiles() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_gaussian_quantiles(n_samples=N_ROWS, n_features=5, n_classes=2, random_state=0)
    return X, y == 0


def friedman() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(N_ROWS, noise=1.0, random_state=0)
    return X, y > np.median(y)


def swiss_roll() -> tuple[np.ndarray, np.ndarray]:
    X, along = make_swiss_roll(N_ROWS, noise=0.5, random_state=0)
    return X, np.floor(along / 2) % 2 == 0


def checkerboard() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (N_ROWS, 2))
    truth = np.floor(X).sum(axis=1) % 2 == 0
    return X + rng.normal(scale=0.05, size=X.shape), truth


def spirals() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    angle, truth = rng.uniform(0.5, 3.5, N_ROWS) * np.pi, rng.uniform(size=N_ROWS) < 0.5
    turned = angle + np.pi * truth
    return np.c_[angle * np.cos(turned), angle * np.sin(turned)] + rng.normal(scale=0.4, size=(N_ROWS, 2)), truth


def blobs() -> tuple[np.ndarray, np.ndarray]:
    X, blob = make_blobs(N_ROWS, n_features=8, centers=12, cluster_std=4.0, random_state=0)
    return X, blob < 6


def sparse_linear() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 100))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=N_ROWS) > 0


def iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return X, y == 1


def diabetes_progress() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return X, y > np.median(y)


FAMILIES = {
    "hastie": Family(hastie, 100, 500, 2000, 0.5),
    "quantiles": Family(quantiles, 100, 500, 2000, 0.3),
    "friedman": Family(friedman, 50, 400, 2000, 0.5),
    "swiss-roll": Family(swiss_roll, 60, 500, 2000, 0.4),
    "checkerboard": Family(checkerboard, 200, 1000, 2000, 0.5),
    "spirals": Family(spirals, 50, 500, 2000, 0.5),
    "blobs": Family(blobs, 30, 300, 2000, 0.6),
    "sparse-linear": Family(sparse_linear, 100, 500, 2000, 0.4),
    "iris": Family(iris, 10, 60, 60, 0.33),
    "diabetes-progress": Family(diabetes_progress, 30, 180, 180, 0.5),
}


def measure(method: str, prior: float | str, data: PUData, seed: int) -> dict[str, float | None]:
    """Accuracy, AUC and average precision, in percent; what takes unlabeled rows as negatives only ranks."""
    plain: dict[str, Callable[[], Any]] = {
        TREES: lambda: HistGradientBoostingClassifier(random_state=seed),
        LINEAR: lambda: make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    }
    if method in plain:
        model = plain[method]()
    elif method == RATIO:
        model = LeastSquaresPUClassifier(prior)
    else:
        model = METHODS[method](Task(prior, "rbf", seed, len(data.y)))
    decision = model.fit(data.X, data.y).decision_function(data.test)
    hits = None if method in plain else 100 * float(np.mean((decision > 0) == data.test_truth))
    area, precision = (f(data.test_truth, decision) for f in (roc_auc_score, average_precision_score))
    return {"accuracy": hits, "auc": 100 * float(area), "average_precision": 100 * float(precision)}


def cell(rows: list[Row]) -> str:
    """Means over the draws, with the standard error of accuracy."""
    found = {name: [row["metrics"][name] for row in rows] for name in rows[0]["metrics"]}
    hits, shown = found.pop("accuracy"), "-"
    if None not in hits:
        shown = f"{np.mean(hits):.1f} ({np.std(hits) / np.sqrt(max(len(hits) - 1, 1)):.1f})"
    return " / ".join([shown, *(f"{np.mean(values):.1f}" for values in found.values())])


def main(
    families: dict[str, Family],
    description: str | None,
    experiment: str,
    shown: tuple[str, ...] = SHOWN,
    n_draws: int = 10,
) -> None:
    """Print a table of all methods on all tables, with the prior known and unknown."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=n_draws)
    parser.add_argument("--sets", default=",".join(families))
    parser.add_argument("--methods", default=",".join(shown))
    parser.add_argument("--priors", default="known,unknown")
    parser.add_argument("--out", default=f"{experiment}.jsonl")
    options = parser.parse_args()
    methods = options.methods.split(",")
    warnings.simplefilter("ignore")
    data = cache(lambda name, draw: families[name].draw(draw))

    def run(row: Row) -> dict[str, float | None]:
        method, prior = row["method"], families[row["dataset"]].prior
        if row["setting"]["prior"] == "unknown":
            prior = PRIOR_ESTIMATORS.get(method, "auto" if method == RATIO else prior)
        return measure(method, prior, data(row["dataset"], row["draw"]), row["draw"])

    for title in options.priors.split(","):
        print(f"\nPrior {title}; {options.draws} draws\n\n| |" + "|".join(methods) + "|\n|---|" + "---|" * len(methods))
        for name in options.sets.split(","):
            asked = [
                [wanted(experiment, name, method, {"prior": title}, draw) for draw in range(options.draws)]
                for method in methods
            ]
            found = [kept(options.out, rows) or filled(options.out, rows, run) for rows in asked]
            print(f"| {name} |" + "|".join(map(cell, found)) + "|", flush=True)


def kept(path: str, rows: list[Row]) -> list[Row]:
    """These rows of a packed file, with what was measured; none of another."""
    if not path.endswith(".xz"):
        return []
    found = {row_key(row): row for row in read_rows(path)}
    return [found[row_key(row)] for row in rows]


if __name__ == "__main__":
    main(FAMILIES, __doc__, "unseen")
