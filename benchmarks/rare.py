"""Few labelled positives of a rare class: average precision beside plain boosted trees, cell by cell.

    UNLABELED_DATA_HOME=folder python benchmarks/rare.py [--draws 4] [--tables fraud eights] [--out rare.jsonl]

5, 10 and 20 labelled rows, 1 to 10 % positives among 1,000 unlabeled rows (500 of the digits), prior unknown. Plain
trees are scikit-learn's, with unlabeled rows taken as negatives. Made-up rules and digits are those of
``development.py``; of skin_nonskin the skin colours are positive. Rows of results go to a file, and a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from development import Table, table_of
from resumable import filled, wanted
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, roc_auc_score

from unlabeled import PUClassifier
from unlabeled.datasets import PUData, draw_pu, paper_dataset
from unlabeled.results import Row

TABLES = ("small-groups", "shifted", "fraud", "eights", "skin")
N_POSITIVE = (5, 10, 20)
PRIORS = (0.01, 0.02, 0.05, 0.1)
#: Unlabeled and test rows; digits are fewer.
SIZES, SIZES_OF_DIGITS = (1000, 4000), (500, 500)
Scores = Callable[[PUData], np.ndarray]


def plain_trees(data: PUData) -> np.ndarray:
    trees = HistGradientBoostingClassifier(random_state=0).fit(data.X, data.y)
    return np.asarray(trees.predict_proba(data.test)[:, 1])


def by_default(data: PUData) -> np.ndarray:
    return np.asarray(PUClassifier().fit(data.X, data.y).decision_function(data.test))


METHODS: dict[str, Scores] = {"trees": plain_trees, "PUClassifier": by_default}


@cache
def rows_and_classes(name: str) -> Table:
    if name != "skin":
        return table_of(name)
    data = paper_dataset("skin_nonskin2", download=False)
    return np.asarray(data.X, dtype=np.float64), data.is_positive


def draw(name: str, n_positive: int, prior: float, seed: int) -> PUData:
    n_unlabeled, n_test = SIZES_OF_DIGITS if name == "eights" else SIZES
    return draw_pu(*rows_and_classes(name), n_positive, n_unlabeled, n_test, prior, random_state=seed)


def run(row: Row) -> dict[str, Any]:
    """Average precision, AUC and accuracy of the sign, in percent."""
    data = draw(row["dataset"], **row["setting"], seed=row["draw"])
    scores = METHODS[row["method"]](data)
    found = {
        "average_precision": average_precision_score(data.test_truth, scores),
        "auc": roc_auc_score(data.test_truth, scores),
        "accuracy": np.mean((scores > 0) == data.test_truth),  # of trees it means nothing
    }
    return {name: 100 * float(value) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--out", default="rare.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = list(product(options.tables, N_POSITIVE, PRIORS))
    rows = [
        wanted("rare", name, method, {"n_positive": n_positive, "prior": prior}, draw)
        for draw in range(options.draws)
        for (name, n_positive, prior), method in product(cells, METHODS)
    ]
    found: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in filled(options.out, rows, run):
        setting = row["setting"]["n_positive"], row["setting"]["prior"]
        found[row["dataset"], *setting, row["method"]].append(row["metrics"]["average_precision"])
    print("Average precision in percent, PUClassifier / plain trees (mean difference, its standard error)\n")
    print("| | labelled |" + "|".join(f"{prior:.0%}" for prior in PRIORS) + "|\n|---|---:|" + "---|" * len(PRIORS))
    for name, n_positive in product(options.tables, N_POSITIVE):
        pairs = [[found[name, n_positive, prior, method] for method in reversed(METHODS)] for prior in PRIORS]
        print(f"| {name} | {n_positive} |" + "|".join(compared(*pair) for pair in pairs) + "|")
    leads = [np.mean(found[*cell, "PUClassifier"]) - np.mean(found[*cell, "trees"]) for cell in cells]
    print(f"\nahead in {sum(lead > 0 for lead in leads)} of {len(cells)} cells, {np.mean(leads):.1f} points on average")


def compared(ours: list[float], theirs: list[float]) -> str:
    differences = np.subtract(ours, theirs)
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    return f"{np.mean(ours):.0f} / {np.mean(theirs):.0f} ({differences.mean():+.0f}, {error:.0f})"


if __name__ == "__main__":
    main()
