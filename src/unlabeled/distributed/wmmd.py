"""`WMMDClassifier` on a Dask cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from dask.utils import format_bytes
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.deciding.thresholds import Policy
from unlabeled.distributed.classifier import (
    LARGEST_LOCAL,
    DistributedClassifier,
    parameters_of_one_machine,
    with_answers_of,
)
from unlabeled.distributed.compression import check_compress, compress_partitions
from unlabeled.distributed.samples import DistributedSample, UnlabeledRows, changed
from unlabeled.distributed.scoring import KernelScore, Scorer
from unlabeled.kernels import Kernel, as_gammas
from unlabeled.priors import PriorEstimator, ResolvedPrior
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.candidate import Candidate
from unlabeled.scoring.compression import Compression, Target
from unlabeled.scoring.copies import LEAST_ROWS
from unlabeled.scoring.ratio import Ratio
from unlabeled.stages import stage


class DaskWMMDClassifier(DistributedClassifier, WMMDClassifier):
    """`WMMDClassifier` for tables in the partitions of a Dask cluster: the same parameters, attributes and answers.

    Partitions are gathered nowhere. `fit` reads them a few times: for their labels, for means and deviations, for the
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
        The hold-out of the paper keeps 80 % of the rows, and is for one machine; so is ``floor``, which goes with it.
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
    ...     print(isinstance(labels, da.Array), int(labels.sum().compute()) > 100)
    True True
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
        negative: Any = None,
        negatives_are: str | float = "auto",
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
            negative=negative,
            negatives_are=negatives_are,
            engine=engine,
            max_evaluations=max_evaluations,
            random_state=random_state,
            n_jobs=n_jobs,
            pos_label=pos_label,
            verbose=verbose,
            exact=exact,
        )
        self.client = client

    def _refuse_what_needs_one_machine(self) -> None:
        super()._refuse_what_needs_one_machine()
        if self.selection == "holdout":
            raise ValueError(
                "selection='holdout' keeps a random 80 % of the rows, and is for one machine; use selection='loo'."
            )
        check_compress(self.compress)
        if not self._automatic_grid():
            as_gammas(self.gamma)

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_evaluations(pu)
        self._drawn_seed = super()._seed()
        try:
            with stage("rows to choose by"):
                self._fetch_at_once(pu, self._drawn_seed)
            super()._fit(pu, prior)
        finally:
            self.__dict__.pop("_drawn_seed", None)
        self.compression_ = self._compression(self.compress)
        return self

    def _seed(self) -> int:
        return self._drawn_seed

    def _at_hand(self, chosen: Candidate, complete: PUSample) -> tuple[Candidate, PUSample]:
        """Where all rows are evaluated they are here, and copies of them are merged as on one machine."""
        places = chosen.places
        if places is None or len(places[1]) < max(LEAST_ROWS, len(complete.unlabeled)):
            return chosen, complete
        sample = replace(chosen.sample, unlabeled=chosen.sample.unlabeled.take(places[1]))
        return replace(chosen, sample=sample), replace(complete, unlabeled=complete.unlabeled.take(places[1]))

    def _scorer(self) -> Scorer:
        shell = with_answers_of(WMMDClassifier(**parameters_of_one_machine(self)), self)
        return Scorer(shell, self._kernel_score())

    def _kernel_score(self) -> KernelScore:
        compressed = None if self.compression_ is None else self.compression_.ratios
        of_rounds: tuple[Ratio, ...] = () if compressed is not None else tuple(self._round_ratios())
        pu = self.sample_
        return KernelScore(
            self.scaling_,
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
        local = WMMDClassifier(**parameters_of_one_machine(self))
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
                    f"The {len(pu.unlabeled):,} unlabeled rows take {format_bytes(needed)}, and up to "
                    f"{format_bytes(max_bytes)} are brought here. Allow more by max_bytes, or compress: "
                    "model.compressed(10_000).to_local()."
                )
            unlabeled = _changed_here(table, pu.unlabeled)
        local.sample_ = PUSample(pu.positive, unlabeled, pu.scenario)
        return local

    # --- what is for one machine ---

    def witness(self, X: Any) -> FloatArray:
        """Of one machine: its norm takes all pairs of rows."""
        raise NotImplementedError("The witness takes all pairs of training rows: use to_local().witness(X).")


def _changed_here(table: UnlabeledRows, sample: DistributedSample | Sample) -> Sample:
    """All rows of a sample, brought to this process."""
    here = table.all_rows()
    return changed(here, sample.changes) if isinstance(sample, DistributedSample) else here
