"""The paper's tables from rows, each beside the paper's own numbers."""

from __future__ import annotations

import numpy as np

from unlabeled.report import paper
from unlabeled.report.labels import METHOD_LABELS
from unlabeled.report.page import Table
from unlabeled.report.rows import Group, Mean, Rows, best_and_equals

METRICS = {"accuracy": "Accuracy (%)", "auc": "AUC x 100"}
DIFFERS, REMARKED = "≠", "†"
#: Beyond twice its standard error a difference from the paper is marked.
N_ERRORS = 2.0


def training_times(rows: Rows) -> Table | None:
    """Table 1: seconds of `fit` and their ratio to WMMD's, and the paper's ratio."""
    found = timed(rows)
    if found is None:
        return None
    methods, seconds = found
    ratios = seconds / seconds[:, [methods.index("wmmd")]]
    theirs = paper.training_times()
    return Table(
        ["", *(METHOD_LABELS[m] for m in methods)],
        [
            ["seconds", *(_plain(Mean.of(column), 4) for column in seconds.T)],
            ["ratio to WMMD", *(_plain(Mean.of(column), 1) for column in ratios.T)],
            ["the paper's seconds", *(_of_paper(theirs["seconds"].get(m), 2) for m in methods)],
            ["the paper's ratio", *(_of_paper(theirs["ratio"].get(m), 1) for m in methods)],
        ],
        f"Training time including the choice of hyperparameters; {len(seconds)} draws, all methods in turn in one "
        "process with one thread.",
    )


def timed(rows: Rows) -> tuple[list[str], np.ndarray] | None:
    """Methods and their seconds (n_draws, n_methods), from the rows that timed most methods together."""
    together = max(rows.methods("timing"), key=lambda name: name.count("+"), default="")
    methods = together.split("+")
    if "wmmd" not in methods:
        return None
    (setting,) = {tuple(sorted(s.items())) for s in rows.settings("timing")}
    draws = rows.group("timing", "gaussians", together, dict(setting)).metrics.values()
    methods = [m for m in methods if all(m in found for found in draws)]  # one that is not installed has no times
    return (
        (methods, np.array([[found[m] for m in methods] for found in draws])) if draws and "wmmd" in methods else None
    )


def data_sets(rows: Rows) -> Table | None:
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
    return Table(header, lines, caption) if lines else None


def _beside(ours: float, theirs: float) -> str:
    return f"{ours:,}" if ours == theirs else f"{ours:,} ({theirs:,})"


def real_data(rows: Rows, table: str, metric: str) -> Table | None:
    """Table 3 or 4, for one metric: ours and, below, the paper's."""
    prior = {"table3": "known", "table4": "estimated"}[table]
    lines = []
    for name in paper.data_sets():
        groups = real_groups(rows, name, prior)
        if any(group.metrics or group.failures for group in groups.values()):
            lines += _ours_and_theirs(name, groups, table, metric)
    caption = (
        f"{METRICS[metric]}, prior {prior}: mean ± standard error (draws). Bold: the best and what a t-test at 5 % "
        f"cannot tell from it. {DIFFERS}: differs from the paper by more than two standard errors of the difference. "
        f"{REMARKED}: see the notes below."
    )
    return Table(["", *METHOD_LABELS.values()], lines, caption) if lines else None


def notes(rows: Rows, prior: str) -> list[str]:
    """What has to be known of the cells of Table 3 or 4 that bear a mark."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in paper.data_sets():
        for method, group in real_groups(rows, name, prior).items():
            for note in group.notes:
                found.setdefault((name, note), []).append(METHOD_LABELS[method])
    return [f"{name}, {', '.join(methods)}: {note}" for (name, note), methods in found.items()]


def real_groups(rows: Rows, dataset: str, prior: str) -> dict[str, Group]:
    """Each paper method's draws on a real data set; rows of reduced size where there are no others."""
    return {method: real_group(rows, dataset, method, prior) for method in METHOD_LABELS}


def real_group(rows: Rows, dataset: str, method: str, prior: str, layout: str = "paper") -> Group:
    """One method's draws on a real data set. tADJ uses no prior: what it does with a known one serves for both."""
    wanted = {"prior": "known" if method == "tadj" else prior} | ({} if layout == "paper" else {"layout": layout})
    whole = rows.group("real data", dataset, method, wanted)
    if whole.metrics or whole.failures:
        return whole
    reduced = [
        s
        for s in rows.settings("real data")
        if "n_unlabeled" in s and s | {"n_unlabeled": 0} == wanted | {"n_unlabeled": 0}
    ]
    return rows.group("real data", dataset, method, max(reduced, key=lambda s: s["n_unlabeled"])) if reduced else whole


def _ours_and_theirs(name: str, groups: dict[str, Group], table: str, metric: str) -> list[list[str]]:
    best = best_and_equals(groups, metric)
    ours, theirs = [], []
    for method, group in groups.items():
        printed = paper.printed(table, metric, name, method)
        mean = group.mean(metric)
        ours.append(_our_cell(mean, group, printed, bold=method in best))
        theirs.append(
            "-" if printed is None else _bold(f"{printed.value:.1f} ± {printed.error:.1f}", when=printed.bold)
        )
    return [[name, *ours], ["— the paper", *theirs]]


def _our_cell(mean: Mean | None, group: Group, printed: paper.Printed | None, *, bold: bool) -> str:
    if mean is None:
        return group.failures[0].split(":")[0] if group.failures else ""
    draws = f"{mean.n_draws}, others failed" if group.failures else str(mean.n_draws)
    marks = [REMARKED] * bool(group.notes) + [DIFFERS] * (printed is not None and differs(mean, printed))
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
