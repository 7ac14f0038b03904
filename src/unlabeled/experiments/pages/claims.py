"""What the paper says of its figures and tables, in our words, each with the check of whether our rows bear it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unlabeled.experiments.pages import checks, paper
from unlabeled.experiments.pages.checks import Verdict
from unlabeled.experiments.pages.rows import Rows

ALL_SETS = paper.SMALL + paper.LARGE


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and how it is checked."""

    where: str
    text: str
    check: Callable[[Rows], Verdict | None]

    @property
    def is_ours(self) -> bool:
        """Whether the statement is not the paper's."""
        return self.text.startswith("(Ours)")


CLAIMS = (
    Claim("Figure 1", "The moons are separated better with more positives and more unlabeled rows.", checks.separates),
    Claim("Figure 2", "WMMD's accuracy nears 1 - Bayes risk as unlabeled rows are added.", checks.nears_bayes),
    Claim(
        "Figure 2",
        "WMMD has the highest accuracy of the five at every number of unlabeled rows.",
        checks.highest_accuracy,
    ),
    Claim(
        "Figure 2",
        "WMMD's AUC is comparable to the others' or better at every number of unlabeled rows.",
        checks.auc_level,
    ),
    Claim(
        "Figure 2",
        "Over the priors WMMD is about as accurate as LOG and NNPU, and more than DH and tADJ.",
        checks.accuracy_over_priors,
    ),
    Claim("Figure 2", "Up to a prior of 0.8 WMMD's AUC is better than LOG's, DH's and NNPU's.", checks.auc_up_to_08),
    Claim("Figure 2", "tADJ has the highest AUC.", checks.tadj_highest_auc),
    Claim(
        "Figure 3",
        "With an estimated prior WMMD is less accurate than LOG, DH and NNPU, over the sizes, with more AUC.",
        checks.unknown("n_unlabeled"),
    ),
    Claim("Figure 3", "The same over the priors.", checks.unknown("true_prior")),
    Claim(
        "Figure 3",
        "tADJ's accuracy is poor over a wide range while its AUC is comparable to WMMD's.",
        checks.tadj_unknown,
    ),
    Claim(
        "Figure 3", "WMMD's AUC suffers less from an estimated prior than LOG's, DH's and NNPU's.", checks.auc_robust
    ),
    Claim("Table 1", "WMMD trains fastest of the five.", checks.fastest),
    Claim("Table 1", "WMMD trains some 300 times faster than LOG and DH.", checks.three_hundred),
    Claim(
        "Tables 3, 4",
        "(Ours) WMMD on the small sets is within 3 points of the paper, two errors aside.",
        checks.near_the_paper,
    ),
    Claim("Table 3", "LOG and DH run out of 12 GB of memory on the large data sets.", checks.out_of_memory),
    Claim(
        "Table 3",
        "WMMD is comparable to or better than LOG, DH and tADJ on most data sets.",
        checks.mostly("known", ALL_SETS, ("log-released", "dh-released", "tadj-balanced")),
    ),
    Claim(
        "Table 3", "WMMD is comparable to NNPU on the small data sets.", checks.mostly("known", paper.SMALL, ("nnpu",))
    ),
    Claim(
        "Table 3",
        "NNPU is more accurate than WMMD on skin_nonskin, epsilon_normalized and HIGGS.",
        checks.nnpu_on_large,
    ),
    Claim(
        "Table 4",
        "With an estimated prior WMMD is comparable to or better than the others on most data sets.",
        checks.mostly("estimated", ALL_SETS, checks.OTHERS),
    ),
    Claim("Table 4", "The AUC of WMMD and tADJ hardly depends on whether the prior is known.", checks.wmmd_auc_robust),
    Claim("Table 4", "LOG, DH and NNPU lose much accuracy and AUC with KM1's prior.", checks.others_drop),
    Claim(
        "Table 4",
        "The same with KM1 as its authors released it.",
        lambda rows: checks.others_drop(rows, "km1-released"),
    ),
    Claim(
        "Experiment 3",
        "(Footnote) KM2's estimates of the prior are further off than KM1's: on real data, both as released.",
        checks.km2_worse,
    ),
    Claim(
        "Experiment 3",
        "(Footnote) The same on the Gaussians, both as implemented here.",
        checks.km2_worse_on_gaussians,
    ),
    Claim(
        "Appendix D",
        "WMMD is more accurate with the density-based prior than with KM1: on real data, KM1 as released.",
        checks.density_better_for_wmmd,
    ),
    Claim(
        "Appendix D",
        "The same with KM1 as implemented here.",
        lambda rows: checks.density_better_for_wmmd(rows, "km1"),
    ),
    Claim(
        "Appendix D",
        "The same on the Gaussians, with KM1 as implemented here.",
        checks.density_better_on_gaussians,
    ),
    Claim("Experiment 3", "KM1 does not scale to large data.", checks.km1_does_not_scale),
    Claim(
        "Appendix E",
        "The Gaussian kernel beats the inverse one in accuracy and AUC at every number of unlabeled rows.",
        checks.gaussian_kernel_better,
    ),
    Claim(
        "Appendix E",
        "Over the priors both kernels are comparable in accuracy for LOG and WMMD.",
        checks.kernels_level(("log-released", "wmmd"), "accuracy", everywhere=False),
    ),
    Claim(
        "Appendix E",
        "DH is more accurate with the inverse kernel when the prior is near 0.5.",
        checks.dh_inverse_near_half,
    ),
    Claim(
        "Appendix E",
        "At every prior both kernels are comparable in AUC, for all three.",
        checks.kernels_level(("log-released", "dh-released", "wmmd"), "auc", everywhere=True),
    ),
)
