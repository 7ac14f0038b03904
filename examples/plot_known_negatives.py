"""
Known negatives: claims that an analyst has cleared
===================================================

Of a thousand insurance claims sixty are known frauds, eighty were opened and cleared, and nobody has looked at the
others. What are the cleared ones good for? Mostly for the number of frauds, if they are a random choice of the honest
claims. If they are not, that must be said.
"""

# sphinx_gallery_dummy_images=1

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import WMMDClassifier

warnings.filterwarnings("ignore", message="The known negatives")  # we know; how often it comes is printed below

# %%
# A made-up table for each of six offices: one claim in five is fraudulent. Frauds are claimed soon after a policy
# began, by people who have claimed before, for amounts in the middle. Honest claims look like that too, now and then:
# nowhere are there frauds alone, and so labelled frauds and unlabeled claims cannot tell how many frauds there are.

SHARE = 0.2


def claims(n, rng):
    """Log of the amount, days since the policy began, earlier claims and age; and which claims are fraudulent."""
    fraud = rng.uniform(size=n) < SHARE
    amount = rng.normal(np.where(fraud, 7.8, 7.0), np.where(fraud, 0.6, 1.0))
    days = rng.gamma(2, np.where(fraud, 60, 180))
    earlier = rng.poisson(np.where(fraud, 1.3, 0.6))
    return np.column_stack([amount, days, earlier, rng.normal(45, 13, n)]), fraud


def labels(fraud, cleared, rng):
    """Call 60 frauds "fraud" and 80 of the claims that could be cleared "cleared"; "" are those that nobody opened."""
    y = np.full(len(fraud), "", dtype="<U7")
    y[rng.choice(np.flatnonzero(fraud), 60, replace=False)] = "fraud"
    y[rng.choice(np.flatnonzero(cleared & ~fraud), 80, replace=False)] = "cleared"
    return y


# %%
# In half of the story the analyst opened files at random. In the other half small claims were waved through: what is
# cleared is then the smallest third. Four fits, all with the same frauds: without the cleared claims, with those of
# either kind, and with the small ones and a word on how they were chosen, ``negatives_are="selected"``.

WAYS = {
    "none cleared": (None, "auto"),
    "80 at random": ("random", "auto"),
    "80 small ones,\ntaken for random": ("small", "random"),
    "80 small ones,\n“selected”": ("small", "selected"),
}
priors, areas, refused = {way: [] for way in WAYS}, {way: [] for way in WAYS}, 0
for office in range(6):
    rng = np.random.default_rng(office)
    X, fraud = claims(1000, rng)
    new, new_fraud = claims(2000, rng)
    seed = rng.integers(2**32)
    for way, (which, said) in WAYS.items():
        cleared = X[:, 0] < np.quantile(X[:, 0], 1 / 3) if which == "small" else np.ones(len(X), bool)
        y = labels(fraud, cleared, np.random.default_rng(seed))
        if which is None:
            y[y == "cleared"] = ""
        model = WMMDClassifier(scenario="single-sample", pos_label="fraud", negative="cleared", negatives_are=said)
        model.fit(X, y)
        refused += said == "selected" and model.known_negatives_.p_value < 0.05
        priors[way].append(model.prior_)
        areas[way].append(roc_auc_score(new_fraud, model.decision_function(new)))
print(f"The check saw that small claims are no random choice in {refused} of 6 offices.")

# %%
# Each dot is an office, the bar their mean. Left, the share of frauds: too high without cleared claims, for an estimate
# from frauds and unlabeled claims bounds it from above; nearer with eighty at random; far too high if small ones are
# taken for a random choice, since whatever is unlike them is taken for fraud. With "selected" they have no say in it,
# and the estimate is the one without them. Right, the order of 2,000 new claims: it hardly changes.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
colours = ("#7a7a7a", "#2a6fbb", "#c8453b", "#3c8d5a")
for axes, values in zip(panels, (priors, areas), strict=True):
    for place, (colour, of_way) in enumerate(zip(colours, values.values(), strict=True)):
        axes.scatter(of_way, np.full(6, place), s=28, color=colour, zorder=2)
        axes.plot([np.mean(of_way)] * 2, [place - 0.3, place + 0.3], color=colour, linewidth=2.5)
    axes.grid(axis="x", color="#dddddd")
panels[0].axvline(SHARE, color="black", linewidth=0.8, linestyle=":")
panels[0].text(SHARE, -0.55, " in truth", fontsize=9, va="center")
panels[0].set(xlabel="estimated share of frauds", xlim=(0, 0.7), yticks=range(4), yticklabels=WAYS, ylim=(3.5, -0.8))
panels[1].set(xlabel="AUC on new claims", xlim=(0.5, 1))

for way in WAYS:
    print(f"{' '.join(way.split()):33s} share {np.mean(priors[way]):.2f}, AUC {np.mean(areas[way]):.3f}")

# %%
# The default, ``negatives_are="auto"``, takes cleared rows for random unless that check contradicts it, with a
# warning. It misses most of those that were picked, so do not leave it to the check. :doc:`/negatives` has what is
# measured on six tables, and what is done with the negatives.
