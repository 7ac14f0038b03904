"""
How many positives are there?
=============================

Nobody knows the prior in practice. Six estimators of it, side by side, on the breast-cancer table of scikit-learn,
with a part of the malignant tumours labelled and the others hidden.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from unlabeled.priors import compare_priors

# %%
# One table, some of its positives labelled: single-sample. The truth is known here and nowhere used but in the
# figure.

X, benign = load_breast_cancer(return_X_y=True)
malignant = benign == 0
rng = np.random.default_rng(0)
y = np.zeros(len(X), dtype=int)
y[rng.choice(np.flatnonzero(malignant), 80, replace=False)] = 1

compared = compare_priors(X, y, scenario="single-sample")
print(compared.verdict)

# %%
# Intervals are of 95 % where an estimator has one. Each estimate is an upper bound in spirit: a table can show that a
# row is like the positives, never that it is none. ``"density"`` is the paper's: it hangs on the width of the kernel
# (:doc:`how </pitfalls>`), and here it falls on the least value that is possible.

names = list(compared.estimates)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for place, name in enumerate(names):
    estimate = compared.estimates[name]
    low, high = estimate.ends
    axes.plot([low, high], [place, place], color="#2a6fbb", linewidth=3, alpha=0.4)
    axes.plot(estimate.value, place, "o", color="#2a6fbb")
axes.axvline(malignant.mean(), color="#c8453b", label=f"in truth {malignant.mean():.2f}")
axes.axvline(y.mean(), color="black", linestyle=":", label=f"labelled share {y.mean():.2f}, the least it can be")
axes.set(yticks=range(len(names)), yticklabels=names, xlabel="estimated prior", xlim=(0, 1))
axes.invert_yaxis()
axes.legend(frameon=False)

# %%
# What hangs on it: the threshold and every probability. The *order* of the rows does not, so that a list of rows to
# look at first needs no prior.
