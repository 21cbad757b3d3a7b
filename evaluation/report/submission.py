"""The report of one submission: which sections and figures it has."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.report.metric_rows import metric_rows
from evaluation.report.page import Cell, Column, Page, Section, Table
from evaluation.report.results import SubmissionResults

BANNER = "Holds labels: for the organisers of the challenge alone."


def submission_page(results: SubmissionResults, public: bool = False) -> Page:
    """Return the report of a submission; a public one holds neither labels nor single cases."""
    published = results.metrics.phase
    return Page(
        title=results.phase.config.title or published.name,
        subtitle=f"Results of a submission to {published.name}",
        banner="" if public else BANNER,
        facts=tuple(_facts(results)),
        sections=(Section("metrics", "Metrics", (_metrics(results),)),),
    )


def _facts(results: SubmissionResults) -> Iterator[tuple[str, str]]:
    published, cases = results.metrics.phase, results.metrics.cases
    yield "Challenge", results.phase.challenge.title
    yield "Version of the phase", published.version
    yield "Seal", published.manifest[:12]
    yield "Cases", f"{cases.scored} of {cases.expected} scored, {cases.worst} with worst values"


def _metrics(results: SubmissionResults) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in metric_rows(results):
        interval = row.estimate.confidence_interval
        rows.append(
            (
                row.task_title,
                row.metric.title,
                row.estimate.value,
                interval.lower if interval else None,
                interval.upper if interval else None,
                f"{row.metric.better} is better",
                row.metric.unit,
            )
        )
    columns = ("task", "metric", "value", "lower", "upper", "direction", "unit")
    return Table("metrics", "All metrics", tuple(Column(title) for title in columns), tuple(rows))
