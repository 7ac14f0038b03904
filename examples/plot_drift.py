"""
When the share of positives moves
=================================

A model was fitted when one in ten cases was positive. Month by month the share grows. Probabilities and threshold of
the old model are then wrong, and ``adapt`` mends them from unlabeled rows of the new month alone. Where the rows
themselves have changed, it refuses.
"""

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.adapting import CovariateShiftError

# %%

data = make_gaussians(200, 1500, 10, prior=0.1, n_features=4, separation=2, random_state=0)
model = WMMDClassifier(prior=0.1).fit(data.X, data.y)

# %%
# Nine months, the share of positives going up. Each is a table of 2,000 rows without a label.

months = np.arange(1, 10)
shares = np.linspace(0.1, 0.6, len(months))
adapted_priors, old_means, old_accuracy, new_accuracy = [], [], [], []
for month, share in zip(months, shares, strict=True):
    batch = make_gaussians(1, 2000, 10, prior=share, n_features=4, separation=2, random_state=100 + month)
    adapted = model.adapt(batch.unlabeled)
    adapted_priors.append(adapted.prior_)
    old_means.append(model.predict_proba(batch.unlabeled)[:, 1].mean())
    for classifier, kept in ((model, old_accuracy), (adapted, new_accuracy)):
        kept.append(np.mean((classifier.predict(batch.unlabeled) == 1) == batch.unlabeled_truth))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(months, shares, color="black", label="in truth")
left.plot(months, adapted_priors, "o", color="#2a6fbb", label="adapt(X_new).prior_")
left.plot(months, old_means, "s--", color="#c8453b", label="mean probability, as fitted")
left.set(xlabel="month", ylabel="share of positives", ylim=(0, 0.7))
left.legend(frameon=False)
right.plot(months, new_accuracy, "o-", color="#2a6fbb", label="adapted")
right.plot(months, old_accuracy, "s--", color="#c8453b", label="as fitted")
right.set(xlabel="month", ylabel="accuracy against the truth")
right.legend(frameon=False)

# %%
# A month in which all rows have moved is no mixture of the old positives and negatives. No answer is better than a
# wrong one.

batch = make_gaussians(1, 2000, 10, prior=0.3, n_features=4, separation=2, random_state=7)
try:
    model.adapt(batch.unlabeled + 1.5)
except CovariateShiftError as error:
    print(error)
