"""The seam: what every engine must answer, and that the fast one agrees with the definition."""

import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from unlabeled import engines
from unlabeled.engines import (
    ENGINES,
    choose_engine,
    choosing,
    intermediate,
    log_kernel_sums,
    select_engine,
    tiles,
    vectors,
)
from unlabeled.engines import numba as numba_engine
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.vectors import LADDER
from unlabeled.kernels import KERNELS, PAPER_GAMMAS, RBF

#: 1,100 queries against 1,000 points: just over what is computed by differences, so that tiles are tested.
N_QUERIES, N_POINTS = 1100, 1000
#: Queries that are compared with the definition, which is slow.
CHECKED = slice(0, 60)


def error(queries, points, kernel, gammas, checked=CHECKED, **options):
    """Largest error of the numba engine on a large job, on the queries that are checked."""
    fast = log_kernel_sums(queries, points, kernel, gammas, engine="numba", **options)
    options.pop("exact", None)
    if "own" in options:
        options["own"] = options["own"][checked]
    exact = log_kernel_sums(queries[checked], points, kernel, gammas, engine="reference", **options)
    assert not np.isnan(fast).any()
    return np.abs(fast[:, checked] - exact).max()


# --- the definition ---


def test_definition_by_hand(engine, kernel):
    queries, points = [[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]
    value = KERNELS[kernel]
    sq_dist = np.array([[0.0, 25.0], [1.0, 20.0]])
    expected = [np.log(np.exp(value.log(sq_dist, gamma)).sum(axis=1)) for gamma in (0.1, 2.0)]
    answer = log_kernel_sums(queries, points, kernel, [0.1, 2.0], engine=engine)
    assert answer.dtype == np.float64
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-14)


def test_kernel_mean_of_a_gaussian_in_closed_form(engine, rng):
    """E exp(-gamma |z - X|^2) for X standard normal is (1 + 2 gamma)^(-d/2) exp(-gamma |z|^2 / (1 + 2 gamma))."""
    d, gamma, n = 3, 0.3, 200_000
    z = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5]])
    log_mean = log_kernel_sums(z, rng.standard_normal((n, d)), "rbf", gamma, engine=engine)[0] - np.log(n)
    expected = -d / 2 * np.log1p(2 * gamma) - gamma * (z**2).sum(axis=1) / (1 + 2 * gamma)
    np.testing.assert_allclose(log_mean, expected, atol=0.01)


def test_every_engine_knows_every_kernel(engine, kernel, rng):
    """A compiled engine keeps its own table of kernels: fails when an entry is missing."""
    queries, points = rng.standard_normal((5, 2)), rng.standard_normal((7, 2))
    answer = log_kernel_sums(queries, points, kernel, PAPER_GAMMAS, engine=engine)
    exact = log_kernel_sums(queries, points, kernel, PAPER_GAMMAS, engine="reference")
    np.testing.assert_allclose(answer, exact, rtol=0, atol=1e-12)


# --- accuracy of the fast engine ---


@pytest.mark.parametrize("d", [2, 26, 200, *(pytest.param(d, marks=pytest.mark.slow) for d in (5, 60))])
@pytest.mark.parametrize("gamma_d", [2.0, 10.0, 40.0])
def test_large_jobs_do_not_depend_on_batches_chunks_and_threads(d, gamma_d, kernel, rng, monkeypatch):
    queries, points = rng.standard_normal((1500, d)), rng.standard_normal((2000, d))
    gammas = np.array(PAPER_GAMMAS) * gamma_d / d
    whole = log_kernel_sums(queries, points, kernel, gammas)
    batches = np.hstack([log_kernel_sums(q, points, kernel, gammas) for q in np.array_split(queries, 7)])
    split = np.logaddexp(*(log_kernel_sums(queries, part, kernel, gammas) for part in np.split(points, [601])))
    order = rng.permutation(len(points))
    shuffled = log_kernel_sums(queries, points[order], kernel, gammas)
    one_thread = log_kernel_sums(queries, points, kernel, gammas, n_jobs=1)
    monkeypatch.setattr(numba_engine, "_CHUNK", 40_000)
    chunks = log_kernel_sums(queries, points, kernel, gammas)
    for other in (batches, split, shuffled, one_thread, chunks):
        assert np.abs(whole - other).max() <= 1e-6


def test_points_are_packed_once_for_all_queries(rng, monkeypatch):
    """Also where some queries go ahead to see whether float32 suffices, and where all of them take turns."""
    packed, pack_points = [], tiles.pack_points

    def counting(points, *how):
        packed.append(len(points))
        return pack_points(points, *how)

    monkeypatch.setattr(tiles, "pack_points", counting)
    queries, points = rng.standard_normal((3000, 9)), rng.standard_normal((2000, 9))
    for chunk, n_chunks in ((8_000_000, 1), (12_000, 2)):
        packed.clear()
        monkeypatch.setattr(numba_engine, "_CHUNK", chunk)
        log_kernel_sums(queries, points, "rbf", 0.1, engine="numba")
        assert len(packed) == n_chunks
        assert sum(packed) == 2000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 37, 1000])
def test_packed_rows_are_the_rows(n, dtype, rng, monkeypatch):
    """On threads and part by part as well: distances of what is packed are those of the rows."""
    monkeypatch.setattr(tiles, "_IN_CACHE", 400)
    monkeypatch.setattr(tiles, "_WORTH_THREADS", 0)
    rows, centre = rng.standard_normal((n, 5)), rng.standard_normal(5)
    shape = tiles.TileShape.of(5, n, dtype)
    points, offsets = tiles.pack_points(rows, centre, 0.5, shape, dtype, 3)
    queries = tiles.pack_queries(rows, centre, 0.5, shape, dtype, 3)
    stored, asked = (array.transpose(0, 1, 3, 2).reshape(-1, 5) for array in (points, queries.panels))
    expected = 0.25 * ((rows[:, None] - rows) ** 2).sum(axis=2)
    sq_dist = queries.sq_norms[:n, None] - asked[:n] @ stored[:n].T - offsets.ravel()[:n]
    np.testing.assert_allclose(sq_dist, expected, rtol=0, atol=1e-5 if dtype is np.float32 else 1e-12)
    assert not stored[n:].any()
    assert (offsets.ravel()[n:] < tiles.UNREAL).all()
    assert (queries.moved == 0).all() == (dtype is np.float64)
    assert queries.moved.max() < 1e-12


def test_own_and_weights_survive_chunks(kernel, rng, monkeypatch):
    points, own = rng.standard_normal((N_QUERIES, 2)), np.arange(N_QUERIES)
    log_weights = rng.uniform(0, 2, N_QUERIES)
    for scale in (1, 1e3):  # in tiles, and by differences
        whole = log_kernel_sums(points * scale, points * scale, kernel, [0.1], own=own, log_weights=log_weights)
        with monkeypatch.context() as patch:
            patch.setattr(numba_engine, "_CHUNK", 2_000)
            chunks = log_kernel_sums(points * scale, points * scale, kernel, [0.1], own=own, log_weights=log_weights)
        assert np.abs(whole - chunks).max() <= 1e-6


def test_few_queries_against_many_points(kernel, rng):
    queries, points = rng.standard_normal((12, 3)), rng.standard_normal((100_000, 3))
    assert error(queries, points, kernel, PAPER_GAMMAS, checked=slice(0, 3)) <= 1e-5


def test_callers_side_by_side_agree(kernel, rng):
    queries, points = rng.standard_normal((N_QUERIES, 3)), rng.standard_normal((N_POINTS, 3))
    alone = log_kernel_sums(queries, points, kernel, PAPER_GAMMAS)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: log_kernel_sums(queries, points, kernel, PAPER_GAMMAS), range(8)))
    for answer in together:
        np.testing.assert_array_equal(answer, alone)


finite = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@given(
    queries=arrays(float, st.tuples(st.integers(1, 4), st.just(2)), elements=finite),
    points=arrays(float, st.tuples(st.integers(1, 9), st.just(2)), elements=finite),
    gammas=st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4),
    kernel=st.sampled_from(sorted(KERNELS)),
)
def test_engines_agree_on_anything(queries, points, gammas, kernel):
    fast = log_kernel_sums(queries, points, kernel, gammas, engine="numba")
    exact = log_kernel_sums(queries, points, kernel, gammas, engine="reference")
    assert np.isfinite(fast).all()
    np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-9)


@given(data=st.data(), scale=st.sampled_from([1e-3, 1.0, 30.0, 1e4]), offset=st.sampled_from([0.0, 1e4]))
def test_tiles_agree_on_anything(data, scale, offset):
    d = data.draw(st.integers(1, 12))
    gamma = data.draw(st.floats(1e-3, 1e2))
    kernel = data.draw(st.sampled_from(sorted(KERNELS)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    queries, points = (scale * rng.standard_normal((n, d)) + offset for n in (N_QUERIES, N_POINTS))
    assert error(queries, points, kernel, [gamma, 2 * gamma, 3.3 * gamma], checked=slice(0, 5)) <= 1e-4


# --- ladders ---


@given(st.lists(st.one_of(st.floats(1e-9, 1e9), st.integers(1, 70).map(float)), min_size=1, max_size=20))
def test_ladders_hold_every_gamma(gammas):
    gammas = np.array(gammas)
    grid = Ladders.of(gammas, LADDER)
    np.testing.assert_allclose(grid.base * grid.steps[grid.slots], gammas, rtol=1e-11)
    assert grid.lengths.sum() == len(grid.steps)
    firsts = np.cumsum(np.append(0, grid.lengths[:-1]))
    assert (np.diff(grid.steps[firsts]) > 0).all()  # what is too narrow to matter is left out from there on
    for first, length in zip(firsts, grid.lengths, strict=True):
        assert length in {1, LADDER}
        np.testing.assert_allclose(grid.steps[first : first + length], grid.steps[first] * 2.0 ** np.arange(length))


def test_few_exponentials_serve_a_grid_of_ratio_two():
    assert list(Ladders.of(2.0 ** np.arange(-3, 9), 4).lengths) == [4, 4, 4]
    assert list(Ladders.of(np.geomspace(0.3, 0.3 * 2**11, 12), 3).lengths) == [3, 3, 3, 3]
    assert list(Ladders.of(np.array(PAPER_GAMMAS), 4).lengths) == [4, 1]
    assert list(Ladders.of(np.array(PAPER_GAMMAS), 3).lengths) == [3, 1, 1]


GRIDS = {
    "ratio 2": 2.0 ** np.arange(-3, 9),
    "any ratio": np.geomspace(0.1, 200, 12),
    "any order": np.array([20.0, 0.01, 5.0, 256.0, 0.02, 10.0, 5.0, 0.04]),
}


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("d", [2, 26, *(pytest.param(d, marks=pytest.mark.slow) for d in (3, 13, 60, 200))])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_wide_grid_is_exact_at_both_ends(grid, d, weighted, rng):
    """Gammas in units of the median distance: from sums over all points to those of the nearest alone."""
    points = rng.standard_normal((1500, d)) * rng.uniform(0.5, 2, d)
    gammas = GRIDS[grid] / np.median(((points[:700] - points[700:1400]) ** 2).sum(axis=1))
    log_weights = rng.uniform(-13, 0, len(points)) if weighted else None
    assert error(points[:1000], points, "rbf", gammas, own=np.arange(1000), log_weights=log_weights) <= 1e-6


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 300.0])
def test_several_weightings_at_once(kernel, gamma, exact, rng):
    """As many jobs as weightings, one of them without most of the points: also without those that are nearest."""
    points, own = rng.standard_normal((1500, 4)), np.arange(1000)
    log_weights = np.array([rng.uniform(-3, 0, 1500), np.zeros(1500), np.where(np.arange(1500) < 1400, -np.inf, 0.7)])
    options = {"own": own, "exact": exact}
    together = log_kernel_sums(points[:1000], points, kernel, [gamma, 2 * gamma], log_weights=log_weights, **options)
    assert together.shape == (3, 2, 1000)
    for of_weighting, weights in zip(together, log_weights, strict=True):
        alone = log_kernel_sums(points[:1000], points, kernel, [gamma, 2 * gamma], log_weights=weights, **options)
        np.testing.assert_allclose(of_weighting, alone, rtol=0, atol=1e-10 if exact else 2e-6)


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_many_weightings_of_few_rows(kernel, scale, rng):
    """Differences, shared by all weightings; folds are left out in turn, as in smoothing."""
    points, own = scale * rng.standard_normal((300, 3)), np.arange(300)
    log_weights = np.log(rng.uniform(1e-6, 1, (20, 300)))
    log_weights[own % 20 == np.arange(20)[:, None]] = -np.inf
    jobs = {"own": own, "log_weights": log_weights}
    fast, exact = (
        log_kernel_sums(points, points, kernel, [0.5, 9.0], engine=e, **jobs) for e in ("numba", "reference")
    )
    np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-10)


def test_steps_that_float32_cannot_hold(rng):
    """Far from the centre the norm of a query is in the exponent too, and must leave it as it came."""
    clusters = np.array([[6.2, 0.0], [-6.2, 0.0]])
    points = clusters[np.arange(6000) % 2] + 0.05 * rng.standard_normal((6000, 2))
    for ratio in (1.0625 + 0.98 * 2**-24, 1.00000005, 2.7):
        assert error(points[:300], points, "rbf", [1 / ratio, 1.0]) <= 1e-6


def alike(how, n, d, rng):
    """Rows whose roundings are one error, or few, and not as many as there are rows."""
    corners = rng.standard_normal((2, d))
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    rows = corners[np.arange(n) % 2]
    if how.startswith("categor"):
        rows = rng.integers(0, 3, (n, d)).astype(float)
    elif how == "lattice":
        rows = rng.integers(0, 10, (n, d)).astype(float)
    elif how == "one category":
        rows = 0.05 * rng.standard_normal((n, d))
        rows[:, 0] = np.where(np.arange(n) % 2, 5.0, -3.0)
    elif how == "narrow clusters":
        rows = rows + 0.01 * rng.standard_normal((n, d))
    elif how == "nearly copies":
        rows = rows + 3e-7 * rng.standard_normal((n, d))
    return rows


@pytest.mark.parametrize("how", ["copies", "nearly copies", "narrow clusters", "one category", "categories", "lattice"])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_errors_that_do_not_average_out(how, d, rng):
    """Copies have one error, rows that share a coordinate have a part of theirs in common, all that of the query."""
    points = alike(how, 20_000, d, rng)
    of_all = ((points - points.mean(axis=0)) ** 2).sum(axis=1).max()
    different, n_copies = np.unique(points, axis=0, return_counts=True)
    for amplitude in (10.0, 20.0, 40.0, 80.0):
        gammas = amplitude / 2 / of_all * 0.5 ** np.arange(4)
        steps = rng.standard_normal((120, d))
        steps *= np.sqrt(rng.uniform(0, 6, (120, 1)) / gammas[0]) / np.linalg.norm(steps, axis=1, keepdims=True)
        queries = points[:120] + steps
        fast = log_kernel_sums(queries, points, "rbf", gammas, engine="numba")
        weights = {"log_weights": np.log(n_copies)}
        exact = log_kernel_sums(queries, different, "rbf", gammas, engine="numba", exact=True, **weights)
        np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-6)


def test_copies_are_counted(rng):
    points = rng.standard_normal((3000, 3)) + 100
    assert numba_engine.most_copies(points) == 1
    points[::10] = points[7]
    assert numba_engine.most_copies(points) == 301
    points[::10] += 1e-9 * rng.standard_normal((300, 3))
    assert numba_engine.most_copies(points) == 301
    assert numba_engine.most_copies(points[:, :1]) >= 301
    assert numba_engine.most_copies(np.zeros((5, 2))) == 5


def test_no_weighting_is_refused(rng):
    with pytest.raises(ValueError, match="log_weights must have shape"):
        log_kernel_sums(
            rng.standard_normal((3, 2)), rng.standard_normal((5, 2)), "rbf", 1.0, log_weights=np.empty((0, 5))
        )


@given(data=st.data())
def test_weightings_agree_with_the_definition(data):
    n, n_weightings = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    log_weights = data.draw(arrays(float, (n_weightings, n), elements=st.sampled_from([-np.inf, -1.0, 0.0, 2.0])))
    points, own = rng.standard_normal((n, 2)), np.arange(n)
    fast, exact = (
        log_kernel_sums(points, points, "rbf", [0.5, 9.0], own=own, log_weights=log_weights, engine=engine)
        for engine in ("numba", "reference")
    )
    np.testing.assert_allclose(fast, exact, atol=1e-12)


@pytest.mark.parametrize("spread", [20.0, 70.0])
def test_weights_of_any_spread(spread, rng):
    """The nearest point may be the lightest by far, and others decide the sum: more than float32 can hold."""
    points = rng.standard_normal((1500, 3))
    log_weights = rng.uniform(-spread, 0, len(points))
    assert error(points[:1000], points, "rbf", [0.1, 1.0, 2.0, 4.0, 90.0], log_weights=log_weights) <= 1e-6


@pytest.mark.parametrize("n_gammas", [1, 2, 8])
def test_sums_that_are_decided_far_from_a_light_nearest_point(n_gammas, rng):
    """Exponents that are all alike round alike, and to float32 by more than 1e-6 where they are large."""
    points = np.zeros((1500, 2))
    points[1:, 0] = 1
    log_weights = np.where(np.arange(1500) == 0, -24.0, 0.0)
    queries, gammas = 1e-4 * rng.standard_normal((700, 2)), 27 * 2.0 ** -np.arange(n_gammas)
    assert error(queries, points, "rbf", gammas, log_weights=log_weights) <= 1e-6


def test_gammas_whose_ratio_no_float32_holds(rng):
    points = rng.standard_normal((1100, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert error(points[:1000], points, "rbf", [1e-300, 1.0]) <= 1e-6


@njit
def _powers_of_row(exponents, terms):
    one = exponents.dtype.type(1)
    vectors.exp2_term(exponents, one, terms[LADDER:])
    vectors.exp2_terms(exponents, one, terms)
    return vectors.exp2_sum(exponents, one)[0], vectors.exp2_sums(exponents, one), vectors.dot(exponents, terms[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("low", [-0.5, -30.0, -1000.0])
def test_exponentials_of_a_row(dtype, low, rng):
    exponents = rng.uniform(low, 0, 64 * intermediate.lanes(np.float32)).astype(dtype)
    terms = np.empty((LADDER + 1, len(exponents)), dtype)
    alone, ladder, dot = _powers_of_row(exponents, terms)
    expected = np.exp2(np.multiply.outer([1, 2, 4, 8, 1], exponents.astype(float)))
    rtol, atol = (8e-7, 2.0**-60) if dtype is np.float32 else (1e-14, 2.0**-500)
    np.testing.assert_allclose(terms, expected, rtol=rtol, atol=atol)
    np.testing.assert_allclose([*ladder, alone], expected.sum(axis=1), rtol=rtol)
    assert dot == pytest.approx((exponents * expected[2]).sum(), rel=2e-6)


@njit
def _product_and_largest(queries, points, offsets, tile):
    vectors.product(queries, points, offsets, tile)
    return vectors.largest(tile[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 7, 256, 257, 600])
def test_products_of_a_tile(dtype, d, rng):
    lanes, width, n_rows = intermediate.lanes(dtype), 3 * intermediate.lanes(np.float32), 2 * vectors.ROWS
    queries, points = (
        rng.standard_normal((n_rows, d)).astype(dtype),
        rng.standard_normal((width, d)).astype(dtype),
    )
    offsets, tile = rng.standard_normal(width).astype(dtype), np.empty((n_rows, width), dtype)
    groups = np.ascontiguousarray(queries.reshape(2, vectors.ROWS, d).transpose(0, 2, 1))
    panels = np.ascontiguousarray(points.reshape(-1, lanes, d).transpose(0, 2, 1))
    top = _product_and_largest(groups, panels, offsets, tile)
    np.testing.assert_allclose(tile, queries @ points.T + offsets, atol=1e-14 * d if dtype is np.float64 else 2e-6 * d)
    assert top == tile[0].max()


SHAPES = """
import numpy as np, numba
from llvmlite import binding
features = binding.get_host_cpu_features
if {pretend}:
    binding.get_host_cpu_features = lambda: dict(avx512f=True)
from unlabeled.engines import intermediate, log_kernel_sums, vectors
binding.get_host_cpu_features = features
rng = np.random.default_rng(0)
queries, points, gammas = rng.standard_normal((1100, 5)), rng.standard_normal((1000, 5)), [0.1, 0.2, 30.0]
fast, exact = (log_kernel_sums(queries, points, "rbf", gammas, engine=e) for e in ("numba", "reference"))
print(vectors.ROWS, intermediate.lanes(np.float32), np.abs(fast - exact).max() < 1e-6)
"""


@pytest.mark.slow
def test_shapes_for_other_processors(tmp_path):
    """Loops are shaped for the registers of the processor that numba compiles for, and right on any other."""
    plain = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""} if platform.machine() == "x86_64" else {}
    assert run_python(SHAPES.format(pretend=False), **plain, NUMBA_CACHE_DIR=str(tmp_path / "plain")) == "6 16 True"
    assert run_python(SHAPES.format(pretend=True), NUMBA_CACHE_DIR=str(tmp_path / "wide")) == "12 32 True"


# --- memory, processes, compiled code ---

MEMORY = """
import numpy as np
from unlabeled.engines import log_kernel_sums
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
rng = np.random.default_rng(0)
queries, points = rng.standard_normal({queries}), rng.standard_normal({points})
gammas, options = {gammas}, {options}
log_kernel_sums(queries[:1100, :2], points[:1000, :2], "rbf", gammas)
with open("/proc/self/clear_refs", "w") as refs:
    refs.write("5")
before = peak()
sums = log_kernel_sums(queries, points, "rbf", gammas, **options)
assert np.isfinite(sums).all()
print(peak() - before - sums.nbytes / 2**20)
"""


def run_python(code, **environment):
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak memory as Linux counts it")
@pytest.mark.parametrize(
    "job",
    [
        {"queries": (100_000, 2), "points": (100_000, 2), "gammas": [1.0]},
        {"queries": (200_000, 1), "points": (600, 1), "gammas": [1.1**i for i in range(6)],
         "options": "{'own': np.arange(200_000) % 600, 'log_weights': np.linspace(0, 2, 600)}"},
    ],
)  # fmt: skip
def test_memory_is_bounded(job):
    check_memory(job)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak memory as Linux counts it")
@pytest.mark.parametrize(
    "job",
    [
        {"queries": (2_000_000, 1), "points": (600, 1), "gammas": list(PAPER_GAMMAS)},
        {"queries": (300, 60_000), "points": (300, 60_000), "gammas": [1e-5]},
    ],
)
def test_memory_of_large_jobs_is_bounded(job):
    check_memory(job)


def check_memory(job):
    code = MEMORY.format(**{"options": "{}", **job})
    assert float(run_python(code)) < 256


@pytest.mark.slow
def test_compiled_code_is_kept_between_runs(tmp_path):
    code = """
import numpy as np
from unlabeled.engines import log_kernel_sums, tiles
rng = np.random.default_rng(0)
log_kernel_sums(rng.standard_normal((1100, 2)), rng.standard_normal((1000, 2)), "rbf", [1.0, 0.5])
stats = tiles.rbf_tiles.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
    assert run_python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "0 1"
    assert run_python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "1 0"


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
@pytest.mark.parametrize("n_queries", [3, 1000])
def test_nothing_is_compiled_for_another_dimension_or_form_of_an_array(n_queries, rng):
    """Not for a second number of features, nor for what may not be written to or has gaps."""
    loops = (tiles.direct_sums, tiles.rbf_tiles, tiles.shifted_rbf_tiles)

    def in_all_forms(n_features):
        points, gammas = rng.standard_normal((1100, n_features)), np.array([0.5, 1.0, 2.0])
        queries = points[:n_queries] + 0.1
        for array in (points, queries, gammas):
            array.setflags(write=False)
        log_kernel_sums(queries, points, "rbf", gammas, engine="numba")
        log_kernel_sums(queries[:, ::-1], points[:, ::-1], "rbf", gammas[::2], engine="numba")
        return [len(loop.signatures) for loop in loops]

    log_kernel_sums(rng.standard_normal((n_queries, 2)), rng.standard_normal((1100, 2)), "rbf", [1.0], engine="numba")
    before = [len(loop.signatures) for loop in loops]
    assert [in_all_forms(n_features) for n_features in (1, 2, 5)] == [before] * 3


def test_without_a_folder_to_keep_code_in_it_is_compiled_anew(tmp_path):
    """As in a container with a read-only file system: the package is copied beside a file where its cache would be."""
    package = tmp_path / "unlabeled"
    shutil.copytree(Path(engines.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "engines" / "__pycache__").write_text("not a folder")
    code = """
import numpy as np, unlabeled
from unlabeled.engines import log_kernel_sums
rng = np.random.default_rng(0)
print(unlabeled.__file__, log_kernel_sums(rng.standard_normal((3, 2)), rng.standard_normal((9, 2)), "rbf", [1.0]).shape)
"""
    nowhere = {name: str(tmp_path / "file" / "nowhere") for name in ("HOME", "XDG_CACHE_HOME")}
    (tmp_path / "file").write_text("")
    answer = run_python(code, PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **nowhere)
    assert answer == f"{package / '__init__.py'} (1, 3)"


def _sums_of_child(seed):
    rng = np.random.default_rng(seed)
    return log_kernel_sums(rng.standard_normal((N_QUERIES, 2)), rng.standard_normal((N_POINTS, 2)), "rbf", [0.1])


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_children_agree():
    expected = _sums_of_child(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for answer in pool.map(_sums_of_child, [0, 0]):
            np.testing.assert_allclose(answer, expected, atol=1e-7)


def test_import_loads_no_compiler():
    loaded = run_python("import sys, unlabeled; print([m for m in ('numba', 'torch', 'dask') if m in sys.modules])")
    assert loaded == "[]"


# --- choosing an engine ---


def test_auto_says_what_it_takes():
    assert select_engine() == "numba"
    for name in ENGINES:
        assert select_engine(name) == name


def test_auto_falls_back(monkeypatch):
    monkeypatch.setattr(choosing, "_is_installed", lambda package: package != "numba")
    assert select_engine() == "reference"
    assert "not numba: numba is not installed (pip install numba)" in choose_engine().reason
    monkeypatch.setattr(choosing, "_is_installed", lambda _: False)
    with pytest.raises(ImportError, match="No engine can be used"):
        select_engine()


def test_an_unknown_engine_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"auto.*numba.*reference.*triton"):
        log_kernel_sums([[0.0]], [[0.0]], "rbf", 1.0, engine="cuda")


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "unlabeled.engines.numba", None)
    with pytest.raises(ImportError, match="pip install numba"):
        log_kernel_sums([[0.0]], [[0.0]], "rbf", 1.0, engine="numba")


# --- bad input ---

POINTS = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queries": np.zeros((3, 1))}, "1 features and points 2"),
        ({"queries": [[np.nan, 0.0]]}, "NaN"),
        ({"points": [[np.inf, 0.0]]}, "infinity"),
        ({"points": np.zeros(3)}, "2D"),
        ({"queries": [["a", "b"]]}, "convert|string"),
        ({"queries": POINTS + 1j}, "[Cc]omplex"),
        ({"kernel": "gauss"}, "rbf"),
        ({"gammas": []}, "non-empty"),
        ({"gammas": [1.0, -1.0]}, "positive"),
        ({"own": [0, 1]}, "3 integers"),
        ({"own": [0.0, 1.0, 2.0]}, "integers"),
        ({"own": [0, 1, 3]}, "between -1"),
        ({"own": [-2, 1, 2]}, "between -1"),
        ({"log_weights": [0.0]}, "shape"),
        ({"log_weights": [0.0, 0.0, np.nan]}, "NaN"),
        ({"log_weights": [0.0, 0.0, np.inf]}, "infinity"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"engine": ["numba"]}, "not known"),
    ],
)
def test_bad_input(change, message):
    arguments = {"queries": POINTS, "points": POINTS, "kernel": "rbf", "gammas": 1.0, **change}
    with pytest.raises(ValueError, match=message):
        log_kernel_sums(**arguments)


def test_a_kernel_without_loops_is_refused(rng):
    """Not computed as another one: a kernel has to be added to the table of the engine."""
    stranger = SimpleNamespace(name="laplace", log=RBF().log, sharpness=RBF().sharpness)
    points, options = rng.normal(size=(900, 2)), {"exact": False, "n_jobs": 1}
    for n_queries in (3, 3000):  # by differences, and by tiles
        with pytest.raises(ValueError, match=r"no loops for the kernel 'laplace', only for \['inverse', 'rbf'\]"):
            numba_engine.log_sums(rng.normal(size=(n_queries, 2)), points, stranger, np.ones(1), None, None, **options)
    assert set(numba_engine.LOOPS) == set(KERNELS)


# --- compiled code ---

JOBS = """
import numpy as np
from unlabeled.engines import log_kernel_sums, tiles
rng = np.random.default_rng(0)
for n, kernel in ((20, "rbf"), (20, "inverse"), (1100, "rbf"), (1100, "inverse")):
    z, x = rng.standard_normal((2, n, 3))
    log_kernel_sums(z, x, kernel, [0.5, 1.0], engine="numba")
loops = tiles.direct_sums, tiles.rbf_tiles, tiles.inverse_tiles
print(sum(sum(loop.stats.cache_misses.values()) for loop in loops))
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    """What is compiled is kept on disk: a command, or a notebook, must not wait for the compiler each time."""
    first, second = (
        subprocess.check_output(
            [sys.executable, "-c", JOBS], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, text=True
        )
        for _ in range(2)
    )
    assert int(first) > 0
    assert int(second) == 0
