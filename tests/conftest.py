import os

# Tests run side by side: libraries with threads of their own would wait for each other. Set before they are loaded, and
# handed down to the workers.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pytest
from hypothesis import settings

from unlabeled.engines import ENGINES
from unlabeled.kernels import KERNELS

# Compiled code makes the first example slow; a deadline would time the compiler. `make test-all` tries more examples.
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(params=sorted(ENGINES))
def engine(request):
    return request.param


@pytest.fixture(params=sorted(KERNELS))
def kernel(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)
