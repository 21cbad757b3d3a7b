"""A leaderboard on the terminal, with its tests between teams."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.console import Console
from rich.table import Table

from evaluation.cli.console import TableConsole, one_line, text_table
from evaluation.organiser.output import p_text
from evaluation.organiser.ranking import leaderboard_file
from evaluation.organiser.ranking.comparisons import Comparison, Comparisons
from evaluation.organiser.ranking.methods import METHODS, SCALED
from evaluation.organiser.ranking.stability import AcrossRankings, PlaceDistribution
from evaluation.organiser.report.sentences import Names, names_in
from evaluation.phase.leaderboard import rounded_outwards

_MOST_PAIRS = 15


def pair_tables(phase: leaderboard_file.PhaseLeaderboard) -> Iterator[Table]:
    """Yield a table of tests between teams for each metric, or only between neighbours if there are many."""
    for metric in phase.metrics.values():
        comparisons = metric.comparisons
        if comparisons and comparisons.pairs:
            title, shown = f"Tests of {metric.title}", list(comparisons.pairs)
            if len(shown) > _MOST_PAIRS:
                title += f", of neighbours (all {len(shown)} pairs are in comparisons.csv)"
                # All pairs come in the order of their first team.
                order = dict.fromkeys(team for pair in shown for team in (pair.first, pair.second))
                following = set(pairwise(order))
                shown = [pair for pair in shown if (pair.first, pair.second) in following]
            yield _pairs(title, shown)
        if metric.unranked:
            yield _pairs(f"Tests of {metric.title}, of teams without a place", metric.unranked)


def _pairs(title: str, shown: Sequence[Comparison]) -> Table:
    rows = []
    for pair in shown:
        star = " **" if pair.holds_with_unseen else " *" if pair.significant else ""
        tested = pair.difference
        p_values = p_text(tested.p_value), p_text(pair.p_holm) + star
        rows.append((pair.first, pair.second, f"{tested.value:.4g}", *p_values, tested.method))
    numbers = "difference", "p", "p after Holm"
    table = text_table(title, ("better", "worse"), numbers, rows, notes=("test",))
    tests = {pair.difference.method: pair.difference.null for pair in shown}
    nulls = [f"{method} rejects that {null}" for method, null in tests.items() if null]
    stars = ["* significant"] if any(pair.significant for pair in shown) else []
    if any(pair.holds_with_unseen for pair in shown):
        stars += ["** also if one case more, which the sample does not show, fails"]
    table.caption, table.caption_justify = "\n".join((*stars, *nulls)), "left"
    return table


_MAX_METRICS = 6
_INTERVAL_DIGITS = 3
_LOG_WIDTH = 160


def _names(phase: leaderboard_file.PhaseLeaderboard) -> Names:
    return names_in(phase.challenge, phase.titles)


def print_leaderboard(board: leaderboard_file.Leaderboard) -> None:
    """Print the leaderboards of all phases, the final one last, with notices."""
    console = TableConsole(_LOG_WIDTH)
    for phase in board.phases:
        console.print(one_line(_rule(phase)), soft_wrap=True)
        console.print(_places(phase))
        metrics = [name for name, metric in phase.metrics.items() if metric.in_ranking]
        if 0 < len(metrics) <= _MAX_METRICS:
            console.print(_metrics(phase, metrics))
        for line in (*_legend(phase), *_conclusions(phase)):
            console.print(one_line(line))
        for table in pair_tables(phase):
            console.print(table)
        if phase.across:
            _print_across(console, phase.across, _names(phase))
    if board.final is not None:
        numbers = "place", "95 %", "score", *(f"place {role}" for role in board.final[0].phases)
        rows = [
            (
                row.team,
                _text(row.place),
                _range(row.distribution),
                row.exact_score or "",
                *map(_text, row.phases.values()),
            )
            for row in board.final
        ]
        console.print(text_table("Final", ("team",), numbers, rows))
    if board.across is not None:
        _print_across(console, board.across, Names({}))
    for notice in board.notices:
        console.print(one_line(f"note: {notice}"))


def _print_across(console: Console, across: AcrossRankings, names: Names) -> None:
    rankings = ", ".join(map(names.of, across.rankings))
    teams = ", ".join(f"{team.place} {team.team}" for team in across.teams)
    console.print(one_line(f"consensus of {rankings} by the mean place: {teams}"))


def _rule(phase: leaderboard_file.PhaseLeaderboard) -> str:
    """Return the rule that made the places, and its metrics, in one line."""
    method = phase.scheme["method"]
    rule = METHODS.get(method["name"])
    text = f"Teams were ranked by the value of each metric{SCALED.get(method['name'], '')}"
    if rule is not None:
        text = rule.sentence.format(**method)
    ranked = [metric for metric in phase.metrics.values() if metric.in_ranking]
    named = ", ".join(f"{metric.title} ({metric.better} is better)" for metric in ranked)
    return f"{text}: {named}"


def _places(phase: leaderboard_file.PhaseLeaderboard) -> Table:
    role = f"{phase.role}: " if phase.role else ""
    boards = sorted(phase.teams[0].boards, key=lambda name: name != phase.scheme["overall"])
    rows = [(team.team, *(_board(team.boards[name]) for name in boards), _note(team)) for team in phase.teams]
    title = f"{role}{phase.phase}, {len(phase.teams)} teams"
    return text_table(title, ("team",), map(_names(phase).of, boards), rows, notes=("note",))


def _metrics(phase: leaderboard_file.PhaseLeaderboard, names: list[str]) -> Table:
    titles = [phase.metrics[name].title for name in names]
    rows = [(team.team, *(_metric(team.metrics.get(name)) for name in names)) for team in phase.teams]
    return text_table(None, ("team",), titles, rows)


def _legend(phase: leaderboard_file.PhaseLeaderboard) -> list[str]:
    boards = [board for team in phase.teams for board in team.boards.values()]
    metrics = [metric for team in phase.teams for metric in team.metrics.values()]
    places = " (95 % interval over resampled cases)" if any(board.distribution for board in boards) else ""
    joined = (
        "; – (n): not ranked, would take place n" if any(board.would_be_place for board in boards) else ""
    )
    interval = " (95 % interval)" if any(metric.figure.interval for metric in metrics) else ""
    lines = [f"cells: place{places} · score, lower is better{joined}", f"       value{interval} · rank"]
    if phase.scheme["method"]["name"] in METHODS:
        lines.append("The values shown are not those that the teams were ranked by.")
    return lines


def _conclusions(phase: leaderboard_file.PhaseLeaderboard) -> list[str]:
    lines = []
    for metric in phase.metrics.values():
        comparisons = metric.comparisons
        if comparisons is None or not comparisons.pairs:
            continue
        tiers = "no tiers, since some pairs could not be tested"
        if comparisons.tiers is not None:
            tiers = _in_tiers(comparisons)
        undecided = [pair.difference.detectable for pair in comparisons.pairs if pair.significant is False]
        detectable = [one for one in undecided if one is not None]
        lines.append(f"{metric.title}: {tiers}")
        lines += [
            f"  {pair.first}, {pair.second} ({pair.difference.method}, p = {pair.p_holm:.2g} after Holm): "
            f"{pair.note}"
            for pair in comparisons.pairs
            if pair.contradicts_order
        ]
        if detectable:
            smallest, largest = (f"{limit:.2g}" for limit in (min(detectable), max(detectable)))
            least = smallest if smallest == largest else f"{smallest} to {largest}, by pair,"
            lines.append(
                f"  not significant is no proof of a tie: only a difference of {least} was likely to be found"
            )
        if hidden := len(undecided) - len(detectable):
            lines.append(
                f"  {hidden} of {len(undecided)} such pairs: no difference at all was likely to be found"
            )
    if phase.annotators:
        points = {f"annotator {name}:": point for name, point in phase.annotators.points.items()}
        for pair in phase.annotators.agreement:
            both = f"annotators {pair.first} and {pair.second}"
            points[f"{both} agree on {pair.agreed} of {pair.cases}; there:"] = pair.consensus
        lines += [
            f"{whose} sensitivity {_percent(point.sensitivity)}, specificity {_percent(point.specificity)}, "
            f"accuracy {_percent(point.accuracy)}"
            for whose, point in points.items()
        ]
        for title, values in phase.annotators.classifiers.items():
            figures = ", ".join(f"{phase.metrics[name].title} {value:.4f}" for name, value in values.items())
            lines.append(f"{title}: {figures}")
    return lines


def _in_tiers(comparisons: Comparisons) -> str:
    """Return the tiers; ≫ where the next one is worse also if cases fail that the sample does not show."""
    tiers = comparisons.tiers or ()
    holds = {(pair.first, pair.second): pair.holds_with_unseen for pair in comparisons.pairs}
    text = ""
    for number, tier in enumerate(tiers):
        if number:
            text += "  ≫  " if holds.get((tiers[number - 1][0], tier[0])) else "  >  "
        text += "{" + ", ".join(tier) + "}"
    return text


def _board(board: leaderboard_file.BoardOfTeam) -> str:
    if board.rank is None:
        return f"– ({board.would_be_place})" if board.would_be_place else ""
    between = f" ({_range(board.distribution)})" if board.distribution else ""
    return f"{board.rank:g}{between} · {board.exact_score}"


def _metric(metric: leaderboard_file.MetricOfTeam | None) -> str:
    if metric is None:
        return ""
    interval = ""
    if (ends := metric.figure.interval) is not None:
        lower, upper = rounded_outwards(ends.lower, ends.upper, _INTERVAL_DIGITS)
        interval = f" ({lower:.{_INTERVAL_DIGITS}f}–{upper:.{_INTERVAL_DIGITS}f})"
    rank = "–" if metric.rank is None else f"{metric.rank:g}"
    return f"{metric.value:.4f}{interval} · {rank}"


def _note(team: leaderboard_file.Team) -> str:
    notes = [] if team.eligible else ["not ranked"]
    if team.submissions > 1:
        notes.append(f"{team.submission} of {team.submissions} submissions")
    if team.note:
        notes.append(team.note)
    return "; ".join(notes)


def _range(distribution: PlaceDistribution | None) -> str:
    return f"{distribution.lower}–{distribution.upper}" if distribution else ""


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.2f} %"
