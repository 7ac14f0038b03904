"""
Why does this row have its score?
=================================

A ratio of kernel means can be traced to the rows it is made of: how much each labelled positive and each unlabeled
row adds, and what every column does. The breast-cancer table of scikit-learn, by ten of its columns: malignant tumours
are the positives, a third of them labelled.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from unlabeled import WMMDClassifier, explain

# %%

tumours = load_breast_cancer(as_frame=True)
truth = (tumours.target == 0).to_numpy()
X = tumours.data.iloc[:, :10]
rng = np.random.default_rng(0)
y = truth & (rng.uniform(size=len(truth)) < 0.3)
model = WMMDClassifier(scenario="single-sample", smoothing=0).fit(X, y)
print(f"{y.sum()} labelled, prior {model.prior_:.2f} (in truth {truth.mean():.2f})")

# %%
# The unlabeled tumour nearest to the threshold from above: a close decision, and a wrong one, as the truth has it.

decision = np.where(y, np.inf, model.decision_function(X))
row = int(np.argmin(np.where(decision > 0, decision, np.inf)))
explanation = explain(model, X.iloc[row : row + 1])
made_of = explanation.reasons[0].made_of
print(f"row {row}: log ratio {explanation.score:.3f}, threshold {explanation.threshold:.3f}, malignant: {truth[row]}")
print(f"{made_of.positive.n_for_half} labelled tumours make up half of their kernel mean,")
print(f"{made_of.unlabeled.n_for_half} unlabeled ones half of theirs")

# %%
# Three labelled rows speak for it, and one column, its texture, more than all others. Parts are exact: with "how many
# rows are near" they add up to the score.

names = [*explanation.columns, "how many rows are near"]
parts = np.append(made_of.by_feature, made_of.crowding)
print(f"sum of the parts {parts.sum():.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
left.barh(names, parts, color=np.where(parts > 0, "#2a6fbb", "#c8453b"))
left.axvline(0, color="black", linewidth=0.8)
left.invert_yaxis()
left.set(title=f"Tumour {row}: parts of the log ratio", xlabel="above 0: speaks for positive")
largest = made_of.positive.largest(8)
right.bar([str(number) for number in largest.rows], largest.shares, color="#2a6fbb")
right.set(title="The labelled tumours it is nearest to", xlabel="row", ylabel="share in their kernel mean")
