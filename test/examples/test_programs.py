"""The phases that stand for public programs without an example of their own: each is sealed and scored."""

import csv
import math
import re
import shutil

import numpy as np
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


def test_the_area_over_clicks_is_that_of_the_trapezoid_rule(tmp_path):
    (tmp_path / "phase").mkdir()
    shutil.copy(PROGRAMS["autopet4"], tmp_path / "phase" / "phase.toml")
    write_sample(tmp_path / "phase", tmp_path / "submission")
    evaluation.seal(tmp_path / "phase")
    result = evaluation.evaluate(tmp_path / "phase", tmp_path / "submission", workers=0).to_dict()
    figures = result["aggregates"]["segmentation"]
    for name, area in result["ranking"]["composites"].items():
        assert area == pytest.approx(
            np.trapezoid([figures[f"{name}_{clicks}"]["value"] for clicks in range(11)]), abs=1e-3
        )


def test_the_table_counts_the_parts_of_each_program_and_links_its_file():
    page = (REPOSITORY / "docs" / "your-own-challenge.md").read_text(encoding="utf-8")
    section = page.partition("### Twenty-eight public programs")[2].partition("\n\nNetworks")[0]
    rows = re.findall(
        r"^\| \[(.+)\]\(\.\./examples/([\w./-]+\.toml)\) \| .+ \| (declared|programmed) \| .+ \|$",
        section,
        re.MULTILINE,
    )
    assert len(rows) == section.count("\n| [")
    assert all((EXAMPLES / file).is_file() for _, file, _ in rows)
    assert {f"programs/{path.name}" for path in PROGRAMS.values()} <= {file for _, file, _ in rows}
    declared = [name for name, _, today in rows if today == "declared"]
    whole = {name for name, _, _ in rows} - {name for name, _, today in rows if today == "programmed"}
    said = re.search(
        r"Of (\d+) public .+, (\d+) are declared and (\d+) in part: (\d+) of their (\d+) parts", section
    )
    programs = len({name for name, _, _ in rows})
    counted = [programs, len(whole), programs - len(whole), len(declared), len(rows)]
    assert said is not None
    assert list(map(int, said.groups())) == counted
    assert programs == 28
    assert len(declared) / len(rows) >= 20 / 26
