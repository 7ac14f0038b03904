"""Gammas that are small multiples of each other share an exponential."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray


@dataclass(frozen=True)
class Ladders:
    """A grid sorted into ladders: a gamma, its double, its fourfold and so on, at least two of which the grid has.

    exp(-gamma d)^2 is the kernel for 2 gamma, so a ladder costs one exponential. A gamma without any is alone.
    """

    base: float
    steps: FloatArray  # all gammas ladder by ladder, in units of the base
    lengths: np.ndarray  # of each ladder
    slots: np.ndarray  # where among the steps each gamma of the grid is

    @classmethod
    def of(cls, gammas: FloatArray, length: int) -> Ladders:
        """Ladders of so many rungs, of gammas in any order and at any distances."""
        left, ladders = np.unique(gammas), []
        while len(left):
            ladder = left[0] * 2.0 ** np.arange(length)
            alone = not _equal(left[1:], ladder).any()
            ladders.append(ladder[:1] if alone else ladder)
            left = left[~_equal(left, ladders[-1]).any(axis=1)]
        in_order = np.concatenate(ladders)
        slots = _equal(gammas, in_order).argmax(axis=1)
        return cls(in_order[0], in_order / in_order[0], np.array([len(ladder) for ladder in ladders]), slots)


def _equal(some: FloatArray, others: FloatArray) -> np.ndarray:
    """Which of some numbers equal which of others, but for rounding."""
    return np.abs(some[:, None] / others - 1) < 1e-12
