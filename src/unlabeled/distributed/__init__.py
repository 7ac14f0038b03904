"""The same classifiers on a Dask cluster, for tables of more rows than one machine holds.

Kernel sums add over points and are independent over queries, so the closed form runs on a cluster as it does on one
machine: partitions are not gathered anywhere, and what is made of them are counts, moments, log sums, and some rows.

This package alone imports Dask: ``pip install 'unlabeled[dask]'``.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("dask") is None or find_spec("distributed") is None:
    raise ImportError("unlabeled.distributed needs Dask: pip install 'unlabeled[dask]'")

from unlabeled.distributed.pu import DaskPUClassifier
from unlabeled.distributed.wmmd import DaskWMMDClassifier

__all__ = ["DaskPUClassifier", "DaskWMMDClassifier"]
