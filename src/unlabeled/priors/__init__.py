"""Estimators of the class prior P(y = 1) of the population."""

from unlabeled.priors.density import density_prior

__all__ = ["density_prior"]
