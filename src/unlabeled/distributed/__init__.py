"""The same classifiers on a Dask cluster, for tables of more rows than one machine holds.

Kernel sums add over points and are independent over queries, so the closed form runs on a cluster as it does on one
machine: partitions stay where they are, and what leaves them are counts, moments, log sums, and some rows.

This package alone imports Dask: ``pip install 'unlabeled[dask]'``.
"""

from __future__ import annotations

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("unlabeled.distributed needs Dask: pip install 'unlabeled[dask]'") from error

from unlabeled.distributed.wmmd import DaskWMMDClassifier

__all__ = ["DaskWMMDClassifier"]
