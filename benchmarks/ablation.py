"""What each piece of the defaults buys: from the paper's configuration to ours, one step at a time.

    python benchmarks/ablation.py [--draws 20] [--sets heart_scale,gaussians-0.2] [--steps smoothing,ratio]
                                  [--out ablation.jsonl]

LIBSVM files are read from UNLABELED_DATA_HOME, else downloaded. Rows of results go to a file, draw by draw, and a run
that was stopped goes on where it was. Prints two tables in Markdown: accuracy / AUC in
percent with the prior known, and with it unknown; and one of calibration errors (15 bins of equal mass). Sets marked
``*`` are those that the defaults were chosen on.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from resumable import filled, wanted
from sklearn.metrics import roc_auc_score

from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.datasets import PUData, make_gaussians, make_two_moons, paper_dataset
from unlabeled.experiments.calibration import calibration_error
from unlabeled.results import Row

Make = Callable[[float], Any]

#: Prior known. Each line keeps what the lines above it changed.
KNOWN: dict[str, Make] = {
    "paper": lambda prior: WMMDClassifier.paper(prior, random_state=0),
    "+ leave-one-out": lambda prior: WMMDClassifier.paper(prior, selection="loo"),
    "+ units and grid": lambda prior: WMMDClassifier(prior, criterion="risk", threshold="bayes", calibration="ratio"),
    "+ likelihood": lambda prior: WMMDClassifier(prior, threshold="bayes", calibration="ratio"),
    "+ prevalence threshold": lambda prior: WMMDClassifier(prior, threshold="prevalence", smoothing=0),
    "calibrated threshold instead": lambda prior: WMMDClassifier(prior, smoothing=0),
    "+ smoothing (`WMMDClassifier`)": WMMDClassifier,
    "+ learned score": lambda prior: PUClassifier(prior, parts={"least-squares": "drop"}),
    "+ fitted ratio (`PUClassifier`)": PUClassifier,
}
#: Prior unknown: the paper's configuration, then ours with other estimates of the prior.
UNKNOWN: dict[str, Make] = {
    "paper": lambda _: WMMDClassifier.paper(random_state=0),
    "ours plain, density": lambda _: WMMDClassifier("density", smoothing=0),
    "ours plain, best-bin": lambda _: WMMDClassifier("best-bin", smoothing=0),
    "ours plain, auto, prevalence threshold": lambda _: WMMDClassifier(threshold="prevalence", smoothing=0),
    "ours plain, auto": lambda _: WMMDClassifier(smoothing=0),
    "+ smoothing (`WMMDClassifier`)": lambda _: WMMDClassifier(),
    "+ learned score": lambda _: PUClassifier(parts={"least-squares": "drop"}),
    "+ fitted ratio (`PUClassifier`)": lambda _: PUClassifier(),
}
DEVELOPMENT = ("heart_scale", "breast-cancer_scale2")
HELD_OUT = ("sonar_scale", "australian_scale", "australian_scale2", "breast-cancer_scale", "diabetes_scale")


@cache
def synthetic() -> dict[str, tuple[float, Callable[[int], PUData]]]:
    """Synthetic families with their prior and a way to draw them."""
    found: dict[str, tuple[float, Callable[[int], PUData]]] = {}
    for prior in (0.2, 0.5, 0.8):
        found[f"gaussians-{prior}"] = (prior, partial(_draw, make_gaussians, 1000, 4000, prior))
        found[f"moons-{prior}"] = (prior, partial(_draw, make_two_moons, 50, 500, prior))
    return found


def _draw(make: Callable[..., PUData], n_positive: int, n_unlabeled: int, prior: float, seed: int) -> PUData:
    return make(n_positive, n_unlabeled, 5000, prior=prior, random_state=seed)


@cache
def real(name: str) -> tuple[float, Callable[[int], PUData]]:
    data_set = paper_dataset(name)
    return data_set.prior, data_set.draw


def measure(model: Any, data: PUData) -> dict[str, float]:
    """Accuracy, AUC, calibration error and prior, in percent."""
    model.fit(data.X, data.y)
    decision, probability = model.decision_function(data.test), model.predict_proba(data.test)[:, 1]
    found = {
        "accuracy": np.mean((decision > 0) == data.test_truth),
        "auc": roc_auc_score(data.test_truth, decision),
        "ece": calibration_error(probability, data.test_truth),
        "prior": model.prior_,
    }
    return {name: 100 * float(value) for name, value in found.items()}


def run(row: Row) -> dict[str, float]:
    """Fit one step to one draw of a set."""
    prior, draw = synthetic()[row["dataset"]] if row["dataset"] in synthetic() else real(row["dataset"])
    ladder = KNOWN if row["setting"]["prior"] == "known" else UNKNOWN
    return measure(ladder[row["method"]](prior), draw(row["draw"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", default="")
    parser.add_argument("--steps", default="", help="only those whose name holds one of these words")
    parser.add_argument("--out", default="ablation.jsonl")
    options = parser.parse_args()
    names = options.sets.split(",") if options.sets else [*DEVELOPMENT, *synthetic(), *HELD_OUT]
    ladders = {"known": KNOWN, "unknown": UNKNOWN}
    ladders = {title: _some(ladder, options.steps.split(",")) for title, ladder in ladders.items()}
    rows = [
        wanted("ablation", name, step, {"prior": title}, draw)
        for draw in range(options.draws)
        for name in names
        for title, ladder in ladders.items()
        for step in ladder
    ]
    warnings.simplefilter("ignore")
    found: dict[tuple[str, ...], list[dict[str, float]]] = defaultdict(list)
    for row in filled(options.out, rows, run):
        found[row["dataset"], row["setting"]["prior"], row["method"]].append(row["metrics"])
    means = {key: {name: np.mean([one[name] for one in of_key]) for name in of_key[0]} for key, of_key in found.items()}
    for title, ladder in ladders.items():
        print(f"\nAccuracy / AUC, prior {title}; {options.draws} draws\n")
        print_table(names, list(ladder), lambda n, s, t=title: "{accuracy:.1f} / {auc:.1f}".format(**means[n, t, s]))
        print(f"\nCalibration error, prior {title}\n")
        print_table(names, list(ladder), lambda n, s, t=title: "{ece:.1f}".format(**means[n, t, s]))


def _some(ladder: dict[str, Make], words: list[str]) -> dict[str, Make]:
    return {step: make for step, make in ladder.items() if any(word in step for word in words)}


def print_table(names: list[str], steps: list[str], cell: Callable[[str, str], str]) -> None:
    print("| |" + "|".join(steps) + "|\n|---|" + "---|" * len(steps))
    for name in names:
        mark = "" if name in HELD_OUT else " *"
        print(f"| {name}{mark} |" + "|".join(cell(name, step) for step in steps) + "|")


if __name__ == "__main__":
    main()
