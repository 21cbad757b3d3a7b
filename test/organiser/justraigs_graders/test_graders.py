"""The case table from the organisers' files, as they distribute them."""

import csv
import json

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.justraigs_graders.tables import (
    ABBREVIATIONS,
    GRADERS,
    read_graders,
    read_mapping,
    write_case_table,
)
from test.faults import faulted

FEATURES = [f"{grader} {feature}" for grader in GRADERS for feature in ABBREVIATIONS]
HEADER = ["Eye ID", "Final Label", "Fellow Eye ID", "Age", "Label G1", "Label G2", "Label G3", *FEATURES]


def row(eye, final, fellow, labels, *marks):
    """Return a row; ``marks`` are ten features of G1, G2 and G3, as texts."""
    cells = [cell for text in (*marks, *[""] * (3 - len(marks))) for cell in (text or " " * 10)]
    return [eye, final, fellow, "61", *labels, *(cell.strip() for cell in cells)]


ROWS = [
    row("EYE2", "RG", "EYE1", ("RG", "RG", ""), "1011001101", "1010001100"),
    row("EYE1", "NRG", "EYE2", ("NRG", "NRG", "")),
    row("EYE3", "RG", "EYE9", ("RG", "NRG", "RG"), "1111100000", "", "0000011111"),
    row("EYE4", "U", "", ("NRG", "U", "U")),
]
ENTRIES = [
    ("s_1", 0, "EYE3.jpg"),
    ("s_1", 1, "EYE1.JPG"),
    ("s_2", 0, "folder/EYE2.png"),
    ("s_2", 1, "EYE4.jpg"),
]


def graders(folder, rows=ROWS, header=HEADER, delimiter=","):
    path = folder / "graders.csv"
    path.write_text("\n".join(delimiter.join(cells) for cells in [header, *rows]) + "\n")
    return path


def mapping(folder, entries=ENTRIES):
    path = folder / "archive_item_to_content_mapping.json"
    content = [{"stack_name": stack, "stack_index": index, "image": image} for stack, index, image in entries]
    path.write_text(json.dumps(content))
    return path


def case_table(folder, table, mapping):
    """Write the case table and return its rows."""
    write_case_table(folder / "cases.csv", read_graders(table), mapping, table.name)
    with (folder / "cases.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("delimiter", "key"), [(",", "Eye ID"), (";", "EYE ID")])
def test_builds_the_case_table(tmp_path, delimiter, key):
    table = graders(tmp_path, header=[key, *HEADER[1:]], delimiter=delimiter)
    assert [tuple(row.values()) for row in case_table(tmp_path, table, mapping(tmp_path))] == [
        ("EYE1", "s_1", "1", "EYE1", "61", "NRG", "NRG", "NRG", "", "", "", ""),
        ("EYE2", "s_2", "0", "EYE1", "61", "RG", "RG", "RG", "", "1011001101", "1010001100", ""),
        ("EYE3", "s_1", "0", "", "61", "RG", "RG", "NRG", "RG", "1111100000", "", "0000011111"),
        ("EYE4", "s_2", "1", "", "61", "U", "NRG", "U", "U", "", "", ""),
    ]


FAULTS = {
    "final label": (
        [row("E", "NRG", "", ("RG", "RG", ""))],
        "line 2, Final Label: expected RG as the graders' labels give it, found 'NRG'",
    ),
    "no specialist": (
        [row("E", "RG", "", ("RG", "NRG", ""))],
        "line 2, Label G3: expected a specialist where G1 and G2 disagree, found nothing",
    ),
    "unknown label": ([row("E", "RG", "", ("RG", "no", ""))], "Label G2: expected RG, NRG, U, found 'NO'"),
    "no second grader": ([row("E", "RG", "", ("RG", "", "RG"))], "Label G2: expected RG, NRG, U, found ''"),
    "feature": (
        [row("E", "RG", "", ("RG", "RG", ""), "2000000000", "1000000000")],
        "line 2, G1 ANRS: expected 0, 1 or nothing, found '2'",
    ),
    "an eye twice": (
        [ROWS[1], ROWS[0], row("eye1", "U", "EYE2", ("U", "U", ""))],
        "duplicate eye eye1 in 2 rows",
    ),
    "fellow eyes that differ": (
        [ROWS[0], row("EYE1", "U", "EYE5", ("U", "U", ""))],
        "line 2: expected EYE1 to have the fellow eye EYE2, found EYE5",
    ),
    "an eye that was not graded": (
        [ROWS[3]],
        "expected a row for EYE1, which the mapping names, found none",
    ),
}


@pytest.mark.parametrize(("rows", "message"), FAULTS.values(), ids=FAULTS)
def test_faults_of_the_graders_table(tmp_path, rows, message):
    with pytest.raises(PhaseError) as caught:
        case_table(tmp_path, graders(tmp_path, rows), mapping(tmp_path))
    assert any(message in problem for problem in caught.value.problems), caught.value.problems
    assert not (tmp_path / "cases.csv").exists()


def test_a_missing_column_is_named(tmp_path):
    header = ["G2 XX" if name == "G2 NVT" else name for name in HEADER]
    with faulted(PhaseError, "graders.csv", "G2 NVT"):
        read_graders(graders(tmp_path, header=header))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}', ("mapping.json", "something else")),
        (
            '[{"stack_name": "a", "stack_index": true, "image": "b"}]',
            ("mapping.json[0]", "{'stack_name': 'a', 'stack_index': True, 'image': 'b'}"),
        ),
        ("[3]", ("mapping.json[0]", "3")),
        ("[", ("mapping.json, line 1", "an error at column 2")),
    ],
)
def test_faults_of_the_mapping(tmp_path, content, message):
    path = tmp_path / "mapping.json"
    path.write_text(content)
    with faulted(PhaseError, *message):
        read_mapping(path)


def test_an_image_in_two_stacks(tmp_path):
    with faulted(PhaseError, "mapping", "eye3", "2"):
        case_table(tmp_path, graders(tmp_path), mapping(tmp_path, [*ENTRIES, ("s_9", 0, "EYE3.png")]))
