"""Fields whose files share a folder, or lie in a folder of another's, and how their files are told apart."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, check, evaluate
from evaluation.organiser.submission_writer import ArchiveWriter
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from test.faults import faulted
from test.io.images import write_grey

CASES = ("a", "b", "a_cup")
LAYOUTS = {
    "one folder": {"cup": ("masks", "_inner"), "disc": ("masks", "_outer")},
    "a folder in a folder": {"cup": ("masks", ""), "disc": ("masks/disc", "")},
    "one of them has no suffix": {"cup": ("masks", ""), "disc": ("masks", "_disc")},
    "folders that differ in letter case": {"cup": ("Masks", "_c"), "disc": ("masks", "_d")},
    "suffixes that begin alike": {f"f{number}": ("masks", f"_click_{number}") for number in (1, 10, 11)},
}


def declared(folder: Path, fields: dict[str, tuple[str, str]], cases: tuple[str, ...] = CASES) -> Path:
    phase = folder / "phase"
    for place, suffix in fields.values():
        for case in cases:
            mask = np.zeros((8, 9), np.uint8)
            mask[2:6, 1 : 3 + len(suffix) % 5] = 1
            path = phase / place / f"{case}{suffix}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(write_grey(mask, ".png"))
    rows = [f"{case},9,8" for case in cases]
    (phase / "cases.csv").write_text("\n".join(["name,width,height", *rows, ""]))
    tables = [
        f'[fields.{name}]\nkind = "label_map"\ndimensions = 2\nlabels = {{ 1 = "{name}" }}\n'
        f'folder = "{place}"\nsuffix = "{suffix}"\nextensions = [".png"]\n'
        f'[tasks.{name}.metrics.dice]\nfield = "{name}"\n'
        for name, (place, suffix) in fields.items()
    ]
    keys = 'name = "shared"\ntitle = "Shared folders"\nsubmission = "archive"\nresamples = 0\n'
    (phase / "phase.toml").write_text(keys + "".join(tables))
    return phase


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fields_with_patterns_of_their_own_may_share_a_folder(tmp_path, layout):
    fields = LAYOUTS[layout]
    phase = declared(tmp_path, fields)
    submission = tmp_path / "submission"
    loaded = load_phase(phase, scan(phase))
    form_fields = fields_of(loaded.tasks)
    writer = ArchiveWriter(submission, form_fields)
    for form, row in zip(loaded.cases.forms, loaded.rows, strict=True):
        true = ReferenceValues(OpenReference(loaded.reference, form_fields), form, row)
        writer.add(
            form.name, {field.name: field.kind.writable(true[field.name], form) for field in form_fields}
        )
    writer.close()
    assert list(check(loaded.form, submission, 0).faults) == []
    result = evaluate(loaded, submission, 0)
    assert isinstance(result, Result)
    aggregates = result.figures.aggregates
    assert {task: figures["dice"].value for task, figures in aggregates.items()} == dict.fromkeys(fields, 1)


def test_a_file_of_no_field_is_named_once_with_all_patterns(tmp_path):
    phase = declared(tmp_path, LAYOUTS["one folder"])
    submission = tmp_path / "submission"
    shutil.copytree(phase / "masks", submission / "masks")
    (submission / "masks" / "a.png").write_bytes((phase / "masks" / "a_inner.png").read_bytes())
    (submission / "masks" / "more").mkdir()
    (submission / "masks" / "more" / "b_inner.png").write_bytes(b"")
    faults = check(load_phase(phase, scan(phase)).form, submission, 0).faults
    assert [fault.file for fault in faults] == ["masks/a.png", "masks/more/b_inner.png"]
    for fault in faults:
        assert "masks/<image>_inner.png or masks/<image>_outer.png" in str(fault)


@pytest.mark.parametrize(
    ("fields", "file"),
    [
        ({"cup": ("masks", ""), "disc": ("masks", "")}, "masks/a.png"),
        ({"cup": ("masks", ""), "disc": ("masks", "_cup")}, "masks/a_cup.png"),
        ({"cup": ("masks", "_Cup"), "disc": ("Masks", "_cup")}, "Masks/a_cup.png"),
    ],
)
def test_patterns_of_which_a_file_could_be_either_are_refused_by_seal(tmp_path, fields, file):
    phase = declared(tmp_path, fields)
    with faulted(PhaseError, "fields cup and disc", file):
        load_phase(phase, scan(phase))
