"""The arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from unlabeled.tables import KINDS

TablePath = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Excel, Parquet, Feather, JSON lines or LIBSVM, compressed or not; told by its content. "
        "A folder of Parquet files, or a pattern in quotes, is one table. - is the standard input.",
    ),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `unlabeled fit` wrote.")]
Label = Annotated[str, typer.Option(metavar="COLUMN", help="The column that marks the known positives.")]
Positive = Annotated[
    str | None,
    typer.Option(metavar="VALUE", help="The value that marks them. Default: the larger, true, yes, or the only one."),
]
Negative = Annotated[
    str | None,
    typer.Option(metavar="VALUE", help="The value of rows that are known to be negative. Default: there are none."),
]
NegativesAre = Annotated[
    Literal["auto", "random", "selected"],
    typer.Option(
        help="How these came about. random: a random choice of all negatives. selected: they were picked, and have no "
        "say in the prior. auto: random, unless a check contradicts it."
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND",
        help=f"What a column is: {', '.join(KINDS)}. Numbers and dates may be written in some way: "
        "'price=number:1.234,5', 'day=date:%d/%m/%Y'. May be given again.",
    ),
]
Decimal = Annotated[
    Literal[".", ","] | None,
    typer.Option(metavar=".|,", help="The decimal mark, where a column leaves it open. Default: guessed and said."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="That of a text file, such as cp1252. Default: UTF-8, or guessed and said."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with one JSON object; errors too.")]
ScenarioName = Literal["single-sample", "case-control"]
Scenario = Annotated[
    ScenarioName,
    typer.Option(
        help="single-sample: the table is a sample of the population and some of its positives are labelled. "
        "case-control: the unlabeled rows alone are, and the positives were added to them."
    ),
]
