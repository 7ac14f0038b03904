"""
Many features, few rows
=======================

Tissue samples with up to 300 gene expressions each: 40 are known to be of one disease, 160 have not been looked at.
Here ten genes differ between the classes, and the others say nothing.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import LeastSquaresPUClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier

# %%


def tissues(n_positive, n_unlabeled, n_features, random_state):
    """Expressions, which samples are labelled, and the truth: 40 % of the unlabeled ones are diseased."""
    rng = np.random.default_rng(random_state)
    diseased = np.concatenate([np.ones(n_positive, bool), rng.uniform(size=n_unlabeled) < 0.4])
    X = rng.normal(size=(len(diseased), n_features))
    X[:, :10] += 1.0 * diseased[:, None]
    return X, np.arange(len(diseased)) < n_positive, diseased


METHODS = {
    "WMMDClassifier": WMMDClassifier(),
    "LeastSquaresPUClassifier": LeastSquaresPUClassifier(),
    "ScoreWMMDClassifier": ScoreWMMDClassifier(),
    "PUClassifier": PUClassifier(),
}
SIZES = (20, 100, 300)
areas = {name: [] for name in METHODS}
for n_features in SIZES:
    X, y, truth = tissues(40, 160, n_features, random_state=0)
    new, _, new_truth = tissues(0, 500, n_features, random_state=100)
    for name, method in METHODS.items():
        areas[name].append(roc_auc_score(new_truth, method.fit(X, y).decision_function(new)))

# %%
# The area under the ROC curve on new samples, against the truth, for one draw of each size. Every feature that says
# nothing costs some of it. ``PUClassifier`` weighs the three others by what the labelled and unlabeled rows say of
# them; with 300 features, where they are close to each other, their mixture was ahead of each in this draw.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(areas.items(), "osD^", strict=True):
    axes.plot(SIZES, values, marker=marker, linewidth=3 if name == "PUClassifier" else 1.2, label=name)
axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
axes.set(
    xscale="log",
    xticks=SIZES,
    xticklabels=[f"{n:,}" for n in SIZES],
    xlabel="features, ten of which tell",
    ylabel="AUC on new samples",
    ylim=(0.45, 1),
)
axes.minorticks_off()
axes.legend(frameon=False)
