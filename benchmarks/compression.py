"""What compression for prediction costs and saves: rows, time, accuracy, AUC, and the change of the log ratio.

    python benchmarks/compression.py [--datasets skin HIGGS shuttle-like] [--targets copies 0.1 5000]

skin and HIGGS are read from UNLABELED_DATA_HOME (see docs/reproduction); HIGGS as far as its rows are at hand.
"shuttle-like" is made: whole-number readings of a few regimes, most rows in one of them, a million rows with many
copies. The change is measured at test rows, which took no part in anything; beside it what the model states.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import WMMDClassifier
from unlabeled.datasets import paper_dataset

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
TARGETS = ("copies", 1.0, 0.1, 20_000, 5_000)
N_TEST, N_POSITIVE = 5_000, 1_000


def split(X: np.ndarray, is_positive: np.ndarray, seed: int = 0) -> Data:
    """Labelled positives, all other rows but the test rows as the population, and the test rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    test, rest = order[:N_TEST], order[N_TEST:]
    labelled = rng.choice(rest[is_positive[rest]], N_POSITIVE, replace=False)
    y = np.r_[np.ones(N_POSITIVE, dtype=int), np.zeros(len(rest), dtype=int)]
    return np.vstack([X[labelled], X[rest]]), y, X[test], is_positive[test]


def skin() -> Data:
    data = paper_dataset("skin_nonskin", download=False)
    return split(data.X, data.is_positive)


def higgs() -> Data:
    draw = paper_dataset("HIGGS", download=False).draw(0)
    return draw.X, draw.y, draw.test, draw.test_truth


def shuttle_like(n: int = 1_000_000) -> Data:
    rng = np.random.default_rng(0)
    regime = rng.choice(5, n, p=[0.78, 0.15, 0.05, 0.015, 0.005])
    centres, widths = rng.normal(0, 12, (5, 9)), rng.uniform(1, 5, (5, 9))
    return split(np.round(centres[regime] + widths[regime] * rng.standard_normal((n, 9))), regime != 0)


DATASETS = {"skin": skin, "HIGGS": higgs, "shuttle-like": shuttle_like}


def timed(model: WMMDClassifier, rows: np.ndarray) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    return model.decision_function(rows), time.perf_counter() - start


def report(name: str, targets: list[Any]) -> None:
    X, y, test, truth = DATASETS[name]()
    start = time.perf_counter()
    model = WMMDClassifier(prior=float(np.mean(truth)), random_state=0).fit(X, y)
    fit_seconds = time.perf_counter() - start
    expected, seconds = timed(model, test)
    print(
        f"\n{name}: {len(X):,} rows of {X.shape[1]} features, gamma {model.gamma_:.3g}, fitted in {fit_seconds:.1f} s"
    )
    head = (
        "target",
        "kernels",
        "score s",
        "accuracy",
        "AUC",
        "stated largest",
        "seen largest",
        "stated mean",
        "seen mean",
    )
    print("".join(f"{word:>15}" for word in (*head, "compress s")))

    def line(target: Any, n_rows: int, scores: np.ndarray, seconds: float, *changes: float) -> None:
        cells = f"{np.mean((scores > 0) == truth):.4f}", f"{roc_auc_score(truth, scores):.4f}"
        words = [str(target), f"{n_rows:,}", f"{seconds:.3f}", *cells, *(f"{change:.3g}" for change in changes)]
        print("".join(f"{word:>15}" for word in words), flush=True)

    n_before = model.compressed("copies").compression_.n_rows_before
    line("all", n_before, expected, seconds, 0, 0, 0, 0, 0)
    for target in targets:
        start = time.perf_counter()
        try:
            small = model.compressed(target)
        except ValueError as error:
            print(f"{target!s:>15}  {error}")
            continue
        taken, stated = time.perf_counter() - start, small.compression_
        scores, seconds = timed(small, test)
        change = np.abs(scores - expected)
        changes = stated.largest_change, change.max(), stated.mean_change, change.mean()
        line(target, stated.n_rows, scores, seconds, *changes, taken)


def as_target(word: str) -> Any:
    return word if word == "copies" else float(word) if "." in word else int(word)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--targets", nargs="+", type=as_target, default=TARGETS)
    args = parser.parse_args()
    for name in args.datasets:
        report(name, args.targets)


if __name__ == "__main__":
    main()
