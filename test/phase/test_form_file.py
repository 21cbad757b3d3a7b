"""The form of a phase as a file: the same without labels, and read strictly."""

import json
import shutil
from pathlib import Path

import pandas
import pytest

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import CaseColumns
from evaluation.phase.form_file import format_in_words, read_form, write_form
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from test.faults import faulted
from test.repository import OF_EACH_CHALLENGE, REPOSITORY


def phase_in(folder: Path) -> Phase:
    return load_phase(folder, scan(folder))


def exchange_labels(folder: Path) -> bool:
    """Give every case the labels of the case at the other end of the table; return whether any differs."""
    phase = phase_in(folder)
    before = {path: (folder / path).read_bytes() for path in scan(folder).files}
    columns = {subgroup.column for subgroup in phase.config.subgroups}
    columns -= {"name", "width", "height", *(column.name for column in phase.challenge.form_columns)}
    for field in fields_of(phase.tasks):
        if isinstance(field.reference.location, CaseColumns):
            columns |= set(field.reference.location.columns)
            continue
        paths = [path for _, path in sorted(phase.reference_paths[field.name].items())]
        for path, other in zip(paths, reversed(paths), strict=True):
            (folder / path).write_bytes(before[other])
    table = pandas.read_csv(folder / "cases.csv", dtype=str, keep_default_na=False)
    for column in columns & {*table.columns}:
        table[column] = table[column].to_numpy()[::-1]
    table.to_csv(folder / "cases.csv", index=False)
    return any((folder / path).read_bytes() != data for path, data in before.items())


@pytest.mark.parametrize("name", OF_EACH_CHALLENGE)
def test_a_form_reads_back_and_exchanged_labels_change_no_byte(name, tmp_path):
    folder = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, tmp_path / "phase"))
    form = phase_in(folder).form
    file, words = write_form(form), format_in_words(form)
    (tmp_path / "form.json").write_bytes(file)
    assert read_form(tmp_path / "form.json") == form
    assert exchange_labels(folder)
    exchanged = phase_in(folder).form
    assert write_form(exchanged) == file
    assert format_in_words(exchanged) == words


FORM = {
    "challenge": "refuge",
    "phase": "mine",
    "submission": "archive",
    "tasks": ["fovea"],
    "missing": "reject",
    "options": {},
    "sockets": {},
    "cases": [{"name": "A", "width": 4, "height": 3}],
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": [1]}, "form.json: unknown key form.labels"),
        ({"phase": 3}, "form.json: form.phase: input should be a valid string (got 3)"),
        ({"challenge": "refuse"}, "challenge 'refuse' is unknown"),
        ({"tasks": ["focea"]}, "form.json: tasks: unknown 'focea' (known are classification"),
        ({"submission": "zip"}, "form.json: submission: expected archive or algorithm, found 'zip'"),
        ({"missing": "best"}, "form.json: missing: expected reject or worst, found 'best'"),
        ({"cases": []}, "form.json: expected at least one case, found none"),
        ({"cases": [{"name": "A"}, {"name": "a.png"}]}, "form.json: duplicate case 'a' (2 entries)"),
        ({"cases": [{"name": "A", "width": -4}]}, "form.json: A: expected a size in pixels, found -4 × 0"),
    ],
)
def test_a_form_that_is_none(change, problem, tmp_path):
    path = tmp_path / "form.json"
    path.write_text(json.dumps({"format": 1, "form": FORM}))
    assert read_form(path).cases[0].width == 4
    path.write_text(json.dumps({"format": 1, "form": {**FORM, **change}}))
    with pytest.raises(PhaseError) as raised:
        read_form(path)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"format": 1, "format": 1}', ("form.json", '"format" twice')),
        ("{", ("form.json", "an error at column 2")),
        (json.dumps({"format": 2, "form": FORM}), ("form.json", "2")),
        (json.dumps({"format": 1}), ("form.json: form",)),
        (None, ("form.json",)),
    ],
)
def test_a_file_that_is_no_form(text, problem, tmp_path):
    path = tmp_path / "form.json"
    if text is not None:
        path.write_text(text)
    with faulted(PhaseError, *problem):
        read_form(path)
