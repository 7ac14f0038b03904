"""How `DaskWMMDClassifier` scales: workers, points, queries, bytes that move, and what the scheduler holds.

    python -P benchmarks/dask_scaling.py [--rows 400000] [--repeats 3] [--out results.json]

(-P, because Dask would take the file sparse.py beside this one for a package.) Workers are processes of one thread each
on this machine. Times are medians over the repeats. On a busy machine wall time says more about others than about Dask,
so CPU time of the workers is given beside it. Rows are 10 normal features, 200 of them positives, gamma and prior
given; 1,000 rows are evaluated.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from unlabeled.distributed import DaskWMMDClassifier
from unlabeled.distributed.compression import FIRST_SIZE, FIRST_TIMES
from unlabeled.samples import Sample
from unlabeled.scoring.compression import N_CHECKED, Points, thinned
from unlabeled.scoring.ratio import Kernels

N_FEATURES = 10
N_POSITIVE = 200
OPTIONS = {"prior": 0.1, "gamma": 0.05, "scale": "none", "max_evaluations": 1000, "random_state": 0, "smoothing": 0}


def table(n_rows: int, n_partitions: int) -> tuple[da.Array, da.Array]:
    """Rows that tasks make, of which some are labelled."""
    chunk = n_rows // n_partitions
    y = (da.arange(n_rows, chunks=chunk) % (n_rows // N_POSITIVE) == 0).astype(np.int8)
    return da.random.default_rng(0).normal(size=(n_rows, N_FEATURES), chunks=(chunk, N_FEATURES)) + y[:, None], y


def cpu_seconds(client: Client) -> float:
    """CPU time that all workers have taken."""
    return sum(client.run(time.process_time).values())


def bytes_sent(client: Client) -> tuple[int, int]:
    """What workers have sent each other, and what they have sent to the client."""
    workers = set(client.scheduler_info(n_workers=-1)["workers"])
    logs = client.run(lambda dask_worker: [(log["who"], log["total"]) for log in dask_worker.transfer_outgoing_log])
    sent = [entry for log in logs.values() for entry in log]
    between = sum(total for who, total in sent if who in workers)
    return between, sum(total for _, total in sent) - between


def scheduler_bytes(client: Client) -> int:
    """Memory of the scheduler's process."""
    return int(client.run_on_scheduler(lambda: __import__("psutil").Process().memory_info().rss))


def timed(client: Client, work: Any, repeats: int) -> dict[str, Any]:
    """Medians of wall and CPU time of some work."""
    walls, cpus = [], []
    for _ in range(repeats):
        cpu, start = cpu_seconds(client), time.perf_counter()
        work()
        walls.append(time.perf_counter() - start)
        cpus.append(cpu_seconds(client) - cpu)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}


def cluster(n_workers: int) -> LocalCluster:
    """Workers of one thread each; the scheduler is in this process."""
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )


def slope(sizes: list[int], times: list[float]) -> float:
    """Of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def over_workers(n_rows: int, repeats: int) -> dict[str, Any]:
    """The same scores by one worker and by two, and how much of twice the speed there is."""
    found: dict[str, Any] = {}
    for n_workers in (1, 2):
        with cluster(n_workers) as local, Client(local) as client:
            X, y = dask.persist(*table(n_rows, 16))
            wait([X, y])
            model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
            queries = da.random.default_rng(1).normal(size=(32_000, N_FEATURES), chunks=(4000, N_FEATURES)).persist()
            wait(queries)
            model.score_samples(queries[:100]).compute()
            before = bytes_sent(client)[0]
            found[str(n_workers)] = timed(client, lambda m=model, q=queries: m.score_samples(q).compute(), repeats)
            found[str(n_workers)]["between_workers"] = (bytes_sent(client)[0] - before) / repeats
            homes = Counter(worker for workers in client.who_has(X).values() for worker in workers)
            found[str(n_workers)]["partitions"] = sorted(homes.values())
    one, two = found["1"], found["2"]
    shares = {"efficiency": one["wall"] / (2 * two["wall"]), "cpu_ratio": one["cpu"] / two["cpu"]}
    return found | shares | {"scoring_share_of_data": two["between_workers"] / X.nbytes}


def over_sizes(n_rows: int, repeats: int) -> dict[str, Any]:
    """Times over points at fixed queries, and over queries at fixed points, by two workers."""
    points, queries, found = [n_rows, 2 * n_rows, 4 * n_rows], [4000, 8000, 16000], {}
    with cluster(2) as local, Client(local) as client:
        rows = {n: da.random.default_rng(1).normal(size=(n, N_FEATURES), chunks=(1000, N_FEATURES)) for n in queries}
        by_points, by_queries = [], []
        for n_points in points:
            X, y = dask.persist(*table(n_points, 16 * n_points // n_rows))
            wait([X, y])
            model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
            model.score_samples(rows[queries[0]][:100]).compute()
            by_points.append(timed(client, lambda m=model: m.score_samples(rows[4000]).compute(), repeats)["cpu"])
            if n_points == points[0]:
                for n in queries:
                    work = lambda m=model, n=n: m.score_samples(rows[n]).compute()  # noqa: E731
                    by_queries.append(timed(client, work, repeats)["cpu"])
    found["points"] = {"sizes": points, "cpu": by_points, "slope": slope(points, by_points)}
    found["queries"] = {"sizes": queries, "cpu": by_queries, "slope": slope(queries, by_queries)}
    pairs = points[0] * 4000
    return found | {"pairs_per_cpu_second": pairs / by_points[0]}


def movement(n_rows: int) -> dict[str, Any]:
    """Bytes that workers send each other in a fit, and memory of the scheduler's own process, over partitions."""
    found = {}
    for n_partitions in (50, 200, 800):
        with processes(2) as client:
            X, y = table(n_rows, n_partitions)
            X, y = dask.persist(X, y)
            wait([X, y])  # what making them moves is not the fit's
            before, memory = bytes_sent(client), scheduler_bytes(client)
            start = time.perf_counter()
            model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
            seconds = time.perf_counter() - start
            between, to_client = np.subtract(bytes_sent(client), before).tolist()
            found[str(n_partitions)] = {
                "seconds": seconds,
                "between_workers": between,
                "share_of_data": between / X.nbytes,
                "to_client": to_client,
                "rows_at_client": len(model.sample_.unlabeled.table.held.places),
                "scheduler": memory,
                "scheduler_growth": scheduler_bytes(client) - memory,
            }
    return found


def against_model(n_rows: int) -> dict[str, Any]:
    """CPU seconds of fits, plain and compressed, as the model of docs/scaling.md has them and as they were.

    Its three rates are measured by themselves: pairs of kernel sums, rows thinned, and rows made and checked.
    """
    length, target, found = 50_000, 5_000, {}
    rates = {"pairs_per_second": _pair_rate(length), "thinning_seconds_a_row": _seconds_a_thinned_row(length, target)}
    with cluster(2) as local, Client(local) as client:
        DaskWMMDClassifier(compress=target, **OPTIONS).fit(*table(2 * length, 2))  # compiles
        X, y = table(n_rows, n_rows // length)
        model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
        read = timed(client, lambda: model.sample_.unlabeled.each_part(lambda part, start: None), 3)["cpu"]  # noqa: ARG005
        rates["reading_seconds_a_row"] = read / n_rows
        for n in (n_rows, 2 * n_rows):
            X, y = table(n, n // length)
            for name, options in (("plain", OPTIONS), ("compressed", OPTIONS | {"compress": target})):
                measured = timed(client, lambda o=options, X=X, y=y: DaskWMMDClassifier(**o).fit(X, y), 1)["cpu"]
                expected = _expected_seconds(n, length, rates, compressed=name == "compressed")
                found[f"{name}, {n} rows"] = {"measured": measured, "expected": sum(expected.values()), **expected}
    return rates | found


def _expected_seconds(n: int, length: int, rates: dict[str, float], *, compressed: bool) -> dict[str, float]:
    n_evaluated = OPTIONS["max_evaluations"] + N_POSITIVE
    passes, pairs, n_thinned = 4, n * n_evaluated, 0  # labels, a look at all rows, rows to choose by, sums
    if compressed:  # the thinning, the rows put aside, and sums at these
        passes, pairs = passes + 3, pairs + n * N_CHECKED
        n_thinned = n + (n // length) * (length // 4 + FIRST_SIZE // 2)  # and what is merged after each partition
    return {
        "reading": passes * n * rates["reading_seconds_a_row"],
        "sums": pairs / rates["pairs_per_second"],
        "thinning": n_thinned * rates["thinning_seconds_a_row"],
    }


def _normal(n_rows: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n_rows, N_FEATURES))


def _kernels() -> Kernels:
    return Kernels("rbf", np.array([OPTIONS["gamma"]]), n_jobs=1)


def _pair_rate(length: int) -> float:
    """Pairs of a query and a point that kernel sums take in a CPU second."""
    queries, points, kernels = _normal(OPTIONS["max_evaluations"] + N_POSITIVE), _normal(length), _kernels()
    seconds = _cpu(lambda: kernels.log_sums_over(queries, points, None))
    return len(queries) * len(points) / seconds


def _seconds_a_thinned_row(length: int, target: int) -> float:
    points, kernels = Points.of(Sample(_normal(length))), _kernels()
    most = max(FIRST_SIZE, FIRST_TIMES * target)
    return _cpu(lambda: thinned(points, most, OPTIONS["gamma"], kernels)) / length


def _cpu(work: Any) -> float:
    """CPU seconds of some work by one thread, as workers have it, once what it needs has been compiled."""
    with threadpool_limits(1):
        work()
        start = time.process_time()
        work()
        return time.process_time() - start


@contextmanager
def processes(n_workers: int) -> Iterator[Client]:
    """A scheduler in a process of its own, and workers of one thread each."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "scheduler.json")
        start = [sys.executable, "-P", "-m"]
        commands = [
            [*start, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file]
        ]
        of_worker = ["--nthreads", "1", "--no-dashboard", "--local-directory", folder, "--scheduler-file", file]
        commands += [[*start, "distributed.cli.dask_worker", *of_worker] for _ in range(n_workers)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running = [subprocess.Popen(command, **quiet) for command in commands]
        try:
            with Client(scheduler_file=file) as client:
                client.wait_for_workers(n_workers, timeout=60)
                yield client
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()


def main() -> None:
    """Measure, print, and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["workers", "sizes", "movement", "model"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    measures = {
        "workers": lambda: over_workers(given.rows, given.repeats),
        "sizes": lambda: over_sizes(given.rows, given.repeats),
        "movement": lambda: movement(given.rows),
        "model": lambda: against_model(given.rows),
    }
    asked = {name: measure for name, measure in measures.items() if given.only in (None, name)}
    found = {"rows": given.rows} | {name: measure() for name, measure in asked.items()}
    text = json.dumps(found, indent=2)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
