"""The commands of ``unlabeled``, as one Typer application."""

from __future__ import annotations

import sys
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover (the extra is installed where tests run)
    sys.exit("The command line needs a few more packages: pip install 'unlabeled[cli]'")

from unlabeled.cli import datasets, demo, explain, fit, predict, prior, reproduce
from unlabeled.cli.failures import EXIT_CODES

app = typer.Typer(
    name="unlabeled",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _command in (
    fit.fit,
    predict.predict,
    prior.prior,
    explain.explain,
    demo.demo,
    datasets.datasets,
    reproduce.reproduce,
):
    app.command()(_command)


@app.callback(epilog=EXIT_CODES)
def _root(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from. May stand anywhere.")] = False,
) -> None:
    """Learn from positive and unlabeled data: known positives, everything else unlabeled, no negatives."""
    del debug  # `run` has seen to it
