"""What estimators on the rows themselves share: an interval from halves of the rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.priors.estimator import PriorEstimator, check_level, check_n_draws
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.forms import complete


class RowPrior(PriorEstimator):
    """Estimates the prior from rows."""

    def interval(self, level: float = 0.95, n_draws: int = 40) -> tuple[float, float]:
        """Interval of the prior by estimates from random halves of both samples.

        Halves are drawn without replacement: a row drawn twice would defeat leaving it out of its own score. If the
        variance of an estimate is v / n, that of a half around the estimate from all rows is
        v / (n/2) - v / n = v / n, the very variance that is sought, so the spread of the halves needs no factor. The
        interval is ``prior_`` plus and minus that spread times the normal quantile, within what a prior can be.
        A fit to half of the rows takes a quarter of the time: the interval takes about ``n_draws / 4`` fits.

        It tells the noise of the estimate, not its bias, and estimates from rows are biased where the classes overlap.
        If the classes are not irreducible the estimate is an upper bound of the prior, and then so is this interval:
        nothing in the data can say how far below it the prior lies.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        n_draws : int, default=40
            How many halves. Rows are drawn whatever their weight.
        """
        check_is_fitted(self, "prior_")
        check_level(level)
        samples = self._sample.positive, self._sample.unlabeled
        if min(map(len, samples)) < 4:
            raise ValueError(
                f"{len(samples[0])} labelled positives and {len(samples[1])} unlabeled rows are in use; an interval "
                "from halves needs four of each. Give more rows, or use an estimator on scores, such as 'best-bin'."
            )
        rng, twin = check_random_state(self.random_state), clone(self)
        shares = np.array(
            [
                twin._share(self._sample.take(*(_half(s, rng) for s in samples)), rng)
                for _ in range(check_n_draws(n_draws))
            ]
        )
        width = norm.ppf((1 + level) / 2) * np.std(self._to_population(shares), ddof=1)
        low, high = np.clip([self.prior_ - width, self.prior_ + width], self.labelled_share_, 1)
        return float(low), float(high)

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        pu = complete(pu) if issparse(pu.positive.rows) else pu  # once, and not in every draw of the interval
        self._sample = self._rows_in_use(pu, rng)
        return self._share(self._sample, rng)

    def _rows_in_use(self, pu: PUSample, rng: np.random.RandomState) -> PUSample:  # noqa: ARG002
        """The rows that the estimate rests on."""
        return pu

    def _share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        """Share of positives among the unlabeled rows, from rows."""
        raise NotImplementedError


def _half(sample: Sample, rng: np.random.RandomState) -> np.ndarray:
    return np.sort(rng.permutation(len(sample))[: len(sample) // 2])
