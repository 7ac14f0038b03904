"""Stages of a fit, told to scikit-learn's callbacks where the installed version has them (1.9 and later).

A stage that begins within another is its subtask. No stage is a step of an iteration, so that a callback that asks to
stop changes nothing: an interrupt does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from unlabeled.stages import listening

_Method = TypeVar("_Method", bound=Callable[..., Any])

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """What is used of scikit-learn's."""

        def _init_callback_context(self, *, max_subtasks: int | None) -> Any: ...

    def with_callbacks(method: _Method) -> _Method:
        """Scikit-learn's decorator of a `fit`."""
        ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # before 1.9: there is no set_callbacks

        class CallbackSupportMixin:
            """Nothing to set."""

        def with_callbacks(method: _Method) -> _Method:
            """The method as it is."""
            return method


class TellsCallbacks(CallbackSupportMixin):
    """An estimator that tells its callbacks, those of `set_callbacks`, of the stages of a fit.

    Its ``fit`` stands under ``with_callbacks``, which ends what they have begun, also after an error.
    """

    @contextmanager
    def _telling_callbacks(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[None]:
        if not getattr(self, "_skl_callbacks", None):
            yield
            return
        given: dict[str, Any] = {"estimator": self, "X": X, "y": y}
        if sample_weight is not None:
            given["metadata"] = {"sample_weight": sample_weight}
        root = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(**given)
        with listening(_Tasks(self, root)):
            yield
        root.call_on_fit_task_end(**given, reconstruction_attributes={})


class _Tasks:
    """A listener that makes tasks of stages."""

    def __init__(self, estimator: Any, root: Any) -> None:
        self.estimator = estimator
        self.begun = [("fit", root)]

    def __call__(self, name: str, how_far: str, seconds: float | None) -> None:
        if seconds is None:
            if name != self.begun[-1][0]:  # else it tells how far it is
                self._begin(name, how_far)
        elif name in [begun for begun, _ in self.begun]:
            while self._end() != name:  # those that an error ended did not say so
                pass

    def _begin(self, name: str, how_far: str) -> None:
        _, outer = self.begun[-1]
        task = outer.subcontext(f"{name}, {how_far}" if how_far else name, max_subtasks=None)
        self.begun.append((name, task.call_on_fit_task_begin(estimator=self.estimator)))

    def _end(self) -> str:
        name, task = self.begun.pop()
        task.call_on_fit_task_end(estimator=self.estimator)
        return name
