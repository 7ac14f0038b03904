"""`WMMDClassifier` on a Dask cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from dask import delayed
from distributed import Client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.deciding.thresholds import Policy
from unlabeled.distributed.compression import compress_partitions
from unlabeled.distributed.partitions import (
    Report,
    as_partitions,
    classes_of,
    count_labels,
    report,
    with_classes,
)
from unlabeled.distributed.running import of_each, running_client
from unlabeled.distributed.samples import DistributedSample, Held, UnlabeledRows, changed, stacked_samples
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
from unlabeled.kernels import Kernel
from unlabeled.priors import PriorEstimator, ResolvedPrior, as_prior_estimator, reads_scores
from unlabeled.priors.density import DensityPrior
from unlabeled.priors.score_based import ScorePrior
from unlabeled.samples import PUSample, Sample, count_missing, some_rows, warn_if_constant
from unlabeled.scoring.candidate import Candidate
from unlabeled.scoring.compression import Compression, Target
from unlabeled.scoring.copies import LEAST_ROWS
from unlabeled.scoring.forms import MOST_ROWS, Ranges
from unlabeled.scoring.ratio import Ratio
from unlabeled.scoring.scaling import N_PAIRS
from unlabeled.scoring.selection import judging_points, some_places
from unlabeled.stages import stage

#: The most labelled positives: they come to the client, and go to every worker.
MOST_POSITIVES = 1_000_000
#: The most rows of each sample that are given honest scores: these come to the client too.
MOST_EVALUATIONS = 1_000_000
#: Bytes of unlabeled rows that `to_local` brings to the client.
LARGEST_LOCAL = 1_000_000_000


class DaskWMMDClassifier(WMMDClassifier):
    """`WMMDClassifier` for tables in the partitions of a Dask cluster: the same parameters, attributes and answers.

    Partitions stay where they are. `fit` reads them a few times: for their labels, for means and deviations, for the
    rows that are evaluated, and for the kernel sums of these, which add up over partitions. The labelled positives and
    at most ``max_evaluations`` unlabeled rows (and up to 70,000 others, that units and gammas are chosen by) come to
    the client; what else leaves a partition are counts, moments and log sums. `predict`, `predict_proba` and
    `score_samples` answer with Dask arrays, or series and data frames, that have not been computed yet.

    Parameters
    ----------
    prior, kernel, gamma, scale, criterion, threshold, calibration, smoothing, compress, scenario, engine
        As for `WMMDClassifier`. Priors that are estimated from all rows ("km1", "km2", "elkan-noto") need these in one
        place, and are refused.
    selection : {"loo"}, default="loo"
        The hold-out of the paper keeps 80 % of the rows, and is for one machine.
    max_evaluations : int or None, default=10000
        As for `WMMDClassifier`; these rows come to the client, and None is taken up to a million rows.
    random_state : int, RandomState or None, default=None
        With a number, the answers are those of one machine.
    n_jobs : int or None, default=None
        Threads of a task. None: one, for a worker runs as many tasks at once as it has threads.
    pos_label, verbose, exact, refit
        As for `WMMDClassifier`; ``verbose`` shows Dask's progress bar.
    client : distributed.Client or None, default=None
        None: the current one.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    sample_ : PUSample
        The labelled positives, and the unlabeled rows where they are.

    Others are as for `WMMDClassifier`.

    Notes
    -----
    For any partitioning, the log score is that of `WMMDClassifier` on the same rows in the same order: to 1e-9 with
    ``exact=True``, else to 2e-6; what is chosen by scores (gamma, prior, threshold) is the same unless scores tie
    within that.

    A partition is made again for each pass over the table unless it is kept: ``X.persist()``, where the table fits in
    the memory of the cluster. It must be the same each time.

    Every block of new rows meets every partition: to score as many rows as there are takes all pairs. ``compress`` is
    for that.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client, LocalCluster
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.distributed import DaskWMMDClassifier
    >>> data = make_gaussians(100, 400, random_state=0)
    >>> X, y = da.from_array(data.X, chunks=(200, -1)), da.from_array(data.y, chunks=200)
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster, Client(cluster):
    ...     model = DaskWMMDClassifier(prior=0.5).fit(X, y)
    ...     labels = model.predict(X)  # nothing has been computed yet
    ...     print(type(labels).__name__, int(labels.sum().compute()) > 100)
    Array True
    """

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        kernel: str | Kernel = "rbf",
        gamma: str | float | tuple[float, ...] = "auto",
        scale: str = "auto",
        criterion: str = "likelihood",
        threshold: Policy = "calibrated",
        calibration: str = "monotone",
        selection: str = "loo",
        smoothing: str | int = "auto",
        refit: bool = False,
        compress: Target | None = None,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
        verbose: bool = False,
        exact: bool = False,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            prior,
            kernel=kernel,
            gamma=gamma,
            scale=scale,
            criterion=criterion,
            threshold=threshold,
            calibration=calibration,
            selection=selection,
            smoothing=smoothing,
            refit=refit,
            compress=compress,
            scenario=scenario,
            engine=engine,
            max_evaluations=max_evaluations,
            random_state=random_state,
            n_jobs=n_jobs,
            pos_label=pos_label,
            verbose=verbose,
            exact=exact,
        )
        self.client = client

    @property
    def client_(self) -> Client:
        """The client in use: the one given, or the current one."""
        return running_client(self.client)

    # --- learning ---

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table in partitions in which some rows are labelled positive.

        Parameters
        ----------
        X : Dask array of shape (n_samples, n_features) or Dask data frame
        y : Dask array or series of shape (n_samples,), or the name of a column
            Labels as for `WMMDClassifier.fit`. The name of a column of the data frame takes it out of the features.
        sample_weight : Dask array or series of shape (n_samples,), or the name of a column, optional
            How often each row counts.
        """
        with self._undone_if_stopped(), self._telling():
            self._refuse_what_needs_one_machine()
            return self._fit(self._distributed(X, y, sample_weight))

    def fit_sample(self, pu: PUSample, *, prior: ResolvedPrior | None = None) -> Self:  # noqa: ARG002
        """Samples that are separated are in memory: WMMDClassifier takes them."""
        raise TypeError("DaskWMMDClassifier learns from Dask arrays and data frames: use WMMDClassifier for samples.")

    def _refuse_what_needs_one_machine(self) -> None:
        _ = self.client_
        if self.selection == "holdout":
            raise ValueError(
                "selection='holdout' keeps a random 80 % of the rows, and is for one machine; use selection='loo'."
            )
        if isinstance(self.prior, str | PriorEstimator) and not reads_scores(self.prior):
            estimator = as_prior_estimator(self.prior)
            by_wmmd = isinstance(estimator, ScorePrior) and estimator.estimator is None
            if not (by_wmmd or isinstance(estimator, DensityPrior)):
                raise ValueError(
                    f"prior={self.prior!r} is estimated from all rows in one place. Use 'auto', 'density', 'best-bin' "
                    "or 'dedpul', or estimate it from a sample of the rows and give the number."
                )

    def _distributed(self, X: Any, y: Any, sample_weight: Any) -> PUSample:
        """Look at every partition, and separate the two samples: positives here, unlabeled rows where they are."""
        client, partitions = self.client_, as_partitions(X, y, sample_weight)
        numbers = list(range(len(partitions)))
        sources = partitions.label_blocks or partitions.labels
        with stage("labels"):
            tasks = [
                delayed(count_labels, name="unlabeled-labels")(partitions.layout, *given)
                for given in zip(sources, partitions.labels, partitions.weights, strict=True)
            ]
            counts = of_each(client, tasks, numbers, verbose=self.verbose)
            self.classes_ = classes_of(counts, self.pos_label)
        partitions = with_classes(partitions, self.classes_)
        with stage("a look at all rows"):
            given = zip(partitions.blocks, partitions.labels, partitions.weights, strict=True)
            tasks = [delayed(report, name="unlabeled-report")(partitions.layout, *each) for each in given]
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

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        at_most = self.max_evaluations
        n_scored = len(pu.unlabeled) if at_most is None else min(at_most, len(pu.unlabeled))
        if n_scored > MOST_EVALUATIONS:
            raise ValueError(
                f"max_evaluations={at_most!r} gives honest scores to {n_scored:,} unlabeled rows, which come to the "
                f"client; up to {MOST_EVALUATIONS:,} are taken. Give a smaller number: 10,000 is the default."
            )
        self._drawn_seed = super()._seed()
        try:
            with stage("rows to choose by"):
                self._fetch_at_once(pu)
            return super()._fit(pu, prior)
        finally:
            self.__dict__.pop("_drawn_seed", None)

    def _seed(self) -> int:
        return self._drawn_seed

    def _fetch_at_once(self, pu: PUSample) -> None:
        """Have all rows here that will be asked for, by one pass over the partitions."""
        population, n_first = pu.population, len(pu.positive) if pu.positives_in_population else 0
        for_medians = some_rows(len(population), MOST_ROWS, np.random.RandomState(0))
        for_gammas = population.observations(np.random.RandomState(0).uniform(size=(2, N_PAIRS))).ravel()
        of_population = np.concatenate([for_medians, for_gammas]) - n_first
        places = some_places(pu, self.max_evaluations, np.random.RandomState(self._seed()))
        points = judging_points(pu, places)
        others = [] if points is None else [points[1]]
        pu.unlabeled.wanted(np.concatenate([of_population[of_population >= 0], places[1], *others]))

    def _at_hand(self, chosen: Candidate, complete: PUSample) -> tuple[Candidate, PUSample]:
        """Where all rows are evaluated they are here, and copies of them are merged as on one machine."""
        places = chosen.places
        if places is None or len(places[1]) < max(LEAST_ROWS, len(complete.unlabeled)):
            return chosen, complete
        sample = replace(chosen.sample, unlabeled=chosen.sample.unlabeled.take(places[1]))
        return replace(chosen, sample=sample), replace(complete, unlabeled=complete.unlabeled.take(places[1]))

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
        decider = WMMDClassifier(**_parameters_of_one_machine(self))
        for name in ("prior_", "threshold_", "calibration_", "classes_", "scaling_", "gamma_"):
            setattr(decider, name, getattr(self, name))
        compressed = None if self.compression_ is None else self.compression_.ratios
        of_rounds: tuple[Ratio, ...] = () if compressed is not None else tuple(self._round_ratios())
        pu = self.sample_
        return Scorer(
            decider,
            self._kernels(self.gamma_),
            pu.positive,
            pu.scenario,
            pu.unlabeled.total,
            of_rounds,
            compressed,
        )

    def _compression(self, target: Target | None) -> Compression | None:
        if target is None:
            return None
        pu, of_rounds = self.sample_, self._round_ratios()
        ratio = Ratio(1 - sum(one.weight for one in of_rounds), self.gamma_, pu.positive, pu.positive)
        with stage("compression"):
            return compress_partitions(pu, ratio, of_rounds, target, self._kernels(self.gamma_))

    def _scored_by(self) -> Any:
        """Nothing is made beforehand: rows are elsewhere."""
        return None

    # --- on one machine ---

    def to_local(self, *, max_bytes: float = LARGEST_LOCAL) -> WMMDClassifier:
        """The same fitted classifier with its rows in this process.

        Parameters
        ----------
        max_bytes : float, default=1e9
            The most that the unlabeled rows may take here. A compressed classifier needs its few rows only, and is
            given the evaluated rows as its sample.

        Raises
        ------
        MemoryError
            Where they take more.
        """
        check_is_fitted(self)
        local = WMMDClassifier(**_parameters_of_one_machine(self))
        for name, value in vars(self).items():
            if name not in local.get_params() and name != "client":
                setattr(local, name, value)
        local._witness, local._without_copies = None, None
        table, pu = self._table(), self.sample_
        if self.compression_ is not None:
            unlabeled = pu.unlabeled.take(pu.unlabeled.places_of(self.honest_scores_.unlabeled_rows))
        else:
            needed = len(pu.unlabeled) * pu.unlabeled.n_features * np.dtype(table.partitions.layout.dtype).itemsize
            if needed > max_bytes:
                raise MemoryError(
                    f"The {len(pu.unlabeled):,} unlabeled rows take {needed / 1e9:.1f} GB, and up to "
                    f"{max_bytes / 1e9:.1f} GB are brought here. Allow more by max_bytes, or compress: "
                    "model.compressed(10_000).to_local()."
                )
            unlabeled = _changed_here(table, pu.unlabeled)
        local.sample_ = PUSample(pu.positive, unlabeled, pu.scenario)
        return local

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        """The client is the same one, and not copied."""
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        cloned = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**cloned, client=self.client)

    # --- what is for one machine ---

    def witness(self, X: Any) -> FloatArray:
        """Of one machine: its norm takes all pairs of rows."""
        raise NotImplementedError("The witness takes all pairs of training rows: use to_local().witness(X).")

    def adapt(self, X: Any, *, check: bool = True) -> Self:
        """Of one machine: use ``to_local()``."""
        raise NotImplementedError("A batch to adapt to fits one machine: use to_local().adapt(X).")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Of one machine: use ``to_local()``."""
        raise NotImplementedError("score ranks all rows in one place: use to_local().score(X, y).")


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


def _parameters_of_one_machine(model: DaskWMMDClassifier) -> dict[str, Any]:
    return {name: value for name, value in model.get_params(deep=False).items() if name != "client"}


def _changed_here(table: UnlabeledRows, sample: DistributedSample | Sample) -> Sample:
    """All rows of a sample, brought to this process."""
    here = table.all_rows()
    return changed(here, sample.changes) if isinstance(sample, DistributedSample) else here


def _log(values: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(values)
