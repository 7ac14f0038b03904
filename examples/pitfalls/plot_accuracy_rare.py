"""
Accuracy where positives are rare
=================================

With one positive in a hundred, calling nothing positive is 99 % right. Accuracy cannot tell a useless classifier from
a good one; recall and precision can.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians

data = make_gaussians(60, 3000, 20_000, prior=0.01, n_features=3, separation=4, random_state=0)
score = WMMDClassifier(prior=0.01).fit(data.X, data.y).decision_function(data.test)
shares = np.geomspace(2e-4, 0.3, 40)
accuracy, recall, precision = [], [], []
for share in shares:
    flagged = score > np.quantile(score, 1 - share)
    accuracy.append((flagged == data.test_truth).mean())
    recall.append(flagged[data.test_truth].mean())
    precision.append(data.test_truth[flagged].mean())

figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", sharex=True)
panels[0].plot(shares, accuracy, color="#c8453b", label="the classifier")
panels[0].axhline(1 - data.test_truth.mean(), color="black", linestyle=":", label="calling nothing positive")
panels[0].set(title="Wrong: accuracy", ylim=(0, 1.02), ylabel="on 20,000 new rows")
panels[1].plot(shares, recall, color="#2a6fbb", label="recall")
panels[1].plot(shares, precision, "--", color="#2a6fbb", label="precision")
panels[1].set(title="Right: recall and precision", ylim=(0, 1.02))
for axes in panels:
    axes.set(xscale="log", xlabel="share of the rows that are flagged")
    axes.legend(frameon=False)
