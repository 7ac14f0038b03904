"""``unlabeled fit``: from a table to a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from unlabeled.bias import ScarTest
from unlabeled.cli import options
from unlabeled.cli.failures import check_output
from unlabeled.cli.fit_report import FitReport
from unlabeled.cli.learning_table import NEGATIVE, LearningTable, read_learning_table
from unlabeled.cli.methods import DEFAULT_METHOD, METHODS
from unlabeled.cli.out_of_core import Learned, find_shortage, learned_in_pieces
from unlabeled.cli.output import collected_warnings, remark, say_json, shown_progress
from unlabeled.evaluation import evaluate
from unlabeled.priors import PriorEstimate, PriorWarning, ScarWarning
from unlabeled.saving import save
from unlabeled.stages import stage
from unlabeled.tables import Table, TableError, TableModel, parse_kinds
from unlabeled.tables.compressed import COMPRESSED_SUFFIXES
from unlabeled.tables.reading import STANDARD_INPUT, parquet_files


def fit(
    table: options.TablePath,
    *,
    label: options.Label,
    positive: options.Positive = None,
    negative: options.Negative = None,
    negatives_are: options.NegativesAre = "auto",
    prior: Annotated[
        str, typer.Option(metavar="X|auto", help="Share of positives in the population, or auto: estimate it.")
    ] = "auto",
    scenario: options.Scenario = "single-sample",
    method: Annotated[str, typer.Option(help=f"The classifier: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    model: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Where to write the model. Default: TABLE's name with .model.")
    ] = None,
    column: options.Column = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Learn from a table in which some rows are known to be positive.

    A missing number or date becomes the median, and the model is told that it was missing; a missing category is a
    category of its own. NA, N/A, NaN, null, None and ? count as missing.

    Parquet files that memory has no room for are worked on in pieces, by Dask; UNLABELED_MEMORY=8GB says how much there
    is.

    For example:

        unlabeled fit customers.parquet --label fraud

        unlabeled fit genes.csv --label known --positive yes --prior 0.05 --model genes.model

        unlabeled fit claims.csv --label checked --positive fraud --negative cleared --negatives-are selected
    """
    check_negatives(negative, negatives_are)
    out = model or _model_path(table)
    check_output(out, force=force, inputs=(table,))
    if method not in METHODS:
        raise TableError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    with collected_warnings() as warned, shown_progress("Reading"):
        warnings.simplefilter("ignore", ScarWarning)  # the test below has the last word on it
        warnings.simplefilter("ignore", PriorWarning)  # and the report on the prior
        source, kinds = Table.open(table, encoding=encoding), parse_kinds(column or ())
        if (shortage := find_shortage(source)) is not None:
            if negative is not None:
                raise TableError(f"{shortage.note}, where known negatives (--negative) cannot be used. Leave them out.")
            remark(shortage.note, as_json=as_json)
            learned = learned_in_pieces(
                shortage,
                label,
                positive,
                kinds=kinds,
                decimal=decimal,
                method=method,
                scenario=scenario,
                given_prior=lambda share: _prior_as_given(prior, share if scenario == "single-sample" else 0.0),
            )
        else:
            learning = read_learning_table(source, label, positive, negative=negative, kinds=kinds, decimal=decimal)
            learned = _learned(learning, method, prior, scenario, negatives_are)
    learning, classifier = learned.learning, learned.classifier
    report = FitReport(
        learning, classifier, method, scenario, learned.prior, learned.estimates, learned.labels, tuple(warned), out
    )
    save(_table_model(learning, classifier, label, report.facts()), out)
    if as_json:
        say_json(report.facts())
    else:
        report.tell()


def check_negatives(negative: str | None, negatives_are: str) -> None:
    """Refuse to be told how negatives were chosen where there are none."""
    if negative is None and negatives_are != "auto":
        raise TableError(
            f"--negatives-are {negatives_are} needs --negative VALUE: the value of rows that are known to be negative."
        )


def _learned(learning: LearningTable, method: str, prior: str, scenario: str, negatives_are: str) -> Learned:
    """Learn from a table in memory."""
    classifier, found = fitted(method, prior, learning, scenario, negatives_are)
    with stage("what to expect"):
        estimates = evaluate(classifier, learning.features, learning.y, prior=found)
    labels = tested_labels(learning, scenario, None if prior == "auto" else found.value)
    return Learned(learning, classifier, found, estimates, labels)


def _model_path(table: Path) -> Path:
    """Where the model goes if that is not said: here, under the name of the table."""
    if str(table) == STANDARD_INPUT:
        raise TableError("A table from the standard input has no name to call the model by; give one: --model OUT.")
    if files := parquet_files(table):
        name = table.resolve().name if table.is_dir() else files[0].resolve().parent.name
        return Path(f"{name}.model")
    if table.is_dir():
        raise TableError(f"{table} is a folder; give the file of a table.")
    plain = table.with_suffix("") if table.suffix.lower() in COMPRESSED_SUFFIXES else table
    return Path(plain.with_suffix(".model").name)


def fitted(
    method: str, prior: str, learning: LearningTable, scenario: str, negatives_are: str = "auto"
) -> tuple[Any, PriorEstimate]:
    """The classifier, and the prior that it was given or found."""

    def unfitted(prior: float | str) -> Any:
        classifier = METHODS[method](prior, scenario)
        if not learning.labels.n_negative:
            return classifier
        if "negative" not in classifier.get_params():
            raise TableError(f"--method {method} does not take known negatives (--negative); the other methods do.")
        return classifier.set_params(negative=NEGATIVE, negatives_are=negatives_are)

    given = _prior_as_given(prior, learning.labelled_share if scenario == "single-sample" else 0.0)
    if given is None:
        classifier = unfitted("auto").fit(learning.features, learning.y)
        return classifier, PriorEstimate.of(classifier.prior_estimator_, "auto")
    return unfitted(given.value).fit(learning.features, learning.y), given


def tested_labels(learning: LearningTable, scenario: str, prior: float | None) -> ScarTest:
    """Whether labels look as if they were given at random, if this is the prior; an estimated one would always fit."""
    test = ScarTest(prior, scenario=scenario, feature_names=list(learning.encoder.get_feature_names_out()))
    return test.fit(*learning.two_samples(scenario))


def _prior_as_given(text: str, labelled_share: float) -> PriorEstimate | None:
    """A prior that a person wrote; None: it is to be estimated."""
    if text == "auto":
        return None
    try:
        value = float(text)
    except ValueError:
        raise TableError(f"--prior {text} is neither a number nor 'auto'.") from None
    if not 0 < value < 1:
        raise TableError(f"--prior {text} is not a share: it must lie strictly between 0 and 1.")
    if value < labelled_share:
        raise TableError(
            f"--prior {text} is below the labelled share of the rows, {labelled_share:.4g}, which are known to be "
            "positive. Give a larger prior, or --scenario case-control if the positives were added to the table."
        )
    return PriorEstimate(value, None, None, "as given")


def _table_model(learning: LearningTable, classifier: Any, label: str, facts: dict[str, Any]) -> TableModel:
    steps = [("columns", learning.encoder), ("classifier", classifier)]
    return TableModel(steps, label=label, positive=learning.labels.positive, facts=facts)
