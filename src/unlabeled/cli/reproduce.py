"""``unlabeled reproduce``: the paper's figures and tables."""

from __future__ import annotations

import lzma
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from unlabeled.datasets import paper_dataset
from unlabeled.engines.choosing import VARIABLE, check_usable
from unlabeled.experiments import run
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.harness import DEFAULT_MEMORY_GB, run_cells
from unlabeled.experiments.plan import TARGETS, Options, plan
from unlabeled.results import ResultsFile, Row, read_rows

INTERRUPTED = 130
#: Files of gigabytes.
HUGE = ("epsilon_normalized", "HIGGS")

_TARGETS_HELP = f"What to reproduce: {', '.join(TARGETS)}, 'all' (the default), or 'report' (no runs, only the pages)."


def reproduce(
    targets: Annotated[list[str] | None, typer.Argument(help=_TARGETS_HELP)] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the rows, the figures and the pages.")] = Path("reproduction"),
    draws: Annotated[
        int | None, typer.Option(help="Draws of each cell. Default: the paper's 100, or 10 on large data.")
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Only these, as in 'wmmd,pu-auto'.")] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Only these of the real data sets, as in 'heart_scale,HIGGS'.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes. Default: one a core.")] = os.cpu_count() or 1,
    memory: Annotated[
        float, typer.Option(min=0.1, help="GB that a method may take; the paper's limit is 12.")
    ] = DEFAULT_MEMORY_GB,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells again that have failed before.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few draws, thin grids, small samples: minutes, not hours.")
    ] = False,
    data_home: Annotated[
        Path | None,
        typer.Option(help="Folder with the LIBSVM files. Default: UNLABELED_DATA_HOME, else they are downloaded."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="How kernel sums are computed, as in 'triton'. Default: the best for each.")
    ] = None,
) -> None:
    """Run the paper's experiments and set the results beside the paper's own numbers.

    Beside the paper's five methods (log-released, dh-released, nnpu, tadj-balanced, wmmd) stand other readings of them:
    plainer ones of its text (log, dh), the score of WMMD as it was released (wmmd-floor), and tADJ with classes that
    are not balanced (tadj), which is further from the paper's tables. This library's defaults are wmmd-auto, wmmd-score
    and pu-auto. 'accuracy' runs them all on the real data and compares them cell by cell in accuracy.md. 'readings'
    runs the small data sets with KM1 and KM2 as released, with priors far below the truth, with NNPU's last epoch
    (nnpu-last), and with readings of tADJ and NNPU that were tried on a few draws.

    Rows are kept in OUT/results.jsonl as they come. A run that was stopped continues where it stopped when the same
    command is given again.

    Examples
    --------
        unlabeled reproduce --quick

        unlabeled reproduce figure2 --methods wmmd,tadj-balanced --draws 20

        unlabeled reproduce accuracy --datasets heart_scale

        unlabeled reproduce report --out reproduction
    """
    console = Console(stderr=True)
    if data_home is not None:
        os.environ["UNLABELED_DATA_HOME"] = str(data_home)
    if engine is not None:
        os.environ[VARIABLE] = _usable(engine)  # for all processes of the run
    path = out / "results.jsonl"
    _unpack(path)
    chosen = list(targets or ["all"])
    if chosen != ["report"]:
        options = _options(methods, datasets, draws, quick=quick)
        stages = _stages(chosen, options, console)
        if methods is not None:
            _name_unused(options.methods, stages, chosen, console)
        results = ResultsFile(path)
        if retry_failed:
            results.forget_failures()
        _run_all(stages, results, jobs, memory, console)
    from unlabeled.experiments.pages import write_report  # noqa: PLC0415 (it loads matplotlib)

    for page in write_report(read_rows(path) if path.exists() else [], out):
        console.print(f"Written: {page}")


def _unpack(path: Path) -> None:
    """Unpack rows that were kept packed, so that new ones can be added to the plain file."""
    packed = path.with_suffix(".jsonl.xz")
    if packed.exists() and not path.exists():
        path.write_bytes(lzma.decompress(packed.read_bytes()))


def _options(methods: str | None, datasets: str | None, draws: int | None, *, quick: bool) -> Options:
    given = {
        name: tuple(part.strip() for part in text.split(","))
        for name, text in (("methods", methods), ("datasets", datasets))
        if text
    }
    try:
        return Options(draws=draws, quick=quick, **given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _usable(engine: str) -> str:
    try:
        if engine != "auto":
            check_usable(engine)
    except (ValueError, ImportError, OSError, RuntimeError) as error:  # libraries for a card fail in many ways
        raise typer.BadParameter(str(error)) from None
    return engine


def _stages(targets: list[str], options: Options, console: Console) -> list[list[Cell]]:
    wanted = tuple(TARGETS) if targets == ["all"] else targets
    try:
        stages = plan(wanted, options)
        if any(cell.dataset in options.datasets for stage in stages for cell in stage):
            stages = plan(wanted, replace(options, datasets=_available(options, console)))
            _read_other_layouts(stages)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return stages


def _name_unused(methods: Sequence[str], stages: list[list[Cell]], targets: list[str], console: Console) -> None:
    """Say which of the methods that were asked for are not run."""
    used = {name for stage in stages for cell in stage for name in cell.method.split("+")}
    unused = [name for name in methods if name not in used]
    if unused:
        console.print(f"Left out: {', '.join(unused)}. There are no cells of it in {', '.join(targets)}.", markup=False)


def _available(options: Options, console: Console) -> tuple[str, ...]:
    """The data sets that are there or can be fetched; fetched here, once, before the workers start."""
    found = []
    for name in options.datasets:
        too_large = options.quick and name in HUGE
        try:
            paper_dataset(name, download=not too_large)
        except OSError as error:
            why = "a quick run does not download gigabytes" if too_large else str(error)
            console.print(f"Left out: {name}. {why}", markup=False)
        else:
            found.append(name)
    return tuple(found)


def _read_other_layouts(stages: list[list[Cell]]) -> None:
    """Read files a second time where columns are wanted otherwise; here, once, before the workers start."""
    wanted = {
        (cell.dataset, str(cell.setting["layout"])) for stage in stages for cell in stage if "layout" in cell.setting
    }
    for name, layout in sorted(wanted):
        paper_dataset(name, layout=layout, download=False)


def _run_all(stages: list[list[Cell]], results: ResultsFile, jobs: int, memory: float, console: Console) -> None:
    results.refresh()
    cells = [cell for stage in stages for cell in stage]
    n_done = sum(cell.key in results for cell in cells)
    console.print(f"{len(cells):,} cells, {n_done:,} of them done before. Rows go to {results.path}")
    failures: list[Row] = []
    with _progress(console) as progress:
        bar = progress.add_task("cells", total=len(cells), completed=n_done)

        def on_row(row: Row) -> None:
            progress.advance(bar)
            if "failure" in row:
                failures.append(row)

        try:
            for stage in stages:
                timed = stage[0].experiment == "timing"
                run_cells(stage, results, run, jobs=1 if timed else jobs, memory_gb=memory, on_row=on_row)
        except KeyboardInterrupt:
            progress.stop()
            console.print("Stopped. All rows so far are kept; the same command continues from here.")
            raise typer.Exit(INTERRUPTED) from None
    for row in failures:
        console.print(f"No result: {row['dataset']}, {row['method']}, draw {row['draw']}: {row['failure']}")


def _progress(console: Console) -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    return Progress(*columns, console=console)
