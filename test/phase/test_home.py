"""Challenges that are programmed at home, from the file to a score in isolated workers."""

import shutil
import sys
from pathlib import Path

import pytest

import evaluation
from evaluation import library
from evaluation.core.fault import PhaseError
from evaluation.isolated import run_isolated
from evaluation.phase import registry
from evaluation.phase.registry import read_configuration
from test.challenges.declared.phases import write_table
from test.faults import faulted
from test.in_process import forget_challenges, library_in_process, run_here

__all__ = ["library_in_process"]

CHALLENGE = '''\
"""Ages, scored by the largest error."""

from evaluation.define import CaseColumns, Challenge, Field, Number, Options, Reference, Socket, TableColumns
from evaluation.define import Task, mean_metric

AGE = Field(
    name="age",
    title="Age",
    kind=Number(0, 120),
    archive=TableColumns(("ages.csv",), "case", ("age",)),
    socket=Socket("age", "age.json"),
    reference=Reference(Number(0, 120), CaseColumns(("age",))),
)
TASK = Task(
    name="age",
    title="Age",
    fields=(AGE,),
    score=lambda submitted, reference: {"error": abs(submitted["age"] - reference["age"])},
    metrics=(mean_metric("error", "Error", best=0, worst=120, unit="years"),),
)
CHALLENGE = Challenge(
    name="ages", title="Ages", options=Options, tasks=lambda options: (TASK,), components=("age.error",)
)
'''


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch):
    forget_challenges(monkeypatch)
    monkeypatch.delitem(sys.modules, "years", raising=False)


@pytest.fixture
def isolated(monkeypatch):
    """Let the library evaluate and check in processes of their own, as it does, but seal in this one."""

    def run(function, arguments, progress=None):
        place = run_here if "seal" in function else run_isolated
        return place(function, arguments, progress)

    monkeypatch.setattr(library, "run_isolated", run)


def write_phase(folder: Path, name: str = "ages") -> Path:
    folder.mkdir(parents=True)
    keys = f'challenge = "{name}"\nname = "ages"\ntitle = "Ages"\nsubmission = "archive"\n'
    (folder / "phase.toml").write_text(keys, encoding="utf-8")
    write_table(folder / "cases.csv", {"name": ["a", "b"], "age": [30, 50]})
    return folder


def submission(folder: Path) -> Path:
    write_table(folder / "ages.csv", {"case": ["a", "b"], "age": [31, 53]})
    return folder


@pytest.mark.parametrize("place", ["phases/one/challenge.py", "phases/challenge.py"])
def test_a_phase_is_scored_by_the_file_beside_or_above_it(tmp_path, place):
    phase = write_phase(tmp_path / "phases" / "one")
    (tmp_path / place).write_text(CHALLENGE, encoding="utf-8")
    evaluation.seal(phase)
    result = evaluation.evaluate(phase, submission(tmp_path / "submission"), workers=0)
    assert result.to_dict()["aggregates"]["age"]["error"]["value"] == 2.0


OPTIONS = """\

class AgeOptions(Options):
    column: Annotated[str, IN_FORM] = Key(default="age", max_length=9, description="Column of the ages.")
    factor: float = Key(default=1.0, gt=0, description="What the error is multiplied by.")

    @model_validator(mode="after")
    def _good_factor(self) -> AgeOptions:
        if self.factor > 5 and self.column == "age":
            raise ValueError("factor: expected at most 5 for this column")
        return self


def tasks(options: AgeOptions) -> tuple[Task, ...]:
    score = TASK.score
    return (replace(TASK, score=lambda *sides: {"error": options.factor * score(*sides)["error"]}),)


CHALLENGE = replace(CHALLENGE, options=AgeOptions, tasks=tasks)
"""
IMPORTS = """\
from __future__ import annotations
from dataclasses import replace
from typing import Annotated
from pydantic import model_validator
from evaluation.define import IN_FORM, Key
"""


def test_a_challenge_at_home_has_options(tmp_path):
    phase = write_phase(tmp_path / "phase")
    (phase / "challenge.py").write_text(IMPORTS + CHALLENGE + OPTIONS, encoding="utf-8")
    keys = (phase / "phase.toml").read_text(encoding="utf-8")
    (phase / "phase.toml").write_text(f"{keys}options = {{ factor = 2 }}\n", encoding="utf-8")
    evaluation.seal(phase)
    result = evaluation.evaluate(phase, submission(tmp_path / "submission"), workers=0)
    assert result.to_dict()["aggregates"]["age"]["error"]["value"] == 4.0
    assert read_configuration(phase).options.form_options() == {"column": "age"}
    (phase / "phase.toml").write_text(f"{keys}options = {{ factr = 2, factor = -1 }}\n", encoding="utf-8")
    with faulted(PhaseError, "options.factor", "-1"):
        read_configuration(phase)
    (phase / "phase.toml").write_text(f"{keys}options = {{ factor = 6 }}\n", encoding="utf-8")
    with faulted(PhaseError, "options.: factor", "{'factor': 6}"):
        read_configuration(phase)


@pytest.mark.usefixtures("isolated")
def test_a_participant_checks_with_the_form_and_the_file(tmp_path):
    phase = write_phase(tmp_path / "phase")
    (phase / "challenge.py").write_text(CHALLENGE, encoding="utf-8")
    evaluation.seal(phase)
    form = tmp_path / "elsewhere" / "form.json"
    form.parent.mkdir()
    from evaluation.phase.form_file import write_form
    from evaluation.phase.phase import load_phase

    form.write_bytes(write_form(load_phase(phase).form))
    file = shutil.copy(phase / "challenge.py", form.parent / "rules.py")
    folder = submission(tmp_path / "submission")
    with faulted(PhaseError, "form.json", "ages"):
        evaluation.check(form, folder, workers=0)
    assert evaluation.check(form, folder, challenge=file, workers=0).passed
    (folder / "ages.csv").write_text("case,age\na,31\nb,121\n", encoding="utf-8")
    assert [str(fault) for fault in evaluation.check(form, folder, challenge=file, workers=0).faults] == [
        "ages.csv, line 3, age: expected a finite number from 0 to 120, found 121"
    ]


FAULTS = {
    "something else": ("CHALLENGE = 'ages'\n", "CHALLENGE: expected a Challenge, found a str"),
    "a fault of the code": (
        "x = 1\ny = x / 0\n",
        "line 2: cannot be run: ZeroDivisionError",
    ),
    "no Python": ("CHALLENGE =\n", "cannot be run: SyntaxError"),
    "another name": (CHALLENGE.replace('name="ages"', 'name="years"'), "challenge: expected 'years' as in"),
    "the name of a bundled challenge": (
        CHALLENGE.replace('name="ages"', 'name="refuge"'),
        "name: expected none of a bundled challenge, found 'refuge'",
    ),
}


def test_the_file_beside_a_phase_of_a_bundled_challenge_is_not_even_run(tmp_path):
    phase = write_phase(tmp_path / "phase", name="refuge")
    (phase / "challenge.py").write_text("raise RuntimeError('run')\n", encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert "RuntimeError" not in str(error.value)


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_the_file(tmp_path, case):
    text, expected = FAULTS[case]
    phase = write_phase(tmp_path / "phase")
    (phase / "challenge.py").write_text(text, encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert expected in error.value.problems[0]


def test_two_files_define_one_name(tmp_path):
    files = []
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        files.append(tmp_path / name / "challenge.py")
        files[-1].write_text(CHALLENGE if name != "three" else f"{CHALLENGE}# changed\n", encoding="utf-8")
    assert registry.load(files[0]).name == registry.load(files[1]).name == "ages"
    with faulted(PhaseError, "challenge.py", "ages"):
        registry.load(files[2])


HELPED = CHALLENGE.replace(
    'abs(submitted["age"] - reference["age"])', 'apart(submitted["age"], reference["age"])'
)


@pytest.mark.usefixtures("isolated")
def test_modules_beside_the_file_are_imported_each_home_its_own(tmp_path):
    for folder, factor, workers in (("first", 1, 0), ("second", 10, 2)):
        home = write_phase(tmp_path / folder / "phase", f"ages_{folder}").parent
        text = f"from years import apart\n{HELPED}".replace('name="ages"', f'name="ages_{folder}"')
        (home / "challenge.py").write_text(text, encoding="utf-8")
        years = f"def apart(age, other):\n    return {factor} * abs(age - other)\n"
        (home / "years.py").write_text(years, encoding="utf-8")
        evaluation.seal(home / "phase")
        result = evaluation.evaluate(
            home / "phase", submission(tmp_path / folder / "submission"), workers=workers
        )
        assert result.to_dict()["aggregates"]["age"]["error"]["value"] == 2.0 * factor
        assert sorted(path.name for path in home.glob("*.py")) == ["challenge.py", "years.py"]
        assert not (home / "__pycache__").exists()
    (home / "years.py").write_text("YEARS = 1\nYEARS / 0\n", encoding="utf-8")
    with pytest.raises(PhaseError) as caught:
        evaluation.evaluate(home / "phase", tmp_path / "second" / "submission", workers=0)
    assert f"{home / 'years.py'}, line 2: " in str(caught.value)


@pytest.mark.parametrize(
    ("figure", "found"),
    [
        ('{"error": float("inf")}', "column 'error': expected a number, found inf"),
        ('{"error": [3.0]}', "column 'error': expected a number, found [3.0]"),
        ('{"eror": 3.0}', "column 'error': expected a number, found nothing"),
    ],
)
def test_a_figure_that_is_no_number_is_named_with_case_task_and_column(tmp_path, figure, found):
    phase = write_phase(tmp_path / "phase")
    text = CHALLENGE.replace('{"error": abs(submitted["age"] - reference["age"])}', figure)
    (phase / "challenge.py").write_text(f"import numpy as np\n{text}", encoding="utf-8")
    evaluation.seal(phase)
    with pytest.raises(PhaseError) as caught:
        evaluation.evaluate(phase, submission(tmp_path / "submission"), workers=0)
    assert caught.value.problems[0] == f"case a: task 'age', {found}"
