"""Statistics from the results per case: intervals, tests, stability, difficulty, annotators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.core.scheme import Scheme
from evaluation.metrics.arrays import Floats
from evaluation.metrics.classification import roc_points, roc_table
from evaluation.metrics.froc import FrocTable
from evaluation.metrics.intervals import Interval
from evaluation.organiser.ranking.annotator_scores import Scores
from evaluation.organiser.ranking.annotators import AnnotatorsSection, ReadColumns, annotators_section
from evaluation.organiser.ranking.certainty import rank_sets, superiorities
from evaluation.organiser.ranking.classifiers import annotator_points, classifiers_of_teams, operating_points
from evaluation.organiser.ranking.comparisons import (
    SIGNIFICANT,
    Comparison,
    Comparisons,
    chosen_opponents,
    compare,
    compare_unranked,
)
from evaluation.organiser.ranking.difficulty import (
    SubgroupTest,
    case_difficulties,
    group_difficulties,
    subgroup_tests,
    values_by_subgroup,
)
from evaluation.organiser.ranking.leaderboard_file import CaseValues, CurvePoints, FrocPoints, OrganiserPart
from evaluation.organiser.ranking.pair_tests import TestChoice, TestOfMeans
from evaluation.organiser.ranking.resampling import (
    Resampled,
    TeamCases,
    draw_cases,
    intervals_of_teams,
    resample_teams,
    with_composites,
)
from evaluation.organiser.ranking.results import PhaseResults, RankingError, Submission
from evaluation.organiser.ranking.scheme_scores import SchemeMetrics, SchemeScores
from evaluation.organiser.ranking.selection import Which
from evaluation.organiser.ranking.stability import PlaceDistribution, influences, place_distributions
from evaluation.phase.places import BoardPlaces, Leaderboards, place_teams
from evaluation.platform.result_file import as_written_values

# --- Single cases in the organiser's report: values, ROC and free-response curves of every team ---
#
# All reveal labels: each step of a curve is a case of one class, or an object.


def case_values(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, CaseValues]:
    """Return the values by case of every metric that is a mean of them, by metric and team."""
    found = {}
    for name, metric in metrics.items():
        column, tables = metric.aggregate.spread_column, cases.task_tables(name.partition(".")[0])
        if column is None or not tables:
            continue
        found[name] = CaseValues(
            next(iter(tables.values())).names,
            {cases.teams[position]: _without_undefined(table[column]) for position, table in tables.items()},
        )
    return found


def _without_undefined(values: Floats) -> tuple[float | None, ...]:
    if np.isfinite(values).all():
        return tuple(values.tolist())
    return tuple(value if math.isfinite(value) else None for value in values.tolist())


def curves(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, dict[str, CurvePoints]]:
    """Return the ROC curves of every metric that is an area under one, by metric and team."""
    found = {}
    for name, metric in metrics.items():
        curve = metric.aggregate.curve
        if curve is None or not curve.is_area:
            continue
        of_teams = {}
        for position, table in cases.task_tables(name.partition(".")[0]).items():
            labelled = ~np.isnan(table[curve.label])
            roc = roc_table(table[curve.score][labelled], table[curve.label][labelled] > 0)
            points = roc_points(roc, np.ones(int(labelled.sum())))
            of_teams[cases.teams[position]] = CurvePoints(
                tuple(points.false_positive_rate.tolist()), tuple(points.sensitivity.tolist())
            )
        if of_teams:
            found[name] = of_teams
    return found


def free_response_curves(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, dict[str, FrocPoints]]:
    """Return the free-response ROC curves of every metric of detections, by metric and team.

    A metric without any object in the reference has none.
    """
    found = {}
    for name, metric in metrics.items():
        detections = metric.aggregate.detections
        if detections is None:
            continue
        of_teams = {}
        for position, table in cases.task_tables(name.partition(".")[0]).items():
            candidates = detections.candidates(table)
            if candidates.references.any():
                curve = FrocTable(candidates).curve(np.ones(len(table)))
                of_teams[cases.teams[position]] = FrocPoints(
                    tuple(curve.false_positives_per_case.tolist()), tuple(curve.sensitivity.tolist())
                )
        if of_teams:
            found[name] = of_teams
    return found


# --- The options of `rank`: which statistics are computed besides places ---


@dataclass(frozen=True)
class RankOptions:
    """The options of a ranking.

    ``which`` None: the challenge's rule. ``tests`` None: tests for up to a hundred teams. ``resamples``
    None: the phase's number.
    ``compare_with``: the teams that each team without a place is tested against, in addition to `teams.csv`.
    ``subgroups``: columns of the case table. ``classifiers``: columns ("task.column") of the results per
    case, by title, that are reported beside the annotators. ``annotator_scores`` returns the scores of
    annotators for the names of the metrics.
    """

    which: Which | None = None
    resamples: int | None = None
    interval_minimum: int | None = None
    tests: bool | None = None
    permutations: int = 9_999
    means: TestOfMeans = "permutation"
    influence: bool = True
    subgroups: tuple[str, ...] = ()
    annotators: ReadColumns | None = None
    classifiers: Mapping[str, str] | None = None
    annotator_scores: Callable[[tuple[str, ...]], Scores] | None = None
    compare_with: Mapping[str, Sequence[str]] = field(default_factory=dict)


# --- The figures of single cases, for the organiser: difficulty, curves, classifiers, operating points ---


def figures_of_cases(
    results: PhaseResults,
    choices: RankOptions,
    ranked: TeamCases,
    chosen: TeamCases,
    resampling: Resampling,
    are_few: bool,
) -> OrganiserPart:
    """Return the figures of single cases without their influence; none without results per case.

    ranked: the teams with a place; chosen: all listed teams. are_few: whether the teams are few enough to
    test the challenge's classifiers without a request.
    """
    if results.cases is None:
        return OrganiserPart()
    difficulties = case_difficulties(results.metrics, ranked)
    tested = ranked.teams, resampling, tests_of(choices, resampling)
    requested = dict(choices.classifiers or {})
    declared = [f"{task.name}.{column}" for task in results.tasks for column in task.classifiers]
    classifiers = {column: column for column in declared if column not in requested.values()} | requested
    return OrganiserPart(
        difficulties=tuple(difficulties),
        groups=tuple(group_difficulties(difficulties, results.cases, choices.subgroups)),
        values=case_values(results.metrics, chosen),
        curves=curves(results.metrics, chosen),
        free_response=free_response_curves(results.metrics, chosen),
        annotator_points=annotator_points(choices.annotators, results.metrics, chosen, *tested),
        classifiers=classifiers_of_teams(results.metrics, classifiers if are_few else {}, chosen, *tested),
        operating_points=operating_points(results.tasks, chosen),
        subgroups=values_by_subgroup(results.metrics, chosen, results.cases, choices.subgroups),
    )


def tests_of(choices: RankOptions, resampling: Resampling) -> TestChoice:
    """Return how teams are tested: with the seed of the phase."""
    return TestChoice(resampling.seed, choices.permutations, choices.means)


_MAX_TESTED = 100


class Analysis:
    """The figures that need results per case, for the ranked teams that have them."""

    def __init__(
        self,
        results: PhaseResults,
        scheme: Scheme,
        choices: RankOptions,
        chosen: Sequence[Submission],
        ranked: Sequence[Submission],
        scores: SchemeScores,
        leaderboards: Leaderboards,
    ) -> None:
        self.notices: list[str] = []
        self._results, self._scheme, self._choices = results, scheme, choices
        self._ranked, self._scores, self._standings = ranked, scores, leaderboards
        self._chosen = chosen
        given = results.resampling or Resampling(0, 0, 10)
        self._cases, self._all = (
            TeamCases(tuple(s.team for s in group), tuple(s.tables for s in group), given.clusters)
            for group in (ranked, chosen)
        )
        self._metrics = SchemeMetrics(results, scheme, ranked, self._cases)
        self._choice = replace(
            given,
            resamples=given.resamples if choices.resamples is None else choices.resamples,
            interval_minimum=given.interval_minimum
            if choices.interval_minimum is None
            else choices.interval_minimum,
        )
        self.intervals = intervals_of_teams(self._metrics.with_intervals(), self._all, self._choice)
        self._draws = draw_cases(self._metrics.of_ranked_teams(), self._all, self._choice)
        self.resampled = self._resample()
        self.resampled_standings = self._place_resampled()
        self.rank_sets = self._rank_sets()
        self.superiority = (
            {} if self.too_many_to_compare else superiorities(self._cases.teams, self.resampled_standings)
        )
        self.comparisons = self._compare()
        self.unranked = self._compare_unranked()

    @property
    def too_many_to_compare(self) -> bool:
        """Whether tests of pairs are left out: there are many teams and no request for tests."""
        return self._choices.tests is not True and len(self._ranked) > _MAX_TESTED

    def interval(self, team: str, metric: str) -> Interval | None:
        """Return the bootstrap interval of a team's metric."""
        return self.intervals.found.get(metric, {}).get(team)

    def distributions(self, board: str) -> dict[str, PlaceDistribution]:
        """Return the distributions of the ranked teams' places in a leaderboard."""
        standing = self.resampled_standings.get(board)
        if standing is None:
            return {}
        found = place_distributions(standing.places)
        return {
            team: distribution
            for team, distribution in zip(self._cases.teams, found, strict=True)
            if distribution
        }

    def organiser_part(self) -> OrganiserPart:
        """Return the figures of single cases."""
        results = self._results
        if results.cases is None:
            return OrganiserPart()
        moved = (
            influences(
                self._scheme,
                self._standings,
                self._metrics.of_scheme(),
                results.challenge.composites,
                self._cases,
                results.cases.names,
                self._scores,
            )
            if self._choices.influence and self._metrics.are_complete(self._scheme.metrics)
            else []
        )
        few = not self.too_many_to_compare
        figures = figures_of_cases(results, self._choices, self._cases, self._all, self._choice, few)
        return replace(figures, influences=tuple(moved))

    def subgroup_tests(self) -> tuple[SubgroupTest, ...]:
        """Return the tests between subgroups within each team."""
        cases = self._results.cases
        if not self._choices.subgroups:
            return ()
        if cases is None:
            raise RankingError("subgroups need results per case (evaluate --cases)")
        return tuple(subgroup_tests(self._results.metrics, self._all, cases, self._choices.subgroups))

    def annotators(self) -> AnnotatorsSection | None:
        """Return the figures of the annotators, None where none were requested."""
        choices = self._choices
        if choices.annotators is None and not choices.classifiers:
            return None
        return annotators_section(
            choices.annotators, choices.classifiers or {}, self._results.metrics, self._all.tables
        )

    def _resample(self) -> Resampled:
        without = [s.team for s in self._ranked if s.values and s.tables is None]
        if without:
            self.notices.append(f"no results per case, and so no uncertainty: {', '.join(without)}")
        found = resample_teams(self._metrics.of_ranked_teams(), self._all, self._draws)
        if self._choice.resamples:
            self.notices += [
                f"{name}: not resampled: {reason}"
                for name, reason in found.missing.items()
                if name in self._scheme.metrics
            ]
        composites = self._results.challenge.composites
        return replace(found, values=with_composites(found.values, composites))

    def _place_resampled(self) -> dict[str, BoardPlaces]:
        ranked = [self._all.teams.index(team) for team in self._cases.teams]
        values = {
            name: as_written_values(self.resampled.values[name][:, ranked])
            for name in self._scheme.metrics
            if name in self.resampled.values and self._metrics.are_complete([name])
        }
        for name in self._scores.by_method:
            values.pop(name, None)
        values |= self._scores.resampled(self._draws)
        if not values:
            return {}
        boards = place_teams(self._scheme, values, self._scores.better).boards
        return {
            name: standing
            for name, standing in boards.items()
            if all(metric in values for metric in self._scheme.metrics_of(name))
        }

    def _rank_sets(self) -> dict[str, dict[str, tuple[int, int]]]:
        if self.too_many_to_compare:
            return {}
        return {
            name: rank_sets(
                {s.team: s.values[name] for s in self._ranked if name in s.values},
                self._all.teams,
                self.resampled.values[name],
                self._results.figures[name].better,
            )
            for name in self._scheme.metrics
            if name in self.resampled.values and self._metrics.are_complete([name])
        }

    def _compare_unranked(self) -> dict[str, tuple[Comparison, ...]]:
        against = chosen_opponents(self._results, self._choices.compare_with)
        if not against or self._choices.tests is False:
            return {}
        choice = tests_of(self._choices, self._choice)
        return {
            name: compare_unranked(
                name,
                metric,
                {s.team: s.values[name] for s in self._chosen if name in s.values},
                self._all,
                self.resampled.values.get(name),
                choice,
                against,
            )
            for name, metric in self._metrics.of_scheme().items()
        }

    def _compare(self) -> dict[str, Comparisons]:
        tests = self._choices.tests
        if not any(submission.tables for submission in self._ranked) or tests is False:
            return {}
        if self.too_many_to_compare:
            self.notices.append(
                f"pairs of teams are not compared: more than {_MAX_TESTED} teams (ask for it with --tests)"
            )
            return {}
        choice = tests_of(self._choices, self._choice)
        ranked = [self._all.teams.index(team) for team in self._cases.teams]
        found = {}
        for name, metric in self._metrics.of_scheme().items():
            values = {s.team: s.values[name] for s in self._ranked if name in s.values}
            resampled = self.resampled.values.get(name)
            found[name] = compare(
                name, metric, values, self._cases, None if resampled is None else resampled[:, ranked], choice
            )
            randomised = [pair for pair in found[name].pairs if pair.method == "randomisation"]
            if randomised and len(found[name].pairs) / (choice.permutations + 1) >= SIGNIFICANT:
                self.notices.append(
                    f"{name}: {choice.permutations} permutations are too few for "
                    f"{len(found[name].pairs)} pairs: none can become significant"
                )
        return found
