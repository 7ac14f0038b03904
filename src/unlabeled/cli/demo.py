"""``unlabeled demo``: a made-up table of customers, and the commands to try on it."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from unlabeled.cli import options
from unlabeled.cli.failures import OutputError, check_output
from unlabeled.cli.output import say
from unlabeled.files import written_whole

N_CUSTOMERS = 2_000
PRIOR = 0.1
LABELLED_SHARE = 0.3
GAPS = 0.03
_CHANNELS = ("branch", "phone", "web")


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to put the tables.")] = Path("demo"),
    *,
    force: options.Force = False,
) -> None:
    """Write a made-up table of 2,000 customers, 200 of them fraudulent, and say what to try on it.

    Some 60 of the fraudulent ones are known; the table does not say who the others are, and a second one does.

    For example:

        unlabeled demo && unlabeled fit demo/customers.csv --label known_fraud
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; give the name of a folder.")
    customers, answers = out / "customers.csv", out / "answers.csv"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {out} cannot be made: {error.strerror}.") from error
    table, truth = make_customers()
    for path, frame in ((customers, table), (answers, truth)):
        check_output(path, force=force)
        with written_whole(path) as part:
            frame.write_csv(part)
    say("Written", f"{customers}: {len(table):,} customers, {int(table['known_fraud'].sum())} known frauds")
    say("", f"{answers}: who is fraudulent in truth, to check against")
    model = out / "customers.model"
    say("Try", f"unlabeled fit {customers} --label known_fraud --model {model}")
    say("", f"unlabeled predict {model} {customers} --new --top 100 --out {out / 'top.csv'}")
    say("", f"unlabeled explain {model} {customers} --row 3")


def make_customers(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A table with numbers, a date, a boolean, a category, gaps and a useless column; and the hidden classes."""
    rng = np.random.default_rng(seed)
    fraud = rng.uniform(size=N_CUSTOMERS) < PRIOR
    labelled = fraud & (rng.uniform(size=N_CUSTOMERS) < LABELLED_SHARE)
    age = np.round(rng.normal(np.where(fraud, 36, 47), 10)).clip(18, 95)
    amounts = np.round(np.exp(rng.normal(np.where(fraud, 5.7, 4.6), 0.6)), 2)
    joined = [date(2020, 1, 1) + timedelta(days=int(days)) for days in rng.integers(0, 900, N_CUSTOMERS) + 300 * fraud]
    web_share = np.where(fraud, 0.7, 0.3)
    channel = np.where(rng.uniform(size=N_CUSTOMERS) < web_share, 2, rng.integers(0, 2, N_CUSTOMERS))
    table = pl.DataFrame(
        {
            "customer_id": [f"C{number:05d}" for number in rng.permutation(N_CUSTOMERS)],
            "age": pl.Series(age, dtype=pl.Int64),
            "mean_amount": pl.Series(amounts).set(pl.Series(rng.uniform(size=N_CUSTOMERS) < GAPS), None),
            "transfers": rng.poisson(np.where(fraud, 7, 4)),
            "joined": joined,
            "channel": [_CHANNELS[place] for place in channel],
            "verified": rng.uniform(size=N_CUSTOMERS) < np.where(fraud, 0.5, 0.9),
            "country": "NL",
            "known_fraud": labelled.astype(int),
        }
    )
    truth = pl.DataFrame({"customer_id": table["customer_id"], "fraud": fraud.astype(int)})
    return table, truth
