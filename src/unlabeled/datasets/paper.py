"""The eleven data sets of the paper's Table 2, by name, ready to be drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.datasets.draw import Sizes, draw_pu
from unlabeled.datasets.folders import Folder
from unlabeled.datasets.libsvm import load_libsvm
from unlabeled.datasets.pu_data import PUData, RandomState

#: Where the files have fewer rows than the paper used, P gets at most this share of the positives.
_LARGEST_SHARE_OF_P = 0.25


@dataclass(frozen=True)
class _Row:
    """A line of Table 2: the file, the target that is positive, and the sizes."""

    source: str
    positive_target: int
    sizes: Sizes


_TABLE: Mapping[str, _Row] = MappingProxyType(
    {
        "heart_scale": _Row("heart_scale", 1, Sizes(10, 60, 60, 0.62)),
        "sonar_scale": _Row("sonar_scale", 1, Sizes(10, 100, 100, 0.47)),
        "australian_scale": _Row("australian_scale", 1, Sizes(20, 220, 220, 0.51)),
        "australian_scale2": _Row("australian_scale", 1, Sizes(10, 130, 130, 0.15)),
        "breast-cancer_scale": _Row("breast-cancer_scale", 1, Sizes(20, 340, 340, 0.35)),
        "breast-cancer_scale2": _Row("breast-cancer_scale", 0, Sizes(40, 340, 340, 0.65)),
        "diabetes_scale": _Row("diabetes_scale", 1, Sizes(50, 380, 370, 0.65)),
        "skin_nonskin": _Row("skin_nonskin", 1, Sizes(1_000, 100_000, 100_000, 0.79)),
        "skin_nonskin2": _Row("skin_nonskin", 0, Sizes(1_000, 100_000, 100_000, 0.21)),
        "epsilon_normalized": _Row("epsilon_normalized", 1, Sizes(1_000, 400_000, 100_000, 0.5)),
        "HIGGS": _Row("HIGGS", 1, Sizes(1_000, 1_000_000, 100_000, 0.5)),
    }
)

#: Names that `paper_dataset` takes, in the order of the table.
PAPER_DATASETS = tuple(_TABLE)


@dataclass(frozen=True, eq=False)
class PaperDataset:
    """A data set of the paper's Table 2: all its rows, which of them are positive, and the sizes to draw.

    ``note`` is empty where rows and sizes are the paper's, and else says how they differ.

    Examples
    --------
    >>> from unlabeled.datasets import paper_dataset
    >>> heart = paper_dataset("heart")  # doctest: +SKIP
    >>> data = heart.draw(random_state=0)  # doctest: +SKIP
    """

    name: str
    X: FloatArray
    is_positive: np.ndarray
    n_positive: int
    n_unlabeled: int
    n_test: int
    prior: float
    note: str = ""

    def draw(self, random_state: RandomState = None) -> PUData:
        """One random resampling of the paper's kind; see `draw_pu`.

        Examples
        --------
        >>> from unlabeled.datasets import paper_dataset
        >>> data = paper_dataset("heart").draw(random_state=0)  # doctest: +SKIP
        """
        return draw_pu(
            self.X,
            self.is_positive,
            self.n_positive,
            self.n_unlabeled,
            self.n_test,
            self.prior,
            random_state=random_state,
        )


def paper_dataset(
    name: str, *, layout: str = "paper", data_home: Folder | None = None, download: bool = True
) -> PaperDataset:
    """Load a data set of the paper's Table 2.

    Parameters
    ----------
    name : str
        One of `PAPER_DATASETS`. The suffix 2 marks a second class prior on the same file.
    layout : {"paper", "indexed"}, default="paper"
        "paper" has the rows and columns of the paper, which are not aligned in some rows; "indexed" has all rows with
        each value in its own column. See `load_libsvm`.
    data_home, download
        As in `load_libsvm`.

    Returns
    -------
    PaperDataset
        Where the files found have fewer rows than the paper's sizes need, the sizes are the largest of the same
        proportion that they allow, and its ``note`` says so.

    Examples
    --------
    >>> from unlabeled.datasets import paper_dataset
    >>> heart = paper_dataset("heart")  # doctest: +SKIP
    >>> heart.X.shape, heart.prior  # doctest: +SKIP
    """
    if name not in _TABLE:
        raise ValueError(f"name={name!r} is not known; use one of {list(PAPER_DATASETS)}.")
    row = _TABLE[name]
    loaded = load_libsvm(row.source, layout, data_home, download=download)
    is_positive = loaded.target == row.positive_target
    sizes = _available_sizes(row.sizes, is_positive)
    notes = [loaded.note, _shrink_note(row.sizes, sizes)]
    return PaperDataset(
        name,
        loaded.data,
        is_positive,
        sizes.n_positive,
        sizes.n_unlabeled,
        sizes.n_test,
        sizes.prior,
        " ".join(note for note in notes if note),
    )


def _available_sizes(paper: Sizes, is_positive: np.ndarray) -> Sizes:
    """The paper's sizes, or the largest of the same proportion with three disjoint samples."""
    n_positives = int(is_positive.sum())
    n_negatives = len(is_positive) - n_positives
    if paper.fit(n_positives, n_negatives):
        return paper
    n_positive = min(paper.n_positive, int(_LARGEST_SHARE_OF_P * n_positives))
    mixed = replace(paper, n_positive=0).shrunk(n_positives - n_positive, n_negatives)
    return replace(mixed, n_positive=n_positive)


def _shrink_note(paper: Sizes, used: Sizes) -> str:
    if used == paper:
        return ""
    return (
        f"Drawn at n_positive={used.n_positive:,}, n_unlabeled={used.n_unlabeled:,}, n_test={used.n_test:,}, the "
        f"largest these rows allow; the paper has {paper.n_positive:,}, {paper.n_unlabeled:,}, {paper.n_test:,}."
    )
