"""The paper's tables from rows, each beside the paper's own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.comparison import BETTER, WORSE, compare
from unlabeled.experiments.pages.labels import METHOD_LABELS, RIVAL_LABELS
from unlabeled.experiments.pages.page import TableBlock
from unlabeled.experiments.pages.real_data import EXPERIMENT, Place, group_at, groups_at, our_methods_in
from unlabeled.experiments.pages.rows import Group, Mean, Rows, best_and_equals

METRICS = {"accuracy": "Accuracy (%)", "auc": "AUC x 100"}
DIFFERS, REMARKED, ABOVE, BELOW = "≠", "†", "▲", "▼"
NOT_IN_PAPER = "n/a"
#: Beyond twice its standard error a difference from the paper is marked.
N_ERRORS = 2.0


def training_times(rows: Rows) -> TableBlock | None:
    """Table 1: seconds of `fit` and their ratio to WMMD's, and the paper's ratio."""
    found = timed(rows)
    if found is None:
        return None
    methods, seconds = found
    ratios = seconds / seconds[:, [methods.index("wmmd")]]
    theirs = paper.training_times()
    return TableBlock(
        ["", *(RIVAL_LABELS[m] for m in methods)],
        [
            ["seconds", *(_plain(Mean.of(column), 4) for column in seconds.T)],
            ["ratio to WMMD", *(_plain(Mean.of(column), 1) for column in ratios.T)],
            ["its median", *(f"{np.median(column):.1f}" for column in ratios.T)],
            ["the paper's seconds", *(_of_paper(theirs["seconds"].get(paper.plain_name(m)), 2) for m in methods)],
            ["the paper's ratio", *(_of_paper(theirs["ratio"].get(paper.plain_name(m)), 1) for m in methods)],
        ],
        f"Training time including the choice of hyperparameters; {len(seconds)} draws, all methods in turn in one "
        "process with one thread.",
    )


def timed(rows: Rows) -> tuple[list[str], np.ndarray] | None:
    """Methods and their seconds (n_draws, n_methods), from the rows that timed most methods together."""
    of_the_five = [name for name in rows.methods("timing") if set(name.split("+")) <= set(RIVAL_LABELS)]
    in_the_tables = {name: set(name.split("+")) <= set(METHOD_LABELS) for name in of_the_five}
    together = max(of_the_five, key=lambda name: (name.count("+"), in_the_tables[name]), default="")
    methods = together.split("+")
    if "wmmd" not in methods:
        return None
    (setting,) = {tuple(sorted(s.items())) for s in rows.settings("timing")}
    draws = rows.group("timing", "gaussians", together, dict(setting)).metrics.values()
    methods = [m for m in methods if all(m in found for found in draws)]  # one that is not installed has no times
    return (
        (methods, np.array([[found[m] for m in methods] for found in draws])) if draws and "wmmd" in methods else None
    )


def data_sets(rows: Rows) -> TableBlock | None:
    """Table 2: what the files hold and what is drawn, with the paper's sizes where they differ."""
    lines = []
    for name, theirs in paper.data_sets().items():
        found = rows.group("data sets", name, "count", {}).metrics.get(0)
        if found is None:
            continue
        cells = [
            _beside(found[key], theirs[key])
            for key in ("n_features", "n_rows", "n_positive", "n_unlabeled", "n_test", "prior")
        ]
        lines.append([name, *cells])
    header = ["", "columns", "rows", "positives drawn", "unlabeled drawn", "test rows", "prior"]
    caption = "The data sets as they were at hand; in brackets the paper's number where it is another."
    return TableBlock(header, lines, caption) if lines else None


def _beside(ours: float, theirs: float) -> str:
    return f"{ours:,}" if ours == theirs else f"{ours:,} ({theirs:,})"


def real_data(rows: Rows, table: str, metric: str) -> TableBlock | None:
    """Table 3 or 4, for one metric: what came out and, below, the paper's. Our own methods come after the five."""
    prior = {"table3": "known", "table4": "estimated"}[table]
    our_methods = our_methods_in(rows, EXPERIMENT)
    lines = []
    for name in paper.data_sets():
        place = Place(name, prior)
        five = groups_at(rows, place)
        ours = {method: group_at(rows, place, method) for method in our_methods}
        if any(group.is_there for group in (*five.values(), *ours.values())):
            lines += [
                [name, *_cells_of_five(place, five, table, metric), *_cells_of_ours(rows, place, ours, metric)],
                ["— the paper", *_cells_of_paper(name, table, metric), *([NOT_IN_PAPER] * len(ours))],
            ]
    header = ["", *METHOD_LABELS.values(), *our_methods]
    return TableBlock(header, lines, _caption(metric, prior, our_methods)) if lines else None


def _caption(metric: str, prior: str, our_methods: list[str]) -> str:
    text = (
        f"{METRICS[metric]}, prior {prior}: mean ± standard error (draws). Bold: the best of the five and what a "
        f"t-test at 5 % cannot tell from it. {DIFFERS}: differs from the paper by more than two standard errors of the "
        f"difference. {REMARKED}: see the notes below."
    )
    of_ours = (
        f" {', '.join(our_methods)} are not in the paper (n/a) and stand outside the bold; {ABOVE} ({BELOW}): above "
        "(below) the best of the five, tADJ in both of its readings, in a paired t-test at 5 % on the same draws."
    )
    return text + of_ours if our_methods else text


def notes(rows: Rows, prior: str) -> list[str]:
    """What has to be known of the cells of Table 3 or 4 that bear a mark."""
    labels = METHOD_LABELS | {method: method for method in our_methods_in(rows, EXPERIMENT)}
    return noted(rows, [Place(name, prior) for name in paper.data_sets()], labels)


def noted(rows: Rows, where: Sequence[Place], labels: Mapping[str, str]) -> list[str]:
    """The notes of these methods' rows, each once with all methods that bear it."""
    found: dict[tuple[str, str], list[str]] = {}
    for place in where:
        for method, label in labels.items():
            for note in group_at(rows, place, method).notes:
                found.setdefault((place.label, note), []).append(label)
    return [f"{name}, {', '.join(methods)}: {note}" for (name, note), methods in found.items()]


def _cells_of_five(place: Place, groups: dict[str, Group], table: str, metric: str) -> list[str]:
    best = best_and_equals(groups, metric)
    cells = []
    for method, group in groups.items():
        printed = paper.printed(table, metric, place.dataset, method)
        mean = group.mean(metric)
        marks = [DIFFERS] * (mean is not None and printed is not None and differs(mean, printed))
        cells.append(_cell(mean, group, marks, bold=method in best))
    return cells


def _cells_of_paper(dataset: str, table: str, metric: str) -> list[str]:
    found = [paper.printed(table, metric, dataset, method) for method in METHOD_LABELS]
    return [
        "-" if entry is None else _bold(f"{entry.value:.1f} ± {entry.error:.1f}", when=entry.bold) for entry in found
    ]


def _cells_of_ours(rows: Rows, place: Place, groups: dict[str, Group], metric: str) -> list[str]:
    cells = []
    for method, group in groups.items():
        mark = {BETTER: [ABOVE], WORSE: [BELOW]}.get(compare(rows, place, method, metric).verdict, [])
        cells.append(_cell(group.mean(metric), group, mark))
    return cells


def _cell(mean: Mean | None, group: Group, marks: list[str], *, bold: bool = False) -> str:
    if mean is None:
        return group.failures[0].split(":")[0] if group.failures else ""
    draws = f"{mean.n_draws}, others failed" if group.failures else str(mean.n_draws)
    marks = [REMARKED] * bool(group.notes) + marks
    return " ".join([_bold(f"{100 * mean.value:.1f} ± {100 * mean.error:.1f}", when=bold), f"({draws})", *marks])


def differs(mean: Mean, printed: paper.Printed) -> bool:
    """Whether ours is further from the paper's than two standard errors of the difference; one draw cannot tell."""
    error = np.hypot(100 * mean.error, max(printed.error, 0.05))
    return bool(mean.n_draws > 1 and abs(100 * mean.value - printed.value) > N_ERRORS * error)


def _bold(text: str, *, when: bool) -> str:
    return f"**{text}**" if when else text


def _plain(mean: Mean | None, digits: int) -> str:
    return "" if mean is None else f"{mean.value:,.{digits}f} ± {mean.error:,.{digits}f}"


def _of_paper(found: list[float] | None, digits: int) -> str:
    return "" if found is None else f"{found[0]:.{digits}f} ± {found[1]:.{digits}f}"
