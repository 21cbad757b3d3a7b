"""The leaderboard of one phase from the results of its teams, and of a challenge with several phases."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme, Ties
from evaluation.io.files import write_atomically
from evaluation.organiser.output import csv_bytes, table_row
from evaluation.organiser.ranking.analysis import Analysis, RankOptions
from evaluation.organiser.ranking.annotators import Beside, beside_teams
from evaluation.organiser.ranking.comparisons import MarginTest
from evaluation.organiser.ranking.differences import corrected
from evaluation.organiser.ranking.difficulty import require_subgroups
from evaluation.organiser.ranking.leaderboard_file import (
    FORMAT,
    ORGANISER_FORMAT,
    BoardOfTeam,
    FinalTeam,
    Leaderboard,
    MetricOfPhase,
    MetricOfTeam,
    OrganiserPart,
    PhaseChange,
    PhaseLeaderboard,
    Team,
)
from evaluation.organiser.ranking.platform_results import Paths, notices_of_order, read_phase_results
from evaluation.organiser.ranking.rank_tests import published_difference
from evaluation.organiser.ranking.results import SECONDS, PhaseResults, Submission
from evaluation.organiser.ranking.robustness import Variation, variations
from evaluation.organiser.ranking.scheme_file import describe_scheme, exact_text, scheme_named
from evaluation.organiser.ranking.scheme_scores import SchemeScores, select
from evaluation.organiser.ranking.stability import (
    PlaceDistribution,
    across_rankings,
    agreement,
    place_distributions,
)
from evaluation.phase import registry
from evaluation.phase.leaderboard import TEAM
from evaluation.phase.places import BoardPlaces, Leaderboards, combine_phases, shared_rank
from evaluation.platform.result_file import render
from evaluation.stats.figure import Difference, Figure, Interval

CHOSEN_HERE = "members chosen on these cases: looks better than it is"
"""The note on such an ensemble. Source: Orlando et al. 2020, Med. Image Anal. 59:101570, section 5.1.3."""


@dataclass(frozen=True)
class RankedPhase:
    """A phase's leaderboard, the organiser's part, and the places for a final leaderboard.

    ``standings``, ``resampled``: the places of ``ranked_teams`` by leaderboard, also in the resamples.
    ``annotator_scores`` are the rows of the file of this name. ``submissions``: all submissions of all
    teams, in their order.
    """

    board: PhaseLeaderboard
    organiser: OrganiserPart
    ranked_teams: tuple[str, ...]
    standings: Mapping[str, BoardPlaces]
    resampled: Mapping[str, BoardPlaces]
    notices: tuple[str, ...]
    annotator_scores: tuple[Beside, ...] = ()
    submissions: tuple[Submission, ...] = ()
    margins: tuple[MarginTest, ...] = ()


def rank_phase(
    results: PhaseResults, scheme: Scheme, choices: RankOptions, role: str | None = None
) -> RankedPhase:
    """Return the leaderboard of one phase. Raises `PhaseError` where results do not fit together."""
    if choices.subgroups:
        require_subgroups(results.cases, choices.subgroups)
    _require_known(scheme, results)
    chosen = select(results, scheme, choices.which)
    ranked = tuple(submission for submission in chosen if submission.team not in results.ineligible)
    if not ranked:
        raise PhaseError(f"{results.phase}: no team is eligible")
    scores = SchemeScores(results, scheme, ranked)
    leaderboards = scores.places()
    analysis = Analysis(scores, choices, chosen)
    clusters = results.resampling.clusters if results.resampling else None
    board = PhaseLeaderboard(
        role=role,
        challenge=results.challenge.name,
        phase=results.phase,
        manifest=results.manifest,
        cases=len(results.cases.names) if results.cases else None,
        scheme=describe_scheme(scheme),
        metrics=_metrics_of_phase(scores, chosen, analysis),
        teams=_in_order(_teams(scores, chosen, leaderboards, analysis), scheme),
        agreement={
            name: found
            for name, standing in analysis.resampled_standings.items()
            if (found := agreement(leaderboards.boards[name], standing.places))
        },
        robustness=variations(scores, choices.subgroups, with_tests=not analysis.too_many_to_compare),
        across=across_rankings(
            [one.team for one in ranked],
            {
                name: standing.places[0].tolist()
                for name, standing in leaderboards.boards.items()
                if name != scheme.overall
            },
        ),
        subgroup_tests=tuple(analysis.subgroup_tests()),
        annotators=analysis.annotators(),
        clusters=len(set(clusters.values())) if clusters else None,
        titles=dict(results.titles),
    )
    annotators = choices.annotator_scores(tuple(results.figures)) if choices.annotator_scores else {}
    margins = analysis.margin_tests(annotators)
    by_digits = _places_by_published_digits(scores, leaderboards)
    return RankedPhase(
        board=board,
        organiser=analysis.organiser_part(),
        ranked_teams=tuple(submission.team for submission in ranked),
        standings=leaderboards.boards,
        resampled=analysis.resampled_standings,
        notices=(*results.notices, *analysis.notices(), *by_digits, *analysis.margin_notices(margins)),
        annotator_scores=beside_teams(
            {team.team: {name: one.value for name, one in team.metrics.items()} for team in board.teams},
            {s.team for s in ranked},
            annotators,
            results.better,
        ),
        submissions=results.submissions,
        margins=margins,
    )


def _require_known(scheme: Scheme, results: PhaseResults) -> None:
    """Raise `PhaseError` with every metric that the scheme ranks and the phase does not have."""
    figures = results.figures
    if unknown := [name for name in scheme.metrics if name not in figures]:
        raise PhaseError(
            *(f"the scheme ranks {name}, which is not a metric of {results.phase}" for name in unknown),
            f"its metrics are {', '.join(figures)}",
        )


def _metrics_of_phase(
    scores: SchemeScores, chosen: Sequence[Submission], analysis: Analysis
) -> dict[str, MetricOfPhase]:
    """Return the metrics and composites that some submission has."""
    in_ranking = set(scores.scheme.metrics)
    return {
        name: MetricOfPhase(
            metric.title,
            metric.better,
            metric.unit if isinstance(metric, Metric) else "",
            name in in_ranking,
            analysis.intervals.missing.get(name),
            analysis.compared.get(name),
            analysis.unranked.get(name, ()),
        )
        for name, metric in scores.results.figures.items()
        if any(name in submission.values for submission in chosen)
    }


def _places_by_published_digits(scores: SchemeScores, leaderboards: Leaderboards) -> list[str]:
    """Return a notice for each board whose places differ where values have the digits of `metrics.json`."""
    ranked = scores.submissions
    if all(submission.more_digits is None for submission in ranked):
        return []
    rounded = [replace(submission, more_digits=None) for submission in ranked]
    published = SchemeScores(scores.results, scores.scheme, rounded).places().boards
    notices = []
    for name, standing in leaderboards.boards.items():
        of_team = zip(ranked, standing.places[0].tolist(), published[name].places[0].tolist(), strict=True)
        if moved := [f"{one.team} {there} for {here}" for one, here, there in of_team if here != there]:
            notices.append(
                f"{name}: the digits of metrics.json give other places, which a platform ranks by: "
                f"{', '.join(moved)} (value_digits in phase.toml publishes more)"
            )
    return notices


def _teams(
    scores: SchemeScores, chosen: Sequence[Submission], leaderboards: Leaderboards, analysis: Analysis
) -> list[Team]:
    results, scheme, ranked = scores.results, scores.scheme, scores.submissions
    positions = {submission.team: position for position, submission in enumerate(ranked)}
    distributions = {board.name: analysis.distributions(board.name) for board in scheme.boards}
    teams = []
    for submission in chosen:
        name = submission.team
        ranks: dict[str, float | None] = {}
        if (position := positions.get(name)) is None:
            joined = SchemeScores(results, scheme, (*ranked, submission)).places().boards
            boards = {
                board: _board_of(standing, len(ranked), scheme.ties, is_ranked=False)
                for board, standing in joined.items()
            }
        else:
            for metric, metric_ranks in leaderboards.ranks.items():
                ranks[metric] = shared_rank(metric_ranks, position, scheme.ties) or None
            boards = {
                board: _board_of(standing, position, scheme.ties, distributions[board].get(name))
                for board, standing in leaderboards.boards.items()
            }
        metrics = {}
        for metric, value in submission.values.items():
            figure = analysis.intervals.found.get(metric, {}).get(name, Figure(value))
            rank_set = analysis.rank_sets.get(metric, {}).get(name)
            metrics[metric] = MetricOfTeam(replace(figure, value=value), ranks.get(metric), rank_set)
        number = sum(other.team == name for other in results.submissions)
        chosen_here = name in results.chosen_here
        note = submission.absence or (CHOSEN_HERE if chosen_here else None)
        eligible = name not in results.ineligible
        about = (note, chosen_here, submission.seconds)
        teams.append(Team(name, eligible, submission.name, number, metrics, boards, *about))
    return teams


def _board_of(
    standing: BoardPlaces,
    position: int,
    ties: Ties,
    distribution: PlaceDistribution | None = None,
    is_ranked: bool = True,
) -> BoardOfTeam:
    """Return the place of a team by its position in a leaderboard, which an unranked team alone joined.

    Empty without a place.
    """
    if (score := standing.score(position)) is None:
        return BoardOfTeam()
    found, place = BoardOfTeam(score=float(score), exact_score=exact_text(score)), standing.place(position)
    if not is_ranked:
        return replace(found, would_be_place=place)
    rank = shared_rank(standing.places, position, ties)
    return replace(found, place=place, rank=rank, distribution=distribution)


def _in_order(teams: Sequence[Team], scheme: Scheme) -> tuple[Team, ...]:
    """Return teams by overall place, else by the first board; unranked teams after their would-be place."""
    boards = sorted(scheme.board_names, key=lambda name: name != scheme.overall)

    def key(team: Team) -> tuple[list[tuple[int, bool]], str]:
        places = []
        for name in boards:
            board = team.boards[name]
            place = board.place or board.would_be_place
            places.append((place or len(teams) + 1, board.place is not None))
        return places, team.team

    return tuple(sorted(teams, key=key))


# --- The final leaderboard of a challenge with several phases ---


def rank_phases(phases: Mapping[str, RankedPhase], scheme: Scheme) -> Leaderboard:
    """Return the leaderboard over all phases of a scheme, by role.

    A scheme that weighs no phases has no final places, only the consensus of the phases.
    Raises `PhaseError` for other roles, and for a phase without an overall leaderboard.
    """
    if scheme.phases and set(phases) != set(scheme.phases):
        expected, given = ", ".join(scheme.phases), ", ".join(phases)
        raise PhaseError(f"the scheme combines the phases {expected}; given are {given}")
    teams = sorted({team for phase in phases.values() for team in phase.ranked_teams})
    everyone = dict.fromkeys(phases, scheme.overall or "")
    overall = _aligned(phases, everyone, teams)
    if without := [role for role in phases if role not in overall]:
        raise PhaseError(*(f"{role}: has no overall leaderboard to combine" for role in without))
    notices = [f"{role}: {notice}" for role, phase in phases.items() for notice in phase.notices]
    by_role = {role: phase.board for role, phase in phases.items()}
    boards = tuple(by_role.values())
    across = across_rankings(teams, {role: places.places[0].tolist() for role, places in overall.items()})
    changes = generalisation(by_role)
    if not scheme.phases:
        weights = ", ".join(f"{role} = …" for role in phases)
        notices.append(
            "no final ranking, only the consensus of the phases, since the scheme has no weights of phases: "
            f"phases = {{ {weights} }} in a TOML file for --scheme"
        )
        return Leaderboard(FORMAT, boards, None, tuple(notices), across, generalisation=changes)
    ties = _aligned(phases, scheme.phase_ties, teams)
    final = combine_phases(scheme, overall, list(ties.values()))
    distributions: list[PlaceDistribution | None] = [None] * len(teams)
    resampled = _aligned(phases, everyone, teams, resampled=True)
    rows = {len(standing.places) for standing in resampled.values()}
    if len(resampled) == len(phases) and len(rows) == 1:
        # Phases are drawn independently of each other, even where their seeds are the same.
        shifts = {role: shift for shift, role in enumerate(resampled)}
        apart = {role: _rolled(standing, shifts[role]) for role, standing in resampled.items()}
        ties = _aligned(phases, scheme.phase_ties, teams, resampled=True)
        ties_apart = [_rolled(standing, shifts[role]) for role, standing in ties.items()]
        distributions = place_distributions(combine_phases(scheme, apart, ties_apart).places)
    found = []
    for position, team in enumerate(teams):
        place, score = final.place(position), final.score(position)
        number, text = (None, None) if score is None else (float(score), exact_text(score))
        by_phase = {role: standing.place(position) for role, standing in overall.items()}
        distribution = distributions[position] if place else None
        found.append(FinalTeam(team, place, number, text, by_phase, distribution))
    found.sort(key=lambda row: (row.place is None, row.place, row.team))
    if lacking := [row.team for row in found if row.place is None]:
        notices.append(f"no final place, since not placed in every phase: {', '.join(lacking)}")
    return Leaderboard(FORMAT, boards, tuple(found), tuple(notices), across, generalisation=changes)


def leaderboard_of(phases: Mapping[str, RankedPhase], schemes: Mapping[str, Scheme]) -> Leaderboard:
    """Return the leaderboard of one phase, or over several, given by role. Raises `PhaseError`."""
    scheme = next(iter(schemes.values()))
    if len(phases) > 1:
        return rank_phases(phases, scheme)
    (phase,) = phases.values()
    notices = list(phase.notices)
    if scheme.phases:
        combined = ", ".join(scheme.phases)
        notices.append(f"the final ranking combines the phases {combined}; this is one of them")
    return Leaderboard(FORMAT, (phase.board,), None, tuple(notices))


@dataclass(frozen=True)
class RankedChallenge:
    """The leaderboard of one phase, or over several, and every phase by its role."""

    board: Leaderboard
    phases: Mapping[str, RankedPhase]


def rank_paths(
    paths: Paths,
    scheme: str,
    choices: RankOptions,
    ground_truth: Path | None = None,
    metrics: Sequence[str] = (),
) -> RankedChallenge:
    """Return the leaderboard of results by role, see `read_phase_results`; scheme: see `scheme_named`.

    Raises `PhaseError` with every reason why the results cannot be ranked.
    """
    if ground_truth is not None:
        registry.load_beside(ground_truth)
    results = read_phase_results(paths, metrics, ground_truth)
    schemes = {role: scheme_named(scheme, one, ground_truth) for role, one in results.items()}
    ranked = {role: rank_phase(one, schemes[role], choices, role or None) for role, one in results.items()}
    board = leaderboard_of(ranked, schemes)
    notices = (*board.notices, *notices_of_order(board, results))
    return RankedChallenge(replace(board, notices=notices), ranked)


def _rolled(standing: BoardPlaces, shift: int) -> BoardPlaces:
    return replace(standing, places=np.roll(standing.places, shift, axis=0))


def _aligned(
    phases: Mapping[str, RankedPhase], names: Mapping[str, str], teams: Sequence[str], resampled: bool = False
) -> dict[str, BoardPlaces]:
    """Return the leaderboard of each phase that has the one named, over all teams.

    names: of leaderboards by role. Teams that are missing from a phase have no place.
    """
    found = {}
    for role, name in names.items():
        phase = phases[role]
        standing = (phase.resampled if resampled else phase.standings).get(name)
        if standing is not None:
            places = np.zeros((len(standing.places), len(teams)), dtype=np.int64)
            numerators = np.zeros_like(places)
            positions = [teams.index(team) for team in phase.ranked_teams]
            places[:, positions], numerators[:, positions] = standing.places, standing.numerators
            found[role] = BoardPlaces(places, numerators, standing.denominator)
    return found


# --- How results generalise: changes from phase to phase ---

_NORMAL = NormalDist()


def generalisation(boards: Mapping[str, PhaseLeaderboard]) -> tuple[PhaseChange, ...]:
    """Return the changes between every two phases in every metric that one of them ranks.

    boards: by role, in the order of the phases.
    Source: Orlando et al. 2020 (REFUGE), section 5.2; Fang et al. 2022 (ADAM), section 4.3; Ali et al. 2021
    (EDD2020), sections IV-C and VI.
    """
    changes: list[PhaseChange] = []
    for roles in combinations(boards, 2):
        first, second = (boards[role] for role in roles)
        before = {team.team: team.metrics for team in first.teams}
        for name, metric in second.metrics.items():
            other = first.metrics.get(name)
            if other is None or not (metric.in_ranking or other.in_ranking):
                continue
            changes += [
                PhaseChange(
                    name,
                    team.team,
                    *roles,
                    change_between(before[team.team][name].figure, team.metrics[name].figure),
                )
                for team in second.teams
                if name in team.metrics and name in before.get(team.team, {})
            ]
    eligible = {(role, team.team) for role in boards for team in boards[role].teams if team.eligible}
    return corrected(
        changes, lambda one: (one.metric, one.earlier, one.later, (one.later, one.team) in eligible)
    )


def change_between(first: Figure, second: Figure) -> Difference:
    """Return the change of a metric between two phases with independent cases, second minus first.

    The interval recovers the variance on each side from the intervals of the two values; p takes the side
    towards 0, so that it is below 5 % where the interval leaves 0 out. Neither without both intervals.
    Source: Zou and Donner 2008, Stat. Med. 27:1693 (MOVER), for proportions Newcombe 1998, 17:873, method 10.
    """
    change = float(published_difference(second.value, first.value))
    found = Difference(change, method="MOVER", first=second, second=first)
    if (before := first.interval) is None or (after := second.interval) is None:
        return found
    down = math.hypot(second.value - after.lower, before.upper - first.value)
    up = math.hypot(after.upper - second.value, first.value - before.lower)
    towards = down if change > 0 else up
    p_value = 1.0 if change == 0 else None
    if towards > 0:
        p_value = 2 * _NORMAL.cdf(-abs(change) / towards * _NORMAL.inv_cdf(0.975))
    return replace(found, lower=change - down, upper=change + up, p_value=p_value)


# --- Files: `leaderboard.json`, the csv files beside it, and the organiser's of single cases ---


def write_ranked(ranked: RankedChallenge, folder: Path) -> list[Path]:
    """Write the leaderboard and the tables of every phase; return the paths."""
    written = write_leaderboard(ranked.board, folder)
    for role, phase in ranked.phases.items():
        written += write_phase(phase, folder, f"-{role}" if role else "")
    return written


def write_leaderboard(board: Leaderboard, folder: Path) -> list[Path]:
    """Write leaderboard.json and csv files, over several phases one more csv each; return the paths."""
    tables: dict[str, list[dict[str, Any]]] = {"robustness": [], "comparisons": [], "subgroup-tests": []}
    tables["leaderboard"] = leaderboard_rows(board)
    for phase in board.phases:
        of_phase = {"phase": phase.role or phase.phase}
        tables["robustness"] += [of_phase | _robustness_row(phase, one) for one in phase.robustness]
        tables["subgroup-tests"] += [of_phase | table_row(test) for test in phase.subgroup_tests]
        for name, metric in phase.metrics.items():
            pairs = metric.comparisons.pairs if metric.comparisons else ()
            of_metric = of_phase | {"metric": name}
            tables["comparisons"] += [of_metric | table_row(pair) for pair in (*pairs, *metric.unranked)]
        if len(board.phases) > 1:
            tables[f"leaderboard-{phase.role}"] = _phase_rows(phase)
    tables["generalisation"] = [table_row(one) for one in board.generalisation]
    documents = {"leaderboard.json": render(board, organisers=True, compact=True)}
    return _write(documents, tables, folder)


def write_phase(phase: RankedPhase, folder: Path, suffix: str) -> list[Path]:
    """Write the non-empty tables of one phase, those of single cases among them; return the paths.

    What reports read of single cases is also in organiser.json.
    """
    part = phase.organiser
    records: dict[str, Sequence[Any]] = {
        "annotator-scores": phase.annotator_scores,
        "margins": phase.margins,
        "difficulty": part.difficulties,
        "annotator-points": part.annotator_points,
        "readers": part.readers,
        "classifiers": part.classifiers.values,
        "classifier-tests": part.classifiers.tests,
        "subgroups": part.subgroups,
    }
    tables = {f"{name}{suffix}": list(map(table_row, rows)) for name, rows in records.items()}
    tables[f"operating-points{suffix}"] = list(part.operating_points)
    tables[f"submissions{suffix}"] = _submission_rows(phase)
    documents = {}
    if part != OrganiserPart():
        # Operating points may be at infinite scores, which JSON does not have.
        shown = {name: value for name, value in vars(part).items() if name != "operating_points"}
        content = {"format": ORGANISER_FORMAT, **shown}
        documents[f"organiser{suffix}.json"] = (json.dumps(content, default=vars) + "\n").encode("ascii")
    return _write(documents, tables, folder)


def leaderboard_rows(board: Leaderboard, role: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of `leaderboard.csv`, or of one of several phases. Raises `KeyError`."""
    if role is not None:
        return _phase_rows({phase.role: phase for phase in board.phases}[role])
    if len(board.phases) == 1:
        return _phase_rows(board.phases[0])
    if board.final is not None:
        return _final_rows(board.final)
    return [] if board.across is None else [table_row(team) for team in board.across.teams]


def _write(
    documents: Mapping[str, bytes], tables: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> list[Path]:
    """Write documents, and the csv files of the tables that have rows; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {**documents, **{f"{name}.csv": csv_bytes(rows) for name, rows in tables.items() if rows}}
    for name, data in files.items():
        write_atomically(folder / name, data)
    return [folder / name for name in files]


def _submission_rows(phase: RankedPhase) -> list[dict[str, Any]]:
    """Return a row for each submission, in their order; none where no team has several."""
    teams = {team.team: team for team in phase.board.teams}
    if all(team.submissions == 1 for team in teams.values()):
        return []
    rows: list[dict[str, Any]] = []
    for one in phase.submissions:
        counts = "yes" if teams[one.team].submission == one.name else "no"
        values = {name: one.values.get(name) for name in phase.board.metrics}
        rows.append({TEAM: one.team, "submission": one.name, "counts": counts, **values, "note": one.absence})
    return rows


def _phase_rows(phase: PhaseLeaderboard) -> list[dict[str, Any]]:
    """Return the rows of the csv; metric columns are named as in a phase's `leaderboard.csv`."""
    metrics = [name for name in phase.metrics if any(name in team.metrics for team in phase.teams)]
    rows = []
    for team in phase.teams:
        row: dict[str, Any] = {"team": team.team, "eligible": "yes" if team.eligible else "no"}
        for name, board in team.boards.items():
            row |= {f"{name} place": board.place, f"{name} score": board.exact_score}
            row |= _interval(f"{name} place", board.distribution)
        for name in metrics:
            metric = team.metrics.get(name)
            row[name], row[f"{name} rank"] = (metric.value, metric.rank) if metric else (None, None)
            row |= _interval(name, metric.figure.interval if metric else None)
        if any(one.seconds_per_case for one in phase.teams):
            row[SECONDS] = team.seconds_per_case
        row["submission"], row["note"] = team.submission, team.note
        rows.append(row)
    return rows


def _interval(name: str, of: Interval | PlaceDistribution | None) -> dict[str, float | None]:
    return {f"{name} lower": of.lower if of else None, f"{name} upper": of.upper if of else None}


def _robustness_row(phase: PhaseLeaderboard, variation: Variation) -> dict[str, Any]:
    row = {key: getattr(variation, key) for key in ("board", "kind", "change", "tau_b")}
    ranked = [team.team for team in phase.teams if team.boards[variation.board].place is not None]
    return row | {f"place of {team}": variation.places.get(team) for team in ranked}


def _final_rows(final: tuple[FinalTeam, ...]) -> list[dict[str, Any]]:
    return [
        {"place": row.place, "team": row.team, "score": row.exact_score}
        | {f"{role} place": place for role, place in row.phases.items()}
        | _interval("place", row.distribution)
        for row in final
    ]
