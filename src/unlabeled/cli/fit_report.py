"""What `unlabeled fit` reports: to people, to machines, and in the model file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unlabeled.bias import ScarTest
from unlabeled.cli.learning_table import LearningTable
from unlabeled.cli.output import say
from unlabeled.deciding.adapting import LEVEL
from unlabeled.evaluation import Estimate, Estimates
from unlabeled.explanations import in_words
from unlabeled.priors import PriorEstimate
from unlabeled.priors.limits import ENOUGH_POSITIVES, why_open
from unlabeled.tables import Columns
from unlabeled.tables.profile import ColumnProfile, profile
from unlabeled.tables.reading import STANDARD_INPUT

#: Columns by which labels are told to differ, for machines.
MOST_COLUMNS = 10
_SCENARIOS = {
    "single-sample": "single-sample: all rows are the population, and some of its positives are labelled",
    "case-control": "case-control: the unlabeled rows are the population, and positives were added to them",
}


@dataclass(frozen=True)
class FitReport:
    """A table, the classifier that was fitted to it and how, its prior, what to expect of it, and how labels look."""

    learning: LearningTable
    classifier: Any
    method: str
    scenario: str
    prior: PriorEstimate
    estimates: Estimates | None
    labels: ScarTest
    warned: tuple[str, ...]
    out: Path

    @property
    def remarks(self) -> list[str]:
        """What a person should know before trusting the result."""
        remarks, prior, estimates = list(self.warned), self.prior, self.estimates
        if self.labels.rejects_:
            remarks.append(self.labels.verdict_ + self._sensitivity_in_words())
        elif self.contradicts_estimate:
            remarks.append(self._contradiction_in_words())
        if estimates is None:
            remarks.append("There are too few rows to hold any out, so recall and precision are not estimated.")
        elif estimates.recall.value is None:
            remarks.append(self._what_few_positives_tell(estimates))
        elif estimates.roc_auc.value is not None and estimates.roc_auc.value < 0.65:
            remarks.append(
                f"The columns hardly tell positives from others (AUC {estimates.roc_auc.value:.2f}; 0.5 is chance): "
                "the ranking will be of little use."
            )
        if prior.low is not None:
            least = self.learning.labelled_share if self.scenario == "single-sample" else 0.0
            if doubt := why_open(prior.ends, least, self.learning.labels.n_positive):
                remarks.append(f"{doubt} Give it if you know it (--prior); `unlabeled prior` shows more estimates.")
        return remarks

    def facts(self) -> dict[str, Any]:
        """All that is told, for machines and for the model file."""
        return {
            "table": str(self.learning.source.path),
            "format": self.learning.source.format.name,
            "notes": self.learning.notes,
            "n_rows": self.learning.n_rows,
            "label": {"positive": self.learning.labels.positive, "n_positive": self.learning.labels.n_positive},
            "negatives": self._negative_facts(),
            "columns": [
                {"name": c.name, "kind": c.kind, "note": c.note, "said": c.said} for c in self.learning.columns.all
            ],
            "scenario": self.scenario,
            "prior": asdict(self.prior),
            "method": self.method,
            "threshold": float(self.classifier.threshold_),
            "estimates": None if self.estimates is None else asdict(self.estimates),
            "labelling": {
                "p_value": self.labels.p_value_,
                "largest_prior": self.largest_prior,
                "contradicts_estimate": self.contradicts_estimate,
                "sensitivity": [{"prior": prior, "p_value": p_value} for prior, p_value in self.sensitivity.items()],
                "verdict": self._contradiction_in_words() if self.contradicts_estimate else self.labels.verdict_,
                "columns": [asdict(column) for column in self.labels.columns_[:MOST_COLUMNS]],
            },
            "profile": [column.as_dict() for column in self._profile()],
            "warnings": self.remarks,
            "model": str(self.out),
        }

    def tell(self) -> None:
        """In lines, when the model is written."""
        labels, prior = self.learning.labels, self.prior
        n_unlabeled = self.learning.n_rows - labels.n_positive - labels.n_negative
        say("Read", self.learning.describe(), *self.learning.notes)
        counts = f"{labels.n_positive:,} positives ({labels.positive!r}), {n_unlabeled:,} unlabeled rows"
        is_warned_of = self.labels.rejects_ or self.contradicts_estimate
        say("Labels", counts, *([] if is_warned_of else [self._labels_line()]))
        if labels.n_negative:
            say("Negatives", *self._negative_lines())
        say("Scenario", _SCENARIOS[self.scenario])
        say("Columns", *_column_lines(self.learning.columns))
        say("Prior", _prior_line(prior, few=labels.n_positive < ENOUGH_POSITIVES), *self._count_lines())
        say("Method", *self._method_lines())
        say("Threshold", f"rows with a log ratio above {self.classifier.threshold_:.3f} are flagged")
        if self.estimates is not None:
            say("Estimates", *_estimate_lines(self.estimates, self._n_population))
        for remark in self.remarks:
            say("Warning", remark)
        say("Model", f"{self.out} ({self.out.stat().st_size / 1e6:.1f} MB)")
        say("Report", f"unlabeled report {self._report_arguments()}")

    def _report_arguments(self) -> str:
        """What to write after `unlabeled report` for a page about this model and its table, if that can be read."""
        table = str(self.learning.source.path)
        is_there = table != STANDARD_INPUT and getattr(self.learning, "shortage", None) is None
        words = [str(self.out), *([table] if is_there else [])]
        return " ".join([*map(shlex.quote, words), "--out", shlex.quote(str(self.out.with_suffix(".html")))])

    @cached_property
    def largest_prior(self) -> float:
        """The largest prior that labels at random agree with."""
        return self.labels.largest_prior()

    @cached_property
    def contradicts_estimate(self) -> bool:
        """Whether labels at random agree with no prior as large as the estimate, all of its interval.

        An estimate from labels at random alone can hardly be so; known negatives tell the prior in another way.
        """
        low = self.prior.low
        return low is not None and self.labels.prior is None and not self.labels.rejects_ and low > self.largest_prior

    def _contradiction_in_words(self) -> str:
        doubt = "labels do not look as if they were given completely at random"
        if self._has_say_of_negatives:
            doubt += ", or the known negatives are no random choice of all negatives (--negatives-are selected)"
        return (
            f"Labels at random agree with priors up to {self.largest_prior:.3f}, and the estimate is "
            f"{self.prior.value:.3f} ({self.prior.low:.3f} to {self.prior.high:.3f}): {doubt}."
        )

    @property
    def _has_say_of_negatives(self) -> bool:
        known = getattr(self.classifier, "known_negatives_", None)
        return known is not None and known.weight > 0

    @cached_property
    def sensitivity(self) -> dict[float, float]:
        """The p-value of labels at random by prior, at the one that was given and 20 % off it; empty without one."""
        if self.labels.prior is None or self.labels.tells_nothing_:
            return {}
        return self.labels.sensitivity()

    def _sensitivity_in_words(self) -> str:
        others = {prior: p_value for prior, p_value in self.sensitivity.items() if abs(prior - self.prior.value) > 1e-9}
        told = [f"p = {p_value:.2g} at {prior:.3g}" for prior, p_value in others.items()]
        return f" Were the prior another: {', '.join(told)}." if told else ""

    def _labels_line(self) -> str:
        """The verdict on labels at random; for a prior that was estimated from them, a comparison and no p-value."""
        if self.labels.prior is not None or self.labels.tells_nothing_:
            return self.labels.verdict_ + self._sensitivity_in_words()
        largest, estimate = self.largest_prior, self.prior.value
        if largest == 1:
            return "Labels at random agree with any prior here; much bias cannot be seen."
        agrees = (
            f"and so with the estimate, {estimate:.3f}" if estimate <= largest else f"the estimate is {estimate:.3f}"
        )
        rests = "rests in part on" if self._has_say_of_negatives else "rests on"
        return (
            f"Labels at random agree with priors up to {largest:.3f}, {agrees}. An estimate {rests} labels at random: "
            "only a prior that you know (--prior) tests them."
        )

    def _profile(self) -> list[ColumnProfile]:
        """What the columns of the population look like, so that other tables can be compared with them."""
        frame, labels = self.learning.frame, self.learning.labels
        if self.scenario == "case-control":
            frame = frame.filter(~labels.is_positive)
        return profile(frame, self.learning.columns)

    @property
    def _n_population(self) -> int:
        """How many rows of the table are the population."""
        n_rows = self.learning.n_rows
        labels = self.learning.labels
        return n_rows if self.scenario == "single-sample" else n_rows - labels.n_positive - labels.n_negative

    def _negative_facts(self) -> dict[str, Any] | None:
        """How known negatives enter the score; None where there are none."""
        known = getattr(self.classifier, "known_negatives_", None)
        if known is None:
            return None
        labels = self.learning.labels
        told = {"eta": known.eta, "weight": known.weight, "p_value": known.p_value}
        return {"negative": labels.negative, "n_negative": labels.n_negative, **told}

    def _negative_lines(self) -> list[str]:
        labels, known = self.learning.labels, self.classifier.known_negatives_
        lines = [f"{labels.n_negative:,} known negatives ({labels.negative!r})"]
        lines.append(f"the score goes by them for {1 - known.eta:.0%}, by the population for {known.eta:.0%}")
        if known.weight == 0:
            lines.append("They have no say in the prior")
        elif known.p_value is not None and known.p_value >= LEVEL:
            lines.append(f"Nothing speaks against a random choice of all negatives (p = {known.p_value:.2g})")
        return lines

    def _count_lines(self) -> list[str]:
        """How many positives the table holds, where that can be told."""
        count = None if self.estimates is None else self.estimates.n_positives
        if count is None or count.value is None:
            return []
        return [f"about {count.value:,.0f} positives in {self._n_population:,} rows ({_range(count, ',.0f')})"]

    def _what_few_positives_tell(self, found: Estimates) -> str:
        """What can and what cannot be known."""
        n_positive, unknown, ranges = self.learning.labels.n_positive, "recall and precision", ""
        if found.n_positives.value is None:
            unknown = "recall, precision and the number of positives"
            ranges = f", and {_range(found.n_positives, ',.0f')} of {self._n_population:,} rows may be positive"
        return (
            f"With {n_positive} labelled positives the ranking can be used; {unknown} cannot be told. Recall may be "
            f"{_range(found.recall, '.2f')}, precision {_range(found.precision, '.2f')}{ranges} (95 % intervals). From "
            f"{ENOUGH_POSITIVES} positives on they are estimated."
        )

    def _method_lines(self) -> list[str]:
        """What scores the rows, and why, where it was a choice."""
        reason = getattr(self.classifier, "reason_", None)
        return [f"{self.method}: {in_words(self.classifier)}", *([] if reason is None else [reason])]


def _prior_line(prior: PriorEstimate, *, few: bool) -> str:
    if prior.low is None:
        return f"{prior.value:.3f}, {prior.source}"
    interval = f"95 % interval {prior.low:.3f} to {prior.high:.3f}"
    return f"{prior.value:.3f}{' in use' if few else ''} ({interval}), by {prior.source}"


def _estimate_lines(found: Estimates, n_population: int) -> list[str]:
    """What can be told, with 95 % intervals."""
    rate = found.flagged_rate
    shares = [_with_range(name, getattr(found, name)) for name in ("recall", "precision")]
    flagged = f"flagged {rate.value:.1%} ({_range(rate, '.1%')}) of the population"
    lines = [", ".join([share for share in shares if share] + [flagged])]
    if (hits := found.n_flagged_positives).value is not None and rate.value:
        n_flagged = rate.value * n_population
        lines.append(f"about {hits.value:,.0f} ({_range(hits, ',.0f')}) of {n_flagged:,.0f} flagged rows are positive")
    return [*lines, "in brackets 95 % intervals; each row was scored without itself"]


def _with_range(name: str, share: Estimate) -> str | None:
    return None if share.value is None else f"{name} {share.value:.2f} ({_range(share, '.2f')})"


def _range(found: Estimate, form: str) -> str:
    return f"{found.low:{form}} to {found.high:{form}}"


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
