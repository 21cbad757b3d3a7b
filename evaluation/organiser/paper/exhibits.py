"""The tables and figures of a paper: those of the reports, with captions that state n, method and seed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.charts.chart import Chart
from evaluation.io.tables import DECIMAL
from evaluation.organiser.leaves import found_leaf
from evaluation.organiser.paper.facts import TEXTS, Study, upper_first
from evaluation.organiser.report.board.leaderboard import leaderboard_page
from evaluation.organiser.report.board.reading import ReportedPhase, read_rows, words_of
from evaluation.organiser.report.data import data_section
from evaluation.organiser.report.page import Cell, SortableCaseTable, Table, identifier

Part = Literal["data", "results", "supplement"]
_MOST_ROWS = 20
"""Rows of a table of the paper itself; longer ones belong to its supplement."""
_MAIN = ("data-cases", "final", "ranking", "metrics", "tiers", "annotators", "blobs")
"""The ends of the names of the tables and figures of the paper itself; all others are in its supplement."""
_MOST_FIGURES = 4
"""Figures of metrics in the paper itself, each the first one of a task."""
_HARDEST = 10


@dataclass(frozen=True)
class Exhibit:
    """A table, a chart or a drawing (SVG) of a part of the paper or of its supplement, with its caption.

    ``single_cases``: it shows single cases, whose labels it may reveal.
    """

    name: str
    part: Part
    caption: str
    content: Table | Chart | str
    single_cases: bool = False


def exhibits_of(study: Study, flow: str) -> list[Exhibit]:
    """Return all tables and figures, in their order; ``flow`` is the drawing of the flow of cases."""
    cases = [f"{phase.config.name}: n = {len(phase.rows)}" for phase in study.phases]
    found = [Exhibit("flow", "data", _sentences("Flow of cases.", *cases), flow)]
    # Tables of data come with the section; its figures are for reports.
    tables = (
        block for block in data_section(study.description, study.names).blocks if isinstance(block, Table)
    )
    found += (_exhibit("data", table, cases) for table in tables)
    page = leaderboard_page(study.board, study.parts)
    parts = {name: part for one in study.reported for name, part in _figures(one).items()}
    for section in page.sections:
        # The names of what belongs to one phase of several begin with its role.
        own = [
            one for one in study.reported if one.board.role and section.name.startswith(one.identifier(""))
        ]
        resampled = [_resampled(study, one) for one in own or study.reported]
        for block in section.blocks:
            if isinstance(block, Table) and not isinstance(block, SortableCaseTable):
                found.append(_exhibit("results", block, resampled))
            elif isinstance(block, Chart) and block.name in parts:
                found.append(_exhibit(parts[block.name], block, resampled, single_cases="roc" in block.name))
    for one in study.reported:
        found += _further(study, one, [_resampled(study, one)])
    return found


def _exhibit(
    part: Part, block: Table | Chart, cases: Sequence[str], *more: str, single_cases: bool = False
) -> Exhibit:
    """Return a table or chart with its title, what it says of itself, and more sentences as caption.

    cases: a sentence on those of each phase.
    """
    told = (block.note,) if isinstance(block, Table) else (upper_first(block.subtitle), block.description)
    is_main = isinstance(block, Chart) or block.name.endswith(_MAIN)
    if isinstance(block, Table) and (len(block.rows) > _MOST_ROWS or not is_main):
        part = "supplement"
    return Exhibit(block.name, part, _sentences(block.title, *told, *more, *cases), block, single_cases)


def _sentences(*texts: str) -> str:
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in texts if text)


def _figures(phase: ReportedPhase) -> dict[str, Part]:
    """Return the part of each figure of a phase that a paper shows, by name; a report has more figures.

    In the paper itself are the places, and a metric of each task.
    """
    first, values = phase.boards[0], phase.organiser.values
    ranked = [name for name, metric in phase.board.metrics.items() if metric.in_ranking]
    tasks = {name.rpartition(".")[0]: name for name in reversed(ranked)}
    leading = [name for name in ranked if name in tasks.values()][:_MOST_FIGURES]
    main = ["final-blobs", phase.identifier(first, "blobs")]
    main += [phase.identifier(name, "by-team") for name in leading]
    names = [phase.identifier(first, "method-places")]
    for kind in ("by-team", "roc", "froc", "times"):
        names += [phase.identifier(name, kind) for name in ranked]
    of_cases = {name.partition(".")[0]: name for name in reversed(ranked) if name in values}.values()
    tests = (test for test in phase.board.subgroup_tests if test.metric in of_cases)
    names += [phase.identifier(test.metric, test.column, test.first, test.second) for test in tests]
    return {name: "results" if name in main else "supplement" for name in (*main, *names)}


def _resampled(study: Study, reported: ReportedPhase) -> str:
    """Return the number of cases, of teams and of resamples, and the seed, in a sentence."""
    phase, board = study.phase_of(reported), reported.board
    number = max((len(found.taus) for found in board.agreement.values()), default=0)
    drawn = f"{number or phase.config.resamples} resamples of the cases, seed {phase.config.seed}"
    units = f" in {board.clusters} clusters" if board.clusters else ""
    return f"{board.phase}: n = {len(phase.rows)} cases{units}, {len(board.teams)} teams; {drawn}."


# --- Tables from the files that `rank`, `fuse` and `ensemble` write ---


def _further(study: Study, phase: ReportedPhase, cases: Sequence[str]) -> Iterator[Exhibit]:
    suffix = f"-{phase.board.role}" if phase.board.role else ""
    hardest = [one for one in phase.organiser.difficulties if one.place <= _HARDEST]
    ranked = [one for one in hardest if one.metric in phase.ranked_metrics]
    if ranked:
        rows = ((phase.title_of(o.metric), o.measure, o.place, o.case, o.value) for o in ranked)
        title = f"The {_HARDEST} hardest cases of each metric"
        titles = ("metric", "measure", "place", "case", ("value", 4))
        table = Table.of(phase.identifier("hardest"), title, titles, rows)
        told = "Place 1 is the hardest", "Value: mean over the ranked teams"
        yield _exhibit("results", table, cases, *told, single_cases=True)
    leaf = found_leaf("analyses.section")
    for title, table in leaf.tables_of_teams(study.phase_of(phase), study.folders) if leaf else ():
        caption = _sentences(title, table.note, *cases)
        yield Exhibit(phase.identifier(table.name), "supplement", caption, table)
    for given in TEXTS["files"]:
        path = study.report(f"{given['name']}{suffix}.csv")
        if path is None and phase is study.reported[0]:
            path = study.report(f"{given['name']}.csv")
        own = (None, phase.board.role, phase.board.phase)
        rows_of_file = [] if path is None else [row for row in read_rows(path) if row.get("phase") in own]
        if rows_of_file:
            table = _table(phase, identifier("file", given["name"], suffix), given["title"], rows_of_file)
            yield _exhibit("supplement", table, cases, given["note"])


def _table(phase: ReportedPhase, name: str, title: str, rows: Sequence[Mapping[str, str]]) -> Table:
    """Return the rows of a file as a table: few digits, no column without any text, titles of metrics."""
    kept = [column for column in rows[0] if column != "phase" and any(row[column] for row in rows)]
    named = [dict(row, metric=phase.title_of(row["metric"])) if "metric" in row else row for row in rows]
    cells = ((_cell(row[column]) for column in kept) for row in named)
    return Table.of(name, title, map(words_of, kept), cells)


def _cell(text: str) -> Cell:
    if not text:
        return None
    if not DECIMAL.fullmatch(text):
        return text
    return float(f"{float(text):.4g}") if any(sign in text for sign in ".e") else int(text)
