"""Which engine a job goes to, and why.

An engine says itself whether a job suits it: ``unsuited(kernel, n_queries, n_points, n_features, exact=...)`` in its
module answers the reason why not, or None; an engine without that function takes any job. One whose ways depend on the
data says by ``ways(n_queries, points, gammas)`` which it would take, and whether any is its own. ``"auto"`` takes the
first of `ENGINES` that is installed and suited. Asking a module means loading it, so an engine whose libraries are slow
to load names the least number of pairs that is worth it, unless they are loaded already.

The environment variable ``UNLABELED_ENGINE`` names an engine that ``"auto"`` then stands for.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.kernels import Kernel, as_gammas, as_kernel


@dataclass(frozen=True)
class Engine:
    """Where an engine lives, and what it needs.

    ``least_pairs``: jobs of fewer pairs are not worth loading ``package`` for. ``driver``: a library of the system
    without which there is no use in looking.
    """

    module: str
    package: str
    install: str
    least_pairs: float = 0.0
    driver: str | None = None


#: The environment variable with what "auto" is to stand for.
VARIABLE = "UNLABELED_ENGINE"

#: In the order in which "auto" asks them.
ENGINES: dict[str, Engine] = {
    "triton": Engine(
        "unlabeled.engines.triton",
        package="torch",
        install="pip install 'unlabeled[gpu]'",
        least_pairs=1e9,
        driver="nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1",
    ),
    "tree": Engine("unlabeled.engines.tree", package="numba", install="pip install numba"),
    "numba": Engine("unlabeled.engines.numba", package="numba", install="pip install numba"),
    "reference": Engine("unlabeled.engines.reference", package="numpy", install="pip install numpy"),
}


@dataclass(frozen=True)
class Choice:
    """An engine, and why it is the one.

    Examples
    --------
    >>> from unlabeled.engines import Choice
    >>> Choice("numba", "it is the first that is installed").name
    'numba'
    """

    name: str
    reason: str


def choose_engine(
    engine: str = "auto",
    *,
    kernel: str | Kernel = "rbf",
    n_queries: int = 0,
    n_points: int = 0,
    n_features: int = 1,
    exact: bool = False,
    points: ArrayLike | None = None,
    gammas: ArrayLike | None = None,
) -> Choice:
    """The engine that ``engine`` stands for in a job of this shape, and why.

    Parameters
    ----------
    engine : str
        ``"auto"``, or the name of an engine, which is then taken whatever the job.
    kernel : {"rbf", "inverse"} or a kernel
    n_queries, n_points, n_features : int
        The shape of the job; without it, a small one.
    exact : bool
        Whether float64 is asked for.
    points : array of shape (n_points, n_features), optional
        The points, for what depends on bandwidths and not on the shape alone; the queries are taken to be like them.
    gammas : float or array of shape (n_gammas,), optional
        To be given with ``points``: ``tree`` then tells the way that each would take, and where all of them would go
        to all pairs, the choice is the engine that computes these.

    Examples
    --------
    >>> from unlabeled.engines import choose_engine
    >>> choose_engine("reference", n_queries=1000, n_points=1000, n_features=3)
    Choice(name='reference', reason='asked for')
    """
    asked = _asked_for(engine)
    if asked is not None:
        return asked
    if (points is None) != (gammas is None):
        raise ValueError("What bandwidths mean depends on the points: give both points and gammas, or neither.")
    if points is not None:
        points = np.asarray(points)
        n_points, n_features = points.shape
    passed_over: list[str] = []
    for name in ENGINES:
        reason = _unsuited(name, as_kernel(kernel), n_queries, n_points, n_features, exact=exact)
        ways = None if reason is not None else getattr(load(name), "ways", None)
        note = ""
        if ways is not None:
            note, pays = ways(n_queries, points, None if gammas is None else as_gammas(gammas))
            reason = None if pays else note
        if reason is None:
            why = f"{name} is the first that can do the job" + (note and f" ({note})")
            return Choice(name, "; ".join([*passed_over, why]))
        passed_over.append(f"not {name}: {reason}")
    raise ImportError("No engine can be used: " + "; ".join(passed_over) + ".")


def choose_for_matrices(engine: str = "auto", *, n_queries: int, n_points: int, n_features: int) -> Choice:
    """Where matrices of kernel values are computed: by "triton" on a card, or by NumPy as "reference" does, and why.

    Every engine but "triton" stands for NumPy here.
    """
    asked = _asked_for(engine)
    if asked is not None:
        return asked if asked.name in {"triton", "reference"} else Choice("reference", "NumPy has the matrices")
    reason = _unsuited("triton", as_kernel("rbf"), n_queries, n_points, n_features, exact=True)
    if reason is None:
        return Choice("triton", "triton is the first that can do the job")
    return Choice("reference", f"not triton: {reason}; NumPy has the matrices")


def _asked_for(engine: str) -> Choice | None:
    """The engine that was named, by the argument or by the environment; None where it is "auto"."""
    _check_known(engine, f"engine={engine!r}")
    if engine != "auto":
        return Choice(engine, "asked for")
    everywhere = os.environ.get(VARIABLE) or "auto"
    _check_known(everywhere, f"{VARIABLE}={everywhere}")
    return None if everywhere == "auto" else Choice(everywhere, f"{VARIABLE} asks for it")


def _check_known(engine: object, given: str) -> None:
    if not isinstance(engine, str) or engine not in {"auto", *ENGINES}:
        raise ValueError(f"{given} is not known; use 'auto' or one of {sorted(ENGINES)}.")


def check_usable(engine: str) -> None:
    """Refuse an engine that is asked for by name and cannot compute here, before work begins that would fail."""
    choice = choose_engine(engine)
    unusable = getattr(load(choice.name), "unusable", None)
    if unusable is not None and (reason := unusable()) is not None:
        raise RuntimeError(f"engine={choice.name!r} cannot be used: {reason}; or use engine='auto'.")


def select_engine(
    engine: str = "auto",
    *,
    kernel: str | Kernel = "rbf",
    n_queries: int = 0,
    n_points: int = 0,
    n_features: int = 1,
    exact: bool = False,
    points: ArrayLike | None = None,
    gammas: ArrayLike | None = None,
) -> str:
    """Name the engine that ``engine`` stands for; `choose_engine` says why as well, and what it may be told.

    Examples
    --------
    >>> from unlabeled.engines import select_engine
    >>> select_engine("auto", n_queries=1000, n_points=1000, n_features=30)
    'numba'
    """
    shape = {"n_queries": n_queries, "n_points": n_points, "n_features": n_features}
    return choose_engine(engine, kernel=kernel, **shape, exact=exact, points=points, gammas=gammas).name


def _unsuited(name: str, kernel: Kernel, n_queries: int, n_points: int, n_features: int, *, exact: bool) -> str | None:
    """Why a job should not go to an engine, as far as can be told without loading more than it is worth."""
    entry = ENGINES[name]
    if not _is_installed(entry.package):
        return f"{entry.package} is not installed ({entry.install})"
    if n_queries * n_points < entry.least_pairs and entry.package not in sys.modules:
        return f"{n_queries * n_points:.3g} pairs are too few to load {entry.package} for"
    if entry.driver is not None and not has_driver(entry.driver):
        return f"there is no driver here ({entry.driver} cannot be loaded: a CUDA card needs that of NVIDIA)"
    try:
        module = load(name)
    except (ImportError, OSError, RuntimeError) as error:  # libraries for a card that is not there fail in many ways
        return f"it could not be loaded ({error.__cause__ or error}; {entry.install})"
    unsuited = getattr(module, "unsuited", None)
    return None if unsuited is None else unsuited(kernel, n_queries, n_points, n_features, exact=exact)


@cache
def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


@cache
def has_driver(library: str) -> bool:
    """Whether a library of the system can be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def load(name: str) -> ModuleType:
    """The module of an engine."""
    entry = ENGINES[name]
    try:
        return import_module(entry.module)
    except ModuleNotFoundError as error:
        needs = entry.package if error.name is None or error.name.startswith("unlabeled") else error.name
        raise ImportError(f"engine={name!r} needs {needs}: {entry.install}, or use engine='auto'.") from error
