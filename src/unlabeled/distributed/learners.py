"""The learned score of a table in partitions: by trees on a sample that one worker has, or on all of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier, counted
from unlabeled.contract import ResolvedPrior
from unlabeled.distributed.partitions import Layout
from unlabeled.distributed.running import limited_to_a_slot, of_all, of_each, running_client
from unlabeled.distributed.samples import DistributedSample, UnlabeledRows, stacked_samples
from unlabeled.samples import PUSample, Sample, hash_of_rows
from unlabeled.scoring.cross_fitting import check_n_folds, score_of
from unlabeled.stages import stage

#: Classifiers that train on all of a cluster, in the order of "dask": their packages, modules and names.
LEARNERS = {
    "lightgbm": ("lightgbm", "lightgbm", "DaskLGBMClassifier"),
    "xgboost": ("xgboost", "xgboost.dask", "DaskXGBClassifier"),
}
#: Small trees, as those of one machine are.
_TREES: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 8, "min_child_samples": 5, "feature_fraction": 0.3, "reg_lambda": 5.0, "verbosity": -1},
    "xgboost": {"max_leaves": 8, "colsample_bynode": 0.3, "reg_lambda": 5.0, "tree_method": "hist"},
}


def learner_of(estimator: Any) -> str | None:
    """The classifier that trains on all of the cluster, if one is asked for by name."""
    if not isinstance(estimator, str):
        return None
    if estimator != "dask" and estimator not in LEARNERS:
        raise ValueError(
            f"estimator={estimator!r} is not known; use None, a classifier, 'dask', {' or '.join(map(repr, LEARNERS))}."
        )
    wanted = [estimator] if estimator != "dask" else list(LEARNERS)
    for name in wanted:
        if find_spec(LEARNERS[name][0]) is not None:
            return name
    raise ImportError(
        f"estimator={estimator!r} needs {' or '.join(wanted)}: pip install {wanted[0]}, on the client and the workers. "
        "Without it, estimator=None learns from a sample of the rows on one worker."
    )


# --- on a sample ---


def fit_on_a_worker(classifier: Any, pu: PUSample, places: np.ndarray, prior: ResolvedPrior | None) -> Any:
    """A classifier of one machine fitted to all positives and the unlabeled rows at some places, by a task."""
    unlabeled = pu.unlabeled
    if not isinstance(unlabeled, DistributedSample):
        raise TypeError("The unlabeled rows are not in partitions.")
    table, stands_for = unlabeled.table, _stands_for(pu, places)
    rows = [task for _, task in table.picking(places)]
    task = delayed(_fit, name="unlabeled-learned")(
        classifier, pu.positive, rows, pu.scenario, prior, stands_for, table.weighted
    )
    with stage("learned score", f"{len(pu.positive) + len(places):,} rows, on one worker"):
        return of_all(running_client(table.client), task, verbose=table.verbose)


def _stands_for(pu: PUSample, places: np.ndarray) -> float:
    """How many unlabeled rows each of some stands for where the population is both samples together.

    Positives weigh that much less there: were some rows to weigh more, one unit of them would be left out and not all.
    """
    return len(pu.unlabeled) / len(places) if pu.positives_in_population else 1.0


def _fit(
    classifier: Any,
    positive: Sample,
    unlabeled: list[Sample],
    scenario: str,
    prior: ResolvedPrior | None,
    stands_for: float,
    weighted: bool,  # noqa: FBT001  # of a task
) -> Any:
    with limited_to_a_slot():
        pu = counted(PUSample(positive, stacked_samples(unlabeled, weighted=weighted), scenario), -np.log(stands_for))
        if isinstance(classifier, ScoreWMMDClassifier):
            classifier._stands_for = stands_for
            fitted = classifier.fit_sample(pu, prior=prior)
            del fitted._stands_for
            return fitted
        return classifier.fit_sample(pu, prior=prior)


# --- on all rows ---


class ClusterScore(ScoreWMMDClassifier):
    """The learned score by a classifier that trains on the cluster; rows are dealt into folds by their hash.

    It is fitted to samples that are here: all positives and the evaluated rows, which get the out-of-fold scores.
    """

    def fit_partitions(
        self, table: UnlabeledRows, pu: PUSample, places: np.ndarray, learner: str, prior: ResolvedPrior | None
    ) -> ScoreWMMDClassifier:
        """Learn from all rows, and score those at some places."""
        self._table, self._learner, self._stands_for = table, learner, _stands_for(pu, places)
        here = counted(replace(pu, unlabeled=pu.unlabeled.take(places)), -np.log(self._stands_for))
        self.fit_sample(here, prior=prior)
        for name in ("_table", "_learner", "_stands_for"):
            delattr(self, name)
        plain = ScoreWMMDClassifier(**self.get_params(deep=False))
        plain.__dict__.update(self.__dict__)
        return plain

    def _inner(self, pu: PUSample) -> tuple[Any, None]:  # noqa: ARG002
        return None, None  # on the cluster, and features as they are

    def _cross_fit(self, inner: Any, pu: PUSample) -> tuple[list[Any], PUSample]:  # noqa: ARG002
        n_folds, client = check_n_folds(self.n_folds), running_client(self._table.client)
        models = []
        for fold in range(n_folds):
            with stage("learned score", f"{self._learner}, fold {fold + 1} of {n_folds}"):
                models.append(_fitted_without(fold, n_folds, self._table, client, self._learner, self.random_state))
        positive, unlabeled = (
            sample.with_rows(_out_of_fold(models, sample.rows)[:, None]) for sample in (pu.positive, pu.unlabeled)
        )
        return models, replace(pu, positive=positive, unlabeled=unlabeled)


def _out_of_fold(models: list[Any], rows: FloatArray) -> FloatArray:
    folds, scores = _folds(rows, len(models)), np.empty(len(rows))
    for fold, model in enumerate(models):
        held = folds == fold
        if held.any():
            scores[held] = score_of(model, rows[held])
    return scores


def _folds(rows: FloatArray, n_folds: int) -> np.ndarray:
    return (hash_of_rows(rows) % np.uint64(n_folds)).astype(np.int64)


def _fitted_without(
    fold: int, n_folds: int, table: UnlabeledRows, client: Client, learner: str, random_state: Any
) -> Any:
    """A classifier of the cluster fitted to the rows outside of a fold, as one of a single machine."""
    layout, numbers = table.partitions.layout, list(range(len(table.partitions)))
    cut = delayed(_outside, name="unlabeled-training", nout=3)
    parts = [cut(layout, *table.partitions.inputs(number), fold, n_folds) for number in numbers]
    counts = of_each(client, [delayed(_label_counts)(part) for part in parts], numbers)
    lengths, of_labels = [int(count[0]) for count in counts], np.sum(counts, axis=0)[1:]
    in_use = [number for number in numbers if lengths[number]]
    per_label = of_labels.sum() / (2 * np.maximum(of_labels, 1))  # both samples weigh the same
    rows, labels, weights = (
        da.concatenate(
            [da.from_delayed(take(parts[number]), (lengths[number], *width), dtype=kind) for number in in_use]
        )
        for take, width, kind in (
            (_taking(0), (layout.n_features,), layout.dtype),
            (_taking(1), (), "int64"),
            (_taking(2, per_label), (), "float64"),
        )
    )
    _, module, name = LEARNERS[learner]
    options = {"n_estimators": 100, "learning_rate": 0.05, "random_state": _seed(random_state), **_TREES[learner]}
    model = getattr(import_module(module), name)(**options)
    model.client = client
    model.fit(rows, labels, sample_weight=weights)
    return _on_one_machine(model)


def _seed(random_state: Any) -> int | None:
    return int(random_state) if isinstance(random_state, int | np.integer) else None


def _taking(place: int, per_label: FloatArray | None = None) -> Callable[[Any], Any]:
    return lambda part: delayed(_taken, name="unlabeled-taken")(part, place, per_label)


def _taken(part: Any, place: int, per_label: FloatArray | None) -> np.ndarray:
    return np.asarray(part[place] if per_label is None else part[2] * per_label[part[1]])


def _outside(
    layout: Layout, block: Any, labels: Any, weights: Any, fold: int, n_folds: int
) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """Rows outside of a fold, whether they are labelled, and how often they count."""
    samples = layout.separated(block, labels, weights)
    rows = np.concatenate([sample.rows for sample in samples])
    labelled = np.repeat([1, 0], [len(sample) for sample in samples])
    counts = np.concatenate([sample.weights for sample in samples])
    kept = _folds(rows, n_folds) != fold
    return _with_both_labels(rows[kept], labelled[kept], counts[kept])


def _with_both_labels(
    rows: FloatArray, labelled: np.ndarray, counts: FloatArray
) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """The same rows, and one of weight 0 of a label that none of them has.

    LightGBM numbers the labels of each worker by themselves: on one that has positives alone it takes these for the
    others.
    """
    missing = np.setdiff1d([0, 1], labelled) if len(rows) else np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([rows, rows[: len(missing)]]),
        np.concatenate([labelled, missing]),
        np.concatenate([counts, np.zeros(len(missing))]),
    )


def _label_counts(part: tuple[FloatArray, np.ndarray, FloatArray]) -> np.ndarray:
    """How many rows there are, and how many of each label count."""
    rows, labelled, counts = part
    return np.array([len(rows), *np.bincount(labelled[counts > 0], minlength=2)])


def _on_one_machine(model: Any) -> Any:
    """The fitted classifier without its cluster."""
    if hasattr(model, "to_local"):
        return model.to_local()
    local = import_module("xgboost").XGBClassifier()
    local.load_model(bytearray(model.get_booster().save_raw()))
    return local
