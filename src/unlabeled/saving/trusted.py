"""The types that a saved model may hold, beside those of scikit-learn, numpy and scipy that skops accepts by itself.

A list of names and no pattern: a new type is thought about once, here. Building one of these sets attributes and runs
no code of the file's choosing. Estimators check their attributes when they are used, as they do for any caller.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from unlabeled.saving.header import ModelFileError
from unlabeled.saving.walking import parts_of

_TREE_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"

_SPLITTERS = (
    "GroupKFold",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
    "_CVIterableWrapper",
)

TRUSTED = frozenset(
    {
        "numpy.dtype",
        "unlabeled.baselines.convex.ConvexPUClassifier",
        "unlabeled.baselines.elkan_noto.ElkanNotoClassifier",
        "unlabeled.baselines.elkan_noto.UpToFiveFolds",
        "unlabeled.baselines.nnpu.NNPUClassifier",
        "unlabeled.bias.columns.ColumnDifference",
        "unlabeled.bias.scar_test.ScarTest",
        "unlabeled.deciding.top_counts.TopCounts",
        "unlabeled.classifiers.least_squares.LeastSquaresPUClassifier",
        "unlabeled.classifiers.propensity_em.PropensityEMClassifier",
        "unlabeled.classifiers.propensity_wmmd.PropensityWMMDClassifier",
        "unlabeled.classifiers.pu.PUClassifier",
        "unlabeled.classifiers.score_wmmd.ScoreWMMDClassifier",
        "unlabeled.classifiers.weighing.Comparison",
        "unlabeled.classifiers.wmmd.WMMDClassifier",
        "unlabeled.deciding.adapting.Adaptation",
        "unlabeled.deciding.calibration.Calibration",
        "unlabeled.deciding.known_negatives.KnownNegatives",
        "unlabeled.deciding.known_negatives.Line",
        "unlabeled.deciding.known_negatives.NegativesPrior",
        "unlabeled.deciding.known_negatives.PlainRatio",
        "unlabeled.deciding.scores.HonestScores",
        "unlabeled.deciding.thresholds.Balanced",
        "unlabeled.deciding.thresholds.Costs",
        "unlabeled.deciding.thresholds.TargetPrecision",
        "unlabeled.deciding.thresholds.TargetRecall",
        "unlabeled.deciding.thresholds.TwoClusters",
        "unlabeled.kernels.Inverse",
        "unlabeled.kernels.Linear",
        "unlabeled.kernels.RBF",
        "unlabeled.metrics.decisions.proxy_accuracy",
        "unlabeled.metrics.decisions.pu_accuracy",
        "unlabeled.metrics.decisions.pu_f1",
        "unlabeled.metrics.decisions.pu_lee_liu",
        "unlabeled.metrics.decisions.pu_precision",
        "unlabeled.metrics.decisions.pu_recall",
        "unlabeled.metrics.ranking.proxy_roc_auc",
        "unlabeled.metrics.ranking.pu_average_precision",
        "unlabeled.metrics.ranking.pu_roc_auc",
        "unlabeled.metrics.risk.pu_risk",
        "unlabeled.metrics.scorers._OfScores",  # calls the metric it holds, which must be in this list as well
        "unlabeled.metrics.splitting.PUStratifiedKFold",
        "unlabeled.priors.auto.AutoPrior",
        "unlabeled.priors.best_bin.BestBinPrior",
        "unlabeled.priors.dedpul.DedpulPrior",
        "unlabeled.priors.density.DensityPrior",
        "unlabeled.priors.elkan_noto.ElkanNotoPrior",
        "unlabeled.priors.kernel_mean.KernelMeanPrior",
        "unlabeled.samples.PUSample",
        "unlabeled.samples.Sample",
        "unlabeled.saving.plain.PlainDistribution",  # checked when they are restored
        "unlabeled.saving.plain.PlainTree",
        "unlabeled.scoring.averaging.KernelSum",
        "unlabeled.scoring.averaging.MeanRatio",
        "unlabeled.scoring.binning.Steps",
        "unlabeled.scoring.compression.Compression",
        "unlabeled.scoring.forms.Completion",
        "unlabeled.scoring.forms.Reduction",
        "unlabeled.scoring.one_dimension.ScoreRatio",
        "unlabeled.scoring.ratio.Ratio",
        "unlabeled.scoring.scaling.Scaling",
        "unlabeled.scoring.smoothing.Round",
        "unlabeled.tables.categories.ManyCategories",
        "unlabeled.tables.columns.Columns",
        "unlabeled.tables.encoding.TableEncoder",
        "unlabeled.tables.model.TableModel",
        "unlabeled.tables.texts.TextFeatures",
        _TREE_PREDICTOR,  # its content is checked by `check_trees`
        # Of searches and wrappers around an estimator: ways to split rows, scorers, calibrations, optimizers.
        *(f"sklearn.model_selection._split.{name}" for name in _SPLITTERS),
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)


@cache
def trusted_types() -> frozenset[str]:
    """`TRUSTED`, and the functions behind scikit-learn's named scorers, which tell how good predictions are."""
    functions = [get_scorer(name)._score_func for name in get_scorer_names()]
    return TRUSTED | {f"{function.__module__}.{function.__qualname__}" for function in functions}


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
