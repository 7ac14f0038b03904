"""`DaskWMMDClassifier` on processes that die, partitions that fail, and fits that are stopped."""

import os
import signal
import threading
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import dask  # noqa: E402

from unlabeled import WMMDClassifier  # noqa: E402
from unlabeled.datasets import make_gaussians  # noqa: E402
from unlabeled.distributed import DaskWMMDClassifier  # noqa: E402
from unlabeled.distributed.placing import AT_HOME  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
OPTIONS = {"prior": 0.5, "gamma": (0.5, 1.0), "smoothing": 1, "max_evaluations": 200, "random_state": 0, "exact": True}
N_PARTITIONS = 8


@pytest.fixture(scope="module")
def client():
    settings = {
        "distributed.worker.memory.terminate": False,
        "distributed.scheduler.allowed-failures": 10,
        "distributed.nanny.pre-spawn-environ.NUMBA_NUM_THREADS": 1,
        # So long after a worker was lost, its nanny is closed for good if the next one has just been lost as well.
        "distributed.deploy.lost-worker-timeout": "10 minutes",
    }
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(**options, silence_logs=50) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def data():
    return make_gaussians(60, 740, random_state=0)


@pytest.fixture(scope="module")
def local(data):
    return WMMDClassifier(**OPTIONS).fit(data.X, data.y)


def in_blocks(values):
    length = -(-len(values) // N_PARTITIONS)
    return da.from_array(values, chunks=(length, -1) if values.ndim == 2 else length)


def slow_blocks(X, folder, seconds):
    """Partitions that take a while, and leave a mark in a folder each time that they are made."""

    def make(block, block_info=None):
        number = block_info[0]["chunk-location"][0]
        (folder / f"{number}-{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(seconds)
        return block

    parted = X if isinstance(X, da.Array) else in_blocks(X)
    return parted.map_blocks(make, dtype=X.dtype, meta=np.empty((0, X.shape[1])))


def kill_a_worker(client, folder, after):
    """Once so many partitions have been made, end one of the workers as a machine ends that loses its power."""

    def kill():
        deadline = time.time() + 60
        while len(list(folder.iterdir())) < after and time.time() < deadline:
            time.sleep(0.01)
        os.kill(killed[0], signal.SIGKILL)

    killed = list(client.run(os.getpid).values())
    thread = threading.Thread(target=kill)
    thread.start()
    return thread, killed[0]


def wait_for_workers(client):
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize(
    "kept", [pytest.param(False, id="made anew", marks=pytest.mark.slow), pytest.param(True, id="kept by workers")]
)
def test_a_worker_may_die_in_the_middle_of_a_fit(client, data, local, tmp_path, kept):
    """Where its partitions were kept, they are made again by the others, though tasks were to run on it."""
    wait_for_workers(client)
    X, y = in_blocks(data.X), in_blocks(data.y)
    if kept:
        X, y = persisted(X, y)
        on_workers = client.who_has(X).values()
        assert len({worker for workers in on_workers for worker in workers}) == 2
    X = slow_blocks(X, tmp_path, 0.05)
    thread, killed = kill_a_worker(client, tmp_path, after=N_PARTITIONS + 3)
    model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
    thread.join()
    wait_for_workers(client)
    assert killed not in client.run(os.getpid).values()
    assert model.threshold_ == pytest.approx(local.threshold_, abs=1e-9)
    np.testing.assert_allclose(model.honest_scores_.unlabeled, local.honest_scores_.unlabeled, rtol=0, atol=1e-9)


def test_a_worker_may_die_in_the_middle_of_predictions(client, data, local, tmp_path):
    wait_for_workers(client)
    chunks = -(-len(data.y) // N_PARTITIONS)
    X, y = da.from_array(data.X, chunks=(chunks, -1)), da.from_array(data.y, chunks=chunks)
    model = DaskWMMDClassifier(**OPTIONS).fit(X, y)
    rows = data.test[:400]
    thread, killed = kill_a_worker(client, tmp_path, after=3)
    found = model.score_samples(slow_blocks(rows, tmp_path, 0.1)).compute()
    thread.join()
    wait_for_workers(client)
    assert killed not in client.run(os.getpid).values()
    np.testing.assert_allclose(found, local.score_samples(rows), rtol=0, atol=1e-9)


def persisted(*arrays):
    """Arrays that the cluster keeps, all of them made."""
    found = dask.persist(*arrays)
    distributed.wait(found)
    return found


def bytes_between(client):
    """What workers have sent each other so far."""
    workers = set(client.scheduler_info(n_workers=-1)["workers"])
    logs = client.run(lambda dask_worker: [(log["who"], log["total"]) for log in dask_worker.transfer_outgoing_log])
    return sum(total for log in logs.values() for who, total in log if who in workers)


@pytest.mark.parametrize("kept", ["by none", "by workers", "by one of two"])
def test_partitions_stay_where_they_are(client, kept):
    """Workers send each other sums and labels, less than 2 % of the table, though one of them may have nothing to do.

    Before each worker had lanes of its own, kept ones moved 80 % and more.
    """
    wait_for_workers(client)
    n_rows, length = 160_000, 10_000
    y = (da.arange(n_rows, chunks=length) % 1000 == 0).astype(np.int8)
    X = da.random.default_rng(0).normal(size=(n_rows, 10), chunks=(length, 10)) + y[:, None]
    if kept == "by workers":
        X, y = persisted(X, y)
    elif kept == "by one of two":
        with dask.annotate(workers=[min(client.scheduler_info(n_workers=-1)["workers"])]):
            X, y = persisted(X, y)
    before = bytes_between(client)
    options = {"gamma": 0.05, "scale": "none", "max_evaluations": 500, "random_state": 0}
    model = DaskWMMDClassifier(0.1, smoothing=0, **options).fit(X, y)
    assert len(model.sample_.unlabeled) == n_rows - 160
    assert bytes_between(client) - before < 0.02 * X.nbytes
    if kept == "by one of two":
        before = bytes_between(client)
        assert model.sample_.unlabeled.each_part(slowly()) == [n_rows // 16 - 10] * 16
        assert bytes_between(client) - before < 0.02 * X.nbytes  # Dask had moved half of the partitions
        in_scoring = model.score_samples(X[:100]).__dask_graph__()
        assert sum(str(key).startswith(AT_HOME) for key in in_scoring) == 16


def slowly():
    """What takes each partition so long that an idle worker would help."""

    def count(part, _start):
        time.sleep(0.1)
        return len(part)

    return count


def test_a_failing_partition_leaves_the_cluster_usable(client, data, local):
    wait_for_workers(client)

    def fail(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 2:
            raise RuntimeError("the third file is damaged")
        return block

    chunks = -(-len(data.y) // N_PARTITIONS)
    X, y = da.from_array(data.X, chunks=(chunks, -1)), da.from_array(data.y, chunks=chunks)
    broken = X.map_blocks(fail, dtype=X.dtype, meta=np.empty((0, 2)))
    with pytest.raises(RuntimeError, match=r"Partition 2 \(counted from 0\): the third file is damaged"):
        DaskWMMDClassifier(**OPTIONS).fit(broken, y)
    assert DaskWMMDClassifier(**OPTIONS).fit(X, y).threshold_ == pytest.approx(local.threshold_, abs=1e-9)


@pytest.fixture
def ctrl_c():
    """A shell that runs tests in the background has them ignore Ctrl-C; here it is heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("after", "waiting"), [(1, "of_each"), (2 * N_PARTITIONS + 1, "of_all")], ids=["while rows are read", "in sums"]
)
def test_a_fit_that_is_stopped_leaves_nothing_behind(client, data, tmp_path, after, waiting):
    """By Ctrl-C, while it waits for one answer of each partition, and for one of all of them."""
    wait_for_workers(client)
    X, y = slow_blocks(data.X, tmp_path, 0.2), da.from_array(data.y, chunks=-(-len(data.y) // N_PARTITIONS))
    model, thread = DaskWMMDClassifier(**OPTIONS), threading.Thread(target=interrupt, args=(tmp_path, after))
    thread.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    thread.join()
    assert waiting in [entry.name for entry in caught.traceback]
    assert not hasattr(model, "classes_")
    deadline = time.time() + 20
    while time.time() < deadline and (n_left := n_tasks(client)):
        time.sleep(0.05)
    assert n_left == 0
    time.sleep(0.3)
    n_made = len(list(tmp_path.iterdir()))
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == n_made < after - 1 + N_PARTITIONS


def interrupt(folder, after):
    """What Ctrl-C does, once so many partitions have been made."""
    deadline = time.time() + 60
    while len(list(folder.iterdir())) < after and time.time() < deadline:
        time.sleep(0.01)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def n_tasks(client):
    """How many tasks the scheduler knows of."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [pytest.param(5_000_000, id="400 MB"), pytest.param(50_000_000, id="4 GB")])
def test_a_table_that_workers_have_no_room_for(n_rows):
    """Rows made as they are needed pass through workers of 400 MB, of which Python and the libraries take 280.

    A worker would pause at 80 % for good; it is ended at 95 %, and of 1,000 partitions that may happen to some: what
    they had is made again.
    """
    d, chunk = 10, 50_000
    X = da.random.default_rng(0).normal(size=(n_rows, d), chunks=(chunk, d))
    y = (da.arange(n_rows, chunks=chunk) % (n_rows // 100) == 7).astype(np.int8)
    X = X + (y[:, None] * 1.5)
    assert X.nbytes >= 4e8
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    of_memory = {f"distributed.worker.memory.{name}": False for name in ("pause", "spill", "target")}
    with (
        dask.config.set(of_memory),
        distributed.LocalCluster(**options, memory_limit="400MB", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        model = DaskWMMDClassifier(0.1, scale="none", gamma=0.05, max_evaluations=200, random_state=0).fit(X, y)
        assert len(model.sample_.unlabeled) == n_rows - 100
        assert np.isfinite(model.honest_scores_.unlabeled).all()
        limits = client.run(lambda dask_worker: dask_worker.memory_manager.memory_limit)
        assert set(limits.values()) == {400_000_000}
        if n_rows <= 5_000_000:
            assert set(client.run(os.getpid).values()) == before  # none was ended for its memory
