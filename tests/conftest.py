import os

# Tests run side by side: libraries with threads of their own would wait for each other. Set before they are loaded, and
# handed down to the workers.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pytest
from hypothesis import settings

from unlabeled.engines import ENGINES
from unlabeled.engines.choosing import has_driver
from unlabeled.kernels import KERNELS

# Compiled code makes the first example slow; a deadline would time the compiler. `make test-all` tries more examples.
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Without a card Triton's kernels run in its interpreter; set before they are loaded.
if not has_driver(ENGINES["triton"].driver):
    os.environ.setdefault("TRITON_INTERPRET", "1")


@pytest.fixture(params=sorted(ENGINES))
def engine(request):
    if request.param == "triton":
        request.getfixturevalue("triton_engine")
    return request.param


@pytest.fixture
def triton_engine():
    """The GPU engine, on a card or in Triton's interpreter."""
    for package in ("torch", "triton"):
        pytest.importorskip(package)
    from unlabeled.engines import triton  # noqa: PLC0415

    if reason := triton.unusable():
        pytest.skip(reason)
    return triton


@pytest.fixture(params=sorted(KERNELS))
def kernel(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)
