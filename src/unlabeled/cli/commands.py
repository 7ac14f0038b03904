"""The commands of ``unlabeled``, as one Typer application."""

from __future__ import annotations

import sys
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover (the extra is installed where tests run)
    sys.exit("The command line needs a few more packages: pip install 'unlabeled[cli]'")

from unlabeled.cli import datasets, demo, explain, fit, predict, prior, report, reproduce
from unlabeled.cli.failures import EXIT_CODES
from unlabeled.versions import version_of

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
    report.report,
    demo.demo,
    datasets.datasets,
    reproduce.reproduce,
):
    app.command()(_command)


def _version_asked(asked: bool) -> None:
    """Say the version, if it was asked for, and leave."""
    if asked:
        typer.echo(f"unlabeled {version_of('unlabeled')}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def _root(
    *,
    tell_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_version_asked)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from. May stand anywhere.")] = False,
) -> None:
    """Learn from positive and unlabeled data: known positives, everything else unlabeled, no negatives."""
    del debug, tell_version  # `run` and the callback have seen to it
