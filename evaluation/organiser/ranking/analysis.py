"""Statistics from the results per case: intervals, tests, stability, difficulty, annotators."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np

from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.free_response import FrocTable
from evaluation.organiser.ranking import comparisons, difficulty, resampling, stability
from evaluation.organiser.ranking.annotators import (
    AnnotatorsSection,
    ReadColumns,
    Readings,
    Scores,
    describe_annotators,
    readings_of,
)
from evaluation.organiser.ranking.classifiers import (
    CurvePoints,
    classifiers_of_teams,
    operating_points,
    roc_curve,
)
from evaluation.organiser.ranking.differences import Compared, TestOfMeans
from evaluation.organiser.ranking.leaderboard_file import CaseValues, FrocPoints, OrganiserPart
from evaluation.organiser.ranking.readers import against_readers, annotator_points
from evaluation.organiser.ranking.results import Submission
from evaluation.organiser.ranking.scheme_scores import SchemeScores, Which
from evaluation.organiser.ranking.stability import rank_confidence_sets
from evaluation.phase.places import BoardPlaces, place_teams
from evaluation.platform.result_file import as_written_values

# --- Single cases, for organisers: values and curves, where each step is a case of one class or an object ---


def _of_single_cases(metrics: Mapping[str, Metric], cases: resampling.TeamCases) -> OrganiserPart:
    """Return values by case, ROC curves and curves of detections, of every metric that has such.

    Without any object in the reference there is no curve of detections.
    """
    values: dict[str, CaseValues] = {}
    curves: dict[str, dict[str, CurvePoints]] = {}
    free_response: dict[str, dict[str, FrocPoints]] = {}
    for name, metric, team, table in cases.each_table(metrics):
        estimator = metric.estimator
        if column := estimator.mean_column:
            of_cases = (one if math.isfinite(one) else None for one in table[column].tolist())
            values.setdefault(name, CaseValues(table.names, {})).teams[team] = tuple(of_cases)
        if (curve := estimator.curve) and curve.is_area:
            curves.setdefault(name, {})[team] = roc_curve(table, curve)
        detections = estimator.detections
        if detections and (candidates := detections.candidates(table)).references.any():
            points = FrocTable(candidates).curve(np.ones(len(table)))
            free_response.setdefault(name, {})[team] = FrocPoints(
                tuple(points.false_positives_per_case.tolist()), tuple(points.sensitivity.tolist())
            )
    return OrganiserPart(values=values, curves=curves, free_response=free_response)


# --- The options of `rank`: which statistics are computed besides places ---


@dataclass(frozen=True)
class RankOptions:
    """The options of a ranking.

    ``which`` None: the challenge's rule. ``resamples`` None: the phase's number. ``subgroups``: columns of
    the case table. ``annotator_scores`` returns the scores of annotators for the names of the metrics.
    ``margins``: see `margin_tests`.
    """

    which: Which | None = None
    resamples: int | None = None
    means: TestOfMeans = "means"
    subgroups: tuple[str, ...] = ()
    annotators: ReadColumns | None = None
    annotator_scores: Callable[[tuple[str, ...]], Scores] | None = None
    margins: tuple[comparisons.Margin, ...] = ()


_MAX_TESTED = 100


def _values_of(name: str, submissions: Sequence[Submission]) -> dict[str, float]:
    return {one.team: one.values[name] for one in submissions if name in one.values}


class Analysis:
    """The figures that need results per case, for the ranked teams that have them."""

    def __init__(self, scores: SchemeScores, choices: RankOptions, chosen: Sequence[Submission]) -> None:
        self._results, self._scheme, self._ranked = scores.results, scores.scheme, scores.submissions
        self._scores, self._cases, self._choices, self._chosen = scores, scores.cases, choices, chosen
        self._choice = scores.results.resampling or Resampling(0, 0, 10)
        self._all = resampling.TeamCases.of(chosen)
        if choices.resamples is not None:
            self._choice = replace(self._choice, resamples=choices.resamples)

    def _to_compare(self, name: str, means: TestOfMeans = "means") -> Compared:
        """Return the teams that have results per case of a metric."""
        given, tables = _values_of(name, self._chosen), self._all.task_tables(name.partition(".")[0])
        tables = {team: table for team, table in tables.items() if team in given}
        figures = self.intervals.found.get(name)
        return Compared(self._results.metrics[name], tables, self._choice, figures, means)

    @cached_property
    def intervals(self) -> resampling.TeamIntervals:
        """The intervals of metrics and composites."""
        metrics = self._scores.given_metrics(self._results.metrics)
        composites = self._results.challenge.composites
        return resampling.intervals_of_teams(metrics, self._all, self._choice, composites)

    @property
    def too_many_to_compare(self) -> bool:
        """Whether tests of pairs are left out, since there are many teams."""
        return len(self._ranked) > _MAX_TESTED

    def distributions(self, board: str) -> dict[str, stability.PlaceDistribution]:
        """Return the distributions of the ranked teams' places in a leaderboard."""
        standing = self.resampled_standings.get(board)
        if standing is None:
            return {}
        found = zip(self._cases.teams, stability.place_distributions(standing.places), strict=True)
        return {team: distribution for team, distribution in found if distribution}

    def organiser_part(self) -> OrganiserPart:
        """Return the figures of single cases; none without results per case."""
        results, choices, chosen = self._results, self._choices, self._all
        metrics, cases = results.metrics, results.cases
        if cases is None:
            return OrganiserPart()
        difficulties = difficulty.case_difficulties(metrics, self._cases)
        classifiers: tuple[str, ...] = ()
        if not self.too_many_to_compare:
            declared = (f"{task.name}.{column}" for task in results.tasks for column in task.classifiers)
            classifiers = tuple(declared)
        tested, readings = (self._cases.teams, self._choice), self._readings
        return replace(
            _of_single_cases(metrics, chosen),
            difficulties=tuple(difficulties),
            annotator_points=annotator_points(readings, *tested) if readings else (),
            readers=against_readers(readings, *tested) if readings else (),
            reader_curves={name: roc_curve(one, readings.curve) for name, one in readings.scored().items()}
            if readings
            else {},
            classifiers=classifiers_of_teams(metrics, classifiers, chosen, *tested),
            operating_points=operating_points(results.tasks, chosen),
            subgroups=difficulty.values_by_subgroup(metrics, chosen, cases, choices.subgroups),
        )

    def margin_tests(self, annotators: Scores) -> tuple[comparisons.MarginTest, ...]:
        """Return the tests with a margin; an annotator's score is a fixed value. Raises `PhaseError`."""
        compared: dict[str, Compared] = {}
        margins: list[comparisons.Margin] = []
        for one in self._choices.margins:
            if one.metric not in self._results.metrics:
                raise PhaseError(f"margin of {one.metric}: it is not a metric of {self._results.phase}")
            compared[one.metric] = self._to_compare(one.metric)
            is_team = one.reference in _values_of(one.metric, self._chosen)
            score = None if is_team else annotators.get(one.reference, {}).get(one.metric, one.value)
            margins.append(replace(one, value=score))
        return comparisons.margin_tests(margins, compared, self.intervals)

    def subgroup_tests(self) -> list[difficulty.SubgroupTest]:
        """Return the tests between subgroups within each team."""
        cases, chosen = self._results.cases, self._choices.subgroups
        return difficulty.subgroup_tests(self._results.metrics, self._all, cases, chosen) if cases else []

    @cached_property
    def _readings(self) -> Readings | None:
        read = self._choices.annotators
        return None if read is None else readings_of(read, self._results.metrics, self._all)

    def annotators(self) -> AnnotatorsSection | None:
        """Return the figures of the annotators, None where none were requested."""
        return None if self._readings is None else describe_annotators(self._readings)

    @cached_property
    def resampled(self) -> resampling.Resampled:
        """The values of metrics and composites in the resamples."""
        ranked = self._scores.given_metrics(self._scores.metrics())
        composites = self._results.challenge.composites
        return resampling.resample_teams(ranked, self._all, self._choice, composites)

    @cached_property
    def resampled_standings(self) -> dict[str, BoardPlaces]:
        """The places of the ranked teams in the resamples, by leaderboard."""
        ranked = [self._all.teams.index(team) for team in self._cases.teams]
        of_metrics = {
            name: as_written_values(self.resampled.values[name][:, ranked])
            for name in self._scheme.metrics
            if name in self.resampled.values
            and name not in self._scores.by_method
            and self._scores.are_complete([name])
        }
        values = self._scores.given(of_metrics) | self._scores.resampled(self.resampled.draws)
        if not values:
            return {}
        boards = place_teams(self._scheme, values, self._scores.better).boards
        return {
            name: standing
            for name, standing in boards.items()
            if all(metric in values for metric in self._scheme.metrics_of(name))
        }

    @cached_property
    def rank_sets(self) -> dict[str, dict[str, tuple[int, int]]]:
        """The confidence sets of ranks, by metric and team."""
        found = {}
        for name in () if self.too_many_to_compare else self._scheme.metrics:
            if name in self.resampled.values and self._scores.are_complete([name]):
                values = _values_of(name, self._ranked)
                teams, estimates = list(values), list(values.values())
                columns = self.resampled.values[name][:, [self._all.teams.index(team) for team in teams]]
                known = self.intervals.found.get(name, {})
                intervals = None
                if self._choice.interval == "any_distribution" and values.keys() <= known.keys():
                    intervals = [known[team] for team in teams]
                finite = np.isfinite(columns).all() and np.isfinite(estimates).all()
                if min(columns.shape) < 2 or not finite:
                    continue
                better = self._results.figures[name].better
                sets = rank_confidence_sets(estimates, columns, better, intervals).tolist()
                found[name] = {team: (low, high) for team, (low, high) in zip(teams, sets, strict=True)}
        return found

    @cached_property
    def unranked(self) -> dict[str, tuple[comparisons.Comparison, ...]]:
        """The tests of teams without a place against chosen ones, by metric."""
        against = comparisons.chosen_opponents(self._results)
        found = {}
        for name in self._scores.metrics() if against else ():
            compared = self._to_compare(name, self._choices.means)
            found[name] = comparisons.compare_unranked(_values_of(name, self._chosen), compared, against)
        return found

    @cached_property
    def compared(self) -> dict[str, comparisons.Comparisons]:
        """The tests of all pairs of ranked teams, by metric."""
        if not self._can_compare or self.too_many_to_compare:
            return {}
        found = {}
        for name in self._scores.metrics():
            compared = self._to_compare(name, self._choices.means)
            found[name] = comparisons.compare(_values_of(name, self._ranked), compared)
        return found

    @property
    def _can_compare(self) -> bool:
        return any(submission.tables for submission in self._ranked)

    def notices(self) -> Iterator[str]:
        """Yield why figures are missing, and where tests cannot tell anything."""
        if without := [s.team for s in self._ranked if s.values and s.tables is None]:
            yield f"no results per case, and so no uncertainty: {', '.join(without)}"
        for name, reason in self.resampled.missing.items() if self._choice.resamples else ():
            if name in self._scheme.metrics:
                yield f"{name}: not resampled: {reason}"
        if self._can_compare and self.too_many_to_compare:
            yield f"pairs of teams are not compared: more than {_MAX_TESTED} teams"

    def margin_notices(self, tests: Sequence[comparisons.MarginTest]) -> Iterator[str]:
        """Yield the teams by conclusion for each margin, given the tests of all."""
        for one in self._choices.margins:
            teams: dict[comparisons.Conclusion, list[str]] = {
                shown: [] for shown in get_args(comparisons.Conclusion)
            }
            for test in tests:
                if (test.metric, test.reference) == (one.metric, one.reference):
                    teams[test.conclusion].append(test.team)
            told = "; ".join(f"{shown}: {', '.join(names)}" for shown, names in teams.items() if names)
            one_sided = f"one-sided tests at {comparisons.ONE_SIDED:.1%}".replace("%", " %")
            yield f"{one.metric}, margin {one.margin:g} to {one.reference} ({one_sided}): {told}"
