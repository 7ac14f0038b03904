"""The figures of ``docs/bias.md``: which positives got labelled, and what that does to scores and thresholds.

    python benchmarks/bias_figures.py [--out docs/images]
    python benchmarks/bias_figures.py --power

One figure for each way to label the same table: its rows with the border of the default classifier and of what mends
it, and the honest scores with both thresholds. ``--power``: how often `ScarTest` rejects, by the strength of the bias,
of the rows that ``bias_size.py`` left in ``docs/bias/scar_test.jsonl.xz``.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bias_size
import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from unlabeled import Balanced, PropensityEMClassifier, PropensityWMMDClassifier, WMMDClassifier
from unlabeled.datasets import AtRandom, ByColumn, EasyFirst, HardFirst, LogisticIn
from unlabeled.datasets.labelling import Labelling, posteriors
from unlabeled.results import read_rows

N_ROWS, PRIOR, FREQUENCY = 1200, 0.5, 0.25
FORMULAS = {
    "easy first": "∝ P(y = 1 | x)$^s$",
    "hard first": "∝ sigmoid(-s logit P(y = 1 | x))",
}
HIDDEN, NEGATIVE, LABELLED = "tab:orange", "tab:gray", "tab:red"


@dataclass(frozen=True)
class Scheme:
    """A way to label, what mends it, and what that is called."""

    file: str
    title: str
    labelling: Labelling | Slightly
    mended: Any
    called: str


class Slightly:
    """A little less often where positives are probable: `benchmarks/bias.py` measures it under this name."""

    def propensities(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """P(labelled | x) of each positive."""
        return np.asarray(expit(-0.5 * posteriors(X, y)[y] - 1.5))


HOW = {"scenario": "single-sample"}
HALF = Balanced(clusters=0.5)
SCHEMES = (
    Scheme(
        "bias-at-random",
        "At random",
        AtRandom(FREQUENCY),
        WMMDClassifier(threshold=HALF, **HOW),
        "Balanced(clusters=0.5)",
    ),
    Scheme(
        "bias-easy-first",
        "Easy cases first",
        EasyFirst(FREQUENCY, 6.0),
        WMMDClassifier(threshold=HALF, **HOW),
        "Balanced(clusters=0.5)",
    ),
    Scheme(
        "bias-slightly",
        "Easy cases a little less often",
        Slightly(),
        WMMDClassifier(threshold=HALF, **HOW),
        "Balanced(clusters=0.5)",
    ),
    Scheme(
        "bias-hard-first",
        "Hard cases first",
        HardFirst(FREQUENCY, 1.0),
        WMMDClassifier(threshold=HALF, **HOW),
        "Balanced(clusters=0.5)",
    ),
    Scheme(
        "bias-by-column",
        "By the second column",
        ByColumn(1, FREQUENCY, 4.0),
        PropensityEMClassifier([1], **HOW),
        "EM with column 2",
    ),
    Scheme(
        "bias-logistic",
        "Logistic in both columns",
        LogisticIn([0, 1], [1.0, -2.0], FREQUENCY),
        PropensityWMMDClassifier(PropensityEMClassifier(), threshold=HALF, **HOW),
        "weights by EM",
    ),
)


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(3)
    truth = rng.uniform(size=N_ROWS) < PRIOR
    return rng.normal(size=(N_ROWS, 2)) * [1, 1.3] + 3 * truth[:, None] * np.array([1, 0]), truth


def draw(scheme: Scheme, folder: Path) -> None:
    X, truth = table()
    y = np.zeros(len(X), dtype=bool)
    y[truth] = np.random.RandomState(1).uniform(size=truth.sum()) < scheme.labelling.propensities(X, truth)
    default, mended = WMMDClassifier(**HOW).fit(X, y), scheme.mended.fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), width_ratios=(1.25, 1), layout="constrained")
    _rows(left, X, truth, y)
    for model, color, style in ((default, "tab:blue", "--"), (mended, "black", "-")):
        _border(left, model, X, color, style)  # as in the legend on the right
    _scores(right, mended, default, truth, scheme.called)
    accuracy = [_balanced(truth, model.predict(X)) for model in (default, mended)]
    figure.suptitle(
        f"{scheme.title}: {y.sum()} of {truth.sum()} positives labelled. Balanced accuracy {accuracy[0]:.2f} "
        f"(prior {default.prior_:.2f} for {truth.mean():.2f}), with {scheme.called} {accuracy[1]:.2f}",
        fontsize=9.5,
    )
    figure.savefig(folder / f"{scheme.file}.png", dpi=110)
    plt.close(figure)


def _balanced(truth: np.ndarray, said: np.ndarray) -> float:
    return float((np.mean(said[truth]) + np.mean(~said[~truth])) / 2)


def _rows(axes: Any, X: np.ndarray, truth: np.ndarray, y: np.ndarray) -> None:
    for rows, color, name, size in (
        (~truth, NEGATIVE, "negative, unlabeled", 6),
        (truth & ~y, HIDDEN, "positive, unlabeled", 8),
        (y, LABELLED, "labelled", 16),
    ):
        axes.scatter(*X[rows].T, s=size, c=color, label=name, linewidths=0, alpha=0.8)
    axes.set(xlabel="column 1", ylabel="column 2")
    axes.legend(fontsize=8, loc="upper left")


def _border(axes: Any, model: Any, X: np.ndarray, color: str, style: str) -> None:
    ends = [np.linspace(low, high, 80) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True)]
    grid = np.stack(np.meshgrid(*ends), axis=-1)
    values = model.decision_function(grid.reshape(-1, 2)).reshape(80, 80)
    axes.contour(*ends, values, levels=[0], colors=color, linestyles=style)


def _scores(axes: Any, mended: Any, default: Any, truth: np.ndarray, called: str) -> None:
    """Honest scores of unlabeled rows by default, and thresholds on their scale."""
    honest = default.honest_scores_
    bins = np.linspace(*np.quantile(honest.unlabeled, [0.005, 0.995]), 40)
    hidden = truth[honest.unlabeled_rows]
    parts = [honest.unlabeled[~hidden], honest.unlabeled[hidden]]
    axes.hist(parts, bins, stacked=True, color=[NEGATIVE, HIDDEN], alpha=0.8)
    axes.axvline(default.threshold_, color="tab:blue", ls="--", label="default")
    if isinstance(mended, WMMDClassifier):
        axes.axvline(mended.threshold_, color="black", label=called)
    axes.set(xlabel="honest score by default", ylabel="unlabeled rows")
    axes.legend(fontsize=8)


def draw_power(rows: Path, folder: Path) -> None:
    """Shares of rejected tables with 95 % intervals; a strength of 0 is at random, as measured for the size."""
    found = bias_size.p_values_of(read_rows(rows))
    strengths = (0.0, *bias_size.STRENGTHS)
    figure, both = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
    for axes, way in zip(both, ("hard first", "easy first"), strict=True):
        for name, color in zip(bias_size.POWER_SETUPS, ("tab:blue", "tab:orange", "tab:green"), strict=True):
            ways = ["at random", *(f"{way}, {strength:g}" for strength in strengths[1:])]
            shares = [bias_size.rejected(found[name, words]) for words in ways]
            axes.plot(strengths, [share.value for share in shares], "o-", ms=4, color=color, label=name)
            ends = [share.low for share in shares], [share.high for share in shares]
            axes.fill_between(strengths, *ends, color=color, alpha=0.25, linewidth=0)
        axes.axhline(bias_size.LEVELS[0], color="black", ls=":", lw=1, label="level of the test, 0.05")
        axes.set_xscale("symlog", base=2, linthresh=0.5)  # equal steps, and 0
        axes.set_xticks(strengths, [f"{strength:g}" for strength in strengths])
        axes.set(title=f"{way.capitalize()} (e {FORMULAS[way]})", xlabel="strength of the bias, s", ylim=(-0.02, 1.02))
        axes.set_xlim(-0.1, 9)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    both[0].set_ylabel("share of tables rejected")
    both[1].legend(fontsize=9, loc="upper left")
    figure.savefig(folder / "bias-power.png", dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--power", action="store_true")
    options = parser.parse_args()
    if options.power:
        draw_power(Path("docs/bias/scar_test.jsonl.xz"), options.out)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scheme in SCHEMES:
            draw(scheme, options.out)


if __name__ == "__main__":
    main()
