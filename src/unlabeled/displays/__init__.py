"""Pictures of a fitted classifier, for notebooks, in scikit-learn's convention.

Each has ``from_estimator(model, X, y, ax=None, name=None, **kwargs)``, ``plot(ax=None, name=None, **kwargs)``, and
after that ``ax_`` and ``figure_``; those of scores also ``from_predictions(y, scores, prior=...)``, for held-out rows.
What is drawn is computed in the same file, is kept in attributes, and is what `unlabeled.report` shows too. Where the
model keeps honest scores, X and y may be left out. Drawing needs matplotlib: ``pip install 'unlabeled[figures]'``.
"""

from unlabeled.displays.calibration import PUCalibrationDisplay
from unlabeled.displays.decision_boundary import PUDecisionBoundaryDisplay
from unlabeled.displays.explained_row import ExplanationDisplay
from unlabeled.displays.gammas import GammaDisplay
from unlabeled.displays.prior_estimates import PriorDisplay
from unlabeled.displays.ranking import PUPrecisionRecallDisplay, PURocCurveDisplay
from unlabeled.displays.score_distributions import ScoreDistributionDisplay
from unlabeled.displays.threshold_table import ThresholdDisplay

__all__ = [
    "ExplanationDisplay",
    "GammaDisplay",
    "PUCalibrationDisplay",
    "PUDecisionBoundaryDisplay",
    "PUPrecisionRecallDisplay",
    "PURocCurveDisplay",
    "PriorDisplay",
    "ScoreDistributionDisplay",
    "ThresholdDisplay",
]
