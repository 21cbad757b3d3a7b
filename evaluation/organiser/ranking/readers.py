"""Teams against readers: at each annotator's specificity, and on average. For organisers only."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.resampling import Resampling, units_of
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.annotators import Readings
from evaluation.organiser.ranking.differences import OF_BOOTSTRAP, corrected, student_difference
from evaluation.stats.areas import Components, area_variance, components
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.figure import Difference

# --- The sensitivity of every team at every annotator's specificity (REFUGE, sections 4.1, 5.3 and 6) ---


@dataclass(frozen=True)
class AnnotatorPoint:
    """A team at the operating point of an annotator, on the cases that the annotator read.

    ``team_sensitivity`` is the highest over thresholds that reach the annotator's specificity;
    ``difference``: the team's minus the annotator's, with an interval over resampled cases, each with its own
    threshold and annotator's figures. ``only_team``, ``only_annotator``: the positives that only one of them
    detects. ``p_holm`` is corrected for all ranked teams and annotators; unranked teams are a separate
    family.
    """

    annotator: str
    team: str
    positives: int
    negatives: int
    specificity: float
    annotator_sensitivity: float
    team_sensitivity: float
    difference: Difference
    only_team: int
    only_annotator: int
    p_holm: float | None = None


def annotator_points(
    readings: Readings, ranked: Collection[str], resampling: Resampling
) -> tuple[AnnotatorPoint, ...]:
    """Return every team's point at the specificity of every annotator who gave decisions.

    An annotator without a positive or without a negative has no operating point.
    """
    found: list[AnnotatorPoint] = []
    for annotator in readings.decisions:
        read = _Read.of(readings, {annotator: readings.decisions[annotator]}, resampling)
        if read.positive.any() and not read.positive.all():
            found += (_point(annotator, team, read, score) for team, score in read.scores.items())
    return corrected(found, lambda one: one.team in ranked)


# --- Teams against the average reader, where readers and cases are random (Obuchowski and Rockette) ---


def mean_of_readers(values: ArrayLike, covariance: ArrayLike) -> Difference:
    """Return the mean of a figure over at least two readers, who stand for all readers like them, and p of 0.

    values: shape (readers,). covariance: shape (readers, readers), of these values over samples of cases; the
    diagonal is not used. The squared standard error is (MS + r·max(Cov₂, 0)) / r, the degrees of freedom
    (MS + r·max(Cov₂, 0))² (r − 1) / MS². Values that are each reader's difference between two modalities
    give the F-test of two modalities, F = t²; differences to an algorithm, which has no readers, the test of
    the algorithm against the average reader.
    Source: Obuchowski and Rockette 1995, Commun. Stat. Simul. 24:285; Hillis et al. 2005, Stat. Med. 24:1579,
    Eq. 23; Hillis 2007, 26:596 (degrees of freedom); Chakraborty 2017, Observer Performance Methods for
    Diagnostic Imaging, chapter 22 (algorithm).
    """
    from scipy.special import stdtr, stdtrit  # 0.2 s that not all rankings need

    figures, matrix = np.asarray(values, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    readers = figures.size
    between = float(figures.var(ddof=1))
    shared = float(matrix[~np.eye(readers, dtype=np.bool_)].mean())
    total = between + readers * max(shared, 0.0)
    freedom = min(_NEARLY_NORMAL, (total / between) ** 2 * (readers - 1)) if between else _NEARLY_NORMAL
    value, error = float(figures.mean()), math.sqrt(total / readers)
    found = Difference(
        value,
        method=_OF_READERS,
        standard_error=error,
        degrees_of_freedom=freedom,
        p_value=None if value else 1.0,
    )
    if not error:
        return found
    half, p_value = float(stdtrit(freedom, 0.975)) * error, 2 * float(stdtr(freedom, -abs(value) / error))
    return replace(found, lower=value - half, upper=value + half, p_value=p_value)


_OF_READERS = "Obuchowski–Rockette"
_NEARLY_NORMAL = 1e6


@dataclass(frozen=True)
class AgainstReaders:
    """A team beside the average of the readers, or the readers alone, in one figure of the cases all read.

    ``difference``: the team's value minus the readers'; of the readers alone, their value and its interval,
    without p. ``p_holm`` is corrected for the ranked teams.
    """

    figure: str
    team: str | None = field(default=None, kw_only=True)
    readers: int
    cases: int
    readers_value: float
    team_value: float | None = field(default=None, kw_only=True)
    difference: Difference
    p_holm: float | None = None


def against_readers(
    readings: Readings, ranked: Collection[str], resampling: Resampling
) -> tuple[AgainstReaders, ...]:
    """Return the figures of the average reader, and of every team beside it, see `mean_of_readers`.

    Of readers with scores the area under the curve, with DeLong's covariances (Obuchowski's where cases
    belong together); of readers with decisions sensitivity and specificity, and every team's sensitivity at
    each reader's specificity, with the covariances of the bootstrap, which finds each threshold anew. Nothing
    with one reader, or too few cases of a class for an interval; no area of filled-in scores.
    """
    found: list[AgainstReaders] = []
    for columns in (readings.scores, readings.decisions):
        if len(columns) < 2:
            continue
        read = _Read.of(readings, columns, resampling)
        if read.fewest_units >= max(2, resampling.interval_minimum):
            found += read.sensitivities() if columns is readings.decisions else read.areas()
    return corrected(found, lambda one: (one.figure, one.team in ranked))


# --- The cases that annotators read ---


@dataclass(frozen=True)
class _Read:
    """The labelled cases that some annotators have all read.

    readings: shape (annotators, cases). positive, units: shape (cases,). scores: of the teams.
    """

    readings: Floats
    positive: NDArray[np.bool_]
    units: NDArray[np.int64] | None
    scores: Mapping[str, Floats]
    resampling: Resampling

    @classmethod
    def of(cls, readings: Readings, columns: Mapping[str, Floats], resampling: Resampling) -> "_Read":
        """Return the cases of columns of annotators."""
        chosen = [*columns.values()]
        kept = np.flatnonzero(~np.isnan([*chosen, readings.label]).any(axis=0))
        units = units_of(resampling.clusters, [readings.names[case] for case in kept.tolist()])
        scores = {team: table[readings.curve.score][kept] for team, table in readings.tables.items()}
        return cls(np.stack(chosen)[:, kept], readings.label[kept] > 0, units, scores, resampling)

    @property
    def fewest_units(self) -> int:
        """How many units, cases without any, the class with fewer of them has."""
        unit_of_case = np.arange(self.positive.size) if self.units is None else self.units
        return min(np.unique(unit_of_case[of]).size for of in (self.positive, ~self.positive))

    def detected(self, score: Floats, decided: Floats, weights: Floats) -> NDArray[np.bool_]:
        """Return which positives a team detects at the specificity of decisions, shape (rows, positives).

        weights: of cases, shape (rows, cases). A positive is detected where the negatives that score less
        weigh at least as much as the annotator's true negatives, so that the specificity is reached.
        """
        negative = np.flatnonzero(~self.positive)
        order = negative[np.argsort(score[negative], kind="stable")]
        below = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights[:, order], axis=1)], axis=1)
        scores = score[self.positive]
        left = below[:, np.searchsorted(score[order], scores, side="left")]
        rejected = weights[:, ~self.positive & (decided == 0)].sum(axis=1, keepdims=True)
        # A missing positive is below every threshold.
        return np.asarray((left >= rejected) & (scores > -math.inf))

    def gains(self, score: Floats, weights: Floats) -> Floats:
        """Return a team's sensitivity minus each annotator's, shape (annotators, rows)."""
        of_positives = weights[:, self.positive]
        found = []
        for decided in self.readings:
            gained = self.detected(score, decided, weights).astype(np.float64) - decided[self.positive]
            found.append((of_positives * gained).sum(axis=1) / of_positives.sum(axis=1))
        return np.stack(found)

    def resampled(self, score: Floats) -> Floats:
        """Return `gains` in the resamples, shape (annotators, resamples); each finds its own threshold."""
        found, strata = [], self.positive.astype(np.int64)
        given = self.resampling.seed, self.resampling.resamples
        for weights in bootstrap_of(strata, self.units, *given).case_weights():
            drawn = weights[:, self.positive].any(axis=1) & weights[:, ~self.positive].any(axis=1)
            found.append(self.gains(score, weights[drawn]))
        return np.concatenate(found, axis=1)

    def row(
        self, figure: str, found: Difference, team: str | None = None, own: float = 0.0
    ) -> AgainstReaders:
        """Return the row of the readers alone, or of a team whose difference was found and its own value.

        Student's interval is cut at the ends of the range, 0 or −1 and 1, beyond which no true value lies.
        """
        if (ends := found.interval) is not None:
            least = -1.0 if team else 0.0
            lower, upper = (min(1.0, max(least, end)) for end in (ends.lower, ends.upper))
            found = replace(found, lower=lower, upper=upper)
        readers, cases = self.readings.shape
        if team is None:
            alone = replace(found, p_value=None)
            return AgainstReaders(figure, readers, cases, found.value, alone)
        return AgainstReaders(figure, readers, cases, own - found.value, found, team=team, team_value=own)

    def areas(self) -> Iterator[AgainstReaders]:
        """Yield the areas of readers with scores, and of the teams."""
        readers = [components(one, self.positive, self.units) for one in self.readings]
        yield self.row("AUC", mean_of_readers([one.area for one in readers], area_covariance(readers)))
        for team, score in self.scores.items():
            if np.isfinite(score).all():
                own = components(score, self.positive, self.units)
                moved = [own.minus(one) for one in readers]
                found = mean_of_readers([one.area for one in moved], area_covariance(moved))
                yield self.row("AUC", found, team, own.area)

    def sensitivities(self) -> Iterator[AgainstReaders]:
        """Yield sensitivity and specificity of readers with decisions, and the teams' sensitivity."""
        hits, rejections = self.readings[:, self.positive], 1 - self.readings[:, ~self.positive]
        for figure, members, right in (
            ("sensitivity", self.positive, hits),
            ("specificity", ~self.positive, rejections),
        ):
            covariance = _covariance_of_means(right, None if self.units is None else self.units[members])
            yield self.row(figure, mean_of_readers(right.mean(axis=1), covariance))
        for team, score in self.scores.items() if self.resampling.resamples > 1 else ():
            values = self.gains(score, np.ones((1, score.size)))[:, 0]
            found = mean_of_readers(values, np.cov(self.resampled(score)))
            own = found.value + float(hits.mean())
            yield self.row("sensitivity at the readers' specificity", found, team, own)


def _point(annotator: str, team: str, read: _Read, score: Floats) -> AnnotatorPoint:
    positive, decided, minimum = read.positive, read.readings[0], read.resampling.interval_minimum
    by_team = read.detected(score, decided, np.ones((1, score.size)))[0]
    by_annotator = decided[positive] > 0
    positives, negatives = int(positive.sum()), int((~positive).sum())
    only_team, only_annotator = int((by_team & ~by_annotator).sum()), int((by_annotator & ~by_team).sum())
    hits, others = int(by_team.sum()), int(by_annotator.sum())
    specificity = int((decided[~positive] == 0).sum()) / negatives
    value = (hits - others) / positives
    found = Difference(value, reason=f"fewer than {minimum} cases of a class")
    if read.resampling.resamples > 1 and read.fewest_units >= minimum:
        error = float(read.resampled(score)[0].std(ddof=1))
        units = positives if read.units is None else np.unique(read.units[positive]).size
        found = student_difference(value, error, units - 1, OF_BOOTSTRAP, units)
    place = annotator, team, positives, negatives, specificity, others / positives, hits / positives
    return AnnotatorPoint(*place, found, only_team, only_annotator)


def area_covariance(parts: Sequence[Components]) -> Floats:
    """Return DeLong's covariances of areas or of their differences, see `area_variance`."""
    own = [area_variance(one).variance for one in parts]
    apart = [[area_variance(one.minus(other)).variance for other in parts] for one in parts]
    return np.asarray((np.add.outer(own, own) - np.array(apart)) / 2)


def _covariance_of_means(values: Floats, units: NDArray[np.int64] | None) -> Floats:
    """Return the covariances of the means of columns of the same cases, shape (columns, cases)."""
    cases = values.shape[1]
    of_case = np.arange(cases) if units is None else np.unique(units, return_inverse=True)[1]
    sums = np.zeros((int(of_case.max()) + 1, len(values)))
    np.add.at(sums, of_case, (values - values.mean(axis=1, keepdims=True)).T)
    return np.asarray(sums.T @ sums * (len(sums) / (len(sums) - 1) / cases**2))
