"""
Easy cases were labelled first
==============================

If the clear cases were labelled and the doubtful ones were not, the labelled positives are no sample of all
positives: prior and threshold come out wrong, and so does any recall that is counted on them.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import TwoClusters, WMMDClassifier
from unlabeled.datasets import AtRandom, EasyFirst, draw_pu, make_gaussians

pool = make_gaussians(1, 20_000, 10, prior=0.45, separation=3, random_state=0)


def drawn(labelling):
    """One table of 1,200 rows, 150 of them labelled in that way."""
    return draw_pu(
        pool.unlabeled,
        pool.unlabeled_truth,
        150,
        1050,
        4000,
        0.45,
        scenario="single-sample",
        propensity=labelling,
        random_state=2,
    )


figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
x, y = np.meshgrid(np.linspace(-4.5, 4.5, 91), np.linspace(-4.5, 4.5, 91))
cases = (
    ("At random", AtRandom(0.25), "calibrated"),
    ("Wrong: easy cases first", EasyFirst(0.25, strength=8.0), "calibrated"),
    ("Better: threshold=TwoClusters()", EasyFirst(0.25, strength=8.0), TwoClusters()),
)
for axes, (title, labelling, threshold) in zip(panels, cases, strict=True):
    data = drawn(labelling)
    model = WMMDClassifier(scenario="single-sample", threshold=threshold).fit(data.X, data.y)
    flagged = model.predict(data.test) == 1
    recall = flagged[data.test_truth].mean()
    counted = (model.predict(data.positive) == 1).mean()
    decision = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    axes.contourf(x, y, decision > 0, levels=[0.5, 1], colors=["#2a6fbb"], alpha=0.12)
    axes.contour(x, y, decision, levels=[0], colors="black")
    axes.scatter(*data.unlabeled[data.unlabeled_truth].T, s=7, color="#8fb3d9", label="unlabeled, positive in truth")
    axes.scatter(*data.unlabeled[~data.unlabeled_truth].T, s=7, color="#bbbbbb", label="unlabeled, negative in truth")
    axes.scatter(*data.positive.T, s=14, marker="D", color="#c8453b", label="labelled")
    axes.set(
        title=f"{title}\nprior {model.prior_:.2f} (true 0.45), recall {recall:.2f}, by labels {counted:.2f}",
        xticks=[],
        yticks=[],
    )
    axes.title.set_fontsize(10)
panels[0].legend(loc="upper left", fontsize=8)
