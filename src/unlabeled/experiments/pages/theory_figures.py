"""Figures of the theory's simulations from rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unlabeled.experiments.pages.rows import Group, Rows

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
BLACK, ORANGE, SKY, GREEN, BLUE, RED = "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
#: A slope is fitted to the last sizes, this many of them.
N_FITTED = 6


@dataclass(frozen=True)
class Curve:
    """A metric against the number of rows: sizes, means over draws, and their standard errors."""

    sizes: np.ndarray
    means: np.ndarray
    errors: np.ndarray

    @property
    def slope(self) -> float:
        """Slope of the logarithms over the last sizes."""
        return float(self._slope_weights @ np.log(self.means[-N_FITTED:]))

    @property
    def slope_error(self) -> float:
        """Standard error of the slope, from those of the means."""
        return float(np.linalg.norm(self._slope_weights * (self.errors / self.means)[-N_FITTED:]))

    @property
    def _slope_weights(self) -> np.ndarray:
        """Least squares: the slope as a weighted sum of the logarithms."""
        centred = np.log(self.sizes[-N_FITTED:]) - np.log(self.sizes[-N_FITTED:]).mean()
        return np.asarray(centred / (centred @ centred))


def estimation(rows: Rows) -> Figure | None:
    """Estimation error of WMMD on Gaussians, the difference of risks that the proofs bound, and the bounds."""
    if not _groups(rows, "gaussians", "wmmd", {}):
        return None
    figure = Figure(figsize=(8, 6.2), layout="constrained")
    axes = figure.subplots()
    _draw_bounds(axes, rows)
    _draw_errors(
        axes, rows, "uniform_deviation", "twice the largest risk difference", factor=2, color=ORANGE, marker="s"
    )
    _draw_errors(axes, rows, "estimation_error", "estimation error", factor=1, color=BLACK, marker="o")
    wmmd = _curve(rows, "gaussians", "bounds", "wmmd", {}).means[0]
    axes.axhline(wmmd, color="grey", linewidth=0.8, label="a bound above this line says nothing")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="number of positives = number of unlabeled rows",
        ylabel="hinge risk above the best of the ball",
        title="Two Gaussians, prior 0.5, gamma 0.4, tau = 3",
    )
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _draw_bounds(axes: Axes, rows: Rows) -> None:
    for name, label, style in (
        ("kiryo", "bound of Kiryo et al.", {"color": RED, "linestyle": "--"}),
        ("kernel", "kernel bound", {"color": BLUE}),
        ("general", "general bound, complexities measured", {"color": SKY, "linestyle": ":", "linewidth": 2.5}),
        ("round_ball", "2 D (not in the paper)", {"color": GREEN, "linestyle": "-."}),
        ("round_ball_wmmd_known", "round ball (not in the paper)", {"color": GREEN}),
    ):
        curve = _curve(rows, "gaussians", "bounds", name, {})
        axes.plot(curve.sizes, curve.means, label=f"{label}: slope {curve.slope:.2f}", **style)


def _draw_errors(axes: Axes, rows: Rows, metric: str, name: str, *, factor: int, color: str, marker: str) -> None:
    curve = _curve(rows, "gaussians", "wmmd", metric, {})
    label = f"{name}: slope {curve.slope:.2f}"
    bars = 2 * factor * curve.errors
    axes.errorbar(curve.sizes, factor * curve.means, yerr=bars, label=label, color=color, marker=marker, markersize=4)


def rates(rows: Rows) -> Figure | None:
    """Excess risk at the theorem's bandwidth against the predicted exponent, a panel for each dimension."""
    shapes = sorted({(group[0]["n_features"], group[0]["smoothness"]) for group in _groups(rows, "margin", "wmmd", {})})
    if not shapes:
        return None
    dimensions = sorted({d for d, _ in shapes})
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    panels = figure.subplots(1, len(dimensions), sharey=True, squeeze=False)[0]
    for axes, d in zip(panels, dimensions, strict=True):
        colours = dict(zip(sorted({s for _, s in shapes}), (BLUE, ORANGE, GREEN), strict=False))
        for s in (s for dimension, s in shapes if dimension == d):
            _draw_rate(axes, rows, {"n_features": d, "smoothness": s}, colours[s])
        axes.set(xscale="log", yscale="log", title=f"d = {d}", xlabel="positives = unlabeled rows")
        axes.legend(fontsize=8, loc="lower left", frameon=False)
    panels[0].set_ylabel("error rate above the Bayes rule")
    panels[0].set_ylim(bottom=panels[0].get_ylim()[0] / 6)  # room for the legends
    return figure


def _draw_rate(axes: Axes, rows: Rows, shape: dict[str, float], colour: str) -> None:
    curve = _curve(rows, "margin", "wmmd", "excess_risk", shape)
    exponent = _curve(rows, "margin", "wmmd", "exponent", shape).means[0]
    s = shape["smoothness"]
    found = f"{curve.slope:.2f} $\\pm$ {curve.slope_error:.2f}"
    label = f"$\\alpha_H$ = {s:g}: slope {found}\ntheorem (dashed): {-exponent:.2f}"
    axes.errorbar(
        curve.sizes, curve.means, yerr=2 * curve.errors, color=colour, marker="o", markersize=3.5, label=label
    )
    # Through the fitted part of the curve, so that slopes are compared and constants are not.
    last = slice(-N_FITTED, None)
    constant = np.exp(np.mean(np.log(curve.means[last]) + exponent * np.log(curve.sizes[last])))
    rate = constant * curve.sizes**-exponent
    axes.plot(curve.sizes, rate, color=colour, linestyle="--", linewidth=1)


def sharper(rows: Rows) -> Figure | None:
    """Where the new bound is sharper: the largest rho as a share of nu, a panel for each tau."""
    found = [setting for setting, _ in _groups(rows, "formula", "sharper", {})]
    if not found:
        return None
    taus, nus = (sorted({setting[name] for setting in found}) for name in ("tau", "nu"))
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    panels = figure.subplots(1, len(taus), sharey=True, squeeze=False)[0]
    for axes, tau in zip(panels, taus, strict=True):
        for nu, colour in zip(nus, (ORANGE, GREEN, BLUE, BLACK), strict=False):
            for metric, style in (("rho_alpha_one", "-"), ("rho_best_alpha", ":")):
                curve = _curve(rows, "formula", "sharper", metric, {"tau": tau, "nu": nu})
                name = f"nu = {nu:g}" if style == "-" else None
                axes.plot(curve.sizes, curve.means / nu, style, color=colour, linewidth=1.6, label=name)
        axes.set(xscale="log", title=f"tau = {tau:g}", xlabel="positives = unlabeled rows", ylim=(-0.03, 1.03))
    panels[0].set_ylabel("largest rho / nu at which\nthe new bound is sharper")
    panels[0].plot([], [], "-", color="grey", label="alpha = 1 (the proposition)")
    panels[0].plot([], [], ":", color="grey", label="best alpha, kernel ball")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8)
    return figure


def _groups(rows: Rows, dataset: str, method: str, where: dict[str, float]) -> list[tuple[dict[str, float], Group]]:
    """Groups with these values among their settings, by size."""
    found = [
        (setting, group)
        for setting in rows.settings("theory")
        if where.items() <= setting.items() and (group := rows.group("theory", dataset, method, setting)).metrics
    ]
    distinct = {tuple(sorted(setting.items())): (setting, group) for setting, group in found}
    return sorted(distinct.values(), key=lambda one: one[0]["n_positive"])


def _curve(rows: Rows, dataset: str, method: str, metric: str, where: dict[str, float]) -> Curve:
    groups = _groups(rows, dataset, method, where)
    found = [(size["n_positive"], mean) for size, group in groups if (mean := group.mean(metric)) is not None]
    return Curve(
        np.array([size for size, _ in found]),
        np.array([mean.value for _, mean in found]),
        np.array([mean.error for _, mean in found]),
    )
