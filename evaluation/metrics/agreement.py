"""Agreement of annotators: kappas, Krippendorff's alpha, intraclass correlations, limits of agreement."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, weights_row
from evaluation.metrics.confusion import Disagreement, cohen_kappa_of_confusion, weighted_confusion
from evaluation.stats.figure import Figure
from evaluation.stats.student import student_quantile

__all__ = ["cohen_kappa", "fleiss_kappa"]

Level = Literal["nominal", "ordinal", "interval"]
_LIMIT = 1.96


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    disagreement: Disagreement = "nominal",
    classes: Sequence[Hashable] | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return Cohen's kappa: the agreement of decided and true classes beyond chance, plain or weighted.

    At most 1, higher is better; 0 is chance. first, second: the classes of two annotators, or of a prediction
    and the reference, in the same order. disagreement: what it costs, the same for all ("nominal"), or the
    distance of the classes in the order of ``classes`` or its square. classes: all in their order, required
    unless "nominal". weights: of the cases, finite and at least 0, by default 1 each. NaN for empty input,
    and if both always chose one and the same class. Raises ValueError for lengths that differ, another
    disagreement, an invalid weight, a class that is not listed, or weighted disagreements without
    ``classes``.
    Source: Cohen, Psychological Bulletin 70:213, 1968.

    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    >>> cohen_kappa([0, 1, 2, 2], [0, 1, 2, 1], disagreement="quadratic", classes=[0, 1, 2])
    0.8
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many categories of both, found {len(first)} and {len(second)}")
    if disagreement not in ("nominal", "linear", "quadratic"):
        expected = "'nominal', 'linear' or 'quadratic'"
        raise ValueError(f"disagreement: expected {expected}, found {disagreement!r}")
    if classes is None and disagreement != "nominal":
        raise ValueError(f"classes: expected all categories in their order for {disagreement!r}, found none")
    names = dict.fromkeys([*second, *first] if classes is None else classes)
    codes = {category: code for code, category in enumerate(names)}
    if unknown := [category for category in (*first, *second) if category not in codes]:
        raise ValueError(f"classes: expected every category that occurs, {unknown[0]!r} is not listed")
    counts = weighted_confusion(
        [codes[category] for category in second],
        [codes[category] for category in first],
        weights_row(weights, len(first)),
        max(1, len(codes)),
    )
    return float(cohen_kappa_of_confusion(counts, disagreement)[0])


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa of any number of annotators.

    At most 1, higher is better; 0 is chance. ratings: for every case the categories that its annotators
    chose, of whom there may be other numbers in other cases; cases with fewer than two do not enter. NaN if
    no case enters, or only one category occurs.
    Source: Fleiss, Psychological Bulletin 76:378, 1971.

    >>> round(fleiss_kappa([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"]]), 4)
    0.55
    """
    cases = [Counter(case_ratings) for case_ratings in ratings if len(case_ratings) > 1]
    total: Counter[Hashable] = Counter()
    for counts in cases:
        total.update(counts)
    if len(total) < 2:
        return math.nan
    agreeing = [_share_of_agreeing_pairs(counts) for counts in cases]
    observed = math.fsum(agreeing) / len(cases)
    by_chance = math.fsum((count / total.total()) ** 2 for count in total.values())
    return (observed - by_chance) / (1 - by_chance)


def _share_of_agreeing_pairs(counts: Counter[Hashable]) -> float:
    annotators = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (annotators * (annotators - 1))


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One figure of agreement; ``second`` is empty for a figure of all annotators together.

    ``lower`` and ``upper`` are its 95 % confidence interval, None where it has none.
    """

    field: str
    measure: str
    first: str
    second: str
    cases: int
    value: float
    lower: float | None = None
    upper: float | None = None


def krippendorff_alpha(ratings: Sequence[Sequence[float]], level: Level) -> float:
    """Return Krippendorff's alpha, at most 1; 0 is agreement by chance.

    ratings: for every case the values that its annotators gave, as many as there are. Cases with fewer than
    two values do not enter. level: how values differ: by being another category ("nominal", any number stands
    for a category), by the number of values between them ("ordinal"), or by their squared difference
    ("interval"). NaN where no case enters or all values are equal. Raises ValueError for an unknown level.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; 2004, Content Analysis, chapter 11.
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"level: expected nominal, ordinal or interval, found {level!r}")
    cases = [np.asarray(values, dtype=np.float64) for values in ratings if len(values) > 1]
    if not cases:
        return math.nan
    values, code = np.unique(np.concatenate(cases), return_inverse=True)
    if values.size < 2:
        return math.nan
    total = np.bincount(code, minlength=values.size).astype(np.float64)
    position = _positions(values, total, level)
    observed = expected = 0.0
    start = 0
    for case in cases:
        chosen = code[start : start + case.size]
        start += case.size
        observed += _twice_differing(np.bincount(chosen), position, level) / (case.size - 1)
    expected = _twice_differing(total, position, level) / (total.sum() - 1)
    return float(1 - observed / expected)


def _positions(values: Floats, total: Floats, level: Level) -> Floats:
    """Return where each value lies on a scale on which squared distances are the differences."""
    if level == "ordinal":
        # Values between two, with half of each end: the difference of two mid-ranks.
        return np.asarray(np.cumsum(total) - total / 2)
    return np.asarray(values - values.mean())


def _twice_differing(counts: Floats | NDArray[np.intp], position: Floats, level: Level) -> float:
    """Return the difference summed over all ordered pairs of values that occur so many times."""
    number = float(counts.sum())
    if level == "nominal":
        return number**2 - float((counts.astype(np.float64) ** 2).sum())
    at = position[: counts.size]
    at = at - float(counts @ at) / number
    return 2 * number * float(counts @ at**2)


@dataclass(frozen=True)
class IntraclassCorrelations:
    """Single-rating correlations, at most 1: of absolute agreement, ICC(2,1), of consistency, ICC(3,1)."""

    agreement: Figure
    consistency: Figure


@dataclass(frozen=True)
class LimitsOfAgreement:
    """Mean difference of two annotators and the limits within which 95 % of their differences lie.

    All are in the unit of the ratings.
    """

    bias: Figure
    lower: Figure
    upper: Figure


def intraclass_correlations(ratings: ArrayLike, level: float = 0.95) -> IntraclassCorrelations | None:
    """Return ICC(2,1) and ICC(3,1) of annotators who all rated the same cases.

    ratings: shape (cases, annotators), finite. In ICC(2,1) annotators are a sample of many, and one who is
    always higher lowers it; in ICC(3,1) they are fixed, and such a shift does not count. None with fewer
    than two cases or annotators, where no annotator tells the cases apart, and where ICC(2,1) is a division
    by zero, as for two annotators who exchange the values of two cases; an interval that is one is NaN.
    Raises ValueError for other shapes and NaN.
    Source: Shrout and Fleiss 1979, Psychological Bulletin 86:420; intervals also McGraw and Wong 1996,
    Psychological Methods 1:30.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"ratings: expected numbers of shape (cases, annotators), found {table.shape}")
    n, k = table.shape
    if n < 2 or k < 2 or (table == table[0]).all():
        return None
    from scipy.special import fdtri

    deviation = table - table.mean()
    cases, annotators = deviation.mean(axis=1), deviation.mean(axis=0)
    residual = deviation - cases[:, np.newaxis] - annotators
    of_cases = float(k * (cases**2).sum() / (n - 1))
    of_annotators = float(n * (annotators**2).sum() / (k - 1))
    error = float((residual**2).sum() / ((n - 1) * (k - 1)))
    quantile = (1 + level) / 2

    total = of_cases + (k - 1) * error + k * (of_annotators - error) / n
    if total <= 0:
        return None
    agreement = (of_cases - error) / total
    consistency = (of_cases - error) / (of_cases + (k - 1) * error)
    if error <= 1e-20 * (of_cases + of_annotators):
        # Without any residual there is nothing that the intervals could be made of.
        return IntraclassCorrelations(_around(agreement, 0), _around(consistency, 0))

    ratio = of_annotators / error
    spread = n * (1 + (k - 1) * agreement) - k * agreement
    squares = (n - 1) * (k * agreement * ratio) ** 2 + spread**2
    freedom = (k - 1) * (n - 1) * (k * agreement * ratio + spread) ** 2 / squares if squares else math.nan
    low, high = float(fdtri(n - 1, freedom, quantile)), float(fdtri(freedom, n - 1, quantile))
    rest = k * of_annotators + (k * n - k - n) * error
    of_agreement = (
        n * (of_cases - low * error) / (low * rest + n * of_cases),
        n * (high * of_cases - error) / (rest + n * high * of_cases),
    )

    within = (n - 1) * (k - 1)
    low = of_cases / error / float(fdtri(n - 1, within, quantile))
    high = of_cases / error * float(fdtri(within, n - 1, quantile))
    of_consistency = (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)
    return IntraclassCorrelations(Figure(agreement, *of_agreement), Figure(consistency, *of_consistency))


def _around(value: float, half_width: float) -> Figure:
    return Figure(value, value - half_width, value + half_width)


def limits_of_agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> LimitsOfAgreement | None:
    """Return the figures of Bland and Altman for two annotators of the same cases, first minus second.

    first, second: shape (cases,), finite. The limits are bias ± 1.96 standard deviations (ddof = 1). None
    with fewer than two cases. Raises ValueError for shapes that differ.
    Source: Bland and Altman 1986, Lancet 327:307; standard errors, 1999, Stat. Methods Med. Res. 8:135.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"first and second: expected equal numbers, found shapes {one.shape}, {other.shape}")
    cases = one.size
    if cases < 2:
        return None
    difference = one - other
    bias, deviation = float(difference.mean()), float(difference.std(ddof=1))
    quantile = student_quantile((1 + level) / 2, cases - 1)
    of_bias = quantile * deviation / math.sqrt(cases)
    of_limit = quantile * deviation * math.sqrt(1 / cases + _LIMIT**2 / (2 * (cases - 1)))
    limits = (_around(bias + sign * _LIMIT * deviation, of_limit) for sign in (-1, 1))
    return LimitsOfAgreement(_around(bias, of_bias), *limits)


# --- One reference of several annotators by expectation maximisation ---

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
