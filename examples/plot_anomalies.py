"""
Anomalies with a few labels
===========================

An anomaly detector is told nothing and looks for what is unusual. If some anomalies of the kind that matters are
known, the unlabeled rows need not be clean: they are a mixture, and PU learning is made for it. Handwritten digits of
scikit-learn: fours are what we look for, 5 % of the images are of them, and another 5 % are just as rare but
harmless.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, precision_recall_curve

from unlabeled import WMMDClassifier

# %%

images, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
usual = np.flatnonzero(np.isin(digit, (0, 1, 2, 3, 6)))
wanted = rng.permutation(np.flatnonzero(digit == 4))
harmless = rng.permutation(np.flatnonzero(digit == 7))[:50]
known, hidden = wanted[:12], wanted[12:62]
rows = np.concatenate([known, hidden, harmless, usual])
X, truth = images[rows], digit[rows] == 4
y = np.arange(len(rows)) < len(known)
print(f"{len(rows)} images, {y.sum()} known fours, {truth.sum() - y.sum()} others that nobody knows of")

# %%
# Twelve known fours and the closed form, against the isolation forest.

model = WMMDClassifier(scenario="single-sample").fit(X, y)
forest = IsolationForest(random_state=0).fit(X)
scores = {
    "WMMDClassifier, 12 labels": model.decision_function(X),
    "IsolationForest, no labels": -forest.score_samples(X),
}

figure, (curves, images_axes) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
unlabeled = ~y
for (name, score), colour in zip(scores.items(), ("#2a6fbb", "#c8453b"), strict=True):
    precision, recall, _ = precision_recall_curve(truth[unlabeled], score[unlabeled])
    area = average_precision_score(truth[unlabeled], score[unlabeled])
    curves.plot(recall, precision, color=colour, label=f"{name}: average precision {area:.2f}")
curves.set(xlabel="recall", ylabel="precision", ylim=(0, 1.05), title="Unlabeled images, against the truth")
curves.legend(frameon=False, loc="center")

first = np.argsort(-scores["WMMDClassifier, 12 labels"][unlabeled])[:24]
wall = X[unlabeled][first].reshape(3, 8, 8, 8).transpose(0, 2, 1, 3).reshape(24, 64)
images_axes.imshow(wall, cmap="Greys")
images_axes.set(xticks=[], yticks=[], title="The first 24 of the unlabeled images")
