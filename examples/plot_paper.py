"""
What the paper shows
====================

Experiment 1 of the WMMD paper: two moons, a handful of labelled positives, and unlabeled points of both classes. More
of either brings the border nearer to where it should be. The left of each pair is the paper's classifier to the
letter, the right the default of this library.
"""

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_two_moons

BLUE, GREY = "#2a6fbb", "#9a9a9a"

# %%
# The score of a point is a ratio of two kernel means, over the positives and over the unlabeled points. Nothing is
# trained: the prior places the threshold, and leave-one-out (or, in the paper, a hold-out) chooses the width of the
# kernel.

grid_x, grid_y = np.meshgrid(np.linspace(-6, 10, 121), np.linspace(-4.5, 6.5, 91))
grid = np.column_stack([grid_x.ravel(), grid_y.ravel()])

figure, rows = plt.subplots(2, 4, figsize=(12, 5.4), layout="constrained", sharex=True, sharey=True)
settings = [(5, 50), (10, 50), (5, 400), (10, 400)]
accuracies = {}
for place, (n_positive, n_unlabeled) in enumerate(settings):
    data = make_two_moons(n_positive, n_unlabeled, 2000, random_state=5)
    models = {"paper": WMMDClassifier.paper(prior=0.5, random_state=0), "default": WMMDClassifier(prior=0.5)}
    for column, (name, model) in enumerate(models.items()):
        model.fit(data.X, data.y)
        accuracy = np.mean((model.predict(data.test) == 1) == data.test_truth)
        accuracies[n_positive, n_unlabeled, name] = accuracy
        axes = rows[place // 2, 2 * (place % 2) + column]
        decision = model.decision_function(grid).reshape(grid_x.shape)
        axes.contourf(grid_x, grid_y, decision > 0, levels=[0.5, 1], colors=[BLUE], alpha=0.12)
        axes.contour(grid_x, grid_y, decision, levels=[0], colors="black", linewidths=1.4)
        axes.scatter(*data.unlabeled.T, s=6, color=GREY)
        axes.scatter(*data.positive.T, marker="D", s=36, color=BLUE, edgecolor="white", zorder=3)
        axes.set(
            title=f"{name}: {n_positive} positives, {n_unlabeled} unlabeled\naccuracy {accuracy:.3f}",
            xticks=[],
            yticks=[],
        )
        axes.title.set_fontsize(10)

# %%
# One draw decides little: five positives may miss half of a moon. Over many draws the paper's statements are checked
# in :doc:`the reproduction </reproduction/README>`.

for (n_positive, n_unlabeled, name), accuracy in accuracies.items():
    print(f"{n_positive:3d} positives, {n_unlabeled:3d} unlabeled, {name:8s} {accuracy:.3f}")
