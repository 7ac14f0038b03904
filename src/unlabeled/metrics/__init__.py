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
