"""The main job on two data sets that need no download: two moons, and scikit-learn's breast-cancer table.

python examples/demo.py [FOLDER]    (the picture goes to FOLDER, demo/ by default)
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.datasets import PUData, make_two_moons
from unlabeled.datasets.synthetic import moon_curve

mpl.use("Agg")
import matplotlib.pyplot as plt

BLUE, RED, GREY = "#2a6fbb", "#c8453b", "#9a9a9a"
N_DRAWS = 5


def two_moons() -> tuple[PUData, WMMDClassifier]:
    """Experiment 1 of the paper: 10 labelled positives, 400 unlabeled points, half of them positive."""
    data = make_two_moons(10, 400, 2000, random_state=5)
    start = time.perf_counter()
    model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    seconds = time.perf_counter() - start
    report("Two moons: 10 positives, 400 unlabeled", model, seconds, data.test, data.test_truth)
    accuracies = [two_moons_accuracy(seed) for seed in range(N_DRAWS)]
    print(f"  ten positives may miss half a moon: over {N_DRAWS} draws accuracy {np.mean(accuracies):.3f} on average,")
    print(f"  from {min(accuracies):.3f} to {max(accuracies):.3f}\n")
    return data, model


def two_moons_accuracy(seed: int) -> float:
    """Accuracy of one draw of Experiment 1."""
    data = make_two_moons(10, 400, 2000, random_state=seed)
    model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    return float(np.mean((model.predict(data.test) == 1) == data.test_truth))


def breast_cancer() -> None:
    """A table in which 60 of the malignant tumours are known and nothing is known of the others."""
    X, benign = load_breast_cancer(return_X_y=True)
    X, X_test, malignant, malignant_test = train_test_split(X, benign == 0, test_size=0.3, random_state=0)
    known = np.random.default_rng(0).choice(np.flatnonzero(malignant), 60, replace=False)
    y = np.isin(np.arange(len(X)), known)
    start = time.perf_counter()
    model = PUClassifier(scenario="single-sample").fit(X, y)
    seconds = time.perf_counter() - start
    name = f"Breast cancer: {y.sum()} known malignant, {(~y).sum()} unlabeled, true prior {malignant.mean():.2f}"
    report(name, model, seconds, X_test, malignant_test)
    print(f"  chosen: {model.chosen_}. {model.reason_}")


def report(
    title: str, model: WMMDClassifier | PUClassifier, seconds: float, test: np.ndarray, truth: np.ndarray
) -> None:
    """Print what was fitted and how it does against the truth that the labels hid."""
    accuracy = np.mean((model.predict(test) == model.classes_[1]) == truth)
    auc = roc_auc_score(truth, model.decision_function(test))
    source = "estimated" if isinstance(model.prior, str) else "given"
    print(title)
    print(f"  prior {model.prior_:.3f} ({source}), {seconds:.3f} s to fit")
    print(f"  on {len(truth)} test rows, against the hidden truth: accuracy {accuracy:.3f}, AUC {auc:.3f}")


def draw_boundary(data: PUData, model: WMMDClassifier, path: Path) -> None:
    """The decision boundary, as in Figure 1 of the paper."""
    x, y = np.meshgrid(np.linspace(-6, 10, 321), np.linspace(-4.5, 6.5, 221))
    decision = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    figure, axes = plt.subplots(figsize=(7.2, 5), layout="constrained")
    axes.contourf(x, y, decision > 0, levels=[0.5, 1], colors=[BLUE], alpha=0.10)
    axes.contour(x, y, decision, levels=[0], colors="black", linewidths=1.6)
    for truth, marker in ((True, "+"), (False, "_")):
        rows = data.unlabeled[data.unlabeled_truth == truth]
        axes.scatter(*rows.T, marker=marker, s=26, linewidths=0.9, color=GREY)
    for sign, colour in ((1, BLUE), (-1, RED)):
        axes.plot(*moon_curve(np.linspace(0, 1, 200), sign).T, color=colour, linewidth=2)
    axes.scatter(*data.positive.T, marker="D", s=44, color=BLUE, edgecolor="white", linewidths=0.9, zorder=3)
    handles = [
        plt.Line2D([], [], marker="D", linestyle="", color=BLUE, markeredgecolor="white", label="labelled positive"),
        plt.Line2D([], [], marker="+", linestyle="", color=GREY, label="unlabeled (hidden: positive)"),
        plt.Line2D([], [], marker="_", linestyle="", color=GREY, label="unlabeled (hidden: negative)"),
        plt.Line2D([], [], color=BLUE, linewidth=2, label="true mean of positives"),
        plt.Line2D([], [], color=RED, linewidth=2, label="true mean of negatives"),
        plt.Line2D([], [], color="black", linewidth=1.6, label="decision boundary"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    axes.set(title="WMMD classifier: 10 positives, 400 unlabeled points", aspect="equal", xticks=[], yticks=[])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Fit, report, draw."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    two_moons_accuracy(0)  # loads the compiled code, so that the times below are those of fitting
    data, model = two_moons()
    breast_cancer()
    draw_boundary(data, model, folder / "two_moons.png")
    print(f"\nThe decision boundary of the two moons is drawn in {folder / 'two_moons.png'}")


if __name__ == "__main__":
    main()
