"""The paper's figures from rows, in the paper's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unlabeled.datasets.gaussian_bayes import GaussianBayes
from unlabeled.datasets.synthetic import moon_curve
from unlabeled.experiments import moons
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.pages.labels import COLOURS, METHOD_LABELS, OUR_STYLES
from unlabeled.experiments.pages.rows import Group, Mean, Rows

BLUE, RED, GREY = "#0072B2", "#D55E00", "#999999"
N_UNLABELED, PRIOR = 400, 0.5
TADJ = "tadj-balanced"
#: What of the AUC over the priors is drawn once more, larger: priors up to this one, and so much below the best.
ENLARGED_UP_TO, ENLARGED_HEIGHT = 0.7, 0.045


def boundaries(rows: Rows) -> Figure | None:
    """Figure 1: the boundary on two moons for two numbers of positives and of unlabeled rows."""
    panels = [_moon_panel(rows, n_p, n_u) for n_u in moons.N_UNLABELED for n_p in moons.N_POSITIVE]
    if not any(panels):
        return None
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    for letter, axes, panel in zip("abcd", figure.subplots(2, 2, sharex=True, sharey=True).flat, panels, strict=True):
        if panel is not None:
            _draw_moons(axes, panel[0], f"({letter}) {panel[1]}")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _moon_panel(rows: Rows, n_positive: int, n_unlabeled: int) -> tuple[Cell, str] | None:
    """The draw of median accuracy (of an even number the lower one), and what to write above it."""
    setting = {"n_positive": n_positive, "n_unlabeled": n_unlabeled, "true_prior": PRIOR}
    accuracies = rows.group(moons.NAME, moons.DATASET, "wmmd", setting).values("accuracy")
    if not accuracies:
        return None
    in_order = sorted(accuracies, key=lambda draw: (accuracies[draw], draw))
    shown = in_order[(len(in_order) - 1) // 2]
    title = f"{n_positive} positives, {n_unlabeled} unlabeled: {100 * accuracies[shown]:.1f} %"
    return Cell(moons.NAME, moons.DATASET, "wmmd", setting, shown), title


def _draw_moons(axes: Axes, cell: Cell, title: str) -> None:
    left, right, low, high = moons.WINDOW
    found = moons.picture(cell)  # made again from the draw's seed
    data, decision = found["data"], found["decision"]
    x, y = np.linspace(left, right, moons.N_GRID), np.linspace(low, high, moons.N_GRID)
    unlabeled, truth = data.unlabeled, data.unlabeled_truth
    axes.contourf(x, y, decision, levels=[0, np.inf], colors=[BLUE], alpha=0.1)
    axes.contour(x, y, decision, levels=[0], colors="black", linewidths=1.5)
    axes.plot(*unlabeled[truth].T, "+", color=GREY, label="unlabeled, truly positive")
    axes.plot(*unlabeled[~truth].T, "_", color=GREY, label="unlabeled, truly negative")
    u = np.linspace(0, 1, 100)
    for sign, colour, name in ((1, BLUE, "positive"), (-1, RED, "negative")):
        axes.plot(*moon_curve(u, sign).T, color=colour, label=f"mean of the {name} class")
    axes.plot(*data.positive.T, "D", color=BLUE, markeredgecolor="white", label="labelled positive")
    axes.plot([], [], color="black", label="boundary of WMMD")
    axes.set(title=title, xlim=(left, right), ylim=(low, high))


def sweeps(rows: Rows, prior: str) -> Figure | None:
    """Figure 2 (prior known) or 3 (estimated): accuracy and AUC against the unlabeled rows and against the prior."""
    setting = {"prior": prior, "kernel": "rbf"}
    five = [(name, label, {"color": COLOURS[name]}, setting) for name, label in METHOD_LABELS.items()]
    ours = [(name, f"{name} (ours)", style, setting) for name, style in OUR_STYLES.items()]
    present = rows.methods("gaussians")
    return _four_panels(rows, [curve for curve in five + ours if curve[0] in present])


def kernels(rows: Rows) -> Figure | None:
    """Appendix E: the Gaussian (dashed) and the inverse kernel (solid) for LOG, DH and WMMD."""
    curves = [
        (
            method,
            f"{METHOD_LABELS[method]}, {name}",
            {"color": COLOURS[method], "linestyle": style},
            {"prior": "known", "kernel": kernel},
        )
        for method in ("log-released", "dh-released", "wmmd")
        for kernel, name, style in (("rbf", "Gaussian", "--"), ("inverse", "inverse", "-"))
    ]
    if not any(setting["kernel"] == "inverse" for setting in rows.settings("gaussians")):
        return None
    return _four_panels(rows, curves, bayes="-.")  # broken lines are the Gaussian kernel's


def _four_panels(
    rows: Rows, curves: list[tuple[str, str, dict[str, Any], dict[str, str]]], bayes: str = "--"
) -> Figure | None:
    figure = Figure(figsize=(10, 6.6), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    found = False
    for row, metric in enumerate(("accuracy", "auc")):
        for column, swept in enumerate(("n_unlabeled", "true_prior")):
            for method, label, style, setting in curves:
                found |= _draw_curve(axes[row, column], sweep(rows, method, swept, setting), metric, label, style)
    if not found:
        return None
    _label_panels(axes, bayes)
    _show_the_near_ones(rows, axes, curves)
    _enlarge(rows, axes[1, 1], curves)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    n_columns = len(labels) if len(labels) < 7 else (len(labels) + 1) // 2
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, frameon=False)
    return figure


def _show_the_near_ones(
    rows: Rows, axes: np.ndarray, curves: list[tuple[str, str, dict[str, Any], dict[str, str]]]
) -> None:
    """Fit the axes to all curves but tADJ's, which may lie far below: its range is written at the edge instead."""
    for row, metric in enumerate(("accuracy", "auc")):
        for column, swept in enumerate(("n_unlabeled", "true_prior")):
            found = [(m, _means(sweep(rows, m, swept, setting), metric)) for m, _, _, setting in curves]
            near = [value for method, means in found if method != TADJ for value in means]
            if not near:
                continue
            margin = 0.06 * (max(near) - min(near)) + 2e-3
            bayes = [1 - bayes_risk(PRIOR)] if (row, column) == (0, 0) else []
            axes[row, column].set_ylim(min(near) - margin, max(near + bayes) + margin)
            _note_tadj(axes[row, column], [value for method, means in found if method == TADJ for value in means])


def _enlarge(rows: Rows, panel: Axes, curves: list[tuple[str, str, dict[str, Any], dict[str, str]]]) -> None:
    """The upper left of a panel once more, in its empty corner: the fall at its right leaves near curves no room."""
    found = [(sweep(rows, method, "true_prior", setting), label, style) for method, label, style, setting in curves]
    found = [([p for p in points if p[0] <= ENLARGED_UP_TO + 1e-9], label, style) for points, label, style in found]
    best = max((value for points, *_ in found for value in _means(points, "auc")), default=None)
    if best is None:
        return
    inset = panel.inset_axes((0.08, 0.08, 0.56, 0.42))
    for points, label, style in found:
        _draw_curve(inset, points, "auc", label, style | {"linewidth": 1.2})
    inset.set_ylim(best - ENLARGED_HEIGHT, best + ENLARGED_HEIGHT / 10)
    inset.tick_params(labelsize=7, pad=1.5)
    inset.grid(alpha=0.25)


def _note_tadj(panel: Axes, values: list[float]) -> None:
    low, _ = panel.get_ylim()
    below = [value for value in values if value < low]
    if below:
        text = f"tADJ goes down to {min(below):.2f}"
        panel.text(0.02, 0.03, text, transform=panel.transAxes, fontsize=8, color=COLOURS[TADJ], weight="bold")


def _means(points: list[tuple[float, Group]], metric: str) -> list[float]:
    return [mean.value for _, group in points if (mean := group.mean(metric)) is not None]


def sweep(rows: Rows, method: str, swept: str, setting: dict[str, str]) -> list[tuple[float, Group]]:
    """The groups along one axis of Figures 2 and 3, by the value on it."""
    if method.startswith("tadj"):  # it uses no prior
        setting = setting | {"prior": "known"}
    fixed = {"n_unlabeled": N_UNLABELED, "true_prior": PRIOR} | setting
    values = sorted({found[swept] for found in rows.settings("gaussians")})
    groups = [(value, rows.group("gaussians", "gaussians", method, fixed | {swept: value})) for value in values]
    return [(float(value), group) for value, group in groups if group.metrics]


def _draw_curve(axes: Axes, points: list[tuple[float, Group]], metric: str, label: str, style: dict[str, Any]) -> bool:
    means: list[Mean] = [mean for _, group in points if (mean := group.mean(metric)) is not None]
    if not means:
        return False
    x, y, error = [value for value, _ in points], np.array([m.value for m in means]), np.array([m.error for m in means])
    axes.plot(x, y, label=label, **({"linewidth": 1.6} | style))
    axes.fill_between(x, y - error, y + error, color=style["color"], alpha=0.2, linewidth=0)
    return True


def _label_panels(axes: np.ndarray, bayes: str) -> None:
    axes[0, 0].set(ylabel="accuracy", title="(a) accuracy, prior 0.5")
    axes[0, 1].set(title="(b) accuracy, 400 unlabeled rows")
    axes[1, 0].set(ylabel="AUC", xlabel="number of unlabeled rows", title="(c) AUC, prior 0.5")
    axes[1, 1].set(xlabel="class prior", title="(d) AUC, 400 unlabeled rows")
    axes[0, 0].axhline(1 - bayes_risk(PRIOR), color="black", linestyle=bayes, linewidth=1, label="1 - Bayes risk")
    priors = np.linspace(0.05, 0.95, 91)
    axes[0, 1].plot(priors, [1 - bayes_risk(prior) for prior in priors], "k" + bayes, linewidth=1)
    for panel in axes.flat:
        panel.grid(alpha=0.25)


def bayes_risk(prior: float) -> float:
    """Least error rate for the two Gaussians of Experiments 2 to 4."""
    return GaussianBayes(prior).risk
