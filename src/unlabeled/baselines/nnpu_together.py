"""Many small networks of NNPU trained at once: the algorithm of `nnpu_network`, with a leading axis for the networks.

A network for a few hundred rows keeps neither a processor nor a card busy. Here the weights of all networks are
stacked, each has its own rows, batches, prior and best epoch, and one product serves all. What each network learns is
what it learns alone, to rounding error.

Loaded when networks are fitted together, never by ``import unlabeled``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unlabeled.baselines.nnpu_network import (
    HIDDEN_WIDTHS,
    Epoch,
    PURisk,
    Rows,
    Schedule,
    own_randomness,
    paper_network,
    stratified_batches,
)
from unlabeled.stages import stage

#: Of PyTorch's batch normalisation.
EPSILON, MOMENTUM = 1e-5, 0.1


class Job(NamedTuple):
    """What one network is trained on, and the randomness it has alone: its seed and the state after the split."""

    kept: Rows
    held: Rows
    risk: PURisk
    seed: int
    rng: np.random.RandomState

    @property
    def shape(self) -> tuple[int, ...]:
        """Jobs of one shape can be trained together."""
        return tuple(size for rows in (*self.kept, *self.held) for size in rows.shape)


class Trained(NamedTuple):
    """A trained network with its history and the epoch that was kept; 0 where there was none."""

    network: nn.Module
    history: list[Epoch]
    kept_epoch: int


@dataclass
class Stack:
    """The paper's networks, stacked: parameters that are learned, and running means of the normalisations."""

    learned: dict[str, Tensor]
    running: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, networks: Sequence[nn.Module], device: torch.device) -> Stack:
        """Stack the weights of networks that were built one by one."""
        learned = [name for name, _ in networks[0].named_parameters()]
        running = [name for name, buffer in networks[0].named_buffers() if buffer.is_floating_point()]
        states = [network.state_dict() for network in networks]
        stacked = [
            {name: torch.stack([state[name] for state in states]).to(device) for name in names}
            for names in (learned, running)
        ]
        for tensor in stacked[0].values():
            tensor.requires_grad_()
        return cls(*stacked)

    def forward(self, rows: Tensor, *, training: bool) -> Tensor:
        """One number for each row of each network: (n_networks, n_rows, n_features) to (n_networks, n_rows)."""
        values = rows
        for layer in range(len(HIDDEN_WIDTHS)):
            values = values @ self.learned[f"{3 * layer}.weight"].transpose(1, 2)
            values = torch.relu(self._normalised(values, f"{3 * layer + 1}", training=training))
        last = f"{3 * len(HIDDEN_WIDTHS)}"
        output = values @ self.learned[f"{last}.weight"].transpose(1, 2) + self.learned[f"{last}.bias"][:, None, :]
        return output[:, :, 0]

    def _normalised(self, values: Tensor, name: str, *, training: bool) -> Tensor:
        if training:
            n_rows = values.shape[1]
            mean = values.mean(dim=1)
            variance = values.var(dim=1, correction=0)
            with torch.no_grad():
                for kind, seen in (("mean", mean), ("var", variance * (n_rows / (n_rows - 1)))):
                    self.running[f"{name}.running_{kind}"].lerp_(seen, MOMENTUM)
        else:
            mean, variance = self.running[f"{name}.running_mean"], self.running[f"{name}.running_var"]
        scale = self.learned[f"{name}.weight"] * torch.rsqrt(variance + EPSILON)
        return (values - mean[:, None, :]) * scale[:, None, :] + self.learned[f"{name}.bias"][:, None, :]

    def step(self, learning_rate: float) -> None:
        """One step of gradient descent for all, and no gradients afterwards."""
        with torch.no_grad():
            for tensor in self.learned.values():
                assert tensor.grad is not None  # noqa: S101 (called after backward)
                tensor.sub_(learning_rate * tensor.grad)
                tensor.grad = None

    def copied(self) -> dict[str, Tensor]:
        """The weights of all networks as they are now."""
        return {name: tensor.detach().clone() for name, tensor in (self.learned | self.running).items()}

    def keep(self, kept: dict[str, Tensor], which: Tensor) -> None:
        """Write the weights of some networks over those kept before."""
        for name, tensor in (self.learned | self.running).items():
            kept[name][which] = tensor.detach()[which]


@dataclass(frozen=True)
class StackedRisk:
    """`PURisk` for all networks at once: numbers become vectors (n_networks,)."""

    risks: Sequence[PURisk]
    device: torch.device

    def parts(self, positive: Tensor, unlabeled: Tensor) -> tuple[Tensor, Tensor]:
        """The positive and the negative part of each network."""
        loss, share = self.risks[0].loss, self.risks[0].labelled_share
        prior = torch.tensor([risk.prior for risk in self.risks], device=self.device)
        positive_as_negative, unlabeled_as_negative = loss(-positive).mean(dim=1), loss(-unlabeled).mean(dim=1)
        population = share * positive_as_negative + (1 - share) * unlabeled_as_negative
        return prior * loss(positive).mean(dim=1), population - prior * positive_as_negative

    def reported(self, positive_part: Tensor, negative_part: Tensor) -> Tensor:
        """The objective of each."""
        return self.risks[0].reported(positive_part, negative_part)

    def followed(self, positive_part: Tensor, negative_part: Tensor) -> Tensor:
        """The sum of what each follows; a network's gradient has nothing of the others."""
        first = self.risks[0]
        plain = positive_part + negative_part
        if not first.nonnegative:
            return plain.sum()
        return torch.where(negative_part < -first.beta, -first.gamma * negative_part, plain).sum()


def train_together(
    jobs: Sequence[Job], schedule: Schedule, learning_rate: float, device: torch.device
) -> list[Trained]:
    """Train the paper's network for each job, by plain gradient descent in random batches.

    All jobs have the same shape, and risks that differ in their prior alone. There is no early end: a network stops
    to count when it has no better epoch any more, which is what the best epoch says.
    """
    stack = Stack.of([_fresh(job) for job in jobs], device)
    kept, held = (_stacked([getattr(job, name) for job in jobs], device) for name in ("kept", "held"))
    risk = StackedRisk([job.risk for job in jobs], device)
    best = torch.full((len(jobs),), torch.inf, device=device)
    best_epoch = torch.zeros(len(jobs), dtype=torch.int64, device=device)
    weights, history = stack.copied(), []
    for number in range(1, schedule.n_epochs + 1):
        with stage("training", f"epoch {number} of {schedule.n_epochs}, {len(jobs)} networks"):
            objective = _train_epoch(stack, kept, risk, schedule.batch_size, [job.rng for job in jobs], learning_rate)
        with torch.no_grad():
            held_outputs = [stack.forward(rows, training=False) for rows in held]
            value = risk.reported(*risk.parts(*held_outputs))
        better = value < best
        best, best_epoch = torch.where(better, value, best), torch.where(better, number, best_epoch)
        stack.keep(weights, better)
        history.append(torch.stack([objective, value], dim=1))
    if schedule.keep_last:
        weights, best_epoch = stack.copied(), torch.where(torch.isfinite(value), schedule.n_epochs, 0)
    return _unstacked(weights, torch.stack(history).cpu().numpy(), best_epoch.cpu().numpy(), kept.positive.shape[2])


def _fresh(job: Job) -> nn.Module:
    with own_randomness(job.seed, torch.device("cpu")):
        return paper_network(job.kept.positive.shape[1])


def _stacked(samples: Sequence[Rows], device: torch.device) -> Rows:
    return Rows(*(torch.stack(list(rows)).to(device) for rows in zip(*samples, strict=True)))


def _train_epoch(
    stack: Stack,
    kept: Rows,
    risk: StackedRisk,
    batch_size: int,
    rngs: Sequence[np.random.RandomState],
    learning_rate: float,
) -> Tensor:
    """One pass over the rows of all; the mean objective of each network's batches."""
    device = kept.positive.device
    network = torch.arange(len(rngs), device=device)[:, None]
    sizes = kept.positive.shape[1], kept.unlabeled.shape[1]
    batches = [list(stratified_batches(*sizes, batch_size, rng)) for rng in rngs]
    objectives = []
    for of_each in zip(*batches, strict=True):  # one batch of each network
        positive, unlabeled = (torch.stack(places).to(device) for places in zip(*of_each, strict=True))
        rows = torch.cat([kept.positive[network, positive], kept.unlabeled[network, unlabeled]], dim=1)
        output = stack.forward(rows, training=True)
        n_positive = positive.shape[1]
        parts = risk.parts(output[:, :n_positive], output[:, n_positive:])
        risk.followed(*parts).backward()  # type: ignore[no-untyped-call]
        stack.step(learning_rate)
        objectives.append(risk.reported(*parts).detach())
    return torch.stack(objectives).mean(dim=0)


def _unstacked(
    weights: dict[str, Tensor], history: np.ndarray, kept_epoch: np.ndarray, n_features: int
) -> list[Trained]:
    """Networks one by one: on the CPU, in double precision and evaluation mode. ``history``: (epochs, networks, 2)."""
    arrays = {name: tensor.cpu() for name, tensor in weights.items()}
    trained = []
    for i, kept in enumerate(kept_epoch):
        with own_randomness(0, torch.device("cpu")):  # its first weights are drawn, in vain
            network = paper_network(n_features)
        network.load_state_dict({name: tensor[i] for name, tensor in arrays.items()}, strict=False)  # but the counters
        epochs = [Epoch(number, *map(float, history[number - 1, i])) for number in range(1, len(history) + 1)]
        trained.append(Trained(network.double().eval(), epochs, int(kept)))
    return trained
