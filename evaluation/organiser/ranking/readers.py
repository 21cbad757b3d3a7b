"""Teams against readers: at each annotator's specificity, and on average. For organisers only."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.annotators import ReadColumns, curve_of, is_decision
from evaluation.organiser.ranking.differences import OF_BOOTSTRAP, corrected, student_difference
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.stats.areas import Components, area_variance, components
from evaluation.stats.bootstrap import bootstrap_weights
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
    read: ReadColumns | None,
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
) -> tuple[AnnotatorPoint, ...]:
    """Return every team's point at every annotator's specificity; nothing without annotators.

    read: columns by annotator; columns other than decisions are left out. An annotator without a positive or
    without a negative has no operating point.
    """
    if read is None:
        return ()
    task, curve = curve_of(metrics)
    tables = cases.task_tables(task)
    found: list[AnnotatorPoint] = []
    if not tables:
        return ()
    names = next(iter(tables.values())).names
    decisions = {name: column for name, column in read(names).items() if is_decision(column)}
    for annotator, decision in decisions.items():
        for team, table in tables.items():
            kept = np.flatnonzero(~np.isnan(decision) & ~np.isnan(table[curve.label]))
            read_cases = table.take(kept)
            positive, units = read_cases[curve.label] > 0, cases.units(read_cases)
            one = _Compared(read_cases[curve.score], positive, decision[kept] > 0, units)
            if one.positive.any() and not one.positive.all():
                found.append(_point(annotator, team, one, resampling))
    return corrected(found, lambda one: one.team in ranked)


@dataclass(frozen=True)
class _Compared:
    """Scores of a team and decisions of an annotator on the same labelled cases; arrays of shape (cases,)."""

    score: Floats
    positive: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    units: NDArray[np.int64] | None

    def detected(self, weights: Floats) -> NDArray[np.bool_]:
        """Return which positives the team detects, shape (rows, positives).

        weights: of cases, shape (rows, cases). A positive is detected where the negatives that score less
        weigh at least as much as the annotator's true negatives, so that the specificity is reached.
        """
        negative = np.flatnonzero(~self.positive)
        order = negative[np.argsort(self.score[negative], kind="stable")]
        below = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights[:, order], axis=1)], axis=1)
        scores = self.score[self.positive]
        left = below[:, np.searchsorted(self.score[order], scores, side="left")]
        rejected = weights[:, ~self.positive & ~self.decided].sum(axis=1, keepdims=True)
        # A missing positive is below every threshold.
        return np.asarray((left >= rejected) & (scores > -math.inf))

    def difference(self, weights: Floats) -> Floats:
        """Return the team's sensitivity minus the annotator's, shape (rows,)."""
        of_positives = weights[:, self.positive]
        by_annotator = self.decided[self.positive]
        gained = self.detected(weights).astype(np.float64) - by_annotator
        return np.asarray((of_positives * gained).sum(axis=1) / of_positives.sum(axis=1))


def _point(annotator: str, team: str, one: _Compared, resampling: Resampling) -> AnnotatorPoint:
    by_team, by_annotator = one.detected(np.ones((1, one.score.size)))[0], one.decided[one.positive]
    positives, negatives = int(one.positive.sum()), int((~one.positive).sum())
    only_team, only_annotator = int((by_team & ~by_annotator).sum()), int((by_annotator & ~by_team).sum())
    hits, others = int(by_team.sum()), int(by_annotator.sum())
    specificity = int((~one.positive & ~one.decided).sum()) / negatives
    value = (hits - others) / positives
    found = Difference(value, reason=f"fewer than {resampling.interval_minimum} cases of a class")
    if resampling.resamples > 1 and _fewest_units(one.positive, one.units) >= resampling.interval_minimum:
        # The team's threshold is found anew in each resample.
        error = float(_differences([one], resampling)[0].std(ddof=1))
        units = positives if one.units is None else np.unique(one.units[one.positive]).size
        found = student_difference(value, error, units - 1, OF_BOOTSTRAP, units)
    place = annotator, team, positives, negatives, specificity, others / positives, hits / positives
    return AnnotatorPoint(*place, found, only_team, only_annotator)


def _fewest_units(positive: NDArray[np.bool_], units: NDArray[np.int64] | None) -> int:
    """Return how many units, cases if None, the class with fewer of them has."""
    unit_of_case = np.arange(positive.size) if units is None else units
    return min(np.unique(unit_of_case[members]).size for members in (positive, ~positive))


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
    read: ReadColumns | None,
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
) -> tuple[AgainstReaders, ...]:
    """Return the figures of the average reader, and of every team beside it, see `mean_of_readers`.

    Of readers with scores the area under the curve, with DeLong's covariances (Obuchowski's where cases
    belong together); of readers with decisions sensitivity and specificity, and every team's sensitivity at
    each reader's specificity, with the covariances of the bootstrap, which finds each threshold anew. Nothing
    with one reader, or too few cases of a class for an interval; no area of filled-in scores.
    """
    if read is None:
        return ()
    task, curve = curve_of(metrics)
    tables = cases.task_tables(task)
    table = next(iter(tables.values()), None)
    columns = read(table.names) if table else {}
    found: list[AgainstReaders] = []
    for decided in (False, True):
        chosen = [column for column in columns.values() if is_decision(column) == decided]
        if table is None or len(chosen) < 2:
            continue
        kept = np.flatnonzero(~np.isnan([*chosen, table[curve.label]]).any(axis=0))
        of_all = table.take(kept)
        units = cases.units(of_all)
        read_cases = _Read(np.stack(chosen)[:, kept], of_all[curve.label] > 0, units)
        if _fewest_units(read_cases.positive, units) >= max(2, resampling.interval_minimum):
            scores = {team: one.take(kept)[curve.score] for team, one in tables.items()}
            found += read_cases.sensitivities(scores, resampling) if decided else read_cases.areas(scores)
    return corrected(found, lambda one: (one.figure, one.team in ranked))


@dataclass(frozen=True)
class _Read:
    """Scores or decisions of readers, shape (readers, cases), and the classes and units of the cases."""

    readings: Floats
    positive: NDArray[np.bool_]
    units: NDArray[np.int64] | None

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

    def areas(self, scores: Mapping[str, Floats]) -> Iterator[AgainstReaders]:
        parts = components(self.readings, self.positive, self.units)
        readers = [parts.of(reader) for reader in range(len(self.readings))]
        yield self.row("AUC", mean_of_readers([one.area for one in readers], area_covariance(readers)))
        for team, score in scores.items():
            if np.isfinite(score).all():
                own = components(score, self.positive, self.units)
                moved = [own.minus(one) for one in readers]
                found = mean_of_readers([one.area for one in moved], area_covariance(moved))
                yield self.row("AUC", found, team, float(own.area))

    def sensitivities(self, scores: Mapping[str, Floats], resampling: Resampling) -> Iterator[AgainstReaders]:
        hits, rejections = self.readings[:, self.positive], 1 - self.readings[:, ~self.positive]
        for figure, members, right in (
            ("sensitivity", self.positive, hits),
            ("specificity", ~self.positive, rejections),
        ):
            covariance = _covariance_of_means(right, None if self.units is None else self.units[members])
            yield self.row(figure, mean_of_readers(right.mean(axis=1), covariance))
        for team, score in scores.items() if resampling.resamples > 1 else ():
            pairs = [_Compared(score, self.positive, one > 0, self.units) for one in self.readings]
            values = [float(one.difference(np.ones((1, score.size)))[0]) for one in pairs]
            found = mean_of_readers(values, np.cov(_differences(pairs, resampling)))
            own = found.value + float(hits.mean())
            yield self.row("sensitivity at the readers' specificity", found, team, own)


def _differences(pairs: Sequence[_Compared], resampling: Resampling) -> Floats:
    """Return the bootstrap differences of several annotators of the same cases, (annotators, resamples)."""
    one, found = pairs[0], []
    strata = one.positive.astype(np.int64)
    for block in bootstrap_weights(strata, one.units, resampling.seed, resampling.resamples):
        weights = np.asarray(block, dtype=np.float64)
        drawn = weights[:, one.positive].any(axis=1) & weights[:, ~one.positive].any(axis=1)
        found.append(np.stack([pair.difference(weights[drawn]) for pair in pairs]))
    return np.concatenate(found, axis=1)


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
