"""``unlabeled predict``: scores for the rows of a table, however long it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from unlabeled.cli import options
from unlabeled.cli.failures import check_output
from unlabeled.cli.output import progress, say, say_json, show_table
from unlabeled.files import written_whole
from unlabeled.saving import ModelFileError, load
from unlabeled.tables import Notices, Table, TableError, TableModel, rows_a_batch
from unlabeled.tables.labels import is_labelled
from unlabeled.tables.writing import check_suffix, text_writer, writer

TOP_SHOWN = 10
#: Columns of the output, beside those of the table that name rows.
OUTPUT_COLUMNS = ("rank", "row", "margin", "probability", "flagged", "known")


def predict(
    model: options.ModelPath,
    table: options.TablePath,
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="SCORES", help="Where to write: .csv, .tsv or .parquet; - is CSV to the standard output."),
    ] = None,
    top: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the N largest margins, ranked.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Leave out rows that the table itself labels positive.")] = False,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Score the rows of a table. Columns are found by name; their order, and other columns, do not matter.

    Writes the row's number in the table, columns that name rows, the margin (score less threshold; above 0: flagged), a
    probability, whether it is flagged, and, if the table has the label column, whether it is a known positive: in the
    order of the table, or from the largest margin down with --top. The table is read in batches: its size does not
    matter. Without --out the first are shown.

    For example:

        unlabeled predict customers.model customers.parquet --new --top 100 --out scores.csv

        unlabeled predict customers.model new.csv --out - | head
    """
    if out is not None and str(out) != "-":
        check_suffix(out)
        check_output(out, force=force, inputs=(model, table))
    if out is None:
        top = top or TOP_SHOWN
    fitted = load_table_model(model)
    source = Table.open(table)
    if new and fitted.label not in source.names():
        raise TableError(
            f"{table} has no column {fitted.label!r}, so that --new cannot tell which rows are known. Leave --new out."
        )
    summary = Summary()
    with progress("rows") as advance:
        batches = scored_batches(fitted, source, summary, advance)
        if new:
            batches = (batch.filter(~pl.col("known")) for batch in batches)
        ranking = None
        if top is not None:
            ranking = _ranked(batches, top)
            batches = iter([ranking])
        if out is not None:
            with _opened(out) as write:
                for batch in batches:
                    write(batch)
    _tell(summary, fitted, out, ranking, as_json=as_json)


def load_table_model(path: Path) -> TableModel:
    """The model in a file, if it is one of a table."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} and not a table's model: use unlabeled.load in Python."
        )
    return model


@dataclass
class Summary:
    """Counts of what was scored, and what was strange in it."""

    n_rows: int = 0
    n_flagged: int = 0
    notices: Notices = field(default_factory=Notices)


def scored_batches(
    model: TableModel, table: Table, summary: Summary, advance: Callable[[int], object] = lambda _n: None
) -> Iterator[pl.DataFrame]:
    """Batches of row number, identifiers, margin, probability, flag and label, in the order of the table."""
    names = table.names()
    if not table.leaves_out_zeros:
        model.columns.check_present(names, str(table.path))
    identifiers = [name for name in model.columns.identifiers if name in names]
    labels = [model.label] if model.label in names else []
    wanted = model.columns.names + identifiers + labels
    renamed = [pl.col(name).alias(_output_name(name, identifiers)) for name in identifiers]
    n_read = len(names) if table.reads_all_columns else len(wanted)
    for batch in table.batches(wanted, rows_a_batch(max(model.classifier.n_features_in_, n_read))):
        scores, notices = model.decide(batch)
        rows = pl.int_range(summary.n_rows + 1, summary.n_rows + len(batch) + 1, dtype=pl.Int64, eager=True)
        summary.n_rows += len(batch)
        summary.n_flagged += int(scores["flagged"].sum())
        summary.notices.add(notices)
        advance(len(batch))
        known = [is_labelled(batch[name], model.positive).alias("known").to_frame() for name in labels]
        yield pl.concat([rows.alias("row").to_frame(), batch.select(renamed), scores, *known], how="horizontal")


def _output_name(name: str, identifiers: Sequence[str]) -> str:
    """What a column that names rows is called in the output: its name, if that is not taken."""
    free = name
    while free in OUTPUT_COLUMNS or (free != name and free in identifiers):
        free += "_in_table"
    return free


def _ranked(batches: Iterator[pl.DataFrame], top: int) -> pl.DataFrame:
    """The rows of the largest margins, from the largest down, equal ones in the order of the table."""
    best: pl.DataFrame | None = None
    for batch in batches:
        together = batch if best is None else pl.concat([best, batch])
        best = together.sort("margin", descending=True, maintain_order=True).head(top)
    return pl.DataFrame() if best is None else best.with_row_index("rank", offset=1)


@contextmanager
def _opened(out: Path) -> Iterator[Callable[[pl.DataFrame], None]]:
    """A function that writes batches to a file, which is there when all is written, or to the standard output."""
    if str(out) == "-":
        yield text_writer(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with written_whole(out) as part, writer(part, out.suffix) as write:
        yield write


def _tell(
    summary: Summary, model: TableModel, out: Path | None, ranking: pl.DataFrame | None, *, as_json: bool
) -> None:
    if str(out) == "-":
        return
    if as_json:
        answer: dict[str, Any] = {"n_rows": summary.n_rows, "n_flagged": summary.n_flagged}
        answer["out"] = None if out is None else str(out)
        if out is None and ranking is not None:
            answer["top"] = ranking.to_dicts()
        say_json(answer | {"unseen": summary.notices.unseen, "unreadable": summary.notices.unreadable})
        return
    if out is None and ranking is not None:
        show_table(ranking.columns, [[_cell(value) for value in row] for row in ranking.iter_rows()])
    say("Scored", f"{summary.n_rows:,} rows, {summary.n_flagged:,} of them flagged{_hits(summary, model)}")
    for name, count in summary.notices.unseen.items():
        say("Warning", f"{name}: {count:,} rows with a value that was not there when the model was fitted")
    for name, count in summary.notices.unreadable.items():
        say("Warning", f"{name}: {count:,} rows with a value that cannot be read; taken as missing")
    if out is not None:
        say("Written", str(out))


def _hits(summary: Summary, model: TableModel) -> str:
    """How many of the flagged rows are positive, if the table is like the one the model was fitted to."""
    estimates = (model.facts or {}).get("estimates")
    if not estimates:
        return ""
    n_hits = estimates["precision"] * summary.n_flagged
    return f"; about {n_hits:,.0f} positives among these, if the table is like the first"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
