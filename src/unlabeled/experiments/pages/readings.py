"""Other readings of what the paper leaves open, and which of them accounts for a cell that differs from the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.labels import METHOD_LABELS
from unlabeled.experiments.pages.page import TableBlock
from unlabeled.experiments.pages.real_data import LEAST_TEST_ROWS, Place, count, group_at
from unlabeled.experiments.pages.rows import Group, Mean, Rows, paired_difference
from unlabeled.experiments.pages.tables import DIFFERS, METRICS, differs

PRIOR_OF_TABLE = {"table3": "known", "table4": "estimated"}
NOT_EXPLAINED = "not explained"


@dataclass(frozen=True)
class Reading:
    """Rows that read the paper otherwise: by another method's name, or with another prior in Table 4."""

    name: str
    of: str
    method: str
    prior: str | None = None

    def mean(self, rows: Rows, dataset: str, table: str, metric: str) -> Mean | None:
        """What it gives in a cell of a table; None where it has no rows."""
        if self.prior is not None and table == "table3":
            return None
        found = group_at(rows, Place(dataset, self.prior or PRIOR_OF_TABLE[table]), self.method)
        return _mean_beside(found, group_at(rows, Place(dataset, PRIOR_OF_TABLE[table]), self.of), metric)


def _mean_beside(reading: Group, usual: Group, metric: str) -> Mean | None:
    """The mean of a reading.

    Of one with few draws it is, where this has the smaller error, the mean of all draws of the usual reading and the
    mean difference on those that both have.
    """
    own, whole, shift = reading.mean(metric), usual.mean(metric), paired_difference(reading, usual, metric)
    if own is None or whole is None or shift is None or not 1 < own.n_draws < whole.n_draws:
        return own
    error = float(np.hypot(whole.error, shift.error))
    return own if own.error <= error else Mean(whole.value + shift.value, error, own.n_draws)


READINGS = (
    Reading("plain reading", "log-released", "log"),
    Reading("plain reading", "dh-released", "dh"),
    Reading("KM1 as released", "log-released", "log-released", "km1-released"),
    Reading("KM1 as released", "dh-released", "dh-released", "km1-released"),
    Reading("KM1 as released", "nnpu", "nnpu", "km1-released"),
    Reading("unweighted", "tadj-balanced", "tadj"),
    Reading("last epoch", "nnpu", "nnpu-last"),
    Reading("last epoch, KM1 as released", "nnpu", "nnpu-last", "km1-released"),
    Reading("1e-8 added", "wmmd", "wmmd-floor"),
)
#: What if the prior had come out far too small? No estimate, and so no reading of the paper: a test of a suspicion.
SMALL = tuple(
    Reading(f"prior {prior}", method, method, prior)
    for method in ("log-released", "dh-released", "nnpu")
    for prior in ("0.05", "0.1")
)
TRIED = (
    Reading("unweighted, standardised", "tadj-balanced", "tadj-standardised"),
    Reading("unweighted, liblinear", "tadj-balanced", "tadj-liblinear"),
    Reading("unweighted, C by log-loss", "tadj-balanced", "tadj-log-loss"),
    Reading("unweighted, C by AUC", "tadj-balanced", "tadj-auc"),
    Reading("standardised", "nnpu", "nnpu-standardised"),
    Reading("batches of 20", "nnpu", "nnpu-20"),
)


@dataclass(frozen=True)
class Difference:
    """A cell that is further from the paper's than two standard errors of the difference, and what was tried."""

    table: str
    metric: str
    dataset: str
    method: str
    ours: Mean
    printed: paper.Printed
    tried: tuple[tuple[Reading, Mean], ...]
    extract: str | None = None

    @property
    def told(self) -> list[Reading]:
        """The readings with which the cell no longer differs, but for those on so few draws that it could not."""
        return [reading for reading, mean in self.tried if not differs(mean, self.printed) and self._is_seen_by(mean)]

    def _is_seen_by(self, mean: Mean) -> bool:
        """Whether the usual reading's distance would be seen with the error of this mean."""
        return differs(Mean(self.ours.value, mean.error, mean.n_draws), self.printed)

    @property
    def reason(self) -> str:
        """Readings with which the cell no longer differs, other data, or the words that there is none."""
        if self.extract is not None:
            return self.extract
        told = self.told
        shown = [
            f"{reading.name}: {_percent(mean)}{self._of_few(mean)}"
            for reading, mean in self.tried
            if reading in (told or READINGS)
        ]
        return "; ".join(shown if told else [NOT_EXPLAINED, *shown])

    def _of_few(self, mean: Mean) -> str:
        return f" ({mean.n_draws} draws)" if mean.n_draws < self.ours.n_draws else ""

    @property
    def is_explained(self) -> bool:
        """Whether a reading accounts for it."""
        return self.extract is None and bool(set(self.told) - set(SMALL))

    @property
    def has_small_prior(self) -> bool:
        """Whether nothing accounts for it but a prior far below the truth."""
        return self.extract is None and not self.is_explained and bool(self.told)


def differences(rows: Rows) -> list[Difference]:
    """All cells of Tables 3 and 4 that differ from the paper."""
    found = []
    for table, prior in PRIOR_OF_TABLE.items():
        for metric in METRICS:
            for dataset in paper.data_sets():
                for method in METHOD_LABELS:
                    mean = group_at(rows, Place(dataset, prior), method).mean(metric)
                    printed = paper.printed(table, metric, dataset, method)
                    if mean is not None and printed is not None and differs(mean, printed):
                        tried = _tried(rows, table, metric, dataset, method)
                        extract = extract_of(rows, dataset)
                        found.append(Difference(table, metric, dataset, method, mean, printed, tried, extract))
    return found


def extract_of(rows: Rows, dataset: str) -> str | None:
    """What to say of a data set of which fewer rows were at hand than the paper had; None where all were."""
    whole = int(paper.data_sets()[dataset]["n_rows"])
    if count(rows, dataset, "n_rows", whole) >= whole:
        return None
    n_test = count(rows, dataset, "n_test", LEAST_TEST_ROWS)
    return f"an extract with {n_test} test rows" if n_test < LEAST_TEST_ROWS else "an extract of the data"


def _tried(rows: Rows, table: str, metric: str, dataset: str, method: str) -> tuple[tuple[Reading, Mean], ...]:
    found = [r for r in (*READINGS, *TRIED, *SMALL) if r.of == method]
    means = [(reading, reading.mean(rows, dataset, table, metric)) for reading in found]
    return tuple((reading, mean) for reading, mean in means if mean is not None)


def summary(found: list[Difference]) -> str:
    """How many cells differ, and of how many it is known why."""
    n_extracts = sum(difference.extract is not None for difference in found)
    n_explained = sum(difference.is_explained for difference in found)
    n_small = sum(difference.has_small_prior for difference in found)
    small = f"{n_small} do not with a small prior in the place of KM1's; " if n_small else ""
    return (
        f"{len(found)} cells differ from the paper. With another reading, run on the same draws, {n_explained} of them "
        f"do not; {small}{n_extracts} are on extracts of the data; "
        f"{len(found) - n_explained - n_small - n_extracts} are not explained. {_how_many_were_tried(found)}"
    )


def _how_many_were_tried(found: list[Difference]) -> str:
    numbers = [len([r for r, _ in d.tried if r not in SMALL]) for d in found if d.extract is None]
    if not any(numbers):
        return "No other readings were run."
    return (
        f"Up to {max(numbers)} other readings were tried on one cell, so that one of them may be near the paper by "
        "chance; the right one should account for most cells of its method."
    )


def explained(rows: Rows) -> TableBlock | None:
    """Each cell that differs, beside the paper's, with the reason that was tested."""
    lines = [
        [
            f"Table {found.table[-1]}",
            found.dataset,
            f"{METHOD_LABELS[found.method]} {'AUC' if found.metric == 'auc' else 'accuracy'}",
            _percent(found.ours),
            f"{found.printed.value:.1f}",
            found.reason,
        ]
        for found in differences(rows)
    ]
    caption = (
        f"The cells marked {DIFFERS}. A reason is a reading that was run on the same draws and does not differ, with "
        "its number, and its draws where they are fewer; behind the words 'not explained' stand the readings that were "
        "run on all draws and differ too."
    )
    return TableBlock(["", "", "", "here", "paper", "tested reason"], lines, caption) if lines else None


def _percent(mean: Mean) -> str:
    return f"{100 * mean.value:.1f}"


def distances(rows: Rows, method: str) -> dict[str, list[tuple[Mean, paper.Printed]]]:
    """Each tried reading of a method and the usual one, beside the paper, where in Table 3 all were run."""
    tried = [reading for reading in (*READINGS, *TRIED) if reading.of == method and reading.prior is None]
    found: dict[str, list[tuple[Mean, paper.Printed]]] = {}
    for metric in METRICS:
        for dataset in paper.data_sets():
            usual = group_at(rows, Place(dataset, "known"), method).mean(metric)
            means = {"as in the tables": usual} | {r.name: r.mean(rows, dataset, "table3", metric) for r in tried}
            printed = paper.printed("table3", metric, dataset, method)
            there = {name: mean for name, mean in means.items() if mean is not None}
            if printed is not None and len(there) == len(means):
                for name, mean in there.items():
                    found.setdefault(name, []).append((mean, printed))
    return found


def nearest(rows: Rows, method: str) -> dict[str, tuple[int, int, float]]:
    """For each reading: cells that differ from the paper, cells in which it is nearest, mean distance in points."""
    found = distances(rows, method)
    gaps = {name: np.array([abs(100 * mean.value - p.value) for mean, p in cells]) for name, cells in found.items()}
    least = np.min(list(gaps.values()), axis=0) if gaps else np.array([])
    return {
        name: (sum(differs(*cell) for cell in cells), int((gaps[name] == least).sum()), float(gaps[name].mean()))
        for name, cells in found.items()
    }


def _nearest_table(rows: Rows) -> TableBlock | None:
    lines = [
        [METHOD_LABELS[method], name, str(n_differing), str(n_nearest), f"{distance:.1f}"]
        for method in ("tadj-balanced", "nnpu")
        for name, (n_differing, n_nearest, distance) in nearest(rows, method).items()
    ]
    n_cells = {METHOD_LABELS[m]: len(next(iter(distances(rows, m).values()), [])) for m in ("tadj-balanced", "nnpu")}
    counts = ", ".join(f"{n} of {label}" for label, n in n_cells.items() if n)
    caption = f"Over the cells of Table 3 in which all were run: {counts}. Distance: mean, in points."
    header = ["", "reading", "cells that differ", "cells in which it is nearest", "distance from the paper"]
    return TableBlock(header, lines, caption) if lines else None


def tables(rows: Rows) -> list[tuple[str, TableBlock]]:
    """What the other readings give in Tables 3 and 4, each with its heading."""
    shown = (("table3", READINGS, "other readings"), ("table4", READINGS, "other readings"))
    tried = (("table3", TRIED, "readings that were tried"), ("table4", SMALL, "a small prior in the place of KM1's"))
    found = [
        (f"Table {name[-1]}, {what}: {METRICS[metric]}", table(rows, name, metric, readings))
        for name, readings, what in (*shown, *tried)
        for metric in METRICS
    ]
    found.append(("Table 3, which of the readings that were tried is nearest", _nearest_table(rows)))
    return [(heading, made) for heading, made in found if made is not None]


def table(rows: Rows, name: str, metric: str, readings: tuple[Reading, ...] = READINGS) -> TableBlock | None:
    """What these readings give in Table 3 or 4."""
    lines = []
    for dataset in paper.data_sets():
        means = [reading.mean(rows, dataset, name, metric) for reading in readings]
        if any(mean is not None for mean in means):
            cells = [
                _cell(mean, paper.printed(name, metric, dataset, r.of)) for mean, r in zip(means, readings, strict=True)
            ]
            lines.append([dataset, *cells])
    header = ["", *(f"{METHOD_LABELS[reading.of]}, {reading.name}" for reading in readings)]
    shown = [i for i in range(len(header)) if any(line[i] for line in lines)]
    if not lines:
        return None
    caption = f"{METRICS[metric]} by other readings of what the paper leaves open, marked as above."
    if readings != READINGS:
        caption = (
            f"{METRICS[metric]} on the first draws. Where its error is the smaller one, the mean is that of all draws "
            "in the table above and the difference on these."
        )
    return TableBlock([header[i] for i in shown], [[line[i] for i in shown] for line in lines], caption)


def _cell(mean: Mean | None, printed: paper.Printed | None) -> str:
    if mean is None:
        return ""
    mark = f" {DIFFERS}" if printed is not None and differs(mean, printed) else ""
    return f"{100 * mean.value:.1f} ± {100 * mean.error:.1f} ({mean.n_draws}){mark}"
