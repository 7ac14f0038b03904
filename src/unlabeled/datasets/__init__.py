"""Data to learn from and to test on."""

from unlabeled.datasets.synthetic import PUData, make_gaussians, make_two_moons

__all__ = ["PUData", "make_gaussians", "make_two_moons"]
