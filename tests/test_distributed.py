"""`DaskWMMDClassifier` against `WMMDClassifier`: the same numbers, however the rows are partitioned."""

import pickle
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")

from dask import delayed  # noqa: E402

from unlabeled import WMMDClassifier, save  # noqa: E402
from unlabeled.datasets import make_gaussians  # noqa: E402
from unlabeled.distributed import DaskPUClassifier, DaskWMMDClassifier, scoring  # noqa: E402
from unlabeled.distributed.classifier import LARGEST_LOCAL  # noqa: E402
from unlabeled.distributed.partitions import as_partitions  # noqa: E402
from unlabeled.distributed.placing import Recipe  # noqa: E402
from unlabeled.engines.threads import n_threads  # noqa: E402
from unlabeled.scoring import copies, selection  # noqa: E402
from unlabeled.scoring.ratio import Kernels  # noqa: E402

N_POSITIVE, N_UNLABELED = 40, 360
LOW, HIGH = slice(0, 200), slice(200, 400)
pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(scope="module")
def client():
    """Workers as threads: quick to start, and what is patched here is patched there."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as connected:
        yield connected


def table(seed=0, *, missing=False, rounded=False):
    """Positives and unlabeled rows in random order."""
    data = make_gaussians(N_POSITIVE, N_UNLABELED, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(data.y))
    X, y = data.X[order] * [1.0, 30.0] if data.X.shape[1] == 2 else data.X[order], data.y[order]
    if rounded:
        X = np.round(X)
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X, y, data.test[:100]


def in_parts(values, lengths):
    return da.from_array(values, chunks=(tuple(lengths), -1) if values.ndim == 2 else (tuple(lengths),))


def lengths_of(cuts, n_rows):
    return np.diff([0, *sorted(cuts), n_rows]).tolist()


def assert_same(model, local, rows, tolerance):
    assert model.scaling_.name == local.scaling_.name
    for name in ("gamma_", "prior_", "threshold_"):
        assert getattr(model, name) == pytest.approx(getattr(local, name), rel=tolerance, abs=tolerance), name
    np.testing.assert_allclose(model.criteria_, local.criteria_, rtol=0, atol=tolerance)
    assert [r.gamma for r in model.rounds_] == pytest.approx([r.gamma for r in local.rounds_], rel=1e-9)
    honest, expected = model.honest_scores_, local.honest_scores_
    np.testing.assert_array_equal(honest.unlabeled_rows, expected.unlabeled_rows)
    np.testing.assert_array_equal(honest.positive_rows, expected.positive_rows)
    np.testing.assert_allclose(honest.unlabeled, expected.unlabeled, rtol=0, atol=tolerance)
    found = model.score_samples(in_parts(rows, [len(rows) // 3, 0, len(rows) - len(rows) // 3])).compute()
    np.testing.assert_allclose(found, local.score_samples(rows), rtol=0, atol=tolerance)


# --- the same numbers ---


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(
    cuts=st.lists(st.integers(0, N_POSITIVE + N_UNLABELED), max_size=6),
    scenario=st.sampled_from(["case-control", "single-sample"]),
    weighted=st.sampled_from(["no weights", "counts", "no counts"]),
    missing=st.booleans(),
    seed=st.integers(0, 5),
)
def test_any_partitioning_gives_the_numbers_of_one_machine(cuts, scenario, weighted, missing, seed):
    X, y, rows = table(seed, missing=missing)
    rng = np.random.default_rng(seed)
    weights = {"counts": rng.integers(0, 4, len(y)).astype(float), "no counts": rng.uniform(1, 4, len(y))}.get(weighted)
    lengths = lengths_of(cuts, len(y))
    options = {"scenario": scenario, "max_evaluations": 250, "random_state": seed, "exact": True}
    local = WMMDClassifier(**options).fit(X, y, weights)
    parted = None if weights is None else in_parts(weights, lengths)
    model = DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths), parted)
    assert_same(model, local, rows, 1e-9)


@pytest.mark.parametrize("many", ["folds by hash", "few different rows", "judged by some rows"])
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_large_tables_in_small(many, scenario, monkeypatch):
    """What is done to tables of many rows, with limits that make a small one large."""
    if many == "judged by some rows":
        monkeypatch.setattr(selection, "JUDGING_POINTS", 120)
        monkeypatch.setattr(selection, "JUDGING_ROWS", 60)
    else:
        monkeypatch.setattr("unlabeled.scoring.folds.MANY_ROWS", 30)
    X, y, rows = table(rounded=many == "few different rows")
    options = {"scenario": scenario, "max_evaluations": 250, "random_state": 3, "exact": True}
    local = WMMDClassifier(**options).fit(X, y)
    lengths = [1, 150, 0, 249]
    assert_same(DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths)), local, rows, 1e-9)


def test_copies_are_merged_where_all_rows_are_evaluated(monkeypatch):
    monkeypatch.setattr(copies, "LEAST_ROWS", 100)
    monkeypatch.setattr("unlabeled.distributed.wmmd.LEAST_ROWS", 100)
    monkeypatch.setattr(selection, "JUDGING_ROWS", 50)
    X, y, rows = table(rounded=True)
    options = {"max_evaluations": None, "random_state": 0, "exact": True}
    local = WMMDClassifier(**options).fit(X, y)
    lengths = [200, 200]
    assert_same(DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths)), local, rows, 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.5, "gamma": (0.1, 1.0), "smoothing": 0},
        {"prior": "best-bin", "kernel": "inverse"},
        {"prior": "density", "criterion": "risk", "scale": "standard"},
        {"prior": 0.4, "threshold": "prevalence", "smoothing": 1},
        {"prior": 0.4, "threshold": "bayes", "calibration": "ratio"},
    ],
)
def test_other_parameters(options):
    X, y, rows = table(1)
    options |= {"max_evaluations": 200, "random_state": 0, "exact": True}
    local = WMMDClassifier(**options).fit(X, y)
    lengths = [130, 270]
    model = DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths))
    assert_same(model, local, rows, 1e-9)
    parted = in_parts(rows, [50, 50])
    np.testing.assert_array_equal(model.predict(parted).compute(), local.predict(rows))
    np.testing.assert_allclose(model.predict_proba(parted).compute(), local.predict_proba(rows), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(parted).compute(), local.decision_function(rows), atol=1e-9)
    logs = model.predict_log_proba(parted).compute()
    np.testing.assert_allclose(logs, local.predict_log_proba(rows), atol=1e-6)


def test_float32_sums_are_within_two_millionths():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(1, 1, (200, 5)), rng.normal(0, 1.2, (8000, 5))]).astype(np.float32)
    y = np.repeat([1, 0], [200, 8000])
    options = {"prior": 0.3, "max_evaluations": 1500, "random_state": 0}
    local = WMMDClassifier(**options).fit(X, y)
    lengths = [3000, 5200]
    model = DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths))
    assert_same(model, local, X[:500], 2e-6)


def test_rows_at_random_places_of_many_are_chosen_without_writing_them_all_down():
    chosen = selection.some_rows(10**10, 100, np.random.RandomState(0))
    assert len(np.unique(chosen)) == 100
    assert chosen.max() > 10**9
    np.testing.assert_array_equal(chosen, selection.some_rows(10**10, 100, np.random.RandomState(0)))
    judged = selection._and_others(chosen, 10**10, np.random.RandomState(1))
    assert len(np.unique(judged)) == len(judged) == selection.JUDGING_POINTS
    assert np.isin(chosen, judged).all()
    assert judged.max() > 10**9


# --- data frames ---


@pytest.fixture
def frame():
    X, y, _ = table(2)
    found = pd.DataFrame(X, columns=["height", "width"])
    found.insert(1, "known", np.where(y == 1, "yes", "no"))
    found.index = np.arange(len(found)) * 2 + 7
    return found


def test_a_frame_with_a_label_column(frame):
    options = {"max_evaluations": 200, "random_state": 0, "exact": True}
    local = WMMDClassifier(**options).fit(frame[["height", "width"]], frame["known"])
    parted = dd.from_pandas(frame, npartitions=3)
    model = DaskWMMDClassifier(**options).fit(parted, "known")
    assert list(model.feature_names_in_) == ["height", "width"]
    assert list(model.classes_) == ["no", "yes"]
    by_series = DaskWMMDClassifier(**options).fit(parted[["height", "width"]], parted["known"])
    for fitted in (model, by_series):
        labels = fitted.predict(parted)
        assert isinstance(labels, dd.Series)
        found = labels.compute()
        np.testing.assert_array_equal(found, local.predict(frame[["height", "width"]]))
        np.testing.assert_array_equal(found.index, frame.index)
    proba = model.predict_proba(parted[["width", "height"]]).compute()
    assert list(proba.columns) == ["no", "yes"]
    np.testing.assert_allclose(proba, local.predict_proba(frame[["height", "width"]]), atol=1e-9)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, beside the newest pandas
def test_scores_stream_to_parquet(frame, tmp_path):
    pytest.importorskip("pyarrow")
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path / "table")
    parted = dd.read_parquet(tmp_path / "table")
    model = DaskWMMDClassifier(max_evaluations=200, random_state=0).fit(parted, "known")
    model.predict_table(parted).to_parquet(tmp_path / "scores")
    found = pd.read_parquet(tmp_path / "scores")
    assert list(found.columns) == ["score", "probability", "flagged"]
    np.testing.assert_array_equal(found["flagged"] == 1, found["score"] > model.threshold_)
    np.testing.assert_array_equal(found.index, frame.index)


@pytest.mark.parametrize(
    "spelled",
    [
        lambda known: pd.Series(np.where(known, "fraud", None), dtype="str"),
        lambda known: pd.Series(np.where(known, "yes", np.where(np.arange(len(known)) % 2, "no", None)), dtype="str"),
        lambda known: pd.Series(np.where(known, "yes", "no"), dtype="category"),
        lambda known: pd.Series(np.where(known, True, None), dtype="boolean"),
        lambda known: pd.Series(np.where(known, 1, None), dtype="Int64"),
        lambda known: pd.Series(np.where(known, 1.0, np.nan)),
    ],
    ids=["one word", "some missing", "category", "boolean", "Int64", "float"],
)
def test_labels_of_any_type_some_of_them_missing(spelled):
    """Dask makes Arrow's strings of words, and what is missing there has no truth value."""
    X, y, _ = table(2)
    found = pd.DataFrame(X, columns=["height", "width"]).assign(known=spelled(y == 1))
    options = {"prior": 0.5, "gamma": 0.5, "smoothing": 0, "max_evaluations": 200, "random_state": 0, "exact": True}
    local = WMMDClassifier(**options).fit(found[["height", "width"]], found["known"])
    parted = dd.from_pandas(found, npartitions=3)
    model = DaskWMMDClassifier(**options).fit(parted, "known")
    assert len(model.sample_.positive) == N_POSITIVE
    np.testing.assert_array_equal(model.classes_, local.classes_)
    np.testing.assert_array_equal(model.predict(parted).compute(), local.predict(found[["height", "width"]]))


def test_scores_become_a_column_of_the_table(frame):
    parted = dd.from_pandas(frame, npartitions=3)
    model = DaskWMMDClassifier(0.5, gamma=0.5, smoothing=0, max_evaluations=200).fit(parted, "known")
    scores = model.score_samples(parted)
    assert scores.divisions == parted.divisions
    found = parted.assign(score=scores).compute()
    assert list(found.columns) == ["height", "known", "width", "score"]
    np.testing.assert_array_equal(found["score"], scores.compute())


# --- what is lazy, and what moves ---


def test_tasks_make_partitions_themselves_unless_two_share_something():
    X, y, _ = table()
    source = delayed(np.copy)(X)
    shared = da.concatenate([da.from_delayed(source[part], (200, 2), dtype=float) for part in (LOW, HIGH)])
    rows, labels = in_parts(X, [200, 200]) + 1, in_parts(y, [200, 200])
    assert not any(isinstance(block, Recipe) for block, _, _ in as_partitions(shared, labels).read_inside)
    assert not any(isinstance(block, Recipe) for block, _, _ in as_partitions(rows.persist(), labels).read_inside)
    for (recipe, *others), part in zip(as_partitions(rows, labels).read_inside, (LOW, HIGH), strict=True):
        block, found, weights = recipe.made()
        np.testing.assert_array_equal(block, X[part] + 1)
        np.testing.assert_array_equal(found, y[part])
        assert [weights, *others] == [None, None, None]


def test_nothing_is_computed_before_it_is_asked_for(tmp_path):
    X, y, rows = table()
    lengths, seen = [100, 300], tmp_path / "seen"
    model = DaskWMMDClassifier(0.5, max_evaluations=200).fit(in_parts(X, lengths), in_parts(y, lengths))

    def watched(block):
        seen.touch()
        return block

    parted = in_parts(rows, [40, 60]).map_blocks(watched, dtype=float, meta=np.empty((0, 2)))
    found = [ask(parted) for ask in (model.predict, model.predict_proba, model.score_samples)]
    assert not seen.exists()
    assert [one.shape for one in found] == [(100,), (100, 2), (100,)]
    found[0].compute()
    assert seen.exists()


@pytest.fixture
def came(monkeypatch):
    """Bytes of each answer that has come to the client, by whatever way: all of them end in one place of Dask."""
    sizes, gather = [], distributed.Client._gather

    async def watched(self, futures, *args, **kwargs):
        found = await gather(self, futures, *args, **kwargs)
        sizes.extend(len(pickle.dumps(one)) for one in (found if isinstance(found, list) else [found]))
        return found

    monkeypatch.setattr(distributed.Client, "_gather", watched)
    return sizes


def test_partitions_are_not_gathered(monkeypatch, came):
    """No answer that leaves a worker is as large as the rows, but for the rows that are evaluated."""
    rng = np.random.default_rng(0)
    n, d = 40_000, 10
    X, y = rng.normal(size=(n, d)), (np.arange(n) < 100).astype(int)
    monkeypatch.setattr("unlabeled.scoring.folds.MANY_ROWS", 10_000)
    for name, value in (("JUDGING_POINTS", 1000), ("JUDGING_ROWS", 200)):
        monkeypatch.setattr(selection, name, value)
    monkeypatch.setattr("unlabeled.scoring.forms.MOST_ROWS", 500)
    monkeypatch.setattr("unlabeled.distributed.classifier.MOST_ROWS", 500)
    monkeypatch.setattr("unlabeled.scoring.scaling.N_PAIRS", 500)
    monkeypatch.setattr("unlabeled.distributed.classifier.N_PAIRS", 500)
    model = DaskWMMDClassifier(0.3, max_evaluations=500, random_state=0)
    model.fit(da.from_array(X, chunks=(5000, -1)), da.from_array(y, chunks=5000))
    unlabeled = model.sample_.unlabeled
    assert len(unlabeled.table.held.places) <= 500 + 2 * 500 + 1000 + 500
    assert 0 < sum(came) < 0.15 * X.nbytes
    assert max(came) < 0.05 * X.nbytes
    # What is watched is the way of every answer: rows that are asked for are seen, one by one and merged.
    for bring in (unlabeled.table.all_rows, lambda: unlabeled.reduced(rows_of_part, both_rows)):
        came.clear()
        bring()
        assert sum(came) > (n - 100) * d * 8


def rows_of_part(part, _start):
    return part.rows


def both_rows(one, other):
    return np.concatenate([one, other])


def test_tasks_take_one_thread_each(monkeypatch):
    """A worker runs as many of them at once as it has threads; a number that is asked for is taken."""
    monkeypatch.setattr("unlabeled.engines.threads.joblib.cpu_count", lambda: 8)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 8)
    found, log_sums_over = {"client": [], "Dask": []}, Kernels.log_sums_over

    def watched(self, *args, **kwargs):
        where = "Dask" if "Dask" in threading.current_thread().name else "client"
        found[where].append(n_threads(self.n_jobs))
        return log_sums_over(replace(self, n_jobs=1), *args, **kwargs)  # this machine may have fewer

    monkeypatch.setattr(Kernels, "log_sums_over", watched)
    X, y, rows = table()
    model = DaskWMMDClassifier(0.5, max_evaluations=200).fit(in_parts(X, [100, 300]), in_parts(y, [100, 300]))
    assert set(found["client"]) == {8}  # what is here, alone, may have all of them
    n_of_fit = len(found["Dask"])
    model.score_samples(in_parts(rows, [50, 50])).compute()
    assert 2 <= n_of_fit <= len(found["Dask"]) - 2 * 2
    assert set(found["Dask"]) == {1}
    assert set(model.sample_.unlabeled.each_part(threads_of_part)) == {1}
    found["Dask"].clear()
    clone(model).set_params(n_jobs=3).fit(in_parts(X, [100, 300]), in_parts(y, [100, 300]))
    assert set(found["Dask"]) == {3}


def threads_of_part(_part, _start):
    return n_threads(None)


def test_what_is_too_large_for_a_graph_goes_to_every_worker(monkeypatch, client):
    """Positives and evaluated rows of more than 4 MB; nothing of it stays."""
    sent, scatter = [], client.scatter

    def watched(value, **how):
        sent.append(how)
        return scatter(value, **how)

    monkeypatch.setattr(client, "scatter", watched)
    monkeypatch.setattr("unlabeled.distributed.running._IN_GRAPH", 1000)
    X, y, rows = table()
    options = {"prior": 0.5, "gamma": 0.5, "smoothing": 1, "max_evaluations": 200, "random_state": 0, "exact": True}
    lengths, local = [100, 300], WMMDClassifier(**options).fit(X, y)
    model = DaskWMMDClassifier(**options, client=client).fit(in_parts(X, lengths), in_parts(y, lengths))
    found = model.score_samples(in_parts(rows, [100])).compute()
    np.testing.assert_allclose(found, local.score_samples(rows), rtol=0, atol=1e-9)
    assert len(sent) >= 4
    assert all(how["broadcast"] for how in sent)


def test_very_many_tasks_are_warned_of(monkeypatch):
    monkeypatch.setattr(scoring, "MANY_TASKS", 5)
    X, y, rows = table()
    model = DaskWMMDClassifier(0.5, gamma=0.5, smoothing=0, max_evaluations=200)
    model.fit(in_parts(X, [100, 300]), in_parts(y, [100, 300]))
    with pytest.warns(
        UserWarning, match=r"3 blocks of rows meets each of 2 partitions, in 6 tasks.*compress=10_000"
    ) as told:
        model.predict(in_parts(rows, [30, 30, 40]))
    assert Path(told[0].filename).name == Path(__file__).name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(in_parts(rows, [50, 50]))
        model.compressed(1000).predict(in_parts(rows, [30, 30, 40]))


def test_to_local():
    X, y, rows = table(4, missing=True)
    lengths = [170, 0, 230]
    options = {"max_evaluations": 200, "random_state": 0, "exact": True, "scenario": "single-sample"}
    model = DaskWMMDClassifier(**options).fit(in_parts(X, lengths), in_parts(y, lengths))
    local, expected = model.to_local(), WMMDClassifier(**options).fit(X, y)
    assert type(local) is WMMDClassifier
    np.testing.assert_allclose(local.score_samples(rows), expected.score_samples(rows), atol=1e-9)
    np.testing.assert_array_equal(local.sample_.unlabeled.row_numbers, expected.sample_.unlabeled.row_numbers)
    np.testing.assert_allclose(local.adapt(X[y == 0]).prior_, expected.adapt(X[y == 0]).prior_, atol=1e-9)
    with pytest.raises(MemoryError, match=r"360 unlabeled rows take .* compress"):
        model.to_local(max_bytes=100)
    assert LARGEST_LOCAL >= 1e9


def test_pickling_drops_the_client(client):
    X, y, rows = table()
    lengths = [100, 300]
    model = DaskWMMDClassifier(0.5, client=client, max_evaluations=200).fit(in_parts(X, lengths), in_parts(y, lengths))
    assert model.client_ is client
    assert clone(model).client is client
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None
    parted = in_parts(rows, [100])
    np.testing.assert_array_equal(copied.score_samples(parted).compute(), model.score_samples(parted).compute())


# --- what is refused ---


def parted_frame(change, dtype=float, **columns):
    """Three partitions, of which the one with number 1 is changed."""
    X, y, _ = table(2)
    found = pd.DataFrame(X.astype(dtype), columns=["height", "width"]).assign(known=y, **columns)

    def make(number):
        part = found.iloc[number * 133 : (number + 1) * 133]
        return change(part) if number == 1 else part

    return dd.from_map(make, [0, 1, 2], meta=found.iloc[:0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: part.drop(columns="known"), r"Partition 1 .*known"),
        (lambda part: part.assign(known=np.arange(len(part)) % 3), r"3 values, .*2 in partition 1"),
        (lambda part: part.assign(known=7), r"3 values, .*7 in partition 1"),
        (lambda part: part.rename(columns={"width": "breadth"}), r"Partition 1 .*'width'.*missing.*'breadth'"),
        (lambda part: part.assign(width=part["width"].astype(str)), r"Partition 1 .*'width'.*no numbers"),
        (lambda part: part.assign(width=np.inf), r"Partition 1 .*infinity"),
        (lambda part: part.assign(known=range(len(part))), r"Partition 1 .*133 different values"),
        (
            lambda part: part.assign(known=part["known"].astype(str)),
            r"words and others are none.*'1' in partition 1",
        ),
    ],
)
def test_a_partition_unlike_the_others_is_named(client, change, message):
    with pytest.raises((ValueError, KeyError), match=message):
        DaskWMMDClassifier().fit(parted_frame(change), "known")
    assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_a_partition_that_the_table_would_round_is_named(kind):
    """Among rows of 3e7 float32 tells even numbers alone; the scores were others than those of one machine."""
    message = r"Partition 1 .*'float64'.*the table is float32.*\.astype\('float64'\) of the whole table"
    if kind == "frame":
        parted, known = parted_frame(lambda part: part.astype({"width": float}), np.float32), "known"
    else:
        X, y, _ = table()
        as_given = delayed(lambda: X[200:])()
        parts = [da.from_array(X[:200].astype(np.float32)), da.from_delayed(as_given, (200, 2), dtype=np.float32)]
        parted, known = da.concatenate(parts), in_parts(y, [200, 200])
    with pytest.raises(ValueError, match=message):
        DaskWMMDClassifier().fit(parted, known)


def test_numbers_that_float32_has_may_come_in_other_types():
    """Small whole numbers in one partition, and one of another type without rows."""
    parted = parted_frame(lambda part: part.assign(width=np.arange(len(part), dtype=np.int16)), np.float32)
    whole = parted.compute()
    nothing = dd.from_map(lambda _: whole.iloc[:0].astype(float), [0], meta=parted._meta)
    options = {"prior": 0.5, "gamma": 0.5, "smoothing": 0, "max_evaluations": 200, "random_state": 0, "exact": True}
    model = DaskWMMDClassifier(**options).fit(dd.concat([parted, nothing]), "known")
    local = WMMDClassifier(**options).fit(whole[["height", "width"]], whole["known"])
    assert model.threshold_ == pytest.approx(local.threshold_, abs=1e-9)


@pytest.mark.parametrize(("learned", "scored"), [(np.float32, float), (float, np.float32)])
def test_rows_to_score_keep_their_type(learned, scored):
    """As on one machine: rows of float64 are not rounded because the classifier has learned from float32."""
    X, y, rows = table()
    X, rows = X.astype(learned) + 1000, (rows + 1000).astype(scored)
    options = {"prior": 0.5, "gamma": 10.0, "scale": "none", "smoothing": 0, "random_state": 0, "exact": True}
    local = WMMDClassifier(**options).fit(X, y)
    model = DaskWMMDClassifier(**options).fit(in_parts(X, [200, 200]), in_parts(y, [200, 200]))
    found, expected = model.score_samples(in_parts(rows, [100])).compute(), local.score_samples(rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("lacking", ["w", "known"])
@pytest.mark.parametrize("kept", [False, True])
def test_a_partition_without_labels_or_weights_is_named(lacking, kept):
    parted = parted_frame(lambda part: part.rename(columns={lacking: "v"}), w=1.0)
    with pytest.raises(ValueError, match=rf"Partition 1 .*{lacking}.*in every partition: add \['{lacking}'\] there"):
        DaskWMMDClassifier().fit(parted.persist() if kept else parted, "known", "w")


def test_a_missing_key_of_yours_stays_as_it_is():
    with pytest.raises(KeyError, match=r"Partition 1 .*claims-7"):
        DaskWMMDClassifier().fit(parted_frame(lambda _: {}["claims-7"]), "known")


@pytest.mark.parametrize("names", [["height", "height", "known"], ["height", "known", "known"]])
def test_columns_of_one_name_are_told(frame, names):
    of_numbers = frame.assign(known=(frame["known"] == "yes").astype(int))[["height", "width", "known"]]
    of_numbers.columns = names
    with pytest.raises(ValueError, match=rf"same name, \['{names[1]}'\]\. Give each its own"):
        DaskWMMDClassifier().fit(dd.from_pandas(of_numbers, npartitions=2), "known")


@pytest.mark.parametrize(
    ("label", "lacking"), [(0, "none is labelled"), ("no", "none is labelled"), (None, "none is"), (5, "no other")]
)
def test_a_table_of_one_label_says_which_is_missing(frame, label, lacking):
    parted = dd.from_pandas(frame.assign(known=label), npartitions=3)
    with pytest.raises(ValueError, match=rf"All 400 rows that count have the same label, in 3 partitions: {lacking}"):
        DaskWMMDClassifier().fit(parted, "known")


def test_an_error_of_a_partition_is_the_original_one_with_its_number():
    class BrokenFileError(OSError):
        pass

    def fail(_part):
        raise BrokenFileError("disk on fire")

    with pytest.raises(OSError, match=r"Partition 1 .*disk on fire"):
        DaskWMMDClassifier().fit(parted_frame(fail), "known")


def test_a_partition_that_fails_ends_the_work_on_the_others(tmp_path):
    X, y, _ = table(2)
    (made := tmp_path / "made").mkdir()

    def first_fails(block, block_info=None):
        try:
            (tmp_path / "first").touch(exist_ok=False)
        except FileExistsError:
            time.sleep(0.2)
            (made / str(block_info[0]["chunk-location"][0])).touch()
            return block
        raise OSError("disk on fire")

    rows = in_parts(X, [20] * 20).map_blocks(first_fails, dtype=float, meta=np.empty((0, 2)))
    with pytest.raises(OSError, match=r"Partition \d+ \(counted from 0\): disk on fire"):
        DaskWMMDClassifier().fit(rows, in_parts(y, [20] * 20))
    assert len(list(made.iterdir())) < 10


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_failing_partition_of_rows_to_score_is_named(frame, kind):
    parted = dd.from_pandas(frame, npartitions=3)
    model = DaskWMMDClassifier(0.5, gamma=0.5, smoothing=0, max_evaluations=200)
    if kind == "frame":
        rows = parted_frame(lambda _: 1 / 0)
        found = model.fit(parted, "known").predict(rows)
    else:
        X, y, _ = table()

        def fail(block, block_info=None):
            return 1 / 0 if block_info[0]["chunk-location"][0] == 1 else block

        rows = in_parts(X, [200, 200]).map_blocks(fail, dtype=float, meta=np.empty((0, 2)))
        found = model.fit(in_parts(X, [200, 200]), in_parts(y, [200, 200])).predict(rows)
    with pytest.raises(ZeroDivisionError) as caught:
        found.compute()
    assert caught.value.__notes__ == ["This came up in partition 1 (counted from 0) of the rows to be scored."]


def test_a_partition_that_fails_while_others_are_scored_is_named(tmp_path):
    X, y, rows = table()

    def read(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 1 and (tmp_path / "gone").exists():
            raise FileNotFoundError("the second file")
        return block

    parted = in_parts(X, [200, 200]).map_blocks(read, dtype=float, meta=np.empty((0, 2)))
    model = DaskWMMDClassifier(0.5, gamma=0.5, smoothing=0, max_evaluations=200).fit(parted, in_parts(y, [200, 200]))
    found = model.predict(in_parts(rows, [100]))
    (tmp_path / "gone").touch()
    with pytest.raises(FileNotFoundError) as caught:
        found.compute()
    assert caught.value.__notes__ == [
        "This came up in partition 1 (counted from 0) of the table that was learned from."
    ]


def test_verbose_shows_stages_and_the_bar_of_dask(capsys):
    X, y, _ = table()
    DaskWMMDClassifier(0.5, max_evaluations=200, verbose=True).fit(in_parts(X, [100, 300]), in_parts(y, [100, 300]))
    told = capsys.readouterr().out
    assert "100% Completed" in told
    assert "[DaskWMMDClassifier] a look at all rows: " in told


def test_input_that_cannot_be_right_is_refused_at_once(frame):
    parted = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(
        ValueError, match=r"no column 'label' of labels; its columns are \['height', 'known', 'width'\]"
    ):
        DaskWMMDClassifier().fit(parted, "label")
    with pytest.raises(ValueError, match=r"Columns \['known'\] of the table hold no numbers"):
        DaskWMMDClassifier().fit(parted, (parted["height"] > 1).astype(int))
    with pytest.raises(TypeError, match="WMMDClassifier"):
        DaskWMMDClassifier().fit(frame, "known")
    with pytest.raises(TypeError, match=r"column or a Dask series; got pandas\.\S*Series"):
        DaskWMMDClassifier().fit(parted[["height"]], frame["known"])
    fitted = DaskWMMDClassifier(0.5, gamma=0.5, max_evaluations=200).fit(parted, "known")
    with pytest.raises(ValueError, match=r"Columns \['width'\] of the table hold no numbers"):
        fitted.predict(dd.from_pandas(frame.assign(width="wide"), npartitions=2))
    with pytest.raises(TypeError, match=r"belongs to a cluster.*to_local"):
        save(fitted, "fitted.model")
    X, y, _ = table()
    X, zeros = in_parts(X, [200, 200]), np.zeros(len(y))
    with pytest.raises(ValueError, match="only one class, 0"):
        DaskWMMDClassifier().fit(X, in_parts(zeros, [200, 200]))
    with pytest.raises(ValueError, match="each row needs one"):
        DaskWMMDClassifier().fit(X, in_parts(zeros[:-1], [200, 199]))
    with pytest.raises(ValueError, match="holdout"):
        DaskWMMDClassifier(selection="holdout", smoothing=0).fit(X, in_parts(y, [200, 200]))
    with pytest.raises(ValueError, match="'km2'"):
        DaskWMMDClassifier("km2").fit(X, in_parts(y, [200, 200]))
    one = np.where(np.arange(len(y)) == 3, 1, 0)
    with pytest.raises(ValueError, match="Only one labelled positive counts"):
        DaskWMMDClassifier().fit(X, in_parts(one, [200, 200]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": 1.4}, "prior must lie strictly between 0 and 1"),
        ({"gamma": -1.0}, "gamma"),
        ({"kernel": "cosine"}, "cosine"),
        ({"scale": "inches"}, "scale='inches'"),
        ({"criterion": "taste"}, "criterion='taste'"),
        ({"threshold": "high"}, "high"),
        ({"smoothing": -3}, "smoothing"),
        ({"engine": "steam"}, "engine='steam'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"max_evaluations": 0}, "max_evaluations"),
        ({"scenario": "sunny"}, "scenario='sunny'"),
        ({"random_state": "x"}, "seed"),
        ({"compress": "copies"}, "looks for copies in one place"),
        ({"compress": "less"}, "compress='less'"),
        ({"client": "tcp://nowhere"}, r"client=Client\('tcp://nowhere'\)"),
        ({"kind": DaskPUClassifier, "n_folds": 1}, "n_folds"),
        ({"kind": DaskPUClassifier, "estimator": 3}, "int has neither predict_proba nor decision_function"),
        ({"kind": DaskPUClassifier, "compress": "copies"}, "looks for copies in one place"),
        ({"kind": DaskPUClassifier, "prior": 1.4}, "prior must lie strictly between 0 and 1"),
    ],
)
def test_bad_parameters_are_refused_before_the_table_is_read(parameters, message, tmp_path):
    X, y, _ = table()
    seen = tmp_path / "seen"

    def read(block):
        seen.touch()
        return block

    parted = in_parts(X, [200, 200]).map_blocks(read, meta=X[:0])
    kind = parameters.get("kind", DaskWMMDClassifier)
    with pytest.raises((TypeError, ValueError), match=message):
        kind(**{name: value for name, value in parameters.items() if name != "kind"}).fit(
            parted, in_parts(y, [200, 200])
        )
    assert not seen.exists()


def test_a_table_of_labels_alone(frame):
    with pytest.raises(ValueError, match="No column of the table is left beside labels"):
        DaskWMMDClassifier().fit(dd.from_pandas(frame[["known"]], npartitions=2), "known")


def test_sparse_partitions_are_refused():
    X, y, _ = table()
    parted = in_parts(X, [200, 200]).map_blocks(csr_array, meta=X[:0])
    with pytest.raises(ValueError, match=r"Partition \d .*sparse.*toarray"):
        DaskWMMDClassifier().fit(parted, in_parts(y, [200, 200]))


def test_a_closed_client_is_refused(client):
    closed = distributed.Client(client.scheduler.address, set_as_default=False)
    closed.close()
    X, y, _ = table()
    with pytest.raises(ValueError, match=r"client is closed.*client=Client"):
        DaskWMMDClassifier(client=closed).fit(in_parts(X, [400]), in_parts(y, [400]))


def test_a_partition_that_changes_is_told(tmp_path):
    """Labels too: what is made anew must be the same."""
    X, y, _ = table()
    path = str(tmp_path / "seen")

    def unsteady(block, labels):
        with Path(path).open("a") as file:
            file.write("x")
        keep = len(block) // (1 + (Path(path).stat().st_size > 3))
        return block[:keep] if labels is None else labels[:keep]

    def blocks(values, shape, which):
        make = [delayed(unsteady, pure=False)(half, which) for half in (values[:200], values[200:])]
        return da.concatenate([da.from_delayed(one, shape, dtype=float) for one in make], allow_unknown_chunksizes=True)

    parted = blocks(X, (np.nan, 2), None)
    labels = da.concatenate([da.from_delayed(delayed(half), (np.nan,), dtype=float) for half in (y[:200], y[200:])])
    with pytest.raises(ValueError, match=r"rows and 200 labels|when it was first read"):
        DaskWMMDClassifier(0.5).fit(parted, labels)


# --- compressed ---


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_compression_where_rows_are(scenario, monkeypatch):
    """Thinned by partitions the score is near that of all rows, as near as it says, and takes no partition any more."""
    monkeypatch.setattr("unlabeled.distributed.compression.FIRST_SIZE", 1000)
    monkeypatch.setattr("unlabeled.distributed.compression.FIRST_TIMES", 1)
    monkeypatch.setattr("unlabeled.distributed.compression.N_CHECKED", 200)
    monkeypatch.setattr("unlabeled.scoring.compression.N_CHECKED", 200)
    data = make_gaussians(200, 7800, random_state=0)
    lengths = [2500, 0, 3500, 2000]
    options = {"prior": 0.5, "scenario": scenario, "max_evaluations": 500, "random_state": 0, "smoothing": 1}
    model = DaskWMMDClassifier(**options).fit(in_parts(data.X, lengths), in_parts(data.y, lengths))
    parted = in_parts(data.test[:500], [500])
    exact = model.score_samples(parted).compute()
    smaller = model.compressed(1200)
    found = smaller.compression_
    assert found.n_rows < found.n_rows_before / 3
    change = np.abs(smaller.score_samples(parted).compute() - exact)
    assert 0 < change.mean() < 2 * found.mean_change < 0.1
    # The largest of 200 changes: one in 201 new rows may change by more, 2.5 of these 500; more than 10 had 1e-4.
    assert (change > found.largest_change).sum() <= 10
    assert change.max() < 5 * found.largest_change
    local = smaller.to_local()
    np.testing.assert_allclose(local.score_samples(data.test[:500]), smaller.score_samples(parted).compute(), atol=1e-9)
    assert model.compressed(3 * found.largest_change).compression_.n_rows < found.n_rows_before
    with pytest.raises(ValueError, match="cannot be met"):
        model.compressed(1e-9)
    with pytest.raises(ValueError, match="whole number"):
        model.compressed("copies")
    at_once = DaskWMMDClassifier(**options, compress=1200).fit(in_parts(data.X, lengths), in_parts(data.y, lengths))
    assert at_once.compression_.n_rows == found.n_rows


def test_known_negatives_are_refused_before_any_work():
    X, y, _ = table()
    with pytest.raises(ValueError, match="need one machine"):
        DaskWMMDClassifier(negative=-1).fit(in_parts(X, [200, 200]), in_parts(y, [200, 200]))
