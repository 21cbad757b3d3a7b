"""Uncertainty of an aggregate: bootstrap weights, and percentile and Wilson intervals."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ENTRIES_PER_BLOCK = 500_000  # 4 MB of float64, which stay in the processor's cache
_DRAWS_AT_ONCE = 1 << 15  # so do the draws and their counts, in a nearer one


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, in the unit of its metric."""

    lower: float
    upper: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length; the interval need not be symmetric about the value."""
        return (self.upper - self.lower) / 2


def bootstrap_weights(
    strata: ArrayLike,
    clusters: ArrayLike | None,
    seed: int,
    resamples: int,
    block_rows: int | None = None,
) -> Iterator[NDArray[np.float64]]:
    """Yield case weights of a stratified bootstrap, block by block: shape (rows, cases), whole numbers.

    Each row holds multinomial counts: in every stratum there are as many draws with replacement as cases, so
    its counts sum to its size. The rows depend on strata, clusters and seed only, not on the block size or
    the number of resamples.

    strata: integers, shape (cases,); cases of stratum −1 are not in the metric and have weight 0.
    clusters: None, or integers of shape (cases,), such as the person an eye belongs to. Then clusters are
        drawn and every member has its cluster's count; a cluster is resampled among those whose members have
        the same set of strata, and the weights of a row sum to the number of cases only on average. Cases of
        stratum −1 do not count as members.
    seed: of PCG64. One uniform number per row and drawn unit, rows first, units by stratum and then position.
    block_rows: rows of a block; by default as many as make half a million entries.
    Raises ValueError for shapes that differ, a stratum below −1, and resamples or block_rows below 1.
    """
    stratum = np.asarray(strata, dtype=np.int64)
    cluster = np.arange(stratum.size) if clusters is None else np.asarray(clusters)
    if stratum.ndim != 1 or cluster.shape != stratum.shape:
        raise ValueError(
            "strata and clusters: expected one value per case, "
            f"found shapes {stratum.shape} and {cluster.shape}"
        )
    if stratum.min(initial=0) < -1:
        raise ValueError(f"strata: expected −1 or more, found {stratum.min()}")
    rows = max(1, _ENTRIES_PER_BLOCK // max(1, stratum.size)) if block_rows is None else block_rows
    if resamples < 1 or rows < 1:
        raise ValueError(f"resamples and block_rows: expected at least 1, found {resamples} and {rows}")
    members = np.flatnonzero(stratum >= 0)
    if clusters is None:
        group, unit_of_member = stratum[members], np.arange(members.size)
    else:
        group, unit_of_member = _cluster_groups(stratum[members], cluster[members])
    return _blocks(stratum.size, members, group, unit_of_member, seed, resamples, rows)


def percentile_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Percentile interval of bootstrap values: the quantiles (1 ∓ level) / 2, by linear interpolation.

    values: shape (resamples,). Raises ValueError for no value, a NaN among them, or a level outside (0, 1).
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    _check_level(level)
    column = np.asarray(values, dtype=np.float64)
    undefined = int(np.isnan(column).sum())
    if undefined or not column.size:
        raise ValueError(f"values: expected numbers, found {undefined} NaN among {column.size} resamples")
    lower, upper = np.quantile(column, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return Interval(lower, upper)


def wilson_interval(successes: float, total: float, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion.

    Parameters
    ----------
    successes : float
        The number of successes, from 0 to ``total``.
    total : float
        The number of trials, above 0.
    level : float, optional
        The confidence level, in (0, 1).

    Returns
    -------
    Interval
        ``lower`` and ``upper``, in [0, 1].

    Raises
    ------
    ValueError
        Unless 0 ≤ successes ≤ total and total > 0, or for a level outside (0, 1).

    Notes
    -----
    There is no interval of zero trials: a ``total`` of 0 is an error.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22:209–212, 1927.

    Examples
    --------
    >>> interval = wilson_interval(8, 10)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.4902, 0.9433)
    """
    _check_level(level)
    if not (total > 0 and 0 <= successes <= total):
        raise ValueError(
            f"successes of total: expected 0 ≤ successes ≤ total > 0, found {successes} of {total}"
        )
    z = NormalDist().inv_cdf((1 + level) / 2)
    proportion = successes / total
    shrinkage = 1 + z * z / total
    centre = (proportion + z * z / (2 * total)) / shrinkage
    half = z / shrinkage * math.sqrt(proportion * (1 - proportion) / total + (z / (2 * total)) ** 2)
    # With no success or no failure, the bound is exactly 0 or 1; rounding could miss it by one digit.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    upper = 1.0 if successes == total else min(1.0, centre + half)
    return Interval(lower, upper)


def wilson_bootstrap_interval(
    values: ArrayLike, value: float, successes_of: int, level: float = 0.95
) -> Interval:
    """Wilson interval of a proportion whose variance is that of its bootstrap; it contains the value.

    For a proportion that is more than a count of independent cases: a sensitivity whose threshold is found on
    the same cases, or cases that belong together. The score interval is taken about the mean of the bootstrap
    values, with as many cases as would give their variance, at most those that there are; the variance of a
    single case is taken at the proportion shrunk by z²/2 successes and failures (Agresti and Coull 1998).

    values: shape (resamples,), in [0, 1]. value: the proportion. successes_of: the number of cases of which
    it is the share. Raises ValueError for NaN, no value, and a level outside (0, 1).
    """
    _check_level(level)
    column = np.asarray(values, dtype=np.float64)
    if not column.size or np.isnan(column).any():
        raise ValueError(f"values: expected numbers, found {int(np.isnan(column).sum())} NaN")
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = min(1.0, max(0.0, float(column.mean())))
    shrunk = (successes_of * centre + z * z / 2) / (successes_of + z * z)
    variance = float(column.var(ddof=1)) if column.size > 1 else 0.0
    effective = float(successes_of)
    if variance > 0:
        effective = min(effective, shrunk * (1 - shrunk) / variance)
    found = wilson_interval(centre * effective, effective, level)
    return Interval(min(found.lower, value), max(found.upper, value))


def _cluster_groups(
    stratum: NDArray[np.int64], cluster: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return each cluster's group (one per set of strata that its cases have) and each case's cluster."""
    names, unit_of_case = np.unique(cluster, return_inverse=True)
    kinds, kind_of_case = np.unique(stratum, return_inverse=True)
    # Marked by the strata they lack, clusters of one stratum are sorted in the order of their strata.
    lacks = np.ones((names.size, kinds.size), dtype=np.bool_)
    lacks[unit_of_case, kind_of_case] = False
    group = np.unique(lacks, axis=0, return_inverse=True)[1] if names.size else np.zeros(0, dtype=np.int64)
    return group.reshape(-1), unit_of_case


def _blocks(
    cases: int,
    members: NDArray[np.intp],
    group: NDArray[np.int64],
    unit_of_member: NDArray[np.intp],
    seed: int,
    resamples: int,
    block_rows: int,
) -> Iterator[NDArray[np.float64]]:
    units = group.size
    by_group = np.argsort(group, kind="stable")
    _, first, size = np.unique(group[by_group], return_index=True, return_counts=True)
    # Units are sorted by group for drawing, so that those of one group are adjacent.
    group_first, group_size = np.repeat(first, size), np.repeat(size, size).astype(np.float64)
    place = np.empty(units, dtype=np.intp)
    place[by_group] = np.arange(units)
    source = place[unit_of_member]
    whole = members.size == cases  # every case is drawn: nothing has to be put into its place
    ordered = bool((source == np.arange(source.size)).all())
    generator = np.random.Generator(np.random.PCG64(seed))
    step = min(max(1, _DRAWS_AT_ONCE // max(1, units)), block_rows, resamples)
    first_of_row = group_first + np.arange(step)[:, np.newaxis] * units
    draws, drawn = np.empty((step, units)), np.empty((step, units), dtype=np.int64)
    for block_start in range(0, resamples, block_rows):
        shape = min(block_rows, resamples - block_start), cases
        block = np.empty(shape) if whole else np.zeros(shape)
        for start in range(0, shape[0], step):
            part = block[start : start + step]
            rows = part.shape[0]
            generator.random(out=draws[:rows])
            draws[:rows] *= group_size  # floor(u·n) < n for every double u < 1
            drawn[:rows] = draws[:rows]
            drawn[:rows] += first_of_row[:rows]
            counts = np.bincount(drawn[:rows].ravel(), minlength=rows * units).reshape(rows, units)
            if not ordered:
                counts = counts.take(source, axis=1)
            if whole:
                part[:] = counts
            else:
                part[:, members] = counts
        yield block


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, found {level}")
