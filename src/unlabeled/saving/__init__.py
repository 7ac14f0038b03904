"""Fitted models in files, without pickle: what is loaded is data, and runs nothing.

A file is two lines and an archive: a line that says what it is, a line of JSON (`unlabeled.saving.header`: the version
of the format, of the libraries, and a checksum), and a `skops <https://skops.readthedocs.io>`_ archive. `load` refuses
what is damaged, newer than it can read, or holds any type that is not on the list of `unlabeled.saving.trusted`, before
anything of it is built.

The checksum tells damage, not intent: who can write the file can write its checksum. Against intent stands the list of
types.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

from sklearn.exceptions import InconsistentVersionWarning

from unlabeled.files import written_whole
from unlabeled.saving.header import Header, ModelFileError
from unlabeled.saving.plain import check_forests, restored
from unlabeled.saving.precision import compact
from unlabeled.saving.trusted import check_trees, trusted_types
from unlabeled.saving.walking import parts_of, type_name

__all__ = ["ModelFileError", "load", "read_header", "save"]

#: Packages whose types skops knows how to look into.
_FAMILIES = {"builtins", "numpy", "scipy", "sklearn", "unlabeled"}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that `load` reads.

    The training rows of a WMMD classifier are stored as float32 where its scores stay the same to 1e-6, and as float64
    otherwise. A file that exists is replaced, in one step: whatever happens, the old or the new file is there whole.

    Parameters
    ----------
    model : estimator
        An estimator of this library, or a pipeline, a search or another estimator of scikit-learn around one. What it
        is made of must be on the list of types that `load` accepts; others are named in the error: functions of your
        own, such as the ``network`` of an `NNPUClassifier`, and estimators of other libraries.
    path : path

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unlabeled import WMMDClassifier, load, save
    >>> model = WMMDClassifier().fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "frauds.model")
    ...     again = load(Path(folder) / "frauds.model")
    >>> bool((again.predict(data.test) == model.predict(data.test)).all())
    True
    """
    archive = _archive(model)
    header = Header.of(model, archive)
    with written_whole(path) as part, part.open("wb") as file:
        file.write(header.to_bytes())
        file.write(archive)


def _archive(model: Any) -> bytes:
    """The model as a skops archive, if all of it is on the list."""
    if hasattr(model, "to_local"):
        raise TypeError(f"A {type(model).__name__} belongs to a cluster; save the model of one machine: to_local().")
    skops = _skops()
    try:
        check_trees(model)
        check_forests(model)
        archive = bytes(skops.dumps(compact(model), compression=ZIP_STORED))
        strangers = set(skops.get_untrusted_types(data=archive)) - trusted_types()
    except ModelFileError as error:
        raise TypeError(f"{type(model).__name__} cannot be saved: {error}") from error
    except Exception as error:
        strangers = {name for part in parts_of(model) if (name := type_name(part)).split(".")[0] not in _FAMILIES}
        if not strangers:
            raise TypeError(f"{type(model).__name__} cannot be saved: {error}.") from error
    if strangers:
        raise TypeError(
            f"{type(model).__name__} holds {', '.join(sorted(strangers))}, which a saved model may not hold: it could "
            "run code when it is read, or crash the reader. Take it out, such as a callback by "
            "set_params(callback=None), or do without, as nearest neighbours with algorithm='brute' do without a tree; "
            "of a search save its best_estimator_; a network of your own needs torch.save."
        )
    return archive


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path
    trusted : names of types
        Accept these too, as in ``["sklearn.tree._tree.Tree"]``. Only for files whose origin you trust.

    Raises
    ------
    ModelFileError
        Where the file is not a model, is damaged, newer than this library, or holds types that are not accepted.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unlabeled import WMMDClassifier, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(WMMDClassifier().fit(data.X, data.y), Path(folder) / "frauds.model")
    ...     model = load(Path(folder) / "frauds.model")
    >>> model.predict(data.test).shape
    (100,)
    """
    skops = _skops()
    with Path(path).open("rb") as file:
        header = Header.read(file)
        header.check_archive(file)
        accepted = trusted_types() | set(trusted)
        try:
            _check_stored(file)
            strangers = set(skops.get_untrusted_types(file=file)) - accepted
            if not strangers:
                return _construct(skops, file, accepted)
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"{path} is not a readable model: {error}. {header.versions_differ()}") from error
        raise ModelFileError(
            f"{path} holds types that a model has no need of: {', '.join(sorted(strangers))}. Nothing of it was "
            "loaded. If you know where the file comes from and need them: load(path, trusted=[...])."
        )


def read_header(path: str | os.PathLike[str]) -> Header:
    """What a model file says of itself, without loading the model."""
    with Path(path).open("rb") as file:
        return Header.read(file)


def _construct(skops: ModuleType, file: BinaryIO, accepted: Iterable[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # the header knows, and says so where it matters
        model = skops.load(file, trusted=sorted(accepted))
    check_trees(model)
    return restored(model)


def _check_stored(file: BinaryIO) -> None:
    """Refuse an archive that unpacks to more than it is: `save` does not compress."""
    with ZipFile(file) as archive:
        if any(member.compress_type != ZIP_STORED for member in archive.infolist()):
            raise ModelFileError("The archive is compressed, which no saved model is; it was not unpacked.")


def _skops() -> ModuleType:
    try:
        with _kept_out("torch", "cupy", "dask"):
            return import_module("skops.io")
    except ModuleNotFoundError as error:
        raise ImportError("Saving and loading models needs skops: pip install 'unlabeled[cli]'.") from error


@contextmanager
def _kept_out(*packages: str) -> Iterator[None]:
    """Let packages seem not to be installed, unless they are loaded.

    On import skops walks through all of scikit-learn, and that would load each of these where it is installed:
    seconds, and hundreds of megabytes, for nothing.
    """
    absent = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
