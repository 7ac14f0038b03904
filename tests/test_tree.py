"""The engine for few features: that it is as exact as it says whichever way it takes, on data of any shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled.engines import (
    cells,
    checked_log_kernel_sums,
    choose_engine,
    leaves,
    log_kernel_sums,
    select_engine,
    tree,
)
from unlabeled.kernels import RBF, Inverse

WAYS = ("cells", "leaves")


def clusters(rng, n, d):
    return rng.standard_normal((5, d))[rng.integers(0, 5, n)] + 0.01 * rng.standard_normal((n, d))


def line(rng, n, d):
    return np.outer(rng.uniform(-1, 1, n), rng.standard_normal(d))


def lattice(rng, n, d):
    return rng.integers(0, 5, (n, d)).astype(float)


def one_point(rng, n, d):
    return np.tile(rng.standard_normal(d), (n, 1))


def outliers(rng, n, d):
    far = np.where(rng.random((n, 1)) < 0.02, 1e4, 1.0)
    return far * rng.standard_normal((n, d))


def heavy_tails(rng, n, d):
    return rng.standard_t(1, (n, d))


SHAPES = (clusters, line, lattice, one_point, outliers, heavy_tails)


@pytest.fixture
def small_jobs(monkeypatch):
    """Let small jobs be computed by trees."""
    monkeypatch.setattr(tree, "LEAST_PAIRS", dict.fromkeys(tree.LEAST_PAIRS, 0))
    monkeypatch.setattr(tree, "LEAST_ROWS", 1)


def go(monkeypatch, way):
    """Let the engine go one way wherever it can."""

    def plans(job, gammas):
        grids = [job.best_grid(gamma)[0] for gamma in gammas]
        return [tree.Plan("leaves" if grid is None else way, grid, {}) for grid in grids]

    monkeypatch.setattr(tree.Job, "plans", plans)
    monkeypatch.setattr(tree, "ROW_IN_TREE", 0.0)  # what is left of cells goes to leaves, however little it is


def median_sq_dist(points):
    half = len(points) // 2
    return np.median(((points[:half] - points[half : 2 * half]) ** 2).sum(axis=1)) or 1.0


def assert_right(queries, points, gammas, rtol=1e-6, **options):
    fast = log_kernel_sums(queries, points, "rbf", gammas, engine="tree", rtol=rtol, **options)
    exact = log_kernel_sums(queries, points, "rbf", gammas, engine="reference", **options)
    assert not np.isnan(fast).any()
    np.testing.assert_allclose(fast, exact, atol=rtol, rtol=1e-12)


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize("way", WAYS)
def test_any_shape_any_bandwidth(way):
    with pytest.MonkeyPatch.context() as monkeypatch:
        go(monkeypatch, way)

        @given(
            shape=st.sampled_from(SHAPES),
            d=st.integers(1, 4),
            log_gamma=st.floats(-6, 6),
            seed=st.integers(0, 999),
            n_weightings=st.sampled_from([0, 1, 2, 5]),
            share_without=st.sampled_from([0.0, 0.4]),
            with_own=st.booleans(),
            dtype=st.sampled_from([np.float64, np.float32]),
            rtol=st.sampled_from([1e-6, 1e-6, 1e-4, 1e-2]),
        )
        def check(shape, d, log_gamma, seed, n_weightings, share_without, with_own, dtype, rtol):
            rng = np.random.default_rng(seed)
            points = shape(rng, 300, d).astype(dtype)
            queries = np.concatenate([points[:100], shape(rng, 100, d).astype(dtype)])
            options = {}
            if n_weightings:  # from e^-30 to e^30, and none
                log_weights = rng.uniform(-3, 3, (n_weightings, 300)) * rng.choice([1, 10])
                log_weights[rng.random(log_weights.shape) < share_without] = -np.inf
                options["log_weights"] = log_weights
            if with_own:
                options["own"] = np.append(np.arange(100), np.full(100, -1))
            gamma = 10.0**log_gamma / median_sq_dist(points)
            assert_right(queries, points, [gamma, 2 * gamma, 3.3 * gamma], rtol, **options)

        check()


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize("log_weight", [0.0, -20.0, -60.0])
@pytest.mark.parametrize("n_gammas", [1, 4])
def test_roundings_that_do_not_average_out(log_weight, n_gammas, monkeypatch):
    """Copies of one point have the same rounded exponent; beside them a lonely point, nearer and of less weight.

    The hardest that float32 exponents can be asked for: the bound of a sum is for this, and not for chance.
    """
    go(monkeypatch, "leaves")
    points = np.repeat([[0.0], [1.0]], [1, 3000], axis=0)
    log_weights = np.repeat([log_weight, 0.0], [1, 3000])
    for exponent in np.linspace(0.5, 40, 60):
        gammas = exponent * 2.0 ** np.arange(n_gammas)
        assert_right(points[:1] - 0.01, points, gammas, log_weights=log_weights)


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize(("n_values", "d"), [(3, 4), (10, 2)])
def test_categories_by_all_pairs(n_values, d, rng):
    """What goes to all pairs must be as exact there, also where rows are copies of a few."""
    points = rng.integers(0, n_values, (6000, d)).astype(float)
    different, n_copies = np.unique(points, axis=0, return_counts=True)
    for gamma in (1.0, 4.0, 8.0, 10.0):
        gammas = gamma * 0.5 ** np.arange(4)
        fast = log_kernel_sums(points[:1000], points, "rbf", gammas, engine="tree")
        weights = {"log_weights": np.log(n_copies)}
        exact = log_kernel_sums(points[:1000], different, "rbf", gammas, engine="numba", exact=True, **weights)
        np.testing.assert_allclose(fast, exact, rtol=1e-12, atol=1e-6)


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_many_rows_in_a_mixture(way, d, monkeypatch, rng):
    """More cells than are in reach of each other, more leaves than are near."""
    go(monkeypatch, way)
    points = rng.standard_normal((8, d))[rng.integers(0, 8, 4000)] * 3 + rng.standard_normal((4000, d))
    gammas = 2.0 ** np.arange(-3, 9) / median_sq_dist(points)
    assert_right(points[:300] + 0.01, points, gammas)
    assert_right(points[:300], points, gammas[::4], own=np.arange(300), log_weights=rng.uniform(0, 2, 4000))


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_way_that_the_data_choose(shape, d, rng):
    """A whole grid, from one kernel for all rows to none but the nearest, each gamma its own way."""
    points = shape(rng, 3000, d)
    gammas = 10.0 ** np.arange(-6, 7, 1.5) / median_sq_dist(points)
    assert_right(points[:150] + 1e-3, points, gammas)
    assert_right(points[:100], points, gammas, own=np.arange(100), log_weights=rng.uniform(0, 2, (2, 3000)))


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.parametrize("way", WAYS)
def test_a_weighting_without_any_weight(way, monkeypatch, rng):
    go(monkeypatch, way)
    points = rng.standard_normal((500, 2))
    log_weights = np.array([np.zeros(500), np.full(500, -np.inf)])
    found = log_kernel_sums(points[:50], points, "rbf", [0.3, 30.0], log_weights=log_weights, engine="tree")
    expected = log_kernel_sums(points[:50], points, "rbf", [0.3, 30.0], engine="reference")
    np.testing.assert_allclose(found[0], expected, atol=1e-6)
    assert np.isneginf(found[1]).all()


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [({"rtol": 1e-9}, "exact=True"), ({"rtol": 2.0}, "0.1"), ({"rtol": 1e-3, "exact": True}, "one of")],
)
def test_errors_that_cannot_be_had(wrong, remedy):
    with pytest.raises(ValueError, match=remedy):
        log_kernel_sums([[0.0]], [[1.0]], "rbf", 1.0, **wrong)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n_nodes", cells.NODES)
def test_the_bound_of_an_expansion_holds(d, n_nodes, rng):
    """The error is below the bound at every query, and far from it only by what worst cases cost."""
    points, queries = rng.standard_normal((2000, d)) * 3, rng.standard_normal((200, d)) * 3
    for gamma in (0.02, 0.5) if d == 3 and n_nodes > 16 else (0.02, 0.5, 3.0):
        grid = cells.Grid.of(points.min(axis=0), points.max(axis=0), gamma, n_nodes)
        of_queries, of_points = cells.InCells.of(queries, grid), cells.InCells.of(points, grid)
        weights = rng.uniform(0, 1, len(points))
        sums, errors = cells.expanded_sums(grid, of_queries, of_points, weights[of_points.rows], n_threads=1)
        chosen = queries[of_queries.rows]
        exact = np.exp(log_kernel_sums(chosen, points, "rbf", gamma, log_weights=np.log(weights), engine="reference"))
        assert len(of_points.rows) == len(points)
        assert (np.abs(sums - exact[0]) <= errors).all()
        assert errors.max() < 1e-6 * weights.sum()


@given(n=st.integers(1, 400), d=st.integers(1, 4), seed=st.integers(0, 99), shape=st.sampled_from(SHAPES))
def test_a_tree_has_every_row_once(n, d, seed, shape):
    rows = shape(np.random.default_rng(seed), n, d)
    of_rows = leaves.Leaves.of(rows, None)
    n_leaves, _, n_places = of_rows.blocks.shape
    assert n_places <= leaves.POINTS
    stored = of_rows.blocks.transpose(0, 2, 1).reshape(-1, d)
    np.testing.assert_array_equal(stored[of_rows.places], rows)
    assert np.isinf(np.delete(stored, of_rows.places, axis=0)).all()
    of_leaf = of_rows.places // n_places + n_leaves - 1
    for node in of_leaf, (of_leaf - 1) // 2 if n_leaves > 1 else of_leaf, np.zeros(n, int):
        assert (of_rows.lower[node] <= rows).all()
        assert (rows <= of_rows.upper[node]).all()


@pytest.mark.usefixtures("small_jobs")
def test_points_outside_of_the_grid_count(monkeypatch, rng):
    """Far points would make too many cells of a grid: they are added one by one, also where a query is one of them."""
    go(monkeypatch, "cells")
    monkeypatch.setattr(cells, "MOST_CELLS", 10_000)
    points = np.concatenate([rng.standard_normal((3000, 2)), 1e3 * rng.standard_normal((3, 2)), [[5.0, 5.0]] * 30])
    own = np.append(np.arange(100), np.arange(2990, 3033))
    assert_right(points[own], points, [0.5, 5.0], own=own)
    assert_right(points[own], points, [0.5, 5.0], own=own, log_weights=rng.uniform(-1, 1, (2, len(points))))


@pytest.mark.usefixtures("small_jobs")
def test_weights_that_leave_most_points_out(monkeypatch, rng):
    """A query's nearest points count in one weighting and not in the other: too faint for float32, so by all pairs."""
    go(monkeypatch, "leaves")
    points = rng.standard_normal((1000, 2))
    log_weights = np.array([np.zeros(1000), np.where(points[:, 0] < 1, -np.inf, 0.5)])
    assert_right(points, points, [0.3, 30.0], own=np.arange(1000), log_weights=log_weights)


@pytest.mark.usefixtures("small_jobs")
def test_nothing_is_left_of_a_sum_of_its_own(monkeypatch):
    go(monkeypatch, "leaves")
    assert log_kernel_sums([[1.0]], [[1.0]], "rbf", 1.0, own=[0], engine="tree")[0, 0] == -np.inf


@pytest.mark.usefixtures("small_jobs")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("d", [1, 3])
def test_squared_distances_that_overflow_are_no_news(d, rng):
    points = 1e160 * rng.standard_normal((1500, d))
    assert_right(points[:50], points, [1e-320, 1.0])


def test_the_data_decide(rng):
    """Wide kernels go by cells, narrow ones by leaves, and what neither is good for by all pairs."""

    def ways(d, gammas):
        points = rng.standard_normal((30_000, d))
        return [plan.way for plan in tree.Job.of(points, points, None, None, 1).plans(np.array(gammas))]

    assert ways(3, [0.1, 1e4]) == ["cells", "leaves"]
    assert ways(4, [0.1, 1e4]) == ["numba", "leaves"]
    assert ways(4, [0.01, 0.02, 0.04, 0.05]) == ["numba"] * 4


def test_nothing_is_built_to_see_that_it_does_not_pay(rng):
    points = rng.standard_normal((12_000, 4))
    job = tree.Job.of(points, points, None, None, 1)
    job.plans(np.array([0.1, 0.2, 1.0]))
    assert "leaves" not in vars(job)
    assert "order" not in vars(job)


def test_nothing_is_built_where_the_grid_shares_its_pairs(rng):
    """Leaves would pay for the narrowest gammas alone, and not beside others that all pairs are computed for anyway."""
    points, queries = rng.standard_normal((100_000, 3)), rng.standard_normal((3100, 3))
    job = tree.Job.of(queries, points, None, None, 1)
    assert job.plans(2.0 ** np.arange(-3, 9) / 4.7)[0].way == "numba"
    assert "leaves" not in vars(job)
    assert job.plans(np.array([256 / 4.7]))[0].way == "leaves"


@given(log_gamma=st.floats(-3, 4), d=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_sample_tells_how_many_are_near_at_least(log_gamma, d, seed):
    """So that leaves are tried where they may pay: what the sample tells is hardly more than they compute."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((4000, d))
    job = tree.Job.of(points[:640] + 1e-3, points, None, None, 1)
    gamma = 10.0**log_gamma
    tops, sums = np.full(640, np.inf), np.zeros((1, 1, 640))
    n_pairs = job._add_near(gamma, job.leaves, job.order, tops, sums)
    assert job.sample.share_near(gamma) <= 1.1 * n_pairs / (640 * 4000) + 0.01


@pytest.mark.usefixtures("small_jobs")
def test_points_are_sorted_once(rng, monkeypatch):
    """A model scores by the same points again and again; what a caller may change is sorted anew."""
    go(monkeypatch, "leaves")
    sorted_rows, points, plain = [], rng.standard_normal((700, 2)), leaves.kd_order
    monkeypatch.setattr(
        leaves, "kd_order", lambda rows, *how, **more: sorted_rows.append(rows) or plain(rows, *how, **more)
    )
    for weight in (0.0, 0.5, 1.0):
        arguments = RBF(), np.array([50.0]), np.full(700, weight), None, "tree"
        found = checked_log_kernel_sums(points[:9], points, *arguments, exact=False, n_jobs=1)
        expected = log_kernel_sums(points[:9], points, "rbf", 50.0, engine="reference") + weight
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert sum(rows is points for rows in sorted_rows) == 1
    points[:] = 0
    np.testing.assert_allclose(log_kernel_sums(points[:9], points, "rbf", 50.0, engine="tree"), np.log(700))


def test_threads_agree(rng):
    points = rng.standard_normal((6000, 3))
    one, two = (log_kernel_sums(points, points, "rbf", [0.1, 50.0], engine="tree", n_jobs=n) for n in (1, 2))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kernel": Inverse()}, "no end"),
        ({"exact": True}, "exact"),
        ({"n_features": 5}, "5 features"),
        ({"n_queries": 10}, "10 x 20000 pairs"),
    ],
)
def test_what_it_is_not_for(change, reason):
    job = {"kernel": RBF(), "n_queries": 20_000, "n_points": 20_000, "n_features": 3, "exact": False}
    assert tree.unsuited(**job) is None
    assert reason in tree.unsuited(**{**job, **change})


def test_auto_takes_trees_where_they_may_pay():
    def engine_of(engine, n_queries, n_features):
        return select_engine(engine, n_queries=n_queries, n_points=20_000, n_features=n_features)

    assert engine_of("auto", 20_000, 2) == "tree"
    assert engine_of("auto", 20_000, 5) == "numba"
    assert engine_of("auto", 10, 2) == "numba"
    assert engine_of("numba", 20_000, 2) == "numba"


def test_the_choice_may_be_told_bandwidths(rng):
    """Wide kernels in four features go to all pairs, narrow ones to the nearest; without them both may come."""
    points = rng.standard_normal((30_000, 4))
    shape = {"n_queries": 30_000, "n_points": 30_000, "n_features": 4}
    assert "by numba for gammas where nothing is cheaper" in choose_engine(**shape).reason
    wide = choose_engine(n_queries=30_000, points=points, gammas=0.1)
    assert (wide.name, "not tree: all pairs are cheaper" in wide.reason) == ("numba", True)
    both = choose_engine(n_queries=30_000, points=points, gammas=[0.1, 1e4])
    assert (both.name, "leaves for gamma=1e+04, all pairs for the rest" in both.reason) == ("tree", True)
    assert select_engine(n_queries=30_000, points=points, gammas=0.1) == "numba"
    with pytest.raises(ValueError, match="both points and gammas"):
        choose_engine(gammas=1.0)


@pytest.mark.parametrize(
    ("n_features", "n_rows", "taken"),
    [
        (2, 10_000, True),
        (3, 10_000, False),
        (3, 20_000, True),
        (4, 20_000, False),
        (4, 30_000, True),
        (5, 10**6, False),
    ],
)
def test_more_features_need_more_pairs(n_features, n_rows, taken):
    reason = tree.unsuited(RBF(), n_rows, n_rows, n_features, exact=False)
    assert (reason is None) == taken
