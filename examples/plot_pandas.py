"""
Data frames and pipelines
=========================

A data frame of pandas (or polars) with words, dates, gaps and numbers goes into a classifier as it is. Where you want
the preparation in your own hands, a pipeline of scikit-learn does it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unlabeled import PUClassifier, explain

# %%
# Customers who left, as far as somebody noticed.

rng = np.random.default_rng(0)
n = 1500
left = rng.uniform(size=n) < 0.25
frame = pd.DataFrame(
    {
        "plan": np.where(rng.uniform(size=n) < 0.3 + 0.4 * left, "basic", "family"),
        "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n) + 250 * left, unit="D"),
        "minutes": np.round(rng.gamma(2 - 0.9 * left, 60), 1),
        "complaints": rng.poisson(0.4 + 1.3 * left),
        "age": rng.integers(18, 80, n),
    }
)
frame.loc[rng.uniform(size=n) < 0.1, "minutes"] = np.nan
known = np.where(left & (rng.uniform(size=n) < 0.3), "left", "")
print(frame.head().to_string())

# %%
# Labels as they are spelled: a word beside nothing. ``pos_label`` names the positive one.

model = PUClassifier(scenario="single-sample", pos_label="left").fit(frame, known)
print(f"prior {model.prior_:.2f} (in truth {left.mean():.2f})")
print(model.predict(frame.head(3)))

# %%
# The same with a preparation of one's own. Gaps need none: the classifiers take them as they come.

prepared = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["plan"]),
        (StandardScaler(), ["minutes", "complaints", "age"]),
    ),
    PUClassifier(scenario="single-sample", pos_label="left"),
).fit(frame, known)

unknown = known == ""
for name, fitted in {"the frame as it is": model, "own preparation, no dates": prepared}.items():
    area = roc_auc_score(left[unknown], fitted.decision_function(frame[unknown]))
    print(f"{name}: AUC among the unlabeled rows {area:.3f}")

# %%
# Why is the first row of the list at its top? Explanations speak of the columns of the frame.

first = int(np.argmax(np.where(unknown, model.decision_function(frame), -np.inf)))
explanation = explain(model, frame.iloc[first : first + 1])
print(frame.iloc[first].to_string())

figure, panels = plt.subplots(
    1, len(explanation.reasons), figsize=(11, 3), layout="constrained", squeeze=False, sharey=True
)
for axes, reason in zip(panels[0], explanation.reasons, strict=True):
    made_of = reason.made_of
    exact = hasattr(made_of, "by_feature")
    parts = made_of.by_feature * reason.weight if exact else made_of.importances
    axes.barh(explanation.columns, parts, color=np.where(parts > 0, "#2a6fbb", "#c8453b"))
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_title(f"by {reason.by}", fontsize=11)
    axes.set_xlabel("part of the log ratio" if exact else "importance over all rows")
panels[0][0].invert_yaxis()
