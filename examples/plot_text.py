"""
Texts through TF-IDF
====================

Which texts are about our subject? Some are known to be; the archive holds many that nobody has sorted. Texts go through
scikit-learn's ``TfidfVectorizer`` and reach the classifier as a sparse table, which is never made dense.
"""

import ast
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from unlabeled import PUClassifier, evaluate

# %%
# The archive is SciPy's own documentation, which is there without a download: what its functions and classes say of
# themselves. The subject is optimization, and a text is about it if it is from ``scipy.optimize``. Examples and
# references to other functions are left out, and so are the names of packages: they would tell where a text is from.

PACKAGES = ["fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial"]


def documents(package):
    """What the functions and classes of a package say of themselves, in forty words or more."""
    for path in sorted((Path(scipy.__file__).parent / package).rglob("*.py")):
        if "tests" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    text = re.split(r"\n(?:See Also|Examples)\n", ast.get_docstring(node) or "")[0]
                    if len(text.split()) >= 40:
                        yield re.sub(r"scipy\.\w+", "", text)


package_of = {text: package for package in PACKAGES for text in documents(package)}
texts, packages = np.array(list(package_of), dtype=object), np.array(list(package_of.values()))
in_truth = packages == "optimize"
y = np.zeros(len(texts), dtype=int)
y[np.random.default_rng(0).choice(np.flatnonzero(in_truth), 60, replace=False)] = 1
print(f"{len(texts):,} texts, {y.sum()} of them known to be about optimization; in truth {in_truth.sum()} are.")

# %%
# A pipeline, as with any classifier of scikit-learn. What to expect of it is told without the truth, with intervals.

words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2)
model = make_pipeline(words, PUClassifier(scenario="single-sample", random_state=0)).fit(texts, y)
classifier = model[-1]
low, high = classifier.prior_estimator_.interval()
print(f"prior {classifier.prior_:.2f} ({low:.2f} to {high:.2f}; in truth {in_truth.mean():.2f})")
expected = evaluate(model, texts, y)
print(f"recall {expected.recall.value:.2f} ({expected.recall.low:.2f} to {expected.recall.high:.2f})")

# %%
# Since we know where each text is from, the unlabeled ones can be judged by the truth. Those that `fit` has seen are
# judged by ``honest_scores_``, for which each was scored without itself.

honest, threshold = classifier.honest_scores_, classifier.threshold_
scores, rows = honest.unlabeled - threshold, honest.unlabeled_rows
right = in_truth[rows]
print(f"AUC among the unlabeled texts: {roc_auc_score(right, scores):.3f}")
print(f"recall {np.mean(scores[right] > 0):.2f}, precision {np.mean(right[scores > 0]):.2f}")

figure, (left, side) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[3, 2])
bins = np.linspace(scores.min(), scores.max(), 50)
left.hist(scores[~right], bins, color="#9a9a9a", alpha=0.7, label="unlabeled: on other subjects")
left.hist(scores[right], bins, color="#2a6fbb", alpha=0.7, label="unlabeled: on optimization")
left.hist(honest.positive - threshold, bins, histtype="step", color="black", linewidth=1.5, label="labelled")
left.axvline(0, color="#c8453b", label="threshold")
left.set(xlabel="score less threshold, each text scored without itself", ylabel="texts")
left.legend(frameon=False)
wrong = [int(np.sum((packages[rows] == package) & (scores > 0))) for package in PACKAGES]
colours = ["#2a6fbb" if package == "optimize" else "#9a9a9a" for package in PACKAGES]
side.barh(PACKAGES, wrong, color=colours)
side.invert_yaxis()
side.set(xlabel="texts", title="unlabeled texts that are flagged")

# %%
# The texts of other packages that score highest: what a package is called is not all that tells what a text is about,
# and these speak of tolerances, convergence and solvers as those on optimization do.

others = np.flatnonzero(~right)
for place in others[np.argsort(-scores[others])[:5]]:
    first_line = texts[rows[place]].strip().splitlines()[0]
    print(f"{scores[place]:+.2f}  {packages[rows[place]]:12} {first_line[:80]}")

# %%
# Use TF-IDF rather than counts: counts say more about the length of a text than about its subject
# (:doc:`what was measured </method>`).
