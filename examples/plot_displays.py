"""
Nine pictures of a fitted classifier
====================================

:mod:`unlabeled.displays` draws what a classifier has learned and what to expect of it, in scikit-learn's convention:
``from_estimator`` computes and draws, into axes of yours if you give any. The breast-cancer table of scikit-learn, with
60 malignant tumours labelled and all others unlabeled.
"""

# sphinx_gallery_dummy_images=3
# sphinx_gallery_thumbnail_number=2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from unlabeled import PUClassifier
from unlabeled.displays import (
    ExplanationDisplay,
    GammaDisplay,
    PriorDisplay,
    PUCalibrationDisplay,
    PUDecisionBoundaryDisplay,
    PUPrecisionRecallDisplay,
    PURocCurveDisplay,
    ScoreDistributionDisplay,
    ThresholdDisplay,
)

# %%

cells = load_breast_cancer(as_frame=True)
malignant = (cells.target == 0).to_numpy()
known = np.random.default_rng(0).choice(np.flatnonzero(malignant), 60, replace=False)
X, y = cells.data, np.isin(np.arange(len(malignant)), known)
model = PUClassifier(scenario="single-sample", random_state=0).fit(X, y)

# %%
# **What the rows look like.** With more than two columns the map goes along the direction in which the score rises.
# The histograms are of scores that know nothing of their own row: right of the threshold a row is flagged. The bars say
# what the columns do for one row, the unlabeled one with the highest score.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
PUDecisionBoundaryDisplay.from_estimator(model, X, y, ax=left)
ScoreDistributionDisplay.from_estimator(model, ax=middle)
first = int(np.argmax(np.where(y, -np.inf, model.decision_function(X))))
ExplanationDisplay.from_estimator(model, X.iloc[[first]], ax=right)

# %%
# **What to expect of it**, without a negative. Bands are what the interval of the prior leaves open; that of the
# thresholds has the noise of the labelled rows too.

figure, ((roc, precision), (calibration, thresholds)) = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
PURocCurveDisplay.from_estimator(model, ax=roc)
PUPrecisionRecallDisplay.from_estimator(model, ax=precision)
PUCalibrationDisplay.from_estimator(model, ax=calibration)
ThresholdDisplay.from_estimator(model, ax=thresholds)

# %%
# **How it was fitted.** A maximum at an end of the grid would ask for other gammas. Estimates of the prior that
# disagree would ask for a prior from elsewhere. The dotted line is the truth, 0.37.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
GammaDisplay.from_estimator(model, ax=left)
PriorDisplay.from_estimator(model, ax=right)
right.axvline(malignant.mean(), color="black", linestyle=":")

# %%
# :doc:`A report <plot_report>` shows all of them on one page.
