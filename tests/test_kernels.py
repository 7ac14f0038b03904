import numpy as np
import pytest

from unlabeled.kernels import KERNELS, PAPER_GAMMAS, RBF, Inverse, as_gammas, as_kernel


def test_logs_of_the_kernels():
    sq_dist = np.array([0.0, 0.5, 4.0])
    np.testing.assert_allclose(np.exp(RBF().log(sq_dist, 0.5)), np.exp(-0.5 * sq_dist))
    np.testing.assert_allclose(np.exp(Inverse().log(sq_dist, 0.5)), 0.5 / (0.5 + sq_dist))


def test_kernels_are_values():
    assert RBF() == RBF()
    assert hash(Inverse()) == hash(Inverse())
    with pytest.raises(AttributeError):
        RBF().name = "other"


def test_sharpness_bounds_the_slope_of_the_log(kernel):
    kernel = KERNELS[kernel]
    sq_dist = np.linspace(0, 10, 1001)
    for gamma in PAPER_GAMMAS:
        slope = np.abs(np.diff(kernel.log(sq_dist, gamma)) / np.diff(sq_dist)).max()
        assert slope <= kernel.sharpness(gamma) * (1 + 1e-9)
        assert slope >= kernel.sharpness(gamma) * 0.8


def test_names_and_values_are_accepted(kernel):
    assert as_kernel(kernel) == as_kernel(as_kernel(kernel))


@pytest.mark.parametrize("unknown", ["gauss", "", None, 3, RBF])
def test_an_unknown_kernel_lists_the_known_ones(unknown):
    with pytest.raises(ValueError, match=r"inverse.*rbf"):
        as_kernel(unknown)


@pytest.mark.parametrize("gammas", [0, -1, np.nan, np.inf, [], [1, 0], [[1.0]], "wide", None])
def test_bad_gammas_are_refused(gammas):
    with pytest.raises(ValueError, match="gamma"):
        as_gammas(gammas)
