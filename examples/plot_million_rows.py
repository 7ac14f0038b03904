"""
A million rows
==============

Nothing is trained, so a large table costs sums and no epochs. A million rows with three features, some thousand of
them labelled: fit, compress, score.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import WMMDClassifier

# %%
# Colours, say: positives are three clouds among other clouds.

rng = np.random.default_rng(0)
n = 1_000_000
truth = rng.uniform(size=n) < 0.2
centres = rng.normal(size=(12, 3)) * 1.6
X = centres[np.where(truth, rng.integers(0, 3, n), rng.integers(3, 12, n))] + rng.normal(scale=0.8, size=(n, 3))
y = truth & (rng.uniform(size=n) < 0.02)
print(f"{n:,} rows, {y.sum():,} labelled")

# %%
# Gamma is judged on 2,000 rows of each sample, and all rows stay in the sums. Smoothing makes up for few positives;
# here are thousands, so it is left out.

start = time.perf_counter()
model = WMMDClassifier(scenario="single-sample", smoothing=0).fit(X, y)
fit_seconds = time.perf_counter() - start
print(f"fit: {fit_seconds:.1f} s; prior {model.prior_:.3f} (in truth {truth.mean():.3f})")
print(f"kernel sums by the engine {model.engine_}: {model.engine_reason_}")

# %%
# Scores of fifty thousand rows, each by all million training rows. ``model.compressed(0.1)`` would score by far
# fewer (:doc:`what that comes to </performance>`).

rows = rng.choice(n, 50_000, replace=False)
start = time.perf_counter()
score = model.decision_function(X[rows])
seconds = time.perf_counter() - start
print(f"50,000 scores: {seconds:.1f} s; AUC {roc_auc_score(truth[rows], score):.4f}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
shown = rows[:20_000]
left.scatter(*X[shown, :2].T, c=np.where(model.predict(X[shown]), "#2a6fbb", "#cccccc"), s=1)
left.set(title="blue: flagged", xticks=[], yticks=[])
bins = np.linspace(score.min(), score.max(), 80)
right.hist(score[~truth[rows]], bins, color="#9a9a9a", alpha=0.7, label="negative in truth")
right.hist(score[truth[rows]], bins, color="#2a6fbb", alpha=0.7, label="positive in truth")
right.axvline(0, color="black", linewidth=0.8)
right.set(xlabel="score less threshold", ylabel="rows")
right.legend(frameon=False)
