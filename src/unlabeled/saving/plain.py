"""Compiled objects inside a model, as plain data while they are in a file.

scikit-learn follows the trees of a forest without looking, and scipy's distributions run a text that they carry when
they are read. So neither is written as what it is. A tree is written as its arrays, and built again once these are seen
to be sound; a distribution as its name and numbers, and looked up by that name.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, IsolationForest
from sklearn.ensemble._forest import BaseForest
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import NODE_DTYPE, TREE_LEAF, Tree

from unlabeled.saving.header import ModelFileError
from unlabeled.saving.walking import parts_of

#: Ensembles that hand rows to their trees in ways that are not checked here.
_REFUSED = (GradientBoostingClassifier, GradientBoostingRegressor, IsolationForest)


@dataclass(frozen=True)
class PlainTree:
    """The arrays of a tree of scikit-learn."""

    n_features: int
    n_classes: np.ndarray
    nodes: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, tree: Any) -> PlainTree:
        """What a tree consists of."""
        state = tree.__getstate__()
        return cls(int(tree.n_features), np.array(tree.n_classes), state["nodes"], state["values"])

    def restored(self) -> Any:
        """The tree, if following it ends inside it: every child comes after its parent, every feature exists."""
        n_classes = np.array(self.n_classes, dtype=np.intp)
        shape = (len(self.nodes), len(n_classes), int(n_classes.max(initial=0)))
        if (
            self.nodes.dtype != NODE_DTYPE
            or self.nodes.ndim != 1
            or n_classes.ndim != 1
            or n_classes.min(initial=1) < 1
        ):
            raise ModelFileError("A tree of the model is of another version of scikit-learn, damaged or hostile.")
        if self.values.shape != shape or self.values.dtype != np.float64:
            raise ModelFileError("A tree of the model has no value for some of its nodes: the file is damaged.")
        state = {"max_depth": self._depth(), "node_count": len(self.nodes), "nodes": np.ascontiguousarray(self.nodes)}
        tree = Tree(self.n_features, n_classes, len(n_classes))
        tree.__setstate__(state | {"values": np.ascontiguousarray(self.values)})
        return tree

    def _depth(self) -> int:
        """Nodes on the longest way down, found on the way through all of them."""
        left, right = self.nodes["left_child"], self.nodes["right_child"]
        inner = np.flatnonzero(left != TREE_LEAF)
        features = self.nodes["feature"][inner]
        sound = len(self.nodes) > 0 and ((features >= 0) & (features < self.n_features)).all()
        for children in (left[inner], right[inner]):
            sound = sound and ((children > inner) & (children < len(self.nodes))).all()
        if not sound:
            raise ModelFileError("A tree of the model points outside itself: the file is damaged or hostile.")
        depth = np.zeros(len(self.nodes), dtype=np.int64)
        for place in inner:
            depth[[left[place], right[place]]] = depth[place] + 1
        return int(depth.max())


@dataclass(frozen=True)
class PlainDistribution:
    """A distribution of `scipy.stats` and its parameters, as a random search draws from."""

    name: str
    numbers: tuple[float, ...]
    named: dict[str, float]

    @classmethod
    def of(cls, frozen: Any) -> PlainDistribution:
        """What a distribution consists of."""
        return cls(frozen.dist.name, tuple(frozen.args), dict(frozen.kwds))

    def restored(self) -> Any:
        """The distribution, if scipy has one of this name."""
        found = getattr(stats, self.name, None) if isinstance(self.name, str) else None
        numbers = [*self.numbers, *self.named.values()]
        if not isinstance(found, stats.rv_continuous | stats.rv_discrete):
            raise ModelFileError(f"scipy.stats has no distribution {self.name!r}.")
        if not all(isinstance(number, Real) for number in numbers):
            raise ModelFileError(f"The distribution {self.name!r} has parameters that are not numbers.")
        return found(*self.numbers, **self.named)


def in_plain(part: Any) -> PlainTree | PlainDistribution | None:
    """What is written in place of a part of a model; None: the part itself."""
    if isinstance(part, Tree):
        return PlainTree.of(part)
    return PlainDistribution.of(part) if isinstance(part, rv_frozen) else None


def restored(model: Any) -> Any:
    """A model that was read, with trees and distributions where they were."""
    plain = [part for part in parts_of(model) if isinstance(part, PlainTree | PlainDistribution)]
    if plain:
        model = deepcopy(model, {id(part): part.restored() for part in plain})
    check_forests(model)
    return model


def check_forests(model: Any) -> None:
    """Refuse trees that would be followed over rows of another width than that which is checked."""
    for part in parts_of(model):
        if isinstance(part, _REFUSED):
            name = type(part).__name__
            raise ModelFileError(
                f"{name} may not be in a saved model; use HistGradientBoostingClassifier, or a forest."
            )
        if isinstance(part, BaseDecisionTree) and hasattr(part, "tree_"):
            trees, width = [part.tree_], "n_features"
        elif isinstance(part, BaseForest) and hasattr(part, "estimators_"):  # looks at the width once for all trees
            trees, width = part.estimators_, "n_features_in_"
        else:
            continue
        if any(getattr(tree, width, None) != part.n_features_in_ for tree in trees):
            raise ModelFileError("A tree of the model is for rows of another width: the file is damaged or hostile.")
