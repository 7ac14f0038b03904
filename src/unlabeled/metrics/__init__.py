"""How good a classifier is, from labelled positives and unlabeled rows alone.

Every metric here estimates what it is named after, *in the population*, from two averages. Let h be the classifier,
g its decision function, P the labelled positives, and X the sample of the population: the unlabeled rows in the
case-control scenario, labelled and unlabeled rows together in the single-sample scenario. With pi the prior,
r = mean over P of [h = 1] and q = mean over X of [h = 1]:

========================  ==============================================================  ===========
`pu_recall`               r                                                               no prior
`pu_flagged_rate`         q, the share of the population that is called positive          no prior
`pu_lee_liu`              r^2 / q = precision * recall / pi                               no prior
`proxy_roc_auc`           AUC of P against X = pi/2 + (1 - pi) AUC                        no prior
`pu_precision`            pi r / q                                                        needs prior
`pu_f1`                   2 pi r / (q + pi), harmonic mean of precision and recall        needs prior
`pu_accuracy`             1 - pi - q + 2 pi r                                             needs prior
`proxy_accuracy`          1 - q + 2 pi r = accuracy + pi                                  needs prior
`pu_risk`                 pi mean_P l(g) + mean_X l(-g) - pi mean_P l(-g)                 needs prior
`pu_roc_auc`              (AUC of P against X - pi/2) / (1 - pi)                          needs prior
`pu_average_precision`    sum over thresholds of (change of r) * pi r / q                 needs prior
========================  ==============================================================  ===========

Why: labelled positives are a random sample of the positives, so averages over P are averages over all positives. Of
the population, pi r is flagged rightly, so of the flagged share q the rest, q - pi r, is flagged wrongly. In
case-control, adding P to X (or, in single-sample, leaving it out) changes q and with it all but the recall: the
scenario is part of every metric, and there is no default prior.

What noise does. The ratios (precision, F1, average precision) have a denominator that may come out too small, or 0.
Since at least pi r of the population is flagged, q is read as at least pi r in them: they lie in [0, 1]. The sums
(accuracy, risk, ROC AUC) are left as they are: unbiased, so that the mean over folds is unbiased too, and therefore
now and then slightly outside [0, 1].

How much noise. The square of precision's relative standard error is (1 - r) / (r n_P) + (1 - q) / (q n_X), with n_P and
n_X the sizes of P and X, less 2 (1 - r) / (q n_X) in single-sample: what counts is how many rows are flagged, and where
positives are rare, few are. Take 200,000 rows, a prior of 0.05, half of the positives labelled, and scores that lie two
standard deviations apart. The standard error of precision is 0.005 where 7 % of the population is flagged, and 0.015
where 2 % is; that of average precision 0.011; of recall, a share of 5,000 labelled rows, 0.007; of accuracy and ROC AUC
0.002 or less. It is noise and next to no bias (reading q as at least pi r takes less than 0.003 off average precision),
and without assumptions on the scores no estimate has less: P and X are free of each other, and shares are estimated
best by shares.

Rows that are known to be negative have a value of their own, which `pu_scorer` and `PUStratifiedKFold` can be told;
`unlabeled.metrics.third_sample` says what such rows add.

The scores must be honest: of rows that the classifier was not fitted on. `pu_scorer` makes each of these a
scikit-learn scorer, and `PUStratifiedKFold` keeps both samples in every fold.
"""

from unlabeled.metrics.decisions import (
    proxy_accuracy,
    pu_accuracy,
    pu_f1,
    pu_flagged_rate,
    pu_lee_liu,
    pu_precision,
    pu_recall,
)
from unlabeled.metrics.ranking import proxy_roc_auc, pu_average_precision, pu_roc_auc
from unlabeled.metrics.risk import LOSSES, pu_risk
from unlabeled.metrics.scorers import SCORERS, pu_scorer
from unlabeled.metrics.splitting import PUStratifiedKFold

__all__ = [
    "LOSSES",
    "SCORERS",
    "PUStratifiedKFold",
    "proxy_accuracy",
    "proxy_roc_auc",
    "pu_accuracy",
    "pu_average_precision",
    "pu_f1",
    "pu_flagged_rate",
    "pu_lee_liu",
    "pu_precision",
    "pu_recall",
    "pu_risk",
    "pu_roc_auc",
    "pu_scorer",
]
