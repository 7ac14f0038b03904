"""
A report to hand on
===================

``report`` makes one page of a model and its table: what was learned, what to expect at every threshold, a map, the top
rows and what drives each, and coded :doc:`checks </checks>`. It is a file that needs no network. Notebooks show it as
it is, and so does this page, below: its slider is alive.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from unlabeled import Costs, PUClassifier, report
from unlabeled.displays import ThresholdDisplay

warnings.filterwarnings("ignore", message="Labels do not look")  # where a column knows the label, the report tells it

# %%
# A made-up table of invoices, one in eight of them fraudulent, 80 known to be. ``case`` is the number of the file that
# was opened when a fraud was found. It was left in by mistake, and the report finds it.

rng = np.random.default_rng(0)
n = 1500
fraud = rng.uniform(size=n) < 0.125
invoices = pd.DataFrame(
    {
        "amount": np.round(np.exp(rng.normal(5 + 0.8 * fraud, 0.7)), 2),
        "days_to_pay": rng.poisson(np.where(fraud, 12, 25)),
        "channel": np.where(rng.uniform(size=n) < 0.35 + 0.4 * fraud, "web", "post"),
        "hour": np.clip(rng.normal(np.where(fraud, 17, 13), 3.5), 0, 23).round(),
    }
)
known = np.isin(np.arange(n), rng.choice(np.flatnonzero(fraud), 80, replace=False))
with_case = invoices.assign(case=np.where(known, rng.integers(7000, 9000, n), np.nan))

leaking = PUClassifier(scenario="single-sample", random_state=0).fit(with_case, known)
for check in report(leaking, with_case, known).failing("error"):
    print(check.code, check.sentence, check.remedy, sep="\n")

# %%
# Without that column. A missed fraud costs twenty times as much as a false alarm.

model = PUClassifier(scenario="single-sample", random_state=0).fit(invoices, known)
page = report(model, invoices, known, costs=Costs(1, 20), title="Frauds among invoices")
print("Checks that have found something:", [check.code for check in page.failing("info")])

# %%
# ``page.save("invoices.html")`` writes it; in the shell it is ``unlabeled report MODEL TABLE --out invoices.html``.

# sphinx_gallery_capture_repr_block = ('_repr_html_',)
page

# %%
# What it shows can be drawn by itself, too (:doc:`all pictures <plot_displays>`).

axes = ThresholdDisplay.from_estimator(model).ax_
axes.figure.set_size_inches(7, 4)
plt.tight_layout()
