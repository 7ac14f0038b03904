"""The page on accuracy: our methods against the best of the paper's five, cell by cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.comparison import (
    BETTER,
    TIED,
    UNJUDGED,
    UNTESTED,
    WORSE,
    Comparison,
    compare,
    in_points,
)
from unlabeled.experiments.pages.labels import OUR_METHODS, RIVAL_LABELS
from unlabeled.experiments.pages.page import Block, Heading, Picture, TableBlock, Text
from unlabeled.experiments.pages.real_data import (
    EXPERIMENT,
    LEAST_TEST_ROWS,
    PRIORS,
    Place,
    group_at,
    groups_at,
    our_methods_in,
    places,
)
from unlabeled.experiments.pages.rows import Group, Mean, Rows
from unlabeled.experiments.pages.tables import noted

TITLE = "Our methods against the paper's five"
DEFAULT = "pu-auto"
METRICS = {"accuracy": "accuracy", "auc": "AUC"}
FIGURE = "accuracy"
INTRODUCTION = (
    "The paper's five are in its configuration, tADJ in both of its readings, with balanced classes and unweighted; "
    + ", ".join(f"`{name}` is {estimator}" for name, estimator in OUR_METHODS.items())
    + ", each as it is by default. They choose from positives and unlabeled rows alone and meet the five on the same "
    "draws. Everything is in percent."
)
READING = (
    "Mean (standard error) over the draws a method has. Best of the five: the highest mean, of more than one draw "
    "where there is such a method, and of tADJ the stronger reading. Difference: ours less that, on the draws both "
    "have; p: two-sided paired t-test on them. Better and worse: p < 0.05. The best of the five is picked from these "
    "very results, which is in its favour."
)
OURS_READING = (
    "Accuracy / AUC. Calibration error: expected, of `predict_proba` against the hidden truth in 15 bins of equal "
    "mass. With few test rows much of it is chance: on 60, four a bin, a perfect model has 8 to 16. Chose: what "
    "`PUClassifier` went by, and in how many draws; + is a weighted mean."
)


@dataclass(frozen=True)
class Cell:
    """One comparison of the page."""

    place: Place
    metric: str
    found: Comparison

    @property
    def name(self) -> str:
        """Data set, metric and prior in words."""
        return f"{self.place.label}, {METRICS[self.metric]}, prior {PRIORS[self.place.prior]}"


def has_rows(rows: Rows) -> bool:
    """Whether there is anything to write the page of."""
    return bool(our_methods_in(rows, EXPERIMENT))


def blocks(rows: Rows) -> list[Block]:
    """The page, but for its figure's file."""
    cells = {prior: compared(rows, prior) for prior in PRIORS}
    made: list[Block] = [
        Heading(TITLE, 1),
        Text(INTRODUCTION),
        Text(READING),
        Text(summary([cell for found in cells.values() for cell in found])),
    ]
    for prior, found in cells.items():
        made += [Heading(f"`{DEFAULT}`, prior {PRIORS[prior]}"), _table(rows, found), Text(summary(found))]
    made += [
        Picture(FIGURE, f"{DEFAULT} and the five; bars are one standard error, at the right {DEFAULT} less the best."),
        Heading("All three of ours"),
        _table_of_ours(rows),
    ]
    remarks = [note for prior in PRIORS for note in noted(rows, places(prior), {name: name for name in OUR_METHODS})]
    return made + ([Heading("Notes"), *map(Text, dict.fromkeys(remarks))] if remarks else [])


def compared(rows: Rows, prior: str) -> list[Cell]:
    """Every data set and metric that any method has rows for."""
    return [
        Cell(place, metric, compare(rows, place, DEFAULT, metric))
        for place in places(prior)
        if _is_there(rows, place)
        for metric in METRICS
    ]


def _is_there(rows: Rows, place: Place) -> bool:
    ours = (group_at(rows, place, method) for method in OUR_METHODS)
    return any(group.is_there for group in (*groups_at(rows, place).values(), *ours))


def summary(cells: list[Cell]) -> str:
    """How many of the cells that are judged are better, tied and worse, and the largest loss."""
    n_cells, cells = len(cells), [cell for cell in cells if cell.found.verdict != UNJUDGED]
    counts = Counter(cell.found.verdict for cell in cells)
    parts = ", ".join(f"{verdict} in {counts[verdict]}" for verdict in (BETTER, TIED, WORSE))
    untested = f", {UNTESTED} in {counts[UNTESTED]}" if counts[UNTESTED] else ""
    text = f"Of {len(cells)} cells, {DEFAULT} against the best of the five: {parts}{untested}. {_largest_loss(cells)}"
    left = n_cells - len(cells)
    return text + (f" {left} more, with fewer than {LEAST_TEST_ROWS} test rows, are not judged." if left else "")


def _largest_loss(cells: list[Cell]) -> str:
    differences = {cell: cell.found.difference.value for cell in cells if cell.found.difference is not None}
    if not differences:
        return "No draw is common to both."
    lowest = min(differences, key=differences.__getitem__)
    if differences[lowest] >= 0:
        return "It is nowhere below."
    return f"The largest loss is {in_points(-differences[lowest])} points ({lowest.name}: {lowest.found.verdict})."


def _table(rows: Rows, cells: list[Cell]) -> TableBlock:
    theirs = ["best of the five", "best in the paper"]
    header = ["data set", "metric", DEFAULT, *theirs, "difference", "p", "common draws", "verdict"]
    lines = [
        [
            cell.place.label,
            METRICS[cell.metric],
            _our_value(cell.found.ours, group_at(rows, cell.place, DEFAULT)),
            _labelled(cell.found),
            _in_paper(cell),
            cell.found.points or "-",
            _p_value(cell.found.p_value),
            str(cell.found.n_common),
            _verdict(cell.found),
        ]
        for cell in cells
    ]
    return TableBlock(header, lines)


def _our_value(mean: Mean | None, group: Group) -> str:
    failed = f"failed: {group.failures[0].split(':')[0]}" if group.failures else ""
    if mean is None:
        return failed or "no rows yet"
    return _value(mean) + (f", other draws {failed}" if failed else "")


def _value(mean: Mean) -> str:
    return f"{100 * mean.value:.1f} ({100 * mean.error:.1f})"


def _labelled(found: Comparison) -> str:
    return "-" if found.best is None or found.theirs is None else f"{RIVAL_LABELS[found.best]} {_value(found.theirs)}"


def _in_paper(cell: Cell) -> str:
    if cell.place.layout != "paper":
        return "-"
    table = {"known": "table3", "estimated": "table4"}[cell.place.prior]
    methods, value = paper.highest(table, cell.metric, cell.place.dataset)
    return f"{', '.join(paper.label_of(method) for method in methods)} {value:.1f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _verdict(found: Comparison) -> str:
    if found.verdict == WORSE and found.difference is not None:
        return f"**{WORSE} by {in_points(-found.difference.value)}**"
    return found.verdict


def _table_of_ours(rows: Rows) -> TableBlock:
    header = ["data set", "prior", *OUR_METHODS, "calibration error", f"{DEFAULT} chose"]
    lines = []
    for places_of_prior in zip(*(places(prior) for prior in PRIORS), strict=True):
        for place in places_of_prior:
            groups = {method: group_at(rows, place, method) for method in OUR_METHODS}
            if any(group.is_there for group in groups.values()):
                lines.append(
                    [
                        place.label,
                        PRIORS[place.prior],
                        *(_together(group, ("accuracy", "auc"), group.failures) for group in groups.values()),
                        " / ".join(_together(group, ("ece",), ()) for group in groups.values()),
                        _choices(groups[DEFAULT]),
                    ]
                )
    return TableBlock(header, lines, OURS_READING + f" In the order {', '.join(OUR_METHODS)}.")


def _together(group: Group, metrics: tuple[str, ...], failures: tuple[str, ...]) -> str:
    means = [group.mean(metric) for metric in metrics]
    shown = " / ".join(f"{100 * mean.value:.1f}" for mean in means if mean is not None)
    return shown or (failures[0].split(":")[0] if failures else "-")


def _choices(group: Group) -> str:
    counts = Counter(str(found["chosen"]) for found in group.metrics.values() if "chosen" in found)
    return ", ".join(f"{name} {n}" for name, n in counts.most_common()) or "-"
