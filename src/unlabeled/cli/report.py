"""``unlabeled report``: a page about a model and its table, and checks for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from unlabeled.cli import options
from unlabeled.cli.failures import CHECK_FAILED, check_output
from unlabeled.cli.learning_table import NEGATIVE
from unlabeled.cli.output import collected_warnings, say, say_json, shown_progress
from unlabeled.cli.predict import load_table_model
from unlabeled.deciding.thresholds import Costs
from unlabeled.reports import Check, Report
from unlabeled.reports import report as report_on
from unlabeled.tables import Table, TableError, TableModel
from unlabeled.tables.labels import is_labelled
from unlabeled.tables.sizes import free_memory, in_words, table_bytes

#: What a report takes for each byte of the table: it is read whole, and what is left without the label is another.
COPIES_OF_REPORT = 2


def report(
    model: options.ModelPath,
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TABLE]", help="The table that the model was fitted to, or another; - is the standard input."
        ),
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="PAGE", help="Where to write the page. Default: MODEL's name with .html.")
    ] = None,
    checks: Annotated[bool, typer.Option("--checks", help="Print all checks, and write a page only to --out.")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE|LEVEL",
            help="Exit code 4 if this check has found something, or any is of this level: info, warning, error. "
            "May be given again.",
        ),
    ] = None,
    costs: Annotated[
        str, typer.Option(metavar="FALSE,MISSED", help="What a false alarm and a missed positive cost.")
    ] = "1,1",
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a page about a model: what was learned, what to expect of it at every threshold, and checks.

    The page is one HTML file that needs nothing beside itself, and no network. With the table that the model was fitted
    to it also shows a map, the top rows and the columns that matter; with another table, how that differs. Of a long
    table 10,000 rows are scored. The checks have codes such as PU401: `--checks` prints them, `--fail-on` makes an exit
    code of them.

    For example:

        unlabeled report customers.model customers.csv --out customers.html

        unlabeled report customers.model new.csv --checks --fail-on PU501 --fail-on error
    """
    page = out if out or checks else Path(model.with_suffix(".html").name)
    if page is not None:
        check_output(page, force=force, inputs=(model, *([] if table is None else [table])))
    prices = _costs(costs)
    with collected_warnings() as warned, shown_progress("Loading the model") as show:
        fitted = load_table_model(model).with_decimal(decimal)
        found = _report(fitted, table, encoding, prices, title)
        show("Checking")
        failing = found.failing(*(fail_on or ()))
        if page is not None:
            show("Writing the page")
            found.save(page)
    if as_json:
        say_json(_facts(found, page, failing, warned))
    else:
        _tell(found, page, warned, all_of_them=checks)
    if failing:
        raise typer.Exit(CHECK_FAILED)


def _costs(text: str) -> Costs:
    try:
        false, missed = (float(part) for part in text.split(","))
        return Costs(false, missed)
    except ValueError:
        raise TableError(f"--costs {text} are not two numbers above 0, such as 1,20.") from None


def _report(model: TableModel, path: Path | None, encoding: str | None, costs: Costs, title: str | None) -> Report:
    heading = title or f"Report on {model.label}" if model.label else title
    if path is None:
        return report_on(model, costs=costs, title=heading)
    table = Table.open(path, encoding=encoding)
    _check_size(table)
    if not table.leaves_out_zeros:
        model.columns.check_present(table.names(), table.name)
    frame = table.read()
    labels: np.ndarray | None = None
    if model.label in frame.columns:
        labels = _labels(model, frame[model.label])
        frame = frame.drop(model.label)
    if table.leaves_out_zeros:
        frame = _with_zeros(frame, model)
    _, notices = model.features(frame.head(1_000))
    model.columns.check_readable(notices, table.name)
    return report_on(model, frame, labels, costs=costs, title=heading, source=table.name)


def _labels(model: TableModel, values: Any) -> np.ndarray:
    """What the column says, as the classifier was told it when it was fitted."""
    labels = is_labelled(values, model.positive).to_numpy().astype(int)
    if model.negative is not None:
        labels[is_labelled(values, model.negative).to_numpy()] = NEGATIVE
    return labels


def _check_size(table: Table) -> None:
    """Refuse Parquet files that memory has no room for; others do not say how large they are."""
    if table.format.kind != "parquet":
        return
    needed, free = COPIES_OF_REPORT * table_bytes(table), free_memory()
    if needed > free:
        raise TableError(
            f"{table.name} would take about {in_words(needed)} of memory, and {in_words(free)} are free. Leave it out, "
            "for a page of what the model alone knows, or give some of its rows: a report scores no more than 10,000."
        )


def _with_zeros(frame: Any, model: TableModel) -> Any:
    """A table of LIBSVM with the columns that it has left out."""
    import polars as pl  # noqa: PLC0415

    lacking = [name for name in model.columns.names if name not in frame.columns]
    return frame.with_columns(pl.lit(0.0).alias(name) for name in lacking)


def _facts(found: Report, page: Path | None, failing: list[Check], warned: list[str]) -> dict[str, Any]:
    return {
        "checks": [check.as_dict() for check in found.checks],
        "failing": [check.code for check in failing],
        "out": None if page is None else str(page),
        "warnings": warned,
    }


def _tell(found: Report, page: Path | None, warned: list[str], *, all_of_them: bool) -> None:
    for check in found.checks:
        if all_of_them or check.is_finding:
            say(
                check.severity,
                f"{check.code} {check.title}: {check.sentence}",
                *([check.remedy] if check.remedy else []),
            )
    n_quiet = sum(not check.is_finding for check in found.checks)
    if not all_of_them:
        say("Checks", f"{n_quiet} of {len(found.checks)} without a finding")
    for words in warned:
        say("Warning", words)
    if page is not None:
        say("Written", f"{page} ({page.stat().st_size / 1e6:.1f} MB)")
