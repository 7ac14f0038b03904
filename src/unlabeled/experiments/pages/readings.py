"""Other readings of what the paper leaves open, and which of them accounts for a cell that differs from the paper."""

from __future__ import annotations

from dataclasses import dataclass

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.labels import METHOD_LABELS
from unlabeled.experiments.pages.page import TableBlock
from unlabeled.experiments.pages.real_data import Place, group_at
from unlabeled.experiments.pages.rows import Mean, Rows
from unlabeled.experiments.pages.tables import DIFFERS, METRICS, differs

PRIOR_OF_TABLE = {"table3": "known", "table4": "estimated"}
NOT_EXPLAINED = "not explained"
#: Of these the whole file was not at hand: other rows, and fewer of them.
EXTRACTS = {"HIGGS": "an extract of the data", "epsilon_normalized": "an extract with 25 test rows"}


@dataclass(frozen=True)
class Reading:
    """Rows that read the paper otherwise: by another method's name, or with another estimate of the prior."""

    name: str
    of: str
    method: str
    prior: str | None = None

    def mean(self, rows: Rows, dataset: str, table: str, metric: str) -> Mean | None:
        """What it gives in a cell of a table; None where it has no rows."""
        if self.prior is not None and table == "table3":
            return None
        return group_at(rows, Place(dataset, self.prior or PRIOR_OF_TABLE[table]), self.method).mean(metric)


READINGS = (
    Reading("plain reading", "log-released", "log"),
    Reading("plain reading", "dh-released", "dh"),
    Reading("KM1 as released", "log-released", "log-released", "km1-released"),
    Reading("KM1 as released", "dh-released", "dh-released", "km1-released"),
    Reading("KM1 as released", "nnpu", "nnpu", "km1-released"),
    Reading("1e-8 added", "wmmd", "wmmd-floor"),
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
    tried: tuple[tuple[str, Mean], ...]

    @property
    def reason(self) -> str:
        """A reading with which the cell no longer differs, other data, or the words that there is none."""
        if self.dataset in EXTRACTS:
            return EXTRACTS[self.dataset]
        told = [f"{name}: {_percent(mean)}" for name, mean in self.tried if not differs(mean, self.printed)]
        tried = [f"{name}: {_percent(mean)}" for name, mean in self.tried]
        return "; ".join(told) or "; ".join([NOT_EXPLAINED, *tried])

    @property
    def is_explained(self) -> bool:
        """Whether a tested reason was found."""
        return self.dataset not in EXTRACTS and not self.reason.startswith(NOT_EXPLAINED)


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
                        found.append(Difference(table, metric, dataset, method, mean, printed, tried))
    return found


def _tried(rows: Rows, table: str, metric: str, dataset: str, method: str) -> tuple[tuple[str, Mean], ...]:
    means = [(reading, reading.mean(rows, dataset, table, metric)) for reading in READINGS if reading.of == method]
    return tuple((reading.name, mean) for reading, mean in means if mean is not None)


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
        "its number; behind the words 'not explained' stand the readings that were run and differ too."
    )
    return TableBlock(["", "", "", "here", "paper", "tested reason"], lines, caption) if lines else None


def _percent(mean: Mean) -> str:
    return f"{100 * mean.value:.1f}"


def table(rows: Rows, name: str, metric: str) -> TableBlock | None:
    """What the other readings give in Table 3 or 4."""
    lines = []
    for dataset in paper.data_sets():
        means = [reading.mean(rows, dataset, name, metric) for reading in READINGS]
        if any(mean is not None for mean in means):
            cells = [
                _cell(mean, paper.printed(name, metric, dataset, r.of)) for mean, r in zip(means, READINGS, strict=True)
            ]
            lines.append([dataset, *cells])
    header = ["", *(f"{METHOD_LABELS[reading.of]}, {reading.name}" for reading in READINGS)]
    shown = [i for i in range(len(header)) if any(line[i] for line in lines)]
    if not lines:
        return None
    caption = f"{METRICS[metric]} by other readings of what the paper leaves open, marked as above."
    return TableBlock([header[i] for i in shown], [[line[i] for i in shown] for line in lines], caption)


def _cell(mean: Mean | None, printed: paper.Printed | None) -> str:
    if mean is None:
        return ""
    mark = f" {DIFFERS}" if printed is not None and differs(mean, printed) else ""
    return f"{100 * mean.value:.1f} ± {100 * mean.error:.1f} ({mean.n_draws}){mark}"
