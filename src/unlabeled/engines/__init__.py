"""The one hot loop: log sums of a kernel between two sets of points, and the engines that compute it.

Every engine is a module with one function ``log_sums``, whose weights and answers have a leading axis of weightings.
`log_kernel_sums` checks its input once, takes care of what is the same for all of them (weights of zero, what is left
of a point's weight when one unit of it is taken out), and hands the loop to the engine asked for. ``engine="auto"``
takes, for each job, the first entry of `ENGINES` that can do it:

1. ``triton``: one fused kernel on a CUDA card, for jobs that are worth the way there.
2. ``tree``: for at most 4 features and many rows, expansions and near points instead of all pairs (RBF).
3. ``numba``: compiled for this processor, float32 tiles where that is exact enough and float64 elsewhere, all cores.
4. ``reference``: the definition in NumPy float64. Slow; it is what the others are tested against.

`select_engine` answers what ``"auto"`` would take, and `choose_engine` why (`unlabeled.engines.choosing`).

Tensors of torch that are on a card go to ``triton`` as they are, and are answered by such tensors.

What solves equations in a kernel's space needs the kernel's values and not their sums: `kernel_matrix` has these.
"""

from __future__ import annotations

from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray, checked_on_device, is_on_device, on_device_of, on_host
from unlabeled.engines.choosing import ENGINES, Choice, choose_engine, load, select_engine
from unlabeled.engines.matrices import kernel_matrix
from unlabeled.engines.threads import check_n_jobs
from unlabeled.kernels import Kernel, as_gammas, as_kernel

__all__ = ["ENGINES", "Choice", "choose_engine", "kernel_matrix", "log_kernel_sums", "select_engine"]


#: Rows whose own pair is added back at once.
_REST_CHUNK = 10_000
#: The error of a sum, relative to it, that an engine may make; and the largest that may be asked for.
RTOL, LARGEST_RTOL = 1e-6, 0.1


def log_kernel_sums(
    queries: ArrayLike,
    points: ArrayLike,
    kernel: str | Kernel,
    gammas: ArrayLike,
    *,
    own: ArrayLike | None = None,
    log_weights: ArrayLike | None = None,
    engine: str = "auto",
    exact: bool = False,
    rtol: float = RTOL,
    n_jobs: int | None = None,
) -> FloatArray:
    """Log of the sum of a kernel from each query to all points, for each gamma.

    Log-sums of parts of the points merge with `numpy.logaddexp`; a log-mean is a log-sum less the log of the weight.

    Parameters
    ----------
    queries : array of shape (n_queries, n_features)
        An array, or a tensor of torch on a card, which is then answered by a tensor there.
    points : array of shape (n_points, n_features)
    kernel : {"rbf", "inverse"} or a kernel
    gammas : float or array of shape (n_gammas,)
        A grid costs little more than one gamma: the distances are shared, and a gamma and its doubles, up to the
        eightfold, share an exponential too.
    own : int array of shape (n_queries,), optional
        Each query's own index in ``points`` (-1: it is none of them). One unit of that pair's weight is left out,
        all of it when the weight is 1 or less.
    log_weights : array of shape (n_points,) or (n_weightings, n_points), optional
        Log of each point's weight; ``-inf`` leaves the point out. Several weightings of the same points cost little
        more than one: they share the kernels.
    engine : {"auto", "triton", "tree", "numba", "reference"}
        How the sum is computed, never what it is.
    exact : bool, default=False
        Use float64 throughout. Otherwise jobs over a million pairs may use float32 where it moves the log sum by about
        1e-6 at most; by 1e-5 on a card, or a millionth of the log sum where that is more.
    rtol : float, default=1e-6
        Error of a sum, relative to it, that may be made. More than the default lets ``tree`` leave more out, for every
        query to within so much; the other engines make no use of it.
    n_jobs : int, optional
        Number of threads. By default all cores, or one inside a joblib worker thread.

    Returns
    -------
    log_sums : float64 array of shape (n_gammas, n_queries), or (n_weightings, n_gammas, n_queries)
        Finite unless the sum is empty (then ``-inf``).

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.engines import log_kernel_sums
    >>> queries, points = [[0.0], [100.0]], [[0.0], [1.0], [2.0]]
    >>> log_kernel_sums(queries, points, "rbf", [0.5, 1.0]).round(3)  # finite far away too
    array([[ 5.550e-01, -4.802e+03],
           [ 3.270e-01, -9.604e+03]])
    """
    kernel, gammas = as_kernel(kernel), as_gammas(on_host(gammas))
    queries, points = _as_points(queries, "queries"), _as_points(points, "points")
    log_weights = _as_log_weights(log_weights, len(points))
    own = _as_own(own, len(queries), len(points))
    # New views: what engines keep of an array they find again by its identity, and these may be changed by the caller.
    sums = checked_log_kernel_sums(
        queries[:], points[:], kernel, gammas, log_weights, own, engine, exact=exact, rtol=rtol, n_jobs=n_jobs
    )
    return on_device_of(queries, sums)


def checked_log_kernel_sums(
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    log_weights: FloatArray | None,
    own: np.ndarray | None,
    engine: str,
    *,
    exact: bool,
    n_jobs: int | None,
    rtol: float = RTOL,
    among: np.ndarray | None = None,
) -> FloatArray:
    """`log_kernel_sums` of arrays that are checked: for hundreds of small jobs their checks would take longest.

    The arrays must not be changed afterwards: engines keep what they made of them (`unlabeled.engines.kept`). The
    answer is always an array of NumPy.

    ``among`` are places of the points to sum over, which ``own`` and ``log_weights`` then speak of: an engine that has
    all points where it wants them need not be given some of them again.
    """
    if queries.shape[1] != points.shape[1]:
        raise ValueError(f"queries have {queries.shape[1]} features and points {points.shape[1]}; they must agree.")
    check_n_jobs(n_jobs)
    _check_rtol(rtol, exact=exact)
    n_points = len(points) if among is None else len(among)
    module = load(_engine_for(queries, points, n_points, kernel, engine, exact=exact))
    points = points if among is None else _taken(module, points, among)
    several = None if log_weights is None else np.atleast_2d(log_weights)
    how = {"exact": exact, "n_jobs": n_jobs, **({"rtol": rtol} if getattr(module, "TAKES_RTOL", False) else {})}
    sums = _sums_of_weightings(module, queries, points, kernel, gammas, several, own, how)
    return sums if log_weights is not None and log_weights.ndim == 2 else sums[0]


def _check_rtol(rtol: float, *, exact: bool) -> None:
    if not isinstance(rtol, Real) or not RTOL <= rtol <= LARGEST_RTOL:
        raise ValueError(f"rtol={rtol!r} must lie between {RTOL:g} and {LARGEST_RTOL:g}; for less, use exact=True.")
    if exact and rtol > RTOL:
        raise ValueError(f"rtol={rtol!r} allows an error, and exact=True none; use one of them.")


def _taken(module: ModuleType, points: Any, places: np.ndarray) -> Any:
    """Some of the points, where the engine has them."""
    take = getattr(module, "taken", None)
    return points[places] if take is None else take(points, places)


def _engine_for(queries: Any, points: Any, n_points: int, kernel: Kernel, engine: str, *, exact: bool) -> str:
    if not (is_on_device(queries) or is_on_device(points)):
        shape = {"n_queries": len(queries), "n_points": n_points, "n_features": points.shape[1]}
        return select_engine(engine, kernel=kernel, **shape, exact=exact)
    if engine not in {"auto", "triton"}:
        raise ValueError(
            f"engine={engine!r} computes on the processor, and the data is on a card; use engine='triton', or "
            "tensor.cpu()."
        )
    return "triton"


def _sums_of_weightings(
    module: ModuleType,
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    log_weights: FloatArray | None,
    own: np.ndarray | None,
    how: dict[str, Any],
) -> FloatArray:
    """Log sums (n_weightings or 1, n_gammas, n_queries)."""
    if log_weights is not None and not (weighs := np.isfinite(log_weights).any(axis=1)).all():
        sums = np.full((len(log_weights), len(gammas), len(queries)), -np.inf)
        if weighs.any():
            sums[weighs] = _sums_of_weightings(module, queries, points, kernel, gammas, log_weights[weighs], own, how)
        return sums
    whole, whole_weights, whole_own = points, log_weights, own
    points, log_weights, own = _without_weightless(module, points, log_weights, own)
    if len(points) == 0 or len(queries) == 0:
        return np.full((1 if log_weights is None else len(log_weights), len(gammas), len(queries)), -np.inf)
    sums = module.log_sums(queries, points, kernel, gammas, own, log_weights, **how)
    for place, of_weighting in enumerate(sums):
        # A squared distance may overflow to infinity; its log kernel is then a large negative number and not -inf.
        has_terms = _has_terms(own, None if log_weights is None else log_weights[place], len(queries), len(points))
        np.maximum(of_weighting, -np.finfo(np.float64).max, out=of_weighting, where=has_terms)
        if whole_own is not None and whole_weights is not None:
            _add_rest_of_own_pairs(of_weighting, queries, whole, kernel, gammas, whole_own, whole_weights[place])
    return sums


def _has_terms(own: np.ndarray | None, log_weights: FloatArray | None, n_queries: int, n_points: int) -> np.ndarray:
    """Which queries have any point but their own in the sum."""
    if own is None and log_weights is None:
        return np.ones(n_queries, dtype=bool)
    counts = np.ones(n_points, dtype=bool) if log_weights is None else np.isfinite(log_weights)
    n_terms = np.full(n_queries, np.count_nonzero(counts))
    if own is not None:
        n_terms -= (own >= 0) & counts[own]
    return n_terms > 0


def _as_points(array: ArrayLike, name: str) -> FloatArray:
    if is_on_device(array):
        return checked_on_device(array, name)
    return check_array(on_host(array), dtype=(np.float64, np.float32), ensure_min_samples=0, input_name=name)


def _as_log_weights(log_weights: ArrayLike | None, n_points: int) -> FloatArray | None:
    if log_weights is None:
        return None
    log_weights = np.asarray(on_host(log_weights), dtype=np.float64)
    if log_weights.shape[-1:] != (n_points,) or log_weights.ndim > 2 or log_weights.shape[0] == 0 < n_points:
        raise ValueError(
            f"log_weights must have shape ({n_points},), one for each point, or several rows of as many; got "
            f"{log_weights.shape}."
        )
    if not (log_weights < np.inf).all():
        raise ValueError("log_weights must be numbers below infinity (-inf leaves a point out); got NaN or infinity.")
    return log_weights


def _as_own(own: ArrayLike | None, n_queries: int, n_points: int) -> np.ndarray | None:
    if own is None:
        return None
    own = np.asarray(on_host(own))
    if own.shape != (n_queries,) or not np.issubdtype(own.dtype, np.integer):
        raise ValueError(f"own must be {n_queries} integers, one for each query; got {own.dtype} of shape {own.shape}.")
    if own.size and (own.min() < -1 or own.max() >= n_points):
        raise ValueError(f"own must lie between -1 (no point) and {n_points - 1}; got {own.min()} to {own.max()}.")
    return own.astype(np.int64, copy=False)


def _add_rest_of_own_pairs(
    sums: FloatArray,
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    own: np.ndarray,
    log_weights: FloatArray,
) -> None:
    """Add the own pairs with one unit less weight, in place: engines drop these pairs whole."""
    has_rest = np.flatnonzero((own >= 0) & (log_weights[own] > 0))
    for start in range(0, len(has_rest), _REST_CHUNK):
        rows = has_rest[start : start + _REST_CHUNK]
        log_weight = log_weights[own[rows]]
        log_rest = log_weight + np.log(-np.expm1(-log_weight))  # log(w - 1)
        differences = on_host(queries[rows]).astype(np.float64) - on_host(points[own[rows]])
        sq_dist = (differences**2).sum(axis=1)
        for sums_of_gamma, gamma in zip(sums, gammas, strict=True):
            sums_of_gamma[rows] = np.logaddexp(sums_of_gamma[rows], kernel.log(sq_dist, gamma) + log_rest)


def _without_weightless(
    module: ModuleType, points: FloatArray, log_weights: FloatArray | None, own: np.ndarray | None
) -> tuple[FloatArray, FloatArray | None, np.ndarray | None]:
    if log_weights is None or np.isfinite(log_weights).all():
        return points, log_weights, own
    kept = np.isfinite(log_weights).any(axis=0)
    if own is not None:
        new_index = np.where(kept, np.cumsum(kept) - 1, -1)
        own = np.where(own >= 0, new_index[own], -1)
    return _taken(module, points, np.flatnonzero(kept)), log_weights[:, kept], own
