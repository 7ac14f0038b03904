"""
Labels taken for the truth
==========================

Precision counted with labels calls every find that nobody knew of an error: the better the classifier, the worse the
number.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import draw_pu, make_gaussians
from unlabeled.metrics import pu_precision

pool = make_gaussians(1, 12_000, 10, prior=0.3, n_features=3, separation=3, random_state=0)
data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 200, 1800, 10, 0.3, scenario="single-sample", random_state=0)
new = draw_pu(pool.unlabeled, pool.unlabeled_truth, 600, 5400, 10, 0.3, scenario="single-sample", random_state=1)
score = WMMDClassifier(scenario="single-sample").fit(data.X, data.y).decision_function(new.X)
truth = np.concatenate([np.ones(len(new.positive), bool), new.unlabeled_truth])

shares = np.linspace(0.02, 0.6, 30)
labels, estimated, true = [], [], []
for share in shares:
    flagged = score > np.quantile(score, 1 - share)
    labels.append(new.y[flagged].mean())
    estimated.append(pu_precision(new.y, flagged.astype(int), prior=0.3, scenario="single-sample"))
    true.append(truth[flagged].mean())

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(shares, true, color="black", label="in truth")
axes.plot(shares, labels, "--", color="#c8453b", label="wrong: labels taken for the truth")
axes.plot(shares, estimated, "o", markersize=4, color="#2a6fbb", label="right: pu_precision")
axes.set(xlabel="share of the rows that are flagged", ylabel="precision", ylim=(0, 1.05))
axes.legend(frameon=False)
