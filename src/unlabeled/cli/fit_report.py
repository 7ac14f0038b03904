"""What `unlabeled fit` reports: to people, to machines, and in the model file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unlabeled.cli.learning_table import LearningTable
from unlabeled.cli.output import say
from unlabeled.evaluation import Estimates
from unlabeled.explanations import in_words
from unlabeled.priors import PriorEstimate
from unlabeled.tables import Columns

FEW_POSITIVES = 10
_SCENARIOS = {
    "single-sample": "single-sample: all rows are the population, and some of its positives are labelled",
    "case-control": "case-control: the unlabeled rows are the population, and positives were added to them",
}


@dataclass(frozen=True)
class FitReport:
    """A table, the classifier that was fitted to it and how, its prior, and what to expect of it."""

    learning: LearningTable
    classifier: Any
    method: str
    scenario: str
    prior: PriorEstimate
    estimates: Estimates | None
    warned: tuple[str, ...]
    out: Path

    @property
    def remarks(self) -> list[str]:
        """What a person should know before trusting the result."""
        remarks, n_positive, prior = list(self.warned), self.learning.labels.n_positive, self.prior
        if n_positive < FEW_POSITIVES:
            remarks.append(f"{n_positive} labelled positives are few: expect large errors below ten or so.")
        if self.estimates is None:
            remarks.append("There are too few rows to hold any out, so recall and precision are not estimated.")
        elif self.estimates.roc_auc < 0.65:
            remarks.append(
                f"The columns hardly tell positives from others (AUC {max(self.estimates.roc_auc, 0):.2f}; 0.5 is "
                "chance): the ranking will be of little use."
            )
        if prior.low is not None and prior.high is not None and prior.high - prior.low > 0.3:
            remarks.append(
                "The prior is uncertain. Give it if you know it (--prior); `unlabeled prior` shows more estimates."
            )
        return remarks

    def facts(self) -> dict[str, Any]:
        """All that is told, for machines and for the model file."""
        return {
            "table": str(self.learning.source.path),
            "format": self.learning.source.format.name,
            "notes": self.learning.source.notes,
            "n_rows": len(self.learning.frame),
            "label": {"positive": self.learning.labels.positive, "n_positive": self.learning.labels.n_positive},
            "columns": [
                {"name": c.name, "kind": c.kind, "note": c.note, "said": c.said} for c in self.learning.columns.all
            ],
            "scenario": self.scenario,
            "prior": asdict(self.prior),
            "method": self.method,
            "threshold": float(self.classifier.threshold_),
            "estimates": None if self.estimates is None else asdict(self.estimates),
            "warnings": self.remarks,
            "model": str(self.out),
        }

    def tell(self) -> None:
        """In lines, when the model is written."""
        labels, prior, n_rows = self.learning.labels, self.prior, len(self.learning.frame)
        n_unlabeled = n_rows - labels.n_positive
        say("Read", self.learning.describe(), *self.learning.source.notes)
        say("Labels", f"{labels.n_positive:,} positives ({labels.positive!r}), {n_unlabeled:,} unlabeled rows")
        say("Scenario", _SCENARIOS[self.scenario])
        say("Columns", *_column_lines(self.learning.columns))
        n_population = n_rows if self.scenario == "single-sample" else n_unlabeled
        say("Prior", _prior_line(prior), f"about {prior.value * n_population:,.0f} positives in {n_population:,} rows")
        say("Method", *self._method_lines())
        say("Threshold", f"rows with a log ratio above {self.classifier.threshold_:.3f} are flagged")
        if self.estimates is not None:
            say("Estimates", _estimates_line(self.estimates))
        for remark in self.remarks:
            say("Warning", remark)
        say("Model", f"{self.out} ({self.out.stat().st_size / 1e6:.1f} MB)")

    def _method_lines(self) -> list[str]:
        """What scores the rows, and why, where it was a choice."""
        reason = getattr(self.classifier, "reason_", None)
        return [f"{self.method}: {in_words(self.classifier)}", *([] if reason is None else [reason])]


def _prior_line(prior: PriorEstimate) -> str:
    if prior.low is None:
        return f"{prior.value:.3f}, {prior.source}"
    return f"{prior.value:.3f} (95 % interval {prior.low:.3f} to {prior.high:.3f}), by {prior.source}"


def _estimates_line(estimates: Estimates) -> str:
    return (
        f"recall {estimates.recall:.2f}, precision {estimates.precision:.2f}, flagged {estimates.flagged_rate:.1%} "
        "of the population (each row scored without itself)"
    )


def _column_lines(columns: Columns, most: int = 12) -> list[str]:
    """A line for each kind of column, one for each that was guessed or is left out, and how to say it otherwise."""
    lines = []
    for kind in dict.fromkeys(column.kind for column in columns.used):
        names = [column.name or "(no name)" for column in columns.used if column.kind == kind]
        lines.append(f"{kind}: {', '.join(names[:most])}{_and_more(names, most)}")
    guessed = [column for column in columns.used if column.kind in {"number", "text"} and column.note]
    for told in (guessed, [column for column in columns.all if not column.used]):
        lines += [f"{column.name or '(no name)'}: {column.kind}, {column.note}" for column in told[:most]]
        lines += [f"{len(told) - most:,} more such"] if len(told) > most else []
    options = " ".join(f"--column {shlex.quote(column.said)}" for column in columns.all[:most])
    return [*lines, f"to change it: {options}{_and_more(columns.all, most)}"]


def _and_more(values: Sequence[object], most: int) -> str:
    return f" and {len(values) - most:,} more" if len(values) > most else ""
