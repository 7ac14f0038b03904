"""
The classifier from scratch
===========================

The whole method in a few lines of NumPy: two kernel means, their ratio, a threshold. :doc:`/from_scratch` derives it;
here it is drawn, and compared with ``WMMDClassifier``.
"""

# sphinx_gallery_dummy_images=1

import matplotlib.pyplot as plt
import numpy as np

from unlabeled import WMMDClassifier
from unlabeled.datasets import make_two_moons

# %%
# Ten labelled positives, 400 unlabeled points of two moons, half of them positive.

PRIOR, GAMMA = 0.5, 0.4
data = make_two_moons(10, 400, 2000, random_state=5)


def kernel_mean(queries, sample):
    """The mean of exp(-gamma |z - x|²) over a sample, at every query z."""
    return np.exp(-GAMMA * ((queries[:, None] - sample) ** 2).sum(-1)).mean(1)


def ratio(queries):
    """How much denser the positives are than the population."""
    return kernel_mean(queries, data.positive) / kernel_mean(queries, data.unlabeled)


positive = ratio(data.test) > 1 / (2 * PRIOR)
print(f"accuracy on 2,000 new points: {np.mean(positive == data.test_truth):.3f}")

# %%
# The library gives the same, in logarithms, so that points far from all data have a score too.

model = WMMDClassifier(prior=PRIOR, gamma=GAMMA, scale="none", threshold="bayes", smoothing=0).fit(data.X, data.y)
assert np.array_equal(positive, model.predict(data.test) == 1)
far = np.array([[60.0, 60.0]])
with np.errstate(invalid="ignore"):
    print(f"far away: by hand {ratio(far)[0]}, log ratio by the library {model.score_samples(far)[0]:.1f}")

# %%
# Numerator, denominator, and the log of their ratio. The border is where the ratio is 1 / (2 prior).

x, y = np.meshgrid(np.linspace(-6, 10, 121), np.linspace(-4.5, 6.5, 91))
grid = np.column_stack([x.ravel(), y.ravel()])
pictures = {
    "Mean over the positives": kernel_mean(grid, data.positive),
    "Mean over the unlabeled points": kernel_mean(grid, data.unlabeled),
    "Log of the ratio, and where it exceeds 1 / (2 prior)": model.score_samples(grid),
}
figure, panels = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for axes, (title, values) in zip(panels, pictures.items(), strict=True):
    is_ratio = title.startswith("Log")
    limits = {"vmin": -4, "vmax": 4, "cmap": "RdBu"} if is_ratio else {"cmap": "Blues"}
    axes.pcolormesh(x, y, values.reshape(x.shape), shading="gouraud", rasterized=True, **limits)
    axes.scatter(*data.unlabeled.T, s=3, color="#777777", alpha=0.5)
    axes.scatter(*data.positive.T, marker="D", s=26, color="#2a6fbb", edgecolor="white", zorder=3)
    if is_ratio:
        axes.contour(x, y, values.reshape(x.shape), levels=[-np.log(2 * PRIOR)], colors="black")
    axes.set(title=title, xticks=[], yticks=[])
    axes.title.set_fontsize(10)
