"""One reference of several annotators by expectation maximisation (STAPLE)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats

MOST_ITERATIONS = 200_000
_PLAIN_ITERATIONS = 500  # enough for most masks
_START = 0.99999
_CONVERGED = 1e-10
_SMALLEST = 1e-12  # of a probability within a logarithm
_MOST_COUNTED_DIRECTLY = 16  # annotators whose 2ⁿ patterns of votes are counted in one array


@dataclass(frozen=True)
class Staple:
    """The estimated mask, and how sensitive and specific every annotator is against it.

    ``iterations`` is the number of steps of expectation maximisation; where it did not converge, the other
    fields have the values of the last step.
    """

    mask: Bools
    sensitivities: tuple[float, ...]
    specificities: tuple[float, ...]
    iterations: int
    converged: bool


def staple(votes: Bools, most_iterations: int = MOST_ITERATIONS) -> Staple:
    """Return the pixels whose estimated probability is at least ½, by expectation maximisation.

    votes: (annotator, …). What all annotators agree on is returned as it is, since nothing can be estimated
    from it. The prior is the mean of all votes. Pixels of equal votes have equal probabilities, so that they
    are computed once for each pattern of votes. After 500 plain steps, steps are extrapolated as long as the
    likelihood does not fall. It has converged when a plain step changes no rate by 1e-10 or more.
    Raises ValueError for no annotator.
    Source: Warfield et al. 2004, IEEE Trans. Med. Imaging 23:903; extrapolation (SQUAREM, scheme S3):
    Varadhan and Roland 2008, Scand. J. Stat. 35:335.
    """
    if not len(votes):
        raise ValueError("votes: expected at least one annotator, found none")
    annotators = len(votes)
    if (votes == votes[0]).all():
        return Staple(votes[0].copy(), (1.0,) * annotators, (1.0,) * annotators, 0, True)
    patterns, counts, pattern_of_pixel = _patterns(votes.reshape(annotators, -1))
    model = _Model(patterns, counts)
    rates = np.full((2, annotators), _START)
    iterations, converged = 0, False
    while not converged and iterations < most_iterations:
        if iterations < _PLAIN_ITERATIONS:
            before, steps = rates, 1
            rates, _ = model.step(before)
            change = float(np.abs(rates - before).max())
        else:
            rates, steps, change = model.accelerated(rates)
        iterations += steps
        converged = change < _CONVERGED
    weight, _ = model.expectation(rates)
    mask = (weight >= 0.5)[pattern_of_pixel].reshape(votes.shape[1:])
    sensitivities, specificities = rates.tolist()
    return Staple(mask, tuple(sensitivities), tuple(specificities), iterations, converged)


def _patterns(votes: Bools) -> tuple[Bools, Floats, NDArray[np.intp]]:
    """Return the occurring patterns of votes (patterns, annotators), their counts, and each pixel's."""
    annotators = len(votes)
    if annotators <= _MOST_COUNTED_DIRECTLY:
        code = np.zeros(votes.shape[1], dtype=np.intp)
        for position, one in enumerate(votes):
            code |= one.astype(np.intp) << position
        occurring = np.bincount(code, minlength=1 << annotators)
        codes = np.flatnonzero(occurring)
        place = np.zeros(occurring.size, dtype=np.intp)
        place[codes] = np.arange(codes.size)
        patterns = (codes[:, np.newaxis] >> np.arange(annotators) & 1).astype(np.bool_)
        return patterns, occurring[codes].astype(np.float64), place[code]
    packed = np.packbits(votes, axis=0).T
    unique, inverse, number = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
    patterns = np.unpackbits(unique, axis=1, count=annotators).astype(np.bool_)
    return patterns, number.astype(np.float64), inverse.reshape(-1)


class _Model:
    """The likelihood of patterns of votes, given the annotators' sensitivities and specificities.

    rates: shape (2, annotators), sensitivities first.
    """

    def __init__(self, patterns: Bools, counts: Floats) -> None:
        self._votes, self._counts = patterns.astype(np.float64), counts
        prior = float(counts @ self._votes.mean(axis=1) / counts.sum())
        self._log_prior = np.log([prior, 1 - prior])

    def expectation(self, rates: Floats) -> tuple[Floats, float]:
        """Return the probability of the structure for every pattern, and the log-likelihood."""
        yes, no = (np.log(np.maximum(share, _SMALLEST)) for share in (rates, 1 - rates))
        foreground = self._log_prior[0] + self._votes @ (yes[0] - no[0]) + no[0].sum()
        background = self._log_prior[1] + self._votes @ (no[1] - yes[1]) + yes[1].sum()
        total = np.logaddexp(foreground, background)
        return np.exp(foreground - total), float(self._counts @ total)

    def step(self, rates: Floats) -> tuple[Floats, float]:
        """Return the rates after one plain step, and the log-likelihood of those before."""
        weight, likelihood = self.expectation(rates)
        structure, rest = self._counts * weight, self._counts * (1 - weight)
        sensitivities = structure @ self._votes / max(structure.sum(), _SMALLEST)
        specificities = rest @ (1 - self._votes) / max(rest.sum(), _SMALLEST)
        return np.clip([sensitivities, specificities], 0.0, 1.0), likelihood

    def accelerated(self, rates: Floats) -> tuple[Floats, int, float]:
        """Return the rates after an extrapolation, the steps that it took, and the last one's change."""
        first, _ = self.step(rates)
        second, _ = self.step(first)
        change = first - rates
        curvature = second - first - change
        moved, bent = float(np.linalg.norm(change)), float(np.linalg.norm(curvature))
        if moved == 0 or bent == 0:
            return second, 2, float(np.abs(second - first).max())
        third, likelihood = self.step(second)
        steps, length = 3, max(1.0, moved / bent)
        while length > 1.01:
            guess = np.clip(rates + 2 * length * change + length**2 * curvature, 0.0, 1.0)
            after, found = self.step(guess)
            steps += 1
            if found >= likelihood:
                return after, steps, float(np.abs(after - guess).max())
            length = (length + 1) / 2
        return third, steps, float(np.abs(third - second).max())
