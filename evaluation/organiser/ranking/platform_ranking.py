"""How the platform's places differ from those of a challenge's ranking, with an example of three teams.

How the platform ranks is a fact in `docs/platform.md`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Scheme
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.methods import is_by_method, team_scores
from evaluation.phase.places import PlatformMethod, competition_ranks, place_teams, platform_scheme

Figures = Mapping[str, Metric | Composite]


@dataclass(frozen=True)
class PlatformRanking:
    """A ranking of the platform: its method, and the ranked columns with the score first."""

    method: PlatformMethod
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """Three teams A, B and C with other places on the platform than by `rank`; None: no place or no value.

    ``ranks``: of the teams in each metric in which they differ. ``cases``: where the values of the cases make
    the difference, the teams' values of one metric in each of twelve cases. ``board``: the leaderboard of the
    places in ``challenge``.
    """

    platform: tuple[int | None, ...]
    challenge: tuple[int | None, ...]
    board: str
    ranks: Mapping[str, tuple[int | None, ...]]
    cases: Mapping[str, tuple[tuple[float, ...], ...]]


def closest_ranking(scheme: Scheme) -> PlatformRanking | None:
    """Return the platform's ranking that adds the same ranks as the deciding leaderboard, None without one.

    Ties, methods on the values of the cases and several phases are not considered.
    """
    if (overall := _overall(scheme)) is None:
        return None
    ranks = _added_ranks(overall, {board.name: board for board in scheme.boards})
    if not ranks or len(set(ranks.values())) > 1:
        return None
    if len(ranks) == 1:
        return PlatformRanking("absolute", tuple(ranks))
    return PlatformRanking("median" if overall.combination == "median" else "mean", tuple(ranks))


@dataclass(frozen=True)
class PlatformComparison:
    """Whether a ranking of the platform has the places of the challenge's: why not, with an example.

    ``by``: what it ranks by. Without reasons the places are the same.
    """

    by: str
    reasons: tuple[str, ...]
    example: str = ""


def compared_with(
    scheme: Scheme,
    platform: PlatformRanking,
    figures: Figures,
    titles: Mapping[str, str],
    optional_tasks: Collection[str] = (),
) -> PlatformComparison:
    """Return how the platform's places differ from the scheme's.

    figures: every metric and composite of the phase by name; titles: of these, for people.
    """
    by = titles[platform.columns[0]]
    if platform.method != "absolute":
        columns = ", ".join(titles[name] for name in platform.columns)
        by = f"the {platform.method} of the ranks in {columns}"
    reasons = _reasons(scheme, platform, figures)
    example = example_of(scheme, platform, figures, optional_tasks)
    if example and not reasons:
        reasons = ["the challenge ranks submissions that lack an optional task, too"]
    if not reasons or example is None:
        return PlatformComparison(by, tuple(reasons))
    on = "" if _overall(scheme) else f" on the leaderboard {example.board}"
    there, here = _listed(example.platform), _listed(example.challenge)
    places = f"have the places {there} on the platform and {here} by `rank`{on}"
    return PlatformComparison(by, tuple(reasons), f"A, B, C {_described(example, titles)} {places}")


def _described(example: Example, titles: Mapping[str, str]) -> str:
    for name, (first, *others) in example.cases.items():
        best, worst = first[0], first[-1]
        cells = [f"{best:g} in {first.count(best)} cases and {worst:g} in {first.count(worst)}"]
        cells += [f"{values[0]:g} in all" for values in others]
        return f"with the values {', '.join(cells)} of {titles[name]!r}"
    ranks = [f"{_listed(ranks)} in {titles[name]!r}" for name, ranks in example.ranks.items()]
    return f"with the ranks {', '.join(ranks)}"


def _listed(numbers: Sequence[int | None]) -> str:
    return " ".join("–" if number is None else f"{number}" for number in numbers)


def _overall(scheme: Scheme) -> Board | None:
    """Return the leaderboard that decides; a single one always does."""
    if scheme.overall is None and len(scheme.boards) > 1:
        return None
    return next(board for board in scheme.boards if board.name == (scheme.overall or board.name))


def _added_ranks(board: Board, boards: Mapping[str, Board]) -> dict[str, Fraction] | None:
    """Return the weight of each metric's rank in the score of a leaderboard, None for another kind of score.

    Without ranks that have no weight. The ranks are added, or their median is taken, by the board.
    """
    median = board.combination == "median" and len(board.terms) > 2  # of two terms it is their mean
    added: dict[str, Fraction] = {}
    for term in board.terms:
        if term.rank is not None:
            ranks = {term.rank: Fraction(1)}
        else:
            inner = boards[term.board]
            found = _added_ranks(inner, boards)
            again = term.place is not None
            if found is None or (len(found) > 1 and (again or inner.combination == "median")):
                return None
            if again and (inner.ties or not found):
                return None
            # A single rank stays the same where it is ranked again.
            ranks = dict.fromkeys(found, Fraction(1)) if again else found
        if median and (len(ranks) != 1 or added.keys() & ranks.keys()):
            return None
        share = Fraction(term.weight) / (1 if board.combination == "sum" else len(board.terms))
        for metric, weight in ranks.items():
            added[metric] = added.get(metric, Fraction(0)) + share * weight
    return {metric: weight for metric, weight in added.items() if weight}


def _reasons(scheme: Scheme, platform: PlatformRanking, figures: Figures) -> list[str]:
    """Return why places can differ; nothing else makes them differ if every submission has all metrics."""
    overall, closest = _overall(scheme), closest_ranking(scheme)
    if overall is None:
        return [f"the challenge has several leaderboards ({', '.join(scheme.board_names)})"]
    reasons = []
    columns = set(platform.columns[:1] if platform.method == "absolute" else platform.columns)
    if closest is None:
        reasons.append("the challenge weights ranks, or adds scores of several leaderboards")
    elif set(closest.columns) != columns:
        reasons.append("the phase ranks by other columns than the challenge")
    elif len(columns) > 2 and closest.method != platform.method:
        reasons.append(f"the challenge takes their {closest.method}")
    if overall.ties:
        reasons.append("the challenge breaks ties")
    if scheme.ties != "min" and (closest is None or len(closest.columns) > 1):
        reasons.append(f'equal teams do not share the lowest of their ranks (ties = "{scheme.ties}")')
    if _metric_by_method(scheme, overall, figures):
        reasons.append(f"the challenge ranks the values of the cases ({scheme.method.name})")
    if scheme.method.name == "min-max" and (closest is None or len(closest.columns) > 1):
        reasons.append("the challenge adds scaled values in place of ranks (min-max)")
    if scheme.phases:
        reasons.append("the challenge combines the places of several phases")
    return reasons


def _metric_by_method(scheme: Scheme, board: Board, figures: Figures) -> str | None:
    """Return the first metric of a leaderboard that is not ranked by its own value, None without one."""
    for name in scheme.metrics_of(board.name):
        figure = figures[name]
        if isinstance(figure, Metric) and is_by_method(figure, scheme.method):
            return name
    return None


# --- Examples: random ranks of three teams, made as simple as possible ---

_TEAMS = 3
_TRIALS = 4096
_STEP = Fraction(1, 16)


def example_of(
    scheme: Scheme, platform: PlatformRanking, figures: Figures, optional_tasks: Collection[str] = ()
) -> Example | None:
    """Return three teams whose places differ, None where none are found.

    If the metrics' own values do not make a difference, values of the cases are tried, and then teams
    without an optional task. The same scheme has the same example.
    """
    if scheme.method.name == "min-max":
        return None  # its places follow from no ranks
    search = _Search(scheme, platform, figures)
    complete = search.by_ranks(())
    return complete or search.by_cases() or (search.by_ranks(optional_tasks) if optional_tasks else None)


class _Search:
    """The places of three teams by the platform's rules and on the challenge's leaderboards."""

    def __init__(self, scheme: Scheme, platform: PlatformRanking, figures: Figures) -> None:
        self._scheme, self._figures = scheme, figures
        overall = _overall(scheme)
        self._boards = (overall.name,) if overall else scheme.board_names
        self._platform = platform_scheme(platform.method, platform.columns)
        columns = [figures[name] for name in platform.columns]
        self._composites = [figure for figure in columns if isinstance(figure, Composite)]
        parts = [metric for composite in self._composites for metric in composite.metrics]
        named = [*scheme.metrics, *platform.columns, *parts]
        self._metrics = [name for name in dict.fromkeys(named) if isinstance(figures[name], Metric)]

    def by_ranks(self, optional_tasks: Collection[str]) -> Example | None:
        """Return an example of ranks in the metrics; with optional tasks, one team may lack each of them."""
        random = np.random.default_rng(0)
        levels = random.integers(1, 1 + _TEAMS, (_TRIALS, len(self._metrics), _TEAMS)).astype(np.float64)
        levels[random.random(levels.shape[:2]) < 0.5] = 1
        for task in optional_tasks:
            without = random.integers(0, 2 * _TEAMS, _TRIALS)[:, np.newaxis] == np.arange(_TEAMS)
            of_task = [name.partition(".")[0] == task for name in self._metrics]
            levels[:, of_task] = np.where(without[:, np.newaxis], np.nan, levels[:, of_task])
        ranks = competition_ranks(levels.reshape(-1, _TEAMS), "lower").reshape(levels.shape)
        levels = np.where(np.isnan(levels), np.nan, ranks)
        for board in self._boards:
            kinds = self._kinds(levels, board)
            if kinds.any():
                return self._simplest(levels[np.argmax(kinds)], int(kinds.max()), board)
        return None

    def _simplest(self, levels: Floats, kind: int, board: str) -> Example:
        """Return the example of one trial, with metrics made equal for all teams as far as possible."""
        levels = levels[np.newaxis]
        for position in range(len(self._metrics)):
            simpler = levels.copy()
            simpler[0, position] = 1
            if self._kinds(simpler, board)[0] >= kind:
                levels = simpler
        values = self._values(levels)
        ranks = {
            name: _shown(competition_ranks(values[name], self._figures[name].better)[0])
            for name in values
            if len(set(values[name][0].tolist())) > 1
        }
        platform, challenge = self._places(levels, board)
        return Example(_shown(platform[0]), _shown(challenge[0]), board, ranks, {})

    def _values(self, levels: Floats) -> dict[str, Floats]:
        """Return values of metrics and composites, (trials, teams), from levels (trials, metrics, teams)."""
        values = {}
        for position, name in enumerate(self._metrics):
            values[name] = _at_level(self._figures[name], levels[:, position])
        for composite in self._composites:
            combined = np.vectorize(composite.combine, otypes=[float])
            values[composite.name] = combined(*(values[name] for name in composite.metrics))
        return values

    def _places(self, levels: Floats, board: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places on the platform and on a leaderboard, each of shape (trials, teams)."""
        values = self._values(levels)
        better = {name: self._figures[name].better for name in values}
        platform = place_teams(self._platform, values, better).boards["overall"].places
        return platform, place_teams(self._scheme, values, better).boards[board].places

    def _kinds(self, levels: Floats, board: str) -> NDArray[np.int64]:
        """Return how clearly the places differ: 0 not at all, more with another first or without ties."""
        platform, challenge = self._places(levels, board)
        differ = (platform != challenge).any(axis=1)
        kinds = 1 + ((platform == 1) != (challenge == 1)).any(axis=1)
        for places in (platform, challenge):
            kinds += (np.sort(places, axis=1) == np.arange(1, 1 + _TEAMS)).all(axis=1)
        return np.where(differ, kinds, 0)

    def by_cases(self) -> Example | None:
        """Return an example of one metric's values in twelve cases, where the scheme's method ranks these."""
        boards = [board for board in self._scheme.boards if board.name in self._boards]
        for board in boards:
            if (name := _metric_by_method(self._scheme, board, self._figures)) is not None:
                found = [one for worst in range(1, 12) if (one := self._of_cases(name, board.name, worst))]
                first = [one for one in found if _winners(one.platform) != _winners(one.challenge)]
                if found:
                    return (first or found)[0]
        return None

    def _of_cases(self, name: str, board: str, worst: int) -> Example | None:
        better = self._figures[name].better
        goods = np.array([[1.0] * (12 - worst) + [0.0] * worst, [0.8] * 12, [0.6] * 12])
        values = goods if better == "higher" else np.round(1 - goods, 1)
        metric = mean_metric("value", "", *((1, 0) if better == "higher" else (0, 1)))
        names = [f"{number}" for number in range(12)]
        rows = [[{"value": value} for value in team] for team in values.tolist()]
        tables = {f"{position}": CaseTable(names, cells) for position, cells in enumerate(rows)}
        scores = team_scores(metric, tables, self._scheme.method, self._scheme.ties)
        if scores is None:
            return None
        equal = self._values(np.ones((1, len(self._metrics), _TEAMS)))
        directions = {other: self._figures[other].better for other in equal}
        means = {**equal, name: values.mean(axis=1)[np.newaxis]}
        platform = place_teams(self._platform, means, directions).boards["overall"].places[0]
        own = {**equal, name: scores.under(np.ones((1, 12)))}
        directions[name] = scores.better
        challenge = place_teams(self._scheme, own, directions).boards[board].places[0]
        if (platform == challenge).all():
            return None
        cases = {name: tuple(map(tuple, values.tolist()))}
        return Example(_shown(platform), _shown(challenge), board, {}, cases)


def _at_level(figure: Metric | Composite, levels: Floats) -> Floats:
    """Return values of a metric that are in the order of ``levels``, of which 1 is the best."""
    span = abs(figure.worst - figure.best)
    step = span * float(_STEP) if math.isfinite(span) else 1.0
    start = figure.best if math.isfinite(figure.best) else 0.0
    return start + (levels - 1) * (step if figure.better == "lower" else -step)


def _shown(places: NDArray[np.int64]) -> tuple[int | None, ...]:
    return tuple(place or None for place in places.tolist())


def _winners(places: Sequence[int | None]) -> list[bool]:
    return [place == 1 for place in places]
