"""The tables that the parts of `PUClassifier`, their shares and the prior were chosen on.

    UNLABELED_DATA_HOME=folder python benchmarks/development.py [--draws 4] [--tables hastie fraud-20-0.05] [--small]

For each table, means over the draws: accuracy with the prior known and unknown, AUC, average precision, and the error
of the estimated prior; of distances and learned score alone (two parts) and of all three. ``--small`` leaves out skin,
HIGGS and the tables with 1,000 positives. Data sets that are not at hand are left out, and said to be.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics import average_precision_score, roc_auc_score
from unseen import FAMILIES

from unlabeled import PUClassifier
from unlabeled.datasets import PUData, draw_pu, paper_dataset

N_ROWS = 40_000
PRIORS = (0.05, 0.25, 0.5, 0.75, 0.95)
PAPER = (
    *("heart_scale", "sonar_scale", "australian_scale", "australian_scale2"),
    *("breast-cancer_scale", "breast-cancer_scale2", "diabetes_scale"),
)
#: Of large data sets so many unlabeled and test rows.
LARGE = {"skin_nonskin": (5000, 5000), "skin_nonskin2": (5000, 5000), "HIGGS": (5000, 3000)}
METHODS: dict[str, Callable[[Any], PUClassifier]] = {
    "two parts": lambda prior: PUClassifier(prior, parts={"least-squares": "drop"}),
    "three parts": PUClassifier,
}
Table = tuple[np.ndarray, np.ndarray]


def clusters() -> Table:
    X, y = make_classification(
        N_ROWS // 2, 20, n_informative=6, n_redundant=4, n_clusters_per_class=3, class_sep=1.0, random_state=1
    )
    return X, y == 1


def clear_clusters() -> Table:
    X, y = make_classification(
        N_ROWS // 2, 10, n_informative=5, n_redundant=2, n_clusters_per_class=2, class_sep=2.0, random_state=2
    )
    return X, y == 1


def shell() -> Table:
    X = np.random.default_rng(5).normal(size=(N_ROWS // 2, 5))
    radius = np.linalg.norm(X, axis=1)
    return X, (radius > 1.5) & (radius < 2.3)


def codes_and_tails() -> Table:
    rng, n = np.random.default_rng(6), N_ROWS // 2
    X = rng.standard_t(2, size=(n, 12))
    X[:, 6:] = rng.integers(0, 4, size=(n, 6))
    score = X[:, 0] * (X[:, 6] > 1) + np.abs(X[:, 1]) - (X[:, 7] == 2) + 0.5 * rng.normal(size=n)
    return X, score > np.quantile(score, 0.6)


def logistic() -> Table:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(N_ROWS, 8))
    return X, rng.uniform(size=N_ROWS) < 1 / (1 + np.exp(-1.2 * X[:, :4].sum(axis=1)))


def gaussians() -> Table:
    rng = np.random.default_rng(10)
    truth = rng.uniform(size=N_ROWS) < 0.5
    return rng.normal(size=(N_ROWS, 5)) + truth[:, None] * 2.5 / np.sqrt(5), truth


def small_groups() -> Table:
    rng = np.random.default_rng(7)
    truth = rng.uniform(size=N_ROWS) < 0.05
    X = rng.normal(size=(N_ROWS, 10)) @ rng.normal(size=(10, 10)) / 3
    centers, group = 2 * rng.normal(size=(3, 10)), rng.integers(0, 3, N_ROWS)
    return np.where(truth[:, None], 0.4 * X + centers[group], X), truth


def shifted() -> Table:
    rng = np.random.default_rng(8)
    truth = rng.uniform(size=N_ROWS) < 0.05
    X = rng.standard_t(4, size=(N_ROWS, 15))
    X[truth, :4] += 1.2
    X[truth, 4] *= 2.5
    return X, truth


def fraud() -> Table:
    rng, n = np.random.default_rng(11), 60_000
    truth = rng.uniform(size=n) < 0.05
    amount, age = np.exp(rng.normal(3 + 1.0 * truth, 1.0)), np.exp(rng.normal(5 - 1.2 * truth, 1))
    hour = np.where(truth & (rng.uniform(size=n) < 0.6), rng.normal(3, 2, n) % 24, rng.normal(14, 5, n) % 24)
    kind = np.where(truth & (rng.uniform(size=n) < 0.5), 7, rng.integers(0, 10, n))
    return np.c_[amount, hour, kind, age, rng.normal(size=(n, 6))], truth


def scikit_learn(load: Callable[..., Any], *positive: int) -> Table:
    X, y = load(return_X_y=True)
    return X, np.isin(y, positive)


RULES: dict[str, Callable[[], Table]] = {
    "clusters": clusters,
    "clear-clusters": clear_clusters,
    "logistic": logistic,
    "gaussians": gaussians,
    "shell": shell,
    "codes-and-tails": codes_and_tails,
    "small-groups": small_groups,
    "shifted": shifted,
    "fraud": fraud,
    "digits": partial(scikit_learn, load_digits, 0, 1, 2, 3, 4),
    "eights": partial(scikit_learn, load_digits, 8),
    "wine": partial(scikit_learn, load_wine, 0),
    "wisconsin": partial(scikit_learn, load_breast_cancer, 0),
}


@cache
def table_of(rule: str) -> Table:
    return RULES[rule]()


def _made(rule: str, sizes: tuple[int, int, int], prior: float, seed: int) -> PUData:
    n_positive, n_unlabeled, n_test = sizes
    X, truth = table_of(rule)
    counts = {"n_positive": n_positive, "n_unlabeled": n_unlabeled, "n_test": n_test}
    return draw_pu(X, truth, **counts, prior=prior, random_state=seed)


def _of_paper(name: str, seed: int) -> PUData:
    data = paper_dataset(name, layout="indexed" if name == "HIGGS" else "paper", download=False)
    if name in LARGE:
        data = replace(data, n_unlabeled=LARGE[name][0], n_test=LARGE[name][1])
    return data.draw(seed)


def tables(*, small: bool) -> dict[str, Callable[[int], PUData]]:
    """How to draw each table, by name: of made-up ones the rule, the number of positives, and the prior."""
    found: dict[str, Callable[[int], PUData]] = {name: partial(_of_paper, name) for name in PAPER}
    found |= {name: family.draw for name, family in FAMILIES.items()}
    settings = [(rule, (100, 1000, 2000), prior) for rule in list(RULES)[:6] for prior in PRIORS]
    settings += [
        (rule, (n, 1000, 4000), p) for rule in list(RULES)[6:9] for n in (5, 10, 20) for p in (0.02, 0.05, 0.1)
    ]
    settings += [(rule, (50, 3000, 4000), 0.02) for rule in ("fraud", "shifted")]
    settings += [(rule, (20, 500, 2000), prior) for rule, prior in (("codes-and-tails", 0.4), ("clusters", 0.5))]
    settings += [("digits", (60, 600, 600), 0.5), ("digits", (30, 600, 300), 0.3), ("eights", (10, 600, 600), 0.1)]
    settings += [("wine", (12, 80, 60), 0.33), ("wisconsin", (30, 250, 200), 0.37)]
    if not small:
        found |= {name: partial(_of_paper, name) for name in LARGE}
        settings += [(rule, (1000, 5000, 2000), p) for rule in ("clusters", "logistic") for p in (0.05, 0.5, 0.95)]
    made = {f"{rule}-{sizes[0]}-{prior:g}": partial(_made, rule, sizes, prior) for rule, sizes, prior in settings}
    return found | made


def measure(make: Callable[[Any], PUClassifier], data: PUData) -> list[float]:
    """Accuracy with the prior known and unknown, AUC and average precision, in percent; and the prior's error."""
    prior, found = float(np.mean(data.test_truth)), []
    for given in (prior, "auto"):
        model = make(given).fit(data.X, data.y)
        decision = model.decision_function(data.test)
        found.append(100 * float(np.mean((decision > 0) == data.test_truth)))
    area, precision = (f(data.test_truth, decision) for f in (roc_auc_score, average_precision_score))
    return [*found, 100 * float(area), 100 * float(precision), abs(model.prior_ - prior)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    every = tables(small=options.small)
    print("accuracy with the prior known / unknown / AUC / average precision / error of the prior")
    print("| |" + "|".join(METHODS) + "|\n|---|" + "---|" * len(METHODS))
    rows = []
    for name in options.tables or every:
        try:
            draws = [every[name](seed) for seed in range(options.draws)]
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        rows.append([np.mean([measure(make, data) for data in draws], axis=0) for make in METHODS.values()])
        print(f"| {name} |" + "|".join(map(shown, rows[-1])) + "|", flush=True)
    print("| mean |" + "|".join(map(shown, np.mean(rows, axis=0))) + "|")


def shown(values: np.ndarray) -> str:
    return "{:.1f} / {:.1f} / {:.1f} / {:.1f} / {:.3f}".format(*values)


if __name__ == "__main__":
    main()
