"""Kernels as small frozen values: a name, and the log of the kernel as a function of squared distance.

Everything in this library sums kernels in the log domain, so the log is the definition and the kernel its exponential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.arrays import FloatArray

_Float = TypeVar("_Float", float, FloatArray)

#: The grid of ``gamma`` the paper searches in all its experiments (appendix D.1).
PAPER_GAMMAS = (1.0, 0.4, 0.2, 0.1, 0.05)


class Kernel(Protocol):
    """What the rest of the library asks of a kernel.

    Examples
    --------
    >>> from unlabeled.kernels import RBF, Kernel
    >>> kernel: Kernel = RBF()
    >>> kernel.name
    'rbf'
    """

    @property
    def name(self) -> str:
        """The word users write for it."""

    def log(self, sq_dist: FloatArray, gamma: float) -> FloatArray:
        """Log of the kernel at squared distances."""

    def sharpness(self, gamma: _Float) -> _Float:
        """Largest change of the log kernel for a unit change of the squared distance."""


@dataclass(frozen=True)
class RBF:
    """Gaussian kernel ``k(x, y) = exp(-gamma |x - y|^2)``.

    In terms of a bandwidth h, ``exp(-|x - y|^2 / (2 h^2))``, it is ``gamma = 1 / (2 h^2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.kernels import RBF
    >>> RBF().log(np.array([0.0, 1.0, 4.0]), 0.5)  # of squared distances
    array([-0. , -0.5, -2. ])
    """

    name: ClassVar[str] = "rbf"

    def log(self, sq_dist: FloatArray, gamma: float) -> FloatArray:
        """Log of the kernel at squared distances."""
        return -gamma * sq_dist

    def sharpness(self, gamma: _Float) -> _Float:
        """Largest change of the log kernel for a unit change of the squared distance."""
        return gamma


@dataclass(frozen=True)
class Inverse:
    """Inverse kernel ``k(x, y) = gamma / (gamma + |x - y|^2)`` (appendix E of the paper).

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.kernels import Inverse
    >>> np.exp(Inverse().log(np.array([0.0, 1.0, 3.0]), 1.0))  # of squared distances
    array([1.  , 0.5 , 0.25])
    """

    name: ClassVar[str] = "inverse"

    def log(self, sq_dist: FloatArray, gamma: float) -> FloatArray:
        """Log of the kernel at squared distances."""
        return np.asarray(-np.log1p(sq_dist / gamma))

    def sharpness(self, gamma: _Float) -> _Float:
        """Largest change of the log kernel for a unit change of the squared distance."""
        return 1.0 / gamma


@dataclass(frozen=True)
class Linear:
    """Inner product ``k(x, y) = x'y``, for what solves linear equations in a kernel's space.

    It is not among `KERNELS`: its values have either sign, so that sums of them have no log, and it has no gamma.

    Examples
    --------
    >>> from unlabeled import LeastSquaresPUClassifier
    >>> LeastSquaresPUClassifier(kernel="linear").get_params()["kernel"]
    'linear'
    """

    name: ClassVar[str] = "linear"


KERNELS: dict[str, Kernel] = {kernel.name: kernel for kernel in (RBF(), Inverse())}


def as_kernel(kernel: str | Kernel) -> Kernel:
    """Turn a kernel's name into the kernel; a kernel passes through."""
    if isinstance(kernel, str):
        if kernel in KERNELS:
            return KERNELS[kernel]
    elif type(kernel) in map(type, KERNELS.values()):
        return kernel
    raise ValueError(f"kernel={kernel!r} is not known; use one of {sorted(KERNELS)}, or RBF() / Inverse().")


def as_inner_product(kernel: str | Kernel | Linear) -> Kernel | Linear:
    """The same where a kernel stands for an inner product, so that the linear one is welcome too."""
    if kernel == Linear.name or isinstance(kernel, Linear):
        return Linear()
    try:
        return as_kernel(kernel)
    except ValueError:
        known = sorted([*KERNELS, Linear.name])
        raise ValueError(
            f"kernel={kernel!r} is not known; use one of {known}, or RBF() / Inverse() / Linear()."
        ) from None


def as_gammas(gammas: ArrayLike) -> FloatArray:
    """Check one gamma or a grid of them; the answer is one-dimensional, in the order given."""
    return as_grid(gammas, "gamma")


def as_grid(values: ArrayLike, name: str) -> FloatArray:
    """Check one positive number or a grid of them; the answer is one-dimensional, in the order given."""
    try:
        grid = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{name}={values!r} is not a number or a sequence of numbers.") from None
    if grid.ndim != 1 or grid.size == 0:
        raise ValueError(f"{name} must be a number or a non-empty sequence of numbers; got shape {grid.shape}.")
    if not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"every {name} must be positive and finite; got {values!r}.")
    return grid
