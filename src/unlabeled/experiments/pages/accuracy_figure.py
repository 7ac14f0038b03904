"""One picture of the page on accuracy: our default and the paper's five on every data set."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unlabeled.experiments.pages.accuracy import DEFAULT, METRICS, Cell, compared
from unlabeled.experiments.pages.comparison import BETTER, WORSE
from unlabeled.experiments.pages.labels import COLOURS, OUR_COLOUR, RIVAL_LABELS
from unlabeled.experiments.pages.real_data import PRIORS, groups_on_same_data
from unlabeled.experiments.pages.rows import Group, Rows

#: Inches of a line, and of what stands above and below the lines.
LINE_HEIGHT, FRAME_HEIGHT, WIDTH = 0.29, 2.1, 11.0
#: Five shapes beside five colours, and a hollow one for the other reading of tADJ.
MARKERS = {"log-released": "o", "dh-released": "s", "nnpu": "^", "tadj-balanced": "v", "wmmd": "P"}
STYLES: dict[str, dict[str, Any]] = {
    method: {"color": COLOURS[method], "marker": marker, "markersize": 5} for method, marker in MARKERS.items()
}
STYLES["tadj"] = STYLES["tadj-balanced"] | {"fillstyle": "none"}
OUR_DOT: dict[str, Any] = {"color": OUR_COLOUR, "marker": "D", "markersize": 6.5}
#: Ours stands a little above the middle of a line and the five a little below, so that none hides another's.
APART = 0.19
VERDICT_COLOURS = {BETTER: "#00705A", WORSE: "#B03A00"}


def dots(rows: Rows) -> Figure | None:
    """A line for each data set, accuracy above AUC, the prior known at the left and unknown at the right."""
    cells = {prior: compared(rows, prior) for prior in PRIORS}
    names = list(dict.fromkeys(cell.place.label for found in cells.values() for cell in found))
    if not names:
        return None
    figure = Figure(figsize=(WIDTH, 2 * LINE_HEIGHT * len(names) + FRAME_HEIGHT), layout="constrained")
    panels = figure.subplots(len(METRICS), len(PRIORS), sharex=True, sharey=True, squeeze=False)
    for line, (metric, label) in zip(panels, METRICS.items(), strict=True):
        for axes, (prior, word) in zip(line, PRIORS.items(), strict=True):
            _frame(axes, names, f"{label}, prior {word}")
            for cell in cells[prior]:
                if cell.metric == metric:
                    _draw_line(axes, rows, cell, names.index(cell.place.label))
    for axes in panels[-1]:
        axes.set_xlabel("percent")
    _legend(figure)
    return figure


def _frame(axes: Axes, names: list[str], title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_axisbelow(True)
    axes.grid(axis="x", alpha=0.25)
    axes.tick_params(axis="y", length=0)
    for i in range(0, len(names), 2):
        axes.axhspan(i - 0.5, i + 0.5, color="black", alpha=0.035, linewidth=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_line(axes: Axes, rows: Rows, cell: Cell, y: int) -> None:
    ours, rivals = groups_on_same_data(rows, cell.place, DEFAULT, RIVAL_LABELS)
    for method, group in rivals.items():
        _draw_dot(axes, group, cell.metric, y + APART, STYLES[method])
    _draw_dot(axes, ours, cell.metric, y - APART, OUR_DOT)
    axes.annotate(
        cell.found.points,
        (1, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=VERDICT_COLOURS.get(cell.found.verdict, "#666666"),
        fontweight="bold" if cell.found.verdict in VERDICT_COLOURS else "normal",
    )


def _draw_dot(axes: Axes, group: Group, metric: str, y: float, style: dict[str, Any]) -> None:
    mean = group.mean(metric)
    if mean is not None:
        axes.errorbar(100 * mean.value, y, xerr=100 * mean.error, linestyle="", elinewidth=1, **style)


def _legend(figure: Figure) -> None:
    axes = figure.axes[0]
    styles = {f"{DEFAULT} (ours)": OUR_DOT} | {label: STYLES[method] for method, label in RIVAL_LABELS.items()}
    handles = [axes.plot([], [], linestyle="", label=label, **style)[0] for label, style in styles.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.suptitle(
        f"Numbers: {DEFAULT} less the best of the five. Bold green: better, bold red: worse, grey: neither shown.",
        fontsize=10,
    )
