"""
Copies of rows
==============

A case that is in the table twice, labelled once and unlabeled once, is a positive that everyone recognises. With many
such copies the top of the unlabeled scores is pure, and the estimates are too bright.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier, evaluate
from unlabeled.datasets import make_gaussians

data = make_gaussians(150, 1000, 4000, prior=0.2, n_features=6, separation=2, random_state=0)
shares = (0.0, 0.25, 0.5, 0.75, 1.0)
found = {"with copies": [], "without": []}
for share in shares:
    copies = data.positive[: int(share * len(data.positive))]
    table = np.concatenate([data.positive, data.unlabeled, copies])
    y = np.repeat([1, 0], [len(data.positive), len(data.unlabeled) + len(copies)])
    once = np.sort(np.unique(table, axis=0, return_index=True)[1])  # the first of equal rows is the labelled one
    for name, rows in (("with copies", np.arange(len(table))), ("without", once)):
        model = WMMDClassifier().fit(table[rows], y[rows])
        estimates = evaluate(model, table[rows], y[rows])
        found[name].append((estimates.roc_auc.value, model.prior_))

figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
for axes, place, title in zip(panels, (0, 1), ("estimated AUC", "estimated prior"), strict=True):
    axes.plot(
        shares, [row[place] for row in found["with copies"]], "s--", color="#c8453b", label="wrong: copies left in"
    )
    axes.plot(shares, [row[place] for row in found["without"]], "o-", color="#2a6fbb", label="right: each row once")
    axes.set(xlabel="share of the labelled rows that are copied", title=title)
panels[1].axhline(0.2, color="black", label="in truth")
panels[1].legend(frameon=False)
