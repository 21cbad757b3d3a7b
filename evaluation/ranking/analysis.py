"""Statistics from the results per case: intervals, tests, stability, difficulty, annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation.core.resampling import Resampling
from evaluation.core.scheme import Scheme
from evaluation.metrics.intervals import Interval
from evaluation.platform.result_file import as_written_values
from evaluation.ranking.annotators import AnnotatorsSection, annotators_section
from evaluation.ranking.boards import BoardPlaces, Leaderboards, place_teams
from evaluation.ranking.case_figures import figures_of_cases, tests_of
from evaluation.ranking.certainty import rank_sets, superiorities
from evaluation.ranking.comparisons import SIGNIFICANT, Comparison, Comparisons, compare
from evaluation.ranking.difficulty import SubgroupTest, subgroup_tests
from evaluation.ranking.leaderboard_file import OrganiserPart
from evaluation.ranking.rank_options import RankOptions
from evaluation.ranking.resampling import (
    Resampled,
    TeamCases,
    draw_cases,
    intervals_of_teams,
    resample_teams,
    with_composites,
)
from evaluation.ranking.results import PhaseResults, RankingError, Submission
from evaluation.ranking.scheme_metrics import SchemeMetrics
from evaluation.ranking.scheme_scores import SchemeScores
from evaluation.ranking.stability import PlaceDistribution, influences, place_distributions
from evaluation.ranking.unranked import chosen_opponents, compare_unranked

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
                name,
                metric,
                values,
                self._cases,
                None if resampled is None else resampled[:, ranked],
                choice,
            )
            randomised = [pair for pair in found[name].pairs if pair.method == "randomisation"]
            if randomised and len(found[name].pairs) / (choice.permutations + 1) >= SIGNIFICANT:
                self.notices.append(
                    f"{name}: {choice.permutations} permutations are too few for "
                    f"{len(found[name].pairs)} pairs: none can become significant"
                )
        return found
