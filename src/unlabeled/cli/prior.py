"""``unlabeled prior``: all estimates of the share of positives, side by side."""

from __future__ import annotations

from dataclasses import asdict

from unlabeled.cli import options
from unlabeled.cli.fit import check_negatives, fitted
from unlabeled.cli.learning_table import read_learning_table
from unlabeled.cli.methods import DEFAULT_METHOD
from unlabeled.cli.output import collected_warnings, say, say_json, show_table, shown_progress
from unlabeled.priors import compare_priors
from unlabeled.priors.comparison import UPPER_BOUNDS
from unlabeled.priors.scar import told_once
from unlabeled.tables import Table, parse_kinds


def prior(
    table: options.TablePath,
    *,
    label: options.Label,
    positive: options.Positive = None,
    negative: options.Negative = None,
    negatives_are: options.NegativesAre = "auto",
    scenario: options.Scenario = "single-sample",
    column: options.Column = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the share of positives by every method there is, and say whether they agree.

    For example:

        unlabeled prior customers.parquet --label fraud
    """
    check_negatives(negative, negatives_are)
    with collected_warnings() as warned, shown_progress("Reading") as show:
        source, kinds = Table.open(table, encoding=encoding), parse_kinds(column or ())
        learning = read_learning_table(source, label, positive, negative=negative, kinds=kinds, decimal=decimal)
        done: list[str] = []

        def estimated(name: str) -> None:
            done.append(name)
            show(f"Estimating from {len(learning.frame):,} rows; done: {', '.join(done)}")

        with told_once():
            # Its prior is that of `unlabeled fit`, and the only one that known negatives have a say in.
            classifier, _ = fitted(DEFAULT_METHOD, "auto", learning, scenario, negatives_are)
            X, y = learning.two_samples(scenario)
            compared = compare_priors(X, y, scenario=scenario, classifier=classifier, on_estimate=estimated)
    found, failed, verdict = compared.estimates, compared.failures, compared.verdict
    if as_json:
        untold = {"value": None} if compared.few else {}
        estimates = {name: asdict(estimate) | untold for name, estimate in found.items()}
        say_json({"estimates": estimates, "failed": failed, "verdict": verdict, "warnings": warned})
        return
    say("Read", learning.describe(), *learning.source.notes)
    least = learning.labelled_share if scenario == "single-sample" else 0.0
    say("Labels", f"{learning.labels.n_positive:,} positives: the prior is at least {least:.3f}")
    rows = [
        (name, "" if compared.few else f"{e.value:.3f}", f"{e.low:.3f} to {e.high:.3f}", _kind(name))
        for name, e in found.items()
    ]
    rows += [(name, "none", "", reason) for name, reason in failed.items()]
    show_table(("estimator", "prior", "95 % interval", ""), rows)
    say("Verdict", verdict, *(["unlabeled fit takes it: --prior X"] if compared.disagree else []))
    for warning in warned:
        say("Warning", warning)


def _kind(name: str) -> str:
    return "an upper bound where the classes overlap" if name in UPPER_BOUNDS else ""
