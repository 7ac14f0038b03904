"""The WMMD column of the paper's Tables 3 and 4 on its seven small data sets, beside the paper's own numbers.

    UNLABELED_DATA_HOME=folder python benchmarks/small_sets.py [--draws 100]

The folder holds the LIBSVM files heart_scale, sonar_scale, australian_scale, breast-cancer_scale and diabetes_scale.
Protocol of the paper: hold-out selection, the classifier keeps the 80 %. Rows are those that store as many values as
the first row of the file, read by position, which gives the sizes of the paper's Table 2.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import roc_auc_score

from unlabeled import WMMDClassifier


@dataclass(frozen=True)
class DataSet:
    """Sizes of the paper's Table 2, and WMMD in its Tables 3 and 4 (accuracy and AUC, prior known and unknown)."""

    file: str
    positive_label: int
    n_positive: int
    n_unlabeled: int
    n_test: int
    prior: float
    paper: tuple[float, float, float, float]


DATA_SETS = {
    "heart_scale": DataSet("heart_scale", 1, 10, 60, 60, 0.62, (71.6, 79.0, 70.5, 77.1)),
    "sonar_scale": DataSet("sonar_scale", 1, 10, 100, 100, 0.47, (62.4, 68.9, 54.3, 69.7)),
    "australian_scale": DataSet("australian_scale", 1, 20, 220, 220, 0.51, (84.2, 90.4, 79.4, 90.3)),
    "australian_scale2": DataSet("australian_scale", 1, 10, 130, 130, 0.15, (86.2, 88.6, 80.2, 93.3)),
    "breast-cancer_scale": DataSet("breast-cancer_scale", 1, 20, 340, 340, 0.35, (89.3, 99.5, 93.0, 99.5)),
    "breast-cancer_scale2": DataSet("breast-cancer_scale", -1, 40, 340, 340, 0.65, (94.2, 98.7, 92.6, 99.0)),
    "diabetes_scale": DataSet("diabetes_scale", 1, 50, 380, 370, 0.65, (66.4, 74.5, 65.1, 75.9)),
}


def load(folder: Path, data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    """Rows as the paper had them, and which are positive."""
    X, labels = load_svmlight_file(str(folder / data_set.file))
    counts = np.diff(X.indptr)
    kept = counts == counts[0]
    return X[kept].data.reshape(kept.sum(), counts[0]), labels[kept] == data_set.positive_label


def draw(is_positive: np.ndarray, sizes: DataSet, rng: np.random.RandomState) -> tuple[np.ndarray, ...]:
    """Indices of P, U and the test sample: U and test disjoint, P outside both while enough positives remain."""
    positives, negatives = (rng.permutation(np.flatnonzero(rows)) for rows in (is_positive, ~is_positive))
    of_u, of_test = round(sizes.prior * sizes.n_unlabeled), round(sizes.prior * sizes.n_test)
    n_negative = sizes.n_test - of_test
    test = np.r_[positives[:of_test], negatives[:n_negative]]
    unlabeled = np.r_[positives[of_test:][:of_u], negatives[n_negative:][: sizes.n_unlabeled - of_u]]
    left = positives[of_test + of_u :]
    if len(left) < sizes.n_positive:
        left = rng.permutation(positives[of_test:])
    return left[: sizes.n_positive], unlabeled, test


def accuracies(X: np.ndarray, is_positive: np.ndarray, sizes: DataSet, seed: int) -> list[float]:
    """Accuracy and AUC of one draw, prior known and unknown."""
    positive, unlabeled, test = draw(is_positive, sizes, np.random.RandomState(seed))
    rows, y = np.r_[positive, unlabeled], np.repeat([1, 0], [len(positive), len(unlabeled)])
    found = []
    for prior in (sizes.prior, "density"):
        model = WMMDClassifier(prior=prior, selection="holdout", random_state=seed).fit(X[rows], y)
        hits = (model.predict(X[test]) == 1) == is_positive[test]
        found += [100 * hits.mean(), 100 * roc_auc_score(is_positive[test], model.score_samples(X[test]))]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    n_draws = parser.parse_args().draws
    folder = os.environ.get("UNLABELED_DATA_HOME")
    if not folder:
        raise SystemExit("Set UNLABELED_DATA_HOME to a folder with the LIBSVM files named in this script's docstring.")
    warnings.filterwarnings("ignore", "The density-based prior came out as 1")
    print(f"Mean (standard error) over {n_draws} draws, and the paper's value; accuracy and AUC in %.\n")
    print(f"{'':22}{'accuracy, prior known':>22}{'AUC':>18}{'accuracy, unknown':>24}{'AUC':>18}")
    for name, sizes in DATA_SETS.items():
        X, is_positive = load(Path(folder), sizes)
        rows = np.array([accuracies(X, is_positive, sizes, seed) for seed in range(n_draws)])
        errors = rows.std(axis=0, ddof=1) / np.sqrt(n_draws)
        cells = zip(rows.mean(axis=0), errors, sizes.paper, strict=True)
        print(
            f"{name:22}" + "".join(f"{mean:>10.1f} ({error:.1f}) {paper:>5.1f}" for mean, error, paper in cells),
            flush=True,
        )


if __name__ == "__main__":
    main()
