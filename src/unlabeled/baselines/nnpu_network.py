"""The part of NNPU that needs PyTorch: the network, the two sides of Algorithm 1, and training.

Loaded when a classifier is fitted, never by ``import unlabeled``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unlabeled.arrays import FloatArray
from unlabeled.stages import stage

#: Losses of the margin z = y g(x), by the names users write.
LOSSES: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": lambda margin: torch.sigmoid(-margin),
    "logistic": lambda margin: nn.functional.softplus(-margin),
}
OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
HIDDEN_WIDTHS = (300, 300, 300)
#: Rows that go through the network at once where no gradient is kept; bounds the memory.
CHUNK = 65_536


class Epoch(NamedTuple):
    """What is known after an epoch: counted from 1, mean objective of its batches, risk of the held-out rows."""

    epoch: int
    objective: float
    validation_risk: float


def paper_network(n_features: int) -> nn.Module:
    """The paper's d-300-300-300-1, batch normalisation before each ReLU."""
    widths = (n_features, *HIDDEN_WIDTHS)
    layers: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        # The normalisation has a bias of its own.
        layers += [nn.Linear(width_in, width_out, bias=False), nn.BatchNorm1d(width_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 1))


def network_of_weights(weights: dict[str, np.ndarray], n_features: int) -> nn.Module:
    """The paper's network with these weights, as it answers: in double precision and evaluation mode."""
    first = weights.get("0.weight")
    if first is None or first.shape != (HIDDEN_WIDTHS[0], n_features):
        raise ValueError(f"The weights are not those of a network for {n_features} features.")
    with own_randomness(0, torch.device("cpu")):  # its first weights are drawn, in vain
        network = paper_network(n_features).double().eval()
    network.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in weights.items()})
    return network


@dataclass(frozen=True)
class PURisk:
    """The non-negative risk of Kiryo et al. (2017): what is reported, and what is followed.

    The risk has two parts. With l the loss of a margin, R_p^+ = mean_P l(g), R_p^- = mean_P l(-g) and
    R_u^- = the mean of l(-g) over the population,

        positive part = prior R_p^+              negative part = R_u^- - prior R_p^-

    The negative part estimates the loss on negatives, which cannot be below 0; a flexible network drives it there.
    In the single-sample scenario positives are the share ``labelled_share`` of the population.
    """

    prior: float
    loss: Callable[[Tensor], Tensor]
    nonnegative: bool = True
    beta: float = 0.0
    gamma: float = 1.0
    labelled_share: float = 0.0

    def parts(self, positive: Tensor, unlabeled: Tensor) -> tuple[Tensor, Tensor]:
        """The positive and the negative part, from the network's outputs on the two samples."""
        positive_as_negative = self.loss(-positive).mean()
        unlabeled_as_negative = self.loss(-unlabeled).mean()
        population = self.labelled_share * positive_as_negative + (1 - self.labelled_share) * unlabeled_as_negative
        return self.prior * self.loss(positive).mean(), population - self.prior * positive_as_negative

    def reported(self, positive_part: Tensor, negative_part: Tensor) -> Tensor:
        """The objective: positive part + max(0, negative part), or their plain sum (uPU)."""
        return positive_part + (negative_part.clamp(min=0) if self.nonnegative else negative_part)

    def followed(self, positive_part: Tensor, negative_part: Tensor) -> Tensor:
        """A number whose gradient is the one to step against (Algorithm 1).

        While the negative part is -beta or more: the plain sum. Below, the batch is overfitted: go back up along
        ``-gamma * negative part``, leaving the positive part alone.
        """
        if self.nonnegative and negative_part.item() < -self.beta:
            return -self.gamma * negative_part
        return positive_part + negative_part


class Rows(NamedTuple):
    """Rows of the two samples as tensors on the device."""

    positive: Tensor
    unlabeled: Tensor


@dataclass(frozen=True)
class Schedule:
    """How long to train, in which batches, whom to tell, and whether to end with the last epoch or the best."""

    n_epochs: int
    batch_size: int
    patience: int | None = None
    callback: Callable[[Epoch], object] | None = None
    keep_last: bool = False


def select_device(device: str) -> torch.device:
    """The device to train on: ``"auto"`` is CUDA where there is one, else the CPU."""
    has_cuda = torch.cuda.is_available()
    try:
        chosen = torch.device(("cuda" if has_cuda else "cpu") if device == "auto" else device)
    except RuntimeError:
        raise ValueError(f"device={device!r} is not known; use 'auto', 'cpu', 'cuda' or 'cuda:0'.") from None
    if chosen.type == "cuda" and not has_cuda:
        raise ValueError(f"device={device!r} is asked for, but PyTorch sees no CUDA device; use 'auto' or 'cpu'.")
    return chosen


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Seed what networks draw from (initial weights, dropout), and leave the caller's random state as it was."""
    on_cuda = device.type == "cuda"
    devices = [device.index if device.index is not None else torch.cuda.current_device()] if on_cuda else []
    with torch.random.fork_rng(devices=devices):
        torch.default_generator.manual_seed(seed)
        for index in devices:
            with torch.cuda.device(index):
                torch.cuda.manual_seed(seed)
        yield


def build_network(factory: Callable[[int], nn.Module] | None, n_features: int) -> nn.Module:
    """The network of a factory, checked as far as one can without data."""
    network = (factory or paper_network)(n_features)
    if not isinstance(network, nn.Module):
        raise TypeError(f"network(n_features) must return a torch.nn.Module; it returned {type(network).__name__}.")
    return network


def train(
    network: nn.Module,
    kept: Rows,
    held: Rows,
    risk: PURisk,
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
    rng: np.random.RandomState,
) -> tuple[list[Epoch], int]:
    """Train in place and end with the weights of the epoch that is kept; the history and the number of that epoch.

    It is the one of the best validation risk, of equals the first; or the last.
    """
    history: list[Epoch] = []
    best, weights = Epoch(0, np.inf, np.inf), None
    for number in range(1, schedule.n_epochs + 1):
        with stage("training", f"epoch {number} of at most {schedule.n_epochs}"):
            objective = _train_epoch(network, kept, risk, optimizer, schedule.batch_size, rng)
        history.append(Epoch(number, objective, validation_risk(network, held, risk)))
        if schedule.callback is not None:
            schedule.callback(history[-1])
        if history[-1].validation_risk < best.validation_risk:
            best, weights = history[-1], copy.deepcopy(network.state_dict())
        if schedule.patience is not None and number - best.epoch >= schedule.patience:
            break
    if weights is None or (schedule.keep_last and not np.isfinite(history[-1].validation_risk)):
        raise ValueError(f"{diverged(schedule)} Lower learning_rate, or use standardize=True.")
    if schedule.keep_last:
        return history, history[-1].epoch
    network.load_state_dict(weights)
    return history, best.epoch


def diverged(schedule: Schedule) -> str:
    """What to say of training that ended with nothing to keep."""
    which = "the last epoch has no" if schedule.keep_last else "no epoch has a"
    return f"Training diverged: {which} finite validation risk."


def _train_epoch(
    network: nn.Module,
    kept: Rows,
    risk: PURisk,
    optimizer: torch.optim.Optimizer,
    batch_size: int,
    rng: np.random.RandomState,
) -> float:
    network.train()
    objectives = []
    for positive, unlabeled in stratified_batches(len(kept.positive), len(kept.unlabeled), batch_size, rng):
        # One pass for both samples, so that batch normalisation sees them together.
        rows = torch.cat([kept.positive[positive], kept.unlabeled[unlabeled]])
        output = forward(network, rows)
        parts = risk.parts(output[: len(positive)], output[len(positive) :])
        optimizer.zero_grad()
        risk.followed(*parts).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        objectives.append(risk.reported(*parts).item())
    return float(np.mean(objectives))


def stratified_batches(
    n_positive: int, n_unlabeled: int, batch_size: int, rng: np.random.RandomState
) -> Iterator[tuple[Tensor, Tensor]]:
    """Random batches with both samples in proportion: indices of positives and of unlabeled rows.

    Each row comes once. Where there are more batches than rows of a sample, its rows come again, equally often, so that
    no batch is without.
    """
    n_batches = -(-(n_positive + n_unlabeled) // batch_size)

    def parts(n_rows: int) -> list[np.ndarray]:
        rounds = -(-n_batches // n_rows)
        return np.array_split(np.concatenate([rng.permutation(n_rows) for _ in range(rounds)]), n_batches)

    for positive, unlabeled in zip(parts(n_positive), parts(n_unlabeled), strict=True):
        yield torch.from_numpy(positive), torch.from_numpy(unlabeled)


def validation_risk(network: nn.Module, held: Rows, risk: PURisk) -> float:
    """The objective on held-out rows, the network as it will be used."""
    return risk.reported(*risk.parts(outputs(network, held.positive), outputs(network, held.unlabeled))).item()


def outputs(network: nn.Module, rows: Tensor) -> Tensor:
    """The network's answers (n_rows,) in evaluation mode, without gradients."""
    network.eval()
    with torch.no_grad():
        return torch.cat([forward(network, chunk) for chunk in torch.split(rows, CHUNK)])


def forward(network: nn.Module, rows: Tensor) -> Tensor:
    """One number for each row (n_rows,)."""
    output: Tensor = network(rows)
    if output.shape not in {(len(rows),), (len(rows), 1)}:
        raise ValueError(
            f"The network answers with shape {tuple(output.shape)} for {len(rows)} rows; it must give one number a row."
        )
    return output.reshape(len(rows))


def as_tensor(rows: FloatArray, device: torch.device | None = None, dtype: torch.dtype = torch.float32) -> Tensor:
    """Rows as a tensor: single precision to train, double to answer."""
    return torch.as_tensor(rows, dtype=dtype, device=device)
