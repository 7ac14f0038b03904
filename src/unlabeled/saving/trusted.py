"""The types that a saved model may hold, beside those of scikit-learn, numpy and scipy that skops accepts by itself.

A list of names and no pattern: a new type is thought about once, here. Building one of these sets attributes and runs
no code of the file's choosing. Estimators check their attributes when they are used, as they do for any caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unlabeled.saving.header import ModelFileError

_TREE_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"

TRUSTED = frozenset(
    {
        "numpy.dtype",
        "unlabeled.baselines.convex.ConvexPUClassifier",
        "unlabeled.baselines.elkan_noto.ElkanNotoClassifier",
        "unlabeled.classifiers.least_squares.LeastSquaresPUClassifier",
        "unlabeled.classifiers.pu.PUClassifier",
        "unlabeled.classifiers.score_wmmd.ScoreWMMDClassifier",
        "unlabeled.classifiers.weighing.Comparison",
        "unlabeled.classifiers.wmmd.WMMDClassifier",
        "unlabeled.deciding.calibration.Calibration",
        "unlabeled.deciding.scores.HonestScores",
        "unlabeled.deciding.thresholds.Costs",
        "unlabeled.deciding.thresholds.TargetPrecision",
        "unlabeled.deciding.thresholds.TargetRecall",
        "unlabeled.kernels.Inverse",
        "unlabeled.kernels.Linear",
        "unlabeled.kernels.RBF",
        "unlabeled.priors.auto.AutoPrior",
        "unlabeled.priors.best_bin.BestBinPrior",
        "unlabeled.priors.dedpul.DedpulPrior",
        "unlabeled.priors.density.DensityPrior",
        "unlabeled.priors.elkan_noto.ElkanNotoPrior",
        "unlabeled.priors.kernel_mean.KernelMeanPrior",
        "unlabeled.samples.PUSample",
        "unlabeled.samples.Sample",
        "unlabeled.scoring.averaging.KernelSum",
        "unlabeled.scoring.averaging.MeanRatio",
        "unlabeled.scoring.binning.Steps",
        "unlabeled.scoring.compression.Compression",
        "unlabeled.scoring.one_dimension.ScoreRatio",
        "unlabeled.scoring.ratio.Ratio",
        "unlabeled.scoring.scaling.Scaling",
        "unlabeled.scoring.smoothing.Round",
        "unlabeled.tables.columns.Columns",
        "unlabeled.tables.model.TableModel",
        _TREE_PREDICTOR,  # its content is checked by `check_trees`
    }
)


def check_trees(model: Any) -> None:
    """Refuse boosted trees that point outside themselves: scikit-learn follows them without looking.

    This is why skops does not accept them by itself. A tree that passes has every child after its parent, within the
    array, and every feature among the model's own, so that following it ends inside it.
    """
    for part in parts_of(model):
        if predictors := getattr(part, "_predictors", None):
            _check_width_is_checked(part)
            for tree in (tree for trees in predictors for tree in trees):
                _check_tree(tree.nodes, part.n_features_in_)


def _check_width_is_checked(booster: Any) -> None:
    """Refuse boosted trees that would be followed over rows of another width than ``n_features_in_``.

    scikit-learn compares the width with it only where it neither encodes categories nor is within a fit.
    """
    if getattr(booster, "_preprocessor", None) is not None:
        raise ModelFileError(
            f"{type(booster).__name__} encodes categories by itself, which a saved model may not: encode categories in "
            "a pipeline."
        )
    if getattr(booster, "_in_fit", False):
        raise ModelFileError("Boosted trees of the model are within a fit: the file is damaged or hostile.")


def _check_tree(nodes: np.ndarray, n_features: int) -> None:
    inner = nodes["is_leaf"] == 0
    place = np.flatnonzero(inner)
    children_follow = all(
        (nodes[side][inner] > place).all() and (nodes[side][inner] < len(nodes)).all() for side in ("left", "right")
    )
    features = nodes["feature_idx"][inner].astype(np.int64)
    sound = len(nodes) > 0 and children_follow and ((features >= 0) & (features < n_features)).all()
    if not sound or nodes["is_categorical"].any():
        raise ModelFileError("A tree of the model points outside itself: the file is damaged or hostile.")


def parts_of(value: Any, seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """Every object inside a model, through attributes and containers, each once."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None))):
        return
    seen[id(value)] = value  # held, so that no other object gets its id
    inside = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, dict):
        inside += [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)) or (isinstance(value, np.ndarray) and value.dtype == object):
        inside += list(value)
    else:
        yield value
    for part in inside:
        yield from parts_of(part, seen)


def type_name(value: Any) -> str:
    """The full name of an object's type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
