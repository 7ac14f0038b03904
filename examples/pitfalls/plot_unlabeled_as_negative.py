"""
Unlabeled taken for negative
============================

The labelled positives are outnumbered by hidden ones in the unlabeled rows, and a classifier that takes all of these
for negative calls next to nothing positive.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians

data = make_gaussians(60, 800, 4000, prior=0.5, separation=3, random_state=0)
wrong = LogisticRegression().fit(data.X, data.y)
right = WMMDClassifier().fit(data.X, data.y)

figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained", sharey=True)
x, y = np.meshgrid(np.linspace(-4.5, 4.5, 91), np.linspace(-4.5, 4.5, 91))
for axes, model, title in zip(
    panels, (wrong, right), ("Wrong: unlabeled = negative", "Right: PU learning"), strict=True
):
    decision = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    recall = (model.predict(data.test) == 1)[data.test_truth].mean()
    axes.contourf(x, y, decision > 0, levels=[0.5, 1], colors=["#2a6fbb"], alpha=0.12)
    axes.scatter(*data.unlabeled[data.unlabeled_truth].T, s=7, color="#8fb3d9", label="unlabeled, positive in truth")
    axes.scatter(*data.unlabeled[~data.unlabeled_truth].T, s=7, color="#bbbbbb", label="unlabeled, negative in truth")
    axes.scatter(*data.positive.T, s=22, marker="D", color="#2a6fbb", edgecolor="white", label="labelled")
    axes.contour(x, y, decision, levels=[0], colors="black")
    axes.set(title=f"{title}\nfinds {recall:.0%} of the positives", xticks=[], yticks=[])
panels[0].legend(loc="upper left", fontsize=8)
