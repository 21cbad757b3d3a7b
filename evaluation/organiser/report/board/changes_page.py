"""The page of changes since earlier results: places, values by team, cases that moved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evaluation.charts.chart import marks_of
from evaluation.core.fault import counted
from evaluation.organiser.report.charts.teams import TeamMarks, value_changes_chart
from evaluation.organiser.report.page import Block, Page, Section, Table, Text, identifier, listed, shown
from evaluation.organiser.report.sentences import Names, names_in
from evaluation.organiser.rescoring.changes import Change, Changes, SubmissionChange

BANNER = "Names the cases that moved, which reveals labels: for the organisers of the challenge alone."
_MOST_IN_FIGURE = 40
_MOST_NAMED = 3
_NONE = Change(None, None)


def changes_page(phases: Sequence[Changes]) -> Page:
    """Return the report of the changes of some phases."""
    return Page(
        title="What has changed",
        subtitle=listed([phase.phase for phase in phases]),
        banner=BANNER if any(one.cases for phase in phases for one in phase.submissions) else "",
        facts=(),
        answer=tuple(
            told if len(phases) == 1 else f"{phase.phase}: {told}"
            for phase in phases
            for told in _answer(phase)
        ),
        sections=(
            *(section for phase in phases for section in _sections(phase, several=len(phases) > 1)),
            Section("seals", "Seals", (Text(tuple(map(_seals, phases))),)),
        ),
    )


def _answer(phase: Changes) -> Iterator[str]:
    """Yield in words whether the winner has changed, how much else has, and why."""
    places = phase.places.get(phase.overall or "") or next(iter(phase.places.values()), {})
    before, now = (
        sorted(team for team, place in places.items() if getattr(place, when) == 1)
        for when in ("before", "now")
    )
    if before and before == now:
        yield f"{listed(now)} {'is' if len(now) == 1 else 'are'} still first."
    elif before or now:
        yield f"First now: {listed(now or ['nobody'])}; before: {listed(before or ['nobody'])}."
    changed, moved = sum(one.is_one for one in phase.submissions), len(_moved(phase.submissions))
    cases = f", through {counted(moved, 'case')}" if moved else ""
    of = f"{changed} of {counted(len(phase.submissions), 'submission')}"
    yield f"The results of {of} differ{cases}."
    yield from _largest(phase, places)
    if number := len(phase.relabelled):
        yield f"{counted(number, 'case has', 'cases have')} other labels or other cells in cases.csv."
    if number := len(phase.references):
        yield f"{counted(number, 'reference file has', 'reference files have')} other contents."


def _largest(phase: Changes, places: Mapping[str, Change]) -> Iterator[str]:
    """Yield the largest change of a place, and of the first metric that has changed."""
    if moved := {team: one for team, one in places.items() if _difference(one)}:
        team = max(moved, key=lambda one: _distance(moved[one]))
        others = counted(len(moved), "team has", "teams have")
        yield f"{others} another place; the largest change is that of {team}, {_from_to(moved[team], None)}."
    for metric in phase.ranked:
        values = {_name(one): one.values.get(metric, _NONE) for one in phase.submissions}
        if changed := {name: one for name, one in values.items() if _difference(one)}:
            name = max(changed, key=lambda one: _distance(changed[one]))
            told = f"{_title(phase, metric)} changes most in {name}: {_from_to(changed[name], _DIGITS)}"
            yield f"{told} ({shown(float(_difference(changed[name]) or 0.0), _DIGITS)})."
            return


_DIGITS = 4


def _from_to(change: Change, digits: int | None) -> str:
    return f"from {shown(change.before, digits)} to {shown(change.now, digits)}"


def _seals(phase: Changes) -> str:
    before, now = phase.seal.before, phase.seal.now
    return f"{phase.phase}: " + (f"{now}, the same" if before == now else f"{before} → {now}")


def _in_order(phase: Changes) -> dict[str, dict[str, Change]]:
    """Return the places by leaderboard: the overall one first, then by the number of teams that moved."""
    moved = {board: sum(p.before != p.now for p in places.values()) for board, places in phase.places.items()}
    return {
        board: dict(phase.places[board])
        for board in sorted(phase.places, key=lambda one: (one != phase.overall, -moved[one]))
    }


def _sections(phase: Changes, several: bool) -> Iterator[Section]:
    marks = marks_of(name for one in phase.submissions for name in (one.team, _name(one)))
    prefix, suffix = (f"{phase.phase}-", f" ({phase.phase})") if several else ("", "")
    told = f"Reference files with other contents: {', '.join(phase.references)}."
    references = [Text((told,))] if phase.references else []
    found = (
        ("places", "Places", list(_places(phase, marks, prefix))),
        ("values", "Values", list(_values(phase, marks, prefix))),
        ("cases", "Cases that moved", [*_cases(phase, prefix), *references]),
    )
    for name, title, blocks in found:
        yield Section(identifier(f"{prefix}{name}"), title + suffix, tuple(blocks) or (_UNCHANGED,))


_HOLLOW = "Hollow: before; full: now."
_UNCHANGED = Text(("Nothing has changed.",))


def _names(phase: Changes) -> Names:
    return names_in(phase.challenge, phase.titles)


def _title(phase: Changes, metric: str) -> str:
    """Return the title of a metric, with its task where another has the same."""
    title = phase.titles.get(metric, metric)
    several = [phase.titles.get(name) for name in phase.ranked].count(title) > 1
    return f"{title} ({_names(phase).of(metric.partition('.')[0])})" if several else title


def _places(phase: Changes, marks: TeamMarks, prefix: str) -> Iterator[Block]:
    names = _names(phase)
    for board, places in _in_order(phase).items():
        moved = {team: place for team, place in places.items() if place.before != place.now}
        if not moved:
            continue
        drawn = dict(sorted(moved.items(), key=lambda one: -_distance(one[1]))[:_MOST_IN_FIGURE])
        yield value_changes_chart(
            identifier(f"{prefix}{board}-places"),
            f"Places: {names.of(board)}",
            f"{_HOLLOW} The teams whose place has changed, the largest change first{_up_to(moved)}.",
            drawn,
            {team: marks[team] for team in drawn},
            "place",
            of_places=True,
        )
    columns = ["team"]
    for board in _in_order(phase):
        columns += [f"{names.of(board)}: before", "now"]
    rows = []
    for team in dict.fromkeys(team for places in phase.places.values() for team in places):
        of_boards = [places.get(team, _NONE) for places in _in_order(phase).values()]
        if any(place.before != place.now for place in of_boards):
            cells = [cell for place in of_boards for cell in (place.before, place.now)]
            rows.append((team, *cells))
    if rows:
        yield Table.of(identifier(f"{prefix}places"), "Places before and now", columns, rows)


def _values(phase: Changes, marks: TeamMarks, prefix: str) -> Iterator[Block]:
    for metric in phase.ranked:
        found = {
            _name(one): value
            for one in phase.submissions
            if (value := one.values.get(metric, _NONE)).before != value.now
        }
        if found:
            drawn = dict(sorted(found.items(), key=lambda one: -_distance(one[1]))[:_MOST_IN_FIGURE])
            name, title = identifier(f"{prefix}{metric}-changes"), _title(phase, metric)
            told = (
                f"{_HOLLOW} The submissions whose value has changed, the largest change first{_up_to(found)}."
            )
            most = f"{title}: {counted(len(found), 'value has', 'values have')} changed"
            of_drawn = {team: marks[team] for team in drawn}
            yield value_changes_chart(name, most, told, drawn, of_drawn, title)
    changed = [one for one in phase.submissions if one.is_one]
    rows = [
        (_name(one), _title(phase, metric), value.before, value.now, _difference(value))
        for one in changed
        for metric in phase.ranked
        if (value := one.values.get(metric, _NONE)).before != value.now
    ]
    if rows:
        yield Table.declared("changed-values", rows, identifier(f"{prefix}values"))
    results = (
        (_name(one), one.absence.before or "scored", one.absence.now or "scored", len(_moved([one])))
        for one in changed
    )
    if changed:
        yield Table.declared("changed-results", results, identifier(f"{prefix}results"))


def _cases(phase: Changes, prefix: str) -> Iterator[Block]:
    """Yield the cases that moved, by descending number of submissions; `changes.json` has their values."""
    found: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
    for one in phase.submissions:
        for task, cases in one.cases.items():
            for case in cases:
                found.setdefault((case.case, task), []).append((_name(one), tuple(case.columns)))
    rows = []
    words = _names(phase)
    for (of, task), moved in sorted(found.items(), key=lambda one: (-len(one[1]), one[0])):
        names = [name for name, _ in moved][:_MOST_NAMED]
        columns = sorted({column for _, columns in moved for column in columns})
        told = [words.of(column) for column in columns]
        rows.append((of, words.of(task), len(moved), listed(names), listed(told)))
    if rows:
        yield Table.declared("changed-cases", rows, identifier(f"{prefix}cases"), most=_MOST_NAMED)


def _name(one: SubmissionChange) -> str:
    return f"{one.team}/{one.submission}" if one.submission else one.team


def _up_to(found: Mapping[str, Change]) -> str:
    return f", {_MOST_IN_FIGURE} of {len(found)}" if len(found) > _MOST_IN_FIGURE else ""


def _moved(submissions: Iterable[SubmissionChange]) -> set[str]:
    """Return the cases that moved in any of the submissions."""
    return {case.case for one in submissions for cases in one.cases.values() for case in cases}


def _difference(change: Change) -> float | None:
    return None if change.before is None or change.now is None else float(change.now - change.before)


def _distance(change: Change) -> float:
    """Return how far a value has moved; added and removed values are farthest."""
    found = _difference(change)
    return float("inf") if found is None else abs(found)
