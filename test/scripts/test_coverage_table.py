"""The simulated coverage has a row for every metric of the catalogue with an interval, with its estimator."""

import pytest

from benchmarks.coverage import COVERS, covers_in_words, populations
from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.core.intervals import default_method
from test.catalogue import measures_of
from test.repository import REPOSITORY

# Rows that stand for these metrics, though the benchmark makes their aggregate from its own columns.
OWN_COLUMNS = {"box_average_precision", "box_average_recall"}
ROWS = {population.metric.title: population.metric for population in populations()}
ROW_OF = {name: title for title, names in COVERS.items() for name in names.split()}


def estimator(metric):
    """Return the kind of the estimator, and the default method of its interval."""
    return type(metric.estimator), default_method(metric, False)


@pytest.mark.parametrize("table", [*METRICS], ids=name_of)
def test_every_metric_with_an_interval_has_a_row(table):
    name, found = name_of(table), [measure.metrics[0] for _, measure in measures_of(table)]
    assert found, "an example of its option belongs in `OPTIONS` of test/catalogue.py"
    with_interval = [metric for metric in found if metric.no_interval is None]
    assert bool(with_interval) == (name in ROW_OF), "`COVERS` of benchmarks/coverage.py names it beside a row"
    for metric in with_interval:
        row = ROWS[ROW_OF[name]]
        assert default_method(metric, False) == default_method(row, False)
        if name not in OWN_COLUMNS:
            assert estimator(metric) == estimator(row)


def test_the_page_says_which_metrics_the_rows_stand_for():
    page = (REPOSITORY / "docs/intervals.md").read_text(encoding="utf-8")
    assert covers_in_words() in page.splitlines(), "run: python -m test.scripts.test_coverage_table"


def write_page() -> None:
    """Write the sentence into the page."""
    page = REPOSITORY / "docs/intervals.md"
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    (number,) = (at for at, line in enumerate(lines) if line.startswith("Rows stand for these metrics"))
    lines[number] = f"{covers_in_words()}\n"
    page.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write_page()
