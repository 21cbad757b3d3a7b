"""Kinds of challenges at home work in a confined reader as elsewhere, or their organiser is told the line."""

import inspect
import re
import shutil
from pathlib import Path

import pytest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.workers.confinement import landlock_version, missing_filter
from test.challenges.declared.phases import write_table
from test.faults import faulted

from . import own_kind

SAID = "a process that had read the submission says: "
pytestmark = pytest.mark.skipif(
    landlock_version() == 0 or missing_filter() is not None, reason="this kernel confines only in part"
)


def phase_of(folder: Path, names) -> tuple[Path, Path]:
    """Write a sealed phase with a case of each name, and a submission; return both."""
    phase = folder / "phase"
    phase.mkdir()
    keys = 'challenge = "own_kind"\nname = "own"\ntitle = "Own"\nsubmission = "archive"\nresamples = 0\n'
    (phase / "phase.toml").write_text(keys, encoding="utf-8")
    write_table(phase / "cases.csv", {"name": names, "age": [30] * len(names)})
    shutil.copy(own_kind.__file__, phase / "challenge.py")
    write_table(folder / "submission" / "ages.csv", {"case": names, "age": [31] * len(names)})
    evaluation.seal(phase)
    return phase, folder / "submission"


def test_what_works_elsewhere_works_in_a_confined_reader(tmp_path):
    phase, submission = phase_of(tmp_path, sorted(own_kind.WORKS))
    assert evaluation.check(phase, submission, workers=1).passed
    result = evaluation.evaluate(phase, submission, workers=1)
    assert result.to_dict()["cases"]["scored"] == len(own_kind.WORKS)


def test_a_right_that_a_reader_has_not_is_the_organisers_fault_with_its_line(tmp_path):
    names = sorted(own_kind.REFUSED)
    phase, submission = phase_of(tmp_path, names)
    with pytest.raises(PhaseError) as error:
        evaluation.check(phase, submission, workers=1)
    told = [re.match(rf'{SAID}"challenge\.py, line (\d+): ', problem) for problem in error.value.problems]
    assert all(told), error.value.problems
    places = {int(match[1]) for match in told}
    calls = {
        start + number
        for text, start in [inspect.getsourcelines(own_kind.OwnNumber.read)]
        for number, line in enumerate(text)
        if "case.name" in line
    }
    for name, function in own_kind.REFUSED.items():
        at_home = inspect.isfunction(function) and function.__module__ == own_kind.__name__
        lines, start = inspect.getsourcelines(function) if at_home else ([""], *calls)
        assert places & set(range(start, start + len(lines))), name


def test_a_right_wanted_to_choose_the_cases_of_a_field_is_told_too(tmp_path):
    phase, submission = phase_of(tmp_path, ["now"])
    file, choice = phase / "challenge.py", "cases=lambda case: Path(__file__).is_file(),"
    text = file.read_text(encoding="utf-8").replace(
        'title="Age",\n    kind', f'title="Age",\n    {choice}\n    kind'
    )
    file.write_text(text, encoding="utf-8")
    evaluation.seal(phase)
    line = text.splitlines().index(f"    {choice}") + 1
    with faulted(PhaseError, f"challenge.py, line {line}"):
        evaluation.check(phase, submission, workers=1)
