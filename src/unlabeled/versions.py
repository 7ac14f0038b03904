"""What is installed and how it would run: for reports of bugs."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count

from unlabeled.engines import select_engine

__all__ = ["show_versions"]

_NEEDED = ("unlabeled", "numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")
_OPTIONAL = ("polars", "pandas", "skops", "matplotlib", "typer", "rich", "torch", "triton")


def show_versions() -> None:
    """Print the versions of this library and of what it runs on, for reports of bugs.

    Examples
    --------
    >>> from unlabeled import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    System
           python: ...
    """
    sections: dict[str, dict[str, object]] = {
        "System": {"python": sys.version.replace("\n", " "), "machine": platform.platform(), "cores": cpu_count()},
        "Packages": {name: version_of(name) for name in _NEEDED},
        "Optional packages": {name: version_of(name) for name in _OPTIONAL},
        "Kernel sums": {"engine": select_engine(), "threads": _n_threads()},
    }
    for title, facts in sections.items():
        print(title)  # noqa: T201
        for name, fact in facts.items():
            print(f"{name:>13}: {fact}")  # noqa: T201
        print()  # noqa: T201


def version_of(package: str) -> str:
    """The version of a package, or that it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _n_threads() -> int:
    """Threads that kernel sums take by default."""
    if select_engine() not in {"numba", "tree"}:
        return 1
    found: int = import_module("unlabeled.engines.threads").n_threads(None)
    return found
