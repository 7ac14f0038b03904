"""``unlabeled prior``: all estimates of the share of positives, side by side."""

from __future__ import annotations

from dataclasses import asdict

from unlabeled.cli import options
from unlabeled.cli.learning_table import read_learning_table
from unlabeled.cli.output import collected_warnings, progress, say, say_json, show_table
from unlabeled.cli.prior_estimate import ESTIMATORS, PriorEstimate, estimate_prior

#: Estimators whose assumption (classes that hardly overlap) makes them come out too large otherwise.
UPPER_BOUNDS = ("density", "elkan-noto")


def prior(
    table: options.TablePath,
    *,
    label: options.Label,
    positive: options.Positive = None,
    scenario: options.Scenario = "single-sample",
    category: options.Category = None,
    identifier: options.Identifier = None,
    drop: options.Drop = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the share of positives by every method at hand, and say whether they agree.

    For example:

        unlabeled prior customers.parquet --label fraud
    """
    found: dict[str, PriorEstimate] = {}
    failed: dict[str, str] = {}
    with collected_warnings() as warned:
        learning = read_learning_table(
            table, label, positive, categories=category or (), identifiers=identifier or (), drop=drop or ()
        )
        with progress("estimating") as advance:
            for name in ESTIMATORS:
                try:
                    found[name] = estimate_prior(name, learning.features, learning.y, scenario)
                except ValueError as error:
                    failed[name] = str(error)
                advance(1)
    verdict = judge(found)
    if as_json:
        estimates = {name: asdict(estimate) for name, estimate in found.items()}
        say_json({"estimates": estimates, "failed": failed, "verdict": verdict, "warnings": warned})
        return
    say("Read", learning.describe())
    least = learning.labelled_share if scenario == "single-sample" else 0.0
    say("Labels", f"{learning.labels.n_positive:,} positives: the prior is at least {least:.3f}")
    rows = [(name, f"{e.value:.3f}", f"{e.low:.3f} to {e.high:.3f}", _kind(name)) for name, e in found.items()]
    rows += [(name, "none", "", reason) for name, reason in failed.items()]
    show_table(("estimator", "prior", "95 % interval", ""), rows)
    say("Verdict", verdict)
    for warning in warned:
        say("Warning", warning)


def judge(found: dict[str, PriorEstimate]) -> str:
    """Whether the estimates agree, in a sentence; upper bounds have no vote."""
    votes = sorted(estimate.value for name, estimate in found.items() if name not in UPPER_BOUNDS)
    if len(votes) < 2:
        return "There are too few estimates to compare."
    middle, spread = votes[len(votes) // 2], votes[-1] - votes[0]
    of = f"{votes[0]:.3f} to {votes[-1]:.3f} ({', '.join(UPPER_BOUNDS)} set aside: upper bounds)"
    if spread <= max(0.03, 0.25 * middle):
        return f"The estimates agree: {of}."
    if spread <= max(0.1, 0.6 * middle):
        return f"The estimates agree roughly: {of}. Treat counts that follow from it as rough too."
    return f"The estimates disagree: {of}. Use what you know of the matter: fit --prior X."


def _kind(name: str) -> str:
    return "an upper bound where the classes overlap" if name in UPPER_BOUNDS else ""
