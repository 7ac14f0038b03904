"""``unlabeled predict``: scores for the rows of a table, however long it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from unlabeled.cli import options
from unlabeled.cli.failures import check_output
from unlabeled.cli.out_of_core import Shortage, decided_in_pieces, find_shortage, rows_a_piece
from unlabeled.cli.output import remark, say, say_json, show_table, shown_progress
from unlabeled.deciding.adapting import Adaptation
from unlabeled.evaluation import Estimate
from unlabeled.files import written_whole
from unlabeled.saving import ModelFileError, load
from unlabeled.tables import Notices, Table, TableError, TableModel, rows_a_batch
from unlabeled.tables.labels import is_labelled
from unlabeled.tables.writing import check_suffix, text_writer, writer

TOP_SHOWN = 10
#: Columns of the output, beside those of the table that name rows.
OUTPUT_COLUMNS = ("rank", "row", "margin", "probability", "flagged", "known", "known_negative")


def predict(
    model: options.ModelPath,
    table: options.TablePath,
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="SCORES", help="Where to write: .csv, .tsv or .parquet; - is CSV to the standard output."),
    ] = None,
    top: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the N largest margins, ranked.")] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out rows that the table itself labels, as positive or negative.")
    ] = False,
    adapt: Annotated[
        bool, typer.Option("--adapt", help="The share of positives may have changed: estimate it from this table.")
    ] = False,
    adapt_anyway: Annotated[
        bool,
        typer.Option("--adapt-anyway", help="The same, with a warning, if more than the share has changed."),
    ] = False,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Score the rows of a table. Columns are found by name; their order, and other columns, do not matter.

    Writes the row's number in the table, columns that name rows, the margin (score less threshold; above 0: flagged), a
    probability, whether it is flagged, and, if the table has the label column, whether it is a known positive, and
    whether a known negative if the model was told of any: in the order of the table, or from the largest margin down
    with --top. The table is read in batches: its size does not
    matter. Without --out the first are shown. A value that cannot be read is taken as missing, but a column with more
    than one in ten of them stops it, and nothing is written.

    With --adapt, prior, threshold and probabilities are those of this table, if what positives and negatives look like
    has not changed; where it has, it says so and nothing is written (--adapt-anyway goes on with a warning).

    For example:

        unlabeled predict customers.model customers.parquet --new --top 100 --out scores.csv

        unlabeled predict customers.model new.csv --out - | head
    """
    if out is not None and str(out) != "-":
        check_suffix(out)
        check_output(out, force=force, inputs=(model, table))
    if out is None:
        top = top or TOP_SHOWN
    summary = Summary()
    with shown_progress("Loading the model") as show:
        fitted = load_table_model(model).with_decimal(decimal)
        source = Table.open(table, encoding=encoding)
        if new and fitted.label not in source.names():
            raise TableError(
                f"{source.name} has no column {fitted.label!r}, so that --new cannot tell which rows are known. Leave "
                "--new out."
            )
        if adapt or adapt_anyway:
            fitted = adapted(fitted, source, check=not adapt_anyway)
        summary.notes = list(source.notes)
        if (shortage := find_shortage(source, copies=1)) is not None:
            summary.notes.append(shortage.note)
            remark(shortage.note, as_json=as_json or str(out) == "-")
        batches = scored_batches(
            fitted,
            source,
            summary,
            lambda: show(f"Scored: {summary.n_rows:,} rows, {summary.n_flagged:,} flagged"),
            shortage,
        )
        if new:
            batches = (batch.filter(~pl.any_horizontal(list(_known_columns(fitted)))) for batch in batches)
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


def adapted(model: TableModel, table: Table, *, check: bool) -> TableModel:
    """The model at the prior of another table, which is read twice for it."""
    classifier = model.classifier
    if not hasattr(classifier, "adapted_to_scores"):
        raise TableError(f"--adapt needs a model that scores by ratios, and this is a {type(classifier).__name__}.")
    wanted = model.columns.names
    if not table.leaves_out_zeros:
        model.columns.check_present(table.names(), table.name)
    scores = [
        classifier.scores_like_honest(model.features(batch)[0])
        for batch in table.batches(wanted, rows_a_batch(max(classifier.n_features_in_, len(wanted))))
    ]
    new = classifier.adapted_to_scores(np.concatenate(scores), check=False)
    if check:
        new.adaptation_.check(anyway="--adapt-anyway")
    return model.with_classifier(new)


@dataclass
class Summary:
    """Counts of what was scored, and what was strange in it."""

    n_rows: int = 0
    n_flagged: int = 0
    n_known_flagged: int = 0
    probability_flagged: float = 0.0
    notices: Notices = field(default_factory=Notices)
    notes: list[str] = field(default_factory=list)


def scored_batches(
    model: TableModel,
    table: Table,
    summary: Summary,
    on_batch: Callable[[], object] = lambda: None,
    shortage: Shortage | None = None,
) -> Iterator[pl.DataFrame]:
    """Batches of row number, identifiers, margin, probability, flag and label, in the order of the table.

    Where memory is short, Dask works on several of them at once. A column of which too much cannot be read, so far,
    stops it.
    """
    names = table.names()
    if not table.leaves_out_zeros:
        model.columns.check_present(names, table.name)
    identifiers = [name for name in model.columns.identifiers if name in names]
    labels = [model.label] if model.label in names else []
    wanted = model.columns.names + identifiers + labels
    renamed = [pl.col(name).alias(_output_name(name, identifiers)) for name in identifiers]
    n_read = len(names) if table.reads_all_columns else len(wanted)
    n_rows = rows_a_batch(max(model.classifier.n_features_in_, n_read))
    for batch, scores, notices in _decided(model, table, wanted, n_rows, shortage):
        rows = pl.int_range(summary.n_rows + 1, summary.n_rows + len(batch) + 1, dtype=pl.Int64, eager=True)
        summary.n_rows += len(batch)
        summary.n_flagged += int(scores["flagged"].sum())
        summary.notices.add(notices)
        summary.probability_flagged += float(scores.filter("flagged")["probability"].sum())
        model.columns.check_readable(summary.notices, table.name)
        on_batch()
        known = [
            is_labelled(batch[label], value).alias(name).to_frame()
            for label in labels
            for name, value in _known_columns(model).items()
        ]
        if known:
            summary.n_known_flagged += int((known[0]["known"] & scores["flagged"]).sum())
        yield pl.concat([rows.alias("row").to_frame(), batch.select(renamed), scores, *known], how="horizontal")


def _known_columns(model: TableModel) -> dict[str, str]:
    """Columns of the output that say what the table knows, and the value of its label column that each is about."""
    return {"known": model.positive} | ({} if model.negative is None else {"known_negative": model.negative})


def _decided(
    model: TableModel, table: Table, names: Sequence[str], n_rows: int, shortage: Shortage | None
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, Notices]]:
    """Batches of a table, what the model decides of them, and what was strange."""
    if shortage is not None:
        yield from decided_in_pieces(model, table, names, rows_a_piece(table, shortage.free, n_rows))
        return
    for batch in table.batches(names, n_rows):
        yield batch, *model.decide(batch)


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
        say_json(_facts(summary, model, out, ranking))
        return
    if out is None and ranking is not None:
        show_table(ranking.columns, [[_cell(value) for value in row] for row in ranking.iter_rows()])
    if summary.notes:
        say("Read", *summary.notes)
    if (adaptation := adaptation_of(model)) is not None:
        say("Prior", _prior_line(adaptation))
        if adaptation.is_no_mixture:
            say("Warning", _no_mixture_line(adaptation))
    say("Scored", f"{summary.n_rows:,} rows, {summary.n_flagged:,} of them flagged{_hits(summary, model)}")
    for name, count in summary.notices.unseen.items():
        say("Warning", f"{name}: {count:,} rows with a value that was not there when the model was fitted")
    for words in unreadable_in_words(summary.notices):
        say("Warning", words)
    if out is not None:
        say("Written", str(out))


def _facts(summary: Summary, model: TableModel, out: Path | None, ranking: pl.DataFrame | None) -> dict[str, Any]:
    """All that is told, for machines."""
    answer: dict[str, Any] = {"n_rows": summary.n_rows, "n_flagged": summary.n_flagged}
    hits = positives_among_flagged(summary, model)
    answer["n_flagged_positives"] = None if hits is None else asdict(hits)
    if (adaptation := adaptation_of(model)) is not None:
        answer["adaptation"] = asdict(adaptation)
    answer["out"] = None if out is None else str(out)
    if out is None and ranking is not None:
        answer["top"] = ranking.to_dicts()
    notices = {"unseen": summary.notices.unseen, "unreadable": summary.notices.unreadable}
    return answer | notices | {"notes": summary.notes}


def unreadable_in_words(notices: Notices) -> list[str]:
    """A line for each column in which some values cannot be read."""
    return [
        f"{name}: {count:,} of {count + notices.read.get(name, 0):,} values cannot be read, such as "
        f"{notices.examples[name]!r}; taken as missing"
        for name, count in notices.unreadable.items()
    ]


def positives_among_flagged(summary: Summary, model: TableModel) -> Estimate | None:
    """How many of the flagged rows are positive, if the table is like the one the model was fitted to.

    Probabilities that were calibrated add up to that number: with few flagged rows, or other ones than at first, these
    know more than the precision of the first table. Its interval says how far off they may be.
    """
    estimates = (model.facts or {}).get("estimates")
    if not estimates or adaptation_of(model) is not None:  # the precision is that of the first table
        return None
    count = Estimate(**estimates["precision"]).of_rows(summary.n_flagged, at_least=summary.n_known_flagged)
    if count.value is None or getattr(model.classifier, "calibration_", None) is None:
        return count
    value = max(summary.probability_flagged, summary.n_known_flagged)
    return Estimate(value, min(count.low, value), max(count.high, value))


def adaptation_of(model: TableModel) -> Adaptation | None:
    """What a table said about the prior, where the model was adapted to it."""
    return getattr(model.classifier, "adaptation_", None)


def _prior_line(found: Adaptation) -> str:
    interval = f"95 % interval {found.low:.3f} to {found.high:.3f}"
    return f"{found.prior:.3f} in this table ({interval}), {found.old_prior:.3f} in the first"


def _no_mixture_line(found: Adaptation) -> str:
    return (
        "the rows do not look like a mixture of the positives and negatives of the first table "
        f"(p = {found.p_value:.2g}): this prior may be far off"
    )


def _hits(summary: Summary, model: TableModel) -> str:
    hits = positives_among_flagged(summary, model)
    if hits is None:
        return ""
    if hits.value is None:
        return f"; how many of these are positive cannot be told: {hits.low:,.0f} to {hits.high:,.0f}"
    interval = f"95 % interval {hits.low:,.0f} to {hits.high:,.0f}"
    return f"; about {hits.value:,.0f} positives among these ({interval}), if the table is like the first"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
