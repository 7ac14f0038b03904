"""
Many features, few rows
=======================

Tissue samples with up to 200 gene expressions each: 40 are known to be of one disease, 160 have not been looked at.
Only a few genes tell. How they tell decides which classifier finds them.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import LeastSquaresPUClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier

# %%
# Two diseases. One moves ten genes a little. The other has two genes beyond a threshold, both of them. The other genes
# say nothing. 40 % of the samples that nobody looked at are diseased.


def moved(diseased, n_genes, rng):
    """Ten genes are one standard deviation higher in the diseased."""
    X = rng.normal(size=(len(diseased), n_genes))
    X[:, :10] += diseased[:, None]
    return X


def beyond(diseased, n_genes, rng):
    """The first two genes are in their upper halves in the diseased, and never both in the others."""
    X = rng.normal(size=(len(diseased), n_genes))
    X[:, :2] = np.abs(X[:, :2])
    signs = rng.choice([(1, -1), (-1, 1), (-1, -1)], size=len(diseased))
    X[:, :2] *= np.where(diseased[:, None], 1, signs)
    return X


RULES = {"ten genes moved": moved, "two genes beyond a threshold": beyond}
METHODS = {
    "WMMDClassifier": WMMDClassifier(),
    "LeastSquaresPUClassifier": LeastSquaresPUClassifier(),
    "ScoreWMMDClassifier": ScoreWMMDClassifier(),
    "PUClassifier": PUClassifier(),
}
SIZES = (10, 50, 200)
areas = {rule: {name: [] for name in METHODS} for rule in RULES}
for rule, expressions in RULES.items():
    for n_genes in SIZES:
        rng = np.random.default_rng(n_genes)
        diseased, new_diseased = np.arange(200) < 40 + 0.4 * 160, np.arange(500) < 0.4 * 500
        X, y = expressions(diseased, n_genes, rng), np.arange(200) < 40
        new = expressions(new_diseased, n_genes, rng)
        for name, method in METHODS.items():
            areas[rule][name].append(roc_auc_score(new_diseased, method.fit(X, y).decision_function(new)))

# %%
# The area under the ROC curve on new samples, against the truth, for one draw of each size. Genes that say nothing cost
# distances and the fitted ratio most where few genes tell, by a threshold: boosted trees, whose score
# ``ScoreWMMDClassifier`` takes, look for just that. Where many genes tell a little, distances add them up, and trees
# are behind. ``PUClassifier`` weighs the three by what the labelled and unlabeled rows say of them.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for axes, (rule, of_rule) in zip(panels, areas.items(), strict=True):
    for (name, values), marker in zip(of_rule.items(), "osD^", strict=True):
        axes.plot(SIZES, values, marker=marker, linewidth=3 if name == "PUClassifier" else 1.2, label=name)
    axes.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
    axes.set(title=rule, xscale="log", xticks=SIZES, xticklabels=SIZES, xlabel="genes")
    axes.minorticks_off()
panels[0].set(ylabel="AUC on new samples", ylim=(0.45, 1.02))
panels[0].legend(frameon=False, loc="lower left")
