"""
The prior at a wide kernel
==========================

One over the ratio of kernel means is an upper bound of the prior. A wide kernel pulls the ratio to 1, and the bound
with it.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_gaussians

data = make_gaussians(200, 1000, 10, prior=0.3, separation=3, random_state=0)
gammas = 2.0 ** np.arange(-8, 4)
estimates = {
    estimator: [
        WMMDClassifier(estimator, gamma=gamma, scale="none", smoothing=0).fit(data.X, data.y).prior_ for gamma in gammas
    ]
    for estimator in ("density", "auto")
}

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhline(0.3, color="black", label="in truth")
axes.plot(gammas, estimates["density"], "s--", color="#c8453b", label='wrong: "density", one over the ratio')
axes.plot(gammas, estimates["auto"], "o-", color="#2a6fbb", label='right: "auto", from the order of the scores')
axes.set(xscale="log", xlabel="gamma (wide kernels on the left)", ylabel="estimated prior", ylim=(0, 1.05))
axes.legend(frameon=False)
