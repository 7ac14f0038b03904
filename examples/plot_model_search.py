"""
Model search with PU scorers
============================

``GridSearchCV`` needs a number to maximise, and there are no negatives to count errors on. The scorers of
:mod:`unlabeled.metrics` need none: labelled positives and the population are enough, with a prior where the metric
asks for one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import WMMDClassifier
from unlabeled.metrics import PUStratifiedKFold, pu_scorer

# %%

X, benign = load_breast_cancer(return_X_y=True)
X, X_test, malignant, test_truth = train_test_split(X, benign == 0, test_size=0.4, random_state=0)
rng = np.random.default_rng(0)
y = np.zeros(len(X), dtype=int)
y[rng.choice(np.flatnonzero(malignant), 50, replace=False)] = 1
prior = 0.37  # known of the clinic, say

# %%
# How many components, and how wide a kernel? Two criteria side by side. ``PUStratifiedKFold`` keeps both samples in
# every fold.

pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("pca", PCA(random_state=0)),
        ("pu", WMMDClassifier(prior, scenario="single-sample", scale="none", smoothing=0)),
    ]
)
GAMMAS = 2.0 ** np.arange(-10, 3, 2)
search = GridSearchCV(
    pipeline,
    {"pca__n_components": [2, 5, 10], "pu__gamma": GAMMAS},
    scoring={
        "auc": pu_scorer("roc-auc", prior=prior, scenario="single-sample"),
        "accuracy": pu_scorer("accuracy", prior=prior, scenario="single-sample"),
    },
    refit="auc",
    cv=PUStratifiedKFold(4, shuffle=True, random_state=0),
).fit(X, y)
print("chosen:", search.best_params_)
area = roc_auc_score(test_truth, search.decision_function(X_test))
print(f"PU estimate of the AUC {search.best_score_:.3f}, in truth {area:.3f}")

# %%
# The estimate over the grid, beside the truth on rows of its own. From fifty positives it is noisy, and unbiased rather
# than cut off at 1, so that it may be above. A search goes by the order of the candidates.

true_area = [
    roc_auc_score(test_truth, pipeline.set_params(**setting).fit(X, y).decision_function(X_test))
    for setting in search.cv_results_["params"]
]
shape = (3, len(GAMMAS))
figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for axes, values, title in zip(
    panels, (search.cv_results_["mean_test_auc"], true_area), ("PU estimate, no negatives", "in truth"), strict=True
):
    for n, line in zip((2, 5, 10), np.reshape(values, shape), strict=True):
        axes.plot(GAMMAS, line, marker="o", label=f"{n} components")
    axes.set(xscale="log", xlabel="gamma", title=title)
panels[0].set_ylabel("ROC AUC")
panels[0].legend(frameon=False)
