"""What is written of a model: less than it holds where that is exact enough, and all of it plain.

Training rows are float32 where that changes no score: half the file, and half the memory of the loaded model. Trees
and distributions are plain data (`unlabeled.saving.plain`).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from unlabeled.kernels import as_gammas
from unlabeled.samples import PUSample, Sample
from unlabeled.saving.plain import in_plain
from unlabeled.saving.walking import parts_of
from unlabeled.scoring.ratio import Kernels, loo_log_scores

#: Scores may move by at most this much; kernel sums themselves are exact to about that.
TOLERANCE = 1e-6
#: The number of rows of each sample that are scored to find out.
N_PROBES = 256


def compact(model: Any) -> Any:
    """A copy of a model that keeps its training rows as float32 where its scores stay the same, and all else plain.

    Every fitted estimator inside that scores by kernel sums over a ``sample_``, with a ``gamma_``, is looked at.
    """
    in_place_of: dict[int, Any] = {}  # what a copy holds instead of a part, by the part's id
    for part in parts_of(model):
        if isinstance(getattr(part, "sample_", None), PUSample) and hasattr(part, "gamma_"):
            pu, rounded = part.sample_, as_float32(part.sample_)
            gammas = [part.gamma_, *(finished.gamma for finished in getattr(part, "rounds_", ()))]
            in_place_of[id(pu)] = rounded if _scores_agree(pu, rounded, part, gammas) else pu
        elif (plain := in_plain(part)) is not None:
            in_place_of[id(part)] = plain
        if callbacks := getattr(part, "_skl_callbacks", None):
            in_place_of[id(callbacks)] = []  # of whoever fits it, and no part of the model
    return deepcopy(model, in_place_of)


def as_float32(pu: PUSample) -> PUSample:
    """The same samples with rows of single precision; weights stay as they are."""
    return replace(pu, positive=_rounded(pu.positive), unlabeled=_rounded(pu.unlabeled))


def _rounded(sample: Sample) -> Sample:
    numbers = sample.numbers
    if numbers is not None and numbers.max() <= np.iinfo(np.int32).max:
        numbers = numbers.astype(np.int32)
    with np.errstate(over="ignore"):  # too large for float32: infinite, and then not the same scores
        return replace(sample, rows=sample.rows.astype(np.float32), numbers=numbers)


def _scores_agree(pu: PUSample, rounded: PUSample, part: Any, gammas: list[float]) -> bool:
    """Whether leave-one-out scores of rows spread over both samples are the same with rounded rows, for each gamma."""
    if not all(np.isfinite(sample.rows).all() for sample in (rounded.positive, rounded.unlabeled)):
        return False
    kernels = Kernels(part.kernel, as_gammas(gammas), part.engine, part.n_jobs, exact=True)
    probes = [
        np.unique(np.linspace(0, len(sample) - 1, N_PROBES).astype(int)) for sample in (pu.positive, pu.unlabeled)
    ]
    exact, approximate = (np.hstack(loo_log_scores(samples, kernels, *probes)) for samples in (pu, rounded))
    return bool(np.abs(exact - approximate).max() <= TOLERANCE)
