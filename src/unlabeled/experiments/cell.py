"""A cell is what is run: one method on one draw of one data set under one setting. Its name is its seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from unlabeled.results import row_key

Scalar = str | int | float | bool
#: The settings that say what data are drawn. The others say what is done with them, and share the draw.
DATA_SETTINGS = ("n_positive", "n_unlabeled", "n_test", "true_prior", "layout")


@dataclass(frozen=True)
class Cell:
    """One method on one draw of one data set under one setting, in one experiment."""

    experiment: str
    dataset: str
    method: str
    setting: Mapping[str, Scalar] = field(default_factory=dict)
    draw: int = 0

    def identity(self) -> dict[str, object]:
        """The cell as the first fields of its row."""
        return {
            "experiment": self.experiment,
            "dataset": self.dataset,
            "method": self.method,
            "setting": dict(self.setting),
            "draw": self.draw,
        }

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return row_key(self.identity())

    @property
    def seed(self) -> int:
        """Seed of the method's own randomness."""
        return _seed(self.key)

    @property
    def data_seed(self) -> int:
        """Seed of the data: the same for all methods, so that they meet on the same draws."""
        drawn = {name: value for name, value in self.setting.items() if name in DATA_SETTINGS}
        return _seed(json.dumps([self.dataset, drawn, self.draw], sort_keys=True))


def _seed(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
