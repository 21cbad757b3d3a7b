"""Statistics from the results per case: intervals, tests, stability, difficulty, annotators."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np

from evaluation.core.metric import Metric
from evaluation.core.resampling import Draws, Resampling
from evaluation.metrics.free_response import FrocTable
from evaluation.organiser.ranking import comparisons, difficulty, resampling, stability
from evaluation.organiser.ranking.annotators import (
    AnnotatorsSection,
    ReadColumns,
    Scores,
    curve_of,
    describe_annotators,
    is_decision,
    with_scores,
)
from evaluation.organiser.ranking.classifiers import (
    CurvePoints,
    classifiers_of_teams,
    operating_points,
    roc_curve,
)
from evaluation.organiser.ranking.differences import TestOfMeans
from evaluation.organiser.ranking.leaderboard_file import CaseValues, FrocPoints, OrganiserPart
from evaluation.organiser.ranking.readers import against_readers, annotator_points
from evaluation.organiser.ranking.results import RankingError, Submission
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


def _reader_curves(
    read: ReadColumns | None, metrics: Mapping[str, Metric], cases: resampling.TeamCases
) -> dict[str, CurvePoints]:
    """Return the ROC curve of every annotator who gave scores, of the cases that it read."""
    if read is None:
        return {}
    task, curve = curve_of(metrics)
    table = next(iter(cases.task_tables(task).values()), None)
    return {
        name: roc_curve(with_scores(table, curve, scores), curve)
        for name, scores in (read(table.names).items() if table else ())
        if table and not is_decision(scores)
    }


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
        self._all = resampling.TeamCases.of(chosen, self._choice.clusters)
        if choices.resamples is not None:
            self._choice = replace(self._choice, resamples=choices.resamples)

    @cached_property
    def _tests(self) -> comparisons.TestChoice:
        return comparisons.TestChoice(self._choice, self._choices.means, self.intervals.found)

    @cached_property
    def intervals(self) -> resampling.TeamIntervals:
        """The intervals of metrics and composites."""
        of_metrics = resampling.intervals_of_teams(
            self._scores.given_metrics(self._results.metrics), self._all, self._choice
        )
        return resampling.with_composite_intervals(
            of_metrics,
            self._results.challenge.composites,
            self._results.metrics,
            self._all,
            self._choice,
        )

    @property
    def _ranked_metrics(self) -> dict[str, Metric]:
        return self._scores.given_metrics(self._scores.metrics())

    @cached_property
    def _draws(self) -> Draws:
        return resampling.draw_cases(self._ranked_metrics, self._all, self._choice)

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
        tested = self._cases.teams, self._choice
        return replace(
            _of_single_cases(metrics, chosen),
            difficulties=tuple(difficulties),
            annotator_points=annotator_points(choices.annotators, metrics, chosen, *tested),
            readers=against_readers(choices.annotators, metrics, chosen, *tested),
            reader_curves=_reader_curves(choices.annotators, metrics, chosen),
            classifiers=classifiers_of_teams(metrics, classifiers, chosen, *tested),
            operating_points=operating_points(results.tasks, chosen),
            subgroups=difficulty.values_by_subgroup(metrics, chosen, cases, choices.subgroups),
        )

    def margin_tests(self, annotators: Scores) -> tuple[comparisons.MarginTest, ...]:
        """Return the tests with a margin; an annotator's score is a fixed value. Raises `RankingError`."""
        values: dict[str, dict[str, float]] = {}
        margins: list[comparisons.Margin] = []
        for one in self._choices.margins:
            if one.metric not in self._results.metrics:
                raise RankingError(f"margin of {one.metric}: it is not a metric of {self._results.phase}")
            values[one.metric] = _values_of(one.metric, self._chosen)
            score = annotators.get(one.reference, {}).get(one.metric, one.value)
            margins.append(replace(one, value=None if one.reference in values[one.metric] else score))
        return comparisons.margin_tests(
            margins, self._results.metrics, values, self._all, self._tests, self.intervals
        )

    def subgroup_tests(self) -> tuple[difficulty.SubgroupTest, ...]:
        """Return the tests between subgroups within each team."""
        cases = self._results.cases
        if not self._choices.subgroups:
            return ()
        if cases is None:
            raise RankingError("subgroups need results per case (evaluate --cases)")
        return tuple(
            difficulty.subgroup_tests(self._results.metrics, self._all, cases, self._choices.subgroups)
        )

    def annotators(self) -> AnnotatorsSection | None:
        """Return the figures of the annotators, None where none were requested."""
        read, metrics = self._choices.annotators, self._results.metrics
        if read is None:
            return None
        task, _ = curve_of(metrics)
        tables = next((tables for tables in self._all.tables if tables and task in tables), None)
        if tables is None:
            raise RankingError("annotators need results per case (evaluate --cases)")
        return describe_annotators(read(tables[task].names), metrics, tables)

    @cached_property
    def resampled(self) -> resampling.Resampled:
        """The values of metrics and composites in the resamples."""
        found = resampling.resample_teams(self._ranked_metrics, self._all, self._draws)
        return replace(
            found, values=resampling.with_composites(found.values, self._results.challenge.composites)
        )

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
        values = self._scores.given(of_metrics) | self._scores.resampled(self._draws)
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
        for name, metric in self._scores.metrics().items() if against else ():
            values = _values_of(name, self._chosen)
            found[name] = comparisons.compare_unranked(name, metric, values, self._all, self._tests, against)
        return found

    @cached_property
    def compared(self) -> dict[str, comparisons.Comparisons]:
        """The tests of all pairs of ranked teams, by metric."""
        if not self._can_compare or self.too_many_to_compare:
            return {}
        found = {}
        for name, metric in self._scores.metrics().items():
            values = _values_of(name, self._ranked)
            found[name] = comparisons.compare(name, metric, values, self._cases, self._tests)
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
