"""Memory and speed of ``unlabeled predict`` on a Parquet file larger than memory should be.

    python benchmarks/predict_stream.py                    # 5 GB, some minutes
    python benchmarks/predict_stream.py --gigabytes 0.5

Writes a file of that size, fits a model to its first rows, and scores all of it with the console command in a process
of its own. Printed are the peak memory of that process, and how its time compares with that of reading alone and of
encoding and scoring alone: the command should take little more than the classifier does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from unlabeled.saving import load
from unlabeled.tables import Table, rows_a_batch

N_COLUMNS = 26
ROWS_A_GROUP = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--training-rows", type=int, default=2_000)
    parser.add_argument("--folder", type=Path, default=None, help="where to put the file; default: a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        measure(Path(folder), arguments.gigabytes, arguments.training_rows)


def measure(folder: Path, gigabytes: float, training_rows: int) -> None:
    large, small, model = folder / "large.parquet", folder / "small.parquet", folder / "small.model"
    n_rows = int(gigabytes * 1e9 / (8 * N_COLUMNS))
    write_table(large, n_rows)
    pl.scan_parquet(large).head(training_rows).sink_parquet(small)
    command("fit", small, "--label", "known", "--prior", "0.5", "--model", model)
    print(f"{large.stat().st_size / 1e9:.2f} GB of Parquet, {n_rows:,} rows, {training_rows:,} training rows")

    idle = peak_memory("predict", model, small, "--out", folder / "few.parquet")
    started = time.perf_counter()
    peak = peak_memory("predict", model, large, "--out", folder / "scores.parquet")
    whole = time.perf_counter() - started
    print(f"predict: {whole:.1f} s, {n_rows / whole:,.0f} rows a second; peak {peak} MB ({idle} MB for a small table)")

    reading, scoring = time_parts(large, model)
    print(
        f"reading alone {reading:.1f} s; encoding and scoring alone {scoring:.1f} s, {whole / scoring:.2f} times that"
    )


def write_table(path: Path, n_rows: int) -> None:
    """Two Gaussians, half of the first kind labelled, in row groups as other programs write them."""

    def groups(*_asked: object) -> object:
        rng = np.random.default_rng(0)
        for start in range(0, n_rows, ROWS_A_GROUP):
            n = min(ROWS_A_GROUP, n_rows - start)
            positive = rng.uniform(size=n) < 0.5
            values = rng.normal(positive[:, None] * 0.5, size=(n, N_COLUMNS))
            known = positive & (rng.uniform(size=n) < 0.5)
            yield pl.DataFrame(values, schema=names).with_columns(known=known)

    names = [f"x{j}" for j in range(N_COLUMNS)]
    schema = dict.fromkeys(names, pl.Float64) | {"known": pl.Boolean}
    table = pl.io.plugins.register_io_source(groups, schema=schema)
    table.sink_parquet(path, compression="uncompressed", row_group_size=ROWS_A_GROUP)


def command(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "unlabeled.cli", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def peak_memory(*words: object) -> int:
    """Peak resident memory of a command, in MB."""
    code = (
        "import resource, sys; from unlabeled.cli.commands import app; from unlabeled.cli.failures import run; "
        "assert run(app, sys.argv[1:]) == 0; "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1])


def time_parts(table: Path, model: Path) -> tuple[float, float]:
    """Seconds to read all batches, and to encode and score them, in this process."""
    fitted = load(model)
    reading = scoring = 0.0
    mark = time.perf_counter()
    for batch in Table.open(table).batches(fitted.columns.names, rows_a_batch(N_COLUMNS)):
        read = time.perf_counter()
        fitted.decide(batch)
        scored = time.perf_counter()
        reading, scoring, mark = reading + read - mark, scoring + scored - read, scored
    return reading, scoring


if __name__ == "__main__":
    main()
