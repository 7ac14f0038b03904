"""NNPU: a neural network trained on the non-negative PU risk (Kiryo, Niu, du Plessis and Sugiyama, 2017)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.contract import PUClassifierMixin, two_columns
from unlabeled.priors import PriorEstimator, resolve_prior
from unlabeled.samples import PUSample, random_split
from unlabeled.scoring.scaling import refuse_large_values
from unlabeled.stages import stage

if TYPE_CHECKING:
    import torch

LOSSES = ("sigmoid", "logistic")
OPTIMIZERS = ("sgd", "adam")
KEPT = ("best", "last")
#: Standardised values are cut off here: beyond, single precision overflows and the answer would be NaN.
FARTHEST = 1e6


class NNPUClassifier(PUClassifierMixin, BaseEstimator):
    """Neural network trained on the non-negative risk of positive and unlabeled data (Kiryo et al., 2017).

    With l the loss of a margin, the error on negatives is estimated by the *negative part*
    ``mean_U l(-g) - prior * mean_P l(-g)``. A flexible network drives that estimate below 0, where it is meaningless.
    Algorithm 1 of the paper has two sides, and both are here:

    - *Reported* is the objective ``prior * mean_P l(g) + max(0, negative part)``, as ``objective`` in ``history_``
      and, on the held-out rows, as ``validation_risk``.
    - *Followed* is, in each batch, the gradient of ``prior * mean_P l(g) + negative part`` while the negative part is
      ``-beta`` or more; below, the gradient of ``-gamma * negative part`` alone, which leads back up.

    A random fifth of each sample is held out, and the weights of the epoch with the best validation risk are kept, or
    those of the last (``keep``).

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="dedpul"
        P(y = 1) in the population, or how to estimate it (names: `unlabeled.priors.PRIORS`). The risk makes the
        network call about this share of the unlabeled rows positive, so an estimate that is too large does harm.
    network : callable or None, default=None
        Called with the number of features, returns a `torch.nn.Module` that gives one number for each row. None: the
        paper's d-300-300-300-1 with batch normalisation before each ReLU.
    loss : {"sigmoid", "logistic"}, default="sigmoid"
        ``1 / (1 + exp(z))`` or ``log(1 + exp(-z))`` of the margin z.
    nonnegative : bool, default=True
        False gives uPU (du Plessis et al., 2015): the plain sum of both parts is reported and followed.
    beta : float, default=0.0
        How far below 0 the negative part of a batch may be before its gradient is turned.
    gamma : float in [0, 1], default=1.0
        Factor of the turned gradient. Adam rescales gradients, so with it a constant gamma counts for less.
    optimizer : {"sgd", "adam"}, default="sgd"
    learning_rate : float, default=0.01
    n_epochs : int, default=100
        The most passes over the training rows.
    batch_size : int, default=128
        Rows in a batch, positives and unlabeled in the proportion of the training rows.
    patience : int or None, default=20
        Stop after this many epochs without a better validation risk. None: never.
    keep : {"best", "last"}, default="best"
        The epoch whose weights are kept: that of the best validation risk, or the last that was run. With few rows the
        validation risk says little, and the best may come before much was learned.
    standardize : bool, default=True
        Bring each feature to mean 0 and variance 1 first. Without, raw scales can make training fail.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the population is the unlabeled rows, or labelled and unlabeled rows together. The mean over U above is
        a mean over the population.
    device : str, default="auto"
        Where to train, as PyTorch names it; ``"auto"`` is CUDA where there is one, else the CPU.
    callback : callable or None, default=None
        Called after each epoch with ``(epoch, objective, validation_risk)``, a named tuple.
    random_state : int, RandomState or None, default=None
        Decides the split, the batches and the initial weights. PyTorch's own random state is left alone.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    prior_ : float
        The prior in use.
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    network_ : torch.nn.Module
        The trained network, on the CPU, in double precision and evaluation mode.
    history_ : list of (epoch, objective, validation_risk)
        Named tuples, one for each epoch, counted from 1.
    best_epoch_ : int
        The epoch whose weights were kept.
    device_ : str
        Where it was trained.
    scaler_ : StandardScaler or None
    n_features_in_ : int
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    Needs PyTorch: ``pip install 'unlabeled[torch]'``.

    `fit` takes no ``sample_weight``: elsewhere in this library a weight of 2 equals the row twice, and random batches
    cannot promise that. Repeat the rows instead.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import NNPUClassifier
    >>> model = NNPUClassifier(prior=0.5, n_epochs=5, random_state=0)  # needs torch
    >>> model = model.fit(data.X, data.y)  # doctest: +SKIP
    >>> model.predict(data.test)  # doctest: +SKIP
    """

    keep: str = "best"  # what models that were saved before have
    verbose: bool = False

    def __init__(
        self,
        prior: float | str | PriorEstimator = "dedpul",
        *,
        network: Callable[[int], torch.nn.Module] | None = None,
        loss: str = "sigmoid",
        nonnegative: bool = True,
        beta: float = 0.0,
        gamma: float = 1.0,
        optimizer: str = "sgd",
        learning_rate: float = 0.01,
        n_epochs: int = 100,
        batch_size: int = 128,
        patience: int | None = 20,
        keep: str = "best",
        standardize: bool = True,
        scenario: str = "case-control",
        device: str = "auto",
        callback: Callable[[Any], object] | None = None,
        random_state: int | np.random.RandomState | None = None,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.prior = prior
        self.network = network
        self.loss = loss
        self.nonnegative = nonnegative
        self.beta = beta
        self.gamma = gamma
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.patience = patience
        self.keep = keep
        self.standardize = standardize
        self.scenario = scenario
        self.device = device
        self.callback = callback
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        prior: float | str | PriorEstimator = "km1",
        *,
        random_state: int | np.random.RandomState | None = None,
        **options: Any,
    ) -> Self:
        """The configuration of the WMMD paper's appendix D.2; ``options`` override it.

        Network d-300-300-300-1, sigmoid loss, SGD with learning rate 0.01, 100 epochs, the weights of the best
        validation risk, as the text says; where the prior is not given, the KM1 estimate, as in the paper's Experiment
        3. The paper is silent on batches and on scaling: batches of 100 rows, raw features.

        Examples
        --------
        >>> from unlabeled import NNPUClassifier
        >>> NNPUClassifier.paper(0.3).prior
        0.3
        """
        chosen: dict[str, Any] = {
            "optimizer": "sgd",
            "learning_rate": 0.01,
            "n_epochs": 100,
            "batch_size": 100,
            "patience": None,
            "standardize": False,
        }
        return cls(prior, random_state=random_state, **(chosen | options))

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # type: ignore[override]  # it takes no weights
        """Train the network.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Which rows are labelled positive: two values, spelled as `WMMDClassifier.fit` takes them.
        """
        return super().fit(X, y)

    def _fit(self, pu: PUSample) -> Self:
        self._check_parameters()
        if pu.positive.log_weights is not None or pu.unlabeled.log_weights is not None:
            raise ValueError("NNPUClassifier takes no weights: random batches cannot count them. Repeat the rows.")
        refuse_large_values(pu, self)
        with stage("prior"):
            self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
        rng = check_random_state(self.random_state)
        self.scaler_ = None
        if self.standardize:
            self.scaler_ = StandardScaler().fit(np.concatenate([pu.positive.rows, pu.unlabeled.rows]))
        self._train(pu, rng, _pytorch_part())
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The network's output: `predict` answers positive where this is above 0.

        Examples
        --------
        >>> from unlabeled import NNPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = NNPUClassifier(prior=0.5, n_epochs=5, random_state=0).fit(data.X, data.y)  # doctest: +SKIP
        >>> model.decision_function(data.test).shape  # doctest: +SKIP
        (100,)
        """
        rows = self._scaled(self._validated(X))
        part = _pytorch_part()
        # Double precision, so that a row's answer does not depend on the rows beside it.
        return part.outputs(self.network_, part.as_tensor(rows, dtype=part.torch.float64)).numpy()

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """The logistic function of the decision in the second column, and its complement in the first.

        Above 1/2 exactly where `predict` answers positive. With the sigmoid loss these rank and decide, but are not
        calibrated: that loss rewards being on the right side, not being honest about how sure.

        Examples
        --------
        >>> from unlabeled import NNPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = NNPUClassifier(prior=0.5, n_epochs=5, random_state=0).fit(data.X, data.y)  # doctest: +SKIP
        >>> model.predict_proba(data.test).shape  # doctest: +SKIP
        (100, 2)
        """
        decision = self.decision_function(X)
        return two_columns(expit(decision), decision)

    def __getstate__(self) -> dict[str, Any]:
        """The paper's network as its arrays, which need no PyTorch to be written and run nothing when they are read."""
        state = dict(super().__getstate__())
        if self.network is None and "network_" in state:
            tensors = state.pop("network_").state_dict()
            state["_weights"] = {name: tensor.numpy() for name, tensor in tensors.items()}
            state["history_"] = [tuple(epoch) for epoch in state["history_"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        weights = state.pop("_weights", None)
        super().__setstate__(state)
        if weights is not None:
            part = _pytorch_part()
            width = self.n_features_in_ if self.encoder_ is None else self.encoder_.n_features_out_
            self.network_ = part.network_of_weights(weights, width)
            self.history_ = [part.Epoch(*epoch) for epoch in state["history_"]]

    def _train(self, pu: PUSample, rng: np.random.RandomState, part: ModuleType) -> None:
        device = part.select_device(self.device)
        samples = [
            part.Rows(
                *(part.as_tensor(self._scaled(sample.rows), device) for sample in (rows.positive, rows.unlabeled))
            )
            for rows in _split(pu, rng)
        ]
        risk = part.PURisk(
            self.prior_, part.LOSSES[self.loss], self.nonnegative, self.beta, self.gamma, pu.labelled_share
        )
        schedule = part.Schedule(self.n_epochs, self.batch_size, self.patience, self.callback, self.keep == "last")
        with part.own_randomness(int(rng.randint(2**31 - 1)), device):
            network = part.build_network(self.network, pu.positive.rows.shape[1]).to(device)
            optimizer = part.OPTIMIZERS[self.optimizer](network.parameters(), lr=self.learning_rate)
            self.history_, self.best_epoch_ = part.train(network, *samples, risk, optimizer, schedule, rng)
        self.network_, self.device_ = network.to("cpu").double().eval(), str(device)

    def _job(self, pu: PUSample, together: ModuleType) -> Any:
        """What `_train` would do, to be done beside others. Sets everything but the network."""
        self._check_parameters()
        self.prior_, self.prior_estimator_ = resolve_prior(self.prior, pu)
        rng, self.scaler_, part = check_random_state(self.random_state), None, _pytorch_part()
        samples = [
            part.Rows(*(part.as_tensor(sample.rows) for sample in (rows.positive, rows.unlabeled)))
            for rows in _split(pu, rng)
        ]
        loss = part.LOSSES[self.loss]
        risk = part.PURisk(self.prior_, loss, self.nonnegative, self.beta, self.gamma, pu.labelled_share)
        return together.Job(*samples, risk, int(rng.randint(2**31 - 1)), rng)

    def _scaled(self, rows: FloatArray) -> FloatArray:
        if self.scaler_ is None:
            return rows
        return np.clip(self.scaler_.transform(rows), -FARTHEST, FARTHEST)

    def _check_parameters(self) -> None:
        for name, known in (("loss", LOSSES), ("optimizer", OPTIMIZERS), ("keep", KEPT)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; use one of {list(known)}.")
        for name in ("n_epochs", "batch_size", "patience"):
            value = getattr(self, name)
            if not (isinstance(value, Integral) and int(value) >= 1) and not (name == "patience" and value is None):
                raise ValueError(f"{name} must be a whole number above 0; got {value!r}.")
        _check_number("learning_rate", self.learning_rate, "above 0", lambda value: value > 0)
        _check_number("beta", self.beta, "0 or more", lambda value: value >= 0)
        _check_number("gamma", self.gamma, "in [0, 1]", lambda value: 0 <= value <= 1)
        for name in ("network", "callback"):
            value = getattr(self, name)
            if not (value is None or callable(value)):
                raise ValueError(f"{name} must be callable or None; got {value!r}.")


#: What models that are fitted together have in common.
_SHARED = ("loss", "nonnegative", "beta", "gamma", "learning_rate", "n_epochs", "batch_size", "keep", "scenario")


def fit_together(
    models: Sequence[NNPUClassifier], samples: Sequence[tuple[ArrayLike, ArrayLike]], device: str = "auto"
) -> Sequence[NNPUClassifier]:
    """Fit each model to its own table ``(X, y)``, all networks at once: the same fits, to rounding error, sooner.

    For many small tables, as in an experiment that is repeated: one step serves all networks. Models are those of
    `NNPUClassifier.paper`, with priors and random states of their own; tables have the same number of columns,
    positives and unlabeled rows.

    Examples
    --------
    >>> from unlabeled.baselines.nnpu import NNPUClassifier, fit_together
    >>> from unlabeled.datasets import make_gaussians
    >>> tables = [make_gaussians(20, 60, prior=0.5, random_state=seed) for seed in range(3)]
    >>> models = [NNPUClassifier.paper(0.5, n_epochs=2, random_state=seed) for seed in range(3)]
    >>> fitted = fit_together(models, [(table.X, table.y) for table in tables])
    >>> [model.best_epoch_ for model in fitted] == [m.fit(t.X, t.y).best_epoch_ for m, t in zip(models, tables)]
    True
    """
    part = _pytorch_part()
    import unlabeled.baselines.nnpu_together as together  # noqa: PLC0415 (it loads PyTorch)

    first = models[0]
    for model in models:
        _check_fits_together(model, first)
    where = part.select_device(device)
    jobs = [model._job(model._pu_sample(X, y, None), together) for model, (X, y) in zip(models, samples, strict=True)]
    if len({job.shape for job in jobs}) > 1:
        raise ValueError("Tables that are fitted together must have equal numbers of columns, positives and unlabeled.")
    schedule = part.Schedule(first.n_epochs, first.batch_size, keep_last=first.keep == "last")
    trained = together.train_together(jobs, schedule, first.learning_rate, where)
    for model, one in zip(models, trained, strict=True):
        if one.kept_epoch == 0:
            raise ValueError(f"{part.diverged(schedule)} Lower learning_rate.")
        model.network_, model.history_, model.best_epoch_ = one
        model.device_ = str(where)
    return models


def _check_fits_together(model: NNPUClassifier, first: NNPUClassifier) -> None:
    other = [name for name in _SHARED if getattr(model, name) != getattr(first, name)]
    if other:
        raise ValueError(f"Models that are fitted together must agree in {other[0]}; fit them one by one.")
    wanted = {"network": None, "callback": None, "patience": None, "optimizer": "sgd", "standardize": False}
    for name, value in wanted.items():
        if getattr(model, name) != value:
            raise ValueError(
                f"{name}={getattr(model, name)!r} cannot be fitted together with others, only {name}={value!r}; "
                "use fit."
            )


def _check_number(name: str, value: object, accepted: str, accepts: Callable[[float], bool]) -> None:
    if not (isinstance(value, Real) and np.isfinite(float(value)) and accepts(float(value))):
        raise ValueError(f"{name} must be a finite number {accepted}; got {value!r}.")


def _split(pu: PUSample, rng: np.random.RandomState) -> tuple[PUSample, PUSample]:
    """A random 80 % of each sample to train on, and the other 20 %; at least one row of each on either side."""
    kept, held = zip(*(random_split(len(sample), rng) for sample in (pu.positive, pu.unlabeled)), strict=True)
    return pu.take(*kept), pu.take(*held)


def _pytorch_part() -> ModuleType:
    """The module that needs PyTorch, loaded when it is needed."""
    try:
        import unlabeled.baselines.nnpu_network as part  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            "NNPUClassifier needs PyTorch, which is not installed. Run: pip install 'unlabeled[torch]'"
        ) from error
    return part
