"""
Labels of one branch: selection bias
====================================

Frauds were looked for in one branch more than in the others. The classifier takes the branch for a sign of fraud. A
test sees it, and a classifier that is told of the column mends the order of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from unlabeled import PropensityEMClassifier, PUClassifier
from unlabeled.bias import ScarTest

# %%
# Two features tell of fraud; the third is a number of the branch, such as its size, and has nothing to do with it.
# Positives of large branches are labelled far more often.

rng = np.random.default_rng(0)
n = 1500
truth = rng.uniform(size=n) < 0.4
X = rng.normal(size=(n, 3))
X[:, :2] += 1.1 * truth[:, None]
propensity = 0.55 / (1 + np.exp(-2.5 * X[:, 2]))
y = truth & (rng.uniform(size=n) < propensity)
print(f"{y.sum()} of {truth.sum()} frauds are labelled")

# %%
# Can the labels have been given at random, with at least 40 % positives?

test = ScarTest(prior=0.4, scenario="single-sample").fit(X, y)
print(test.verdict_)
for difference in test.columns_[:3]:
    print(difference)

# %%
# Told which column labelling depends on, EM learns class and propensity together, and its order of the rows is better.
# How many frauds there are it does not know as well, and it cannot be told. So both
# flag the same number here: the 40 % of the rows with the highest scores.

plain = PUClassifier(prior=0.4, scenario="single-sample").fit(X, y)
mended = PropensityEMClassifier(columns=[2], scenario="single-sample").fit(X, y)
print(f"share of frauds by EM: {mended.prior_:.2f}, in truth {truth.mean():.2f}")

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for axes, (name, model) in zip(
    panels, {"PUClassifier": plain, "PropensityEMClassifier(columns=[2])": mended}.items(), strict=True
):
    scores = model.decision_function(X)
    flagged = scores > np.quantile(scores, 0.6)
    accuracy, area = balanced_accuracy_score(truth, flagged), roc_auc_score(truth, scores)
    missed, wrong = truth & ~flagged, ~truth & flagged
    along = X[:, :2].sum(axis=1)
    axes.scatter(X[:, 2], along, s=8, color="#cccccc", label="right")
    axes.scatter(X[missed, 2], along[missed], s=12, color="#2a6fbb", label=f"missed: {missed.sum()}")
    axes.scatter(X[wrong, 2], along[wrong], s=12, color="#c8453b", label=f"wrongly flagged: {wrong.sum()}")
    axes.set(
        title=f"{name}\nAUC {area:.2f}, balanced accuracy {accuracy:.2f}", xlabel="size of the branch (says nothing)"
    )
    axes.legend(frameon=False, fontsize=9, loc="lower right")
panels[0].set_ylabel("the two columns that tell, summed")

# %%
# Nothing in a table proves that labels were given at random. :doc:`/bias` says what can be mended, and what cannot.
