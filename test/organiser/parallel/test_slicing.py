"""Large submissions slice by slice: the bytes of one task, whatever becomes of a slice."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.organiser.rescoring.run import score_all, slices_of
from evaluation.organiser.rescoring.task import Answer
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.organiser.rescoring.teams import BEFORE, CASES, Here, results_in, tasks_of, write_teams
from test.phases import refuge_phase
from test.repository import REPOSITORY


def run(tasks, output, engine) -> dict[str, str]:
    return {task.place: answer.kind for task, answer in score_all(tasks, output, engine)}


@pytest.mark.parametrize("slices", [2, CASES + 1])
def test_slices_write_the_bytes_of_one_task(tmp_path, slices):
    tasks = tasks_of(*write_teams(tmp_path))
    run(tasks, tmp_path / "whole", Here())
    engine = Here()
    sliced = [replace(task, slices=slices) for task in tasks]
    assert run(sliced, tmp_path / "sliced", engine) == BEFORE
    assert results_in(tmp_path / "sliced") == results_in(tmp_path / "whole")
    asked = [task for task in engine.asked if task.place == "packed"]
    assert [task.part.number for task in asked if not task.scored] == list(range(slices))
    assert len(asked) == slices + 1
    assert set(run(sliced, tmp_path / "sliced", Here()).values()) == {"kept"}


# With the first: volumes, tables, boxes, cases of several tasks, stacks of eyes and run times.
WEEKLY = [
    pytest.param(name, marks=pytest.mark.weekly) for name in ("adam-onsite", "cysts", "justraigs-phase1")
]


@pytest.mark.parametrize("name", ["edd2020", *WEEKLY])
def test_slices_of_the_bundled_phases_write_the_bytes_of_one_task(name, tmp_path):
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, tmp_path / "phase"))
    text = (phase / "phase.toml").read_text(encoding="utf-8")
    assert "\nseed" in text
    (phase / "phase.toml").write_text(text.replace("\nseed", "\nresamples = 100\nseed", 1), encoding="utf-8")
    seal(phase, scan(phase))
    shutil.copytree(REPOSITORY / "test" / "input" / name, tmp_path / "teams" / "team")
    tasks = tasks_of(phase, tmp_path / "teams")
    assert run(tasks, tmp_path / "whole", Here()) == {"team": "scored"}
    sliced = [replace(task, slices=3) for task in tasks]
    assert run(sliced, tmp_path / "sliced", Here()) == {"team": "scored"}
    assert results_in(tmp_path / "sliced") == results_in(tmp_path / "whole")


class Told:
    """An engine whose answers to slices are given by number; what is put together or whole is scored here.

    It holds two tasks at once, so that an answer may come when its submission has been decided.
    """

    def __init__(self, answers) -> None:
        self._answers, self._here = answers, Here()
        self.asked: list[str] = []

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        """Leave everything as it is."""

    def run(self, tasks):
        held = []
        while True:
            while len(held) < 2 and (task := next(tasks, None)) is not None:
                held.append(task)
            if not held:
                return
            task = held.pop(0)
            what = "together" if task.scored else "whole" if task.slices == 1 else str(task.part.number)
            self.asked.append(what)
            (answered,) = self._here.run(iter([task]))
            change = self._answers.get(what)
            yield task, change(answered[1]) if change else answered[1]


REJECTED, FAILED = Answer("rejected", "no"), Answer.failed("no room")
INCIDENTS = {
    "a rejection": ({"0": lambda _: REJECTED}, ["0", "1", "whole"], "scored"),
    "a late rejection": ({"2": lambda _: REJECTED}, ["0", "1", "2", "whole"], "scored"),
    "a change": ({"1": lambda a: replace(a, digest="x")}, ["0", "1", "2", "whole"], "scored"),
    "no fit": ({"together": lambda _: FAILED}, ["0", "1", "2", "together", "whole"], "scored"),
    "a failure": ({"1": lambda _: FAILED}, ["0", "1", "2"], "failed"),
    "kept": ({"0": lambda _: Answer("kept", "kept")}, ["0", "1"], "kept"),
}


@pytest.mark.parametrize("incident", INCIDENTS)
def test_what_becomes_of_a_slice_becomes_of_its_submission_once(tmp_path, incident):
    answers, asked, kind = INCIDENTS[incident]
    (task,) = (task for task in tasks_of(*write_teams(tmp_path)) if task.place == "folder")
    run([task], tmp_path / "whole", Here())
    engine = Told(answers)
    assert run([replace(task, slices=3)], tmp_path / "sliced", engine) == {"folder": kind}
    assert engine.asked == asked
    if kind == "scored":
        assert results_in(tmp_path / "sliced") == results_in(tmp_path / "whole")


def test_the_number_of_slices_comes_from_the_cases_or_from_their_pixels(tmp_path):
    phase = load_phase(refuge_phase(tmp_path / "phase", CASES))
    assert [slices_of(phase, cases) for cases in (1, 4, 6, 100)] == [6, 2, 1, 1]
    assert slices_of(phase, None) == 1
    forms = [replace(case, width=1 << 15, height=1 << 15) for case in phase.cases.forms]
    # 6 cases of 2^30 pixels and some more are two times 2^32.
    assert slices_of(replace(phase, cases=replace(phase.cases, forms=tuple(forms))), None) == 2
