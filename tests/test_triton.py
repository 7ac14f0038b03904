"""The GPU engine: small jobs in Triton's interpreter, the same larger on a card (`pytest -m cuda`)."""

import gc
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unlabeled import (
    ElkanNotoClassifier,
    LeastSquaresPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
)
from unlabeled.arrays import on_host
from unlabeled.engines import checked_log_kernel_sums, choose_engine, choosing, log_kernel_sums, select_engine
from unlabeled.engines.kept import Kept
from unlabeled.kernels import KERNELS, PAPER_GAMMAS, RBF
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.folds import Folds
from unlabeled.scoring.ratio import Kernels, log_scores
from unlabeled.scoring.smoothing import SumsByFold

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
triton_sums = pytest.importorskip("unlabeled.engines.triton_sums")
DevicePoints = pytest.importorskip("unlabeled.engines.triton_rows").DevicePoints

#: Queries and points of the interpreter and of a card, and queries that are compared with the definition.
SMALL, LARGE = (300, 600), (20_000, 50_000)
SIZES = [pytest.param(SMALL, id="small"), pytest.param(LARGE, id="large", marks=pytest.mark.cuda)]
CHECKED = slice(0, 60)


@pytest.fixture
def products(triton_engine, monkeypatch, request):
    """The engine, made to use its half-precision products for jobs of any size."""
    if request.node.get_closest_marker("cuda") and triton_engine.INTERPRETED:
        pytest.skip("no CUDA card here")
    monkeypatch.setattr(triton_engine, "EXACT_PAIRS", 0)
    return triton_engine


def error(queries, points, kernel, gammas, own=None, log_weights=None):
    """Largest error, in units of what is allowed: 1e-5, or 1e-6 of the log sum where that is more."""
    options = {"engine": "triton", "own": own, "log_weights": log_weights}
    fast = log_kernel_sums(queries, points, kernel, gammas, **options)[..., CHECKED]
    options = {"engine": "reference", "own": None if own is None else own[CHECKED], "log_weights": log_weights}
    exact = log_kernel_sums(queries[CHECKED], points, kernel, gammas, **options)
    assert not np.isnan(fast).any()
    both_empty = np.isneginf(fast) & np.isneginf(exact)
    off = np.where(both_empty, 0, fast - np.where(both_empty, 0, exact))
    return np.abs(off / np.maximum(1e-5, 1e-6 * np.abs(exact))).max()


def of_median(relative, d, kernel):
    """Gammas in units of the usual squared distance of standard normal rows."""
    return np.asarray(KERNELS[kernel].sharpness(np.asarray(relative) / (2 * d)))


# --- products of half-precision numbers ---


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("d", [1, 3, 26, 130])
@pytest.mark.usefixtures("products")
def test_a_ladder_is_right_at_both_ends(size, d, rng):
    queries, points = (rng.standard_normal((n, d)) for n in size)
    assert error(queries, points, "rbf", of_median(2.0 ** np.arange(-3, 9), d, "rbf")) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("gammas", [PAPER_GAMMAS, (20.0, 0.01, 5.0, 0.02, 10.0, 5.0, 0.3)])
@pytest.mark.usefixtures("products")
def test_gammas_in_any_order(kernel, size, gammas, rng):
    queries, points = (rng.standard_normal((n, 5)) for n in size)
    assert error(queries, points, kernel, of_median(gammas, 5, kernel)) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("products")
def test_own_pairs_and_weights(kernel, size, rng):
    points = rng.standard_normal((size[1], 4))
    own = rng.permutation(size[1])[: size[0]]
    log_weights = rng.uniform(-3, 1, (3, size[1]))
    log_weights[1, ::3] = -np.inf
    gammas = of_median([0.5, 1.0, 300.0], 4, kernel)
    assert error(points[own], points, kernel, gammas, own, log_weights) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("products")
def test_many_weightings_take_several_passes(size, rng):
    queries, points = (rng.standard_normal((n, 2)) for n in size)
    log_weights = rng.uniform(-2, 0, (triton_sums.MOST_SUMS + 2, size[1]))
    assert error(queries, points, "rbf", [0.3], None, log_weights) <= 1
    assert error(queries, points, "rbf", [0.3, 0.6, 5.0], None, log_weights[:4]) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 0.0), (1.0, 1e4), (1e4, 0.0), (1e150, 0.0)])
@pytest.mark.usefixtures("products")
def test_units_and_origin_do_not_matter(kernel, size, scale, offset, rng):
    queries, points = (scale * rng.standard_normal((n, 3)) + offset for n in size)
    gammas = of_median([0.5, 4.0], 3, kernel) * (scale**-2 if kernel == "rbf" else scale**2)
    assert error(queries, points, kernel, gammas) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("products")
def test_far_queries_and_far_points(kernel, size, rng):
    """One point far from all others decides the units; queries far from all are decided by the nearest."""
    queries, points = (rng.standard_normal((n, 3)) for n in size)
    points[0], queries[:5] = 1e3, 100 * rng.standard_normal((5, 3))
    queries[5] = points[1]
    assert error(queries, points, kernel, of_median([0.1, 1.0, 50.0], 3, kernel)) <= 1


SHAPES = ("clusters", "line", "lattice", "one point", "outliers", "heavy tails")


def shaped(shape, n_rows, d, rng):
    """Rows that are a strain on distances."""
    normal = rng.standard_normal((n_rows, d))
    return {
        "clusters": 1e-3 * normal + rng.integers(0, 3, (n_rows, 1)),
        "line": normal[:, :1] * rng.standard_normal(d),
        "lattice": rng.integers(0, 4, (n_rows, d)).astype(float),
        "one point": np.broadcast_to(normal[:1], (n_rows, d)).copy(),
        "outliers": normal * np.where(rng.uniform(size=(n_rows, 1)) < 0.02, 1e3, 1.0),
        "heavy tails": rng.standard_t(1.5, (n_rows, d)),
    }[shape]


@pytest.mark.parametrize("n_rows", [10_000, pytest.param(200_000, marks=pytest.mark.cuda)])
@pytest.mark.parametrize("jitter", [0.0, 1e-9])
@pytest.mark.usefixtures("products")
def test_copies_have_one_error_that_does_not_average_out(kernel, jitter, n_rows, rng):
    points = rng.standard_normal((n_rows, 3))
    n_copies = n_rows // 50
    points[:n_copies] = 6.0 + jitter * points[:n_copies]
    steps = rng.standard_normal((40, 3))
    steps *= np.sqrt(rng.uniform(0, 6, (40, 1))) / np.linalg.norm(steps, axis=1, keepdims=True)
    sharpness = 5e3
    queries = 6.0 + steps / np.sqrt(sharpness)
    assert error(queries, points, kernel, [float(KERNELS[kernel].sharpness(sharpness))]) <= 1


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_copies_are_counted_in_any_unit(scale, rng):
    points = rng.standard_normal((3000, 3))
    points[::10] = points[7]
    assert DevicePoints(torch.from_numpy(scale * points)).most_copies == 301


@pytest.mark.parametrize("shape", ["categories", "lattice"])
@pytest.mark.parametrize("n_features", [2, 4])
@pytest.mark.cuda
@pytest.mark.usefixtures("products")
def test_rows_that_share_coordinates(kernel, shape, n_features, rng):
    points = rng.integers(0, 3 if shape == "categories" else 100, (100_000, n_features)).astype(float)
    queries = points[:60] + rng.choice([0.0, 0.5], (60, n_features))
    for sharpness in (1e-3, 0.1, 4.0, 8.0, 50.0):
        gammas = KERNELS[kernel].sharpness(sharpness * 2.0 ** np.arange(4))
        assert error(queries, points, kernel, gammas) <= 1


@settings(
    max_examples=settings.default.max_examples // 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    shape=st.sampled_from(SHAPES),
    d=st.sampled_from([1, 2, 3, 14]),
    exponent=st.floats(-6, 6),
    seed=st.integers(0, 1000),
    n_weightings=st.sampled_from([0, 1, 2]),
    dtype=st.sampled_from([np.float64, np.float32]),
    in_blocks=st.booleans(),
)
def test_any_data_at_any_gamma(products, kernel, shape, d, exponent, seed, n_weightings, dtype, in_blocks):
    """Gammas from a millionth to a million over the median squared distance, queries among the points and beside.

    Weights are from e^-30 to e^30, or none; in blocks, as where points do not fit, one of these may be without any.
    """
    rng = np.random.default_rng(seed)
    points = shaped(shape, 200, d, rng).astype(dtype)
    beside = [points[20:40] + dtype(1e-3), rng.standard_normal((10, d)).astype(dtype)]
    queries = np.concatenate([points[:20], *beside])
    median = np.median(((points[:100] - points[100:]).astype(float) ** 2).sum(axis=1)) or 1.0
    gammas = np.asarray(KERNELS[kernel].sharpness(10.0**exponent / median * np.array([1.0, 2.0, 5.0])))
    own, log_weights = np.concatenate([np.arange(20), np.full(30, -1)]), None
    if n_weightings:
        log_weights = rng.uniform(-30, 30, (n_weightings, 200))
        log_weights[0, 70:150] = -np.inf
    with pytest.MonkeyPatch.context() as patch:
        if in_blocks:
            patch.setattr(products, "_block_size", lambda *_: 70)
        assert error(queries, points, kernel, gammas, own, log_weights) <= 1


@pytest.mark.usefixtures("products")
def test_a_query_much_nearer_than_the_scouts(rng, monkeypatch):
    """Exponents are relative to the nearest of some points; a far nearer one overflows, and is seen."""
    monkeypatch.setattr(triton_sums, "SCOUTED", 2)
    points = rng.standard_normal((SMALL[1], 8))
    queries = points[1:200] + 1e-3
    assert error(queries, points, "rbf", of_median([300.0], 8, "rbf")) <= 1


class OnCard(torch.Tensor):
    """A tensor that NumPy cannot read as it is, as those on a card."""

    def __array__(self, *_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy.")


def test_tensors_may_be_anything_that_is_given(rng):
    """Also weights, own points and gammas; and tensors of the processor that NumPy does not read by itself."""
    points = rng.standard_normal((7, 2)).astype(np.float32)
    own, log_weights = np.arange(5), rng.uniform(-1, 1, 7)
    expected = log_kernel_sums(points[:5], points, "rbf", [0.5, 3.0], own=own, log_weights=log_weights)
    given = {"own": torch.from_numpy(own), "log_weights": torch.from_numpy(log_weights)}
    gammas, given = torch.tensor([0.5, 3.0]).as_subclass(OnCard), {k: v.as_subclass(OnCard) for k, v in given.items()}
    rows = torch.from_numpy(points).requires_grad_()
    np.testing.assert_allclose(log_kernel_sums(rows[:5], rows, "rbf", gammas, **given), expected, atol=1e-12)
    short = rows.bfloat16()
    found = log_kernel_sums(short, short, "rbf", 0.5)
    np.testing.assert_allclose(found, log_kernel_sums(short.float(), short.float(), "rbf", 0.5), atol=1e-12)


@pytest.mark.usefixtures("products")
def test_nothing_but_the_own_point():
    answer = log_kernel_sums(np.ones((1, 2)), np.ones((1, 2)), "rbf", [1.0, 2.0], own=[0], engine="triton")
    assert np.isneginf(answer).all()


@pytest.mark.usefixtures("products")
def test_exact_is_float64(kernel, rng):
    queries, points = (rng.standard_normal((n, 3)) for n in SMALL)
    fast, exact = (
        log_kernel_sums(queries, points, kernel, [0.3, 70.0], engine=engine, exact=True)
        for engine in ("triton", "reference")
    )
    np.testing.assert_allclose(fast, exact, rtol=0, atol=1e-12)


def test_points_in_blocks(products, kernel, rng, monkeypatch):
    """As for points that do not fit on the device."""
    points, own = rng.standard_normal((SMALL[1], 3)), np.arange(SMALL[0])
    log_weights = rng.uniform(-1, 1, (2, SMALL[1]))
    arguments = points[: SMALL[0]], points, kernel, [0.2, 3.0]
    options = {"own": own, "log_weights": log_weights, "engine": "triton"}
    whole = log_kernel_sums(*arguments, **options)
    monkeypatch.setattr(products, "_block_size", lambda *_: 170)
    np.testing.assert_allclose(log_kernel_sums(*arguments, **options), whole, rtol=0, atol=1e-5)


def test_queries_in_pieces(products, rng, monkeypatch):
    """As where the sums of all of them, part of the points by part, would not fit beside the points."""
    queries, points = rng.standard_normal((SMALL[1], 2)), rng.standard_normal((40, 2))
    options = {"own": np.arange(SMALL[1]) % 40, "engine": "triton"}
    whole = log_kernel_sums(queries, points, "rbf", [0.5, 3.0], **options)
    monkeypatch.setattr(products, "ANSWER_BYTES", 1)
    np.testing.assert_allclose(log_kernel_sums(queries, points, "rbf", [0.5, 3.0], **options), whole, atol=1e-12)


def test_a_kernel_without_loops_is_refused(products):
    stranger = SimpleNamespace(name="laplace", log=RBF().log, sharpness=RBF().sharpness)
    with pytest.raises(ValueError, match=r"no loops for the kernel 'laplace', only for \['inverse', 'rbf'\]"):
        products.log_sums(np.ones((2, 1)), np.ones((2, 1)), stranger, np.ones(1), None, None, exact=False, n_jobs=1)
    assert set(products.LOOPS) == set(KERNELS)


# --- what is kept ---


def test_what_was_made_of_an_array_goes_with_it():
    kept, array = Kept(lambda array, factor: array * factor, most=2), np.ones((3, 2))
    first = kept.of(array, 2)
    assert kept.of(array, 2) is first
    assert kept.of(array[:], 2) is not first
    array[1] = 5  # against the rules, and seen
    assert kept.of(array, 2)[1, 0] == 10
    for factor in range(4):
        kept.of(array, factor)
    assert len(kept) == 2
    del array
    gc.collect()
    assert len(kept) == 0


def test_points_are_sent_once(triton_engine, rng, monkeypatch):
    sent, points = [], rng.standard_normal((50, 2))
    plain = triton_engine.as_tensor
    monkeypatch.setattr(triton_engine, "as_tensor", lambda rows, device: sent.append(rows) or plain(rows, device))
    options = {"exact": False, "n_jobs": None}
    for _ in range(3):
        checked_log_kernel_sums(points[:9], points, RBF(), np.ones(1), None, None, "triton", **options)
    assert sum(rows is points for rows in sent) == 1
    log_kernel_sums(points[:9], points, "rbf", 1.0, engine="triton")  # a caller may change these at any time
    points[:] = 0
    answer = log_kernel_sums(points[:9], points, "rbf", 1.0, engine="triton")
    np.testing.assert_allclose(answer, np.log(50))


def test_folds_do_not_send_points_again(triton_engine, rng, monkeypatch):
    sent, plain = [], triton_engine.as_tensor
    monkeypatch.setattr(triton_engine, "as_tensor", lambda rows, device: sent.append(id(rows)) or plain(rows, device))
    triton_engine._KEPT.clear()
    pu = PUSample(Sample(rng.standard_normal((15, 2))), Sample(rng.standard_normal((40, 2))))
    kernels, scored = Kernels("rbf", np.array([0.5]), "triton"), (np.arange(15), np.arange(40))
    SumsByFold.of(pu, Folds.of(pu, scored), scored, kernels).loo_scores()
    log_scores(rng.standard_normal((5, 2)), pu, kernels)
    for sample in (pu.positive, pu.unlabeled):
        assert sent.count(id(sample.rows)) == 1
    assert len(triton_engine._KEPT) <= 4  # samples, and queries where they share memory with arrays; no folds


@given(st.integers(0, 1000))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("triton_engine")
def test_sums_over_some_of_the_points(engine, seed):
    rng = np.random.default_rng(seed)
    points, places = rng.standard_normal((60, 3)), rng.permutation(60)[:25]
    log_weights, own = np.where(rng.uniform(size=(2, 25)) < 0.3, -np.inf, 0.7), rng.integers(-1, 25, 9)
    options = {"exact": False, "n_jobs": None}
    arguments = RBF(), np.array([0.5, 3.0]), log_weights, own, engine
    found = checked_log_kernel_sums(points[:9], points, *arguments, among=places, **options)
    expected = checked_log_kernel_sums(points[:9], points[places], *arguments, **options)
    np.testing.assert_allclose(found, expected, atol=1e-12)


# --- tensors on a card ---


@pytest.fixture
def on_card(triton_engine):
    """Makes tensors that count as on a card: in the interpreter those of the processor do."""
    if not triton_engine.INTERPRETED:
        return lambda array: torch.as_tensor(array, device="cuda")

    class Tensor(torch.Tensor):
        is_cuda = True

    return lambda array: torch.as_tensor(array).as_subclass(Tensor)


def test_a_tensor_is_answered_by_a_tensor(on_card, kernel, rng):
    queries, points = rng.standard_normal((20, 3)), rng.standard_normal((40, 3))
    own, log_weights = np.arange(20), np.full(40, 0.7)
    expected = log_kernel_sums(queries, points, kernel, [0.5], own=own, log_weights=log_weights)
    answer = log_kernel_sums(on_card(queries), on_card(points), kernel, [0.5], own=own, log_weights=log_weights)
    assert isinstance(answer, torch.Tensor)
    np.testing.assert_allclose(answer.cpu().numpy(), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": "numba"}, "data is on a card"),
        ({"queries": np.array([[np.nan, 0.0]])}, "NaN"),
        ({"queries": np.zeros(2)}, "2D"),
        ({"queries": np.zeros((1, 2)) + 1j}, "[Cc]omplex"),
    ],
)
def test_bad_tensors(on_card, change, message):
    arguments = {"queries": np.zeros((1, 2)), **change}
    arguments["queries"] = on_card(arguments["queries"])
    with pytest.raises(ValueError, match=message):
        log_kernel_sums(points=np.zeros((3, 2)), kernel="rbf", gammas=1.0, **arguments)


def test_a_classifier_answers_tensors(on_card, rng):
    rows, labels = rng.standard_normal((80, 2)) + np.repeat([[1.0], [0.0]], 40, axis=0), np.repeat([1, 0], 40)
    model = WMMDClassifier(0.5, gamma=0.5, smoothing=0).fit(rows, labels)
    again = WMMDClassifier(0.5, gamma=0.5, smoothing=0).fit(on_card(rows), on_card(labels))
    scores = again.score_samples(on_card(rows))
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.cpu().numpy(), model.score_samples(rows), atol=1e-10)
    np.testing.assert_array_equal(model.predict(on_card(rows)), model.predict(rows))
    np.testing.assert_allclose(model.predict_proba(on_card(rows)), model.predict_proba(rows), atol=1e-10)
    with pytest.raises(ValueError, match="has 1 features, but WMMDClassifier is expecting 2"):
        model.score_samples(on_card(rows[:, :1]))


@pytest.mark.parametrize(
    "model",
    [PUClassifier(0.5), ScoreWMMDClassifier(prior=0.5), LeastSquaresPUClassifier(0.5), ElkanNotoClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_takes_tensors(on_card, model, rng):
    """Those with trees, or from other people, by a copy."""
    rows, labels = rng.standard_normal((80, 2)) + np.repeat([[1.0], [0.0]], 40, axis=0), np.repeat([1, 0], 40)
    model.fit(on_card(rows), on_card(labels))
    np.testing.assert_array_equal(model.predict(on_card(rows)), model.predict(rows))
    if hasattr(model, "score_samples"):
        scores = model.score_samples(on_card(rows))
        assert isinstance(scores, np.ndarray if isinstance(model, ElkanNotoClassifier) else torch.Tensor)
        np.testing.assert_allclose(on_host(scores), model.score_samples(rows), atol=1e-6)


# --- choosing ---

LARGE_JOB = {"n_queries": 100_000, "n_points": 100_000, "n_features": 3}


def test_a_large_job_goes_to_a_card(triton_engine, monkeypatch):
    monkeypatch.setattr(choosing, "has_driver", lambda _: True)
    monkeypatch.setattr(triton_engine, "INTERPRETED", False)
    monkeypatch.setattr(triton_engine, "unusable", lambda: None)
    assert select_engine(**LARGE_JOB) == "triton"
    assert "no faster on a card" in choose_engine(n_queries=10, n_points=10).reason
    monkeypatch.setattr(triton_engine, "unusable", lambda: "the card is old")
    choice = choose_engine(**LARGE_JOB)
    assert choice.name != "triton"
    assert "not triton: the card is old" in choice.reason


@pytest.mark.usefixtures("triton_engine")
def test_reasons_without_a_card(monkeypatch):
    monkeypatch.setattr(choosing, "has_driver", lambda _: False)
    assert "no driver" in choose_engine(**LARGE_JOB).reason
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "torch")
        assert "too few to load torch" in choose_engine(n_queries=1000, n_points=1000).reason
    monkeypatch.setattr(choosing, "_is_installed", lambda package: package != "torch")
    assert "unlabeled[gpu]" in choose_engine(**LARGE_JOB).reason
    monkeypatch.undo()
    monkeypatch.setattr(choosing, "has_driver", lambda _: True)
    monkeypatch.setitem(sys.modules, "unlabeled.engines.triton", None)
    assert "could not be loaded" in choose_engine(**LARGE_JOB).reason


def test_the_environment_may_name_an_engine(monkeypatch):
    monkeypatch.setenv("UNLABELED_ENGINE", "reference")
    assert choose_engine(**LARGE_JOB) == choosing.Choice("reference", "UNLABELED_ENGINE asks for it")
    assert select_engine("numba") == "numba"
    monkeypatch.setenv("UNLABELED_ENGINE", "cuda")
    with pytest.raises(ValueError, match=r"UNLABELED_ENGINE=cuda is not known.*triton"):
        select_engine()


def test_without_a_card_the_message_says_what_to_do(triton_engine, on_card, monkeypatch):
    monkeypatch.setattr(triton_engine, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"nvidia-smi.*engine='auto'"):
        log_kernel_sums([[0.0]], [[0.0]], "rbf", 1.0, engine="triton")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Old Card")
    with pytest.raises(RuntimeError, match=r"Old Card.*8\.0.*engine='auto'"):
        log_kernel_sums([[0.0]], [[0.0]], "rbf", 1.0, engine="triton")
    rows = on_card(np.zeros((3, 2)))  # another engine cannot take these
    with pytest.raises(RuntimeError, match=r"Old Card.*tensor\.cpu\(\)"):
        log_kernel_sums(rows, rows, "rbf", 1.0)


def test_without_triton_the_message_says_what_to_install(triton_engine, monkeypatch):
    """As on Windows, or where torch came without it."""
    for name in [name for name in sys.modules if name.startswith(("triton.", triton_engine.__name__))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ImportError, match=r"needs triton: pip install 'unlabeled\[gpu\]', or use engine='auto'"):
        log_kernel_sums([[0.0]], [[0.0]], "rbf", 1.0, engine="triton")
    monkeypatch.setattr(choosing, "has_driver", lambda _: True)
    choice = choose_engine(**LARGE_JOB)
    assert choice.name != "triton"
    assert re.search(r"not triton: it could not be loaded \(.*triton.*; pip install 'unlabeled\[gpu\]'", choice.reason)


def test_kernels_start_on_the_card_that_has_the_data(triton_engine):
    """Triton starts them on the card in use, which need not be that of a tensor."""
    assert triton_engine._in_use(torch.device("cuda", 1)).idx == 1


@pytest.mark.cuda
@pytest.mark.usefixtures("products")
def test_tensors_on_a_second_card(rng):
    if torch.cuda.device_count() < 2:
        pytest.skip("one card here")
    rows = rng.standard_normal((5000, 3))
    on_second = torch.as_tensor(rows, device="cuda:1")
    answer = log_kernel_sums(on_second, on_second, "rbf", [0.5, 9.0])
    assert answer.device == on_second.device
    np.testing.assert_allclose(answer.cpu(), log_kernel_sums(rows, rows, "rbf", [0.5, 9.0]), atol=2e-5)


def test_a_fitted_classifier_says_why(rng):
    rows, labels = rng.standard_normal((60, 2)), np.repeat([1, 0], 30)
    model = WMMDClassifier(0.5, engine="reference").fit(rows, labels)
    assert (model.engine_, model.engine_reason_) == ("reference", "asked for")
    model = WMMDClassifier(0.5).fit(rows, labels)
    assert model.engine_ == "numba"
    assert "not triton" in model.engine_reason_


@pytest.mark.cuda
@pytest.mark.usefixtures("products")
def test_a_fit_on_a_card(rng):
    """The same scores as on the processor."""
    rows, labels = rng.standard_normal((20_000, 5)), np.repeat([1, 0], [2_000, 18_000])
    rows[labels == 1] += 0.7
    on_card, on_processor = (
        WMMDClassifier(engine=name, random_state=0).fit(rows, labels) for name in ("triton", "numba")
    )
    assert on_card.engine_ == "triton"
    scores = [model.score_samples(rows[:5000]) for model in (on_card, on_processor)]
    np.testing.assert_allclose(*scores, atol=1e-3)
    assert on_card.prior_ == pytest.approx(on_processor.prior_, abs=1e-3)
