"""Checks of what the paper says: each answers with a verdict and the numbers behind it, or None where rows are missing.

"Comparable" is read as: not lower by more than one point, or by more than two standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.figures import bayes_risk, sweep
from unlabeled.experiments.pages.labels import METHOD_LABELS
from unlabeled.experiments.pages.real_data import Place, group_at
from unlabeled.experiments.pages.rows import Group, Mean, Rows, paired_difference
from unlabeled.experiments.pages.tables import timed

COMPARABLE = 0.01
OTHERS = ("log-released", "dh-released", "nnpu", "tadj")
WITH_PRIOR = ("log-released", "dh-released", "nnpu")


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds in our rows, and the numbers that say so."""

    held: bool
    numbers: str


# --- looking up ---


def _along(rows: Rows, swept: str, prior: str = "known", kernel: str = "rbf") -> dict[float, dict[str, Group]]:
    """Groups of all methods along an axis, where WMMD has any."""
    found: dict[float, dict[str, Group]] = {}
    for method in METHOD_LABELS:
        for value, group in sweep(rows, method, swept, {"prior": prior, "kernel": kernel}):
            found.setdefault(value, {})[method] = group
    return {value: groups for value, groups in sorted(found.items()) if "wmmd" in groups}


def _value(group: Group, metric: str) -> float:
    mean = group.mean(metric)
    return float("nan") if mean is None else mean.value


def _comparable(ours: Group, theirs: Group, metric: str) -> bool:
    difference = paired_difference(ours, theirs, metric)
    return difference is not None and difference.value >= -max(COMPARABLE, 2 * difference.error)


def _count(flags: list[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"


def _curve(along: dict[float, dict[str, Group]], method: str, metric: str) -> np.ndarray:
    return np.array([_value(groups[method], metric) for groups in along.values() if method in groups])


def _averages(along: dict[float, dict[str, Group]], metric: str) -> str:
    """Each method's mean along the axis, in percent."""
    parts = [(METHOD_LABELS[m], _curve(along, m, metric)) for m in METHOD_LABELS]
    return ", ".join(f"{label} {100 * curve.mean():.1f}" for label, curve in parts if len(curve))


def _least_accurate(groups: dict[str, Group]) -> str:
    return min(groups, key=lambda method: _value(groups[method], "accuracy"))


def _complete(along: dict[float, dict[str, Group]], methods: tuple[str, ...] = tuple(METHOD_LABELS)) -> bool:
    return bool(along) and all(set(methods) <= set(groups) for groups in along.values())


# --- Experiment 1 ---


def separates(rows: Rows) -> Verdict | None:
    """Accuracy on the moons grows with both samples."""
    means: dict[tuple[int, int], Mean] = {}
    for n_p, n_u in ((5, 50), (10, 50), (5, 400), (10, 400)):
        setting = {"n_positive": n_p, "n_unlabeled": n_u, "true_prior": 0.5}
        mean = rows.group("moons", "make_moons", "wmmd", setting).mean("accuracy")
        if mean is None:
            return None
        means[n_p, n_u] = mean
    steps = [((5, 50), (10, 50)), ((5, 400), (10, 400)), ((5, 50), (5, 400)), ((10, 50), (10, 400))]
    held = _rises(means[5, 50], means[10, 400]) and not any(_rises(means[b], means[a]) for a, b in steps)
    return Verdict(
        held, "; ".join(f"{p} and {u}: {100 * m.value:.1f} ± {100 * m.error:.1f}" for (p, u), m in means.items())
    )


def _rises(low: Mean, high: Mean) -> bool:
    """Whether a mean is above another by more than two standard errors of the difference."""
    return bool(high.value - low.value > 2 * np.hypot(low.error, high.error))


# --- Experiment 2 ---


def nears_bayes(rows: Rows) -> Verdict | None:
    """The gap to the Bayes risk shrinks."""
    along = _along(rows, "n_unlabeled")
    if len(along) < 2:
        return None
    gaps = 1 - bayes_risk(0.5) - _curve(along, "wmmd", "accuracy")
    sizes = list(along)
    trend = np.polyfit(sizes, gaps, 1)[0]
    numbers = (
        f"gap to 1 - Bayes risk {100 * gaps[0]:.1f} points at {sizes[0]:.0f}, {100 * gaps[-1]:.1f} at {sizes[-1]:.0f}"
    )
    return Verdict(bool(gaps[-1] < gaps[0] and trend < 0), numbers)


def highest_accuracy(rows: Rows) -> Verdict | None:
    """WMMD first at every size."""
    along = _along(rows, "n_unlabeled")
    if not _complete(along):
        return None
    highest = [all(_value(g["wmmd"], "accuracy") >= _value(g[m], "accuracy") for m in OTHERS) for g in along.values()]
    level = [all(_comparable(g["wmmd"], g[m], "accuracy") for m in OTHERS) for g in along.values()]
    numbers = (
        f"highest at {_count(highest)} sizes, highest or comparable at {_count(level)}; {_averages(along, 'accuracy')}"
    )
    return Verdict(all(highest), numbers)


def auc_level(rows: Rows) -> Verdict | None:
    """WMMD's AUC nowhere clearly below another's."""
    along = _along(rows, "n_unlabeled")
    if not _complete(along):
        return None
    level = [all(_comparable(g["wmmd"], g[m], "auc") for m in OTHERS) for g in along.values()]
    without = [all(_comparable(g["wmmd"], g[m], "auc") for m in WITH_PRIOR) for g in along.values()]
    numbers = f"at {_count(level)} sizes, leaving tADJ out at {_count(without)}; {_averages(along, 'auc')}"
    return Verdict(all(level), numbers)


def accuracy_over_priors(rows: Rows) -> Verdict | None:
    """Mean accuracies over the priors."""
    along = _along(rows, "true_prior")
    if not _complete(along):
        return None
    ours = _curve(along, "wmmd", "accuracy").mean()
    level = all(ours >= _curve(along, m, "accuracy").mean() - COMPARABLE for m in ("log-released", "nnpu"))
    better = all(ours > _curve(along, m, "accuracy").mean() for m in ("dh-released", "tadj"))
    return Verdict(level and better, f"mean over the priors: {_averages(along, 'accuracy')}")


def auc_up_to_08(rows: Rows) -> Verdict | None:
    """WMMD's AUC first, tADJ aside."""
    along = {value: groups for value, groups in _along(rows, "true_prior").items() if value <= 0.8}
    if not _complete(along):
        return None
    better = [all(_value(g["wmmd"], "auc") >= _value(g[m], "auc") for m in WITH_PRIOR) for g in along.values()]
    return Verdict(all(better), f"best of WMMD, LOG, DH, NNPU at {_count(better)} priors; {_averages(along, 'auc')}")


def tadj_highest_auc(rows: Rows) -> Verdict | None:
    """Whether tADJ's AUC is first at every prior."""
    along = _along(rows, "true_prior")
    if not _complete(along):
        return None
    highest = [all(_value(g["tadj"], "auc") >= _value(g[m], "auc") for m in METHOD_LABELS) for g in along.values()]
    return Verdict(all(highest), f"highest at {_count(highest)} priors; {_averages(along, 'auc')}")


# --- Experiment 3 ---


def unknown(swept: str) -> Callable[[Rows], Verdict | None]:
    """Less accuracy and more AUC than the methods whose score needs the prior, along an axis."""

    def check(rows: Rows) -> Verdict | None:
        along = _along(rows, swept, "estimated")
        if not _complete(along):
            return None
        accuracy, auc = (_curve(along, "wmmd", metric).mean() for metric in ("accuracy", "auc"))
        held = all(
            accuracy < _curve(along, m, "accuracy").mean() and auc > _curve(along, m, "auc").mean() for m in WITH_PRIOR
        )
        return Verdict(held, f"accuracy {_averages(along, 'accuracy')}; AUC {_averages(along, 'auc')}")

    return check


def tadj_unknown(rows: Rows) -> Verdict | None:
    """tADJ: little accuracy, as much AUC as WMMD."""
    along = _along(rows, "n_unlabeled", "estimated")
    if not _complete(along):
        return None
    worst = [_least_accurate(groups) == "tadj" for groups in along.values()]
    level = [_comparable(g["tadj"], g["wmmd"], "auc") for g in along.values()]
    numbers = f"lowest accuracy at {_count(worst)} sizes, AUC comparable to WMMD's at {_count(level)}"
    return Verdict(sum(worst) > len(worst) / 2 and all(level), numbers)


def auc_robust(rows: Rows) -> Verdict | None:
    """The AUC lost when the prior has to be estimated."""
    drops = {}
    known, unknown = (_along(rows, "true_prior", prior) for prior in ("known", "estimated"))
    if not (_complete(known) and _complete(unknown)):
        return None
    for method in ("wmmd", *WITH_PRIOR):
        shared = [value for value in known if value in unknown]
        drops[method] = np.mean([_value(known[v][method], "auc") - _value(unknown[v][method], "auc") for v in shared])
    numbers = "AUC lost, in points: " + ", ".join(f"{METHOD_LABELS[m]} {100 * drop:.1f}" for m, drop in drops.items())
    return Verdict(all(drops["wmmd"] < drops[m] for m in WITH_PRIOR), numbers)


# --- Experiment 4 ---


def _ratios(rows: Rows) -> dict[str, float] | None:
    found = timed(rows)
    if found is None:
        return None
    methods, seconds = found
    ratios = (seconds / seconds[:, [methods.index("wmmd")]]).mean(axis=0)
    return dict(zip(methods, ratios.tolist(), strict=True))


def fastest(rows: Rows) -> Verdict | None:
    """WMMD's training time is the least."""
    ratios = _ratios(rows)
    if ratios is None or set(ratios) != set(METHOD_LABELS):
        return None
    return Verdict(all(ratios[m] > 1 for m in ratios if m != "wmmd"), _ratio_text(ratios))


def three_hundred(rows: Rows) -> Verdict | None:
    """LOG and DH take 300 times as long."""
    ratios = _ratios(rows)
    if ratios is None or not {"log-released", "dh-released"} <= set(ratios):
        return None
    return Verdict(min(ratios["log-released"], ratios["dh-released"]) >= 300, _ratio_text(ratios))


def _ratio_text(ratios: dict[str, float]) -> str:
    return ", ".join(f"{METHOD_LABELS[m]} {ratio:.1f}" for m, ratio in ratios.items())


# --- Tables 3 and 4 ---


def _cells_won(rows: Rows, prior: str, datasets: tuple[str, ...], others: tuple[str, ...]) -> list[bool]:
    """Whether WMMD is comparable or better, for each data set, other method and metric."""
    won = []
    for name in datasets:
        ours = group_at(rows, Place(name, prior), "wmmd")
        for method in others:
            theirs = group_at(rows, Place(name, prior), method)
            if ours.metrics and theirs.metrics:
                won += [_comparable(ours, theirs, metric) for metric in ("accuracy", "auc")]
    return won


def mostly(prior: str, datasets: tuple[str, ...], others: tuple[str, ...]) -> Callable[[Rows], Verdict | None]:
    """WMMD comparable or better in most comparisons."""

    def check(rows: Rows) -> Verdict | None:
        won = _cells_won(rows, prior, datasets, others)
        n_sets = sum(bool(group_at(rows, Place(name, prior), "wmmd").metrics) for name in datasets)
        numbers = f"in {_count(won)} comparisons of accuracy and AUC, on {n_sets} of the {len(datasets)} data sets"
        return Verdict(sum(won) > len(won) / 2, numbers) if won else None

    return check


def near_the_paper(rows: Rows) -> Verdict | None:
    """WMMD within three points and two standard errors of the paper, in both tables, accuracy and AUC."""
    parts, far = 0, []
    for table, prior in (("table3", "known"), ("table4", "estimated")):
        for name in paper.SMALL:
            for metric in ("accuracy", "auc"):
                mean = group_at(rows, Place(name, prior), "wmmd").mean(metric)
                theirs = paper.printed(table, metric, name, "wmmd")
                if mean is None or theirs is None:
                    return None
                gap, parts = 100 * mean.value - theirs.value, parts + 1
                if abs(gap) > 3 + 2 * np.hypot(100 * mean.error, theirs.error):
                    far.append(f"{name} {metric}, prior {prior}: {gap:+.1f}")
    return Verdict(not far, f"{parts - len(far)} of {parts} cells" + ("; not " + ", ".join(far) if far else ""))


def out_of_memory(rows: Rows) -> Verdict | None:
    """Failures of LOG and DH on the skin sets."""
    found = {
        (name, m): group_at(rows, Place(name, "known"), m)
        for name in ("skin_nonskin", "skin_nonskin2")
        for m in ("log-released", "dh-released")
    }
    if not all(group.is_there for group in found.values()):
        return None
    failed = [any(text.startswith("memory") for text in group.failures) for group in found.values()]
    return Verdict(all(failed), f"out of memory in {_count(failed)} cases on the two skin sets")


def nnpu_on_large(rows: Rows) -> Verdict | None:
    """NNPU's accuracy above WMMD's."""
    parts, held = [], []
    for name in ("skin_nonskin", "epsilon_normalized", "HIGGS"):
        pair = [group_at(rows, Place(name, "known"), m).mean("accuracy") for m in ("nnpu", "wmmd")]
        if pair[0] is not None and pair[1] is not None:
            held.append(pair[0].value > pair[1].value)
            parts.append(f"{name} {100 * pair[0].value:.1f} against {100 * pair[1].value:.1f}")
    return Verdict(all(held), "NNPU against WMMD: " + ", ".join(parts)) if parts else None


def _drops(rows: Rows, method: str, metric: str) -> list[float]:
    drops = []
    for name in paper.SMALL:
        known, unknown = (
            _value(group_at(rows, Place(name, prior), method), metric) for prior in ("known", "estimated")
        )
        drops.append(known - unknown)
    return drops


def wmmd_auc_robust(rows: Rows) -> Verdict | None:
    """WMMD's AUC with the prior known and estimated."""
    drops = _drops(rows, "wmmd", "auc")
    if np.isnan(drops).any():
        return None
    numbers = f"AUC of WMMD changes by {100 * min(drops):.1f} to {100 * max(drops):.1f} points; tADJ's cannot change"
    return Verdict(max(map(abs, drops)) <= 2 * COMPARABLE, numbers)


def others_drop(rows: Rows) -> Verdict | None:
    """What LOG, DH and NNPU lose with an estimated prior."""
    found = {m: [float(np.mean(_drops(rows, m, metric))) for metric in ("accuracy", "auc")] for m in WITH_PRIOR}
    if np.isnan(list(found.values())).any():
        return None
    parts = [f"{METHOD_LABELS[m]} {100 * a:.1f} and {100 * b:.1f}" for m, (a, b) in found.items()]
    return Verdict(
        all(a > 0.05 and b > COMPARABLE for a, b in found.values()),
        "points of accuracy and AUC lost on the small sets: " + ", ".join(parts),
    )


# --- Appendix E ---


def _kernel_pairs(rows: Rows, swept: str, method: str) -> list[tuple[float, Group, Group]]:
    gauss, inverse = (dict(sweep(rows, method, swept, {"prior": "known", "kernel": k})) for k in ("rbf", "inverse"))
    return [(value, gauss[value], inverse[value]) for value in gauss if value in inverse]


def gaussian_kernel_better(rows: Rows) -> Verdict | None:
    """Gaussian above inverse kernel at every size."""
    parts, held = [], []
    for method in ("log-released", "dh-released", "wmmd"):
        pairs = _kernel_pairs(rows, "n_unlabeled", method)
        if not pairs:
            return None
        for metric, name in (("accuracy", "accuracy"), ("auc", "AUC")):
            better = [_value(g, metric) > _value(i, metric) for _, g, i in pairs]
            held.append(all(better))
            parts.append(f"{METHOD_LABELS[method]} {name} at {_count(better)} sizes")
    return Verdict(all(held), "; ".join(parts))


def kernels_level(methods: tuple[str, ...], metric: str) -> Callable[[Rows], Verdict | None]:
    """Both kernels about equal over the priors."""

    def check(rows: Rows) -> Verdict | None:
        parts, held = [], []
        for method in methods:
            pairs = _kernel_pairs(rows, "true_prior", method)
            if not pairs:
                return None
            gap = float(np.mean([_value(g, metric) - _value(i, metric) for _, g, i in pairs]))
            held.append(abs(gap) <= 2 * COMPARABLE)
            parts.append(f"{METHOD_LABELS[method]} {100 * gap:+.1f}")
        return Verdict(
            all(held), f"Gaussian less inverse kernel, mean {metric} over the priors, points: " + ", ".join(parts)
        )

    return check


def dh_inverse_near_half(rows: Rows) -> Verdict | None:
    """DH with the inverse kernel, priors near one half."""
    pairs = [pair for pair in _kernel_pairs(rows, "true_prior", "dh-released") if 0.35 <= pair[0] <= 0.65]
    if not pairs:
        return None
    gaps = [_value(i, "accuracy") - _value(g, "accuracy") for _, g, i in pairs]
    return Verdict(
        min(gaps) > 0,
        f"inverse less Gaussian, priors .35 to .65: {100 * min(gaps):.1f} to {100 * max(gaps):.1f} points",
    )
