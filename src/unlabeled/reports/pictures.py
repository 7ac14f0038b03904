"""The pictures of a report: what displays compute, drawn as SVG that a page may colour."""

from __future__ import annotations

import numpy as np

from unlabeled.displays.calibration import CalibrationBins
from unlabeled.displays.decision_boundary import DataMap
from unlabeled.displays.gammas import GammaCriteria
from unlabeled.displays.ranking import RankingCurves
from unlabeled.displays.threshold_table import ThresholdTable
from unlabeled.drawing import Plot
from unlabeled.priors import PriorComparison
from unlabeled.tables.profile import Shift

#: How opaque the shade of a map is where all is flagged.
SHADE = 0.3


def threshold_picture(table: ThresholdTable) -> str:
    """Recall, precision and flagged rate against the threshold."""
    x = table.thresholds
    chosen = table.rows[table.chosen]
    plot = Plot(
        "thresholds",
        "Recall, precision and flagged rate at each threshold",
        f"At the threshold in use, {chosen.threshold:.3f}, {chosen.flagged_rate.value:.1%} of the rows are flagged.",
        (float(x[0]), float(x[-1])) if x[-1] > x[0] else (float(x[0]) - 1, float(x[0]) + 1),
        (0.0, 1.0),
        "threshold on the score",
        "share",
        y_form=".0%",
    )
    for name, kind in (("recall", "one"), ("precision", "two"), ("flagged_rate", "three")):
        value, low, high = table.values(name)
        plot.band(x, low, high, kind).line(x, value, kind)
    return plot.upright(chosen.threshold, name="threshold-line").svg()


def roc_picture(found: RankingCurves) -> str:
    """ROC curve with the prior's band."""
    rate, low, high = found.false_positive_rate
    area = found.roc_auc
    number = "not told" if area.value is None else f"{area.value:.2f}"
    plot = Plot(
        "roc",
        "ROC curve",
        f"The area under it is {number}, 95 % interval {area.low:.2f} to {area.high:.2f}.",
        (0.0, 1.0),
        (0.0, 1.0),
        "negatives that are flagged",
        "recall",
        ".0%",
        ".0%",
    )
    across = np.concatenate([low, high[::-1]])
    outline = np.concatenate([found.recall, found.recall[::-1]])
    plot.line([0, 1], [0, 1], "four")
    plot.polygon(across, outline, "one").line(rate, found.recall, "one")
    return plot.dots(rate[[found.chosen]], found.recall[[found.chosen]], "one large").svg()


def precision_recall_picture(found: RankingCurves) -> str:
    """Precision against recall with the prior's band."""
    precision, low, high = found.precision
    plot = Plot(
        "precision-recall",
        "Precision against recall",
        f"At the threshold in use recall is {found.recall[found.chosen]:.2f} and precision "
        f"{np.nan_to_num(precision[found.chosen]):.2f}.",
        (0.0, 1.0),
        (0.0, 1.0),
        "recall",
        "precision",
        ".0%",
        ".0%",
    )
    plot.line([0, 1], [found.priors[0]] * 2, "four")
    plot.band(found.recall, low, high, "two").line(found.recall, precision, "two")
    return plot.dots(found.recall[[found.chosen]], precision[[found.chosen]], "two large").svg()


def calibration_picture(found: CalibrationBins) -> str:
    """Predicted probabilities against shares by Bayes' rule."""
    pairs = ", ".join(
        f"{p:.0%} predicted, {o:.0%} estimated" for p, o in zip(found.predicted, found.observed, strict=True)
    )
    plot = Plot(
        "calibration",
        "Predicted probabilities against estimated shares of positives",
        f"In bins of the score: {pairs}.",
        (0.0, 1.0),
        (0.0, 1.0),
        "mean predicted probability",
        "share of positives",
        ".0%",
        ".0%",
    )
    _, low, high = found.by_prior
    plot.line([0, 1], [0, 1], "four").band(found.predicted, low, high, "two")
    plot.whiskers(found.predicted, found.low, found.high, "one")
    return plot.dots(found.predicted, found.observed, "one large").svg()


def map_picture(found: DataMap) -> str:
    """The rows on a plane, and the boundary."""
    n_flagged = int((found.flagged & ~found.labelled).sum())
    plot = Plot(
        "map",
        "Map of the rows",
        f"{int(found.labelled.sum()):,} labelled positives and {int((~found.labelled).sum()):,} unlabeled rows, of "
        f"which {n_flagged:,} are flagged; across {found.axes[0]}, upwards {found.axes[1]}.",
        (float(found.x_edges[0]), float(found.x_edges[-1])),
        (float(found.y_edges[0]), float(found.y_edges[-1])),
        found.axes[0],
        found.axes[1],
        height=330,
    )
    regions = found.regions()
    for outlines in regions:
        plot.region(outlines, "one", round(SHADE / len(regions), 3))
    inside = _inside(found)
    for rows, kind in (
        (~found.labelled & ~found.flagged, "two small"),
        (~found.labelled & found.flagged, "one small"),
        (found.labelled, "one large ringed"),
    ):
        x, y = found.places[rows & inside].T
        plot.dots(x, y, kind)
    for line in found.boundary():
        x, y = line.T
        plot.line(x, y, "boundary")
    return plot.svg()


def _inside(found: DataMap) -> np.ndarray:
    x, y = found.places.T
    return (x >= found.x_edges[0]) & (x <= found.x_edges[-1]) & (y >= found.y_edges[0]) & (y <= found.y_edges[-1])


def gamma_picture(found: GammaCriteria) -> str:
    """The criterion against the logarithm of gamma."""
    x, y = np.log10(found.gammas), found.criteria
    span = float(np.ptp(y)) or 1.0
    plot = Plot(
        "gammas",
        "What each gamma is worth",
        f"The best of {len(x)} gammas is {found.chosen:.3g}.",
        (float(x.min()) - 0.1, float(x.max()) + 0.1),
        (float(y.min()) - 0.08 * span, float(y.max()) + 0.08 * span),
        "log10 of gamma",
        "criterion",
        y_form=".3g",
        height=200,
    )
    plot.line(x, y, "one").dots(x, y, "one large")
    return plot.upright(float(np.log10(found.chosen)), f"chosen: {found.chosen:.3g}").svg()


def prior_rows(compared: PriorComparison) -> list[dict[str, object]]:
    """Estimates as bars on a common scale, in percent of the width."""
    most = max(max(found.ends[1], found.value) for found in compared.estimates.values())
    scale = 100 / max(most * 1.05, 1e-9)
    return [
        {
            "name": name,
            "value": found.value,
            "low": found.ends[0],
            "high": found.ends[1],
            "given": found.low is None,
            "at": scale * found.value,
            "start": scale * found.ends[0],
            "width": max(scale * (found.ends[1] - found.ends[0]), 0.5),
        }
        for name, found in compared.estimates.items()
    ]


def shift_bars(shift: Shift) -> list[dict[str, float]]:
    """Shares of the cells of a column before and after, as heights in percent of the largest; empty cells left out."""
    pairs = [(b, a) for b, a in zip(shift.before, shift.after, strict=True) if b > 0 or a > 0]
    most = max(max(pair) for pair in pairs) or 1.0
    return [{"before": 100 * b / most, "after": 100 * a / most} for b, a in pairs]
