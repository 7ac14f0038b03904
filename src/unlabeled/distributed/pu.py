"""`PUClassifier` on a Dask cluster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from distributed import Client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unlabeled.classifiers.least_squares import LeastSquaresPUClassifier
from unlabeled.classifiers.pu import PARTS, Part, PUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.deciding.thresholds import Policy
from unlabeled.distributed.classifier import (
    LARGEST_LOCAL,
    DistributedClassifier,
    parameters_of_one_machine,
    with_answers_of,
)
from unlabeled.distributed.compression import check_compress
from unlabeled.distributed.learners import ClusterScore, fit_on_a_worker, learner_of
from unlabeled.distributed.least_squares import ClusterLeastSquares
from unlabeled.distributed.scoring import Scorer
from unlabeled.distributed.wmmd import DaskWMMDClassifier
from unlabeled.priors import PriorEstimator, ResolvedPrior
from unlabeled.samples import PUSample, some_rows
from unlabeled.scoring.compression import Target
from unlabeled.scoring.selection import some_places
from unlabeled.stages import stage

#: Parameters that the classifier of one machine does not have.
_OF_THE_CLUSTER = ("max_sample", "compress")


class DaskPUClassifier(DistributedClassifier, PUClassifier):
    """`PUClassifier` for tables in the partitions of a Dask cluster.

    The parts are those of `PUClassifier`. Which rows each of them learns from is not the same:

    - distances ("wmmd"): all rows, as `DaskWMMDClassifier`.
    - the fitted ratio ("least-squares"): means and second moments of all rows, by one pass over the partitions.
      Landmarks, weights of kernels and honest scores are those of at most ``max_evaluations`` rows of each sample. One
      machine takes the moments from these rows as well, so that with more rows its answers are others.
    - the learned score ("score"): by default boosted trees on all positives and a sample of ``max_sample`` unlabeled
      rows, on one worker. Up to that many rows the answers are those of one machine; of more, trees see a sample. A
      classifier that trains on the whole cluster is used where it is asked for: ``estimator="lightgbm"``,
      ``"xgboost"``, or ``"dask"`` for the one that is installed; these hold the table in the memory of the workers.

    Parameters
    ----------
    prior, threshold, n_folds, scenario, engine, max_evaluations, random_state, n_jobs, pos_label, verbose
        As for `PUClassifier`; priors that need all rows in one place are refused, as by `DaskWMMDClassifier`.
    estimator : classifier, {"dask", "lightgbm", "xgboost"} or None, default=None
        What learns the learned score. None, or a classifier of yours: on the sample.
    parts : dict, optional
        As for `PUClassifier`; what you give here learns from the sample.
    max_sample : int, default=200000
        The most unlabeled rows that go to the one worker, beside those that are evaluated: 200,000 rows of 100
        features take 160 MB there, and about as much again while trees are grown.
    compress : int, float or None, default=None
        As for `WMMDClassifier`, of the score by distances: without it every block of new rows meets every partition.
    client : distributed.Client or None, default=None
        None: the current one.

    Attributes
    ----------
    client_ : distributed.Client
        The client in use.
    n_sampled_ : int
        Unlabeled rows that the learned score, and parts of yours, have learned from.
    sample_ : PUSample
        The labelled positives, and the unlabeled rows where they are.

    Others are as for `PUClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client, LocalCluster
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.distributed import DaskPUClassifier
    >>> data = make_gaussians(100, 400, random_state=0)
    >>> X, y = da.from_array(data.X, chunks=(200, -1)), da.from_array(data.y, chunks=200)
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster, Client(cluster):
    ...     model = DaskPUClassifier(prior=0.5).fit(X, y)
    ...     labels = model.predict(X).compute()
    >>> model.n_sampled_, int(labels.sum()) > 100
    (400, True)
    """

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        estimator: Any = None,
        parts: dict[str, Any] | None = None,
        threshold: Policy = "calibrated",
        n_folds: int = 5,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        pos_label: Any = None,
        verbose: bool = False,
        max_sample: int = 200_000,
        compress: Target | None = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            prior,
            estimator=estimator,
            parts=parts,
            threshold=threshold,
            n_folds=n_folds,
            scenario=scenario,
            engine=engine,
            max_evaluations=max_evaluations,
            random_state=random_state,
            n_jobs=n_jobs,
            pos_label=pos_label,
            verbose=verbose,
        )
        self.max_sample = max_sample
        self.compress = compress
        self.client = client

    # --- learning ---

    def _refuse_what_needs_one_machine(self) -> None:
        super()._refuse_what_needs_one_machine()
        self._learner = learner_of(self.estimator)
        if isinstance(self.max_sample, bool) or not isinstance(self.max_sample, int) or self.max_sample < 1:
            raise ValueError(f"max_sample must be a whole number of rows above 0; got {self.max_sample!r}.")
        self._described_parts()  # refuses what is wrong with parts
        check_compress(self.compress)

    def _check_estimator(self) -> None:
        if learner_of(self.estimator) is None:
            super()._check_estimator()

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_evaluations(pu)
        self.sample_, self._drawn_seed = pu, super()._seed()
        try:
            with stage("rows to choose by"):
                self._fetch_at_once(pu, self._drawn_seed)
            self._sampled = self._places_of_sample(pu)
            self.n_sampled_ = len(self._sampled)
            return super()._fit(pu, prior)
        finally:
            for name in ("_drawn_seed", "_sampled", "_learner"):
                self.__dict__.pop(name, None)

    def _seed(self) -> int:
        return self._drawn_seed

    def _evaluated(self, pu: PUSample) -> np.ndarray:
        return some_places(pu, self.max_evaluations, np.random.RandomState(self._seed()))[1]

    def _places_of_sample(self, pu: PUSample) -> np.ndarray:
        """Unlabeled rows for one worker: those that are evaluated, and others at random."""
        others = some_rows(len(pu.unlabeled), self.max_sample, np.random.RandomState(self._seed()))
        return np.union1d(others, self._evaluated(pu))

    def _usual_parts(self) -> dict[str, Part]:
        own = {
            "wmmd": Part("distances", lambda _: DaskWMMDClassifier(compress=self.compress, client=self.client)),
            "score": Part("the learned score", self._unfitted_score),
        }
        return {name: own.get(name, part) for name, part in PARTS.items()}

    def _unfitted_score(self, _model: PUClassifier) -> ScoreWMMDClassifier:
        if self._learner is not None:
            return ClusterScore(n_folds=self.n_folds)
        estimator = None if self.estimator is None else clone(self.estimator)
        return ScoreWMMDClassifier(estimator, n_folds=self.n_folds)

    def _fitted_part(self, classifier: Any, pu: PUSample, prior: ResolvedPrior | None) -> Any:
        if isinstance(classifier, DaskWMMDClassifier):
            return classifier.fit_sample(pu, prior=prior)
        if type(classifier) is LeastSquaresPUClassifier:
            return ClusterLeastSquares(**classifier.get_params(deep=False)).fit_partitions(pu, prior)
        if isinstance(classifier, ClusterScore) and self._learner is not None:
            places = self._evaluated(pu)
            return classifier.fit_partitions(self._table(), pu, places, self._learner, prior)
        return fit_on_a_worker(classifier, pu, self._sampled, prior)

    # --- answering ---

    def _scorer(self) -> Scorer:
        shell = with_answers_of(PUClassifier(**parameters_of_one_machine(self, _OF_THE_CLUSTER)), self)
        weights = self.weights_ if len(self.parts_) > 1 else dict.fromkeys(self.parts_, 1.0)
        others, by_distances, weight = [], None, 0.0
        for name, part in self.parts_.items():
            if isinstance(part, DaskWMMDClassifier):
                by_distances, weight = part._kernel_score(), weights[name]
            else:
                others.append((weights[name], part))
        return Scorer(shell, by_distances, weight, tuple(others))

    def to_local(self, *, max_bytes: float = LARGEST_LOCAL) -> PUClassifier:
        """The same fitted classifier with its rows in this process; see `DaskWMMDClassifier.to_local`."""
        check_is_fitted(self)
        local = PUClassifier(**parameters_of_one_machine(self, _OF_THE_CLUSTER))
        for name, value in vars(self).items():
            if name not in self.get_params(deep=False) and name != "sample_":
                setattr(local, name, value)
        local.parts_ = {
            name: part.to_local(max_bytes=max_bytes) if isinstance(part, DaskWMMDClassifier) else part
            for name, part in self.parts_.items()
        }
        return local
