"""The phases that stand for public programs without an example of their own: each is sealed and scored."""

import csv
import math
import re
import shutil

import pytest

import evaluation
from test.examples.samples import EXAMPLES
from test.repository import REPOSITORY

write_sample = pytest.importorskip("evaluation.organiser.starter.repository").write_sample

PROGRAMS = {path.stem: path for path in sorted((EXAMPLES / "programs").glob("*.toml"))}
# What the made-up cases lack: columns of groups and areas, and the stacks of jobs.
COLUMNS = {
    "cholectriplet": {"video": lambda number: f"video{number % 3}"},
    "monkey": {"mm2": lambda number: 0.5 + number % 2},
    "surgvu": {"video": lambda number: f"video{number % 3}"},
    "trackrad": {"patient": lambda number: f"patient{number % 4}"},
}


def add_columns(table, columns):
    with table.open() as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row.update({name: cell(number) for name, cell in columns.items()})
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_phase_is_sealed_and_scored(tmp_path, name):
    phase = tmp_path / "phase"
    phase.mkdir()
    shutil.copy(PROGRAMS[name], phase / "phase.toml")
    write_sample(phase, tmp_path / "submission")
    add_columns(phase / "cases.csv", COLUMNS.get(name, {}))
    evaluation.seal(phase)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    values = [entry["value"] for of in result["aggregates"].values() for entry in of.values()]
    assert values
    assert all(map(math.isfinite, values))
    assert len(PROGRAMS[name].read_text(encoding="utf-8").splitlines()) <= 60


def test_the_table_of_programs_links_a_file_for_each_that_is_declared():
    page = (REPOSITORY / "docs" / "your-own-challenge.md").read_text(encoding="utf-8")
    table = page.partition("### Twenty-eight public programs")[2].partition("\n\nNetworks")[0]
    rows = re.findall(r"^\| (.+) \| (declared(?: in part)?|programmed|not) \| (.+) \|$", table, re.MULTILINE)
    linked = {file for row in rows for file in re.findall(r"\(\.\./examples/([\w./-]+\.toml)\)", row[0])}
    assert all(file in linked and (EXAMPLES / file).is_file() for file in linked)
    assert {f"programs/{path.name}" for path in PROGRAMS.values()} <= linked
    declared = [row for row in rows if row[1].startswith("declared")]
    assert all("toml)" in row[0] for row in declared)
