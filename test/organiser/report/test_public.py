"""The public report: made of what is published alone."""

import re
from dataclasses import replace

import pytest

import evaluation
from evaluation.organiser.report.page import Gallery, SortableCaseTable, render_page
from evaluation.organiser.report.results import results_of
from evaluation.organiser.report.submission import BANNER, organiser_page, public_page
from evaluation.phase.phase import load_phase
from test.phases import TinyCase, refuge_phase, refuge_submission


class Forbidden(dict):
    """What the public report must not look at."""

    def __getitem__(self, key):
        raise AssertionError(f"the public report reads {key}")

    __iter__ = items = values = keys = get = __getitem__


def without_programs(html):
    """Return a page without the programs, which hold short names of their own."""
    return re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


# Volumes, boxes, and decisions of graders.
@pytest.mark.parametrize("name", ["cysts", "edd2020", "justraigs-phase2"])
def test_it_needs_neither_cases_nor_the_organisers_figures_and_names_no_case(bundled_phase, name):
    results = bundled_phase(name).results
    page = public_page(results)
    stripped = replace(results, tables=Forbidden(), cases=(), estimates=Forbidden(), subgroups=Forbidden())
    assert public_page(stripped) == page
    assert not page.banner
    assert not any(chart.single_cases for chart in page.charts())
    blocks = [block for section in page.sections for block in section.blocks]
    assert not any(isinstance(block, SortableCaseTable | Gallery) for block in blocks)
    html = without_programs(render_page(page))
    assert BANNER not in html
    assert not [case.name for case in results.cases if case.name in html]


def test_names_of_cases_can_be_found_where_they_are_shown(bundled_phase):
    results = bundled_phase("cysts").results
    assert results.cases[0].name in without_programs(render_page(organiser_page(results)))


def report_of(folder, glaucoma, likelihood):
    """Return the public report of a phase whose cases have these labels, without its seal."""
    cases = [TinyCase(number, label) for number, label in enumerate(glaucoma, start=1)]
    phase = refuge_phase(folder / "phase", cases)
    submission = refuge_submission(
        folder / "submission",
        cases,
        change=lambda case, values: {**values, "glaucoma_risk": likelihood[case.number - 1]},
    )
    scored = evaluation.evaluate(phase, submission, workers=0)
    loaded = load_phase(phase)
    html = render_page(public_page(results_of(loaded, scored.to_dict(), scored.records)))
    return html.replace(loaded.manifest.digest, "SEAL").replace(loaded.manifest.digest[:12], "SEAL")


def test_exchanged_labels_that_the_scores_do_not_tell_apart_give_the_same_report(tmp_path):
    likelihood = [0.1, 0.2, 0.2, 0.3, 0.7, 0.8] * 4
    first = [False, True, False, False, True, True] * 4
    exchanged = [False, False, True, False, True, True] * 4  # of two cases with the same likelihood
    told = [True, True, False, False, False, True] * 4
    reports = [
        report_of(tmp_path / str(i), one, likelihood) for i, one in enumerate((first, exchanged, told))
    ]
    assert reports[0] == reports[1]
    assert reports[0] != reports[2]
