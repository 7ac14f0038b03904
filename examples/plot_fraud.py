"""
Fraud: rare positives, few of them known
========================================

Of 6,000 accounts one in fifty is fraudulent. Forty frauds were found by chance; nobody has looked at the other
accounts. An investigator can open a hundred files: which ones?
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from unlabeled import PUClassifier, evaluate

# %%
# A made-up table: amounts have heavy tails, frauds move more money at odd hours, and the rest is noise.

rng = np.random.default_rng(0)
n = 6000
fraud = rng.uniform(size=n) < 0.02
amount = np.exp(rng.normal(3.5 + 0.9 * fraud, 0.8))
night_share = rng.beta(1 + 2.5 * fraud, 8 - 3 * fraud)
n_devices = rng.poisson(1.3 + 1.5 * fraud)
age_of_account = rng.exponential(np.where(fraud, 1.2, 4.0))
noise = rng.normal(size=(n, 4))
X = np.column_stack([np.log(amount), night_share, n_devices, age_of_account, noise])

known = rng.choice(np.flatnonzero(fraud), 40, replace=False)
y = np.isin(np.arange(n), known)  # True: a known fraud; False: nobody knows
print(f"{fraud.sum()} frauds, {y.sum()} of them known")

# %%
# One table in which some of the positives are labelled is the scenario "single-sample".

model = PUClassifier(scenario="single-sample").fit(X, y)
print(f"prior {model.prior_:.3f} (in truth {fraud.mean():.3f}); {model.reason_}")

# %%
# What to expect, without a single known negative, and what is true.

expected = evaluate(model, X, y)
flagged = model.predict(X)
in_truth = {"recall": flagged[fraud].mean(), "precision": fraud[flagged].mean()}
for name, truth in in_truth.items():
    estimate = getattr(expected, name)
    print(f"{name:9s} {estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f}), in truth {truth:.2f}")

# %%
# The hundred files: sort the accounts that nobody has looked at. The usual way out, boosted trees that take "unknown"
# for "honest", is fitted to the very rows it shall then judge, and has learned by heart which of them are known.

unknown = ~y
naive = HistGradientBoostingClassifier(random_state=0).fit(X, y)
ranking = {
    "PUClassifier": model.decision_function(X[unknown]),
    "trees, unlabeled = negative": naive.decision_function(X[unknown]),
    "by amount": X[unknown, 0],
}
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, score), colour in zip(ranking.items(), ("#2a6fbb", "#c8453b", "#9a9a9a"), strict=True):
    found = np.cumsum(fraud[unknown][np.argsort(-score)])[:400]
    axes.plot(np.arange(1, 401), found, color=colour, label=f"{name}: {found[99]} in the first hundred")
axes.axvline(100, color="black", linewidth=0.8, linestyle=":")
axes.set(xlabel="files opened", ylabel="frauds found that nobody knew of", xlim=(0, 400), ylim=(0, None))
axes.legend(frameon=False)
