"""
A column that knows the label
=============================

A column that is filled in once a case is known, such as the number of notes in its file, tells labelled rows from all
others. It says nothing of the positives that are still hidden.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score

from unlabeled import PUClassifier, report
from unlabeled.metrics import proxy_roc_auc

rng = np.random.default_rng(0)
n = 1200
truth = rng.uniform(size=n) < 0.3
honest = rng.normal(size=(n, 3)) + 1.0 * truth[:, None]
y = truth & (rng.uniform(size=n) < 0.3)
notes = rng.poisson(np.where(y, 6.0, 0.3))[:, None]

models = []
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", sharey=True)
for axes, X, title in (
    (panels[0], np.hstack([honest, notes]), "Wrong: with the notes"),
    (panels[1], honest, "Right: without"),
):
    model = PUClassifier(scenario="single-sample").fit(X, y)
    models.append(model)
    probability = model.predict_proba(X)[:, 1]
    area = proxy_roc_auc(y, probability, scenario="single-sample")
    found = average_precision_score(truth[~y], probability[~y])
    for rows, colour, name in (
        (y, "black", "labelled"),
        (truth & ~y, "#2a6fbb", "hidden positives"),
        (~truth, "#9a9a9a", "negatives"),
    ):
        axes.hist(
            probability[rows],
            np.linspace(0, 1, 26),
            density=True,
            histtype="step",
            linewidth=1.8,
            color=colour,
            label=name,
        )
    axes.set(
        title=f"{title}\nAUC by labels {area:.2f}; average precision for hidden positives {found:.2f}",
        xlabel="probability by the model",
    )
    axes.title.set_fontsize(10)
panels[0].set_ylabel("density")
panels[1].legend(frameon=False)

# %%
# The report finds it: hardly an unlabeled row has the values that nearly all labelled rows have, and the hidden
# positives should have them too.

found = report(models[0], np.hstack([honest, notes]), y)
print(next(check.sentence for check in found.checks if check.code == "PU401"))
