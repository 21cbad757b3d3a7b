"""The sections of the report of one submission, for the organiser and for the public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.report.case_images import CaseValues
from evaluation.report.case_rows import cases_section
from evaluation.report.classification import classification_section
from evaluation.report.detection import detection_section
from evaluation.report.overview import facts, metrics_section
from evaluation.report.page import Page, Section
from evaluation.report.pictures import pictures_section
from evaluation.report.results import SubmissionResults
from evaluation.report.run_section import definitions_section, run_times_section, troubles_section
from evaluation.report.size_figures import sizes_section
from evaluation.report.subgroup_figures import public_subgroups_section, subgroups_section
from evaluation.report.value_figures import values_section

BANNER = "Holds labels: for the organisers of the challenge alone."


def organiser_page(
    results: SubmissionResults,
    values: Sequence[CaseValues] = (),
    chosen: Mapping[str, Mapping[str, str]] | None = None,
) -> Page:
    """Return the whole report, with labels and single cases.

    ``values``: read from the submission's files, if they are at hand; ``chosen``: their pictures, by task and
    case.
    """
    return _page(
        results,
        BANNER,
        metrics_section(results),
        cases_section(results),
        classification_section(results),
        values_section(results),
        sizes_section(results, values),
        detection_section(results),
        pictures_section(results, chosen or {}, values),
        subgroups_section(results),
        troubles_section(results),
        run_times_section(results),
        definitions_section(results),
    )


def public_page(results: SubmissionResults) -> Page:
    """Return the public report, made from `metrics.json` and the phase's rules alone.

    Curves, distributions, single cases and their run times are left out: they reveal more of the labels than
    the published figures, which `audit` counts.
    """
    return _page(
        results,
        "",
        metrics_section(results),
        public_subgroups_section(results),
        definitions_section(results),
    )


def _page(results: SubmissionResults, banner: str, *sections: Section | None) -> Page:
    name = results.metrics.phase.name
    return Page(
        title=results.phase.config.title or name,
        subtitle=f"Results of a submission to {name}",
        banner=banner,
        facts=tuple(facts(results)),
        sections=tuple(section for section in sections if section),
    )
