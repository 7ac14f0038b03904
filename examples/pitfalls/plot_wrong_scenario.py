"""
The wrong scenario
==================

One table in which some of the positives are labelled is a *single sample*. Read as two samples, its unlabeled rows
are taken for the population, which has lost the labelled positives.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import draw_pu, make_gaussians

PRIOR = 0.4
pool = make_gaussians(1, 12_000, 10, prior=PRIOR, separation=3.5, random_state=0)
frequencies = (0.1, 0.3, 0.5, 0.7, 0.9)
priors = {"case-control": [], "single-sample": []}
for frequency in frequencies:
    n_positive = int(1200 * PRIOR * frequency)
    data = draw_pu(
        pool.unlabeled,
        pool.unlabeled_truth,
        n_positive,
        1200 - n_positive,
        100,
        PRIOR,
        scenario="single-sample",
        random_state=1,
    )
    for scenario, found in priors.items():
        found.append(WMMDClassifier(scenario=scenario).fit(data.X, data.y).prior_)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhline(PRIOR, color="black", label="in truth")
axes.plot(frequencies, priors["case-control"], "s--", color="#c8453b", label='wrong: scenario="case-control"')
axes.plot(frequencies, priors["single-sample"], "o-", color="#2a6fbb", label='right: scenario="single-sample"')
axes.set(
    xlabel="share of the positives that are labelled", ylabel="estimated share of positives in the table", ylim=(0, 0.6)
)
axes.legend(frameon=False)
print(np.round(priors["case-control"], 2), np.round(priors["single-sample"], 2))
