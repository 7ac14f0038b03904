"""What the classifiers of this package share: how a table in partitions is read, and how they answer for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.callbacks import with_callbacks
from unlabeled.contract import ResolvedPrior
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.distributed.partitions import (
    Partitions,
    Report,
    as_partitions,
    classes_of,
    count_labels,
    report,
    with_classes,
)
from unlabeled.distributed.placing import Inputs, at_home, homes
from unlabeled.distributed.running import of_each, running_client
from unlabeled.distributed.samples import DistributedSample, Held, UnlabeledRows, stacked_samples
from unlabeled.distributed.scoring import (
    Answered,
    Answering,
    Scorer,
    as_classes,
    as_decisions,
    as_probabilities,
    as_scores,
    as_table,
    lazy_scores,
)
from unlabeled.engines import select_engine
from unlabeled.engines.threads import check_n_jobs
from unlabeled.priors import PriorEstimator, as_prior_estimator, reads_scores
from unlabeled.priors.density import DensityPrior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.priors.score_based import ScorePrior
from unlabeled.samples import PUSample, Sample, count_missing, some_rows, warn_if_constant
from unlabeled.scoring.forms import MOST_ROWS, Ranges
from unlabeled.scoring.scaling import N_PAIRS
from unlabeled.scoring.selection import judging_points, some_places
from unlabeled.stages import stage

#: The most labelled positives: they come to the client, and go to every worker.
MOST_POSITIVES = 1_000_000
#: The most rows of each sample that are given honest scores: these come to the client too.
MOST_EVALUATIONS = 1_000_000
#: Bytes of unlabeled rows that `to_local` brings to the client.
LARGEST_LOCAL = 1_000_000_000


def _some_sample(scenario: str) -> PUSample:
    """Any sample, whose labelled share no prior is below: to check parameters by before a table is read."""
    row = np.zeros((1, 1))
    return PUSample(Sample(row), Sample(row, np.array([100.0])), scenario)


class DistributedClassifier(ScoreDecisions, BaseEstimator):
    """Mixin for classifiers of this library, before their own class: Dask arrays and data frames in and out."""

    client: Client | None
    prior: float | str | PriorEstimator
    max_evaluations: int | None
    verbose: bool
    sample_: PUSample

    @property
    def client_(self) -> Client:
        """The client in use: the one given, or the current one."""
        return running_client(self.client)

    # --- learning ---

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table in partitions in which some rows are labelled positive.

        Parameters
        ----------
        X : Dask array of shape (n_samples, n_features) or Dask data frame
        y : Dask array or series of shape (n_samples,), or the name of a column
            Labels as for `WMMDClassifier.fit`. The name of a column of the data frame takes it out of the features.
        sample_weight : Dask array or series of shape (n_samples,), or the name of a column, optional
            As for `WMMDClassifier.fit`.
        """
        with self._telling_callbacks(X, y, sample_weight), self._undone_if_stopped(), self._telling():
            self._refuse_what_needs_one_machine()
            return self._fit(self._distributed(X, y, sample_weight))

    def fit_sample(self, pu: PUSample, *, prior: ResolvedPrior | None = None) -> Self:
        """Learn from samples that are separated already, with unlabeled rows in partitions."""
        if pu.unlabeled.is_here:
            name = type(self).__name__
            raise TypeError(f"{name} learns from Dask arrays and data frames: use {name[4:]} for samples in memory.")
        return self._fit(self._checked(pu), prior)

    def _refuse_what_needs_one_machine(self) -> None:
        """Before any work, what could only fail after it."""
        _ = self.client_
        if self.negative is not None:
            raise ValueError(
                "Known negatives need one machine: leave out negative=, or fit WMMDClassifier to a sample."
            )
        if isinstance(self.prior, str | PriorEstimator) and not reads_scores(self.prior):
            estimator = as_prior_estimator(self.prior)
            by_wmmd = isinstance(estimator, ScorePrior) and estimator.estimator is None
            if not (by_wmmd or isinstance(estimator, DensityPrior)):
                raise ValueError(
                    f"prior={self.prior!r} is estimated from all rows in one place. Use 'auto', 'density', 'best-bin' "
                    "or 'dedpul', or estimate it from a sample of the rows and give the number."
                )
        check_max_evaluations(at_most := self.max_evaluations)
        if at_most is not None and at_most > MOST_EVALUATIONS:
            raise ValueError(_too_many_evaluations(at_most))
        check_random_state(self.random_state)
        check_n_jobs(self.n_jobs)
        select_engine(self.engine)
        self._check_parameters(_some_sample(self.scenario))

    def _check_evaluations(self, pu: PUSample) -> None:
        """Refuse to bring more rows to the client than it should have."""
        if self.max_evaluations is None and len(pu.unlabeled) > MOST_EVALUATIONS:
            raise ValueError(_too_many_evaluations(len(pu.unlabeled)))

    def _fetch_at_once(self, pu: PUSample, seed: int) -> None:
        """Have all rows here that will be asked for, by one pass over the partitions."""
        population, n_first = pu.population, len(pu.positive) if pu.positives_in_population else 0
        for_medians = some_rows(len(population), MOST_ROWS, np.random.RandomState(0))
        for_gammas = population.observations(np.random.RandomState(0).uniform(size=(2, N_PAIRS))).ravel()
        of_population = np.concatenate([for_medians, for_gammas]) - n_first
        places = some_places(pu, self.max_evaluations, np.random.RandomState(seed))
        points = judging_points(pu, places)
        others = [] if points is None else [points[1]]
        pu.unlabeled.wanted(np.concatenate([of_population[of_population >= 0], places[1], *others]))

    def _distributed(self, X: Any, y: Any, sample_weight: Any) -> PUSample:
        """Look at every partition, and separate the two samples: positives here, unlabeled rows where they are."""
        client, partitions = self.client_, as_partitions(X, y, sample_weight)
        numbers = list(range(len(partitions)))
        with stage("labels"):
            tasks = _tasks(client, count_labels, "unlabeled-labels", partitions, partitions.labels_inside)
            with _naming_columns(partitions):
                counts = of_each(client, tasks, numbers, verbose=self.verbose)
            self.classes_ = classes_of(counts, self.pos_label)
        partitions = with_classes(partitions, self.classes_, counts)
        with stage("a look at all rows"):
            tasks = _tasks(client, report, "unlabeled-report", partitions, partitions.read_inside)
            reports: list[Report] = of_each(client, tasks, numbers, verbose=self.verbose)
        pu = self._samples(partitions, reports)
        self.n_features_in_, self.encoder_ = partitions.layout.n_features, None
        names = partitions.layout.columns
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        self._remember_form(pu)
        return pu

    def _samples(self, partitions: Any, reports: list[Report]) -> PUSample:
        weighted = not all(found.all_once for found in reports)
        table_starts = np.concatenate([[0], np.cumsum([found.n_rows for found in reports])[:-1]])
        positive = stacked_samples(
            [
                Sample(found.positive.rows, found.positive.log_weights, start + found.positive.row_numbers)
                for found, start in zip(reports, table_starts.tolist(), strict=True)
            ],
            weighted=weighted,
        )
        if len(positive) > MOST_POSITIVES:
            raise ValueError(
                f"The table has {len(positive):,} labelled positives, and up to {MOST_POSITIVES:,} are taken: they go "
                "to every worker. A random choice of them will do: leave the others out."
            )
        counts = np.array([found.n_unlabeled for found in reports])
        totals = np.array([found.total for found in reports])
        heaviest = max(found.heaviest for found in reports)
        _check_two_of_each(positive, int(counts.sum()), float(totals.sum()), heaviest)
        empty = Sample(positive.rows[:0], np.zeros(0) if weighted else None, np.zeros(0, dtype=np.int64))
        held = Held(np.zeros(0, dtype=np.int64), empty)
        table = UnlabeledRows(partitions, counts, totals, table_starts, weighted, held, self.client, self.verbose)
        ranges, n_missing = reports[0].ranges, reports[0].n_missing
        for found in reports[1:]:
            ranges, n_missing = ranges.merged(found.ranges), n_missing + found.n_missing
        table.known.update({Ranges.of: ranges, count_missing: n_missing})
        pu = PUSample(positive, DistributedSample(table), self.scenario)
        self._warn_if_constant(pu)
        return pu

    def _warn_if_constant(self, pu: PUSample) -> None:
        """As one machine does."""
        found = pu.population.reduced(Ranges.of, Ranges.merged).merged(Ranges.of(pu.positive))
        if (found.low == found.high).all() and not pu.n_missing.any():
            warn_if_constant(np.zeros((2, 1)))

    # --- answering ---

    def score_samples(self, X: Any) -> Any:
        """Log of p(x | y = 1) / p(x) of the rows of a Dask array or data frame, not yet computed."""
        return self._lazy(X, as_scores, Answered(np.float64, "score"))

    def decision_function(self, X: Any) -> Any:
        """Score less threshold, not yet computed: `predict` answers positive where this is above 0."""
        return self._lazy(X, as_decisions, Answered(np.float64, "margin"))

    def predict(self, X: Any) -> Any:
        """The class of each row, in the values that ``y`` had, not yet computed."""
        return self._lazy(X, as_classes, Answered(self._classes().dtype, "prediction"))

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the two classes, in the order of `classes_`, not yet computed."""
        return self._lazy(X, as_probabilities, Answered(np.float64, "", tuple(map(str, self._classes().tolist()))))

    def predict_table(self, X: Any) -> Any:
        """Columns ``score``, ``probability`` (of being positive) and ``flagged`` (1 or 0), not yet computed."""
        return self._lazy(X, as_table, Answered(np.float64, "", ("score", "probability", "flagged")))

    def predict_log_proba(self, X: Any) -> Any:
        """Log of `predict_proba`, not yet computed; -inf where that is 0."""
        found = self.predict_proba(X)
        return found.map_blocks(_log) if hasattr(found, "map_blocks") else found.map_partitions(_log)

    def _classes(self) -> np.ndarray:
        check_is_fitted(self)
        return self.classes_

    def _lazy(self, X: Any, answering: Answering, answer: Answered) -> Any:
        check_is_fitted(self)
        return lazy_scores(X, self._table(), self._scorer(), answering, answer)

    def _table(self) -> UnlabeledRows:
        unlabeled = self.sample_.unlabeled
        if not isinstance(unlabeled, DistributedSample):
            raise TypeError("The unlabeled rows are not in partitions.")
        unlabeled.table.client = self.client
        return unlabeled.table

    def _scorer(self) -> Scorer:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**dict(super().__getstate__()), "client": None}

    def __sklearn_clone__(self) -> Self:
        """The client is the same one, and not copied."""
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        cloned = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**cloned, client=self.client)

    def adapt(self, X: Any, *, check: bool = True) -> Self:
        """Of one machine: use ``to_local()``."""
        raise NotImplementedError("A batch to adapt to fits one machine: use to_local().adapt(X).")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Of one machine: use ``to_local()``."""
        raise NotImplementedError("score ranks all rows in one place: use to_local().score(X, y).")


def _tasks(
    client: Client, function: Callable[..., Any], name: str, partitions: Partitions, inputs: list[Inputs]
) -> list[Delayed]:
    """A task for each partition, where it is."""
    tasks = []
    for each, home in zip(inputs, homes(client, partitions.kept), strict=True):
        with at_home(home) as named:
            tasks.append(delayed(function, name=name)(partitions.layout, *each, **named))
    return tasks


@contextmanager
def _naming_columns(partitions: Partitions) -> Iterator[None]:
    """Say what to do where Dask finds that a partition lacks the column of labels or of weights."""
    try:
        yield
    except KeyError as error:
        told, layout = str(error.args[0]) if error.args else "", partitions.layout
        lacking = [name for name in (layout.label, layout.weight) if name is not None and repr(name) in told]
        if not lacking:
            raise
        raise ValueError(
            f"{told}. A column that fit is given the name of must be in every partition: add {lacking} there, or leave "
            "that partition out."
        ) from error


def _too_many_evaluations(n_rows: int) -> str:
    return (
        f"Honest scores of {n_rows:,} unlabeled rows were asked for, which come to the client; up to "
        f"{MOST_EVALUATIONS:,} are taken. Give a smaller max_evaluations: 10,000 is the default."
    )


def with_answers_of(shell: Any, model: Any) -> Any:
    """A classifier of one machine that can decide by scores as a fitted one does, without its rows."""
    for name in ("prior_", "threshold_", "calibration_", "classes_"):
        setattr(shell, name, getattr(model, name))
    return shell


def parameters_of_one_machine(model: Any, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The parameters that the classifier of one machine has too."""
    return {name: value for name, value in model.get_params(deep=False).items() if name not in ("client", *more)}


def _check_two_of_each(positive: Sample, n_unlabeled: int, total: float, heaviest: float) -> None:
    """Refuse a table that is too small to learn from."""
    weights = positive.weights
    for name, n_rows, of_all, most in (
        ("labelled positive", len(positive), positive.total, weights.max(initial=0)),
        ("unlabeled row", n_unlabeled, total, heaviest),
    ):
        if n_rows == 0:
            raise ValueError(f"Only one class has weights above zero: no {name} is left, and two are needed.")
        if of_all - min(1.0, most) <= 1e-12 * of_all:
            raise ValueError(
                f"Only one {name} counts (1 sample); two are needed, because each is scored without itself."
            )


def _log(values: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(values)
