"""The scores that a scheme ranks, and which of a team's submissions counts."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Draws
from evaluation.core.scheme import Scheme
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.methods import TeamScores, is_by_method, team_scores
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.ranking.results import PhaseResults, Submission
from evaluation.phase.places import Better, Leaderboards, place_teams


def _exact_values(
    submissions: Sequence[Submission], scheme: Scheme, better: Mapping[str, Better]
) -> dict[str, Floats]:
    """Return the metrics of a scheme that exist, shape (1, submissions), NaN where a submission has none."""
    return {
        name: np.array([[submission.exact.get(name, math.nan) for submission in submissions]])
        for name in scheme.metrics
        if name in better
    }


class SchemeScores:
    """The scores of submissions in the metrics of a scheme, and the metrics that they rest on.

    ``by_method``: the metrics that are not ranked by their own values. ``better``: the direction of the
    scores of every metric of the phase and of its composites. ``cases``: the results per case.
    Raises `PhaseError` where a method needs results per case that are missing.
    """

    def __init__(self, results: PhaseResults, scheme: Scheme, submissions: Sequence[Submission]) -> None:
        self.results, self.scheme, self.submissions = results, scheme, submissions
        self.by_method: dict[str, TeamScores] = {}
        self.better = results.better
        self.cases = TeamCases.of(submissions)
        for name in scheme.metrics:
            if name not in results.metrics:
                continue
            tables = self.cases.task_tables(name.partition(".")[0])
            without = [one.team for one in submissions if name in one.values and one.team not in tables]
            if without and is_by_method(results.metrics[name], scheme.method):
                needed = (
                    f"{scheme.method.name} needs results per case of {name}, missing: {', '.join(without)}"
                )
                remedy = "score the predictions with evaluate --each, or choose --scheme mean-then-rank"
                raise PhaseError(f"{needed}: {remedy}")
            scores = team_scores(results.metrics[name], tables, scheme.method, scheme.ties)
            if scores is not None:
                self.by_method[name], self.better[name] = scores, scores.better

    def values(self) -> dict[str, Floats]:
        """Return the scores by metric, shape (1, submissions), NaN where a submission has none."""
        found = _exact_values(self.submissions, self.scheme, self.better)
        for name, scores in self.by_method.items():
            found[name] = self._wide(name, scores.under(np.ones((1, len(scores.cases)))))
        return found

    def under(self, names: Mapping[str, NDArray[np.float64]]) -> dict[str, Floats]:
        """Return the scores of ``by_method`` under the weights that ``names`` gives for their metrics."""
        return {name: self._wide(name, self.by_method[name].under(rows)) for name, rows in names.items()}

    def resampled(self, draws: Draws) -> dict[str, Floats]:
        """Return the bootstrap scores of ``by_method`` that can be resampled, (resamples, submissions)."""
        return {
            name: self._wide(name, scores.resampled(block for (block,) in draws.weights(scores.cases)))
            for name, scores in self.by_method.items()
            if name in draws.strata
        }

    def places(self) -> Leaderboards:
        """Return the leaderboards of the submissions, in their order."""
        return place_teams(self.scheme, self.values(), self.better)

    def _wide(self, name: str, values: Floats) -> Floats:
        return self.given(self.cases.columns(self.by_method[name].teams, {name: values}))[name]

    def given(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return values, shape (rows, submissions), with NaN where a submission has no such figure.

        Results per case may tell a figure that the submission's own results lack, and that ranks nothing.
        """
        return {
            name: np.where([name in one.values for one in self.submissions], of_metric, np.nan)
            for name, of_metric in values.items()
        }

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics that the scheme ranks, including the parts of its composites."""
        metrics = self.results.metrics
        return {name: metrics[name] for name in self.results.challenge.parts_of(self.scheme.metrics)}

    def given_metrics(self, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
        """Return those of some metrics that any submission has."""
        return {
            name: metric
            for name, metric in metrics.items()
            if any(name in submission.values for submission in self.submissions)
        }

    def are_complete(self, names: Sequence[str]) -> bool:
        """Return whether all submissions with these metrics or composites also have them per case."""
        for name in self.results.challenge.parts_of(names):
            tables = self.cases.task_tables(name.partition(".")[0])
            if any(name in one.values and one.team not in tables for one in self.submissions):
                return False
        return True


# --- Which of a team's submissions counts ---

Which = Literal["best", "last"]


def select(results: PhaseResults, scheme: Scheme, which: Which | None = None) -> tuple[Submission, ...]:
    """Return the submission of every team that counts, in the order of the teams.

    which: by default the challenge's rule. "last": the last one, even without a result. "best", as on the
    platform: all submissions of the eligible teams are ranked together, and each team's best place counts, of
    equal ones the later. The submissions of an ineligible team are ranked among the eligible ones.
    Submissions are compared by overall place, then by the places in the scheme's other boards.
    """
    teams: dict[str, list[Submission]] = {}
    for submission in results.submissions:
        teams.setdefault(submission.team, []).append(submission)
    if (which or results.challenge.counts) == "last":
        return tuple(team_submissions[-1] for team_submissions in teams.values())
    better = results.better
    eligible = [one for one in results.submissions if one.team not in results.ineligible]
    found: dict[str, Submission] = _best(eligible, scheme, better) if eligible else {}
    for team in results.ineligible & teams.keys():
        found[team] = _best([*eligible, *teams[team]], scheme, better)[team]
    return tuple(found[team] for team in teams)


def _best(
    submissions: Sequence[Submission], scheme: Scheme, better: Mapping[str, Better]
) -> dict[str, Submission]:
    leaderboards = place_teams(scheme, _exact_values(submissions, scheme, better), better)
    boards = sorted(leaderboards.boards, key=lambda name: name != scheme.overall)
    best: dict[str, tuple[list[float], Submission]] = {}
    for position, submission in enumerate(submissions):
        key = [leaderboards.boards[name].place(position) or math.inf for name in boards]
        if submission.team not in best or key <= best[submission.team][0]:
            best[submission.team] = (key, submission)
    return {team: submission for team, (_, submission) in best.items()}
