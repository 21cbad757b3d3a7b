"""The tables of examples and of public programs in the documentation."""

import re

import pytest

from test.examples.samples import EXAMPLES, lines_of
from test.repository import REPOSITORY

PAGE = REPOSITORY / "examples" / "README.md"
PROGRAMS = {path.stem: path for path in sorted((EXAMPLES / "programs").glob("*.toml"))}


def test_the_table_counts_the_parts_of_each_program_and_links_its_file():
    section = (
        PAGE.read_text(encoding="utf-8")
        .partition("## Twenty-one public programs")[2]
        .partition("\n\nNetworks")[0]
    )
    rows = re.findall(
        r"^\| \[(.+)\]\(([\w./-]+\.toml)\) \| .+ \| (declared|programmed) \| .+ \|$",
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
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 60 for path in PROGRAMS.values())
    programs = len({name for name, _, _ in rows})
    counted = [programs, len(whole), programs - len(whole), len(declared), len(rows)]
    assert list(map(int, said.groups())) == counted


def test_the_table_has_every_example_with_its_lines():
    rows = re.findall(r"\(([\w-]+)/phase\.toml\)[^|]*\| (\d+) \|", PAGE.read_text(encoding="utf-8"))
    found = {name: int(lines) for name, lines in rows}
    assert found == {path.parent.name: lines_of(path.parent.name) for path in EXAMPLES.glob("*/phase.toml")}
    assert max(found.values()) <= 60


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/metrics.py")))
def test_an_organiser_writes_at_most_60_lines(name):
    texts = [(EXAMPLES / name / file).read_text() for file in ("phase.toml", "metrics.py", "sample.py")]
    assert sum(len(text.splitlines()) for text in texts) <= 60
