"""
Where to draw the line
======================

A score becomes a decision by a threshold, and what it should achieve is yours to say: as few errors as possible, a
recall, a precision, or the least cost. All are placed without a negative, from scores that know nothing of their own
row.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt

from unlabeled import Costs, TargetPrecision, TargetRecall, WMMDClassifier, evaluate
from unlabeled.datasets import make_gaussians

# %%

data = make_gaussians(200, 2000, 20_000, prior=0.25, n_features=3, separation=2.5, random_state=1)
POLICIES = {
    '"calibrated"': "calibrated",
    '"prevalence"': "prevalence",
    "TargetRecall(0.9)": TargetRecall(0.9),
    "TargetPrecision(0.9)": TargetPrecision(0.9),
    "Costs(1, 5)": Costs(false_positive=1, false_negative=5),
}
table = {}
for name, policy in POLICIES.items():
    model = WMMDClassifier(threshold=policy).fit(data.X, data.y)
    flagged = model.predict(data.test) == 1
    table[name] = (evaluate(model, data.X, data.y), flagged[data.test_truth].mean(), data.test_truth[flagged].mean())

# %%
# What each promises (with its interval of 95 %), and what came true on 20,000 new rows.

figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
for axes, field, place in zip(panels, ("recall", "precision"), (1, 2), strict=True):
    for height, name in enumerate(table):
        estimate = getattr(table[name][0], field)
        axes.plot([estimate.low, estimate.high], [height, height], color="#2a6fbb", linewidth=4, alpha=0.35)
        axes.plot(
            estimate.value, height, "o", color="#2a6fbb", label="estimate, 95 % interval" if height == 0 else None
        )
        axes.plot(
            table[name][place], height, "x", color="#c8453b", markersize=9, label="in truth" if height == 0 else None
        )
    axes.set(title=field, xlim=(0, 1.02))
panels[0].set(yticks=range(len(table)), yticklabels=list(table))
panels[0].invert_yaxis()
panels[0].legend(frameon=False, loc="lower left")
