"""
Texts through TF-IDF
====================

Which abstracts are about our subject? Some are known to be; the archive holds thousands that nobody has read. Texts
go through scikit-learn's ``TfidfVectorizer`` and reach the classifier as a sparse table, which is never made dense.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from unlabeled import PUClassifier

# %%
# No corpus can be downloaded while this page is built, so one is made up: four subjects, each with words of its own,
# beside words that all share.

SUBJECTS = {
    "genes": "gene protein sequence mutation cell genome expression receptor binding pathway enzyme transcription",
    "stars": "star galaxy telescope spectrum redshift orbit luminosity dust planet cluster emission survey",
    "markets": "market price volatility return risk portfolio trade asset option hedge bank inflation",
    "proofs": "theorem proof lemma manifold operator convex bound algebra measure group conjecture norm",
}
COMMON = [
    "we",
    "show",
    "that",
    "the",
    "results",
    "of",
    "this",
    "study",
    "data",
    "method",
    "model",
    "analysis",
    "new",
    "large",
    "small",
    "between",
    "effect",
    "paper",
]
rng = np.random.default_rng(0)


def abstract(subject):
    """Sixty words: most are common, some of the subject, fewer of another."""
    own, other = SUBJECTS[subject].split(), SUBJECTS[rng.choice(list(SUBJECTS))].split()
    return " ".join([*rng.choice(COMMON, 48), *rng.choice(own, 7), *rng.choice(other, 5)])


subjects = rng.choice(list(SUBJECTS), 2000, p=[0.15, 0.3, 0.3, 0.25])
texts = np.array([abstract(subject) for subject in subjects])
about_genes = subjects == "genes"
y = np.zeros(len(texts), dtype=int)
y[rng.choice(np.flatnonzero(about_genes), 60, replace=False)] = 1
print(texts[0][:120], "...")

# %%
# A pipeline, as with any classifier of scikit-learn.

model = make_pipeline(TfidfVectorizer(sublinear_tf=True), PUClassifier(scenario="single-sample")).fit(texts, y)
classifier = model[-1]
print(f"prior {classifier.prior_:.2f} (in truth {about_genes.mean():.2f}), parts {classifier.chosen_}")

# %%
# How labelled and unlabeled texts score, and, since this corpus is made up, which unlabeled ones are about genes.
# Each row is scored without itself.

scores = model.decision_function(texts)
unlabeled = y == 0
print(f"AUC among the unlabeled texts: {roc_auc_score(about_genes[unlabeled], scores[unlabeled]):.3f}")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 50)
axes.hist(scores[unlabeled & ~about_genes], bins, color="#9a9a9a", alpha=0.7, label="unlabeled: on other subjects")
axes.hist(scores[unlabeled & about_genes], bins, color="#2a6fbb", alpha=0.7, label="unlabeled: on genes")
axes.hist(scores[~unlabeled], bins, histtype="step", color="black", linewidth=1.5, label="labelled")
axes.axvline(0, color="#c8453b", label="threshold")
axes.set(xlabel="score less threshold", ylabel="texts")
axes.legend(frameon=False)

# %%
# Use TF-IDF rather than counts: counts say more about the length of a text than about its subject
# (:doc:`what was measured </method>`).
