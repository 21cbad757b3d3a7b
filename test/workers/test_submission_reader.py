"""Small values are read together, with the outcome of one by one; readers know fields and no metrics."""

import json
import math
import os
import subprocess
import sys

import pytest

from evaluation.core.entry_points import own_entries
from evaluation.core.form import CaseForm, Form
from evaluation.core.formats import BMP, FORMATS, GZIP, META_IMAGE, TIFF
from evaluation.core.limits import Totals
from evaluation.evaluate import check
from evaluation.io.kinds.probability_map import DetectionMap
from evaluation.phase.config import DECLARED
from evaluation.phase.registry import read_configuration, tasks_of_form, tasks_to_read
from evaluation.workers import pool, submission_reader
from evaluation.workers.batches import Batch, Columns, Content
from evaluation.workers.processes import start_worker
from evaluation.workers.reader import IndexJob, ReaderSetup, ReadJob
from evaluation.workers.reports import BatchReport, IndexReport, PackedValues
from evaluation.workers.submission_reader import SubmissionReader
from test.phases import loaded_phase, refuge_submission
from test.repository import REPOSITORY

NAMES = [f"E{number}" for number in range(6)]
CASES = tuple(CaseForm(name, 100, 50, {"set": "in-sample"}) for name in NAMES)
LINE = "BE 0.5 1 2 3 4\n"
FORM = Form("edd2020", "p", "archive", ("detection",), "reject", {}, {}, ())


def no_tick(processor_seconds: float) -> None:
    """Let a case take as long as it takes."""


def joined(parts) -> memoryview:
    return memoryview(b"".join(parts))


class Session:
    """A reader of one submission, which has listed it as one batch."""

    def __init__(self, folder, texts):
        (folder / "detection_bbox").mkdir()
        for name, text in zip(NAMES, texts, strict=True):
            (folder / "detection_bbox" / f"{name}.txt").write_text(text)
        self._reader = SubmissionReader(ReaderSetup(FORM, str(folder)))
        index = IndexReport.unpacked(
            joined(self._reader(IndexJob(Columns.of(CASES), 0), no_tick)), FORM.tasks, len(CASES)
        )
        self.faults = index.faults
        # One batch of all cases, which an evaluation would read in several.
        sources = {}
        for batch in index.batches:
            sources |= zip(batch.positions, Content.unpacked(batch.content).sources, strict=True)
        positions = tuple(sorted(sources))
        content = Content(
            str(folder), tuple(CASES[at] for at in positions), tuple(sources[at] for at in positions)
        )
        self._batches = (Batch(positions, content.packed()),)
        self.fields = self._reader.fields

    def read(self, one_by_one=False, room=math.inf, left=None):
        """Return the reports on all batches and the values of the cases by their names."""
        reports, values = [], {}
        for batch in self._batches:
            numbers = tuple(range(len(batch.positions)))
            job = ReadJob(batch.content, numbers if one_by_one else None, room_bytes=room, left=left)
            report, packed = BatchReport.unpacked(joined(self._reader(job, no_tick)), len(numbers))
            reports.append(report)
            for number, position in enumerate(batch.positions):
                found = PackedValues(packed, self.fields).of_case(number, CASES[position])
                values[NAMES[position]] = {name: value.rows.tolist() for name, value in found.items()}
        return reports, values


SUBMISSIONS = {
    "plain": [LINE * count for count in (1, 2, 0, 1, 3, 1)],
    "a file that is not plain": [LINE, "\n" + LINE, LINE, "", LINE, LINE],
    "two files with faults": [LINE, "BE 7 1 2 3 4", LINE, LINE, "what", LINE],
}


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_reading_together_and_one_by_one_tell_the_same(name, tmp_path):
    session = Session(tmp_path, SUBMISSIONS[name])
    (together, values), (alone, values_alone) = session.read(), session.read(one_by_one=True)
    assert values == values_alone
    for one, other in zip(together, alone, strict=True):
        assert list(one.faults) == list(other.faults)
        assert (one.used.bytes, one.used.items) == (other.used.bytes, other.used.items)
    assert sum(len(one.faults) for one in together) == sum("7" in t or "w" in t for t in SUBMISSIONS[name])


def test_values_beyond_the_room_are_to_be_read_again(tmp_path):
    session = Session(tmp_path, SUBMISSIONS["plain"])
    reports, values = session.read(room=2 * 48)
    again = [number for report in reports for number in report.again]
    kept = sum(bool(found) for found in values.values())
    assert again
    assert len(again) + kept == len(CASES)


@pytest.mark.parametrize(
    ("left", "blank", "items"),
    [
        (Totals(10**6, 10**6), "", 8),
        (Totals(10, 10**6), "", 2),  # after the first file, of 30 bytes
        (Totals(10**6, 0), "\n", 2),  # a blank line is not plain: files are read one by one
    ],
)
def test_reading_ends_when_nothing_is_left_of_the_limits(tmp_path, left, blank, items):
    session = Session(tmp_path, [LINE * 2 + blank] * 2 + [LINE] * 4)
    (report,), _ = session.read(left=left)
    assert report.used.items == items
    assert not report.faults


KNOWN = {
    *submission_reader.LATE,
    *(module for row in FORMATS for module in row.needs),
    *DetectionMap.late_modules,
}


@pytest.mark.parametrize(
    ("formats", "modules"),
    [
        ((), ()),
        ((BMP.name,), ()),
        ((BMP.name, TIFF.name), TIFF.needs),
        ((META_IMAGE.name, GZIP.name), GZIP.needs),
    ],
)
def test_contents_without_a_decoder_take_no_further_import(formats, modules):
    assert ReaderSetup(FORM, ".", formats=formats).decoders(()) == modules


def test_unknown_contents_take_all_decoders():
    found = set(ReaderSetup(FORM, ".").decoders(()))
    assert found == KNOWN - {*submission_reader.LATE, *DetectionMap.late_modules}


@pytest.mark.parametrize(("fields", "started"), [(["glaucoma_risk"], 1), (["segmentation"], 2)])
def test_a_reader_that_needs_no_decoder_reads_on(tmp_path, monkeypatch, fields, started):
    """It is replaced otherwise: whoever is confined cannot import."""
    workers = []

    def start(*given):
        workers.append(start_worker(*given))
        return workers[-1]

    monkeypatch.setattr(pool.processes, "start_worker", start)
    task = "classification" if fields == ["glaucoma_risk"] else "segmentation"
    phase = loaded_phase(tmp_path / "phase", keys={"tasks": [task]})
    submission = refuge_submission(tmp_path / "submission", fields=fields)
    assert not check(phase.form, submission, 1).faults
    assert len(workers) == started


FOLDERS = sorted(file.parent for file in REPOSITORY.glob("examples/**/phase.toml"))
# What a reader does with its setup, in a process of its own for each form that is given.
LOOK = """
import json, os, sys
from evaluation.core.form import Form
from evaluation.phase.registry import tasks_to_read
for form in json.load(sys.stdin):
    if os.fork() == 0:
        tasks_to_read(Form(**form))
        print(*sorted(sys.modules), flush=True)
        os._exit(0)
    os.wait()
"""


def form_of(folder):
    """Return the form of the phase in a folder, without cases."""
    found = read_configuration(folder)
    return Form(
        challenge=found.challenge.name,
        phase=found.config.name,
        submission=found.config.submission,
        tasks=tuple(task.name for task in found.tasks),
        missing="reject",
        options=found.options.form_options(),
        sockets={},
        cases=(),
    )


def read(tasks):
    return [
        (
            task.name,
            task.title,
            task.optional,
            [(field.name, field.kind, field.archive) for field in task.fields],
        )
        for task in tasks
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_reader_knows_the_fields_of_every_example_and_no_metric():
    forms = [form_of(folder) for folder in FOLDERS]
    setups = [ReaderSetup.of(form, ".") for form in forms]
    names = ("challenge", "phase", "submission", "tasks", "missing", "options", "sockets", "cases")
    contents = [{name: getattr(setup.form, name) for name in names} for setup in setups]
    content = json.dumps(contents)
    assert "metric" not in content
    looked = subprocess.run(
        [sys.executable, "-c", LOOK], input=content, capture_output=True, check=True, text=True
    )
    of_kinds, of_metrics = (
        {place.partition(":")[0] for place in own_entries(group).values()}
        for group in ("evaluation.kinds", "evaluation.metrics")
    )
    for form, setup, line in zip(forms, setups, looked.stdout.splitlines(), strict=True):
        assert form.challenge == DECLARED
        assert read(tasks_to_read(setup.form)) == read(tasks_of_form(form))
        modules = line.split()
        assert sorted((of_metrics - of_kinds).intersection(modules)) == []
        assert set(setup.modules) <= set(modules)
